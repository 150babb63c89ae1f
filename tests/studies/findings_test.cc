// SPDX-License-Identifier: Apache-2.0
// What the studies say of numbers that are given to them, and what the printed listings do.
#include <applications/studies/papers/copies.h>
#include <applications/studies/papers/judges.h>
#include <applications/studies/papers/plain_crs.h>
#include <applications/studies/papers/published.h>
#include <applications/studies/papers/sample_statistics.h>
#include <applications/studies/papers/storage_judge.h>
#include <applications/studies/papers/study.h>
#include <applications/studies/papers/variation.h>
#include <solvers/base/errors.h>
#include <solvers/device/device.h>
#include <solvers/matrix/generators.h>

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <sstream>

namespace
{
  using namespace leopard;
  using namespace leopard::studies;

  int count(const std::string &text, const std::string &words)
  {
    int n = 0;
    for (std::size_t at = text.find(words); at != std::string::npos; at = text.find(words, at + 1))
      ++n;
    return n;
  }

  /** max_i |x_i - y_i|. */
  double distance(const std::vector<double> &x, const std::vector<double> &y)
  {
    double result = 0.;
    for (std::size_t i = 0; i < x.size(); ++i)
      result = larger_or_nan(result, std::abs(x[i] - y[i]));
    return result;
  }

  std::string judged(const std::function<void(Report &)> &judge)
  {
    std::ostringstream out;
    Report             report(out, "");
    judge(report);
    report.finish();
    return out.str();
  }

  std::vector<double> after(Relaxation<double> &method, int n_iterations)
  {
    Experiment experiment(method, std::vector<double>(method.n_rows(), 1.));
    experiment.iterate(n_iterations);
    return experiment.x();
  }

  // fails if a listing makes k sweeps, takes frozen values (16, 17), or does not find the diagonal entry
  TEST(Printed_algorithms, make_one_sweep_more)
  {
    const CrsMatrix<double>   A = trefethen_matrix(300);
    const std::vector<double> b(300, 1.);
    const auto                async = [&](int k, TwoStage kind) {
      BlockAsyncOptions options;
      options.block_size       = 64;
      options.local_iterations = k;
      options.n_threads        = 1;
      options.two_stage        = kind;
      BlockAsync<double> method(A, options);
      return after(method, 1);
    };
    for (const int k : {0, 1, 5})
      {
        for (const FindsDiagonal finds : {FindsDiagonal::by_branch, FindsDiagonal::by_product})
          {
            const std::vector<double> x = after(*make_printed_crs(A, 64, k, finds, Backend::host, 1), 1);
            EXPECT_LT(distance(x, async(k + 1, TwoStage::total)), 1e-14) << k;
            EXPECT_GT(distance(x, async(k + 2, TwoStage::total)), 1e-9) << k;
            EXPECT_GT(distance(x, async(k + 1, TwoStage::automatic)), 1e-9) << k;
          }
        std::vector<double> x(300, 0.);
        iterate_algorithm_18(A, 64, k, x, b);
        EXPECT_LT(distance(x, async(k + 1, TwoStage::automatic)), 1e-14) << k;
        EXPECT_GT(distance(x, async(k + 2, TwoStage::automatic)), 1e-9) << k;
      }
    EXPECT_THROW(make_printed_crs(A, 64, -1, FindsDiagonal::by_branch, Backend::host, 1), InvalidInput);
  }

  // fails if a kernel makes a sweep less, does not find the diagonal entry, or leaves rows out
  TEST(Printed_algorithms, on_a_gpu_lie_between_frozen_values_and_the_solution)
  {
    if (device::n_devices() == 0)
      GTEST_SKIP() << "no GPU here";
    // B has no negative entry, so that iterates from 0 grow towards the solution, with newer values faster
    const CrsMatrix<double> A = seven_point_matrix(9, 7, 5, 0.1);
    for (const int block_size : {32, 128, 512}) // 512: one block
      for (const int k : {0, 1, 5})
        {
          BlockAsyncOptions options;
          options.backend          = Backend::reference;
          options.schedule         = Schedule::synchronous;
          options.block_size       = block_size;
          options.local_iterations = 1 + k;
          BlockAsync<double>        frozen(A, options);
          const std::vector<double> least = after(frozen, 3);
          options.schedule                = Schedule::replay;
          BlockAsync<double>        exact(A, options);
          const std::vector<double> most = after(exact, 3000);
          for (const FindsDiagonal finds : {FindsDiagonal::by_branch, FindsDiagonal::by_product})
            {
              const auto                printed = make_printed_crs(A, block_size, k, finds, Backend::cuda, 0);
              const std::vector<double> x       = after(*printed, 3);
              for (int i = 0; i < A.n_rows; ++i)
                {
                  EXPECT_GE(x[i], least[i] * (1. - 1e-12)) << block_size << ' ' << k << ' ' << i;
                  EXPECT_LE(x[i], most[i] * (1. + 1e-12)) << block_size << ' ' << k << ' ' << i;
                }
            }
        }
    EXPECT_THROW(make_printed_crs(A, 2048, 5, FindsDiagonal::by_branch, Backend::cuda, 0), InvalidInput);
  }

