// SPDX-License-Identifier: Apache-2.0
// A schedule that diverges although Jacobi's method converges (thesis, Theorem 3.2.6).
#include "diverging_schedule.h"
#include "judges.h"
#include "sample_statistics.h"

#include <solvers/matrix/analysis.h>

#include <algorithm>
#include <cmath>

namespace leopard::studies
{
  namespace
  {
    constexpr int n_rounds = 50;

    /** max_i |x_i| after each update, from ones, of the system whose solution is zero: the error. */
    std::vector<double> sizes(const CrsMatrix<double> &A, const std::vector<Update> &updates)
    {
      std::vector<double> result;
      for (const std::vector<double> &x : chaotic_relaxation(A, std::vector<double>(A.n_rows, 0.), std::vector<double>(A.n_rows, 1.), updates))
        {
          double size = 0.;
          for (const double value : x)
            size = larger_or_nan(size, std::abs(value));
          result.push_back(size);
        }
      return result;
    }

    int oldest(const std::vector<Update> &updates)
    {
      int result = 0;
      for (const Update &update : updates)
        result = std::max(result, *std::max_element(update.ages.begin(), update.ages.end()));
      return result;
    }

    /** The factor of a round of as many updates, in the mean over the second half. */
    double growth(const std::vector<double> &sizes, int round)
    {
      const std::size_t half = sizes.size() / 2;
      return std::pow(sizes.back() / sizes[half], static_cast<double>(round) / (sizes.size() - 1 - half));
    }
  } // namespace

  void judge_ring(const Ring &ring, Report &report)
  {
    const std::string of_c     = "c = " + cell(ring.c, "%.1f");
    const std::string measured = "rho(B) = " + cell(ring.radius, "%.4f") + ", rho(|B|) = " + cell(ring.radius_abs, "%.4f") +
                                 "; factors of the error a round " + cell(ring.built, "%.4f") + ", Jacobi " + cell(ring.jacobi, "%.4f");
    if (ring.radius_abs > 1.)
      report.finding("T Theorem 3.2.6",
                     of_c + ": where rho(B) < 1 < rho(|B|) Jacobi's method converges, and an order with values of bounded age diverges",
                     ring.radius < 1. && ring.jacobi < 1. && ring.built > 1.,
                     measured);
    else
      report.finding("T Theorem 3.2.6", of_c + ": where rho(|B|) < 1 the same order converges", ring.radius_abs < 1. && ring.built < 1., measured);
  }

  void study_divergence(const Settings & /*settings*/, Report &report)
  {
    report.say("divergence: components relaxed one at a time, in a given order and from values of given ages, which no option changes");
    Table table("A ring of four with couplings c, c, c, -c: rounds of 8 updates, " + std::to_string(n_rounds) + " of them",
                {"c", "rho(B)", "rho(|B|)", "oldest value", "error", "factor a round", "error, Jacobi", "factor, Jacobi"});
    for (const double c : {0.4, 0.6, 0.7})
      {
        const CrsMatrix<double>   A     = ring_of_four(c);
        const MatrixAnalysis      radii = analyze(A, contiguous_blocks(A.n_rows, 1));
        const std::vector<double> zero(A.n_rows, 0.), ones(A.n_rows, 1.);
        const std::vector<Update> built = diverging_schedule(A, zero, ones, n_rounds), jacobi = jacobi_schedule(A, 2 * n_rounds);
        const std::vector<double> of_built = sizes(A, built), of_jacobi = sizes(A, jacobi);
        const double              grows = growth(of_built, 2 * A.n_rows), settles = growth(of_jacobi, 2 * A.n_rows);
        table.add_row({cell(c, "%.1f"),
                       cell(radii.spectral_radius, "%.4f"),
                       cell(radii.spectral_radius_abs, "%.4f"),
                       cell(oldest(built)),
                       cell(of_built.back(), "%.2e"),
                       cell(grows, "%.4f"),
                       cell(of_jacobi.back(), "%.2e"),
                       cell(settles, "%.4f")});
        judge_ring({c, radii.spectral_radius, radii.spectral_radius_abs, grows, settles}, report);
      }
    report.add(table);
  }
} // namespace leopard::studies
