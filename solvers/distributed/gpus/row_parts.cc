// SPDX-License-Identifier: Apache-2.0
#include "row_parts.h"

#include "../../base/errors.h"
#include "../../base/number_types.h"
#include "../../base/thread_pool.h"
#include "../../base/words.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace leopard
{
  template <typename Number>
  std::vector<int> part_offsets(const CrsMatrix<Number> &A, const Blocks &blocks, const std::vector<double> &shares)
  {
    const int n_parts = static_cast<int>(shares.size()), n_blocks = blocks.n_blocks();
    if (n_parts < 1 || n_parts > n_blocks)
      throw InvalidInput("a matrix with " + std::to_string(n_blocks) + " blocks is to be shared out to " + std::to_string(n_parts) +
                         " GPUs\n  expected: a block each at least; fewer GPUs or smaller blocks");
    for (const double share : shares)
      if (!(share > 0.) || !std::isfinite(share))
        throw InvalidInput("the share of a GPU is " + short_text(share) + "\n  expected: a positive number");
    const double     all_shares = std::accumulate(shares.begin(), shares.end(), 0.);
    std::vector<int> offsets    = {0};
    double           share      = 0.;
    int              block      = 0;
    for (int part = 1; part < n_parts; ++part)
      {
        share += shares[part - 1];
        const double wanted = share / all_shares * A.row_offsets[A.n_rows];
        ++block; // a block each, and enough for those behind
        while (block < n_blocks - (n_parts - part) &&
               std::abs(A.row_offsets[blocks.owned_begin[block + 1]] - wanted) <= std::abs(A.row_offsets[blocks.owned_begin[block]] - wanted))
          ++block;
        offsets.push_back(blocks.owned_begin[block]);
      }
    offsets.push_back(A.n_rows);
    return offsets;
  }

  namespace
  {
    template <typename Number>
    std::vector<int> rows_of_others(const CrsMatrix<Number> &A, int begin, int end)
    {
      std::vector<int> result;
      for (int p = A.row_offsets[begin]; p < A.row_offsets[end]; ++p)
        if (A.columns[p] < begin || A.columns[p] >= end)
          result.push_back(A.columns[p]);
      std::sort(result.begin(), result.end());
      result.erase(std::unique(result.begin(), result.end()), result.end());
      return result;
    }

    template <typename Number>
    CrsMatrix<Number> own_rows(const CrsMatrix<Number> &A, const RowPart<Number> &part, OtherColumns others)
    {
      const int         first = A.row_offsets[part.begin], last = A.row_offsets[part.end], n_own = part.end - part.begin;
      CrsMatrix<Number> result;
      result.n_rows    = n_own;
      result.n_columns = others == OtherColumns::all ? A.n_columns : n_own + static_cast<int>(part.ghosts.size());
      result.row_offsets.resize(n_own + 1l);
      std::transform(
        A.row_offsets.begin() + part.begin, A.row_offsets.begin() + part.end + 1, result.row_offsets.begin(), [first](int p) { return p - first; });
      result.values.assign(A.values.begin() + first, A.values.begin() + last);
      result.columns.resize(static_cast<std::size_t>(last) - first);
      const auto column = [&](int j) {
        if (j >= part.begin && j < part.end)
          return j - part.begin;
        if (others == OtherColumns::all)
          return j < part.begin ? n_own + j : j;
        return n_own + static_cast<int>(std::lower_bound(part.ghosts.begin(), part.ghosts.end(), j) - part.ghosts.begin());
      };
      std::transform(A.columns.begin() + first, A.columns.begin() + last, result.columns.begin(), column);
      return result;
    }
  } // namespace

  template <typename Number>
  std::vector<RowPart<Number>> row_parts(const CrsMatrix<Number> &A, const std::vector<int> &offsets, OtherColumns others)
  {
    const int                    n_parts = static_cast<int>(offsets.size()) - 1;
    std::vector<RowPart<Number>> result(n_parts);
    parallel_for(*shared_thread_pool(0), n_parts, 1, [&](long from, long to) {
      for (long part = from; part < to; ++part)
        {
          RowPart<Number> &own = result[part];
          own.begin            = offsets[part];
          own.end              = offsets[part + 1];
          if (others == OtherColumns::needed)
            own.ghosts = rows_of_others(A, own.begin, own.end);
          own.A = own_rows(A, own, others);
        }
    });
    for (int part = 0; part < n_parts; ++part) // to each part its ghosts by ascending rank, which rows are sorted by
      for (std::size_t g = 0; g < result[part].ghosts.size(); ++g)
        {
          const int row   = result[part].ghosts[g];
          const int owner = static_cast<int>(std::upper_bound(offsets.begin(), offsets.end(), row) - offsets.begin()) - 1;
          result[part].pattern.add_received(owner, result[part].end - result[part].begin + static_cast<int>(g));
          result[owner].pattern.add_sent(part, row - result[owner].begin);
        }
    return result;
  }

#define INSTANTIATE(Number)                                                                                                                \
  template std::vector<int>             part_offsets(const CrsMatrix<Number> &A, const Blocks &blocks, const std::vector<double> &shares); \
  template std::vector<RowPart<Number>> row_parts(const CrsMatrix<Number> &A, const std::vector<int> &offsets, OtherColumns others);
  LEOPARD_FOR_EACH_NUMBER(INSTANTIATE)
#undef INSTANTIATE
} // namespace leopard
