// SPDX-License-Identifier: Apache-2.0
#include "../base/compressed_file.h"
#include "../base/errors.h"
#include "matrix_market.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace leopard
{
  namespace
  {
    /** Gathers numbers as text, of which a file is written. */
    class NumberFile
    {
    public:
      explicit NumberFile(const std::string &path)
        : file(path)
      {
        text.reserve(2 * max_text);
      }

      void write(const std::string &words) { text += words; }

      /** Writes a number and the character that ends it. */
      template <typename Number>
      void write(Number value, char after)
      {
        char digits[32];
        text.append(digits, std::to_chars(digits, digits + sizeof(digits), value).ptr);
        text += after;
        if (text.size() > max_text)
          flush();
      }

      void commit()
      {
        flush();
        file.commit();
      }

    private:
      static constexpr std::size_t max_text = 1 << 18;

      void flush()
      {
        file.write(text);
        text.clear();
      }

      CompressedFile file;
      std::string    text;
    };

    std::string place(int row, int column)
    {
      return "the entry in row " + std::to_string(row + 1) + ", column " + std::to_string(column + 1);
    }

    [[noreturn]] void refuse(const std::string &path, const std::string &what, const std::string &expected)
    {
      throw InvalidInput(path + ": not written, as " + what + "\n  expected: " + expected);
    }

    /** Refuses what a reader would refuse. */
    void check(const CrsMatrix<double> &A, const std::string &path)
    {
      if (A.n_rows < 0 || A.n_rows != A.n_columns)
        refuse(path,
               "the matrix has " + std::to_string(A.n_rows) + " rows and " + std::to_string(A.n_columns) + " columns",
               "a square matrix without ghost columns");
      if (A.row_offsets.size() != static_cast<std::size_t>(A.n_rows) + 1 || A.columns.size() != A.values.size() || A.row_offsets.front() != 0 ||
          A.row_offsets.back() != A.n_entries())
        refuse(path, "the arrays of the matrix contradict each other", "row_offsets of n_rows + 1 entries from 0 to the number of entries");
      std::vector<int> last_row_with(A.n_columns, -1);
      for (int i = 0; i < A.n_rows; ++i)
        {
          if (A.row_offsets[i + 1] < A.row_offsets[i] || A.row_offsets[i + 1] > A.n_entries())
            refuse(path, "row_offsets decreases after row " + std::to_string(i + 1), "offsets that do not decrease");
          for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
            {
              const int j = A.columns[p];
              if (j < 0 || j >= A.n_columns)
                refuse(path, place(i, j) + " is outside of the matrix", "columns from 1 to " + std::to_string(A.n_columns));
              if (last_row_with[j] == i)
                refuse(path, place(i, j) + " is stored twice", "each entry once");
              last_row_with[j] = i;
              if (!std::isfinite(A.values[p]))
                refuse(path, place(i, j) + " is " + std::to_string(A.values[p]), "finite numbers");
            }
        }
    }

    void check_symmetry(const CrsMatrix<double> &A, const std::string &path)
    {
      const CrsMatrix<double> T = transpose(A), S = transpose(T); // S is A with sorted rows
      for (int i = 0; i < A.n_rows; ++i)
        for (int p = S.row_offsets[i], q = T.row_offsets[i]; p < S.row_offsets[i + 1] || q < T.row_offsets[i + 1]; ++p, ++q)
          {
            const int in_S = p < S.row_offsets[i + 1] ? S.columns[p] : A.n_columns, in_T = q < T.row_offsets[i + 1] ? T.columns[q] : A.n_columns;
            const int j = std::min(in_S, in_T);
            if (in_S != in_T || S.values[p] != T.values[q])
              refuse(path, place(i, j) + " differs from " + place(j, i), "an exactly symmetric matrix for a symmetric file");
          }
    }
  } // namespace

  void write_matrix_market(const CrsMatrix<double> &A, const std::string &path, bool symmetric)
  {
    check(A, path);
    if (symmetric)
      check_symmetry(A, path);
    const auto is_written = [&](int row, int column) { return !symmetric || column <= row; };
    int        n_written  = 0;
    for (int i = 0; i < A.n_rows; ++i)
      for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
        n_written += is_written(i, A.columns[p]) ? 1 : 0;

    NumberFile file(path);
    file.write(std::string("%%MatrixMarket matrix coordinate real ") + (symmetric ? "symmetric" : "general") + "\n");
    file.write(A.n_rows, ' ');
    file.write(A.n_columns, ' ');
    file.write(n_written, '\n');
    for (int i = 0; i < A.n_rows; ++i)
      for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
        if (is_written(i, A.columns[p]))
          {
            file.write(i + 1, ' ');
            file.write(A.columns[p] + 1, ' ');
            file.write(A.values[p], '\n');
          }
    file.commit();
  }

  void write_matrix_market_vector(const std::vector<double> &x, const std::string &path)
  {
    for (std::size_t i = 0; i < x.size(); ++i)
      if (!std::isfinite(x[i]))
        refuse(path, "value " + std::to_string(i + 1) + " is " + std::to_string(x[i]), "finite numbers");
    NumberFile file(path);
    file.write("%%MatrixMarket matrix array real general\n");
    file.write(x.size(), ' ');
    file.write(1, '\n');
    for (const double value : x)
      file.write(value, '\n');
    file.commit();
  }
} // namespace leopard
