// SPDX-License-Identifier: Apache-2.0
#include "blocks.h"

#include "../base/errors.h"
#include "../base/thread_pool.h"
#include "../base/words.h"
#include "graph_blocks.h"
#include "shifted_tiles.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <tuple>

namespace leopard
{
  void require_block_size(int block_size)
  {
    if (block_size < 1)
      throw InvalidInput("block_size is " + std::to_string(block_size) + "\n  expected: at least one row a block");
  }

  namespace
  {
    std::vector<int> equal_offsets(int n_rows, int block_size)
    {
      std::vector<int> offsets = {0};
      while (offsets.back() < n_rows)
        offsets.push_back(std::min(n_rows - offsets.back(), block_size) + offsets.back());
      return offsets;
    }

    /** Rows of the same part stand together, parts in their order, rows within a part in theirs. Empty parts vanish. */
    /** The last row found by a breadth-first search is far away: begin there (George and Liu's idea, two rounds). */
    int far_row(const Graph &graph, int start, std::vector<int> &mark, int round)
    {
      std::vector<int> queue = {start};
      mark[start]            = round;
      for (std::size_t head = 0; head < queue.size(); ++head)
        for (int p = graph.offsets[queue[head]]; p < graph.offsets[queue[head] + 1]; ++p)
          if (const int j = graph.neighbours[p]; mark[j] != round)
            {
              mark[j] = round;
              queue.push_back(j);
            }
      return queue.back();
    }

    /** The reverse Cuthill-McKee order: for each place the row that comes there. */
    std::vector<int> reverse_cuthill_mckee(const Graph &graph)
    {
      const int        n_rows = static_cast<int>(graph.offsets.size()) - 1;
      const auto       degree = [&](int i) { return graph.offsets[i + 1] - graph.offsets[i]; };
      std::vector<int> mark(n_rows, -1), order;
      std::vector<int> rows(n_rows);
      std::iota(rows.begin(), rows.end(), 0);
      std::stable_sort(rows.begin(), rows.end(), [&](int i, int j) { return degree(i) < degree(j); });
      std::vector<char> visited(n_rows, 0);
      order.reserve(n_rows);
      int round = 0;
      for (const int candidate : rows)
        {
          if (visited[candidate])
            continue;
          const int start = far_row(graph, far_row(graph, candidate, mark, round), mark, round + 1);
          round += 2;
          std::size_t head = order.size();
          order.push_back(start);
          visited[start] = 1;
          for (; head < order.size(); ++head)
            {
              const std::size_t first = order.size();
              for (int p = graph.offsets[order[head]]; p < graph.offsets[order[head] + 1]; ++p)
                if (const int j = graph.neighbours[p]; !visited[j])
                  {
                    visited[j] = 1;
                    order.push_back(j);
                  }
              std::stable_sort(order.begin() + static_cast<std::ptrdiff_t>(first), order.end(), [&](int i, int j) { return degree(i) < degree(j); });
            }
        }
      std::reverse(order.begin(), order.end());
      return order;
    }
  } // namespace

  int Blocks::largest() const
  {
    int rows = 0;
    for (int block = 0; block < n_blocks(); ++block)
      rows = std::max(rows, end[block] - begin[block]);
    return rows;
  }

  void Blocks::reverse()
  {
    for (std::vector<int> *rows : {&owned_begin, &owned_end, &begin, &end})
      std::reverse(rows->begin(), rows->end());
  }

  template <typename Number>
  std::vector<std::vector<int>> rows_with_overlap(const CrsMatrix<Number> &A, const Blocks &blocks, Overlap overlap, int level)
  {
    const Graph                   graph = overlap == Overlap::none ? Graph() : symmetric_graph(A);
    std::vector<std::vector<int>> result(blocks.n_blocks());
    std::vector<int>              mark(A.n_rows, -1);
    for (int block = 0; block < blocks.n_blocks(); ++block)
      {
        const int         first = blocks.owned_begin[block], end = blocks.owned_end[block];
        std::vector<int> &rows = result[block];
        for (int i = first; i < end; ++i)
          {
            rows.push_back(i);
            mark[i] = block;
          }
        std::size_t reached = 0; // rows whose neighbours are there
        for (int distance = 0; overlap != Overlap::none && distance < level; ++distance)
          for (const std::size_t n = rows.size(); reached < n; ++reached)
            for (int p = graph.offsets[rows[reached]]; p < graph.offsets[rows[reached] + 1]; ++p)
              {
                const int  j       = graph.neighbours[p];
                const bool wanted  = overlap == Overlap::uniform || (overlap == Overlap::upward ? j < first : j >= end);
                const bool is_here = mark[j] == block;
                if (wanted && !is_here)
                  {
                    rows.push_back(j);
                    mark[j] = block;
                  }
              }
        std::sort(rows.begin(), rows.end());
      }
    return result;
  }

