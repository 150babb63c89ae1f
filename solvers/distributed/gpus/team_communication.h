// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../../exchange/communication.h"
#include "../../exchange/transport.h"
#include "device_team.h"
#include "row_parts.h"

#include <memory>
#include <string>
#include <vector>

namespace leopard
{
  /**
   * Ghosts and sums of parts of a matrix that threads of this process have. In host memory a thread copies its ghosts
   * from the vectors of the others, and all wait for one another before and after that; on the device kernels write
   * them into the memory of the other GPUs (make_peer_exchange()). Sums are made in the order of the parts, the same
   * on each thread. To be used in tasks of the team; where another thread has failed all functions end the task.
   */
  template <typename Number>
  class TeamCommunication : public Communication<Number>
  {
  public:
    /**
     * In a task, by all threads, and so is the destruction. @param parts of the matrix, one a thread, without ghosts
     * before own rows; they and the team must outlive this. @param space that ghosts are in. @throws DeviceError on all
     * threads.
     */
    TeamCommunication(DeviceTeam &team, const std::vector<RowPart> &parts, int rank, MemorySpace space);

    /** @throws InvalidInput for vectors in the other memory. */
    void        update_ghosts(Number *x, MemorySpace space) const override;
    bool        is_queued(MemorySpace space) const override { return space == MemorySpace::device && space == of_ghosts; }
    std::string description(MemorySpace space) const override;
    double      sum(double value) const override;
    double      max(double value) const override;
    bool        is_distributed() const override { return n_ranks > 1; }
    bool        has_ghosts() const override { return ghosts_anywhere; }

  private:
    /** An entry of another thread's vector, and where it is copied to. */
    struct Copy
    {
      int rank, from, to;
    };

    void copy_ghosts(Number *x) const;

    DeviceTeam                     &team;
    const int                       n_ranks;
    const MemorySpace               of_ghosts;
    const bool                      ghosts_anywhere;
    const AllGather                 all_gather;
    std::vector<Copy>               copies;   ///< of host memory
    const std::unique_ptr<Exchange> exchange; ///< of the device; null: there are no ghosts, or they are on the host
    mutable std::vector<Number *>   vectors;  ///< workspace: of all threads
    mutable std::vector<double>     values;   ///< likewise
  };
} // namespace leopard
