// SPDX-License-Identifier: Apache-2.0
#include "mpi_exchange.h"

#include "../../base/errors.h"
#include "../../matrix/crs_matrix.h"
#include "mpi_transport.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <limits>

namespace leopard
{
  namespace
  {
    constexpr int waited_tag = 1, loose_tag = 2;

    /** @param second entries from this number on are those of y. */
    template <typename Number>
    void pack_entries(Number *packed, const Number *x, const Number *y, int second, const std::vector<int> &entries, int n_values)
    {
      for (const int i : entries)
        {
          const Number *const entry = i < second ? x + static_cast<long>(i) * n_values : y + static_cast<long>(i - second) * n_values;
          packed                    = std::copy_n(entry, n_values, packed);
        }
    }
    /**
     * @return n_values. @throws InvalidInput if a vector, or what travels, has more values than MPI and the device can
     * count.
     */
    int checked_values(const ExchangePattern &pattern, int n_values)
    {
      const auto check = [n_values](std::size_t n_entries, const std::string &of_what) {
        checked_count(static_cast<double>(n_entries) * n_values + 1., of_what); // and the number of a visit
      };
      check(pattern.sent.size(), "values to be sent");
      check(pattern.received.size(), "values to be received");
      check(pattern.sent.empty() ? 0 : *std::max_element(pattern.sent.begin(), pattern.sent.end()) + std::size_t(1), "values in a vector");
      return n_values;
    }

    MPI_Datatype type_of(int value_bytes)
    {
      return value_bytes == sizeof(float) ? MPI_FLOAT : MPI_DOUBLE;
    }
  } // namespace

  MpiExchange::Message::Message(const Neighbour &neighbour_, int n_values)
    : neighbour(neighbour_)
    , values(1 + static_cast<std::size_t>(neighbour_.count) * n_values)
  {
  }

  std::shared_ptr<const MPI_Comm> duplicate(MPI_Comm comm)
  {
    auto result = std::make_unique<MPI_Comm>();
    MPI_Comm_dup(comm, result.get());
    return {result.release(), [](MPI_Comm *copy) {
              int is_over = 0;
              MPI_Finalized(&is_over);
              if (!is_over)
                MPI_Comm_free(copy);
              delete copy;
            }};
  }

  MpiExchange::MpiExchange(const ExchangePattern                 &pattern_,
                           int                                    n_values_,
                           const std::shared_ptr<const MPI_Comm> &comm_,
                           MemorySpace                            space_,
                           const std::shared_ptr<Traffic>        &sent)
    : pattern(pattern_)
    , n_values(checked_values(pattern, n_values_))
    , comm(comm_)
    , space(space_)
    , traffic(sent)
    , all_runs(runs_of(0, static_cast<int>(pattern.received.size())))
    , packed(pattern.sent.size() * n_values)
    , received(pattern.received.size() * n_values)
    , requests(pattern.to.size() + pattern.from.size())
    , messages(std::make_unique<Messages>())
  {
    for (const Neighbour &from : pattern.from)
      {
        runs.push_back(runs_of(from.offset, from.count));
        messages->expected.emplace_back(from, n_values);
      }
    for (const Neighbour &to : pattern.to)
      messages->sent.emplace_back(to, n_values);
  }

  MpiExchange::~MpiExchange()
  {
    if (visit == 0.)
      return;
    if (std::uncaught_exceptions() > 0)
      {
        messages.release(); // MPI may yet read and write them
        return;
      }
    take_all();
    for (Message &message : messages->expected)
      {
        MPI_Cancel(&message.request);
        MPI_Wait(&message.request, MPI_STATUS_IGNORE);
      }
  }

  std::vector<MpiExchange::Run> MpiExchange::runs_of(int begin, int n) const
  {
    std::vector<Run> result;
    for (int k = begin; k < begin + n; ++k)
      if (result.empty() || pattern.received[k] != result.back().entry + result.back().count || pattern.received[k] == pattern.second)
        result.push_back({pattern.received[k], k - begin, 1});
      else
        ++result.back().count;
    return result;
  }

