// SPDX-License-Identifier: Apache-2.0
#include "../../base/errors.h"
#include "../../base/together.h"
#include "../../device/cuda_error.cuh"
#include "../../device/device.h"
#include "../../device/device_array.h"
#include "slab_exchange_cuda.h"

#include <cuda/atomic>

#include <algorithm>
#include <cstring>
#include <exception>

namespace leopard
{
  namespace
  {
    using Number = unsigned long long; // of an exchange; flags only grow

    constexpr int    max_ranks = 64, n_threads = 256, flag_stride = 16; // flags stand 128 bytes apart
    constexpr int    n_flags      = 4 + 2 * max_ranks;
    constexpr size_t header_bytes = (n_flags * flag_stride * sizeof(Number) + 255) / 256 * 256;
    constexpr Number longest_wait = 300ull * 1000 * 1000 * 1000; // ns
    constexpr Number patience =
      4000; // ns: what a value needs from one GPU to the next. Ranks that are at the same place would otherwise always just miss one another

    enum Flag
    {
      flag_from_below,
      flag_from_above,
      flag_loose_from_below,
      flag_loose_from_above,
      flag_gathered,                                  ///< and one a rank from here on
      flag_loose_gathered = flag_gathered + max_ranks ///< likewise
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
      __device__ double *loose_vector() const { return mail(n_mail_planes) + 2 * largest_vector; }

      std::size_t bytes() const { return header_bytes + sizeof(double) * (n_mail_planes * largest_plane + 3 * largest_vector); }
    };

    /** What a rank's kernels remember from one to the next; in device memory, so that a replayed graph counts on. */
    struct Progress
    {
      Number       waited, visit, gathered, gather_visit; ///< exchanges, visits with loose exchanges, gathers, and visits with loose gathers so far
      unsigned int arrived, left;                         ///< thread blocks of the running kernel
    };

