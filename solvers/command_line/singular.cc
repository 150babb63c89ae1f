// SPDX-License-Identifier: Apache-2.0
#include "singular.h"

#include "../base/errors.h"
#include "../base/thread_pool.h"
#include "../base/words.h"
#include "../matrix/matrix_entries.h"
#include "../matrix/row_sums.h"
#include "../matrix/sparse_product.h"
#include "../matrix/structural_rank.h"
#include "quality.h"
#include "report.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>
#include <string>

namespace leopard::command_line
{
  namespace
  {
    bool is_zero_row(const CrsMatrix<double> &A, int i)
    {
      return std::all_of(A.values.begin() + A.row_offsets[i], A.values.begin() + A.row_offsets[i + 1], [](double value) { return value == 0.; });
    }

    /** Of each row, whether it has entries beside the diagonal, and these and the diagonal sum to zero. */
    std::vector<char> rows_of_sum_zero(const CrsMatrix<double> &A)
    {
      std::vector<char> result(A.n_rows);
      parallel_for(A.n_rows, 4096, [&](long begin, long end) {
        for (int i = static_cast<int>(begin); i < static_cast<int>(end); ++i)
          result[i] = static_cast<char>(kind_of_row_sum(A, i) == RowSum::zero);
      });
      return result;
    }

    /** Whether A 1, whose norm is given, is what rounding leaves of sums of zero. */
    bool is_rounding_of_sums(const CrsMatrix<double> &A, double norm_b)
    {
      SafeNorm   absolute;
      std::mutex one_at_a_time;
      parallel_for(A.n_rows, 4096, [&](long begin, long end) {
        SafeNorm mine;
        for (int i = static_cast<int>(begin); i < static_cast<int>(end); ++i)
          {
            double sum = 0.;
            for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
              if (A.row_offsets[i + 1] - A.row_offsets[i] > 1) // others are no sums
                sum += std::abs(A.values[p]);
            mine.add(sum);
          }
        const std::lock_guard<std::mutex> lock(one_at_a_time);
        absolute.add(mine);
      });
      return absolute.value() > 0. && reached(norm_b, row_sum_rounding * absolute.value());
    }

    /**
     * Whether a path of couplings leads from each row to one that is not in `sum_to_zero`, as far as some sweeps over
     * the rows on all threads tell, each in the order of its rows; false also where they do not. @param T A^T.
     */
    bool all_reach_others(const CrsMatrix<double> &A, const CrsMatrix<double> &T, const std::vector<char> &sum_to_zero)
    {
      constexpr int                  n_sweeps = 4;
      std::vector<std::atomic<char>> reaches(A.n_rows);
      parallel_for(A.n_rows, 1 << 16, [&](long begin, long end) {
        for (long i = begin; i < end; ++i)
          reaches[i].store(static_cast<char>(sum_to_zero[i] == 0), std::memory_order_relaxed);
      });
      const auto is_coupled_to_one = [&](const CrsMatrix<double> &matrix, int i) {
        for (int p = matrix.row_offsets[i]; p < matrix.row_offsets[i + 1]; ++p)
          if (matrix.values[p] != 0. && reaches[matrix.columns[p]].load(std::memory_order_relaxed) != 0)
            return true;
        return false;
      };
      for (int sweep = 0; sweep < n_sweeps; ++sweep)
        {
          std::atomic<bool> all{true};
          parallel_for(A.n_rows, 4096, [&](long begin, long end) {
            bool all_of_mine = true;
            for (int i = static_cast<int>(begin); i < static_cast<int>(end); ++i)
              if (reaches[i].load(std::memory_order_relaxed) == 0)
                {
                  if (is_coupled_to_one(A, i) || (&A != &T && is_coupled_to_one(T, i)))
                    reaches[i].store(1, std::memory_order_relaxed);
                  else
                    all_of_mine = false;
                }
            if (!all_of_mine)
              all = false;
          });
          if (all)
            return true;
        }
      return false;
    }