  char *MpiExchange::values_of(const Vector &v, MemorySpace in)
  {
    if (v.address == nullptr) // values may be null, too: a rank without entries
      return static_cast<char *>(v.values);
    char *result;
    if (in == MemorySpace::device)
      device::copy_to_host(&result, v.address, sizeof(result));
    else
      std::memcpy(&result, v.address, sizeof(result));
    return result;
  }

  char *MpiExchange::entry_of(const Vector &v, MemorySpace in, int entry) const
  {
    return entry < pattern.second ? values_of(v, in) + bytes_of(v, entry) : static_cast<char *>(v.second) + bytes_of(v, entry - pattern.second);
  }

  template <typename Number>
  void MpiExchange::pack_values(const Vector &v, MemorySpace in)
  {
    Number *const       to     = reinterpret_cast<Number *>(packed.data());
    const Number *const values = reinterpret_cast<const Number *>(values_of(v, in));
    if (in == MemorySpace::host)
      pack_entries(to, values, static_cast<const Number *>(v.second), pattern.second, pattern.sent, n_values);
    else if (v.second != nullptr)
      for (std::size_t k = 0; k < pattern.sent.size(); ++k)
        device::copy_to_host(to + k * n_values, entry_of(v, in, pattern.sent[k]), bytes_of(v, 1));
    else
      {
        if (device_indices.size() == 0)
          {
            std::vector<int> indices;
            for (const int i : pattern.sent)
              for (int c = 0; c < n_values; ++c)
                indices.push_back(i * n_values + c);
            device_indices = device::Array<int>(indices);
            device_packed  = device::Array<double>(indices.size());
          }
        Number *const there = reinterpret_cast<Number *>(device_packed.data());
        device::gather(there, values, device_indices.data(), static_cast<int>(packed.size()));
        device::copy_to_host(to, there, packed.size() * sizeof(Number));
      }
  }

  void MpiExchange::pack(const Vector &v, MemorySpace in)
  {
    if (packed.empty())
      return;
    if (v.value_bytes == sizeof(float))
      pack_values<float>(v, in);
    else
      pack_values<double>(v, in);
  }

  void MpiExchange::unpack(const Vector &v, MemorySpace in, const std::vector<Run> &list, const char *arrived) const
  {
    if (list.empty())
      return;
    for (const Run &run : list)
      if (in == MemorySpace::device)
        device::copy_to_device(entry_of(v, in, run.entry), arrived + bytes_of(v, run.offset), bytes_of(v, run.count));
      else
        std::memcpy(entry_of(v, in, run.entry), arrived + bytes_of(v, run.offset), bytes_of(v, run.count));
  }

  void MpiExchange::exchange(const Vector &v, MemorySpace in)
  {
    require_second(pattern, v); // on all ranks, and before any message is on its way
    pack(v, in);
    const bool   in_place = in == MemorySpace::host && all_runs.size() <= 1; // all ghosts stand together: they arrive in the vector
    char *const  arrived  = in_place && !all_runs.empty() ? entry_of(v, in, all_runs[0].entry) : reinterpret_cast<char *>(received.data());
    MPI_Request *request  = requests.data();
    for (const Neighbour &from : pattern.from)
      MPI_Irecv(arrived + bytes_of(v, from.offset), from.count * n_values, type_of(v.value_bytes), from.rank, waited_tag, *comm, request++);
    for (const Neighbour &to : pattern.to)
      MPI_Isend(reinterpret_cast<const char *>(packed.data()) + bytes_of(v, to.offset),
                to.count * n_values,
                type_of(v.value_bytes),
                to.rank,
                waited_tag,
                *comm,
                request++);
    traffic->count(bytes_of(v, pattern.sent.size()));
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    if (!in_place)
      unpack(v, in, all_runs, arrived);
  }

  void MpiExchange::begin()
  {
    if (visit == 0.)
      for (Message &message : messages->expected)
        expect(message);
    take(nullptr, space);
    ++visit;
  }

