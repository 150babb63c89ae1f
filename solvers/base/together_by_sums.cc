// SPDX-License-Identifier: Apache-2.0
#include "together_by_sums.h"

namespace leopard
{
  namespace
  {
    /** Collective: one of the texts; empty if all are. An Allreduce a letter, which matters to none that has failed. */
    std::string one_of(const std::string &own, const RankSums &ranks)
    {
      const double length = ranks.max(static_cast<double>(own.size()));
      bool         speaks = static_cast<double>(own.size()) == length;
      std::string  result;
      while (static_cast<double>(result.size()) < length)
        {
          const unsigned char letter = speaks ? own[result.size()] : 0;
          const double        last   = ranks.max(letter);
          speaks                     = speaks && letter == last;
          result.push_back(static_cast<char>(static_cast<unsigned char>(last)));
        }
      return result;
    }
  } // namespace

  void together(const std::function<void()> &function, const RankSums *ranks)
  {
    if (ranks == nullptr || ranks->sum(1.) == 1.)
      return function();
    together(function, [ranks](const std::string &own) { return one_of(own, *ranks); });
  }
} // namespace leopard
