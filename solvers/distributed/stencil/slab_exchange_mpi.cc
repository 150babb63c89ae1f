// SPDX-License-Identifier: Apache-2.0
#include "slab_exchange_mpi.h"

#include "../../device/device.h"

#include <algorithm>
#include <exception>

namespace leopard
{
  namespace
  {
    constexpr int waited_tag = 1, loose_tag = 2;
  }

  MpiSlabExchange::MpiSlabExchange(MPI_Comm comm_, MemorySpace space_, const std::string &reason_)
    : space(space_)
    , reason(reason_)
  {
    MPI_Comm_dup(comm_, &comm);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &n_ranks);
  }

  MpiSlabExchange::~MpiSlabExchange()
  {
    if (std::uncaught_exceptions() > 0)
      return; // what is on its way may never come
    for (Messages *messages : {&sent, &expected_from_below, &expected_from_above})
      for (const auto &message : *messages)
        MPI_Wait(&message->request, MPI_STATUS_IGNORE);
    MPI_Comm_free(&comm);
  }

  std::string MpiSlabExchange::description() const
  {
    return space == MemorySpace::host ? "MPI messages" : "MPI messages, staged through host memory (" + reason + ")";
  }

  void MpiSlabExchange::fetch(double *host, const double *values, int n) const
  {
    if (space == MemorySpace::device)
      device::copy_to_host(host, values, n * sizeof(double));
    else
      std::copy_n(values, n, host);
  }

  void MpiSlabExchange::put(double *values, const double *host, int n) const
  {
    if (space == MemorySpace::device)
      device::copy_to_device(values, host, n * sizeof(double));
    else
      std::copy_n(host, n, values);
  }

  void MpiSlabExchange::exchange(const SlabVector &x, double *b)
  {
    const int   n_down = (b != nullptr ? 3 : 1) * x.plane;
    MPI_Request requests[4];
    int         n_requests = 0;
    if (rank > 0)
      {
        from_below.resize(x.plane);
        MPI_Irecv(from_below.data(), x.plane, MPI_DOUBLE, rank - 1, waited_tag, comm, &requests[n_requests++]);
        to_below.resize(n_down);
        fetch(to_below.data(), x.values, b != nullptr ? 2 * x.plane : x.plane);
        if (b != nullptr)
          fetch(to_below.data() + 2 * x.plane, b, x.plane);
        MPI_Isend(to_below.data(), n_down, MPI_DOUBLE, rank - 1, waited_tag, comm, &requests[n_requests++]);
      }
    if (rank < n_ranks - 1)
      {
        from_above.resize(n_down);
        MPI_Irecv(from_above.data(), n_down, MPI_DOUBLE, rank + 1, waited_tag, comm, &requests[n_requests++]);
        to_above.resize(x.plane);
        fetch(to_above.data(), x.values + static_cast<long>(x.n_planes - 1) * x.plane, x.plane);
        MPI_Isend(to_above.data(), x.plane, MPI_DOUBLE, rank + 1, waited_tag, comm, &requests[n_requests++]);
      }
    if (n_ranks > 1)
      count((rank > 0 ? n_down : 0) + (rank < n_ranks - 1 ? x.plane : 0));
    MPI_Waitall(n_requests, requests, MPI_STATUSES_IGNORE);
    const long n = static_cast<long>(x.n_planes) * x.plane;
    if (rank > 0)
      put(x.values - x.plane, from_below.data(), x.plane);
    if (rank < n_ranks - 1)
      {
        put(x.values + n, from_above.data(), b != nullptr ? 2 * x.plane : x.plane);
        if (b != nullptr)
          put(b + n, from_above.data() + 2 * x.plane, x.plane);
      }
  }

  void MpiSlabExchange::send_loosely(const double *plane, int n, int to)
  {
    auto message = std::make_unique<Message>();
    message->values.resize(1 + n);
    message->values[0] = visit;
    fetch(message->values.data() + 1, plane, n);
    MPI_Isend(message->values.data(), 1 + n, MPI_DOUBLE, to, loose_tag, comm, &message->request);
    sent.push_back(std::move(message));
  }

  void MpiSlabExchange::take_newest(double *ghosts, int n, int from, Messages &messages)
  {
    // both sides have sent as many messages as they will have asked for: one a call
    auto message = std::make_unique<Message>();
    message->values.resize(1 + n);
    MPI_Irecv(message->values.data(), 1 + n, MPI_DOUBLE, from, loose_tag, comm, &message->request);
    messages.push_back(std::move(message));
    for (int arrived = 1; !messages.empty();)
      {
        MPI_Test(&messages.front()->request, &arrived, MPI_STATUS_IGNORE);
        if (!arrived)
          return;
        if (messages.front()->values[0] == visit)
          put(ghosts, messages.front()->values.data() + 1, n);
        messages.pop_front();
      }
  }

  void MpiSlabExchange::exchange_loosely(const SlabVector &x, bool begins)
  {
    visit += begins;
    const long n = static_cast<long>(x.n_planes) * x.plane;
    if (n_ranks > 1)
      count(x.plane * ((rank > 0) + (rank < n_ranks - 1)));
    if (rank > 0)
      send_loosely(x.values, x.plane, rank - 1);
    if (rank < n_ranks - 1)
      send_loosely(x.values + n - x.plane, x.plane, rank + 1);
    if (rank > 0)
      take_newest(x.values - x.plane, x.plane, rank - 1, expected_from_below);
    if (rank < n_ranks - 1)
      take_newest(x.values + n, x.plane, rank + 1, expected_from_above);
    for (int done = 1; !sent.empty();)
      {
        MPI_Test(&sent.front()->request, &done, MPI_STATUS_IGNORE);
        if (!done)
          break;
        sent.pop_front();
      }
  }

  void MpiSlabExchange::gather(double *whole, const std::vector<int> &offsets)
  {
    std::vector<int> counts(n_ranks);
    for (int r = 0; r < n_ranks; ++r)
      counts[r] = offsets[r + 1] - offsets[r];
    if (n_ranks > 1)
      count(static_cast<long>(counts[rank]) * (n_ranks - 1));
    double *all = whole;
    if (space == MemorySpace::device)
      {
        gathered.resize(offsets[n_ranks]);
        all = gathered.data();
        fetch(all + offsets[rank], whole + offsets[rank], counts[rank]);
      }
    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, counts.data(), offsets.data(), MPI_DOUBLE, comm);
    if (space == MemorySpace::device)
      put(whole, all, offsets[n_ranks]);
  }
} // namespace leopard
