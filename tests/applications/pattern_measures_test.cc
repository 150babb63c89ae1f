// SPDX-License-Identifier: Apache-2.0
// Fields whose measures are known. All tests hold for any number of ranks; CMakeLists.txt repeats them on two.
#include <applications/output/cosine_spectrum.h>
#include <applications/output/pattern_measures.h>

#include <deal.II/base/numbers.h>

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

namespace leopard
{
  namespace
  {
    using dealii::numbers::PI;
    using Field = std::function<double(const dealii::Point<3> &)>;

    /** Two fields with given initial values; the diffusion of the first is not 1, which no measure may show. */
    class TwoFields : public Problem
    {
    public:
      TwoFields()
      {
        source.resize(2);
        initial.resize(2);
      }
      std::string              name() const override { return "test"; }
      std::vector<std::string> fields() const override { return {"u", "v"}; }
      std::string              description() const override { return ""; }
      bool                     time_dependent() const override { return true; }
      void                     declare_parameters(dealii::ParameterHandler &) override {}
      void                     read_parameters(dealii::ParameterHandler &) override {}
      double                   diffusion(unsigned int c, const dealii::Point<3> &) const override { return c == 0 ? 3. : 10.; }
      double                   initial_value(unsigned int c, const dealii::Point<3> &x) const override { return value[c](x); }

      const std::vector<double> &steady_state() const override { return state; }

      std::vector<double> state; ///< empty: not known
      Field               value[2] = {[](const dealii::Point<3> &) { return 0.; }, [](const dealii::Point<3> &) { return 2.; }};
    };

    MeshParameters unit_box(int dim, unsigned int cells, unsigned int refinements)
    {
      MeshParameters mesh;
      mesh.cells.assign(dim, cells);
      mesh.global_refinements = refinements;
      return mesh;
    }

    /** A mesh and the measures of a field on it. */
    template <int dim>
    struct Measured
    {
      Measured(const Field               &u,
               const MeshParameters      &mesh_,
               unsigned int               degree    = 1,
               std::optional<double>      threshold = {},
               const std::vector<double> &state     = {},
               const Growth              &growth    = {},
               double                     time      = 0.)
        : mesh(mesh_)
      {
        problem.state             = state;
        problem.value[0]          = u;
        parameters.spot_threshold = threshold;
        method.degree             = degree;
        discretization            = std::make_unique<Discretization<dim>>(mesh, method, problem, MPI_COMM_WORLD);
        discretization->triangulation.refine_global(mesh.global_refinements);
        discretization->distribute_unknowns();
        discretization->assemble(system, 0.);
        HostVector values;
        discretization->interpolate_initial_values(values);
        PatternMeasures<dim> measures(*discretization, system, problem, growth, parameters);
        measures.append(values, time, row);
        found   = measures.find_pattern(values, time);
        columns = measures.columns();
        EXPECT_EQ(row.size(), columns.size());
      }

      double operator()(const std::string &name) const
      {
        for (std::size_t i = 0; i < columns.size(); ++i)
          if (columns[i].rfind(name + " (", 0) == 0)
            return row[i];
        ADD_FAILURE() << "no column " << name;
        return 0.;
      }

      const MeshParameters                 mesh;
      TwoFields                            problem;
      PatternMeasureParameters             parameters;
      DiscretizationParameters             method;
      std::unique_ptr<Discretization<dim>> discretization;
      SemiDiscreteSystem                   system;
      std::vector<std::string>             columns;
      std::vector<double>                  row;
      FoundPattern                         found;
    };

    TEST(PatternMeasures, APatchDoesNotReachTheBoundary)
    {
      const auto patch   = [](const dealii::Point<3> &x) { return std::exp(-100. * (std::pow(x[0] - 0.5, 2) + std::pow(x[1] - 0.5, 2))); };
      const auto at_side = [](const dealii::Point<3> &x) { return std::exp(-100. * (std::pow(x[0] - 1., 2) + std::pow(x[1] - 0.5, 2))); };
      for (const unsigned int degree : {1u, 2u})
        {
          EXPECT_FALSE(Measured<2>(patch, unit_box(2, 4, 3), degree).found.reaches_boundary);
          EXPECT_TRUE(Measured<2>(at_side, unit_box(2, 4, 3), degree).found.reaches_boundary);
        }
    }