  Blocks contiguous_blocks(int n_rows, int block_size, Overlap overlap, double percent)
  {
    require_block_size(block_size);
    if (!(percent >= 0. && percent <= 90.))
      throw InvalidInput("the overlap is " + short_text(percent) + " percent of a block\n  expected: 0 to 90");
    const int shared = overlap == Overlap::none ? 0 : std::min(block_size - 1, static_cast<int>(std::lround(block_size * percent / 100.)));
    const int before = overlap == Overlap::upward ? shared : overlap == Overlap::uniform ? shared / 2 : 0;
    Blocks    result = blocks_between(equal_offsets(n_rows, block_size - shared));
    for (int block = 0; block < result.n_blocks(); ++block)
      {
        result.begin[block] = std::max(0, result.begin[block] - before);
        result.end[block]   = std::min(n_rows, result.end[block] + shared - before);
      }
    return result;
  }

  Blocks blocks_between(const std::vector<int> &offsets)
  {
    if (offsets.empty() || offsets.front() != 0)
      throw InvalidInput("the offsets of the blocks do not begin with 0\n  expected: 0, increasing, up to the number of rows");
    for (std::size_t i = 1; i < offsets.size(); ++i)
      if (offsets[i] <= offsets[i - 1])
        throw InvalidInput("block " + std::to_string(i - 1) + " has " + std::to_string(offsets[i] - offsets[i - 1]) +
                           " rows\n  expected: increasing offsets of blocks");
    Blocks result;
    result.begin.assign(offsets.begin(), offsets.end() - 1);
    result.end.assign(offsets.begin() + 1, offsets.end());
    result.owned_begin = result.begin;
    result.owned_end   = result.end;
    return result;
  }

  Partition contiguous_partition(int n_rows, int block_size)
  {
    require_block_size(block_size);
    Partition result;
    result.block_offsets = equal_offsets(n_rows, block_size);
    result.old_row.resize(n_rows);
    std::iota(result.old_row.begin(), result.old_row.end(), 0);
    return result;
  }

  Partition tile_partition(int n_x, int n_y, int n_z, int t_x, int t_y, int t_z)
  {
    if (n_x < 1 || n_y < 1 || n_z < 1 || t_x < 1 || t_y < 1 || t_z < 1)
      throw InvalidInput("a grid of " + std::to_string(n_x) + " x " + std::to_string(n_y) + " x " + std::to_string(n_z) + " nodes in tiles of " +
                         std::to_string(t_x) + " x " + std::to_string(t_y) + " x " + std::to_string(t_z) + "\n  expected: numbers >= 1");
    Partition result;
    result.block_offsets = {0};
    result.old_row.reserve(
      checked_count(static_cast<double>(n_x) * n_y * n_z,
                    "rows for a grid of " + std::to_string(n_x) + " x " + std::to_string(n_y) + " x " + std::to_string(n_z) + " nodes"));
    for (long z0 = 0; z0 < n_z; z0 += t_z)
      for (long y0 = 0; y0 < n_y; y0 += t_y)
        for (long x0 = 0; x0 < n_x; x0 += t_x)
          {
            for (long z = z0; z < std::min<long>(n_z, z0 + t_z); ++z)
              for (long y = y0; y < std::min<long>(n_y, y0 + t_y); ++y)
                for (long x = x0; x < std::min<long>(n_x, x0 + t_x); ++x)
                  result.old_row.push_back(static_cast<int>((z * n_y + y) * n_x + x));
            result.block_offsets.push_back(static_cast<int>(result.old_row.size()));
          }
    return result;
  }

  namespace
  {
    /** A row with its coordinates, so that comparing rows needs no other memory. */
    template <int dim>
    struct Point
    {
      std::array<double, dim> x;
      int                     row;
    };

    template <int dim>
    struct Part
    {
      Point<dim> *begin, *end;
    };

    /** Two parts, in front of and behind the point that is to stand at `middle`, by coordinate d and then by row. */
    template <int dim>
    std::pair<Part<dim>, Part<dim>> split(const Part<dim> &part, Point<dim> *middle, int d)
    {
      std::nth_element(
        part.begin, middle, part.end, [d](const Point<dim> &a, const Point<dim> &b) { return a.x[d] != b.x[d] ? a.x[d] < b.x[d] : a.row < b.row; });
      return {{part.begin, middle}, {middle, part.end}};
    }

