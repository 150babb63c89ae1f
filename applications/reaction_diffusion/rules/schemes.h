// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <solvers/base/errors.h>
#include <solvers/base/host_device.h>

#include <cmath>
#include <string>

namespace leopard::reaction_diffusion
{
  /** Of both time loops. A new one is a value here, a row of `schemes`, and what is its own in the functions below. */
  enum class Scheme
  {
    implicit_euler,
    bdf2,
    bdf3,
    /**
     * Ascher, Ruuth, Wetton 1995; with variable steps Wang, Ruuth 2008. Ruuth 1995 recommends it for patterns, but in
     * benchmarks/results/2026-11-30_host_schemes.md it is nowhere the fastest. It is kept for the general loop with
     * linear solvers of symmetric matrices, which the other implicit schemes cannot have, and for what was computed
     * with it elsewhere.
     */
    imex_bdf2,
    etdrk4 ///< see ExponentialStep
  };

  struct SchemeName
  {
    Scheme      scheme;
    const char *name, *meaning;
  };

  inline constexpr SchemeName schemes[] = {
    {Scheme::implicit_euler, "implicit Euler", "order 1"},
    {Scheme::bdf2, "BDF2", "order 2"},
    {Scheme::bdf3,
     "BDF3",
     "order 3, for error-controlled steps, the first of which are of lower order; it takes fewer steps, the more so the smaller the tolerance is"},
    {Scheme::imex_bdf2,
     "SBDF2",
     "order 2, diffusion as in BDF2, the reaction explicit, so that a step is one linear solve with a symmetric matrix instead of Newton's method; "
     "nowhere the fastest, as the reaction limits its steps, and kept for solvers of symmetric matrices"},
    {Scheme::etdrk4,
     "ETDRK4",
     "order 4, exponential: on a rectangle or a box with zero flux or periodic boundaries and one rank, diffusion and the mean linearized reaction "
     "are integrated exactly "
     "in "
     "the modes of the Laplacian, the rest of the reaction by a Runge-Kutta method; the fastest for accurate transients, while "
     "steps stay short where a pattern has come to rest"}};

  /** @throws InvalidInput. */
  inline Scheme find_scheme(const std::string &name)
  {
    for (const SchemeName &row : schemes)
      if (name == row.name)
        return row.scheme;
    throw InvalidInput("there is no scheme '" + name + "'\n  expected: a name of the list in rules/schemes.h, BDF2 for one");
  }

  /** Whether a step needs no old solution but the last one, and no linear solver: see ExponentialStep. */
  LEOPARD_HOST_DEVICE inline bool is_exponential(Scheme scheme)
  {
    return scheme == Scheme::etdrk4;
  }

  LEOPARD_HOST_DEVICE inline int order_of(Scheme scheme)
  {
    return scheme == Scheme::implicit_euler ? 1 : scheme == Scheme::bdf3 ? 3 : scheme == Scheme::etdrk4 ? 4 : 2;
  }

  /** Old solutions that the scheme of the highest order and its error estimate need. */
  constexpr int max_levels = 4;

  /** Old solutions that are kept; of an exponential scheme the one before the last, for reports only. */
  LEOPARD_HOST_DEVICE inline int levels_kept(Scheme scheme)
  {
    return is_exponential(scheme) ? 2 : order_of(scheme) == 3 ? 4 : 3;
  }

  /**
   * The order of a step where n_levels old solutions are known. That of BDF3 rises when there is an estimate of the
   * error, so that its first steps of low order do not spoil the others.
   */
  LEOPARD_HOST_DEVICE inline int order_with(Scheme scheme, int n_levels)
  {
    if (is_exponential(scheme))
      return order_of(scheme);
    const int most = scheme == Scheme::bdf3 && n_levels > 1 ? n_levels - 1 : n_levels;
    return most < order_of(scheme) ? most : order_of(scheme);
  }

  LEOPARD_HOST_DEVICE inline bool has_explicit_reaction(Scheme scheme)
  {
    return scheme == Scheme::imex_bdf2;
  }

  /** The power of the step size that the estimated local error goes with; an embedded method of order 3 is ETDRK4's. */
  LEOPARD_HOST_DEVICE inline int order_of_estimate(Scheme scheme, int order)
  {
    return is_exponential(scheme) ? order : order + 1;
  }

  /**
   * A step for du/dt = D laplace u + r(u) is u - sum over l of history[l] u_n-l = implicit (D laplace u + r), r at the
   * new solution u, or where the reaction is explicit reaction[0] r(u_n) + reaction[1] r(u_n-1).
   */
  struct SchemeCoefficients
  {
    double implicit = 0., history[max_levels - 1] = {1., 0., 0.}, reaction[2] = {1., 0.};
  };

  /** One step of any size. */
  struct SchemeStep
  {
    Scheme scheme;
    int    order;                ///< see order_with()
    double step_size;            ///< t_n+1 - t_n
    double last[max_levels - 1]; ///< t_n - t_n-1, t_n-1 - t_n-2, ..., as far as there are such

