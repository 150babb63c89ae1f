// SPDX-License-Identifier: Apache-2.0
#include "exchange_pattern.h"

#include <algorithm>

namespace leopard
{
  void ExchangePattern::add(std::vector<Neighbour> &neighbours, std::vector<int> &entries, int rank, int entry)
  {
    if (neighbours.empty() || neighbours.back().rank != rank)
      neighbours.push_back({rank, static_cast<int>(entries.size()), 0});
    ++neighbours.back().count;
    entries.push_back(entry);
  }

  std::vector<int> ExchangePattern::neighbours() const
  {
    std::vector<int> result;
    for (const auto *list : {&to, &from})
      for (const Neighbour &neighbour : *list)
        result.push_back(neighbour.rank);
    std::sort(result.begin(), result.end());
    result.erase(std::unique(result.begin(), result.end()), result.end());
    return result;
  }

  ExchangePattern ExchangePattern::in_order(const std::vector<int> &old_entry) const
  {
    std::vector<int> new_entry(old_entry.size());
    for (std::size_t i = 0; i < old_entry.size(); ++i)
      new_entry[old_entry[i]] = static_cast<int>(i);
    ExchangePattern result = *this;
    for (std::vector<int> *entries : {&result.sent, &result.received})
      for (int &i : *entries)
        if (i < static_cast<int>(new_entry.size()))
          i = new_entry[i];
    return result;
  }
} // namespace leopard
