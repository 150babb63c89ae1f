// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "blas.cuh"
#include "folded_grid.cuh"

#include <applications/reaction_diffusion/grid/line_modes.h>
#include <solvers/device/device_array.h>

#include <array>
#include <vector>

namespace leopard::reaction_diffusion
{
  /**
   * Folded fields (FoldedGrid) from and to the modes of the grid's Laplacian, as products with dense matrices for each
   * direction by cuBLAS: n operations a value and direction, which tensor cores do about as fast as the values are read
   * and written up to some hundred nodes a direction, for any number of nodes (Lynch, Rice, Thomas 1964, as in
   * MeanReaction). Device memory.
   */
  class DeviceModes
  {
  public:
    DeviceModes(const NodeGrid &nodes, int n_fields_)
      : grid(nodes)
      , n_fields(n_fields_)
      , eigenvalue(grid.in_order(mode_eigenvalues(nodes), -1.))
      , scratch(n_fields * grid.size())
    {
      for (int d = 0; d < (grid.is_flat() ? 2 : 3); ++d)
        {
          const LineModes whole(grid.n[d], nodes.periodic[d]);
          to[d]   = device::Array<double>(halves(d, whole.to_modes, true));
          from[d] = device::Array<double>(halves(d, whole.from_modes, false));
        }
    }

    /** Queued. @param f, result all fields, one after the other; not the same. */
    void to_modes(const double *f, double *result) const { transform(to, f, result); }
    /** The result are even and odd parts that unfold() takes. */
    void from_modes(const double *f, double *result) const { transform(from, f, result); }

    double *eigenvalues() const { return eigenvalue.data(); } ///< -1 where there is no mode

    const FoldedGrid grid;

  private:
    using Matrices = std::array<device::Array<double>, 3>;

    /** Planes of a direction's lines, in all fields: lines in x are the columns of one large matrix. */
    long long n_planes(int d) const { return d == 0 ? 1 : d == 1 ? static_cast<long long>(n_fields) * grid.length(2) : n_fields; }

    int n_parts(int d) const { return grid.folds[d] ? 2 : 1; }

    /**
     * The parts of a line's matrix that even and odd modes have, h x h by columns, or the whole one, for each plane of
     * the direction, since batches advance by equal distances. @param mode_is_row of the whole matrix, by columns.
     */
    std::vector<double> halves(int d, const std::vector<double> &whole, bool mode_is_row) const
    {
      const int           n = grid.n[d], h = grid.half[d], step = n_parts(d);
      std::vector<double> parts(static_cast<std::size_t>(step) * h * h, 0.), result;
      for (int odd = 0; odd < step; ++odd)
        for (int k = odd; k < n; k += step)
          for (int i = 0; i < (odd == 0 ? grid.pairs[d] : n / 2); ++i)
            {
              const int row = mode_is_row ? k / step : i, column = mode_is_row ? i : k / step;
              parts[(static_cast<std::size_t>(odd) * h + column) * h + row] =
                whole[mode_is_row ? static_cast<std::size_t>(i) * n + k : static_cast<std::size_t>(k) * n + i];
            }
      for (long long plane = 0; plane < n_planes(d); ++plane)
        result.insert(result.end(), parts.begin(), parts.end());
      return result;
    }

    void transform(const Matrices &matrices, const double *f, double *result) const
    {
      const bool flat = grid.is_flat();
      multiply(0, matrices[0].data(), f, flat ? scratch.data() : result);
      multiply(1, matrices[1].data(), flat ? scratch.data() : result, flat ? result : scratch.data());
      if (!flat)
        multiply(2, matrices[2].data(), scratch.data(), result);
    }

    void multiply(int d, const double *matrix, const double *f, double *result) const
    {
      const auto      gemm   = BlasLibrary::get().multiply;
      const auto      handle = BlasHandle::get();
      const double    one = 1., zero = 0.;
      const long long h = grid.half[d], square = h * h, length = grid.length(d), n_lines = n_fields * grid.size() / length;
      cublasStatus_t  status = CUBLAS_STATUS_SUCCESS;
      if (d == 0)
        status = gemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, h, n_lines, h, &one, matrix, h, square, f, length, h, &zero, result, length, h, n_parts(d));
      else // lines are rows
        {
          const long long n_rows = d == 1 ? grid.length(0) : static_cast<long long>(grid.length(0)) * grid.length(1);
          status                 = gemm(handle,
                        CUBLAS_OP_N,
                        CUBLAS_OP_T,
                        n_rows,
                        h,
                        h,
                        &one,
                        f,
                        n_rows,
                        n_rows * h,
                        matrix,
                        h,
                        square,
                        &zero,
                        result,
                        n_rows,
                        n_rows * h,
                        n_parts(d) * n_planes(d));
        }
      check_blas(status, "a product with modes");
    }

    const long long             n_fields;
    const device::Array<double> eigenvalue, scratch;
    Matrices                    to, from;
  };
} // namespace leopard::reaction_diffusion
