// SPDX-License-Identifier: Apache-2.0
#include "boundary_report.h"
#include "checkpoint.h"
#include "initial_values.h"
#include "provenance.h"
#include "simulation.h"
#include "unused_entries.h"

#include <applications/base/collective.h>
#include <applications/base/log.h>
#include <applications/base/stop_signal.h>
#include <applications/linear_solvers/linear_correction.h>
#include <applications/nonlinear/implicit_system.h>
#include <applications/output/convergence_table.h>
#include <applications/output/field_measures.h>
#include <applications/output/field_output.h>
#include <solvers/base/errors.h>
#include <solvers/base/norms.h>
#include <solvers/dealii/vector_norm.h>

#include <deal.II/base/mpi.h>
#include <deal.II/base/quadrature_lib.h>
#include <deal.II/fe/fe_values.h>
#include <deal.II/numerics/vector_tools_mean_value.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>

namespace leopard
{
  using namespace dealii;

  namespace
  {
    using Clock = std::chrono::steady_clock;

    /** Lines of text as part of a cycle's block in the log. */
    std::string indented(const std::string &text)
    {
      std::string result = "  ";
      for (const char c : text)
        result += c == '\n' ? std::string("\n  ") : std::string(1, c);
      return result;
    }

    /**
     * A problem without boundary values has a solution if sources and fluxes balance; what they lack is taken out of r.
     */
    template <int dim, int spacedim>
    void balance(const RunContext &context, const Discretization<dim, spacedim> &discretization, HostVector &r)
    {
      const double scale = r.l1_norm(), total = discretization.balance(r);
      context.log.line("  no boundary values are prescribed, so that the solution is determined up to a constant: the one of mean zero is computed");
      if (std::abs(total) > 1e-10 * scale)
        context.log.warning(format("sources and fluxes do not balance: they add up to %.3e, which is taken out as a constant source", total));
    }

    /**
     * Without boundary values delta integral of u = integrals of sources and fluxes, one number, which the matrix loses
     * to rounding, and a tolerance of the whole residual does not see, where delta L^2 is small: so u is given this
     * mean.
     */
    class MeanOfAbsorption
    {
    public:
      MeanOfAbsorption(const SemiDiscreteSystem &system_, double delta)
        : system(system_)
      {
        HostVector ones(system.load);
        ones                = 1.;
        const double volume = system.lumped_mass * ones;
        mean                = system.load * ones / (delta * volume);
        uncertainty         = std::numeric_limits<double>::epsilon() * system.load.l1_norm() / (delta * volume);
      }

      template <int dim, int spacedim>
      void give(HostVector &u, const Discretization<dim, spacedim> &discretization) const
      {
        discretization.remove_mean(u, system.lumped_mass);
        u.add(mean);
        discretization.zero_constrained(u);
      }

      void report(const RunContext &context, const HostVector &u) const
      {
        constexpr double much = 1e-6;
        context.log.line(format("  no boundary values are prescribed: the mean of u, %.8g, is the one with which absorption balances sources and "
                                "fluxes",
                                mean));
        if (!reached(uncertainty, much * u.linfty_norm()))
          context.log.warning(
            format("sources and fluxes cancel but for rounding, and absorption is small: the mean of u is uncertain by about %.1e", uncertainty));
      }

    private:
      const SemiDiscreteSystem &system;
      double                    mean, uncertainty;
    };

    /** What the linear solver has to say once. */
    void say_note(const RunContext &context, const std::string &note)
    {
      if (!note.empty())
        context.log.line("  " + note);
    }

