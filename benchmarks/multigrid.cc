// SPDX-License-Identifier: Apache-2.0
// Geometric multigrid on uniform grids, as stencils and with stored matrices, on the host or on a GPU: set-up, one
// cycle, time to a true relative residual, and the bytes that a cycle has to move beside the time that it takes.
#include "conjugate_gradients.h"
#include "cycle_traffic.h"
#include "grid_cases.h"
#include "multigrid_vectors.h"
#include "repeated_times.h"
#include "tensor_elements.h"

#include <solvers/base/errors.h>
#include <solvers/base/usable_resources.h>
#include <solvers/block_async/names.h>
#include <solvers/krylov/cg.h>
#include <solvers/matrix/device_matrix.h>
#include <solvers/multigrid/aggregation.h>
#include <solvers/multigrid/multigrid.h>
#include <solvers/refinement/mixed_multigrid.h>
#include <solvers/refinement/rounded_preconditioner.h>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>
#include <memory>
#include <sstream>
#include <thread>

namespace
{
  using namespace leopard;

  struct Settings
  {
    MultigridOptions         options;
    std::vector<std::string> cases = {"five:4096", "seven:256", "seven:318", "q2:1024"}, forms = {"stencil", "stored"};
    std::string              backend = "automatic", cycle = "V", moving = "automatic", schedule = "chaotic", two_stage = "automatic", csv;
    double                   tolerance = 1e-10, delta = 0., vary = 0.;
    int                      repetitions = 11, n_levels = 0, mixed = 0, n_random = 0;
    bool                     with_cg = false, sixteen_bits = false;
    double                   bandwidth = 0.; ///< bytes a second of a copy, read and written
  };

  double copy_bandwidth(const Settings &settings)
  {
    const std::size_t n = std::size_t(1) << 26, n_bytes = n * sizeof(double);
    if (settings.options.backend == Backend::cuda)
      {
        DeviceVector<double> from(n), to(n);
        return 2. * n_bytes / measure(true, 21, [&] { device::copy_on_device(to.data(), from.data(), n_bytes); }).median;
      }
    const int           n_threads = settings.options.n_threads > 0 ? settings.options.n_threads : usable_cores();
    std::vector<double> from(n, 1.), to(n, 0.);
    const Times         t = measure(false, 5, [&] {
      std::vector<std::thread> threads;
      for (int i = 0; i < n_threads; ++i)
        threads.emplace_back([&, i] {
          const std::size_t begin = n * i / n_threads, end = n * (i + 1) / n_threads;
          std::memcpy(to.data() + begin, from.data() + begin, (end - begin) * sizeof(double));
        });
      for (std::thread &thread : threads)
        thread.join();
    });
    return 2. * n_bytes / t.median;
  }

  /** Levels as the stencil form chooses them, so that both forms do the same. */
  int number_of_levels(const Stencil<double> &stencil, const Settings &settings)
  {
    return settings.n_levels > 0 ? settings.n_levels : default_n_levels(stencil, settings.options.backend);
  }

  /** One cycle, of a right-hand side of ones. */
  template <typename Number>
  Times time_of_cycle(Multigrid<Number> &multigrid)
  {
    const std::size_t n         = multigrid.n_rows();
    const bool        on_device = multigrid.memory_space() == MemorySpace::device;
    if (on_device)
      {
        DeviceVector<Number> x(n), b(n);
        b = Number(1);
        return measure(true, 11, [&] { multigrid.vmult(x.data(), b.data()); });
      }
    std::vector<Number> x(n), b(n, Number(1));
    return measure(false, 11, [&] { multigrid.vmult(x.data(), b.data()); });
  }

  /** Cycles in single precision as corrections of a solution in double. */
  struct MixedPrecision
  {
    std::string                        what, cycles; ///< for the table
    std::shared_ptr<Multigrid<float>>  multigrid;
    std::unique_ptr<Refinement<float>> refinement;
  };

