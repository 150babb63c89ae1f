// SPDX-License-Identifier: Apache-2.0
#include "gpus.h"

#include "../base/norms.h"
#include "../base/words.h"
#include "contradictions.h"

namespace leopard::command_line
{
  bool is_async_alone(const Arguments &a)
  {
    return a.is_relaxation() && a.method().has_blocks && !a.method().corrects;
  }

  void take_gpus(Arguments &a)
  {
    const bool is_async = is_async_alone(a), is_krylov = a.is_krylov() && !a.has_multigrid() && a.runs_on(Backend::cuda);
    if (!is_async && !is_krylov && a.method_name != "automatic")
      contradiction("--gpus",
                    words_of_method(a),
                    "--method async or automatic, or cg or gmres with --preconditioner none, ic, ilu or one of " +
                      joined(method_names(as_preconditioner, Backend::cuda)) +
                      ", which each GPU makes of its own rows; or no --gpus; for multigrid the program leopard: mpirun, a rank a GPU");
    if (!is_async)
      {
        refuse(a, {"--exchange", "--wait"}, words_of_method(a), "it with --method async; other methods wait for the values of other GPUs");
        refuse(a, {"--block-unknowns", "--near-null-space"}, "--gpus", "neither, as levels are made of nodes, and multigrid has one GPU here");
      }
    if (a.backend == "host" || a.backend == "reference")
      contradiction("--gpus", "--backend " + a.backend, "the backend cuda, or no --gpus");
    for (int gpu = 0; gpu < a.n_gpus; ++gpu)
      a.gpus.devices.push_back(gpu);
    a.backend = "cuda";
  }

  namespace
  {
    /** Whether rho(|B|) <= 1, up to rounding: weakly dominated rows or columns have it. */
    bool has_dominance(const MatrixTraits &traits)
    {
      return reached(traits.radius_bound, 1. + 1e-12);
    }
  } // namespace

  Attempt with_own_rows(const std::string &method, const MatrixTraits &traits)
  {
    if (!traits.has_whole_diagonal)
      return {method, "none", "the diagonal has zeros; convergence is not promised"};
    if (traits.is_singular)
      return {method, "jacobi", "its rows sum to zero: constants are its null space"};
    if (has_dominance(traits))
      return {method, "async", "rho(|B|) is at most " + short_text(traits.radius_bound, 3) + ", so that async is safe; alone it may be slow"};
    return {method, method == "cg" ? "ic" : "ilu", "async, alone or as a preconditioner, is not known to be safe (rho(|B|) <= 1)"};
  }

  std::vector<Attempt> methods_on_gpus(const MatrixTraits &traits)
  {
    constexpr int        patience = 3000;
    const bool           is_cg    = traits.is_symmetric && traits.has_positive_diagonal && traits.why_indefinite.empty();
    const std::string    method   = is_cg ? "cg" : "gmres";
    const std::string    what     = is_cg                  ? "symmetric with positive diagonal"
                                    : !traits.is_symmetric ? "not symmetric"
                                                           : "symmetric, and not positive definite";
    std::vector<Attempt> result   = {with_own_rows(method, traits)};
    result[0].why                 = what + "; " + result[0].why;
    if (!traits.has_whole_diagonal)
      return result;
    if (result[0].preconditioner == "async")
      result.push_back({method, is_cg ? "ic" : "ilu", what});
    for (Attempt &attempt : result)
      attempt.max_iterations = patience;
    result.push_back({"gmres", "jacobi", "for matrices that are not definite, too; convergence is not promised"});
    return result;
  }

  std::string why_one_gpu(const CrsMatrix<double> &A, const MatrixTraits &traits)
  {
    Arguments of_one;
    of_one.backend      = "cuda";
    const Attempt first = attempts_for(A, traits, of_one).front();
    return with_attempt(of_one, first).has_multigrid()
             ? "one GPU should be faster, if the matrix fits into its memory, by " + text_of(first) + ", which several do not have: no --gpus"
             : "";
  }
} // namespace leopard::command_line
