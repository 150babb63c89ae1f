// SPDX-License-Identifier: Apache-2.0
#include "strong_methods.h"

#include "../base/errors.h"
#include "../base/stopwatch.h"
#include "../base/words.h"
#include "../device/device.h"
#include "../distributed/gpus/krylov_of_parts.h"
#include "../krylov/cg.h"
#include "../krylov/fgmres.h"
#include "../multigrid/aggregation.h"
#include "../multigrid/coarse_solvers.h"
#include "../multigrid/find_stencil.h"
#include "../multigrid/multigrid.h"
#include "../multigrid/stored_operations.h"
#include "../refinement/mixed_multigrid.h"
#include "../refinement/rounded_preconditioner.h"
#include "../triangular/incomplete_preconditioner.h"
#include "direct_method.h"
#include "krylov_method.h"
#include "memory.h"
#include "nodes.h"
#include "option_names.h"
#include "report.h"
#include "vectors.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

namespace leopard::command_line
{
  namespace
  {
    std::string seconds_since(double start)
    {
      return short_text(now() - start, 2) + " s";
    }

    /** Nodes in each direction of the grid whose natural order the first row suggests; 1, 1, 1: none. */
    std::array<int, 3> guessed_grid(const CrsMatrix<double> &A)
    {
      // in the corner of a grid the neighbours are 1, n_x, n_x n_y away, and sums of these
      std::vector<int> distances;
      for (int p = A.row_offsets[0]; p < A.row_offsets[1]; ++p)
        if (A.columns[p] > 0 && A.values[p] != 0.)
          distances.push_back(A.columns[p]);
      std::sort(distances.begin(), distances.end());
      const auto beyond = [&](int distance) { // the first that is larger
        const auto found = std::upper_bound(distances.begin(), distances.end(), distance);
        return found == distances.end() ? A.n_rows : *found;
      };
      if (distances.empty() || distances[0] != 1)
        return {1, 1, 1};
      const int n_x = beyond(1), n_xy = beyond(n_x + 1);
      if (n_xy % n_x != 0 || A.n_rows % n_xy != 0)
        return {1, 1, 1};
      return {n_x, n_xy / n_x, A.n_rows / n_xy};
    }

    class MultigridMethod : public Solver
    {
    public:
      MultigridMethod(std::unique_ptr<Multigrid<double>> multigrid_, std::string about_)
        : multigrid(std::move(multigrid_))
        , about(std::move(about_))
      {
      }

      std::string name() const override { return "multigrid"; }
      std::string description() const override { return about; }
      bool        is_fixed_linear_map() const override { return multigrid->is_fixed_linear_map(); }
      std::string unit() const override { return "cycles"; }

      SolveResult solve(const std::vector<double> &b, const StoppingCriteria &criteria, std::vector<double> &x, const Log &log) override
      {
        StoppingCriteria each_cycle = criteria;
        each_cycle.test_every       = 1;
        x.assign(b.size(), 0.);
        SolveResult result =
          with_vectors(multigrid->memory_space(), b, x, [&](double *x_, const double *b_) { return multigrid->solve(x_, b_, each_cycle); });
        if (result.status == SolveStatus::diverged || result.status == SolveStatus::stagnated)
          if (const std::string why = multigrid->diagnosis(); !why.empty())
            log("smoother", why.substr(0, why.find('\n')));
        return result;
      }

    private:
      const std::unique_ptr<Multigrid<double>> multigrid;
      const std::string                        about;
    };

    /** As the arguments say, for the levels of a multigrid. */
    MultigridOptions multigrid_options(const Arguments &a, Backend backend, bool of_stencil)
    {
      MultigridOptions options;
      options.backend         = backend == Backend::reference ? Backend::host : backend;
      options.n_threads       = backend == Backend::reference ? 1 : a.async.n_threads;
      options.smoother.method = a.smoother;
      if (of_stencil && !a.has("--smoother"))
        options.smoother.method = "async";
      if (a.has("--omega"))
        options.smoother.omega = a.async.omega;
      options.smoother.block_async    = a.async;
      options.smoother.any_block_size = !a.has("--block-size");
      options.smoother.block_shape    = a.shape;
      if (!of_stencil)
        options.pre_smoothing = options.post_smoothing = 1;
      return options;
    }

