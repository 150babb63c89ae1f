// SPDX-License-Identifier: Apache-2.0
#include "turing_analysis.h"

#include <solvers/base/errors.h>

#include <deal.II/base/numbers.h>
#include <deal.II/base/patterns.h>
#include <deal.II/lac/full_matrix.h>
#include <deal.II/lac/lapack_full_matrix.h>

#include <algorithm>
#include <cmath>

namespace leopard
{
  using namespace dealii;
  using numbers::PI;

  namespace
  {
    /**
     * A growth rate this small against the entries of the Jacobian is zero up to rounding errors (kinetics that
     * conserve a mass).
     */
    constexpr double zero_growth = 1e-10;

    double largest_entry(const std::vector<double> &jacobian)
    {
      double largest = 0.;
      for (const double entry : jacobian)
        largest = std::max(largest, std::abs(entry));
      return largest;
    }
  } // namespace

  namespace
  {
    bool is_singular(const FullMatrix<double> &A)
    {
      const double least = 1e-14 * std::pow(A.linfty_norm(), A.m());
      if (A.m() < 4)
        return !(std::abs(A.determinant()) > least);
      LAPACKFullMatrix<double> factors(A.m());
      factors = A;
      try // of a matrix that is singular there are no factors
        {
          factors.compute_lu_factorization();
        }
      catch (const LACExceptions::ExcSingular &)
        {
          return true;
        }
      return !(std::abs(factors.determinant()) > least);
    }

    [[noreturn]] void throw_undetermined(double k)
    {
      throw Error("the Turing analysis finds no values of the quasi-stationary species for a disturbance with the wave number " +
                  dealii::Patterns::Tools::to_string(k) +
                  ": their equations do not determine them, and disturbances with wave numbers beside it may grow without bound\n  expected: "
                  "an equation for each that contains it, with diffusion that does not weigh out what the reaction makes of it, or "
                  "'Turing/Steady state = none', which leaves the analysis out");
    }

    /**
     * A_ee - A_es A_ss^-1 A_se for rows and columns s that are `still`, and the others e. @param k the wave number, for
     * a message.
     */
    FullMatrix<double> without(const FullMatrix<double> &A, const std::vector<bool> &still, double k)
    {
      std::vector<unsigned int> e, s;
      for (unsigned int c = 0; c < A.m(); ++c)
        (still[c] ? s : e).push_back(c);
      FullMatrix<double> rest(e.size(), e.size());
      rest.extract_submatrix_from(A, e, e);
      if (!s.empty())
        {
          FullMatrix<double> A_ss(s.size(), s.size()), A_es(e.size(), s.size()), A_se(s.size(), e.size()), found(s.size(), e.size());
          A_ss.extract_submatrix_from(A, s, s);
          A_es.extract_submatrix_from(A, e, s);
          A_se.extract_submatrix_from(A, s, e);
          if (is_singular(A_ss))
            throw_undetermined(k);
          A_ss.gauss_jordan();
          A_ss.mmult(found, A_se);
          FullMatrix<double> effect(e.size(), e.size());
          A_es.mmult(effect, found);
          rest.add(-1., effect);
        }
      return rest;
    }

    /** LAPACK ends the program over what is not finite, with the exit code 0. @param k as above. */
    void check_numbers(const FullMatrix<double> &A, double k)
    {
      for (unsigned int c = 0; c < A.m(); ++c)
        for (unsigned int d = 0; d < A.m(); ++d)
          if (!std::isfinite(A(c, d)))
            throw Error(
              "the Turing analysis meets numbers beyond the range of double precision, at the wave number " + dealii::Patterns::Tools::to_string(k) +
              "\n  expected: constants, 'Turing/gamma' and diffusion coefficients of another size, or 'Turing/Steady state = none', which leaves the "
              "analysis out");
    }

    /** Of what without() leaves, the one with the largest real part first. */
    std::vector<std::complex<double>> eigenvalues_of(const FullMatrix<double> &A, const std::vector<bool> &still, double k)
    {
      check_numbers(A, k);
      const FullMatrix<double> rest = without(A, still, k);
      check_numbers(rest, k);
      LAPACKFullMatrix<double> matrix(rest.m());
      matrix = rest;
      matrix.compute_eigenvalues();
      std::vector<std::complex<double>> values(matrix.m());
      for (unsigned int c = 0; c < matrix.m(); ++c)
        values[c] = matrix.eigenvalue(c);
      std::sort(values.begin(), values.end(), [](const auto &a, const auto &b) {
        return a.real() > b.real() || (a.real() == b.real() && a.imag() > b.imag());
      });
      return values;
    }

