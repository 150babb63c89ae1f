// SPDX-License-Identifier: Apache-2.0
#include "mpi_exchange.h"

#include "../../base/errors.h"
#include "../../device/device_array.h"
#include "../../device/host_array.h"
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
      for (const std::vector<int> *entries : {&pattern.sent, &pattern.received})
        check(entries->empty() ? 0 : *std::max_element(entries->begin(), entries->end()) + std::size_t(1), "values in a vector");
      return n_values;
    }

    MPI_Datatype type_of(int value_bytes)
    {
      return value_bytes == sizeof(float) ? MPI_FLOAT : MPI_DOUBLE;
    }
  } // namespace

  /**
   * What travels of device vectors, in host memory that kernels write and read: so a message costs no copy that the
   * host would have to ask for and wait for.
   */
  class MpiExchange::Staging
  {
  public:
    Staging(const ExchangePattern &pattern, int n_values)
      : packed(pattern.sent.size() * n_values)
      , arrived(pattern.received.size() * n_values)
      , sent{Places(pattern, pattern.sent, n_values, false), Places(pattern, pattern.sent, n_values, true)}
      , received{Places(pattern, pattern.received, n_values, false), Places(pattern, pattern.received, n_values, true)}
    {
    }

    /** Waits, also for what was queued before. @return what is to be sent. */
    template <typename Number>
    const char *pack(Number *first, Number *second) const
    {
      Number *const to = reinterpret_cast<Number *>(packed.data());
      sent[0].gather(to, first);
      sent[1].gather(to, second);
      device::wait();
      return reinterpret_cast<const char *>(to);
    }

    /** Queued: ghosts <- what stands where(). */
    template <typename Number>
    void unpack(Number *first, Number *second) const
    {
      const Number *const from = reinterpret_cast<const Number *>(arrived.data());
      received[0].scatter(first, from);
      received[1].scatter(second, from);
    }

    /** The same for values [begin, begin + n) of those that are received; of one vector. */
    template <typename Number>
    void unpack(Number *v, int begin, int n) const
    {
      device::copy_entries(v, received[0].in_vector.data() + begin, reinterpret_cast<const Number *>(arrived.data()) + begin, nullptr, n, false);
    }

    /** Where what arrives is to stand. Nobody reads it any more after device::wait(). */
    char *where() const { return reinterpret_cast<char *>(arrived.data()); }

  private:
    /** Values of one of two vectors: which they are, and their places among all that travel. Device memory. */
    struct Places
    {
      Places(const ExchangePattern &pattern, const std::vector<int> &entries, int n_values, bool of_second)
      {
        const int        first = of_second ? pattern.second : 0;
        std::vector<int> values, places;
        for (std::size_t k = 0; k < entries.size(); ++k)
          for (int c = 0; c < n_values && (entries[k] >= pattern.second) == of_second; ++c)
            {
              values.push_back((entries[k] - first) * n_values + c);
              places.push_back(static_cast<int>(k) * n_values + c);
            }
        in_vector = device::Array<int>(values);
        if (values.size() < entries.size() * n_values)
          among_all = device::Array<int>(places);
      }

      int n() const { return static_cast<int>(in_vector.size()); }

      template <typename Number>
      void gather(Number *packed, const Number *v) const
      {
        if (among_all.size() == 0)
          device::gather(packed, v, in_vector.data(), n());
        else
          device::copy_entries(packed, among_all.data(), v, in_vector.data(), n(), false);
      }
      template <typename Number>
      void scatter(Number *v, const Number *from) const
      {
        device::copy_entries(v, in_vector.data(), from, among_all.data(), n(), false);
      }

      device::Array<int> in_vector, among_all; ///< the latter empty: all that travels is of this vector
    };

    const device::HostArray<double> packed, arrived; ///< room for doubles, as in MpiExchange
    const Places                    sent[2], received[2];
  };

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
    if (space == MemorySpace::device)
      staged();
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

  MpiExchange::Vector MpiExchange::located(const Vector &v, MemorySpace in)
  {
    Vector result = v;
    if (v.address == nullptr) // values may be null, too: a rank without entries
      return result;
    if (in == MemorySpace::device)
      device::copy_to_host(&result.values, v.address, sizeof(result.values));
    else
      std::memcpy(&result.values, v.address, sizeof(result.values));
    result.address = nullptr;
    return result;
  }

  char *MpiExchange::entry_of(const Vector &v, int entry) const
  {
    return entry < pattern.second ? static_cast<char *>(v.values) + bytes_of(v, entry)
                                  : static_cast<char *>(v.second) + bytes_of(v, entry - pattern.second);
  }

  MpiExchange::Staging &MpiExchange::staged()
  {
    if (staging == nullptr)
      staging = std::make_unique<Staging>(pattern, n_values);
    return *staging;
  }

  template <typename Number>
  const char *MpiExchange::pack_values(const Vector &v, MemorySpace in)
  {
    Number *const first = static_cast<Number *>(v.values), *const second = static_cast<Number *>(v.second);
    if (in == MemorySpace::device)
      return staged().pack(first, second);
    Number *const to = reinterpret_cast<Number *>(packed.data());
    pack_entries(to, first, second, pattern.second, pattern.sent, n_values);
    return reinterpret_cast<const char *>(to);
  }

  const char *MpiExchange::pack(const Vector &v, MemorySpace in)
  {
    return v.value_bytes == sizeof(float) ? pack_values<float>(v, in) : pack_values<double>(v, in);
  }

  void MpiExchange::unpack(const Vector &v, const std::vector<Run> &list, const char *arrived) const
  {
    for (const Run &run : list)
      std::memcpy(entry_of(v, run.entry), arrived + bytes_of(v, run.offset), bytes_of(v, run.count));
  }

  void MpiExchange::unpack_on_device(const Vector &v, const Neighbour &from, const char *arrived)
  {
    device::wait(); // for who reads what came before
    std::memcpy(staged().where() + bytes_of(v, from.offset), arrived, bytes_of(v, from.count));
    const int begin = from.offset * n_values, n = from.count * n_values;
    if (v.value_bytes == sizeof(float))
      staged().unpack(static_cast<float *>(v.values), begin, n);
    else
      staged().unpack(static_cast<double *>(v.values), begin, n);
  }

  void MpiExchange::exchange(const Vector &given, MemorySpace in)
  {
    require_second(pattern, given); // on all ranks, and before any message is on its way
    traffic->count(bytes_of(given, pattern.sent.size()));
    if (requests.empty())
      return;
    const bool on_device = in == MemorySpace::device,
               in_place  = !on_device && all_runs.size() <= 1; // ghosts that stand together arrive in the vector
    const Vector v       = located(given, in);
    const char  *sent    = pack(v, in); // and on the device nobody reads what arrived the last time any more
    char *const  arrived = on_device                       ? staged().where()
                           : in_place && !all_runs.empty() ? entry_of(v, all_runs[0].entry)
                                                           : reinterpret_cast<char *>(received.data());
    MPI_Request *request = requests.data();
    for (const Neighbour &from : pattern.from)
      MPI_Irecv(arrived + bytes_of(v, from.offset), from.count * n_values, type_of(v.value_bytes), from.rank, waited_tag, *comm, request++);
    for (const Neighbour &to : pattern.to)
      MPI_Isend(sent + bytes_of(v, to.offset), to.count * n_values, type_of(v.value_bytes), to.rank, waited_tag, *comm, request++);
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    if (on_device && v.value_bytes == sizeof(float))
      staged().unpack(static_cast<float *>(v.values), static_cast<float *>(v.second));
    else if (on_device)
      staged().unpack(static_cast<double *>(v.values), static_cast<double *>(v.second));
    else if (!in_place)
      unpack(v, all_runs, arrived);
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
    const char *const packed_values = any ? pack(v, in) : nullptr;
    for (Message &message : messages->sent)
      if (message.is_done)
        {
          const Neighbour &to   = message.neighbour;
          const auto       size = bytes_of(v, to.count);
          message.values[0]     = visit;
          std::memcpy(message.values.data() + 1, packed_values + bytes_of(v, to.offset), size);
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
          {
            const char *const arrived = reinterpret_cast<const char *>(message.values.data() + 1);
            if (in == MemorySpace::device)
              unpack_on_device(*v, pattern.from[n], arrived);
            else
              unpack(*v, runs[n], arrived);
          }
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