    /** One linear solve; the Jacobian of a problem without reaction is its matrix. */
    template <int dim, int spacedim>
    void solve_linear_problem(const RunContext              &context,
                              Discretization<dim, spacedim> &discretization,
                              const SemiDiscreteSystem      &system,
                              ImplicitSystem                &implicit,
                              HostVector                    &u,
                              nlohmann::json                &report)
    {
      const LinearSolverParameters &parameters = context.parameters.linear_solver;
      auto                          set_up     = context.provenance.begin_set_up(true);
      LinearSolver                  solver(parameters, implicit.jacobian(), discretization.n_components(), &discretization, context.comm);
      set_up.reset();
      if (const std::string details = solver.details(); !details.empty())
        context.log.line(indented(details));
      HostVector                      residual(u), update(u);
      std::optional<MeanOfAbsorption> mean;
      if (discretization.has_mean_of_absorption())
        {
          mean.emplace(system, context.parameters.problem->absorption(0));
          mean->give(u, discretization);
        }
      // the right-hand side of the update shrinks with a good first guess; the tolerance is against the load all the
      // same
      double     scale = implicit.scale(nullptr, update);
      HostVector load(system.load);
      implicit.residual(u, nullptr, residual);
      if (discretization.is_singular())
        {
          balance(context, discretization, residual);
          discretization.balance(load);
          scale = l2_norm(load);
        }
      const double           first = l2_norm(residual);
      const LinearCorrection correction{solver, parameters.relative_tolerance, scale, parameters.max_iterations, "", &implicit.jacobian(), &load};
      const auto             result = correction(u, residual, update, [&] {
        if (discretization.is_singular())
          discretization.remove_mean(u, system.lumped_mass);
        if (mean)
          mean->give(u, discretization);
        implicit.residual(u, nullptr, residual);
        if (discretization.is_singular())
          discretization.balance(residual);
      });
      say_note(context, result.note);
      if (mean)
        mean->report(context, u);
      context.log.line(format(
        "  %s: %d %s%s, residual %.3e -> %.3e%s",
        solver.description().c_str(),
        result.n_iterations,
        parameters.method == "multigrid" ? "cycles" : "iterations",
        result.n_corrections > 0 ? format(" in %d corrections%s", result.n_corrections, result.has_momentum ? " with momentum" : "").c_str() : "",
        first,
        result.final_residual,
        result.convergence_factor > 0. ? format(", convergence factor %.3f", result.convergence_factor).c_str() : ""));
      report.update(solver.report());
      report["set_up_seconds"]    = solver.set_up_seconds(); // of the linear solver, a part of "seconds"
      report["linear_iterations"] = result.n_iterations;
      report["residual"]          = result.final_residual;
      if (parameters.refines())
        report["corrections"] = result.n_corrections;
      if (result.convergence_factor > 0.)
        report["convergence_factor"] = result.convergence_factor;
    }

    std::string advice_for_newton(const NewtonResult &result)
    {
      if (!result.history.empty() && result.history.back().damping == 0.)
        return "another 'Initial value', nearer to a solution; near this one there is none that shorter steps would reach, and for these "
               "coefficients "
               "there may be none at all: a sweep over one of them ('Run/Sweep') shows up to which value there is";
      return "another 'Initial value', more linear iterations or a smaller 'Newton/Linear tolerance', more 'Newton/Max steps'";
    }

    void solve_nonlinear_problem(const RunContext &context, LevelSource &levels, ImplicitSystem &implicit, HostVector &u, nlohmann::json &report)
    {
      auto   set_up = context.provenance.begin_set_up(true);
      Newton newton(
        context.parameters.newton, context.parameters.linear_solver, implicit, context.parameters.problem->fields().size(), &levels, context.comm);
      newton.linear_solver();
      set_up.reset();
      if (const std::string details = newton.linear_solver().details(); !details.empty())
        context.log.line(indented(details));
      const NewtonResult &result = newton.solve(u, nullptr);
      say_note(context, result.note);
      if (context.parameters.linear_solver.tunes())
        context.log.line(indented(newton.linear_solver().details()));
      context.log.line("  Newton's method with " + newton.linear_solver().description() + ":\n" + result.table());
      if (!result.converged)
        throw ConvergenceFailure(result.failure.text + "; the residual is " + format("%.3e", result.residual) + " after " +
                                 std::to_string(result.n_steps) + " steps\n" + result.table() + "  to try: " + advice_for_newton(result));
      report.update(newton.linear_solver().report());
      report["newton_steps"]      = result.n_steps;
      report["set_up_seconds"]    = newton.linear_solver().set_up_seconds();
      report["linear_iterations"] = result.linear_iterations;
      report["residual"]          = result.residual;
      for (const NewtonStep &step : result.history)
        {
          report["newton"].push_back(
            {{"residual", step.residual}, {"linear_iterations", step.linear_iterations}, {"damping", step.damping}, {"seconds", step.seconds}});
          if (context.parameters.linear_solver.refines())
            report["newton"].back()["corrections"] = step.corrections;
        }
      if (context.parameters.linear_solver.refines())
        report["corrections"] = result.corrections;
    }

