// SPDX-License-Identifier: Apache-2.0
// Schedules that diverge although Jacobi's method converges, and random ones (thesis, Theorems 3.2.2 to 3.2.6).
#include "diverging_schedule.h"
#include "judges.h"
#include "sample_statistics.h"

#include <solvers/matrix/analysis.h>

#include <algorithm>
#include <array>
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

    constexpr int                many_rounds = 4000, many_sweeps = 400;
    constexpr std::array<int, 5> ages  = {1, 2, 5, 10, 20};   ///< sweeps
    constexpr double             below = 0.99, beyond = 1.01; ///< times the bound of Theorem 3.2.5

    /** Orders of single components, with omega = 1 and on both sides of the bound. */
    void study_orders(const Problem &problem, const Settings &settings, Table &table, Report &report)
    {
      OfOrders     found{problem.name, estimate_spectral_radius_abs(problem.A), {}, {}, {}};
      const double bound   = largest_asynchronous_omega(found.radius_abs);
      const auto   measure = [&](double omega) {
        OfOmega result{omega, factor_of_diverging_rounds(problem.A, omega, many_rounds), {}};
        for (const int age : ages)
          result.random.push_back(factor_of_random_order(problem.A, omega, age, many_sweeps, settings.seed + age));
        std::vector<std::string> cells = {problem.name, cell(found.radius_abs, "%.4f"), cell(bound, "%.5f"), cell(omega, "%.5f")};
        for (const double factor : result.random)
          cells.push_back(cell(factor, "%.6f"));
        cells.push_back(cell(result.built, "%.6f"));
        table.add_row(cells);
        return result;
      };
      found.one    = measure(1.);
      found.below  = measure(below * bound);
      found.beyond = measure(beyond * bound);
      judge_omegas(found, report);
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

  void judge_omegas(const OfOrders &found, Report &report)
  {
    const std::string radius  = "rho(|B|) = " + cell(found.radius_abs, "%.4f");
    const std::string why_not = found.radius_abs < 1. ? "" : radius;
    const auto        all     = [](const OfOmega &of) {
      double largest = of.built;
      for (const double factor : of.random)
        largest = larger_or_nan(largest, factor);
      return of.random.empty() ? NAN : largest;
    };
    const auto measured = [&](const OfOmega &of) {
      std::string text;
      for (const double factor : of.random)
        text += (text.empty() ? "" : ", ") + cell(factor, "%.6f");
      return radius + ", omega = " + cell(of.omega, "%.5f") + "; factors of the error " + text + " a sweep, " + cell(of.built, "%.6f") + " a round";
    };
    const std::string orders = "random orders with values of up to 1, 2, 5, 10 and 20 sweeps before converge, and so does the order that is built "
                               "to diverge where one can";
    report.decide("T Theorems 3.2.2, 3.2.3", found.matrix + ": where rho(|B|) < 1 " + orders, all(found.one) < 1., measured(found.one), why_not);
    report.decide(
      "T Theorem 3.2.5", found.matrix + ": with omega = 0.99 * 2 / (1 + rho(|B|)) " + orders, all(found.below) < 1., measured(found.below), why_not);
    report.decide("(Leopard) Theorem 3.2.5",
                  found.matrix + ": with omega = 1.01 * 2 / (1 + rho(|B|)) an order can be built that diverges: the bound cannot be a larger one",
                  found.beyond.built > 1.,
                  measured(found.beyond),
                  why_not);
  }

  void study_divergence(const Settings &settings, Report &report)
  {
    const std::vector<std::string> names = settings.matrices_or({"Chem97ZtZ", "fv1", "fv3", "trefethen"});
    refuse_unused("divergence", settings, {true}, names);
    report.say("divergence: components relaxed one at a time, in a given order and from values of given ages; --seed is of the random ones");
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
    std::vector<std::string> columns = {"matrix", "rho(|B|)", "bound", "omega"};
    for (const int age : ages)
      columns.push_back("random, to " + std::to_string(age) + " before");
    columns.emplace_back("built, a round");
    Table orders("Orders of components: factors of the error a sweep of n updates, " + std::to_string(many_sweeps) + " of them", columns);
    for (const std::string &name : names)
      study_orders(load_problem(name, settings), settings, orders, report);
    report.add(orders);
  }
} // namespace leopard::studies