  // fails if a verdict does not look at its numbers
  TEST(Storage_findings, can_each_be_another_one)
  {
    const auto times = [](int k, const StorageTimes &t) { return judged([&](Report &report) { judge_storage(k, t, report); }); };
    EXPECT_EQ(count(times(1, {1., 0.4, 0., 6.}), ": holds: "), 2); // pays after 10 iterations
    EXPECT_EQ(count(times(1, {1., 0.6, 0., 6.}), "half the time of CRS for async-(1): does not hold"), 1);
    EXPECT_EQ(count(times(1, {1., 0.4, 0., 60.}), "at most 25 iterations of async-(1): does not hold"), 1);
    EXPECT_EQ(count(times(5, {1., 0.2, 0., 1.}), ": holds: "), 2);
    EXPECT_EQ(count(times(5, {1., 0.4, 0., 1.}), "at least): does not hold"), 1);
    EXPECT_EQ(count(times(5, {1., 0.2, 0., 10.}), "at most 4 iterations of async-(5): does not hold"), 1);
    EXPECT_EQ(count(times(5, {1., 2., 0., -10.}), ": does not hold: "), 2); // slower, so it never pays
    EXPECT_EQ(count(times(1, {1., 0.51, 0., 6.}), "half the time of CRS for async-(1): is not decided here"), 1);
    EXPECT_EQ(count(times(1, {1., 0.4, 0., 14.8}), "at most 25 iterations of async-(1): is not decided here"), 1);
    EXPECT_EQ(count(times(5, {1., 0.31, 0., 1.}), "at least): is not decided here"), 1);
    EXPECT_EQ(count(times(5, {NAN, NAN, NAN, NAN}), ": holds: "), 0);
    const auto sweeps = [](double of_k, double of_more) {
      return judged([&](Report &report) { judge_sweeps("Algorithm 16", 5, {of_k, of_more}, report); });
    };
    EXPECT_EQ(count(sweeps(1e-2, 1e-15), ": holds: "), 1);
    EXPECT_EQ(count(sweeps(1e-15, 1e-2), ": does not hold: "), 1);
    EXPECT_EQ(count(sweeps(1e-15, 1e-15), ": does not hold: "), 1); // a test that cannot tell them apart
    EXPECT_EQ(count(sweeps(NAN, NAN), ": does not hold: "), 1);
    const auto diagonal = [](bool on_gpu, double product) { return judged([&](Report &report) { judge_diagonal(5, on_gpu, 1., product, report); }); };
    EXPECT_EQ(count(diagonal(false, 3.), "not decided here: a statement on GPUs; on host threads Algorithm 17 takes 3.00 times as long"), 1);
    EXPECT_EQ(count(diagonal(true, 1.02), ": holds: "), 1);
    for (const double other : {0.8, 1.2, 3.})
      EXPECT_EQ(count(diagonal(true, other), ": does not hold: "), 1) << other;
    for (const double edge : {0.9, 1.12})
      EXPECT_EQ(count(diagonal(true, edge), "is not decided here"), 1) << edge;
    EXPECT_EQ(count(diagonal(true, NAN), ": holds: "), 0);
  }

  // fails if a verdict does not look at its numbers, or decides without GPUs
  TEST(Storage_findings, of_iterates_can_each_be_another_one)
  {
    const auto same = [](double thread, double block) { return judged([&](Report &report) { judge_iterates(5, thread, block, report); }); };
    EXPECT_EQ(count(same(1e-15, 1e-14), ": holds: "), 1);
    for (const double wrong : {1e-11, 1., double(NAN), double(INFINITY)}) // either of them
      EXPECT_EQ(count(same(wrong, 0.), ": does not hold: ") + count(same(0., wrong), ": does not hold: "), 2) << wrong;
    const auto printed = [](double apart) { return judged([&](Report &report) { judge_printed_iterates(apart, report); }); };
    EXPECT_EQ(count(printed(1e-15), ": holds: "), 1);
    for (const double wrong : {1e-11, double(NAN), double(INFINITY)})
      EXPECT_EQ(count(printed(wrong), ": does not hold: "), 1) << wrong;
  }

