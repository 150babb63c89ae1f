// SPDX-License-Identifier: Apache-2.0
#include "field_measures.h"

#include <deal.II/base/mpi.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace leopard
{
  using namespace dealii;

  void append_field_measures(const HostVector &u, const HostVector &lumped_mass, unsigned int n_fields, std::vector<double> &row)
  {
    const MPI_Comm comm = u.get_mpi_communicator();
    for (unsigned int c = 0; c < n_fields; ++c)
      {
        double low = std::numeric_limits<double>::max(), high = -low, sum = 0., total_weight = 0.;
        for (unsigned int i = c; i < u.locally_owned_size(); i += n_fields)
          {
            const double value = u.begin()[i], weight = lumped_mass.begin()[i];
            low  = std::min(low, value);
            high = std::max(high, value);
            sum += weight * value;
            total_weight += weight;
          }
        row.push_back(Utilities::MPI::min(low, comm));
        row.push_back(Utilities::MPI::max(high, comm));
        row.push_back(Utilities::MPI::sum(sum, comm) / Utilities::MPI::sum(total_weight, comm));
      }
  }

  double largest_of_all(const std::vector<double> &measures)
  {
    double result = 0.;
    for (std::size_t c = 0; c < measures.size() / 3; ++c)
      result = std::max({result, std::abs(measures[3 * c]), std::abs(measures[3 * c + 1])});
    return result;
  }

  bool is_homogeneous(double minimum, double maximum, double scale, double of_itself)
  {
    constexpr double of_others = 1e-12;
    const double     range     = maximum - minimum;
    return !(range > of_itself * std::max(std::abs(minimum), std::abs(maximum)) && range > of_others * scale);
  }
} // namespace leopard