    /** The least real part of the eigenvalues of D. */
    double slowest_diffusion(LinearizedSystem system)
    {
      std::fill(system.jacobian.begin(), system.jacobian.end(), 0.);
      system.drift_along.clear();
      return -system.eigenvalues(1.).front().real();
    }
  } // namespace

  bool LinearizedSystem::is_parabolic() const
  {
    return still.empty() && std::find(diffusion.begin(), diffusion.end(), 0.) == diffusion.end();
  }

  std::vector<bool> LinearizedSystem::is_still(unsigned int n_rows) const
  {
    std::vector<bool> result(n_rows, false);
    for (const unsigned int c : still)
      for (unsigned int row = c; row < n_rows; row += n())
        result[row] = true;
    return result;
  }

  std::vector<double> LinearizedSystem::full_diffusion() const
  {
    std::vector<double> D = cross;
    D.resize(n() * n(), 0.);
    for (unsigned int c = 0; c < n(); ++c)
      D[c * n() + c] += diffusion[c];
    return D;
  }

  std::vector<std::complex<double>> LinearizedSystem::eigenvalues(double k_squared) const
  {
    const bool                has_drift = !drift_along.empty() && k_squared > 0.;
    const double              k         = std::sqrt(k_squared);
    const std::vector<double> D         = full_diffusion();
    const unsigned int        size      = n();
    // (A, kV; -kV, A) has the eigenvalues of A - i k V and of its conjugate
    const unsigned int n_rows = has_drift ? 2 * size : size;
    FullMatrix<double> matrix(n_rows, n_rows);
    for (unsigned int c = 0; c < size; ++c)
      for (unsigned int d = 0; d < size; ++d)
        {
          matrix(c, d) = jacobian[c * size + d] - k_squared * D[c * size + d];
          if (!has_drift)
            continue;
          matrix(c + size, d + size) = matrix(c, d);
          matrix(c, d + size)        = k * drift_along[c * size + d];
          matrix(c + size, d)        = -matrix(c, d + size);
        }
    return eigenvalues_of(matrix, is_still(n_rows), k);
  }

  std::vector<std::complex<double>> LinearizedSystem::eigenvalues_with(const std::vector<double> &decay) const
  {
    FullMatrix<double> matrix(n(), n());
    for (unsigned int c = 0; c < n(); ++c)
      for (unsigned int d = 0; d < n(); ++d)
        matrix(c, d) = jacobian[c * n() + d] - (c == d ? decay[c] : 0.);
    return eigenvalues_of(matrix, is_still(n()), std::sqrt(decay[0] / diffusion[0]));
  }

  TuringAnalysis::TuringAnalysis(const LinearizedSystem &system_, const Domain &domain_)
    : system(system_)
    , domain(domain_)
  {
    has_known_modes = domain.has_known_modes();
    if (is_anisotropic())
      find_direction();
    check_system();
    eigenvalues                               = system.eigenvalues(0.);
    stable_without_diffusion                  = eigenvalues.front().real() <= zero();
    const std::vector<Band> of_all_directions = bands;
    bands.clear();
    find_bands();
    if (is_anisotropic())
      bands = of_all_directions;
    find_modes();
    if (has_conditions())
      check_conditions();
    predict();
  }

  void TuringAnalysis::check_system() const
  {
    for (const double coefficient : system.diffusion)
      if (!(coefficient >= 0.))
        throw Error("a diffusion coefficient is " + dealii::Patterns::Tools::to_string(coefficient) +
                    "\n  expected: positive numbers for 'Turing/kappa' or 'Turing/Diffusion ...', or 'Turing/Steady state = none', which leaves the "
                    "analysis out");
    if (!system.cross.empty() && system.is_parabolic())
      if (const double slowest = slowest_diffusion(system); !(slowest > 0.))
        throw Error(
          "the matrix of diffusion coefficients with 'Turing/Cross-diffusion ...' has an eigenvalue with the real part " +
          dealii::Patterns::Tools::to_string(slowest) +
          " at the homogeneous steady state: disturbances grow the faster the shorter they are, and no mesh is fine enough for them"
          "\n  expected: cross-diffusion that is smaller against the species' own, so that all are positive, or 'Turing/Steady state = none', "
          "which leaves the analysis out");
    for (const double entry : system.jacobian)
      if (!std::isfinite(entry))
        throw Error("the derivatives of the kinetics are not finite at the homogeneous steady state"
                    "\n  expected: other constants, or 'Turing/Steady state = none', which leaves the analysis out");
    check_quasi_stationary();
  }

