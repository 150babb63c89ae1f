// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../../base/backend.h"
#include "../../device/device_array.h"
#include "../../exchange/transport.h"

#include <mpi.h>

#include <memory>
#include <vector>

namespace leopard
{
  /**
   * Brings vectors of a matrix, whose rows ranks own in any way, to slabs of consecutive nodes of a grid and back: each
   * value goes to one rank, in one message of each rank to each other one that needs any. Vectors are in the memory
   * space of the backend, and travel as ghosts do (make_transport()).
   */
  class RowsOnSlabs
  {
  public:
    /**
     * Collective. @param nodes of the rank's rows, ascending; @param entries where these rows stand in its vectors.
     * @param offsets the first node of each rank's slab, and the number of nodes of the grid. @throws InvalidInput, on
     * all ranks, where a node of the grid has no row, or two; DeviceError.
     */
    RowsOnSlabs(const std::vector<int> &nodes, const std::vector<int> &entries, const std::vector<int> &offsets, MPI_Comm comm, Backend backend);

    /** All values of the rank's slab, from v, in which other entries than those of rows mean nothing. Collective. */
    void to_slab(double *slab, const double *v);
    /** Those of the rows in v; other entries stay. Collective. */
    void from_slab(double *v, const double *slab);

  private:
    /** Places in a vector, in the memory space. */
    struct Places
    {
      std::vector<int>   on_host;
      device::Array<int> on_device;
    };

    /** to[to_places[k]] = from[from_places[k]]; null: k itself. */
    void copy(double *to, const Places *to_places, const double *from, const Places *from_places) const;

    const bool                on_device;
    Places                    own_entries, own_nodes; ///< of rows that stay: in v, and in the slab
    Places                    sent, arrived;          ///< of those that go to other ranks, in v; of those that come, in the slab
    std::vector<double>       host_buffer;            ///< values of sent, then of arrived
    device::Array<double>     device_buffer;
    std::unique_ptr<Exchange> there, back; ///< of the buffer
  };
} // namespace leopard