    /** The stencil that multigrid of A has its levels from, if it is one and nothing that is asked for needs rows. */
    std::optional<Stencil<double>> stencil_for_multigrid(const CrsMatrix<double> &A, const Arguments &a, const Log &log)
    {
      const bool has_own_blocks = a.has("--blocks") || a.has("--block-size") || a.has_nodes(); // those of a stencil are its tiles
      if (has_own_blocks)
        return std::nullopt;
      auto stencil = a.found_stencil != nullptr ? std::optional<Stencil<double>>(*a.found_stencil) : stencil_in_disguise(A);
      if (stencil)
        log("stencil",
            "the matrix is one, on " + std::to_string(stencil->n_x) + " x " + std::to_string(stencil->n_y) +
              (stencil->n_z > 1 ? " x " + std::to_string(stencil->n_z) : "") + " nodes, and so are its levels");
      return stencil;
    }

    /** By smoothed aggregation. */
    template <typename Number>
    std::unique_ptr<Multigrid<Number>> make_aggregation(const CrsMatrix<double> &A, const Arguments &a, Backend backend, const Log &log)
    {
      const double       start = now();
      AggregationOptions aggregation;
      aggregation.n_threads      = backend == Backend::reference ? 1 : a.async.n_threads;
      aggregation.block_unknowns = a.block_unknowns;
      if (a.near_null_space_vectors != nullptr)
        aggregation.near_null_space = *a.near_null_space_vectors;
      aggregation.most_complexity = a.most_complexity;
      if (a.has_found_nodes())
        log("nodes",
            text_of_nodes(a) + " seem to be those of a node, as constants of each are near the null space (--block-unknowns 1: none are looked for)");
      say_memory("levels while they are made", bytes_of_aggregation(A), backend, "--preconditioner async or ic, which have no levels", log);
      if (a.most_complexity > 0.)
        log("", "at most " + short_text(bytes_of_aggregation(A, a.most_complexity) / 1e9, 2) + " GB, as levels that fill up are given up");
      auto        multigrid = std::make_unique<Multigrid<Number>>(A, aggregation, multigrid_options(a, backend, false));
      std::string rows;
      for (int level = multigrid->n_levels() - 1; level >= 0; --level)
        rows += (rows.empty() ? "" : ", ") + std::to_string(multigrid->n_unknowns(level));
      log("levels",
          rows + " rows by smoothed aggregation, operator complexity " + short_text(multigrid->operator_complexity(), 3) + ", smoothed by " +
            a.smoother + ", " + short_text(static_cast<double>(multigrid->memory()) / 1e9, 2) + " GB, set up in " + seconds_since(start) +
            (backend == Backend::cuda && (!aggregation.fits_on_device() || !is_made_on_device(multigrid->options().smoother)) ? " on the host" : ""));
      return multigrid;
    }

    /** By smoothed aggregation, with the matrix multiplied by a weight if its entries are far from 1. */
    std::shared_ptr<Multigrid<float>>
    make_aggregation_in_single(const CrsMatrix<double> &A, double weight, const Arguments &a, Backend backend, const Log &log)
    {
      return weight == 1. ? make_aggregation<float>(A, a, backend, log) : make_aggregation<float>(times(A, weight), a, backend, log);
    }

    /** What A maps to zero, where cycles know that. */
    std::vector<double> null_space_of(const Multigrid<float> &cycles, const CrsMatrix<double> &A)
    {
      return cycles.is_singular() ? constants_in_null_space(A, RankSums()).value() : std::vector<double>();
    }

