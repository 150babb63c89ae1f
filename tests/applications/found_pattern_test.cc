// SPDX-License-Identifier: Apache-2.0
#include <applications/output/cosine_spectrum.h>
#include <applications/output/found_pattern.h>
#include <applications/problems/domain.h>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <limits>

namespace leopard
{
  namespace
  {
    FoundPattern on_square(double length, unsigned long long n_spots, unsigned long long n_holes)
    {
      FoundPattern found;
      found.field      = "u";
      found.measure    = length * length;
      found.minimum    = 0.5;
      found.maximum    = 1.5;
      found.wavelength = 1.;
      found.n_spots    = n_spots;
      found.n_holes    = n_holes;
      return found;
    }

    TEST(FoundPattern, SpotsHolesAndStripesByTheirNumbers)
    {
      EXPECT_NEAR(spots_of_lattice(100., 2, 1.), 50. * std::sqrt(3.), 1e-10); // as on_square(10., ...) has them
      EXPECT_EQ(on_square(10., 90, 1).kind(), "spots");
      EXPECT_EQ(on_square(10., 1, 90).kind(), "holes");
      EXPECT_EQ(on_square(10., 10, 10).kind(), "stripes");
      EXPECT_EQ(on_square(10., 1, 3).kind(), "stripes");
      EXPECT_EQ(on_square(2., 4, 1).kind(), "spots"); // on few wavelengths by the numbers of parts
      EXPECT_EQ(on_square(2., 1, 8).kind(), "holes");
      EXPECT_EQ(on_square(2., 4, 3).kind(), "spots or stripes");
      EXPECT_EQ(on_square(2., 1, 2).kind(), "spots or stripes");
      FoundPattern ball = on_square(1., 60, 1);
      ball.dimension    = 3;
      ball.measure      = 125.;
      EXPECT_EQ(ball.kind(), "spots");
      ball.n_spots = 5;
      EXPECT_EQ(ball.kind(), "stripes");
    }

    TEST(FoundPattern, HomogeneousFieldsHaveNone)
    {
      FoundPattern found = on_square(10., 50, 50);
      found.minimum      = 1.499;
      EXPECT_EQ(found.kind(), "none");
      EXPECT_EQ(found.text(0.3).find("no pattern at t = 0: u is between 1.499 and 1.5"), 0u);
      found.minimum = found.maximum = std::numeric_limits<double>::quiet_NaN();
      EXPECT_TRUE(found.is_homogeneous());
      found.minimum = -3e-20; // what is left of a field that has died out, beside another one of size 1
      found.maximum = 7e-20;
      EXPECT_FALSE(found.is_homogeneous());
      found.scale = 1.;
      EXPECT_TRUE(found.is_homogeneous());
      found.maximum = 1e-9;
      EXPECT_FALSE(found.is_homogeneous());
    }

    TEST(FoundPattern, TextComparesWithThePrediction)
    {
      EXPECT_NE(on_square(10., 90, 1).text(0.8).find("90 spots, wavelength 1 (predicted for small disturbances: 0.8, +25 %)"), std::string::npos);
      EXPECT_EQ(on_square(10., 90, 1).text(0.).find("predicted"), std::string::npos);
      EXPECT_NE(on_square(2., 1, 2).text(0.8).find("1 spot and 2 holes, or stripes (the domain has few wavelengths), wavelength 1"),
                std::string::npos);
    }

    TEST(FoundPattern, APatchHasNoWavelength)
    {
      FoundPattern patch     = on_square(10., 90, 1);
      patch.reaches_boundary = false;
      const std::string text = patch.text(0.8);
      EXPECT_NE(text.find("90 spots, in a patch that has not reached the boundary, so that no wavelength can be told (predicted for small "
                          "disturbances: 0.8)"),
                std::string::npos);
      EXPECT_EQ(patch.report(0.8)["reaches_boundary"], false);
    }

    TEST(FoundPattern, AQuotientIsNotComparedInPercent)
    {
      FoundPattern sharp     = on_square(10., 90, 1);
      sharp.by_quotient      = true;
      const std::string text = sharp.text(0.8);
      EXPECT_NE(text.find("wavelength 1 by the field's gradients, which is too short where the pattern is sharp"), std::string::npos);
      EXPECT_NE(text.find("(predicted for small disturbances: 0.8)"), std::string::npos);
      EXPECT_EQ(text.find('%'), std::string::npos);
      EXPECT_EQ(sharp.report(0.8)["wavelength_by"], "Rayleigh quotient");
      EXPECT_EQ(on_square(10., 90, 1).report(0.8)["wavelength_by"], "spectrum");
    }

    TEST(CosineSpectrum, EnergyInIntervals)
    {
      const double   pi = std::acos(-1.);
      CosineSpectrum spectrum({33, 17}, {2., 1.});
      // 3 + 2 cos(pi x) + cos(3 pi y): mean squares 4/2 at k = pi and 1/2 at k = 3 pi
      const auto fill = [&] {
        for (unsigned int j = 0; j < 17; ++j)
          for (unsigned int i = 0; i < 33; ++i)
            spectrum.values()[33 * j + i] = 3. + 2. * std::cos(pi * i / 16.) + std::cos(3. * pi * j / 16.);
      };
      fill();
      CosineSpectrum::Energy energy = spectrum.energy_in({{3., 3.5}});
      EXPECT_NEAR(energy.total, 2.5, 1e-13);
      EXPECT_NEAR(energy.inside, 2., 1e-13);
      fill();
      energy = spectrum.energy_in({{0.1, 3.}, {4., 9.}, {9.2, 10.}});
      EXPECT_NEAR(energy.inside, 0.5, 1e-13);
    }
  } // namespace
} // namespace leopard
