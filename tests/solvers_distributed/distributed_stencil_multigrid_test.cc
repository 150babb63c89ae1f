// SPDX-License-Identifier: Apache-2.0
#include "ranks_test.h"

#include <solvers/base/errors.h>
#include <solvers/base/norms.h>
#include <solvers/device/device.h>
#include <solvers/device/device_array.h>
#include <solvers/distributed/stencil/distributed_stencil_multigrid.h>
#include <solvers/exchange/transport.h>

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace
{
  using namespace leopard;

  /** Where arrays are, and how they travel. */
  struct Form
  {
    Backend backend;
    bool    staged;
  };

  std::vector<Form> forms()
  {
    std::vector<Form> result = {{Backend::host, false}};
    if (device::n_devices() > 0)
      {
        result.push_back({Backend::cuda, false});
        result.push_back({Backend::cuda, true});
      }
    return result;
  }

  DistributedStencilOptions options_for(const Form &form, int gather_below)
  {
    DistributedStencilOptions options;
    options.multigrid.backend                               = form.backend;
    options.multigrid.n_threads                             = 1;
    options.multigrid.smoother.block_async.n_threads        = 1;
    options.multigrid.smoother.block_async.local_iterations = 5;
    options.staged                                          = form.staged;
    options.gather_below                                    = gather_below;
    return options;
  }

  /** Jacobi, whose result does not depend on where blocks begin. */
  DistributedStencilOptions jacobi_options(const Form &form, int gather_below)
  {
    DistributedStencilOptions options                       = options_for(form, gather_below);
    options.multigrid.smoother.block_async.schedule         = Schedule::synchronous;
    options.multigrid.smoother.block_async.local_iterations = 1;
    return options;
  }

  std::vector<double> random_vector(int n, int seed)
  {
    std::mt19937                           generator(seed);
    std::uniform_real_distribution<double> uniform(-1., 1.);
    std::vector<double>                    result(n);
    for (double &v : result)
      v = uniform(generator);
    return result;
  }

  /** The array in the memory space of a backend. */
  class Vector
  {
  public:
    Vector(const std::vector<double> &values, Backend backend)
      : host(values)
    {
      if (backend == Backend::cuda)
        on_device = device::Array<double>(values);
    }
    double             *data() { return on_device.size() > 0 ? on_device.data() : host.data(); }
    std::vector<double> get() const
    {
      std::vector<double> result = host;
      if (on_device.size() > 0)
        device::copy_to_host(result.data(), on_device.data(), result.size() * sizeof(double));
      return result;
    }

  private:
    std::vector<double>   host;
    device::Array<double> on_device;
  };

  std::vector<double> own_part(const std::vector<double> &whole, const Stencil<double> &stencil, const std::pair<int, int> &planes)
  {
    const int n = stencil.plane();
    return {whole.begin() + static_cast<long>(planes.first) * n, whole.begin() + static_cast<long>(planes.second) * n};
  }

  std::vector<double> together(const std::vector<double> &own)
  {
    std::vector<int> counts(n_ranks()), offsets(n_ranks() + 1, 0);
    const int        n = static_cast<int>(own.size());
    MPI_Allgather(&n, 1, MPI_INT, counts.data(), 1, MPI_INT, MPI_COMM_WORLD);
    for (int r = 0; r < n_ranks(); ++r)
      offsets[r + 1] = offsets[r] + counts[r];
    std::vector<double> result(offsets.back());
    MPI_Allgatherv(own.data(), n, MPI_DOUBLE, result.data(), counts.data(), offsets.data(), MPI_DOUBLE, MPI_COMM_WORLD);
    return result;
  }

  double largest_difference(const std::vector<double> &a, const std::vector<double> &b)
  {
    EXPECT_EQ(a.size(), b.size());
    double result = 0.;
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
      result = larger_or_nan(result, std::abs(a[i] - b[i]));
    return result;
  }

  /** Both do two cycles from the same x, and two applications to b. */
  void compare_with_one_process(const Stencil<double> &whole, const std::vector<double> &diagonal, const DistributedStencilOptions &options)
  {
    Stencil<double> one           = whole;
    one.diagonal                  = diagonal;
    const int                   n = whole.n_rows();
    const auto                  x = random_vector(n, 1), b = random_vector(n, 2);
    const auto                  planes  = DistributedStencilMultigrid::own_planes(whole, my_rank(), n_ranks(), options);
    const Backend               backend = options.multigrid.backend;
    DistributedStencilMultigrid distributed(whole, MPI_COMM_WORLD, options, diagonal.empty() ? diagonal : own_part(diagonal, whole, planes));
    ASSERT_EQ(distributed.first_plane(), planes.first);
    ASSERT_EQ(distributed.n_own_planes(), planes.second - planes.first);
    Multigrid<double> alone(one, distributed.multigrid().n_levels(), options.multigrid);

    Vector x_alone(x, backend), b_alone(b, backend), x_slab(own_part(x, whole, planes), backend), b_slab(own_part(b, whole, planes), backend);
    for (int i = 0; i < 3; ++i) // the first and second are queued piece by piece, the third is a graph where there is one
      {
        alone.cycle(x_alone.data(), b_alone.data());
        distributed.multigrid().cycle(x_slab.data(), b_slab.data());
        EXPECT_LT(largest_difference(together(x_slab.get()), x_alone.get()), 1e-12) << "cycle " << i;
      }
    for (int i = 0; i < 2; ++i)
      {
        alone.vmult(x_alone.data(), b_alone.data());
        distributed.multigrid().vmult(x_slab.data(), b_slab.data());
        EXPECT_LT(largest_difference(together(x_slab.get()), x_alone.get()), 1e-12) << "application " << i;
      }
    const std::vector<double> once = x_slab.get();
    for (int i = 0; i < 20; ++i) // a ghost value that was not waited for would show
      {
        distributed.multigrid().vmult(x_slab.data(), b_slab.data());
        EXPECT_EQ(largest_difference(x_slab.get(), once), 0.) << "repetition " << i;
      }
  }

  TEST(DistributedStencilMultigrid, WithASynchronousSmootherIsThatOfOneProcess)
  {
    for (const Form &form : forms())
      for (const Stencil<double> &stencil : {five_point_stencil(37, 64, 0.01),
                                             five_point_stencil(64, 65, 0.),
                                             nine_point_stencil(50, 67, 0.),
                                             seven_point_stencil(17, 20, 32, 0.),
                                             twenty_seven_point_stencil(16, 11, 37, 0.1)})
        {
          SCOPED_TRACE(to_string(form.backend) + ", " + std::to_string(stencil.n_x) + " x " + std::to_string(stencil.n_y) + " x " +
                       std::to_string(stencil.n_z) + (form.staged ? ", staged" : ""));
          compare_with_one_process(stencil, {}, jacobi_options(form, 300));
        }
  }

  TEST(DistributedStencilMultigrid, WithSeveralLocalIterationsIsThatOfOneProcessWhereBlocksAreTheSame)
  {
    for (const Form &form : forms())
      {
        // slabs of whole blocks: their heights are 16 and 32 in two dimensions, 8 and 16 in three
        const int                 ranks                         = n_ranks();
        DistributedStencilOptions options                       = jacobi_options(form, 1 << 20);
        options.multigrid.smoother.block_async.local_iterations = 5;
        compare_with_one_process(five_point_stencil(70, 64 * ranks, 0.), {}, options);
        compare_with_one_process(seven_point_stencil(20, 16, 32 * ranks, 0.), {}, options);
      }
  }

  /** Jacobi with one step before and after: a first iteration, and a second one that reaches into the neighbours. */
  DistributedStencilOptions overlapping(DistributedStencilOptions options, int planes)
  {
    options.multigrid.pre_smoothing = options.multigrid.post_smoothing = 1;
    options.overlap                                                    = planes;
    return options;
  }

  TEST(DistributedStencilMultigrid, WithAnOverlapAndASynchronousSmootherIsThatOfOneProcess)
  {
    const Form            host     = {Backend::host, false};
    const Stencil<double> flat     = five_point_stencil(40, 96, 0.);
    std::vector<double>   diagonal = random_vector(flat.n_rows(), 3);
    for (double &d : diagonal)
      d = 4.6 + 0.5 * d;
    for (const int planes : {1, 3, 4})
      for (const CycleType cycle : {CycleType::v, CycleType::w, CycleType::f})
        {
          SCOPED_TRACE(std::to_string(planes) + " planes, " + to_string(cycle));
          DistributedStencilOptions options = overlapping(jacobi_options(host, 300), planes);
          options.multigrid.cycle           = cycle;
          compare_with_one_process(flat, {}, options);
          compare_with_one_process(flat, diagonal, options);
          compare_with_one_process(nine_point_stencil(50, 67, 0.), {}, options);
          compare_with_one_process(seven_point_stencil(9, 12, 65, 0.), {}, options);
        }
  }

  TEST(DistributedStencilMultigrid, WithAnOverlapAVCycleHasTwoExchangesALevel)
  {
    const Form                  host = {Backend::host, false};
    DistributedStencilMultigrid solver(five_point_stencil(64, 128, 0.), MPI_COMM_WORLD, overlapping(jacobi_options(host, 600), 4));
    EXPECT_EQ(solver.overlap(), n_ranks() == 1 ? 0 : 4);
    std::vector<double> x(64 * solver.n_own_planes(), 1.), b = x;
    solver.multigrid().cycle(x.data(), b.data());
    if (n_ranks() == 1)
      return;
    EXPECT_NE(solver.description().find("relaxes 4 planes of the neighbours"), std::string::npos) << solver.description();
    // levels of 64 and 32 nodes a plane: b of the finest when it is set; on the finest a plane of x before the first
    // iteration, and five for the restriction and the second one; on the coarser one
    // four of b with five of x, and three of x to correct the finest one. Then the gathered right-hand side.
    const int         neighbours = (my_rank() > 0) + (my_rank() < n_ranks() - 1);
    const std::size_t gathered   = 16 * (solver.n_own_planes() / 4) * (n_ranks() - 1);
    EXPECT_EQ(solver.transport().traffic().bytes, sizeof(double) * (neighbours * (64 * (4 + 1 + 5) + 32 * (5 + 4 + 3)) + gathered));
    EXPECT_EQ(solver.transport().traffic().calls, 6);
  }

  TEST(DistributedStencilMultigrid, VaryingDiagonalsCyclesAndStepsAreThoseOfOneProcess)
  {
    const Stencil<double> stencil  = five_point_stencil(40, 60, 0.);
    std::vector<double>   diagonal = random_vector(stencil.n_rows(), 3);
    for (double &d : diagonal)
      d = 4.6 + 0.5 * d;
    struct Steps
    {
      CycleType cycle;
      int       before, after, iterations;
    };
    for (const Form &form : forms())
      for (const Steps &steps :
           {Steps{CycleType::v, 2, 2, 2}, {CycleType::w, 1, 1, 1}, {CycleType::f, 1, 2, 1}, {CycleType::v, 0, 2, 1}, {CycleType::w, 2, 0, 1}})
        {
          DistributedStencilOptions options              = jacobi_options(form, 200);
          options.multigrid.cycle                        = steps.cycle;
          options.multigrid.pre_smoothing                = steps.before;
          options.multigrid.post_smoothing               = steps.after;
          options.multigrid.smoother.iterations_per_step = steps.iterations;
          SCOPED_TRACE(to_string(form.backend) + " " + to_string(steps.cycle) + std::to_string(steps.before) + std::to_string(steps.after));
          compare_with_one_process(stencil, diagonal, options);
          compare_with_one_process(stencil, {}, options);
        }
  }

  /** Solves A x = b for a known x from 0 and checks x. @return cycles. */
  int solve_known(const Stencil<double> &whole, const DistributedStencilOptions &options, int repetitions = 1)
  {
    const int           n       = whole.n_rows();
    const auto          known   = random_vector(n, 5);
    const auto          planes  = DistributedStencilMultigrid::own_planes(whole, my_rank(), n_ranks(), options);
    const Backend       backend = options.multigrid.backend;
    const auto          A       = whole.to_crs();
    std::vector<double> b(n);
    multiply(A, known.data(), b.data());
    double norm = 0.;
    for (const double v : b)
      norm += v * v;
    DistributedStencilMultigrid solver(whole, MPI_COMM_WORLD, options);
    StoppingCriteria            criteria;
    criteria.relative_tolerance = 1e-10;
    criteria.max_iterations     = 60;
    int most                    = 0;
    for (int i = 0; i < repetitions; ++i)
      {
        Vector            x(std::vector<double>(own_part(b, whole, planes).size(), 0.), backend), own_b(own_part(b, whole, planes), backend);
        const SolveResult result = solver.multigrid().solve(x.data(), own_b.data(), criteria);
        EXPECT_EQ(result.status, SolveStatus::converged) << to_string(result.status) << " " << result.final_residual;
        const std::vector<double> all = together(x.get());
        std::vector<double>       r(n);
        multiply(A, all.data(), r.data());
        double squared = 0.;
        for (int j = 0; j < n; ++j)
          squared += (b[j] - r[j]) * (b[j] - r[j]);
        EXPECT_LE(std::sqrt(squared), 1.0001e-10 * std::sqrt(norm)) << "the residual itself, repetition " << i;
        EXPECT_NEAR(result.final_residual, std::sqrt(squared), 1e-3 * std::sqrt(squared) + 1e-13 * std::sqrt(norm));
        most = std::max(most, result.n_iterations);
      }
    return most;
  }

  /** Cycles of one process with the smoother's own steps; b = A x for a known x. */
  int cycles_alone(const Stencil<double> &stencil, const MultigridOptions &options)
  {
    const int           n = stencil.n_rows();
    Multigrid<double>   alone(stencil, 0, options);
    const auto          known = random_vector(n, 5);
    std::vector<double> b(n);
    multiply(stencil.to_crs(), known.data(), b.data());
    Vector           x(std::vector<double>(n, 0.), options.backend), b_alone(b, options.backend);
    StoppingCriteria criteria;
    criteria.relative_tolerance = 1e-10;
    criteria.max_iterations     = 60;
    return alone.solve(x.data(), b_alone.data(), criteria).n_iterations;
  }

  TEST(DistributedStencilMultigrid, ConvergesAsFastAsOneProcessWhetherGhostsAreWaitedForOrNot)
  {
    for (const Form &form : forms())
      for (const Stencil<double> &stencil : {five_point_stencil(127, 127, 0.), five_point_stencil(100, 128, 0.), seven_point_stencil(24, 31, 48, 0.)})
        {
          DistributedStencilOptions waiting = options_for(form, 500);
          waiting.multigrid                 = waiting.multigrid.with_steps(false); // as many as small slabs have, whose borders stay
          const int cycles                  = cycles_alone(stencil, waiting.multigrid);
          SCOPED_TRACE(to_string(form.backend) + (form.staged ? " staged, " : ", ") + std::to_string(cycles) + " cycles of one process");
          EXPECT_LE(solve_known(stencil, waiting), cycles + 1);
          DistributedStencilOptions loose = waiting;
          loose.multigrid.wait_for_ghosts = false;
          // ghosts that are a step old at worst: the smoothing of a slab's outermost planes is worth less
          EXPECT_LE(solve_known(stencil, loose, 10), 2 * cycles + 2);
        }
  }

  TEST(DistributedStencilMultigrid, WithAnOverlapItConvergesAsFastAsWithout)
  {
    for (const Stencil<double> &stencil : {five_point_stencil(100, 128, 0.), nine_point_stencil(63, 131, 0.), seven_point_stencil(24, 31, 64, 0.)})
      {
        // planes of the neighbours are relaxed with five sweeps: with wrong right-hand sides there it would not
        // converge
        const DistributedStencilOptions options = overlapping(options_for({Backend::host, false}, 500), stencil.n_z == 1 ? 8 : 4);
        const int                       cycles  = cycles_alone(stencil, options.multigrid);
        SCOPED_TRACE(std::to_string(stencil.n_z) + " planes, " + std::to_string(cycles) + " cycles of one process");
        EXPECT_LE(solve_known(stencil, options), solve_known(stencil, overlapping(options, 0)));
        // tiles of the host are lines, and borders between slabs are none that move there
        EXPECT_LE(solve_known(stencil, options), 2 * cycles);
      }
  }

  TEST(DistributedStencilMultigrid, OnGpusTilesMoveAcrossTheBordersBetweenSlabs)
  {
    if (device::n_devices() == 0)
      GTEST_SKIP() << "no GPU";
    const int ranks = n_ranks();
    for (const bool staged : {false, true})
      for (const Stencil<double> &stencil :
           {five_point_stencil(256, 128 * ranks, 0.), nine_point_stencil(255, 128 * ranks + 1, 0.), seven_point_stencil(64, 40, 32 * ranks, 0.)})
        {
          const DistributedStencilOptions options = options_for({Backend::cuda, staged}, 500);
          const int                       cycles  = cycles_alone(stencil, options.multigrid);
          SCOPED_TRACE(std::to_string(stencil.n_z) + " planes, " + std::to_string(cycles) + " cycles of one process");
          DistributedStencilMultigrid solver(stencil, MPI_COMM_WORLD, options);
          EXPECT_EQ(solver.overlap(), ranks == 1 ? 0 : stencil.n_z == 1 ? 16 : 4);
          EXPECT_LE(solve_known(stencil, options), cycles + 1);
        }
  }

  TEST(DistributedStencilMultigrid, SaysWhoHasWhatAndHowItTravels)
  {
    for (const Form &form : forms())
      {
        DistributedStencilOptions options = options_for(form, 300);
        options.multigrid                 = options.multigrid.with_steps(false);
        DistributedStencilMultigrid solver(five_point_stencil(64, 64, 0.), MPI_COMM_WORLD, options);
        const std::string           text = solver.description();
        EXPECT_NE(text.find(std::to_string(n_ranks()) + " ranks with slabs of 2 levels, gathered from 16 x 16 nodes on"), std::string::npos) << text;
        EXPECT_EQ(text.find("staged") != std::string::npos, form.staged || (form.backend == Backend::cuda && have_one_gpu())) << text;
        EXPECT_EQ(solver.transport().traffic().bytes, 0u);
        std::vector<double> values(64 * solver.n_own_planes(), 1.);
        Vector              x(values, form.backend), b(values, form.backend);
        solver.multigrid().cycle(x.data(), b.data());
        // levels of 64 and 32 nodes a plane: one to each neighbour before the first and second smoothing step (but for
        // the first one from zero on the coarser level), two and one of b to the one below before the restriction, and
        // one before the second step afterwards; from the coarser level one before the correction of the finer one.
        // Then the gathered right-hand side.
        const int         below = my_rank() > 0, above = my_rank() < n_ranks() - 1;
        const int         fine = 3 * (below + above) + 3 * below + above, coarse = 3 * (below + above) + 3 * below + above;
        const std::size_t gathered = 16 * (solver.n_own_planes() / 4) * (n_ranks() - 1);
        EXPECT_EQ(solver.transport().traffic().bytes, sizeof(double) * (64 * fine + 32 * coarse + gathered));
        EXPECT_EQ(solver.transport().traffic().calls,
                  n_ranks() == 1 ? 7 : 9); // one rank knows that its ghosts do not exist, and smooths from zero at once
      }
  }

  TEST(DistributedStencilMultigrid, RefusesWhatItCannotDo)
  {
    const Stencil<double>     stencil = five_point_stencil(64, 64, 0.);
    const Form                host    = {Backend::host, false};
    DistributedStencilOptions options = options_for(host, 300);
    const auto                refused = [&](const DistributedStencilOptions &o,
                             const Stencil<double>           &s,
                             const std::string               &said,
                             const std::vector<double>       &diagonal = {},
                             int                              n_levels = 0) {
      try
        {
          DistributedStencilMultigrid(s, MPI_COMM_WORLD, o, diagonal, n_levels);
          ADD_FAILURE() << "accepted: " << said;
        }
      catch (const InvalidInput &error)
        {
          EXPECT_NE(std::string(error.what()).find(said), std::string::npos) << error.what();
        }
    };
    DistributedStencilOptions loose = jacobi_options(host, 300);
    loose.multigrid.wait_for_ghosts = false;
    refused(loose, stencil, "wait_for_ghosts");
    DistributedStencilOptions chebyshev = options;
    chebyshev.multigrid.smoother.method = "chebyshev";
    refused(chebyshev, stencil, "chebyshev");
    refused(options, five_point_stencil(64, 4 * n_ranks() - 1, 0.), "planes");
    refused(options, stencil, "diagonal entries", {4., 4.});
    refused(options, stencil, "of which 2 are distributed", {}, 2);
    Stencil<double> varying = stencil;
    varying.diagonal.assign(stencil.n_rows(), 4.);
    refused(options, varying, "each rank gives");
    refused(overlapping(options, -2), stencil, "overlap is -2");
    if (n_ranks() > 1)
      {
        DistributedStencilOptions two_steps = overlapping(options, 4);
        two_steps.multigrid.pre_smoothing   = 2;
        refused(two_steps, stencil, "overlap is 4 with V(2,1)");
        DistributedStencilOptions jacobi = overlapping(options, 4);
        jacobi.multigrid.smoother.method = "damped-jacobi";
        refused(jacobi, stencil, "damped-jacobi");
        refused(overlapping(options, 64), stencil, "planes");
        DistributedStencilOptions not_waiting = overlapping(options, 4);
        not_waiting.multigrid.wait_for_ghosts = false;
        refused(not_waiting, stencil, "not waited for");
      }
    options.gather_below = 0;
    refused(options, stencil, "gather");
  }
} // namespace
