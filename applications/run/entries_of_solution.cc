// SPDX-License-Identifier: Apache-2.0
#include "entry_rows.h"

#include <solvers/base/words.h>

namespace leopard::entry_rows
{
  namespace
  {
    std::string of_mass(const Run &r, const std::string &entry)
    {
      return first(of_mesh(r, entry),
                   if_(!in_time(r), "the problem has no time derivative"),
                   if_(r.parameters.discretization.has_lumped_mass_only(), "'Discretization/Method' is finite differences, whose mass is lumped"));
    }

    template <bool multiples>
    std::string of_steps_in(const Run &r, const std::string &entry)
    {
      return first(of_steps(r, entry), if_((r.parameters.time.step_control == "multiple of h^2") != multiples, is(r, "Time stepping/Step control")));
    }

    std::string of_bound(const Run &r, const std::string &entry)
    {
      return first(of_steps(r, entry), if_(!r.parameters.time.follows_bound(), is(r, "Time stepping/Step control")));
    }

    /** In other steps the estimate stands in the statistics only. */
    std::string of_error_tolerance(const Run &r, const std::string &entry)
    {
      return r.parameters.time.adaptive() ? of_steps(r, entry) : of_run_in_time(r, entry);
    }

    std::string of_error_control(const Run &r, const std::string &entry)
    {
      return first(of_steps(r, entry), if_(!r.parameters.time.adaptive(), is(r, "Time stepping/Step control")));
    }

    std::string of_variable_steps(const Run &r, const std::string &entry)
    {
      return first(of_steps(r, entry), if_(!r.parameters.time.variable_steps(), is(r, "Time stepping/Step control")));
    }

    std::string of_verification(const Run &r, const std::string & /*entry*/)
    {
      return first(if_(is_study(r), "a study of smoothers is run"),
                   if_(r.parameters.mesh.adaptive, "'Mesh/Adaptive' is true, so that 'Mesh/Adaptive cycles' says how often is solved"));
    }

    std::string of_refined(const Run &r, const std::string &entry)
    {
      return first(of_verification(r, entry), if_(r.parameters.verification.refinements == 0, "'Verification/Refinements' is 0"));
    }

    std::string of_newton(const Run &r, const std::string & /*entry*/)
    {
      return if_(!has_newton(r),
                 is_study(r)            ? "a study of smoothers is run"
                 : is_linear_in_time(r) ? "a step of SBDF2 is one linear solve"
                                        : "the problem is linear");
    }

    std::string of_newton_error(const Run &r, const std::string &entry)
    {
      return first(of_newton(r, entry), of_error_control(r, entry));
    }

    /** The fused time loop repeats its linear solves like Newton's method with SBDF2, too. */
    std::string of_newton_or_fused(const Run &r, const std::string &entry)
    {
      return r.fused ? "" : of_newton(r, entry);
    }

    const char *const general_only = "the fused time loop has sweeps and multigrid of its own; 'Time stepping/Engine' = general uses it";

    std::string of_general_newton(const Run &r, const std::string &entry)
    {
      return first(of_newton(r, entry),
                   if_(r.fused, "the fused time loop solves as exactly as Newton's tolerance needs; 'Time stepping/Engine' = general uses it"));
    }

    std::string of_forcing(const Run &r, const std::string &entry)
    {
      return first(of_general_newton(r, entry), if_(r.parameters.linear_solver.method == "direct", "the direct solver is exact"));
    }

    template <bool fixed_iterations>
    std::string of_this_forcing(const Run &r, const std::string &entry)
    {
      return first(of_forcing(r, entry), if_((r.parameters.newton.forcing == "fixed iterations") != fixed_iterations, is(r, "Newton/Forcing")));
    }

    std::string of_solver(const Run &r, const std::string & /*entry*/)
    {
      return if_(!r.parameters.has_linear_solver(), "a study of smoothers has solvers of its own");
    }

    std::string of_general_solver(const Run &r, const std::string &entry)
    {
      return first(of_solver(r, entry), if_(r.fused, general_only));
    }

    std::string of_method(const Run &r, const std::string &entry)
    {
      const LinearSolverParameters &solver = r.parameters.linear_solver;
      return first(of_solver(r, entry), if_(r.fused && !solver.automatic && solver.method != "async", general_only));
    }

    std::string of_preconditioner(const Run &r, const std::string &entry)
    {
      return first(of_solver(r, entry), if_(r.fused && r.parameters.value("Linear solver/Preconditioner") != "none", general_only));
    }

