// SPDX-License-Identifier: Apache-2.0
#include "distributed_stencil_multigrid.h"

#include "../../base/errors.h"
#include "../../base/together.h"
#include "../../base/words.h"
#include "../../multigrid/coarse_solvers.h"
#include "../mpi/mpi_transport.h"
#include "slab_operations.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace leopard
{
  namespace
  {
    /** Unknowns of the coarsest level beyond which one more is made. */
    int enough_levels(Backend backend)
    {
      return backend == Backend::cuda ? 1024 : 256;
    }

    ShiftDown shift_down(MPI_Comm comm)
    {
      return [comm](const std::vector<double> &lowest) {
        const int           rank  = rank_in(comm);
        const int           below = rank > 0 ? rank - 1 : MPI_PROC_NULL, above = rank < size_of(comm) - 1 ? rank + 1 : MPI_PROC_NULL;
        std::vector<double> result(above == MPI_PROC_NULL ? 0 : lowest.size());
        MPI_Sendrecv(lowest.data(),
                     static_cast<int>(lowest.size()),
                     MPI_DOUBLE,
                     below,
                     0,
                     result.data(),
                     static_cast<int>(result.size()),
                     MPI_DOUBLE,
                     above,
                     0,
                     comm,
                     MPI_STATUS_IGNORE);
        return result;
      };
    }

    std::vector<double> send_and_receive(const std::vector<double> &values, int to, int from, MPI_Comm comm)
    {
      int n = static_cast<int>(values.size()), n_received = 0;
      MPI_Sendrecv(&n, 1, MPI_INT, to, 0, &n_received, 1, MPI_INT, from, 0, comm, MPI_STATUS_IGNORE);
      std::vector<double> result(n_received);
      MPI_Sendrecv(values.data(), n, MPI_DOUBLE, to, 0, result.data(), n_received, MPI_DOUBLE, from, 0, comm, MPI_STATUS_IGNORE);
      return result;
    }

    ExchangeBeside exchange_beside(MPI_Comm comm)
    {
      return [comm](const Beside &to) {
        const int rank  = rank_in(comm);
        const int below = rank > 0 ? rank - 1 : MPI_PROC_NULL, above = rank < size_of(comm) - 1 ? rank + 1 : MPI_PROC_NULL;
        Beside    from;
        from.above = send_and_receive(to.below, below, above, comm);
        from.below = send_and_receive(to.above, above, below, comm);
        return from;
      };
    }

    Concatenate concatenate(MPI_Comm comm)
    {
      return [comm](const std::vector<double> &own) {
        std::vector<int> counts(size_of(comm)), offsets(size_of(comm) + 1, 0);
        const int        n = static_cast<int>(own.size());
        MPI_Allgather(&n, 1, MPI_INT, counts.data(), 1, MPI_INT, comm);
        std::partial_sum(counts.begin(), counts.end(), offsets.begin() + 1);
        std::vector<double> all(offsets.back());
        MPI_Allgatherv(own.data(), n, MPI_DOUBLE, all.data(), counts.data(), offsets.data(), MPI_DOUBLE, comm);
        return all;
      };
    }

    SlabParts::Number reduction(MPI_Comm comm, MPI_Op operation)
    {
      return [comm, operation](double value) {
        double result = 0.;
        MPI_Allreduce(&value, &result, 1, MPI_DOUBLE, operation, comm);
        return result;
      };
    }

    std::unique_ptr<Transport> transport_for(MPI_Comm comm, const SlabPartition &partition, const DistributedStencilOptions &options)
    {
      const auto &n = partition.nodes[0]; // of the level that is gathered
      return make_transport(comm, options.multigrid.backend, options.staged, static_cast<long>(n[0]) * n[1] * n[2]);
    }

    std::unique_ptr<MultigridOperations<double>>
    make_operations(const std::vector<StencilGrid> &levels, MultigridOptions options, const SlabOverlap &overlap = {})
    {
      options.smoother.iterations_per_step = 1; // SlabOperations counts them
      return options.backend == Backend::cuda ? make_stencil_cuda_operations<double>(levels, options, overlap)
                                              : make_stencil_host_operations<double>(levels, options, overlap);
    }

    /** Whether a first and a second iteration are all that each visit of a level does. */
    bool has_two_iterations(const MultigridOptions &options)
    {
      return options.pre_smoothing == 1 && options.post_smoothing == 1 && options.smoother.iterations_per_step == 1;
    }

    bool fits(const Stencil<double> &whole, int n_ranks, int gather_below, int multiple)
    {
      try
        {
          SlabPartition(whole, n_ranks, gather_below, multiple);
          return true;
        }
      catch (const InvalidInput &)
        {
          return false;
        }
    }

    /** See DistributedStencilOptions::overlap: the planes. */
    int choose_overlap(const Stencil<double> &whole, int n_ranks, const DistributedStencilOptions &options)
    {
      options.validate();
      const bool             moves     = smoother_moves(options.multigrid.smoother, options.multigrid.backend, whole.dim());
      const MultigridOptions multigrid = options.multigrid.with_steps(moves);
      const int              half      = planes_of_overlap(whole.n_z == 1);
      if (n_ranks == 1 || options.overlap == 0)
        return 0;
      if (options.overlap < 0)
        return moves && multigrid.wait_for_ghosts && has_two_iterations(multigrid) && fits(whole, n_ranks, options.gather_below, half) ? half : 0;
      if (!multigrid.wait_for_ghosts || !has_two_iterations(multigrid) || !can_overlap(multigrid.smoother, multigrid.backend, whole.dim()) ||
          (multigrid.backend == Backend::cuda && options.overlap != half))
        throw InvalidInput("multigrid on slabs: overlap is " + std::to_string(options.overlap) + " with V(" +
                           std::to_string(multigrid.pre_smoothing) + "," + std::to_string(multigrid.post_smoothing) + ") and the smoother " +
                           multigrid.smoother.method + (multigrid.wait_for_ghosts ? "" : ", whose ghosts are not waited for") +
                           "\n  expected: 0, or one step of one iteration of async before and after, with ghosts that are waited for; on a GPU " +
                           std::to_string(half) + " planes, and tiles that move");
      return options.overlap;
    }

    /** The gathered levels, coarsest first. @param n how many; 0: until the coarsest is small. */
    std::vector<StencilGrid> gathered_levels(const StencilGrid &first, int n, Backend backend)
    {
      std::vector<StencilGrid> result = {first};
      while (n == 0 ? result.back().stencil.n_rows() > enough_levels(backend) : static_cast<int>(result.size()) < n)
        {
          if (result.back().stencil.n_rows() == 1)
            throw InvalidInput("multigrid on slabs: more levels are asked for than the grid has\n  expected: at least one unknown on each level");
          result.push_back(coarsen(result.back()));
        }
      std::reverse(result.begin(), result.end());
      return result;
    }
  } // namespace

  void DistributedStencilOptions::validate() const
  {
    multigrid.validate();
    const auto require = [](bool holds, const std::string &option, const std::string &found, const std::string &expected) {
      if (!holds)
        throw InvalidInput("multigrid on slabs: " + option + " is " + found + "\n  expected: " + expected);
    };
    const auto needs_no_matrix = [](const Method &method) { return static_cast<bool>(method.make_of_stencil); };
    require(needs_no_matrix(find_method(multigrid.smoother.method)),
            "the smoother",
            multigrid.smoother.method,
            joined(method_names(as_smoother, needs_no_matrix), ", ", " or ") + ", which need no stored matrix");
    require(multigrid.backend != Backend::reference, "backend", "reference", "host or cuda");
    require(gather_below >= 1, "gather_below", std::to_string(gather_below), "a number of unknowns >= 1");
    require(overlap >= -1, "overlap", std::to_string(overlap), "a number of planes, or -1 to have it chosen");
  }

  std::pair<int, int>
  DistributedStencilMultigrid::own_planes(const Stencil<double> &whole, int rank, int n_ranks, const DistributedStencilOptions &options)
  {
    const SlabPartition partition(whole, n_ranks, options.gather_below, std::max(1, choose_overlap(whole, n_ranks, options)));
    const int           finest = partition.n_levels() - 1;
    return {partition.begin(finest, rank), partition.begin(finest, rank + 1)};
  }

  DistributedStencilMultigrid::DistributedStencilMultigrid(
    const Stencil<double> &whole, MPI_Comm comm, const DistributedStencilOptions &options, const std::vector<double> &own_diagonal, int n_levels)
    : n_overlap(choose_overlap(whole, size_of(comm), options))
    , partition(whole, size_of(comm), options.gather_below, std::max(1, n_overlap))
    , rank(rank_in(comm))
    , loose(!options.multigrid.wait_for_ghosts)
  {
    if (!whole.diagonal.empty())
      throw InvalidInput("multigrid on slabs: the stencil of all ranks has a diagonal of " + std::to_string(whole.diagonal.size()) +
                         " entries\n  expected: none; each rank gives that of its own rows");
    // two steps also on a GPU where the tiles of a slab move, but the borders between slabs do not
    const bool             stays = partition.n_ranks > 1 && n_overlap == 0;
    const MultigridOptions multigrid =
      options.multigrid.with_steps(!stays && smoother_moves(options.multigrid.smoother, options.multigrid.backend, whole.dim()));
    const int n_distributed = partition.n_levels() - 1;
    if (n_levels != 0 && n_levels <= n_distributed)
      throw InvalidInput("multigrid on slabs: " + std::to_string(n_levels) + " levels, of which " + std::to_string(n_distributed) +
                         " are distributed\n  expected: more levels, or a larger gather_below");
    const SlabGrids                grids    = make_slab_grids(whole, own_diagonal, partition, rank, shift_down(comm), concatenate(comm));
    const std::vector<StencilGrid> gathered = gathered_levels(grids.whole, n_levels == 0 ? 0 : n_levels - n_distributed, options.multigrid.backend);

    SlabParts parts;
    parts.overlap = make_overlap(grids, n_overlap, exchange_beside(comm));
    together(
      [&] { // memory may be missing on one rank alone
        parts.slabs    = make_operations(grids.slabs, options.multigrid, parts.overlap);
        parts.gathered = make_operations(gathered, options.multigrid);
      },
      [comm](const std::string &own) { return first_error_in(comm, own); });
    parts.transport  = transport_for(comm, partition, options);
    parts.sum        = reduction(comm, MPI_SUM);
    parts.max        = reduction(comm, MPI_MAX);
    ghosts_transport = parts.transport.get();
    solver           = std::make_unique<Multigrid<double>>(std::make_unique<SlabOperations>(partition, rank, std::move(parts), multigrid, loose),
                                                 multigrid,
                                                 make_coarse_solver<double>(gathered.front().stencil.to_crs(), false, multigrid));
  }

  DistributedStencilMultigrid::~DistributedStencilMultigrid() = default;

  int DistributedStencilMultigrid::first_plane() const
  {
    return partition.begin(partition.n_levels() - 1, rank);
  }

  int DistributedStencilMultigrid::n_own_planes() const
  {
    return partition.n_owned(partition.n_levels() - 1, rank);
  }

  std::string DistributedStencilMultigrid::description() const
  {
    const auto &gathered = partition.nodes[0];
    return std::to_string(partition.n_ranks) + " ranks with slabs of " + std::to_string(partition.n_levels() - 1) + " levels, gathered from " +
           std::to_string(gathered[0]) + " x " + std::to_string(gathered[1]) + (gathered[2] > 1 ? " x " + std::to_string(gathered[2]) : "") +
           " nodes on; " +
           (n_overlap > 0 ? "every second smoothing iteration relaxes " + std::to_string(n_overlap) + " planes of the neighbours, too; " : "") +
           "ghosts of the smoother " + (loose ? "not waited for" : "waited for") + "; " + ghosts_transport->description() + "\n" +
           solver->description();
  }
} // namespace leopard
