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
    std::vector<double> maximum;      ///< of each field
    std::vector<double> size;         ///< largest |u_c| of each field

    /** Whether a field has entries below zero by more than 1e-8 of its size, which a linear solver does not cause. */
    bool is_negative(unsigned int c) const { return minimum[c] < -1e-8 * size[c]; }
    /** Of such fields the one with the largest share below zero; -1: there is none. */
    int negative_field() const;
  };

  /** Collective. */
  FieldInspection inspect(const HostVector &u, unsigned int n_fields);

  /** Sets negative entries to zero. @return how many there were. Collective. */
  unsigned long long clip_negative_values(HostVector &u);
} // namespace leopard
