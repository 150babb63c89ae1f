// SPDX-License-Identifier: Apache-2.0
// What the studies of refinement and of the precision say of numbers that are right, wrong, near a limit, or none, as
// judges_test.cc.
#include "said.h"

#include <applications/studies/papers/refinement_judge.h>

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <sstream>

namespace
{
  using namespace leopard;
  using namespace leopard::studies;

  /** A refinement whose corrections leave these residuals, or a relaxation, of three equal runs. */
  Curve a_curve(const std::string &name, double iterations, double seconds, const std::vector<double> &residuals = {1., 1e-12}, int predicted = 0)
  {
    Curve curve{name, true};
    for (std::size_t i = 0; i < residuals.size(); ++i)
      curve.at.push_back(iterations * static_cast<double>(i) / static_cast<double>(residuals.size() - 1));
    curve.residuals        = residuals;
    curve.n_corrections    = predicted > 0 ? static_cast<int>(residuals.size()) - 1 : 0;
    curve.most_corrections = curve.n_corrections;
    curve.n_predicted      = predicted;
    curve.needed           = {iterations, iterations, iterations};
    curve.seconds          = {seconds, seconds, seconds};
    return curve;
  }

  Curves good_curves(const std::string &matrix)
  {
    const bool easy = matrix == "Chem97ZtZ" || matrix == "trefethen", hard = matrix == "fv3";
    return {
      a_curve("plain", 100., hard ? 2. : 1.),
      a_curve("in double", 100., hard ? 1.9 : 1., hard ? std::vector<double>{1., 1e-4, 1e-8, 5e-12, 1e-13} : std::vector<double>{1., 1e-7, 1e-12}, 2),
      a_curve("in mixed", hard ? 130. : 100., easy ? 1. : 0.5, {1., 1e-6, 1e-12}, 2),
      a_curve("block double", 60., 3.),
      a_curve("block mixed",
              matrix == "trefethen" ? 180.
              : easy                ? 80.
                                    : 60.,
              hard ? 1. : 2.)};
  }

  Said refinement(const std::string &matrix, const Curves &curves)
  {
    return Said([&](Report &report) { judge_refinement(matrix, 1e-12, curves, report); });
  }

  TEST(Refinement_findings, can_each_be_another_one)
  {
    struct Wrong
    {
      const char *matrix;
      Curve Curves::*which;
      double         iterations, seconds; ///< 0: as they are
      const char    *claim, *verdict;
    };
    for (const char *matrix : {"fv1", "fv3", "Chem97ZtZ", "trefethen"})
      {
        const Said good = refinement(matrix, good_curves(matrix));
        EXPECT_EQ(good.count(not_so) + good.count(open), 0) << good.text;
        EXPECT_GE(good.n_holding(), 11);
      }
    for (const Wrong &w : {Wrong{"fv1", &Curves::in_double, 0., 1.3, "costs next to nothing", not_so},
                           Wrong{"fv1", &Curves::in_double, 0., 1.12, "costs next to nothing", open},
                           Wrong{"fv1", &Curves::mixed, 0., 0.9, "takes almost half the time", not_so},
                           Wrong{"fv1", &Curves::mixed, 0., 0.61, "takes almost half the time", open},
                           Wrong{"fv1", &Curves::mixed, 120., 0., "hardly changes the number", not_so},
                           Wrong{"fv3", &Curves::mixed, 102., 0., "need more iterations", not_so},
                           Wrong{"fv3", &Curves::mixed, 0., 2.5, "mixed precision is faster than double", not_so},
                           Wrong{"fv3", &Curves::mixed, 0., 1.88, "mixed precision is faster than double", open},
                           Wrong{"fv3", &Curves::mixed, 0., 1.5, "half the time of plain", not_so},
                           Wrong{"fv3", &Curves::mixed, 0., 1.21, "half the time of plain", open},
                           Wrong{"fv3", &Curves::block_mixed, 0., 2.5, "is faster than plain async-(5)", not_so},
                           Wrong{"fv3", &Curves::block_mixed, 0., 1.96, "is faster than plain async-(5)", open},
                           Wrong{"trefethen", &Curves::mixed, 0., 0.7, "mixed precision gains nothing", not_so},
                           Wrong{"trefethen", &Curves::mixed, 0., 0.91, "mixed precision gains nothing", open},
                           Wrong{"fv1", &Curves::block_mixed, 0., 4., "is faster in mixed precision", not_so},
                           Wrong{"fv1", &Curves::block_mixed, 0., 2.9, "is faster in mixed precision", open},
                           Wrong{"fv1", &Curves::block_double, 0., 0.8, "block double refinement is not faster", not_so},
                           Wrong{"fv1", &Curves::block_mixed, 0., 0.3, "block mixed refinement is not faster", not_so},
                           Wrong{"fv1", &Curves::block_mixed, 0., 0.51, "block mixed refinement is not faster", open},
                           Wrong{"fv1", &Curves::block_mixed, 80., 0., "changes the iterations little", not_so},
                           Wrong{"trefethen", &Curves::block_mixed, 100., 0., "takes three times the iterations", not_so},
                           Wrong{"Chem97ZtZ", &Curves::block_mixed, 60., 0., "takes more iterations", not_so},
                           Wrong{"fv1", &Curves::block_mixed, 4., 0., "three times the outer iterations", not_so}})
      {
        Curves curves = good_curves(w.matrix);
        Curve &wrong  = curves.*w.which;
        if (w.iterations > 0.)
          {
            wrong.needed = {w.iterations, w.iterations, w.iterations};
            for (double &at : wrong.at)
              at *= w.iterations / wrong.at.back();
          }
        if (w.seconds > 0.)
          wrong.seconds = {w.seconds, w.seconds, w.seconds};
        EXPECT_EQ(refinement(w.matrix, curves).of(w.claim), w.verdict) << w.matrix << " " << w.seconds;
        for (double &seconds : wrong.seconds)
          seconds = w.seconds > 0. ? NAN : seconds;
        for (double &needed : wrong.needed)
          needed = w.seconds > 0. ? needed : NAN;
        if (w.claim != std::string("three times the outer iterations")) // which has no median
          {
            EXPECT_EQ(refinement(w.matrix, curves).of(w.claim), open) << w.matrix << " " << w.claim;
          }
        wrong.converged = false;
        EXPECT_EQ(refinement(w.matrix, curves).of(w.claim), open) << w.matrix << " " << w.claim;
      }
    Curves curves                = good_curves("fv1");
    curves.mixed.seconds         = {0.5, 0.5, 0.8}; // a run says the contrary
    curves.block_mixed.converged = false;
    EXPECT_EQ(refinement("fv1", curves).of("takes almost half the time"), open);
    EXPECT_EQ(refinement("fv1", curves).of("block mixed: converges"), not_so);
    EXPECT_EQ(refinement("five-point-12", good_curves("fv1")).text, "");
  }

