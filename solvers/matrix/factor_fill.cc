// SPDX-License-Identifier: Apache-2.0
#include "../base/words.h"
#include "incomplete_factors.h"

#include <algorithm>
#include <limits>

namespace leopard
{
  namespace
  {
    /** A row in the order of its columns, into which others are put: a linked list, and the level of each entry. */
    class FilledRow
    {
    public:
      explicit FilledRow(int n)
        : end(n)
        , next(n + 1)
        , level(n, none)
        , source(n)
      {
      }

      void begin(const FactorPattern &pattern, int i)
      {
        int last = end;
        for (int p = pattern.offsets[i]; p < pattern.offsets[i + 1]; ++p)
          {
            const int column = pattern.columns[p];
            next[last]       = column;
            last             = column;
            level[column]    = 0;
            source[column]   = pattern.source[p];
          }
        next[last] = end;
      }

      /** What the elimination with row k, of which these are the levels, puts into this one. */
      void add(const FactorPattern &done, const std::vector<int> &levels, int k, int largest)
      {
        if (level[k] >= largest)
          return;
        for (int q = done.diagonal[k] + 1, before = k; q < done.offsets[k + 1]; ++q)
          {
            const int column = done.columns[q], made = level[k] + levels[q] + 1;
            if (made > largest)
              continue;
            if (level[column] != none)
              {
                level[column] = std::min(level[column], made);
                continue;
              }
            while (next[before] < column)
              before = next[before];
            next[column]   = next[before];
            next[before]   = column;
            level[column]  = made;
            source[column] = -1;
          }
      }

      /** Appends row i to the pattern; this one is empty afterwards. */
      void give(int i, FactorPattern &pattern, std::vector<int> &levels)
      {
        for (int column = next[end]; column != end; column = next[column])
          {
            if (column == i)
              pattern.diagonal[i] = static_cast<int>(pattern.columns.size());
            pattern.columns.push_back(column);
            pattern.source.push_back(source[column]);
            levels.push_back(level[column]);
            level[column] = none;
          }
        if (pattern.columns.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
          throw InvalidInput("incomplete factors: with the fill of rows 0 to " + std::to_string(i) +
                             " they have more than 2147483647 entries\n  expected: a lower level of fill");
        pattern.offsets.push_back(static_cast<int>(pattern.columns.size()));
      }

      const int        end; ///< behind the last column, and before the first
      std::vector<int> next;

    private:
      static constexpr int none = -1;

      std::vector<int> level, source; ///< of each column
    };
  } // namespace

  FactorPattern with_fill(const FactorPattern &pattern, int level, double max_entries, const std::function<bool()> &asked_to_stop)
  {
    FactorPattern result;
    result.kind = pattern.kind;
    result.diagonal.resize(pattern.n_rows());
    const int        largest = std::min(level, pattern.n_rows()); // there are no higher ones
    std::vector<int> levels;                                      ///< of the entries of the result
    FilledRow        row(pattern.n_rows());
    for (int i = 0; i < pattern.n_rows(); ++i)
      {
        if (asked_to_stop && i % rows_of_question == 0 && asked_to_stop())
          throw FactorsStopped("incomplete factors: given up after the fill of " + std::to_string(i) + " of " + std::to_string(pattern.n_rows()) +
                               " rows, as asked_to_stop says");
        row.begin(pattern, i);
        for (int k = row.next[row.end]; k < i; k = row.next[k])
          row.add(result, levels, k, largest);
        row.give(i, result, levels);
        if (static_cast<double>(result.columns.size()) > max_entries)
          throw InvalidInput("incomplete factors: with fill of level " + std::to_string(level) + " the first " + std::to_string(i + 1) + " of " +
                             std::to_string(pattern.n_rows()) + " rows have more than " + short_text(max_entries, 3) +
                             " entries\n  expected: at most these; a lower level of fill");
      }
    return result;
  }
} // namespace leopard