    /** Cycles in single precision correct a solution in double. */
    std::unique_ptr<Solver> make_mixed_multigrid(
      const CrsMatrix<double> &A, const std::optional<Stencil<double>> &stencil, const Arguments &a, Backend backend, const Log &log)
    {
      const MultigridOptions              options = multigrid_options(a, backend, true);
      std::unique_ptr<OuterSystem<float>> system;
      std::shared_ptr<Multigrid<float>>   cycles;
      if (stencil)
        {
          const double weight = weight_for(*stencil);
          cycles              = std::make_shared<Multigrid<float>>(times(*stencil, weight), 0, options);
          system              = make_outer_system<float>(*stencil, weight, options.backend, options.n_threads);
        }
      else
        {
          const double weight = weight_for(A);
          cycles              = make_aggregation_in_single(A, weight, a, backend, log);
          system              = make_outer_system<float>(A, scale_of_weight(weight, A.n_rows), options.backend, options.n_threads);
        }
      const MethodInSingle about = {"multigrid",
                                    cycles->description(),
                                    cycles->is_fixed_linear_map(),
                                    "cycles",
                                    a.inner_iterations > 0 ? a.inner_iterations
                                                           : cycles_a_correction(cycles->memory_space(), stencil && stencil->n_z > 1),
                                    !a.double_follows,
                                    null_space_of(*cycles, A)};
      return make_mixed(std::move(system), make_inner_solver(std::move(cycles)), about);
    }

    std::unique_ptr<Solver> make_multigrid_method(const CrsMatrix<double> &A, const Arguments &a, Backend backend, const Log &log)
    {
      const auto stencil = stencil_for_multigrid(A, a, log);
      if (stencil)
        say_memory("levels of stencils", bytes_of_stencil_levels(A.n_rows), backend, "--method cg, which has none", log);
      if (a.precision == Precision::mixed)
        return make_mixed_multigrid(A, stencil, a, backend, log);
      if (a.precision == Precision::automatic && backend != Backend::reference)
        try
          {
            return make_mixed_multigrid(A, stencil, a, backend, log);
          }
        catch (const LevelsFillUp &)
          {
            throw; // as they do in double precision
          }
        catch (const InvalidInput &reason)
          {
            const std::string text = as_in_file(reason.what());
            log("precision", "double, as mixed does not do: " + text.substr(0, text.find('\n')));
          }
      auto        multigrid = stencil ? std::make_unique<Multigrid<double>>(*stencil, 0, multigrid_options(a, backend, true))
                                      : make_aggregation<double>(A, a, backend, log);
      std::string about     = multigrid->description();
      return std::make_unique<MultigridMethod>(std::move(multigrid), std::move(about));
    }

    /** What a Krylov method takes from its preconditioner. */
    struct OfPreconditioner
    {
      device::DeviceCrs<double> matrix;     ///< A, if it is on the device
      std::vector<double>       null_space; ///< see take_out()
    };

    /** A cycle in single precision, see make_preconditioner_of(). */
    std::shared_ptr<Preconditioner<double>>
    make_cycles_in_single(const CrsMatrix<double> &A, const Arguments &a, Backend backend, const Log &log, OfPreconditioner &of)
    {
      const double                            weight = weight_for(A);
      const std::shared_ptr<Multigrid<float>> cycles = make_aggregation_in_single(A, weight, a, backend, log);
      if (weight == 1.)
        of.matrix = cycles->matrix_on_device();
      of.null_space = null_space_of(*cycles, A);
      return make_rounded_preconditioner<float>(make_preconditioner<float>(cycles), weight, a.async.n_threads);
    }

    /** Of what preconditions: what differs from call to call costs conjugate gradients more than it saves. */
    Schedule schedule_of_preconditioner(const Arguments &a, const Log &log)
    {
      const bool is_asked_for = a.has("--schedule") || a.has("--two-stage");
      if (a.method_name != "cg" || !a.method().has_blocks)
        return a.async.schedule;
      if (is_asked_for && a.async.schedule != Schedule::synchronous)
        log("warning",
            "a schedule that is not synchronous makes a preconditioner that differs from call to call, which may cost CG many iterations\n"
            "            to do: --schedule synchronous, or --method gmres");
      else if (!is_asked_for)
        log("schedule", "synchronous, as CG wants the same preconditioner in each iteration; --schedule chaotic if asked for");
      return is_asked_for ? a.async.schedule : Schedule::synchronous;
    }

