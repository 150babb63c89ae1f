// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "outer_system.h"

#include <cstddef>

namespace leopard
{
  /** max_i sum_j |s_i a_ij s_j|; all s_i = 1 where scale is empty. */
  double largest_row_sum(const CrsMatrix<double> &A, const std::vector<double> &scale);
  double largest_row_sum(const Stencil<double> &A);

  /** @throws InvalidInput if A has other numbers of rows and entries. */
  void require_pattern(const CrsMatrix<double> &A, int n_rows, std::size_t n_entries);

  /** On host threads; A has been checked. */
  template <typename Number>
  std::unique_ptr<OuterSystem<Number>> make_host_system(const CrsMatrix<double> &A, const std::vector<double> &scale, int n_threads);
  template <typename Number>
  std::unique_ptr<OuterSystem<Number>> make_host_system(const Stencil<double> &A, double weight, int n_threads);

  /** On the device. @throws DeviceError. */
  template <typename Number>
  std::unique_ptr<MixedVectors<Number>> make_cuda_vectors(int n, double weight);

  /** On the device; A has been checked. @throws DeviceError. */
  template <typename Number>
  std::unique_ptr<OuterSystem<Number>> make_cuda_system(const CrsMatrix<double> &A, const std::vector<double> &scale);
  template <typename Number>
  std::unique_ptr<OuterSystem<Number>> make_cuda_system(const Stencil<double> &A, double weight);
} // namespace leopard
