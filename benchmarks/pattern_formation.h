// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <applications/reaction_diffusion/stepper.h>

#include <cmath>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace pattern_benchmark
{
  /** The initial values of the thesis, section 4.14.2.2, in the unit square; in three dimensions with z added to y. */
  inline std::vector<double> initial_values(const leopard::reaction_diffusion::NodeGrid &grid)
  {
    const long          n  = grid.n_nodes();
    const double        pi = std::acos(-1.);
    std::vector<double> u(2 * n);
    for (long i = 0; i < n; ++i)
      {
        const double x = grid.spacing[0] * static_cast<double>(i % grid.n[0]);
        const double y = grid.spacing[1] * static_cast<double>(i / grid.n[0] % grid.n[1]);
        const double z = grid.spacing[2] * static_cast<double>(i / grid.n[0] / grid.n[1]);
        double       p = 0.0016 * std::cos(2. * pi * (x + y + z));
        for (int j = 1; j <= 8; ++j)
          p += 0.001 * std::cos(2. * pi * j * x);
        u[i]     = 0.919145 + p;
        u[n + i] = 0.937903 + p;
      }
    return u;
  }

  /** Processor time of this process, all threads. */
  inline double cpu_seconds()
  {
    return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
  }

  inline std::string field_file(const std::string &prefix, double time)
  {
    char name[32];
    std::snprintf(name, sizeof(name), "_%g.f64", time);
    return prefix + name;
  }

  /** The largest difference of the first `n` numbers from those in REFERENCE_TIME.f64. */
  inline double largest_difference(const double *u, long n, double time, const std::string &reference)
  {
    std::vector<double> exact(n);
    if (!std::ifstream(field_file(reference, time), std::ios::binary)
           .read(reinterpret_cast<char *>(exact.data()), static_cast<std::streamsize>(n * sizeof(double))))
      throw std::runtime_error("cannot read " + std::to_string(n) + " values from " + field_file(reference, time));
    double largest = 0.;
    for (long i = 0; i < n; ++i)
      if (const double difference = std::abs(u[i] - exact[i]); !(difference <= largest)) // not a number, too
        largest = difference;
    return largest;
  }

  /**
   * Writes fields to OUTPUT_TIME.f64 and says how far they, and the first of the two, are from those in
   * REFERENCE_TIME.f64, unless the names are empty.
   */
  inline std::string compare_and_write(const double *u, long n, double time, const std::string &reference, const std::string &output)
  {
    if (!output.empty())
      std::ofstream(field_file(output, time), std::ios::binary)
        .write(reinterpret_cast<const char *>(u), static_cast<std::streamsize>(n * sizeof(double)));
    if (reference.empty())
      return "";
    char text[80];
    std::snprintf(text,
                  sizeof(text),
                  "  largest difference %.3e, of u %.3e",
                  largest_difference(u, n, time, reference),
                  largest_difference(u, n / 2, time, reference));
    return text;
  }
} // namespace pattern_benchmark
