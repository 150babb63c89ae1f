// SPDX-License-Identifier: Apache-2.0
#include "../base/errors.h"
#include "../base/together.h"
#include "../device/cuda_error.cuh"
#include "../device/device.h"
#include "../device/launch.cuh"
#include "../matrix/crs_matrix.h"
#include "peer_exchange.h"
#include "peer_memory.cuh"

#include <algorithm>

namespace leopard
{
  namespace
  {
    using peer::Number;

    // Exchange n of those that are waited for uses buffer n % 2: a rank that has its neighbour's values of exchange n
    // may send those of exchange n + 1 while the neighbour still copies those of n, but not those of n + 2, for which
    // it needs the neighbour's flag of n + 1. So flags are raised and waited for also where values go one way only.
    // Exchanges without waiting have one buffer: values that are read there may mix several iterations.
    enum Box
    {
      waited_even,
      waited_odd,
      loose,
      n_boxes
    };

    enum Kind
    {
      wait,
      dont_wait,
      n_kinds
    };

    /** A rank with which this one exchanges, as its kernels see it. Device addresses. */
    struct Port
    {
      char   *mail[n_boxes];     ///< its boxes
      long    there;             ///< its number, among what that rank receives, of the first entry that it gets from this one
      int     first;             ///< the number, among what this rank sends, of the same entry
      Number *flag[n_kinds];     ///< at that rank: the last exchange, or visit, of which this rank's values have come
      Number *own_flag[n_kinds]; ///< the same here
      bool    sends;             ///< whether anything comes from there
    };

    /** What a rank's kernels remember from one to the next; in device memory, so that a replayed graph counts on. */
    struct Progress
    {
      Number       waited, visit; ///< exchanges and visits so far
      unsigned int arrived, left; ///< thread blocks of the running kernel
    };

    struct View
    {
      const Port *ports;
      int         n_ports, n_values; ///< the latter of an entry
      int         n_first;           ///< entries of the first vector, see ExchangePattern::second
      int         n_sent, n_received;
      const int2 *sent;     ///< entry and port
      const int2 *received; ///< likewise
      char       *mail[n_boxes];
      Progress   *progress;
    };

    __device__ inline void leave(Progress *progress, Number Progress::*counter, Number number)
    {
      if (peer::last_to_come(&progress->left))
        {
          progress->arrived = progress->left = 0;
          progress->*counter                 = number;
        }
    }

    /** A vector and, if entries go on beyond `n_first`, a second one. */
    template <typename Value>
    struct Vectors
    {
      Value *first, *second;
      int    n_first, n_values;

      __device__ Value &at(int entry, int c) const
      {
        return entry < n_first ? first[static_cast<long>(entry) * n_values + c] : second[static_cast<long>(entry - n_first) * n_values + c];
      }
    };

    template <typename Value>
    __device__ void send(const View &v, int box, const Vectors<Value> &values)
    {
      const int n = v.n_values;
      peer::move<Value>(
        v.n_sent * n,
        [&](int e) { return values.at(v.sent[e / n].x, e % n); },
        [&](int e, Value value) {
          const int   k    = e / n;
          const Port &port = v.ports[v.sent[k].y];
          peer::store(reinterpret_cast<Value *>(port.mail[box]) + (port.there + k - port.first) * n + e % n, value);
        });
    }

    __device__ inline void raise_flags(const View &v, Kind kind, Number number)
    {
      cuda::atomic_thread_fence(cuda::memory_order_release, cuda::thread_scope_system); // one for all flags
      for (int p = 0; p < v.n_ports; ++p)
        cuda::atomic_ref<Number, cuda::thread_scope_system>(*v.ports[p].flag[kind]).store(number, cuda::memory_order_relaxed);
    }

    template <typename Value>
    __device__ Value *address_of(Value *values, const void *address)
    {
      return values != nullptr ? values : *static_cast<Value *const *>(address);
    }

