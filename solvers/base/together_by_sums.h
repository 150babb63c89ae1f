// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "rank_sums.h"
#include "together.h"

namespace leopard
{
  /**
   * together() for ranks that can put numbers together only: the text is the longest, and of these the last in the
   * order of letters. @param ranks null: one, whose errors are what they are.
   */
  void together(const std::function<void()> &function, const RankSums *ranks);
} // namespace leopard
