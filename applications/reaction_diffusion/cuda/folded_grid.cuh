// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <applications/reaction_diffusion/grid/node_grid.h>
#include <solvers/base/host_device.h>

#include <algorithm>
#include <vector>

namespace leopard::reaction_diffusion
{
  /**
   * Fields whose nodes are taken together with their mirror images: a line u_0 ... u_n-1 is kept as the even parts u_j
   * + u_n-1-j and behind them the odd parts u_j - u_n-1-j, j < (n + 1) / 2; the middle node of an odd n is its own
   * even part, and its odd part is zero. Modes 0, 2, 4, ... of a line are sums over even parts only, modes 1, 3, ...
   * over odd parts, so that a transform has half the operations. Modes stand likewise: of a line first the even ones.
   * In two dimensions four nodes belong together, in three eight. Even and odd parts have h places each, (n + 1) / 2
   * rounded up to a multiple of 4, for which cuBLAS is up to 1.5 times as fast; where there is no node or mode are
   * zeros. Periodic directions are not folded: lines are h = n values long, and modes in their order.
   */
  struct FoldedGrid
  {
    int  n[3];     ///< nodes
    int  pairs[3]; ///< nodes with their mirror images
    int  half[3];  ///< h; of z in two dimensions 1
    bool folds[3]; ///< whether a direction is folded

    explicit FoldedGrid(const NodeGrid &grid)
    {
      for (int d = 0; d < 3; ++d)
        {
          n[d]     = grid.n[d];
          folds[d] = n[d] > 1 && !grid.periodic[d];
          pairs[d] = folds[d] ? (n[d] + 1) / 2 : n[d];
          half[d]  = folds[d] ? (pairs[d] + 3) / 4 * 4 : n[d];
        }
    }

    bool is_flat() const { return n[2] == 1; }
    /** Values of a line. */
    LEOPARD_HOST_DEVICE int length(int d) const { return folds[d] ? 2 * half[d] : n[d]; }
    /** Values of a field. */
    LEOPARD_HOST_DEVICE long size() const { return static_cast<long>(length(0)) * length(1) * length(2); }
    /** Nodes with their mirror images. */
    LEOPARD_HOST_DEVICE long n_groups() const { return static_cast<long>(pairs[0]) * pairs[1] * pairs[2]; }

    /** Of the modes, as they stand; `none` where there is none. @param of_modes where mode k is where node i = k is. */
    std::vector<double> in_order(const std::vector<double> &of_modes, double none) const
    {
      std::vector<double> result(size(), none);
      for (long place = 0; place < size(); ++place)
        {
          const int p[3] = {
            static_cast<int>(place % length(0)), static_cast<int>(place / length(0) % length(1)), static_cast<int>(place / length(0) / length(1))};
          int  k[3];
          bool exists = true;
          for (int d = 0; d < 3; ++d)
            {
              k[d]   = !folds[d] ? p[d] : p[d] < half[d] ? 2 * p[d] : 2 * (p[d] - half[d]) + 1;
              exists = exists && k[d] < n[d];
            }
          if (exists)
            result[place] = of_modes[(static_cast<long>(k[2]) * n[1] + k[1]) * n[0] + k[0]];
        }
      return result;
    }
  };

  /** A node and its mirror images in dim directions. Bit d of a number s: of direction d the image, or the odd part. */
  template <int dim>
  struct NodeGroup
  {
    static constexpr int n_nodes = 1 << dim;

    const FoldedGrid &grid;
    int               j[3];

    /** @param index below grid.n_groups(). */
    __device__ NodeGroup(const FoldedGrid &grid_, long index)
      : grid(grid_)
      , j{static_cast<int>(index % grid_.pairs[0]),
          static_cast<int>(index / grid_.pairs[0] % grid_.pairs[1]),
          static_cast<int>(index / grid_.pairs[0] / grid_.pairs[1])}
    {
    }

    /** Whether the node is its own image. */
    __device__ bool is_alone(int d) const { return !grid.folds[d] || 2 * j[d] == grid.n[d] - 1; }
    /** Whether node s is there a second time, under another number. */
    __device__ bool is_copy(int s) const
    {
      for (int d = 0; d < dim; ++d)
        if ((s >> d & 1) != 0 && is_alone(d))
          return true;
      return false;
    }
    /** Whether part s has a place: odd parts of what is not folded have none. */
    __device__ bool has_place(int s) const
    {
      for (int d = 0; d < dim; ++d)
        if ((s >> d & 1) != 0 && !grid.folds[d])
          return false;
      return true;
    }
    /** The number of node s. */
    __device__ long node(int s) const
    {
      long result = 0;
      for (int d = dim - 1; d >= 0; --d)
        result = result * grid.n[d] + ((s >> d & 1) != 0 && grid.folds[d] ? grid.n[d] - 1 - j[d] : j[d]);
      return result;
    }
    /** Where part s, if it has a place, stands in a folded field. */
    __device__ long place(int s) const
    {
      long result = 0;
      for (int d = dim - 1; d >= 0; --d)
        result = result * grid.length(d) + ((s >> d & 1) != 0 ? grid.half[d] + j[d] : j[d]);
      return result;
    }

    /** Values at the nodes from half their even and odd parts (from_modes makes these); 0 where a part has no place. */
    __device__ void unfold(double (&v)[n_nodes]) const
    {
      for (int d = 0; d < dim; ++d)
        for (int s = 0; s < n_nodes; ++s)
          if ((s >> d & 1) == 0)
            {
              const double even = v[s], odd = v[s | 1 << d];
              v[s]          = even + odd;
              v[s | 1 << d] = even - odd;
            }
    }
    /** Even and odd parts from the values at the nodes. */
    __device__ void fold(double (&v)[n_nodes]) const
    {
      for (int d = 0; d < dim; ++d)
        for (int s = 0; s < n_nodes; ++s)
          if ((s >> d & 1) == 0)
            {
              const double node = v[s], image = v[s | 1 << d];
              v[s]          = is_alone(d) ? node : node + image;
              v[s | 1 << d] = is_alone(d) ? 0. : node - image;
            }
    }
  };
} // namespace leopard::reaction_diffusion
