// SPDX-License-Identifier: Apache-2.0
#include "boundary_report.h"
#include "checkpoint.h"
#include "choices.h"
#include "initial_values.h"
#include "provenance.h"
#include "separated_loads.h"
#include "simulation.h"
#include "statistics.h"
#include "step_report.h"
#include "transport_check.h"
#include "unused_entries.h"

#include <applications/base/collective.h>
#include <applications/base/log.h>
#include <applications/discretization/shared_mesh.h>
#include <applications/discretization/uniform_grid.h>
#include <applications/nonlinear/implicit_system.h>
#include <applications/output/convergence_table.h>
#include <applications/output/field_output.h>
#include <applications/output/pattern_measures.h>
#include <applications/time_stepping/fused_steps.h>
#include <applications/time_stepping/time_error.h>
#include <applications/time_stepping/time_loop.h>
#include <solvers/base/errors.h>

#include <deal.II/base/mpi.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <limits>

namespace leopard
{
  using namespace dealii;
  using nlohmann::json;

  namespace
  {
    /** One run from time zero, or from a checkpoint, to its end. */
    template <int dim, int spacedim>
    class TimeDependentRun
    {
    public:
      TimeDependentRun(const RunContext &context_, const TimeParameters &time_)
        : context(context_)
        , time(time_)
        , problem(*context_.parameters.problem)
        , set_up(context_.provenance.begin_set_up(context_.directory.is_new()))
        , mesh_text(text_of_shared_mesh(context_))
        , discretization(context_.parameters.mesh,
                         context_.parameters.discretization,
                         problem,
                         context_.comm,
                         mesh_text.empty() ? nullptr : context_.mesh->find<dim, spacedim>(mesh_text))
        , checkpoints(context_.directory, context_.comm)
        , system_text(text_of_shared_system(context_, mesh_text))
        , earlier_system(system_text.empty() ? nullptr : context_.mesh->find_system(system_text))
        , own_system(earlier_system != nullptr ? earlier_system : std::make_shared<SemiDiscreteSystem>())
        , system(*own_system)
      {
      }

      /**
       * @param extra_refinements beyond the file's, for convergence studies; @param is_first of the study's runs.
       */
      TimeLoopResult run(unsigned int extra_refinements, bool study, bool is_first = true)
      {
        const auto             &found = context.beginning.checkpoint;
        HostVector              u;
        std::vector<HostVector> solutions;
        if (found)
          solutions = discretization.load(found->directory, found->metadata->at("step_sizes").size() + 1);
        else
          {
            shares_mesh = discretization.dof_handler.has_active_dofs();
            discretization.refine_coarse_mesh(context.parameters.mesh.global_refinements + extra_refinements);
            if (!mesh_text.empty())
              context.mesh->keep(mesh_text, discretization.numbered_mesh());
            set_initial_values(context, discretization, u);
            if (const std::string text = discretization.against_boundary_values(u); !text.empty() && is_first)
              context.log.line("initial values at the boundary are not those prescribed there, which hold: most of all " + text);
            discretization.distribute_constraints(u);
          }
        if (is_first)
          report_boundary(context, discretization, time.end_time);
        if (earlier_system == nullptr)
          discretization.assemble(system, 0.);
        if (!system_text.empty())
          context.mesh->keep_system(system_text, own_system);
        implicit =
          std::make_unique<ImplicitSystem>(system, problem, time.explicit_reaction() ? ReactionTreatment::explicit_ : ReactionTreatment::implicit);
        if (problem.reaction_depends_on_place())
          set_places();
        if (problem.transport() != nullptr)
          set_transport(found ? solutions[0] : u, found ? found->metadata->at("time").get<double>() : 0., is_first);
        newton = std::make_unique<Newton>(
          context.parameters.newton, context.parameters.linear_solver, *implicit, discretization.n_components(), &discretization, context.comm);
        make_integrator();
        describe_run(study);
        choose_engine(true);
        set_up.reset();
        report_unused_entries(context, integrator->is_fused(), integrator->fused_has_cycles());
        if (found)
          resume(*found, solutions);
        else
          start(u, is_first);
        check_reaction();
        integrator->check_noise();
        if (study)
          {
            context.begin({"convergence.txt", "convergence.csv"});
            TimeLoopParameters no_lines;
            no_lines.log_every = std::numeric_limits<int>::max();
            return run_without_output(no_lines, ", not written in a convergence study");
          }
        return run_with_output(found.has_value());
      }

