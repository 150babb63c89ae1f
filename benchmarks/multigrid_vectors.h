// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <solvers/device/device_vector.h>
#include <solvers/multigrid/multigrid.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace leopard
{
  /**
   * x and b = A 1 where the multigrid computes: a right-hand side for which double precision reaches small residuals on
   * fine grids, too.
   */
  class MultigridVectors
  {
  public:
    explicit MultigridVectors(Multigrid<double> &multigrid)
      : on_device(multigrid.memory_space() == MemorySpace::device)
      , n(multigrid.n_rows())
      , host_x(on_device ? 0 : n)
      , host_b(on_device ? 0 : n)
      , device_x(on_device ? n : 0)
      , device_b(on_device ? n : 0)
    {
      set(x(), 1.);
      multigrid.multiply(b(), x());
    }
    double *x() { return on_device ? device_x.data() : host_x.data(); }
    double *b() { return on_device ? device_b.data() : host_b.data(); }
    void    clear() { set(x(), 0.); }

    /** b with entries between -1 and 1, the same for a seed on every machine. */
    void set_random_right_hand_side(unsigned int seed)
    {
      std::mt19937        random(seed);
      std::vector<double> values(n);
      for (double &value : values)
        value = 2. * random() / 4294967295. - 1.;
      if (on_device)
        device_b.copy_from_host(values.data());
      else
        host_b = values;
    }

    /** ||b - A x|| / ||b||, with the multigrid's product alone. */
    double relative_residual(Multigrid<double> &multigrid)
    {
      if (on_device)
        {
          DeviceVector<double> r(n);
          multigrid.multiply(r.data(), x());
          r.sadd(-1., 1., device_b);
          return r.l2_norm() / device_b.l2_norm();
        }
      std::vector<double> r(n);
      multigrid.multiply(r.data(), x());
      double sum = 0., sum_b = 0.;
      for (std::size_t i = 0; i < n; ++i)
        {
          sum += (host_b[i] - r[i]) * (host_b[i] - r[i]);
          sum_b += host_b[i] * host_b[i];
        }
      return std::sqrt(sum / sum_b);
    }

  private:
    void set(double *v, double value)
    {
      if (on_device)
        (v == device_x.data() ? device_x : device_b) = value;
      else
        std::fill_n(v, n, value);
    }

    const bool           on_device;
    const std::size_t    n;
    std::vector<double>  host_x, host_b;
    DeviceVector<double> device_x, device_b;
  };
} // namespace leopard
