// SPDX-License-Identifier: Apache-2.0
// What the studies say of numbers that are right, wrong, near a limit, or none. Each test fails if a verdict does not
// look at its numbers, is the other way around, or holds for NaN.
#include "said.h"

#include <applications/studies/papers/judges.h>

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <sstream>

namespace
{
  using namespace leopard;
  using namespace leopard::studies;

  TEST(Times, within_5_percent_of_a_limit_decide_nothing)
  {
    const auto of = [](const std::vector<double> &ratios, const std::string &why_not = "") {
      return Said([&](Report &report) { report.decide_times("T", "fast", {0.5, 2.}, ratios, "x", why_not); }).of("fast");
    };
    for (const double good : {0.53, 1., 1.89})
      EXPECT_EQ(of({good}), holds) << good;
    for (const double bad : {0., -1., 0.47, 2.11, 1e9})
      EXPECT_EQ(of({bad}), not_so) << bad;
    for (const double near : {0.48, 0.5, 0.52, 1.91, 2., 2.09})
      EXPECT_EQ(of({near}), open) << near;
    EXPECT_EQ(of({1., 2.01}), open);
    EXPECT_EQ(of({2.01, 2.11}), not_so); // one that is clearly outside is enough
    EXPECT_EQ(of({1., 1.1}), holds);
    EXPECT_EQ(of({1., NAN}), open);
    EXPECT_EQ(of({NAN, 1.}), open);
    EXPECT_EQ(of({INFINITY}), open);
    EXPECT_EQ(of({}), open);
    EXPECT_EQ(of({1.}, "no GPU"), open);
    EXPECT_NE(
      Said([](Report &report) { report.decide_times("T", "fast", {1.}, {1.02}, "a ratio"); }).text.find("within 5 percent of 1: nothing is decided"),
      std::string::npos);
  }

  /** Microseconds an iteration, residuals, and seconds to the solution that the papers' claims fit. */
  std::map<std::string, std::array<double, 3>> good_exchanges()
  {
    return {{"amc 1", {110., 1e-4, 2.}},
            {"amc 2", {55., 1.1e-4, 1.}},
            {"amc 3", {66., 1e-4, 1.}},
            {"amc 4", {37., 1e-4, 1.}},
            {"dc 1", {100., 1e-4, 1.}},
            {"dc 2", {94.7, 1e-4, 0.9}},
            {"dk 1", {100., 1e-4, 1.}},
            {"dk 2", {94.7, 1e-3, 0.9}}};
  }

  /** @param apart what the runs' residuals are multiplied by, one after the other. */
  Said judged(const std::map<std::string, std::array<double, 3>> &of, int n_gpus = 4, const std::vector<double> &apart = {1.})
  {
    std::vector<ExchangeRow> rows;
    for (const auto &[name, numbers] : of)
      {
        rows.push_back({name.substr(0, 2) == "am"   ? GpuExchange::amc
                        : name.substr(0, 2) == "dc" ? GpuExchange::dc
                                                    : GpuExchange::dk,
                        name.back() - '0',
                        1e-6 * numbers[0],
                        numbers[2],
                        {}});
        for (const double factor : apart)
          rows.back().residuals.push_back(factor * numbers[1]);
      }
    return Said([&](Report &report) { judge_exchanges("A", n_gpus, rows, report); });
  }