    __device__ inline Number nanoseconds()
    {
      Number t;
      asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t));
      return t;
    }

    __device__ inline void raise(Number *flag, Number number)
    {
      cuda::atomic_ref<Number, cuda::thread_scope_system>(*flag).store(number, cuda::memory_order_release);
    }

    __device__ inline Number look(Number *flag)
    {
      return cuda::atomic_ref<Number, cuda::thread_scope_system>(*flag).load(cuda::memory_order_acquire);
    }

    __device__ inline void wait_for(Number *flag, Number number)
    {
      const Number start = nanoseconds();
      while (look(flag) < number)
        if (nanoseconds() - start > longest_wait)
          __trap();
    }

    /**
     * Counts the thread blocks that have come here. Called by all threads; true in the first thread of the last block.
     * What all blocks wrote before happens before what it does next: its raise() releases their writes to other GPUs,
     * too, and is the only fence beyond this GPU, each of which costs a microsecond.
     */
    __device__ inline bool last_to_come(unsigned int *counter)
    {
      __syncthreads();
      if (threadIdx.x != 0)
        return false;
      return cuda::atomic_ref<unsigned int, cuda::thread_scope_device>(*counter).fetch_add(1, cuda::memory_order_acq_rel) == gridDim.x - 1;
    }

    __device__ inline void leave(Progress *progress, Number Progress::*counter, Number number)
    {
      if (last_to_come(&progress->left))
        {
          progress->arrived = progress->left = 0;
          progress->*counter                 = number;
        }
    }

    /**
     * put(i, get(i)) for all i < n by all threads of the grid, with several values of a thread on their way at once.
     */
    template <typename Get, typename Put>
    __device__ void move(int n, const Get &get, const Put &put)
    {
      constexpr int at_once = 4;
      const int     stride  = gridDim.x * blockDim.x;
      for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += at_once * stride)
        {
          double values[at_once];
#pragma unroll
          for (int e = 0; e < at_once; ++e)
            if (i + e * stride < n)
              values[e] = get(i + e * stride);
#pragma unroll
          for (int e = 0; e < at_once; ++e)
            if (i + e * stride < n)
              put(i + e * stride, values[e]);
        }
    }

    using MailValue = cuda::atomic_ref<double, cuda::thread_scope_system>;

    /** Mailboxes are written by other GPUs: plain loads could find old values in a cache. */
    __device__ inline void take(double *to, double *mail, int n)
    {
      move(
        n, [&](int i) { return MailValue(mail[i]).load(cuda::memory_order_relaxed); }, [&](int i, double value) { to[i] = value; });
    }

    __device__ inline void send(double *mail, const double *from, int n)
    {
      move(
        n, [&](int i) { return from[i]; }, [&](int i, double value) { MailValue(mail[i]).store(value, cuda::memory_order_relaxed); });
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
          const Number start = nanoseconds();
          do
            {
              has_come[0] = below.memory != nullptr && look(own.flag(flag_loose_from_below)) == visit;
              has_come[1] = above.memory != nullptr && look(own.flag(flag_loose_from_above)) == visit;
            }
          while ((has_come[0] != (below.memory != nullptr) || has_come[1] != (above.memory != nullptr)) && nanoseconds() - start < patience);
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

    /** Where the parts of ranks begin, and the length. */
    struct Offsets
    {
      int value[max_ranks + 1];
    };

    __global__ void __launch_bounds__(n_threads)
      gather_loosely_kernel(const Mailbox *boxes, int rank, int n_ranks, Progress *progress, double *whole, const Offsets offsets, bool begins)
    {
      __shared__ bool has_come[max_ranks];
      const Number    visit = progress->gather_visit + begins;
      const int       begin = offsets.value[rank], n = offsets.value[rank + 1] - begin, other = threadIdx.x;
      for (int r = 0; r < n_ranks; ++r)
        if (r != rank)
          send(boxes[r].loose_vector() + begin, whole + begin, n);
      const Mailbox own = boxes[rank];
      if (last_to_come(&progress->arrived))
        for (int r = 0; r < n_ranks; ++r)
          if (r != rank)
            raise(boxes[r].flag(flag_loose_gathered + rank), visit);
      if (other < n_ranks)
        {
          const Number start = nanoseconds();
          do
            has_come[other] = other != rank && look(own.flag(flag_loose_gathered + other)) == visit;
          while (!has_come[other] && other != rank && nanoseconds() - start < patience);
        }
      __syncthreads();
      for (int r = 0; r < n_ranks; ++r)
        if (has_come[r])
          take(whole + offsets.value[r], own.loose_vector() + offsets.value[r], offsets.value[r + 1] - offsets.value[r]);
      leave(progress, &Progress::gather_visit, visit);
    }

    /** For together(); longer texts are cut. */
    std::string first_error_of(const AllGather &all_gather, int n_ranks, const std::string &own)
    {
      struct Text
      {
        char characters[2048];
      };
      Text mine = {};
      std::strncpy(mine.characters, own.c_str(), sizeof(Text) - 1);
      std::vector<Text> texts(n_ranks);
      all_gather(&mine, sizeof(Text), texts.data());
      for (const Text &text : texts)
        if (text.characters[0] != '\0')
          return text.characters;
      return "";
    }

    class CudaSlabExchange : public SlabExchange
    {
    public:
      CudaSlabExchange(int rank_, int n_ranks_, long largest_plane, long largest_vector, const AllGather &all_gather_)
        : rank(rank_)
        , n_ranks(n_ranks_)
        , all_gather(all_gather_)
        , boxes(n_ranks, {nullptr, largest_plane, largest_vector})
        , memory(boxes[0].bytes())
        , progress(1)
        , device_boxes(n_ranks)
      {
        LEOPARD_CHECK(cudaMemset(memory.data(), 0, memory.size()));
        LEOPARD_CHECK(cudaMemset(progress.data(), 0, sizeof(Progress)));
        device::synchronize(); // before anybody else writes there
        boxes[rank].memory = memory.data();
      }

      ~CudaSlabExchange() override
      {
        cudaDeviceSynchronize();
        wait_for_all_ranks(); // nobody writes into a closed mailbox
        for (int r = 0; r < n_ranks; ++r)
          if (r != rank && boxes[r].memory != nullptr)
            cudaIpcCloseMemHandle(boxes[r].memory);
        wait_for_all_ranks(); // nobody gives back memory that another one has open
      }

      /** Collective: exchanges handles. @return why it cannot be; empty if it can. */
      std::string connect()
      {
        struct Card
        {
          cudaIpcMemHandle_t handle;
          char               error[128];
        };
        Card own = {};
        note(own.error, cudaIpcGetMemHandle(&own.handle, memory.data()));
        std::vector<Card> cards(n_ranks);
        all_gather(&own, sizeof(Card), cards.data());
        for (int r = 0; r < n_ranks && own.error[0] == '\0'; ++r)
          if (r != rank && cards[r].error[0] == '\0')
            {
              void *opened = nullptr;
              note(own.error, cudaIpcOpenMemHandle(&opened, cards[r].handle, cudaIpcMemLazyEnablePeerAccess));
              boxes[r].memory = static_cast<char *>(opened);
            }
        all_gather(&own, sizeof(Card), cards.data());
        for (const Card &card : cards)
          if (card.error[0] != '\0')
            return card.error;
        device::copy_to_device(device_boxes.data(), boxes.data(), boxes.size() * sizeof(Mailbox));
        return "";
      }

      std::string description() const override { return "kernels write into the other GPUs' memory (CUDA inter-process handles)"; }
      bool        is_queued() const override { return true; }

      void exchange(const SlabVector &x) override { exchange(x, nullptr); }

      void exchange(const SlabVector &x, double *b) override
      {
        if (n_ranks == 1)
          return;
        exchange_kernel<<<blocks_for(x.plane), n_threads>>>(boxes[rank], box(rank - 1), box(rank + 1), progress.data(), x, b);
        LEOPARD_CHECK(cudaGetLastError());
        count(static_cast<long>(x.n_fields) * x.plane * ((rank > 0 ? (b != nullptr ? 3 : 1) : 0) + (rank < n_ranks - 1)));
      }

      void exchange_loosely(const SlabVector &x, bool begins) override
      {
        if (n_ranks == 1)
          return;
        exchange_loosely_kernel<<<blocks_for(x.plane), n_threads>>>(boxes[rank], box(rank - 1), box(rank + 1), progress.data(), x, begins);
        LEOPARD_CHECK(cudaGetLastError());
        count(static_cast<long>(x.n_fields) * x.plane * ((rank > 0) + (rank < n_ranks - 1)));
      }

      void gather(double *whole, const std::vector<int> &offsets) override
      {
        if (n_ranks == 1)
          return;
        require_room(offsets);
        const int begin = offsets[rank], end = offsets[rank + 1], n = offsets[n_ranks];
        gather_kernel<<<blocks_for(n), n_threads>>>(device_boxes.data(), rank, n_ranks, progress.data(), whole, begin, end, n);
        LEOPARD_CHECK(cudaGetLastError());
        count(static_cast<long>(end - begin) * (n_ranks - 1));
      }

      void gather_loosely(double *whole, const std::vector<int> &offsets, bool begins) override
      {
        if (n_ranks == 1)
          return;
        require_room(offsets);
        Offsets all;
        std::copy(offsets.begin(), offsets.end(), all.value);
        gather_loosely_kernel<<<blocks_for(offsets[n_ranks]), n_threads>>>(device_boxes.data(), rank, n_ranks, progress.data(), whole, all, begins);
        LEOPARD_CHECK(cudaGetLastError());
        count(static_cast<long>(offsets[rank + 1] - offsets[rank]) * (n_ranks - 1));
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

      /** All blocks must be on the chip at once, since they wait: there are few. */
      static int blocks_for(int n) { return std::min(96, (n + n_threads - 1) / n_threads); }

      static void note(char (&error)[128], cudaError_t code)
      {
        if (code != cudaSuccess)
          std::strncpy(error, cudaGetErrorString(code), sizeof(error) - 1);
        cudaGetLastError(); // an answer here, not an error to keep
      }

      /** Not on ranks on which something went wrong, as the others may never call it. */
      void wait_for_all_ranks() const
      {
        const char        own = 0;
        std::vector<char> all(n_ranks);
        if (std::uncaught_exceptions() == 0)
          all_gather(&own, 1, all.data());
      }

      Mailbox box(int r) const { return r >= 0 && r < n_ranks ? boxes[r] : Mailbox{nullptr, 0, 0}; }

      const int               rank, n_ranks;
      const AllGather         all_gather;
      std::vector<Mailbox>    boxes; ///< one a rank
      device::Array<char>     memory;
      device::Array<Progress> progress;
      device::Array<Mailbox>  device_boxes;
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
    why_not = result->connect();
    if (!why_not.empty())
      return nullptr;
    return result;
  }
} // namespace leopard