    /** @param first null: the values are where `address` says. */
    template <typename Value>
    __global__ void __launch_bounds__(peer::n_threads)
      exchange_kernel(const __grid_constant__ View v, Value *first, const void *address, Value *second)
    {
      device::wait_for_previous();
      const Number         number = v.progress->waited + 1;
      const int            box = number % 2 == 0 ? waited_even : waited_odd, n = v.n_values;
      const Vectors<Value> values{address_of(first, address), second, v.n_first, n};
      send(v, box, values);
      if (peer::last_to_come(&v.progress->arrived))
        raise_flags(v, wait, number);
      for (int p = threadIdx.x; p < v.n_ports; p += peer::n_threads)
        peer::wait_for(v.ports[p].own_flag[wait], number);
      __syncthreads();
      Value *const mail = reinterpret_cast<Value *>(v.mail[box]);
      peer::move<Value>(
        v.n_received * n, [&](int e) { return peer::load(mail + e); }, [&](int e, Value value) { values.at(v.received[e / n].x, e % n) = value; });
      leave(v.progress, &Progress::waited, number);
    }

    /** @param n_begun visits that have begun since the last one. Shared memory: a byte for each port. */
    template <typename Value>
    __global__ void __launch_bounds__(peer::n_threads)
      exchange_loosely_kernel(const __grid_constant__ View v, Value *first, const void *address, int n_begun)
    {
      extern __shared__ char has_come[];
      const Number           visit = v.progress->visit + n_begun;
      const int              n     = v.n_values;
      const Vectors<Value>   values{address_of(first, address), nullptr, v.n_first, n};
      send(v, loose, values);
      if (peer::last_to_come(&v.progress->arrived))
        raise_flags(v, dont_wait, visit);
      for (int p = threadIdx.x; p < v.n_ports; p += peer::n_threads)
        {
          const Number start = peer::nanoseconds();
          do
            has_come[p] = peer::look(v.ports[p].own_flag[dont_wait]) == visit;
          while (!has_come[p] && v.ports[p].sends && peer::nanoseconds() - start < peer::patience);
        }
      __syncthreads();
      Value *const mail = reinterpret_cast<Value *>(v.mail[loose]);
      peer::move<Value>(
        v.n_received * n,
        [&](int e) { return peer::load(mail + e); },
        [&](int e, Value value) {
          if (const int2 to = v.received[e / n]; has_come[to.y])
            values.at(to.x, e % n) = value;
        });
      leave(v.progress, &Progress::visit, visit);
    }

    /** What a rank tells another one of the exchange. */
    struct Offer
    {
      int       port   = -1;           ///< the number of the other rank here; -1: no neighbour
      int       offset = 0, count = 0; ///< of what comes from it
      long long box_bytes = 0;
    };

    class PeerExchange : public Exchange
    {
    public:
      /** Not collective. */
      PeerExchange(
        const ExchangePattern &pattern_, int n_values, int rank_, int n_ranks_, const AllGather &all_gather_, const std::shared_ptr<Traffic> &sent_)
        : pattern(pattern_)
        , neighbours(pattern.neighbours())
        , rank(rank_)
        , n_ranks(n_ranks_)
        , header_bytes((n_kinds * neighbours.size() * peer::flag_stride * sizeof(Number) + 255) / 256 * 256)
        , box_bytes((pattern.received.size() * n_values * sizeof(double) + 255) / 256 * 256)
        , all_gather(all_gather_)
        , traffic(sent_)
        , progress(std::vector<Progress>(1, Progress{}))
        , ports(neighbours.size())
        , sent(with_ports(pattern.to, pattern.sent))
        , received(with_ports(pattern.from, pattern.received))
        , memory(header_bytes + n_boxes * box_bytes, rank_, n_ranks_, all_gather_)
        , most_waiting(std::min(peer::most_blocks(exchange_kernel<double>), peer::most_blocks(exchange_kernel<float>)))
        , most_loose(std::min(peer::most_blocks(exchange_loosely_kernel<double>, neighbours.size()),
                              peer::most_blocks(exchange_loosely_kernel<float>, neighbours.size())))
      {
        checked_count(static_cast<double>(pattern.sent.size()) * n_values, "values to be sent");
        checked_count(static_cast<double>(pattern.received.size()) * n_values, "values to be received");
        view = {ports.data(),
                static_cast<int>(neighbours.size()),
                n_values,
                pattern.second,
                static_cast<int>(pattern.sent.size()),
                static_cast<int>(pattern.received.size()),
                sent.data(),
                received.data(),
                {},
                progress.data()};
        for (int b = 0; b < n_boxes; ++b)
          view.mail[b] = box(rank, header_bytes, box_bytes, b);
      }

