// SPDX-License-Identifier: Apache-2.0
#include "generators.h"

#include "../base/errors.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace leopard
{
  namespace
  {
    void add_entry(CrsMatrix<double> &A, int column, double value)
    {
      A.columns.push_back(column);
      A.values.push_back(value);
    }

    void end_row(CrsMatrix<double> &A)
    {
      A.row_offsets.push_back(A.n_entries());
      ++A.n_rows;
      A.n_columns = A.n_rows;
    }
  } // namespace

  CrsMatrix<double> circuit_matrix(int n, std::uint64_t seed)
  {
    CrsMatrix<double>   A = five_point_matrix(n, n, 0.);
    std::mt19937_64     random(seed);
    const auto          conductance = [&] { return std::pow(10., 3. * static_cast<double>(random() >> 11) / 9007199254740992. - 1.5); }; // 2^53
    std::vector<double> to_next(A.n_rows), to_upper(A.n_rows); // of the edges to row + 1 and row + n
    for (int row = 0; row < A.n_rows; ++row)
      {
        to_next[row]  = conductance();
        to_upper[row] = conductance();
      }
    for (int row = 0; row < A.n_rows; ++row)
      {
        double sum      = 1e-3 * conductance(); // to ground
        int    diagonal = -1;
        for (int p = A.row_offsets[row]; p < A.row_offsets[row + 1]; ++p)
          if (const int column = A.columns[p]; column == row)
            diagonal = p;
          else
            {
              const int first = std::min(row, column);
              A.values[p]     = -(std::abs(row - column) == n ? to_upper : to_next)[first];
              sum -= A.values[p];
            }
        A.values[diagonal] = sum;
      }
    return A;
  }

  CrsMatrix<double> seven_point_matrix(int n_x, int n_y, int n_z, double delta)
  {
    const double n_nodes = static_cast<double>(n_x) * n_y * n_z;
    const auto   grid    = std::to_string(n_x) + " x " + std::to_string(n_y) + " x " + std::to_string(n_z) + " nodes";
    if (n_x < 0 || n_y < 0 || n_z < 0)
      throw InvalidInput("a grid of " + grid + "\n  expected: no negative number");
    checked_count(n_nodes, "rows for a grid of " + grid);
    checked_count(7. * n_nodes - 2. * (static_cast<double>(n_x) * n_y + static_cast<double>(n_y) * n_z + static_cast<double>(n_z) * n_x),
                  "entries for a grid of " + grid);
    CrsMatrix<double> A;
    const int         stride[3] = {1, n_x, n_x * n_y}, n[3] = {n_x, n_y, n_z};
    const bool        flat = n_z == 1;
    for (int z = 0; z < n_z; ++z)
      for (int y = 0; y < n_y; ++y)
        for (int x = 0; x < n_x; ++x)
          {
            const int at[3] = {x, y, z}, row = A.n_rows;
            for (int d = 2; d >= 0; --d)
              if (at[d] > 0)
                add_entry(A, row - stride[d], -1.);
            add_entry(A, row, (flat ? 4. : 6.) + delta);
            for (int d = 0; d < 3; ++d)
              if (at[d] < n[d] - 1)
                add_entry(A, row + stride[d], -1.);
            end_row(A);
          }
    return A;
  }

  CrsMatrix<double> five_point_matrix(int n_x, int n_y, double delta)
  {
    return seven_point_matrix(n_x, n_y, 1, delta);
  }

  void scale_edges(CrsMatrix<double> &A, const std::function<double(int i, int j)> &factor)
  {
    for (int i = 0; i < A.n_rows; ++i)
      {
        double change   = 0.;
        int    diagonal = A.row_offsets[i];
        for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
          if (A.columns[p] == i)
            diagonal = p;
          else
            {
              const double before = A.values[p];
              A.values[p] *= factor(i, A.columns[p]);
              change += A.values[p] - before;
            }
        A.values[diagonal] -= change;
      }
  }

  CrsMatrix<double> trefethen_matrix(int n)
  {
    std::vector<int> primes;
    for (int candidate = 2; static_cast<int>(primes.size()) < n; ++candidate)
      {
        bool is_prime = true;
        for (const int p : primes)
          {
            if (p * p > candidate)
              break;
            if (candidate % p == 0)
              {
                is_prime = false;
                break;
              }
          }
        if (is_prime)
          primes.push_back(candidate);
      }
    CrsMatrix<double> A;
    for (int i = 0; i < n; ++i)
      {
        std::map<int, double> row = {{i, static_cast<double>(primes[i])}};
        for (int distance = 1; distance < n; distance *= 2)
          for (const int j : {i - distance, i + distance})
            if (j >= 0 && j < n)
              row[j] = 1.;
        for (const auto &[column, value] : row)
          add_entry(A, column, value);
        end_row(A);
      }
    return A;
  }

  CrsMatrix<double> random_dominant_matrix(int n, int entries_per_row, double dominance, std::uint64_t seed)
  {
    std::mt19937_64                        random(seed);
    std::uniform_real_distribution<double> value(-1., 1.);
    std::uniform_int_distribution<int>     column(0, n - 1);
    CrsMatrix<double>                      A;
    for (int i = 0; i < n; ++i)
      {
        std::map<int, double> row;
        double                sum = 0.;
        for (int e = 0; e < entries_per_row; ++e)
          if (const int j = column(random); j != i)
            row[j] = value(random);
        for (const auto &[j, a] : row)
          sum += std::abs(a);
        row[i] = sum > 0. ? sum / dominance : 1.;
        for (const auto &[j, a] : row)
          add_entry(A, j, a);
        end_row(A);
      }
    return A;
  }
} // namespace leopard
