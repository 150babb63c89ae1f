// SPDX-License-Identifier: Apache-2.0
#include "own_range.h"

#include "../../matrix/crs_matrix.h"
#include "mpi_transport.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

namespace leopard
{
  int OwnRange::owner_of(int number) const
  {
    return static_cast<int>(std::upper_bound(offsets.begin(), offsets.end(), number) - offsets.begin()) - 1;
  }

  std::vector<int> OwnRange::counts() const
  {
    std::vector<int> result;
    for (int r = 0; r < n_ranks(); ++r)
      result.push_back(offsets[r + 1] - offsets[r]);
    return result;
  }

  OwnRange own_range(int n, MPI_Comm comm)
  {
    OwnRange result;
    result.rank = rank_in(comm);
    std::vector<int> counts(size_of(comm));
    MPI_Allgather(&n, 1, MPI_INT, counts.data(), 1, MPI_INT, comm);
    checked_count(std::accumulate(counts.begin(), counts.end(), 0.), "unknowns or entries of all ranks");
    result.offsets.assign(1, 0);
    for (const int count : counts)
      result.offsets.push_back(result.offsets.back() + count);
    return result;
  }

  void add_numbers(std::vector<int> &set, const std::vector<int> &numbers)
  {
    std::vector<int> both;
    std::set_union(set.begin(), set.end(), numbers.begin(), numbers.end(), std::back_inserter(both));
    set = std::move(both);
  }
} // namespace leopard