  /** fv1 as printed: the verdicts of what has stalled, of the rate afterwards, and of the costs. */
  OfRecovery recovered()
  {
    return {"fv1", "x", 120, 1e-2, 1e-2, 0.5, 0.5, {8., 19., 31.}, 1e-12, false};
  }

  std::string of_recovery(const std::function<void(OfRecovery &)> &change)
  {
    OfRecovery found = recovered();
    change(found);
    return judged([&](Report &report) { judge_recovery(found, report); });
  }

  /** The verdict of the one line with these words. */
  std::string verdict(const std::string &text, const std::string &words)
  {
    std::istringstream lines(text);
    std::string        found;
    for (std::string line; std::getline(lines, line);)
      if (line.find(words) != std::string::npos)
        for (const char *one : {": holds: ", ": does not hold: ", ": is not decided here: "})
          if (line.find(one) != std::string::npos)
            found += one;
    return found;
  }

  // fails if a verdict does not look at its numbers, is the other way around, or holds for what is no number
  TEST(Fault_findings, can_each_be_another_one)
  {
    const char *stalls = "the residual stalls", *returns = "the normal rate returns", *costs = "percent more (to 5 points)";
    const char *holds = ": holds: ", *not_so = ": does not hold: ", *open = ": is not decided here: ";
    EXPECT_EQ(count(of_recovery([](OfRecovery &) {}), holds), 3);
    for (const double end : {1e-7, 0.98e-2}) // far down, and still falling
      EXPECT_EQ(verdict(of_recovery([&](OfRecovery &f) { f.end = end; }), stalls), not_so) << end;
    for (const double late : {0.47, 0.52, 1., 1.1})
      EXPECT_EQ(verdict(of_recovery([&](OfRecovery &f) { f.late = late; }), returns), not_so) << late;
    EXPECT_EQ(verdict(of_recovery([&](OfRecovery &f) { f.late = 0.505; }), returns), holds);
    for (int i = 0; i < 3; ++i)
      for (const double by : {-6., 6.})
        EXPECT_EQ(verdict(of_recovery([&](OfRecovery &f) { f.extra[i] += by; }), costs), not_so) << i;
    for (const double none : {double(NAN), double(INFINITY)})
      {
        EXPECT_EQ(verdict(of_recovery([&](OfRecovery &f) { f.end = none; }), stalls), open);
        EXPECT_EQ(verdict(of_recovery([&](OfRecovery &f) { f.half = none; }), stalls), open);
        EXPECT_EQ(verdict(of_recovery([&](OfRecovery &f) { f.free = none; }), returns), open);
        EXPECT_EQ(verdict(of_recovery([&](OfRecovery &f) { f.extra[2] = none; }), costs), open);
      }
    const std::string early = of_recovery([](OfRecovery &f) { f.was_over = true; });
    EXPECT_EQ(verdict(early, returns), open);
    EXPECT_EQ(verdict(early, costs), open);
    EXPECT_EQ(verdict(of_recovery([](OfRecovery &f) { f.matrix = "mine"; }), costs), ""); // nothing is printed of it
  }

  TEST(Fault_findings, of_silent_errors_can_each_be_another_one)
  {
    const auto of = [](int runs, int alarms, int delayed, int found, double spread) {
      return verdict(judged([&](Report &report) { judge_detection({"fv1", runs, alarms, delayed, found, spread}, report); }), "an unexpected delay");
    };
    EXPECT_EQ(of(200, 1, 100, 96, 0.1), ": holds: ");
    EXPECT_EQ(of(200, 3, 100, 96, 0.1), ": does not hold: "); // false alarms
    EXPECT_EQ(of(200, 0, 100, 94, 0.1), ": does not hold: "); // not found
    EXPECT_EQ(of(200, 0, 100, 94, 0.), ": does not hold: ");
    EXPECT_EQ(of(200, 0, 100, 96, 0.), ": is not decided here: "); // equal runs cannot raise an alarm
    EXPECT_EQ(of(200, 0, 100, 96, NAN), ": is not decided here: ");
    EXPECT_EQ(of(200, 0, 0, 0, 0.1), ": is not decided here: ");
    EXPECT_EQ(of(0, 0, 0, 0, 0.1), ": is not decided here: ");
  }

