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
   * The exchange of a pattern by MPI messages to and from the neighbours. Vectors in device memory must be double: what
   * travels is copied to the host, for which the host waits, and what has arrived is copied back.
   *
   * Without waiting, at most one message is on its way to each neighbour, which gets the next one when it has taken
   * that: sends are synchronous (MPI_Issend), and messages begin with the number of their visit. So the memory is that
   * of one message for each neighbour and direction.
   */
  class MpiExchange : public Exchange
  {
  public:
    /** Collective. @param n_values of an entry, see Transport::connect(). @param sent counts what this rank sends. */
    MpiExchange(const ExchangePattern &pattern, int n_values, MPI_Comm comm, MemorySpace space, const std::shared_ptr<Traffic> &sent);
    /**
     * Collective. Takes what is on its way yet; while an exception is on its way, too, it leaves messages and
     * communicator to MPI, as other ranks may never come.
     */
    ~MpiExchange() override;
    MpiExchange(const MpiExchange &)            = delete;
    MpiExchange &operator=(const MpiExchange &) = delete;

    void begin() override;

  protected:
    void exchange(const Vector &v) override;
    void exchange_loosely(const Vector &v) override;

  private:
    using Neighbour = ExchangePattern::Neighbour;

    /** Entries that stand together in a vector: ghosts mostly do. */
    struct Run
    {
      int entry, offset, count;
    };

    struct Message
    {
      Message(const Neighbour &neighbour, int n_values);
      Neighbour           neighbour;
      std::vector<double> values; ///< the visit, then what travels
      MPI_Request         request = MPI_REQUEST_NULL;
      bool                is_done = true; ///< taken by the neighbour, or arrived
    };
    struct Messages
    {
      std::vector<Message> sent, expected;
    };

    /** The address of v. */
    static char *values_of(const Vector &v);
    /** Of entries of v. */
    std::size_t bytes_of(const Vector &v, std::size_t n_entries) const { return n_entries * n_values * v.value_bytes; }
    /** packed <- the own entries that travel. */
    void pack(const Vector &v);
    /** The ghosts of v that a neighbour, one of pattern.from, owns <- what it has sent. */
    void unpack(const Vector &v, const Neighbour &from, const char *arrived) const;

    static bool is_done(Message &message);
    void        expect(Message &message);
    void        send_loosely(const Vector &v);
    void        take(const Vector *v);
    void        take_all();

    const ExchangePattern          pattern;
    const int                      n_values;
    const MemorySpace              space;
    const std::shared_ptr<Traffic> traffic;
    MPI_Comm                       comm; ///< a duplicate, so that no messages are mixed up
    std::vector<std::vector<Run>>  runs; ///< of what comes from each neighbour
    std::vector<double>            packed, received;
    device::Array<int>             device_indices; ///< of the values that are sent
    device::Array<double>          device_packed;
    std::vector<MPI_Request>       requests;
    double                         visit = 0.;
    std::unique_ptr<Messages>      messages;
  };
} // namespace leopard
