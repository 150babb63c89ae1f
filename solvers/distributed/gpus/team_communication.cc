// SPDX-License-Identifier: Apache-2.0
#include "team_communication.h"

#include "../../base/errors.h"
#include "../../exchange/peer_exchange.h"

#include <algorithm>

namespace leopard
{
  namespace
  {
    bool have_ghosts(const std::vector<RowPart> &parts)
    {
      return std::any_of(parts.begin(), parts.end(), [](const RowPart &part) { return !part.ghosts.empty(); });
    }
  } // namespace

  template <typename Number>
  TeamCommunication<Number>::TeamCommunication(DeviceTeam &team_, const std::vector<RowPart> &parts, int rank, MemorySpace space)
    : team(team_)
    , n_ranks(static_cast<int>(parts.size()))
    , of_ghosts(space)
    , ghosts_anywhere(have_ghosts(parts))
    , all_gather(team.all_gather(rank))
    , exchange(space == MemorySpace::device && ghosts_anywhere
                 ? make_peer_exchange(parts[rank].pattern, 1, rank, n_ranks, all_gather, std::make_shared<Traffic>())
                 : nullptr)
    , vectors(n_ranks)
    , values(n_ranks)
  {
    const ExchangePattern &pattern = parts[rank].pattern;
    for (const auto &from : pattern.from)
      {
        const ExchangePattern &there = parts[from.rank].pattern;
        const auto             to    = std::find_if(there.to.begin(), there.to.end(), [&](const auto &neighbour) { return neighbour.rank == rank; });
        for (int k = 0; k < from.count; ++k)
          copies.push_back({from.rank, there.sent[to->offset + k], pattern.received[from.offset + k]});
      }
  }

  template <typename Number>
  void TeamCommunication<Number>::update_ghosts(Number *x, MemorySpace space) const
  {
    if (!ghosts_anywhere)
      return;
    if (space != of_ghosts)
      throw InvalidInput("threads exchange ghosts of vectors in another memory than they said\n  expected: all vectors in one memory");
    if (space == MemorySpace::device)
      exchange->update(x);
    else
      copy_ghosts(x);
  }

  template <typename Number>
  void TeamCommunication<Number>::copy_ghosts(Number *x) const
  {
    all_gather(&x, sizeof(x), vectors.data());
    for (const Copy &copy : copies)
      x[copy.to] = vectors[copy.rank][copy.from];
    team.wait(); // what another one reads does not change yet
  }

  template <typename Number>
  std::string TeamCommunication<Number>::description(MemorySpace space) const
  {
    if (!ghosts_anywhere)
      return "";
    return space == MemorySpace::host ? "copies between threads" : "kernels write into the other GPUs' memory";
  }

  template <typename Number>
  double TeamCommunication<Number>::sum(double value) const
  {
    all_gather(&value, sizeof(value), values.data());
    double result = 0.;
    for (const double one : values)
      result += one;
    return result;
  }

  template <typename Number>
  double TeamCommunication<Number>::max(double value) const
  {
    all_gather(&value, sizeof(value), values.data());
    return *std::max_element(values.begin(), values.end());
  }

#define INSTANTIATE(Number) template class TeamCommunication<Number>;
  LEOPARD_FOR_EACH_NUMBER(INSTANTIATE)
#undef INSTANTIATE
} // namespace leopard