  TEST(Copies_findings, can_each_be_another_one)
  {
    const auto copies = [](double to, double from, double between) {
      return judged([&](Report &report) { judge_copies({16., {to, to}, {from, from}, {{1e3, between}, {between, 1e3}}}, report); });
    };
    EXPECT_EQ(count(copies(5., 6., 4.), ": holds: "), 2);
    EXPECT_EQ(count(copies(6., 5., 4.), "gets it back, on each: does not hold"), 1);
    EXPECT_EQ(count(copies(5., 6., 5.5), "slower than with the host: does not hold"), 1);
    EXPECT_EQ(count(copies(NAN, 6., 4.), ": holds: "), 0);
    EXPECT_EQ(count(copies(5., 6., NAN), "slower than with the host: is not decided here"), 1);
    EXPECT_EQ(count(copies(5.9, 6., 4.), "gets it back, on each: is not decided here"), 1);
    EXPECT_EQ(count(copies(5., 6., 4.9), "slower than with the host: is not decided here"), 1);
    EXPECT_EQ(count(judged([](Report &report) { judge_copies({16., {}, {}, {}}, report); }), ": is not decided here: "), 3);
    EXPECT_EQ(count(judged([](Report &report) { judge_copies({16., {5.}, {6.}, {{1e3}}}, report); }), "there is one GPU"), 1);
  }

  // fails if equal runs decide, or the wrong side is compared
  TEST(Variation_findings, can_each_be_another_one)
  {
    const auto spreads = [](double weak, double strong) {
      return judged([&](Report &report) { judge_spreads("x", {"fv1", weak}, {"trefethen", strong}, report); });
    };
    EXPECT_EQ(count(spreads(1e-3, 0.2), "trefethen varies more than fv1: holds"), 1);
    EXPECT_EQ(count(spreads(0.2, 1e-3), "trefethen varies more than fv1: does not hold"), 1);
    EXPECT_EQ(count(spreads(0.2, 0.3), "is not decided here: up to 3.00e-01 and 2.00e-01"), 1);
    EXPECT_EQ(count(spreads(0.3, 0.2), "is not decided here: up to 2.00e-01 and 3.00e-01"), 1);
    EXPECT_EQ(count(spreads(0., 0.), "is not decided here: no variation on this machine"), 1);
    EXPECT_EQ(count(spreads(NAN, 0.2), ": holds: "), 0);
  }

  // fails if a verdict does not look at its numbers, or NaN holds
  TEST(Variation_findings, of_the_tables_can_each_be_another_one)
  {
    const auto tables = [](const char *matrix, const Varied &found) {
      return judged([&](Report &report) { judge_variation(matrix, "x", found, report); });
    };
    std::vector<double> printed;
    for (std::size_t i = 0; i < 4; ++i)
      printed.push_back(published::variation("trefethen")[i].maximum);
    const Varied fv1{0.7784, 0.78, 6e-4, 1e-4, 6e-4, "chaotic", {}}, trefethen{0.4021, 0.4, 0.2, 0.1, 0.2, "chaotic", printed};
    const auto   with = [&](const char *matrix, double Varied::*which, double value) {
      Varied found = std::string(matrix) == "fv1" ? fv1 : trefethen;
      found.*which = value;
      return tables(matrix, found);
    };
    EXPECT_EQ(count(tables("fv1", fv1), ": holds: "), 2) << tables("fv1", fv1);
    EXPECT_EQ(count(tables("trefethen", trefethen), ": holds: "), 3) << tables("trefethen", trefethen);
    EXPECT_EQ(count(with("fv1", &Varied::factor, 0.9), "(to 2 percent): does not hold"), 1);
    EXPECT_EQ(count(with("fv1", &Varied::largest, 2e-3), "6.9e-4): does not hold"), 1);
    EXPECT_EQ(count(with("fv1", &Varied::largest, 0.), "6.9e-4): is not decided here: no variation"), 1);
    EXPECT_EQ(count(with("trefethen", &Varied::factor, 0.6), "(to 2 percent): does not hold"), 1);
    for (const double first : {0.04, 0.21})
      EXPECT_EQ(count(with("trefethen", &Varied::first, first), "a factor of 2): does not hold"), 1) << first;
    for (const double last : {0.09, 0.41})
      EXPECT_EQ(count(with("trefethen", &Varied::last, last), "a factor of 2): does not hold"), 1) << last;
    Varied other = trefethen;
    other.synchronous[3] *= 1.001;
    EXPECT_EQ(count(tables("trefethen", other), "(to 1e-4): does not hold"), 1);
    other.synchronous[3] = NAN;
    EXPECT_EQ(count(tables("trefethen", other), "(to 1e-4): does not hold"), 1);
    for (const char *matrix : {"fv1", "trefethen"})
      EXPECT_EQ(count(tables(matrix, {NAN, NAN, NAN, NAN, NAN, "chaotic", {NAN}}), ": holds: "), 0);
    EXPECT_EQ(tables("fv3", fv1), "");
  }