    std::string of_max_iterations(const Run &r, const std::string &entry)
    {
      return first(of_solver(r, entry),
                   if_(!r.fused && r.parameters.linear_solver.method == "direct", is(r, "Linear solver/Method")),
                   if_(has_newton(r) && r.parameters.newton.forcing == "fixed iterations", is(r, "Newton/Forcing")));
    }

    std::string of_linear_tolerance(const Run &r, const std::string &entry)
    {
      return first(of_solver(r, entry), if_(has_newton(r), "section 'Newton' says how exactly linear systems are solved"));
    }

    std::string of_tests(const Run &r, const std::string &entry)
    {
      return first(of_general_solver(r, entry),
                   if_(!r.parameters.linear_solver.is_relaxation(), is(r, "Linear solver/Method")),
                   if_(r.parameters.linear_solver.refines(), "each correction of 'Linear solver/Precision' = mixed is tested"),
                   if_(has_newton(r) && r.parameters.newton.forcing == "fixed iterations", is(r, "Newton/Forcing")));
    }

    /** Of options of async that are found by measuring; gmres beyond the asynchronous bound takes those of the file. */
    std::string of_tuned(const Run &r)
    {
      return if_(r.parameters.linear_solver.tunes() && !has_alternative(r), "'Linear solver/Tuning time' is given, and it is chosen by measuring");
    }

    std::string of_omega(const Run &r, const std::string &entry)
    {
      const Method *relaxation = r.parameters.linear_solver.relaxation();
      const bool    reads =
        r.fused || has_alternative(r) ||
        (relaxation != nullptr && relaxation->omega != OmegaRange::none && !preconditions_with(r, "jacobi")); // where it changes nothing
      return first(of_solver(r, entry),
                   of_tuned(r),
                   if_(r.fused && r.parameters.linear_solver.omega_is_tau, "tau is of a matrix, and the fused time loop has none"),
                   if_(!reads,
                       r.parameters.linear_solver.is_krylov()        ? is(r, "Linear solver/Preconditioner")
                       : r.parameters.linear_solver.uses_multigrid() ? "a smoother has 'Multigrid/Smoother omega'"
                                                                     : is(r, "Linear solver/Method")));
    }

    std::string of_async(const Run &r, const std::string &entry)
    {
      return first(of_general_solver(r, entry), if_(!uses_block_async(r), "async is used nowhere"));
    }

    std::string of_found(const Run &r, const std::string &entry)
    {
      return first(of_async(r, entry), of_tuned(r));
    }

    /** Of a relaxation with blocks, not of a smoother or triangular solves. */
    std::string of_blocks(const Run &r, const std::string &entry)
    {
      const Method *relaxation = r.parameters.linear_solver.relaxation();
      return first(of_general_solver(r, entry),
                   if_((relaxation == nullptr || !relaxation->has_blocks) && !has_alternative(r), "async neither solves nor preconditions"));
    }

    std::string of_overlap(const Run &r, const std::string &entry)
    {
      return r.parameters.linear_solver.has_async_factors() ? of_async(r, entry) : of_blocks(r, entry);
    }

    std::string of_overlap_percent(const Run &r, const std::string &entry)
    {
      return first(of_overlap(r, entry),
                   if_(r.parameters.linear_solver.block_async.overlap == Overlap::none, is(r, "Linear solver/Overlap")),
                   if_(r.parameters.linear_solver.block_async.overlap_level > 0, "'Linear solver/Overlap level' says how far blocks overlap"));
    }

    /** The fused time loop is chaotic, and is not taken where a relaxation is asked to be otherwise. */
    std::string of_schedule(const Run &r, const std::string &entry)
    {
      const LinearSolverParameters &solver    = r.parameters.linear_solver;
      const bool                    of_sweeps = !r.fused && solver.has_factors() && solver.factor_sweeps > 0;
      const bool                    of_solves = !r.fused && solver.may_choose_async_factors();
      return of_sweeps || of_solves || (r.fused && solver.block_async.schedule == Schedule::chaotic) ? "" : of_async(r, entry);
    }

    /**
     * Without a class of its own the fused time loop is block-asynchronous, and is not taken where rows are to come one
     * after the other.
     */
    std::string of_two_stage(const Run &r, const std::string &entry)
    {
      return r.fused ? "" : of_overlap(r, entry);
    }

    std::string of_async_alone(const Run &r, const std::string &entry)
    {
      return first(of_blocks(r, entry), if_(!r.parameters.linear_solver.is_relaxation(), is(r, "Linear solver/Method")));
    }

