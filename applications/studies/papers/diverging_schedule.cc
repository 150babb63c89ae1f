// SPDX-License-Identifier: Apache-2.0
#include "diverging_schedule.h"

#include "sample_statistics.h"

#include <solvers/base/errors.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
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

    /** M = I - omega D^-1 A, entries as in A. */
    std::vector<double> weighted_entries(const CrsMatrix<double> &A, double omega)
    {
      std::vector<double> entries(A.values.size());
      for (int row = 0; row < A.n_rows; ++row)
        for (int p = A.row_offsets[row]; p < A.row_offsets[row + 1]; ++p)
          entries[p] = (A.columns[p] == row ? 1. : 0.) - omega * A.values[p] / diagonal(A, row);
      return entries;
    }

    double norm(const std::vector<double> &x)
    {
      return std::sqrt(std::inner_product(x.begin(), x.end(), x.begin(), 0.));
    }

    double largest_size(const std::vector<double> &x)
    {
      double result = 0.;
      for (const double value : x)
        result = larger_or_nan(result, std::abs(value));
      return result;
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

  double factor_of_diverging_rounds(const CrsMatrix<double> &A, double omega, int n_rounds)
  {
    const std::vector<double> m = weighted_entries(A, omega);
    std::vector<double>       high(A.n_rows, 1.), low(A.n_rows), next_high(A.n_rows), next_low(A.n_rows);
    for (int row = 0; row < A.n_rows; ++row) // a step of Jacobi's method
      {
        double sum = 0.;
        for (int p = A.row_offsets[row]; p < A.row_offsets[row + 1]; ++p)
          sum += m[p];
        low[row]  = std::min(1., sum);
        high[row] = std::max(1., sum);
      }
    double logarithm = 0.;
    for (int round = 0; round < n_rounds; ++round)
      {
        for (int row = 0; row < A.n_rows; ++row)
          {
            double larger = 0., smaller = 0.;
            for (int p = A.row_offsets[row]; p < A.row_offsets[row + 1]; ++p)
              {
                const int column = A.columns[p];
                larger += m[p] * (m[p] > 0. ? high[column] : low[column]);
                smaller += m[p] * (m[p] > 0. ? low[column] : high[column]);
              }
            next_high[row] = larger;
            next_low[row]  = smaller;
          }
        high.swap(next_high);
        low.swap(next_low);
        const double size = larger_or_nan(largest_size(high), largest_size(low));
        for (std::vector<double> *x : {&high, &low}) // so that thousands of rounds neither overflow nor vanish
          for (double &value : *x)
            value /= size;
        if (round >= n_rounds / 2)
          logarithm += std::log(size);
      }
    const int n_counted = n_rounds - n_rounds / 2;
    return std::exp(logarithm / n_counted);
  }

  double factor_of_random_order(const CrsMatrix<double> &A, double omega, int max_age, int n_sweeps, std::uint64_t seed)
  {
    const std::vector<double>        m = weighted_entries(A, omega);
    std::mt19937_64                  random(seed);
    std::vector<double>              x(A.n_rows, 1.);
    std::vector<std::vector<double>> before(max_age, x); // [k]: what x was when the sweep k before this one began
    double                           half = 1.;
    for (int sweep = 0; sweep < n_sweeps; ++sweep)
      {
        if (max_age > 0)
          {
            std::rotate(before.rbegin(), before.rbegin() + 1, before.rend());
            before[0] = x;
          }
        for (int update = 0; update < A.n_rows; ++update)
          {
            const int row = static_cast<int>(random() % A.n_rows);
            double    sum = 0.;
            for (int p = A.row_offsets[row]; p < A.row_offsets[row + 1]; ++p)
              {
                const auto age = random() % (max_age + 1);
                sum += m[p] * (age == 0 ? x : before[age - 1])[A.columns[p]];
              }
            x[row] = sum;
          }
        if (sweep + 1 == n_sweeps / 2)
          half = norm(x);
      }
    const int n_counted = n_sweeps - n_sweeps / 2;
    return std::pow(norm(x) / half, 1. / n_counted);
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
