// SPDX-License-Identifier: Apache-2.0
#include "distributed_aggregation.h"

#include "../base/errors.h"
#include "../distributed/mpi/distributed_levels.h"
#include "../distributed/mpi/ghost_exchange.h"
#include "index_sets.h"
#include "own_rows.h"

#include <deal.II/base/mpi.h>

#include <algorithm>
#include <string>
#include <utility>

namespace leopard
{
  using namespace dealii;

  namespace
  {
    class AggregationBuilder
    {
    public:
      AggregationBuilder(const AggregationOptions &options_, MPI_Comm comm_)
        : options(options_)
        , n_threads(options_.n_threads)
        , comm(comm_)
      {
      }

      MultigridHierarchy build(const LocalMatrix &A) const;

    private:
      /** Of a level what aggregates are made of. */
      struct Columns
      {
        std::vector<int>                       ghosts; ///< all unknowns of a node, or none
        CrsMatrix<double>                      matrix;
        NearNullSpace                          space; ///< of own unknowns and ghosts
        std::shared_ptr<GhostExchange<double>> communication;
      };

      Columns          columns_of(const DistributedLevel &level, const NearNullSpace &own_space) const;
      std::vector<int> whole_nodes(const OwnRange &own, const std::vector<int> &ghosts, const NearNullSpace &own_space) const;
      NearNullSpace    with_ghosts(const NearNullSpace &own_space, const OwnRange &own, int n_ghosts, const GhostExchange<double> &exchange) const;
      bool             coarsen(DistributedLevel &fine, NearNullSpace &own_space, DistributedLevel &coarse) const;
      void             hold_free_motions(std::vector<DistributedLevel> &levels, const NearNullSpace &own_space) const;

      const AggregationOptions &options;
      const int                 n_threads;
      const MPI_Comm            comm;
    };

    /** The first unknown of the node of each own unknown, in the numbering of all ranks. */
    std::vector<double> first_of_nodes(const NearNullSpace &own_space, const OwnRange &own)
    {
      const std::vector<int> node_of = nodes_of_rows(own_space);
      std::vector<double>    result; // doubles hold numbers of unknowns exactly
      for (int i = 0; i < own.n(); ++i)
        result.push_back(own.first() + (node_of.empty() ? i : own_space.first_of(node_of[i])));
      return result;
    }

    std::vector<int> AggregationBuilder::whole_nodes(const OwnRange &own, const std::vector<int> &ghosts, const NearNullSpace &own_space) const
    {
      if (own_space.first_row.empty())
        return ghosts;
      const GhostExchange<double> exchange(own, ghosts, comm);
      const std::vector<int>      node_of = nodes_of_rows(own_space);
      std::vector<double>         first   = first_of_nodes(own_space, own), size;
      for (const int node : node_of)
        size.push_back(own_space.first_of(node + 1) - own_space.first_of(node));
      for (std::vector<double> *numbers : {&first, &size})
        {
          numbers->resize(own.n() + ghosts.size());
          exchange.update_ghosts(numbers->data(), MemorySpace::host);
        }
      std::vector<int> result;
      for (std::size_t g = own.n(); g < first.size(); ++g)
        for (int i = static_cast<int>(first[g]); i < static_cast<int>(first[g] + size[g]); ++i)
          if (result.empty() || i > result.back()) // nodes ascend with the ghosts, which may be several unknowns of one
            result.push_back(i);
      return result;
    }

    NearNullSpace
    AggregationBuilder::with_ghosts(const NearNullSpace &own_space, const OwnRange &own, int n_ghosts, const GhostExchange<double> &exchange) const
    {
      const std::size_t n_own = own.n(), n = n_own + n_ghosts, m = own_space.n_vectors;
      NearNullSpace     result = own_space;
      if (!own_space.first_row.empty())
        {
          std::vector<double> first = first_of_nodes(own_space, own);
          first.resize(n);
          exchange.update_ghosts(first.data(), MemorySpace::host);
          for (std::size_t j = n_own; j < n; ++j)
            if (j > n_own && first[j] != first[j - 1])
              result.first_row.push_back(static_cast<int>(j)); // the first ghost is that of a node, too, whose number is there
          if (n > n_own)
            result.first_row.push_back(static_cast<int>(n));
        }
      std::vector<double> vector(n);
      result.values.resize(n * m);
      for (std::size_t k = 0; k < m; ++k)
        {
          for (std::size_t i = 0; i < n_own; ++i)
            vector[i] = own_space.values[i * m + k];
          exchange.update_ghosts(vector.data(), MemorySpace::host);
          for (std::size_t j = n_own; j < n; ++j)
            result.values[j * m + k] = vector[j];
        }
      return result;
    }

    AggregationBuilder::Columns AggregationBuilder::columns_of(const DistributedLevel &level, const NearNullSpace &own_space) const
    {
      Columns result;
      result.ghosts        = whole_nodes(level.own, level.matrix.ghosts(level.own), own_space);
      result.matrix        = level.matrix.number(level.own, result.ghosts);
      result.communication = std::make_shared<GhostExchange<double>>(level.own, result.ghosts, comm);
      result.space         = with_ghosts(own_space, level.own, static_cast<int>(result.ghosts.size()), *result.communication);
      return result;
    }