    std::string of_gpus(const Run &r, const std::string &entry)
    {
      const LinearSolverParameters &solver = r.parameters.linear_solver;
      if (solver.automatic) // the choice depends on them
        return of_solver(r, entry);
      return first(of_general_solver(r, entry),
                   if_(!solver.shares_out_rows(), is(r, solver.is_krylov() ? "Linear solver/Preconditioner" : "Linear solver/Method")));
    }

    /** The fused time loop is not taken where options are to be found by measuring. */
    std::string of_tuning(const Run &r, const std::string &entry)
    {
      return r.fused ? "" : of_async_alone(r, entry);
    }

    std::string of_gpu_exchange(const Run &r, const std::string &entry)
    {
      return first(of_async_alone(r, entry), if_(r.parameters.linear_solver.n_gpus == 1, is(r, "Linear solver/GPUs")));
    }

    std::string of_gpu_exchange_in_time(const Run &r, const std::string &entry)
    {
      const std::string &backend = r.parameters.linear_solver.backend;
      return first(of_steps(r, entry),
                   if_(!r.fused, "the time loop is the general one"),
                   if_(backend != "cuda" && backend != "automatic", "the backend is " + backend),
                   if_(r.n_ranks == 1, "there is one rank"));
    }

    std::string of_seed(const Run &r, const std::string &entry)
    {
      const LinearSolverParameters &solver  = r.parameters.linear_solver;
      const Backend                 backend = solver.backend == "reference" && solver.uses_two_stage() ? Backend::reference : Backend::host;
      return first(of_async(r, entry), if_(!solver.block_async.uses_seed(backend), is(r, "Linear solver/Schedule")));
    }

    std::string of_chebyshev(const Run &r, const std::string &entry)
    {
      const Method *relaxation = r.parameters.linear_solver.relaxation();
      return first(of_general_solver(r, entry), if_(relaxation == nullptr || !relaxation->has_interval, "chebyshev is used nowhere"));
    }

    std::string of_factors(const Run &r, const std::string &entry)
    {
      return first(of_general_solver(r, entry), if_(!r.parameters.linear_solver.has_factors(), "ilu and ic do not precondition"));
    }

    std::string of_triangular_iterations(const Run &r, const std::string &entry)
    {
      return first(of_factors(r, entry), if_(!r.parameters.linear_solver.has_async_factors(), is(r, "Linear solver/Triangular solves")));
    }

    std::string of_gmres(const Run &r, const std::string &entry)
    {
      return first(of_general_solver(r, entry),
                   if_(r.parameters.linear_solver.method != "gmres" && !has_alternative(r), is(r, "Linear solver/Method")));
    }

    std::string of_iterated_preconditioner(const Run &r, const std::string &entry)
    {
      const bool iterates = r.parameters.linear_solver.has_iterated_preconditioner() || has_alternative(r);
      return first(of_general_solver(r, entry),
                   if_(!iterates, joined(method_names(as_preconditioner, &Method::is_iterated), ", ", " and ") + " do not precondition"));
    }

    std::string of_threads(const Run &r, const std::string & /*entry*/)
    {
      const std::string &backend  = is_study(r) ? r.parameters.smoother_study.backend : r.parameters.linear_solver.backend;
      const bool         threaded = is_study(r) || r.fused || uses_block_async(r) || r.parameters.linear_solver.uses_multigrid() ||
                            r.parameters.linear_solver.is_algebraic() || r.parameters.linear_solver.refines();
      return first(if_(backend == "cuda" || backend == "reference", "the backend is " + backend),
                   if_(!threaded, "of the solvers async, multigrid, aggregation, ilu, ic, refinement and the fused time loop use threads"));
    }

    std::string of_device(const Run &r, const std::string &entry)
    {
      const std::string &backend = r.parameters.linear_solver.backend;
      return first(of_solver(r, entry), if_(backend != "cuda" && backend != "automatic", "the backend is " + backend));
    }

    std::string of_multigrid(const Run &r, const std::string &entry)
    {
      return first(of_general_solver(r, entry), if_(!r.parameters.linear_solver.uses_multigrid(), "'Linear solver' does not use multigrid"));
    }

    /** Of geometric levels, and of those by aggregation. */
    std::string of_either_multigrid(const Run &r, const std::string &entry)
    {
      return r.parameters.linear_solver.uses_aggregation() ? of_general_solver(r, entry) : of_multigrid(r, entry);
    }