  TEST(Gpus_findings, can_each_be_another_one)
  {
    EXPECT_EQ(judged(good_exchanges()).n_holding(), 12) << judged(good_exchanges()).text;
    struct Wrong
    {
      const char *row;
      int         which;
      double      value;
      const char *claim, *verdict;
    };
    for (const Wrong &w : {Wrong{"amc 1", 0, 282., "a little faster", not_so}, // 2.82 times, as once confirmed
                           Wrong{"amc 1", 0, 90., "a little faster", not_so},
                           Wrong{"amc 1", 0, 102., "a little faster", open},
                           Wrong{"amc 2", 0, 80., "AMC on two GPUs is about twice", not_so},
                           Wrong{"amc 2", 0, 40., "AMC on two GPUs is about twice", not_so},
                           Wrong{"amc 3", 0, 55., "AMC on three", not_so},
                           Wrong{"amc 3", 0, 80., "AMC on three", not_so},
                           Wrong{"amc 4", 0, 60., "AMC on four", not_so},
                           Wrong{"amc 4", 0, 20., "AMC on four", not_so},
                           Wrong{"amc 2", 1, 1e-2, "AMC converges nearly the same", not_so},
                           Wrong{"amc 2", 1, 5.5e-5, "AMC converges nearly the same", not_so}, // 1.065 times the digits, as once confirmed
                           Wrong{"amc 2", 1, 1.7e-4, "AMC converges nearly the same", not_so},
                           Wrong{"dc 2", 0, 110., "DC on two GPUs takes less", not_so},
                           Wrong{"dc 2", 0, 80., "DC on two GPUs takes less", not_so},
                           Wrong{"dc 2", 1, 1e-2, "DC converges the same", not_so},
                           Wrong{"dk 2", 0, 110., "DK on two GPUs takes less", not_so},
                           Wrong{"dk 2", 1, 1e-6, "DK converges slower", not_so},
                           Wrong{"dk 2", 1, 1.3e-4, "DK converges slower", not_so},        // by 3 percent
                           Wrong{"amc 2", 1, 2., "AMC converges nearly the same", not_so}, // it diverges
                           Wrong{"amc 1", 1, 1.5, "AMC converges nearly the same", open},
                           Wrong{"amc 2", 2, 1.5, "AMC takes almost half", not_so},
                           Wrong{"amc 2", 2, 0.5, "AMC takes almost half", not_so},
                           Wrong{"amc 2", 2, 1.22, "AMC takes almost half", open},
                           Wrong{"dc 2", 2, 1.2, "DC takes a little less", not_so},
                           Wrong{"dk 2", 2, 0.5, "DK takes a little less", not_so},
                           Wrong{"dk 2", 2, 0.98, "DK takes a little less", open}})
      {
        auto rows                  = good_exchanges();
        rows.at(w.row).at(w.which) = w.value;
        EXPECT_EQ(judged(rows).of(w.claim), w.verdict) << w.row << " " << w.value;
      }
    auto none = good_exchanges();
    for (auto &[name, numbers] : none)
      numbers = {NAN, NAN, NAN};
    EXPECT_EQ(judged(none).n_holding(), 0);
    EXPECT_EQ(judged({}).count(open), 12);
    EXPECT_EQ(judged(good_exchanges(), 4, {}).n_holding(), 9); // no runs, no residuals
    for (const char *claim : {"AMC converges nearly the same", "DC converges the same"})
      {
        EXPECT_EQ(judged(good_exchanges(), 4, {0.95, 1., 1.05}).of(claim), holds);
        EXPECT_EQ(judged(good_exchanges(), 4, {0.5, 1., 2.}).of(claim), open) << claim; // single runs say the contrary
        EXPECT_EQ(judged(good_exchanges(), 4, {1., 1., NAN}).of(claim), open) << claim;
      }
    const Said one = judged(good_exchanges(), 1);
    EXPECT_EQ(one.of("a little faster"), holds);
    EXPECT_EQ(one.count("this machine has 1 GPU\n"), 11);
  }

  TEST(Gpus_findings, of_a_slowed_one)
  {
    const auto of = [](double slow_down, double waiting, double free) {
      return Said([&](Report &report) { judge_slowed("A", {slow_down, waiting, free}, report); }).of("1.3 times as fast");
    };
    EXPECT_EQ(of(2., 2., 1.), holds);
    EXPECT_EQ(of(2., 1.2, 1.), not_so);
    EXPECT_EQ(of(2., 1.31, 1.), open);
    EXPECT_EQ(of(1.4, 2., 1.), open); // nothing was taken that is needed
    EXPECT_EQ(of(NAN, 2., 1.), open);
    EXPECT_EQ(of(2., NAN, 1.), open);
    EXPECT_EQ(of(2., 2., NAN), open);
  }

