// SPDX-License-Identifier: Apache-2.0
#include "mesh_parts.h"

#include "mesh_hierarchy.h"

#include <solvers/base/errors.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace leopard::reaction_diffusion
{
  namespace
  {
    constexpr int unknown = -1;

    /** How a rank sees the nodes of a level. */
    struct NodeView
    {
      bool             shared;
      std::vector<int> owner;
      std::vector<int> known;  ///< the nodes that it knows: its own, then ghosts; all of a whole level
      std::vector<int> number; ///< of each node among these, or unknown
      int              n_rows; ///< nodes whose rows it has
    };

    /** Of one level the nodes that other ranks than their owners read, as a rank sees them. */
    class ReadNodes
    {
    public:
      ReadNodes(const std::vector<int> &owner_, int rank_)
        : owner(owner_)
        , rank(rank_)
      {
      }

      /** By the rows of a matrix that belong to these owners. */
      void add(const CrsMatrix<double> &A, const std::vector<int> &row_owner)
      {
        for (int i = 0; i < A.n_rows; ++i)
          for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
            if (const int j = A.columns[p]; row_owner[i] != owner[j])
              {
                if (owner[j] == rank)
                  of_this_rank.push_back({row_owner[i], j});
                else if (row_owner[i] == rank)
                  by_this_rank.push_back({owner[j], j});
              }
      }

      /** All nodes by all ranks. */
      void add_all(int n_ranks)
      {
        for (std::size_t j = 0; j < owner.size(); ++j)
          if (owner[j] != rank)
            by_this_rank.push_back({owner[j], static_cast<int>(j)});
          else
            for (int r = 0; r < n_ranks; ++r)
              if (r != rank)
                of_this_rank.push_back({r, static_cast<int>(j)});
      }

      /** Each once, in an order that is the same on both sides. */
      void sort()
      {
        for (auto *list : {&of_this_rank, &by_this_rank})
          {
            std::sort(list->begin(), list->end());
            list->erase(std::unique(list->begin(), list->end()), list->end());
          }
      }

      std::vector<std::pair<int, int>> of_this_rank, by_this_rank; ///< the other rank, reader or owner, and the node

    private:
      const std::vector<int> &owner;
      const int               rank;
    };

    /** Of level l. @param part what is exchanged there; nothing where the next finer level is whole, too. */
    NodeView view_of(bool shared, bool finer_is_shared, const std::vector<MeshLevel> &levels, std::size_t l, const MeshRanks &ranks, MeshPart &part)
    {
      NodeView view;
      view.shared = shared;
      view.owner  = levels[l].owner;
      const int n = levels[l].mesh.n_nodes();
      view.number.assign(n, unknown);
      ReadNodes read(view.owner, ranks.rank);
      if (shared)
        {
          read.add(levels[l].mesh.matrix, view.owner);
          if (l + 1 < levels.size())
            read.add(levels[l].restriction, levels[l + 1].owner);
          if (l > 0)
            read.add(levels[l - 1].prolongation, levels[l - 1].owner);
          read.sort();
          for (int i = 0; i < n; ++i)
            if (view.owner[i] == ranks.rank)
              view.known.push_back(i);
          view.n_rows = static_cast<int>(view.known.size());
          for (const auto &[owner, node] : read.by_this_rank)
            view.known.push_back(node);
        }
      else
        {
          if (finer_is_shared)
            {
              read.add_all(ranks.n_ranks());
              read.sort();
            }
          view.known.resize(n);
          std::iota(view.known.begin(), view.known.end(), 0);
          view.n_rows = n;
        }
      for (std::size_t i = 0; i < view.known.size(); ++i)
        view.number[view.known[i]] = static_cast<int>(i);

      part.shared   = shared;
      part.gathered = !shared;
      for (const auto &[reader, node] : read.of_this_rank)
        part.pattern.add_sent(reader, view.number[node]);
      for (const auto &[owner, node] : read.by_this_rank)
        part.pattern.add_received(owner, view.number[node]);
      return view;
    }

    /**
     * The rows that a rank has, in its numbers. @param own_only of the nodes of a whole level that it owns, others
     * become empty.
     */
    CrsMatrix<double> rows_of(const CrsMatrix<double> &A, const NodeView &rows, const NodeView &columns, int rank, bool own_only)
    {
      CrsMatrix<double> result;
      result.n_rows    = rows.n_rows;
      result.n_columns = static_cast<int>(columns.known.size());
      for (int row = 0; row < rows.n_rows; ++row)
        {
          const int i = rows.known[row];
          for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1] && (!own_only || rows.owner[i] == rank); ++p)
            {
              result.columns.push_back(columns.number[A.columns[p]]);
              result.values.push_back(A.values[p]);
            }
          result.row_offsets.push_back(static_cast<int>(result.columns.size()));
        }
      return result;
    }

    template <typename T>
    std::vector<T> take(const std::vector<T> &values, int n_each, const NodeView &view)
    {
      std::vector<T> result;
      if (!values.empty())
        for (int i = 0; i < view.n_rows; ++i)
          result.insert(result.end(), values.begin() + static_cast<long>(view.known[i]) * n_each, values.begin() + (view.known[i] + 1l) * n_each);
      return result;
    }
  } // namespace

  MeshRanks::MeshRanks(std::vector<int> owner_, int smallest_shared_, int rank_, int n_ranks_, std::shared_ptr<Transport> transport_)
    : Ranks(rank_, n_ranks_, std::move(transport_))
    , owner(std::move(owner_))
    , smallest_shared(smallest_shared_)
  {
    if (const std::string reason = why_not(owner, n_ranks_); !reason.empty())
      throw InvalidInput(reason + "\n  expected: a rank between 0 and " + std::to_string(n_ranks_ - 1) + " for each node, and nodes for each rank");
  }

  std::string MeshRanks::why_not(const std::vector<int> &owner, int n_ranks)
  {
    std::vector<char> owns(n_ranks, 0);
    for (std::size_t i = 0; i < owner.size(); ++i)
      {
        if (owner[i] < 0 || owner[i] >= n_ranks)
          return "node " + std::to_string(i) + " of the mesh belongs to rank " + std::to_string(owner[i]) + " of " + std::to_string(n_ranks);
        owns[owner[i]] = 1;
      }
    for (int r = 0; r < n_ranks; ++r)
      if (!owns[r])
        return "rank " + std::to_string(r) + " owns no node of the mesh";
    return "";
  }

  std::vector<int> MeshRanks::own_nodes() const
  {
    std::vector<int> result;
    for (std::size_t i = 0; i < owner.size(); ++i)
      if (owner[i] == rank)
        result.push_back(static_cast<int>(i));
    return result;
  }

  void take_part(std::vector<MeshLevel> &levels, const MeshRanks &ranks)
  {
    std::vector<NodeView> views;
    for (std::size_t l = 0; l < levels.size(); ++l)
      {
        const bool finer_is_shared = l == 0 || views.back().shared;
        const bool shared          = l == 0 || (finer_is_shared && levels[l].mesh.n_nodes() >= ranks.smallest_shared &&
                                       MeshRanks::why_not(levels[l].owner, ranks.n_ranks()).empty());
        MeshPart   part;
        views.push_back(view_of(shared, finer_is_shared, levels, l, ranks, part));
        if (finer_is_shared)
          levels[l].part = std::move(part);
      }
    for (std::size_t l = 0; l < levels.size() && views[l].shared; ++l)
      {
        MeshLaplacian  &mesh = levels[l].mesh;
        const NodeView &view = views[l];
        mesh.matrix          = rows_of(mesh.matrix, view, view, ranks.rank, false);
        mesh.weight          = take(mesh.weight, 1, view);
        mesh.coordinates     = take(mesh.coordinates, mesh.dimension, view);
        if (l + 1 == levels.size())
          continue;
        levels[l].restriction  = rows_of(levels[l].restriction, views[l + 1], view, ranks.rank, !views[l + 1].shared);
        levels[l].prolongation = rows_of(levels[l].prolongation, view, views[l + 1], ranks.rank, false);
      }
  }
} // namespace leopard::reaction_diffusion