      /** Errors against the exact solution at the time reached. */
      typename Discretization<dim, spacedim>::Errors errors() const { return discretization.errors(integrator->solution(), integrator->time()); }

      unsigned long long n_unknowns() const { return discretization.n_unknowns(); }
      double             mesh_size() const { return discretization.mesh_size(); }
      double             step_size() const { return integrator->next_step_size(); } ///< of fixed steps, all

      double       time_reached() const { return integrator->time(); }
      unsigned int step_number() const { return integrator->step_number(); } ///< those of earlier starts included

      /** What the linear solver of the general time loop has found from the matrix of the last step. */
      json found_by_linear_solver() { return integrator->is_fused() ? json::object() : newton->linear_solver().report(); }

      /** Where nothing has grown that should have: implicit steps much longer than growth takes damp it. */
      void warn_of_long_steps() const
      {
        const json   analysis = context.provenance.json().value("analysis", json::object());
        const double rate     = analysis.value("wavelength", 0.) > 0. ? analysis.value("fastest", json::object()).value("growth_rate", 0.) : 0.;
        const double step     = integrator->next_step_size();
        if (!time.variable_steps() || !(rate * step > 1.))
          return;
        context.log.warning(
          format("steps are %.3g long at the end, %.3g times what the fastest disturbance takes to grow by a factor of e: such steps "
                 "damp it, and a smaller one than the error tolerance is not seen\n  to try: 'Time stepping/Largest step' = %.2g",
                 step,
                 rate * step,
                 0.2 / rate));
      }

      /** What pattern there is at the time reached. Collective. */
      FoundPattern pattern() { return measures->find_pattern(integrator->solution(), integrator->time()); }

      /**
       * Does the run once more with other steps, up to the time reached, and says how far the fields are off; lines in
       * the log and "time_error" in run.json. The run itself is lost. Collective.
       */
      void estimate_error()
      {
        if (const std::string entry = changed_on_the_way(); !entry.empty())
          {
            const std::string why = "'" + entry + "' has changed on resume, and the run beside would have one value from its beginning";
            context.log.warning("the error is not estimated: " + why);
            context.provenance.json()["time_error"] = {{"why_none", why}};
            return;
          }
        const HostVector   solution = integrator->solution();
        const unsigned int n_steps  = integrator->step_number();
        const auto         spans    = integrator->spans();
        time                        = comparison_run(time, integrator->time(), n_steps);
        context.log.line("the run once more, to estimate the error, with " + text_of_steps(time));
        HostVector u;
        set_initial_values(context, discretization, u);
        discretization.distribute_constraints(u);
        make_integrator();
        choose_engine(false);
        start(u, false);
        TimeLoopParameters loop;
        if (const double all = context.parameters.time_loop.wall_time_minutes; all > 0.)
          loop.wall_time_minutes =
            std::max(1e-6, all - std::chrono::duration<double, std::ratio<60>>(std::chrono::steady_clock::now() - begun).count());
        std::string why_none;
        try
          {
            const TimeLoopResult result = run_without_output(loop, ", not written");
            if (result.status != "finished")
              why_none = result.status;
          }
        catch (const ConvergenceFailure &failure)
          {
            why_none = failure.what();
          }
        json report = json::object();
        if (why_none.empty())
          {
            const TimeErrorEstimate estimate(problem.fields(),
                                             reaction_diffusion::order_of(time.stepping.scheme),
                                             solution,
                                             n_steps,
                                             integrator->solution(),
                                             integrator->step_number(),
                                             spans,
                                             system.lumped_mass);
            why_none = estimate.why_none();
            if (why_none.empty())
              {
                context.log.line(estimate.text());
                report = estimate.report();
                for (std::size_t c = 0; c < problem.fields().size(); ++c)
                  context.provenance.add_measures({"error of " + problem.fields()[c] + " by steps in time"}, {estimate.errors()[c].largest});
              }
          }
        if (!why_none.empty())
          {
            context.log.warning("the error is not estimated: " + why_none);
            report["why_none"] = why_none;
          }
        context.provenance.json()["time_error"] = report;
      }

