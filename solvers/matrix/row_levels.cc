// SPDX-License-Identifier: Apache-2.0
#include "row_levels.h"

#include "../base/usable_resources.h"

#include <algorithm>

namespace leopard
{
  RowLevels::RowLevels(const TriangularRows &rows, int n_threads)
    : n_rows(rows.n_rows)
    , last_first(rows.last_first)
  {
    if (n_threads == 1 || n_rows < 2 || (n_threads <= 0 && usable_cores() == 1))
      return;
    std::vector<int>  level(n_rows);
    std::vector<Work> work; // of each level
    long              of_all = 0;
    for (int n = 0; n < n_rows; ++n)
      {
        const int i    = last_first ? n_rows - 1 - n : n;
        int       mine = 0;
        for (int p = rows.begin[i]; p < rows.end[i]; ++p)
          if (rows.columns[p] != i)
            mine = std::max(mine, level[rows.columns[p]] + 1);
        level[i] = mine;
        if (mine == static_cast<int>(work.size()))
          work.push_back({});
        const long of_row = 1 + rows.end[i] - rows.begin[i];
        ++work[mine].n_rows;
        work[mine].sum += of_row;
        of_all += of_row;
      }
    long shared = 0;
    for (const Work &of_level : work)
      shared += of_level.is_shared() ? of_level.sum : 0;
    if (2 * shared < of_all)
      return;
    pool = shared_thread_pool(n_threads);
    order_by(level, work);
  }

  void RowLevels::order_by(const std::vector<int> &level, const std::vector<Work> &work)
  {
    const long alone = n_rows + 1l; // a grain of which there is one part
    levels           = static_cast<int>(work.size());
    std::vector<int> next;
    for (int l = 0, begin = 0; l < levels; ++l)
      {
        const int n = work[l].n_rows, end = begin + n;
        next.push_back(begin);
        if (work[l].is_shared())
          stages.push_back({begin, end, std::max(1l, n * smallest_part / work[l].sum)});
        else if (stages.empty() || stages.back().grain != alone)
          stages.push_back({begin, end, alone});
        else
          stages.back().end = end;
        begin = end;
      }
    order.resize(n_rows);
    for (int i = 0; i < n_rows; ++i)
      order[next[level[i]]++] = i;
  }

  std::string RowLevels::description() const
  {
    return in_sequence() ? "in sequence" : "in " + std::to_string(levels) + " levels by " + std::to_string(n_threads()) + " threads";
  }
} // namespace leopard
