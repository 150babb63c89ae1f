// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../base/number_types.h"
#include "../matrix/device_crs.h"
#include "chebyshev.h"

#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

namespace leopard
{
  struct BlockAsyncOptions;
  template <typename Number>
  struct Stencil;

  /** What a relaxation method is used as; they add up. */
  enum MethodUse : unsigned
  {
    as_solver         = 1,
    as_preconditioner = 2,
    as_smoother       = 4,
    everywhere        = as_solver + as_preconditioner + as_smoother
  };

  /** What a method's relaxation factor may be. */
  enum class OmegaRange
  {
    none,       ///< it has none
    one,        ///< 1 only
    relaxation, ///< in (0, 2)
    /** The same, of Jacobi's sweeps, which converge for certain below 2 / (1 + rho(|B|)); tau scaling is for them. */
    damping
  };

  /** What a method is made with; each reads what it knows. Numbers are dimensionless. */
  struct MethodOptions
  {
    Backend                  backend     = Backend::host;
    double                   omega       = 1.;      ///< relaxation factor
    ChebyshevOptions         chebyshev   = {};      ///< the interval of eigenvalues; all but backend
    const BlockAsyncOptions *block_async = nullptr; ///< blocks, schedule, storage, threads; all but backend and omega; null: defaults
  };

  /**
   * What makes a relaxation of a matrix (CrsMatrix or Stencil), for each number type of the library: method.make(A,
   * options) is a Relaxation of A's type. Made of one function for all of them, such as
   *   [](const auto &A, const MethodOptions &options) { return make_ilu0(A, options.omega); }
   */
  template <template <typename> class Matrix, typename... Numbers>
  class MakeRelaxation
  {
  public:
    constexpr MakeRelaxation() = default;
    template <typename Function>
    constexpr MakeRelaxation(Function function)
      : functions(FunctionOf<Numbers>(function)...)
    {
    }

    explicit operator bool() const { return std::get<0>(functions) != nullptr; }

    /** @param A copied, if in host memory. @throws InvalidInput, DeviceError. */
    template <typename Number>
    std::unique_ptr<Relaxation<Number>> operator()(const Matrix<Number> &A, const MethodOptions &options) const
    {
      return std::get<FunctionOf<Number>>(functions)(A, options);
    }

  private:
    template <typename Number>
    using FunctionOf = std::unique_ptr<Relaxation<Number>> (*)(const Matrix<Number> &, const MethodOptions &);

    std::tuple<FunctionOf<Numbers>...> functions = {};
  };

  /**
   * A relaxation method as solvers, preconditioners, smoothers, leopard-solve and studies know it. To add one: a file
   * that implements Relaxation and defines such a row, and its name in methods.cc. Whether it is a fixed or a symmetric
   * linear map depends on its options, and the Relaxation says it.
   */
  struct Method
  {
    const char *name    = ""; ///< as users write it
    const char *meaning = ""; ///< for --help: what it is, a few words

    unsigned   uses         = everywhere;
    unsigned   uses_on_cuda = 0; ///< those for which it runs on the backend cuda, too
    OmegaRange omega        = OmegaRange::relaxation;
    bool       has_blocks   = false; ///< reads MethodOptions::block_async; a chaotic schedule bears old ghosts
    bool       has_interval = false; ///< reads MethodOptions::chebyshev
    bool       corrects     = false; ///< refines within its blocks, by itself in mixed precision: BlockAsyncOptions::corrections
    bool       is_iterated  = true;  ///< as a preconditioner: several iterations; false: one, as is usual

    /** The relaxation factor with which it smooths best in 1, 2, 3 dimensions (default_omega()); null: 1. */
    double (*smoothing_omega)(int dim, double at_once) = nullptr;

    MakeRelaxation<CrsMatrix, LEOPARD_NUMBERS> make            = {};
    MakeRelaxation<CrsMatrix, LEOPARD_NUMBERS> make_smoother   = {}; ///< empty: make
    MakeRelaxation<Stencil, LEOPARD_NUMBERS>   make_of_stencil = {}; ///< empty: needs a stored matrix
    /** A smoother of a matrix that is on the device; empty: needs one in host memory. */
    MakeRelaxation<device::DeviceCrs, LEOPARD_NUMBERS> make_on_device = {};

    /** Whether users may choose omega. */
    bool has_omega() const { return omega == OmegaRange::relaxation || omega == OmegaRange::damping; }
    bool runs_on(Backend backend, MethodUse use) const { return backend != Backend::cuda || (uses_on_cuda & use) != 0; }
  };

  /** The one list of relaxation methods, in the order in which users read them. */
  const std::vector<const Method *> &methods();

  /** Names of those that are used so, and run there or fulfil a condition, in this order. */
  std::vector<std::string> method_names(MethodUse use, Backend backend = Backend::host);
  std::vector<std::string> method_names(MethodUse use, const std::function<bool(const Method &)> &condition);

  /** Null: there is none of this name that is used so. */
  const Method *lookup_method(const std::string &name, MethodUse use = everywhere);

  /** @throws InvalidInput with all names and the most similar one. */
  const Method &find_method(const std::string &name, MethodUse use = everywhere);

  /** 2 / (2 - mu_min - mu_max), of the Laplacian's high frequencies: eigenvalues of B from -1 to (dim - 1) / dim. */
  double omega_for_high_frequencies(int dim, double at_once);
} // namespace leopard
