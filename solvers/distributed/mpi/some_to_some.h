// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mpi_transport.h"

#include <map>
#include <type_traits>
#include <vector>

namespace leopard
{
  /** Sends each of some ranks some values. Collective. @return what has come, by the rank that has sent it. */
  template <typename T>
  std::map<int, std::vector<T>> some_to_some(const std::map<int, std::vector<T>> &to_send, MPI_Comm comm)
  {
    static_assert(std::is_trivially_copyable_v<T>);
    constexpr int    tag     = 3; // of no other message of this library in a communicator of the user's
    const int        n_ranks = size_of(comm);
    std::vector<int> sent(n_ranks, 0), received(n_ranks, 0);
    for (const auto &[rank, values] : to_send)
      sent[rank] = static_cast<int>(values.size());
    MPI_Alltoall(sent.data(), 1, MPI_INT, received.data(), 1, MPI_INT, comm);

    MPI_Datatype type; // counts are then those of values, not of bytes
    MPI_Type_contiguous(sizeof(T), MPI_BYTE, &type);
    MPI_Type_commit(&type);
    std::map<int, std::vector<T>> result;
    std::vector<MPI_Request>      requests;
    for (int rank = 0; rank < n_ranks; ++rank)
      if (received[rank] > 0)
        {
          std::vector<T> &values = result[rank];
          values.resize(received[rank]);
          MPI_Irecv(values.data(), received[rank], type, rank, tag, comm, &requests.emplace_back());
        }
    for (const auto &[rank, values] : to_send)
      if (!values.empty())
        MPI_Isend(values.data(), sent[rank], type, rank, tag, comm, &requests.emplace_back());
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    MPI_Type_free(&type);
    return result;
  }
} // namespace leopard
