// SPDX-License-Identifier: Apache-2.0
#include "field_inspection.h"

#include <deal.II/base/mpi.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace leopard
{
  using namespace dealii;

  int FieldInspection::negative_field() const
  {
    int worst = -1;
    for (unsigned int c = 0; c < minimum.size(); ++c)
      if (is_negative(c) && (worst < 0 || minimum[c] * size[worst] < minimum[worst] * size[c]))
        worst = static_cast<int>(c);
    return worst;
  }

  FieldInspection inspect(const HostVector &u, unsigned int n_fields)
  {
    // one reduction: the largest of -u_c, of u_c, and of a flag
    std::vector<double> largest(2 * n_fields + 1, std::numeric_limits<double>::lowest());
    bool                finite = true;
    for (unsigned int i = 0; i < u.locally_owned_size(); i += n_fields)
      for (unsigned int c = 0; c < n_fields; ++c)
        {
          const double value    = u.begin()[i + c];
          largest[c]            = std::max(largest[c], -value);
          largest[n_fields + c] = std::max(largest[n_fields + c], value);
          finite                = finite && std::isfinite(value);
        }
    largest.back() = finite ? 0. : 1.;
    std::vector<double> of_all(largest.size());
    Utilities::MPI::max(largest, u.get_mpi_communicator(), of_all);

    FieldInspection result;
    result.finite = of_all.back() == 0.;
    for (unsigned int c = 0; c < n_fields; ++c)
      {
        result.minimum.push_back(-of_all[c]);
        result.maximum.push_back(of_all[n_fields + c]);
        result.size.push_back(std::max({of_all[c], of_all[n_fields + c], 0.})); // 0: there are no nodes
        result.largest = std::max(result.largest, result.size[c]);
      }
    return result;
  }

  unsigned long long clip_negative_values(HostVector &u)
  {
    unsigned long long n = 0;
    for (unsigned int i = 0; i < u.locally_owned_size(); ++i)
      if (u.begin()[i] < 0.)
        {
          u.begin()[i] = 0.;
          ++n;
        }
    return Utilities::MPI::sum(n, u.get_mpi_communicator());
  }
} // namespace leopard
