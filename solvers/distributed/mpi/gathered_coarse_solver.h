// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../../device/device_array.h"
#include "../../exchange/transport.h"
#include "../../multigrid/multigrid.h"
#include "global_numbers.h"

#include <memory>
#include <vector>

namespace leopard
{
  /**
   * The coarse solver that MultigridOptions names, for a coarsest level that is spread over ranks: each has the whole
   * of its matrix, gathers the right-hand side in each solve, and solves all of it. The level is small, and this spares
   * a second exchange. On GPUs the right-hand side travels as the level's ghosts do. Its destruction is collective.
   */
  class GatheredCoarseSolver : public CoarseSolver<double>
  {
  public:
    /** Collective. @throws InvalidInput if the level is too large for the solver, DeviceError. */
    GatheredCoarseSolver(const MultigridLevel &level, const MultigridOptions &options, MPI_Comm comm);

    std::string name() const override;
    void        solve(double *x, const double *b) override;
    void        update(const CrsMatrix<double> &A, bool singular) override; ///< collective
    bool        is_fixed_linear_map() const override { return solver->is_fixed_linear_map(); }
    bool        is_queued() const override { return on_device && transport->is_queued() && solver->is_queued(); }
    double      copy_seconds() const override { return solver->copy_seconds(); }

  private:
    const MPI_Comm                        comm;
    const int                             n;
    const bool                            on_device;
    const GlobalNumbers                   numbers;
    std::unique_ptr<CoarseSolver<double>> solver;
    std::unique_ptr<Transport>            transport; ///< of right-hand sides, in the memory space of the backend
    std::vector<double>                   b_whole, x_whole;
    device::Array<double>                 device_b, device_x;
    device::Array<int>                    device_numbers; ///< of_column
  };
} // namespace leopard
