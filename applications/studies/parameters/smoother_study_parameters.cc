// SPDX-License-Identifier: Apache-2.0
#include "smoother_study_parameters.h"

#include "list_syntax.h"

#include <applications/base/parameter_file.h>
#include <solvers/base/errors.h>
#include <solvers/device/device.h>

#include <deal.II/base/parameter_handler.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

namespace leopard
{
  using namespace dealii;

  namespace
  {
    const char *const section = "Smoother study";

    std::string path(const std::string &entry)
    {
      return std::string(section) + "/" + entry;
    }

    void declare_cases(ParameterHandler &prm)
    {
      using namespace Patterns;
      prm.declare_entry(
        "Cases",
        "",
        Anything(),
        "What is studied, a list: a name, and in square brackets the entries of this file that differ, as "
        "'Q2 [Discretization/Degree=2], box [Mesh/Domain=box] [Levels=3]'; entries of this section need no section. Empty: this file as it "
        "is.");
      prm.declare_entry(
        "Stencil",
        "none",
        Selection("none|3-point|5-point|9-point|7-point|27-point"),
        "Instead of the problem on its mesh: -laplace u + Epsilon u with u = 0 around a grid in units of its spacing, by finite differences "
        "(3-, 5-, 7-point in 1, 2, 3 dimensions) or (bi-, tri-)linear elements (9-, 27-point), with a random right-hand side; nothing is "
        "stored.");
      prm.declare_entry("Sizes", "", List(Integer(1), 0, 100, ","), "With a stencil: unknowns in each direction, a list. Dimensionless.");
      prm.declare_entry("Epsilon",
                        "0",
                        List(Double(0.), 1, 100, ","),
                        "With a stencil: a list; on large grids the condition number is 4 dim / Epsilon. In units of 1 / spacing^2.");
      prm.declare_entry("Refinements",
                        "",
                        List(Integer(0, 20), 0, 100, ","),
                        "On a mesh: sizes as global refinements, a list; empty: Mesh/Global refinements. With Mesh/Adaptive the "
                        "last mesh of the adaptive cycles that start there. Dimensionless.");
      prm.declare_entry(
        "Additional refinements",
        "0",
        Integer(-20, 20),
        "Halves the spacing of all meshes and stencils of all cases so many times, or doubles it for a negative number: Refinements are larger by "
        "it, and Sizes n become 2 n + 1 or (n - 1) / 2 as often, the same study for a larger or smaller machine. Dimensionless.");
    }

    void declare_multigrid(ParameterHandler &prm)
    {
      using namespace Patterns;
      prm.declare_entry("Smoothers", "async, gauss-seidel, chebyshev(merged=3)", Anything(), "What is compared, a list: " + smoother_syntax() + ".");
      prm.declare_entry(
        "Levels", "0", List(Integer(0), 1, 100, ","), "Grids of the multigrid method, a list; 0: as many as there are. Dimensionless.");
      prm.declare_entry(
        "Smoothing steps", "2", List(Integer(1), 1, 100, ","), "Before and again after the coarse correction, a list. Dimensionless.");
      prm.declare_entry("Cycles", "V", List(Selection("V|W|F"), 1, 3, ","), "Kinds of cycles, a list of V, W, F.");
      prm.declare_entry("Solvers",
                        "multigrid",
                        List(Selection("multigrid|cg"), 1, 2, ","),
                        "multigrid: cycles alone; cg: (flexible) CG with a cycle as preconditioner.");
      prm.declare_entry("Coarse solver",
                        "dense",
                        Selection("dense|direct|cg|amg"),
                        "dense: inverse of at most 4096 unknowns, on the backend; direct: sparse factors, on the host; cg: conjugate gradients; amg: "
                        "CG with Trilinos ML, on the host.");
      prm.declare_entry("Coarse tolerance",
                        "1e-10",
                        Double(1e-15, 0.5),
                        "Of the coarse solvers cg and amg: residual at which to stop, against the first. Dimensionless.");
    }
  } // namespace

  void SmootherStudyParameters::declare(ParameterHandler &prm)
  {
    using namespace Patterns;
    prm.enter_subsection(section);
    declare_cases(prm);
    declare_multigrid(prm);
    prm.declare_entry(
      "Backend",
      "automatic",
      Selection("automatic|host|cuda"),
      "Who computes; automatic: a GPU if there is one. Smoothers that do not run on a GPU run on the host, and the table says so. Threads: "
      "Linear solver/Threads.");
    prm.declare_entry("Repetitions", "5", Integer(1, 10000), "Solutions from zero, for median and quartiles. Dimensionless.");
    prm.declare_entry("Tolerance", "1e-10", Double(1e-15, 1.), "Residual at which to stop, against the right-hand side. Dimensionless.");
    prm.declare_entry("Max cycles", "100", Integer(1), "At which to give up. Dimensionless.");
    prm.declare_entry("Cycles beyond",
                      "0",
                      Integer(0, 1000),
                      "Further cycles once the tolerance is met (solver multigrid), not counted and not timed, to see what residual can be attained. "
                      "Dimensionless.");
    prm.declare_entry("Published",
                      "none",
                      Selection("none|Figure 4.27|Figure 4.28|Table 4.11|Figure 4.30"),
                      "Whose findings in section 4.11 of Anzt's thesis stand beside the measured ones.");
    prm.leave_subsection();
  }