  TEST(Local_iterations_findings, can_each_be_another_one)
  {
    const LocalIterations good{0.99, 1.2, 0.99, 0.9606, 1e-5, 1.5e-5}; // 4.0 times fewer
    const auto            with = [&](double LocalIterations::*which, double value) {
      LocalIterations found = good;
      found.*which          = value;
      return Said([&](Report &report) { judge_local_iterations(found, report); });
    };
    EXPECT_EQ(with(&LocalIterations::second, 0.99).n_holding(), 4) << with(&LocalIterations::second, 0.99).text;
    EXPECT_EQ(with(&LocalIterations::second, 1.2).of("second local iteration"), not_so);
    EXPECT_EQ(with(&LocalIterations::second, 1.051).of("second local iteration"), open); // 5.1 percent, as once refuted
    EXPECT_EQ(with(&LocalIterations::ninth, 1.5).of("nine local iterations"), not_so);
    EXPECT_EQ(with(&LocalIterations::ninth, 1.37).of("nine local iterations"), open);
    EXPECT_EQ(with(&LocalIterations::factor_five, 0.95).of("at most 4 times fewer"), not_so);
    EXPECT_EQ(with(&LocalIterations::factor_five, 1.1).of("at most 4 times fewer"), not_so); // it diverges
    EXPECT_EQ(with(&LocalIterations::seconds_five, 5e-5).of("local iterations pay"), not_so);
    EXPECT_EQ(with(&LocalIterations::seconds_five, 4e-5).of("local iterations pay"), open);
    for (double LocalIterations::*seconds : {&LocalIterations::seconds_one, &LocalIterations::seconds_five})
      for (const double lost_in_noise : {-1e-6, 0.})
        EXPECT_EQ(with(seconds, lost_in_noise).of("local iterations pay"), open);
    EXPECT_EQ(Said([](Report &report) { judge_local_iterations({NAN, NAN, NAN, NAN, NAN, NAN}, report); }).n_holding(), 0);
    for (double LocalIterations::*which : {&LocalIterations::factor_one, &LocalIterations::factor_five})
      EXPECT_EQ(with(which, NAN).n_holding(), 2);
  }

