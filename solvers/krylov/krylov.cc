// SPDX-License-Identifier: Apache-2.0
#include "krylov.h"

#include "../base/errors.h"
#include "../base/usable_resources.h"
#include "krylov_engine.h"
#include "krylov_rules.h"

#include <cmath>
#include <cstdio>
#include <utility>

namespace leopard
{
  namespace
  {
    void require(bool holds, const std::string &option, double found, const std::string &expected)
    {
      char text[32];
      std::snprintf(text, sizeof(text), "%g", found);
      if (!holds)
        throw InvalidInput("Krylov method: " + option + " is " + text + "\n  expected: " + expected);
    }

    /** Refuses what the method cannot do. @return the preconditioner, or that which does nothing. */
    template <typename Number, typename Matrix>
    PreconditionerPointer<Number> checked(const std::string &method, const Matrix &A, Backend backend, PreconditionerPointer<Number> preconditioner)
    {
      if (A.n_columns != A.n_rows)
        throw InvalidInput(method + ": the matrix has " + std::to_string(A.n_columns - A.n_rows) +
                           " ghost columns\n  expected: the whole matrix, on one rank");
      const MemorySpace space = backend == Backend::cuda ? MemorySpace::device : MemorySpace::host;
      if (preconditioner == nullptr)
        return make_identity_preconditioner<Number>(A.n_rows, space);
      const std::string named = method + " on the backend " + to_string(backend) + ": the preconditioner " + preconditioner->name();
      if (preconditioner->n_rows() != A.n_rows)
        throw InvalidInput(named + " has " + std::to_string(preconditioner->n_rows()) + " rows\n  expected: those of the matrix, " +
                           std::to_string(A.n_rows));
      if (preconditioner->memory_space() != space)
        throw InvalidInput(named + " works on the " + (space == MemorySpace::device ? "host" : "device") +
                           "\n  expected: one on the same backend as the method");
      if (space == MemorySpace::device && !preconditioner->is_queued())
        throw InvalidInput(named + " waits for the host\n  expected: one that is queued on the device, since a solve is one CUDA graph (of "
                                   "multigrid: a regular problem on one rank, with the coarse solver dense)");
      return preconditioner;
    }

    template <typename Number, typename Options>
    std::unique_ptr<KrylovSolver<Number>>
    make(const std::string &method, const CrsMatrix<Number> &A, const Options &options, PreconditionerPointer<Number> preconditioner)
    {
      options.validate();
      A.validate_entries();
      preconditioner = checked(method, A, options.backend, std::move(preconditioner));
      return options.backend == Backend::cuda ? make_cuda_krylov(A, options, preconditioner) : make_host_krylov(A, options, preconditioner);
    }

    template <typename Number, typename Options>
    std::unique_ptr<KrylovSolver<Number>>
    make(const std::string &method, const device::DeviceCrs<Number> &A, const Options &options, PreconditionerPointer<Number> preconditioner)
    {
      options.validate();
      if (options.backend != Backend::cuda)
        throw InvalidInput(method + ": the matrix is on the device, and the backend is " + to_string(options.backend) +
                           "\n  expected: the backend cuda");
      return make_cuda_krylov(A, options, checked(method, A, options.backend, std::move(preconditioner)));
    }
  } // namespace

  std::string to_string(KrylovReason reason)
  {
    switch (reason)
      {
        case KrylovReason::converged:
          return "converged";
        case KrylovReason::maximum_iterations:
          return "iteration limit";
        case KrylovReason::time_limit:
          return "time limit";
        case KrylovReason::indefinite:
          return "indefinite matrix";
        case KrylovReason::indefinite_preconditioner:
          return "indefinite preconditioner";
        case KrylovReason::breakdown:
          return "breakdown";
        case KrylovReason::stagnated:
          return "stagnated";
        case KrylovReason::standing_still:
          return "residual that stands still";
        case KrylovReason::not_finite:
          return "not finite";
      }
    return "unknown";
  }

  void KrylovLimits::validate() const
  {
    const bool in_range = tolerance >= 0. && tolerance < 1.;
    require(in_range, "tolerance", tolerance, "a number >= 0 and < 1");
    require(absolute_tolerance >= 0. && std::isfinite(absolute_tolerance), "absolute_tolerance", absolute_tolerance, "a finite number >= 0");
    require(max_iterations >= 0, "max_iterations", max_iterations, "a number >= 0");
    require(early_iterations >= 0, "early_iterations", early_iterations, "a number >= 0, where 0 stands for none");
    require(early_residual > 0. && std::isfinite(early_residual), "early_residual", early_residual, "a finite number > 0");
    require(max_seconds >= 0. && std::isfinite(max_seconds), "max_seconds", max_seconds, "a finite number >= 0, where 0 stands for no limit");
  }

