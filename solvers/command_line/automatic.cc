// SPDX-License-Identifier: Apache-2.0
#include "automatic.h"

#include "../base/norms.h"
#include "../base/thread_pool.h"
#include "../base/words.h"
#include "../device/device.h"
#include "../matrix/scaled_matrix.h"
#include "../matrix/stencil.h"
#include "../multigrid/coarse_solvers.h"
#include "gpus.h"
#include "nodes.h"
#include "report.h"
#include "strong_methods.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>
#include <limits>
#include <mutex>

namespace leopard::command_line
{
  namespace
  {
    constexpr double fast_radius = 0.9; ///< rho(|B|) up to which relaxation alone is as good as anything: 22 iterations a digit at most

    double sum_of_row(const CrsMatrix<double> &A, int i, double &absolute)
    {
      double sum = absolute = 0.;
      for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
        {
          sum += A.values[p];
          absolute += std::abs(A.values[p]);
        }
      return sum;
    }

    /** What entries tell, of some rows or of all. */
    struct Look
    {
      double off_diagonal = 0., of_wrong_sign = 0., smallest = std::numeric_limits<double>::infinity(), largest = 0.;
      double sum = 0., absolute_sum = 0.; // of all entries
      bool   positive = true, whole = true, dominant = true, singular = true, singular_in_single = true, coupled = false;

      void add_row(const CrsMatrix<double> &A, int i, double diagonal)
      {
        const double size = std::abs(diagonal);
        for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1] && size > 0.; ++p)
          if (A.columns[p] != i)
            {
              off_diagonal += std::abs(A.values[p]) / size;
              of_wrong_sign += A.values[p] * diagonal > 0. ? std::abs(A.values[p]) / size : 0.;
            }
        double       absolute = 0.;
        const double of_row = sum_of_row(A, i, absolute), row_sum = std::abs(of_row);
        sum += of_row;
        absolute_sum += absolute;
        const bool alone   = absolute == size;
        singular           = singular && (reached(row_sum, 1e-13 * absolute) || alone);
        singular_in_single = singular_in_single && (reached(row_sum, 1e-6 * absolute) || alone);
        coupled            = coupled || !alone;
        positive           = positive && diagonal > 0.;
        dominant           = dominant && absolute - size <= (1. + 1e-12) * size;
        smallest           = size > 0. ? std::min(smallest, size) : smallest;
        largest            = std::max(largest, size);
        whole              = whole && size > 0.;
      }

