// SPDX-License-Identifier: Apache-2.0
#include "start_check.h"

#include "parameters.h"

#include <applications/base/log.h>
#include <applications/output/cosine_spectrum.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace leopard
{
  namespace
  {
    constexpr double       nodes_a_wavelength = 8.;
    constexpr unsigned int most_nodes[]       = {0, 0, 257, 65}; // in a direction, by dimension

    /** Nodes in each direction of a hypercube or box at which its initial values are looked at. */
    std::vector<unsigned int> nodes_of_box(const Domain &domain, unsigned int degree)
    {
      std::vector<unsigned int> n;
      for (const unsigned int cells : domain.cells)
        n.push_back(cells < most_nodes[domain.dimension] / degree ? cells * degree + 1 : most_nodes[domain.dimension]);
      return n;
    }

    std::vector<dealii::Point<3>> points_of_box(const Domain &domain, const std::vector<unsigned int> &n)
    {
      std::vector<dealii::Point<3>> points;
      std::vector<unsigned int>     i(n.size(), 0);
      for (std::size_t d = 0; d < n.size();)
        {
          points.emplace_back();
          for (std::size_t e = 0; e < n.size(); ++e)
            points.back()[e] = domain.lower[e] + domain.lengths[e] * i[e] / (n[e] - 1);
          for (d = 0; d < n.size() && ++i[d] == n[d]; ++d)
            i[d] = 0;
        }
      return points;
    }

    std::vector<dealii::Point<3>> points_around(const Domain &domain)
    {
      std::mt19937_64                        generator(1);
      std::uniform_real_distribution<double> uniform(0., 1.);
      std::vector<dealii::Point<3>>          points(20000);
      for (auto &point : points)
        for (std::size_t d = 0; d < domain.lower.size(); ++d)
          point[d] = domain.lower[d] + (domain.upper[d] - domain.lower[d]) * uniform(generator);
      return points;
    }

    /** What the initial values do not have in common, over all fields. */
    struct Start
    {
      bool   is_zero = true, is_homogeneous = true;
      double contrast = 0.; ///< largest deviation of a field from its mean over its largest value here or in the steady state
    };

    Start look_at(const std::vector<std::vector<double>> &fields, const std::vector<double> &steady_state)
    {
      Start start;
      for (std::size_t c = 0; c < fields.size(); ++c)
        {
          const auto [low, high] = std::minmax_element(fields[c].begin(), fields[c].end());
          const double largest   = std::max(std::abs(*low), std::abs(*high));
          start.is_zero          = start.is_zero && largest == 0.;
          // no solver has been at work here, so that less than left_by_solvers is a disturbance
          constexpr double rounding = 1e-14;
          start.is_homogeneous      = start.is_homogeneous && *high - *low <= rounding * largest;
          if (const double scale = std::max(largest, steady_state.empty() ? 0. : std::abs(steady_state[c])); scale > 0.)
            start.contrast = std::max(start.contrast, (*high - *low) / scale);
        }
      return start;
    }

    std::string homogeneous_start(const Parameters &parameters, const Start &start)
    {
      const std::string amplitude = parameters.value("Turing/Perturbation");
      std::string       text      = "all fields begin with the same value everywhere, and a pattern could grow from rounding and solver errors only";
      if (start.is_zero && amplitude != "0")
        text += "; 'Turing/Perturbation' = " + amplitude + " is relative to the initial values, which are zero";
      return text + "\n  to try: 'Turing/Start from steady state' = true with 'Turing/Perturbation' = 0.02, or initial values that depend on x";
    }

    /** Empty if the disturbance has a part in the band. */
    std::string start_outside_band(const Domain                           &domain,
                                   const Forecast                         &forecast,
                                   const std::vector<unsigned int>        &n,
                                   const std::vector<std::vector<double>> &fields)
    {
      CosineSpectrum         spectrum(n, domain.lengths, domain.periodic);
      CosineSpectrum::Energy sums;
      double                 strongest = 0., most = -1.;
      for (const auto &field : fields)
        {
          spectrum.set_values(field.data());
          const auto energy = spectrum.energy_in(forecast.bands);
          sums.total += energy.total;
          sums.inside += energy.inside;
          if (energy.total <= most)
            continue;
          most = energy.total;
          spectrum.set_values(field.data());
          strongest = spectrum.dominant_wave_number();
        }
      // a pattern still grows from an amplitude of 1e-5 of the disturbance in a few growth times
      if (sums.inside > 1e-10 * sums.total)
        return "";
      std::string band;
      for (const auto &[low, high] : forecast.bands)
        band += (band.empty() ? "" : ", ") + format("%.5g < k < %.5g", low, high);
      return format("the initial disturbance, strongest at the wave number k = %.4g, has no part in the unstable band (", strongest) + band +
             "): it decays, and a pattern could grow from rounding and solver errors only\n  to try: 'Turing/Perturbation' = 0.02, which is random "
             "and has all "
             "wave numbers" +
             (forecast.wavelength > 0. ? format(", or a disturbance of the wavelength %.4g", forecast.wavelength) : "");
    }

    std::string poor_mesh(const Parameters &parameters, const Domain &domain, const Forecast &forecast)
    {
      if (parameters.verification.refinements > 0 || parameters.mesh.adaptive || !(domain.n_cells > 0.))
        return "";
      const std::string entry = "'Mesh/Global refinements' = ";
      const double      h =
        domain.cell_size / parameters.discretization.degree *
        std::max({1., parameters.growth.length(0.), parameters.problem->time_dependent() ? parameters.growth.length(parameters.time.end_time) : 1.});
      const double nodes    = forecast.wavelength / h;
      const bool   one_cell = domain.n_cells == 1.;
      if (!one_cell && !(forecast.wavelength > 0. && nodes < nodes_a_wavelength))
        return "";
      const unsigned int more  = forecast.wavelength > 0. ? std::max(1., std::ceil(std::log2(nodes_a_wavelength / nodes) - 1e-9)) : 6;
      const unsigned int finer = parameters.mesh.global_refinements + more;
      const std::string  to_try =
        "\n  to try: " + (finer <= 20 ? entry + std::to_string(finer) + ", where it is " + std::to_string(parameters.mesh.global_refinements) + " now"
                                      : "a smaller domain, or a smaller reaction ('Turing/gamma'), for a pattern that a mesh can show");
      if (one_cell)
        return "the mesh is one cell" + to_try;
      return format("the mesh has %.2g nodes a wavelength of the expected pattern; below %g its wavelength and form are those of the mesh",
                    nodes,
                    nodes_a_wavelength) +
             to_try;
    }

    /**
     * Rounding of K u, 4 D / h^2 eps of u a unit of time: nothing beside reactions, unless cells are extremely short in
     * a direction.
     */
    std::string short_cells(const Parameters &parameters, const Domain &domain)
    {
      constexpr double bearable = 1e-2;
      const Problem   &problem  = *parameters.problem;
      if (!problem.time_dependent() || domain.lengths.empty() || domain.cells.size() != domain.lengths.size())
        return "";
      double                 rate = 0., shortest = std::numeric_limits<double>::infinity(), diffusion = 0.;
      const dealii::Point<3> lower(domain.lower[0], domain.lower[1], domain.lower.size() > 2 ? domain.lower[2] : 0.);
      for (std::size_t d = 0; d < domain.lengths.size(); ++d)
        {
          const double h = domain.lengths[d] / (domain.cells[d] * parameters.discretization.degree);
          rate += 4. / (h * h);
          shortest = std::min(shortest, h);
        }
      for (unsigned int c = 0; c < problem.fields().size(); ++c)
        if (problem.diffusion_tensor(c) == nullptr)
          diffusion = std::max(diffusion, problem.diffusion(c, lower));
      const double change = std::numeric_limits<double>::epsilon() * diffusion * rate * parameters.time.end_time;
      if (!(change > bearable))
        return "";
      return format("cells are so short, %.2g, that rounding of the diffusion terms may change fields by %.2g of their size until the end, with "
                    "every solver",
                    shortest,
                    change) +
             "\n  to try: a domain with one dimension less where it is thin, or fewer cells in that direction";
    }

    std::string long_cells(const Parameters &parameters)
    {
      constexpr double              bearable = 6.; // where multigrid by itself needs some 40 cycles, and as preconditioner 15
      const LinearSolverParameters &solver   = parameters.linear_solver;
      const double                  ratio    = parameters.mesh.edge_ratio(parameters.dimension);
      if (parameters.problem->time_dependent() || !solver.uses_multigrid() || solver.automatic || ratio <= bearable)
        return "";
      return format("the cells' edges are %.3g : 1, and multigrid, which halves the cells in all directions, gets slower with that", ratio) +
             "\n  to try: 'Linear solver/Method' = automatic, or other 'Mesh/Cells'";
    }

    /** The largest |u| of an expression at these points. */
    double size_of(const Expression &expression, const std::vector<dealii::Point<3>> &points, double t)
    {
      double largest = 0.;
      for (const auto &point : points)
        if (const double value = std::abs(expression.value(point, t)); std::isfinite(value))
          largest = std::max(largest, value);
      return largest;
    }

    /**
     * Where a solution is known, the run should begin with it; its sources follow from it by themselves, initial values
     * do not. Deviations are looked at against the field's own size.
     */
    std::string other_start(const Problem &problem, const std::vector<dealii::Point<3>> &points, double end_time)
    {
      for (unsigned int c = 0; c < problem.exact_solution.size(); ++c)
        {
          const Expression &solution = problem.exact_solution[c];
          const double      later    = std::max(size_of(solution, points, 0.5 * end_time), size_of(solution, points, end_time));
          const double      rounding = 1e-12 * later, allowed = 1e-6 * size_of(solution, points, 0.) + rounding;
          for (const auto &point : points)
            {
              const double start = problem.initial_value(c, point), exact = solution.value(point, 0.);
              if (std::isfinite(exact) && !(std::abs(start - exact) <= allowed))
                return "the run does not begin with the exact solution: " + problem.fields()[c] +
                       format(" is %.6g at (%g, %g, %g), and that is %.6g; the error stays what it is at time zero, on every mesh",
                              start,
                              point[0],
                              point[1],
                              point[2],
                              exact) +
                       "\n  to try: the exact solution at t = 0 as initial value";
            }
        }
      return "";
    }
  } // namespace

  std::string note_on_changes_in_time(const Parameters &parameters)
  {
    const Problem                 &problem = *parameters.problem;
    const TimeParameters          &time    = parameters.time;
    const std::vector<std::string> of_time = problem.entries_with_time();
    if (!problem.time_dependent() || !time.adaptive() || time.stepping.largest_step < time.end_time || !problem.exact_solution.empty() ||
        of_time.empty())
      return "";
    return "'" + of_time[0] + "'" + (of_time.size() > 1 ? " and " + std::to_string(of_time.size() - 1) + " more" : "") +
           (of_time.size() > 1 ? " depend" : " depends") +
           " on t: changes in time that are shorter than the steps, such as a pulse between two of them, are not seen\n  to try: 'Time "
           "stepping/Largest step' below the shortest of them, where there are any";
  }

  std::vector<std::string> start_warnings(const Parameters &parameters, const Domain &domain, const Forecast &forecast, bool starts_anew)
  {
    std::vector<std::string> warnings;
    const Problem           &problem = *parameters.problem;
    if (const std::string text = poor_mesh(parameters, domain, forecast); !text.empty())
      warnings.push_back(text);
    if (const std::string text = long_cells(parameters); !text.empty())
      warnings.push_back(text);
    if (const std::string text = short_cells(parameters, domain); !text.empty())
      warnings.push_back(text);
    const bool                      is_box = !domain.lengths.empty();
    const std::vector<unsigned int> n      = nodes_of_box(domain, parameters.discretization.degree);
    const auto                      points = is_box ? points_of_box(domain, n) : points_around(domain);
    if (starts_anew && problem.initial_from.empty() && problem.time_dependent() && !parameters.mesh.is_surface())
      if (const std::string text = other_start(problem, points, parameters.time.end_time); !text.empty())
        warnings.push_back(text);
    const bool has_sources = std::any_of(problem.source.begin(), problem.source.end(), [](const Expression &s) { return !s.is_zero(); });
    if (!starts_anew || !problem.initial_from.empty() || !problem.time_dependent() || !problem.has_reaction() || has_sources ||
        !problem.exact_solution.empty() || domain.n_cells == 1. || problem.has_noise()) // from which patterns grow
      return warnings;

    std::vector<std::vector<double>> fields(problem.fields().size());
    for (unsigned int c = 0; c < fields.size(); ++c)
      for (const auto &point : points)
        fields[c].push_back(problem.initial_value(c, point));
    const Start start = look_at(fields, problem.steady_state());
    if (start.is_homogeneous)
      warnings.push_back(homogeneous_start(parameters, start));
    else if (is_box && forecast.pattern && start.contrast < 0.3 &&     // the linear theory speaks of small disturbances
             std::stod(parameters.value("Turing/Perturbation")) == 0.) // a random one has all wave numbers that the mesh has
      if (const std::string text = start_outside_band(domain, forecast, n, fields); !text.empty())
        warnings.push_back(text);
    return warnings;
  }
} // namespace leopard
