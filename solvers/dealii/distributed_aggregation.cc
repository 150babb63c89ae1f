// SPDX-License-Identifier: Apache-2.0
#include "distributed_aggregation.h"

#include "../base/errors.h"
#include "../distributed/ghost_exchange.h"
#include "../distributed/global_numbers.h"
#include "../matrix/sparse_product.h"
#include "distributed_levels.h"
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
    using Index = types::global_dof_index;

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
        IndexSet                               ghosts; ///< all unknowns of a node, or none
        CrsMatrix<double>                      matrix;
        NearNullSpace                          space; ///< of own unknowns and ghosts
        std::shared_ptr<GhostExchange<double>> communication;
      };

      Columns  columns_of(const DistributedLevel &level, const NearNullSpace &own_space) const;
      IndexSet whole_nodes(const IndexSet &owned, const IndexSet &ghosts, const NearNullSpace &own_space) const;
      NearNullSpace
           with_ghosts(const NearNullSpace &own_space, const IndexSet &owned, const IndexSet &ghosts, const GhostExchange<double> &exchange) const;
      bool coarsen(DistributedLevel &fine, NearNullSpace &own_space, DistributedLevel &coarse) const;
      DistributedRows times(const CrsMatrix<double> &A, const DistributedRows &rows, const IndexSet &owned_columns) const;
      void            hold_free_motions(std::vector<DistributedLevel> &levels, const NearNullSpace &own_space) const;

      const AggregationOptions &options;
      const int                 n_threads;
      const MPI_Comm            comm;
    };

    IndexSet ghosts_of(const DistributedRows &rows, const IndexSet &owned_columns)
    {
      IndexSet ghosts(owned_columns.size());
      rows.add_ghosts(owned_columns, ghosts);
      ghosts.compress();
      return ghosts;
    }

    /** The first unknown of the node of each own unknown, in the numbering of all ranks. */
    std::vector<double> first_of_nodes(const NearNullSpace &own_space, const IndexSet &owned)
    {
      const std::vector<int> node_of = nodes_of_rows(own_space);
      std::vector<double>    result;
      for (const Index i : owned) // doubles hold numbers of unknowns exactly
        result.push_back(static_cast<double>(node_of.empty() ? i : owned.nth_index_in_set(own_space.first_of(node_of[result.size()]))));
      return result;
    }

    IndexSet AggregationBuilder::whole_nodes(const IndexSet &owned, const IndexSet &ghosts, const NearNullSpace &own_space) const
    {
      if (own_space.first_row.empty())
        return ghosts;
      const GhostExchange<double> exchange(owned, ghosts, comm);
      const std::vector<int>      node_of = nodes_of_rows(own_space);
      std::vector<double>         first   = first_of_nodes(own_space, owned), size;
      for (const int node : node_of)
        size.push_back(own_space.first_of(node + 1) - own_space.first_of(node));
      for (std::vector<double> *numbers : {&first, &size})
        {
          numbers->resize(owned.n_elements() + ghosts.n_elements());
          exchange.update_ghosts(numbers->data(), MemorySpace::host);
        }
      IndexSet result(owned.size());
      for (std::size_t g = owned.n_elements(); g < first.size(); ++g)
        result.add_range(static_cast<Index>(first[g]), static_cast<Index>(first[g] + size[g]));
      result.compress();
      return result;
    }

    NearNullSpace AggregationBuilder::with_ghosts(const NearNullSpace         &own_space,
                                                  const IndexSet              &owned,
                                                  const IndexSet              &ghosts,
                                                  const GhostExchange<double> &exchange) const
    {
      const std::size_t n_own = owned.n_elements(), n = n_own + ghosts.n_elements(), m = own_space.n_vectors;
      NearNullSpace     result = own_space;
      if (!own_space.first_row.empty())
        {
          std::vector<double> first = first_of_nodes(own_space, owned);
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
      result.ghosts        = whole_nodes(level.owned, ghosts_of(level.matrix, level.owned), own_space);
      result.matrix        = level.matrix.number(level.owned, result.ghosts);
      result.communication = std::make_shared<GhostExchange<double>>(level.owned, result.ghosts, comm);
      result.space         = with_ghosts(own_space, level.owned, result.ghosts, *result.communication);
      return result;
    }

    /** A times the matrix with these rows, one for each column of A. */
    DistributedRows AggregationBuilder::times(const CrsMatrix<double> &A, const DistributedRows &rows, const IndexSet &owned_columns) const
    {
      const IndexSet ghosts = ghosts_of(rows, owned_columns);
      return DistributedRows(product(A, rows.number(owned_columns, ghosts), n_threads), owned_columns, ghosts);
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

      coarse.owned = Utilities::MPI::create_ascending_partitioning(comm, tentative.prolongation.n_columns)[Utilities::MPI::this_mpi_process(comm)];
      const Index n_coarse = coarse.owned.size();
      if (n_coarse == 0 || 4 * n_coarse > 3 * fine.owned.size()) // more than on one rank, as the edges of ranks cut aggregates
        return false;

      const auto with_rows_of_ghosts = [&](const DistributedRows &own, const IndexSet &ghosts) {
        DistributedRows all = own;
        all.append(own.rows_of_others(fine.owned, ghosts, comm));
        return all;
      };
      const DistributedRows P_0  = with_rows_of_ghosts({tentative.prolongation, coarse.owned, IndexSet(n_coarse)}, columns.ghosts);
      IndexSet              read = ghosts_of(P_0, coarse.owned);
      tentative.prolongation     = P_0.number(coarse.owned, read);
      fine.prolongation = DistributedRows(smoothed_prolongation(aggregates, tentative, n_threads, *columns.communication), coarse.owned, read);
      fine.restriction  = fine.prolongation->transpose(fine.owned, coarse.owned, comm);

      const DistributedRows AP  = times(columns.matrix, with_rows_of_ghosts(*fine.prolongation, columns.ghosts), coarse.owned);
      const IndexSet        sum = ghosts_of(*fine.restriction, fine.owned);
      coarse.matrix             = times(fine.restriction->number(fine.owned, sum), with_rows_of_ghosts(AP, sum), coarse.owned);
      own_space                 = std::move(tentative.coarse);
      return true;
    }

    /** As on one rank, with the whole of the coarsest level on each of them. */
    void AggregationBuilder::hold_free_motions(std::vector<DistributedLevel> &levels, const NearNullSpace &own_space) const
    {
      DistributedLevel           &level  = levels.back();
      const IndexSet              ghosts = ghosts_of(level.matrix, level.owned);
      const GhostExchange<double> exchange(level.owned, ghosts, comm);
      CrsMatrix<double>           own = level.matrix.number(level.owned, ghosts);
      const GlobalNumbers         numbers(own, &exchange, comm);
      CrsMatrix<double>           A = numbers.gathered(own, comm);
      NearNullSpace               space;
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
      for (const Index i : level.owned)
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
      space = make_near_null_space(n, options.block_unknowns, options.near_null_space, GhostExchange<double>(A.owned, A.ghosts, comm));
      std::vector<DistributedLevel> levels(1);
      levels[0].owned  = A.owned;
      levels[0].matrix = DistributedRows(A, IndexSet(A.owned.size()));
      while (static_cast<int>(levels.size()) < options.max_levels && levels.back().owned.size() > static_cast<Index>(options.max_coarse))
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