      /**
       * Collective, and so are its errors. @return what the ranks have told one another: of rank r to rank s in [r *
       * n_ranks + s].
       */
      std::vector<Offer> open()
      {
        if (const std::string why_not = memory.open(neighbours); !why_not.empty())
          throw DeviceError("the memory of another rank's GPU cannot be opened: " + why_not);
        std::vector<Offer> mine(n_ranks), all(static_cast<std::size_t>(n_ranks) * n_ranks);
        for (std::size_t p = 0; p < neighbours.size(); ++p)
          {
            Offer &offer    = mine[neighbours[p]];
            offer.port      = static_cast<int>(p);
            offer.box_bytes = static_cast<long long>(box_bytes);
          }
        for (const auto &from : pattern.from)
          {
            mine[from.rank].offset = from.offset;
            mine[from.rank].count  = from.count;
          }
        all_gather(mine.data(), mine.size() * sizeof(Offer), all.data());
        require_fitting(all);
        return all;
      }

      /** After open(). Not collective. */
      void connect(const std::vector<Offer> &all)
      {
        const auto offers_of = [&](int r) { return all.data() + static_cast<std::size_t>(r) * n_ranks; };
        const auto header_of = [&](int r) { // as header_bytes there
          const long n = std::count_if(offers_of(r), offers_of(r) + n_ranks, [](const Offer &offer) { return offer.port >= 0; });
          return (n_kinds * n * peer::flag_stride * sizeof(Number) + 255) / 256 * 256;
        };
        std::vector<Port> host(neighbours.size());
        for (std::size_t p = 0; p < host.size(); ++p)
          {
            const int    r     = neighbours[p];
            const Offer &offer = offers_of(r)[rank];
            for (int b = 0; b < n_boxes; ++b)
              host[p].mail[b] = box(r, header_of(r), offer.box_bytes, b);
            host[p].there = offer.offset;
            host[p].sends = offers_of(rank)[r].count > 0;
            for (int kind = 0; kind < n_kinds; ++kind)
              {
                host[p].flag[kind]     = flag(r, kind, offer.port);
                host[p].own_flag[kind] = flag(rank, kind, static_cast<int>(p));
              }
          }
        for (const auto &to : pattern.to)
          host[port_of(to.rank)].first = to.offset;
        if (!host.empty())
          device::copy_to_device(ports.data(), host.data(), host.size() * sizeof(Port));
      }

      void begin() override
      {
        has_begun = true;
        ++n_begun;
      }

    protected:
      void exchange(const Vector &v) override
      {
        require_second(pattern, v);
        traffic->count(pattern.sent.size() * view.n_values * v.value_bytes);
        if (neighbours.empty())
          return;
        if (v.value_bytes == sizeof(float))
          queue_waiting<float>(v);
        else
          queue_waiting<double>(v);
      }

      void exchange_loosely(const Vector &v) override
      {
        require_second(pattern, v);
        if (!has_begun)
          throw InvalidInput("update_loosely() is called before begin()\n  expected: a visit that has begun");
        traffic->count(pattern.sent.size() * view.n_values * v.value_bytes);
        const int begun = n_begun;
        n_begun         = 0;
        if (neighbours.empty())
          return;
        if (v.value_bytes == sizeof(float))
          exchange_loosely_kernel<<<n_blocks(most_loose), peer::n_threads, neighbours.size()>>>(
            view, static_cast<float *>(v.values), v.address, begun);
        else
          exchange_loosely_kernel<<<n_blocks(most_loose), peer::n_threads, neighbours.size()>>>(
            view, static_cast<double *>(v.values), v.address, begun);
        LEOPARD_CHECK(cudaGetLastError());
      }

