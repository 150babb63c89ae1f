// SPDX-License-Identifier: Apache-2.0
#include "all_gather.h"

#include <algorithm>
#include <vector>

namespace leopard
{
  std::string first_error_of(const AllGather &all_gather, int n_ranks, const std::string &own)
  {
    const std::size_t        length = own.size();
    std::vector<std::size_t> lengths(n_ranks);
    all_gather(&length, sizeof(length), lengths.data());
    const std::size_t longest = *std::max_element(lengths.begin(), lengths.end());
    if (longest == 0)
      return "";
    std::string mine = own, all(n_ranks * longest, '\0');
    mine.resize(longest);
    all_gather(mine.data(), longest, all.data());
    const std::size_t first = std::find_if(lengths.begin(), lengths.end(), [](std::size_t n) { return n > 0; }) - lengths.begin();
    return all.substr(first * longest, lengths[first]);
  }
} // namespace leopard
