// SPDX-License-Identifier: Apache-2.0
#include "linearized_systems.h"

#include <applications/problems/turing/kinetics.h>
#include <applications/problems/turing/steady_states.h>
#include <applications/problems/turing/turing_analysis.h>
#include <solvers/base/errors.h>

#include <deal.II/base/point.h>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace leopard
{
  namespace
  {
    const double pi = std::acos(-1.);

    /** At the steady state of the formulas in Murray, Mathematical Biology II, chapter 2. */
    std::vector<double> schnakenberg(double a, double b)
    {
      const double s = a + b;
      return {(b - a) / s, s * s, -2. * b / s, -s * s};
    }
    std::vector<double> gierer_meinhardt(double a, double b)
    {
      return {b * (1. - a) / (1. + a), -b * b / ((1. + a) * (1. + a)), 2. * (1. + a) / b, -1.};
    }
    std::vector<double> brusselator(double a, double b)
    {
      return {b - 1., a * a, -b, -a * a};
    }

    /**
     * The closed formulas of Murray II, section 2.3, for D = (1, d) and J = gamma A: the band's ends and the fastest
     * growing wave number.
     */
    void compare_with_closed_formulas(const std::vector<double> &A, double gamma, double d)
    {
      const TuringAnalysis analysis(two_species(A, gamma, d), box({3., 2.}));
      const double         det = A[0] * A[3] - A[1] * A[2], h = d * A[0] + A[3], root = std::sqrt(h * h - 4. * d * det);
      ASSERT_EQ(analysis.bands.size(), 1u);
      EXPECT_NEAR(analysis.bands[0].k_min, std::sqrt(gamma * (h - root) / (2. * d)), 1e-8 * std::sqrt(gamma));
      EXPECT_NEAR(analysis.bands[0].k_max, std::sqrt(gamma * (h + root) / (2. * d)), 1e-8 * std::sqrt(gamma));

      // d lambda / d k^2 = 0 on the branch of the larger root
      const double fastest = gamma / (d - 1.) * ((d + 1.) * std::sqrt(-A[1] * A[2] / d) - A[0] + A[3]);
      EXPECT_NEAR(analysis.k_fastest, std::sqrt(fastest), 1e-5 * std::sqrt(fastest));
      const double trace       = gamma * (A[0] + A[3]) - (1. + d) * fastest,
                   determinant = d * fastest * fastest - gamma * h * fastest + gamma * gamma * det;
      EXPECT_NEAR(analysis.growth_rate, (trace + std::sqrt(trace * trace - 4. * determinant)) / 2., 1e-9 * gamma);
      EXPECT_EQ(analysis.frequency, 0.);

      EXPECT_TRUE(analysis.stable_without_diffusion);
      EXPECT_NEAR(analysis.conditions.excess, h * h / (4. * d * det), 1e-12);
      EXPECT_TRUE(analysis.pattern) << analysis.reason;

      // the unstable modes, counted
      unsigned int n_modes = 0;
      for (unsigned int m = 0; m < 200; ++m)
        for (unsigned int n = 0; n < 200; ++n)
          {
            const double k = pi * std::sqrt(m * m / 9. + n * n / 4.);
            if (analysis.bands[0].k_min < k && k < analysis.bands[0].k_max)
              ++n_modes;
          }
      EXPECT_EQ(analysis.modes.size(), n_modes);
      for (unsigned int i = 0; i < analysis.modes.size(); ++i)
        {
          const Mode &mode = analysis.modes[i];
          EXPECT_NEAR(mode.k, pi * std::sqrt(mode.numbers[0] * mode.numbers[0] / 9. + mode.numbers[1] * mode.numbers[1] / 4.), 1e-12 * mode.k);
          EXPECT_GT(mode.growth_rate, 0.);
          EXPECT_LE(mode.growth_rate, i == 0 ? analysis.growth_rate * (1. + 1e-12) : analysis.modes[i - 1].growth_rate);
        }
      EXPECT_NEAR(analysis.wavelength, 2. * pi / analysis.modes[0].k, 1e-12);
    }

    TEST(TuringAnalysis, ClosedFormulas)
    {
      compare_with_closed_formulas(schnakenberg(0.126779, 0.792366), 1000., 10.);
      compare_with_closed_formulas(schnakenberg(0.1, 0.9), 200., 40.);
      compare_with_closed_formulas(gierer_meinhardt(0.1, 1.), 500., 20.);
      compare_with_closed_formulas(gierer_meinhardt(0.3, 0.8), 500., 30.);
      compare_with_closed_formulas(brusselator(3., 9.), 100., 10.);
    }

    TEST(TuringAnalysis, BrusselatorThreshold)
    {
      // Turing's instability begins at B = (1 + A sqrt(D_u/D_v))^2 with the wave number k^2 = A / sqrt(D_u D_v), Hopf's
      // at 1 + A^2
      const double a = 3., d = 8., threshold = std::pow(1. + a / std::sqrt(d), 2), k = std::sqrt(a / std::sqrt(d));
      ASSERT_LT(threshold, 1. + a * a);
      const TuringAnalysis below(two_species(brusselator(a, threshold * (1. - 1e-6)), 1., d), box({100., 100.}));
      EXPECT_TRUE(below.bands.empty());
      EXPECT_FALSE(below.pattern);
      EXPECT_NEAR(below.conditions.excess, 1., 1e-4);
      const TuringAnalysis above(two_species(brusselator(a, threshold * (1. + 1e-6)), 1., d), box({100., 100.}));
      ASSERT_EQ(above.bands.size(), 1u) << "a narrow band is missed";
      EXPECT_NEAR(above.bands[0].k_min, k, 2e-3 * k);
      EXPECT_NEAR(above.bands[0].k_max, k, 2e-3 * k);
      EXPECT_LT(above.bands[0].k_min, k);
      EXPECT_GT(above.bands[0].k_max, k);
      const TuringAnalysis oscillating(two_species(brusselator(a, 1. + a * a + 0.1), 1., d), box({100., 100.}));
      EXPECT_FALSE(oscillating.stable_without_diffusion);
      EXPECT_FALSE(oscillating.pattern);
      EXPECT_NE(oscillating.reason.find("oscillate"), std::string::npos);
    }

    TEST(TuringAnalysis, CriticalDiffusionRatio)
    {
      const auto   A     = schnakenberg(0.126779, 0.792366);
      const double ratio = TuringAnalysis(two_species(A, 1000., 10.), box({10., 10.})).conditions.critical_ratio;
      EXPECT_TRUE(TuringAnalysis(two_species(A, 1000., 1.001 * ratio), box({10., 10.})).pattern);
      const TuringAnalysis below(two_species(A, 1000., 0.999 * ratio), box({10., 10.}));
      EXPECT_FALSE(below.pattern);
      EXPECT_NE(below.reason.find("the inhibitor v"), std::string::npos) << below.reason;
      EXPECT_NE(below.text().find("no pattern will form from small disturbances, because"), std::string::npos);

      // the same with the species changed: now u is the inhibitor, and the ratio is that of u
      LinearizedSystem swapped = two_species({A[3], A[2], A[1], A[0]}, 1000., 1. / (1.001 * ratio));
      EXPECT_TRUE(TuringAnalysis(swapped, box({10., 10.})).pattern);
      swapped.diffusion[1] = 1. / (0.999 * ratio);
      EXPECT_NE(TuringAnalysis(swapped, box({10., 10.})).reason.find("the inhibitor u"), std::string::npos);
    }

    TEST(TuringAnalysis, NoPatternAndWhy)
    {
      // no activator
      const TuringAnalysis passive(two_species({-1., -1., 1., -1.}, 1., 100.), box({10., 10.}));
      EXPECT_FALSE(passive.pattern);
      EXPECT_NE(passive.reason.find("no species activates itself"), std::string::npos);
      // a domain that is too small for the band
      const auto           A = schnakenberg(0.126779, 0.792366);
      const TuringAnalysis small(two_species(A, 1000., 10.), box({0.05, 0.05}));
      EXPECT_FALSE(small.bands.empty());
      EXPECT_TRUE(small.modes.empty());
      EXPECT_NE(small.reason.find("too small"), std::string::npos);
      EXPECT_FALSE(small.pattern);
      // a single species: Turing's instability needs two
      LinearizedSystem one;
      one.species      = {"u"};
      one.steady_state = {1.};
      one.diffusion    = {1.};
      one.jacobian     = {-2.};
      EXPECT_NE(TuringAnalysis(one, box({1., 1.})).reason.find("a single species"), std::string::npos);
      one.jacobian = {2.};
      EXPECT_NE(TuringAnalysis(one, box({1., 1.})).reason.find("unstable without diffusion"), std::string::npos);
    }

    /** Whether a pattern is faster than an oscillation everywhere at once decides what may be seen. */
    TEST(TuringAnalysis, APatternThatIsFasterThanTheOscillationIsNamed)
    {
      for (const double kappa : {2., 100.})
        {
          const TuringAnalysis analysis(two_species({0.8, -1., 1.9, -0.7}, 1., kappa), box({100., 100.}));
          EXPECT_FALSE(analysis.stable_without_diffusion);
          EXPECT_FALSE(analysis.pattern);
          EXPECT_EQ(analysis.growth_rate > analysis.eigenvalues.front().real(), kappa == 100.);
          EXPECT_EQ(analysis.text().find("may form all the same, as its disturbances grow faster") != std::string::npos, kappa == 100.)
            << analysis.text();
          EXPECT_EQ(analysis.text().find("no pattern will form") != std::string::npos, kappa == 2.) << analysis.text();
        }
    }

    TEST(TuringAnalysis, ThreeSpeciesWithWaves)
    {
      // an oscillating pair that a third, fast species damps in long waves only
      LinearizedSystem system;
      system.species      = {"u", "v", "w"};
      system.steady_state = {0., 0., 0.};
      system.diffusion    = {0.01, 0.01, 5.};
      system.jacobian     = {0.2, -2., -2., 2., 0.2, 0., 2., 0., -2.};
      const TuringAnalysis analysis(system, box({10., 10.}));
      EXPECT_TRUE(analysis.stable_without_diffusion);
      ASSERT_EQ(analysis.bands.size(), 1u);
      EXPECT_NEAR(analysis.frequency, 2., 0.02);
      for (const double end : {analysis.bands[0].k_min, analysis.bands[0].k_max})
        EXPECT_NEAR(system.eigenvalues(end * end).front().real(), 0., 1e-9);
      EXPECT_GT(system.eigenvalues(std::pow(0.5 * (analysis.bands[0].k_min + analysis.bands[0].k_max), 2)).front().real(), 0.);
      EXPECT_NE(analysis.text().find("waves"), std::string::npos);
    }

    TEST(TuringAnalysis, ModesOfAnIntervalASquareAndACube)
    {
      // in a thin strip only modes along it grow
      const auto           A = schnakenberg(0.126779, 0.792366);
      const TuringAnalysis strip(two_species(A, 1000., 10.), box({2., 0.05}));
      ASSERT_FALSE(strip.modes.empty());
      for (const Mode &mode : strip.modes)
        EXPECT_EQ(mode.numbers[1], 0);
      // Weyl's law, with which other domains are judged, tends to the number on large boxes
      for (const auto &lengths : {std::vector<double>{12., 13.}, std::vector<double>{3., 3.1, 3.2}})
        {
          const TuringAnalysis counted(two_species(A, 1000., 10.), box(lengths));
          Domain               other = box(lengths);
          other.lengths.clear();
          const TuringAnalysis estimated(two_species(A, 1000., 10.), other);
          EXPECT_TRUE(estimated.modes.empty());
          EXPECT_TRUE(estimated.pattern);
          EXPECT_NEAR(estimated.n_modes / counted.n_modes, 1., 0.15);
          EXPECT_NEAR(estimated.n_spots / counted.n_spots, 1., 0.05);
        }
    }

    TEST(TuringAnalysis, ModesOfPeriodicDirections)
    {
      const auto A = schnakenberg(0.126779, 0.792366);
      for (const std::vector<bool> &periodic : {std::vector<bool>{true, true}, {true, false}, {false, true}, {false, false}})
        {
          const double lengths[] = {1.3, 0.9};
          Domain       domain    = box({lengths[0], lengths[1]});
          domain.periodic        = periodic;
          const TuringAnalysis analysis(two_species(A, 1000., 10.), domain);
          // exp(2 pi i m x / L) for all m of both signs, cos(pi m x / L) for those that are not negative
          int n_modes = 0;
          for (int m = periodic[0] ? -50 : 0; m <= 50; ++m)
            for (int n = periodic[1] ? -50 : 0; n <= 50; ++n)
              {
                const double k = std::hypot((periodic[0] ? 2. : 1.) * pi * m / lengths[0], (periodic[1] ? 2. : 1.) * pi * n / lengths[1]);
                if (!(analysis.bands[0].k_min < k && k < analysis.bands[0].k_max))
                  continue;
                ++n_modes;
                const auto mode = std::find_if(analysis.modes.begin(), analysis.modes.end(), [&](const Mode &one) {
                  return one.numbers == std::vector<int>{std::abs(m), std::abs(n)};
                });
                ASSERT_NE(mode, analysis.modes.end()) << m << " " << n;
                EXPECT_NEAR(mode->k, k, 1e-12 * k);
                EXPECT_NEAR(mode->growth_rate, analysis.system.eigenvalues(k * k).front().real(), 1e-9);
                EXPECT_EQ(mode->multiplicity, (periodic[0] && m != 0 ? 2u : 1u) * (periodic[1] && n != 0 ? 2u : 1u));
              }
          ASSERT_GT(n_modes, 5);
          EXPECT_EQ(analysis.n_modes, n_modes);
          EXPECT_EQ(analysis.text().find("periodic in x and y") != std::string::npos, periodic[0] && periodic[1]);
        }
      Domain small   = box({0.05, 0.05});
      small.periodic = {true, false};
      EXPECT_NE(TuringAnalysis(two_species(A, 1000., 10.), small).reason.find("the smallest is pi/0.05"), std::string::npos);
      small.periodic = {true, true};
      EXPECT_NE(TuringAnalysis(two_species(A, 1000., 10.), small).reason.find("the smallest is 2 pi/0.05"), std::string::npos);
    }

    TEST(TuringAnalysis, ModesOfASphere)
    {
      const auto A = schnakenberg(0.126779, 0.792366);
      for (const double radius : {1., 2.5})
        {
          Domain sphere;
          sphere.name    = "sphere";
          sphere.radius  = radius;
          sphere.measure = 4. * pi * radius * radius;
          const TuringAnalysis analysis(two_species(A, 100., 20.), sphere);
          ASSERT_EQ(analysis.bands.size(), 1u);
          double n_modes = 0.;
          for (unsigned int l = 1; l < 100; ++l)
            {
              const double k     = std::sqrt(l * (l + 1.)) / radius;
              const bool   grows = analysis.bands[0].k_min < k && k < analysis.bands[0].k_max;
              const auto   mode  = std::find_if(
                analysis.modes.begin(), analysis.modes.end(), [l](const Mode &m) { return m.numbers == std::vector<int>{static_cast<int>(l)}; });
              ASSERT_EQ(mode != analysis.modes.end(), grows) << l;
              if (!grows)
                continue;
              n_modes += 2. * l + 1.;
              EXPECT_NEAR(mode->k, k, 1e-12);
              EXPECT_GT(mode->growth_rate, 0.);
              EXPECT_LE(mode->growth_rate, analysis.modes[0].growth_rate);
            }
          EXPECT_EQ(analysis.n_modes, n_modes);
          EXPECT_NEAR(analysis.wavelength, 2. * pi / analysis.modes[0].k, 1e-12);
          // Weyl's law: l (l + 1) of all eigenfunctions up to k, less than one degree off at either end
          const auto &band = analysis.bands[0];
          EXPECT_NEAR(n_modes, radius * radius * (band.k_max * band.k_max - band.k_min * band.k_min), 2. * (band.k_max + band.k_min) * radius);
          EXPECT_NE(analysis.text().find("degree " + std::to_string(analysis.modes[0].numbers[0]) + " with k"), std::string::npos);
        }
      Domain small;
      small.name    = "sphere";
      small.radius  = 0.02;
      small.measure = 4. * pi * small.radius * small.radius;
      const TuringAnalysis none(two_species(A, 100., 20.), small);
      EXPECT_FALSE(none.pattern);
      EXPECT_NE(none.reason.find("sqrt(2)/0.02"), std::string::npos);
    }

    dealii::SymmetricTensor<2, 3> matrix(const std::vector<double> &entries, unsigned int dim)
    {
      dealii::SymmetricTensor<2, 3> D;
      for (unsigned int d = 0; d < dim; ++d)
        for (unsigned int e = 0; e < dim; ++e)
          D[d][e] = entries[tensor_entry(d, e, dim)];
      return D;
    }

    LinearizedSystem anisotropic(double gamma, const std::vector<double> &D_u, const std::vector<double> &D_v)
    {
      LinearizedSystem system = two_species(schnakenberg(0.126779, 0.792366), gamma, 1.);
      system.diffusion.clear();
      system.space_dimension = D_u.size() == 3 ? 2 : 3;
      system.tensors         = {matrix(D_u, system.space_dimension), matrix(D_v, system.space_dimension)};
      return system;
    }

    /** The larger real part of the eigenvalues of J - diag(k . D_c k), by the formula for two species. */
    double growth(const LinearizedSystem &system, const dealii::Tensor<1, 3> &k)
    {
      const auto  &J = system.jacobian;
      const double a = J[0] - k * (system.tensors[0] * k), d = J[3] - k * (system.tensors[1] * k), trace = a + d,
                   root = trace * trace / 4. - (a * d - J[1] * J[2]);
      return trace / 2. + (root > 0. ? std::sqrt(root) : 0.);
    }

    TEST(TuringAnalysis, FastestDirectionOfAllWaveVectors)
    {
      for (const auto &[D_u, D_v] : std::vector<std::pair<std::vector<double>, std::vector<double>>>{
             {{1., 0., 1.}, {10., 0., 20.}}, {{1., 0.3, 2.}, {17., 4., 12.}}, {{2., -0.5, 1.}, {20., 0., 20.}}})
        {
          const LinearizedSystem system = anisotropic(1000., D_u, D_v);
          const TuringAnalysis   analysis(system, box({2., 2.}));
          double                 best = -1e9;
          dealii::Tensor<1, 3>   at;
          for (double x = -60.; x <= 60.; x += 0.25)
            for (double y = 0.; y <= 60.; y += 0.25)
              if (const dealii::Point<3> k(x, y, 0.); growth(system, k) > best)
                {
                  best = growth(system, k);
                  at   = k;
                }
          EXPECT_TRUE(analysis.prefers_direction);
          EXPECT_GE(analysis.growth_rate, best);
          EXPECT_NEAR(analysis.growth_rate, best, 1e-2 * best);
          EXPECT_NEAR(analysis.k_fastest, at.norm(), 0.5);
          EXPECT_GT(std::abs(analysis.direction * at) / at.norm(), std::cos(0.03));
          EXPECT_NEAR(growth(system, analysis.k_fastest * analysis.direction), analysis.growth_rate, 1e-8 * best);
          // and no direction nearby is better
          for (const double turn : {-1e-3, 1e-3})
            {
              const dealii::Point<3> aside(std::cos(turn) * analysis.direction[0] - std::sin(turn) * analysis.direction[1],
                                           std::sin(turn) * analysis.direction[0] + std::cos(turn) * analysis.direction[1],
                                           0.);
              EXPECT_LE(growth(system, analysis.k_fastest * static_cast<dealii::Tensor<1, 3>>(aside)), analysis.growth_rate * (1. + 1e-9));
            }
        }
    }

    TEST(TuringAnalysis, FastestDirectionInSpace)
    {
      // v diffuses 20 times as fast as u along (2, 1, 2)/3, and 10 times as fast across it
      dealii::Tensor<1, 3> axis = dealii::Point<3>(2. / 3., 1. / 3., 2. / 3.);
      std::vector<double>  D_v;
      for (unsigned int d = 0; d < 3; ++d)
        for (unsigned int e = d; e < 3; ++e)
          D_v.push_back((d == e ? 10. : 0.) + 10. * axis[d] * axis[e]);
      const TuringAnalysis analysis(anisotropic(1000., {1., 0., 0., 1., 0., 1.}, D_v), box({1., 1., 1.}));
      EXPECT_TRUE(analysis.prefers_direction);
      EXPECT_NEAR(std::abs(analysis.direction * axis), 1., 1e-6);
      const TuringAnalysis along(two_species(schnakenberg(0.126779, 0.792366), 1000., 20.), box({1., 1., 1.}));
      EXPECT_NEAR(analysis.growth_rate, along.growth_rate, 1e-8 * along.growth_rate);
      EXPECT_NEAR(analysis.k_fastest, along.k_fastest, 1e-5 * along.k_fastest);
      EXPECT_NE(analysis.text().find("sheets across this direction"), std::string::npos);
    }

    TEST(TuringAnalysis, ModesOfABoxWithDiagonalTensors)
    {
      const LinearizedSystem system = anisotropic(1000., {1., 0., 2.}, {20., 0., 10.});
      const TuringAnalysis   analysis(system, box({3., 2.}));
      std::vector<double>    rates;
      for (unsigned int m = 0; m < 100; ++m)
        for (unsigned int n = 0; n < 100; ++n)
          if (const double rate = growth(system, dealii::Point<3>(pi * m / 3., pi * n / 2., 0.)); rate > 0.)
            rates.push_back(rate);
      std::sort(rates.rbegin(), rates.rend());
      ASSERT_EQ(analysis.modes.size(), rates.size());
      for (unsigned int i = 0; i < rates.size(); ++i)
        EXPECT_NEAR(analysis.modes[i].growth_rate, rates[i], 1e-8 * rates[0]);
      EXPECT_TRUE(analysis.has_known_modes);
    }

    TEST(TuringAnalysis, PlaneWavesOfPeriodicDirectionsWithTensors)
    {
      // every wave vector that the domain has counts once: of both signs in periodic directions, also where D couples
      // them
      struct AnalysisCase
      {
        std::vector<double> D_u, D_v, lengths;
        std::vector<bool>   periodic;
        bool                known;
      };
      for (const AnalysisCase &c : {AnalysisCase{{1., 0.3, 2.}, {17., 4., 12.}, {1.5, 1.2}, {true, true}, true},
                                    AnalysisCase{{1., 0., 2.}, {20., 0., 10.}, {1.5, 1.2}, {true, false}, true},
                                    AnalysisCase{{1., 0., 2.}, {20., 0., 10.}, {1.5, 1.2}, {true, true}, true},
                                    AnalysisCase{{1., 0.3, 2.}, {17., 4., 12.}, {1.5, 1.2}, {true, false}, false},
                                    AnalysisCase{{1., 0.3, 0., 2., 0., 1.}, {17., 4., 0., 12., 0., 20.}, {0.7, 0.6, 0.4}, {true, true, false}, true}})
        {
          const LinearizedSystem system = anisotropic(1000., c.D_u, c.D_v);
          Domain                 domain = box(c.lengths);
          domain.periodic               = c.periodic;
          const TuringAnalysis analysis(system, domain);
          ASSERT_EQ(analysis.has_known_modes, c.known);
          if (!c.known)
            continue;
          const int           dim = static_cast<int>(c.lengths.size()), most = 30;
          std::vector<double> rates, found;
          const auto          number = [&](int d, int m) { return (c.periodic[d] ? 2. : 1.) * pi * m / c.lengths[d]; };
          for (int l = c.periodic[0] ? -most : 0; l <= most; ++l)
            for (int m = c.periodic[1] ? -most : 0; m <= most; ++m)
              for (int n = 0; n <= (dim == 3 ? most : 0); ++n)
                if (const double rate = growth(system, dealii::Point<3>(number(0, l), number(1, m), dim == 3 ? number(2, n) : 0.)); rate > 0.)
                  rates.push_back(rate);
          for (const Mode &mode : analysis.modes)
            found.insert(found.end(), mode.multiplicity, mode.growth_rate);
          std::sort(rates.rbegin(), rates.rend());
          ASSERT_GT(rates.size(), 5u);
          EXPECT_EQ(analysis.n_modes, static_cast<double>(rates.size()));
          ASSERT_EQ(found.size(), rates.size());
          for (unsigned int i = 0; i < rates.size(); ++i)
            EXPECT_NEAR(found[i], rates[i], 1e-8 * rates[0]);
          const Mode          &first = analysis.modes.front();
          dealii::Tensor<1, 3> k;
          for (int d = 0; d < dim; ++d)
            k[d] = number(d, first.numbers[d]);
          EXPECT_NEAR(first.k, k.norm(), 1e-12 * first.k);
          EXPECT_NEAR(growth(system, k), first.growth_rate, 1e-8 * rates[0]) << "the signs of its numbers";
        }
    }

    TEST(TuringAnalysis, TensorsThatAreNumbersAndProportionalOnes)
    {
      const LinearizedSystem plain = two_species(schnakenberg(0.126779, 0.792366), 1000., 20.);
      const TuringAnalysis   number(plain, box({2., 2.})), tensor(anisotropic(1000., {1., 0., 1.}, {20., 0., 20.}), box({2., 2.}));
      EXPECT_FALSE(tensor.prefers_direction);
      EXPECT_EQ(tensor.modes.size(), number.modes.size());
      EXPECT_NEAR(tensor.k_fastest, number.k_fastest, 1e-8 * number.k_fastest);
      EXPECT_NEAR(tensor.wavelength, 2. * pi / number.k_fastest, 1e-6);

      // D = d T: the domain stretched by the square roots of T's eigenvalues, with as many modes after Weyl's law
      const TuringAnalysis stretched(anisotropic(1000., {2.5, 1.5, 2.5}, {50., 30., 50.}), box({2., 2.})); // eigenvalues of T: 4 and 1
      EXPECT_FALSE(stretched.prefers_direction);
      EXPECT_FALSE(stretched.has_known_modes);
      EXPECT_NEAR(stretched.longest, 2. * stretched.shortest, 1e-2 * stretched.shortest);
      EXPECT_NEAR(stretched.growth_rate, number.growth_rate, 1e-6 * number.growth_rate);
      Domain other  = box({2., 2.});
      other.lengths = {};
      EXPECT_NEAR(stretched.n_modes, TuringAnalysis(plain, other).n_modes / 2., 0.02 * stretched.n_modes);
    }

    /** The largest real part of the eigenvalues of J - s F - i k V, two species, by the formula. */
    double growth_of_two(const std::vector<double> &J, const std::vector<double> &F, const std::vector<double> &V, double k)
    {
      std::vector<std::complex<double>> M;
      for (unsigned int i = 0; i < 4; ++i)
        M.emplace_back(J[i] - k * k * F[i], -k * V[i]);
      const auto half = (M[0] + M[3]) / 2., root = std::sqrt(half * half - M[0] * M[3] + M[1] * M[2]);
      return std::max((half + root).real(), (half - root).real());
    }

    TEST(TuringAnalysis, CrossDiffusionMakesPatternsAndIsAFullMatrix)
    {
      LinearizedSystem system = two_species(schnakenberg(0.126779, 0.792366), 400., 5.);
      EXPECT_TRUE(TuringAnalysis(system, box({1., 1.})).bands.empty());
      system.cross = {0.2, 0., -3.5, 0.};
      const TuringAnalysis      analysis(system, box({1., 1.}));
      const std::vector<double> F = {1.2, 0., -3.5, 5.}, none(4, 0.);
      ASSERT_EQ(analysis.bands.size(), 1u);
      const TuringAnalysis::Band &band = analysis.bands[0];
      for (const double k : {0.5, 2., 7., 13., 40.})
        EXPECT_NEAR(system.eigenvalues(k * k).front().real(), growth_of_two(system.jacobian, F, none, k), 1e-9 * k * k);
      for (const double k : {band.k_min, band.k_max})
        EXPECT_NEAR(growth_of_two(system.jacobian, F, none, k), 0., 1e-5);
      EXPECT_GT(growth_of_two(system.jacobian, F, none, (band.k_min + band.k_max) / 2.), 0.);
      ASSERT_FALSE(analysis.modes.empty());
      EXPECT_NEAR(analysis.modes[0].growth_rate, growth_of_two(system.jacobian, F, none, analysis.modes[0].k), 1e-8);
      EXPECT_NE(analysis.text().find("diffusion with cross-diffusion: [1.2, 0; -3.5, 5]"), std::string::npos);
      EXPECT_EQ(analysis.text().find("f_u g_v"), std::string::npos) << "conditions that are not those of a full matrix";
      system.cross = {0., 3., 4., 0.};
      EXPECT_THROW(TuringAnalysis(system, box({1., 1.})), Error) << "det D = 5 - 12: short waves grow";
    }

    TEST(TuringAnalysis, AdvectionHasDirections)
    {
      // u activates itself and is carried along x; diffusion alone makes no pattern (Rovinsky and Menzinger 1992)
      const std::vector<double> J = {1., -2., 2., -3.}, F = {1., 0., 0., 1.};
      LinearizedSystem          system = two_species(J, 1., 1.);
      system.drift.resize(4);
      system.drift[0][0] = 8.;
      const TuringAnalysis analysis(system, box({30., 30.}));
      double               fastest = -1., at = 0.;
      for (double k = 0.; k < 3.; k += 1e-4)
        if (const double rate = growth_of_two(J, F, {8., 0., 0., 0.}, k); rate > fastest)
          {
            fastest = rate;
            at      = k;
          }
      ASSERT_GT(fastest, 0.1);
      EXPECT_NEAR(analysis.growth_rate, fastest, 1e-6);
      EXPECT_NEAR(analysis.k_fastest, at, 1e-3);
      EXPECT_TRUE(analysis.prefers_direction);
      EXPECT_NEAR(std::abs(analysis.direction[0]), 1., 1e-4);
      EXPECT_GT(analysis.frequency, 0.);
      EXPECT_TRUE(analysis.modes.empty());
      EXPECT_NE(analysis.text().find("plane waves of an unbounded or periodic domain"), std::string::npos);

      // what carries both alike is a moving frame
      const LinearizedSystem at_rest = two_species(schnakenberg(0.126779, 0.792366), 1000., 20.);
      LinearizedSystem       moving  = at_rest;
      moving.drift.resize(4);
      moving.drift[0] = moving.drift[3] = dealii::Point<3>(300., -100., 0.);
      const TuringAnalysis carried(moving, box({1., 1.})), rests(at_rest, box({1., 1.}));
      EXPECT_FALSE(carried.prefers_direction);
      EXPECT_NEAR(carried.growth_rate, rests.growth_rate, 1e-6 * rests.growth_rate);
      EXPECT_NEAR(carried.k_fastest, rests.k_fastest, 1e-3 * rests.k_fastest);
      EXPECT_NE(carried.text().find("the flow carries all disturbances alike"), std::string::npos);
    }

    TEST(TuringAnalysis, KineticsThatConserveAMassAreNotCalledUnstable)
    {
      // v' = -u': one eigenvalue is zero
      const TuringAnalysis conserving(two_species({1., 2., -1., -2.}, 1., 10.), box({30., 30.}));
      EXPECT_TRUE(conserving.stable_without_diffusion);
      ASSERT_FALSE(conserving.bands.empty());
      EXPECT_NEAR(conserving.bands[0].k_min, 0., 1e-3); // D_v f_u + g_v = 8 > 0: all long waves grow
      EXPECT_NEAR(conserving.bands[0].k_max, std::sqrt(8. / 10.), 1e-8);
    }

    TEST(TuringAnalysis, ReportHoldsTheNumbers)
    {
      const TuringAnalysis analysis(two_species(schnakenberg(0.126779, 0.792366), 1000., 10.), box({1., 1.}));
      const auto           report = analysis.report();
      EXPECT_EQ(report["pattern"], true);
      EXPECT_EQ(report["unstable_modes"]["number"], static_cast<double>(analysis.modes.size()));
      EXPECT_EQ(report["fastest"]["k"], analysis.k_fastest);
      EXPECT_EQ(report["unstable_wave_numbers"][0][1], analysis.bands[0].k_max);
      EXPECT_EQ(report["jacobian"].size(), 4u);
    }

    ExpressionKinetics kinetics(const std::vector<std::string> &species, const std::vector<std::string> &texts)
    {
      std::vector<NamedExpression> reactions;
      for (const std::string &text : texts)
        reactions.push_back({"f", text});
      return ExpressionKinetics(species, reactions, {});
    }

    TEST(SteadyStates, BuiltInKinetics)
    {
      for (const auto &[name, make] : kinetics_registry())
        {
          const auto built_in = make();
          built_in->compile();
          const auto states = find_steady_states(*built_in, built_in->has_positive_steady_state(), {built_in->steady_state_guess()});
          ASSERT_FALSE(states.empty()) << name;
          for (const auto &state : states)
            {
              std::vector<double> r(2);
              built_in->evaluate(1, state.data(), r.data(), nullptr);
              EXPECT_NEAR(r[0], 0., 1e-10) << name;
              EXPECT_NEAR(r[1], 0., 1e-10) << name;
            }
        }
    }

    TEST(SteadyStates, AllOfSeveral)
    {
      // (u - 1)(u - 2)(u - 3) = 0 with v = u
      const auto states = find_steady_states(kinetics({"u", "v"}, {"(u - 1)*(u - 2)*(u - 3)", "u - v"}), true, {});
      ASSERT_EQ(states.size(), 3u);
      // a guess decides which comes first
      for (const double guess : {1.1, 1.98, 3.2})
        EXPECT_NEAR(
          find_steady_states(kinetics({"u", "v"}, {"(u - 1)*(u - 2)*(u - 3)", "u - v"}), true, {{guess, guess}})[0][0], std::round(guess), 1e-10);
    }

    TEST(SteadyStates, OnlyPositiveOnesWhereConcentrationsAreAskedFor)
    {
      const auto both = kinetics({"u", "v"}, {"u*(1 - u)", "1 - v"});
      ASSERT_EQ(find_steady_states(both, true, {}).size(), 1u);
      EXPECT_EQ(find_steady_states(both, false, {}).size(), 2u);
      EXPECT_TRUE(find_steady_states(kinetics({"u", "v"}, {"1 + u", "1 - v"}), true, {}).empty());
      EXPECT_TRUE(find_steady_states(kinetics({"u", "v"}, {"1 + u^2", "1 - v"}), false, {}).empty());
      EXPECT_EQ(find_steady_states(kinetics({"u", "v"}, {"1 + u", "1 - v"}), false, {}).size(), 1u);
    }

    TEST(SteadyStates, AwkwardScalesAndManySpecies)
    {
      const auto wide = find_steady_states(kinetics({"u", "v", "w"}, {"1e-4 - u", "5e3*u - v", "u*v - 1e3*w"}), true, {});
      ASSERT_EQ(wide.size(), 1u);
      EXPECT_NEAR(wide[0][2], 0.5e-4 / 1e3, 1e-12);
      const auto five = find_steady_states(kinetics({"a", "b", "c", "d", "f"}, {"1 - a", "a - b", "b - c^2", "c - d", "d + a - f"}), true, {});
      ASSERT_EQ(five.size(), 1u);
      EXPECT_NEAR(five[0][4], 2., 1e-10);
    }
  } // namespace
} // namespace leopard