  TEST(Precision_findings, can_each_be_another_one)
  {
    using V         = ChoiceVerdict;
    const auto with = [](bool is_mixed, const std::vector<double> &in_double, const std::vector<double> &mixed) {
      return PrecisionChoice{"A", is_mixed, in_double, mixed};
    };
    const auto of = [&](bool is_mixed, const std::vector<double> &in_double, const std::vector<double> &mixed) {
      return verdict_of(with(is_mixed, in_double, mixed));
    };
    EXPECT_EQ(of(true, {1.}, {0.5}), V::right);
    EXPECT_EQ(of(true, {1.}, {1.09}), V::right);
    EXPECT_EQ(of(true, {1.}, {1.11}), V::wrong);
    EXPECT_EQ(of(false, {1.}, {2.}), V::right);
    EXPECT_EQ(of(false, {1.}, {0.92}), V::right);
    EXPECT_EQ(of(false, {1.}, {0.9}), V::wrong);
    EXPECT_EQ(of(true, {1., 1., 1.}, {0.5, 0.6, 1.2}), V::right); // what one run says is chance
    EXPECT_EQ(of(true, {1., 1., 1.}, {0.5, 1.2, 1.2, 1.2, 1.2}), V::wrong);
    EXPECT_EQ(of(true, {1., 1., 1.}, {0.5, 0.6, 1.7}), V::runs_differ);
    EXPECT_EQ(of(false, {1., 1., 0.5}, {0.8, 0.8, 0.8}), V::runs_differ);
    EXPECT_EQ(of(true, {1.}, {}), V::wrong);
    EXPECT_EQ(of(true, {}, {1.}), V::right);
    EXPECT_EQ(of(false, {}, {1.}), V::wrong);
    EXPECT_EQ(of(false, {}, {}), V::none_converges);
    EXPECT_EQ(of(true, {1.}, {NAN}), V::wrong);
    EXPECT_EQ(of(true, {NAN}, {1.}), V::wrong);

    const PrecisionChoice right = with(true, {1.}, {0.5}), wrong = with(false, {1.}, {0.5}), none = with(false, {}, {});
    const auto judged = [](const std::vector<PrecisionChoice> &choices) { return Said([&](Report &report) { judge_choices(choices, report); }); };
    std::vector<PrecisionChoice> all(9, right);
    all.insert(all.end(), {wrong, none});
    EXPECT_EQ(judged(all).of("for nine of ten"), holds);
    EXPECT_NE(judged(all).text.find("right for 9 of 10, not of A; 1 more decide"), std::string::npos) << judged(all).text;
    all.push_back(wrong);
    EXPECT_EQ(judged(all).of("for nine of ten"), not_so);
    EXPECT_EQ(judged({none}).of("for nine of ten"), open);
    EXPECT_EQ(judged({}).of("for nine of ten"), open);

    const auto beside = [&](const std::vector<double> &in_double, const std::vector<double> &mixed, const std::vector<double> &refined) {
      return judged({{"A", false, in_double, mixed, refined}}).of("refinement in double");
    };
    EXPECT_EQ(beside({1.}, {0.5}, {0.8}), holds); // slower than one of the two
    EXPECT_EQ(beside({0.5}, {1.}, {0.8}), holds);
    EXPECT_EQ(beside({1.}, {1.}, {0.92}), holds);
    EXPECT_EQ(beside({1.}, {1.}, {}), holds);
    EXPECT_EQ(beside({1.}, {1.2}, {0.85}), not_so);
    EXPECT_EQ(beside({1.2}, {1.}, {0.85}), not_so);
    EXPECT_EQ(beside({}, {}, {1.}), not_so);
    EXPECT_EQ(beside({}, {1.}, {0.8}), not_so);
    EXPECT_EQ(beside({NAN}, {1.}, {1.}), not_so);
    EXPECT_EQ(beside({}, {}, {}), open);
    EXPECT_EQ(beside({1., 1., 1.}, {2.}, {0.8, 0.8, 1.1}), open);
  }