    /** A part that is a block: rows in their order. */
    template <int dim>
    void finish_block(const Part<dim> &part, std::vector<int> &block_sizes)
    {
      std::sort(part.begin, part.end, [](const Point<dim> &a, const Point<dim> &b) { return a.row < b.row; });
      if (part.end > part.begin)
        block_sizes.push_back(static_cast<int>(part.end - part.begin));
    }

    /** Two parts of whole blocks, but for the last one: along the longest side of the bounding box. */
    template <int dim>
    std::pair<Part<dim>, Part<dim>> bisect(const Part<dim> &part, int block_size)
    {
      std::array<double, dim> low = part.begin->x, high = low;
      for (const Point<dim> *point = part.begin; point < part.end; ++point)
        for (int d = 0; d < dim; ++d)
          {
            low[d]  = std::min(low[d], point->x[d]);
            high[d] = std::max(high[d], point->x[d]);
          }
      int longest = 0;
      for (int d = 1; d < dim; ++d)
        if (is_longer_side(high[d] - low[d], high[longest] - low[longest]))
          longest = d;
      const long  n = part.end - part.begin, n_blocks = (n - 1) / block_size + 1;
      Point<dim> *middle = part.begin + n * (n_blocks / 2) / n_blocks;
      return split(part, middle, longest);
    }

    template <int dim>
    void finish_part(const Part<dim> &part, int block_size, std::vector<int> &block_sizes)
    {
      if (part.end - part.begin > block_size)
        {
          const auto [left, right] = bisect(part, block_size);
          finish_part(left, block_size, block_sizes);
          finish_part(right, block_size, block_sizes);
          return;
        }
      finish_block(part, block_sizes);
    }

    /** @param tiles of the part. */
    template <int dim>
    void finish_shifted(const Part<dim> &part, const ShiftedTiles &tiles, int block_size, std::vector<int> &block_sizes)
    {
      const int direction = tiles.direction();
      if (direction < 0)
        {
          finish_block(part, block_sizes);
          return;
        }
      const auto halves        = tiles.halves(block_size);
      const auto [left, right] = split(part, part.begin + halves[0].n, direction);
      finish_shifted(left, halves[0], block_size, block_sizes);
      finish_shifted(right, halves[1], block_size, block_sizes);
    }

    template <int dim>
    std::array<double, 3> extents(const std::vector<Point<dim>> &points)
    {
      std::array<double, 3> result{};
      for (int d = 0; d < dim && !points.empty(); ++d)
        {
          const auto [low, high] =
            std::minmax_element(points.begin(), points.end(), [d](const Point<dim> &a, const Point<dim> &b) { return a.x[d] < b.x[d]; });
          result[d] = high->x[d] - low->x[d];
        }
      return result;
    }

    template <int dim>
    Partition bisected(const std::vector<double> &coordinates, int block_size, int n_threads, bool shifted)
    {
      std::vector<Point<dim>> points(coordinates.size() / dim);
      for (std::size_t i = 0; i < points.size(); ++i)
        {
          std::copy_n(coordinates.begin() + static_cast<std::ptrdiff_t>(dim * i), dim, points[i].x.begin());
          points[i].row = static_cast<int>(i);
        }
      // as many parts as threads, twice over, and then each part by itself
      const auto             pool  = shared_thread_pool(n_threads);
      std::vector<Part<dim>> parts = {{points.data(), points.data() + points.size()}};
      while (!shifted && pool->size() > 1 && static_cast<int>(parts.size()) < 2 * pool->size() &&
             parts.front().end - parts.front().begin > 64l * block_size)
        {
          std::vector<Part<dim>> halves(2 * parts.size());
          parallel_for(*pool, static_cast<long>(parts.size()), 1, [&](long begin, long end) {
            for (long i = begin; i < end; ++i)
              std::tie(halves[2 * i], halves[2 * i + 1]) = bisect(parts[i], block_size);
          });
          parts = halves;
        }
      std::vector<std::vector<int>> block_sizes(parts.size());
      if (shifted)
        finish_shifted(
          parts.front(), ShiftedTiles::whole(static_cast<long>(points.size()), dim, extents(points), block_size), block_size, block_sizes.front());
      else
        parallel_for(*pool, static_cast<long>(parts.size()), 1, [&](long begin, long end) {
          for (long i = begin; i < end; ++i)
            finish_part(parts[i], block_size, block_sizes[i]);
        });
      Partition result;
      result.block_offsets = {0};
      for (const std::vector<int> &sizes : block_sizes)
        for (const int size : sizes)
          result.block_offsets.push_back(result.block_offsets.back() + size);
      result.old_row.reserve(points.size());
      for (const Point<dim> &point : points)
        result.old_row.push_back(point.row);
      return result;
    }
  } // namespace

