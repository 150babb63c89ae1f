// SPDX-License-Identifier: Apache-2.0
#include "ghost_exchange.h"

#include <deal.II/base/partitioner.h>

namespace leopard
{
  namespace
  {
    /** Vectors have the own entries first, then the ghosts. */
    ExchangePattern pattern_of(const dealii::Utilities::MPI::Partitioner &partitioner)
    {
      ExchangePattern  pattern;
      std::vector<int> sent;
      for (const auto &[begin, end] : partitioner.import_indices())
        for (unsigned int i = begin; i < end; ++i)
          sent.push_back(static_cast<int>(i));
      std::size_t k = 0;
      for (const auto &[rank, count] : partitioner.import_targets())
        for (unsigned int i = 0; i < count; ++i)
          pattern.add_sent(static_cast<int>(rank), sent[k++]);
      // the owned ranges ascend with the rank and ghosts are sorted, so each neighbour's ghosts stand together
      int ghost = static_cast<int>(partitioner.locally_owned_size());
      for (const auto &[rank, count] : partitioner.ghost_targets())
        for (unsigned int i = 0; i < count; ++i)
          pattern.add_received(static_cast<int>(rank), ghost++);
      return pattern;
    }

    std::unique_ptr<MpiExchange> connect(const ExchangePattern &pattern, const std::shared_ptr<const MPI_Comm> &comm)
    {
      return std::make_unique<MpiExchange>(pattern, 1, comm, MemorySpace::host, std::make_shared<Traffic>());
    }
  } // namespace

  template <typename Number>
  GhostExchange<Number>::GhostExchange(const dealii::IndexSet &owned, const dealii::IndexSet &ghosts, MPI_Comm comm_, const std::vector<int> &old_row)
    : comm(comm_)
    , pattern(pattern_of(dealii::Utilities::MPI::Partitioner(owned, ghosts, comm)).in_order(old_row))
    , own_comm(duplicate(comm))
    , exchange(connect(pattern, own_comm))
  {
    ghosts_anywhere = dealii::Utilities::MPI::max(static_cast<int>(pattern.received.size()), comm) > 0;
  }

  template <typename Number>
  template <typename Other>
  GhostExchange<Number>::GhostExchange(const GhostExchange<Other> &other, const std::vector<int> &old_row)
    : comm(other.comm)
    , ghosts_anywhere(other.ghosts_anywhere)
    , pattern(other.pattern.in_order(old_row))
    , own_comm(other.own_comm)
    , exchange(connect(pattern, own_comm))
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
    if (ghosts_anywhere)
      exchange->update(x, space);
  }

  template <typename Number>
  class GhostExchange<Number>::Loose : public LooseExchange<Number>
  {
  public:
    explicit Loose(const GhostExchange &ghosts)
      : exchange(connect(ghosts.pattern, duplicate(ghosts.comm)))
    {
    }
    void begin() override { exchange->begin(); }
    void update_ghosts(Number *x, MemorySpace space) override { exchange->update_loosely(x, space); }

  private:
    const std::unique_ptr<MpiExchange> exchange;
  };

  template <typename Number>
  std::unique_ptr<LooseExchange<Number>> GhostExchange<Number>::loose() const
  {
    return std::make_unique<Loose>(*this);
  }

  template <typename Number>
  double GhostExchange<Number>::sum(double value) const
  {
    return dealii::Utilities::MPI::sum(value, comm);
  }

  template <typename Number>
  double GhostExchange<Number>::max(double value) const
  {
    return dealii::Utilities::MPI::max(value, comm);
  }

  template <typename Number>
  bool GhostExchange<Number>::is_distributed() const
  {
    return dealii::Utilities::MPI::n_mpi_processes(comm) > 1;
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