    private:
      /** Early: the kernel is on the chip when what comes before it ends, and what comes next while it waits. */
      template <typename Value>
      void queue_waiting(const Vector &v) const
      {
        device::launch_early(exchange_kernel<Value>,
                             n_blocks(most_waiting),
                             peer::n_threads,
                             0,
                             view,
                             static_cast<Value *>(v.values),
                             v.address,
                             static_cast<Value *>(v.second));
      }

      int port_of(int r) const { return static_cast<int>(std::lower_bound(neighbours.begin(), neighbours.end(), r) - neighbours.begin()); }

      std::vector<int2> with_ports(const std::vector<ExchangePattern::Neighbour> &list, const std::vector<int> &entries) const
      {
        std::vector<int2> result;
        for (const auto &neighbour : list)
          for (int k = 0; k < neighbour.count; ++k)
            result.push_back({entries[neighbour.offset + k], port_of(neighbour.rank)});
        return result;
      }

      Number *flag(int r, int kind, int port) const
      {
        return reinterpret_cast<Number *>(memory.of_rank(r)) + (n_kinds * port + kind) * peer::flag_stride;
      }
      char *box(int r, std::size_t header, std::size_t bytes, int b) const { return memory.of_rank(r) + header + b * bytes; }

      /** What one rank sends must be what the other one expects, or kernels would write beyond mailboxes. */
      void require_fitting(const std::vector<Offer> &all) const
      {
        std::string mistake;
        for (const int r : neighbours)
          {
            const auto to = std::find_if(pattern.to.begin(), pattern.to.end(), [r](const auto &other) { return other.rank == r; });
            const int  n  = to != pattern.to.end() ? to->count : 0;
            if (const Offer &offer = all[static_cast<std::size_t>(r) * n_ranks + rank]; offer.count != n)
              mistake = "rank " + std::to_string(rank) + " sends " + std::to_string(n) + " entries to rank " + std::to_string(r) +
                        "\n  expected: " + std::to_string(offer.count) + ", as that one receives";
          }
        for (const int r : neighbours)
          if (all[static_cast<std::size_t>(r) * n_ranks + rank].port < 0)
            mistake = "rank " + std::to_string(rank) + " is no neighbour of rank " + std::to_string(r) + "\n  expected: patterns that fit";
        if (const std::string first = first_error_of(all_gather, n_ranks, mistake); !first.empty())
          throw InvalidInput(first);
      }

      int n_blocks(int most) const { return peer::blocks_for(static_cast<long>(std::max(view.n_sent, view.n_received)) * view.n_values, most); }

      const ExchangePattern          pattern;
      const std::vector<int>         neighbours; ///< ports
      const int                      rank, n_ranks;
      const std::size_t              header_bytes, box_bytes;
      const AllGather                all_gather;
      const std::shared_ptr<Traffic> traffic;
      const device::Array<Progress>  progress;
      const device::Array<Port>      ports;
      const device::Array<int2>      sent, received;
      peer::Memory                   memory; ///< flags, then boxes; the first to go, when all kernels have ended
      View                           view{};
      int                            n_begun   = 0;
      bool                           has_begun = false;
      const int                      most_waiting, most_loose; ///< thread blocks of the kernels
    };
  } // namespace

  std::unique_ptr<Exchange> make_peer_exchange(
    const ExchangePattern &pattern, int n_values, int rank, int n_ranks, const AllGather &all_gather, const std::shared_ptr<Traffic> &sent)
  {
    const auto                    first_error = [&](const std::string &own) { return first_error_of(all_gather, n_ranks, own); };
    std::unique_ptr<PeerExchange> result; // its memory may be missing on one rank alone
    together([&] { result = std::make_unique<PeerExchange>(pattern, n_values, rank, n_ranks, all_gather, sent); }, first_error);
    try
      {
        const std::vector<Offer> offers = result->open();
        together([&] { result->connect(offers); }, first_error);
      }
    catch (...)
      {
        result.reset(); // on all ranks, which have the memory open: while no exception is on its way they wait for one another
        throw;
      }
    return result;
  }
} // namespace leopard
