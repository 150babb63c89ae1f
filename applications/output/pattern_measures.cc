// SPDX-License-Identifier: Apache-2.0
#include "pattern_measures.h"

#include "field_measures.h"

#include <applications/base/log.h>
#include <applications/discretization/periodic_boundary.h>
#include <applications/discretization/uniform_grid.h>
#include <applications/symbolic/differentiate.h>
#include <solvers/base/errors.h>
#include <solvers/base/norms.h>

#include <deal.II/base/mpi.h>
#include <deal.II/base/parameter_handler.h>
#include <deal.II/dofs/dof_tools.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_map>

namespace leopard
{
  using namespace dealii;

  void PatternMeasureParameters::declare(ParameterHandler &prm)
  {
    prm.enter_subsection("Output");
    prm.declare_entry("Spot threshold",
                      "automatic",
                      Patterns::Anything(),
                      "Value of the field with the pattern (the first one; of Gray-Scott v) above which a spot is counted in the statistics: a "
                      "number, or automatic (half way between mean and "
                      "maximum). Dimensionless.");
    prm.leave_subsection();
  }

  void PatternMeasureParameters::read(ParameterHandler &prm)
  {
    prm.enter_subsection("Output");
    const std::string text = prm.get("Spot threshold");
    prm.leave_subsection();
    spot_threshold.reset();
    if (text == "automatic")
      return;
    try
      {
        spot_threshold = value_of({"Output/Spot threshold", text});
      }
    catch (const Error &)
      {
        throw Error("'Output/Spot threshold' is '" + text + "'\n  expected: a number, or automatic");
      }
  }

  namespace
  {
    /** Sets that are joined, with path halving. */
    class DisjointSets
    {
    public:
      explicit DisjointSets(std::size_t n)
        : parent(n)
      {
        std::iota(parent.begin(), parent.end(), 0);
      }

      int find(int i)
      {
        while (parent[i] != i)
          i = parent[i] = parent[parent[i]];
        return i;
      }

      /** @return whether they were two sets. */
      bool join(int i, int j)
      {
        i         = find(i);
        j         = find(j);
        parent[i] = j;
        return i != j;
      }

    private:
      std::vector<int> parent;
    };

    /** How many of n_parts components remain when the pairs, gathered on rank 0, are joined. Collective. */
    unsigned long long
    components_after_joining(unsigned long long n_parts, const std::vector<std::pair<unsigned long long, unsigned long long>> &pairs, MPI_Comm comm)
    {
      const auto all = Utilities::MPI::gather(comm, pairs);
      if (Utilities::MPI::this_mpi_process(comm) == 0)
        {
          std::unordered_map<unsigned long long, int> number;
          for (const auto &of_rank : all)
            for (const auto &[a, b] : of_rank)
              {
                number.emplace(a, number.size());
                number.emplace(b, number.size());
              }
          DisjointSets sets(number.size());
          for (const auto &of_rank : all)
            for (const auto &[a, b] : of_rank)
              n_parts -= sets.join(number[a], number[b]) ? 1 : 0;
        }
      return Utilities::MPI::broadcast(comm, n_parts);
    }
  } // namespace

  template <int dim, int spacedim>
  PatternMeasures<dim, spacedim>::PatternMeasures(const Discretization<dim, spacedim> &discretization_,
                                                  const SemiDiscreteSystem            &system_,
                                                  const Problem                       &problem_,
                                                  const Growth                        &growth_,
                                                  const PatternMeasureParameters      &parameters_)
    : discretization(discretization_)
    , system(system_)
    , problem(problem_)
    , growth(growth_)
    , parameters(parameters_)
    , label(discretization.owned, discretization.comm)
    , label_with_ghosts(discretization.owned, discretization.relevant, discretization.comm)
    , own_values(discretization.owned.n_elements())
  {
    prepare_graph();
    prepare_spectrum();
  }

  template <int dim, int spacedim>
  void PatternMeasures<dim, spacedim>::prepare_graph()
  {
    std::vector<types::global_dof_index> dofs(discretization.dof_handler.get_fe().dofs_per_cell);
    for (const auto &cell : discretization.dof_handler.active_cell_iterators())
      if (cell->is_locally_owned())
        {
          cell->get_dof_indices(dofs);
          for (const auto dof : dofs)
            {
              const auto original = discretization.original(dof); // what lies beyond a periodic boundary is the same node
              cell_nodes.push_back(
                static_cast<int>(discretization.relevant.index_within_set(discretization.relevant.is_element(original) ? original : dof)));
            }
        }
  }