    constexpr const char *wave_number = "dominant wave number of u", *spots = "number of spots of u";

    TEST(CosineSpectrum, EachModeHasItsWaveNumber)
    {
      CosineSpectrum spectrum({9, 6}, {2., 0.5});
      for (unsigned int k = 0; k < 9; ++k)
        for (unsigned int l = 0; l < 6; ++l)
          {
            for (unsigned int j = 0; j < 6; ++j)
              for (unsigned int i = 0; i < 9; ++i)
                spectrum.values()[j * 9 + i] = 1. + 0.1 * std::cos(k * PI * i / 8.) * std::cos(l * PI * j / 5.);
            EXPECT_NEAR(spectrum.dominant_wave_number(), std::hypot(k * PI / 2., l * PI / 0.5), 1e-9) << k << " " << l;
          }
    }

    TEST(CosineSpectrum, TheModeOfMostEnergyCounts)
    {
      // at the edge of the spectrum a cosine has twice the energy of one inside: the weights of the transform must not
      // hide that
      CosineSpectrum spectrum({33}, {1.});
      const auto     fill = [&](double a) {
        for (unsigned int i = 0; i < 33; ++i)
          spectrum.values()[i] = std::cos(5. * PI * i / 32.) + a * std::cos(32. * PI * i / 32.);
      };
      fill(0.65);
      EXPECT_NEAR(spectrum.dominant_wave_number(), 5. * PI, 1e-9);
      fill(0.75);
      EXPECT_NEAR(spectrum.dominant_wave_number(), 32. * PI, 1e-9);
    }

    TEST(CosineSpectrum, ConstantFieldsHaveNone)
    {
      CosineSpectrum spectrum({5, 5, 5}, {1., 1., 1.});
      for (const double value : {0., 1., -3.e8})
        {
          std::fill_n(spectrum.values(), spectrum.size(), value);
          EXPECT_EQ(spectrum.dominant_wave_number(), 0.);
        }
    }

    TEST(CosineSpectrum, IsotropicNoiseInABandHasItsMiddle)
    {
      // many modes with 20 pi < |k| < 24 pi and random amplitudes, as a pattern of spots has them
      constexpr unsigned int n = 129;
      CosineSpectrum         spectrum({n, n}, {1., 1.});
      std::mt19937           random(7);
      std::vector<double>    field(n * n, 0.);
      for (unsigned int k = 0; k < 25; ++k)
        for (unsigned int l = 0; l < 25; ++l)
          if (const double length = std::hypot(k, l); length > 20. && length < 24.)
            {
              const double amplitude = std::normal_distribution<>()(random);
              for (unsigned int j = 0; j < n; ++j)
                for (unsigned int i = 0; i < n; ++i)
                  field[j * n + i] += amplitude * std::cos(k * PI * i / (n - 1.)) * std::cos(l * PI * j / (n - 1.));
            }
      std::copy(field.begin(), field.end(), spectrum.values());
      EXPECT_NEAR(spectrum.dominant_wave_number() / PI, 22., 1.5);
    }

    TEST(PatternMeasures, ExtremesMassAndDistance)
    {
      MeshParameters mesh = unit_box(2, 1, 4);
      mesh.domain         = "box";
      mesh.upper          = {2., 1., 1.};
      const Measured<2> measured([](const auto &x) { return 5. + std::cos(2. * PI * x[0]); }, mesh);
      EXPECT_NEAR(measured("minimum of u"), 4., 1e-12);
      EXPECT_NEAR(measured("maximum of u"), 6., 1e-12);
      EXPECT_NEAR(measured("mean of u"), 5., 1e-12);
      EXPECT_NEAR(measured("total mass of u"), 10., 1e-11);
      EXPECT_NEAR(measured("total mass of v"), 4., 1e-11);
      EXPECT_NEAR(measured("distance to a homogeneous state"), std::sqrt(0.5), 1e-12); // the trapezoidal rule is exact for cosines
    }