  // fails if a verdict does not look at all of its numbers, or NaN holds
  TEST(Mesh_findings, of_lines_can_each_be_another_one)
  {
    const auto lines = [](const std::map<int, double> &after) { return judged([&](Report &report) { judge_lines(32, after, report); }); };
    EXPECT_EQ(count(lines({{32, 0.1}, {127, 0.02}, {128, 0.01}, {129, 0.02}, {132, 0.03}, {192, 1e-3}}), ": holds: "), 2);
    EXPECT_EQ(count(lines({{32, 0.1}, {127, 0.009}, {128, 0.01}, {129, 0.02}}), "smaller ones: does not hold"), 1);
    EXPECT_EQ(count(lines({{32, 0.009}, {127, 0.02}, {128, 0.01}, {129, 0.02}}), "smaller ones: does not hold"), 1);
    EXPECT_EQ(count(lines({{32, 0.1}, {127, 0.02}, {128, 0.01}, {129, 0.02}, {132, 0.009}}), "rows more: does not hold"), 1);
    EXPECT_EQ(count(lines({{32, 0.1}, {127, NAN}, {128, 0.01}, {129, NAN}}), ": holds: "), 0);
    EXPECT_EQ(count(lines({{32, 0.1}, {127, 0.02}, {128, NAN}, {129, 0.02}}), ": is not decided here: "), 2);
    EXPECT_EQ(count(lines({{32, 0.1}, {127, 0.02}, {128, 1e-14}, {129, 0.02}}), ": is not decided here: "), 2);
    const auto shapes = [](double two, double half, double more) {
      return count(judged([&](Report &report) { judge_shapes("Laplace: ", {two, half, more}, "", report); }), ": holds: ");
    };
    EXPECT_EQ(shapes(10., 11., 12.), 1);
    EXPECT_EQ(shapes(10., 9., 12.) + shapes(10., 11., 9.) + shapes(NAN, 11., 12.) + shapes(10., NAN, 12.) + shapes(10., 11., NAN) +
                shapes(INFINITY, INFINITY, INFINITY),
              0);
  }

  // fails if one of the matrices, or of the omegas, does not count
  TEST(Weights_findings, of_large_omegas_can_be_another_one)
  {
    const auto of = [](const std::map<std::string, std::vector<int>> &converging) {
      std::map<std::string, std::vector<Reached>> async;
      for (const auto &[name, which] : converging)
        {
          async[name].resize(6);
          for (const int i : which)
            async[name][i].converged = true;
        }
      return judged([&](Report &report) { judge_large_omegas(async, report); });
    };
    EXPECT_EQ(count(of({{"a", {0, 1}}, {"b", {0}}}), ": holds: "), 1);
    EXPECT_EQ(count(of({{"a", {0, 4}}, {"b", {0}}}), ": does not hold: measured convergence of a with 1.4"), 1);
    EXPECT_EQ(count(of({{"a", {0}}, {"b", {0, 5}}}), ": does not hold: measured convergence of b with 1.5"), 1);
    EXPECT_EQ(count(of({{"a", {0}}, {"b", {}}}), ": holds: "), 1);
    EXPECT_EQ(count(of({{"a", {}}, {"b", {}}}), ": is not decided here: "), 1);
    EXPECT_EQ(count(of({}), ": is not decided here: "), 1);
  }

  TEST(Overlap_findings, of_the_matrix_can_be_another_one)
  {
    const auto lap = [](int side, long long rows, long long entries) {
      return judged([&](Report &report) { judge_lap(side, rows, entries, report); });
    };
    EXPECT_EQ(count(lap(64, 262144, 3560572), ": holds: "), 1);
    EXPECT_EQ(count(lap(64, 262145, 3560572), ": does not hold: "), 1);
    EXPECT_EQ(count(lap(64, 262144, 3560571), ": does not hold: "), 1);
    EXPECT_EQ(count(lap(24, 262144, 3560572), ": is not decided here: "), 1);
  }
} // namespace
