// SPDX-License-Identifier: Apache-2.0
#include "../device/cuda_error.cuh"
#include "../device/device.h"
#include "peer_memory.cuh"

#include <algorithm>
#include <cstring>
#include <exception>
#include <mutex>
#include <random>
#include <set>
#include <utility>

namespace leopard::peer
{
  namespace
  {
    /** An allocation of its own, as a handle opens the whole of the driver's block that an array lies in. */
    std::size_t whole_blocks(std::size_t n_bytes)
    {
      constexpr std::size_t block = std::size_t(2) << 20;
      return std::max<std::size_t>(1, (n_bytes + block - 1) / block) * block; // one without neighbours has a block, too: all open all
    }

    /** Of this process: numbers of processes may be equal in containers. */
    unsigned long long process_number()
    {
      static const unsigned long long number = (static_cast<unsigned long long>(std::random_device()()) << 32) + std::random_device()();
      return number;
    }

    struct Card
    {
      cudaIpcMemHandle_t handle;
      unsigned long long process;
      char              *memory; ///< and device: for ranks that are threads of the same process
      int                device;
      bool               has_handle; ///< threads of one process need none
      char               error[128];

      void note(cudaError_t code)
      {
        if (code != cudaSuccess)
          std::strncpy(error, cudaGetErrorString(code), sizeof(error) - 1);
        cudaGetLastError(); // an answer here, not an error to keep
      }
    };
  } // namespace

  cudaError_t reach(int other)
  {
    int own = 0;
    if (const cudaError_t code = cudaGetDevice(&own); code != cudaSuccess || own == other)
      return code;
    static std::mutex                    one_at_a_time;
    static std::set<std::pair<int, int>> reached; // asking twice is an error
    const std::lock_guard<std::mutex>    lock(one_at_a_time);
    if (reached.count({own, other}) > 0)
      return cudaSuccess;
    const cudaError_t code = cudaDeviceEnablePeerAccess(other, 0);
    cudaGetLastError();                                                   // an answer here
    if (code != cudaSuccess && code != cudaErrorPeerAccessAlreadyEnabled) // by somebody else of this process
      return code;
    reached.insert({own, other});
    return cudaSuccess;
  }

  Memory::Memory(std::size_t n_bytes, int rank_, int n_ranks_, const AllGather &all_gather_)
    : rank(rank_)
    , n_ranks(n_ranks_)
    , all_gather(all_gather_)
    , own(whole_blocks(n_bytes))
    , begin(n_ranks, nullptr)
    , opened(n_ranks, nullptr)
  {
    LEOPARD_CHECK(cudaMemset(own.data(), 0, own.size()));
    device::synchronize(); // before anybody else writes there
    begin[rank] = own.data();
  }

  Memory::~Memory()
  {
    cudaDeviceSynchronize();
    wait_for_all_ranks(); // nobody writes into closed memory
    for (int r = 0; r < n_ranks; ++r)
      if (opened[r] != nullptr)
        cudaIpcCloseMemHandle(opened[r]);
    wait_for_all_ranks(); // nobody gives back memory that another one has open
  }

  std::string Memory::open(const std::vector<int> &ranks)
  {
    Card mine    = {};
    mine.process = process_number();
    mine.memory  = own.data();
    mine.note(cudaGetDevice(&mine.device));
    const cudaError_t of_handle = cudaIpcGetMemHandle(&mine.handle, own.data());
    mine.has_handle             = of_handle == cudaSuccess;
    cudaGetLastError();
    std::vector<Card> cards(n_ranks);
    all_gather(&mine, sizeof(Card), cards.data());
    if (!mine.has_handle && std::any_of(cards.begin(), cards.end(), [&](const Card &card) { return card.process != mine.process; }))
      mine.note(of_handle);
    for (const int r : ranks)
      if ((cards[r].has_handle || cards[r].process == mine.process) && mine.error[0] == '\0' && cards[r].error[0] == '\0')
        {
          if (cards[r].process == mine.process)
            {
              mine.note(reach(cards[r].device));
              begin[r] = cards[r].memory;
              continue;
            }
          mine.note(cudaIpcOpenMemHandle(&opened[r], cards[r].handle, cudaIpcMemLazyEnablePeerAccess));
          begin[r] = static_cast<char *>(opened[r]);
        }
    all_gather(&mine, sizeof(Card), cards.data());
    for (const Card &card : cards)
      if (card.error[0] != '\0')
        return card.error;
    return "";
  }

  void Memory::wait_for_all_ranks() const
  {
    const char        mine = 0;
    std::vector<char> all(n_ranks);
    if (std::uncaught_exceptions() == 0)
      all_gather(&mine, 1, all.data());
  }
} // namespace leopard::peer
