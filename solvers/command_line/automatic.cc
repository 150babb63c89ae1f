// SPDX-License-Identifier: Apache-2.0
#include "automatic.h"

#include "../base/norms.h"
#include "../base/words.h"
#include "../device/device.h"
#include "../matrix/sparse_product.h"
#include "../multigrid/coarse_solvers.h"
#include "direct_method.h"
#include "gpus.h"
#include "method.h"
#include "nodes.h"
#include "report.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace leopard::command_line
{
  namespace
  {
    /** By aggregation. */
    bool has_levels(const Attempt &attempt)
    {
      return attempt.stencil == nullptr && (attempt.method == "multigrid" || attempt.preconditioner == "multigrid");
    }

    Attempt direct(const std::string &why)
    {
      return {"direct", "none", why};
    }

    /** cholesky_operations() of A, or of A + A^T where its pattern is not symmetric. */
    double factor_operations(const CrsMatrix<double> &A)
    {
      const CrsMatrix<double> T = transpose(A, 0);
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

    constexpr double  most_complexity            = 5.; ///< above which anything else is faster than cycles
    constexpr double  most_complexity_of_systems = 20.;
    constexpr double  few_operations             = 300.; ///< factors of less take no longer than some tens of iterations
    constexpr double  largest_shift              = 0.01; ///< where incomplete factors need more they are far from the matrix
    constexpr double  of_iteration               = 3.;   // of cholesky_operations(): iterations in vain take twice the time of the factors at most
    const char *const unpromised                 = "for matrices that are not definite, too; convergence is not promised";

    /** Factors of many rows are the last but one: what they take is known when they are tried. */
    void add_direct(std::vector<Attempt> &attempts, const MatrixTraits &traits, bool has_direct, const Attempt &last)
    {
      if (has_direct)
        attempts.push_back(direct("exact but for rounding"));
      if (!has_direct || traits.n_rows > most_rows_of_direct || traits.has_hopeless_factors())
        attempts.push_back(last);
    }

    /** Of b in the range: as many as the smallest eigenvalue that is not zero may take, in some ten seconds at most. */
    int iterations_of_singular(const CrsMatrix<double> &A)
    {
      constexpr double least = 1e4, a_row = 20., entries = 1e10;
      return static_cast<int>(std::max(least, std::min(a_row * A.n_rows, entries / std::max(1, A.n_entries()))));
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

    bool may_use_gpu(const Arguments &arguments)
    {
      return arguments.backend == "cuda" || (may_take_gpu(arguments) && device::n_devices() > 0);
    }

    /**
     * The rotations of a body are not known, and where it is thin, or hardly compressible, cycles do not suit: 40
     * iterations are to show it.
     */
    Attempt of_found_nodes(const Arguments &arguments)
    {
      Attempt result          = {"cg", "multigrid", "symmetric with positive diagonal, nodes of " + text_of_nodes(arguments), 300};
      result.early_iterations = 40;
      result.early_residual   = 1e-2;
      return result;
    }

    std::vector<Attempt> of_symmetric(const CrsMatrix<double> &A, const MatrixTraits &traits, const Arguments &arguments, bool has_direct)
    {
      if (!traits.why_indefinite.empty())
        return of_indefinite(A, traits, has_direct);
      std::vector<Attempt> result;
      const bool           has_small = has_direct && traits.n_rows <= most_rows_of_direct && !traits.has_hopeless_factors();
      if (traits.stencil != nullptr)
        result.push_back({"multigrid", "none", "a symmetric stencil with positive diagonal", 60, traits.stencil});
      if (has_direct && !may_use_gpu(arguments) && traits.is_like_diffusion() && traits.is_like_tree() && !traits.is_singular)
        result.push_back(direct("symmetric with positive diagonal, a tree but for " + std::to_string(traits.n_core) +
                                " rows: its factors have hardly more entries than it"));
      else if (traits.is_like_diffusion() && !traits.is_like_mesh)
        {
          Attempt cg         = {"cg",
                                "jacobi",
                        traits.is_singular ? "symmetric, its rows sum to zero, a graph that spreads faster than a mesh"
                                                   : "symmetric with positive diagonal, a graph that spreads faster than a mesh",
                                60}; // which tell, as such a graph has no slow parts unless its weights make some
          cg.more_iterations = 140;
          result.push_back(cg);
        }
      if (traits.is_singular)
        {
          result.push_back({"cg", "multigrid", "symmetric, its rows sum to zero: constants are its null space", 300});
          result.push_back({"multigrid", "none", "the same by cycles alone", 200});
          result.push_back({"cg", "jacobi", "the same, without coarse levels"});
          if (has_direct)
            result.push_back(direct("the same: rounding makes factors of it regular, or they say that they are singular"));
          return result;
        }
      Attempt cg_factors = {"cg", "ic", "symmetric with positive diagonal", 3000};
      if (traits.is_like_diffusion())
        result.push_back({"cg", "multigrid", "symmetric with positive diagonal, entries like those of diffusion", 300});
      else if (const double work = has_small && !traits.relaxes_fast() ? cholesky_operations(A) : 2. * cheap_cholesky; work <= cheap_cholesky)
        {
          if (work <= few_operations)
            {
              Attempt of_singular         = {"cg", "jacobi", "semidefinite, if b is in the range of the matrix", iterations_of_singular(A)};
              of_singular.is_for_singular = true;
              return {direct("symmetric with positive diagonal, and its factors take less time than some tens of iterations"), of_singular};
            }
          cg_factors.max_iterations = static_cast<int>(work / of_iteration);
          cg_factors.largest_shift  = largest_shift;
        }
      else if (arguments.has_found_nodes())
        result.push_back(of_found_nodes(arguments));
      const bool had_direct          = !result.empty() && result.front().method == "direct"; // of a tree
      cg_factors.has_factors_to_come = has_small && (traits.is_like_diffusion() || traits.relaxes_fast()) && !had_direct;
      result.push_back(cg_factors);
      if (traits.is_like_diffusion()) // waves of low frequency: the coarse levels suit, CG does not
        result.push_back({"gmres", "multigrid", "for matrices that are not definite, too", 60});
      add_direct(result, traits, has_direct && !had_direct, {"gmres", "jacobi", unpromised});
      return result;
    }

    const std::string smoother_of_others = "ilu0"; ///< of non-symmetric matrices: levels in any order, which the host makes

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
      const bool           has_small = has_direct && traits.n_rows <= most_rows_of_direct && !traits.has_hopeless_factors();
      const int            patience  = has_small ? 60 : 200; // coarse levels that suit a matrix need some tens of iterations
      Attempt              multigrid = {"gmres", "multigrid", what + ", entries like those of diffusion", patience};
      multigrid.early_iterations     = has_small ? 20 : 60; // by then they have begun to fall, or the weights are too rough for aggregates
      multigrid.early_residual       = 0.9;
      Attempt factors                = {"gmres", "ilu", what, 300};
      if (traits.is_like_diffusion())
        {
          result                      = traits.is_symmetric ? std::vector<Attempt>{multigrid} : with_smoothers_of_others(multigrid, arguments);
          factors.has_factors_to_come = has_small && !traits.is_triangular;
        }
      else if (traits.relaxes_fast())
        factors.has_factors_to_come = has_small && !traits.is_triangular;
      else if (const double work = has_small && !traits.is_triangular ? factor_operations(A) : 2. * cheap_cholesky; work <= few_operations)
        {
          factors.is_for_singular = true;
          return {direct(what + ", and its factors take less time than some tens of iterations"), factors};
        }
      else if (work <= cheap_cholesky)
        factors.largest_shift = largest_shift;
      if (traits.is_triangular)
        factors.why = "triangular: its incomplete factors are exact";
      result.insert(traits.is_like_mesh && !traits.is_triangular ? result.end() : result.begin(), factors);
      if (!has_direct)
        result.back().max_iterations = 0;
      else
        add_direct(result, traits, has_direct, {"gmres", "ilu", what + "; convergence is not promised"});
      if (result.back().method == "direct") // which ends where the matrix is singular
        {
          Attempt of_singular         = {"gmres", "ilu", what + ", if b is in the range of the matrix", iterations_of_singular(A)};
          of_singular.is_for_singular = true;
          result.push_back(of_singular);
        }
      return result;
    }

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

    /**
     * On a GPU asynchronous ones, and exact ones next: these take an iteration ten times as long, but some matrices
     * (shells) may bear no others.
     */
    std::vector<Attempt> with_triangular_solves(const std::vector<Attempt> &attempts, const Arguments &arguments, bool is_triangular)
    {
      if (arguments.triangular_solves != "automatic")
        return attempts;
      const bool           on_gpu = may_use_gpu(arguments) && !is_triangular; // whose factors are exact, and solves are to be, too
      std::vector<Attempt> result;
      for (Attempt attempt : attempts)
        {
          const bool has_factors = attempt.preconditioner == "ic" || attempt.preconditioner == "ilu";
          if (has_factors)
            attempt.triangular = choose_triangular(on_gpu ? Backend::cuda : Backend::host, attempt.method == "cg");
          result.push_back(attempt);
          if (!has_factors || !attempt.triangular->is_asynchronous())
            continue;
          attempt.triangular    = TriangularChoice{{}, "exact"};
          attempt.is_exact_next = true;
          attempt.why           = "the same with exact triangular solves";
          result.push_back(attempt);
        }
      return result;
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
          else if (traits.is_triangular)
            attempt = {arguments.method_name, "ilu", "triangular: its incomplete factors are exact"};
          else if (!traits.is_like_diffusion())
            attempt = {arguments.method_name, arguments.method_name == "cg" ? "ic" : "ilu", "entries unlike those of diffusion"};
          return {attempt};
        }
      if (arguments.method_name != "automatic")
        return {{arguments.method_name, arguments.preconditioner, "as asked for"}};
      const bool has_direct = arguments.backend != "cuda"; // factors are the host's
      if (!traits.has_whole_diagonal && arguments.n_gpus == 0)
        {
          Attempt gmres         = {"gmres", "none", "the diagonal has zeros; convergence is not promised"};
          gmres.is_for_singular = has_direct;
          return has_direct ? std::vector<Attempt>{direct("the diagonal has zeros"), gmres} : std::vector<Attempt>{gmres};
        }
      std::vector<Attempt> result = arguments.n_gpus > 0                                  ? methods_on_gpus(traits)
                                    : traits.is_symmetric && traits.has_positive_diagonal ? of_symmetric(A, traits, arguments, has_direct)
                                                                                          : of_others(A, traits, arguments, has_direct);
      if (traits.relaxes_fast())
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
    std::vector<Attempt> result           = with_triangular_solves(methods_for(A, traits, arguments), arguments, traits.is_triangular);
    for (Attempt &attempt : result)
      {
        // rows that sum to zero are known as such; nearly zero they are lost to rounding
        attempt.in_double = (traits.is_singular_in_single && !traits.is_singular) || !reached(traits.diagonal_range, digits_of_single) ||
                            arguments.backend == "reference";
        attempt.has_dear_factors = traits.has_hopeless_factors();
        if (!traits.is_symmetric && !may_use_gpu(arguments) && with_attempt(arguments, attempt).has_multigrid())
          attempt.smoother = smoother_of_others;
      }
    // coarse levels of graphs fill up; others follow, but for the last
    for (std::size_t i = 0; i + 1 < result.size() && arguments.method_name == "automatic"; ++i)
      if (has_levels(result[i]))
        result[i].most_complexity = arguments.has_nodes() || arguments.has_found_nodes() ? most_complexity_of_systems : most_complexity;
    return result;
  }

  Attempt at_its_turn(Attempt attempt, const CrsMatrix<double> &A, double tolerance, double seconds_left)
  {
    constexpr double of_entry       = 2e-6; // seconds of the analysis, which nothing interrupts, at most
    constexpr double digits_by_then = 0.15; // of those that it is to gain, after half of the iterations; GMRES may fall faster in the end
    if (attempt.has_factors_to_come && seconds_left > of_entry * A.n_entries())
      if (const double work = factor_operations(A); work <= cheap_cholesky)
        {
          const double each      = attempt.preconditioner == "ilu" ? 1. : of_iteration; // LU takes longer than Cholesky
          attempt.max_iterations = std::min(attempt.max_iterations, 1 + static_cast<int>(work / each));
          if (attempt.preconditioner == "ilu")
            {
              attempt.largest_shift    = largest_shift;
              attempt.early_iterations = attempt.max_iterations / 2;
              attempt.early_residual   = tolerance > 0. ? std::pow(tolerance, digits_by_then) : 1.;
            }
        }
    return attempt;
  }

  std::optional<Attempt> patient(const Attempt &attempt, double reached_so_far, const Attempt &next, const CrsMatrix<double> &A)
  {
    constexpr double falls = 0.1;
    constexpr int    times = 10;
    if (attempt.is_patient || attempt.max_iterations == 0 || !reached(reached_so_far, falls) || next.method != "direct" ||
        (!attempt.has_dear_factors && factor_operations(A) <= cheap_cholesky))
      return {};
    Attempt result = attempt;
    result.max_iterations *= times;
    result.is_patient = true;
    result.why        = "the same with more iterations, as the residual falls, and sparse factors take long";
    return result;
  }

  bool leave_out_levels(std::vector<Attempt> &attempts, std::size_t i)
  {
    attempts.erase(std::remove_if(attempts.begin() + static_cast<long>(i) + 1, attempts.end(), has_levels), attempts.end());
    return i + 1 == attempts.size();
  }

  bool leave_out_exact_solves(std::vector<Attempt> &attempts, std::size_t i)
  {
    if (i + 1 < attempts.size() && attempts[i + 1].is_exact_next)
      attempts.erase(attempts.begin() + static_cast<long>(i) + 1);
    return i + 1 == attempts.size();
  }

  Arguments with_attempt(const Arguments &arguments, const Attempt &attempt)
  {
    Arguments result        = arguments;
    result.is_automatic     = arguments.method_name == "automatic";
    result.method_name      = attempt.method;
    result.preconditioner   = attempt.preconditioner;
    result.found_stencil    = attempt.stencil;
    result.largest_shift    = attempt.largest_shift;
    result.early_iterations = attempt.early_iterations;
    result.early_residual   = attempt.early_residual;
    result.most_complexity  = attempt.most_complexity;
    result.has_dear_factors = attempt.has_dear_factors;
    if (!attempt.smoother.empty() && !arguments.has("--smoother"))
      result.smoother = attempt.smoother;
    if (attempt.triangular)
      result.triangular = attempt.triangular->options;
    if (attempt.triangular && attempt.triangular->is_asynchronous())
      {
        result.async.local_iterations = attempt.triangular->options.block_async.local_iterations;
        result.async.schedule         = attempt.triangular->options.block_async.schedule;
      }
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
      {
        result.criteria.max_iterations = attempt.max_iterations;
        result.more_iterations         = attempt.more_iterations < 0 ? attempt.max_iterations : attempt.more_iterations;
      }
    return result;
  }

  std::string text_of(const Attempt &attempt)
  {
    return attempt.method +
           (attempt.preconditioner == "none" || attempt.preconditioner == "automatic" ? "" : " preconditioned by " + attempt.preconditioner) +
           (attempt.is_exact_next                                         ? " with exact solves"
            : attempt.triangular && attempt.triangular->is_asynchronous() ? " with asynchronous solves"
                                                                          : "");
  }
} // namespace leopard::command_line
