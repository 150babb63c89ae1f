// SPDX-License-Identifier: Apache-2.0
#include "../../base/errors.h"
#include "../../base/together.h"
#include "../../device/cuda_error.cuh"
#include "../../device/device.h"
#include "../../device/device_array.h"
#include "../../exchange/peer_exchange.h"
#include "../../exchange/peer_memory.cuh"
#include "slab_exchange_cuda.h"

#include <algorithm>
#include <numeric>

namespace leopard
{
  namespace
  {
    using peer::flag_stride, peer::last_to_come, peer::look, peer::n_threads, peer::Number, peer::raise, peer::wait_for;

    constexpr int    max_ranks    = 64;
    constexpr int    n_flags      = 4 + max_ranks;
    constexpr size_t header_bytes = (n_flags * flag_stride * sizeof(Number) + 255) / 256 * 256;

    enum Flag
    {
      flag_from_below,
      flag_from_above,
      flag_loose_from_below,
      flag_loose_from_above,
      flag_gathered ///< and one a rank from here on
    };

    // Exchange n of those that are waited for uses buffer n % 2: a rank that has its neighbour's planes of exchange n
    // may send those of exchange n + 1 while the neighbour still copies those of n, but not those of n + 2. Exchanges
    // without waiting have one buffer a side: planes that are read there may mix several iterations.
    enum Mail
    {
      mail_from_below  = 0,
      mail_from_above  = 1, ///< two planes of x and one of b
      n_waited_planes  = 4,
      mail_loose_below = 2 * n_waited_planes,
      mail_loose_above,
      n_mail_planes
    };

    /** A rank's mailbox, in its device memory. */
    struct Mailbox
    {
      char *memory; ///< null: there is no such rank
      long  largest_plane, largest_vector;

      __device__ Number *flag(int f) const { return reinterpret_cast<Number *>(memory) + f * flag_stride; }
      __device__ double *mail(int plane) const { return reinterpret_cast<double *>(memory + header_bytes) + plane * largest_plane; }
      __device__ double *vector(Number number) const { return mail(n_mail_planes) + (number % 2) * largest_vector; }

      std::size_t bytes() const { return header_bytes + sizeof(double) * (n_mail_planes * largest_plane + 2 * largest_vector); }
    };

    /** What a rank's kernels remember from one to the next; in device memory, so that a replayed graph counts on. */
    struct Progress
    {
      Number       waited, visit, gathered; ///< exchanges, visits with loose exchanges, and gathers so far
      unsigned int arrived, left;           ///< thread blocks of the running kernel
    };

    __device__ inline void leave(Progress *progress, Number Progress::*counter, Number number)
    {
      if (last_to_come(&progress->left))
        {
          progress->arrived = progress->left = 0;
          progress->*counter                 = number;
        }
    }

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

    /** The plane of all fields that begins so many values behind the first own one. */
    __device__ inline void take_plane(const SlabVector &x, long offset, double *mail)
    {
      for (int c = 0; c < x.n_fields; ++c)
        take(x.values + c * x.field_stride + offset, mail + c * x.plane, x.plane);
    }

    __device__ inline void send_plane(double *mail, const SlabVector &x, long offset)
    {
      for (int c = 0; c < x.n_fields; ++c)
        send(mail + c * x.plane, x.values + c * x.field_stride + offset, x.plane);
    }

