// SPDX-License-Identifier: Apache-2.0
#include "ghost_exchange.h"

#include "../device/device.h"

#include <deal.II/base/partitioner.h>

namespace leopard
{
  /** Staging memory on the device, made at the first exchange of a device vector and kept. */
  struct GhostExchange::DeviceBuffers
  {
    explicit DeviceBuffers(const std::vector<int> &packed_indices)
    {
      if (packed_indices.empty())
        return;
      indices = static_cast<int *>(device::allocate(packed_indices.size() * sizeof(int)));
      device::copy_to_device(indices, packed_indices.data(), packed_indices.size() * sizeof(int));
      packed = static_cast<double *>(device::allocate(packed_indices.size() * sizeof(double)));
    }
    DeviceBuffers(const DeviceBuffers &)            = delete;
    DeviceBuffers &operator=(const DeviceBuffers &) = delete;
    ~DeviceBuffers()
    {
      device::release(indices);
      device::release(packed);
    }
    int    *indices = nullptr;
    double *packed  = nullptr;
  };

  GhostExchange::GhostExchange(const dealii::IndexSet &owned, const dealii::IndexSet &ghosts, MPI_Comm comm_, const std::vector<int> &old_row)
    : comm(comm_)
  {
    const dealii::Utilities::MPI::Partitioner partitioner(owned, ghosts, comm);
    n_owned         = static_cast<int>(partitioner.locally_owned_size());
    n_ghosts        = static_cast<int>(partitioner.n_ghost_indices());
    ghosts_anywhere = dealii::Utilities::MPI::max(n_ghosts, comm) > 0;

    int offset = 0;
    for (const auto &[rank, count] : partitioner.import_targets())
      {
        send.push_back({rank, offset, static_cast<int>(count)});
        offset += static_cast<int>(count);
      }
    for (const auto &[begin, end] : partitioner.import_indices())
      for (unsigned int i = begin; i < end; ++i)
        packed_indices.push_back(static_cast<int>(i));
    if (!old_row.empty())
      number_anew(old_row);

    // The owned ranges ascend with the rank and ghosts are sorted, so each neighbour's ghosts stand together.
    offset = 0;
    for (const auto &[rank, count] : partitioner.ghost_targets())
      {
        receive.push_back({rank, offset, static_cast<int>(count)});
        offset += static_cast<int>(count);
      }
    packed.resize(packed_indices.size());
    received.resize(n_ghosts);
    requests.resize(send.size() + receive.size());
  }

  GhostExchange::GhostExchange(const GhostExchange &other, const std::vector<int> &old_row)
    : comm(other.comm)
    , ghosts_anywhere(other.ghosts_anywhere)
    , n_owned(other.n_owned)
    , n_ghosts(other.n_ghosts)
    , send(other.send)
    , receive(other.receive)
    , packed_indices(other.packed_indices)
    , packed(other.packed.size())
    , received(other.received.size())
    , requests(other.requests.size())
  {
    number_anew(old_row);
  }

  GhostExchange::~GhostExchange() = default;

  void GhostExchange::number_anew(const std::vector<int> &old_row)
  {
    std::vector<int> new_row(old_row.size());
    for (std::size_t i = 0; i < old_row.size(); ++i)
      new_row[old_row[i]] = static_cast<int>(i);
    for (int &i : packed_indices)
      i = new_row[i];
  }

  std::unique_ptr<const Communication> GhostExchange::reordered(const std::vector<int> &old_row) const
  {
    return std::make_unique<GhostExchange>(*this, old_row);
  }

  void GhostExchange::update_ghosts(double *x, MemorySpace space) const
  {
    if (!ghosts_anywhere)
      return;
    const bool on_device = space == MemorySpace::device;
    if (on_device && device_buffers == nullptr)
      device_buffers = std::make_unique<DeviceBuffers>(packed_indices);

    constexpr int tag     = 4711;
    double       *arrived = on_device ? received.data() : x + n_owned;
    std::size_t   request = 0;
    for (const Neighbour &from : receive)
      MPI_Irecv(arrived + from.offset, from.count, MPI_DOUBLE, from.rank, tag, comm, &requests[request++]);

    if (on_device && !packed_indices.empty())
      {
        device::gather(device_buffers->packed, x, device_buffers->indices, static_cast<int>(packed_indices.size()));
        device::copy_to_host(packed.data(), device_buffers->packed, packed.size() * sizeof(double));
      }
    else
      for (std::size_t i = 0; i < packed_indices.size(); ++i)
        packed[i] = x[packed_indices[i]];

    for (const Neighbour &to : send)
      MPI_Isend(packed.data() + to.offset, to.count, MPI_DOUBLE, to.rank, tag, comm, &requests[request++]);
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);

    if (on_device && n_ghosts > 0)
      device::copy_to_device(x + n_owned, received.data(), received.size() * sizeof(double));
  }

  double GhostExchange::sum(double value) const
  {
    return dealii::Utilities::MPI::sum(value, comm);
  }

  double GhostExchange::max(double value) const
  {
    return dealii::Utilities::MPI::max(value, comm);
  }

  bool GhostExchange::is_distributed() const
  {
    return dealii::Utilities::MPI::n_mpi_processes(comm) > 1;
  }

  bool GhostExchange::has_ghosts() const
  {
    return ghosts_anywhere;
  }
} // namespace leopard
