// SPDX-License-Identifier: Apache-2.0
// The problem of pattern_formation stepped by SUNDIALS: CVODE's BDF of variable order with its own Newton method and
// GMRES (SPGMR).
#include "pattern_formation.h"

#include <CLI/CLI.hpp>

#include <cvode/cvode.h>
#include <nvector/nvector_openmp.h>
#include <sunlinsol/sunlinsol_spgmr.h>

#include <chrono>
#include <cstdio>
#include <stdexcept>

namespace
{
  using leopard::reaction_diffusion::NodeGrid;

  void check(int code, const char *what)
  {
    if (code < 0)
      throw std::runtime_error(std::string(what) + " failed with code " + std::to_string(code));
  }

  /** The semi-discrete equations, and the inverse diagonal blocks for a preconditioner. */
  struct Problem
  {
    NodeGrid                                  grid;
    leopard::reaction_diffusion::Schnakenberg kinetics{0.126779, 0.792366};
    double                                    gamma = 1000., diffusion[2] = {1., 10.};
    int                                       threads = 2;
    std::vector<double>                       inverse; ///< 4 entries a node

    void rates(const double *u, double *du) const
    {
      const int    n_x = grid.n[0], n_y = grid.n[1];
      const long   n = grid.n_nodes();
      const double w = 1. / (grid.spacing[0] * grid.spacing[0]);
#pragma omp parallel for num_threads(threads) schedule(static)
      for (int y = 0; y < n_y; ++y)
        {
          const long below = y > 0 ? -n_x : n_x, above = y + 1 < n_y ? n_x : -n_x; // mirrored at the boundary
          for (int x = 0; x < n_x; ++x)
            {
              const long   i = static_cast<long>(y) * n_x + x, left = x > 0 ? -1 : 1, right = x + 1 < n_x ? 1 : -1;
              const double here[2] = {u[i], u[n + i]};
              double       r[2], j[4];
              kinetics.evaluate(here, {}, r, j);
              for (int c = 0; c < 2; ++c)
                {
                  const double *p = u + c * n + i;
                  du[c * n + i]   = diffusion[c] * w * (p[left] + p[right] + p[below] + p[above] - 4. * p[0]) + gamma * r[c];
                }
            }
        }
    }

    /** (I - gamma_bdf J)^-1 of each node's block. */
    void set_up(const double *u, double factor)
    {
      const long   n = grid.n_nodes();
      const double w = 1. / (grid.spacing[0] * grid.spacing[0]);
      inverse.resize(4 * n);
#pragma omp parallel for num_threads(threads) schedule(static)
      for (long i = 0; i < n; ++i)
        {
          const double here[2] = {u[i], u[n + i]};
          double       r[2], j[4];
          kinetics.evaluate(here, {}, r, j);
          const double a = 1. + factor * (4. * w * diffusion[0] - gamma * j[0]), b = -factor * gamma * j[1], c = -factor * gamma * j[2],
                       d = 1. + factor * (4. * w * diffusion[1] - gamma * j[3]), f = 1. / (a * d - b * c);
          inverse[4 * i]     = f * d;
          inverse[4 * i + 1] = -f * b;
          inverse[4 * i + 2] = -f * c;
          inverse[4 * i + 3] = f * a;
        }
    }
  };

  int right_hand_side(double /*t*/, N_Vector u, N_Vector du, void *data)
  {
    static_cast<Problem *>(data)->rates(N_VGetArrayPointer(u), N_VGetArrayPointer(du));
    return 0;
  }

  int set_up(double /*t*/, N_Vector u, N_Vector /*fu*/, int /*jok*/, int *updated, double factor, void *data)
  {
    static_cast<Problem *>(data)->set_up(N_VGetArrayPointer(u), factor);
    *updated = 1;
    return 0;
  }

  int precondition(
    double /*t*/, N_Vector /*u*/, N_Vector /*fu*/, N_Vector r, N_Vector z, double /*factor*/, double /*delta*/, int /*side*/, void *data)
  {
    const Problem &p = *static_cast<Problem *>(data);
    const long     n = p.grid.n_nodes();
    const double  *a = N_VGetArrayPointer(r);
    double        *b = N_VGetArrayPointer(z);
#pragma omp parallel for num_threads(p.threads) schedule(static)
    for (long i = 0; i < n; ++i)
      {
        b[i]     = p.inverse[4 * i] * a[i] + p.inverse[4 * i + 1] * a[n + i];
        b[n + i] = p.inverse[4 * i + 2] * a[i] + p.inverse[4 * i + 3] * a[n + i];
      }
    return 0;
  }
} // namespace

