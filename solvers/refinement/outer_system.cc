// SPDX-License-Identifier: Apache-2.0
#include "../base/errors.h"
#include "outer_engine.h"

#include <algorithm>
#include <cmath>

namespace leopard
{
  void require_pattern(const CrsMatrix<double> &A, int n_rows, std::size_t n_entries)
  {
    if (A.n_rows != n_rows || A.values.size() != n_entries)
      throw InvalidInput("refinement: new values are given for " + std::to_string(A.n_rows) + " rows and " + std::to_string(A.values.size()) +
                         " entries\n  expected: the pattern of the first matrix, " + std::to_string(n_rows) + " rows and " +
                         std::to_string(n_entries) + " entries");
  }

  template <typename Number>
  void OuterSystem<Number>::update_values(const CrsMatrix<double> & /*A*/, const std::vector<double> & /*scale*/)
  {
    throw InvalidInput("refinement: a stencil has no stored values to change\n  expected: a stored matrix, or a new system");
  }

  double largest_row_sum(const CrsMatrix<double> &A, const std::vector<double> &scale)
  {
    double largest = 0.;
    for (int i = 0; i < A.n_rows; ++i)
      {
        double sum = 0.;
        for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
          sum += std::abs(scale.empty() ? A.values[p] : scale[i] * A.values[p] * scale[A.columns[p]]);
        largest = std::max(largest, sum);
      }
    return largest;
  }

  double largest_row_sum(const Stencil<double> &A)
  {
    double diagonal = A.diagonal.empty() ? std::abs(A.coefficient(0, 0, 0)) : 0., others = -std::abs(A.coefficient(0, 0, 0));
    for (const double value : A.diagonal)
      diagonal = std::max(diagonal, std::abs(value));
    const int reach = A.n_z > 1 ? 1 : 0;
    for (int dz = -reach; dz <= reach; ++dz)
      for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx)
          others += std::abs(A.coefficient(dx, dy, dz));
    return diagonal + others;
  }

  template <typename Number>
  std::unique_ptr<OuterSystem<Number>> make_outer_system(const CrsMatrix<double> &A, const std::vector<double> &scale, Backend backend, int n_threads)
  {
    A.validate();
    if (backend == Backend::cuda)
      return make_cuda_system<Number>(A, scale);
    return make_host_system<Number>(A, scale, backend == Backend::reference ? 1 : n_threads);
  }

  template <typename Number>
  std::unique_ptr<OuterSystem<Number>> make_outer_system(const Stencil<double> &A, double weight, Backend backend, int n_threads)
  {
    A.validate();
    if (A.is_slab())
      throw InvalidInput("refinement: the stencil is that of a slab\n  expected: the whole grid, on one rank");
    if (backend == Backend::cuda)
      return make_cuda_system<Number>(A, weight);
    return make_host_system<Number>(A, weight, backend == Backend::reference ? 1 : n_threads);
  }

#define INSTANTIATE(Number)                                                                        \
  template class OuterSystem<Number>;                                                              \
  template std::unique_ptr<OuterSystem<Number>> make_outer_system(                                 \
    const CrsMatrix<double> &A, const std::vector<double> &scale, Backend backend, int n_threads); \
  template std::unique_ptr<OuterSystem<Number>> make_outer_system(const Stencil<double> &A, double weight, Backend backend, int n_threads);
  LEOPARD_FOR_EACH_NUMBER(INSTANTIATE)
#undef INSTANTIATE
} // namespace leopard
