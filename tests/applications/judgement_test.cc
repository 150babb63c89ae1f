// SPDX-License-Identifier: Apache-2.0
// What is said of a linear solver that has missed its goal, and which one is chosen.
#include <applications/linear_solvers/choose_method.h>
#include <applications/linear_solvers/judgement.h>
#include <applications/linear_solvers/linear_solver.h>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace leopard
{
  namespace
  {
    std::vector<double> falling(double factor, int n, double disturbance = 0.)
    {
      std::vector<double> residuals;
      for (int i = 0; i <= n; ++i)
        residuals.push_back(std::pow(factor, i) * (1. + (i % 3 == 1 ? disturbance : 0.)));
      return residuals;
    }

    Progress progress(const std::vector<double> &residuals, double goal, double between = 1.)
    {
      return {static_cast<int>((residuals.size() - 1) * between), residuals.front(), residuals.back(), goal, recent_rate(residuals, between), false};
    }

    TEST(Judgement, RateIsThatOfTheLastIterations)
    {
      EXPECT_NEAR(recent_rate(falling(0.99, 1000)), 0.99, 1e-10);
      EXPECT_NEAR(recent_rate(falling(0.99, 1000, 5.)), 0.99, 1e-3) << "single residuals that grow do not count";
      EXPECT_NEAR(recent_rate(falling(0.9, 100), 10.), std::pow(0.9, 0.1), 1e-10) << "a residual for each tenth iteration";
      EXPECT_NEAR(recent_rate(falling(0.5, 4)), 0.5, 1e-10);
      std::vector<double> slows_down = falling(0.5, 20);
      while (slows_down.size() < 400)
        slows_down.push_back(0.999 * slows_down.back());
      EXPECT_NEAR(recent_rate(slows_down), 0.999, 1e-10);
      EXPECT_EQ(recent_rate({1.}), 0.);
      EXPECT_EQ(recent_rate({1., NAN}), 0.);
    }

    TEST(Judgement, SlowStagnatingAndDivergingAreToldFromOneAnother)
    {
      const Progress slow = progress(falling(0.999, 1000), 1e-8);
      EXPECT_EQ(judge(slow), Verdict::slow);
      EXPECT_NEAR(missing_iterations(slow), std::log(1e-8) / std::log(0.999) - 1000., 5.);
      EXPECT_EQ(judgement(slow), "it is slow: about 18000 more iterations at the rate of the last ones");
      const Progress near = progress(falling(0.99, 1800), 1e-8);
      EXPECT_EQ(judgement(near), "it is nearly there: about 33 more iterations at the rate of the last ones");

      std::vector<double> flat = falling(0.5, 40);
      for (int i = 0; i < 400; ++i)
        flat.push_back(flat[40] * (1. + 0.1 * std::sin(i)));
      EXPECT_EQ(judge(progress(flat, 1e-15)), Verdict::stagnating);
      EXPECT_NE(judgement(progress(flat, 1e-15)).find("stagnates at 9"), std::string::npos) << judgement(progress(flat, 1e-15));
      EXPECT_NE(judgement(progress(flat, 1e-15)).find("rounding errors"), std::string::npos);
      Progress told  = slow;
      told.stagnated = true;
      EXPECT_EQ(judge(told), Verdict::stagnating);

      EXPECT_EQ(judge(progress(falling(1.5, 100), 1e-8)), Verdict::diverging);
      Progress no_number = slow;
      for (const double last : {NAN, INFINITY})
        {
          no_number.last = last;
          EXPECT_EQ(judge(no_number), Verdict::diverging);
        }
      no_number      = slow;
      no_number.rate = NAN;
      EXPECT_NE(judge(no_number), Verdict::slow);
      no_number.rate = 0.;
      EXPECT_NE(judge(no_number), Verdict::slow);
    }

    TEST(Judgement, AdvisesWhatSuitsAndIsNotTakenAlready)
    {
      LinearSolverParameters parameters;
      parameters.method         = "jacobi";
      parameters.omega          = 1.2;
      parameters.suited         = {"cg", "multigrid", "it suits"};
      const Progress    slow    = progress(falling(0.999, 1000), 1e-8);
      const std::string of_slow = advice(slow, parameters);
      EXPECT_EQ(of_slow.rfind("'Linear solver/Method' = cg with 'Preconditioner' = multigrid", 0), 0u) << of_slow;
      EXPECT_NE(of_slow.find("'Linear solver/Omega' = 1"), std::string::npos);
      EXPECT_NE(of_slow.find("if you can wait"), std::string::npos);
      const Progress near = progress(falling(0.99, 1800), 1e-8);
      EXPECT_EQ(advice(near, parameters).rfind("a larger 'Linear solver/Max iterations'", 0), 0u);
      parameters.method         = "cg";
      parameters.preconditioner = "multigrid";
      EXPECT_EQ(advice(slow, parameters).find("multigrid"), std::string::npos);
      EXPECT_NE(advice(slow, parameters).find("'Preconditioner' = amg"), std::string::npos);
      LinearSolverParameters on_gpu = parameters;
      on_gpu.backend                = "cuda";
      on_gpu.preconditioner         = "aggregation";
      on_gpu.suited                 = {"cg", "aggregation", ""};
      EXPECT_NE(advice(slow, on_gpu).find("'Linear solver/Backend' = host, with 'Preconditioner' = amg"), std::string::npos);
      Progress rounding  = slow;
      rounding.last      = 1e-14;
      rounding.stagnated = true;
      EXPECT_EQ(advice(rounding, parameters).rfind("a larger 'Linear solver/Relative tolerance'", 0), 0u);
    }

    TEST(Advice, OfTauThatDiverges)
    {
      LinearSolverParameters parameters;
      parameters.method            = "async";
      const Progress    diverging  = progress(falling(1.5, 100), 1e-8);
      const std::string plain      = "'Linear solver/Schedule' = synchronous with 'Local iterations' = 1";
      const auto        is_advised = [&] { return advice(diverging, parameters).find(plain) != std::string::npos; };
      EXPECT_FALSE(is_advised());
      parameters.omega_is_tau = true;
      EXPECT_TRUE(is_advised());
      parameters.block_async.schedule         = Schedule::synchronous;
      parameters.block_async.local_iterations = 1;
      EXPECT_FALSE(is_advised());
      parameters.block_async.schedule = Schedule::chaotic;
      EXPECT_TRUE(is_advised());
      parameters.method = "jacobi";
      EXPECT_FALSE(is_advised());
    }

    TEST(Advice, OfCgThatMetNegativeCurvature)
    {
      LinearSolverParameters parameters;
      parameters.method           = "cg";
      parameters.suited           = {"cg", "multigrid", ""}; // as if the matrix were definite
      Progress progress           = {100, 1., 0.5, 1e-8, 1.};
      progress.negative_curvature = true;
      EXPECT_NE(judgement(progress).find("has met negative curvature: the matrix is not positive definite"), std::string::npos);
      const std::string text = advice(progress, parameters);
      EXPECT_EQ(text.rfind("'Linear solver/Method' = gmres with 'Preconditioner' = amg", 0), 0u) << text;
      EXPECT_EQ(text.find("= cg"), std::string::npos) << text;
      EXPECT_NE(text.find("'Linear solver/Method' = direct"), std::string::npos) << text;
      progress.negative_curvature = false;
      EXPECT_NE(advice(progress, parameters).find("= cg with 'Preconditioner' = multigrid"), std::string::npos);
    }

    TEST(ChooseMethod, TakesTheFirstRowThatApplies)
    {
      const auto name = [](const SolverTask &task) { return choose_method(task).name(); };
      SolverTask linear;
      linear.n_unknowns = 1e4;
      EXPECT_EQ(name(linear), "cg with the preconditioner amg");
      linear.has_levels = true;
      EXPECT_EQ(name(linear), "cg with the preconditioner amg");
      linear.has_even_levels = true;
      EXPECT_EQ(name(linear), "cg with the preconditioner multigrid");
      linear.preconditioner = "ssor";
      EXPECT_EQ(name(linear), "cg with the preconditioner ssor");
      SolverTask device;
      device.backend = "cuda"; // where amg does not run
      EXPECT_EQ(name(device), "cg with the preconditioner aggregation");
      device.has_newton = true;
      EXPECT_EQ(name(device), "gmres with the preconditioner aggregation");
      device.has_newton = false;
      device.has_levels = true;
      EXPECT_EQ(name(device), "cg with the preconditioner multigrid");
      SolverTask singular;
      singular.is_singular = true;
      EXPECT_EQ(name(singular), "cg with the preconditioner aggregation");
      singular.has_levels = true;
      EXPECT_EQ(name(singular), "cg with the preconditioner multigrid");
      singular.is_of_file = true; // perhaps of triangles
      EXPECT_EQ(name(singular), "cg with the preconditioner aggregation");
      SolverTask newton;
      newton.has_newton      = true;
      newton.has_even_levels = newton.has_levels = true;
      EXPECT_EQ(name(newton), "gmres with the preconditioner multigrid");
      newton.may_be_indefinite = true;
      newton.n_unknowns        = 1e4;
      EXPECT_EQ(name(newton), "direct");
      newton.dimension = 3;
      EXPECT_EQ(name(newton), "gmres with the preconditioner amg"); // factors of a body are large
      newton.dimension  = 2;
      newton.n_unknowns = 1e6;
      EXPECT_EQ(name(newton), "gmres with the preconditioner amg");
      newton.fixed_iterations = true;
      EXPECT_EQ(name(newton), "async");
      SolverTask step;
      step.in_time = true;
      EXPECT_EQ(name(step), "cg with the preconditioner chebyshev");
      step.has_newton = true;
      EXPECT_EQ(name(step), "gmres with the preconditioner async");
      step.long_steps = true;
      step.n_unknowns = 2e3;
      EXPECT_EQ(name(step), "direct"); // relaxations stagnate on long steps
      step.n_unknowns = 3e3;
      EXPECT_EQ(name(step), "gmres with the preconditioner amg");
      step.backend = "cuda";
      EXPECT_EQ(name(step), "gmres with the preconditioner aggregation");
      step.backend         = "automatic";
      step.consistent_mass = true; // with which relaxations diverge
      EXPECT_EQ(name(step), "gmres with the preconditioner amg");
      step.long_steps = false;
      EXPECT_EQ(name(step), "gmres with the preconditioner ssor");
      step.consistent_mass = false;
      step.follows_bound   = true;
      EXPECT_EQ(name(step), "async");
    }

    /** Where amg is above, and the backend is left to the program. */
    TEST(ChooseMethod, TakesTheGpuForLargeSystemsWhereThereIsOne)
    {
      const auto chosen = [](const SolverTask &task) { return choose_method(task); };
      SolverTask jumps;
      jumps.has_levels = true;
      jumps.has_gpu    = true;
      jumps.n_unknowns = least_unknowns_on_gpu;
      EXPECT_EQ(chosen(jumps).name(), "cg with the preconditioner aggregation");
      EXPECT_NE(chosen(jumps).reason.find("; on the GPU, where from 150000 unknowns on"), std::string::npos) << chosen(jumps).reason;
      EXPECT_TRUE(asks_for_gpu(jumps));
      jumps.n_unknowns = least_unknowns_on_gpu - 1.;
      EXPECT_EQ(chosen(jumps).name(), "cg with the preconditioner amg");
      EXPECT_NE(chosen(jumps).reason.find("; on the host, which is faster"), std::string::npos) << chosen(jumps).reason;
      jumps.n_unknowns = 0.; // of an adaptive mesh
      EXPECT_EQ(chosen(jumps).name(), "cg with the preconditioner amg");
      EXPECT_NE(chosen(jumps).reason.find("it is not known"), std::string::npos) << chosen(jumps).reason;

      SolverTask step;
      step.in_time = step.has_newton = step.long_steps = step.has_gpu = true;
      step.n_unknowns                                                 = 1e6;
      EXPECT_EQ(chosen(step).name(), "gmres with the preconditioner aggregation");

      jumps.n_unknowns = 1e6;
      for (const char *asked_for : {"host", "reference"})
        {
          jumps.backend = asked_for;
          EXPECT_EQ(chosen(jumps).name(), "cg with the preconditioner amg") << asked_for;
          EXPECT_EQ(chosen(jumps).reason.find("GPU"), std::string::npos) << chosen(jumps).reason;
          EXPECT_FALSE(asks_for_gpu(jumps)) << asked_for;
        }
      jumps.backend           = "automatic";
      jumps.may_be_indefinite = true; // not measured
      EXPECT_EQ(chosen(jumps).name(), "cg with the preconditioner amg");
      jumps.may_be_indefinite = false;
      jumps.has_even_levels   = true;
      EXPECT_EQ(chosen(jumps).name(), "cg with the preconditioner multigrid");
      EXPECT_FALSE(asks_for_gpu(jumps)); // which takes a tenth of a second
      jumps.has_even_levels = false;
      jumps.preconditioner  = "amg";
      EXPECT_EQ(chosen(jumps).name(), "cg with the preconditioner amg");
    }

    TEST(ChooseMethod, WhatAGpuCannotSmoothStaysWithTheHost)
    {
      SolverTask jumps;
      jumps.has_levels = jumps.has_gpu = true;
      jumps.n_unknowns                 = 1e6;
      const auto chosen                = [&jumps](const std::string &smoother) {
        LinearSolverParameters parameters;
        parameters.multigrid.options.smoother.method = smoother;
        parameters.multigrid.chooses_smoother        = smoother.empty();
        parameters.choose(jumps);
        return parameters;
      };
      EXPECT_EQ(chosen("").preconditioner, "aggregation");
      EXPECT_EQ(chosen("").suited.preconditioner, "aggregation");
      EXPECT_EQ(chosen("chebyshev").preconditioner, "aggregation");
      const LinearSolverParameters on_host = chosen("gauss-seidel");
      EXPECT_EQ(on_host.preconditioner, "amg");
      EXPECT_EQ(on_host.suited.preconditioner, "amg");
      EXPECT_NE(on_host.why.find("; not on the GPU, as the smoother gauss-seidel runs on the host"), std::string::npos) << on_host.why;
    }
  } // namespace
} // namespace leopard