    /** The rows that are coupled with one another, a list each. @param T A^T. */
    template <typename F>
    void for_parts(const CrsMatrix<double> &A, const CrsMatrix<double> &T, const F &f)
    {
      std::vector<char> seen(A.n_rows, 0);
      std::vector<int>  part;
      for (int first = 0; first < A.n_rows; ++first)
        {
          if (seen[first] != 0)
            continue;
          part        = {first};
          seen[first] = 1;
          for (std::size_t k = 0; k < part.size(); ++k)
            for (const CrsMatrix<double> *matrix : {&A, &T})
              {
                for (int p = matrix->row_offsets[part[k]]; p < matrix->row_offsets[part[k] + 1]; ++p)
                  if (const int j = matrix->columns[p]; seen[j] == 0 && matrix->values[p] != 0.)
                    {
                      seen[j] = 1;
                      part.push_back(j);
                    }
                if (&A == &T)
                  break;
              }
          f(part);
        }
    }
    /** "row 7", "rows 1, 2 and 5", "rows 1, 2, 5, 6, 8 and 491 others", counted from 1. */
    std::string list_of(const std::string &what, const std::vector<int> &lines)
    {
      constexpr std::size_t most = 5;
      const std::size_t     n = lines.size(), n_told = n <= most + 1 ? n : most;
      std::string           result = what + (n == 1 ? " " : "s ");
      for (std::size_t k = 0; k < n_told; ++k)
        result += (k == 0 ? "" : k + 1 == n ? " and " : ", ") + std::to_string(lines[k] + 1);
      return result + (n_told == n ? "" : " and " + std::to_string(n - n_told) + " others");
    }

    /** A with a 1 in the column new_column(i) of each row i for which is_zero. */
    template <typename NewColumn>
    CrsMatrix<double> with_rows_of_one_entry(const CrsMatrix<double> &A, const std::vector<char> &is_zero, const NewColumn &new_column)
    {
      CrsMatrix<double> result;
      result.n_rows = result.n_columns = A.n_rows;
      for (int i = 0; i < A.n_rows; ++i)
        {
          const int begin = A.row_offsets[i], end = is_zero[i] != 0 ? begin : A.row_offsets[i + 1];
          result.columns.insert(result.columns.end(), A.columns.begin() + begin, A.columns.begin() + end);
          result.values.insert(result.values.end(), A.values.begin() + begin, A.values.begin() + end);
          if (is_zero[i] != 0)
            {
              result.columns.push_back(new_column(i));
              result.values.push_back(1.);
            }
          result.row_offsets.push_back(static_cast<int>(result.columns.size()));
        }
      return result;
    }
  } // namespace

  std::string why_structurally_singular(const CrsMatrix<double> &A)
  {
    const StructuralRank found = structural_rank(A);
    if (!found.is_singular())
      return "";
    const bool        one   = found.lines.size() == 1;
    const std::string lines = found.has_rows ? "row" : "column", crossings = found.has_rows ? "column" : "row";
    return "the matrix is structurally singular: at most " + std::to_string(found.rank) + " of its " + std::to_string(found.n_rows) +
           " rows can have a pivot, as " + list_of(lines, found.lines) +
           (found.crossings.empty() ? std::string(" is zero")
                                    : std::string(one ? " has" : " have") + " entries in " + list_of(crossings, found.crossings) + " only");
  }

  int row_without_diagonal(const CrsMatrix<double> &A)
  {
    int        first = A.n_rows;
    std::mutex one_at_a_time;
    parallel_for(A.n_rows, 4096, [&](long begin, long end) {
      int i = static_cast<int>(begin);
      while (i < static_cast<int>(end) && entry(A, i, i) != 0.)
        ++i;
      const std::lock_guard<std::mutex> lock(one_at_a_time);
      if (i < static_cast<int>(end))
        first = std::min(first, i);
    });
    return first < A.n_rows ? first : -1;
  }

