// SPDX-License-Identifier: Apache-2.0
#include "distributed_mesh_levels.h"

#include <applications/reaction_diffusion/mesh/mesh_aggregates.h>
#include <solvers/base/errors.h>
#include <solvers/base/together.h>
#include <solvers/distributed/mpi/distributed_levels.h>
#include <solvers/distributed/mpi/ghost_exchange.h>
#include <solvers/distributed/mpi/mpi_transport.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

namespace leopard
{
  namespace
  {
    using namespace reaction_diffusion;

    /**
     * A level before its nodes are numbered: its rows and transfers, and what else a MeshLaplacian has, of own nodes.
     */
    struct Level
    {
      DistributedLevel rows;
      MeshLaplacian    mesh;
    };

    double largest_of_ranks(double value, MPI_Comm comm)
    {
      MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_MAX, comm);
      return value;
    }

    bool on_all_ranks(bool condition, MPI_Comm comm)
    {
      return largest_of_ranks(condition ? 0. : 1., comm) == 0.;
    }

    /**
     * Coordinates of own nodes, `dimension` numbers each, or decay, and behind them those of ghosts; empty where they
     * are, which they are on all ranks or on none. Collective.
     */
    std::vector<double> with_ghosts(const std::vector<double> &x, int dimension, const OwnRange &own, const std::vector<int> &ghosts, MPI_Comm comm)
    {
      if (x.empty())
        return {};
      const GhostExchange<double> exchange(own, ghosts, comm);
      std::vector<double>         result((own.n() + ghosts.size()) * dimension), of_direction(own.n() + ghosts.size());
      for (int d = 0; d < dimension; ++d)
        {
          for (int i = 0; i < own.n(); ++i)
            of_direction[i] = x[static_cast<std::size_t>(i) * dimension + d];
          exchange.update_ghosts(of_direction.data(), MemorySpace::host);
          for (std::size_t i = 0; i < of_direction.size(); ++i)
            result[i * dimension + d] = of_direction[i];
        }
      return result;
    }

    /**
     * P of a level whose mesh has its matrix numbered. Collective. @param coarse becomes who owns which columns.
     * @return null where these would be more than half as many as rows.
     */
    std::optional<DistributedRows> prolongation(const Level &fine, OwnRange &coarse, MPI_Comm comm)
    {
      const OwnRange             &own    = fine.rows.own;
      const std::vector<int>      ghosts = fine.rows.matrix.ghosts(own);
      const GhostExchange<double> exchange(own, ghosts, comm);
      const Aggregates            aggregates = aggregates_of(fine.mesh, exchange);
      coarse                                 = own_range(aggregates.n, comm);
      if (coarse.n_all() == 0 || coarse.n_all() > own.n_all() / 2)
        return std::nullopt;
      const TentativeProlongation tentative = tentative_prolongation(aggregates.of_row, aggregates.n, {});
      return smoothed_prolongation(aggregates, tentative, own, ghosts, coarse, exchange, 1, comm);
    }

    /**
     * Fills the transfers of a level, whose mesh has its matrix numbered until then, and makes the next one.
     * Collective.
     * @return whether there is one.
     */
    bool coarsen(Level &fine, Level &coarse, MPI_Comm comm)
    {
      const OwnRange                &own = fine.rows.own;
      OwnRange                       own_coarse;
      std::optional<DistributedRows> P = prolongation(fine, own_coarse, comm);
      fine.mesh.matrix                 = {};
      if (!P)
        return false;
      DistributedRows R = *P;
      for (int i = 0; i < own.n(); ++i)
        for (int p = R.row_offsets[i]; p < R.row_offsets[i + 1]; ++p)
          R.values[p] *= fine.mesh.weight[i];
      R                             = R.transpose(own, own_coarse, comm);
      const std::vector<double> m_c = divide_by_sums(R.row_offsets, R.values);
      if (!on_all_ranks(std::all_of(m_c.begin(), m_c.end(), [](double m) { return m > 0.; }), comm))
        return false;
      coarse.rows.own      = own_coarse;
      coarse.rows.matrix   = product(R, own, product(fine.rows.matrix, own, *P, own_coarse, comm, 1), own_coarse, comm, 1);
      const double largest = largest_of_ranks(*std::max_element(m_c.begin(), m_c.end()), comm);
      for (const double m : m_c)
        coarse.mesh.weight.push_back(m / largest);
      const std::vector<int>  read      = R.ghosts(own);
      const CrsMatrix<double> numbered  = R.number(own, read);
      const int               dimension = fine.mesh.dimension;
      coarse.mesh.dimension             = dimension;
      coarse.mesh.coordinates           = restricted(numbered, with_ghosts(fine.mesh.coordinates, dimension, own, read, comm), dimension);
      coarse.mesh.decay                 = restricted(numbered, with_ghosts(fine.mesh.decay, 1, own, read, comm), 1);
      fine.rows.prolongation            = std::move(P);
      fine.rows.restriction             = std::move(R);
      return true;
    }

    /** Makes the next level the same nodes as this one, with transfers that only copy. */
    void repeat(Level &level, Level &next)
    {
      next.rows.own    = level.rows.own;
      next.rows.matrix = level.rows.matrix;
      next.mesh        = level.mesh;
      DistributedRows identity;
      for (int i = 0; i < level.rows.own.n(); ++i)
        {
          identity.columns.push_back(level.rows.own.first() + i);
          identity.values.push_back(1.);
          identity.row_offsets.push_back(i + 1);
        }
      level.rows.prolongation = level.rows.restriction = identity;
    }

