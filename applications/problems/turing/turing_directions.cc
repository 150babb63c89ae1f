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
    result.drift.clear();
    if (!tensors.empty())
      result.diffusion.clear();
    for (const SymmetricTensor<2, 3> &D : tensors)
      result.diffusion.push_back(e * (D * e));
    for (const Tensor<1, 3> &v : drift)
      result.drift_along.push_back(v * e);
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
    const LinearizedSystem fastest = system.along(direction);
    system.diffusion               = fastest.diffusion;
    system.drift_along             = fastest.drift_along;

    // what the directions have together
    std::sort(bands.begin(), bands.end(), [](const Band &a, const Band &b) { return a.k_min < b.k_min; });
    std::vector<Band> joined;
    for (const Band &band : bands)
      if (!joined.empty() && band.k_min <= joined.back().k_max)
        joined.back().k_max = std::max(joined.back().k_max, band.k_max);
      else
        joined.push_back(band);
    bands = joined;

    // eigenfunctions of div(D grad): cosines along an axis that D couples with no other one, plane waves in the others
    has_known_modes = !domain.lengths.empty() && system.drift.empty() && system.cross.empty() && system.is_parabolic();
    for (unsigned int d = 0; d < 3; ++d)
      for (unsigned int e = 0; e < 3; ++e)
        if (d != e && are_coupled(d, e))
          has_known_modes = has_known_modes && domain.is_periodic(d) && domain.is_periodic(e);
  }

  bool TuringAnalysis::are_coupled(unsigned int d, unsigned int e) const
  {
    return std::any_of(system.tensors.begin(), system.tensors.end(), [&](const SymmetricTensor<2, 3> &D) { return D[d][e] != 0.; });
  }

  std::vector<int> TuringAnalysis::largest_numbers() const
  {
    const unsigned int n = system.n(), dim = domain.lengths.size();
    std::vector<int>   most(dim, 0);
    for (unsigned int d = 0; d < dim; ++d)
      {
        double k_squared = 0.;
        for (unsigned int c = 0; c < n; ++c)
          {
            double sum = 0.;
            for (unsigned int e = 0; e < n; ++e)
              sum += c == e ? system.jacobian[c * n + e] : std::abs(system.jacobian[c * n + e]);
            SymmetricTensor<2, 3> D = system.tensors[c];
            if (dim == 2)
              D[2][2] = 1.;
            k_squared = std::max(k_squared, sum * invert(D)[d][d]); // k . D k >= k_d^2 / (D^-1)_dd
          }
        most[d] = static_cast<int>(std::min(1e6, std::floor(std::sqrt(k_squared) / smallest_wave_number(d))));
      }
    return most;
  }

  void TuringAnalysis::add_modes(const std::vector<int> &numbers)
  {
    unsigned int waves = 0, first = numbers.size(); // periodic directions with a number, and the first of them
    bool         coupled = false;
    for (unsigned int d = numbers.size(); d-- > 0;)
      if (domain.is_periodic(d) && numbers[d] > 0)
        {
          ++waves;
          first = d;
          for (unsigned int e = d + 1; e < numbers.size(); ++e)
            coupled = coupled || (numbers[e] > 0 && are_coupled(d, e));
        }
    // waves to both sides; they differ where D couples axes
    for (unsigned int signs = 0; signs < (coupled ? 1u << numbers.size() : 1u); ++signs)
      {
        std::vector<int> with_signs = numbers;
        Tensor<1, 3>     k;
        bool             is_new = true;
        for (unsigned int d = 0; d < numbers.size(); ++d)
          {
            if ((signs >> d & 1u) != 0)
              {
                is_new        = is_new && d > first && domain.is_periodic(d) && numbers[d] > 0;
                with_signs[d] = -numbers[d];
              }
            k[d] = with_signs[d] * smallest_wave_number(d);
          }
        std::vector<double> decay;
        for (const SymmetricTensor<2, 3> &D : system.tensors)
          decay.push_back(k * (D * k));
        const double rate = is_new ? system.eigenvalues_with(decay).front().real() : 0.;
        if (!is_new || !(rate > zero()))
          continue;
        const unsigned int multiplicity = coupled ? 2 : 1u << waves;
        modes.push_back({with_signs, k.norm(), rate, multiplicity});
        n_modes += multiplicity;
      }
  }

  void TuringAnalysis::find_modes_by_axes()
  {
    const std::vector<int> most    = largest_numbers();
    double                 n_tried = 1.;
    for (const int number : most)
      n_tried *= number + 1.;
    if (bands.empty() || n_tried > 1e5)
      {
        has_known_modes = has_known_modes && bands.empty();
        return;
      }
    n_modes = 0.;
    std::vector<int> numbers(most.size(), 0);
    for (double i = 1.; i < n_tried; ++i) // all but the constant one
      {
        for (unsigned int d = 0; d < most.size() && ++numbers[d] > most[d]; ++d)
          numbers[d] = 0;
        add_modes(numbers);
      }
    std::stable_sort(modes.begin(), modes.end(), [](const Mode &a, const Mode &b) { return a.growth_rate > b.growth_rate; });
  }
} // namespace leopard
