// SPDX-License-Identifier: Apache-2.0
#include "diverging_schedule.h"

#include <solvers/base/errors.h>

#include <string>

namespace leopard::studies
{
  namespace
  {
    double diagonal(const CrsMatrix<double> &A, int row)
    {
      for (int p = A.row_offsets[row]; p < A.row_offsets[row + 1]; ++p)
        if (A.columns[p] == row)
          return A.values[p];
      throw InvalidInput("row " + std::to_string(row) + " has no diagonal entry\n  expected: one that is not zero");
    }

    /** x_row from the values value(p) of each entry p. */
    template <typename Value>
    double relaxed(const CrsMatrix<double> &A, const std::vector<double> &b, int row, const Value &value)
    {
      double sum = b[row];
      for (int p = A.row_offsets[row]; p < A.row_offsets[row + 1]; ++p)
        if (A.columns[p] != row)
          sum -= A.values[p] * value(p);
      return sum / diagonal(A, row);
    }
  } // namespace

  std::vector<std::vector<double>>
  chaotic_relaxation(const CrsMatrix<double> &A, const std::vector<double> &b, const std::vector<double> &start, const std::vector<Update> &updates)
  {
    std::vector<std::vector<double>> x(1, start);
    for (const Update &update : updates)
      {
        const int now = static_cast<int>(x.size()) - 1;
        for (const int age : update.ages)
          if (age < 0 || age > now)
            throw InvalidInput("update " + std::to_string(now) + " takes a value of age " + std::to_string(age) +
                               "\n  expected: 0 to the number of updates before");
        std::vector<double> next = x.back();
        next[update.row] = relaxed(A, b, update.row, [&](int p) { return x[now - update.ages[p - A.row_offsets[update.row]]][A.columns[p]]; });
        x.push_back(next);
      }
    return x;
  }

  std::vector<Update> jacobi_schedule(const CrsMatrix<double> &A, int n_sweeps)
  {
    std::vector<Update> updates;
    for (int sweep = 0; sweep < n_sweeps; ++sweep)
      for (int row = 0; row < A.n_rows; ++row)
        updates.push_back({row, std::vector<int>(A.row_offsets[row + 1] - A.row_offsets[row], row)});
    return updates;
  }

  std::vector<Update> diverging_schedule(const CrsMatrix<double> &A, const std::vector<double> &b, const std::vector<double> &start, int n_rounds)
  {
    const int           n       = A.n_rows;
    std::vector<Update> updates = jacobi_schedule(A, 1);
    std::vector<bool>   p_is_larger(n);
    for (int row = 0; row < n; ++row)
      p_is_larger[row] = start[row] > relaxed(A, b, row, [&](int p) { return start[A.columns[p]]; });
    int p_time = 0, q_time = n; // after how many updates x has the values p, and q
    for (int round = 0; round < n_rounds; ++round)
      {
        for (const bool makes_p : {true, false})
          for (int row = 0; row < n; ++row)
            {
              const int now = static_cast<int>(updates.size());
              Update    update{row, {}};
              for (int p = A.row_offsets[row]; p < A.row_offsets[row + 1]; ++p)
                {
                  const bool grows_with_x = -A.values[p] / diagonal(A, row) > 0.; // b_ij
                  const bool takes_larger = grows_with_x == makes_p;
                  update.ages.push_back(now - (takes_larger == p_is_larger[A.columns[p]] ? p_time : q_time));
                }
              updates.push_back(update);
            }
        q_time = static_cast<int>(updates.size());
        p_time = q_time - n;
        p_is_larger.assign(n, true);
      }
    return updates;
  }

  CrsMatrix<double> ring_of_four(double c)
  {
    CrsMatrix<double> A;
    A.n_rows = A.n_columns = 4;
    A.row_offsets          = {0, 3, 6, 9, 12};
    A.columns              = {0, 1, 3, 0, 1, 2, 1, 2, 3, 0, 2, 3};
    A.values               = {1., c, -c, c, 1., c, c, 1., c, -c, c, 1.};
    return A;
  }
} // namespace leopard::studies