int main(int argc, char **argv)
{
  CLI::App            app("The problem of pattern_formation by SUNDIALS CVODE (BDF, SPGMR)");
  int                 n = 512, krylov = 30;
  double              tolerance = 1e-4;
  bool                blocks    = false;
  std::vector<double> times     = {0.1, 0.15, 0.2, 1.};
  std::string         reference, output;
  Problem             problem;
  app.add_option("--nodes", n, "nodes a direction");
  app.add_option("--threads", problem.threads, "OpenMP threads of the vectors and of the right-hand side");
  app.add_option("--krylov", krylov, "basis vectors of SPGMR");
  app.add_option("--tolerance", tolerance, "relative and absolute tolerance");
  app.add_option("--times", times, "where figures are printed")->delimiter(',');
  app.add_option("--reference", reference, "print the difference from the fields REFERENCE_TIME.f64");
  app.add_option("--output", output, "write fields to OUTPUT_TIME.f64");
  app.add_flag("--blocks", blocks, "precondition with the nodes' 2 x 2 blocks");
  CLI11_PARSE(app, argc, argv);
  problem.grid.n       = {n, n, 1};
  problem.grid.spacing = {1. / (n - 1), 1. / (n - 1), 1.};
  try
    {
      SUNContext context;
      check(SUNContext_Create(nullptr, &context), "SUNContext_Create");
      const long size    = 2 * problem.grid.n_nodes();
      N_Vector   u       = N_VNew_OpenMP(size, problem.threads, context);
      const auto initial = pattern_benchmark::initial_values(problem.grid);
      std::copy(initial.begin(), initial.end(), N_VGetArrayPointer(u));
      void *cvode = CVodeCreate(CV_BDF, context);
      check(CVodeInit(cvode, right_hand_side, 0., u), "CVodeInit");
      check(CVodeSStolerances(cvode, tolerance, tolerance), "CVodeSStolerances");
      check(CVodeSetUserData(cvode, &problem), "CVodeSetUserData");
      check(CVodeSetMaxNumSteps(cvode, 10000000), "CVodeSetMaxNumSteps");
      SUNLinearSolver solver = SUNLinSol_SPGMR(u, blocks ? SUN_PREC_LEFT : SUN_PREC_NONE, krylov, context);
      check(CVodeSetLinearSolver(cvode, solver, nullptr), "CVodeSetLinearSolver");
      if (blocks)
        check(CVodeSetPreconditioner(cvode, set_up, precondition), "CVodeSetPreconditioner");
      double seconds = 0.;
      for (const double t_out : times)
        {
          double     t     = 0.;
          const auto start = std::chrono::steady_clock::now();
          check(CVodeSetStopTime(cvode, t_out), "CVodeSetStopTime");
          check(CVode(cvode, t_out, u, &t, CV_NORMAL), "CVode");
          seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
          long steps = 0, rates = 0, newton = 0, linear = 0, matvecs = 0;
          CVodeGetNumSteps(cvode, &steps);
          CVodeGetNumRhsEvals(cvode, &rates);
          CVodeGetNumNonlinSolvIters(cvode, &newton);
          CVodeGetNumLinIters(cvode, &linear);
          CVodeGetNumLinRhsEvals(cvode, &matvecs);
          std::printf("CVODE %s n %d tolerance %g t = %-6g steps %ld Newton %ld linear %ld rates %ld  %.3f s wall %.3f s cpu%s\n",
                      blocks ? "blocks" : "plain",
                      n,
                      tolerance,
                      t,
                      steps,
                      newton,
                      linear,
                      rates + matvecs,
                      seconds,
                      pattern_benchmark::cpu_seconds(),
                      pattern_benchmark::compare_and_write(N_VGetArrayPointer(u), size, t_out, reference, output).c_str());
          std::fflush(stdout);
        }
      CVodeFree(&cvode);
      SUNLinSolFree(solver);
      N_VDestroy(u);
      SUNContext_Free(&context);
    }
  catch (const std::exception &e)
    {
      std::fprintf(stderr, "error: %s\n", e.what());
      return 1;
    }
  return 0;
}