    private:
      /**
       * An entry that has changed in this or an earlier start of the run, and with it steps or solution; or nothing.
       */
      std::string changed_on_the_way() const
      {
        for (const json &change : context.provenance.json().value("changed_on_resume", json::array()))
          {
            const std::string entry = change.at("entry"), section = entry.substr(0, entry.find('/'));
            if (entry != "Time stepping/End time" && entry != "Time stepping/Estimate error" &&
                (section == "Time stepping" || section == problem.name() || section == "Mesh"))
              return entry;
          }
        return "";
      }

      void start(const HostVector &u, bool says_it)
      {
        integrator->start(u);
        if (const std::string note = integrator->limit_first_step(); says_it && !note.empty())
          context.log.line(note);
      }

      void make_integrator()
      {
        std::function<void(double)> update_load;
        if (problem.load_depends_on_time())
          update_load = [this](double t) { discretization.assemble_load(system.load, system.sources, t); };
        std::function<void(HostVector &)> distribute;
        if (discretization.has_constraints())
          distribute = [this](HostVector &v) { discretization.distribute_constraints(v); };
        integrator.reset(); // and its memory
        integrator = std::make_unique<TimeIntegrator>(
          time, problem, system, *implicit, *newton, context.parameters.growth, discretization.mesh_size(), update_load, distribute);
        if (problem.has_noise())
          integrator->set_noise(discretization.nodes(), discretization.mesh_size());
      }

      TimeLoopResult run_without_output(const TimeLoopParameters &loop, const std::string &last_good_state)
      {
        return run_time_loop(
          *integrator,
          time,
          loop,
          {[](const HostVector &, double) {}, [] {}, [](const StepReport &, double, unsigned int) {}, [&] { return last_good_state; }},
          context.log,
          context.comm);
      }

      /**
       * For a reaction that depends on them. @throws Error, on all ranks, if it is not defined at one at the beginning.
       */
      void set_places()
      {
        implicit->set_places(discretization.nodes());
        implicit->check_coefficients();
      }

      /**
       * @throws Error, on all ranks, if the reaction has no value where the run begins. One that has none at the time
       * zero only, such as 1/t, is of no harm to an implicit scheme.
       */
      void check_reaction() const
      {
        const double      t         = integrator->time();
        const auto        at        = [&](double when) { return newton->complaint_of_reaction(integrator->solution(), when, false); };
        const std::string complaint = at(t);
        if (!complaint.empty() && (time.explicit_reaction() || !problem.reaction_depends_on_place() || !at(t + integrator->next_step_size()).empty()))
          throw Error(complaint.find('\n') < complaint.size() ? complaint : // of a coefficient
                        complaint + ", the values that the run begins with" + expected_everywhere() +
                          "\n  to try: an expression that has a finite value there (max(..., 0), if(...)), or other initial values");
      }

      /** @throws Error as check_transport(). */
      void set_transport(const HostVector &u, double t, bool says_it)
      {
        transport = discretization.make_transport_terms();
        check_transport(context, discretization, *transport, u, t, says_it);
        implicit->set_transport(*transport);
      }

