// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <solvers/base/together.h>
#include <solvers/exchange/transport.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace leopard
{
  /**
   * Between sweeps ranks wait for every fourth exchange of ghosts only, so that ghosts are at most four exchanges old.
   */
  constexpr int waited_exchange_interval = 4;

  /** After sweep i of a series, from 0: the ghosts of v. */
  template <typename Number>
  void update_between_sweeps(Exchange &ghosts, Number *v, int i)
  {
    if (i % waited_exchange_interval == waited_exchange_interval - 1)
      return ghosts.update(v);
    if (i % waited_exchange_interval == 0)
      ghosts.begin(); // what was sent before the exchange that was waited for is too old
    ghosts.update_loosely(v);
  }

  /** The ranks that share a grid or a mesh, as one of them sees them. */
  class Ranks
  {
  public:
    /** @param transport in the memory space of the backend; on a GPU queued, or not, as messages. Null: one rank. */
    Ranks(int rank_, int n_ranks, std::shared_ptr<Transport> transport_)
      : rank(rank_)
      , transport(std::move(transport_))
      , size(n_ranks)
      , merged_offsets(offsets(0))
    {
    }

    int n_ranks() const { return size; }

    /** Of a vector with n values a rank: where those of each begin, and the length. */
    std::vector<int> offsets(int n) const
    {
      std::vector<int> result;
      for (int r = 0; r <= size; ++r)
        result.push_back(n * r);
      return result;
    }

    /**
     * Combines n values of all ranks: entry q becomes merge(q, merge(q, that of rank 0, that of rank 1), ...), the same
     * on all ranks to the last bit. Collective, host memory.
     */
    template <typename Merge>
    void merge(double *values, int n, const Merge &merge)
    {
      merged.resize(static_cast<std::size_t>(n) * size); // grows once
      for (int r = 0; r <= size; ++r)
        merged_offsets[r] = n * r;
      std::copy_n(values, n, merged.begin() + merged_offsets[rank]);
      transport->gather(merged.data(), merged_offsets);
      for (int q = 0; q < n; ++q)
        {
          values[q] = merged[q];
          for (int r = 1; r < size; ++r)
            values[q] = merge(q, values[q], merged[merged_offsets[r] + q]);
        }
    }

    /** merge() with sums, and with the larger one of two numbers. */
    void sum(double *values, int n)
    {
      merge(values, n, [](int /*q*/, double a, double b) { return a + b; });
    }
    double max(double value)
    {
      merge(&value, 1, [](int /*q*/, double a, double b) { return std::max(a, b); });
      return value;
    }

    /** Calls function(); an exception on one rank is thrown on all, see leopard::together(). Collective. */
    void together(const std::function<void()> &function) const
    {
      leopard::together(function, [this](const std::string &own) { return transport != nullptr ? transport->first_error(own) : own; });
    }

    /** For a log: "2 ranks (...), each ". */
    std::string description() const { return std::to_string(size) + " ranks (" + transport->description() + "), each "; }

    const int                        rank;
    const std::shared_ptr<Transport> transport;

  private:
    const int           size;
    std::vector<double> merged; ///< workspace of merge()
    std::vector<int>    merged_offsets;
  };
} // namespace leopard
