// SPDX-License-Identifier: Apache-2.0
#include "structural_rank.h"

#include "matrix_entries.h"
#include "sparse_product.h"

#include <algorithm>
#include <utility>

namespace leopard
{
  namespace
  {
    constexpr int none = -1;

    /** Which column each row has its pivot in. */
    class Transversal
    {
    public:
      Transversal(const CrsMatrix<double> &A_, double most_work_)
        : A(A_)
        , column_of(A.n_rows, none)
        , row_of(A.n_rows, none)
        , most_work(most_work_)
      {
        for (int i = 0; i < A.n_rows; ++i)
          if (entry(A, i, i) != 0.)
            take(i, i);
        ahead.assign(A.row_offsets.begin(), A.row_offsets.end() - 1);
        for (int i = 0; i < A.n_rows; ++i)
          if (column_of[i] != none)
            continue;
          else if (const int j = free_column(i); j != none)
            take(i, j);
          else
            without.push_back(i);
        if (without.empty())
          return;
        next.resize(A.n_rows);
        seen_in.assign(A.n_rows, none);
        for (bool found = true; found && !without.empty() && is_known; ++turn)
          {
            const std::size_t n_before = without.size();
            without.erase(std::remove_if(without.begin(), without.end(), [this](int i) { return find_path(i); }), without.end());
            found = without.size() < n_before;
          }
      }

      /** Whether it is a maximum: where searches take too long it is not known. */
      bool                    is_maximum() const { return is_known; }
      int                     size() const { return A.n_rows - static_cast<int>(without.size()); }
      const std::vector<int> &columns() const { return column_of; }
      const std::vector<int> &rows() const { return row_of; }

    private:
      void take(int i, int j)
      {
        column_of[i] = j;
        row_of[j]    = i;
      }

      /**
       * A column of the row that is no pivot's; none: there is none. Such columns become fewer, so that those passed
       * are not looked at again.
       */
      int free_column(int i)
      {
        for (int &p = ahead[i]; p < A.row_offsets[i + 1]; ++p)
          if (A.values[p] != 0. && row_of[A.columns[p]] == none)
            return A.columns[p];
        return none;
      }

      /** The entry that is to be followed after k others of row i: from the first on, or from the last on, by turns. */
      int place(int i, int k) const { return turn % 2 == 0 ? A.row_offsets[i] + k : A.row_offsets[i + 1] - 1 - k; }

      /**
       * A way from this row on to a free column, by rows that no way of this turn has come to, on which each takes the
       * pivot of the next.
       */
      bool find_path(int first)
      {
        const auto come_to = [&](int i) {
          seen_in[i] = turn;
          next[i]    = 0;
          path.push_back(i);
        };
        path.clear();
        come_to(first);
        while (!path.empty() && is_known)
          {
            const int i = path.back();
            if (const int j = free_column(i); j != none)
              {
                for (std::size_t k = 0; k + 1 < path.size(); ++k)
                  take(path[k], A.columns[place(path[k], next[path[k]] - 1)]);
                take(i, j);
                return true;
              }
            int       other  = none;
            const int before = next[i];
            while (other == none && next[i] < A.row_offsets[i + 1] - A.row_offsets[i])
              if (const int p = place(i, next[i]++); A.values[p] != 0. && seen_in[row_of[A.columns[p]]] != turn)
                other = row_of[A.columns[p]];
            is_known = (work += next[i] - before + 1) <= most_work;
            if (other == none)
              path.pop_back();
            else
              come_to(other);
          }
        return false;
      }

      const CrsMatrix<double> &A;
      std::vector<int>         column_of, row_of, without; ///< without: the rows that have none
      std::vector<int>         ahead, next, seen_in, path;
      int                      turn = 0;
      const double             most_work;
      double                   work     = 0.; ///< entries that searches have looked at
      bool                     is_known = true;
    };

    /**
     * The rows that a row without a pivot reaches, which have entries in columns only where the others of them have
     * their pivots. @param most of them that are of interest. @return nothing where they are as many.
     */
    std::vector<int> reached_from(int first, const CrsMatrix<double> &A, const std::vector<int> &row_of, std::vector<int> &seen_by, std::size_t most)
    {
      std::vector<int> front = {first};
      if (front.size() >= most)
        return {};
      seen_by[first] = first;
      for (std::size_t k = 0; k < front.size(); ++k)
        for (int p = A.row_offsets[front[k]]; p < A.row_offsets[front[k] + 1]; ++p)
          if (const int other = A.values[p] != 0. ? row_of[A.columns[p]] : first; seen_by[other] != first)
            {
              if (front.size() + 1 >= most)
                return {};
              seen_by[other] = first;
              front.push_back(other);
            }
      return front;
    }

    /** The fewest rows that tell why some have no pivot; few where there are, else of one. @param most as above. */
    std::vector<int> fewest_reached(const CrsMatrix<double> &A, const std::vector<int> &column_of, const std::vector<int> &row_of, std::size_t most)
    {
      constexpr int         n_looked_at = 1000;
      constexpr std::size_t few         = 100;
      std::vector<int>      best, seen_by(A.n_rows, none);
      int                   n = 0, first = none;
      for (int i = 0; i < A.n_rows && n < n_looked_at && best.size() != 1; ++i)
        if (column_of[i] == none)
          {
            ++n;
            first = first == none ? i : first;
            if (std::vector<int> found = reached_from(i, A, row_of, seen_by, std::min(most, few)); !found.empty())
              {
                best = std::move(found);
                most = best.size();
              }
          }
      if (!best.empty() || first == none)
        return best;
      seen_by.assign(A.n_rows, none);
      return reached_from(first, A, row_of, seen_by, most);
    }
  } // namespace

  StructuralRank structural_rank(const CrsMatrix<double> &A, double most_work)
  {
    const Transversal found(A, most_work);
    StructuralRank    result;
    result.n_rows   = A.n_rows;
    result.rank     = found.size();
    result.is_known = found.is_maximum();
    if (!result.is_singular())
      return result;
    const std::vector<int>  rows    = fewest_reached(A, found.columns(), found.rows(), A.n_rows + 2ul);
    const CrsMatrix<double> T       = transpose(A, 0);
    const std::vector<int>  columns = fewest_reached(T, found.rows(), found.columns(), rows.size());
    result.has_rows                 = columns.empty();
    result.lines                    = result.has_rows ? rows : columns;
    for (const int line : result.lines)
      if (const int crossing = (result.has_rows ? found.columns() : found.rows())[line]; crossing != none)
        result.crossings.push_back(crossing);
    std::sort(result.lines.begin(), result.lines.end());
    std::sort(result.crossings.begin(), result.crossings.end());
    return result;
  }

  StructuralRank structural_rank(const CrsMatrix<double> &A)
  {
    constexpr double least = 1e7, of_entry = 4.; // entries are far apart in memory: a second or two for some millions
    return structural_rank(A, std::max(least, of_entry * A.n_entries()));
  }
} // namespace leopard
