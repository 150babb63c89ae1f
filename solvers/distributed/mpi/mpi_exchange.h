// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../../base/backend.h"
#include "../../exchange/transport.h"

#include <mpi.h>

#include <memory>
#include <string>
#include <vector>

namespace leopard
{
  /**
   * A duplicate, so that no messages are mixed up. Collective, and so is the end of the last copy; but MPI gives it
   * back without asking the other ranks, also while an exception is on its way on this one alone.
   */
  std::shared_ptr<const MPI_Comm> duplicate(MPI_Comm comm);

  /**
   * The exchange of a pattern by MPI messages to and from the neighbours. Of vectors in device memory a kernel writes
   * what travels into host memory, for which the host waits, and another one reads there what has arrived, which is
   * queued.
   *
   * Without waiting, at most one message is on its way to each neighbour, which gets the next one when it has taken
   * that: sends are synchronous (MPI_Issend), and messages begin with the number of their visit. So the memory is that
   * of one message for each neighbour and direction.
   */
  class MpiExchange : public Exchange
  {
  public:
    /**
     * @param n_values of an entry, see Transport::connect(). @param comm of this exchange, and of the same in other
     * orders. @param sent counts what this rank sends. @throws InvalidInput for more than 2^31 - 2 values.
     */
    MpiExchange(const ExchangePattern                 &pattern,
                int                                    n_values,
                const std::shared_ptr<const MPI_Comm> &comm,
                MemorySpace                            space,
                const std::shared_ptr<Traffic>        &sent);
    /**
     * Collective after a visit. Takes what is on its way yet; while an exception is on its way, too, it leaves messages
     * to MPI, as other ranks may never come.
     */
    ~MpiExchange() override;
    MpiExchange(const MpiExchange &)            = delete;
    MpiExchange &operator=(const MpiExchange &) = delete;

    using Exchange::update;
    using Exchange::update_loosely;
    /** The same for a vector in this memory space. */
    template <typename Number>
    void update(Number *v, MemorySpace in)
    {
      exchange({v, nullptr, nullptr, sizeof(Number)}, in);
    }
    template <typename Number>
    void update_loosely(Number *v, MemorySpace in)
    {
      exchange_loosely({v, nullptr, nullptr, sizeof(Number)}, in);
    }
    void begin() override;
    /** See FreeExchange::all_are_done(). */
    bool all_are_done();
    /** See FreeExchange::first_error(). */
    std::string first_error(const std::string &text) const;

  protected:
    void exchange(const Vector &v) override { exchange(v, space); }
    void exchange_loosely(const Vector &v) override { exchange_loosely(v, space); }

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
    class Staging;

    void exchange(const Vector &v, MemorySpace in);
    void exchange_loosely(const Vector &v, MemorySpace in);
    /** v with its address, if that stands in memory. */
    static Vector located(const Vector &v, MemorySpace in);
    /** The address of an entry of v, or of the second vector. */
    char *entry_of(const Vector &v, int entry) const;
    /** Of entries of v. */
    std::size_t bytes_of(const Vector &v, std::size_t n_entries) const { return n_entries * n_values * v.value_bytes; }
    /** Of device vectors. */
    Staging &staged();
    /** Puts the own entries that travel one behind the other. @return where they are. */
    const char *pack(const Vector &v, MemorySpace in);
    /** The same for values that are Numbers. */
    template <typename Number>
    const char *pack_values(const Vector &v, MemorySpace in);
    /** Ghosts of v, in host memory, <- what has arrived. */
    void unpack(const Vector &v, const std::vector<Run> &runs, const char *arrived) const;
    /** Those of one neighbour, of v in device memory. Waits for what was queued before. */
    void unpack_on_device(const Vector &v, const Neighbour &from, const char *arrived);
    /** Of entries k from begin on that are received. */
    std::vector<Run> runs_of(int begin, int n) const;

    static bool is_done(Message &message);
    void        expect(Message &message);
    void        send_loosely(const Vector &v, MemorySpace in);
    /** @param v null: forgets what has arrived. */
    void take(const Vector *v, MemorySpace in);
    void take_all();

    const ExchangePattern                 pattern;
    const int                             n_values;
    const std::shared_ptr<const MPI_Comm> comm;
    const MemorySpace                     space;
    const std::shared_ptr<Traffic>        traffic;
    std::vector<std::vector<Run>>         runs;             ///< of what comes from each neighbour
    std::vector<Run>                      all_runs;         ///< of what comes from all
    std::vector<double>                   packed, received; ///< room for doubles, that Numbers are put into one behind the other
    std::unique_ptr<Staging>              staging;          ///< of device vectors, from the first one on
    std::vector<MPI_Request>              requests;
    double                                visit    = 0.;
    MPI_Request                           all_done = MPI_REQUEST_NULL; ///< the barrier of all_are_done()
    std::unique_ptr<Messages>             messages;
  };
} // namespace leopard
