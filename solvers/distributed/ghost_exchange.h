// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../relaxation/relaxation.h"

#include <deal.II/base/index_set.h>
#include <deal.II/base/mpi.h>

#include <memory>
#include <vector>

namespace leopard
{
  /**
   * Brings the ghost values of a distributed vector up to date and sums over ranks (MPI). Vectors have the rank's own
   * entries first and then one entry for each element of `ghosts`, in its order, in host or device memory; from
   * the device only the values that travel are copied to the host.
   */
  class GhostExchange : public Communication
  {
  public:
    /**
     * Collective. @param owned the rank's entries, contiguous; @param ghosts what it reads of other ranks; @param
     * old_row if not empty, the order of the own entries in vectors: entry i is the old_row[i]-th owned one (see
     * Partition).
     */
    GhostExchange(const dealii::IndexSet &owned, const dealii::IndexSet &ghosts, MPI_Comm comm, const std::vector<int> &old_row = {});
    /** The same for own entries in a new order: entry i is the old_row[i]-th of other's. */
    GhostExchange(const GhostExchange &other, const std::vector<int> &old_row);
    ~GhostExchange() override;

    void update_ghosts(double *x, MemorySpace space) const override;
    /**
     * With messages of its own communicator: at most one is on its way to each neighbour, which gets the next one when
     * it has taken that. So the memory is that of one message for each neighbour and direction. On a device an exchange
     * copies, as the waited one does, what travels to the host, which waits for the rank's own device, and copies back
     * what has arrived. Destruction takes what is on its way yet; while an exception is on its way, too, it leaves
     * messages and communicator to MPI, as other ranks may never come.
     */
    std::unique_ptr<LooseExchange> loose() const override;
    double                         sum(double value) const override;
    double                         max(double value) const override;
    bool                           is_distributed() const override;
    bool                           has_ghosts() const override;

    std::unique_ptr<const Communication> reordered(const std::vector<int> &old_row) const override;

  private:
    struct Neighbour
    {
      unsigned int rank;
      int          offset; ///< into the packed (sending) or the ghost (receiving) values
      int          count;
    };

    class Loose;

    void number_anew(const std::vector<int> &old_row);
    /** packed <- the own entries that travel. */
    void pack(const double *x, MemorySpace space) const;

    MPI_Comm                         comm;
    bool                             ghosts_anywhere;
    int                              n_owned  = 0;
    int                              n_ghosts = 0;
    std::vector<Neighbour>           send, receive;
    std::vector<int>                 packed_indices; ///< own entries to send, neighbour after neighbour
    mutable std::vector<double>      packed, received;
    mutable std::vector<MPI_Request> requests;

    struct DeviceBuffers;
    mutable std::unique_ptr<DeviceBuffers> device_buffers;
  };
} // namespace leopard
