// SPDX-License-Identifier: Apache-2.0
#include "../base/errors.h"
#include "../base/together.h"
#include "../device/cuda_error.cuh"
#include "../device/device.h"
#include "../device/device_array.h"
#include "../device/launch.cuh"
#include "peer_exchange.h"
#include "peer_memory.cuh"
#include "peer_transport.h"

#include <numeric>

namespace leopard
{
  namespace
  {
    using peer::flag_stride, peer::last_to_come, peer::n_threads, peer::Number, peer::raise, peer::wait_for;

    constexpr int    max_ranks    = 64; // a flag for each
    constexpr size_t header_bytes = (max_ranks * flag_stride * sizeof(Number) + 255) / 256 * 256;

    /** What a rank gathers, in its device memory: gather n uses buffer n % 2, as PeerExchange does. */
    struct Mailbox
    {
      char *memory;
      long  largest_vector;

      __device__ Number *flag(int rank) const { return reinterpret_cast<Number *>(memory) + rank * flag_stride; }
      __device__ double *vector(Number number) const { return reinterpret_cast<double *>(memory + header_bytes) + (number % 2) * largest_vector; }

      std::size_t bytes() const { return header_bytes + 2 * sizeof(double) * largest_vector; }
    };

    /** What a rank's kernels remember from one to the next; in device memory, so that a replayed graph counts on. */
    struct Progress
    {
      Number       gathered;      ///< so far
      unsigned int arrived, left; ///< thread blocks of the running kernel
    };

    __device__ inline void take(double *to, double *mail, int n)
    {
      peer::move<double>(
        n, [&](int i) { return peer::load(mail + i); }, [&](int i, double value) { to[i] = value; });
    }

    __device__ inline void send(double *mail, const double *from, int n)
    {
      peer::move<double>(
        n, [&](int i) { return from[i]; }, [&](int i, double value) { peer::store(mail + i, value); });
    }

    __global__ void __launch_bounds__(n_threads)
      gather_kernel(const Mailbox *boxes, int rank, int n_ranks, Progress *progress, double *whole, int begin, int end, int n)
    {
      device::wait_for_previous();
      const Number number = progress->gathered + 1;
      for (int r = 0; r < n_ranks; ++r)
        if (r != rank)
          send(boxes[r].vector(number) + begin, whole + begin, end - begin);
      const Mailbox own = boxes[rank];
      if (last_to_come(&progress->arrived))
        for (int r = 0; r < n_ranks; ++r)
          if (r != rank)
            raise(boxes[r].flag(rank), number);
      if (static_cast<int>(threadIdx.x) < n_ranks && static_cast<int>(threadIdx.x) != rank)
        wait_for(own.flag(threadIdx.x), number);
      __syncthreads();
      take(whole, own.vector(number), begin);
      take(whole + end, own.vector(number) + end, n - end);
      if (last_to_come(&progress->left))
        *progress = {number, 0, 0};
    }

    class PeerTransport : public Transport
    {
    public:
      PeerTransport(int rank_, int n_ranks_, long largest_vector, const AllGather &all_gather_)
        : rank(rank_)
        , n_ranks(n_ranks_)
        , all_gather(all_gather_)
        , boxes(n_ranks, {nullptr, largest_vector})
        , progress(std::vector<Progress>(1, Progress{}))
        , device_boxes(n_ranks)
        , memory(boxes[0].bytes(), rank_, n_ranks_, all_gather_)
        , most_blocks(peer::most_blocks(gather_kernel))
      {
      }

      /** Collective. @return why it cannot be; empty if it can. */
      std::string open()
      {
        std::vector<int> all(n_ranks);
        std::iota(all.begin(), all.end(), 0);
        all.erase(all.begin() + rank);
        const std::string why_not = memory.open(all);
        if (!why_not.empty())
          return why_not;
        for (int r = 0; r < n_ranks; ++r)
          boxes[r].memory = memory.of_rank(r);
        return "";
      }

      /** After open(). Not collective. */
      void tell_device() { device::copy_to_device(device_boxes.data(), boxes.data(), boxes.size() * sizeof(Mailbox)); }

      std::unique_ptr<Exchange> connect(const ExchangePattern &pattern, int n_values) override
      {
        return make_peer_exchange(pattern, n_values, rank, n_ranks, all_gather, sent);
      }

      std::string description() const override { return "kernels write into the other GPUs' memory (CUDA inter-process handles)"; }
      bool        is_queued() const override { return true; }

      void gather(double *whole, const std::vector<int> &offsets) override
      {
        if (n_ranks == 1)
          return;
        require_room(offsets);
        const int begin = offsets[rank], end = offsets[rank + 1], n = offsets[n_ranks];
        device::launch_early(
          gather_kernel, peer::blocks_for(n, most_blocks), n_threads, 0, device_boxes.data(), rank, n_ranks, progress.data(), whole, begin, end, n);
        sent->count(sizeof(double) * static_cast<std::size_t>(end - begin) * (n_ranks - 1));
      }

      std::string first_error(const std::string &own) override { return first_error_of(all_gather, n_ranks, own); }

    private:
      /** More would be written behind the other ranks' mailboxes. */
      void require_room(const std::vector<int> &offsets) const
      {
        if (offsets[n_ranks] > boxes[rank].largest_vector)
          throw InvalidInput(std::to_string(offsets[n_ranks]) + " values are to be gathered\n  expected: at most " +
                             std::to_string(boxes[rank].largest_vector) + ", as said when the transport was made");
      }

      const int               rank, n_ranks;
      const AllGather         all_gather;
      std::vector<Mailbox>    boxes; ///< one a rank
      device::Array<Progress> progress;
      device::Array<Mailbox>  device_boxes;
      peer::Memory            memory;      ///< the first to go, and with it whoever uses the others
      const int               most_blocks; ///< of a kernel
    };
  } // namespace

  std::unique_ptr<Transport> make_peer_transport(int rank, int n_ranks, long largest_vector, const AllGather &all_gather, std::string &why_not)
  {
    if (n_ranks > max_ranks)
      {
        why_not = std::to_string(n_ranks) + " ranks, and mailboxes for " + std::to_string(max_ranks);
        return nullptr;
      }
    std::unique_ptr<PeerTransport> result; // its memory may be missing on one rank alone
    together([&] { result = std::make_unique<PeerTransport>(rank, n_ranks, largest_vector, all_gather); },
             [&](const std::string &own) { return first_error_of(all_gather, n_ranks, own); });
    why_not = result->open();
    if (!why_not.empty())
      return nullptr;
    try
      {
        together([&] { result->tell_device(); }, [&](const std::string &own) { return first_error_of(all_gather, n_ranks, own); });
      }
    catch (...)
      {
        result.reset(); // on all ranks, which have the memory open: while no exception is on its way they wait for one another
        throw;
      }
    return result;
  }
} // namespace leopard