    template <int dim, int spacedim>
    Quadrature<dim> quadrature_for_means(const Discretization<dim, spacedim> &discretization)
    {
      if (discretization.on_simplices())
        return QGaussSimplex<dim>(3);
      return QGauss<dim>(discretization.dof_handler.get_fe().degree + 1);
    }

    /**
     * Minimum, maximum and mean (integral over volume) of each field, the boundary included. @param u with constraints
     * distributed.
     */
    template <int dim, int spacedim>
    void report_fields(const RunContext                    &context,
                       const Discretization<dim, spacedim> &discretization,
                       const SemiDiscreteSystem            &system,
                       const HostVector                    &u,
                       nlohmann::json                      &report)
    {
      const std::vector<std::string> fields     = context.parameters.problem->fields();
      const Quadrature<dim>          quadrature = quadrature_for_means(discretization);
      std::vector<double>            measures;
      append_field_measures(u, system.lumped_mass, fields.size(), measures);
      for (unsigned int c = 0; c < fields.size(); ++c)
        {
          HostVector scalar;
          discretization.extract_component(u, c, scalar);
          // the lumped mass knows nothing of the boundary values
          const double mean = VectorTools::compute_mean_value(*discretization.mapping, discretization.dof_handler, quadrature, scalar, 0);
          report[fields[c]] = {{"minimum", measures[3 * c]}, {"maximum", measures[3 * c + 1]}, {"mean", mean}};
          context.log.line(format("  %s is between %.8g and %.8g, in the mean %.8g", fields[c].c_str(), measures[3 * c], measures[3 * c + 1], mean));
        }
    }

    /** The mean of u - u_exact, of one field. Collective. */
    template <int dim, int spacedim>
    double mean_difference(const Discretization<dim, spacedim> &discretization, const Expression &exact, const HostVector &u)
    {
      HostVector scalar;
      discretization.extract_component(u, 0, scalar);
      const Quadrature<dim>   quadrature = quadrature_for_means(discretization);
      FEValues<dim, spacedim> values(
        *discretization.mapping, discretization.dof_handler.get_fe(), quadrature, update_values | update_quadrature_points | update_JxW_values);
      std::vector<double> of_u(quadrature.size());
      double              sum = 0., volume = 0.;
      for (const auto &cell : discretization.dof_handler.active_cell_iterators())
        if (cell->is_locally_owned())
          {
            values.reinit(cell);
            values.get_function_values(scalar, of_u);
            for (const auto q : values.quadrature_point_indices())
              {
                sum += (of_u[q] - exact.value(to_3d(values.quadrature_point(q)))) * values.JxW(q);
                volume += values.JxW(q);
              }
          }
      return Utilities::MPI::sum(sum, discretization.comm) / Utilities::MPI::sum(volume, discretization.comm);
    }