  MixedPrecision mixed_precision(const MultigridHierarchy &hierarchy, const MultigridOptions &options, const RefinementOptions &refinement)
  {
    const double             weight = weight_for(hierarchy);
    const CrsMatrix<double> &A      = hierarchy.finest_matrix();
    MixedPrecision           result;
    result.multigrid = std::make_shared<Multigrid<float>>(weight == 1. ? hierarchy : times(hierarchy, weight), options);
    result.refinement =
      std::make_unique<Refinement<float>>(make_outer_system<float>(A, scale_of_weight(weight, A.n_rows), options.backend, options.n_threads),
                                          make_inner_solver(result.multigrid),
                                          refinement);
    return result;
  }

  MixedPrecision mixed_precision(const Stencil<double> &stencil, int n_levels, const MultigridOptions &options, const RefinementOptions &refinement)
  {
    const double   weight = weight_for(stencil);
    MixedPrecision result;
    result.multigrid  = std::make_shared<Multigrid<float>>(times(stencil, weight), n_levels, options);
    result.refinement = std::make_unique<Refinement<float>>(
      make_outer_system<float>(stencil, weight, options.backend, options.n_threads), make_inner_solver(result.multigrid), refinement);
    return result;
  }

  /** Beside what double takes. */
  void run_mixed(Refinement<float> &refinement,
                 MultigridVectors  &vectors,
                 Multigrid<double> &multigrid,
                 const Settings    &settings,
                 double             in_double,
                 const std::string &what)
  {
    RefinementResult result;
    int              failures       = 0;
    int              in_first_solve = 0;
    const Times      solve          = measure(settings.options.backend == Backend::cuda, settings.repetitions, [&] {
      vectors.clear();
      result = refinement.solve(vectors.x(), vectors.b());
      failures += result.converged() ? 0 : 1;
      in_first_solve = in_first_solve == 0 ? result.n_iterations : in_first_solve;
    });
    std::printf("  %s: solve %.3f ms (%.3f .. %.3f), %d cycles (%d in the first solve) in %d corrections, true relative residual %.2e, %d failed; "
                "%.2f of double\n",
                what.c_str(),
                solve.median * 1e3,
                solve.smallest * 1e3,
                solve.largest * 1e3,
                result.n_iterations,
                in_first_solve,
                result.n_corrections,
                vectors.relative_residual(multigrid),
                failures,
                solve.median / in_double);
  }

  /** Of solves with one b after the other. */
  struct Cycles
  {
    std::vector<int> n; ///< of each b; -1: it failed
    int              fewest() const { return *std::min_element(n.begin(), n.end()); }
    int              most() const { return *std::max_element(n.begin(), n.end()); }
    int              failed() const { return static_cast<int>(std::count(n.begin(), n.end(), -1)); }
  };

  /**
   * Cycles for right-hand sides of random numbers, each in double and in mixed precision, the latter with momentum,
   * which goes on from b to b, and without.
   */
  void run_random(MultigridVectors            &vectors,
                  Multigrid<double>           &multigrid,
                  std::vector<MixedPrecision> &in_single,
                  const StoppingCriteria      &criteria,
                  RefinementOptions            refinement,
                  int                          n,
                  int                          with_ones)
  {
    const auto cycles = [&](const std::function<int()> &solve) {
      Cycles result;
      for (int seed = 1; seed <= n; ++seed)
        {
          vectors.set_random_right_hand_side(seed);
          vectors.clear();
          result.n.push_back(solve());
        }
      return result;
    };
    const Cycles in_double = cycles([&] {
      const SolveResult result = multigrid.solve(vectors.x(), vectors.b(), criteria);
      return result.status == SolveStatus::converged ? result.n_iterations : -1;
    });
    std::printf(
      "  %d random b: double %d to %d cycles (%d with b = A 1), %d failed\n", n, in_double.fewest(), in_double.most(), with_ones, in_double.failed());
    for (MixedPrecision &mixed : in_single)
      for (const bool momentum : {true, false})
        {
          refinement.momentum = momentum;
          mixed.refinement->set_options(refinement);
          const Cycles in_mixed   = cycles([&] {
            const RefinementResult result = mixed.refinement->solve(vectors.x(), vectors.b());
            return result.converged() ? result.n_iterations : -1;
          });
          int          difference = -criteria.max_iterations;
          for (int i = 0; i < n; ++i)
            if (in_mixed.n[i] >= 0 && in_double.n[i] >= 0)
              difference = std::max(difference, in_mixed.n[i] - in_double.n[i]);
          std::printf("  %d random b: %s%s %d to %d cycles, for the same b at most %+d to double's, %d failed\n",
                      n,
                      mixed.what.c_str(),
                      momentum ? "" : " without momentum",
                      in_mixed.fewest(),
                      in_mixed.most(),
                      difference,
                      in_mixed.failed());
        }
  }

