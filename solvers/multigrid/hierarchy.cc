// SPDX-License-Identifier: Apache-2.0
#include "hierarchy.h"

#include "../base/errors.h"
#include "../base/words.h"

#include <cmath>
#include <string>

namespace leopard
{
  namespace
  {
    [[noreturn]] void fail(const std::string &where, const std::string &what, const std::string &expected)
    {
      throw InvalidInput("multigrid hierarchy, " + where + ": " + what + "\n  expected: " + expected);
    }

    std::string size_text(int n_rows, int n_columns)
    {
      return std::to_string(n_rows) + " x " + std::to_string(n_columns);
    }

    /** Lengths, column indices, finite values. Unlike CrsMatrix::validate() of matrices of any shape. */
    void check(const CrsMatrix<double> &A, int n_rows, int n_columns, const std::string &where, bool with_entries = true)
    {
      if (A.n_rows != n_rows || A.n_columns != n_columns)
        fail(where, "it is " + size_text(A.n_rows, A.n_columns), size_text(n_rows, n_columns));
      if (A.row_offsets.size() != static_cast<std::size_t>(n_rows) + 1 || A.columns.size() != A.values.size() || A.row_offsets.front() != 0 ||
          A.row_offsets.back() != A.n_entries())
        fail(where,
             "it has " + std::to_string(A.row_offsets.size()) + " row offsets, " + std::to_string(A.columns.size()) + " columns and " +
               std::to_string(A.values.size()) + " values",
             std::to_string(n_rows + 1) + " row offsets from 0 to the number of entries, and as many columns as values");
      for (int i = 0; i < n_rows && with_entries; ++i)
        {
          if (A.row_offsets[i] > A.row_offsets[i + 1])
            fail(where, "row_offsets decreases after row " + std::to_string(i) + " (the first row is 0)", "offsets that do not decrease");
          for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
            if (A.columns[p] < 0 || A.columns[p] >= n_columns || !std::isfinite(A.values[p]))
              fail(where,
                   "row " + std::to_string(i) + " has the entry " + short_text(A.values[p]) + " in column " + std::to_string(A.columns[p]) +
                     " (the first row is 0)",
                   "finite numbers in columns from 0 to " + std::to_string(n_columns - 1));
        }
    }

    bool is_empty(const CrsMatrix<double> &A)
    {
      return A.n_rows == 0 && A.n_columns == 0 && A.values.empty();
    }

    void check_valid(const CrsMatrix<double> &A, const std::string &where)
    {
      try
        {
          A.validate();
        }
      catch (const InvalidInput &error)
        {
          throw InvalidInput("multigrid hierarchy, " + where + ": " + error.what());
        }
    }

    void check_transfers(const MultigridLevel &level, const MultigridLevel *coarse, const std::string &name, bool with_entries)
    {
      const int n = level.matrix.n_rows, n_columns = level.matrix.n_columns;
      if (coarse == nullptr)
        {
          if (!is_empty(level.prolongation) || !is_empty(level.restriction) || !is_empty(level.interface) || !is_empty(level.interface_transpose))
            fail(name, "the coarsest level has transfer or interface matrices", "the matrix alone");
          return;
        }
      check(level.prolongation, n, coarse->matrix.n_columns, name + ", prolongation", with_entries);
      if (!is_empty(level.restriction))
        check(level.restriction, coarse->matrix.n_rows, n_columns, name + ", restriction");
      else if (n_columns > n || coarse->matrix.n_columns > coarse->matrix.n_rows)
        fail(name, "no restriction is given, and there are ghosts", "one, since the prolongation's transpose is spread over the ranks");
      if (!is_empty(level.interface))
        check(level.interface, n, n_columns, name + ", interface");
      if (!is_empty(level.interface_transpose))
        check(level.interface_transpose, n, n_columns, name + ", interface_transpose");
      if (is_empty(level.interface_transpose) && !is_empty(level.interface) && n_columns > n)
        fail(name, "an interface without interface_transpose is given, and there are ghosts", "both");
      if (is_empty(level.interface) && !is_empty(level.interface_transpose))
        fail(name, "interface_transpose is given without interface", "both, or none");
    }

    void check_copy_lists(const MultigridHierarchy &hierarchy, std::vector<int> &level_of_row, int l, const std::string &name)
    {
      const MultigridLevel    &level  = hierarchy.levels[l];
      const CrsMatrix<double> &global = hierarchy.matrix;
      if (level.global_rows.size() != level.level_rows.size())
        fail(name,
             std::to_string(level.global_rows.size()) + " global_rows and " + std::to_string(level.level_rows.size()) + " level_rows",
             "as many of one as of the other");
      if (!hierarchy.is_adaptive() && !level.global_rows.empty())
        fail(name, "copy lists are given, but no matrix of the active mesh", "both (adaptive meshes), or none of them (global refinement)");
      for (std::size_t i = 0; i < level.global_rows.size(); ++i)
        {
          const int         row = level.global_rows[i], level_row = level.level_rows[i];
          const std::string pair = "the copy lists join row " + std::to_string(row) + " of the active mesh and row " + std::to_string(level_row) +
                                   " of the level (the first rows are 0)";
          if (row < 0 || row >= global.n_columns || level_row < 0 || level_row >= level.matrix.n_columns)
            fail(
              name, pair, "rows from 0 to " + std::to_string(global.n_columns - 1) + " and from 0 to " + std::to_string(level.matrix.n_columns - 1));
          if (row >= global.n_rows && level_row >= level.matrix.n_rows)
            fail(name, pair + ", both of them ghosts", "pairs of which this rank owns one");
          if (level_of_row[row] >= 0)
            fail(name,
                 "row " + std::to_string(row) + " of the active mesh is in the copy lists twice, the first time on level " +
                   std::to_string(level_of_row[row]) + " (the first row is 0)",
                 "each row at most once");
          level_of_row[row] = l;
        }
    }
  } // namespace

  void MultigridHierarchy::validate(bool with_entries) const
  {
    if (levels.empty())
      throw InvalidInput("multigrid hierarchy: it has no levels\n  expected: at least one");
    if (is_adaptive())
      check_valid(matrix, "matrix of the active mesh");
    std::vector<int> level_of_row(matrix.n_columns, -1);
    for (std::size_t l = 0; l < levels.size(); ++l)
      {
        const MultigridLevel &level = levels[l];
        const std::string     name  = "level " + std::to_string(l);
        if (with_entries)
          check_valid(level.matrix, name);
        check_transfers(level, l == 0 ? nullptr : &levels[l - 1], name, with_entries);
        check_copy_lists(*this, level_of_row, static_cast<int>(l), name);
        if (!is_adaptive() && !is_empty(level.interface))
          fail(name, "an interface matrix is given, but no matrix of the active mesh", "both (adaptive meshes), or none of them (global refinement)");
        if (!level.coordinates.empty() && (level.dim < 1 || level.dim > 3))
          fail(name, "dim is " + std::to_string(level.dim), "1, 2 or 3");
        if (!level.coordinates.empty() && level.coordinates.size() != static_cast<std::size_t>(level.matrix.n_rows) * level.dim)
          fail(name,
               std::to_string(level.coordinates.size()) + " coordinates",
               "none, or " + std::to_string(level.dim) + " for each of the " + std::to_string(level.matrix.n_rows) + " unknowns");
      }
  }
} // namespace leopard
