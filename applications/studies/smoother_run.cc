// SPDX-License-Identifier: Apache-2.0
#include "smoother_run.h"

#include <applications/base/log.h>
#include <applications/base/stop_signal.h>
#include <solvers/base/errors.h>
#include <solvers/base/norms.h>
#include <solvers/base/stopwatch.h>
#include <solvers/device/device.h>
#include <solvers/device/device_vector.h>

#include <deal.II/lac/solver_cg.h>
#include <deal.II/lac/solver_control.h>
#include <deal.II/lac/vector.h>
#include <deal.II/lac/vector_memory.templates.h>

#include <algorithm>
#include <cmath>
#include <memory>

namespace leopard
{
  using namespace dealii;

  namespace
  {
    /** The problem's vectors in the memory of the multigrid. */
    template <typename VectorType>
    VectorType make_vector(std::size_t n)
    {
      VectorType v;
      v.reinit(n);
      return v;
    }

    double *data(Vector<double> &v)
    {
      return v.begin();
    }
    const double *data(const Vector<double> &v)
    {
      return v.begin();
    }
    double *data(DeviceVector<double> &v)
    {
      return v.data();
    }
    const double *data(const DeviceVector<double> &v)
    {
      return v.data();
    }
    void fill(Vector<double> &v, const std::vector<double> &values)
    {
      std::copy(values.begin(), values.end(), v.begin());
    }
    void fill(DeviceVector<double> &v, const std::vector<double> &values)
    {
      v.copy_from_host(values.data());
    }

    /** A multigrid as operator and as preconditioner of deal.II's solvers. */
    template <typename VectorType>
    struct Operator
    {
      Multigrid<double> &multigrid;
      void               vmult(VectorType &y, const VectorType &x) const
      {
        multigrid.multiply(data(y), const_cast<double *>(data(x)));
      } // its ghosts, of which one rank has none
    };
    template <typename VectorType>
    struct Preconditioner
    {
      Multigrid<double> &multigrid;
      void               vmult(VectorType &y, const VectorType &x) const { multigrid.vmult(data(y), data(x)); }
    };

    /**
     * Solves A x = b from x = 0 by flexible CG: the smoothers before and after the coarse correction need not be each
     * other's transposes.
     */
    template <typename VectorType>
    SolveResult solve_cg(Multigrid<double> &multigrid, VectorType &x, const VectorType &b, const SmootherStudyParameters &study)
    {
      const double  goal = study.tolerance * b.l2_norm();
      SolverControl control(study.max_cycles, goal, false, false);
      control.enable_history_data();
      GrowingVectorMemory<VectorType> memory;
      SolveResult                     result;
      const double                    start = now();
      try
        {
          SolverFlexibleCG<VectorType>(control, memory).solve(Operator<VectorType>{multigrid}, x, b, Preconditioner<VectorType>{multigrid});
          result.status = SolveStatus::converged;
        }
      catch (const SolverControl::NoConvergence &)
        {
          result.status = std::isfinite(control.last_value()) ? SolveStatus::iteration_limit : SolveStatus::diverged;
        }
      result.seconds      = now() - start;
      VectorType residual = b; // of the recursion's, rounding errors may have made another one
      Operator<VectorType>{multigrid}.vmult(residual, x);
      residual.sadd(-1., 1., b);
      result.final_residual = residual.l2_norm();
      if (result.status == SolveStatus::converged && !reached(result.final_residual, goal))
        result.status = SolveStatus::stagnated;
      result.n_iterations      = static_cast<int>(control.last_step());
      result.history_residuals = control.get_history_data();
      for (std::size_t i = 0; i < result.history_residuals.size(); ++i)
        result.history_iterations.push_back(static_cast<int>(i));
      return result;
    }

    SolveResult solve_cycles(Multigrid<double> &multigrid, double *x, const double *b, const SmootherStudyParameters &study)
    {
      StoppingCriteria criteria;
      criteria.max_iterations     = study.max_cycles;
      criteria.relative_tolerance = study.tolerance;
      criteria.test_every         = 1;
      criteria.asked_to_stop      = [] { return stop_requested(MPI_COMM_SELF); };
      return multigrid.solve(x, b, criteria);
    }

    std::string status_text(SolveStatus status)
    {
      return status == SolveStatus::iteration_limit ? "cycle limit" : to_string(status);
    }

    void append(SmootherRow &row, const SolveResult &result, double norm_b)
    {
      row.cycles.push_back(result.n_iterations);
      row.seconds.push_back(result.seconds);
      ResidualHistory history;
      history.seconds_per_cycle = result.seconds / std::max(1, result.n_iterations);
      for (const double r : result.history_residuals)
        history.relative_residuals.push_back(r / norm_b);
      row.histories.push_back(history);
    }

