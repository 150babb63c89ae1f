// SPDX-License-Identifier: Apache-2.0
#include "parameters.h"

#include "solver_task.h"
#include "unused_constants.h"

#include <applications/base/collective.h>
#include <applications/base/log.h>
#include <applications/base/parameter_file.h>
#include <applications/discretization/gmsh_mesh.h>
#include <applications/problems/field_transport.h>
#include <applications/problems/problems.h>
#include <solvers/base/errors.h>

#include <deal.II/base/parameter_handler.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace leopard
{
  using namespace dealii;

  void VerificationParameters::declare(ParameterHandler &prm)
  {
    using namespace Patterns;
    prm.enter_subsection("Verification");
    prm.declare_entry("Refinements",
                      "0",
                      Integer(0, 20),
                      "Repeat the run so many times on finer meshes or with smaller steps and print errors and rates; 0: one run. Dimensionless.");
    prm.declare_entry("Refine", "space", Selection("space|time"), "What a refinement halves: the mesh size or the time step.");
    prm.leave_subsection();
  }

  void VerificationParameters::read(ParameterHandler &prm)
  {
    prm.enter_subsection("Verification");
    refinements = prm.get_integer("Refinements");
    in_time     = prm.get("Refine") == "time";
    prm.leave_subsection();
  }

  namespace
  {
    const char *const default_problem = "turing";

    void declare_run(ParameterHandler &prm)
    {
      using namespace Patterns;
      std::string equations;
      for (const NamedProblem &problem : problems())
        equations += (equations.empty() ? "" : "; ") + std::string(problem.name) + ": " + problem.equation;
      prm.declare_entry("Problem",
                        default_problem,
                        Selection(problem_names()),
                        "What is solved; its coefficients stand in the section of its name. " + equations + ".");
      prm.declare_entry("Dimension", "2", Integer(2, 3), "Dimension of the domain: 2 for a part of the plane or a surface in space, 3 for a body.");
      prm.declare_entry(
        "Study", "none", Selection("none|smoothers"), "Instead of a run: smoothers compares multigrid smoothers, see 'Smoother study'.");
      prm.enter_subsection("Run");
      prm.declare_entry(
        "Directory", "", Anything(), "Where results go; empty: output/NAME for the file NAME.prm, in the folder where the program is started.");
      prm.declare_entry("Wall time", "0", Double(0.), "Wall-clock time after which a run stops with a checkpoint, in minutes; 0: none.");
      prm.declare_entry("Stop if too slow",
                        "false",
                        Bool(),
                        "Stop with a checkpoint after one percent of the run already, if the estimate then is that the wall time is not enough.");
      prm.declare_entry("Checkpoint interval", "10", Double(0.), "Wall-clock time between two checkpoints, and before the first, in minutes.");
      prm.declare_entry("Checkpoint steps", "0", Integer(0), "Time steps between two checkpoints, beside the interval; 0: none. Dimensionless.");
      prm.leave_subsection();
      prm.enter_subsection("Output");
      prm.declare_entry("Times",
                        "",
                        List(Double(0.), 0, 10000, ","),
                        "Times at which fields are written, beside the first and the last: fixed steps write the nearest one, steps that vary, "
                        "exponential ones, too, pass these times, and fields are interpolated there. Dimensionless time.");
      prm.declare_entry("Interval", "0", Double(0.), "Fields are also written every so much time; 0: not. Dimensionless time.");
      prm.declare_entry(
        "Scale by growth", "true", Bool(), "With 'Mesh/Growth': whether fields are written on the domain as it is then, or on that at time zero.");
      prm.declare_entry(
        "Log every",
        "automatic",
        Anything(),
        "Time steps between two lines of the log and of statistics: a number, or automatic (about once a second; statistics whenever fields "
        "are written, too). The fused time loop hands out its fields for each line. Dimensionless.");
      prm.leave_subsection();
    }

    /** @return 0 for automatic. */
    unsigned int read_log_every(const std::string &written)
    {
      const std::string text = plain_number(written, {});
      if (text == "automatic")
        return 0;
      if (!Patterns::Integer(1).match(text))
        throw Error("'Output/Log every' is '" + text + "'\n  expected: an integer >= 1, or automatic");
      return Utilities::string_to_int(text);
    }

    bool has_kinks(const std::string &expression)
    {
      const char *const words[] = {"if(", "abs(", "min(", "max(", "sign(", "step(", "rint(", "<", ">", "?", "&&", "||", "==", "!"};
      std::string       dense;
      std::remove_copy(expression.begin(), expression.end(), std::back_inserter(dense), ' ');
      return std::any_of(std::begin(words), std::end(words), [&](const char *word) { return dense.find(word) != std::string::npos; });
    }

    /**
     * Which expressions that are differentiated for the source may have kinks or jumps: derivatives are those beside
     * them.
     */
    std::string with_kinks(const Problem &problem)
    {
      const auto coefficients = problem.manufactured().diffusion;
      const bool in_solution =
        std::any_of(problem.exact_solution.begin(), problem.exact_solution.end(), [](const Expression &e) { return has_kinks(e.expression()); });
      const bool in_coefficient = std::any_of(coefficients.begin(), coefficients.end(), [](const std::vector<NamedExpression> &field) {
        return std::any_of(field.begin(), field.end(), [](const NamedExpression &e) { return has_kinks(e.text); });
      });
      return std::string(in_solution ? "the exact solution" : "") + (in_solution && in_coefficient ? " and " : "") +
             (in_coefficient ? "the coefficient" : "");
    }
  } // namespace

  void Parameters::declare(ParameterHandler &prm, std::vector<std::unique_ptr<Problem>> &problems, const GivenValue &given)
  {
    declare_run(prm);
    for (const std::string &name : Utilities::split_string_list(problem_names(), '|'))
      {
        problems.push_back(make_problem(name));
        problems.back()->prepare([&](const std::string &entry) { return given(problems.back()->name() + "/" + entry); });
        prm.enter_subsection(problems.back()->name());
        problems.back()->declare_parameters(prm);
        prm.leave_subsection();
      }
    mesh.declare(prm);
    growth.declare(prm);
    discretization.declare(prm);
    linear_solver.declare(prm);
    newton.declare(prm);
    time.declare(prm);
    verification.declare(prm);
    smoother_study.declare(prm);
    pattern_measures.declare(prm);
    sweep.declare(prm);
  }

  void Parameters::read_boundary_names(ParameterHandler &prm)
  {
    const std::filesystem::path file(mesh.file);
    if (!mesh.file.empty() && file.is_relative())
      mesh.file = (std::filesystem::path(problem->folder) / file).lexically_normal().string();
    boundary_names = BoundaryNames(mesh.file, dimension, problem->comm);
    for (const std::string &field : problem->fields())
      for (const char *const kind : {"Boundary values", "Boundary fluxes"})
        {
          const std::string entry = problem->entry_for(kind, field);
          prm.set(entry, boundary_names.with_ids(problem->name() + "/" + entry, prm.get(entry)));
        }
  }

  void Parameters::read(ParameterHandler &prm, std::vector<std::unique_ptr<Problem>> &problems)
  {
    dimension = prm.get_integer("Dimension");
    prm.enter_subsection("Run");
    directory = prm.get("Directory");
    if (directory.rfind('~', 0) == 0)
      throw Error("'Run/Directory' is " + directory + ", and a folder called " + directory.substr(0, directory.find('/')) +
                  " would be made here: ~ is what a shell replaces\n  expected: the folder's path, or ./" + directory);
    time_loop.wall_time_minutes  = prm.get_double("Wall time");
    time_loop.stop_if_too_slow   = prm.get_bool("Stop if too slow");
    time_loop.checkpoint_minutes = prm.get_double("Checkpoint interval");
    time_loop.checkpoint_steps   = prm.get_integer("Checkpoint steps");
    prm.leave_subsection();
    prm.enter_subsection("Output");
    time_loop.output_times    = Utilities::string_to_double(Utilities::split_string_list(prm.get("Times")));
    time_loop.output_interval = prm.get_double("Interval");
    time_loop.log_every       = read_log_every(prm.get("Log every"));
    scale_output              = prm.get_bool("Scale by growth");
    prm.leave_subsection();

    mesh.read(prm, dimension);
    const auto names = Utilities::split_string_list(problem_names(), '|');
    for (unsigned int i = 0; i < problems.size(); ++i)
      if (names[i] == prm.get("Problem"))
        {
          problem             = std::move(problems[i]);
          problem->dimension  = dimension;
          problem->box_around = mesh.box_around(dimension);
          prm.enter_subsection(problem->name());
          read_boundary_names(prm);
          problem->read_parameters(prm);
          prm.leave_subsection();
          break;
        }
    growth.read(prm, dimension);
    discretization.read(prm, mesh, problem->time_dependent() || problem->has_reaction());
    linear_solver.read(prm);
    study = prm.get("Study");
    newton.read(prm, linear_solver);
    time.read(prm, problem->has_noise());
    verification.read(prm);
    smoother_study.read(prm);
    pattern_measures.read(prm);
    sweep.read(prm, problem->name(), problem->constants);
  }

  namespace
  {
    /** As the file says; 0 without one, or if it cannot be read, which is said where the mesh is made. Collective. */
    double n_nodes_of(const std::string &mesh_file, MPI_Comm comm)
    {
      double          n = 0.;
      std::error_code ignored;
      if (Utilities::MPI::this_mpi_process(comm) == 0 && std::filesystem::is_regular_file(mesh_file, ignored))
        {
          std::ifstream stream(mesh_file);
          n = n_gmsh_nodes(stream);
        }
      return Utilities::MPI::broadcast(comm, n);
    }

    void tell_of_solver(DiscretizationParameters &discretization, const LinearSolverParameters &linear_solver, bool studies_smoothers)
    {
      discretization.multigrid       = linear_solver.uses_multigrid() || studies_smoothers;
      discretization.bears_constants = discretization.multigrid || linear_solver.uses_aggregation();
    }
  } // namespace

  void Parameters::check_contradictions() const
  {
    if (study != "none" && !sweep.axes.empty())
      throw Error("'Study' is " + study + ", and 'Run/Sweep' is given\n  expected: one of the two; a study varies what it compares by itself");
    if (mesh.is_surface() && (study == "smoothers" || linear_solver.uses_multigrid()))
      throw Error("'Mesh/Domain' is " + mesh.domain + ", a surface, and " +
                  (study == "smoothers" ? "'Study' is smoothers" : "the linear solver uses multigrid") +
                  ", which deal.II 9.4 does not support there\n  expected: another linear solver or preconditioner, for example aggregation, or a "
                  "domain that is no surface");
    if (study == "smoothers")
      {
        if (smoother_study.cases.empty())
          smoother_study.check(*problem, mesh);
        return;
      }
    if (mesh.adaptive && problem->time_dependent())
      throw Error("'Mesh/Adaptive' is true, but the problem " + problem->name() +
                  " depends on time\n  expected: a stationary problem, or a globally refined mesh");
    if (problem->has_derived_source && mesh.is_surface())
      throw Error("'" + problem->name() + "/Exact solution' is given without its source, and 'Mesh/Domain' is " + mesh.domain +
                  ", a surface, whose Laplacian the derivation does not know\n  expected: the source, or 0");
    if (problem->has_derived_source && growth.grows())
      throw Error("'" + problem->name() + "/Exact solution' is given without its source, and 'Mesh/Growth' is " + growth.law +
                  ", which the derivation does not know\n  expected: the source, or 0");
    for (const BoundaryConditions &of_field : problem->boundary_conditions)
      if (problem->time_dependent() && of_field.values.depends_on_time() && !discretization.lumped_mass && !discretization.finite_differences &&
          !problem->is_quasi_stationary(&of_field - problem->boundary_conditions.data()))
        throw Error(
          "'" + of_field.values.entry_name() +
          "' depends on t, and 'Discretization/Mass matrix' is consistent, which would need the values' derivative in time\n  expected: set Mass "
          "matrix = lumped, or values of x, y, z only");
    if (growth.grows() && !problem->time_dependent())
      throw Error("'Mesh/Growth' is " + growth.law + ", but the problem " + problem->name() + " is stationary\n  expected: none");
    if (growth.grows() && problem->has_boundary_conditions())
      throw Error(
        "'Mesh/Growth' is " + growth.law + ", and section '" + problem->name() +
        "' prescribes boundary values or fluxes, which are not there for domains that grow\n  expected: no growth, or no 'Boundary values' and "
        "'Boundary fluxes'");
    if (problem->time_dependent() && growth.length(time.end_time) <= 0.)
      throw Error(format("'Mesh/Growth rate' is %g, so that the domain has vanished before 'Time stepping/End time' = %g\n  expected: a rate above "
                         "%g",
                         growth.rate,
                         time.end_time,
                         (growth.law == "exponential" ? -700. : -1.) / time.end_time) +
                  (growth.law == "exponential" ? "" : ", or exponential growth"));
    if (verification.refinements > 0 && problem->exact_solution.empty())
      throw Error("'Verification/Refinements' is " + std::to_string(verification.refinements) + ", but '" + problem->name() +
                  "/Exact solution' is not given\n  expected: an exact solution, or no refinements");
    if (verification.refinements > 0 && verification.in_time && !problem->time_dependent())
      throw Error("'Verification/Refine' is time, but the problem " + problem->name() + " is stationary\n  expected: space");
    if (verification.refinements > 0 && verification.in_time && time.variable_steps())
      throw Error("'Verification/Refine' is time, but 'Time stepping/Step control' is " + time.step_control + "\n  expected: a fixed step");
    if (problem->time_dependent() && time.follows_bound() && !discretization.lumped_mass && !discretization.finite_differences)
      throw Error("'Time stepping/Step control' is asynchronous bound, but 'Discretization/Mass matrix' is consistent, for which no step size makes "
                  "every asynchronous iteration converge\n  expected: lumped, or another step control");
    if (problem->time_dependent() && time.negative_values != "ignore" && !problem->fields_are_concentrations())
      throw Error("'Time stepping/Negative values' is " + time.negative_values + ", but the fields of the problem " + problem->name() +
                  " are no concentrations with these kinetics\n  expected: ignore");
    if (time_loop.stop_if_too_slow && time_loop.wall_time_minutes == 0.)
      throw Error("'Run/Stop if too slow' is true, but 'Run/Wall time' is 0\n  expected: the minutes that the run may take");
    for (unsigned int c = 0; c < problem->fields().size(); ++c)
      if (const Diffusion *tensor = problem->diffusion_tensor(c); tensor != nullptr)
        if (const unsigned int dim = mesh.is_surface() ? 3 : dimension; tensor->dimension() != dim)
          throw Error("'" + problem->diffusion_entry(c) + "' has " + (dim == 3 ? "three" : "six") + " entries, and the domain lies in " +
                      (dim == 3 ? "space" : "the plane") + "\n  expected: " + (dim == 3 ? "D_xx, D_xy, D_xz, D_yy, D_yz, D_zz" : "D_xx, D_xy, D_yy"));
    check_noise();
    check_transport();
    check_quasi_stationary();
    check_symmetry();
    check_multigrid();
    constexpr double told_apart = 1e12; // multiples of an interval
    if (problem->time_dependent() && time_loop.output_interval > 0. && time.end_time / time_loop.output_interval > told_apart)
      throw Error(
        format("'Output/Interval' is %g, and 'Time stepping/End time' %g is more than %g times as much\n  expected: a longer interval, or 0 for none",
               time_loop.output_interval,
               time.end_time,
               told_apart));
    for (const double t : time_loop.output_times)
      if (problem->time_dependent() && t > time.end_time)
        throw Error(format(
          "'Output/Times' has the time %.8g, beyond 'Time stepping/End time' = %.8g\n  expected: times from 0 to the end time", t, time.end_time));
  }

  void Parameters::check_noise() const
  {
    if (!problem->has_noise())
      return;
    const auto refuse = [&](const std::string &what, const std::string &expected) {
      throw Error("'" + problem->name() + "/Noise ...' is given, and " + what + "\n  expected: " + expected + ", or no noise");
    };
    if (time.scheme != "implicit Euler")
      refuse("'Time stepping/Scheme' is " + time.scheme, "implicit Euler, the scheme whose order with noise is known");
    if (time.adaptive())
      refuse("'Time stepping/Step control' is " + time.step_control + ", whose repeated steps would choose among the random numbers",
             "fixed, multiple of h^2 or asynchronous bound");
    if (!discretization.lumped_mass && !discretization.finite_differences)
      refuse("'Discretization/Mass matrix' is consistent", "lumped");
    if (growth.grows())
      refuse("'Mesh/Growth' is " + growth.law, "none");
    if (time.estimate_error)
      refuse("'Time stepping/Estimate error' is true, which compares two runs whose noise would differ", "false");
    if (verification.refinements > 0)
      refuse("'Verification/Refinements' is " + std::to_string(verification.refinements), "0");
  }

  void Parameters::check_transport() const
  {
    if (problem->transport() == nullptr)
      return;
    for (const FieldTransport::AdvectionTerm &term : problem->transport()->advection_terms())
      if (const unsigned int dim = mesh.is_surface() ? 3 : dimension; term.dimension != dim)
        throw Error("'" + problem->name() + "/Advection " + problem->fields()[term.field] + "' has " + std::to_string(term.dimension) +
                    " components, and the domain lies in " + (dim == 3 ? "space" : "the plane") + "\n  expected: v_x, v_y" +
                    (dim == 3 ? ", v_z" : ""));
  }

  void Parameters::check_quasi_stationary() const
  {
    if (problem->quasi_stationary().empty())
      return;
    const std::string given = "'" + problem->name() + "/Quasi-stationary species' is given, and 'Time stepping/";
    if (time.explicit_reaction())
      throw Error(given + "Scheme' is " + time.scheme + ", whose explicit reaction cannot find them\n  expected: implicit Euler, BDF2 or BDF3");
    if (time.follows_bound())
      throw Error(given + "Step control' is " + time.step_control +
                  ": no step is so short that the rows of their equations are dominated by the mass\n  expected: another step control");
    if (time.negative_values == "clip")
      throw Error(given + "Negative values' is clip: clipped values do not satisfy their equations\n  expected: stop or ignore");
    if (linear_solver.is_relaxation())
      throw Error("'" + problem->name() + "/Quasi-stationary species' is given, and 'Linear solver/Method' is " + linear_solver.method +
                  ", which has no hold on rows without mass\n  expected: automatic, gmres or direct");
  }

  void Parameters::check_symmetry() const
  {
    if (problem->time_dependent() && time.exponential())
      return; // no system is solved
    const bool is_explicit = problem->time_dependent() && time.explicit_reaction();
    const bool couples     = (problem->fields().size() > 1 || problem->transport() != nullptr) && !is_explicit; // its Jacobian is not symmetric
    const auto refuse      = [&](const std::string &what, const std::string &expected) {
      throw Error(what + ", but the Jacobian of the problem " + problem->name() + " is not symmetric\n  expected: " + expected);
    };
    if (linear_solver.method == "cg" && problem->time_dependent() && !is_explicit)
      refuse("'Linear solver/Method' is cg", "gmres, async, another relaxation or direct");
    if (couples && linear_solver.has_factors() && linear_solver.preconditioner == "ic")
      refuse("'Linear solver/Preconditioner' is ic", "ilu, or another preconditioner");
    const bool has_alternative = problem->time_dependent() && time.adaptive() && linear_solver.is_relaxation(); // gmres with async
    if (couples && (linear_solver.has_tau() || (linear_solver.omega_is_tau && has_alternative)))
      refuse("'Linear solver/Omega' is tau", "a number");
  }

  Parameters::Parameters(const std::string &file, const std::vector<std::string> &given_overrides, MPI_Comm comm)
  {
    if (!file.empty()) // else the defaults
      text = read_file(file, comm);
    ParameterHandler                      prm;
    std::vector<std::unique_ptr<Problem>> problems;
    std::vector<std::string>              overrides;
    Constants                             constants;
    given             = given_entries(text, file, given_overrides);
    const auto behind = [&](const Error &error) {
      const std::string place = place_of(error.what(), given);
      return Error((place.empty() ? file : place) + ": " + error.what());
    };
    try
      {
        const std::string chosen = given_value(text, given_overrides, "Problem");
        const auto        names  = Utilities::split_string_list(problem_names(), '|');
        const std::string entry =
          make_problem(std::find(names.begin(), names.end(), chosen) == names.end() ? default_problem : chosen)->name() + "/Constants";
        overrides = with_constants(text, given_overrides, entry);
        constants = read_constants(entry, given_value(text, overrides, entry));
        declare(prm, problems, [&](const std::string &name) { return given_value(text, overrides, name); });
      }
    catch (const Error &error)
      {
        throw behind(error);
      }
    for (const auto &each : problems)
      {
        each->comm   = comm;
        each->folder = std::filesystem::path(file).parent_path().string();
      }
    computed    = parse_parameters(prm, text, file, overrides, constants);
    all_entries = all_parameters(prm);
    given       = given_entries(text, file, overrides);
    const std::filesystem::path path(file);
    try
      {
        read(prm, problems);
        n_nodes_of_file = n_nodes_of(mesh.file, comm);
        SolverTask task = solver_task(*this, n_nodes_of_file);
        n_unknowns      = task.n_unknowns;
        if (task.is_needed && linear_solver.asks_for_gpu(task))
          task.has_gpu = has_gpu_of_its_own(comm);
        linear_solver.choose(task);
        if (problem->time_dependent() && time.exponential()) // which solves no system: what is asked for is not made
          {
            linear_solver.method         = "gmres";
            linear_solver.preconditioner = "none";
            linear_solver.precision      = "double";
          }
        tell_of_solver(discretization, linear_solver, study == "smoothers");
        check_contradictions();
        check_swept_constants(*this);
      }
    catch (const Error &error)
      {
        throw behind(error);
      }
    if (study != "none" && !smoother_study.cases.empty())
      read_cases(file, given_overrides, comm);
    if (directory.empty())
      directory = "output/" + path.stem().string();
    check_source();
  }

  void Parameters::check_source() const
  {
    // several runs read it, and --overwrite deletes what is in the directory before the second one
    if (problem->initial_from.empty() || (sweep.axes.empty() && verification.refinements == 0))
      return;
    std::error_code   ignored;
    const auto        here     = std::filesystem::weakly_canonical(directory, ignored);
    const auto        source   = std::filesystem::weakly_canonical(problem->initial_from, ignored);
    const std::string relative = source.lexically_relative(here).string();
    if (!relative.empty() && relative.rfind("..", 0) != 0)
      throw Error("'" + problem->name() + "/Initial values from' is " + problem->initial_from + ", which is in the directory of this " +
                  (sweep.axes.empty() ? "study" : "sweep") + ", " + directory + "\n  expected: another 'Run/Directory'");
  }

  void Parameters::read_cases(const std::string &file, const std::vector<std::string> &overrides, MPI_Comm comm)
  {
    for (const StudyCase &c : smoother_study.cases)
      {
        std::vector<std::string> all = c.overrides;
        all.insert(all.end(), overrides.begin(), overrides.end()); // the command line has the last word
        all.push_back("Smoother study/Cases=");
        try
          {
            cases.emplace_back(file, all, comm);
          }
        catch (const Error &error)
          {
            throw Error("case '" + c.name + "' of 'Smoother study/Cases': " + error.what());
          }
      }
  }

  std::string Parameters::choose_backend(MPI_Comm comm, const NodePlace &place)
  {
    std::string text = linear_solver.choose_backend(comm, place);
    if (study == "none")
      return text;
    text = smoother_study.choose_backend() + "; host threads: " + std::to_string(linear_solver.block_async.n_threads);
    for (Parameters &c : cases)
      c.choose_backend(comm, place);
    return text;
  }

  std::string Parameters::description(MPI_Comm comm) const
  {
    if (study != "none")
      return "study of " + study + ", " + (cases.empty() ? std::string("this file") : std::to_string(cases.size()) + " cases");
    std::string       text  = problem->description();
    const std::string kinks = problem->has_derived_source ? with_kinks(*problem) : "";
    if (!problem->derived.empty())
      text += "\n" + problem->derived + " follow" + (problem->derived == "source" ? "s" : "") + " from the exact solution" +
              (!kinks.empty() ? "\nwarning: " + kinks +
                                  " has if, min, max, abs or the like, and a source knows nothing of such kinks and jumps; "
                                  "where these are inside the domain, errors do not vanish"
                              : "");
    for (const ComputedNumber &number : computed)
      text += "\n'" + number.entry + "' = " + number.written + " is " + number.value;
    if (linear_solver.is_asynchronous() && !problem->time_dependent()) // a time loop says what it takes of the linear solver
      text += "\nthe linear solver is asynchronous: results of two runs differ within its tolerance; " + linear_solver.how_to_repeat(comm);
    return text;
  }

  std::string Parameters::located(const std::string &message) const
  {
    const std::string place = message.rfind('\'', 0) == 0 ? place_of(message.substr(0, message.find('\'', 1) + 1), given) : "";
    return place.empty() ? message : place + ": " + message;
  }

  std::string Parameters::value(const std::string &entry) const
  {
    return given_value(all_entries, {}, entry);
  }

  int Parameters::device() const
  {
    if (study != "none")
      return smoother_study.backend == "cuda" ? 0 : -1;
    return linear_solver.backend == "cuda" ? linear_solver.device : -1;
  }

  std::vector<DeclaredEntry> Parameters::declared()
  {
    Parameters                            parameters;
    ParameterHandler                      prm;
    std::vector<std::unique_ptr<Problem>> problems;
    parameters.declare(prm, problems, [](const std::string &) { return std::string(); });
    return entries_of(prm);
  }

  std::string Parameters::documentation()
  {
    Parameters                            parameters;
    ParameterHandler                      prm;
    std::vector<std::unique_ptr<Problem>> problems;
    parameters.declare(prm, problems, [](const std::string &) { return std::string(); });
    return all_parameters(prm);
  }
} // namespace leopard
