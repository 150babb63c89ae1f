// SPDX-License-Identifier: Apache-2.0
#include "mesh_matrices.h"

#include "../base/errors.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

namespace leopard
{
  namespace
  {
    /** Terms that are added to entries of a matrix, in any order. */
    class EntriesOfMesh
    {
    public:
      /** @param n_terms most of them, without those of the boundary. */
      EntriesOfMesh(double n_rows_, double n_terms)
        : n_rows(checked_count(n_rows_, "rows of a matrix"))
      {
        terms.reserve(checked_count(n_terms, "terms of the entries of a matrix"));
      }

      /** Of a row or column that is below zero, as those of the boundary are: nothing. */
      void add(int row, int column, double value)
      {
        if (row >= 0 && column >= 0)
          terms.push_back({row, column, value});
      }

      CrsMatrix<double> matrix()
      {
        std::stable_sort(
          terms.begin(), terms.end(), [](const Term &a, const Term &b) { return std::pair(a.row, a.column) < std::pair(b.row, b.column); });
        CrsMatrix<double> A;
        A.n_rows = A.n_columns = n_rows;
        A.row_offsets.assign(n_rows + 1, 0);
        for (std::size_t i = 0; i < terms.size(); ++i)
          if (i > 0 && terms[i].row == terms[i - 1].row && terms[i].column == terms[i - 1].column)
            A.values.back() += terms[i].value;
          else
            {
              A.columns.push_back(terms[i].column);
              A.values.push_back(terms[i].value);
              ++A.row_offsets[terms[i].row + 1];
            }
        for (int i = 0; i < n_rows; ++i)
          A.row_offsets[i + 1] += A.row_offsets[i];
        return A;
      }

    private:
      struct Term
      {
        int    row, column;
        double value;
      };

      const int         n_rows;
      std::vector<Term> terms;
    };

    void check_side(int n)
    {
      if (n < 2)
        throw InvalidInput("a mesh of " + std::to_string(n) + " cells or nodes a side\n  expected: 2 at least");
    }
  } // namespace

  CrsMatrix<double> hanging_nodes_matrix(int n)
  {
    check_side(n);
    // places on the lattice of the small cells; the large ones are two wide
    const int  side = checked_count(4. * n, "cells a side"), middle = side / 2;
    const auto n_places   = checked_count((side + 1.) * (side + 1.), "nodes of a mesh");
    const auto place      = [&](int x, int y) { return y * (side + 1) + x; };
    const auto is_hanging = [&](int x, int y) { return x == middle && y % 2 == 1; };

    std::vector<int> unknown(n_places, -1);
    int              n_rows = 0;
    for (int y = 1; y < side; ++y)
      for (int x = 1; x < side; ++x)
        if (x > middle || (x % 2 == 0 && y % 2 == 0))
          unknown[place(x, y)] = n_rows++;

    EntriesOfMesh entries(n_rows, 17. * 10. * n * n);
    // what the value at a node is made of: one unknown, or two halves
    using Parts         = std::vector<std::pair<int, double>>;
    const auto parts_of = [&](int x, int y) {
      return is_hanging(x, y) ? Parts{{unknown[place(x, y - 1)], 0.5}, {unknown[place(x, y + 1)], 0.5}} : Parts{{unknown[place(x, y)], 1.}};
    };
    const auto add_cell = [&](int x, int y, int width) {
      const std::array<Parts, 4> corners = {parts_of(x, y), parts_of(x + width, y), parts_of(x, y + width), parts_of(x + width, y + width)};
      for (int a = 0; a < 4; ++a)
        for (int b = 0; b < 4; ++b)
          {
            const double value = a == b ? 2. / 3. : a + b == 3 ? -1. / 3. : -1. / 6.; // opposite corners, and neighbours
            for (const auto &[row, of_row] : corners[a])
              for (const auto &[column, of_column] : corners[b])
                entries.add(row, column, of_row * of_column * value);
          }
    };
    for (int y = 0; y < side; y += 2)
      for (int x = 0; x < middle; x += 2)
        add_cell(x, y, 2);
    for (int y = 0; y < side; ++y)
      for (int x = middle; x < side; ++x)
        add_cell(x, y, 1);
    return entries.matrix();
  }

  CrsMatrix<double> quadratic_elements_matrix(int n)
  {
    check_side(n);
    constexpr double M[3][3] = {{4. / 30., 2. / 30., -1. / 30.}, {2. / 30., 16. / 30., 2. / 30.}, {-1. / 30., 2. / 30., 4. / 30.}};
    constexpr double K[3][3] = {{7. / 3., -8. / 3., 1. / 3.}, {-8. / 3., 16. / 3., -8. / 3.}, {1. / 3., -8. / 3., 7. / 3.}};
    const double     side    = 2. * n - 1.;
    const auto       unknown = [&](int x, int y) { return x > 0 && y > 0 && x < 2 * n && y < 2 * n ? (y - 1) * (2 * n - 1) + x - 1 : -1; };
    EntriesOfMesh    entries(side * side, 81. * n * n);
    for (int cell_y = 0; cell_y < n; ++cell_y)
      for (int cell_x = 0; cell_x < n; ++cell_x)
        for (int a = 0; a < 9; ++a)
          for (int b = 0; b < 9; ++b)
            entries.add(unknown(2 * cell_x + a % 3, 2 * cell_y + a / 3),
                        unknown(2 * cell_x + b % 3, 2 * cell_y + b / 3),
                        K[a % 3][b % 3] * M[a / 3][b / 3] + M[a % 3][b % 3] * K[a / 3][b / 3]);
    return entries.matrix();
  }

  CrsMatrix<double> jumping_coefficients_matrix(int n)
  {
    check_side(n);
    const auto    k       = [&](int x, int y) { return (8LL * x / n + 8LL * y / n) % 2 == 0 ? 1. : 1e6; };
    const auto    unknown = [&](int x, int y) { return x >= 0 && y >= 0 && x < n && y < n ? y * n + x : -1; };
    EntriesOfMesh entries(static_cast<double>(n) * n, 8. * n * n);
    for (int y = 0; y < n; ++y)
      for (int x = 0; x < n; ++x)
        for (const auto &[dx, dy] : {std::pair(0, -1), {-1, 0}, {1, 0}, {0, 1}})
          {
            const int    row = unknown(x, y), other = unknown(x + dx, y + dy);
            const double there = other < 0 ? 0. : k(x + dx, y + dy), flux = other < 0 ? 2. * k(x, y) : 2. * k(x, y) * there / (k(x, y) + there);
            entries.add(row, row, flux);
            entries.add(row, other, -flux);
          }
    return entries.matrix();
  }

  CrsMatrix<double> convection_matrix(int n)
  {
    check_side(n);
    const double  h = 1. / (n + 1.), flow[2] = {1000. * h, 500. * h};
    const auto    unknown = [&](int x, int y) { return x >= 0 && y >= 0 && x < n && y < n ? y * n + x : -1; };
    EntriesOfMesh entries(static_cast<double>(n) * n, 5. * n * n);
    for (int y = 0; y < n; ++y)
      for (int x = 0; x < n; ++x)
        {
          const int row = unknown(x, y);
          entries.add(row, row, 4. + flow[0] + flow[1]);
          entries.add(row, unknown(x - 1, y), -1. - flow[0]);
          entries.add(row, unknown(x, y - 1), -1. - flow[1]);
          entries.add(row, unknown(x + 1, y), -1.);
          entries.add(row, unknown(x, y + 1), -1.);
        }
    return entries.matrix();
  }
} // namespace leopard
