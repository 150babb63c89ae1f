// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../base/host_device.h"
#include "../base/norms.h"
#include "krylov.h"

#include <chrono>
#include <cmath>
#include <limits>

namespace leopard
{
  // What the Krylov methods decide and compute of scalars: on the host between loops over vectors, on the device in
  // kernels of one thread between kernels over vectors. Residuals are in units of `scale` (see KrylovSolver).

  LEOPARD_HOST_DEVICE inline bool is_finite(double value)
  {
    constexpr double largest = 1.7976931348623157e308;
    return value >= -largest && value <= largest;
  }

  /** The larger magnitude, or what is no number. */
  LEOPARD_HOST_DEVICE inline double larger_magnitude(double a, double b)
  {
    return larger_or_nan(a, b < 0. ? -b : b);
  }

  /** Seconds since some moment of the past. */
  LEOPARD_HOST_DEVICE inline double seconds_now()
  {
#ifdef __CUDA_ARCH__
    unsigned long long nanoseconds;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(nanoseconds));
    return 1e-9 * static_cast<double>(nanoseconds);
#else
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
#endif
  }

  /** Scalars and rules that all methods have in common. What a solve ends with is read from here. */
  struct KrylovState
  {
    double       tolerance = 0., absolute_tolerance = 0.;
    int          max_iterations = 0;
    double       max_seconds = 0., start = 0.; ///< 0: no limit; when the solve began
    int          early_iterations = 0;         ///< 0: none
    double       early_residual   = 1.;        ///< by the norm of b, then
    double      *history          = nullptr;   ///< in the memory of who computes; null: none is kept
    int          history_size     = 0;         ///< numbers there, of the first steps
    double       rounding         = 0.;        ///< of a Number
    double       scale = 1., inverse_scale = 1.;
    double       norm_b = 0., reference = 0., goal = 0.;
    double       residual  = 0.; ///< of x, as last computed from x
    double       own       = 0.; ///< by the method's recurrence, after the last step
    int          iteration = 0;
    KrylovReason reason    = KrylovReason::converged;
    KrylovReason failure   = KrylovReason::converged; ///< with which the solve ends at the next check unless the goal is reached; converged: none
    KrylovReason doubt     = KrylovReason::converged; ///< the same, unless the residual has halved since the last check
    bool         checking  = false;                   ///< x and its residual are to be computed next, no further step is made
    bool         first     = true;                    ///< before the first check
    int          n_slow    = 0; ///< cycles one after the other that have gained next to nothing, of a method that begins anew, see end_cycle()

    LEOPARD_HOST_DEVICE void set(const KrylovLimits &limits)
    {
      tolerance          = limits.tolerance;
      absolute_tolerance = limits.absolute_tolerance;
      max_iterations     = limits.max_iterations;
      max_seconds        = limits.max_seconds;
      early_iterations   = limits.early_iterations;
      early_residual     = limits.early_residual;
    }

    /** By the own clock, which several ranks have to agree on. */
    LEOPARD_HOST_DEVICE bool is_late() const { return max_seconds > 0. && !(seconds_now() - start < max_seconds); }

    /** @param largest magnitude of an entry of b and b - A x. */
    LEOPARD_HOST_DEVICE void choose_scale(double largest)
    {
      scale = inverse_scale = 1.;
      if (!(largest > 0.) || !is_finite(largest))
        return;
      int exponent = 0;
      std::frexp(largest, &exponent);
      exponent      = exponent < -1000 ? -1000 : exponent > 1000 ? 1000 : exponent;
      scale         = std::ldexp(1., exponent);
      inverse_scale = std::ldexp(1., -exponent);
    }

    /** The true residual is known. @return whether the solve goes on, with the method's first step. */
    LEOPARD_HOST_DEVICE bool check(double residual_squared, double b_squared)
    {
      const double before = residual;
      residual            = std::sqrt(residual_squared);
      norm_b              = std::sqrt(b_squared);
      if (first)
        {
          start     = max_seconds > 0. ? seconds_now() : 0.;
          reference = norm_b > 0. ? norm_b : residual;
          goal      = std::fmin(std::fmax(absolute_tolerance * inverse_scale, tolerance * reference), 1e300); // an infinite one is never reached
        }
      const bool halved = first || residual <= 0.5 * before;
      first = checking = false;
      if (!is_finite(residual) || !is_finite(norm_b))
        return end(KrylovReason::not_finite);
      if (reached(residual, goal))
        return end(KrylovReason::converged);
      if (failure != KrylovReason::converged)
        return end(failure);
      if (iteration >= max_iterations)
        return end(KrylovReason::maximum_iterations);
      if (doubt != KrylovReason::converged && !halved)
        return end(doubt);
      if (own > 0. && !halved && !(residual <= 2. * own)) // a cycle's work is lost to rounding
        return end(KrylovReason::stagnated);
      doubt = KrylovReason::converged;
      return true;
    }

    /** No step is to be made any more. */
    LEOPARD_HOST_DEVICE void stop(KrylovReason why)
    {
      if (!checking)
        failure = why;
      checking = true;
    }

    /** By the method's own means there is nothing left to do; if the residual says otherwise it begins anew. */
    LEOPARD_HOST_DEVICE void finish(KrylovReason otherwise)
    {
      doubt    = otherwise;
      checking = true;
    }

    /** One more iteration, and the residual after it. */
    LEOPARD_HOST_DEVICE void record(double own_residual)
    {
      if (history != nullptr && iteration < history_size)
        history[iteration] = own_residual * scale;
      ++iteration;
    }

    /**
     * After a step with this residual by the method's own recurrence, which falls on when that of x has long stopped:
     * squares that underflow would be taken for signs of something else. @param late whether the time is over.
     */
    LEOPARD_HOST_DEVICE void count(double own_residual, bool late)
    {
      record(own_residual);
      own = own_residual;
      if (!is_finite(own_residual))
        stop(KrylovReason::not_finite);
      else if (reached(own_residual, goal) || reached(own_residual, rounding * rounding * reference))
        finish(KrylovReason::stagnated);
      else if (iteration >= max_iterations)
        checking = true;
      else if (late)
        stop(KrylovReason::time_limit);
      else if (iteration == early_iterations && !reached(own_residual, early_residual * reference))
        stop(KrylovReason::standing_still);
    }

    /**
     * After a cycle of n iterations, of which the method keeps nothing but x, with this residual by its own recurrence:
     * where three of them, of a hundred iterations at least, have gained less than a percent each, and at that pace
     * those that are left would not halve the residual, nor at ten times the pace reach the goal, no more are made.
     */
    LEOPARD_HOST_DEVICE void end_cycle(int n, double own_residual)
    {
      constexpr double little = 0.01, half = 0.7, faster = 10.; // half: its logarithm
      constexpr int    cycles = 3, iterations = 100;
      const double     gain = 1. - own_residual / residual, left = static_cast<double>(max_iterations - iteration) / n;
      const bool       is_slow = gain < little && gain * left < half && goal * std::exp(faster * gain * left) < own_residual;
      n_slow                   = is_slow ? n_slow + 1 : 0;
      if (n_slow >= cycles && n_slow >= iterations / n)
        finish(KrylovReason::standing_still);
    }

  private:
    LEOPARD_HOST_DEVICE bool end(KrylovReason why)
    {
      reason = why;
      return false;
    }
  };

  /** What a solve with these options begins with. */
  template <typename Number>
  KrylovState initial_state(const KrylovOptions &options)
  {
    KrylovState state;
    state.set(options);
    state.rounding = 100. * static_cast<double>(std::numeric_limits<Number>::epsilon());
    return state;
  }

  /** CG, Saad 2003, algorithm 9.1. */
  struct CgState : KrylovState
  {
    bool   symmetric = true; ///< the preconditioner; else beta is that of the flexible form
    bool   begins    = true; ///< the next direction is the first
    double rz = 0., beta = 0.;
    double alpha = 0.; ///< 0: nothing is to be changed

    LEOPARD_HOST_DEVICE void begin() { begins = true; }

    /** z = M r is known. @param rz_now r^T z. @param zq z^T A p of the last direction p. */
    LEOPARD_HOST_DEVICE void find_direction(double rz_now, double zq)
    {
      beta   = begins ? 0. : (symmetric ? rz_now : -alpha * zq) / rz;
      rz     = rz_now;
      begins = false;
      if (!is_finite(rz) || !is_finite(beta))
        stop(KrylovReason::not_finite);
      else if (!(rz > 0.))
        stop(KrylovReason::indefinite_preconditioner);
    }

    /** @param curvature p^T A p. */
    LEOPARD_HOST_DEVICE void find_step(double curvature)
    {
      alpha = 0.;
      if (checking)
        return;
      if (!is_finite(curvature))
        stop(KrylovReason::not_finite);
      else if (!(curvature > 0.) || !is_finite(rz / curvature)) // or none that could be told from none
        stop(KrylovReason::indefinite);
      else
        alpha = rz / curvature;
    }

    /** @param late of how many ranks is_late() holds. */
    LEOPARD_HOST_DEVICE void count_step(double residual_squared, double late)
    {
      if (!checking)
        count(std::sqrt(residual_squared), late > 0.);
    }
  };

  /** FGMRES, Saad 2003, algorithm 9.6. Arrays are in the memory of who computes. */
  struct FgmresState : KrylovState
  {
    int     restart = 1, column = 0;
    double  inverse_norm = 0.;                                             ///< of the vector that becomes the next of the basis
    double *triangle     = nullptr;                                        ///< R, column after column, `restart` numbers each
    double *cosine = nullptr, *sine = nullptr, *g = nullptr, *y = nullptr; ///< restart + 1 numbers each
    double *components = nullptr; ///< of A z along the basis, as found first, and what was left of them; restart + 1 each

    static LEOPARD_HOST_DEVICE int n_numbers(int restart) { return restart * restart + 6 * (restart + 1); }
    LEOPARD_HOST_DEVICE void       use(double *numbers)
    {
      triangle   = numbers;
      cosine     = triangle + restart * restart;
      sine       = cosine + restart + 1;
      g          = sine + restart + 1;
      y          = g + restart + 1;
      components = y + restart + 1;
    }
    LEOPARD_HOST_DEVICE double *remainders() const { return components + restart + 1; }

    LEOPARD_HOST_DEVICE void begin()
    {
      column       = 0;
      g[0]         = residual;
      inverse_norm = residual > 0. ? 1. / residual : 0.;
    }

    /**
     * A z is orthogonal to the basis. @param rest_squared the square of what is left of it. @param late of how many
     * ranks is_late() holds.
     */
    LEOPARD_HOST_DEVICE void rotate(double rest_squared, double late)
    {
      double *const h       = triangle + column * restart;
      double        squares = rest_squared;
      for (int i = 0; i <= column; ++i)
        {
          h[i] = components[i] + remainders()[i];
          squares += h[i] * h[i];
        }
      const double rest = std::sqrt(rest_squared), whole = std::sqrt(squares);
      inverse_norm = 0.;
      if (!is_finite(whole))
        {
          stop(KrylovReason::not_finite);
          return;
        }
      for (int i = 0; i < column; ++i)
        {
          const double upper = cosine[i] * h[i] + sine[i] * h[i + 1];
          h[i + 1]           = cosine[i] * h[i + 1] - sine[i] * h[i];
          h[i]               = upper;
        }
      const double diagonal = std::sqrt(h[column] * h[column] + rest_squared);
      if (!(diagonal > rounding * whole)) // the column adds nothing, and would not be solved for
        {
          record(std::abs(g[column])); // x stays
          finish(KrylovReason::breakdown);
          return;
        }
      cosine[column] = h[column] / diagonal;
      sine[column]   = rest / diagonal;
      h[column]      = diagonal;
      g[column + 1]  = -sine[column] * g[column];
      g[column] *= cosine[column];
      ++column;
      count(std::abs(g[column]), late > 0.);
      if (!checking && !(rest > rounding * whole))
        finish(KrylovReason::breakdown);
      if (column == restart && !checking)
        {
          checking = true;
          end_cycle(restart, std::abs(g[column]));
        }
      if (!checking)
        inverse_norm = 1. / rest;
    }

    /** The weights y of the directions in the correction. */
    LEOPARD_HOST_DEVICE void solve_triangle()
    {
      for (int i = column - 1; i >= 0; --i)
        {
          double sum = g[i];
          for (int j = i + 1; j < column; ++j)
            sum -= triangle[j * restart + i] * y[j];
          y[i] = sum / triangle[i * restart + i];
        }
    }
  };
} // namespace leopard