    /** One without levels. Null: there is none. */
    template <typename Number>
    std::shared_ptr<Preconditioner<Number>> make_one_level(const CrsMatrix<Number> &A, const Arguments &a, Backend backend, const Log &log)
    {
      if (a.preconditioner == "none")
        return nullptr;
      if (a.has_factors())
        {
          IncompleteOptions options;
          options.factors.kind        = a.preconditioner == "ic" ? FactorKind::ic : FactorKind::ilu;
          options.factors.fill_level  = a.fill_level;
          options.factors.report_fill = [&log](double n_entries, double bytes) {
            log("fill", short_text(n_entries, 3) + " entries of the factors, about " + short_text(bytes / 1e9, 2) + " GB while they are made");
          };
          options.n_sweeps                   = a.factor_sweeps;
          options.solves                     = a.triangular;
          options.solves.block_async         = a.async;
          options.solves.block_async.backend = backend;
          if (a.triangular_solves != "automatic")
            options.solves.block_async.schedule = schedule_of_preconditioner(a, log);
          if (a.fill_level == 0) // else it is known when the fill is
            say_memory(
              "factors while they are made", bytes_of_factors<Number>(A.n_entries()), Backend::host, "--preconditioner async or jacobi", log);
          const double start = now();
          if (a.fill_level > 0 && a.criteria.max_seconds > 0.)
            options.factors.asked_to_stop = [start, limit = a.criteria.max_seconds] { return !(now() - start < limit); };
          options.factors.largest_shift = std::min(options.factors.largest_shift, a.largest_shift);
          std::shared_ptr<IncompletePreconditioner<Number>> factors;
          try
            {
              factors = make_incomplete_preconditioner<Number>(A, options);
            }
          catch (const FactorsStopped &)
            {
              throw ConvergenceFailure(options.factors.name() + ": the time was over, " + short_text(now() - start, 2) +
                                       " s, while the factors were made\n  to do: a lower --fill, or more --max-seconds");
            }
          catch (const ShiftTooLarge &)
            {
              if (!(a.largest_shift < HUGE_VAL))
                throw;
              throw InvalidInput("the incomplete factors are those of another matrix, with more than " + short_text(a.largest_shift, 3) +
                                 " of the diagonal added to it, and sparse factors take less time\n  expected: less than that");
            }
          log("factors", factors->description());
          return factors;
        }
      const Method &method = find_method(a.preconditioner, as_preconditioner);
      MethodOptions options;
      options.backend             = backend;
      options.omega               = a.async.omega;
      BlockAsyncOptions blocks    = a.async;
      blocks.schedule             = schedule_of_preconditioner(a, log);
      options.block_async         = &blocks;
      options.chebyshev.n_threads = a.async.n_threads;
      constexpr int n_iterations  = 2; // of those of which one does little
      return make_preconditioner<Number>(std::shared_ptr<Relaxation<Number>>(method.make(A, options)), method.is_iterated ? n_iterations : 1);
    }

    /** Null: there is none. */
    std::shared_ptr<Preconditioner<double>>
    make_preconditioner_of(const CrsMatrix<double> &A, const Arguments &a, Backend backend, const Log &log, OfPreconditioner &of)
    {
      if (a.preconditioner != "multigrid")
        return make_one_level<double>(A, a, backend, log);
      if (a.precision == Precision::mixed)
        return make_cycles_in_single(A, a, backend, log, of);
      const std::shared_ptr<Multigrid<double>> multigrid = make_aggregation<double>(A, a, backend, log);
      of.matrix                                          = multigrid->matrix_on_device();
      return make_preconditioner<double>(multigrid);
    }

    constexpr int restart = 50; ///< of FGMRES

    /** @param M null: none. */
    template <typename Number, typename Matrix>
    std::unique_ptr<KrylovSolver<Number>>
    make_krylov(const Matrix &A, const Arguments &a, const KrylovOptions &options, const std::shared_ptr<Preconditioner<Number>> &M)
    {
      return a.method_name == "cg" ? make_cg<Number>(A, CgOptions{options}, M) : make_fgmres<Number>(A, FgmresOptions{options, restart}, M);
    }