  void TuringAnalysis::check_quasi_stationary() const
  {
    const unsigned int n = system.still.size();
    if (n == 0)
      return;
    // J_ss - s D_ss = A + (z - s) D_ss, A = J_ss - z D_ss, has no inverse where 1/(s - z) is an eigenvalue of A^-1 D_ss
    const std::vector<double> D = system.full_diffusion();
    const double              z = -0.7237 * std::max(largest_entry(system.jacobian), 1e-300) / std::max(largest_entry(D), 1e-300);
    FullMatrix<double>        A(n, n), D_ss(n, n), product(n, n);
    for (unsigned int c = 0; c < n; ++c)
      for (unsigned int d = 0; d < n; ++d)
        {
          const unsigned int at = system.still[c] * system.n() + system.still[d];
          D_ss(c, d)            = D[at];
          A(c, d)               = system.jacobian[at] - z * D[at];
        }
    if (is_singular(A))
      throw_undetermined(0.);
    A.gauss_jordan();
    A.mmult(product, D_ss);
    check_numbers(product, 0.);
    LAPACKFullMatrix<double> scaled(n);
    scaled = product;
    scaled.compute_eigenvalues();
    for (unsigned int c = 0; c < n; ++c)
      {
        const std::complex<double> value = scaled.eigenvalue(c);
        const double               s = z + 1. / value.real(), largest = 1e12 * std::abs(z); // beyond: zero up to rounding
        if (value.imag() == 0. && value.real() > 0. && s >= -1e-10 * std::abs(z) && s < largest)
          throw_undetermined(std::sqrt(std::max(0., s)));
      }
  }

  double TuringAnalysis::zero() const
  {
    return zero_growth * largest_entry(system.jacobian);
  }

  double TuringAnalysis::largest_unstable() const
  {
    const unsigned int n = system.n();
    if (!system.is_parabolic())
      return where_all_decay();
    if (!system.cross.empty())
      {
        // growth tends to -s times this
        const double slowest = slowest_diffusion(system);
        const auto   decays  = [&](double s) { return growth(s) < -0.5 * s * slowest; };
        double       s       = std::max(largest_entry(system.jacobian), 1e-300) / slowest;
        while (!(decays(s) && decays(2. * s) && decays(4. * s)))
          s *= 2.;
        return s;
      }
    // beyond this Gershgorin's discs of J - s D - i sqrt(s) V lie in the left half-plane
    double s_max = 0.;
    for (unsigned int c = 0; c < n; ++c)
      {
        double sum = 0., drift = 0.;
        for (unsigned int d = 0; d < n; ++d)
          {
            sum += c == d ? system.jacobian[c * n + d] : std::abs(system.jacobian[c * n + d]);
            drift += c == d || system.drift_along.empty() ? 0. : std::abs(system.drift_along[c * n + d]);
          }
        const double D = system.diffusion[c], root = drift * drift + 4. * D * sum;
        s_max = std::max(s_max, drift == 0. ? sum / D : root > 0. ? std::pow((drift + std::sqrt(root)) / (2. * D), 2) : 0.);
      }
    return 1.001 * s_max;
  }

  double TuringAnalysis::where_all_decay() const
  {
    const double largest_D = largest_entry(system.full_diffusion()), largest_J = std::max(largest_entry(system.jacobian), 1e-300);
    if (largest_D == 0.)
      throw Error("no species diffuses\n  expected: at least one that does, or 'Turing/Steady state = none', which leaves the analysis out");
    constexpr double beyond = 1e6; // in which all decay, too
    double           s      = largest_J / largest_D;
    for (const double limit = 1e12 * s; s < limit; s *= 2.)
      {
        double further = s;
        while (further <= beyond * s && !(growth(further) > zero()))
          further *= 2.;
        if (further > beyond * s)
          return s;
      }
    throw Error("disturbances of the homogeneous steady state grow however short they are, the shortest of them with the rate " +
                dealii::Patterns::Tools::to_string(growth(s)) +
                ", and no mesh is fine enough for them"
                "\n  expected: species that do not diffuse, or are quasi-stationary, with equations by which short disturbances decay, or "
                "'Turing/Steady state = none', which leaves the analysis out");
  }