  TEST(Overlap_findings, can_each_be_another_one)
  {
    const auto work = [](const OfOverlaps &o, const char *unlike = "") { return Said([&](Report &report) { judge_work(o, unlike, report); }); };
    EXPECT_EQ(work({1., 6.7, 3.3, 3.3}).n_holding(), 2);
    EXPECT_EQ(work({1., 6.9, 3.3, 3.3}).of("is 6.68 times"), not_so);
    EXPECT_EQ(work({1., 6.7, 3.3, 3.84}).of("is 3.34 times"), not_so);
    EXPECT_EQ(work({NAN, NAN, NAN, NAN}).n_holding(), 0);
    EXPECT_EQ(work({1., 6.7, 3.3, 3.3}, "another size").count(open), 2);

    // none, uniform, top-down, bottom-up
    const OfOverlaps ordered{0.1, 0.3, 0.15, 0.29}, random{0.08, 0.25, 0.2, 0.19};
    const auto       orders = [](const OfOverlaps &o, const OfOverlaps &r) { return Said([&](Report &report) { judge_orders(o, r, report); }); };
    const char      *both = "overlap makes both orders faster", *as_good = "bottom-up overlap is as good", *little = "top-down overlap gains little",
               *alike = "overlap in one direction is worse";
    EXPECT_EQ(orders(ordered, random).n_holding(), 4);
    EXPECT_EQ(orders({0.3, 0.3, 0.15, 0.29}, random).of(both), not_so);
    EXPECT_EQ(orders(ordered, {0.25, 0.25, 0.2, 0.19}).of(both), not_so);
    EXPECT_EQ(orders({0.1, 0.3, 0.15, 0.29}, {0.12, 0.25, 0.2, 0.19}).of(both), not_so); // random order is faster without overlap
    EXPECT_EQ(orders({0.1, 0.3, 0.15, 0.29}, {0.08, 0.35, 0.2, 0.19}).of(both), not_so); // and with it
    EXPECT_EQ(orders({0.1, 0.3, 0.15, 0.25}, random).of(as_good), not_so);
    EXPECT_EQ(orders({0.1, 0.3, 0.25, 0.29}, random).of(little), not_so);
    EXPECT_EQ(orders({0.1, 0.3, 0.09, 0.29}, random).of(little), not_so);
    EXPECT_EQ(orders(ordered, {0.08, 0.25, 0.2, 0.1}).of(alike), not_so);
    EXPECT_EQ(orders(ordered, {0.08, 0.18, 0.2, 0.19}).of(alike), not_so);
    EXPECT_EQ(orders({NAN, NAN, NAN, NAN}, {NAN, NAN, NAN, NAN}).n_holding(), 0);

    for (const bool lower : {true, false})
      {
        const auto of = [&](double none, double uniform, double useful, double useless) {
          const OfOverlaps o{none, uniform, lower ? useless : useful, lower ? useful : useless};
          return Said([&](Report &report) { judge_triangular(lower, o, report); });
        };
        EXPECT_EQ(of(0.1, 0.3, 0.3, 0.1).n_holding(), 2);
        EXPECT_EQ(of(0.1, 0.3, 0.1, 0.3).n_holding(), 0);
        EXPECT_EQ(of(0.1, 0.3, 0.27, 0.1).of("is as good as uniform"), not_so);
        EXPECT_EQ(of(0.1, 0.3, 0.3, 0.12).of("is as good as uniform"), not_so);
        EXPECT_EQ(of(0.4, 0.3, 0.3, 0.4).of("makes it faster"), not_so);
        EXPECT_EQ(of(NAN, NAN, NAN, NAN).n_holding(), 0);
      }

    using Percents     = std::map<int, std::pair<double, double>>;
    const auto percent = [](const Percents &found, bool on_gpu = true) {
      return Said([&](Report &report) { judge_percent("LAP", "O Figure 9", "O section 5.2", found, on_gpu, report); });
    };
    EXPECT_EQ(percent({{0, {20., 2e-3}}, {3, {18., 1e-3}}, {13, {15., 2e-3}}}).n_holding(), 2);
    EXPECT_EQ(percent({{0, {20., 2e-3}}, {3, {18., 1e-3}}, {50, {15., 3e-3}}}).of("50 percent are worst"), holds);
    EXPECT_EQ(percent({{0, {20., 2e-3}}, {3, {18., 1e-3}}, {50, {15., 1e-3}}}).of("50 percent are worst"), not_so);
    EXPECT_EQ(percent({{0, {20., 2e-3}}, {3, {18., 1e-3}}, {50, {15., 2.05e-3}}}).of("50 percent are worst"), open);
    EXPECT_EQ(percent({{0, {20., NAN}}, {3, {18., 1e-3}}, {50, {15., 3e-3}}}).of("50 percent are worst"), open);
    EXPECT_EQ(percent({{0, {20., 2e-3}}, {3, {18., 1e-3}}, {50, {15., 3e-3}}}, false).of("50 percent are worst"), open);
    EXPECT_EQ(percent({{0, {20., 2e-3}}, {3, {20., 1e-3}}, {13, {21., 2e-3}}}).of("saves iterations"), not_so);
    EXPECT_EQ(percent({{0, {20., 2e-3}}, {3, {18., 2e-3}}, {13, {15., 1e-3}}}).of("3 percent are best"), not_so);
    EXPECT_EQ(percent({{0, {20., 2e-3}}, {3, {18., 1e-3}}, {13, {15., 2e-3}}}).count("measured 3 percent are;"), 1);
    EXPECT_EQ(percent({{0, {20., 0.9e-3}}, {3, {18., 1e-3}}, {13, {15., 2e-3}}}).of("3 percent are best"), not_so);
    EXPECT_EQ(percent({{0, {20., 1.02e-3}}, {3, {18., 1e-3}}, {13, {15., 2e-3}}}).of("3 percent are best"), open);
    EXPECT_EQ(percent({{0, {20., 2e-3}}, {3, {18., 1e-3}}, {13, {15., 2e-3}}}, false).of("3 percent are best"), open);
    EXPECT_EQ(percent({{0, {2., 2e-3}}, {3, {1., 1e-3}}, {13, {1., 2e-3}}}).of("saves iterations"), open);
    EXPECT_EQ(percent({{0, {NAN, NAN}}, {3, {NAN, NAN}}, {13, {NAN, NAN}}}).n_holding(), 0);
    EXPECT_EQ(percent({{0, {20., 2e-3}}}).n_holding(), 0);

    const auto directions = [](const IterationsOfOverlaps &found) {
      return Said([&](Report &report) { judge_directions("q2-40: L", found, report); });
    };
    const char *towards = "percent towards the dependencies are as good as uniform", *away = "percent the other way save no iterations";
    EXPECT_EQ(directions({20., 15., 15.5, 19.5}).n_holding(), 2);
    EXPECT_EQ(directions({20., 15., 14., 21.}).n_holding(), 2); // none, uniform, towards the dependencies, away from them
    EXPECT_EQ(directions({20., 15., 16., 21.}).of(towards), not_so);
    EXPECT_EQ(directions({20., 15., 14., 18.}).of(away), not_so);
    EXPECT_EQ(directions({2., 2., 2., 2.}).count(open), 2);
    for (const double bad : {static_cast<double>(NAN), static_cast<double>(INFINITY)})
      EXPECT_EQ(directions({bad, bad, bad, bad}).n_holding(), 0);
  }