  ZeroRows complete_zero_rows(CrsMatrix<double> &A, std::vector<double> &b, bool b_is_product)
  {
    ZeroRows found;
    found.had_whole_diagonal = row_without_diagonal(A) < 0;
    if (found.had_whole_diagonal)
      return found;
    std::vector<char> has_column(A.n_rows, 0), is_zero(A.n_rows, 0);
    std::vector<int>  free_columns; // of rows that are not zero
    for (std::size_t p = 0; p < A.columns.size(); ++p)
      if (A.values[p] != 0.)
        has_column[A.columns[p]] = 1;
    for (int i = 0; i < A.n_rows; ++i)
      {
        const std::string number_ = std::to_string(i + 1);
        is_zero[i]                = static_cast<char>(is_zero_row(A, i));
        if (is_zero[i] != 0 && b[i] != 0.)
          throw InvalidInput(std::string("row ").append(number_).append(" is empty or zero, and entry ").append(number_) +
                             " of the right-hand side is " + short_text(b[i], 3) +
                             ": there is no solution\n  expected: an entry in each row that is not zero");
        found.n += is_zero[i];
        if (is_zero[i] == 0 && has_column[i] == 0)
          free_columns.push_back(i);
      }
    const auto new_column = [&](int i) { // of the zero row i
      if (has_column[i] == 0)
        return i;
      if (found.n_paired < static_cast<int>(free_columns.size()))
        return free_columns[found.n_paired++];
      ++found.n_alone;
      return i;
    };
    if (found.n == 0)
      {
        found.first_column = free_columns.empty() ? -1 : free_columns.front();
        return found;
      }
    A = with_rows_of_one_entry(A, is_zero, new_column);
    if (found.n_paired < static_cast<int>(free_columns.size()))
      found.first_column = free_columns[found.n_paired];
    if (b_is_product && found.n_paired + found.n_alone > 0)
      {
        std::vector<double> x(A.n_rows, 1.);
        for (int i = 0; i < A.n_rows; ++i)
          if (is_zero[i] != 0 && A.columns[A.row_offsets[i]] == i)
            x[i] = 0.;
        multiply(A, x.data(), b.data());
      }
    return found;
  }

  void check_range(const CrsMatrix<double> &A, bool is_symmetric, const std::vector<double> &b, double tolerance, bool is_given)
  {
    CrsMatrix<double> transposed;
    if (!is_symmetric)
      transposed = transpose(A, 0);
    const CrsMatrix<double> &T    = is_symmetric ? A : transposed;
    const std::vector<char>  rows = rows_of_sum_zero(A), columns = is_symmetric ? rows : rows_of_sum_zero(T);
    const auto               none   = [](const std::vector<char> &of) { return std::find(of.begin(), of.end(), 1) == of.end(); };
    const double             norm_b = norm(b);
    if (!is_given && is_rounding_of_sums(A, norm_b))
      throw InvalidInput(
        "the matrix is singular, as its rows sum to zero, and b = A 1, which is taken where there is no --rhs, is zero but for rounding"
        "\n  expected: a --rhs in the range of the matrix" +
        std::string(is_symmetric ? ", whose entries sum to zero" : ""));
    if (none(columns) || all_reach_others(A, T, columns)) // a part that is singular has no other rows
      return;
    for_parts(A, T, [&](const std::vector<int> &part) {
      double sum = 0., absolute = 0.;
      bool   is_singular = true;
      for (const int i : part)
        {
          is_singular = is_singular && columns[i] != 0 && (is_given || rows[i] == 0); // A 1 is in the range but for rounding
          sum += b[i];
          absolute += std::abs(b[i]);
        }
      const double outside = std::abs(sum) / std::sqrt(static_cast<double>(part.size())); // the norm of the part that no x reaches
      if (!is_singular || reached(outside, tolerance * norm_b) || reached(std::abs(sum), 1e-14 * absolute))
        return;
      const bool is_whole = static_cast<int>(part.size()) == A.n_rows;
      throw InvalidInput("the matrix is singular" +
                         (is_whole ? std::string()
                                   : ": row " + std::to_string(part[0] + 1) + " and the " + std::to_string(part.size() - 1) +
                                       " rows that it is coupled with are coupled with no others") +
                         ", " + (is_symmetric ? "rows" : "columns") + " sum to zero, and the entries of the right-hand side" +
                         (is_whole ? "" : " there") + " sum to " + short_text(sum, 3) + ": there is no solution\n  expected: a --rhs whose entries" +
                         (is_whole ? "" : " there") + " sum to zero; its part outside the range is " + short_text(outside / norm_b, 3) +
                         " of its norm, more than the tolerance");
    });
  }
} // namespace leopard::command_line
