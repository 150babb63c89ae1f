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
    /** Of r in units of its own for each species. */
    double norm(const State &r, const State &unit)
    {
      double sum = 0.;
      for (std::size_t c = 0; c < r.size(); ++c)
        sum += r[c] / unit[c] * (r[c] / unit[c]);
      return std::sqrt(sum); // not a number if an entry is none
    }

    /** du with J du = -r, or nothing if J is singular or not finite; solved in these units. */
    std::optional<State> newton_update(const State &jacobian, const State &r, const State &unit)
    {
      const unsigned int       n = r.size();
      LAPACKFullMatrix<double> matrix(n);
      Vector<double>           update(n);
      for (unsigned int c = 0; c < n; ++c)
        {
          update(c) = -r[c] / unit[c];
          for (unsigned int d = 0; d < n; ++d)
            {
              matrix(c, d) = jacobian[c * n + d] * (unit[d] / unit[c]);
              if (!std::isfinite(matrix(c, d)))
                return std::nullopt;
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
      State result(update.begin(), update.end());
      for (unsigned int c = 0; c < n; ++c)
        result[c] *= unit[c];
      return result;
    }

    /** Newton's method, which measures in these units; nothing if it does not converge. */
    std::optional<State> newton(const Kinetics &kinetics, State u, const Places &place, const State &unit)
    {
      const unsigned int n = u.size();
      State              r(n), jacobian(n * n), trial(n);
      kinetics.evaluate(1, u.data(), r.data(), nullptr, place);
      double residual = norm(r, unit);
      for (unsigned int step = 0; step < 100 && std::isfinite(residual); ++step)
        {
          if (residual == 0.)
            return u;
          kinetics.evaluate(1, u.data(), nullptr, jacobian.data(), place);
          const auto update = newton_update(jacobian, r, unit);
          if (!update || !std::isfinite(norm(*update, unit)))
            return std::nullopt;
          const bool is_small = reached(norm(*update, unit), 1e-10 * (1e-2 + norm(u, unit)));
          double     damping = 1., trial_residual = 0.;
          for (;; damping /= 2.)
            {
              for (unsigned int c = 0; c < n; ++c)
                trial[c] = u[c] + damping * (*update)[c];
              kinetics.evaluate(1, trial.data(), r.data(), nullptr, place);
              trial_residual = norm(r, unit);
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

    /**
     * Whether all species of a steady state are above zero. One that is tiny beside the others may be what rounding has
     * left of zero: then Newton's method would still change it by its own size.
     */
    bool is_positive(const Kinetics &kinetics, const State &state, const Places &place)
    {
      constexpr double   tiny = 1e-12;
      const unsigned int n    = state.size();
      const auto         low  = std::min_element(state.begin(), state.end());
      if (!(*low > 0.))
        return false;
      if (*low > tiny * norm(state, State(n, 1.)))
        return true;
      State r(n), jacobian(n * n);
      kinetics.evaluate(1, state.data(), r.data(), jacobian.data(), place);
      const auto update = newton_update(jacobian, r, state);
      return update &&
             std::equal(update->begin(), update->end(), state.begin(), [](double change, double value) { return std::abs(change) <= 1e-3 * value; });
    }

    /**
     * The sizes of species: of the first guess, else of the initial values, else of the largest other species, else 1.
     */
    State own_units(unsigned int n, const std::vector<State> &guesses, const State &initial)
    {
      State  units(n, 0.);
      double largest = 0.;
      for (unsigned int c = 0; c < n; ++c)
        {
          for (const double value : {guesses.empty() ? 0. : guesses[0][c], initial.empty() ? 0. : initial[c]})
            if (units[c] == 0. && std::isfinite(value))
              units[c] = std::abs(value);
          largest = std::max(largest, units[c]);
        }
      for (double &unit : units)
        if (unit == 0.)
          unit = largest > 0. ? largest : 1.;
      return units;
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

  std::vector<State>
  find_steady_states(const Kinetics &kinetics, bool positive, const std::vector<State> &guesses, const Places &place, const State &initial)
  {
    const unsigned int       n     = kinetics.species().size();
    const State              own   = own_units(n, guesses, initial), one(n, 1.);
    const std::vector<State> fixed = starts(n, positive);
    std::vector<State>       found;
    const auto               search = [&](const State &start, const State &unit) {
      const auto state = newton(kinetics, start, place, unit);
      if (!state || (positive && !is_positive(kinetics, *state, place)))
        return;
      const auto is_state = [&](const State &other) { // each species in its own unit
        for (unsigned int c = 0; c < n; ++c)
          if (!(std::abs((*state)[c] - other[c]) <= 1e-6 * (1e-3 * own[c] + std::abs(other[c]))))
            return false;
        return true;
      };
      if (std::none_of(found.begin(), found.end(), is_state))
        found.push_back(*state);
    };
    const auto search_in = [&](const State &unit) {
      for (State start : fixed)
        {
          for (unsigned int c = 0; c < n; ++c)
            start[c] *= unit[c];
          search(start, unit);
        }
    };
    for (const State &guess : guesses)
      search(guess, own);
    search_in(one);
    if (std::any_of(initial.begin(), initial.end(), [](double value) { return value != 0.; }))
      search(initial, own);
    State powers = own; // of ten, so that the starts are those of the same reaction in other units
    for (double &unit : powers)
      unit = std::pow(10., std::round(std::log10(unit)));
    if (powers != one)
      search_in(powers);
    for (const double unit : {1e-3, 1e3, 1e-6, 1e6, 1e-9, 1e9, 1e-12, 1e12})
      if (found.empty())
        search_in(State(n, unit));
    return found;
  }
} // namespace leopard
