// SPDX-License-Identifier: Apache-2.0
#include "entries.h"

#include "parameters.h"

#include <applications/problems/turing/kinetics.h>

#include <deal.II/base/exceptions.h>

namespace leopard
{
  namespace
  {
    using Run = RunKind;

    std::string if_(bool unused, const std::string &why)
    {
      return unused ? why : "";
    }

    /** The first reason, if there is one. */
    template <typename... More>
    std::string first(const std::string &why, const More &...more)
    {
      if constexpr (sizeof...(more) == 0)
        return why;
      else
        return why.empty() ? first(more...) : why;
    }

    std::string is(const Run &r, const std::string &entry)
    {
      if (r.parameters.linear_solver.automatic && (entry == "Linear solver/Method" || entry == "Linear solver/Preconditioner"))
        return "'Linear solver/Method' is automatic, which chooses " + r.parameters.linear_solver.name();
      return "'" + entry + "' is " + r.parameters.value(entry);
    }

    bool is_study(const Run &r)
    {
      return r.parameters.study != "none";
    }

    bool studies_stencil(const Run &r)
    {
      return is_study(r) && r.parameters.smoother_study.uses_stencil();
    }

    bool in_time(const Run &r)
    {
      return !is_study(r) && r.parameters.problem->time_dependent();
    }

    /** Whether a step is one linear solve. */
    bool is_linear_in_time(const Run &r)
    {
      return in_time(r) && r.parameters.time.explicit_reaction();
    }

    bool has_newton(const Run &r)
    {
      return !is_study(r) && r.parameters.problem->has_reaction() && !is_linear_in_time(r);
    }

    /** Whether error-controlled steps beyond the asynchronous bound are solved by gmres with async instead of a relaxation. */
    bool has_alternative(const Run &r)
    {
      return in_time(r) && !r.fused && r.parameters.time.adaptive() && !is_linear_in_time(r) && r.parameters.linear_solver.is_relaxation();
    }

    bool uses_block_async(const Run &r)
    {
      return r.parameters.linear_solver.uses_block_async() || has_alternative(r);
    }

    bool preconditions_with(const Run &r, const std::string &name)
    {
      return r.parameters.linear_solver.is_krylov() && r.parameters.linear_solver.preconditioner == name;
    }

    // why an entry is not used; the rows of the table combine these

    std::string used(const Run & /*r*/, const std::string & /*entry*/)
    {
      return "";
    }

    std::string of_mesh(const Run &r, const std::string & /*entry*/)
    {
      return if_(studies_stencil(r), "a stencil is studied, without problem and mesh");
    }

    std::string of_problem(const Run &r, const std::string &entry)
    {
      const std::string name = r.parameters.problem->name();
      return first(of_mesh(r, entry), if_(entry.substr(0, entry.find('/')) != name, "the problem is " + name));
    }

    std::string of_exact_solution(const Run &r, const std::string &entry)
    {
      return first(of_problem(r, entry), if_(is_study(r), "a study of smoothers does not compare with it"));
    }

    std::string of_boundary(const Run &r, const std::string &entry)
    {
      const std::string &domain = r.parameters.mesh.domain;
      return first(of_problem(r, entry), if_(domain == "sphere" || domain == "torus", "a " + domain + " has no boundary"));
    }

    template <bool built_in>
    std::string of_reaction(const Run &r, const std::string &entry)
    {
      const std::string choice = "Reaction-diffusion/Reaction";
      return first(of_problem(r, entry), if_((r.parameters.value(choice) == "quadratic") != built_in, is(r, choice)));
    }

    /** Constants of built-in kinetics are "NAME CONSTANT". */
    std::string of_turing(const Run &r, const std::string &entry)
    {
      std::string why = of_problem(r, entry);
      for (const auto &[name, make] : kinetics_registry())
        if (entry.rfind("Turing/" + name + " ", 0) == 0 && r.parameters.value("Turing/Kinetics") != name)
          why = first(why, is(r, "Turing/Kinetics"));
      return why;
    }