  bool MpiExchange::all_are_done()
  {
    if (all_done == MPI_REQUEST_NULL)
      MPI_Ibarrier(*comm, &all_done);
    int done = 0;
    MPI_Test(&all_done, &done, MPI_STATUS_IGNORE);
    return done != 0;
  }

  std::string MpiExchange::first_error(const std::string &text) const
  {
    const int rank = rank_in(*comm), n_ranks = size_of(*comm);
    int       first = text.empty() ? n_ranks : rank;
    MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, *comm);
    if (first == n_ranks)
      return "";
    int length = static_cast<int>(text.size());
    MPI_Bcast(&length, 1, MPI_INT, first, *comm);
    std::string result = rank == first ? text : std::string(length, ' ');
    MPI_Bcast(result.data(), length, MPI_CHAR, first, *comm);
    return result;
  }

  void MpiExchange::exchange_loosely(const Vector &v, MemorySpace in)
  {
    if (visit == 0.)
      throw InvalidInput("update_loosely() is called before begin()\n  expected: a visit that has begun");
    require_second(pattern, v);
    send_loosely(v, in);
    take(&v, in);
  }

  /** Asks MPI if the message was not done before. */
  bool MpiExchange::is_done(Message &message)
  {
    int done = message.is_done;
    if (!message.is_done)
      MPI_Test(&message.request, &done, MPI_STATUS_IGNORE);
    message.is_done = done != 0;
    return message.is_done;
  }

  void MpiExchange::expect(Message &message)
  {
    MPI_Irecv(message.values.data(), static_cast<int>(message.values.size()), MPI_DOUBLE, message.neighbour.rank, loose_tag, *comm, &message.request);
    message.is_done = false;
  }

  void MpiExchange::send_loosely(const Vector &v, MemorySpace in)
  {
    std::size_t n_bytes = 0;
    bool        any     = false;
    for (Message &message : messages->sent)
      any = is_done(message) || any;
    if (any)
      pack(v, in);
    for (Message &message : messages->sent)
      if (message.is_done)
        {
          const Neighbour &to   = message.neighbour;
          const auto       size = bytes_of(v, to.count);
          message.values[0]     = visit;
          std::memcpy(message.values.data() + 1, reinterpret_cast<const char *>(packed.data()) + bytes_of(v, to.offset), size);
          const std::size_t n_doubles = 1 + (size + sizeof(double) - 1) / sizeof(double); // with the visit; two floats are one
          MPI_Issend(message.values.data(), static_cast<int>(n_doubles), MPI_DOUBLE, to.rank, loose_tag, *comm, &message.request);
          message.is_done = false;
          n_bytes += size;
        }
    traffic->count(n_bytes);
  }

  /**
   * Takes all that has arrived but what is of a visit yet to come: of a neighbour that is ahead since it reads nothing
   * of this rank. @param v null: forget it.
   */
  void MpiExchange::take(const Vector *v, MemorySpace in)
  {
    for (std::size_t n = 0; n < pattern.from.size(); ++n)
      for (Message &message = messages->expected[n]; is_done(message) && message.values[0] <= visit; expect(message))
        if (v != nullptr && message.values[0] == visit)
          unpack(*v, in, runs[n], reinterpret_cast<const char *>(message.values.data() + 1));
  }

  /**
   * Takes messages until there are none anywhere: a rank whose own have been taken enters a barrier, and goes on until
   * all have entered it. Source: Hoefler, Siebert, Lumsdaine, Scalable communication protocols for dynamic sparse data
   * exchange, 2010, Algorithm 2.
   */
  void MpiExchange::take_all()
  {
    visit                  = std::numeric_limits<double>::infinity();
    MPI_Request everybody  = MPI_REQUEST_NULL;
    bool        is_waiting = false;
    for (int done = 0; !done;)
      {
        take(nullptr, space);
        if (is_waiting)
          MPI_Test(&everybody, &done, MPI_STATUS_IGNORE);
        else if (std::all_of(messages->sent.begin(), messages->sent.end(), is_done))
          {
            MPI_Ibarrier(*comm, &everybody);
            is_waiting = true;
          }
      }
  }
} // namespace leopard