    /**
     * @param own_space receives that of the coarse level. @return false where that would have hardly fewer unknowns,
     * and nothing is changed.
     */
    bool AggregationBuilder::coarsen(DistributedLevel &fine, NearNullSpace &own_space, DistributedLevel &coarse) const
    {
      const Columns    columns    = columns_of(fine, own_space);
      const Aggregates aggregates = aggregate(columns.matrix, options.strength, n_threads, columns.space, *columns.communication);
      together(comm, [&] { check_diagonal(aggregates); });
      TentativeProlongation tentative = tentative_prolongation(aggregates.of_row, aggregates.n, own_space, n_threads);

      coarse.own = own_range(tentative.prolongation.n_columns, comm);
      if (coarse.own.n_all() == 0 || !is_worth_a_level(coarse.own.n_all(), fine.own.n_all()))
        return false;

      fine.prolongation = smoothed_prolongation(aggregates, tentative, fine.own, columns.ghosts, coarse.own, *columns.communication, n_threads, comm);
      fine.restriction  = fine.prolongation->transpose(fine.own, coarse.own, comm);
      coarse.matrix     = product(
        *fine.restriction, fine.own, product(fine.matrix, fine.own, *fine.prolongation, coarse.own, comm, n_threads), coarse.own, comm, n_threads);
      own_space = std::move(tentative.coarse);
      return true;
    }

    /** As on one rank, with the whole of the coarsest level on each of them. */
    void AggregationBuilder::hold_free_motions(std::vector<DistributedLevel> &levels, const NearNullSpace &own_space) const
    {
      DistributedLevel &level = levels.back();
      CrsMatrix<double> A     = level.matrix.gathered(level.own.n_all(), comm);
      NearNullSpace     space;
      space.n_vectors = own_space.n_vectors;
      space.values    = gathered(own_space.values, comm);
      if (!own_space.first_row.empty())
        {
          std::vector<int> sizes;
          for (std::size_t node = 0; node + 1 < own_space.first_row.size(); ++node)
            sizes.push_back(own_space.first_row[node + 1] - own_space.first_row[node]);
          space.first_row = {0};
          for (const int size : gathered(sizes, comm))
            space.first_row.push_back(space.first_row.back() + size);
        }
      if (!leopard::hold_free_motions(A, space, levels.size() > 1))
        return;
      DistributedRows rows;
      for (int i = level.own.first(); i < level.own.first() + level.own.n(); ++i)
        {
          for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
            {
              rows.columns.push_back(A.columns[p]);
              rows.values.push_back(A.values[p]);
            }
          rows.row_offsets.push_back(static_cast<int>(rows.columns.size()));
        }
      level.matrix = std::move(rows);
    }

    MultigridHierarchy AggregationBuilder::build(const LocalMatrix &A) const
    {
      const int     n = A.matrix.n_rows;
      NearNullSpace space;
      together(comm, [&] {
        options.validate();
        A.matrix.validate();
        check_near_null_space(n, options.block_unknowns, options.near_null_space);
      });
      const auto n_vectors = Utilities::MPI::min_max_avg(static_cast<double>(options.near_null_space.size()), comm);
      if (n_vectors.min != n_vectors.max)
        throw InvalidInput("aggregation: a rank gives " + std::to_string(static_cast<int>(n_vectors.min)) +
                           " vectors of the near null space and another " + std::to_string(static_cast<int>(n_vectors.max)) +
                           "\n  expected: as many on each, of its own rows");
      space = make_near_null_space(
        n, options.block_unknowns, options.near_null_space, GhostExchange<double>(own_range(A.owned, comm), numbers_of(A.ghosts), comm));
      std::vector<DistributedLevel> levels(1);
      levels[0].own    = own_range(A.owned, comm);
      levels[0].matrix = rows_of(A, IndexSet(A.owned.size()));
      while (static_cast<int>(levels.size()) < options.max_levels && levels.back().own.n_all() > options.max_coarse)
        {
          DistributedLevel coarse;
          if (!coarsen(levels.back(), space, coarse))
            break;
          levels.push_back(std::move(coarse));
        }
      if (!options.is_scalar())
        hold_free_motions(levels, space);
      std::reverse(levels.begin(), levels.end());
      add_ghosts(levels);
      MultigridHierarchy hierarchy;
      for (std::size_t l = 0; l < levels.size(); ++l)
        hierarchy.levels.push_back(numbered_level(levels, l, true, comm));
      return hierarchy;
    }
  } // namespace

  MultigridHierarchy aggregation_hierarchy(const LocalMatrix &A, const AggregationOptions &options, MPI_Comm comm)
  {
    return AggregationBuilder(options, comm).build(A);
  }
} // namespace leopard