    std::string of_built_in_kinetics(const Run &r, const std::string &entry)
    {
      return first(of_problem(r, entry), if_(r.parameters.value("Turing/Kinetics") == "expressions", is(r, "Turing/Kinetics")));
    }

    std::string of_expressions(const Run &r, const std::string &entry)
    {
      return first(of_problem(r, entry), if_(r.parameters.value("Turing/Kinetics") != "expressions", is(r, "Turing/Kinetics")));
    }

    std::string of_perturbation(const Run &r, const std::string &entry)
    {
      return first(of_problem(r, entry), if_(std::stod(r.parameters.value("Turing/Perturbation")) == 0., "'Turing/Perturbation' is 0"));
    }

    std::string of_steady_state(const Run &r, const std::string &entry)
    {
      return first(of_problem(r, entry), if_(r.parameters.value("Turing/Steady state") == "none", is(r, "Turing/Steady state")));
    }

    template <const char *const *domains>
    std::string of_domains(const Run &r, const std::string &entry)
    {
      std::string why = is(r, "Mesh/Domain");
      for (const char *const *name = domains; *name != nullptr; ++name)
        if (r.parameters.mesh.domain == *name)
          why.clear();
      return first(of_mesh(r, entry), why);
    }

    constexpr const char *with_corners[] = {"hypercube", "box", "L-shape", nullptr};
    constexpr const char *with_cells[]   = {"hypercube", "box", nullptr};
    constexpr const char *with_radius[]  = {"ball", "cylinder", "sphere", "torus", nullptr};
    constexpr const char *with_tube[]    = {"torus", nullptr};
    constexpr const char *with_length[]  = {"cylinder", nullptr};
    constexpr const char *with_file[]    = {"file", "surface file", nullptr};

    std::string of_length(const Run &r, const std::string &entry)
    {
      return first(of_domains<with_length>(r, entry), if_(r.parameters.dimension == 2, "'Dimension' is 2"));
    }

    std::string of_refinements(const Run &r, const std::string &entry)
    {
      return first(of_mesh(r, entry), if_(is_study(r) && !r.parameters.smoother_study.refinements.empty(), "'Smoother study/Refinements' is given"));
    }

    std::string of_adaptive(const Run &r, const std::string &entry)
    {
      return first(of_mesh(r, entry), if_(!r.parameters.mesh.adaptive, "'Mesh/Adaptive' is false"));
    }

    std::string of_growth(const Run &r, const std::string & /*entry*/)
    {
      return if_(!r.parameters.growth.grows(), "'Mesh/Growth' is none");
    }

    std::string of_mass(const Run &r, const std::string &entry)
    {
      return first(of_mesh(r, entry),
                   if_(!in_time(r), "the problem has no time derivative"),
                   if_(r.parameters.discretization.has_lumped_mass_only(), "'Discretization/Method' is finite differences, whose mass is lumped"));
    }

