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

  /** The largest absolute value of all fields. @param measures of append_field_measures(). */
  double largest_of_all(const std::vector<double> &measures);

  /** Of the range of a field over its largest absolute value: up to here it is what solvers leave. Dimensionless. */
  constexpr double left_by_solvers = 1e-10;
  /**
   * Likewise: up to here what the field has is no pattern, but what is left of a disturbance, or not yet grown of it.
   */
  constexpr double least_pattern = 1e-2;

  /**
   * Whether a field is the same everywhere: its range is not above the part `of_itself` of its largest absolute value,
   * left_by_solvers or least_pattern, or it is rounding of other fields, 1e-12 of `scale`. Also where one of the
   * numbers is none.
   * @param scale largest_of_all().
   */
  bool is_homogeneous(double minimum, double maximum, double scale, double of_itself);
} // namespace leopard
