// SPDX-License-Identifier: Apache-2.0
#include "../base/errors.h"
#include "../base/norms.h"
#include "../base/stopwatch.h"
#include "multigrid_data.h"

#include <algorithm>
#include <cmath>

namespace leopard
{
  namespace
  {
    constexpr int cycles_unseen = 8; ///< at most so many in sequence whose residual is estimated only
  }                                  // namespace

  /**
   * Cycles as a stationary iteration, so that solve() for relaxations serves them, too. Vectors are those of the whole
   * problem.
   */
  template <typename Number>
  class MultigridIteration : public Relaxation<Number>
  {
  public:
    explicit MultigridIteration(MultigridData<Number> &data_)
      : data(data_)
    {
    }

    std::string name() const override { return to_string(data.options.cycle) + "-cycle"; }
    int         n_rows() const override { return data.operations->n_rows(); }
    int         n_columns() const override { return data.operations->n_columns(); }
    MemorySpace memory_space() const override { return data.operations->memory_space(); }
    bool        is_fixed_linear_map() const override { return false; }
    void        update_values(const Number        */*values*/) override { throw InvalidInput("a multigrid cycle has no values to change"); }
    void        restart() override { started = false; }

    void iterate(Number *x, const Number *b, int n_iterations) override
    {
      for (int i = 0; i < n_iterations; ++i)
        {
          if (data.options.full_start && !started)
            data.full_multigrid();
          else
            data.iterate(x, b);
          started = true;
        }
    }

    bool tests_itself() const override { return !data.operations->is_adaptive() && data.finest() > 0; }

    IterationReport iterate_until(Number *x, const Number *b, int n_iterations, const ResidualTest &given) override
    {
      const Stopwatch stopwatch;
      IterationReport report;
      ResidualTest    test = given;
      if (test.initial_residual < 0.)
        {
          test.initial_residual = std::sqrt(residual_norm_squared(x, b));
          test.norm_b           = std::sqrt(norm_squared(b));
          ratio                 = 0.;
        }
      report.initial_residual = report.final_residual = test.initial_residual;
      report.norm_b                                   = test.norm_b;
      int       done                                  = 0;
      const int most                                  = std::min(n_iterations, cycles_unseen);
      // an initial residual that is no number, or small enough, needs no cycle
      for (bool enough = !std::isfinite(test.initial_residual) || reached(test.initial_residual, test.goal()); !enough; ++done)
        {
          iterate(x, b, 1);
          const double before = std::sqrt(data.operations->restricted_residual_norm_squared());
          double       norm   = ratio * before;
          const bool   last = done + 1 == most, near = reached(norm, 2. * test.goal()) || !(norm <= test.limit());
          // the first cycles reduce more than later ones: the ratio is taken anew after 1, 2, 4 cycles
          const bool settles = ((done + 1) & done) == 0;
          if (ratio == 0. || settles || last || near)
            {
              norm  = std::sqrt(residual_norm_squared(x, b));
              ratio = before > 0. ? norm / before : 0.;
            }
          enough = last || reached(norm, test.goal()) || !(norm <= test.limit());
          if (enough)
            report.final_residual = norm;
          else
            {
              report.estimate_iterations.push_back(done + 1);
              report.estimates.push_back(norm);
              report.estimate_seconds.push_back(stopwatch.seconds());
            }
        }
      report.minimum = report.maximum = done;
      report.mean                     = done;
      return report;
    }

    double residual_norm_squared(const Number *x, const Number *b) override
    {
      return data.operations->residual_norm_squared(const_cast<Number *>(x), b); // whose ghosts it brings up to date
    }

    double norm_squared(const Number *b) override { return data.operations->norm_squared(b); }

  private:
    MultigridData<Number> &data;
    bool                   started = false;
    double                 ratio   = 0.; ///< of the residual at a cycle's end to that after pre-smoothing; 0: not yet known
  };

  template <typename Number>
  SolveResult Multigrid<Number>::solve(Number *x, const Number *b, const StoppingCriteria &criteria)
  {
    MultigridIteration<Number> iteration(*data);
    StoppingCriteria           each_cycle = criteria;
    each_cycle.validate();
    each_cycle.test_every                      = 1;
    each_cycle.slowest_factor                  = 0.97; // of cycles more is expected than of iterations
    MultigridOperations<Number> &operations    = *data->operations;
    const Communication<Number> &communication = operations.communication(data->whole());
    if (operations.is_adaptive())
      return leopard::solve(iteration, x, b, each_cycle, communication);
    const int finest = data->finest();
    operations.set_right_hand_sides(b);
    if (data->options.full_start)
      operations.set_zero(finest);
    else
      operations.set_solution(x);
    SolveResult result = leopard::solve(iteration, operations.x(finest), operations.b(finest), each_cycle, communication);
    operations.get_solution(x);
    return result;
  }

#define INSTANTIATE(Number) template SolveResult Multigrid<Number>::solve(Number *x, const Number *b, const StoppingCriteria &criteria);
  LEOPARD_FOR_EACH_NUMBER(INSTANTIATE)
#undef INSTANTIATE
} // namespace leopard