    std::string of_steps(const Run &r, const std::string & /*entry*/)
    {
      return if_(!in_time(r), is_study(r) ? "a study of smoothers has no time steps" : "the problem is stationary");
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

    /** What a time-dependent run leaves on its way. */
    std::string of_run_in_time(const Run &r, const std::string &entry)
    {
      return first(of_steps(r, entry), if_(r.parameters.verification.refinements > 0, "a convergence study writes its table only"));
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

    std::string of_scaled_output(const Run &r, const std::string &entry)
    {
      return first(of_run_in_time(r, entry), of_growth(r, entry));
    }

    std::string of_sweep(const Run &r, const std::string & /*entry*/)
    {
      return if_(r.parameters.sweep.axes.empty() && r.parameters.sweep.ranks_per_run > 0, "'Run/Sweep' is empty");
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
      const bool solves = !is_study(r) || (r.parameters.mesh.adaptive && !studies_stencil(r)); // on the way to an adaptive mesh
      return if_(!solves, "a study of smoothers has solvers of its own");
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
                   if_(has_newton(r) && r.parameters.newton.forcing == "fixed iterations", is(r, "Newton/Forcing")));
    }

    std::string of_omega(const Run &r, const std::string &entry)
    {
      const std::string &method = r.parameters.linear_solver.method;
      const bool reads = r.fused || method == "async" || method == "jacobi" || method == "gauss-seidel" || method == "sor" || method == "ssor" ||
                         preconditions_with(r, "async") || preconditions_with(r, "ssor") || has_alternative(r);
      return first(of_solver(r, entry),
                   if_(!reads,
                       r.parameters.linear_solver.is_krylov()        ? is(r, "Linear solver/Preconditioner")
                       : r.parameters.linear_solver.uses_multigrid() ? "a smoother has 'Multigrid/Smoother omega'"
                                                                     : is(r, "Linear solver/Method")));
    }

    std::string of_async(const Run &r, const std::string &entry)
    {
      return first(of_general_solver(r, entry), if_(!uses_block_async(r), "async is used nowhere"));
    }

    /** The fused time loop is chaotic, and is not taken where a relaxation is asked to be otherwise. */
    std::string of_schedule(const Run &r, const std::string &entry)
    {
      return r.fused && r.parameters.linear_solver.block_async.schedule == Schedule::chaotic ? "" : of_async(r, entry);
    }

    std::string of_replay(const Run &r, const std::string &entry)
    {
      return first(of_async(r, entry), if_(r.parameters.linear_solver.block_async.schedule != Schedule::replay, is(r, "Linear solver/Schedule")));
    }

    std::string of_chebyshev(const Run &r, const std::string &entry)
    {
      return first(of_general_solver(r, entry),
                   if_(r.parameters.linear_solver.method != "chebyshev" && !preconditions_with(r, "chebyshev"), "chebyshev is used nowhere"));
    }

    std::string of_gmres(const Run &r, const std::string &entry)
    {
      return first(of_general_solver(r, entry),
                   if_(r.parameters.linear_solver.method != "gmres" && !has_alternative(r), is(r, "Linear solver/Method")));
    }

    std::string of_iterated_preconditioner(const Run &r, const std::string &entry)
    {
      const bool iterates = preconditions_with(r, "async") || preconditions_with(r, "chebyshev") || has_alternative(r);
      return first(of_general_solver(r, entry), if_(!iterates, "async and chebyshev do not precondition"));
    }

    std::string of_threads(const Run &r, const std::string & /*entry*/)
    {
      const std::string &backend  = is_study(r) ? r.parameters.smoother_study.backend : r.parameters.linear_solver.backend;
      const bool         threaded = is_study(r) || r.fused || uses_block_async(r) || r.parameters.linear_solver.uses_multigrid();
      return first(if_(backend == "cuda" || backend == "reference", "the backend is " + backend),
                   if_(!threaded, "of the solvers async, multigrid and the fused time loop use threads"));
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

    std::string of_ghosts(const Run &r, const std::string &entry)
    {
      return first(of_multigrid(r, entry), if_(r.n_ranks == 1, "there is one rank"));
    }

    /** Of a stencil that is found only when the matrix is there the log speaks then. */
    std::string of_stored_blocks(const Run &r)
    {
      return if_(r.parameters.linear_solver.uses_multigrid() && r.parameters.linear_solver.multigrid.form == "stencil",
                 "'Multigrid/Form' is stencil, with tiles of its own");
    }

    std::string of_block_size(const Run &r, const std::string &entry)
    {
      return first(of_async(r, entry), of_stored_blocks(r));
    }

    std::string of_block_shape(const Run &r, const std::string &entry)
    {
      return first(of_multigrid(r, entry),
                   if_(r.parameters.linear_solver.multigrid.options.smoother.method != "async", is(r, "Multigrid/Smoother")),
                   of_stored_blocks(r));
    }

    std::string of_damped_smoother(const Run &r, const std::string &entry)
    {
      return first(of_multigrid(r, entry),
                   if_(r.parameters.linear_solver.multigrid.options.smoother.method == "chebyshev", is(r, "Multigrid/Smoother")));
    }

    std::string of_graphs(const Run &r, const std::string &entry)
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

    struct Row
    {
      std::string path;               ///< "Section/Entry"; with * at the end for all that begin so and have no row of their own
      OnResume    in_time, in_cycles; ///< time-dependent runs; stationary ones, whose cycles stand in one table
      std::string (*why_not_used)(const Run &, const std::string &);
    };

    constexpr OnResume free = OnResume::free, further = OnResume::further, effect = OnResume::takes_effect, fixed = OnResume::fixed;

    const std::vector<Row> &table()
    {
      static const std::vector<Row> rows = {
        {"Problem", fixed, fixed, of_mesh},
        {"Dimension", fixed, fixed, of_mesh},
        {"Study", fixed, fixed, used},
        {"Run/Directory", free, free, used},
        {"Run/Wall time", free, free, of_run_in_time},
        {"Run/Stop if too slow", free, free, of_run_in_time},
        {"Run/Checkpoint *", free, free, of_run_in_time},
        {"Run/Sweep", free, free, used},
        {"Run/Sweep ranks per run", free, free, of_sweep},
        {"Output/Times", free, free, of_run_in_time},
        {"Output/Interval", free, free, of_run_in_time},
        {"Output/Scale by growth", free, free, of_scaled_output},
        {"Output/Log every", free, free, of_run_in_time},
        {"Output/Spot threshold", effect, effect, of_run_in_time},
        {"Laplace/*", fixed, fixed, of_problem},
        {"Laplace/Exact solution", fixed, fixed, of_exact_solution},
        {"Laplace/Boundary *", fixed, fixed, of_boundary},
        {"Helmholtz/*", fixed, fixed, of_problem},
        {"Helmholtz/Exact solution", fixed, fixed, of_exact_solution},
        {"Helmholtz/Boundary *", fixed, fixed, of_boundary},
        {"Reaction-diffusion/*", fixed, fixed, of_problem},
        {"Reaction-diffusion/alpha", fixed, fixed, of_reaction<true>},
        {"Reaction-diffusion/beta", fixed, fixed, of_reaction<true>},
        {"Reaction-diffusion/f", fixed, fixed, of_reaction<false>},
        {"Reaction-diffusion/Derivative of f", fixed, fixed, of_reaction<false>},
        {"Reaction-diffusion/Boundary *", fixed, fixed, of_boundary},
        {"Turing/*", effect, fixed, of_turing}, // constants, sources, exact solutions
        {"Turing/Kinetics", fixed, fixed, of_problem},
        {"Turing/kappa", effect, fixed, of_built_in_kinetics},
        {"Turing/Species", fixed, fixed, of_expressions},
        {"Turing/Constants", effect, fixed, of_problem},
        {"Turing/Reaction *", effect, fixed, of_expressions},
        {"Turing/Diffusion *", effect, fixed, of_problem},
        {"Turing/Steady state guess", effect, fixed, of_steady_state},
        {"Turing/Start from steady state", fixed, fixed, of_problem},
        {"Turing/Perturbation", fixed, fixed, of_problem},
        {"Turing/Seed", fixed, fixed, of_perturbation},
        {"Turing/Initial value *", fixed, fixed, of_problem},
        {"Mesh/Domain", fixed, fixed, of_mesh},
        {"Mesh/Lower corner", fixed, fixed, of_domains<with_corners>},
        {"Mesh/Upper corner", fixed, fixed, of_domains<with_corners>},
        {"Mesh/Cells", fixed, fixed, of_domains<with_cells>},
        {"Mesh/Radius", fixed, fixed, of_domains<with_radius>},
        {"Mesh/Tube radius", fixed, fixed, of_domains<with_tube>},
        {"Mesh/Half length", fixed, fixed, of_length},
        {"Mesh/File", fixed, fixed, of_domains<with_file>},
        {"Mesh/Global refinements", fixed, fixed, of_refinements},
        {"Mesh/Adaptive", fixed, fixed, of_mesh},
        {"Mesh/Adaptive cycles", fixed, further, of_adaptive},
        {"Mesh/Refine fraction", fixed, fixed, of_adaptive},
        {"Mesh/Coarsen fraction", fixed, fixed, of_adaptive},
        {"Mesh/Growth", fixed, fixed, of_steps},
        {"Mesh/Growth rate", fixed, fixed, of_growth},
        {"Discretization/Method", fixed, fixed, of_mesh},
        {"Discretization/Degree", fixed, fixed, of_mesh},
        {"Discretization/Mass matrix", fixed, fixed, of_mass},
        {"Linear solver/Method", effect, effect, of_method},
        {"Linear solver/Preconditioner", effect, effect, of_preconditioner},
        {"Linear solver/Backend", free, free, of_solver},
        {"Linear solver/Max iterations", effect, effect, of_max_iterations},
        {"Linear solver/Relative tolerance", effect, effect, of_linear_tolerance},
        {"Linear solver/Test every", effect, effect, of_tests},
        {"Linear solver/Omega", effect, effect, of_omega},
        {"Linear solver/Local iterations", effect, effect, of_async},
        {"Linear solver/Block size", effect, effect, of_block_size},
        {"Linear solver/Schedule", effect, effect, of_schedule},
        {"Linear solver/Seed", effect, effect, of_replay},
        {"Linear solver/Momentum", effect, effect, of_async},
        {"Linear solver/Smallest eigenvalue", effect, effect, of_chebyshev},
        {"Linear solver/Largest eigenvalue", effect, effect, of_chebyshev},
        {"Linear solver/Threads", free, free, of_threads},
        {"Linear solver/Restart", effect, effect, of_gmres},
        {"Linear solver/Preconditioner iterations", effect, effect, of_iterated_preconditioner},
        {"Linear solver/Device", free, free, of_device},
        {"Multigrid/*", effect, effect, of_multigrid},
        {"Multigrid/Smoother omega", effect, effect, of_damped_smoother},
        {"Multigrid/Block shape", effect, effect, of_block_shape},
        {"Multigrid/Wait for ghosts", effect, effect, of_ghosts},
        {"Multigrid/CUDA graph", effect, effect, of_graphs},
        {"Newton/Max steps", effect, effect, of_newton_or_fused},
        {"Newton/Relative tolerance", effect, effect, of_newton},
        {"Newton/Absolute tolerance", effect, effect, of_newton_or_fused},
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

    bool stands_for(const std::string &row, const std::string &entry)
    {
      return row.back() == '*' ? entry.rfind(row.substr(0, row.size() - 1), 0) == 0 : row == entry;
    }

    /** The row that says most about the entry. */
    const Row &find(const std::string &entry)
    {
      const Row *best = nullptr;
      for (const Row &row : table())
        if (stands_for(row.path, entry) && (best == nullptr || best->path.size() <= row.path.size()))
          best = &row;
      AssertThrow(best != nullptr, dealii::ExcMessage("the entry " + entry + " has no row in applications/run/entries.cc"));
      return *best;
    }
  } // namespace

  std::vector<std::string> rows_of_entries()
  {
    std::vector<std::string> result;
    for (const Row &row : table())
      result.push_back(row.path);
    return result;
  }

  OnResume on_resume(const std::string &entry, bool time_dependent)
  {
    const Row &row = find(entry);
    return time_dependent ? row.in_time : row.in_cycles;
  }

  std::string why_not_used(const std::string &entry, const RunKind &run)
  {
    if (run.parameters.cases.empty())
      return find(entry).why_not_used(run, entry);
    if (entry == "Smoother study/Cases")
      return "";
    std::string why;
    for (const Parameters &c : run.parameters.cases)
      if (why = find(entry).why_not_used({c, false, run.n_ranks}, entry); why.empty())
        break;
    return why;
  }
} // namespace leopard