  std::vector<double> TuringAnalysis::zeros_of_growth() const
  {
    if (!system.drift_along.empty())
      return {}; // there eigenvalues are complex
    // det(J - s D) = 0, s an eigenvalue of D^-1 J
    const unsigned int        n     = system.n();
    const std::vector<double> all_D = system.full_diffusion();
    FullMatrix<double>        D(n, n), J(n, n), product(n, n);
    for (unsigned int c = 0; c < n; ++c)
      for (unsigned int d = 0; d < n; ++d)
        {
          D(c, d) = all_D[c * n + d];
          J(c, d) = system.jacobian[c * n + d];
        }
    if (!system.is_parabolic() && is_singular(D))
      return {}; // not all eigenvalues are finite
    if (system.cross.empty())
      for (unsigned int c = 0; c < n; ++c)
        D(c, c) = 1. / D(c, c);
    else
      D.gauss_jordan();
    D.mmult(product, J);
    LAPACKFullMatrix<double> scaled(n);
    scaled = product;
    scaled.compute_eigenvalues();
    std::vector<double> zeros;
    for (unsigned int c = 0; c < n; ++c)
      if (const auto s = scaled.eigenvalue(c); s.real() > 0. && s.imag() == 0.)
        zeros.push_back(s.real());
    std::sort(zeros.begin(), zeros.end());
    return zeros;
  }

  void TuringAnalysis::find_bands()
  {
    const double        s_max = largest_unstable();
    std::vector<double> grid  = {0.};
    for (unsigned int i = 1; i <= 400; ++i)
      {
        grid.push_back(s_max * i / 400.);
        grid.push_back(s_max * std::pow(10., -8. * i / 400.));
      }
    // between the places where an eigenvalue is zero: the grid then sees the narrowest stationary band
    const std::vector<double> zeros = zeros_of_growth();
    for (unsigned int i = 0; i + 1 < zeros.size(); ++i)
      grid.push_back((zeros[i] + zeros[i + 1]) / 2.);
    std::sort(grid.begin(), grid.end());

    const double least      = zero();
    const auto   is_growing = [&](double s) { return growth(s) > least; };
    const auto   boundary   = [&](double low, double high) {
      const bool at_low = is_growing(low);
      for (unsigned int i = 0; i < 100 && high - low > 1e-13 * high; ++i)
        (is_growing((low + high) / 2.) == at_low ? low : high) = (low + high) / 2.;
      return std::sqrt((low + high) / 2.);
    };
    double best = 0.;
    for (unsigned int i = 0; i < grid.size(); ++i)
      {
        if (growth(grid[i]) > growth(best))
          best = grid[i];
        const bool now = is_growing(grid[i]), before = i > 0 && is_growing(grid[i - 1]);
        if (now && !before)
          bands.push_back({i == 0 ? 0. : boundary(grid[i - 1], grid[i]), 0.});
        else if (before && !now)
          bands.back().k_max = boundary(grid[i - 1], grid[i]);
      }
    find_fastest(grid, best);
  }

  void TuringAnalysis::find_fastest(const std::vector<double> &grid, double best)
  {
    // golden-section search between the neighbours of the best point
    const auto   at  = std::find(grid.begin(), grid.end(), best);
    double       low = at == grid.begin() ? best : *std::prev(at), high = std::next(at) == grid.end() ? best : *std::next(at);
    const double ratio = (std::sqrt(5.) - 1.) / 2.;
    for (const double width = 1e-10 * high; high - low > width;)
      {
        const double left = high - ratio * (high - low), right = low + ratio * (high - low);
        (growth(left) < growth(right) ? low : high) = growth(left) < growth(right) ? left : right;
      }
    const double s = best == 0. ? 0. : (low + high) / 2.;
    k_fastest      = std::sqrt(s);
    growth_rate    = growth(s);
    frequency      = std::abs(system.eigenvalues(s).front().imag());
    if (!(frequency > 1e-10 * std::abs(system.eigenvalues(s).front()))) // rounding
      frequency = 0.;
  }

