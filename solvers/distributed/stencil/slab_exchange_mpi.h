// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../../exchange/slab_exchange.h"
#include "../../relaxation/relaxation.h"

#include <mpi.h>

#include <list>
#include <string>
#include <vector>

namespace leopard
{
  /** For together(): the text `own` of the first rank on which it is not empty. Collective. */
  std::string first_error_in(MPI_Comm comm, const std::string &own);

  /** The exchange by MPI messages, of host arrays or, staged through the host, of device arrays. */
  class MpiSlabExchange : public SlabExchange
  {
  public:
    /** @param reason why device arrays do not travel directly, for description(). */
    MpiSlabExchange(MPI_Comm comm, MemorySpace space, const std::string &reason = "");
    /** Collective: waits for the messages that are still on their way. */
    ~MpiSlabExchange() override;

    std::string description() const override;
    bool        is_queued() const override { return false; }

    std::unique_ptr<Exchange> connect(const ExchangePattern &pattern, int n_values) override;

    void        exchange(const SlabVector &x) override { exchange(x, nullptr); }
    void        exchange(const SlabVector &x, double *b) override;
    void        exchange_loosely(const SlabVector &x, bool begins) override;
    void        gather(double *whole, const std::vector<int> &offsets) override;
    std::string first_error(const std::string &own) override;

  private:
    /** A message on its way: its first value is the number of the visit. */
    struct Message
    {
      std::vector<double> values;
      MPI_Request         request = MPI_REQUEST_NULL;
    };
    using Messages = std::list<Message>;

    /** A spare message, or a new one, becomes the last of these. */
    Message &new_message(Messages &messages, int n);
    void     end_first(Messages &messages);
    /** Sends n values that fill(to) writes. */
    template <typename Fill>
    void send(int n, double visit, int to, int tag, const Fill &fill);
    /**
     * Posts a receive for one more message of n values, and calls put(values) for each message of this visit that has
     * arrived, the newest one last.
     */
    template <typename Put>
    void receive(int n, double visit, int from, int tag, Messages &messages, const Put &put);
    /** Forgets what has been sent. */
    void end_sent();

    /** Copies from or to arrays of the exchange's memory space. */
    void fetch(double *host, const double *values, int n) const;
    void put(double *values, const double *host, int n) const;
    /** The same for a plane of all fields. @param offset from the first own value to the plane. */
    void fetch_plane(double *host, const SlabVector &x, long offset) const;
    void put_plane(const SlabVector &x, long offset, const double *host) const;

    MPI_Comm            comm; ///< a duplicate, so that no messages are mixed up
    MemorySpace         space;
    std::string         reason;
    int                 rank = 0, n_ranks = 1;
    double              visit = 0.; ///< number of visits with loose exchanges
    std::vector<double> to_below, to_above, from_below, from_above, gathered;
    std::vector<int>    counts;
    Messages            on_their_way, expected_from_below, expected_from_above, spare;
  };
} // namespace leopard