    /** Further cycles from the solution, to see how small the residual gets. */
    void go_beyond(Multigrid<double> &multigrid, double *x, const double *b, double norm_b, int n_cycles, SmootherRow &row)
    {
      ResidualHistory &history = row.histories.back();
      row.attainable           = history.relative_residuals.back();
      for (int i = 0; i < n_cycles; ++i)
        {
          StoppingCriteria one;
          one.max_iterations = 1;
          const double r     = multigrid.solve(x, b, one).final_residual / norm_b;
          history.relative_residuals.push_back(r);
          row.attainable = std::min(row.attainable, r);
        }
    }

    /**
     * One solution from zero, after a cycle that is not timed: it allocates and builds graphs if it is the first, and
     * brings data into the caches, in which those of other smoothers may be.
     * @param goes_beyond whether cycles beyond the tolerance follow, if it is reached.
     */
    template <typename VectorType>
    SolveResult
    solve_once(const StudyProblem &problem, Multigrid<double> &multigrid, const SmootherStudyParameters &study, bool goes_beyond, SmootherRow &row)
    {
      VectorType b = make_vector<VectorType>(problem.b.size()), x = make_vector<VectorType>(multigrid.n_columns());
      fill(b, problem.b);
      const double norm_b = b.l2_norm();
      multigrid.cycle(data(x), data(b));
      x                        = 0.;
      const double      begin  = now();
      const SolveResult result = row.solver == "cg" ? solve_cg(multigrid, x, b, study) : solve_cycles(multigrid, data(x), data(b), study);
      throw_if_stop_requested(MPI_COMM_SELF); // a study has one rank
      append(row, result, norm_b);
      row.histories.back().begin = begin;
      row.status                 = status_text(result.status);
      if (goes_beyond && row.converged() && study.cycles_beyond > 0 && row.solver == "multigrid")
        go_beyond(multigrid, data(x), data(b), norm_b, study.cycles_beyond, row);
      return result;
    }

    /**
     * Each part is the smallest of two to five profiles, as many as begin within a quarter of a second: a cycle
     * always does the same, and other work on the machine only adds time.
     */
    void profile(Multigrid<double> &multigrid, SmootherRow &row)
    {
      const auto   keep_smaller = [](double &smallest, double seconds) { smallest = smallest > 0. ? std::min(smallest, seconds) : seconds; };
      const double start        = now();
      for (int i = 0; i < 5 && (i < 2 || now() - start < 0.25); ++i)
        {
          const MultigridProfile parts    = multigrid.profile(1);
          double                 smoother = 0., transfers = 0.;
          for (const MultigridProfile::Level &level : parts.levels)
            {
              smoother += level.smoother;
              transfers += level.residual_and_transfers;
            }
          keep_smaller(row.smoother_seconds, smoother);
          keep_smaller(row.transfer_seconds, transfers);
          keep_smaller(row.coarse_seconds, parts.coarse_solver);
          keep_smaller(row.copy_seconds, parts.copies);
        }
    }

    MultigridOptions multigrid_options(const SmootherCombination &combination, Backend backend, int n_threads)
    {
      MultigridOptions options;
      options.backend        = backend;
      options.n_threads      = n_threads;
      options.cycle          = combination.cycle;
      options.pre_smoothing  = combination.steps;
      options.post_smoothing = combination.steps;
      options.smoother       = combination.smoother->options;
      return options;
    }

    SmootherRow describe(const StudyProblem &problem, const SmootherCombination &combination, const SmootherStudyParameters &study)
    {
      const Method &method = find_method(combination.smoother->options.method, as_smoother);
      SmootherRow   row;
      row.problem           = problem.description;
      row.epsilon           = problem.epsilon;
      row.unknowns          = static_cast<long long>(problem.b.size());
      row.levels            = problem.n_levels;
      row.smoothing_steps   = combination.steps;
      row.cycle             = to_string(combination.cycle);
      row.smoother          = combination.smoother->text;
      row.method            = combination.smoother->options.method;
      row.backend           = to_string(combination.smoother->backend_in(study.backend == "cuda" ? Backend::cuda : Backend::host));
      row.solver            = combination.solver;
      row.hierarchy_seconds = problem.seconds;
      row.published         = study.published;
      row.varies            = method.has_blocks && combination.smoother->options.block_async.schedule == Schedule::chaotic;
      return row;
    }