  void run(const std::string &name, const std::string &form, const Settings &settings, std::ostream *csv)
  {
    const int             elements = cells_of_elements(name);
    const Stencil<double> stencil  = elements > 0 ? Stencil<double>() : stencil_of(name, settings.delta);
    const bool            stored = form == "stored", on_device = settings.options.backend == Backend::cuda;
    int                   n_levels = elements > 0 ? 0 : number_of_levels(stencil, settings);
    if (elements > 0 && !stored)
      return;
    std::vector<LevelFacts> facts;
    MultigridHierarchy      hierarchy;
    double                  start = now(), made = 0.;
    if (stored)
      {
        hierarchy = elements > 0 ? tensor_element_hierarchy(2, 2, elements, 16) : make_hierarchy(stencil, n_levels);
        if (settings.vary != 0.)
          vary(hierarchy, settings.vary);
        n_levels = static_cast<int>(hierarchy.levels.size());
        made     = now() - start;
        for (const MultigridLevel &level : hierarchy.levels)
          facts.push_back(facts_of(level));
      }
    else
      for (const StencilGrid &grid : stencil_levels(stencil, n_levels))
        facts.push_back(facts_of(grid.stencil));
    start                       = now();
    Multigrid<double> multigrid = stored ? Multigrid<double>(hierarchy, settings.options) : Multigrid<double>(stencil, n_levels, settings.options);
    const double      set_up    = now() - start;
    RefinementOptions refinement;
    refinement.tolerance        = settings.tolerance;
    refinement.inner_iterations = settings.mixed;
    std::vector<MixedPrecision> in_single;
    const auto                  add = [&](const char *what, const char *cycles, const MultigridOptions &options) {
      in_single.push_back(stored ? mixed_precision(hierarchy, options, refinement) : mixed_precision(stencil, n_levels, options, refinement));
      in_single.back().what   = what;
      in_single.back().cycles = cycles;
    };
    if (settings.mixed > 0)
      add("mixed precision", "single precision", settings.options);
    if (settings.sixteen_bits)
      {
        MultigridOptions with_sixteen_bits = settings.options;
        with_sixteen_bits.sixteen_bits     = true;
        add("mixed precision, matrices in 16 bits", "single precision, matrices in 16 bits", with_sixteen_bits);
      }
    hierarchy = MultigridHierarchy();
    MultigridVectors vectors(multigrid);
    StoppingCriteria criteria;
    criteria.relative_tolerance = settings.tolerance;
    criteria.max_iterations     = 200;

    const Times      cycle = time_of_cycle(multigrid);
    SolveResult      result;
    std::vector<int> cycles;
    int              failures = 0;
    const Times      solve    = measure(on_device, settings.repetitions, [&] {
      vectors.clear();
      result = multigrid.solve(vectors.x(), vectors.b(), criteria);
      cycles.push_back(result.n_iterations);
      failures += result.status != SolveStatus::converged;
    });
    const double     residual = vectors.relative_residual(multigrid);
    const auto [fewest, most] = std::minmax_element(cycles.begin(), cycles.end());

    std::printf("\n%s, %s: %d unknowns, %d levels\n%s\n", name.c_str(), form.c_str(), multigrid.n_rows(), n_levels, multigrid.description().c_str());
    if (stored)
      std::printf("  matrices made in %.3f s (not part of the set-up)\n", made);
    std::printf("  set-up %.1f ms, memory %.1f MB\n  one cycle %.3f ms (%.3f .. %.3f)\n",
                set_up * 1e3,
                multigrid.memory() * 1e-6,
                cycle.median * 1e3,
                cycle.smallest * 1e3,
                cycle.largest * 1e3);
    std::printf("  solve %.3f ms (%.3f .. %.3f of %d), %d to %d cycles, factor %.4f, true relative residual %.2e, %d failed\n",
                solve.median * 1e3,
                solve.smallest * 1e3,
                solve.largest * 1e3,
                settings.repetitions,
                *fewest,
                *most,
                result.convergence_factor(),
                residual,
                failures);
    for (MixedPrecision &mixed : in_single)
      for (const bool momentum : {true, false})
        {
          refinement.momentum = momentum;
          mixed.refinement->set_options(refinement);
          run_mixed(*mixed.refinement, vectors, multigrid, settings, solve.median, mixed.what + (momentum ? "" : " without momentum"));
        }
    if (failures > 0)
      std::printf("  the last one: %s; %s\n", to_string(result.status).c_str(), multigrid.diagnosis().c_str());
    print_roofline("double precision", multigrid, facts, cycle.median, settings.bandwidth);
    for (MixedPrecision &mixed : in_single)
      print_roofline(mixed.cycles.c_str(), *mixed.multigrid, facts, time_of_cycle(*mixed.multigrid).median, settings.bandwidth);
    if (settings.n_random > 0)
      run_random(vectors, multigrid, in_single, criteria, refinement, settings.n_random, result.n_iterations);
    std::fflush(stdout);
    if (csv != nullptr)
      *csv << name << ',' << form << ',' << to_string(settings.options.backend) << ',' << settings.options.smoother.method << ','
           << to_string(settings.options.cycle) << ',' << multigrid.options().pre_smoothing << ',' << multigrid.options().post_smoothing << ','
           << multigrid.n_rows() << ',' << n_levels << ',' << set_up << ',' << cycle.median << ',' << solve.median << ',' << solve.smallest << ','
           << solve.largest << ',' << *fewest << ',' << *most << ',' << result.convergence_factor() << ',' << residual << ',' << failures << '\n';
  }