    /**
     * The errors of u, those of a u that is determined up to a constant after it has the mean of the exact solution: as
     * a row of the table and in the report. @param told whether the log has said that. Collective.
     */
    template <int dim, int spacedim>
    void add_errors(const RunContext                    &context,
                    const Discretization<dim, spacedim> &discretization,
                    const HostVector                    &u,
                    bool                                &told,
                    ConvergenceTable                    &table,
                    nlohmann::json                      &report)
    {
      auto errors = discretization.errors(u, 0.);
      if (discretization.is_singular())
        {
          const double before = errors.l2;
          HostVector   shifted(u);
          shifted.add(-mean_difference(discretization, context.parameters.problem->exact_solution[0], u));
          errors = discretization.errors(shifted, 0.);
          if (!told && before > 1.01 * errors.l2)
            context.log.line("  its errors are those beside the exact solution after it is given the same mean");
          told = told || before > 1.01 * errors.l2;
        }
      const double refined   = context.parameters.mesh.adaptive ? std::pow(discretization.n_unknowns(), -1. / dim) : discretization.mesh_size();
      const double for_rates = context.parameters.mesh.adaptive ? refined : discretization.relative_mesh_size();
      table.add(discretization.n_unknowns(), refined, errors.l2, errors.h1_seminorm, errors.nodal_maximum, for_rates);
      report["refined"]             = refined;
      report["relative_mesh_size"]  = for_rates;
      report["l2_error"]            = errors.l2;
      report["h1_seminorm_error"]   = errors.h1_seminorm;
      report["nodal_maximum_error"] = errors.nodal_maximum;
    }

    /** @param cycles what run.json says of them. Collective. */
    template <int dim, int spacedim>
    void write_checkpoint(const RunContext                    &context,
                          const Discretization<dim, spacedim> &discretization,
                          const HostVector                    &u,
                          unsigned int                         cycle,
                          const nlohmann::json                &cycles,
                          const Checkpoints                   &checkpoints)
    {
      nlohmann::json metadata = resume_metadata(context);
      metadata["cycles"]      = cycles;
      checkpoints.write(cycle, metadata, [&](const std::string &folder) { discretization.save(folder, {&u}); });
    }

    /**
     * Says where the error of the last cycle of a linear problem is what its linear solver may have left, about the
     * relative tolerance times u.
     */
    void say_if_tolerance_limits(const RunContext &context, const nlohmann::json &last)
    {
      constexpr double              near       = 10.;
      const LinearSolverParameters &parameters = context.parameters.linear_solver;
      const Problem                &problem    = *context.parameters.problem;
      if (problem.has_reaction() || parameters.method == "direct" || !(parameters.relative_tolerance > 1e-12)) // then rounding does
        return;
      const nlohmann::json &u    = last.at(problem.fields()[0]);
      const double          size = std::max(std::abs(u.at("minimum").get<double>()), std::abs(u.at("maximum").get<double>())),
                   tolerance     = parameters.relative_tolerance;
      if (reached(last.at("nodal_maximum_error").get<double>(), near * tolerance * size))
        context.log.line(format("the error at nodes is of the size that 'Linear solver/Relative tolerance' = %g leaves, and rates may show that: to "
                                "try: %g",
                                tolerance,
                                std::max(1e-4 * tolerance, 1e-13)));
    }
  } // namespace

