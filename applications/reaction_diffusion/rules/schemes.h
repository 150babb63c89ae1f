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
    imex_bdf2 ///< Ascher, Ruuth, Wetton 1995, recommended for patterns by Ruuth 1995; with variable steps Wang, Ruuth 2008
  };

  struct SchemeName
  {
    Scheme      scheme;
    const char *name, *meaning;
  };

  inline constexpr SchemeName schemes[] = {
    {Scheme::implicit_euler, "implicit Euler", "order 1"},
    {Scheme::bdf2, "BDF2", "order 2"},
    {Scheme::imex_bdf2,
     "SBDF2",
     "order 2, diffusion as in BDF2, the reaction explicit, so that a step is one linear solve with a constant matrix instead of Newton's method"}};

  /** @throws InvalidInput. */
  inline Scheme find_scheme(const std::string &name)
  {
    for (const SchemeName &row : schemes)
      if (name == row.name)
        return row.scheme;
    throw InvalidInput("there is no scheme '" + name + "'\n  expected: a name of the list in rules/schemes.h, BDF2 for one");
  }

  LEOPARD_HOST_DEVICE inline int order_of(Scheme scheme)
  {
    return scheme == Scheme::implicit_euler ? 1 : 2;
  }

  LEOPARD_HOST_DEVICE inline bool has_explicit_reaction(Scheme scheme)
  {
    return scheme == Scheme::imex_bdf2;
  }

  /**
   * A step for du/dt = D laplace u + r(u) is u - history[0] u_n - history[1] u_n-1 = implicit (D laplace u + r), r at
   * the new solution u, or where the reaction is explicit reaction[0] r(u_n) + reaction[1] r(u_n-1).
   */
  struct SchemeCoefficients
  {
    double implicit = 0., history[2] = {1., 0.}, reaction[2] = {1., 0.};
  };

  /** One step of any size. */
  struct SchemeStep
  {
    Scheme scheme;
    int    order;                             ///< as that of the scheme, or the number of old solutions where there are fewer
    double step_size, last_step, step_before; ///< t_n+1 - t_n, t_n - t_n-1, t_n-1 - t_n-2, as far as there are such

    LEOPARD_HOST_DEVICE SchemeCoefficients coefficients() const
    {
      SchemeCoefficients result;
      result.implicit = step_size;
      if (order == 2)
        {
          const double ratio = step_size / last_step, beta = (1. + ratio) / (1. + 2. * ratio);
          result.implicit    = beta * step_size;
          result.history[0]  = beta * (1. + ratio);
          result.history[1]  = -beta * ratio * ratio / (1. + ratio);
          result.reaction[0] = 1. + ratio;
          result.reaction[1] = -ratio;
        }
      return result;
    }

    /**
     * The first guess: the polynomial through as many old solutions as the error estimate needs (order + 1), as far as
     * known. @param weights of u_n, u_n-1, u_n-2.
     */
    LEOPARD_HOST_DEVICE void predict(int n_levels, double *weights) const
    {
      const double distance[3] = {step_size, step_size + last_step, step_size + last_step + step_before};
      const int    points      = n_levels < order_of(scheme) + 1 ? n_levels : order_of(scheme) + 1;
      for (int l = 0; l < 3; ++l)
        {
          weights[l] = l < points ? 1. : 0.;
          for (int m = 0; m < points; ++m)
            if (m != l && l < points)
              weights[l] *= distance[m] / (distance[m] - distance[l]);
        }
    }

    /**
     * The corrector's error is C y, the predictor's P y, y the same derivative: C / (C + P) of the difference between
     * solution and first guess is the error (Milne's device).
     */
    LEOPARD_HOST_DEVICE double error_factor() const
    {
      double corrector = step_size, predictor = step_size + last_step;
      if (order == 2)
        {
          const double ratio = step_size / last_step;
          corrector          = step_size * (1. + ratio) / (1. + 2. * ratio);
          predictor          = step_size + last_step + step_before;
        }
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
     * @param rate Sums::row_rate, less the dilution; infinite steps will do if it is not positive, none (0) if it is
     * not finite.
     */
    LEOPARD_HOST_DEVICE double asynchronous_bound(double rate) const
    {
      if (rate <= 0.)
        return HUGE_VAL;
      if (!(rate < HUGE_VAL))
        return 0.;
      if (order == 1)
        return 1. / rate;
      // the positive root of rate dt (1 + dt/last_step) = 1 + 2 dt/last_step
      const double p = rate - 2. / last_step;
      return 2. / (p + std::sqrt(p * p + 4. * rate / last_step));
    }
  };

  /** What an error at an entry u is measured against; small ones against the whole. @param rms of the first guess. */
  LEOPARD_HOST_DEVICE inline double error_scale(double u, double rms)
  {
    const double size = u < 0. ? -u : u;
    return size > rms ? size : (rms > 1e-100 ? rms : 1e-100);
  }
} // namespace leopard::reaction_diffusion
