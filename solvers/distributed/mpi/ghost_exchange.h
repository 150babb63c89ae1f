// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../../exchange/free_exchange.h"
#include "mpi_exchange.h"
#include "own_range.h"

#include <memory>
#include <string>
#include <vector>

namespace leopard
{
  /**
   * Who sends what for vectors that have a rank's own entries first, then its ghosts. Collective. @param ghosts numbers
   * that other ranks own, sorted, each once.
   */
  ExchangePattern ghost_pattern(const OwnRange &own, const std::vector<int> &ghosts, MPI_Comm comm);

  /**
   * How device vectors travel between some ranks: make_transport(), made when it is asked for first, since many
   * exchanges see host vectors only.
   */
  class DeviceTransport
  {
  public:
    /** @param comm must outlive it. @param staged by messages in any case. */
    DeviceTransport(MPI_Comm comm, bool staged);
    /** Collective. @throws DeviceError on all ranks. */
    Transport &get();
    /** Null: not yet made. */
    const Transport *if_made() const { return transport.get(); }

  private:
    const MPI_Comm             comm;
    const bool                 staged;
    std::unique_ptr<Transport> transport;
  };

  /**
   * Brings the ghost values of a distributed vector up to date and sums over ranks (MPI). Vectors have the rank's own
   * entries first and then one entry for each element of `ghosts`, in its order, in host or device memory. Host vectors
   * travel by messages. Device vectors, where each rank of the host has its own GPU and all can reach one another's
   * memory, are written there by a kernel, which is queued; else by messages, for which only the values that travel
   * are copied to the host, and description() says why. It has a communicator of its own, which those in other orders
   * and of other number types share: destruction is collective, in the same order on all ranks.
   */
  template <typename Number>
  class GhostExchange : public Communication<Number>
  {
  public:
    /**
     * Collective. @param own the rank's entries; @param ghosts what it reads of other ranks, see ghost_pattern();
     * @param old_row if not empty, the order of the own entries in vectors: entry i is the old_row[i]-th own one (see
     * Partition). @param staged device vectors by messages in any case.
     */
    GhostExchange(const OwnRange &own, const std::vector<int> &ghosts, MPI_Comm comm, const std::vector<int> &old_row = {}, bool staged = false);

    /** The first one of a device vector makes what it needs. @throws DeviceError on all ranks. */
    void        update_ghosts(Number *x, MemorySpace space) const override;
    bool        is_queued(MemorySpace space) const override;
    std::string description(MemorySpace space) const override;
    /** An MpiExchange of its own communicator, for device vectors, too, which may outlive this object. */
    std::unique_ptr<LooseExchange<Number>> loose() const override;
    /** The same for ranks that go on until all are done. */
    std::unique_ptr<FreeExchange<Number>> free() const;
    double                                sum(double value) const override;
    double                                max(double value) const override;
    bool                                  is_distributed() const override;
    bool                                  has_ghosts() const override;

    std::unique_ptr<const Communication<Number>> reordered(const std::vector<int> &old_row) const override;
    std::unique_ptr<const Communication<float>>  in_single() const override;

  private:
    template <typename>
    friend class GhostExchange;
    class Loose;

    /** The same for own entries in a new order: entry i is the old_row[i]-th of other's. */
    template <typename Other>
    GhostExchange(const GhostExchange<Other> &other, const std::vector<int> &old_row);

    /** Between the GPUs' memories; null where device vectors are staged. Collective. */
    Exchange *between_gpus() const;

    const MPI_Comm                         comm;
    bool                                   ghosts_anywhere;
    ExchangePattern                        pattern;
    std::shared_ptr<const MPI_Comm>        own_comm; ///< of the exchange, and of the same in other orders
    const std::unique_ptr<MpiExchange>     exchange;
    const std::shared_ptr<DeviceTransport> on_device; ///< likewise of all orders
    mutable std::unique_ptr<Exchange>      direct;    ///< of on_device, from its first use on
  };
} // namespace leopard