    std::string of_cycle(const Run &r, const std::string &entry)
    {
      return r.fused ? if_(!r.has_cycles, "all steps are short enough for sweeps") : of_either_multigrid(r, entry);
    }

    std::string of_full_start(const Run &r, const std::string &entry)
    {
      return first(if_(r.fused, "a time step has a first guess, from which the fused time loop goes on"), of_multigrid(r, entry));
    }

    std::string of_cycle_precision(const Run &r, const std::string &entry)
    {
      return first(of_either_multigrid(r, entry),
                   if_(r.parameters.linear_solver.method == "multigrid", "the method multigrid has 'Linear solver/Precision'"));
    }

    std::string of_ghosts(const Run &r, const std::string &entry)
    {
      return first(of_either_multigrid(r, entry), if_(r.n_ranks == 1, "there is one rank"));
    }

    std::string of_free_ranks(const Run &r, const std::string &entry)
    {
      return first(of_general_solver(r, entry),
                   if_(!r.parameters.linear_solver.can_go_without_waiting(), "async in double precision does not solve"),
                   if_(r.n_ranks == 1, "there is one rank"));
    }

    /** Of a stencil that is found only when the matrix is there the log speaks then. */
    std::string of_stored_blocks(const Run &r)
    {
      return if_(r.parameters.linear_solver.uses_multigrid() && r.parameters.linear_solver.multigrid.form == "stencil",
                 "'Multigrid/Form' is stencil, with tiles of its own");
    }

    std::string of_block_size(const Run &r, const std::string &entry)
    {
      return first(of_found(r, entry), of_stored_blocks(r));
    }

    std::string of_block_shape(const Run &r, const std::string &entry)
    {
      return first(
        of_either_multigrid(r, entry), if_(!r.parameters.linear_solver.smoother().has_blocks, is(r, "Multigrid/Smoother")), of_stored_blocks(r));
    }

    std::string of_moving_blocks(const Run &r, const std::string &entry)
    {
      return first(of_multigrid(r, entry), of_block_shape(r, entry));
    }

    std::string of_damped_smoother(const Run &r, const std::string &entry)
    {
      return first(of_either_multigrid(r, entry), if_(r.parameters.linear_solver.smoother().omega == OmegaRange::none, is(r, "Multigrid/Smoother")));
    }

    std::string of_either_on_gpu(const Run &r, const std::string &entry)
    {
      return first(of_either_multigrid(r, entry), of_device(r, entry));
    }

    std::string of_multigrid_on_gpu(const Run &r, const std::string &entry)
    {
      return first(of_multigrid(r, entry), of_device(r, entry));
    }

    std::string of_study(const Run &r, const std::string & /*entry*/)
    {
      return if_(!is_study(r), "'Study' is none");
    }

    template <bool stencil>
    std::string of_studied(const Run &r, const std::string &entry)
    {
      return first(of_study(r, entry), if_(studies_stencil(r) != stencil, is(r, "Smoother study/Stencil")));
    }

    std::string of_study_coarse(const Run &r, const std::string &entry)
    {
      const std::string &solver = r.parameters.smoother_study.coarse_solver;
      return first(of_study(r, entry), if_(solver != "cg" && solver != "amg", is(r, "Smoother study/Coarse solver")));
    }
  } // namespace