    /** @param b null: one ghost plane of x on each side only. */
    __global__ void __launch_bounds__(n_threads)
      exchange_kernel(const Mailbox own, const Mailbox below, const Mailbox above, Progress *progress, const SlabVector x, double *b)
    {
      const Number number = progress->waited + 1;
      const int    mail   = static_cast<int>(number % 2) * n_waited_planes;
      const long   n      = static_cast<long>(x.n_planes) * x.plane;
      if (below.memory != nullptr)
        {
          send_plane(below.mail(mail + mail_from_above), x, 0);
          if (b != nullptr)
            {
              send(below.mail(mail + mail_from_above + 1), x.values + x.plane, x.plane);
              send(below.mail(mail + mail_from_above + 2), b, x.plane);
            }
        }
      if (above.memory != nullptr)
        send_plane(above.mail(mail + mail_from_below), x, n - x.plane);
      if (last_to_come(&progress->arrived))
        {
          if (below.memory != nullptr)
            raise(below.flag(flag_from_above), number);
          if (above.memory != nullptr)
            raise(above.flag(flag_from_below), number);
        }
      if (threadIdx.x == 0)
        {
          if (below.memory != nullptr)
            wait_for(own.flag(flag_from_below), number);
          if (above.memory != nullptr)
            wait_for(own.flag(flag_from_above), number);
        }
      __syncthreads();
      if (below.memory != nullptr)
        take_plane(x, -x.plane, own.mail(mail + mail_from_below));
      if (above.memory != nullptr)
        {
          take_plane(x, n, own.mail(mail + mail_from_above));
          if (b != nullptr)
            {
              take(x.values + n + x.plane, own.mail(mail + mail_from_above + 1), x.plane);
              take(b + n, own.mail(mail + mail_from_above + 2), x.plane);
            }
        }
      leave(progress, &Progress::waited, number);
    }

    __global__ void __launch_bounds__(n_threads)
      exchange_loosely_kernel(const Mailbox own, const Mailbox below, const Mailbox above, Progress *progress, const SlabVector x, bool begins)
    {
      __shared__ bool has_come[2];
      const Number    visit = progress->visit + begins;
      const long      n     = static_cast<long>(x.n_planes) * x.plane;
      if (below.memory != nullptr)
        send_plane(below.mail(mail_loose_above), x, 0);
      if (above.memory != nullptr)
        send_plane(above.mail(mail_loose_below), x, n - x.plane);
      if (last_to_come(&progress->arrived))
        {
          if (below.memory != nullptr)
            raise(below.flag(flag_loose_from_above), visit);
          if (above.memory != nullptr)
            raise(above.flag(flag_loose_from_below), visit);
        }
      if (threadIdx.x == 0)
        {
          const Number start = peer::nanoseconds();
          do
            {
              has_come[0] = below.memory != nullptr && look(own.flag(flag_loose_from_below)) == visit;
              has_come[1] = above.memory != nullptr && look(own.flag(flag_loose_from_above)) == visit;
            }
          while ((has_come[0] != (below.memory != nullptr) || has_come[1] != (above.memory != nullptr)) &&
                 peer::nanoseconds() - start < peer::patience);
        }
      __syncthreads();
      if (has_come[0])
        take_plane(x, -x.plane, own.mail(mail_loose_below));
      if (has_come[1])
        take_plane(x, n, own.mail(mail_loose_above));
      leave(progress, &Progress::visit, visit);
    }

    __global__ void __launch_bounds__(n_threads)
      gather_kernel(const Mailbox *boxes, int rank, int n_ranks, Progress *progress, double *whole, int begin, int end, int n)
    {
      const Number number = progress->gathered + 1;
      for (int r = 0; r < n_ranks; ++r)
        if (r != rank)
          send(boxes[r].vector(number) + begin, whole + begin, end - begin);
      const Mailbox own = boxes[rank];
      if (last_to_come(&progress->arrived))
        for (int r = 0; r < n_ranks; ++r)
          if (r != rank)
            raise(boxes[r].flag(flag_gathered + rank), number);
      if (static_cast<int>(threadIdx.x) < n_ranks && static_cast<int>(threadIdx.x) != rank)
        wait_for(own.flag(flag_gathered + threadIdx.x), number);
      __syncthreads();
      take(whole, own.vector(number), begin);
      take(whole + end, own.vector(number) + end, n - end);
      leave(progress, &Progress::gathered, number);
    }

    class CudaSlabExchange : public SlabExchange
    {
    public:
      CudaSlabExchange(int rank_, int n_ranks_, long largest_plane, long largest_vector, const AllGather &all_gather_)
        : rank(rank_)
        , n_ranks(n_ranks_)
        , all_gather(all_gather_)
        , boxes(n_ranks, {nullptr, largest_plane, largest_vector})
        , progress(std::vector<Progress>(1, Progress{}))
        , device_boxes(n_ranks)
        , memory(boxes[0].bytes(), rank_, n_ranks_, all_gather_)
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
        device::copy_to_device(device_boxes.data(), boxes.data(), boxes.size() * sizeof(Mailbox));
        return "";
      }

