// SPDX-License-Identifier: Apache-2.0
#include "entry_rows.h"

#include <applications/problems/problems.h>
#include <applications/problems/turing/kinetics.h>

#include <algorithm>

namespace leopard::entry_rows
{
  namespace
  {
    std::string of_exact_solution(const Run &r, const std::string &entry)
    {
      return first(of_problem(r, entry), if_(is_study(r), "a study of smoothers does not compare with it"));
    }

    std::string of_boundary(const Run &r, const std::string &entry)
    {
      const std::string &domain = r.parameters.mesh.domain;
      return first(of_problem(r, entry),
                   if_(domain == "sphere" || domain == "torus", "a " + domain + " has no boundary"),
                   if_(r.parameters.mesh.is_periodic_all_around(), "all boundaries are periodic"));
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

    std::string of_initial_values(const Run &r, const std::string &entry)
    {
      const std::string source = r.parameters.problem->name() + "/Initial values from";
      return first(of_problem(r, entry), if_(!is_study(r) && !r.parameters.problem->initial_from.empty(), "'" + source + "' is given"));
    }

    std::string of_initial_source(const Run &r, const std::string &entry)
    {
      return first(of_problem(r, entry), if_(is_study(r), "a study of smoothers begins with the initial values of the file"));
    }

    std::string of_perturbation(const Run &r, const std::string &entry)
    {
      return first(of_problem(r, entry), if_(std::stod(r.parameters.value("Turing/Perturbation")) == 0., "'Turing/Perturbation' is 0"));
    }

    std::string of_random_seed(const Run &r, const std::string &entry)
    {
      return r.parameters.problem->has_noise() ? of_problem(r, entry) : of_perturbation(r, entry);
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

    /** Of fields and checkpoints of a run in time. */
    std::string of_files(const Run &r, const std::string &entry)
    {
      return first(of_run_in_time(r, entry), if_(!r.parameters.sweep.writes_files(), keeps_measures));
    }

    std::string of_scaled_output(const Run &r, const std::string &entry)
    {
      return first(of_files(r, entry), of_growth(r, entry));
    }

    std::string of_sweep(const Run &r, const std::string &entry)
    {
      const SweepParameters &sweep = r.parameters.sweep; // that runs of a sweep have none is given by the program, as 0
      if (entry == "Run/Sweep keeps")
        return if_(!sweep.is_sweep() && sweep.measures_only, "'Run/Sweep' is empty");
      return if_(sweep.axes.empty() && (entry == "Run/Sweep ranks per run" ? sweep.ranks_per_run : sweep.at_a_time) > 0, "'Run/Sweep' is empty");
    }

    /** The rows, and those of the entries that all problems share for the sections of problems that have none. */
    std::vector<Row> with_other_problems(std::vector<Row> rows)
    {
      for (const NamedProblem &problem : problems())
        {
          const auto        made    = problem.make();
          const std::string section = made->name() + "/";
          if (std::any_of(rows.begin(), rows.end(), [&](const Row &row) { return row.path == section + "*"; }))
            continue;
          rows.push_back({section + "*", fixed, fixed, of_problem});
          rows.push_back({section + "Exact solution*", fixed, fixed, of_exact_solution});
          rows.push_back({section + "Boundary *", fixed, fixed, of_boundary});
          rows.push_back({section + "Initial value*", fixed, fixed, of_initial_values});
          rows.push_back({section + "Initial values from", fixed, fixed, of_initial_source});
        }
      return rows;
    }
  } // namespace

  const std::vector<Row> &rows_of_problem()
  {
    static const std::vector<Row> rows = with_other_problems({
      {"Problem", fixed, fixed, of_mesh},
      {"Dimension", fixed, fixed, of_mesh},
      {"Study", fixed, fixed, used},
      {"Run/Directory", free, free, used},
      {"Run/Wall time", free, free, of_run_in_time},
      {"Run/Stop if too slow", free, free, of_run_in_time},
      {"Run/Checkpoint *", free, free, of_files},
      {"Run/Sweep", free, free, used},
      {"Run/Sweep ranks per run", free, free, of_sweep},
      {"Run/Sweep runs at a time", free, free, of_sweep},
      {"Run/Sweep keeps", free, free, of_sweep},
      {"Output/Times", free, free, of_files},
      {"Output/Interval", free, free, of_files},
      {"Output/Scale by growth", free, free, of_scaled_output},
      {"Output/Log every", free, free, of_run_in_time},
      {"Output/Spot threshold", effect, effect, of_run_in_time},
      {"Reaction-diffusion/*", fixed, fixed, of_problem},
      {"Reaction-diffusion/alpha", fixed, fixed, of_reaction<true>},
      {"Reaction-diffusion/beta", fixed, fixed, of_reaction<true>},
      {"Reaction-diffusion/f", fixed, fixed, of_reaction<false>},
      {"Reaction-diffusion/Derivative of f", fixed, fixed, of_reaction<false>},
      {"Reaction-diffusion/Boundary *", fixed, fixed, of_boundary},
      {"Reaction-diffusion/Initial value", fixed, fixed, of_initial_values},
      {"Reaction-diffusion/Initial values from", fixed, fixed, of_initial_source},
      {"Turing/*", effect, fixed, of_turing}, // constants, sources, exact solutions
      {"Turing/Kinetics", fixed, fixed, of_problem},
      {"Turing/kappa", effect, fixed, of_built_in_kinetics},
      {"Turing/Species", fixed, fixed, of_expressions},
      {"Turing/Constants", effect, fixed, of_problem},
      {"Turing/Reaction *", effect, fixed, of_expressions},
      {"Turing/Diffusion *", effect, fixed, of_problem},
      {"Turing/Images", fixed, fixed, of_problem},
      {"Turing/Boundary *", fixed, fixed, of_boundary},
      {"Turing/Steady state guess", effect, fixed, of_steady_state},
      {"Turing/Start from steady state", fixed, fixed, of_initial_values},
      {"Turing/Perturbation", fixed, fixed, of_problem},
      {"Turing/Seed", fixed, fixed, of_random_seed},
      {"Turing/Initial value *", fixed, fixed, of_initial_values},
      {"Turing/Initial values from", fixed, fixed, of_initial_source},
      {"Mesh/Domain", fixed, fixed, of_mesh},
      {"Mesh/Lower corner", fixed, fixed, of_domains<with_corners>},
      {"Mesh/Upper corner", fixed, fixed, of_domains<with_corners>},
      {"Mesh/Cells", fixed, fixed, of_domains<with_cells>},
      {"Mesh/Radius", fixed, fixed, of_domains<with_radius>},
      {"Mesh/Tube radius", fixed, fixed, of_domains<with_tube>},
      {"Mesh/Half length", fixed, fixed, of_length},
      {"Mesh/File", fixed, fixed, of_domains<with_file>},
      {"Mesh/Periodic", fixed, fixed, of_mesh},
      {"Mesh/Global refinements", fixed, fixed, of_refinements},
      {"Mesh/Adaptive", fixed, fixed, of_mesh},
      {"Mesh/Adaptive cycles", fixed, further, of_adaptive},
      {"Mesh/Refine fraction", fixed, fixed, of_adaptive},
      {"Mesh/Coarsen fraction", fixed, fixed, of_adaptive},
      {"Mesh/Growth", fixed, fixed, of_steps},
      {"Mesh/Growth rate", fixed, fixed, of_growth},
    });
    return rows;
  }
} // namespace leopard::entry_rows