    /** What is said of a preconditioner that has been made. */
    struct AboutPreconditioner
    {
      std::string name; ///< empty: none
      bool        is_fixed_linear_map = true;
    };

    template <typename Number>
    AboutPreconditioner about(const std::shared_ptr<Preconditioner<Number>> &M)
    {
      return M == nullptr ? AboutPreconditioner() : AboutPreconditioner{M->name(), M->is_fixed_linear_map()};
    }

    /**
     * On several GPUs, a thread each, with vectors in host memory; each makes its preconditioner of its own rows.
     * @param of_first receives what is said of the first one's.
     */
    template <typename Number>
    std::unique_ptr<KrylovSolver<Number>>
    make_krylov_on_gpus(const CrsMatrix<Number> &A, const Arguments &a, const KrylovOptions &options, const Log &log, AboutPreconditioner &of_first)
    {
      PartsOptions parts;
      parts.n_parts       = a.n_gpus;
      parts.devices       = a.gpus.devices;
      parts.shares        = a.gpus.shares;
      parts.block_offsets = a.async.block_offsets;
      const auto found    = std::make_shared<AboutPreconditioner>();
      const auto make     = [a, log, found](const CrsMatrix<Number> &own, const RowPart &part, int rank) {
        const Log quiet   = [](const std::string       &/*what*/, const std::string       &/*text*/) {};
        Arguments of_part = a;
        if (!a.async.block_offsets.empty())
          of_part.async.block_offsets = block_offsets_of(part, a.async.block_offsets);
        PartPreconditioner<Number> M = {make_one_level<Number>(own, of_part, Backend::cuda, rank == 0 ? log : quiet), nullptr};
        if (rank == 0)
          *found = about(M.preconditioner);
        return M;
      };
      auto krylov = a.method_name == "cg" ? make_cg<Number>(A, CgOptions{options}, parts, make)
                                          : make_fgmres<Number>(A, FgmresOptions{options, restart}, parts, make);
      of_first    = *found;
      if (!of_first.name.empty())
        of_first.name += " of each one's own rows";
      return krylov;
    }

    /** Whether factors, and with them a preconditioner, differ from run to run. */
    bool has_racing_sweeps(const Arguments &a)
    {
      return a.has_factors() && a.factor_sweeps > 0 && a.async.schedule != Schedule::synchronous;
    }

    /** The Krylov method and its preconditioner in single precision correct a solution in double. */
    std::unique_ptr<Solver> make_mixed_krylov(const CrsMatrix<double> &A, const Arguments &a, Backend backend, const Log &log)
    {
      const double              start = now();
      const ScaledMatrix<float> low   = scaled_to<float>(A);
      KrylovOptions             options;
      options.backend        = backend;
      options.n_threads      = a.async.n_threads;
      options.tolerance      = tolerance_of_corrections(a.criteria.relative_tolerance);
      options.max_seconds    = a.criteria.max_seconds;
      options.max_iterations = a.inner_iterations > 0 ? a.inner_iterations : a.criteria.max_iterations;
      AboutPreconditioner                  of;
      std::shared_ptr<KrylovSolver<float>> krylov;
      if (a.n_gpus > 0)
        krylov = make_krylov_on_gpus<float>(low.matrix, a, options, log, of);
      else
        {
          const std::shared_ptr<Preconditioner<float>> M = make_one_level<float>(low.matrix, a, backend, log);
          krylov                                         = make_krylov<float>(low.matrix, a, options, M);
          of                                             = about(M);
        }
      const MethodInSingle method = {krylov->name() + (of.name.empty() ? "" : " with " + of.name),
                                     "set up in " + seconds_since(start),
                                     !has_racing_sweeps(a) && of.is_fixed_linear_map,
                                     "iterations",
                                     0,
                                     !a.double_follows};
      const Backend        around = a.n_gpus > 0 ? Backend::host : backend; // where the method's vectors are
      return make_mixed(make_outer_system<float>(A, low.scale, around, a.async.n_threads), make_inner_solver(std::move(krylov)), method);
    }