  template <int dim, int spacedim>
  void PatternMeasures<dim, spacedim>::prepare_spectrum()
  {
    UniformGrid grid;
    if constexpr (dim == spacedim)
      grid = find_uniform_grid(discretization);
    uniform = dim == spacedim && grid.found;
    if (!uniform)
      return;
    const MPI_Comm            comm = discretization.comm;
    std::vector<unsigned int> n_nodes(grid.grid.n.begin(), grid.grid.n.begin() + dim);
    std::vector<double>       lengths(dim);
    for (int d = 0; d < dim; ++d)
      lengths[d] = (n_nodes[d] - 1) * grid.grid.spacing[d];
    const std::vector<int> own_index(grid.nodes.begin(), grid.nodes.end());
    for (const auto &of_rank : Utilities::MPI::gather(comm, own_index))
      {
        offsets.push_back(static_cast<int>(grid_index.size()));
        counts.push_back(static_cast<int>(of_rank.size()));
        grid_index.insert(grid_index.end(), of_rank.begin(), of_rank.end());
      }
    all_values.resize(grid_index.size());
    grid_values.resize(grid_index.size());
    if (Utilities::MPI::this_mpi_process(comm) == 0)
      spectrum = std::make_unique<CosineSpectrum>(n_nodes, lengths, discretization.periodic_directions());
  }

  template <int dim, int spacedim>
  std::vector<std::string> PatternMeasures<dim, spacedim>::columns() const
  {
    std::vector<std::string> names;
    const auto               fields = problem.fields();
    for (const std::string &name : fields)
      for (const char *measure : {"minimum of ", "maximum of ", "mean of "})
        names.push_back(measure + name + " (dimensionless)");
    for (const std::string &name : fields)
      names.push_back("total mass of " + name + " (dimensionless)");
    names.emplace_back(problem.steady_state().empty()
                         ? "distance to a homogeneous state (root mean square of the fields less their means, dimensionless)"
                         : "distance to the homogeneous steady state (root mean square, dimensionless)");
    const std::string &field_name = fields[problem.pattern_field()];
    names.push_back("number of spots of " + field_name + " (connected parts of the mesh where it is above " +
                    (parameters.spot_threshold ? format("%g", *parameters.spot_threshold) : "the middle of mean and maximum") + ")");
    names.push_back("dominant wave number of " + field_name +
                    (uniform ? std::string(" (strongest shell of its ") +
                                 (names_of_directions(discretization.periodic_directions()).empty() ? "cosine " : "") + "spectrum"
                             : " (square root of the Rayleigh quotient of the mean-free field") +
                    ", dimensionless)");
    return names;
  }

  template <int dim, int spacedim>
  void PatternMeasures<dim, spacedim>::append(const HostVector &u, double time, std::vector<double> &row)
  {
    const unsigned int  n = discretization.n_components();
    std::vector<double> measures;
    append_field_measures(u, system.weight, n, measures);
    row.insert(row.end(), measures.begin(), measures.end());
    const auto maximum = [&](unsigned int c) { return measures[3 * c + 1]; };
    const auto mean    = [&](unsigned int c) { return measures[3 * c + 2]; };

    const std::vector<double> &steady = problem.steady_state();
    double                     volume = 0.;
    SafeNorm                   own_distance, distance; // squares of large fields overflow
    for (unsigned int i = 0; i < u.locally_owned_size(); ++i)
      {
        const double weight = system.weight.begin()[i], difference = u.begin()[i] - (steady.empty() ? mean(i % n) : steady[i % n]);
        volume += i % n == 0 ? weight : 0.;
        own_distance.add(std::sqrt(weight) * difference);
      }
    volume = Utilities::MPI::sum(volume, discretization.comm);
    for (const double of_rank : Utilities::MPI::all_gather(discretization.comm, own_distance.value()))
      distance.add(of_rank);
    for (unsigned int c = 0; c < n; ++c)
      row.push_back(mean(c) * volume * growth.volume(time));
    row.push_back(distance.value() / std::sqrt(volume));

    const unsigned int p = problem.pattern_field();
    discretization.extract_component(u, p, field);
    const bool constant = is_homogeneous(measures[3 * p], maximum(p), largest_of_all(measures), left_by_solvers);
    if (parameters.spot_threshold)
      row.push_back(static_cast<double>(count_spots(field, *parameters.spot_threshold)));
    else
      row.push_back(constant ? 0. : static_cast<double>(count_spots(field, 0.5 * (mean(p) + maximum(p)))));
    row.push_back(constant ? 0. : dominant_wave_number(u, mean(p)) / growth.length(time));
  }

