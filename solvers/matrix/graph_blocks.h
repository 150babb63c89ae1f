// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "crs_matrix.h"

#include <algorithm>
#include <vector>

/** What blocks made of a matrix graph have in common. */
namespace leopard
{
  /** @throws InvalidInput. */
  void require_block_size(int block_size);

  /** Neighbours of vertex v, sorted, are those from offsets[v] to before offsets[v + 1]. */
  struct Graph
  {
    std::vector<int> offsets = {0}, neighbours;

    int n_vertices() const { return static_cast<int>(offsets.size()) - 1; }
  };

  /** The graph of A + A^T without loops and without ghosts, a vertex for each rows_of_vertex rows. */
  template <typename Number>
  Graph symmetric_graph(const CrsMatrix<Number> &A, int rows_of_vertex = 1)
  {
    std::vector<std::vector<int>> adjacent(A.n_rows / rows_of_vertex);
    for (int i = 0; i < A.n_rows; ++i)
      for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
        if (const int v = i / rows_of_vertex, w = A.columns[p] / rows_of_vertex; w != v && A.columns[p] < A.n_rows)
          if (adjacent[v].empty() || adjacent[v].back() != w) // else they have one another
            {
              adjacent[v].push_back(w);
              adjacent[w].push_back(v);
            }
    Graph graph;
    for (std::vector<int> &of_vertex : adjacent)
      {
        std::sort(of_vertex.begin(), of_vertex.end());
        of_vertex.erase(std::unique(of_vertex.begin(), of_vertex.end()), of_vertex.end());
        graph.neighbours.insert(graph.neighbours.end(), of_vertex.begin(), of_vertex.end());
        graph.offsets.push_back(checked_count(static_cast<double>(graph.neighbours.size()), "entries in the graph of A + A^T"));
      }
    return graph;
  }
} // namespace leopard
