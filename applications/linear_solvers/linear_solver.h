// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "choose_method.h"
#include "gpu_remarks.h"
#include "judgement.h"
#include "multigrid_parameters.h"

#include <solvers/base/usable_resources.h>
#include <solvers/block_async/names.h>
#include <solvers/dealii/trilinos_matrix.h>
#include <solvers/distributed/gpus/several_gpus.h>
#include <solvers/triangular/incomplete_preconditioner.h>
#include <solvers/triangular/triangular_choice.h>

#include <nlohmann/json_fwd.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace dealii
{
  class ParameterHandler;
}

namespace leopard
{
  class LevelSource;
  class Log;

  /** Where a rank stands among all ranks of the program on its machine: they share its threads and GPUs. */
  struct NodePlace
  {
    int rank = 0, n_ranks = 1;
    int n_cores = usable_cores(); ///< of this rank: its own, and its share of those that others may use, too
    int n_bound = n_cores;        ///< on which it may run, also if others may, too

    /** Collective over all ranks of the program. */
    static NodePlace find(MPI_Comm all_ranks);
    /** A line for the log where it may run on fewer cores than its share of the machine, or nothing. */
    std::string remark_on_cores() const;
  };

  /** LinearSolverParameters::triangular_solves as they are chosen: asynchronous, and exact where that fails. */
  constexpr const char *async_at_first = "async at first";

  /** Section "Linear solver" of the parameter file. */
  struct LinearSolverParameters
  {
    std::string         method         = "automatic"; ///< until choose(); of method_names(as_solver), or cg, gmres, multigrid, direct
    std::string         preconditioner = "none"; ///< for cg and gmres: none, of method_names(as_preconditioner), ilu, ic, aggregation, amg, multigrid
    std::string         backend        = "automatic";
    std::string         precision      = "automatic";       ///< until choose(); double, or mixed: a refinement with corrections in single precision
    int                 max_iterations = 10000;             ///< of a solve; until choose() 0 where the file gives none
    double              relative_tolerance        = 1e-8;   ///< of the residual against the right-hand side, dimensionless
    int                 test_every                = 10;     ///< iterations between two residual tests of a relaxation
    double              omega                     = 1.;     ///< relaxation factor, dimensionless
    bool                omega_is_tau              = false;  ///< then tau of the matrix, where has_tau(), instead of omega
    double              tuning_time               = 0.;     ///< seconds for finding the options of async by measuring; 0: none
    int                 restart                   = 50;     ///< GMRES basis vectors
    int                 preconditioner_iterations = 2;      ///< global iterations of async as preconditioner
    int                 device                    = -1;     ///< GPU number; -1: ranks of a node share them in turn
    int                 n_gpus                    = 1;      ///< of one rank, see shares_out_rows()
    int                 runs_at_a_time            = 1;      ///< that share host or GPU: those of a sweep
    std::string         gpu_exchange              = "halo"; ///< between them: of gpu_exchanges, or waiting halo
    std::string         waiting                   = "spin"; ///< for the GPU; or block
    bool                wait_for_ghosts           = true;   ///< of async as solver on several ranks
    double              lambda_min                = 0.;     ///< chebyshev: smallest eigenvalue of D^-1 A, dimensionless; 0: lambda_max / 30
    double              lambda_max                = 0.;     ///< chebyshev: largest; 0: estimated
    BlockAsyncOptions   block_async               = for_changing_values();
    bool                any_block_size            = true;        ///< of async; block_async has the usual one then
    std::string         block_shape               = "compact";   ///< of async; or rows
    std::string         triangular_solves         = "automatic"; ///< of ilu and ic, until choose_backend(); exact, async, async_at_first
    int                 triangular_iterations     = 3;           ///< async: global iterations of each of the two solves
    int                 fill_level                = 0;           ///< of the factors of ilu and ic
    int                 factor_sweeps             = 0;           ///< that find the factors; 0: elimination
    MultigridParameters multigrid;                               ///< section "Multigrid"
    SolverChoice        suited;                                  ///< what "automatic" chooses where no preconditioner is given; after choose()
    bool                chose_single  = false;                   ///< whether cycles are in single precision since the file leaves it to the program
    bool                automatic     = false;                   ///< whether method and preconditioner were chosen
    bool                free          = false;                   ///< and no preconditioner was given
    bool                values_change = false;                   ///< whether the matrix is solved with for several values; after choose()
    std::string         why;                                     ///< the reason
    std::vector<RankGpu> gpus;                                   ///< of the ranks, with the backend cuda; after choose_backend()