      /** What will happen, in two lines of the log. */
      void describe_run(bool study) const
      {
        context.log.line(format("mesh: %llu cells, %llu unknowns, h = %.4g%s",
                                static_cast<unsigned long long>(discretization.triangulation.n_global_active_cells()),
                                static_cast<unsigned long long>(discretization.n_unknowns()),
                                discretization.mesh_size(),
                                earlier_system != nullptr ? ", that of an earlier run, with its matrices"
                                : shares_mesh             ? ", that of an earlier run"
                                                          : ""));
        const TimeLoopParameters &loop = context.parameters.time_loop;
        std::string line = format("time: to t = %g by %s%s, ", time.end_time, time.scheme.c_str(), time.chooses_scheme ? " (automatic)" : "");
        line += time.adaptive()        ? format("error-controlled steps (tolerance %g)", time.stepping.error_tolerance)
                : time.follows_bound() ? format("%g times the asynchronous bound", time.stepping.bound_fraction)
                                       : format("dt = %.6g", integrator->next_step_size());
        if (time.stepping.steady_tolerance > 0.)
          line += format("; ends early where the rate of change falls to %g", time.stepping.steady_tolerance);
        if (!study && writes_files)
          line += std::string("; fields are written at the beginning and the end") +
                  (loop.output_interval > 0. ? format(" and every %g", loop.output_interval) : "") +
                  (loop.output_times.empty() ? "" : format(" and at %zu times of the file", loop.output_times.size()));
        context.log.line(line);
      }

      /**
       * The library's time loop where it can be used, and a line in the log unless a run before has said it.
       * @throws Error if it is asked for and cannot.
       */
      void choose_engine(bool says_it)
      {
        const std::string  asynchronous = "; asynchronous: results of two runs differ within the tolerance";
        const auto        &linear       = context.parameters.linear_solver;
        std::string        why_not      = why_general_time_loop(context.parameters, context.parameters.linear_solver);
        FusedSteps::Domain domain       = why_not.empty() ? choose_domain(why_not) : FusedSteps::Domain();
        if (why_not.empty())
          domain.loads = separated_loads(*context.parameters.problem, discretization, system, integrator->time(), why_not);
        if (time.exponential() && why_not.empty())
          why_not = domain.mesh != nullptr    ? "the domain is no uniform grid of nodes, with three at least where it is periodic"
                    : domain.slabs != nullptr ? "there are " + std::to_string(Utilities::MPI::n_mpi_processes(context.comm)) + " ranks"
                                              : "";
        if ((time.engine == "fused" || time.exponential()) && !why_not.empty())
          refuse_fused_time_loop(time, why_not);
        if (!why_not.empty())
          {
            linear.check_precision();
            linear.check_precision_on(context.comm);
            if (says_it)
              context.log.line("time loop: general, since " + std::string(time.engine == "general" ? "" : "the fused one cannot be used: ") +
                               why_not + (time.explicit_reaction() ? "; " : "; Newton with ") + newton->linear_solver().description() +
                               (linear.automatic ? " (automatic: " + linear.why + ")" : "") +
                               (linear.is_asynchronous() ? asynchronous + "; " + linear.how_to_repeat(context.comm) : ""));
            return;
          }
        auto fused = std::make_unique<FusedSteps>(domain,
                                                  context.comm,
                                                  system,
                                                  discretization,
                                                  problem,
                                                  context.parameters.growth,
                                                  time,
                                                  context.parameters.newton,
                                                  linear,
                                                  integrator->next_step_size());
        if (says_it)
          context.log.line("time loop: fused, " + fused->stepper.description() + (time.exponential() ? "" : asynchronous) +
                           (domain.mesh_ranks != nullptr && context.parameters.mesh.is_periodic() ? "; periodic, shared by its rows" : ""));
        context.provenance.json()["linear_solver"] = time.exponential() ? "none" : "sweeps and multigrid of the fused time loop";
        integrator->use_fused_steps(std::move(fused));
      }

