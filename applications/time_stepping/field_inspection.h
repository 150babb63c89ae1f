// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <solvers/dealii/trilinos_matrix.h>

#include <vector>

namespace leopard
{
  /** What a look at all entries of interleaved fields finds. */
  struct FieldInspection
  {
    bool                finite  = true;
    double              largest = 0.; ///< |u| of all fields
    std::vector<double> minimum;      ///< of each field
    std::vector<double> size;         ///< largest |u_c| of each field

    /**
     * A field with entries below zero by more than 1e-8 of its size, which a linear solver does not cause; -1: none.
     */
    int negative_field() const;
  };

  /** Collective. */
  FieldInspection inspect(const HostVector &u, unsigned int n_fields);

  /** Sets negative entries to zero. @return how many there were. Collective. */
  unsigned long long clip_negative_values(HostVector &u);
} // namespace leopard