    void declare(dealii::ParameterHandler &prm);
    void read(dealii::ParameterHandler &prm);
    /** Replaces the method "automatic" and its preconditioner. @throws Error for choices that contradict each other. */
    void choose(SolverTask task);
    /** Before choose(): whether that depends on whether there is a GPU. */
    bool asks_for_gpu(SolverTask task) const;
    /** "cg with the preconditioner amg". */
    std::string name() const { return SolverChoice{method, preconditioner, ""}.name(); }
    /** The same with "(automatic: ...)" and the reason, where it was chosen; empty otherwise. */
    std::string choice() const { return automatic ? name() + " (automatic: " + why + ")" : ""; }

    bool is_krylov() const { return method == "cg" || method == "gmres"; }
    bool is_relaxation() const { return !is_krylov() && method != "multigrid" && method != "direct"; }
    bool uses_multigrid() const { return method == "multigrid" || (is_krylov() && preconditioner == "multigrid"); }
    /** The relaxation that solves or preconditions; null: there is none. */
    const Method *relaxation() const { return lookup_method(is_krylov() ? preconditioner : method); }
    bool          has_iterated_preconditioner() const { return is_krylov() && relaxation() != nullptr && relaxation()->is_iterated; }
    /** Whether the relaxation's omega is to be tau: of jacobi as a preconditioner it would change nothing. */
    bool has_tau() const { return omega_is_tau && takes_tau() && !(is_krylov() && !has_iterated_preconditioner()); }
    /** Whether the options of async, which solves, are found by measuring. */
    bool tunes() const
    {
      return tuning_time > 0. && is_relaxation() && relaxation() != nullptr && relaxation()->has_blocks && !relaxation()->corrects;
    }
    /** Whether async, which has other ranks' values as ghosts, solves in double precision. */
    bool can_go_without_waiting() const
    {
      return is_relaxation() && relaxation() != nullptr && relaxation()->has_blocks && !relaxation()->corrects && !refines();
    }
    /** Of either multigrid. */
    const Method &smoother() const { return find_method((uses_aggregation() ? multigrid.of_aggregation() : multigrid.options).smoother.method); }
    /** Whether incomplete factors precondition. */
    bool has_factors() const { return is_krylov() && (preconditioner == "ilu" || preconditioner == "ic"); }
    /** Whether asynchronous solves are asked for, with the options of this section. */
    bool has_async_factors() const { return has_factors() && triangular_solves == "async"; }
    /** Whether they are the program's choice, with options of its own: where they fail exact ones follow. */
    bool has_async_factors_at_first() const { return has_factors() && triangular_solves == async_at_first; }
    /** Whether they may be, as far as is known. */
    bool may_choose_async_factors() const
    {
      return has_async_factors_at_first() || (has_factors() && triangular_solves == "automatic" && (backend == "cuda" || backend == "automatic"));
    }
    /** What makes two runs of an asynchronous solver equal, for a log. */
    std::string how_to_repeat(MPI_Comm comm) const;
    /** Whether one of the library's preconditioners that are made of the matrix alone does. */
    bool              is_algebraic() const { return has_factors() || uses_aggregation(); }
    bool              uses_aggregation() const { return is_krylov() && preconditioner == "aggregation"; }
    bool              has_smoother() const { return uses_multigrid() || uses_aggregation(); } ///< on the levels of either
    IncompleteOptions incomplete_options() const;
    TriangularChoice  chosen_triangular() const; ///< by the backend
    /**
     * Whether several GPUs of a rank can share out its rows: of async alone, or of a Krylov method, see
     * krylov_on_gpus.cc.
     */
    bool shares_out_rows() const;
    /** Of n_gpus from `device` on. */
    SeveralGpusOptions several_gpus() const;
    bool               uses_block_async() const
    {
      return has_async_factors() || (relaxation() != nullptr && relaxation()->has_blocks) || (has_smoother() && smoother().has_blocks);
    }
    /** Whether 'Two stage' says how something iterates: not smoothers. */
    bool uses_two_stage() const { return has_async_factors() || (relaxation() != nullptr && relaxation()->has_blocks); }
    /** Whether a relaxation whose blocks are to be compact solves or preconditions. */
    bool has_compact_blocks() const { return block_shape == "compact" && relaxation() != nullptr && relaxation()->has_blocks; }
    /** "compact blocks of 256". */
    std::string blocks(int size) const { return (block_shape == "compact" ? "compact blocks of " : "blocks of ") + std::to_string(size); }
    /** Whether a refinement solves: residual and solution in double, the method in single precision. */
    bool refines() const { return precision == "mixed" && can_refine(); }
    bool can_refine() const
    {
      return is_krylov() ? !uses_aggregation() && preconditioner != "amg"
                         : method == "multigrid" || (is_relaxation() && (relaxation() == nullptr || !relaxation()->corrects));
    }
    /** Whether the method refines block by block: then blocks have the lower precision themselves. */
    bool corrects_blocks() const { return is_relaxation() && relaxation() != nullptr && relaxation()->corrects; }
    /** Of multigrid cycles. */
    Arithmetic cycle_arithmetic() const
    {
      const bool in_single = method == "multigrid" ? refines() : multigrid.arithmetic == Arithmetic::single_precision;
      return in_single ? Arithmetic::single_precision : Arithmetic::double_precision;
    }
    /** @throws Error where the precision that is asked for cannot be had. */
    void check_precision() const;
    /** Whether what does not converge in single precision is begun anew, or goes on, in double. */
    bool goes_on_in_double() const { return chose_single || (refines() && is_krylov()); }
    /** Whether the refinement is one of a Krylov method that is not for these ranks. */
    bool cannot_refine_on(MPI_Comm comm) const;
    /** @throws Error where that is so. */
    void check_precision_on(MPI_Comm comm) const;
    /** @throws Error where levels cannot have 16 bits. */
    void check_sixteen_bits() const;
    /** Whether cg has a preconditioner that is made without regard to symmetry. */
    bool is_poor_cg() const
    {
      return method == "cg" && (preconditioner == "async" || has_async_factors()) &&
             (block_async.schedule != Schedule::synchronous || block_async.has_asynchronous_inner_iteration());
    }
    /** Why is_poor_cg(): "the schedule chaotic", "two stage inner". */
    std::string why_poor_cg() const
    {
      return block_async.has_asynchronous_inner_iteration() ? "two stage " + to_string(block_async.two_stage)
             : block_async.schedule == Schedule::chaotic    ? "the schedule chaotic"
                                                            : "the schedule replay";
    }
    /**
     * Whether the rows of a block do not wait for one another, as those of 'Two stage' on a GPU. After
     * choose_backend().
     */
    bool has_asynchronous_rows() const { return uses_two_stage() && block_async.has_asynchronous_inner_iteration() && backend == "cuda"; }
    /** Whether two runs differ. */
    bool is_asynchronous() const
    {
      return has_asynchronous_rows() || (has_async_factors_at_first() && chosen_triangular().varies()) ||
             (uses_block_async() && block_async.schedule == Schedule::chaotic && backend != "reference");
    }