      FusedSteps::Domain choose_domain(std::string &why_not)
      {
        const LinearSolverParameters &linear   = context.parameters.linear_solver;
        const bool                    one_rank = Utilities::MPI::n_mpi_processes(context.comm) == 1, all_periodic = time.exponential() || one_rank;
        const bool by_rows = linear.backend == "cuda" && problem.fields().size() != 2 && !one_rank; // GPUs share grids with two fields only
        if constexpr (dim == spacedim)
          if (context.parameters.discretization.finite_differences && !by_rows && problem.has_constant_coefficients() &&
              !problem.has_boundary_values() && (all_periodic || !context.parameters.mesh.is_periodic()))
            if (const UniformGrid grid = find_uniform_grid(discretization, context.parameters.mesh.periodic); grid.found)
              return FusedSteps::on_grid(grid, time, linear, context.comm, why_not);
        return FusedSteps::on_mesh(system, discretization, problem, time, linear, why_not);
      }

      /**
       * On resume: what the file asks for; that of the run there where the step control has found it, and is to go on.
       */
      double next_step_size(double found_there) const
      {
        const double step = steps_go_on() ? found_there : integrator->next_step_size();
        return time.adaptive() ? std::clamp(step, time.stepping.smallest_step, time.stepping.largest_step) : step;
      }

      /** Whether step sizes of a checkpoint are those to go on with. */
      bool steps_go_on() const
      {
        return time.variable_steps() && !context.beginning.has_changed({"Time stepping/Step size", "Time stepping/Step control"});
      }

      void resume(const Checkpoints::Found &found, const std::vector<HostVector> &solutions)
      {
        const json &metadata = *found.metadata;
        if (metadata.at("unknowns") != discretization.n_unknowns())
          throw Error("the checkpoint '" + found.directory + "' has " + std::to_string(metadata.at("unknowns").get<unsigned long long>()) +
                      " unknowns, and the mesh " + std::to_string(discretization.n_unknowns()) +
                      "\n  expected: the mesh that it was made with; --overwrite to start anew");
        constexpr double none    = 1e300;
        const double     step    = next_step_size(metadata.at("next_step_size"));
        const double     ceiling = steps_go_on() ? std::max(step, metadata.value("step_ceiling", none)) : none;
        integrator->resume({{metadata.at("step"), metadata.at("time"), step, metadata.at("step_sizes").get<std::vector<double>>(), ceiling},
                            metadata.at("start_size")},
                           solutions);
        const double left = time.end_time - integrator->time();
        if (!time.variable_steps() && left > 1e-9 * time.end_time && !(integrator->next_step_size() <= left * (1. + 1e-9)))
          throw Error(format("the fixed step size is %g, and from the checkpoint's time %.8g to the end it is %g",
                             integrator->next_step_size(),
                             integrator->time(),
                             left) +
                      "\n  expected: a step that is not longer, or a later 'Time stepping/End time'");
      }

      void write_checkpoint() const
      {
        if (!writes_files)
          return;
        const TimeIntegrator::State     state = integrator->state();
        std::vector<const HostVector *> solutions;
        for (unsigned int l = 0; l < integrator->n_solutions(); ++l)
          solutions.push_back(&integrator->solutions()[l]);
        json metadata = resume_metadata(context);
        metadata.update({{"time", state.time},
                         {"next_step_size", state.next_step_size},
                         {"step_sizes", state.step_sizes},
                         {"step_ceiling", state.ceiling},
                         {"start_size", state.start_size},
                         {"unknowns", discretization.n_unknowns()},
                         {"problem", problem.description()}});
        checkpoints.write(integrator->step_number(), metadata, [&](const std::string &folder) { discretization.save(folder, solutions); });
      }

