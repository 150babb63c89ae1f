// SPDX-License-Identifier: Apache-2.0
#include "ghost_exchange.h"

#include "../device/device.h"

#include <deal.II/base/partitioner.h>

#include <algorithm>
#include <exception>
#include <limits>

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

  void GhostExchange::pack(const double *x, MemorySpace space) const
  {
    if (space == MemorySpace::host)
      {
        for (std::size_t i = 0; i < packed_indices.size(); ++i)
          packed[i] = x[packed_indices[i]];
        return;
      }
    if (device_buffers == nullptr)
      device_buffers = std::make_unique<DeviceBuffers>(packed_indices);
    if (packed_indices.empty())
      return;
    device::gather(device_buffers->packed, x, device_buffers->indices, static_cast<int>(packed_indices.size()));
    device::copy_to_host(packed.data(), device_buffers->packed, packed.size() * sizeof(double));
  }

  void GhostExchange::update_ghosts(double *x, MemorySpace space) const
  {
    if (!ghosts_anywhere)
      return;
    const bool on_device = space == MemorySpace::device;

    constexpr int tag     = 4711;
    double       *arrived = on_device ? received.data() : x + n_owned;
    std::size_t   request = 0;
    for (const Neighbour &from : receive)
      MPI_Irecv(arrived + from.offset, from.count, MPI_DOUBLE, from.rank, tag, comm, &requests[request++]);

    pack(x, space);
    for (const Neighbour &to : send)
      MPI_Isend(packed.data() + to.offset, to.count, MPI_DOUBLE, to.rank, tag, comm, &requests[request++]);
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);

    if (on_device && n_ghosts > 0)
      device::copy_to_device(x + n_owned, received.data(), received.size() * sizeof(double));
  }

  /**
   * Messages begin with the number of their visit. Sends are synchronous (MPI_Issend), so that one is done only when
   * the neighbour has taken it.
   */
  class GhostExchange::Loose : public LooseExchange
  {
  public:
    explicit Loose(const GhostExchange &ghosts_)
      : ghosts(ghosts_)
      , messages(std::make_unique<Messages>())
    {
      MPI_Comm_dup(ghosts.comm, &comm);
      for (const Neighbour &to : ghosts.send)
        messages->sent.emplace_back(to);
      for (const Neighbour &from : ghosts.receive)
        messages->expected.emplace_back(from);
      for (Message &message : messages->expected)
        expect(message);
    }
    Loose(const Loose &)            = delete;
    Loose &operator=(const Loose &) = delete;

    ~Loose() override
    {
      if (std::uncaught_exceptions() > 0)
        {
          messages.release(); // MPI may yet read and write them
          return;
        }
      take_all();
      for (Message &message : messages->expected)
        {
          MPI_Cancel(&message.request);
          MPI_Wait(&message.request, MPI_STATUS_IGNORE);
        }
      MPI_Comm_free(&comm);
    }

    void begin() override
    {
      take(nullptr, MemorySpace::host);
      ++visit;
    }

    void update_ghosts(double *x, MemorySpace space) override
    {
      send(x, space);
      take(x, space);
    }

  private:
    struct Message
    {
      explicit Message(const Neighbour &neighbour_)
        : neighbour(neighbour_)
        , values(1 + neighbour_.count)
      {
      }
      const Neighbour     neighbour;
      std::vector<double> values; ///< the visit, then what travels
      MPI_Request         request = MPI_REQUEST_NULL;
      bool                is_done = true; ///< taken by the neighbour, or arrived
    };
    struct Messages
    {
      std::vector<Message> sent, expected;
    };

    /** Asks MPI if the message was not done before. */
    static bool is_done(Message &message)
    {
      int done = message.is_done;
      if (!message.is_done)
        MPI_Test(&message.request, &done, MPI_STATUS_IGNORE);
      message.is_done = done != 0;
      return message.is_done;
    }

    void expect(Message &message)
    {
      MPI_Irecv(message.values.data(), 1 + message.neighbour.count, MPI_DOUBLE, message.neighbour.rank, 0, comm, &message.request);
      message.is_done = false;
    }

    void send(const double *x, MemorySpace space)
    {
      bool any = false;
      for (Message &message : messages->sent)
        any = is_done(message) || any;
      if (!any)
        return;
      ghosts.pack(x, space);
      for (Message &message : messages->sent)
        if (message.is_done)
          {
            const Neighbour &to = message.neighbour;
            message.values[0]   = visit;
            std::copy_n(ghosts.packed.begin() + to.offset, to.count, message.values.begin() + 1);
            MPI_Issend(message.values.data(), 1 + to.count, MPI_DOUBLE, to.rank, 0, comm, &message.request);
            message.is_done = false;
          }
    }

    /**
     * Takes all that has arrived but what is of a visit yet to come: of a neighbour that is ahead since it reads
     * nothing of this rank. @param x null: forget it.
     */
    void take(double *x, MemorySpace space)
    {
      for (Message &message : messages->expected)
        while (is_done(message) && message.values[0] <= visit)
          {
            if (x != nullptr && message.values[0] == visit)
              put(x + ghosts.n_owned + message.neighbour.offset, message.values.data() + 1, message.neighbour.count, space);
            expect(message);
          }
    }

    static void put(double *to, const double *from, int n, MemorySpace space)
    {
      if (space == MemorySpace::device)
        device::copy_to_device(to, from, n * sizeof(double));
      else
        std::copy_n(from, n, to);
    }

    /**
     * Takes messages until there are none anywhere: a rank whose own have been taken enters a barrier, and goes on
     * until all have entered it. Source: Hoefler, Siebert, Lumsdaine, Scalable communication protocols for dynamic
     * sparse data exchange, 2010, Algorithm 2.
     */
    void take_all()
    {
      visit                  = std::numeric_limits<double>::infinity();
      MPI_Request everybody  = MPI_REQUEST_NULL;
      bool        is_waiting = false;
      for (int done = 0; !done;)
        {
          take(nullptr, MemorySpace::host);
          if (is_waiting)
            MPI_Test(&everybody, &done, MPI_STATUS_IGNORE);
          else if (std::all_of(messages->sent.begin(), messages->sent.end(), is_done))
            {
              MPI_Ibarrier(comm, &everybody);
              is_waiting = true;
            }
        }
    }

    const GhostExchange      &ghosts;
    MPI_Comm                  comm; ///< a duplicate, so that no messages are mixed up
    double                    visit = 0.;
    std::unique_ptr<Messages> messages;
  };

  std::unique_ptr<LooseExchange> GhostExchange::loose() const
  {
    return std::make_unique<Loose>(*this);
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
