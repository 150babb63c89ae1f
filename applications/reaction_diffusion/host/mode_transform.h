// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <applications/reaction_diffusion/grid/node_grid.h>
#include <solvers/base/thread_pool.h>

#include <memory>
#include <vector>

namespace leopard::reaction_diffusion
{
  /**
   * Fields on a grid from and to the modes of its Laplacian (line_modes.h), by discrete cosine transforms of the first
   * kind (FFTW, REDFT00), in a periodic direction by real Fourier transforms (R2HC). Host memory; mode k is where node
   * i = k is, up to a factor. O(n log n) operations, on all threads.
   */
  class ModeTransform
  {
  public:
    static constexpr long nodes_a_part = 4000; ///< at least: a thread is hardly woken for less

    ModeTransform(const NodeGrid &grid, std::shared_ptr<ThreadPool> pool);
    ~ModeTransform();
    ModeTransform(const ModeTransform &)            = delete;
    ModeTransform &operator=(const ModeTransform &) = delete;

    /** In place. @param f n_fields fields, one after the other. */
    void to_modes(double *f, int n_fields) const;
    void from_modes(double *f, int n_fields) const;

    const std::vector<double> eigenvalue; ///< of -laplace, of each mode; 1 / length^2

  private:
    class Lines;

    void transform(double *f, int n_fields, bool back) const;

    const std::shared_ptr<ThreadPool>   pool;
    const double                        normalization; ///< two transforms multiply with its inverse
    std::vector<std::unique_ptr<Lines>> lines;         ///< of each direction
  };
} // namespace leopard::reaction_diffusion