    /**
     * Replaces the backend "automatic" by cuda where a GPU answers and the method runs there, by host otherwise, and
     * selects the GPU. Collective. @return one line that says what was chosen and why. @throws Error if cuda was asked
     * for and cannot be had.
     */
    std::string choose_backend(MPI_Comm comm, const NodePlace &place);

    /** After choose_backend(): lines for a log on GPUs that are shared, or not alike. */
    std::vector<std::string> remarks_on_gpus() const;

  private:
    /** Replaces "automatic". */
    void choose_triangular_solves();
    /** Those that tau scaling is for. */
    static std::vector<std::string> methods_with_tau();
    /** Whether tau scaling is for the relaxation that solves or preconditions. */
    bool takes_tau() const { return relaxation() != nullptr && relaxation()->omega == OmegaRange::damping; }
    /** Replaces the precisions "automatic". */
    void        choose_precision(const SolverTask &task);
    void        check_contradictions() const;
    void        check_tau() const;
    void        check_tuning() const;
    void        check_overlap_level() const;
    void        check_two_stage() const;
    void        check_gpus() const;
    std::string why_not_on_device() const;

    /** Newton and time stepping change the values of the matrix, which storages smaller than doubles do not allow. */
    static BlockAsyncOptions for_changing_values()
    {
      BlockAsyncOptions options;
      options.storage = Storage::double_precision;
      return options;
    }
  };

  /** What a solve is asked for, beside A and b. */
  struct LinearTarget
  {
    double relative_tolerance = 0.; ///< of ||b||; 0: exactly max_iterations of a relaxation, no test
    int    max_iterations     = 10000;
  };

  struct LinearSolveResult
  {
    int         n_iterations       = 0;     ///< global iterations, Krylov iterations, or 1
    double      final_residual     = 0.;    ///< ||b - A x||_2, computed from x
    bool        converged          = true;  ///< whether that has reached the tolerance
    double      convergence_factor = 0.;    ///< of a multigrid cycle, in the mean over the second half of them; 0: not known
    double      rate               = 0.;    ///< recent_rate() of an iteration
    bool        stagnated          = false; ///< as in Progress
    bool        negative_curvature = false; ///< as in Progress
    int         n_corrections      = 0;     ///< of a refinement, whose inner iterations the others are; 0: it is none
    bool        has_momentum       = false; ///< whether corrections of a refinement had it
    bool        at_rounding        = false; ///< as in Progress
    bool        ill_conditioned    = false; ///< as in Progress
    std::string note;                       ///< what the log should say once; mostly empty