    /** x, b, and those of the method and of a preconditioner's call. */
    double bytes_of_krylov_vectors(const CrsMatrix<double> &A, const Arguments &a)
    {
      const int n_vectors = a.method_name == "cg" ? 8 : 2 * restart + 6;
      return static_cast<double>(n_vectors) * sizeof(double) * A.n_rows;
    }

    std::unique_ptr<Solver> make_krylov_method(const CrsMatrix<double> &A, const Arguments &a, Backend backend, const Log &log)
    {
      if (a.n_gpus == 0)
        say_memory("vectors of " + a.method_name,
                   bytes_of_krylov_vectors(A, a),
                   backend,
                   a.method_name == "cg" ? "a larger one" : "--method cg for symmetric positive definite matrices",
                   log);
      if (a.precision == Precision::mixed && !a.has_multigrid())
        return make_mixed_krylov(A, a, backend, log);
      const double  start = now();
      KrylovOptions options;
      options.backend          = backend;
      options.n_threads        = a.async.n_threads;
      options.max_iterations   = a.criteria.max_iterations;
      options.keep_history     = true;
      options.early_iterations = a.early_iterations;
      options.early_residual   = a.early_residual;
      OfPreconditioner                      of;
      AboutPreconditioner                   found;
      std::unique_ptr<KrylovSolver<double>> krylov;
      if (a.n_gpus > 0)
        krylov = make_krylov_on_gpus<double>(A, a, options, log, found);
      else
        {
          const std::shared_ptr<Preconditioner<double>> M = make_preconditioner_of(A, a, backend, log, of);
          krylov = of.matrix.n_rows > 0 ? make_krylov<double>(of.matrix, a, options, M) : make_krylov<double>(A, a, options, M);
          found  = about(M);
        }
      return std::make_unique<KrylovMethod>(
        std::move(krylov), found.name, std::move(of.null_space), start, !has_racing_sweeps(a) && found.is_fixed_linear_map);
    }
  } // namespace

  std::optional<Stencil<double>> stencil_in_disguise(const CrsMatrix<double> &A)
  {
    constexpr int fewest = 1000; // below nothing is gained
    if (A.n_rows < fewest)
      return std::nullopt;
    const std::array<int, 3> n = guessed_grid(A);
    if (n[1] == 1 && n[2] == 1)
      return std::nullopt;
    const std::optional<FoundStencil> found = find_stencil_on_grid(A, n);
    if (!found)
      return std::nullopt;
    // the levels' values beyond the grid are zero: not so where the diagonal is smaller at its boundary (Neumann)
    double off_diagonal = 0.;
    for (std::size_t k = 0; k < found->stencil.coefficients.size(); ++k)
      off_diagonal += k == 13 ? 0. : std::abs(found->stencil.coefficients[k]);
    for (const double entry : found->stencil.diagonal)
      if (!(std::abs(entry) >= (1. - 1e-12) * off_diagonal))
        return std::nullopt;
    return found->stencil;
  }

  std::unique_ptr<Solver> make_strong_method(const CrsMatrix<double> &A, const Arguments &a, Backend backend, const Log &log)
  {
    if (a.method_name == "direct")
      {
        if (a.criteria.max_seconds > 0. && a.has_dear_factors)
          throw InvalidInput("direct: the graph spreads faster than a mesh, so that factors take long, and --max-seconds does not interrupt them"
                             "\n  expected: no limit of time");
        if (a.criteria.max_seconds > 0.)
          log("direct",
              "factors of " + std::to_string(A.n_rows) + " rows with " + std::to_string(A.n_entries()) +
                " entries: --max-seconds does not interrupt them");
        return std::make_unique<DirectMethod>(A, a.has_dear_factors, log);
      }
    if (a.method_name == "multigrid")
      return make_multigrid_method(A, a, backend, log);
    return make_krylov_method(A, a, backend, log);
  }
} // namespace leopard::command_line