  namespace
  {
    /** Names of this section's entries. */
    std::vector<std::string> own_entries()
    {
      ParameterHandler prm;
      SmootherStudyParameters().declare(prm);
      std::vector<std::string> names;
      for (const auto &entry : declared_entries(prm))
        names.push_back(entry.back());
      return names;
    }

    std::vector<StudyCase> parse_cases(const std::string &text)
    {
      std::vector<StudyCase> cases;
      const auto             own = own_entries();
      for (const std::string &part : split_list(path("Cases"), text))
        {
          const NamedSettings given = parse_bracketed(path("Cases"), part);
          StudyCase           c;
          c.name = given.name;
          for (const StudyCase &other : cases)
            if (other.name == c.name)
              throw Error("'" + path("Cases") + "' has two cases '" + c.name + "'\n  expected: different names");
          for (const auto &[name, value] : given.settings)
            {
              const bool is_own = std::find(own.begin(), own.end(), name) != own.end();
              c.overrides.push_back((is_own ? path(name) : name) + "=" + value);
            }
          cases.push_back(c);
        }
      return cases;
    }

    template <typename Number>
    void require_different(const std::string &entry, std::vector<Number> numbers)
    {
      std::sort(numbers.begin(), numbers.end());
      const auto twice = std::adjacent_find(numbers.begin(), numbers.end());
      if (twice != numbers.end())
        {
          std::ostringstream value;
          value << *twice;
          throw Error("'" + path(entry) + "' has " + value.str() + " twice\n  expected: different values");
        }
    }

    std::vector<int> integers(ParameterHandler &prm, const std::string &entry)
    {
      const auto result = Utilities::string_to_int(Utilities::split_string_list(prm.get(entry)));
      require_different(entry, result);
      return result;
    }
  } // namespace

  void SmootherStudyParameters::read(ParameterHandler &prm)
  {
    prm.enter_subsection(section);
    cases   = parse_cases(prm.get("Cases"));
    stencil = prm.get("Stencil");
    smoothers.clear();
    std::vector<std::string> texts, names;
    for (const std::string &text : split_list(path("Smoothers"), prm.get("Smoothers")))
      {
        smoothers.push_back(parse_smoother(path("Smoothers"), text));
        texts.push_back(text);
      }
    sizes       = integers(prm, "Sizes");
    epsilon     = Utilities::string_to_double(Utilities::split_string_list(prm.get("Epsilon")));
    refinements = integers(prm, "Refinements");
    refine(prm.get_integer("Additional refinements"));
    levels          = integers(prm, "Levels");
    smoothing_steps = integers(prm, "Smoothing steps");
    names           = Utilities::split_string_list(prm.get("Cycles"));
    solvers         = Utilities::split_string_list(prm.get("Solvers"));
    cycles.clear();
    for (const std::string &name : names)
      cycles.push_back(name == "V" ? CycleType::v : name == "W" ? CycleType::w : CycleType::f);
    coarse_solver    = prm.get("Coarse solver");
    coarse_tolerance = prm.get_double("Coarse tolerance");
    backend          = prm.get("Backend");
    repetitions      = prm.get_integer("Repetitions");
    tolerance        = prm.get_double("Tolerance");
    max_cycles       = prm.get_integer("Max cycles");
    cycles_beyond    = prm.get_integer("Cycles beyond");
    published        = prm.get("Published");
    prm.leave_subsection();

    require_different("Smoothers", texts);
    require_different("Cycles", names);
    require_different("Solvers", solvers);
    require_different("Epsilon", epsilon);
    if (smoothers.empty())
      throw Error("'" + path("Smoothers") + "' is empty\n  expected: a list, as 'async(k=5, merged=2), gauss-seidel'");
    if (backend == "cuda")
      for (const SmootherChoice &smoother : smoothers)
        if (!smoother.backend && !find_method(smoother.options.method).runs_on(Backend::cuda, as_smoother))
          throw Error("'" + path("Backend") + "' is cuda, but '" + path("Smoothers") + "' has " + smoother.text +
                      ", which runs on the host only\n  expected: " + smoother.options.method + "(backend=host), or the backend automatic");
  }

  void SmootherStudyParameters::refine(int n_times)
  {
    const std::string entry = "'" + path("Additional refinements") + "' is " + std::to_string(n_times);
    additional_refinements  = n_times;
    for (int &r : refinements)
      if (r += n_times; r < 0)
        throw Error(entry + ", which makes " + std::to_string(r - n_times) + " refinements fewer than none\n  expected: a larger number");
    for (int &n : sizes)
      {
        const double refined = (n + 1.) * std::pow(2., n_times) - 1.;
        if (refined > std::numeric_limits<int>::max())
          throw Error(entry + ", which makes " + std::to_string(n) + " unknowns a direction more than 2^31 - 1\n  expected: fewer");
        if (refined < 1.)
          throw Error(entry + ", which makes " + std::to_string(n) + " unknowns a direction none\n  expected: a larger number");
        n = static_cast<int>(refined);
      }
    require_different("Sizes", sizes);
  }

