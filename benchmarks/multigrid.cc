// SPDX-License-Identifier: Apache-2.0
// Geometric multigrid on uniform grids, as stencils and with stored matrices, on the host or on a GPU: set-up, one
// cycle, time to a true relative residual, and the bytes that a cycle has to move beside the time that it takes.
#include "conjugate_gradients.h"
#include "tensor_elements.h"

#include <solvers/base/errors.h>
#include <solvers/base/stopwatch.h>
#include <solvers/krylov/cg.h>
#include <solvers/matrix/device_matrix.h>
#include <solvers/matrix/generators.h>
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
    std::string              backend = "automatic", cycle = "V", moving = "automatic", csv;
    double                   tolerance = 1e-10, delta = 0., vary = 0.;
    int                      repetitions = 11, n_levels = 0, mixed = 0;
    bool                     with_cg = false, sixteen_bits = false;
    double                   bandwidth = 0.; ///< bytes a second of a copy, read and written
  };

  struct Times
  {
    double median = 0., smallest = 0., largest = 0.; ///< seconds
  };

  /** Of n repetitions after one that warms up; the device is waited for. */
  Times measure(bool on_device, int n, const std::function<void()> &run)
  {
    std::vector<double> times;
    for (int i = -1; i < n; ++i)
      {
        if (on_device)
          device::synchronize();
        const double start = now();
        run();
        if (on_device)
          device::synchronize();
        if (i >= 0)
          times.push_back(now() - start);
      }
    std::sort(times.begin(), times.end());
    return {times[times.size() / 2], times.front(), times.back()};
  }

  double copy_bandwidth(const Settings &settings)
  {
    const std::size_t n = std::size_t(1) << 26, n_bytes = n * sizeof(double);
    if (settings.options.backend == Backend::cuda)
      {
        DeviceVector<double> from(n), to(n);
        return 2. * n_bytes / measure(true, 21, [&] { device::copy_on_device(to.data(), from.data(), n_bytes); }).median;
      }
    const int n_threads =
      settings.options.n_threads > 0 ? settings.options.n_threads : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
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

  Stencil<double> stencil_of(const std::string &text, double delta)
  {
    const std::size_t colon = text.find(':');
    const std::string name  = text.substr(0, colon);
    int               n     = 0;
    if (colon == std::string::npos || std::sscanf(text.c_str() + colon + 1, "%d", &n) != 1 || n < 1)
      throw InvalidInput("the case is '" + text + "'\n  expected: for example five:4096");
    if (name == "three")
      {
        Stencil<double> stencil;
        stencil.n_x                   = n;
        stencil.coefficient(0, 0, 0)  = 2. + delta;
        stencil.coefficient(-1, 0, 0) = stencil.coefficient(1, 0, 0) = -1.;
        return stencil;
      }
    if (name == "five")
      return five_point_stencil(n, n, delta);
    if (name == "nine")
      return nine_point_stencil(n, n, delta);
    if (name == "seven")
      return seven_point_stencil(n, n, n, delta);
    if (name == "twenty-seven")
      return twenty_seven_point_stencil(n, n, n, delta);
    throw InvalidInput("the case is '" + text + "'\n  expected: three, five, nine, seven or twenty-seven, a colon, and the nodes a side");
  }

  /**
   * Each edge between two unknowns gets a coefficient of its own, 1 + strength sin(7 x + 1) cos(5 y) at its middle (x,
   * y); those to the boundary keep theirs. With coordinates in intervals of the finest grid neighbours have nothing in
   * common, nor have levels: the coarse problems are those of other coefficients around the same mean.
   */
  void vary(MultigridHierarchy &hierarchy, double strength)
  {
    for (MultigridLevel &level : hierarchy.levels)
      {
        const auto middle = [&](std::size_t i, std::size_t j, int d) {
          return (level.coordinates[i * level.dim + d] + level.coordinates[j * level.dim + d]) / 2;
        };
        scale_edges(level.matrix, [&](int i, int j) { return 1. + strength * std::sin(7. * middle(i, j, 0) + 1.) * std::cos(5. * middle(i, j, 1)); });
      }
  }

  /**
   * x and b = A 1 where the multigrid computes: a right-hand side for which double precision reaches small residuals on
   * fine grids, too.
   */
  class Vectors
  {
  public:
    explicit Vectors(Multigrid<double> &multigrid)
      : on_device(multigrid.memory_space() == MemorySpace::device)
      , n(multigrid.n_rows())
      , host_x(on_device ? 0 : n)
      , host_b(on_device ? 0 : n)
      , device_x(on_device ? n : 0)
      , device_b(on_device ? n : 0)
    {
      set(x(), 1.);
      multigrid.multiply(b(), x());
    }
    double *x() { return on_device ? device_x.data() : host_x.data(); }
    double *b() { return on_device ? device_b.data() : host_b.data(); }
    void    clear() { set(x(), 0.); }

    /** ||b - A x|| / ||b||, with the multigrid's product alone. */
    double relative_residual(Multigrid<double> &multigrid)
    {
      if (on_device)
        {
          DeviceVector<double> r(n);
          multigrid.multiply(r.data(), x());
          r.sadd(-1., 1., device_b);
          return r.l2_norm() / device_b.l2_norm();
        }
      std::vector<double> r(n);
      multigrid.multiply(r.data(), x());
      double sum = 0., sum_b = 0.;
      for (std::size_t i = 0; i < n; ++i)
        {
          sum += (host_b[i] - r[i]) * (host_b[i] - r[i]);
          sum_b += host_b[i] * host_b[i];
        }
      return std::sqrt(sum / sum_b);
    }

  private:
    void set(double *v, double value)
    {
      if (on_device)
        (v == device_x.data() ? device_x : device_b) = value;
      else
        std::fill_n(v, n, value);
    }

    const bool           on_device;
    const std::size_t    n;
    std::vector<double>  host_x, host_b;
    DeviceVector<double> device_x, device_b;
  };

  /** What a level's part of a cycle has to move, in bytes, if every operand of every step goes through memory once. */
  struct Traffic
  {
    double n = 0., matrix = 0.,
           transfer = 0.; ///< unknowns; bytes of the matrix (or of a diagonal that varies); of the prolongation, and of its transpose

    /** x and b read, x written, once a global iteration. */
    double smoothing(const MultigridOptions &o) const
    {
      return (o.pre_smoothing + o.post_smoothing) * o.smoother.iterations_per_step * (24. * n + matrix);
    }
    /**
     * Residual: x and b read; with stored matrices r is written and read again. Coarse b written, x set to zero;
     * correction: x read and written.
     */
    double residual_and_transfers(double n_coarse, bool stored) const
    {
      return 16. * n + matrix + (stored ? 16. * n : 0.) + 2. * transfer + 16. * n_coarse + 16. * n + 8. * n_coarse;
    }
  };

  double bytes(const CrsMatrix<double> &A)
  {
    return 12. * A.n_entries() + 4. * A.n_rows;
  }

  void print_roofline(const Settings &settings, const std::vector<Traffic> &traffic, bool stored, Multigrid<double> &multigrid, double cycle_seconds)
  {
    const MultigridProfile profile = multigrid.profile(5);
    double                 sum     = 0.;
    std::printf("  %5s %12s %12s %12s %12s %12s %12s\n", "level", "unknowns", "MB", "at bandwidth", "measured", "smoother", "transfers");
    for (std::size_t l = traffic.size() - 1; l > 0; --l)
      {
        const double moved = traffic[l].smoothing(multigrid.options()) + traffic[l].residual_and_transfers(traffic[l - 1].n, stored);
        const auto  &p     = profile.levels[l];
        sum += moved;
        std::printf("  %5zu %12d %12.3f %9.1f us %9.1f us %9.1f us %9.1f us\n",
                    l,
                    p.n_unknowns,
                    moved * 1e-6,
                    moved / settings.bandwidth * 1e6,
                    (p.smoother + p.residual_and_transfers) * 1e6,
                    p.smoother * 1e6,
                    p.residual_and_transfers * 1e6);
      }
    std::printf("  %5d %12d %12s %12s %9.1f us (coarse solver%s)\n",
                0,
                profile.levels[0].n_unknowns,
                "",
                "",
                profile.coarse_solver * 1e6,
                profile.copies > 0. ? ", copies apart" : "");
    std::printf(
      "  a cycle moves %.1f MB: %.1f us at the copy bandwidth, %.1f us measured (%.0f %%); its parts, each waited for: %.1f us, copies %.1f us\n",
      sum * 1e-6,
      sum / settings.bandwidth * 1e6,
      cycle_seconds * 1e6,
      100. * sum / settings.bandwidth / cycle_seconds,
      profile.sum() * 1e6,
      profile.copies * 1e6);
  }

  /** Levels as the stencil form chooses them, so that both forms do the same. */
  int number_of_levels(const Stencil<double> &stencil, const Settings &settings)
  {
    return settings.n_levels > 0 ? settings.n_levels : default_n_levels(stencil, settings.options.backend);
  }

  /** "q2:1024": quadratic elements on 1024^2 cells, down to 16^2 cells; they have a stored form only. */
  int cells_of_elements(const std::string &name)
  {
    int n = 0;
    return std::sscanf(name.c_str(), "q2:%d", &n) == 1 ? n : 0;
  }

  /** Cycles in single precision as corrections of a solution in double, beside what double takes. */
  void run_mixed(
    Refinement<float> &refinement, Vectors &vectors, Multigrid<double> &multigrid, const Settings &settings, double in_double, const char *what)
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
                what,
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

  void run(const std::string &name, const std::string &form, const Settings &settings, std::ostream *csv)
  {
    const int             elements = cells_of_elements(name);
    const Stencil<double> stencil  = elements > 0 ? Stencil<double>() : stencil_of(name, settings.delta);
    const bool            stored = form == "stored", on_device = settings.options.backend == Backend::cuda;
    int                   n_levels = elements > 0 ? 0 : number_of_levels(stencil, settings);
    if (elements > 0 && !stored)
      return;
    std::vector<Traffic> traffic;
    MultigridHierarchy   hierarchy;
    double               start = now(), made = 0.;
    if (stored)
      {
        hierarchy = elements > 0 ? tensor_element_hierarchy(2, 2, elements, 16) : make_hierarchy(stencil, n_levels);
        if (settings.vary != 0.)
          vary(hierarchy, settings.vary);
        n_levels = static_cast<int>(hierarchy.levels.size());
        made     = now() - start;
        for (const MultigridLevel &level : hierarchy.levels)
          traffic.push_back({static_cast<double>(level.matrix.n_rows), bytes(level.matrix), bytes(level.prolongation)});
      }
    else
      for (const StencilGrid &grid : stencil_levels(stencil, n_levels))
        traffic.push_back({static_cast<double>(grid.stencil.n_rows()), 8. * grid.stencil.diagonal.size(), 0.});
    start                       = now();
    Multigrid<double> multigrid = stored ? Multigrid<double>(hierarchy, settings.options) : Multigrid<double>(stencil, n_levels, settings.options);
    const double      set_up    = now() - start;
    RefinementOptions refinement;
    refinement.tolerance        = settings.tolerance;
    refinement.inner_iterations = settings.mixed;
    std::unique_ptr<Refinement<float>> mixed, in_sixteen_bits;
    MultigridOptions                   with_sixteen_bits = settings.options;
    with_sixteen_bits.sixteen_bits                       = true;
    if (settings.mixed > 0 && settings.sixteen_bits && stored)
      in_sixteen_bits = make_refinement<float>(hierarchy, with_sixteen_bits, refinement);
    if (settings.mixed > 0)
      mixed = stored ? make_refinement<float>(hierarchy, settings.options, refinement)
                     : make_refinement<float>(stencil, n_levels, settings.options, refinement);
    hierarchy = MultigridHierarchy();
    Vectors          vectors(multigrid);
    StoppingCriteria criteria;
    criteria.relative_tolerance = settings.tolerance;
    criteria.max_iterations     = 200;

    const Times      cycle = measure(on_device, 11, [&] { multigrid.vmult(vectors.x(), vectors.b()); });
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
    if (mixed != nullptr)
      {
        run_mixed(*mixed, vectors, multigrid, settings, solve.median, "mixed precision");
        refinement.momentum = false;
        mixed->set_options(refinement);
        run_mixed(*mixed, vectors, multigrid, settings, solve.median, "mixed precision without momentum");
      }
    if (in_sixteen_bits != nullptr)
      run_mixed(*in_sixteen_bits, vectors, multigrid, settings, solve.median, "mixed precision, matrices in 16 bits");
    if (failures > 0)
      std::printf("  the last one: %s; %s\n", to_string(result.status).c_str(), multigrid.diagnosis().c_str());
    if (traffic.size() > 1)
      print_roofline(settings, traffic, stored, multigrid, cycle.median);
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
    Vectors      vectors(*in_double);
    KrylovResult result;
    int          failures = 0;
    const Times  solve    = measure(on_device, settings.repetitions, [&] {
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
    std::printf("\n%s: conjugate gradients (cuSPARSE, cuBLAS) %.1f ms, %d iterations\n", name.c_str(), t.median * 1e3, n);
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
                "three, five, nine, seven or twenty-seven points, a colon, and the nodes a side, for example five:4096; or q2:1024, cells a side")
    ->delimiter(',');
  app.add_option("--forms", settings.forms, "stencil, stored, algebraic (of the matrix alone; conjugate gradients)")->delimiter(',');
  app.add_option("--backend", settings.backend, "automatic, host or cuda");
  app.add_option("--threads", settings.options.n_threads, "of the host; 0: all");
  app.add_option("--smoother", settings.options.smoother.method, "async, damped-jacobi, chebyshev, ...");
  app.add_option("--k", settings.options.smoother.block_async.local_iterations, "local iterations of async-(k)");
  const CLI::Option *block_size =
    app.add_option("--block-size", settings.options.smoother.block_async.block_size, "rows a block, stored matrices; by default what suits them");
  app.add_option("--moving", settings.moving, "automatic, no or yes: blocks of async move, stored matrices")
    ->check(CLI::IsMember({"automatic", "no", "yes"}));
  app.add_option("--omega", settings.options.smoother.omega, "relaxation factor; 0: what suits the method");
  app.add_option("--nu1", settings.options.pre_smoothing, "smoothing steps before the coarse correction");
  app.add_option("--nu2", settings.options.post_smoothing, "and after it");
  app.add_option("--cycle", settings.cycle, "V, W or F");
  app.add_flag("--full-start", settings.options.full_start, "full multigrid first");
  app.add_option("--levels", settings.n_levels, "0: down to a few hundred unknowns");
  app.add_option("--coarse-solver", settings.options.coarse_solver, "dense or direct");
  app.add_option("--tolerance", settings.tolerance, "relative residual");
  app.add_option("--delta", settings.delta, "added to the diagonal");
  app.add_option("--repetitions", settings.repetitions, "solves, of which median, smallest and largest time are shown");
  app.add_option("--mixed", settings.mixed, "also in mixed precision, with so many cycles in single precision a correction; 0: not");
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