    /** How it went on. @param first residual norm. @param goal what it should have come to. */
    Progress progress(double first, double goal) const
    {
      return {n_iterations, first, final_residual, goal, rate, stagnated, negative_curvature, at_rounding, ill_conditioned};
    }
  };

  /**
   * Solves A x = b by the method, preconditioner and backend of the parameter file. The values of A may change between
   * solves, its sparsity pattern may not. Everything is allocated in the constructor, not in solve().
   *
   * Cycles in single precision that the program has chosen (chose_single) give way to cycles in double once, and so do
   * Krylov methods in single precision: where entries on the diagonal differ by more than a factor of 1e7 or are not
   * within 1e-35 and 1e35 (of cycles), where the values do not fit, or where a solve diverges (then it begins anew) or
   * misses its tolerance within the iterations that it may do (then it goes on with as many), and `note` says so. So do
   * asynchronous triangular solves that the program has chosen to exact ones, which may do as many iterations again.
   */
  class LinearSolver
  {
  public:
    /**
     * Keeps references to A and levels, and a copy of the parameters. Collective. @param n_components fields
     * interleaved in A. @param levels where multigrid has its levels from; what A has beyond their matrices when values
     * change later is thought to act at the nodes. Other methods do not need it. @throws Error.
     */
    LinearSolver(const LinearSolverParameters &parameters, const HostMatrix &A, unsigned int n_components, LevelSource *levels, MPI_Comm comm);
    ~LinearSolver();

    /** Says that the values of A have changed. */
    void update_values();

    /**
     * Solves from the given x. A method that misses its tolerance returns converged = false; Krylov methods and the
     * direct solver, which know their residual by recursion or not at all, have been begun anew from what they found
     * then. Where squares of b would leave the range of numbers, b and x are scaled.
     * @throws ConvergenceFailure if the iteration diverges, with an estimate of rho(|B|) and what to try; if b is not
     * finite; Stopped between iterations when the run is asked to stop (the direct solver looks before it begins only).
     */
    LinearSolveResult solve(HostVector &x, const HostVector &b, const LinearTarget &target);

    /**
     * Says that the tolerance is missed, how it went on, and what to take instead. @param more what else helps. @throws
     * ConvergenceFailure, always.
     */
    [[noreturn]] void report_missed_tolerance(double tolerance, const Progress &progress, const std::string &more) const;

    /** "async-(5), blocks of 256, host threads", for the log. */
    std::string description() const;

    /** Wall time of the constructor and of update_values() until now, all of them together. */
    double set_up_seconds() const { return seconds; }

    /**
     * Whether details() begin with what was found from the values that A has now: omega = tau, or options by measuring.
     */
    bool tells_of_values() const { return parameters.has_tau() || parameters.tunes(); }

    /**
     * What else a log should say when it begins to solve, in lines; mostly empty. Of options that are found by
     * measuring where values change: after the first solve.
     */
    std::string details() const;

    /** What was found from the values of A, for run.json: "tau", "tuned"; an empty object otherwise. */
    nlohmann::json report() const;

    class Implementation; ///< a family of methods: relaxations, Krylov solvers on host or device, direct solvers

  private:
    void make();
    /** In single precision, where that is to be tried, and in double. */
    LinearSolveResult solve_in_precisions(HostVector &x, const HostVector &b, const LinearTarget &target);
    /** With asynchronous triangular solves, and with exact ones from then on where these miss the tolerance. */
    LinearSolveResult solve_or_exactly(HostVector &x, const HostVector &b, const LinearTarget &target);
    void              make_exact(const std::string &why);
    void              make_in_double(const std::string &why);
    /** set_up(), or make_in_double() where that fails. */
    void or_in_double(const std::function<void()> &set_up);
    /** The same of a solve. */
    LinearSolveResult solve_or_in_double(HostVector &x, const HostVector &b, const LinearTarget &target);
    /** The solve; b and x scaled where squares of b would leave the range of numbers. */
    LinearSolveResult solve_scaled(HostVector &x, const HostVector &b, const LinearTarget &target);

    LinearSolverParameters          parameters;
    const HostMatrix               &A;
    const unsigned int              n_components;
    LevelSource                    *levels;
    MPI_Comm                        comm;
    std::unique_ptr<Implementation> implementation;
    HostVector                      first_guess;      ///< where a solve may have to be begun anew in double
    HostVector                      guess_of_factors; ///< the same with exact triangular solves
    std::string                     note;             ///< what the next solve is to say
    int                             n_in_single = 0;  ///< iterations of the last solve before it has begun anew in double
    double                          seconds     = 0.; ///< of set-up
  };
} // namespace leopard
