// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <solvers/dealii/trilinos_matrix.h>

#include <vector>

namespace leopard
{
  /**
   * Appends minimum, maximum and mean of each of the interleaved fields of u to row. The mean is weighted by the lumped
   * mass, so that unknowns without one (constrained ones) do not count in it. Collective.
   */
  void append_field_measures(const HostVector &u, const HostVector &lumped_mass, unsigned int n_fields, std::vector<double> &row);
} // namespace leopard