  void TuringAnalysis::find_modes()
  {
    constexpr double most = 20000.;
    if (is_anisotropic())
      {
        if (has_known_modes)
          find_modes_by_axes();
        return;
      }
    for (const Band &band : bands)
      n_modes += domain.dimension == 2 ? domain.measure * (std::pow(band.k_max, 2) - std::pow(band.k_min, 2)) / (4. * PI)
                                       : domain.measure * (std::pow(band.k_max, 3) - std::pow(band.k_min, 3)) / (6. * PI * PI);
    if (!domain.has_known_modes() || bands.empty() || n_modes > most)
      return;
    n_modes = 0.;
    if (domain.radius > 0.)
      find_modes_of_sphere();
    else
      find_modes_of_box();
    std::stable_sort(modes.begin(), modes.end(), [](const Mode &a, const Mode &b) { return a.growth_rate > b.growth_rate; });
  }

  bool TuringAnalysis::is_unstable(double k_squared) const
  {
    return std::any_of(
      bands.begin(), bands.end(), [&](const Band &band) { return band.k_min * band.k_min < k_squared && k_squared < band.k_max * band.k_max; });
  }

  void TuringAnalysis::find_modes_of_sphere()
  {
    for (unsigned int l = 1;; ++l)
      {
        const double s = l * (l + 1.) / (domain.radius * domain.radius);
        if (s > std::pow(bands.back().k_max, 2))
          return;
        if (!is_unstable(s))
          continue;
        modes.push_back({{static_cast<int>(l)}, std::sqrt(s), growth(s), 2 * l + 1});
        n_modes += 2 * l + 1;
      }
  }

  double TuringAnalysis::smallest_wave_number(unsigned int d) const
  {
    return (domain.is_periodic(d) ? 2. : 1.) * PI / domain.lengths[d];
  }

  void TuringAnalysis::find_modes_of_box()
  {
    const unsigned int dim   = domain.lengths.size();
    const double       k_max = bands.back().k_max;
    std::vector<int>   numbers(dim, 0);
    while (true)
      {
        // the next of all (m, n, ...) with k <= k_max
        unsigned int d = 0;
        for (; d < dim; ++d)
          {
            ++numbers[d];
            if (numbers[d] * smallest_wave_number(d) <= k_max)
              break;
            numbers[d] = 0;
          }
        if (d == dim)
          break;
        double       s            = 0.;
        unsigned int multiplicity = 1;
        for (d = 0; d < dim; ++d)
          {
            s += std::pow(numbers[d] * smallest_wave_number(d), 2);
            multiplicity *= domain.is_periodic(d) && numbers[d] > 0 ? 2 : 1;
          }
        if (!is_unstable(s))
          continue;
        modes.push_back({numbers, std::sqrt(s), growth(s), multiplicity});
        n_modes += multiplicity;
      }
  }

  void TuringAnalysis::check_conditions()
  {
    const std::vector<double> &J = system.jacobian, &D = system.diffusion;
    conditions.trace       = J[0] + J[3];
    conditions.determinant = J[0] * J[3] - J[1] * J[2];
    conditions.mixed       = D[1] * J[0] + D[0] * J[3];
    conditions.excess =
      conditions.determinant > 0. && conditions.mixed > 0. ? conditions.mixed * conditions.mixed / (4. * D[0] * D[1] * conditions.determinant) : 0.;
    conditions.activator = J[3] > J[0] ? 1 : 0;
    const double a = J[3 * conditions.activator], b = J[3 - 3 * conditions.activator];
    if (stable_without_diffusion && a > 0. && conditions.determinant > 0.)
      conditions.critical_ratio =
        (2. * conditions.determinant - a * b + 2. * std::sqrt(conditions.determinant * (conditions.determinant - a * b))) / (a * a);
  }

  void TuringAnalysis::predict()
  {
    double k_chosen = modes.empty() ? k_fastest : modes.front().k;
    if (is_anisotropic() && !prefers_direction && longest > 0.)
      k_chosen = 2. * PI / std::sqrt(shortest * longest); // that of as many spots in the plane
    if (k_chosen > 0. && !bands.empty())
      {
        wavelength = 2. * PI / k_chosen;
        n_spots    = spots_of_lattice(domain.measure, domain.dimension, wavelength);
      }
    explain();
    pattern = reason.empty();
  }
} // namespace leopard