  const std::vector<Row> &rows_of_solution()
  {
    static const std::vector<Row> rows = {
      {"Discretization/Method", fixed, fixed, of_mesh},
      {"Discretization/Degree", fixed, fixed, of_mesh},
      {"Discretization/Mass matrix", fixed, fixed, of_mass},
      {"Linear solver/Method", effect, effect, of_method},
      {"Linear solver/Preconditioner", effect, effect, of_preconditioner},
      {"Linear solver/Backend", free, free, of_solver},
      {"Linear solver/Precision", effect, effect, of_general_solver},
      {"Linear solver/Max iterations", effect, effect, of_max_iterations},
      {"Linear solver/Relative tolerance", effect, effect, of_linear_tolerance},
      {"Linear solver/Test every", effect, effect, of_tests},
      {"Linear solver/Omega", effect, effect, of_omega},
      {"Linear solver/Tuning time", effect, effect, of_tuning},
      {"Linear solver/Local iterations", effect, effect, of_found},
      {"Linear solver/Block size", effect, effect, of_block_size},
      {"Linear solver/Block shape", effect, effect, of_blocks},
      {"Linear solver/Overlap", effect, effect, of_overlap},
      {"Linear solver/Overlap percent", effect, effect, of_overlap_percent},
      {"Linear solver/Overlap level", effect, effect, of_overlap},
      {"Linear solver/Block omega", effect, effect, of_blocks},
      {"Linear solver/l1 weights", effect, effect, of_blocks},
      {"Linear solver/Schedule", effect, effect, of_schedule},
      {"Linear solver/Two stage", effect, effect, of_two_stage},
      {"Linear solver/Seed", effect, effect, of_seed},
      {"Linear solver/Momentum", effect, effect, of_found},
      {"Linear solver/Smallest eigenvalue", effect, effect, of_chebyshev},
      {"Linear solver/Largest eigenvalue", effect, effect, of_chebyshev},
      {"Linear solver/Threads", free, free, of_threads},
      {"Linear solver/Restart", effect, effect, of_gmres},
      {"Linear solver/Preconditioner iterations", effect, effect, of_iterated_preconditioner},
      {"Linear solver/Triangular solves", effect, effect, of_factors},
      {"Linear solver/Triangular iterations", effect, effect, of_triangular_iterations},
      {"Linear solver/Fill level", effect, effect, of_factors},
      {"Linear solver/Factor sweeps", effect, effect, of_factors},
      {"Linear solver/Device", free, free, of_device},
      {"Linear solver/GPUs", effect, effect, of_gpus},
      {"Linear solver/GPU exchange", effect, effect, of_gpu_exchange},
      {"Linear solver/Waiting", free, free, of_device},
      {"Linear solver/Wait for ghosts", effect, effect, of_free_ranks},
      {"Multigrid/*", effect, effect, of_multigrid},
      {"Multigrid/Cycle", effect, effect, of_cycle},
      {"Multigrid/Pre smoothing", effect, effect, of_either_multigrid},
      {"Multigrid/Post smoothing", effect, effect, of_either_multigrid},
      {"Multigrid/Smoother", effect, effect, of_either_multigrid},
      {"Multigrid/Smoothing iterations per step", effect, effect, of_either_multigrid},
      {"Multigrid/Full multigrid start", effect, effect, of_full_start},
      {"Multigrid/Smoother omega", effect, effect, of_damped_smoother},
      {"Multigrid/Block shape", effect, effect, of_block_shape},
      {"Multigrid/Blocks move", effect, effect, of_moving_blocks},
      {"Multigrid/Precision", effect, effect, of_cycle_precision},
      {"Multigrid/Level storage", effect, effect, of_multigrid_on_gpu},
      {"Multigrid/Wait for ghosts", effect, effect, of_ghosts},
      {"Multigrid/CUDA graph", effect, effect, of_either_on_gpu},
      {"Newton/Max steps", effect, effect, of_newton_or_fused},
      {"Newton/Relative tolerance", effect, effect, of_newton},
      {"Newton/Absolute tolerance", effect, effect, of_newton_or_fused},
      {"Newton/Error fraction", effect, effect, of_newton_error},
      {"Newton/Forcing", effect, effect, of_forcing},
      {"Newton/Linear iterations", effect, effect, of_this_forcing<true>},
      {"Newton/Linear tolerance", effect, effect, of_this_forcing<false>},
      {"Newton/Line search", effect, effect, of_general_newton},
      {"Time stepping/*", effect, free, of_steps},
      {"Time stepping/Step size", effect, free, of_steps_in<false>},
      {"Time stepping/Step factor", effect, free, of_steps_in<true>},
      {"Time stepping/Bound fraction", effect, free, of_bound},
      {"Time stepping/Error tolerance", effect, free, of_error_tolerance},
      {"Time stepping/Smallest step", effect, free, of_error_control},
      {"Time stepping/Largest step", effect, free, of_variable_steps},
      {"Time stepping/End time", further, free, of_steps},
      {"Time stepping/GPU exchange", free, free, of_gpu_exchange_in_time},
      {"Time stepping/Estimate error", free, free, of_run_in_time},
      {"Verification/Refinements", fixed, further, of_verification},
      {"Verification/Refine", fixed, fixed, of_refined},
      {"Smoother study/*", free, free, of_study},
      {"Smoother study/Sizes", free, free, of_studied<true>},
      {"Smoother study/Epsilon", free, free, of_studied<true>},
      {"Smoother study/Refinements", free, free, of_studied<false>},
      {"Smoother study/Coarse tolerance", free, free, of_study_coarse},
    };
    return rows;
  }
} // namespace leopard::entry_rows
