// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../matrix/crs_matrix.h"
#include "../matrix/stencil.h"
#include "mixed_vectors.h"

#include <memory>
#include <vector>

namespace leopard
{
  /**
   * A x = b in double precision, as an iterative refinement needs it, whose corrections are Numbers: with S of the
   * ScaledMatrix that they are for, or with a weight.
   */
  template <typename Number>
  class OuterSystem : public MixedVectors<Number>
  {
  public:
    /** The largest row sums of |A| and of |S A S|, for backward errors. */
    virtual double norm_of_matrix() const        = 0;
    virtual double norm_of_scaled_matrix() const = 0;

    /** low = fl(factor S (b - A x)); waits for it. @param unit, factor powers of two. */
    virtual RoundedNorms residual(Number *low, const double *x, const double *b, double unit, double factor) = 0;

    /** A correction c of an equation that was multiplied with `factor`; entries that are not finite are left out. */
    struct Correction
    {
      const Number *c;
      double        factor;
    };
    /**
     * to = x + S c / factor (weight c / factor for a stencil), and residual(low, to, ...) in the same pass where that
     * saves time. @param to, low neither x nor c.
     */
    virtual RoundedNorms
    corrected_residual(Number *low, double *to, const double *x, const Correction &correction, const double *b, double unit, double factor) = 0;

    /**
     * From now on vectors of Numbers are in another order: entry i is the row order[i], in memory_space(), where the
     * caller keeps it. @return whether it can do that.
     */
    virtual bool take_order(const int * /*order*/) { return false; }

    /** Takes a matrix of the same pattern with other values. @throws InvalidInput, as stencils always do. */
    virtual void update_values(const CrsMatrix<double> &A, const std::vector<double> &scale);
  };

  /**
   * @param A square; copied. @param scale that of the ScaledMatrix. @param n_threads host. @throws InvalidInput,
   * DeviceError.
   */
  template <typename Number>
  std::unique_ptr<OuterSystem<Number>>
  make_outer_system(const CrsMatrix<double> &A, const std::vector<double> &scale, Backend backend, int n_threads = 0);

  /**
   * Nothing is stored. @param weight corrections are those of weight A: then S^2 is the weight. @throws InvalidInput,
   * DeviceError.
   */
  template <typename Number>
  std::unique_ptr<OuterSystem<Number>> make_outer_system(const Stencil<double> &A, double weight, Backend backend, int n_threads = 0);
} // namespace leopard
