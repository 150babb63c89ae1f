// SPDX-License-Identifier: Apache-2.0
#include "ghost_exchange.h"

#include "mpi_transport.h"
#include "some_to_some.h"

#include <map>

namespace leopard
{
  ExchangePattern ghost_pattern(const OwnRange &own, const std::vector<int> &ghosts, MPI_Comm comm)
  {
    ExchangePattern                 pattern;
    std::map<int, std::vector<int>> asked;
    // own ranges ascend with the rank and ghosts are sorted, so each neighbour's ghosts stand together
    for (std::size_t k = 0; k < ghosts.size(); ++k)
      {
        const int owner = own.owner_of(ghosts[k]);
        asked[owner].push_back(ghosts[k]);
        pattern.add_received(owner, own.n() + static_cast<int>(k));
      }
    for (const auto &[rank, numbers] : some_to_some(asked, comm))
      for (const int number : numbers)
        pattern.add_sent(rank, number - own.first());
    return pattern;
  }

  namespace
  {
    std::unique_ptr<MpiExchange> connect(const ExchangePattern &pattern, const std::shared_ptr<const MPI_Comm> &comm)
    {
      return std::make_unique<MpiExchange>(pattern, 1, comm, MemorySpace::host, std::make_shared<Traffic>());
    }
  } // namespace

  DeviceTransport::DeviceTransport(MPI_Comm comm_, bool staged_)
    : comm(comm_)
    , staged(staged_)
  {
  }

  Transport &DeviceTransport::get()
  {
    if (transport == nullptr)
      transport = make_transport(comm, Backend::cuda, staged, 1); // which gathers nothing
    return *transport;
  }

  template <typename Number>
  GhostExchange<Number>::GhostExchange(
    const OwnRange &own, const std::vector<int> &ghosts, MPI_Comm comm_, const std::vector<int> &old_row, bool staged)
    : comm(comm_)
    , pattern(ghost_pattern(own, ghosts, comm).in_order(old_row))
    , own_comm(duplicate(comm))
    , exchange(connect(pattern, own_comm))
    , on_device(std::make_shared<DeviceTransport>(comm, staged))
  {
    const int n_ghosts = static_cast<int>(pattern.received.size());
    int       most     = 0;
    MPI_Allreduce(&n_ghosts, &most, 1, MPI_INT, MPI_MAX, comm);
    ghosts_anywhere = most > 0;
  }

  template <typename Number>
  template <typename Other>
  GhostExchange<Number>::GhostExchange(const GhostExchange<Other> &other, const std::vector<int> &old_row)
    : comm(other.comm)
    , ghosts_anywhere(other.ghosts_anywhere)
    , pattern(other.pattern.in_order(old_row))
    , own_comm(other.own_comm)
    , exchange(connect(pattern, own_comm))
    , on_device(other.on_device)
  {
  }

  template <typename Number>
  std::unique_ptr<const Communication<Number>> GhostExchange<Number>::reordered(const std::vector<int> &old_row) const
  {
    return std::unique_ptr<const Communication<Number>>(new GhostExchange<Number>(*this, old_row));
  }

  template <typename Number>
  std::unique_ptr<const Communication<float>> GhostExchange<Number>::in_single() const
  {
    return std::unique_ptr<const Communication<float>>(new GhostExchange<float>(*this, std::vector<int>()));
  }

  template <typename Number>
  void GhostExchange<Number>::update_ghosts(Number *x, MemorySpace space) const
  {
    if (!ghosts_anywhere)
      return;
    if (Exchange *const kernels = space == MemorySpace::device ? between_gpus() : nullptr; kernels != nullptr)
      kernels->update(x);
    else
      exchange->update(x, space);
  }

  template <typename Number>
  Exchange *GhostExchange<Number>::between_gpus() const
  {
    if (direct == nullptr && on_device->get().is_queued())
      direct = on_device->get().connect(pattern, 1);
    return direct.get();
  }

  template <typename Number>
  bool GhostExchange<Number>::is_queued(MemorySpace space) const
  {
    if (space == MemorySpace::host || !is_distributed())
      return space == MemorySpace::device;
    return ghosts_anywhere ? between_gpus() != nullptr : on_device->get().is_queued();
  }

  template <typename Number>
  std::string GhostExchange<Number>::description(MemorySpace space) const
  {
    if (!ghosts_anywhere)
      return "";
    if (space == MemorySpace::host)
      return "MPI messages";
    return on_device->if_made() != nullptr ? on_device->if_made()->description() : "a way that is chosen at the first exchange";
  }

  template <typename Number>
  class GhostExchange<Number>::Loose : public FreeExchange<Number>
  {
  public:
    explicit Loose(const GhostExchange &ghosts)
      : exchange(connect(ghosts.pattern, duplicate(ghosts.comm)))
    {
    }
    void        begin() override { exchange->begin(); }
    void        update_ghosts(Number *x, MemorySpace space) override { exchange->update_loosely(x, space); }
    bool        all_are_done() override { return exchange->all_are_done(); }
    std::string first_error(const std::string &text) const override { return exchange->first_error(text); }

  private:
    const std::unique_ptr<MpiExchange> exchange;
  };

  template <typename Number>
  std::unique_ptr<LooseExchange<Number>> GhostExchange<Number>::loose() const
  {
    return std::make_unique<Loose>(*this);
  }

  template <typename Number>
  std::unique_ptr<FreeExchange<Number>> GhostExchange<Number>::free() const
  {
    return std::make_unique<Loose>(*this);
  }

  template <typename Number>
  double GhostExchange<Number>::sum(double value) const
  {
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_SUM, comm);
    return value;
  }

  template <typename Number>
  double GhostExchange<Number>::max(double value) const
  {
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_MAX, comm);
    return value;
  }

  template <typename Number>
  bool GhostExchange<Number>::is_distributed() const
  {
    return size_of(comm) > 1;
  }

  template <typename Number>
  bool GhostExchange<Number>::has_ghosts() const
  {
    return ghosts_anywhere;
  }

#define INSTANTIATE(Number) template class GhostExchange<Number>;
  LEOPARD_FOR_EACH_NUMBER(INSTANTIATE)
#undef INSTANTIATE
} // namespace leopard