    LEOPARD_HOST_DEVICE bool operator==(const SchemeStep &o) const
    {
      return scheme == o.scheme && order == o.order && step_size == o.step_size && last[0] == o.last[0] && last[1] == o.last[1] &&
             last[2] == o.last[2];
    }

    /** t_n+1 - t_n-l. */
    LEOPARD_HOST_DEVICE double distance(int l) const
    {
      double result = step_size;
      for (int m = 0; m < l; ++m)
        result += last[m];
      return result;
    }

    LEOPARD_HOST_DEVICE SchemeCoefficients coefficients() const
    {
      SchemeCoefficients result;
      result.implicit = step_size;
      if (order == 2)
        {
          const double ratio = step_size / last[0], beta = (1. + ratio) / (1. + 2. * ratio);
          result.implicit    = beta * step_size;
          result.history[0]  = beta * (1. + ratio);
          result.history[1]  = -beta * ratio * ratio / (1. + ratio);
          result.reaction[0] = 1. + ratio;
          result.reaction[1] = -ratio;
        }
      else if (order == 3) // the derivative at t_n+1 of the polynomial through the new and three old solutions
        {
          const double d[3] = {distance(0), distance(1), distance(2)};
          result.implicit   = 1. / (1. / d[0] + 1. / d[1] + 1. / d[2]);
          for (int l = 0; l < 3; ++l)
            {
              result.history[l] = result.implicit / d[l];
              for (int m = 0; m < 3; ++m)
                if (m != l)
                  result.history[l] *= d[m] / (d[m] - d[l]);
            }
        }
      return result;
    }

    /**
     * The first guess: the polynomial through as many old solutions as the error estimate needs (order + 1), as far as
     * known. @param weights of u_n, u_n-1, ..., max_levels of them.
     */
    LEOPARD_HOST_DEVICE void predict(int n_levels, double *weights) const
    {
      const double d[max_levels] = {distance(0), distance(1), distance(2), distance(3)};
      const int    points        = n_levels < order_of(scheme) + 1 ? n_levels : order_of(scheme) + 1;
      for (int l = 0; l < max_levels; ++l)
        {
          weights[l] = l < points ? 1. : 0.;
          for (int m = 0; m < points; ++m)
            if (m != l && l < points)
              weights[l] *= d[m] / (d[m] - d[l]);
        }
    }

    /**
     * The corrector's error is C y, the predictor's P y, y the same derivative: C / (C + P) of the difference between
     * solution and first guess is the error (Milne's device).
     */
    LEOPARD_HOST_DEVICE double error_factor() const
    {
      if (is_exponential(scheme)) // the estimate is what the engine reports
        return 1.;
      const double corrector = coefficients().implicit, predictor = distance(order);
      return corrector / (corrector + predictor);
    }

    /**
     * Where the reaction is explicit its error comes on top: e = C y + d, d = implicit (extrapolated reaction - r), and
     * u - prediction = (C + P) y + d, so that e = error_factor() (u - prediction + reaction_error d / implicit).
     */
    LEOPARD_HOST_DEVICE double reaction_error(double implicit) const
    {
      return has_explicit_reaction(scheme) ? (1. / error_factor() - 1.) * implicit : 0.;
    }

    /**
     * The largest step for which every asynchronous iteration converges on the Jacobian J: rho(|I - D^-1 J|) < 1 is
     * certain where the rows are dominant, that is for 1 / coefficients().implicit beyond a rate.
     * @param rate Sums::row_rate, less the dilution; infinite steps will do if it is not positive or nothing is
     * iterated (ETDRK4), none (0) if it is not finite.
     */
    LEOPARD_HOST_DEVICE double asynchronous_bound(double rate) const
    {
      if (rate <= 0. || is_exponential(scheme))
        return HUGE_VAL;
      if (!(rate < HUGE_VAL))
        return 0.;
      if (order == 1)
        return 1. / rate;
      if (order == 2)
        {
          // the positive root of rate dt (1 + dt/last) = 1 + 2 dt/last
          const double p = rate - 2. / last[0];
          return 2. / (p + std::sqrt(p * p + 4. * rate / last[0]));
        }
      // of 1 / implicit, a sum of 1 / distances, which falls and is convex: Newton's method from below stays below
      double dt = 1. / rate;
      for (int iteration = 0; iteration < 20; ++iteration)
        {
          const double a = 1. / dt, b = 1. / (dt + last[0]), c = 1. / (dt + last[0] + last[1]);
          dt += (a + b + c - rate) / (a * a + b * b + c * c);
        }
      return dt;
    }
  };

  /** What an error at an entry u is measured against; small ones against the whole. @param rms of the first guess. */
  LEOPARD_HOST_DEVICE inline double error_scale(double u, double rms)
  {
    const double size = u < 0. ? -u : u;
    return size > rms ? size : (rms > 1e-100 ? rms : 1e-100);
  }
} // namespace leopard::reaction_diffusion