  void KrylovOptions::validate() const
  {
    require(n_threads >= 0, "n_threads", n_threads, std::string("a number >= 0, ") + meaning_of_no_threads);
    KrylovLimits::validate();
  }

  void FgmresOptions::validate() const
  {
    KrylovOptions::validate();
    require(restart >= 1 && restart <= 1000, "restart", restart, "a number from 1 to 1000");
  }

  void refuse_clock(const KrylovLimits &limits)
  {
    require(limits.max_seconds == 0., "max_seconds", limits.max_seconds, "0, as GCR looks at no clock");
  }

  void GcrOptions::validate() const
  {
    KrylovOptions::validate();
    require(n_directions >= 1 && n_directions <= 128, "n_directions", n_directions, "a number from 1 to 128");
    refuse_clock(*this);
    require(!keep_history, "keep_history", 1., "false, as GCR keeps none");
  }

  KrylovResult result_of(const KrylovState &state)
  {
    KrylovResult result;
    result.converged         = state.reason == KrylovReason::converged;
    result.reason            = state.reason;
    result.n_iterations      = state.iteration;
    result.residual          = state.residual * state.scale;
    result.relative_residual = state.reference == 0. && state.residual == 0. ? 0. : state.residual / state.reference;
    return result;
  }

  template <typename Number>
  std::unique_ptr<KrylovSolver<Number>>
  make_cg(const CrsMatrix<Number> &A, const CgOptions &options, std::shared_ptr<Preconditioner<Number>> preconditioner)
  {
    return make("CG", A, options, std::move(preconditioner));
  }

  template <typename Number>
  std::unique_ptr<KrylovSolver<Number>>
  make_fgmres(const CrsMatrix<Number> &A, const FgmresOptions &options, std::shared_ptr<Preconditioner<Number>> preconditioner)
  {
    return make("FGMRES", A, options, std::move(preconditioner));
  }

  template <typename Number>
  std::unique_ptr<KrylovSolver<Number>>
  make_gcr(const CrsMatrix<Number> &A, const GcrOptions &options, std::shared_ptr<Preconditioner<Number>> preconditioner)
  {
    return make("GCR", A, options, std::move(preconditioner));
  }

  template <typename Number>
  std::unique_ptr<KrylovSolver<Number>>
  make_cg(const device::DeviceCrs<Number> &A, const CgOptions &options, std::shared_ptr<Preconditioner<Number>> preconditioner)
  {
    return make("CG", A, options, std::move(preconditioner));
  }

  template <typename Number>
  std::unique_ptr<KrylovSolver<Number>>
  make_fgmres(const device::DeviceCrs<Number> &A, const FgmresOptions &options, std::shared_ptr<Preconditioner<Number>> preconditioner)
  {
    return make("FGMRES", A, options, std::move(preconditioner));
  }

#define INSTANTIATE(Number)                                                                                                \
  template std::unique_ptr<KrylovSolver<Number>> make_cg(                                                                  \
    const CrsMatrix<Number> &A, const CgOptions &options, std::shared_ptr<Preconditioner<Number>> preconditioner);         \
  template std::unique_ptr<KrylovSolver<Number>> make_fgmres(                                                              \
    const CrsMatrix<Number> &A, const FgmresOptions &options, std::shared_ptr<Preconditioner<Number>> preconditioner);     \
  template std::unique_ptr<KrylovSolver<Number>> make_gcr(                                                                 \
    const CrsMatrix<Number> &A, const GcrOptions &options, std::shared_ptr<Preconditioner<Number>> preconditioner);        \
  template std::unique_ptr<KrylovSolver<Number>> make_cg(                                                                  \
    const device::DeviceCrs<Number> &A, const CgOptions &options, std::shared_ptr<Preconditioner<Number>> preconditioner); \
  template std::unique_ptr<KrylovSolver<Number>> make_fgmres(                                                              \
    const device::DeviceCrs<Number> &A, const FgmresOptions &options, std::shared_ptr<Preconditioner<Number>> preconditioner);
  LEOPARD_FOR_EACH_NUMBER(INSTANTIATE)
#undef INSTANTIATE
} // namespace leopard
