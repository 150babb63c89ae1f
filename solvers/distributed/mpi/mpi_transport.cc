// SPDX-License-Identifier: Apache-2.0
#include "mpi_transport.h"

#include "../../base/together.h"
#include "../../device/device.h"
#include "../../device/host_array.h"
#include "../../exchange/peer_transport.h"
#include "gpus_of_ranks.h"
#include "mpi_exchange.h"

namespace leopard
{
  int rank_in(MPI_Comm comm)
  {
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    return rank;
  }

  int size_of(MPI_Comm comm)
  {
    int n = 1;
    MPI_Comm_size(comm, &n);
    return n;
  }

  AllGather all_gather_in(MPI_Comm comm)
  {
    return [comm](const void *own, std::size_t n_bytes, void *all) {
      MPI_Allgather(own, static_cast<int>(n_bytes), MPI_BYTE, all, static_cast<int>(n_bytes), MPI_BYTE, comm);
    };
  }

  std::string first_error_in(MPI_Comm comm, const std::string &own)
  {
    return first_error_of(all_gather_in(comm), size_of(comm), own);
  }

  namespace
  {
    /** MPI messages, of host arrays or, staged through the host, of device arrays. */
    class MpiTransport : public Transport
    {
    public:
      /** @param reason_ why device arrays do not travel directly. */
      MpiTransport(MPI_Comm comm_, MemorySpace space_, const std::string &reason_ = "")
        : comm(duplicate(comm_))
        , space(space_)
        , reason(reason_)
        , rank(rank_in(comm_))
        , counts(size_of(comm_))
      {
      }

      std::string description() const override
      {
        return space == MemorySpace::host ? "MPI messages" : "MPI messages, staged through host memory (" + reason + ")";
      }
      bool is_queued() const override { return false; }

      std::unique_ptr<Exchange> connect(const ExchangePattern &pattern, int n_values) override
      {
        const auto                   own_comm = duplicate(*comm);
        std::unique_ptr<MpiExchange> result; // its memory may be missing on one rank alone
        together([&] { result = std::make_unique<MpiExchange>(pattern, n_values, own_comm, space, sent); },
                 [this](const std::string &own) { return first_error(own); });
        return result;
      }

      void gather(double *whole, const std::vector<int> &offsets) override
      {
        const int n_ranks = static_cast<int>(counts.size());
        if (n_ranks == 1)
          return;
        for (int r = 0; r < n_ranks; ++r)
          counts[r] = offsets[r + 1] - offsets[r];
        sent->count(sizeof(double) * static_cast<std::size_t>(counts[rank]) * (n_ranks - 1));
        double *all = whole;
        if (space == MemorySpace::device)
          {
            if (gathered.size() < static_cast<std::size_t>(offsets[n_ranks]))
              gathered = device::HostArray<double>(offsets[n_ranks]);
            all = gathered.data();
            device::copy_to_host(all + offsets[rank], whole + offsets[rank], counts[rank] * sizeof(double));
          }
        MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, counts.data(), offsets.data(), MPI_DOUBLE, *comm);
        if (space == MemorySpace::device)
          device::copy_to_device(whole, all, offsets[n_ranks] * sizeof(double));
      }

      std::string first_error(const std::string &own) override { return first_error_in(*comm, own); }

    private:
      const std::shared_ptr<const MPI_Comm> comm;
      const MemorySpace                     space;
      const std::string                     reason;
      const int                             rank;
      std::vector<int>                      counts;   ///< one a rank
      device::HostArray<double>             gathered; ///< of device arrays
    };

    bool one_host(MPI_Comm comm)
    {
      MPI_Comm host;
      MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
      const int one = size_of(host) == size_of(comm);
      MPI_Comm_free(&host);
      int all = 0;
      MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_MIN, comm);
      return all == 1;
    }

    /** In a communicator of its own, whose last use may be when MPI is over: then nobody is waited for. */
    AllGather own_all_gather(MPI_Comm comm)
    {
      return [own_comm = duplicate(comm)](const void *own, std::size_t n_bytes, void *all) {
        int is_over = 0;
        MPI_Finalized(&is_over);
        if (!is_over)
          all_gather_in (*own_comm)(own, n_bytes, all);
      };
    }
  } // namespace

  std::string why_by_messages(bool asked_for, bool on_one_host, bool shares_gpu)
  {
    return asked_for ? "as asked for" : !on_one_host ? "the ranks are on several hosts" : shares_gpu ? "ranks share a GPU" : "";
  }

  std::unique_ptr<Transport> make_transport(MPI_Comm comm, Backend backend, bool staged, long largest_vector)
  {
    if (backend != Backend::cuda)
      return std::make_unique<MpiTransport>(comm, MemorySpace::host);
    const bool  on_one_host = staged || one_host(comm), asks = !staged && on_one_host;
    std::string reason = why_by_messages(staged, on_one_host, asks && share_a_gpu(gpus_of_ranks(true, "", comm)));
    if (reason.empty())
      {
        auto result = make_peer_transport(rank_in(comm), size_of(comm), largest_vector, own_all_gather(comm), reason);
        if (result != nullptr)
          return result;
      }
    return std::make_unique<MpiTransport>(comm, MemorySpace::device, reason);
  }
} // namespace leopard