  template <int dim, int spacedim>
  std::string run_stationary(const RunContext &context)
  {
    const Parameters             &parameters = context.parameters;
    const Problem                &problem    = *parameters.problem;
    const bool                    adaptive   = parameters.mesh.adaptive;
    const unsigned int            n_cycles   = parameters.n_cycles();
    const bool                    study      = !problem.exact_solution.empty();
    auto                          set_up     = context.provenance.begin_set_up(context.directory.is_new());
    Discretization<dim, spacedim> discretization(parameters.mesh, parameters.discretization, problem, context.comm);
    FieldOutput<dim, spacedim>    output(context.directory, problem.fields(), context.log, context.comm);
    Checkpoints                   checkpoints(context.directory, context.comm);
    ConvergenceTable              table(adaptive ? "N^(-1/dim)" : "h");
    nlohmann::json                cycles = nlohmann::json::array();
    HostVector                    u;
    unsigned int                  first_cycle = 0;
    bool                          told_mean   = false;
    std::vector<std::string>      file_names  = parameters.sweep.writes_files() ? output.file_names() : std::vector<std::string>();
    if (study)
      file_names.insert(file_names.end(), {"convergence.txt", "convergence.csv"});

    report_unused_entries(context, false);
    if (const auto &found = context.beginning.checkpoint)
      {
        u           = discretization.load(found->directory, 1)[0];
        first_cycle = found->step + 1;
        cycles      = found->metadata->at("cycles");

        context.provenance.json()["cycles"] = cycles;
        output.resume(found->step);
        for (const auto &row : cycles)
          if (study)
            table.add(row.at("unknowns"),
                      row.at("refined"),
                      row.at("l2_error"),
                      row.at("h1_seminorm_error"),
                      row.at("nodal_maximum_error"),
                      row.value("relative_mesh_size", 0.)); // 0: of an older program
        context.log.line("resumed after cycle " + std::to_string(found->step));
      }
    else
      {
        discretization.refine_coarse_mesh(parameters.mesh.global_refinements);
        set_initial_values(context, discretization, u);
      }
    report_boundary(context, discretization);

    for (unsigned int cycle = first_cycle; cycle < n_cycles; ++cycle)
      {
        const auto start = Clock::now();
        if (cycle > 0)
          {
            if (cycle > first_cycle) // what the one before has found is on the disk
              set_up = context.provenance.begin_set_up(true);
            if (adaptive)
              {
                discretization.distribute_constraints(u);
                discretization.refine_adaptively(u);
              }
            else
              discretization.refine_globally(u);
          }
        context.log.line(format("cycle %u: %llu cells, %llu unknowns, h = %.4g",
                                cycle,
                                static_cast<unsigned long long>(discretization.triangulation.n_global_active_cells()),
                                static_cast<unsigned long long>(discretization.n_unknowns()),
                                discretization.mesh_size()));
        SemiDiscreteSystem system;
        discretization.assemble(system, 0.);
        discretization.zero_constrained(u);
        throw_if_stop_requested(context.comm);
        set_up.reset();
        ImplicitSystem implicit(system, problem);
        if (problem.reaction_depends_on_place())
          implicit.set_places(discretization.nodes());
        context.begin(file_names);
        nlohmann::json report;
        report["unknowns"] = discretization.n_unknowns();
        report["cells"]    = discretization.triangulation.n_global_active_cells();
        report["h"]        = discretization.mesh_size();
        if (problem.has_reaction())
          solve_nonlinear_problem(context, discretization, implicit, u, report);
        else
          solve_linear_problem(context, discretization, system, implicit, u, report);
        discretization.distribute_constraints(u);
        report_fields(context, discretization, system, u, report);
        if (study)
          add_errors(context, discretization, u, told_mean, table, report);
        if (parameters.sweep.writes_files())
          output.write(discretization, u, cycle, cycle);
        report["seconds"] = std::chrono::duration<double>(Clock::now() - start).count();
        cycles.push_back(report);
        if (parameters.sweep.writes_files())
          write_checkpoint(context, discretization, u, cycle, cycles, checkpoints);
        context.provenance.json()["cycles"] = cycles;
        context.provenance.write();
        context.log.check();
      }
    context.begin(file_names);
    for (const std::string &field : problem.fields())
      for (const char *measure : {"minimum", "maximum", "mean"})
        context.provenance.add_measures({measure + (" of " + field)}, {cycles.back()[field][measure]});
    if (study)
      {
        context.provenance.add_measures({"L2 error", "L2 rate"}, {table.last_l2_error(), table.last_l2_rate()});
        context.log.line("\n" + table.text());
        say_if_tolerance_limits(context, cycles.back());
        context.directory.record({"convergence.txt", "convergence.csv"});
        on_rank_zero(context.comm, [&] { table.write(context.directory.path("convergence")); });
      }
    return "finished";
  }

  template std::string run_stationary<2, 2>(const RunContext &);
  template std::string run_stationary<3, 3>(const RunContext &);
  template std::string run_stationary<2, 3>(const RunContext &);
} // namespace leopard