  TEST(Taxonomy_findings, can_each_be_another_one)
  {
    const auto of = [](double radius, bool no_negative, const std::vector<double> &iterations) {
      return Said([&](Report &report) {
        judge_classes({"A", radius, no_negative, {TwoStage::synchronous, TwoStage::inner, TwoStage::block}, iterations}, report);
      });
    };
    const char *converge = "all classes converge", *newest = "newest values in a block";
    EXPECT_EQ(of(0.9, true, {100., 80., 90.}).n_holding(), 2);
    EXPECT_EQ(of(0.9, true, {100., 80., INFINITY}).of(converge), not_so);
    EXPECT_EQ(of(0.9, true, {100., 102., 90.}).of(newest), not_so);
    EXPECT_EQ(of(1.1, true, {100., 80., 90.}).count(open), 2);
    EXPECT_EQ(of(0.9, false, {100., 80., 90.}).of(newest), open);
    EXPECT_EQ(of(NAN, true, {100., 80., 90.}).n_holding(), 0);
    EXPECT_EQ(of(0.9, true, {NAN, NAN, NAN}).n_holding(), 0);
    EXPECT_EQ(of(0.9, true, {INFINITY, 80., 90.}).n_holding(), 0);
    EXPECT_EQ(of(0.9, true, {}).n_holding(), 0);

    std::map<TwoStage, std::vector<double>> same;
    for (const TwoStage kind : {TwoStage::synchronous, TwoStage::inner})
      same[kind] = {1., 2.};
    for (const TwoStage kind : {TwoStage::block, TwoStage::outer, TwoStage::total})
      same[kind] = {1., 3.};
    const auto rows = [](const auto &x) { return Said([&](Report &report) { judge_single_rows("A", x, report); }).of("with one row a block"); };
    EXPECT_EQ(rows(same), holds);
    for (auto &[kind, x] : same)
      {
        for (const double wrong : {std::nextafter(x[0], 2.), static_cast<double>(NAN)})
          {
            auto other           = same;
            other.at(kind).at(0) = wrong;
            EXPECT_EQ(rows(other), not_so) << to_string(kind);
          }
      }
  }

  Reached came(double iterations, double seconds = 1., double factor = 0.9)
  {
    Reached reached;
    reached.converged  = true;
    reached.iterations = iterations;
    reached.seconds    = seconds;
    reached.factor     = factor;
    return reached;
  }

  Reached never()
  {
    Reached reached;
    reached.diverged   = true;
    reached.iterations = 50.;
    reached.seconds    = NAN;
    reached.factor     = 1.1;
    return reached;
  }

  OfWeights of_weights(const Reached &async, const Reached &async_above, const Reached &l1, const Reached &l1_above, const Reached &sor)
  {
    OfWeights result;
    for (int i = 0; i < 6; ++i)
      {
        result.async.push_back(i == 0 ? async : async_above);
        result.l1.push_back(i == 0 ? l1 : l1_above);
        result.sor.push_back(sor);
      }
    return result;
  }