    TEST(PatternMeasures, DistanceToTheSteadyState)
    {
      const Measured<2> measured([](const auto &x) { return 5. + std::cos(2. * PI * x[0]); }, unit_box(2, 1, 4), 1, {}, {4., 1.});
      EXPECT_NEAR(measured("distance to the homogeneous steady state"), std::sqrt(1. + 0.5 + 1.), 1e-12);
      // whose squares overflow
      const Measured<2> large([](const auto &x) { return 1e200 * std::cos(2. * PI * x[0]); }, unit_box(2, 1, 4), 1, {}, {4., 1.});
      EXPECT_NEAR(large("distance to the homogeneous steady state"), 1e200 * std::sqrt(0.5), 1e188);
    }

    TEST(PatternMeasures, LengthsAndMassesOfTheGrownDomain)
    {
      Growth growth;
      growth.law  = "linear";
      growth.rate = 2.;
      for (const std::string domain : {"hypercube", "L-shape"}) // the two ways to the wave number
        {
          MeshParameters mesh     = unit_box(2, 1, 6);
          mesh.domain             = domain;
          const auto        field = [](const auto &x) { return 5. + std::cos(4. * PI * x[0]); };
          const Measured<2> before(field, mesh), after(field, mesh, 1, {}, {}, growth, 1.);
          EXPECT_NEAR(after(wave_number), before(wave_number) / 3., 1e-9);
          EXPECT_NEAR(after("total mass of u"), before("total mass of u") * 9., 1e-9);
          EXPECT_NEAR(after("distance to a homogeneous state"), before("distance to a homogeneous state"), 1e-12);
        }
    }

    TEST(Growth, FactorsAreDerivatives)
    {
      for (const std::string law : {"exponential", "linear"})
        for (const int dimension : {2, 3})
          {
            Growth growth;
            growth.law         = law;
            growth.rate        = 0.7;
            growth.dimension   = dimension;
            constexpr double t = 0.4, h = 1e-6;
            EXPECT_DOUBLE_EQ(growth.length(0.), 1.);
            EXPECT_NEAR(growth.factors(t).diffusion, std::pow(growth.length(t), -2), 1e-14);
            EXPECT_NEAR(growth.factors(t).dilution, (std::log(growth.volume(t + h)) - std::log(growth.volume(t - h))) / (2. * h), 1e-8);
          }
      EXPECT_EQ(Growth().factors(1.).diffusion, 1.);
      EXPECT_EQ(Growth().factors(1.).dilution, 0.);
    }

    TEST(PatternMeasures, CosinesHaveTheirWaveNumberOnUniformBoxes)
    {
      for (const unsigned int degree : {1, 2})
        {
          const Measured<2> square(
            [](const auto &x) { return 1. + 0.2 * std::cos(3. * PI * x[0]) * std::cos(4. * PI * x[1]); }, unit_box(2, 3, 3), degree);
          EXPECT_NEAR(square(wave_number), 5. * PI, 1e-9);
        }
      const Measured<3> cube([](const auto &x) { return std::cos(2. * PI * x[0]) * std::cos(PI * x[1]) * std::cos(2. * PI * x[2]); },
                             unit_box(3, 2, 2));
      EXPECT_NEAR(cube(wave_number), 3. * PI, 1e-9);
    }

    MeshParameters periodic_box(int dim, unsigned int cells, unsigned int refinements, const std::vector<bool> &periodic)
    {
      MeshParameters mesh = unit_box(dim, cells, refinements);
      mesh.periodic       = periodic;
      return mesh;
    }

    TEST(CosineSpectrum, PeriodicDirectionsHaveSinesToo)
    {
      for (const unsigned int n : {9u, 10u}) // an even and an odd number of nodes that differ
        {
          CosineSpectrum spectrum({n, 6}, {2., 0.5}, {true, false});
          EXPECT_EQ(spectrum.size(), (n - 1) * 6);
          for (unsigned int k = 0; 2 * k < n - 1; ++k)
            for (unsigned int l = 0; l < 6; ++l)
              {
                std::vector<double> values;
                for (unsigned int j = 0; j < 6; ++j)
                  for (unsigned int i = 0; i < n; ++i)
                    values.push_back(3. + 0.5 * std::sin(2. * PI * k * i / (n - 1.) + 0.7) * std::cos(PI * l * j / 5.));
                const double wave_number = std::hypot(2. * PI * k / 2., PI * l / 0.5);
                spectrum.set_values(values.data());
                EXPECT_NEAR(spectrum.dominant_wave_number(), wave_number, 1e-9) << k << " " << l;
                spectrum.set_values(values.data());
                const auto energy = spectrum.energy_in({{wave_number - 0.1, wave_number + 0.1}});
                if (k + l > 0)
                  {
                    const double mean_square = 0.25 * (k == 0 ? std::pow(std::sin(0.7), 2) : 0.5) * (l == 0 || l == 5 ? 1. : 0.5);
                    EXPECT_NEAR(energy.total, mean_square, 1e-12);
                    EXPECT_NEAR(energy.inside, energy.total, 1e-12);
                  }
              }
        }
    }