      /** Names what will be written, after a look at what is there. Collective. */
      void begin_files(FieldOutput<dim, spacedim> &output, bool resumed)
      {
        if (resumed)
          {
            output.resume(integrator->step_number()); // which may end it
            context.log.line(format("resumed at step %u, time %.8g", integrator->step_number(), integrator->time()));
          }
        std::vector<std::string> file_names = writes_files ? output.file_names() : std::vector<std::string>();
        file_names.emplace_back("statistics");
        context.begin(file_names);
        context.directory.record({"statistics"});
      }

      TimeLoopResult run_with_output(bool resumed)
      {
        FieldOutput<dim, spacedim> output(context.directory, problem.fields(), context.log, context.comm);
        begin_files(output, resumed);
        measures = std::make_unique<PatternMeasures<dim, spacedim>>(
          discretization, system, problem, context.parameters.growth, context.parameters.pattern_measures);
        const std::string        file    = context.directory.path("statistics");
        std::vector<std::string> columns = columns_of_steps(problem.fields(), measures->columns());
        const auto               old     = resumed ? Statistics::columns_of(file, context.comm) : std::vector<std::string>();
        for (const std::string &column : context.energy.columns(old.empty() ? nullptr : &old))
          columns.push_back(column);
        Statistics          statistics(file, columns, context.comm, resumed ? static_cast<double>(integrator->step_number()) : -1.);
        std::vector<double> row;
        TimeLoopActions     actions;
        actions.write_fields = [&](const HostVector &u, double t) {
          if (writes_files)
            output.write(discretization, u, t, integrator->step_number(), context.parameters.scale_output ? context.parameters.growth.length(t) : 1.);
        };
        actions.write_last_good_state = [&] {
          if (!writes_files)
            return std::string(", not written: ") + keeps_measures;
          actions.write_fields(integrator->solution(), integrator->time());
          write_checkpoint();
          return ", written to " + context.directory.path("solution.pvd") + " and " + context.directory.path("checkpoints");
        };
        actions.write_checkpoint = [&] { write_checkpoint(); };
        actions.write_statistics = [&](const StepReport &report, double t, unsigned int step) {
          row = {static_cast<double>(step),
                 t,
                 report.step_size,
                 static_cast<double>(report.newton_steps),
                 static_cast<double>(report.linear_iterations),
                 static_cast<double>(report.rejected.total()),
                 report.residual,
                 report.error_estimate,
                 report.rate_of_change,
                 std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count()};
          measures->append(integrator->solution(), integrator->time(), row);
          for (const MassBalance &balance : integrator->mass_balance())
            row.push_back(balance.residual());
          row.push_back(report.bound);
          row.push_back(report.alternative ? 1. : 0.);
          row.push_back(static_cast<double>(report.clipped));
          context.energy.append(row);
          statistics.row(row);
        };
        if (!resumed) // no checkpoint yet: --resume would begin with what is computed from the file anyway
          actions.write_fields(integrator->solution(), integrator->time());
        const TimeLoopResult result = run_time_loop(*integrator, time, context.parameters.time_loop, actions, context.log, context.comm);
        row.clear();
        measures->append(integrator->solution(), integrator->time(), row);
        context.provenance.add_measures(measures->columns(), row);
        return result;
      }

      const std::chrono::steady_clock::time_point     begun = std::chrono::steady_clock::now();
      const RunContext                               &context;
      TimeParameters                                  time; ///< also of the run beside, for the estimate of the error
      const Problem                                  &problem;
      const bool                                      writes_files = context.parameters.sweep.writes_files();
      std::unique_ptr<SetUp>                          set_up;    ///< until there are steps
      const std::string                               mesh_text; ///< what the mesh is made of, if runs of a sweep may share it
      bool                                            shares_mesh = false;
      Discretization<dim, spacedim>                   discretization;
      Checkpoints                                     checkpoints;
      const std::string                               system_text;    ///< what matrices are made of, if runs may share them
      const std::shared_ptr<SemiDiscreteSystem>       earlier_system; ///< of another run of the sweep; null: there is none
      const std::shared_ptr<SemiDiscreteSystem>       own_system;     ///< that or a new one
      SemiDiscreteSystem                             &system;
      std::unique_ptr<TransportTerms>                 transport;
      std::unique_ptr<ImplicitSystem>                 implicit;
      std::unique_ptr<Newton>                         newton;
      std::unique_ptr<TimeIntegrator>                 integrator;
      std::unique_ptr<PatternMeasures<dim, spacedim>> measures; ///< not in a convergence study
    };

