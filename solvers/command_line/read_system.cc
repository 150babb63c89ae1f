// SPDX-License-Identifier: Apache-2.0
#include "read_system.h"

#include "../base/errors.h"
#include "../base/thread_pool.h"
#include "../base/words.h"
#include "../matrix/eigenvalues.h"
#include "../matrix/matrix_market.h"
#include "../matrix/npy.h"
#include "quality.h"
#include "report.h"
#include "singular.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <fstream>
#include <limits>
#include <utility>

namespace leopard::command_line
{
  namespace
  {
    /**
     * Whether CrsMatrix::validate(), or validate_entries(), would find nothing, and columns ascend in each row, as they
     * do when they are just read; by all threads.
     */
    bool is_sound(const CrsMatrix<double> &A, bool with_diagonal)
    {
      std::atomic<bool> sound{true};
      parallel_for(A.n_rows, 4096, [&](long begin, long end) {
        bool mine = true;
        for (int i = static_cast<int>(begin); i < static_cast<int>(end); ++i)
          {
            bool has_diagonal = !with_diagonal;
            int  before       = -1;
            for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
              {
                mine         = mine && A.columns[p] > before && std::isfinite(A.values[p]);
                before       = A.columns[p];
                has_diagonal = has_diagonal || (before == i && A.values[p] != 0.);
              }
            mine = mine && has_diagonal && before < A.n_columns;
          }
        if (!mine)
          sound = false;
      });
      return sound;
    }

    /**
     * What CrsMatrix::validate() finds, for a matrix just read, with numbers that count from 1 as in the file.
     * @param divides whether the method divides by the diagonal.
     */
    void check_matrix(const CrsMatrix<double> &A, const std::string &path, bool divides)
    {
      const auto refuse = [&](const std::string &what, const std::string &expected) {
        throw InvalidInput(path + ": " + what + "\n  expected: " + expected);
      };
      if (A.n_rows == 0)
        refuse("the matrix has no rows", "at least one");
      if (divides)
        check_diagonal(A, path);
      if (is_sound(A, divides))
        return;
      if (divides)
        A.validate();
      else
        A.validate_entries();
    }

    /** Of a file of text that is not compressed: a number at its end may have lost digits, and nothing else tells. */
    void warn_of_cut_file(const std::string &path)
    {
      std::ifstream file(path, std::ios::binary);
      char          begin[2] = {}, last = '\n';
      file.read(begin, 2);
      file.seekg(-1, std::ios::end);
      file.get(last);
      if (file && std::string(begin, 2) != "\x1f\x8b" && last != '\n')
        log_line("warning", path + " does not end with the end of a line: it may be cut off, within its last number");
    }

    /**
     * @throws InvalidInput if no residual could be related to it, or residuals would be too small for all their digits.
     */
    void check_norm(const std::vector<double> &b, const std::string &what, const std::string &remedy)
    {
      using Limits            = std::numeric_limits<double>;
      constexpr double least  = Limits::min() / Limits::epsilon(); // so that what is a rounding of it is a normal number
      const double     norm_b = norm(b);
      if (norm_b > 0. && norm_b < least)
        throw InvalidInput(what + ": the norm of the right-hand side is " + short_text(norm_b, 3) + ", below " + short_text(least, 3) +
                           ", where residuals in double precision lose their digits\n  expected: a larger one, or zeros; " + remedy);
      if (!std::isfinite(norm_b))
        throw InvalidInput(what + ": the norm of the right-hand side is above " + short_text(std::numeric_limits<double>::max(), 3) +
                           ", which double cannot hold\n  expected: a smaller one; " + remedy);
    }
  } // namespace

  void check_diagonal(const CrsMatrix<double> &A, const std::string &path)
  {
    const int i = row_without_diagonal(A);
    if (i < 0)
      return;
    const std::string row   = "row " + std::to_string(i + 1);
    const auto        begin = A.columns.begin() + A.row_offsets[i], end = A.columns.begin() + A.row_offsets[i + 1];
    const bool        stored = std::find(begin, end, i) != end;
    throw InvalidInput(path + ": " + (begin == end ? row + " is empty" : "the diagonal entry of " + row + (stored ? " is zero" : " is missing")) +
                       "\n  expected: a diagonal entry that is not zero in each row; relaxation divides by it");
  }

  ReadMatrix read_matrix(const std::string &path, bool divides_by_diagonal)
  {
    CrsMatrix<double> A = read_matrix_market(path);
    check_matrix(A, path, divides_by_diagonal);
    const spectrum::Asymmetry asymmetry = spectrum::find_asymmetry(A);
    log_line("matrix",
             path + ": " + std::to_string(A.n_rows) + " rows, " + std::to_string(A.n_entries()) + " entries, " +
               (asymmetry.found ? "not symmetric (row " + std::to_string(asymmetry.row + 1) + ", column " + std::to_string(asymmetry.column + 1) + ")"
                                : "symmetric"));
    warn_of_cut_file(path);
    return {std::move(A), !asymmetry.found};
  }

  std::vector<double> right_hand_side(const CrsMatrix<double> &A, const std::string &path)
  {
    if (!path.empty())
      {
        const bool          is_binary = is_npy(path);
        std::vector<double> b         = is_binary ? read_npy_vector(path, A.n_rows) : read_matrix_market_vector(path, A.n_rows);
        check_norm(b, path, "scale b and x by the same power of ten");
        log_line("rhs", path);
        if (!is_binary)
          warn_of_cut_file(path);
        return b;
      }
    std::vector<double> b(A.n_rows);
    parallel_for(A.n_rows, 4096, [&](long begin, long end) {
      for (int i = static_cast<int>(begin); i < static_cast<int>(end); ++i)
        for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
          b[i] += A.values[p];
    });
    check_norm(b, "b = A 1, as there is no --rhs", "scale the matrix, or give a --rhs");
    log_line("rhs", "b = A 1, as there is no --rhs: the solution is all ones");
    return b;
  }

  void check_size_of_solution(const CrsMatrix<double> &A, const std::vector<double> &b)
  {
    const SizeOfSolution size = least_size_of_solution(A, b);
    if (size.least > std::numeric_limits<double>::max())
      throw InvalidInput("x is beyond the range of double precision: row " + std::to_string(size.row + 1) + " asks for an entry of " + size.text() +
                         " at least, as |b_i| is so many times the sum of its |a_ij|\n  expected: an x below " +
                         short_text(std::numeric_limits<double>::max(), 3) + "; divide b by a power of ten, and x is divided by it, too");
  }
} // namespace leopard::command_line