    TEST(PatternMeasures, SpotsThatCrossAPeriodicBoundaryCountOnce)
    {
      // one spot around each corner point of the lattice, and one in the middle
      const auto lattice = [](const auto &x) { return std::cos(2. * PI * x[0]) * std::cos(2. * PI * x[1]); };
      EXPECT_EQ(Measured<2>(lattice, unit_box(2, 1, 5), 1, 0.5)(spots), 5);
      for (const unsigned int degree : {1u, 2u})
        {
          const Measured<2> closed(lattice, periodic_box(2, 1, 5, {true, true}), degree, 0.5);
          EXPECT_EQ(closed(spots), 2);
          EXPECT_EQ(closed.found.n_spots, 2u);
          EXPECT_TRUE(closed.found.reaches_boundary);
          EXPECT_NEAR(closed(wave_number), std::sqrt(8.) * PI, 1e-9);
          EXPECT_NEAR(closed("total mass of v"), 2., 1e-12);
          EXPECT_EQ(Measured<2>(lattice, periodic_box(2, 1, 5, {true, false}), degree, 0.5)(spots), 3);
        }
      // moved, so that no cosine has it
      const Measured<2> moved([](const auto &x) { return std::sin(6. * PI * x[0] + 1.); }, periodic_box(2, 2, 4, {true, false}), 1, 0.);
      EXPECT_EQ(moved(spots), 3);
      EXPECT_NEAR(moved(wave_number), 6. * PI, 1e-9);
      const Measured<3> in_space(
        [](const auto &x) { return std::cos(2. * PI * x[0]) * std::cos(2. * PI * x[2]); }, periodic_box(3, 2, 2, {true, false, true}), 1, 0.5);
      EXPECT_EQ(in_space(spots), 2);
    }

    TEST(PatternMeasures, APatchInAPeriodicDirectionHasNoBoundaryThere)
    {
      const auto patch = [](const dealii::Point<3> &x) {
        return std::exp(-100. * (std::pow(x[0] - 1., 2) + std::pow(x[1] - 0.5, 2))) + std::exp(-100. * (std::pow(x[0], 2) + std::pow(x[1] - 0.5, 2)));
      };
      EXPECT_TRUE(Measured<2>(patch, unit_box(2, 4, 3)).found.reaches_boundary);
      EXPECT_FALSE(Measured<2>(patch, periodic_box(2, 4, 3, {true, false})).found.reaches_boundary);
    }

    TEST(PatternMeasures, RayleighQuotientOnOtherMeshes)
    {
      // an eigenfunction of the Neumann problem on the L-shape: the error is that of the eigenvalue, O(h^2)
      double error[2];
      for (const unsigned int i : {0, 1})
        {
          MeshParameters mesh = unit_box(2, 1, 4 + i);
          mesh.domain         = "L-shape";
          const Measured<2> measured([](const auto &x) { return 3. + std::cos(4. * PI * x[0]) * std::cos(2. * PI * x[1]); }, mesh);
          error[i] = std::abs(measured(wave_number) - std::sqrt(20.) * PI);
          EXPECT_NE(measured.columns.back().find("Rayleigh"), std::string::npos);
        }
      EXPECT_LT(error[1], 0.02 * std::sqrt(20.) * PI);
      EXPECT_NEAR(std::log2(error[0] / error[1]), 2., 0.1);
    }

    /** A smooth bump of the radius r around a point. */
    double bump(const dealii::Point<3> &x, const dealii::Point<3> &center, double r)
    {
      return std::max(0., 1. - x.distance_square(center) / (r * r));
    }

