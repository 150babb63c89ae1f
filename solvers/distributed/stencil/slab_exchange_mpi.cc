// SPDX-License-Identifier: Apache-2.0
#include "slab_exchange_mpi.h"

#include "../../device/device.h"
#include "../mpi/mpi_exchange.h"

#include <algorithm>
#include <exception>

namespace leopard
{
  namespace
  {
    constexpr int waited_tag = 1, loose_tag = 2;
  }

  std::string first_error_in(MPI_Comm comm, const std::string &own)
  {
    int rank = 0, n_ranks = 1;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &n_ranks);
    int first = own.empty() ? n_ranks : rank;
    MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, comm);
    if (first == n_ranks)
      return "";
    int length = static_cast<int>(own.size());
    MPI_Bcast(&length, 1, MPI_INT, first, comm);
    std::string text = own;
    text.resize(length);
    MPI_Bcast(text.data(), length, MPI_CHAR, first, comm);
    return text;
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
    for (Messages *messages : {&on_their_way, &expected_from_below, &expected_from_above})
      for (Message &message : *messages)
        MPI_Wait(&message.request, MPI_STATUS_IGNORE);
    MPI_Comm_free(&comm);
  }

  std::string MpiSlabExchange::description() const
  {
    return space == MemorySpace::host ? "MPI messages" : "MPI messages, staged through host memory (" + reason + ")";
  }

  std::unique_ptr<Exchange> MpiSlabExchange::connect(const ExchangePattern &pattern, int n_values)
  {
    return std::make_unique<MpiExchange>(pattern, n_values, duplicate(comm), space, sent);
  }

  std::string MpiSlabExchange::first_error(const std::string &own)
  {
    return first_error_in(comm, own);
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

  void MpiSlabExchange::fetch_plane(double *host, const SlabVector &x, long offset) const
  {
    for (int c = 0; c < x.n_fields; ++c)
      fetch(host + static_cast<long>(c) * x.plane, x.values + c * x.field_stride + offset, x.plane);
  }

  void MpiSlabExchange::put_plane(const SlabVector &x, long offset, const double *host) const
  {
    for (int c = 0; c < x.n_fields; ++c)
      put(x.values + c * x.field_stride + offset, host + static_cast<long>(c) * x.plane, x.plane);
  }

  void MpiSlabExchange::exchange(const SlabVector &x, double *b)
  {
    const int   n_up = x.n_fields * x.plane, n_down = (b != nullptr ? 3 : 1) * n_up;
    const long  n = static_cast<long>(x.n_planes) * x.plane;
    MPI_Request requests[4];
    int         n_requests = 0;
    if (rank > 0)
      {
        from_below.resize(n_up);
        MPI_Irecv(from_below.data(), n_up, MPI_DOUBLE, rank - 1, waited_tag, comm, &requests[n_requests++]);
        to_below.resize(n_down);
        fetch_plane(to_below.data(), x, 0);
        if (b != nullptr)
          {
            fetch(to_below.data() + x.plane, x.values + x.plane, x.plane);
            fetch(to_below.data() + 2 * x.plane, b, x.plane);
          }
        MPI_Isend(to_below.data(), n_down, MPI_DOUBLE, rank - 1, waited_tag, comm, &requests[n_requests++]);
      }
    if (rank < n_ranks - 1)
      {
        from_above.resize(n_down);
        MPI_Irecv(from_above.data(), n_down, MPI_DOUBLE, rank + 1, waited_tag, comm, &requests[n_requests++]);
        to_above.resize(n_up);
        fetch_plane(to_above.data(), x, n - x.plane);
        MPI_Isend(to_above.data(), n_up, MPI_DOUBLE, rank + 1, waited_tag, comm, &requests[n_requests++]);
      }
    if (n_ranks > 1)
      count((rank > 0 ? n_down : 0) + (rank < n_ranks - 1 ? n_up : 0));
    MPI_Waitall(n_requests, requests, MPI_STATUSES_IGNORE);
    if (rank > 0)
      put_plane(x, -x.plane, from_below.data());
    if (rank < n_ranks - 1)
      {
        put_plane(x, n, from_above.data());
        if (b != nullptr)
          {
            put(x.values + n + x.plane, from_above.data() + x.plane, x.plane);
            put(b + n, from_above.data() + 2 * x.plane, x.plane);
          }
      }
  }

  MpiSlabExchange::Message &MpiSlabExchange::new_message(Messages &messages, int n)
  {
    if (spare.empty())
      spare.emplace_back();
    messages.splice(messages.end(), spare, spare.begin());
    messages.back().values.resize(1 + n);
    return messages.back();
  }

  void MpiSlabExchange::end_first(Messages &messages)
  {
    spare.splice(spare.end(), messages, messages.begin());
  }

  template <typename Fill>
  void MpiSlabExchange::send(int n, double number, int to, int tag, const Fill &fill)
  {
    Message &message  = new_message(on_their_way, n);
    message.values[0] = number;
    fill(message.values.data() + 1);
    MPI_Isend(message.values.data(), 1 + n, MPI_DOUBLE, to, tag, comm, &message.request);
  }

  template <typename Put>
  void MpiSlabExchange::receive(int n, double number, int from, int tag, Messages &messages, const Put &put)
  {
    // both sides have sent as many messages as they will have asked for: one a call
    Message &message = new_message(messages, n);
    MPI_Irecv(message.values.data(), 1 + n, MPI_DOUBLE, from, tag, comm, &message.request);
    for (int arrived = 1; !messages.empty();)
      {
        MPI_Test(&messages.front().request, &arrived, MPI_STATUS_IGNORE);
        if (!arrived)
          return;
        if (messages.front().values[0] == number)
          put(messages.front().values.data() + 1);
        end_first(messages);
      }
  }

  void MpiSlabExchange::end_sent()
  {
    for (int done = 1; !on_their_way.empty();)
      {
        MPI_Test(&on_their_way.front().request, &done, MPI_STATUS_IGNORE);
        if (!done)
          break;
        end_first(on_their_way);
      }
  }

  void MpiSlabExchange::exchange_loosely(const SlabVector &x, bool begins)
  {
    visit += begins;
    const int  n_plane = x.n_fields * x.plane;
    const long n       = static_cast<long>(x.n_planes) * x.plane;
    if (n_ranks > 1)
      count(static_cast<long>(n_plane) * ((rank > 0) + (rank < n_ranks - 1)));
    if (rank > 0)
      send(n_plane, visit, rank - 1, loose_tag, [&](double *to) { fetch_plane(to, x, 0); });
    if (rank < n_ranks - 1)
      send(n_plane, visit, rank + 1, loose_tag, [&](double *to) { fetch_plane(to, x, n - x.plane); });
    if (rank > 0)
      receive(n_plane, visit, rank - 1, loose_tag, expected_from_below, [&](const double *from) { put_plane(x, -x.plane, from); });
    if (rank < n_ranks - 1)
      receive(n_plane, visit, rank + 1, loose_tag, expected_from_above, [&](const double *from) { put_plane(x, n, from); });
    end_sent();
  }

  void MpiSlabExchange::gather(double *whole, const std::vector<int> &offsets)
  {
    counts.resize(n_ranks);
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
