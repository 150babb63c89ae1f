// SPDX-License-Identifier: Apache-2.0
#include "steady_states.h"

#include <solvers/base/norms.h>

#include <deal.II/lac/lapack_full_matrix.h>
#include <deal.II/lac/vector.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <random>

namespace leopard
{
  using namespace dealii;
  using State = std::vector<double>;

  namespace
  {
    double norm(const State &r)
    {
      double sum = 0.;
      for (const double x : r)
        sum += x * x;
      return std::sqrt(sum); // not a number if an entry is none
    }

    /** du with J du = -r, or nothing if J is singular or not finite. */
    std::optional<State> newton_update(const State &jacobian, const State &r)
    {
      const unsigned int       n = r.size();
      LAPACKFullMatrix<double> matrix(n);
      Vector<double>           update(n);
      for (unsigned int c = 0; c < n; ++c)
        {
          update(c) = -r[c];
          for (unsigned int d = 0; d < n; ++d)
            {
              if (!std::isfinite(jacobian[c * n + d]))
                return std::nullopt;
              matrix(c, d) = jacobian[c * n + d];
            }
        }
      try
        {
          matrix.compute_lu_factorization();
          matrix.solve(update);
        }
      catch (const ExceptionBase &) // singular
        {
          return std::nullopt;
        }
      return State(update.begin(), update.end());
    }

    /** Newton's method; nothing if it does not converge. */
    std::optional<State> newton(const Kinetics &kinetics, State u, const Places &place)
    {
      const unsigned int n = u.size();
      State              r(n), jacobian(n * n), trial(n);
      kinetics.evaluate(1, u.data(), r.data(), nullptr, place);
      double residual = norm(r);
      for (unsigned int step = 0; step < 100 && std::isfinite(residual); ++step)
        {
          if (residual == 0.)
            return u;
          kinetics.evaluate(1, u.data(), nullptr, jacobian.data(), place);
          const auto update = newton_update(jacobian, r);
          if (!update || !std::isfinite(norm(*update)))
            return std::nullopt;
          const bool is_small = reached(norm(*update), 1e-10 * (1e-2 + norm(u)));
          double     damping = 1., trial_residual = 0.;
          for (;; damping /= 2.)
            {
              for (unsigned int c = 0; c < n; ++c)
                trial[c] = u[c] + damping * (*update)[c];
              kinetics.evaluate(1, trial.data(), r.data(), nullptr, place);
              trial_residual = norm(r);
              if (trial_residual < residual)
                break;
              if (is_small || damping < 1e-8) // rounding errors are all that is left, or a minimum that is no zero
                return is_small ? std::optional<State>(u) : std::nullopt;
            }
          u        = trial;
          residual = trial_residual;
        }
      return std::nullopt;
    }

    std::vector<State> starts(unsigned int n, bool positive)
    {
      std::vector<double> values = {1., 0.1, 10., 0.01, 100.};
      if (n <= 2)
        values.insert(values.end(), {2., 5., 0.2, 0.5, 20., 50., 0.02, 0.05});
      if (!positive)
        values = {0., 1., -1., 0.1, -0.1, 10., -10.};
      std::vector<State> result;
      if (n <= 3)
        {
          const auto n_starts = static_cast<unsigned int>(std::lround(std::pow(values.size(), n)));
          for (unsigned int i = 0; i < n_starts; ++i)
            {
              State        start;
              unsigned int rest = i;
              for (unsigned int c = 0; c < n; ++c, rest /= values.size())
                start.push_back(values[rest % values.size()]);
              result.push_back(start);
            }
          return result;
        }
      std::mt19937_64 generator(1);
      const auto      random = [&] { return static_cast<double>(generator() >> 11) * 0x1p-53; };
      for (unsigned int i = 0; i < 200; ++i)
        {
          State start;
          for (unsigned int c = 0; c < n; ++c)
            start.push_back(std::pow(100., 2. * random() - 1.) * (!positive && random() < 0.5 ? -1. : 1.));
          result.push_back(start);
        }
      return result;
    }
  } // namespace

  std::vector<State> find_steady_states(const Kinetics &kinetics, bool positive, const std::vector<State> &guesses, const Places &place)
  {
    std::vector<State> all = guesses, found;
    for (const State &start : starts(kinetics.species().size(), positive))
      all.push_back(start);
    for (const State &start : all)
      {
        const auto state = newton(kinetics, start, place);
        if (!state || (positive && *std::min_element(state->begin(), state->end()) <= 1e-12 * norm(*state)))
          continue;
        const bool is_new = std::none_of(found.begin(), found.end(), [&](const State &other) {
          State difference = *state;
          for (unsigned int c = 0; c < difference.size(); ++c)
            difference[c] -= other[c];
          return norm(difference) <= 1e-6 * (1e-3 + norm(other));
        });
        if (is_new)
          found.push_back(*state);
      }
    return found;
  }
} // namespace leopard