      std::unique_ptr<Exchange> connect(const ExchangePattern &pattern, int n_values) override
      {
        return make_peer_exchange(pattern, n_values, rank, n_ranks, all_gather, sent);
      }

      std::string description() const override { return "kernels write into the other GPUs' memory (CUDA inter-process handles)"; }
      bool        is_queued() const override { return true; }

      void exchange(const SlabVector &x) override { exchange(x, nullptr); }

      void exchange(const SlabVector &x, double *b) override
      {
        if (n_ranks == 1)
          return;
        exchange_kernel<<<peer::blocks_for(x.plane), n_threads>>>(boxes[rank], box(rank - 1), box(rank + 1), progress.data(), x, b);
        LEOPARD_CHECK(cudaGetLastError());
        count(static_cast<long>(x.n_fields) * x.plane * ((rank > 0 ? (b != nullptr ? 3 : 1) : 0) + (rank < n_ranks - 1)));
      }

      void exchange_loosely(const SlabVector &x, bool begins) override
      {
        if (n_ranks == 1)
          return;
        exchange_loosely_kernel<<<peer::blocks_for(x.plane), n_threads>>>(boxes[rank], box(rank - 1), box(rank + 1), progress.data(), x, begins);
        LEOPARD_CHECK(cudaGetLastError());
        count(static_cast<long>(x.n_fields) * x.plane * ((rank > 0) + (rank < n_ranks - 1)));
      }

      void gather(double *whole, const std::vector<int> &offsets) override
      {
        if (n_ranks == 1)
          return;
        require_room(offsets);
        const int begin = offsets[rank], end = offsets[rank + 1], n = offsets[n_ranks];
        gather_kernel<<<peer::blocks_for(n), n_threads>>>(device_boxes.data(), rank, n_ranks, progress.data(), whole, begin, end, n);
        LEOPARD_CHECK(cudaGetLastError());
        count(static_cast<long>(end - begin) * (n_ranks - 1));
      }

      std::string first_error(const std::string &own) override { return first_error_of(all_gather, n_ranks, own); }

    private:
      /** More would be written behind the other ranks' mailboxes. */
      void require_room(const std::vector<int> &offsets) const
      {
        if (offsets[n_ranks] > boxes[rank].largest_vector)
          throw InvalidInput(std::to_string(offsets[n_ranks]) + " values are to be gathered\n  expected: at most " +
                             std::to_string(boxes[rank].largest_vector) + ", as said when the exchange was made");
      }

      Mailbox box(int r) const { return r >= 0 && r < n_ranks ? boxes[r] : Mailbox{nullptr, 0, 0}; }

      const int               rank, n_ranks;
      const AllGather         all_gather;
      std::vector<Mailbox>    boxes; ///< one a rank
      device::Array<Progress> progress;
      device::Array<Mailbox>  device_boxes;
      peer::Memory            memory; ///< the first to go, and with it whoever uses the others
    };
  } // namespace

  std::unique_ptr<SlabExchange>
  make_cuda_slab_exchange(int rank, int n_ranks, long largest_plane, long largest_vector, const AllGather &all_gather, std::string &why_not)
  {
    if (n_ranks > max_ranks)
      {
        why_not = std::to_string(n_ranks) + " ranks, and mailboxes for " + std::to_string(max_ranks);
        return nullptr;
      }
    std::unique_ptr<CudaSlabExchange> result; // its memory may be missing on one rank alone
    together([&] { result = std::make_unique<CudaSlabExchange>(rank, n_ranks, largest_plane, largest_vector, all_gather); },
             [&](const std::string &own) { return first_error_of(all_gather, n_ranks, own); });
    why_not = result->open();
    if (!why_not.empty())
      return nullptr;
    return result;
  }
} // namespace leopard