  Partition coordinate_partition(const std::vector<double> &coordinates, int dim, int block_size, int n_threads, bool shifted)
  {
    require_block_size(block_size);
    if (dim < 1 || dim > 3 || coordinates.size() % dim != 0)
      throw InvalidInput(std::to_string(coordinates.size()) + " coordinates in " + std::to_string(dim) +
                         " dimensions\n  expected: 1, 2 or 3 dimensions and as many numbers for each row");
    for (std::size_t i = 0; i < coordinates.size(); ++i)
      if (!std::isfinite(coordinates[i]))
        throw InvalidInput("a coordinate of row " + std::to_string(i / dim) + " is " + std::to_string(coordinates[i]) +
                           " (the first row is 0)\n  expected: finite numbers");
    const std::size_t n_rows = coordinates.size() / dim;
    checked_count(static_cast<double>(n_rows), "rows with coordinates");
    return dim == 1   ? bisected<1>(coordinates, block_size, n_threads, shifted)
           : dim == 2 ? bisected<2>(coordinates, block_size, n_threads, shifted)
                      : bisected<3>(coordinates, block_size, n_threads, shifted);
  }

  template <typename Number>
  Partition rcm_partition(const CrsMatrix<Number> &A, int block_size)
  {
    require_block_size(block_size);
    Partition result = contiguous_partition(A.n_rows, block_size);
    result.old_row   = reverse_cuthill_mckee(symmetric_graph(A));
    return result;
  }

  std::string to_string(BlockShape shape)
  {
    switch (shape)
      {
        case BlockShape::contiguous:
          return "contiguous";
        case BlockShape::rcm:
          return "rcm";
        case BlockShape::tiles:
          return "tiles";
        case BlockShape::metis:
          return "metis";
      }
    return "unknown";
  }

  template <typename Number>
  Partition shaped_partition(const CrsMatrix<Number> &A, BlockShape shape, int block_size)
  {
    switch (shape)
      {
        case BlockShape::contiguous:
          return contiguous_partition(A.n_rows, block_size);
        case BlockShape::rcm:
          return rcm_partition(A, block_size);
        case BlockShape::metis:
          return metis_partition(A, block_size);
        case BlockShape::tiles:
          break;
      }
    throw InvalidInput("blocks: the shape is " + to_string(shape) + ", and there are no coordinates\n  expected: contiguous, rcm or metis");
  }

  template <typename Number>
  Partition compact_partition(const CrsMatrix<Number> &A, const std::vector<double> &coordinates, int dim, int block_size, int n_threads)
  {
    if (A.n_rows <= block_size)
      return contiguous_partition(A.n_rows, block_size);
    if (coordinates.empty())
      return metis_partition(A, block_size);
    const int n_nodes = dim > 0 ? static_cast<int>(coordinates.size()) / dim : 0, n_fields = n_nodes > 0 ? A.n_rows / n_nodes : 0;
    if (n_fields < 1 || coordinates.size() != static_cast<std::size_t>(n_nodes) * dim || n_fields * n_nodes != A.n_rows)
      throw InvalidInput("blocks: " + std::to_string(coordinates.size()) + " coordinates of " + std::to_string(dim) + " dimensions for " +
                         std::to_string(A.n_rows) + " rows\n  expected: as many a row as there are dimensions, or a node of equally many rows");
    if (n_fields > block_size) // the rows of a node stand together
      return contiguous_partition(A.n_rows, block_size);
    const Partition of_nodes = coordinate_partition(coordinates, dim, block_size / n_fields, n_threads);
    Partition       result;
    result.old_row.reserve(A.n_rows);
    for (const int node : of_nodes.old_row)
      for (int field = 0; field < n_fields; ++field)
        result.old_row.push_back(node * n_fields + field);
    for (const int offset : of_nodes.block_offsets)
      result.block_offsets.push_back(offset * n_fields);
    return result;
  }

#define INSTANTIATE(Number)                                                                                                               \
  template Partition                     shaped_partition(const CrsMatrix<Number> &A, BlockShape shape, int block_size);                  \
  template std::vector<std::vector<int>> rows_with_overlap(const CrsMatrix<Number> &A, const Blocks &blocks, Overlap overlap, int level); \
  template Partition                     rcm_partition(const CrsMatrix<Number> &A, int block_size);                                       \
  template Partition compact_partition(const CrsMatrix<Number> &A, const std::vector<double> &coordinates, int dim, int block_size, int n_threads);
  LEOPARD_FOR_EACH_NUMBER(INSTANTIATE)
#undef INSTANTIATE
} // namespace leopard