  TEST(Refinement_findings, of_corrections_can_each_be_another_one)
  {
    EXPECT_EQ(corrections_for(1e-12, 1e-6), 2);
    EXPECT_EQ(corrections_for(1e-12, 1.01e-6), 3);
    EXPECT_EQ(corrections_for(1e-12, 1e-5), 3);
    for (const double none : std::vector<double>{NAN, 0., 1., 2., -1.})
      EXPECT_EQ(corrections_for(1e-12, none) + corrections_for(none, 1e-6), 0) << none;

    const char *in_double = "in double: the corrections are", *mixed = "in mixed: the corrections are";
    const auto  of = [](const std::vector<double> &of_double, const std::vector<double> &of_mixed, int predicted) {
      Curves curves    = good_curves("fv1");
      curves.in_double = a_curve("in double", 100., 1., of_double, predicted);
      curves.mixed     = a_curve("in mixed", 100., 0.5, of_mixed, predicted);
      return refinement("fv1", curves);
    };
    const std::vector<double> two = {1., 1e-6, 1e-12}, three = {1., 1e-6, 1e-10, 1e-12};
    EXPECT_EQ(of(two, two, 2).of(in_double), holds);
    EXPECT_EQ(of(three, two, 2).of(in_double), holds);                     // 4 digits at least: three corrections
    EXPECT_EQ(of({1., 1e-6, 1e-9, 1e-12}, two, 2).of(in_double), not_so);  // 3 digits at least: four are due
    EXPECT_EQ(of({1., 1e-7, 1e-14, 1e-15}, two, 2).of(in_double), not_so); // one more than is due
    EXPECT_EQ(of({1., 1e-12}, two, 1).of(in_double), open);                // the first was enough
    EXPECT_EQ(of({1., NAN, 1e-12}, {1., 1e-6, 1e-12}, 2).of(in_double), not_so);
    EXPECT_EQ(of(two, two, 2).of(mixed), holds);
    EXPECT_EQ(of(two, three, 2).of(mixed), holds);
    EXPECT_EQ(of(two, two, 3).of(mixed), not_so);                            // fewer than predicted
    EXPECT_EQ(of(two, {1., 1e-4, 1e-8, 1e-11, 1e-12}, 2).of(mixed), not_so); // g = 2
    EXPECT_EQ(of(two, {1., 1e-2, 1e-4, 1e-6, 1e-8, 1e-10, 1e-12}, 5).of("never needs more than 5"), not_so);

    Curves fv3 = good_curves("fv3");
    EXPECT_EQ(refinement("fv3", fv3).of("takes 4 corrections"), holds);
    fv3.in_double.residuals[3] = 5e-11;
    EXPECT_EQ(refinement("fv3", fv3).of("takes 4 corrections"), not_so);
    fv3.in_double.residuals[3] = NAN;
    EXPECT_EQ(refinement("fv3", fv3).of("takes 4 corrections"), not_so);
    fv3.in_double = a_curve("in double", 100., 1., two, 2);
    EXPECT_EQ(refinement("fv3", fv3).of("takes 4 corrections"), not_so);
  }
} // namespace