  std::shared_ptr<Preconditioner<double>> for_double(std::shared_ptr<Preconditioner<double>> M)
  {
    return M;
  }
  std::shared_ptr<Preconditioner<double>> for_double(std::shared_ptr<Preconditioner<float>> M)
  {
    return make_rounded_preconditioner<float>(std::move(M));
  }

  /**
   * A plain matrix in host memory: levels by smoothed aggregation, as the preconditioner of conjugate gradients.
   * Set-up and solve, each repeated. @tparam Number of the cycles.
   */
  template <typename Number>
  void run_algebraic(const std::string &name, const Settings &settings)
  {
    const int               elements = cells_of_elements(name);
    const CrsMatrix<double> A =
      elements > 0 ? tensor_element_hierarchy(2, 2, elements, 16).levels.back().matrix : stencil_of(name, settings.delta).to_crs();
    const bool       on_device = settings.options.backend == Backend::cuda;
    MultigridOptions options   = settings.options;
    CgOptions        cg;
    cg.backend   = options.backend;
    cg.n_threads = options.n_threads;
    cg.tolerance = settings.tolerance;

    std::shared_ptr<Multigrid<Number>>    multigrid;
    std::unique_ptr<KrylovSolver<double>> solver;
    double                                levels = 0.;
    const Times                           set_up = measure(on_device, std::min(settings.repetitions, 5), [&] {
      solver.reset();
      multigrid.reset();
      const double start = now();
      multigrid          = std::make_shared<Multigrid<Number>>(A, AggregationOptions(), options);
      levels             = now() - start;
      const auto own     = multigrid->matrix_on_device();
      const auto M       = for_double(make_preconditioner(multigrid));
      solver             = own.n_rows > 0 ? make_cg(own, cg, M) : make_cg(A, cg, M);
    });
    std::shared_ptr<Multigrid<double>>    in_double; // for products
    if constexpr (std::is_same_v<Number, double>)
      in_double = multigrid;
    else
      in_double = std::make_shared<Multigrid<double>>(A, AggregationOptions(), options);
    MultigridVectors vectors(*in_double);
    KrylovResult     result;
    int              failures = 0;
    const Times      solve    = measure(on_device, settings.repetitions, [&] {
      vectors.clear();
      result = solver->solve(vectors.x(), vectors.b());
      failures += result.converged ? 0 : 1;
    });
    std::printf("\n%s, algebraic%s: %d unknowns\n%s\n",
                name.c_str(),
                std::is_same_v<Number, float> ? ", cycles in single precision" : "",
                A.n_rows,
                multigrid->description().c_str());
    std::printf("  operator complexity %.2f, memory %.1f MB\n  set-up %.1f ms (%.1f .. %.1f), of which levels and smoothers %.1f ms the last time\n",
                multigrid->operator_complexity(),
                multigrid->memory() * 1e-6,
                set_up.median * 1e3,
                set_up.smallest * 1e3,
                set_up.largest * 1e3,
                levels * 1e3);
    std::printf("  CG %.3f ms (%.3f .. %.3f), %d iterations, true relative residual %.2e, %d failed; in all %.3f s\n",
                solve.median * 1e3,
                solve.smallest * 1e3,
                solve.largest * 1e3,
                result.n_iterations,
                vectors.relative_residual(*in_double),
                failures,
                set_up.median + solve.median);
    std::fflush(stdout);
  }

