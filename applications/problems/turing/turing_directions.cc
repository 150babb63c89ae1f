// SPDX-License-Identifier: Apache-2.0
// The part of the Turing analysis that is for diffusion that depends on the direction.
#include "turing_analysis.h"

#include <deal.II/base/numbers.h>
#include <deal.II/base/point.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

namespace leopard
{
  using namespace dealii;
  using numbers::PI;

  namespace
  {
    Tensor<1, 3> in_plane(double angle)
    {
      return Point<3>(std::cos(angle), std::sin(angle), 0.);
    }

    Tensor<1, 3> in_space(double height, double angle)
    {
      const double radius = std::sqrt(std::max(0., 1. - height * height));
      return Point<3>(radius * std::cos(angle), radius * std::sin(angle), height);
    }

    /**
     * Directions that are spread evenly over half a circle, or half a sphere (a spiral of Fibonacci's), the axes among
     * them, which diagonal tensors prefer.
     */
    std::vector<Tensor<1, 3>> even_directions(unsigned int dim)
    {
      std::vector<Tensor<1, 3>> result;
      constexpr unsigned int    n_plane = 60, n_space = 150;
      if (dim == 2)
        for (unsigned int i = 0; i < n_plane; ++i)
          result.push_back(in_plane(PI * i / n_plane));
      else
        {
          for (unsigned int i = 0; i < n_space; ++i)
            result.push_back(in_space((i + 0.5) / n_space, PI * (3. - std::sqrt(5.)) * i));
          for (unsigned int d = 0; d < 3; ++d)
            result.push_back(Point<3>::unit_vector(d));
        }
      return result;
    }

    /** Goes from a direction uphill by steps to both sides of it that are halved where none leads up. */
    Tensor<1, 3> climb(Tensor<1, 3> e, unsigned int dim, double step, const std::function<double(const Tensor<1, 3> &)> &height)
    {
      double best = height(e);
      while (step > 1e-6)
        {
          // two directions at right angles to e
          Tensor<1, 3> first  = in_plane(std::atan2(e[1], e[0]) + PI / 2.);
          Tensor<1, 3> second = dim == 2 ? Tensor<1, 3>() : cross_product_3d(e, first);
          bool         higher = false;
          for (const Tensor<1, 3> &aside : {first, -first, second, -second})
            if (aside.norm() > 0.)
              {
                const Tensor<1, 3> there = (e + step * aside) / (e + step * aside).norm();
                if (const double h = height(there); h > best + 1e-13 * std::abs(best))
                  {
                    e      = there;
                    best   = h;
                    higher = true;
                    break;
                  }
              }
          if (!higher)
            step /= 2.;
        }
      return e;
    }
  } // namespace

  LinearizedSystem LinearizedSystem::along(const Tensor<1, 3> &e) const
  {
    LinearizedSystem result = *this;
    result.tensors.clear();
    result.diffusion.clear();
    for (const SymmetricTensor<2, 3> &D : tensors)
      result.diffusion.push_back(e * (D * e));
    return result;
  }

  void TuringAnalysis::find_direction()
  {
    Domain anywhere; // of measure 1
    anywhere.dimension    = domain.dimension;
    const auto directions = even_directions(system.space_dimension);
    double     largest    = std::numeric_limits<double>::lowest();
    slowest_direction     = std::numeric_limits<double>::max();
    shortest              = std::numeric_limits<double>::max();
    for (const Tensor<1, 3> &e : directions)
      {
        const TuringAnalysis there(system.along(e), anywhere);
        slowest_direction = std::min(slowest_direction, there.growth_rate);
        if (there.growth_rate > largest)
          {
            largest   = there.growth_rate;
            direction = e;
          }
        if (!there.bands.empty() && there.k_fastest > 0.)
          {
            shortest = std::min(shortest, 2. * PI / there.k_fastest);
            longest  = std::max(longest, 2. * PI / there.k_fastest);
          }
        bands.insert(bands.end(), there.bands.begin(), there.bands.end());
        n_modes += domain.measure * there.n_modes / static_cast<double>(directions.size()); // after Weyl's law, direction by direction
      }
    prefers_direction = largest - slowest_direction > 1e-5 * std::abs(largest);
    if (prefers_direction)
      direction =
        climb(direction, system.space_dimension, 0.05, [&](const Tensor<1, 3> &e) { return TuringAnalysis(system.along(e), anywhere).growth_rate; });
    if (direction[0] < 0. || (direction[0] == 0. && direction[1] < 0.))
      direction *= -1.;
    system.diffusion = system.along(direction).diffusion;

    // what the directions have together
    std::sort(bands.begin(), bands.end(), [](const Band &a, const Band &b) { return a.k_min < b.k_min; });
    std::vector<Band> joined;
    for (const Band &band : bands)
      if (!joined.empty() && band.k_min <= joined.back().k_max)
        joined.back().k_max = std::max(joined.back().k_max, band.k_max);
      else
        joined.push_back(band);
    bands = joined;

    // cosines are eigenfunctions of div(D grad) where D is diagonal
    has_known_modes = !domain.lengths.empty() && std::all_of(system.tensors.begin(), system.tensors.end(), [](const SymmetricTensor<2, 3> &D) {
      return D[0][1] == 0. && D[0][2] == 0. && D[1][2] == 0.;
    });
  }

  void TuringAnalysis::find_modes_by_axes()
  {
    const unsigned int  n = system.n(), dim = domain.lengths.size();
    std::vector<double> most(dim, 0.); // beyond such a number Gershgorin's discs of J - diag(k . D_c k) lie in the left half-plane
    double              n_tried = 1.;
    for (unsigned int d = 0; d < dim; ++d)
      {
        double k_squared = 0.;
        for (unsigned int c = 0; c < n; ++c)
          {
            double sum = 0.;
            for (unsigned int e = 0; e < n; ++e)
              sum += c == e ? system.jacobian[c * n + e] : std::abs(system.jacobian[c * n + e]);
            k_squared = std::max(k_squared, sum / system.tensors[c][d][d]);
          }
        most[d] = std::floor(std::sqrt(k_squared) * domain.lengths[d] / PI);
        n_tried *= most[d] + 1.;
      }
    if (bands.empty() || n_tried > 1e5)
      {
        has_known_modes = has_known_modes && bands.empty();
        return;
      }
    std::vector<unsigned int> numbers(dim, 0);
    for (double i = 1.; i < n_tried; ++i) // all but the constant one
      {
        for (unsigned int d = 0; d < dim && ++numbers[d] > most[d]; ++d)
          numbers[d] = 0;
        double              k_squared = 0.;
        std::vector<double> decay(n, 0.);
        for (unsigned int d = 0; d < dim; ++d)
          {
            const double of_axis = std::pow(numbers[d] * PI / domain.lengths[d], 2);
            k_squared += of_axis;
            for (unsigned int c = 0; c < n; ++c)
              decay[c] += system.tensors[c][d][d] * of_axis;
          }
        if (const double rate = system.eigenvalues_with(decay).front().real(); rate > zero())
          modes.push_back({numbers, std::sqrt(k_squared), rate});
      }
    std::stable_sort(modes.begin(), modes.end(), [](const Mode &a, const Mode &b) { return a.growth_rate > b.growth_rate; });
    n_modes = static_cast<double>(modes.size());
  }
} // namespace leopard
