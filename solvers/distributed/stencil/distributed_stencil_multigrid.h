// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../../multigrid/multigrid.h"
#include "slabs.h"

#include <mpi.h>

#include <memory>
#include <string>
#include <vector>

namespace leopard
{
  class Transport;

  struct DistributedStencilOptions
  {
    MultigridOptions multigrid; ///< smoothers: async, jacobi, damped-jacobi

    int  gather_below = 1 << 18; ///< unknowns: levels of at most so many are whole on each rank
    bool staged       = false;   ///< backend cuda: values travel through host memory and MPI, even where GPUs can write into one another's memory

    /**
     * Planes of the neighbours that every second smoothing iteration reaches into (SlabOverlap); 0: none. -1: half a
     * tile where tiles move (smoother_moves()), ghosts are waited for, and a smoothing step, one before and one after
     * the coarse correction, is an iteration, if each rank has a tile on each distributed level; else none. With an
     * overlap V(1,1) is the default, without one V(2,2) on several ranks: borders of slabs that stay leave errors
     * there. Needs the smoother async (on a GPU with tiles that move, and half a tile), and the like.
     */
    int overlap = -1;

    /** @throws InvalidInput naming the option, what was found and what is expected. */
    void validate() const;
  };

  /**
   * Geometric multigrid for A x = b with a stencil on several ranks, one GPU (or the host's threads) each; see
   * Multigrid, SlabPartition and SlabOperations. Vectors are the rank's planes [first_plane(), first_plane() +
   * n_own_planes()) of the grid, without ghosts, in multigrid().memory_space(). All functions of multigrid() are
   * collective; norms are those of all ranks.
   *
   * On the GPUs of one host kernels write ghost planes into the neighbours' memory (CUDA inter-process handles), and a
   * cycle is one CUDA graph a rank; where that is not possible they travel by MPI through host memory, and
   * description() says so and why.
   */
  class DistributedStencilMultigrid
  {
  public:
    /**
     * Collective.
     * @param whole the stencil on the grid of all ranks, with a constant diagonal. @param own_diagonal empty, or the
     * diagonal entries of the rank's rows (see rows()).
     * @param n_levels 0: as Multigrid chooses for one rank.
     * @throws InvalidInput, DeviceError.
     */
    DistributedStencilMultigrid(const Stencil<double>           &whole,
                                MPI_Comm                         comm,
                                const DistributedStencilOptions &options,
                                const std::vector<double>       &own_diagonal = {},
                                int                              n_levels     = 0);
    ~DistributedStencilMultigrid();

    /** The planes [first, second) of the grid that a rank will own, before anything is made. */
    static std::pair<int, int> own_planes(const Stencil<double> &whole, int rank, int n_ranks, const DistributedStencilOptions &options);

    int                first_plane() const;
    int                n_own_planes() const;
    Multigrid<double> &multigrid() { return *solver; }
    std::string        description() const;
    /** How ghost planes travel, and how many bytes have been sent so far. */
    const Transport &transport() const { return *ghosts_transport; }
    /** Planes, see DistributedStencilOptions::overlap: what was chosen. */
    int overlap() const { return n_overlap; }

  private:
    const int                          n_overlap;
    SlabPartition                      partition;
    int                                rank = 0;
    bool                               loose;
    const Transport                   *ghosts_transport = nullptr; ///< the solver's
    std::unique_ptr<Multigrid<double>> solver;
  };
} // namespace leopard