    TEST(PatternMeasures, CountsBlobs)
    {
      for (const unsigned int n : {1, 3, 7})
        for (const unsigned int degree : {1, 2})
          {
            const Measured<2> measured(
              [n](const auto &x) {
                double sum = 0.;
                for (unsigned int i = 0; i < n * n; ++i)
                  sum += bump(x, {(i % n + 0.5) / n, (i / n + 0.5) / n, 0.}, 0.35 / n);
                return sum;
              },
              unit_box(2, 1, degree == 1 ? 6 : 5),
              degree);
            EXPECT_EQ(measured(spots), n * n);
          }
      const Measured<3> cube(
        [](const auto &x) {
          return bump(x, {0., 0., 0.}, 0.3) + bump(x, {1., 1., 0.5}, 0.3) + bump(x, {0.5, 0.5, 1.}, 0.3);
        },
        unit_box(3, 1, 4));
      EXPECT_EQ(cube(spots), 3);
    }

    TEST(PatternMeasures, RoundingErrorsBesideAnotherFieldAreNoSpots)
    {
      // the other field is 2; ripples above rounding are followed while they grow or fade, and are no pattern
      for (const double size : {1e-14, 1e-6})
        {
          const Measured<2> ripples([size](const auto &x) { return size * std::cos(2. * PI * x[0]) * std::cos(2. * PI * x[1]); }, unit_box(2, 1, 5));
          EXPECT_EQ(ripples(spots), size > 1e-12 ? 5. : 0.);
          EXPECT_NEAR(ripples(wave_number), size > 1e-12 ? std::sqrt(8.) * PI : 0., 1e-6);
          EXPECT_EQ(ripples.found.is_homogeneous(), size < 1e-12);
        }
      const Measured<2> small([](const auto &x) { return 1. + 1e-6 * std::cos(2. * PI * x[0]); }, unit_box(2, 1, 5));
      EXPECT_NEAR(small(wave_number), 2. * PI, 1e-6);
      EXPECT_EQ(small.found.kind(), "none");
    }

    TEST(PatternMeasures, CountsWhatWindsThroughAllRanks)
    {
      // a spiral and a ring around it are two, however the ranks share the mesh; stripes cut all ranks
      const auto spiral = [](const dealii::Point<3> &x) {
        const double r = std::hypot(x[0] - 0.5, x[1] - 0.5), phi = std::atan2(x[1] - 0.5, x[0] - 0.5);
        if (r > 0.42)
          return r < 0.47 ? 1. : 0.;
        const double theta = phi + 2. * PI * std::round((40. * r - phi) / (2. * PI)); // along the arm, which ends between two radii
        return theta > 3. && theta < 13. && std::abs(40. * r - theta) < 1.2 ? 1. : 0.;
      };
      EXPECT_EQ(Measured<2>(spiral, unit_box(2, 1, 7), 1, 0.5)(spots), 2);
      EXPECT_EQ(Measured<2>([](const auto &x) { return std::cos(10. * PI * x[0]); }, unit_box(2, 1, 6))(spots), 6);
      EXPECT_EQ(Measured<2>([](const auto &x) { return std::cos(10. * PI * x[1]); }, unit_box(2, 1, 6))(spots), 6);
      EXPECT_EQ(Measured<2>([](const auto &x) { return std::cos(10. * PI * (x[0] + x[1])); }, unit_box(2, 1, 6))(spots), 11);
    }

    TEST(PatternMeasures, ThresholdAndConstantFields)
    {
      const auto two_heights = [](const auto &x) { return 2. * bump(x, {0.25, 0.25, 0.}, 0.2) + 0.8 * bump(x, {0.75, 0.75, 0.}, 0.2); };
      EXPECT_EQ(Measured<2>(two_heights, unit_box(2, 1, 6))(spots), 1); // the automatic threshold is near 1
      EXPECT_EQ(Measured<2>(two_heights, unit_box(2, 1, 6), 1, 0.5)(spots), 2);
      EXPECT_EQ(Measured<2>(two_heights, unit_box(2, 1, 6), 1, 5.)(spots), 0);
      const Measured<2> constant([](const auto &) { return 1. / 3.; }, unit_box(2, 1, 4));
      EXPECT_EQ(constant(spots), 0);
      EXPECT_EQ(constant(wave_number), 0.);
      EXPECT_NEAR(constant("distance to a homogeneous state"), 0., 1e-14);
    }
  } // namespace
} // namespace leopard