  void run_cg(const std::string &name, const Settings &settings)
  {
    const CrsMatrix<double>            A = stencil_of(name, settings.delta).to_crs();
    const device::DeviceMatrix<double> matrix(A, false); // a peer: cuSPARSE
    DeviceVector<double>               x(A.n_rows), b(A.n_rows);
    b             = 1.;
    int         n = 0;
    const Times t = measure(true, 3, [&] { n = conjugate_gradients(matrix, x, b, nullptr, settings.tolerance); });
    std::printf("\n%s: conjugate gradients (products by cuSPARSE) %.1f ms, %d iterations\n", name.c_str(), t.median * 1e3, n);
  }

  /** @throws InvalidInput. */
  void finish(Settings &settings)
  {
    if (settings.backend != "automatic" && settings.backend != "host" && settings.backend != "cuda")
      throw InvalidInput("--backend is '" + settings.backend + "'\n  expected: automatic, host or cuda");
    const bool cuda          = settings.backend == "cuda" || (settings.backend == "automatic" && device::n_devices() > 0);
    settings.options.backend = cuda ? Backend::cuda : Backend::host;
    if (settings.cycle != "V" && settings.cycle != "W" && settings.cycle != "F")
      throw InvalidInput("--cycle is '" + settings.cycle + "'\n  expected: V, W or F");
    if (settings.schedule != "chaotic" && settings.schedule != "synchronous")
      throw InvalidInput("--schedule is '" + settings.schedule + "'\n  expected: chaotic or synchronous");
    BlockAsyncOptions &async = settings.options.smoother.block_async;
    async.schedule           = settings.schedule == "chaotic" ? Schedule::chaotic : Schedule::synchronous;
    async.two_stage          = value_of(settings.two_stage, two_stage_names());
    if (settings.options.smoother.method != "async" &&
        (async.schedule != Schedule::chaotic || async.two_stage != TwoStage::automatic || async.block_omega != 1.))
      throw InvalidInput("--schedule, --two-stage or --block-omega is given for the smoother " + settings.options.smoother.method +
                         "\n  expected: async");
    settings.options.smoother.moving_blocks = settings.moving == "no"    ? MovingBlocksChoice::no
                                              : settings.moving == "yes" ? MovingBlocksChoice::yes
                                                                         : MovingBlocksChoice::automatic;
    settings.options.cycle                  = settings.cycle == "V" ? CycleType::v : settings.cycle == "W" ? CycleType::w : CycleType::f;
    for (const std::string &form : settings.forms)
      if (form != "stencil" && form != "stored" && form != "algebraic")
        throw InvalidInput("--forms has '" + form + "'\n  expected: stencil, stored or algebraic");
    for (const std::string &name : settings.cases)
      if (cells_of_elements(name) == 0)
        stencil_of(name, settings.delta).validate();
    if (settings.mixed < 0)
      throw InvalidInput("--mixed is " + std::to_string(settings.mixed) + "\n  expected: a number >= 0");
    const bool only_stored = settings.forms == std::vector<std::string>{"stored"};
    if (settings.sixteen_bits && !(settings.mixed > 0 && only_stored))
      throw InvalidInput("--sixteen-bits is given without --mixed, or for other forms than stored\n  expected: --forms stored --mixed 2");
    const auto is_of_a_line = [](const std::string &name) { return name.rfind("three:", 0) == 0; };
    if (settings.vary != 0. &&
        !(std::abs(settings.vary) < 1. && only_stored && std::none_of(settings.cases.begin(), settings.cases.end(), is_of_a_line)))
      throw InvalidInput("--vary is " + std::to_string(settings.vary) + ", or the form is not stored, or a case has one dimension\n" +
                         "  expected: a number between -1 and 1, --forms stored, and two or three dimensions");
    if (settings.mixed > 0 && settings.options.full_start)
      throw InvalidInput(
        "--full-start is given with --mixed\n  expected: one of them, as each correction begins from zero with a cycle on the finest level");
    if (settings.n_random < 0)
      throw InvalidInput("--random is " + std::to_string(settings.n_random) + "\n  expected: a number >= 0");
    if (settings.n_random > 0 && std::find(settings.forms.begin(), settings.forms.end(), "algebraic") != settings.forms.end())
      throw InvalidInput("--random is given for the form algebraic\n  expected: --forms stencil, stored or both");
    if (settings.repetitions < 1)
      throw InvalidInput("--repetitions is " + std::to_string(settings.repetitions) + "\n  expected: a number >= 1");
    if (settings.with_cg && !cuda)
      throw InvalidInput("--cg compares with cuSPARSE, and the backend is host\n  expected: the backend cuda");
    settings.options.validate();
  }
} // namespace

