// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../base/thread_pool.h"

#include <memory>
#include <string>
#include <vector>

namespace leopard
{
  /** The rows of a triangular matrix, which may be a part of a matrix by rows. Arrays in host memory. */
  struct TriangularRows
  {
    int        n_rows = 0;
    const int *begin = nullptr, *end = nullptr; ///< row i has the entries begin[i] <= p < end[i]
    const int *columns    = nullptr;            ///< of the entries
    const int *diagonal   = nullptr;            ///< which entry it is in each row; null: ones that are not stored
    bool       last_first = false;              ///< rows depend on later ones
  };

  /**
   * An order of the rows of a triangular matrix in which each comes after those that it has entries of, and the threads
   * that take them.
   *
   * A row that depends on no other is of level 0, and else of one more than the highest level that it depends on. Rows
   * of a level do not depend on each other: threads share it, and wait for one another before the next. That pays where
   * levels are wide. The work of a level is the number of its rows and entries; it is shared out if there is work for
   * two threads, smallest_part for each, and by as many as have that. Narrow levels that follow one another are done by
   * the calling thread. Where the levels that are shared hold less than half of all work, as in a chain, where each row
   * depends on the one before, and with one thread, rows are done in sequence.
   * The levels are found in linear time. Source: Saad, Iterative Methods for Sparse Linear Systems, 2003, section
   * 11.6.2 (level scheduling).
   */
  class RowLevels
  {
  public:
    static constexpr long smallest_part = 512; ///< rows and entries

    /** @param n_threads 0: as many as this process may use. */
    RowLevels(const TriangularRows &rows, int n_threads);

    bool in_sequence() const { return order.empty(); }
    int  n_levels() const { return levels; } ///< 0: in sequence
    int  n_threads() const { return in_sequence() ? 1 : pool->size(); }
    /** "in sequence", "in 298 levels by 2 threads". */
    std::string description() const;

    /**
     * f(place, i) for each row i, which is at this place in the order; in sequence place is i. Calls of one level come
     * from several threads.
     */
    template <typename Function>
    void for_rows(const Function &f) const
    {
      if (in_sequence() && last_first)
        for (int i = n_rows - 1; i >= 0; --i)
          f(i, i);
      else if (in_sequence())
        for (int i = 0; i < n_rows; ++i)
          f(i, i);
      else
        for (const Stage &stage : stages)
          parallel_for(*pool, stage.end - stage.begin, stage.grain, [&](long begin, long end) {
            for (long place = stage.begin + begin; place < stage.begin + end; ++place)
              f(static_cast<int>(place), order[place]);
          });
    }

  private:
    /** Places of a level that is shared out, or of several that are not. */
    struct Stage
    {
      int  begin, end;
      long grain; ///< rows a thread
    };

    /** Of a level. */
    struct Work
    {
      int  n_rows = 0;
      long sum    = 0; ///< rows and entries

      bool is_shared() const { return n_rows > 1 && sum >= 2 * smallest_part; }
    };

    void order_by(const std::vector<int> &level, const std::vector<Work> &work);

    int                         n_rows;
    bool                        last_first;
    int                         levels = 0;
    std::vector<int>            order; ///< empty: in sequence
    std::vector<Stage>          stages;
    std::shared_ptr<ThreadPool> pool; ///< null: in sequence
  };
} // namespace leopard
