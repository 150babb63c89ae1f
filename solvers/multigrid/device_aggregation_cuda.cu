// SPDX-License-Identifier: Apache-2.0
#include "../base/errors.h"
#include "../device/exclusive_scan.cuh"
#include "../device/grid_stride.cuh"
#include "../device/scratch.cuh"
#include "device_space.cuh"
#include "device_systems.h"
#include "row_of_level.h"

#include <cub/device/device_radix_sort.cuh>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace leopard::device
{
  namespace
  {
    using View = CrsView<double>;

    constexpr int none = -1;

    // Strong couplings, as the class Couplings of the host has them (aggregation.cc).

    struct Couplings
    {
      const signed char *sign; ///< what makes an entry a coupling: it times -1 or 1; 0: its size
      const double      *m;
      double             strength;

      static __device__ double of(int sign, double value) { return sign == 0 ? fabs(value) : sign * value; }

      __device__ bool is_strong(const View &A, int i, int p, bool follows) const
      {
        const double value = A.values[p], m_j = m[A.columns[p]];
        if (strength == 0.)
          return value != 0.;
        if (follows)
          return of(sign[i], value) > followed * m[i];
        return of(sign[i], value) > strength * fmin(fmax(m[i], m_j), above_mean * (sqrt(m[i]) * sqrt(m_j)));
      }
    };

    __global__ void couplings_kernel(signed char *sign, double *m, View A)
    {
      for (int i = first_index<int>(); i < A.n_rows; i += stride<int>())
        {
          double diagonal = 0., least = 0., largest = 0.; // beside the diagonal
          for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
            if (A.columns[p] == i)
              diagonal = A.values[p];
            else
              {
                least   = fmin(least, A.values[p]);
                largest = fmax(largest, A.values[p]);
              }
          const double coupling = diagonal < 0. ? largest : -least;
          sign[i]               = coupling > 0. ? (diagonal < 0. ? 1 : -1) : 0;
          m[i]                  = coupling > 0. ? coupling : fmax(largest, -least);
        }
    }

    __global__ void strong_lengths_kernel(int *lengths, signed char *follows, View A, Couplings couplings)
    {
      for (int i = first_index<int>(); i < A.n_rows; i += stride<int>())
        {
          int n_strong = 0, n_of_row = 0, n_diagonal = 0; // strong for both rows; for row i
          for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
            if (A.columns[p] == i)
              ++n_diagonal;
            else
              {
                n_strong += couplings.is_strong(A, i, p, false);
                n_of_row += couplings.is_strong(A, i, p, true);
              }
          follows[i] = n_strong == 0;
          lengths[i] = n_diagonal + (n_strong == 0 ? n_of_row : n_strong);
        }
    }

    /** Rows without strong couplings keep their diagonal. */
    __global__ void strong_part_kernel(int *columns, double *values, const int *offsets, const signed char *follows, View A, Couplings couplings)
    {
      for (int i = first_index<int>(); i < A.n_rows; i += stride<int>())
        {
          double weak = 0.;
          int    to = offsets[i], diagonal = none;
          for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
            {
              const int j = A.columns[p];
              if (j != i && !couplings.is_strong(A, i, p, follows[i] != 0))
                {
                  weak += A.values[p];
                  continue;
                }
              if (j == i)
                diagonal = to;
              columns[to]  = j;
              values[to++] = A.values[p];
            }
          if (diagonal != none && weak != 0. && offsets[i + 1] - offsets[i] > 1)
            values[diagonal] += weak;
        }
    }

    /** @param follows receives which rows follow others, an entry a row, in device memory. */
    DeviceCrs<double> strong_part(const DeviceCrs<double> &A, double strength, signed char *follows)
    {
      const Scratch<signed char> sign(A.n_rows);
      const Scratch<double>      m(A.n_rows);
      const Couplings            couplings = {sign.data(), m.data(), strength};
      Array<int>                 lengths(A.n_rows + 1l);
      couplings_kernel<<<blocks_for(A.n_rows), threads, 0, stream()>>>(sign.data(), m.data(), A.view());
      strong_lengths_kernel<<<blocks_for(A.n_rows), threads, 0, stream()>>>(lengths.data(), follows, A.view(), couplings);
      LEOPARD_CHECK(cudaGetLastError());
      const DeviceCrs<double> result = with_lengths(A.n_rows, A.n_columns, std::move(lengths));
      auto                   &arrays = *result.arrays;
      strong_part_kernel<<<blocks_for(A.n_rows), threads, 0, stream()>>>(
        arrays.columns.data(), arrays.values.data(), arrays.row_offsets.data(), follows, A.view(), couplings);
      LEOPARD_CHECK(cudaGetLastError());
      return result;
    }

    // Middles of aggregates. A row's key is its state (0: decided against, 1: open, 2: a middle), whether it follows no
    // others, its random number and its number, from the highest bits down; the largest key in two couplings' reach
    // decides.

    using Key            = unsigned long long;
    constexpr Key open   = Key(1) << 62;
    constexpr Key middle = Key(2) << 62;

    __host__ __device__ inline Key state(Key key)
    {
      return key & Key(3) << 62;
    }

    __global__ void first_keys_kernel(Key *keys, const signed char *follows, View S)
    {
      for (int i = first_index<int>(); i < S.n_rows; i += stride<int>())
        {
          bool coupled = false;
          for (int p = S.row_offsets[i]; p < S.row_offsets[i + 1] && !coupled; ++p)
            coupled = S.columns[p] != i;
          std::uint64_t bits = (static_cast<std::uint64_t>(i) + 1) * 0x9e3779b97f4a7c15ull;
          bits               = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9ull;
          bits               = (bits ^ bits >> 27) * 0x94d049bb133111ebull;
          keys[i]            = (coupled ? open : 0) | (follows[i] != 0 ? 0 : Key(1) << 61) | (bits ^ bits >> 31) >> 35 << 32 | static_cast<Key>(i);
        }
    }

    __device__ Key largest_key(const Key *keys, const View &S, int i)
    {
      Key largest = keys[i];
      for (int p = S.row_offsets[i]; p < S.row_offsets[i + 1]; ++p)
        largest = max(largest, keys[S.columns[p]]);
      return largest;
    }

    __global__ void largest_near_kernel(Key *near, const Key *keys, View S)
    {
      for (int i = first_index<int>(); i < S.n_rows; i += stride<int>())
        near[i] = largest_key(keys, S, i);
    }

    __global__ void decide_kernel(Key *keys, const Key *near, View S, int *any_open)
    {
      for (int i = first_index<int>(); i < S.n_rows; i += stride<int>())
        if (const Key key = keys[i]; state(key) == open)
          {
            const Key largest = largest_key(near, S, i), rest = key & ~(Key(3) << 62);
            if (largest == key)
              keys[i] = middle | rest;
            else if (state(largest) == middle)
              keys[i] = rest;
            else
              *any_open = 1;
          }
    }

    __global__ void is_middle_kernel(int *is_middle, const Key *keys, int n)
    {
      for (int i = first_index<int>(); i <= n; i += stride<int>())
        is_middle[i] = i < n && state(keys[i]) == middle;
    }

    /** Middles, and what is coupled to one. @param number of each row the middles before it. */
    __global__ void join_middles_kernel(int *of_row, const Key *keys, const int *number, View S)
    {
      for (int i = first_index<int>(); i < S.n_rows; i += stride<int>())
        {
          int chosen = state(keys[i]) == middle ? number[i] : none;
          for (int p = S.row_offsets[i]; p < S.row_offsets[i + 1] && chosen == none; ++p)
            if (const int j = S.columns[p]; state(keys[j]) == middle)
              chosen = number[j];
          of_row[i] = chosen;
        }
    }

    __global__ void join_neighbours_kernel(int *of_row, const int *before, View S)
    {
      for (int i = first_index<int>(); i < S.n_rows; i += stride<int>())
        {
          int    chosen    = before[i];
          double strongest = 0.;
          for (int p = S.row_offsets[i]; p < S.row_offsets[i + 1] && before[i] == none; ++p)
            if (const int j = S.columns[p]; j != i && before[j] != none && fabs(S.values[p]) > strongest)
              {
                strongest = fabs(S.values[p]);
                chosen    = before[j];
              }
          of_row[i] = chosen;
        }
    }

    double largest_eigenvalue(const DeviceCrs<double> &S)
    {
      return std::min(row_sum_bound(S), 1.1 * power_iteration(S, 15));
    }

    // A vector v near the null space: of diag(v) A diag(v) it is the constant.

    /** The largest magnitude in each aggregate; bits of numbers that are not negative are ordered as these. */
    __global__ void largest_of_aggregates_kernel(double *largest, const double *v, const int *of_row, int n)
    {
      for (int i = first_index<int>(); i < n; i += stride<int>())
        if (of_row[i] != none)
          atomicMax(reinterpret_cast<unsigned long long *>(largest + of_row[i]), static_cast<unsigned long long>(__double_as_longlong(fabs(v[i]))));
    }

    /** P <- diag(v) P diag(w)^-1. */
    __global__ void weigh_back_kernel(double *values, View P, const double *v, const double *w)
    {
      for (int i = first_index<int>(); i < P.n_rows; i += stride<int>())
        for (int p = P.row_offsets[i]; p < P.row_offsets[i + 1]; ++p)
          values[p] *= v[i] / w[P.columns[p]];
    }

    /** @return w, for which P w = v: that of the coarse level. */
    NearNullSpace weigh_back(DeviceCrs<double> &P, const Array<double> &v, const int *of_row)
    {
      NearNullSpace  result = {P.n_columns, 1, {}, {}, Array<double>(static_cast<std::size_t>(P.n_columns))};
      Array<double> &w      = result.values;
      LEOPARD_CHECK(cudaMemsetAsync(w.data(), 0, w.size() * sizeof(double), stream()));
      largest_of_aggregates_kernel<<<blocks_for(P.n_rows), threads, 0, stream()>>>(w.data(), v.data(), of_row, P.n_rows);
      weigh_back_kernel<<<blocks_for(P.n_rows), threads, 0, stream()>>>(P.arrays->values.data(), P.view(), v.data(), w.data());
      LEOPARD_CHECK(cudaGetLastError());
      return result;
    }

    // A step to a coarser level: fine.prolongation and fine.of_row, and what is near the null space there. They return
    // false where that level would have hardly fewer rows, and then nothing is made.

    /** Of rows that are nodes, with one vector that is nowhere zero or the constant. */
    bool coarsen_rows(AggregationLevel &fine, double strength, NearNullSpace &coarse)
    {
      const Array<double> &v          = fine.near_null.values;
      Aggregates           aggregates = aggregate(v.size() > 0 ? couplings_of_nodes(fine.matrix, fine.near_null) : fine.matrix, strength);
      if (aggregates.n == 0 || !is_worth_a_level(aggregates.n, fine.matrix.n_rows))
        return false;
      fine.prolongation = smoothed_prolongation(aggregates);
      fine.of_row       = std::move(aggregates.of_row);
      if (v.size() > 0)
        coarse = weigh_back(fine.prolongation, v, fine.of_row.data());
      return true;
    }

    __global__ void first_unknowns_kernel(int *of_row, const int *first_row, int n)
    {
      for (int i = first_index<int>(); i < n; i += stride<int>())
        if (of_row[i] != none)
          of_row[i] = first_row[of_row[i]];
    }

    bool coarsen_system(AggregationLevel &fine, double strength, NearNullSpace &coarse)
    {
      SystemAggregates aggregates = aggregate(fine.matrix, strength, fine.near_null);
      if (aggregates.n == 0)
        return false;
      const int             n         = fine.matrix.n_rows;
      TentativeProlongation tentative = tentative_prolongation(aggregates.of_row, aggregates.n, fine.near_null);
      if (!is_worth_a_level(tentative.prolongation.n_columns, n))
        return false;
      fine.prolongation = smoothed_prolongation(aggregates, tentative);
      fine.of_row       = std::move(aggregates.of_row);
      coarse            = std::move(tentative.coarse);
      first_unknowns_kernel<<<blocks_for(n), threads, 0, stream()>>>(fine.of_row.data(), coarse.first_row.data(), n);
      LEOPARD_CHECK(cudaGetLastError());
      return true;
    }

    /** P^T A P. @throws LevelsFillUp as check_complexity(). */
    DeviceCrs<double> galerkin(const DeviceCrs<double> &A, const DeviceCrs<double> &P, double n_finest, double most_complexity)
    {
      const DeviceCrs<double> AP = product(A, P);
      check_complexity(static_cast<double>(AP.n_entries), n_finest, most_complexity);
      return product(transposed(P), AP);
    }

    __global__ void keys_of_order_kernel(int *keys, int *rows, const int *of_row, const int *place, int n, int n_coarse)
    {
      for (int i = first_index<int>(); i < n; i += stride<int>())
        {
          rows[i] = i;
          keys[i] = of_row[i] == none ? n_coarse : place == nullptr ? of_row[i] : place[of_row[i]];
        }
    }

    __global__ void places_kernel(int *place, const int *old_row, int n)
    {
      for (int i = first_index<int>(); i < n; i += stride<int>())
        place[old_row[i]] = i;
    }
  } // namespace

  Aggregates aggregate(const DeviceCrs<double> &A, double strength)
  {
    const int                  n = A.n_rows;
    const Scratch<signed char> follows(n);
    Aggregates                 result = {Array<int>(static_cast<std::size_t>(n)), 0, strong_part(A, strength, follows.data())};
    if (n == 0)
      return result;
    const View         S = result.strong.view();
    const Scratch<Key> keys(n), near(n);
    const Scratch<int> any_open(1), number(n + 1l), first_pass(n);
    first_keys_kernel<<<blocks_for(n), threads, 0, stream()>>>(keys.data(), follows.data(), S);
    do
      {
        LEOPARD_CHECK(cudaMemsetAsync(any_open.data(), 0, sizeof(int), stream()));
        largest_near_kernel<<<blocks_for(n), threads, 0, stream()>>>(near.data(), keys.data(), S);
        decide_kernel<<<blocks_for(n), threads, 0, stream()>>>(keys.data(), near.data(), S, any_open.data());
        LEOPARD_CHECK(cudaGetLastError());
      }
    while (to_host(any_open.data()) != 0);
    is_middle_kernel<<<blocks_for(n + 1l), threads, 0, stream()>>>(number.data(), keys.data(), n);
    exclusive_scan(number.data(), n + 1l);
    result.n = to_host(number.data() + n);
    join_middles_kernel<<<blocks_for(n), threads, 0, stream()>>>(first_pass.data(), keys.data(), number.data(), S);
    join_neighbours_kernel<<<blocks_for(n), threads, 0, stream()>>>(result.of_row.data(), first_pass.data(), S);
    LEOPARD_CHECK(cudaGetLastError());
    return result;
  }

  DeviceCrs<double> smoothed_prolongation(Aggregates &aggregates)
  {
    DeviceCrs<double>   S        = std::move(aggregates.strong);
    const int          *of_row   = aggregates.of_row.data();
    const Array<double> diagonal = diagonal_of(S);
    check_diagonal(diagonal.data(), of_row, S.n_rows);
    const double factor = 4. / (3. * largest_eigenvalue(S));
    return product(smoothing_matrix(S, diagonal.data(), of_row, factor), membership(of_row, S.n_rows, aggregates.n));
  }

  std::vector<AggregationLevel> aggregation_levels(DeviceCrs<double> A, const AggregationOptions &options)
  {
    options.validate();
    std::vector<AggregationLevel> result;
    const bool                    is_system = !options.is_like_scalar();
    const double                  n_finest  = static_cast<double>(A.n_entries);
    double                        n_entries = n_finest; // of all levels
    result.push_back({std::move(A), {}, {}, {}});
    if (is_system)
      result.back().near_null = make_near_null_space(result.back().matrix.n_rows, options);
    else if (!options.near_null_space.empty())
      result.back().near_null = {result.back().matrix.n_rows, 1, {}, {}, Array<double>(options.near_null_space.front())};
    while (static_cast<int>(result.size()) < options.max_levels && result.back().matrix.n_rows > options.max_coarse)
      {
        AggregationLevel &fine = result.back();
        NearNullSpace     near_null;
        if (!on_level({fine.matrix.n_rows, result.size() > 1, false}, [&] {
              return is_system ? coarsen_system(fine, options.strength, near_null) : coarsen_rows(fine, options.strength, near_null);
            }))
          break;
        check_complexity(static_cast<double>(fine.prolongation.n_entries), n_finest, options.most_complexity);
        DeviceCrs<double> coarse = galerkin(fine.matrix, fine.prolongation, n_finest, options.most_complexity);
        n_entries += static_cast<double>(coarse.n_entries);
        check_complexity(n_entries, n_finest, options.most_complexity);
        if (!has_valid_values(coarse))
          on_level({coarse.n_rows, true, false}, [&] { to_host(coarse).validate_entries(); }); // says what it is
        result.push_back({std::move(coarse), {}, {}, std::move(near_null)});
      }
    check_coarsest(result.back().matrix.n_rows, options);
    std::reverse(result.begin(), result.end());
    return result;
  }

  GalerkinProduct galerkin_on_device(const AggregationOptions &options, double n_finest)
  {
    const auto coarse = std::make_shared<DeviceCrs<double>>(); // what was returned last: A of the next call
    return [coarse, most = options.most_complexity, n_finest](const CrsMatrix<double> &A, const CrsMatrix<double> &P) {
      *coarse = galerkin(coarse->n_rows > 0 ? *coarse : to_device(A), to_device(P), n_finest, most);
      return to_host(*coarse);
    };
  }

  std::vector<Array<int>> aggregate_orders(const std::vector<AggregationLevel> &levels)
  {
    std::vector<Array<int>> orders(levels.size());
    Scratch<int>            places(levels.empty() ? 0 : levels.back().matrix.n_rows); // of the level before
    for (std::size_t l = 1; l < levels.size(); ++l)
      {
        const int          n = levels[l].matrix.n_rows, n_coarse = levels[l - 1].matrix.n_rows;
        const Scratch<int> keys(n), sorted_keys(n), rows(n);
        orders[l] = Array<int>(static_cast<std::size_t>(n));
        keys_of_order_kernel<<<blocks_for(n), threads, 0, stream()>>>(
          keys.data(), rows.data(), levels[l].of_row.data(), l == 1 ? nullptr : places.data(), n, n_coarse);
        with_scratch([&](void *memory, std::size_t &n_bytes) {
          return cub::DeviceRadixSort::SortPairs(
            memory, n_bytes, keys.data(), sorted_keys.data(), rows.data(), orders[l].data(), n, 0, bits_for(n_coarse), stream());
        });
        places_kernel<<<blocks_for(n), threads, 0, stream()>>>(places.data(), orders[l].data(), n);
        LEOPARD_CHECK(cudaGetLastError());
      }
    return orders;
  }
} // namespace leopard::device
