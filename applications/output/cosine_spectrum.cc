// SPDX-License-Identifier: Apache-2.0
#include "cosine_spectrum.h"

#include <fftw3.h>

#include <algorithm>
#include <cmath>
#include <new>

namespace leopard
{
  namespace
  {
    constexpr double pi = 3.14159265358979323846;
  }

  void CosineSpectrum::Free::operator()(double *p) const
  {
    fftw_free(p);
  }

  CosineSpectrum::CosineSpectrum(const std::vector<unsigned int> &n_nodes_, const std::vector<double> &lengths_, const std::vector<bool> &periodic_)
    : n_all(n_nodes_)
    , n_nodes(n_nodes_)
    , periodic(periodic_)
    , lengths(lengths_)
  {
    periodic.resize(n_nodes.size(), false);
    for (std::size_t d = 0; d < n_nodes.size(); ++d)
      {
        n_nodes[d] -= periodic[d] ? 1 : 0;
        n_values *= n_nodes[d];
      }
    buffer.reset(fftw_alloc_real(n_values));
    if (buffer == nullptr)
      throw std::bad_alloc();
    const std::vector<int>     sizes(n_nodes.rbegin(), n_nodes.rend()); // FFTW wants the direction that runs fastest last
    std::vector<fftw_r2r_kind> kinds;
    for (std::size_t d = n_nodes.size(); d-- > 0;)
      kinds.push_back(periodic[d] ? FFTW_R2HC : FFTW_REDFT00);
    plan = fftw_plan_r2r(static_cast<int>(sizes.size()), sizes.data(), buffer.get(), buffer.get(), kinds.data(), FFTW_ESTIMATE);

    double largest = 0., smallest = pi / lengths[0] * 2.; // |k| of the last mode, and of the first that is not constant
    for (std::size_t d = 0; d < n_nodes.size(); ++d)
      {
        largest  = std::hypot(largest, (n_all[d] - 1) * pi / lengths[d]);
        smallest = std::min(smallest, (periodic[d] ? 2. : 1.) * pi / lengths[d]);
      }
    // shells of the smallest |k|, but where one side is very much longer than another not more than there are modes
    shell_thickness = std::max(smallest, largest / n_values);
    energy.resize(static_cast<std::size_t>(largest / shell_thickness + 0.5) + 3);
    moment.resize(energy.size());
  }

  CosineSpectrum::~CosineSpectrum()
  {
    fftw_destroy_plan(static_cast<fftw_plan>(plan));
  }

  void CosineSpectrum::set_values(const double *all_nodes)
  {
    std::vector<unsigned int> index(n_nodes.size(), 0);
    for (std::size_t i = 0; i < n_values; ++i)
      {
        std::size_t node = 0;
        for (std::size_t d = n_all.size(); d-- > 0;)
          node = node * n_all[d] + index[d];
        buffer[i] = all_nodes[node];
        for (std::size_t d = 0; d < index.size() && ++index[d] == n_nodes[d]; ++d)
          index[d] = 0;
      }
  }

  template <typename Visit>
  void CosineSpectrum::visit_modes(const Visit &visit)
  {
    fftw_execute(static_cast<fftw_plan>(plan));
    std::vector<unsigned int> mode(n_nodes.size(), 0);
    for (std::size_t i = 0; i < n_values; ++i)
      {
        // of one direction: f = sum of a_k cos(...), a_k = Y_k / (n-1), half of that for the first and the last; cos^2
        // has the mean 1/2, or 1 for these two. Of a periodic one a_k = 2 Y_k / n, half of that for the constant and,
        // if n is even, the last; the sines come after the cosines, backwards
        double k2 = 0., e = buffer[i] * buffer[i];
        for (std::size_t d = 0; d < mode.size(); ++d)
          {
            const unsigned int m = mode[d], n = n_nodes[d];
            const double       k = (periodic[d] ? 2. * std::min(m, n - m) : m) * pi / lengths[d];
            k2 += k * k;
            e *= periodic[d] ? (m == 0 || 2 * m == n ? 1. : 2.) / (static_cast<double>(n) * n)
                             : (m == 0 || m + 1 == n ? 0.25 : 0.5) / ((n - 1.) * (n - 1.));
          }
        visit(std::sqrt(k2), e);
        for (std::size_t d = 0; d < mode.size() && ++mode[d] == n_nodes[d]; ++d)
          mode[d] = 0;
      }
  }

  double CosineSpectrum::dominant_wave_number()
  {
    std::fill(energy.begin(), energy.end(), 0.);
    std::fill(moment.begin(), moment.end(), 0.);
    double mean_energy = 0., other_energy = 0.;
    visit_modes([&](double k, double e) {
      if (k == 0.)
        {
          mean_energy = e;
          return;
        }
      const auto shell = static_cast<std::size_t>(k / shell_thickness + 0.5);
      energy[shell] += e;
      moment[shell] += e * k;
      other_energy += e;
    });
    if (!(other_energy > 1e-20 * (mean_energy + other_energy)))
      return 0.;
    const std::size_t peak = std::max_element(energy.begin(), energy.end()) - energy.begin(), first = std::max<std::size_t>(peak, 1) - 1;
    double            sum = 0., weighted = 0.;
    for (std::size_t shell = first; shell <= peak + 1; ++shell)
      {
        sum += energy[shell];
        weighted += moment[shell];
      }
    return weighted / sum;
  }

  CosineSpectrum::Energy CosineSpectrum::energy_in(const std::vector<std::pair<double, double>> &intervals)
  {
    Energy sums;
    visit_modes([&](double k, double e) {
      if (k == 0.)
        return;
      sums.total += e;
      if (std::any_of(intervals.begin(), intervals.end(), [k](const auto &interval) { return interval.first < k && k < interval.second; }))
        sums.inside += e;
    });
    return sums;
  }
} // namespace leopard
