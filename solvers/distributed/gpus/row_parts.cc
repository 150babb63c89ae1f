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
  namespace
  {
    /** @throws InvalidInput unless all are positive numbers. @return of all 1 in sum. */
    std::vector<double> normalized(std::vector<double> shares)
    {
      double largest = 0., sum = 0.;
      for (const double share : shares)
        {
          if (!(share > 0.) || !std::isfinite(share))
            throw InvalidInput("the share of a GPU is " + short_text(share) + "\n  expected: a positive number");
          largest = std::max(largest, share);
        }
      for (double &share : shares) // which may be so large that their sum is none
        {
          share /= largest;
          sum += share;
        }
      for (double &share : shares)
        share /= sum;
      return shares;
    }
  } // namespace

  template <typename Number>
  std::vector<int> part_offsets(const CrsMatrix<Number> &A, const Blocks &blocks, const std::vector<double> &shares)
  {
    const int n_parts = static_cast<int>(shares.size()), n_blocks = blocks.n_blocks();
    if (n_parts < 1 || n_parts > std::max(1, n_blocks))
      throw InvalidInput("a matrix with " + std::to_string(n_blocks) + " blocks is to be shared out to " + std::to_string(n_parts) +
                         " GPUs\n  expected: a block each at least; fewer GPUs or smaller blocks");
    const std::vector<double> parts_of_all = normalized(shares);
    std::vector<int>          offsets      = {0};
    double                    share        = 0.;
    int                       block        = 0;
    for (int part = 1; part < n_parts; ++part)
      {
        share += parts_of_all[part - 1];
        const double wanted = share * A.row_offsets[A.n_rows];
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

    /** To each part its ghosts by ascending rank, which rows are sorted by. */
    void connect(std::vector<RowPart> &parts)
    {
      for (std::size_t part = 0; part < parts.size(); ++part)
        for (std::size_t g = 0; g < parts[part].ghosts.size(); ++g)
          {
            const int row = parts[part].ghosts[g];
            const int owner =
              static_cast<int>(std::upper_bound(parts.begin(), parts.end(), row, [](int r, const RowPart &p) { return r < p.end; }) - parts.begin());
            parts[part].pattern.add_received(owner, parts[part].place(static_cast<int>(g)));
            parts[owner].pattern.add_sent(static_cast<int>(part), parts[owner].n_before + row - parts[owner].begin);
          }
    }
  } // namespace

  template <typename Number>
  std::vector<RowPart> row_parts(const CrsMatrix<Number> &A, const std::vector<int> &offsets, OtherRows others)
  {
    std::vector<RowPart> result(offsets.size() - 1);
    parallel_for(static_cast<long>(result.size()), 1, [&](long from, long to) {
      for (long part = from; part < to; ++part)
        {
          result[part].begin   = offsets[part];
          result[part].end     = offsets[part + 1];
          result[part].has_all = others == OtherRows::all;
          if (!result[part].has_all)
            result[part].ghosts = rows_of_others(A, result[part].begin, result[part].end);
        }
    });
    connect(result);
    return result;
  }

  std::vector<int> block_offsets_of(const RowPart &part, const std::vector<int> &begin)
  {
    std::vector<int> result;
    for (const int row : begin)
      if (row >= part.begin && row < part.end)
        result.push_back(row - part.begin);
    result.push_back(part.n_rows());
    return result;
  }

  template <typename Number>
  CrsMatrix<Number> rows_of(const CrsMatrix<Number> &A, const RowPart &part)
  {
    const int         first = A.row_offsets[part.begin], last = A.row_offsets[part.end], n_own = part.n_rows();
    CrsMatrix<Number> result;
    result.n_rows    = n_own;
    result.n_columns = part.has_all ? A.n_columns : n_own + static_cast<int>(part.ghosts.size());
    result.row_offsets.resize(n_own + 1l);
    std::transform(
      A.row_offsets.begin() + part.begin, A.row_offsets.begin() + part.end + 1, result.row_offsets.begin(), [first](int p) { return p - first; });
    result.values.assign(A.values.begin() + first, A.values.begin() + last);
    result.columns.resize(static_cast<std::size_t>(last) - first);
    std::transform(A.columns.begin() + first, A.columns.begin() + last, result.columns.begin(), [&](int j) {
      if (j >= part.begin && j < part.end)
        return j - part.begin;
      if (part.has_all)
        return j < part.begin ? n_own + j : j;
      return n_own + static_cast<int>(std::lower_bound(part.ghosts.begin(), part.ghosts.end(), j) - part.ghosts.begin());
    });
    return result;
  }

  namespace
  {
    template <typename Number>
    int n_planes(const Stencil<Number> &stencil)
    {
      return stencil.n_z > 1 ? stencil.n_z : stencil.n_y;
    }
  } // namespace

  template <typename Number>
  std::vector<RowPart> slab_parts(const Stencil<Number> &stencil, const std::vector<double> &shares, int tile)
  {
    constexpr int             least   = 2; // a plane less would be a grid of fewer dimensions
    const int                 n_parts = static_cast<int>(shares.size()), planes = n_planes(stencil), plane = stencil.plane();
    const int                 unit = static_cast<long>(tile) * n_parts <= planes ? tile : 1, fewest = unit * ((least + unit - 1) / unit);
    const std::vector<double> parts_of_all = normalized(shares);
    if (stencil.is_slab())
      throw InvalidInput("a slab is to be shared out to GPUs\n  expected: a whole grid");
    if (n_parts < 1 || (n_parts > 1 && planes < least * n_parts))
      throw InvalidInput("a grid of " + std::to_string(planes) + " planes is to be shared out to " + std::to_string(n_parts) +
                         " GPUs\n  expected: at least " + std::to_string(least) + " planes each");
    std::vector<RowPart> result(n_parts);
    double               share = 0.;
    for (int part = 0, first = 0; part < n_parts; ++part)
      {
        share += parts_of_all[part];
        const int most        = (planes - fewest * (n_parts - 1 - part)) / unit * unit;
        const int wanted      = unit * static_cast<int>(std::lround(share * planes / unit));
        const int end         = part == n_parts - 1 ? planes : std::clamp(wanted, first + fewest, most);
        result[part].begin    = first * plane;
        result[part].end      = end * plane;
        result[part].n_before = part > 0 ? plane : 0;
        for (int i = 0; i < result[part].n_before; ++i)
          result[part].ghosts.push_back(result[part].begin - plane + i);
        for (int i = 0; i < plane && end < planes; ++i)
          result[part].ghosts.push_back(result[part].end + i);
        first = end;
      }
    connect(result);
    return result;
  }

  template <typename Number>
  Stencil<Number> slab_of(const Stencil<Number> &stencil, const RowPart &part)
  {
    Stencil<Number> result;
    result.coefficients = stencil.coefficients;
    result.n_x          = stencil.n_x;
    result.n_y          = stencil.n_z > 1 ? stencil.n_y : part.n_rows() / stencil.plane();
    result.n_z          = stencil.n_z > 1 ? part.n_rows() / stencil.plane() : 1;
    result.ghost_below  = part.begin > 0;
    result.ghost_above  = part.end < stencil.n_rows();
    if (!stencil.diagonal.empty())
      result.diagonal.assign(stencil.diagonal.begin() + part.begin, stencil.diagonal.begin() + part.end + (result.ghost_above ? stencil.plane() : 0));
    return result;
  }

#define INSTANTIATE(Number)                                                                                                        \
  template std::vector<int>     part_offsets(const CrsMatrix<Number> &A, const Blocks &blocks, const std::vector<double> &shares); \
  template std::vector<RowPart> row_parts(const CrsMatrix<Number> &A, const std::vector<int> &offsets, OtherRows others);          \
  template CrsMatrix<Number>    rows_of(const CrsMatrix<Number> &A, const RowPart &part);                                          \
  template std::vector<RowPart> slab_parts(const Stencil<Number> &stencil, const std::vector<double> &shares, int tile);           \
  template Stencil<Number>      slab_of(const Stencil<Number> &stencil, const RowPart &part);
  LEOPARD_FOR_EACH_NUMBER(INSTANTIATE)
#undef INSTANTIATE
} // namespace leopard