      void add(const Look &other)
      {
        off_diagonal += other.off_diagonal;
        of_wrong_sign += other.of_wrong_sign;
        sum += other.sum;
        absolute_sum += other.absolute_sum;
        smallest           = std::min(smallest, other.smallest);
        largest            = std::max(largest, other.largest);
        positive           = positive && other.positive;
        dominant           = dominant && other.dominant;
        whole              = whole && other.whole;
        singular           = singular && other.singular;
        singular_in_single = singular_in_single && other.singular_in_single;
        coupled            = coupled || other.coupled;
      }
    };

    void look_at_entries(const CrsMatrix<double> &A, MatrixTraits &traits, std::vector<double> &diagonal)
    {
      Look       look;
      std::mutex one_at_a_time;
      parallel_for(*shared_thread_pool(0), A.n_rows, 4096, [&](long begin, long end) {
        Look mine;
        for (int i = static_cast<int>(begin); i < static_cast<int>(end); ++i)
          {
            for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
              if (A.columns[p] == i)
                diagonal[i] = A.values[p];
            mine.add_row(A, i, diagonal[i]);
          }
        const std::lock_guard<std::mutex> lock(one_at_a_time);
        look.add(mine);
      });
      traits.diagonal_range        = look.largest / look.smallest;
      traits.has_positive_diagonal = look.positive;
      traits.has_whole_diagonal    = look.whole;
      traits.is_dominant           = look.whole && look.dominant;
      traits.why_indefinite =
        traits.is_symmetric && look.positive && look.sum < -1e-12 * look.absolute_sum ? "the sum of its entries is below zero" : "";
      traits.is_singular           = look.singular && look.coupled;
      traits.is_singular_in_single = look.singular_in_single && look.coupled;
      traits.wrong_sign            = look.off_diagonal > 0. ? look.of_wrong_sign / look.off_diagonal : 0.;
    }

    /** max_j sum_i |a_ij / a_jj| without i = j, which bounds rho(|B|), too: the columns of Markov chains tell more. */
    double bound_by_columns(const CrsMatrix<double> &A, const std::vector<double> &diagonal)
    {
      std::vector<double> sums(A.n_rows, 0.);
      for (int i = 0; i < A.n_rows; ++i)
        for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
          if (A.columns[p] != i)
            sums[A.columns[p]] += std::abs(A.values[p] / diagonal[A.columns[p]]);
      double largest = 0.;
      for (const double sum : sums)
        largest = std::isfinite(sum) ? std::max(largest, sum) : std::numeric_limits<double>::infinity();
      return largest;
    }

    /**
     * max_i (|B| v)_i / v_i for some v > 0 of power iterations with |B| + I; ends early where the radius is not small.
     */
    double bound_of_radius(const CrsMatrix<double> &A, const std::vector<double> &diagonal)
    {
      constexpr int       most = 30, few = 6;
      constexpr double    hopeless = 0.97, seconds = 0.5;
      const auto          start = std::chrono::steady_clock::now();
      const auto          pool  = shared_thread_pool(0);
      std::vector<double> v(A.n_rows, 1.), next(A.n_rows);
      double              bound = std::numeric_limits<double>::infinity();
      for (int step = 0; step < most; ++step)
        {
          double     largest = 0., norm = 0.;
          bool       finite = true;
          std::mutex one_at_a_time;
          parallel_for(*pool, A.n_rows, 4096, [&](long begin, long end) {
            double my_largest = 0., my_norm = 0.;
            bool   my_finite = true;
            for (int i = static_cast<int>(begin); i < static_cast<int>(end); ++i)
              {
                double sum = 0.;
                for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
                  if (A.columns[p] != i)
                    sum += std::abs(A.values[p]) * v[A.columns[p]];
                sum /= std::abs(diagonal[i]);
                my_finite  = my_finite && std::isfinite(sum / v[i]);
                my_largest = std::max(my_largest, sum / v[i]);
                next[i]    = sum + v[i];
                my_norm    = std::max(my_norm, next[i]);
              }
            const std::lock_guard<std::mutex> lock(one_at_a_time);
            largest = std::max(largest, my_largest);
            norm    = std::max(norm, my_norm);
            finite  = finite && my_finite;
          });
          if (!finite)
            return std::numeric_limits<double>::infinity();
          bound = std::min(bound, largest);
          for (int i = 0; i < A.n_rows; ++i)
            v[i] = std::max(next[i] / norm, 1e-200);
          const bool late = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() > seconds;
          if (!(bound > 0.5 * fast_radius) || late || (step >= few && bound > hopeless))
            break;
        }
      return bound;
    }

    /** Whether corners of a plane through the centre differ by more than half the largest coupling along the axes. */
    bool is_oblique(const Stencil<double> &stencil, double largest)
    {
      const auto differs = [&](double a, double b) { return std::abs(a - b) > 0.5 * largest; };
      return differs(stencil.coefficient(1, 1, 0), stencil.coefficient(1, -1, 0)) ||
             differs(stencil.coefficient(1, 0, 1), stencil.coefficient(1, 0, -1)) ||
             differs(stencil.coefficient(0, 1, 1), stencil.coefficient(0, 1, -1));
    }

    /**
     * Whether within four edges of some rows there are not many more others than within two: 3 times as many in two
     * dimensions, 5 or 6 in three, tens in random graphs, whose coarse levels fill up, and where iterations reach all
     * of the matrix soon.
     */
    bool grows_like_a_mesh(const CrsMatrix<double> &A)
    {
      constexpr int    n_samples = 16;
      constexpr double most      = 10.;
      std::vector<int> seen_by(A.n_rows, -1), front;
      std::size_t      near = 0, far = 0;
      for (int sample = 0; sample < n_samples; ++sample)
        {
          front             = {static_cast<int>((sample + 0.5) * A.n_rows / n_samples)};
          seen_by[front[0]] = sample;
          std::size_t begin = 0;
          for (int edge = 0; edge < 4; ++edge)
            {
              const std::size_t end = front.size();
              for (std::size_t k = begin; k < end; ++k)
                for (int p = A.row_offsets[front[k]]; p < A.row_offsets[front[k] + 1]; ++p)
                  if (const int j = A.columns[p]; seen_by[j] != sample)
                    {
                      seen_by[j] = sample;
                      front.push_back(j);
                    }
              begin = end;
              near += edge == 1 ? front.size() : 0;
            }
          far += front.size();
        }
      return static_cast<double>(far) <= most * static_cast<double>(near);
    }

    /**
     * Whether point smoothers smooth it, and it is definite: nearly equal couplings in all directions, those between
     * the axes, too, no row sum below zero.
     */
    bool suits_multigrid(const Stencil<double> &stencil)
    {
      constexpr double most     = 4.;
      double           smallest = std::numeric_limits<double>::infinity(), largest = 0., sum = 0.;
      const auto       look = [&](int n, double coefficient) {
        smallest = n > 1 ? std::min(smallest, std::abs(coefficient)) : smallest;
        largest  = n > 1 ? std::max(largest, std::abs(coefficient)) : largest;
      };
      look(stencil.n_x, stencil.coefficient(1, 0, 0));
      look(stencil.n_y, stencil.coefficient(0, 1, 0));
      look(stencil.n_z, stencil.coefficient(0, 0, 1));
      for (const double coefficient : stencil.coefficients)
        sum += coefficient;
      return largest <= most * smallest && !is_oblique(stencil, largest) && (!stencil.diagonal.empty() || sum >= -1e-12 * largest);
    }

    Attempt direct(const std::string &why)
    {
      return {"direct", "none", why};
    }

    /** cholesky_operations() of A, or of A + A^T where its pattern is not symmetric. */
    double factor_operations(const CrsMatrix<double> &A)
    {
      const CrsMatrix<double> T = transpose(A);
      if (T.row_offsets == A.row_offsets && T.columns == A.columns)
        return cholesky_operations(A);
      CrsMatrix<double> both;
      both.n_rows = both.n_columns = A.n_rows;
      for (int i = 0; i < A.n_rows; ++i)
        {
          std::set_union(A.columns.begin() + A.row_offsets[i],
                         A.columns.begin() + A.row_offsets[i + 1],
                         T.columns.begin() + T.row_offsets[i],
                         T.columns.begin() + T.row_offsets[i + 1],
                         std::back_inserter(both.columns));
          both.row_offsets.push_back(static_cast<int>(both.columns.size()));
        }
      both.values.assign(both.columns.size(), 1.);
      return cholesky_operations(both);
    }

    constexpr double  few_operations = 300.; ///< factors of less take no longer than some tens of iterations
    constexpr double  largest_shift  = 0.01; ///< where incomplete factors need more they are far from the matrix
    constexpr double  of_iteration   = 3.;   // of cholesky_operations(): iterations in vain take twice the time of the factors at most
    const char *const unpromised     = "for matrices that are not definite, too; convergence is not promised";

    /** Factors of many rows are the last but one: what they take is known when they are tried. */
    void add_direct(std::vector<Attempt> &attempts, const MatrixTraits &traits, bool has_direct, const Attempt &last)
    {
      if (has_direct)
        attempts.push_back(direct("exact but for rounding"));
      if (!has_direct || traits.n_rows > most_rows_of_direct)
        attempts.push_back(last);
    }

    std::vector<Attempt> of_indefinite(const CrsMatrix<double> &A, const MatrixTraits &traits, bool has_direct)
    {
      const std::string    what = "symmetric and not definite, as " + traits.why_indefinite;
      std::vector<Attempt> result;
      if (traits.is_like_diffusion() && traits.is_like_mesh && !(has_direct && cholesky_operations(A) <= cheap_cholesky))
        result.push_back({"gmres", "multigrid", what + "; convergence is not promised", 60});
      add_direct(result, traits, has_direct, {"gmres", "jacobi", unpromised});
      result.front().why =
        what + (result.front().method == "direct" ? ": factors, which are exact but for rounding" : "; convergence is not promised");
      return result;
    }

    std::vector<Attempt> of_symmetric(const CrsMatrix<double> &A, const MatrixTraits &traits, bool has_direct)
    {
      if (!traits.why_indefinite.empty())
        return of_indefinite(A, traits, has_direct);
      std::vector<Attempt> result;
      const bool           has_small = has_direct && traits.n_rows <= most_rows_of_direct;
      if (traits.stencil != nullptr)
        result.push_back({"multigrid", "none", "a symmetric stencil with positive diagonal", 60, traits.stencil});
      if (traits.is_like_diffusion() && !traits.is_like_mesh)
        result.push_back({"cg",
                          "jacobi",
                          traits.is_singular ? "symmetric, its rows sum to zero, a graph that spreads faster than a mesh"
                                             : "symmetric with positive diagonal, a graph that spreads faster than a mesh",
                          200});
      if (traits.is_singular)
        {
          result.push_back({"cg", "multigrid", "symmetric, its rows sum to zero: constants are its null space", 300});
          result.push_back({"multigrid", "none", "the same by cycles alone", 200});
          result.push_back({"cg", "jacobi", "the same, without coarse levels"});
          return result;
        }
      Attempt cg_factors = {"cg", "ic", "symmetric with positive diagonal", 3000};
      if (traits.is_like_diffusion())
        result.push_back({"cg", "multigrid", "symmetric with positive diagonal, entries like those of diffusion", 300});
      else if (const double work = has_small ? cholesky_operations(A) : 2. * cheap_cholesky; work <= cheap_cholesky)
        {
          if (work <= few_operations)
            {
              Attempt of_singular         = {"cg", "jacobi", "semidefinite, if b is in the range of the matrix", 1000};
              of_singular.is_for_singular = true;
              return {direct("symmetric with positive diagonal, and its factors take less time than some tens of iterations"), of_singular};
            }
          cg_factors.max_iterations = static_cast<int>(work / of_iteration);
          cg_factors.largest_shift  = largest_shift;
        }
      cg_factors.has_factors_to_come = has_small && traits.is_like_diffusion();
      result.push_back(cg_factors);
      if (has_direct && traits.is_like_diffusion()) // waves of low frequency: the coarse levels suit, CG does not
        result.push_back({"gmres", "multigrid", "for matrices that are not definite, too", 60});
      add_direct(result, traits, has_direct, {"gmres", "jacobi", unpromised});
      return result;
    }

    const std::string smoother_of_others = "ilu0"; ///< of non-symmetric matrices: levels in any order, on the host alone

    bool may_use_gpu(const Arguments &arguments)
    {
      return arguments.backend == "cuda" || (arguments.backend == "automatic" && device::n_devices() > 0);
    }

    /**
     * Chebyshev's interval is one of real eigenvalues: iterations for c400, a flow with cell Peclet number 0.6, are 890
     * with ILU(0) alone and 9 with multigrid that it smooths. A GPU smooths with what runs there first.
     */
    std::vector<Attempt> with_smoothers_of_others(Attempt multigrid, const Arguments &arguments)
    {
      std::vector<Attempt> result;
      if (may_use_gpu(arguments))
        result.push_back(multigrid);
      if (arguments.backend != "cuda")
        {
          multigrid.smoother = smoother_of_others;
          multigrid.why += ", smoothed by " + smoother_of_others;
          result.push_back(multigrid);
        }
      return result;
    }

    std::vector<Attempt> of_others(const CrsMatrix<double> &A, const MatrixTraits &traits, const Arguments &arguments, bool has_direct)
    {
      std::vector<Attempt> result;
      const std::string    what      = traits.is_symmetric ? "symmetric, the diagonal is not positive" : "not symmetric";
      const bool           has_small = has_direct && traits.n_rows <= most_rows_of_direct;
      const int            patience  = has_small ? 60 : 200; // coarse levels that suit a matrix need some tens of iterations
      const Attempt        multigrid = {"gmres", "multigrid", what + ", entries like those of diffusion", patience};
      Attempt              factors   = {"gmres", "ilu", what, 300};
      if (traits.is_like_diffusion())
        {
          result                      = traits.is_symmetric ? std::vector<Attempt>{multigrid} : with_smoothers_of_others(multigrid, arguments);
          factors.has_factors_to_come = has_small;
        }
      else if (const double work = has_small ? factor_operations(A) : 2. * cheap_cholesky; work <= few_operations)
        {
          factors.is_for_singular = true;
          return {direct(what + ", and its factors take less time than some tens of iterations"), factors};
        }
      else if (work <= cheap_cholesky)
        factors.largest_shift = largest_shift;
      result.insert(traits.is_like_mesh ? result.end() : result.begin(), factors);
      if (!has_direct)
        result.back().max_iterations = 0;
      else
        add_direct(result, traits, has_direct, {"gmres", "ilu", what + "; convergence is not promised"});
      return result;
    }
  } // namespace

  MatrixTraits look_at(const CrsMatrix<double> &A, bool is_symmetric)
  {
    MatrixTraits        traits;
    std::vector<double> diagonal(A.n_rows, 0.);
    traits.n_rows       = A.n_rows;
    traits.is_symmetric = is_symmetric;
    look_at_entries(A, traits, diagonal);
    traits.radius_bound = traits.has_whole_diagonal ? bound_of_radius(A, diagonal) : std::numeric_limits<double>::infinity();
    if (!is_symmetric && traits.has_whole_diagonal && !(traits.radius_bound <= fast_radius))
      traits.radius_bound = std::min(traits.radius_bound, bound_by_columns(A, diagonal));
    if (is_symmetric && traits.has_positive_diagonal && traits.is_like_diffusion())
      if (auto stencil = stencil_in_disguise(A); stencil && suits_multigrid(*stencil))
        traits.stencil = std::make_shared<const Stencil<double>>(std::move(*stencil));
    traits.is_like_mesh = traits.stencil != nullptr || !traits.is_like_diffusion() || grows_like_a_mesh(A);
    return traits;
  }

  std::string range_text(const MatrixTraits &traits)
  {
    return std::isfinite(traits.diagonal_range) ? short_text(traits.diagonal_range, 2) : "1e308 or more";
  }

  namespace
  {
    /** Of a diagonal S near |D|^-1/2. */
    Scaling symmetric_scaling(const CrsMatrix<double> &A)
    {
      Scaling result;
      result.columns.resize(A.n_rows);
      for (int i = 0; i < A.n_rows; ++i)
        for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
          if (A.columns[p] == i)
            result.columns[i] = scale_of(A.values[p]);
      result.rows = result.columns;
      result.text = "S A S y = S b with a diagonal near 1, x = S y";
      return result;
    }

    /** Divides rows and columns by the square roots of their largest entries again and again (Ruiz 2001). */
    Scaling general_scaling(const CrsMatrix<double> &A)
    {
      constexpr int n_times = 20;
      Scaling       result;
      result.rows = result.columns = std::vector<double>(A.n_rows, 1.);
      result.text                  = "R A C y = R b, whose rows and columns have largest entries near 1, x = C y";
      std::vector<double> of_rows(A.n_rows), of_columns(A.n_rows);
      for (int time = 0, n_changed = A.n_rows; time < n_times && n_changed > 0; ++time)
        {
          n_changed = 0;
          std::fill(of_rows.begin(), of_rows.end(), 0.);
          std::fill(of_columns.begin(), of_columns.end(), 0.);
          for (int i = 0; i < A.n_rows; ++i)
            for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
              {
                const double size        = std::abs(result.rows[i] * A.values[p] * result.columns[A.columns[p]]);
                of_rows[i]               = std::max(of_rows[i], size);
                of_columns[A.columns[p]] = std::max(of_columns[A.columns[p]], size);
              }
          const auto take = [&](double &factor, double largest) {
            const double more = largest > 0. && std::isfinite(largest) ? scale_of(largest) : 1.;
            n_changed += more != 1. ? 1 : 0;
            factor *= more;
          };
          for (int i = 0; i < A.n_rows; ++i)
            {
              take(result.rows[i], of_rows[i]);
              take(result.columns[i], of_columns[i]);
            }
        }
      return result;
    }
  } // namespace

  Scaling equilibration(const CrsMatrix<double> &A, const MatrixTraits &traits)
  {
    constexpr double harmless = 1e6;
    const bool       is_even  = traits.diagonal_range <= harmless;
    if ((is_even && traits.is_symmetric) || !traits.has_whole_diagonal || traits.is_singular || A.n_rows == 0)
      return {};
    Scaling result = traits.is_symmetric ? symmetric_scaling(A) : general_scaling(A);
    result.why     = "entries of the diagonal differ by the factor " + range_text(traits);
    if (is_even)
      {
        const auto range = [](const std::vector<double> &factors) {
          const auto [least, most] = std::minmax_element(factors.begin(), factors.end());
          return *most / *least;
        };
        const double largest = std::max(range(result.rows), range(result.columns));
        if (largest <= harmless)
          return {};
        result.why = "rows and columns differ in size by the factor " + short_text(largest, 2);
      }
    return result;
  }

  CrsMatrix<double> scaled(CrsMatrix<double> A, const Scaling &scaling)
  {
    for (int i = 0; i < A.n_rows; ++i)
      for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
        A.values[p] *= scaling.rows[i] * scaling.columns[A.columns[p]];
    A.validate(); // entries that overflow, or a diagonal that underflows
    return A;
  }

  namespace
  {
    /** Told what the unknowns are, aggregation suits systems, too, of which the signs of the entries tell nothing. */
    void try_nodes_first(std::vector<Attempt> &attempts, const MatrixTraits &traits, const Arguments &arguments)
    {
      const bool    is_cg = traits.is_symmetric && traits.has_positive_diagonal;
      const Attempt first = {is_cg ? "cg" : "gmres", "multigrid", "its nodes are given, by " + text_of_nodes(arguments), 300};
      attempts.erase(std::remove_if(attempts.begin(),
                                    attempts.end(),
                                    [&](const Attempt &a) { return a.method == first.method && a.preconditioner == first.preconditioner; }),
                     attempts.end());
      attempts.insert(attempts.begin(), first);
    }

    std::vector<Attempt> methods_for(const CrsMatrix<double> &A, const MatrixTraits &traits, const Arguments &arguments)
    {
      if (arguments.n_gpus > 0 && arguments.is_krylov() && arguments.preconditioner == "automatic")
        return {with_own_rows(arguments.method_name, traits)};
      if (arguments.is_krylov() && arguments.preconditioner == "automatic")
        {
          Attempt attempt = {arguments.method_name, "multigrid", "entries like those of diffusion"};
          if (!traits.has_whole_diagonal)
            attempt = {arguments.method_name, "none", "the diagonal has zeros"};
          else if (arguments.has_nodes())
            attempt.why = "its nodes are given, by " + text_of_nodes(arguments);
          else if (!traits.is_like_diffusion())
            attempt = {arguments.method_name, arguments.method_name == "cg" ? "ic" : "ilu", "entries unlike those of diffusion"};
          return {attempt};
        }
      if (arguments.method_name != "automatic")
        return {{arguments.method_name, arguments.preconditioner, "as asked for"}};
      const bool has_direct = arguments.backend != "cuda"; // factors are the host's
      if (!traits.has_whole_diagonal && arguments.n_gpus == 0)
        return {has_direct ? direct("the diagonal has zeros") : Attempt{"gmres", "none", "the diagonal has zeros; convergence is not promised"}};
      std::vector<Attempt> result = arguments.n_gpus > 0                                  ? methods_on_gpus(traits)
                                    : traits.is_symmetric && traits.has_positive_diagonal ? of_symmetric(A, traits, has_direct)
                                                                                          : of_others(A, traits, arguments, has_direct);
      if (traits.radius_bound <= fast_radius)
        result.insert(result.begin(),
                      {"async", "none", "rho(|B|) is at most " + short_text(traits.radius_bound, 3) + ": every schedule converges, and fast", 2000});
      if (arguments.has_nodes())
        try_nodes_first(result, traits, arguments);
      return result;
    }
  } // namespace

  std::vector<Attempt> attempts_for(const CrsMatrix<double> &A, const MatrixTraits &traits, const Arguments &arguments)
  {
    constexpr double     digits_of_single = 1e7;
    std::vector<Attempt> result           = methods_for(A, traits, arguments);
    for (Attempt &attempt : result)
      {
        // rows that sum to zero are known as such; nearly zero they are lost to rounding
        attempt.in_double = (traits.is_singular_in_single && !traits.is_singular) || !reached(traits.diagonal_range, digits_of_single) ||
                            arguments.backend == "reference";
        if (!traits.is_symmetric && !may_use_gpu(arguments) && with_attempt(arguments, attempt).has_multigrid())
          attempt.smoother = smoother_of_others;
      }
    return result;
  }

  Attempt at_its_turn(Attempt attempt, const CrsMatrix<double> &A)
  {
    if (attempt.has_factors_to_come)
      if (const double work = factor_operations(A); work <= cheap_cholesky)
        {
          const double each      = attempt.preconditioner == "ilu" ? 1. : of_iteration; // LU takes longer than Cholesky
          attempt.max_iterations = std::min(attempt.max_iterations, 1 + static_cast<int>(work / each));
          if (attempt.preconditioner == "ilu")
            attempt.largest_shift = largest_shift;
        }
    return attempt;
  }

  Arguments with_attempt(const Arguments &arguments, const Attempt &attempt)
  {
    Arguments result      = arguments;
    result.is_automatic   = arguments.method_name == "automatic";
    result.method_name    = attempt.method;
    result.preconditioner = attempt.preconditioner;
    result.found_stencil  = attempt.stencil;
    result.largest_shift  = attempt.largest_shift;
    if (!attempt.smoother.empty() && !arguments.has("--smoother"))
      result.smoother = attempt.smoother;
    if (attempt.stencil != nullptr && !result.has("--precision")) // cycles in single precision are safe there
      result.precision = Precision::automatic;
    const bool asks_for_mixed = result.precision == Precision::mixed && result.has("--precision"),
               may_choose     = result.has("--precision") ? result.precision == Precision::automatic || (asks_for_mixed && result.is_automatic)
                                                          : result.is_automatic;
    if (result.is_krylov() && result.has_multigrid() && may_choose)
      result.precision = attempt.in_double ? Precision::double_precision : Precision::mixed;
    else if (asks_for_mixed && result.is_automatic && !result.is_relaxation())
      result.precision = result.method_name != "direct" && !attempt.in_double ? Precision::mixed : Precision::double_precision;
    else if (attempt.in_double && result.method_name == "multigrid" && result.precision == Precision::automatic)
      result.precision = Precision::double_precision;
    if (result.criteria.max_iterations == 0) // corrections are at least one
      result.precision = Precision::double_precision;
    if (attempt.max_iterations > 0 && !arguments.has("--max-iterations"))
      result.criteria.max_iterations = attempt.max_iterations;
    return result;
  }

  std::string text_of(const Attempt &attempt)
  {
    return attempt.method +
           (attempt.preconditioner == "none" || attempt.preconditioner == "automatic" ? "" : " preconditioned by " + attempt.preconditioner);
  }
} // namespace leopard::command_line