int main(int argc, char **argv)
{
  Settings settings;
  CLI::App app("Geometric multigrid on uniform grids: time to solution, and the bytes that a cycle moves");
  app
    .add_option("--cases",
                settings.cases,
                "three, five, nine, seven or twenty-seven points, a colon, and the nodes a side or those of each direction, for example five:4096 or "
                "five:1023x8191; or q2:1024, cells a side")
    ->delimiter(',');
  app.add_option("--forms", settings.forms, "stencil, stored, algebraic (of the matrix alone; conjugate gradients)")->delimiter(',');
  app.add_option("--backend", settings.backend, "automatic, host or cuda");
  app.add_option("--threads", settings.options.n_threads, "of the host; 0: all");
  app.add_option("--smoother", settings.options.smoother.method, "async, damped-jacobi, chebyshev, ...");
  app.add_option("--k", settings.options.smoother.block_async.local_iterations, "local iterations of async-(k)");
  app.add_option("--schedule", settings.schedule, "of async: chaotic, or synchronous: all blocks at once, the same in each run");
  app.add_option("--two-stage", settings.two_stage, "class of async; inner, outer and total: Gauss-Seidel sweeps inside blocks, stored matrices")
    ->check(CLI::IsMember({"automatic", "synchronous", "inner", "block", "outer", "total"}));
  const CLI::Option *block_size =
    app.add_option("--block-size", settings.options.smoother.block_async.block_size, "rows a block, stored matrices; by default what suits them");
  app.add_option("--moving", settings.moving, "automatic, no or yes: blocks of async move, stored matrices")
    ->check(CLI::IsMember({"automatic", "no", "yes"}));
  app.add_option("--omega", settings.options.smoother.omega, "relaxation factor; 0: what suits the method");
  app.add_option("--block-omega", settings.options.smoother.block_async.block_omega, "relaxation factor of a block's update, async, stored matrices");
  app.add_option("--nu1", settings.options.pre_smoothing, "smoothing steps before the coarse correction");
  app.add_option("--nu2", settings.options.post_smoothing, "and after it");
  app.add_option("--cycle", settings.cycle, "V, W or F");
  app.add_flag("--full-start", settings.options.full_start, "full multigrid first; not with --mixed");
  app.add_option("--levels", settings.n_levels, "0: down to a few hundred unknowns");
  app.add_option("--coarse-solver", settings.options.coarse_solver, "dense or direct");
  app.add_option("--tolerance", settings.tolerance, "relative residual");
  app.add_option("--delta", settings.delta, "added to the diagonal");
  app.add_option("--repetitions", settings.repetitions, "solves, of which median, smallest and largest time are shown");
  app.add_option("--mixed", settings.mixed, "also in mixed precision, with so many cycles in single precision a correction; 0: not");
  app.add_option("--random", settings.n_random, "also so many right-hand sides of random numbers, the same ones in each call: cycles; 0: none");
  app.add_flag("--sixteen-bits", settings.sixteen_bits, "and that also with level matrices in 16 bits; stored matrices on a GPU");
  app.add_option("--vary", settings.vary, "strength of coefficients that vary in space, stored matrices; 0: none");
  app.add_flag("--cg", settings.with_cg, "also conjugate gradients with cuSPARSE");
  app.add_option("--csv", settings.csv, "also write a table to this file");
  CLI11_PARSE(app, argc, argv);
  settings.options.smoother.any_block_size = block_size->count() == 0;
  try
    {
      finish(settings);
      settings.bandwidth = copy_bandwidth(settings);
      if (settings.options.backend == Backend::cuda)
        std::printf("%s, ", device::info(0).name.c_str());
      std::printf("copy bandwidth %.1f GB/s (read and written)\n", settings.bandwidth * 1e-9);
      std::ostringstream csv;
      csv << "case,form,backend,smoother,cycle,nu1,nu2,unknowns,levels,set-up [s],cycle [s],solve [s],fastest [s],slowest [s],fewest cycles,most "
             "cycles,factor,relative residual,failed\n";
      for (const std::string &name : settings.cases)
        {
          for (const std::string &form : settings.forms)
            if (form == "algebraic")
              {
                run_algebraic<double>(name, settings);
                if (settings.mixed > 0)
                  run_algebraic<float>(name, settings);
              }
            else
              run(name, form, settings, &csv);
          if (settings.with_cg && cells_of_elements(name) == 0)
            run_cg(name, settings);
        }
      if (!settings.csv.empty() && !(std::ofstream(settings.csv) << csv.str()).flush())
        throw Error("the table cannot be written to '" + settings.csv + "'\n  expected: a file in a folder that exists");
    }
  catch (const Error &error)
    {
      std::fprintf(stderr, "error: %s\n", error.what());
      return 1;
    }
  return 0;
}