    /** Does something for a row, which says what went wrong. @return whether nothing has. */
    template <typename Action>
    bool noting_failure(SmootherRow &row, const Action &action)
    {
      try
        {
          action();
          return true;
        }
      catch (const Error &error)
        {
          row.status = "failed";
          row.note   = error.what();
        }
      catch (const std::bad_alloc &)
        {
          row.status = "failed";
          row.note   = "the memory of this machine is not enough";
        }
      return false;
    }

    /** Smoothers whose multigrid methods are in memory at once, and which take turns. */
    class Group
    {
    public:
      Group(const StudyProblem &problem_, const SmootherStudyParameters &study_, int n_threads_)
        : problem(problem_)
        , study(study_)
        , n_threads(n_threads_)
      {
      }

      /** @return false: with those that are in it, there is not enough memory left for this one. */
      bool add(const SmootherCombination &combination)
      {
        Member member;
        member.row             = describe(problem, combination, study);
        const Backend backend  = combination.smoother->backend_in(study.backend == "cuda" ? Backend::cuda : Backend::host);
        const double  estimate = problem.memory(!find_method(combination.smoother->options.method, as_smoother).make_of_stencil);
        // those of a problem are of about one size, which is known once there is one
        if (!members.empty() && std::max(estimate, 1.5 * largest) > room(backend))
          return false;
        const auto make = [&] {
          check_memory(estimate);
          const double start = now();
          member.multigrid   = std::make_unique<Multigrid<double>>(problem.make_multigrid(multigrid_options(combination, backend, n_threads), study));
          member.row.setup_seconds = now() - start;
          member.row.memory        = member.multigrid->memory();
        };
        const double before = room(backend);
        member.goes_on      = noting_failure(member.row, make);
        // coarse factors and what smoothers keep is not in what multigrid counts
        largest = std::max({largest, static_cast<double>(member.row.memory), before - room(backend)});
        members.push_back(std::move(member));
        return true;
      }

      /**
       * Repetition r of all, then r + 1. @return their rows, in the order in which they were added. @throws Stopped.
       */
      std::vector<SmootherRow> run()
      {
        for (int r = 0; r < study.repetitions; ++r)
          for (Member &member : members)
            if (member.goes_on)
              member.goes_on = noting_failure(member.row, [&] { repeat(member, r); }) && member.row.converged(); // else it would only fail again
        std::vector<SmootherRow> rows;
        for (Member &member : members)
          {
            if (member.row.status != "failed")
              noting_failure(member.row, [&] {
                if (!member.row.converged())
                  member.row.note = member.multigrid->diagnosis();
                profile(*member.multigrid, member.row);
              });
            rows.push_back(member.row);
          }
        return rows;
      }

    private:
      struct Member
      {
        std::unique_ptr<Multigrid<double>> multigrid;
        SmootherRow                        row;
        double                             factors = 0.; ///< sum over the repetitions
        bool                               goes_on = false;
      };

      /** Bytes that are left. */
      static double room(Backend backend) { return backend == Backend::cuda ? static_cast<double>(device::free_memory()) : available_memory(); }

      void repeat(Member &member, int r)
      {
        const bool        is_last   = r + 1 == study.repetitions;
        const bool        on_device = member.multigrid->memory_space() == MemorySpace::device;
        const SolveResult result    = on_device ? solve_once<DeviceVector<double>>(problem, *member.multigrid, study, is_last, member.row)
                                                : solve_once<Vector<double>>(problem, *member.multigrid, study, is_last, member.row);
        member.factors += result.convergence_factor();
        member.row.factor = result.status == SolveStatus::converged ? member.factors / (r + 1) : result.convergence_factor();
      }

      const StudyProblem            &problem;
      const SmootherStudyParameters &study;
      int                            n_threads;
      std::vector<Member>            members;
      double                         largest = 0.; ///< bytes of a member
    };
  } // namespace

  std::vector<SmootherRow> run_smoothers(const StudyProblem                     &problem,
                                         const std::vector<SmootherCombination> &combinations,
                                         const SmootherStudyParameters          &study,
                                         int                                     n_threads)
  {
    std::vector<SmootherRow> rows;
    for (std::size_t i = 0; i < combinations.size();)
      try
        {
          Group group(problem, study, n_threads);
          while (i < combinations.size() && group.add(combinations[i]))
            {
              throw_if_stop_requested(MPI_COMM_SELF);
              ++i;
            }
          for (SmootherRow &row : group.run())
            rows.push_back(std::move(row));
        }
      catch (const Stopped &)
        {
          break;
        }
    return rows;
  }
} // namespace leopard