  TEST(Weights_findings, can_each_be_another_one)
  {
    const auto    of = [](const char *matrix, const OfWeights &found) { return Said([&](Report &report) { judge_weights(matrix, found, report); }); };
    const Reached nothing = came(NAN, NAN, NAN);
    // times: 1 against 20 seconds
    const Reached fast = came(50., 1., 0.9), better = came(40., 1., 0.8), slow = came(100., 20.);
    EXPECT_EQ(of("fv1", of_weights(fast, better, fast, fast, slow)).n_holding(), 3);
    EXPECT_EQ(of("fv3", of_weights(came(200.), better, fast, fast, slow)).of("fewer iterations than Gauss-Seidel"), not_so);
    EXPECT_EQ(of("fv3", of_weights(fast, came(60., 1., 0.95), fast, fast, slow)).of("can help further"), not_so);
    EXPECT_EQ(of("fv3", of_weights(fast, better, fast, fast, came(100., 5.))).of("more than 10 times as fast"), not_so);
    EXPECT_EQ(of("fv3", of_weights(fast, better, fast, fast, came(100., 10.4))).of("more than 10 times as fast"), open);
    EXPECT_EQ(of("fv3", of_weights(never(), never(), fast, fast, slow)).of("more than 10 times as fast"), open);
    EXPECT_EQ(of("fv3", of_weights(never(), never(), fast, fast, slow)).n_holding(), 0);
    EXPECT_EQ(of("fv3", of_weights(nothing, nothing, nothing, nothing, nothing)).n_holding(), 0);

    const auto chem = [&](const Reached &above, const Reached &l1, const Reached &l1_above, double sor) {
      return of("Chem97ZtZ", of_weights(fast, above, l1, l1_above, came(100., sor)));
    };
    EXPECT_EQ(chem(never(), came(70.), came(60.), 2.).n_holding(), 4);
    EXPECT_EQ(chem(fast, came(70.), came(60.), 2.).of("already loses convergence"), not_so);
    EXPECT_EQ(chem(never(), came(70.), never(), 2.).of("keep omega = 1.1 convergent"), not_so);
    EXPECT_EQ(chem(never(), came(40.), came(60.), 2.).of("make the method slower"), not_so);
    EXPECT_EQ(chem(never(), came(70.), came(60.), 0.5).of("is faster than SOR"), not_so);
    EXPECT_EQ(chem(never(), came(70.), came(60.), 1.04).of("is faster than SOR"), open);
    EXPECT_EQ(chem(never(), nothing, nothing, NAN).of("make the method slower"), not_so);

    const auto trefethen = [&](const Reached &above, double sor) { return of("trefethen", of_weights(fast, above, fast, fast, came(100., sor))); };
    EXPECT_EQ(trefethen(came(60., 1., 0.95), 5.).n_holding(), 2);
    EXPECT_EQ(trefethen(better, 5.).of("does not help"), not_so);
    EXPECT_EQ(trefethen(never(), 3.).of("nearly 5 times as fast"), not_so);
    EXPECT_EQ(trefethen(never(), 4.1).of("nearly 5 times as fast"), open);
    EXPECT_EQ(trefethen(never(), NAN).of("nearly 5 times as fast"), open);
    EXPECT_EQ(of("trefethen", of_weights(nothing, nothing, nothing, nothing, nothing)).n_holding(), 0);
  }

  TEST(Weights_findings, of_block_sizes_can_each_be_another_one)
  {
    const auto of = [](const Reached &small, const Reached &large, const Reached &l1) {
      return Said([&](Report &report) { judge_block_sizes({{32, {small, came(20.)}}, {512, {large, l1}}}, report); });
    };
    const char *size = "the block size does not matter", *gain = "l1 weights gain";
    EXPECT_EQ(of(came(21.), came(20.), came(11.)).n_holding(), 2);
    EXPECT_EQ(of(came(24.), came(20.), came(11.)).of(size), not_so);
    EXPECT_EQ(of(never(), came(20.), came(11.)).of(size), not_so);
    EXPECT_EQ(of(came(21.), came(20.), came(13.)).of(gain), not_so);
    EXPECT_EQ(of(came(21.), came(20.), never()).of(gain), not_so);
    EXPECT_EQ(of(came(21.), never(), came(11.)).of(gain), not_so);
    EXPECT_EQ(of(came(NAN), came(NAN), came(NAN)).n_holding(), 0);
    EXPECT_EQ(of(came(20.), came(NAN), came(11.)).n_holding(), 0);
    EXPECT_EQ(Said([](Report &report) { judge_block_sizes({}, report); }).n_holding(), 0);
  }

