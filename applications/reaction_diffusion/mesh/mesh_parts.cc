// SPDX-License-Identifier: Apache-2.0
#include "mesh_parts.h"

#include "mesh_hierarchy.h"

#include <solvers/base/errors.h>

#include <algorithm>
#include <numeric>

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

    /** Of one level the nodes that are read by other ranks than their owners. */
    class ReadNodes
    {
    public:
      ReadNodes(const std::vector<int> &owner_, int rank_)
        : by_others(owner_.size(), 0)
        , by_rank(owner_.size(), 0)
        , owner(owner_)
        , rank(rank_)
      {
      }

      /** By the rows of a matrix that belong to these owners. */
      void add(const CrsMatrix &A, const std::vector<int> &row_owner)
      {
        for (int i = 0; i < A.n_rows; ++i)
          for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
            if (const int j = A.columns[p]; row_owner[i] != owner[j])
              {
                by_others[j] = 1;
                by_rank[j] |= row_owner[i] == rank;
              }
      }

      std::vector<char> by_others, by_rank; ///< by_rank: by this rank, which is not the owner

    private:
      const std::vector<int> &owner;
      const int               rank;
    };

    /** Of level l. @param part what is exchanged there. */
    NodeView view_of(bool shared, const std::vector<MeshLevel> &levels, std::size_t l, const MeshRanks &ranks, MeshPart &part)
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
          for (int i = 0; i < n; ++i)
            if (view.owner[i] == ranks.rank)
              view.known.push_back(i);
          view.n_rows = static_cast<int>(view.known.size());
          for (int i = 0; i < n; ++i)
            if (read.by_rank[i])
              view.known.push_back(i);
        }
      else
        {
          view.known.resize(n);
          std::iota(view.known.begin(), view.known.end(), 0);
          view.n_rows = n;
          std::fill(read.by_others.begin(), read.by_others.end(), 1);
          for (int i = 0; i < n; ++i)
            read.by_rank[i] = view.owner[i] != ranks.rank;
        }
      for (std::size_t i = 0; i < view.known.size(); ++i)
        view.number[view.known[i]] = static_cast<int>(i);

      part.shared = shared;
      part.offsets.assign(ranks.n_ranks() + 1, 0);
      for (int i = 0; i < n; ++i)
        if (read.by_others[i])
          ++part.offsets[view.owner[i] + 1];
      std::partial_sum(part.offsets.begin(), part.offsets.end(), part.offsets.begin());
      std::vector<int> next = part.offsets;
      for (int i = 0; i < n; ++i)
        if (read.by_others[i])
          {
            const int place = next[view.owner[i]]++;
            if (view.owner[i] == ranks.rank)
              part.sent.push_back(view.number[i]);
            else if (read.by_rank[i])
              {
                part.received.push_back(view.number[i]);
                part.places.push_back(place);
              }
          }
      return view;
    }

    /**
     * The rows that a rank has, in its numbers. @param own_only of the nodes of a whole level that it owns, others
     * become empty.
     */
    CrsMatrix rows_of(const CrsMatrix &A, const NodeView &rows, const NodeView &columns, int rank, bool own_only)
    {
      CrsMatrix result;
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

  MeshRanks::MeshRanks(std::vector<int> owner_, int smallest_shared_, int rank_, int n_ranks_, std::shared_ptr<SlabExchange> exchange_)
    : Ranks(rank_, n_ranks_, std::move(exchange_))
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

  MeshPart in_order(MeshPart part, const std::vector<int> &old_node)
  {
    std::vector<int> new_node(old_node.size());
    for (std::size_t i = 0; i < old_node.size(); ++i)
      new_node[old_node[i]] = static_cast<int>(i);
    for (std::vector<int> *nodes : {&part.sent, &part.received})
      for (int &i : *nodes)
        if (i < static_cast<int>(new_node.size())) // no ghost
          i = new_node[i];
    return part;
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
        views.push_back(view_of(shared, levels, l, ranks, part));
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