  std::vector<int> SmootherStudyParameters::mesh_refinements(const MeshParameters &mesh) const
  {
    if (!refinements.empty())
      return refinements;
    const int refined = static_cast<int>(mesh.global_refinements) + additional_refinements;
    if (refined < 0)
      throw Error("'" + path("Additional refinements") + "' is " + std::to_string(additional_refinements) + ", and 'Mesh/Global refinements' is " +
                  std::to_string(mesh.global_refinements) + "\n  expected: a sum that is not negative");
    return {refined};
  }

  void SmootherStudyParameters::check(const Problem &problem, const MeshParameters &mesh) const
  {
    if (uses_stencil())
      {
        check_stencil();
        return;
      }
    if (mesh.adaptive && mesh.is_periodic())
      throw Error(
        "'Study' is smoothers, 'Mesh/Adaptive' is true, and 'Mesh/Periodic' is given, for which there are no levels\n  expected: a globally refined "
        "mesh, or no periodic directions");
    if (!sizes.empty())
      throw Error("'" + path("Sizes") + "' is given, but '" + path("Stencil") + "' is none\n  expected: a stencil, or '" + path("Refinements") +
                  "' for the sizes of a mesh");
    if (epsilon != std::vector<double>{0.})
      throw Error("'" + path("Epsilon") + "' is given, but '" + path("Stencil") +
                  "' is none\n  expected: a stencil, or the problem helmholtz and its Delta for a mesh");
    if (published != "none")
      throw Error("'" + path("Published") + "' is " + published + ", but '" + path("Stencil") + "' is none\n  expected: the stencil 3-point");
    if (problem.time_dependent() || problem.has_reaction())
      throw Error("'Study' is smoothers, but the problem " + problem.name() + (problem.time_dependent() ? " depends on time" : " is not linear") +
                  "\n  expected: laplace, helmholtz, or '" + path("Stencil") + "'");
    for (const int l : levels)
      if (mesh.adaptive && l != 0)
        throw Error("'" + path("Levels") + "' has " + std::to_string(l) + ", but 'Mesh/Adaptive' is true\n  expected: 0, all levels");
    if (mesh.adaptive && cycles != std::vector<CycleType>{CycleType::v})
      throw Error("'" + path("Cycles") + "' has others than V, but 'Mesh/Adaptive' is true\n  expected: V, for local smoothing");
    for (const int l : levels)
      for (const int r : mesh_refinements(mesh))
        if (l > r + 1)
          throw Error("'" + path("Levels") + "' has " + std::to_string(l) + ", but a mesh with " + std::to_string(r) + " global refinements has " +
                      std::to_string(r + 1) + "\n  expected: at most " + std::to_string(r + 1) + ", 0 for all, or more refinements");
  }

  void SmootherStudyParameters::check_stencil() const
  {
    if (sizes.empty())
      throw Error("'" + path("Stencil") + "' is " + stencil + ", but '" + path("Sizes") + "' is empty\n  expected: unknowns in each direction");
    if (!refinements.empty())
      throw Error("'" + path("Refinements") + "' is given, but '" + path("Stencil") + "' is " + stencil + "\n  expected: '" + path("Sizes") +
                  "', or the stencil none");
    if (published != "none" && stencil != "3-point")
      throw Error("'" + path("Published") + "' is " + published + ", but '" + path("Stencil") + "' is " + stencil +
                  "\n  expected: the stencil 3-point");
    for (const int n : sizes)
      {
        if (std::pow(n, stencil_dimension()) > std::numeric_limits<int>::max())
          throw Error("'" + path("Sizes") + "' has " + std::to_string(n) + ", which is " + std::to_string(n) + "^" +
                      std::to_string(stencil_dimension()) + " unknowns\n  expected: at most 2^31 - 1 in all");
        int there = 1;
        for (int nodes = n; nodes > 1; nodes /= 2)
          ++there;
        for (const int l : levels)
          if (l > there)
            throw Error("'" + path("Levels") + "' has " + std::to_string(l) + ", but a grid of " + std::to_string(n) + " nodes a direction has " +
                        std::to_string(there) + "\n  expected: at most " + std::to_string(there) + ", 0 for all, or larger sizes");
      }
  }

  int SmootherStudyParameters::stencil_dimension() const
  {
    return stencil == "3-point" ? 1 : stencil == "5-point" || stencil == "9-point" ? 2 : 3;
  }

  std::string SmootherStudyParameters::choose_backend()
  {
    const bool there = device::n_devices() > 0;
    if (backend == "cuda" && !there)
      device::throw_no_device("'" + path("Backend") + "' is cuda", "the backend host");
    const std::string why = backend != "automatic" ? "" : there ? " (automatic: there is a GPU)" : " (automatic: " + device::why_no_devices() + ")";
    if (backend == "automatic")
      backend = there ? "cuda" : "host";
    return "backend " + backend + (backend == "cuda" ? ", " + device::info(0).name : "") + why;
  }
} // namespace leopard
