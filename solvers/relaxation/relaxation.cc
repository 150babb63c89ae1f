// SPDX-License-Identifier: Apache-2.0
#include "relaxation.h"

#include "../base/errors.h"

#include <algorithm>
#include <cmath>

namespace leopard
{
  std::string to_string(Backend backend)
  {
    switch (backend)
      {
        case Backend::reference:
          return "reference";
        case Backend::host:
          return "host";
        case Backend::cuda:
          return "cuda";
      }
    return "unknown";
  }

  void StoppingCriteria::validate() const
  {
    const auto require = [](bool holds, const std::string &name, double found, const char *expected) {
      if (!holds)
        throw InvalidInput("stopping criterion " + name + " is " + std::to_string(found) + "\n  expected: " + expected);
    };
    require(max_iterations >= 0, "max_iterations", max_iterations, "a number >= 0");
    require(relative_tolerance >= 0. && relative_tolerance < INFINITY, "relative_tolerance", relative_tolerance, "a number >= 0");
    require(absolute_tolerance >= 0. && absolute_tolerance < INFINITY, "absolute_tolerance", absolute_tolerance, "a number >= 0");
    require(test_every >= 1, "test_every", test_every, "a number >= 1");
    require(divergence_factor > 1., "divergence_factor", divergence_factor, "a number > 1");
  }

  namespace
  {
    /** Norms over all ranks. */
    class Residual
    {
    public:
      Residual(Relaxation &relaxation_, const Communication &communication_)
        : relaxation(relaxation_)
        , communication(communication_)
      {
      }

      double norm(double *x, const double *b) const
      {
        if (communication.has_ghosts())
          communication.update_ghosts(x, relaxation.memory_space());
        return std::sqrt(communication.sum(relaxation.residual_norm_squared(x, b)));
      }

      double norm_of(const double *b) const { return std::sqrt(communication.sum(relaxation.norm_squared(b))); }

    private:
      Relaxation          &relaxation;
      const Communication &communication;
    };

    void iterate(Relaxation &relaxation, double *x, const double *b, int n, const Communication &communication)
    {
      if (!communication.has_ghosts())
        {
          relaxation.iterate(x, b, n);
          return;
        }
      for (int i = 0; i < n; ++i)
        {
          communication.update_ghosts(x, relaxation.memory_space());
          relaxation.iterate(x, b, 1);
        }
    }
  } // namespace

  SolveResult solve(Relaxation &relaxation, double *x, const double *b, const StoppingCriteria &criteria, const Communication &communication)
  {
    criteria.validate();
    const Residual residual(relaxation, communication);
    SolveResult    result;
    const auto     record = [&](double norm) {
      result.final_residual = norm;
      result.history_iterations.push_back(result.n_iterations);
      result.history_residuals.push_back(norm);
    };

    record(result.initial_residual = residual.norm(x, b));
    const bool tests = criteria.relative_tolerance > 0. || criteria.absolute_tolerance > 0.;
    if (!tests)
      {
        iterate(relaxation, x, b, criteria.max_iterations, communication);
        result.n_iterations = criteria.max_iterations;
        record(residual.norm(x, b));
      }
    else
      {
        const double norm_b = residual.norm_of(b);
        const double goal   = std::max(criteria.absolute_tolerance, criteria.relative_tolerance * (norm_b > 0. ? norm_b : result.initial_residual));
        const double limit  = criteria.divergence_factor * std::max(result.initial_residual, goal);
        while (true)
          {
            if (result.final_residual <= goal)
              {
                result.status = SolveStatus::converged;
                return result;
              }
            if (!(result.final_residual <= limit))
              break;
            if (result.n_iterations >= criteria.max_iterations)
              return result;
            const int n = std::min(criteria.test_every, criteria.max_iterations - result.n_iterations);
            iterate(relaxation, x, b, n, communication);
            result.n_iterations += n;
            record(residual.norm(x, b));
          }
      }
    if (!(result.final_residual <= criteria.divergence_factor * std::max(result.initial_residual, 1e-300)))
      result.status = SolveStatus::diverged;
    return result;
  }
} // namespace leopard
