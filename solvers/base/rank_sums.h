// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace leopard
{
  /**
   * Numbers of all ranks of a distributed program put together. The default is one process, whose sum is the number
   * itself. All functions are collective.
   */
  class RankSums
  {
  public:
    virtual ~RankSums() = default;
    /** Sum of one number a rank, the same on every rank. */
    virtual double sum(double value) const { return value; }
    /** The largest of one number a rank, the same on every rank. */
    virtual double max(double value) const { return value; }
  };
} // namespace leopard