    /** @param n_own nodes of the mesh that are the rank's: see MeshLevel. */
    MeshLaplacian whole_mesh(const Level &level, int n_own, MPI_Comm comm)
    {
      MeshLaplacian result;
      result.dimension   = level.mesh.dimension;
      result.matrix      = level.rows.matrix.gathered(level.rows.own.n_all(), comm);
      result.weight      = gathered(level.mesh.weight, comm);
      result.decay       = gathered(level.mesh.decay, comm);
      result.coordinates = gathered(level.mesh.coordinates, comm);
      result.finest_node.resize(level.rows.own.n_all());
      std::iota(result.finest_node.begin(), result.finest_node.end(), n_own);
      return result;
    }

    /** All of a whole level goes from the owner of each node to all other ranks. */
    MeshPart gathered_part(const OwnRange &own)
    {
      MeshPart part;
      part.gathered = true;
      for (int r = 0; r < own.n_ranks(); ++r)
        for (int i = own.offsets[r]; i < own.offsets[r + 1] && r != own.rank; ++i)
          part.pattern.add_received(r, i);
      for (int r = 0; r < own.n_ranks(); ++r)
        for (int i = own.first(); i < own.first() + own.n() && r != own.rank; ++i)
          part.pattern.add_sent(r, i);
      return part;
    }

    /** Rows of a whole level: those of a rank's own nodes, others are empty. */
    DistributedRows among_all(const DistributedRows &rows, const OwnRange &own)
    {
      DistributedRows result = rows;
      result.row_offsets.assign(own.first() + 1, 0);
      result.row_offsets.insert(result.row_offsets.end(), rows.row_offsets.begin() + 1, rows.row_offsets.end());
      result.row_offsets.resize(own.n_all() + 1, rows.row_offsets.back());
      return result;
    }
  } // namespace

  std::vector<MeshLevel> make_distributed_levels(MeshLaplacian mesh, bool with_coarser, int smallest_shared, MPI_Comm comm)
  {
    std::vector<Level> levels(1);
    levels[0].rows.own    = own_range(mesh.n_nodes(), comm);
    const OwnRange  &own  = levels[0].rows.own;
    DistributedRows &rows = levels[0].rows.matrix;
    rows.row_offsets      = std::move(mesh.matrix.row_offsets);
    rows.columns          = std::move(mesh.matrix.columns);
    rows.values           = std::move(mesh.matrix.values);
    levels[0].mesh        = std::move(mesh);
    together(
      [&] {
        for (const int column : rows.columns)
          if (column < 0 || column >= own.n_all())
            throw InvalidInput("a column of the Laplacian is number " + std::to_string(column) + "\n  expected: from 0 to " +
                               std::to_string(own.n_all() - 1) + ", the nodes of all ranks");
        levels[0].mesh.matrix = rows.number(own, rows.ghosts(own));
        levels[0].mesh.validate(true);
      },
      [comm](const std::string &text) { return first_error_in(comm, text); });

    std::vector<MeshLevel> whole;
    while (with_coarser && whole.empty() && levels.back().rows.own.n_all() > coarse_nodes)
      {
        Level &fine      = levels.back();
        fine.mesh.matrix = fine.rows.matrix.number(fine.rows.own, fine.rows.matrix.ghosts(fine.rows.own));
        if (!on_all_ranks(has_positive_diagonal(fine.mesh), comm))
          break;
        Level      next;
        const bool is_coarse = coarsen(fine, next, comm);
        if (!is_coarse)
          repeat(fine, next);
        if (const OwnRange own_next = next.rows.own; !is_coarse || own_next.n_all() < smallest_shared)
          {
            whole                 = make_levels(whole_mesh(next, levels[0].rows.own.n(), comm));
            whole[0].part         = gathered_part(own_next);
            fine.rows.restriction = among_all(*fine.rows.restriction, own_next);
            next                  = Level();
            next.rows.own.offsets = {0, own_next.n_all()}; // as the columns of the prolongation have it
          }
        levels.push_back(std::move(next));
      }

    std::vector<DistributedLevel> coarsest_first;
    for (auto level = levels.rbegin(); level != levels.rend(); ++level)
      coarsest_first.push_back(std::move(level->rows));
    add_ghosts(coarsest_first);
    std::vector<MeshLevel> result;
    for (std::size_t l = 0; l < levels.size() - (whole.empty() ? 0 : 1); ++l)
      {
        DistributedLevel &from  = coarsest_first[levels.size() - 1 - l];
        MeshLevel        &level = result.emplace_back();
        level.mesh              = std::move(levels[l].mesh);
        level.mesh.matrix       = from.matrix.number(from.own, from.ghosts);
        from.matrix             = {};
        level.n_all             = from.own.n_all();
        level.part.shared       = true;
        level.part.pattern      = ghost_pattern(from.own, from.ghosts, comm);
        if (l > 0)
          level.mesh.finest_node = representatives(result[l - 1].restriction, result[l - 1].mesh);
        if (l + 1 == levels.size())
          continue;
        const DistributedLevel &coarser = coarsest_first[levels.size() - 2 - l];
        level.restriction               = from.restriction->number(from.own, from.ghosts);
        level.prolongation              = from.prolongation->number(coarser.own, coarser.ghosts);
      }
    std::move(whole.begin(), whole.end(), std::back_inserter(result));
    return result;
  }
} // namespace leopard