    template <int dim, int spacedim>
    std::string run_study(const RunContext &context)
    {
      const VerificationParameters &verification = context.parameters.verification;
      ConvergenceTable              table(verification.in_time ? "dt" : "h");
      for (unsigned int cycle = 0; cycle <= verification.refinements; ++cycle)
        {
          TimeParameters time = context.parameters.time;
          if (verification.in_time)
            {
              time.stepping.step_size /= 1u << cycle;
              time.step_factor /= 1u << cycle;
            }
          TimeDependentRun<dim, spacedim> run(context, time);
          const TimeLoopResult            result = run.run(verification.in_time ? 0 : cycle, true, cycle == 0);
          if (result.status != "finished")
            return result.status;
          const auto   errors = run.errors();
          const double halved = std::ldexp(1., -static_cast<int>(cycle)), refined = verification.in_time ? run.step_size() : run.mesh_size();
          table.add(run.n_unknowns(), refined, errors.l2, errors.h1_seminorm, errors.nodal_maximum, halved);
          context.log.line(format("cycle %u: %u steps, L2 error %.5e", cycle, result.n_steps, errors.l2));
        }
      context.log.line("\n" + table.text());
      context.directory.record({"convergence.txt", "convergence.csv"});
      on_rank_zero(context.comm, [&] { table.write(context.directory.path("convergence")); });
      context.provenance.add_measures({"L2 error", "L2 rate"}, {table.last_l2_error(), table.last_l2_rate()});
      return "finished";
    }
  } // namespace

  template <int dim, int spacedim>
  std::string run_time_dependent(const RunContext &context)
  {
    if (context.parameters.verification.refinements > 0)
      return run_study<dim, spacedim>(context);
    TimeDependentRun<dim, spacedim> run(context, context.parameters.time);
    const TimeLoopResult            result = run.run(0, false);
    json                           &report = context.provenance.json()["time_loop"];
    report.update(run.found_by_linear_solver());
    if (context.parameters.linear_solver.tunes() && result.n_steps > 0 && !report.contains("tuned"))
      context.log.line("'Linear solver/Tuning time' was not used: no step was short enough for async");
    report_steps(context, result, run.step_number());
    if (run.time_reached() > 0.) // else the initial values would be called a pattern
      {
        const json         analysis          = context.provenance.json().value("analysis", json::object());
        const double       predicted         = analysis.contains("place") ? 0. : analysis.value("wavelength", 0.); // of one place: no forecast
        const FoundPattern pattern           = run.pattern();
        context.provenance.json()["pattern"] = pattern.report(predicted);
        context.log.line(pattern.text(predicted));
        if (pattern.is_homogeneous())
          run.warn_of_long_steps();
      }
    if (!context.parameters.problem->exact_solution.empty())
      {
        const double error = run.errors().l2;
        context.log.line(format("L2 error against the exact solution: %.5e", error));
        context.provenance.add_measures({"L2 error"}, {error});
      }
    const bool at_end = result.status == "finished" || result.status == "steady state";
    if (at_end && context.parameters.time.estimate_error)
      run.estimate_error();
    else if (at_end && context.parameters.time.adaptive() && context.parameters.problem->exact_solution.empty())
      context.log.line("how far the fields are off is not estimated: 'Time stepping/Estimate error = true' does the run once more for that");
    return result.status;
  }

  template std::string run_time_dependent<2, 2>(const RunContext &);
  template std::string run_time_dependent<3, 3>(const RunContext &);
  template std::string run_time_dependent<2, 3>(const RunContext &);
} // namespace leopard