  template <int dim, int spacedim>
  FoundPattern PatternMeasures<dim, spacedim>::find_pattern(const HostVector &u, double time)
  {
    const unsigned int  p = problem.pattern_field();
    std::vector<double> extremes;
    append_field_measures(u, system.weight, discretization.n_components(), extremes);
    FoundPattern found;
    found.field       = problem.fields()[p];
    found.dimension   = dim;
    found.time        = time;
    found.minimum     = extremes[3 * p];
    found.maximum     = extremes[3 * p + 1];
    const double mean = extremes[3 * p + 2];
    found.scale       = largest_of_all(extremes);
    for (unsigned int i = p; i < u.locally_owned_size(); i += discretization.n_components())
      found.measure += system.weight.begin()[i];
    found.measure = Utilities::MPI::sum(found.measure, discretization.comm) * growth.volume(time);
    if (found.is_homogeneous())
      return found;
    discretization.extract_component(u, p, field);
    double     lowest = found.maximum, highest = found.minimum; // on the boundary
    const auto ids = boundary_ids(discretization.triangulation);
    for (const auto dof : ids.empty() ? IndexSet() : DoFTools::extract_boundary_dofs(discretization.dof_handler, ComponentMask(), ids))
      if (discretization.relevant.is_element(dof))
        {
          const double value = field.begin()[discretization.relevant.index_within_set(dof)];
          lowest             = std::min(lowest, value);
          highest            = std::max(highest, value);
        }
    lowest                 = Utilities::MPI::min(lowest, discretization.comm);
    highest                = Utilities::MPI::max(highest, discretization.comm);
    const bool is_closed   = lowest > highest; // a surface without boundary, a domain that is periodic in all directions
    found.reaches_boundary = is_closed || highest - lowest > 0.01 * (found.maximum - found.minimum);
    found.n_spots          = count_spots(field, parameters.spot_threshold.value_or(0.5 * (mean + found.maximum)));
    found.n_holes          = count_spots(field, 0.5 * (mean + found.minimum), true);
    found.wavelength       = 2. * numbers::PI * growth.length(time) / dominant_wave_number(u, mean);
    found.by_quotient      = !uniform;
    return found;
  }

  template <int dim, int spacedim>
  unsigned long long PatternMeasures<dim, spacedim>::count_spots(const HostVector &values, double threshold, bool below)
  {
    const MPI_Comm     comm         = discretization.comm;
    const IndexSet    &relevant     = discretization.relevant;
    const double      *value        = values.begin();
    const unsigned int nodes_a_cell = discretization.dof_handler.get_fe().dofs_per_cell;
    DisjointSets       sets(relevant.n_elements());
    std::vector<int>   component(relevant.n_elements(), -1); // of the roots, then of all nodes above the threshold of the own cells
    for (std::size_t cell = 0; cell < cell_nodes.size(); cell += nodes_a_cell)
      for (unsigned int i = 0, first = nodes_a_cell; i < nodes_a_cell; ++i)
        if (const int node = cell_nodes[cell + i]; below ? value[node] < threshold : value[node] > threshold)
          {
            component[node] = 0;
            if (first == nodes_a_cell)
              first = i;
            sets.join(node, cell_nodes[cell + first]);
          }
    std::vector<int> number_of_root(relevant.n_elements(), -1);
    int              n_local = 0;
    for (std::size_t node = 0; node < component.size(); ++node)
      if (component[node] == 0)
        {
          int &number = number_of_root[sets.find(static_cast<int>(node))];
          if (number < 0)
            number = n_local++;
          component[node] = number;
        }

    // components are numbered through the ranks; the owner of a node that two ranks share tells its number
    const auto         n_parts      = Utilities::MPI::sum(static_cast<unsigned long long>(n_local), comm);
    unsigned long long first_number = 0, n_own_parts = n_local;
    MPI_Exscan(&n_own_parts, &first_number, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, comm);
    unsigned int own = 0;
    for (const auto dof : discretization.owned)
      {
        const int c          = component[relevant.index_within_set(dof)];
        label.begin()[own++] = c < 0 ? -1. : static_cast<double>(first_number + c);
      }
    label_with_ghosts = label;
    std::vector<std::pair<unsigned long long, unsigned long long>> pairs;
    std::size_t                                                    node = 0;
    for (const auto dof : relevant)
      {
        if (component[node] >= 0 && !discretization.owned.is_element(dof))
          pairs.emplace_back(first_number + component[node], static_cast<unsigned long long>(label_with_ghosts.begin()[node]));
        ++node;
      }
    return components_after_joining(n_parts, pairs, comm);
  }

  template <int dim, int spacedim>
  double PatternMeasures<dim, spacedim>::dominant_wave_number(const HostVector &u, double mean)
  {
    const unsigned int n    = discretization.n_components();
    const unsigned int p    = problem.pattern_field();
    const MPI_Comm     comm = discretization.comm;
    if (uniform)
      {
        for (std::size_t i = 0; i < own_values.size(); ++i)
          own_values[i] = u.begin()[n * i + p];
        MPI_Gatherv(
          own_values.data(), static_cast<int>(own_values.size()), MPI_DOUBLE, all_values.data(), counts.data(), offsets.data(), MPI_DOUBLE, 0, comm);
        double wave_number = 0.;
        if (spectrum != nullptr)
          {
            for (std::size_t i = 0; i < all_values.size(); ++i)
              grid_values[grid_index[i]] = all_values[i];
            spectrum->set_values(grid_values.data());
            wave_number = spectrum->dominant_wave_number();
          }
        return Utilities::MPI::broadcast(comm, wave_number);
      }

    double mass = 0.;
    for (unsigned int i = p; i < u.locally_owned_size(); i += n)
      mass += system.weight.begin()[i] * (u.begin()[i] - mean) * (u.begin()[i] - mean);
    mass = Utilities::MPI::sum(mass, comm);
    discretization.extract_component(u, p, field);
    return mass > 0. ? std::sqrt(discretization.gradient_energy(field) / mass) : 0.;
  }

  template class PatternMeasures<2>;
  template class PatternMeasures<3>;
  template class PatternMeasures<2, 3>;
} // namespace leopard
