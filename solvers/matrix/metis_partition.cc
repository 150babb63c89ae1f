// SPDX-License-Identifier: Apache-2.0
#include "../base/errors.h"
#include "../base/number_types.h"
#include "blocks.h"
#include "graph_blocks.h"

#include <metis.h>

#include <algorithm>
#include <string>
#include <vector>

namespace leopard
{
  namespace
  {
    Partition partition_of(const std::vector<int> &part_of_row, int n_parts)
    {
      std::vector<int> count(n_parts, 0);
      for (const int part : part_of_row)
        ++count[part];
      std::vector<int> next(n_parts, 0);
      Partition        result;
      result.block_offsets = {0};
      for (int part = 0; part < n_parts; ++part)
        {
          next[part] = result.block_offsets.back();
          if (count[part] > 0)
            result.block_offsets.push_back(next[part] + count[part]);
        }
      result.old_row.resize(part_of_row.size());
      for (std::size_t i = 0; i < part_of_row.size(); ++i)
        result.old_row[next[part_of_row[i]]++] = static_cast<int>(i);
      return result;
    }

    /** Parts that are too large in as many as it takes, by the order of their rows. @return the number of parts. */
    int split_large_parts(std::vector<int> &part, int n_parts, int block_size)
    {
      std::vector<int> size(n_parts, 0), n_seen(n_parts, 0), first(n_parts);
      for (const int p : part)
        ++size[p];
      int n = n_parts; // the first piece of a part keeps its number
      for (int p = 0; p < n_parts; ++p)
        {
          first[p] = n - 1;
          n += std::max(0, (size[p] - 1) / block_size);
        }
      for (int &p : part)
        {
          const int n_pieces = (size[p] - 1) / block_size + 1, rows = (size[p] - 1) / n_pieces + 1, piece = n_seen[p]++ / rows;
          p = piece == 0 ? p : first[p] + piece;
        }
      return n;
    }

    /** What part of the entries that blocks of n rows and columns have there is in the matrix, of some rows. */
    template <typename Number>
    double fill_of_nodes(const CrsMatrix<Number> &A, int n)
    {
      constexpr int    n_looked_at = 1000;
      const int        n_nodes = A.n_rows / n, step = 1 + n_nodes / n_looked_at;
      std::vector<int> columns;
      double           n_entries = 0., n_of_blocks = 0.;
      for (int node = 0; node < n_nodes; node += step)
        {
          columns.clear();
          for (int p = A.row_offsets[node * n]; p < A.row_offsets[(node + 1) * n]; ++p)
            if (A.columns[p] < A.n_rows)
              columns.push_back(A.columns[p] / n);
          n_entries += static_cast<double>(columns.size());
          std::sort(columns.begin(), columns.end());
          n_of_blocks += static_cast<double>(n) * n * static_cast<double>(std::unique(columns.begin(), columns.end()) - columns.begin());
        }
      return n_entries / n_of_blocks;
    }

    /**
     * The largest number of rows that follow one another as those of a node of a system do, with entries mostly beside
     * the same nodes; else 1. Pairs of rows of a stencil fill half of their blocks, elasticity in space with its zeros
     * left out 0.63. @param most rows of a node.
     */
    template <typename Number>
    int rows_of_node(const CrsMatrix<Number> &A, int most)
    {
      constexpr double enough = 0.6;
      for (int n = most; n > 1; --n)
        if (A.n_rows > 0 && A.n_rows % n == 0 && fill_of_nodes(A, n) > enough)
          return n;
      return 1;
    }

    /**
     * The part of each vertex. Of nodes by recursive bisection: where parts of some tens of vertices cannot have the
     * sizes that METIS wants, its other method may cut most of the edges. @return METIS_OK, or why there are none:
     * METIS 5.1 fails for some numbers of parts.
     */
    int find_parts(const Graph &graph, bool are_nodes, idx_t n_parts, std::vector<idx_t> &part)
    {
      idx_t              n = graph.n_vertices(), n_constraints = 1, cut = 0;
      std::vector<idx_t> offsets(graph.offsets.begin(), graph.offsets.end()), neighbours(graph.neighbours.begin(), graph.neighbours.end());
      idx_t              options[METIS_NOPTIONS];
      METIS_SetDefaultOptions(options);
      options[METIS_OPTION_SEED] = 1;
      if (!are_nodes)
        options[METIS_OPTION_UFACTOR] = 10; // parts up to 1 percent too large
      part.resize(n);
      const auto find = are_nodes ? METIS_PartGraphRecursive : METIS_PartGraphKway;
      return find(
        &n, &n_constraints, offsets.data(), neighbours.data(), nullptr, nullptr, nullptr, &n_parts, nullptr, nullptr, options, &cut, part.data());
    }
  } // namespace

  template <typename Number>
  Partition metis_partition(const CrsMatrix<Number> &A, int block_size)
  {
    require_block_size(block_size);
    if (A.n_rows <= block_size)
      return contiguous_partition(A.n_rows, std::max(1, A.n_rows));
    constexpr int      largest_node = 8, few = 8; // nodes in a block, of which none gets its size
    const int          of_node = rows_of_node(A, std::min(largest_node, block_size / few)), most = block_size / of_node;
    const Graph        graph = symmetric_graph(A, of_node);
    std::vector<idx_t> part;
    std::vector<int>   part_of_row(A.n_rows); // what METIS has found last, with parts that are too large
    int                n_found = 0;
    // METIS keeps the parts' sizes within a tolerance; more parts are asked for until none exceeds the block size. Of
    // nodes each part may have one more at once
    for (int n_parts = (graph.n_vertices() - 1) / (of_node > 1 ? most - 1 : most) + 1;; n_parts += 1 + n_parts / 50)
      {
        if (n_parts >= graph.n_vertices())
          return contiguous_partition(A.n_rows, block_size);
        const int code = find_parts(graph, of_node > 1, n_parts, part);
        if (code != METIS_OK && n_found > 0)
          {
            n_found = split_large_parts(part_of_row, n_found, block_size);
            return partition_of(part_of_row, n_found);
          }
        if (code != METIS_OK)
          throw InvalidInput("METIS could not divide the graph of the matrix into " + std::to_string(n_parts) + " parts (code " +
                             std::to_string(code) + ")\n  expected: contiguous blocks or tiles instead");
        for (int i = 0; i < A.n_rows; ++i)
          part_of_row[i] = static_cast<int>(part[i / of_node]);
        n_found          = n_parts;
        Partition result = partition_of(part_of_row, n_found);
        if (blocks_between(result.block_offsets).largest() <= block_size)
          return result;
      }
  }

#define INSTANTIATE(Number) template Partition metis_partition(const CrsMatrix<Number> &A, int block_size);
  LEOPARD_FOR_EACH_NUMBER(INSTANTIATE)
#undef INSTANTIATE
} // namespace leopard