  TEST(Theta_findings, can_each_be_another_one)
  {
    const auto row = [](int size, double saving, int difference, double adapted, double factor, double l1) {
      return OfTheta{size, saving, difference, came(adapted, 1., factor), came(20., 1., 0.6), came(20.), came(l1), came(20.)};
    };
    const auto    of    = [](const std::vector<OfTheta> &rows) { return Said([&](Report &report) { judge_theta(rows, report); }); };
    const OfTheta small = row(28, 14., 2, 20., 0.5, 21.), large = row(448, 14., 1, 20., 0.5, 15.); // 36 percent faster
    const char   *sums = "give the printed sums", *saves = "save more than 13 percent", *faster = "about 30 percent faster", *size = "matters little",
               *l1 = "l1-async-(5) is faster";
    EXPECT_EQ(of({small, large}).n_holding(), 5) << of({small, large}).text;
    EXPECT_EQ(of({small, row(448, 14., 3, 20., 0.5, 15.)}).of(sums), not_so);
    EXPECT_EQ(of({small, row(448, 11., 1, 20., 0.5, 15.)}).of(saves), not_so);
    EXPECT_EQ(of({small, row(448, 14., 1, 20., 0.65, 15.)}).of(faster), not_so);
    EXPECT_EQ(of({small, row(448, 14., 1, 23., 0.5, 15.)}).of(size), not_so);
    EXPECT_EQ(of({small, row(448, 14., 1, 20., 0.5, 21.)}).of(l1), not_so); // nor in large blocks
    EXPECT_EQ(of({row(28, 14., 2, 20., 0.5, 19.), large}).of(l1), not_so);  // in small ones, too
    EXPECT_EQ(of({row(28, 14., -1, 20., 0.5, 21.), row(448, 14., -1, 20., 0.5, 15.)}).of(sums), open);
    EXPECT_EQ(of({small}).of(size), open);
    const OfTheta none{28, NAN, -1, came(NAN, NAN, NAN), came(NAN, NAN, NAN), came(NAN, NAN, NAN), came(NAN, NAN, NAN), came(NAN, NAN, NAN)};
    EXPECT_EQ(of({none, none}).n_holding(), 0);
    EXPECT_EQ(of({small, none}).of(size), not_so);
    EXPECT_EQ(of({none, small}).of(size), not_so);
  }

  TEST(Mesh_findings, can_each_be_another_one)
  {
    const auto dips = [](double block, double other, double scatter, const char *why_not = "") {
      return Said([&](Report &report) { judge_dips({block, other, scatter}, "", why_not, report); }).of("nearly linear in N");
    };
    EXPECT_EQ(dips(0.3, 0.1, 0.), holds);
    EXPECT_EQ(dips(0.1, 0.3, 0.), not_so);
    EXPECT_EQ(dips(-0.1, -0.3, 0.), not_so); // above the line
    EXPECT_EQ(dips(0.3, 0.1, 0.25), open);   // runs differ by more
    EXPECT_EQ(dips(-0.0154, 0.0438, 0.06), open);
    EXPECT_EQ(dips(0.31, 0.3, 0.), open); // by 2 percent of the residual
    for (int i = 0; i < 3; ++i)
      EXPECT_EQ(dips(i == 0 ? NAN : 0.3, i == 1 ? NAN : 0.1, i == 2 ? NAN : 0.), open);
    EXPECT_EQ(dips(0.3, 0.1, 0., "at rounding"), open);

    const auto  times = [](const std::map<int, double> &seconds) { return Said([&](Report &report) { judge_mesh_times(112, 1, seconds, report); }); };
    const char *sooner = "reaches 1e-6 sooner", *faster = "N = 108 is faster";
    EXPECT_EQ(times({{105, 1.2}, {108, 0.8}, {111, 1.1}, {112, 1.}}).n_holding(), 2);
    EXPECT_EQ(times({{105, 1.2}, {108, 1.2}, {111, 0.9}, {112, 1.}}).count(not_so), 2);
    EXPECT_EQ(times({{105, 1.2}, {108, 0.98}, {111, 1.02}, {112, 1.}}).count(open), 2);
    EXPECT_EQ(times({{105, NAN}, {108, NAN}, {111, NAN}, {112, NAN}}).count(open), 2);
    EXPECT_EQ(times({{105, 1.2}, {112, 1.}}).of(faster), open);
    EXPECT_EQ(times({{108, 0.8}, {112, 1.}}).of(sooner), open);
    EXPECT_EQ(times({}).count(open), 2);
  }
} // namespace
