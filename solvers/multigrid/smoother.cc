// SPDX-License-Identifier: Apache-2.0
#include "smoother.h"

#include "../base/errors.h"
#include "../block_async/host_scheduler.h"
#include "../relaxation/ilu0.h"
#include "../relaxation/point_relaxation.h"

#include <algorithm>
#include <cstdio>

namespace leopard
{
  namespace
  {
    std::string number(double value)
    {
      char text[32];
      std::snprintf(text, sizeof(text), "%g", value);
      return text;
    }

    /** What a method is made from: valid options, and omega as it is to be. */
    struct Request
    {
      const SmootherOptions &options;
      Backend                backend;
      double                 omega;
      int                    dim; ///< 1, 2 or 3
    };

    struct Method
    {
      std::string name;
      bool        runs_on_cuda;
      double (*omega)(int dim); ///< the default, for 1, 2 and 3 dimensions
      std::unique_ptr<Relaxation> (*make)(const CrsMatrix &A, const Request &request);
      std::unique_ptr<Relaxation> (*make_of_stencil)(const Stencil &stencil, const Request &request); ///< null: of the stored matrix
    };

    double one(int /*dim*/)
    {
      return 1.;
    }

    /**
     * 2 / (2 - mu_min - mu_max) with the high-frequency eigenvalues of B = I - D^-1 A for the Laplacian, from -1 to
     * (dim - 1) / dim.
     */
    double of_high_frequencies(int dim)
    {
      return 2. * dim / (2. * dim + 1.);
    }

    /** A little more than Gauss-Seidel smooths better: 1.1 in two dimensions, 1.2 in three. */
    double of_sor(int dim)
    {
      return 1. + 0.1 * (dim - 1);
    }

    BlockAsyncOptions block_async_options(const Request &request)
    {
      BlockAsyncOptions options = request.options.block_async;
      options.backend           = request.backend;
      options.omega             = request.omega;
      // a smoothing step is a few global iterations: nothing is gained by keeping the blocks on the chip
      if (options.backend == Backend::cuda && options.execution == Execution::automatic)
        options.execution = Execution::launch;
      return options;
    }

    /** Jacobi is synchronous async-(1). */
    BlockAsyncOptions jacobi_options(const Request &request)
    {
      BlockAsyncOptions options;
      options.backend          = request.backend;
      options.omega            = request.omega;
      options.schedule         = Schedule::synchronous;
      options.execution        = Execution::launch;
      options.local_iterations = 1;
      options.n_threads        = request.options.block_async.n_threads;
      options.storage          = request.options.block_async.storage; // double where values are to change
      return options;
    }

    template <typename Matrix>
    std::unique_ptr<Relaxation> make_async(const Matrix &A, const Request &request)
    {
      return std::make_unique<BlockAsync>(A, block_async_options(request));
    }

    template <typename Matrix>
    std::unique_ptr<Relaxation> make_jacobi(const Matrix &A, const Request &request)
    {
      return std::make_unique<BlockAsync>(A, jacobi_options(request));
    }

    template <PointMethod method, bool colouring>
    std::unique_ptr<Relaxation> make_point(const CrsMatrix &A, const Request &request)
    {
      PointRelaxationOptions options;
      options.method    = method;
      options.omega     = request.omega;
      options.colouring = colouring;
      options.backend   = request.backend;
      return make_point_relaxation(A, options);
    }

    std::unique_ptr<Relaxation> make_chebyshev_smoother(const CrsMatrix &A, const Request &request)
    {
      ChebyshevOptions options = request.options.chebyshev;
      options.backend          = request.backend;
      // the smallest eigenvalue of a high frequency is 1 / dim, the largest 2
      if (options.ratio == 0.)
        options.ratio = 2. * request.dim;
      return make_chebyshev(A, options);
    }

    std::unique_ptr<Relaxation> make_ilu0_smoother(const CrsMatrix &A, const Request &request)
    {
      return make_ilu0(A, request.omega);
    }

    const std::vector<Method> &methods()
    {
      static const std::vector<Method> table = {{"async", true, of_high_frequencies, make_async<CrsMatrix>, make_async<Stencil>},
                                                {"jacobi", true, one, make_jacobi<CrsMatrix>, make_jacobi<Stencil>},
                                                {"damped-jacobi", true, of_high_frequencies, make_jacobi<CrsMatrix>, make_jacobi<Stencil>},
                                                {"gauss-seidel", false, one, make_point<PointMethod::gauss_seidel, false>, nullptr},
                                                {"multicolour-gauss-seidel", true, one, make_point<PointMethod::gauss_seidel, true>, nullptr},
                                                {"sor", true, of_sor, make_point<PointMethod::sor, false>, nullptr},
                                                {"ssor", false, one, make_point<PointMethod::ssor, false>, nullptr},
                                                {"chebyshev", true, one, make_chebyshev_smoother, nullptr},
                                                {"ilu0", false, one, make_ilu0_smoother, nullptr}};
      return table;
    }

    const Method &find(const std::string &name)
    {
      std::string known;
      for (const Method &method : methods())
        {
          if (method.name == name)
            return method;
          known += (known.empty() ? "" : ", ") + method.name;
        }
      throw InvalidInput("multigrid smoother: the method is '" + name + "'\n  expected: one of " + known);
    }

    const Method &find(const std::string &name, Backend backend)
    {
      const Method &method = find(name);
      if (backend != Backend::cuda || method.runs_on_cuda)
        return method;
      std::string known;
      for (const Method &m : methods())
        if (m.runs_on_cuda)
          known += (known.empty() ? "" : ", ") + m.name;
      throw InvalidInput("multigrid smoother: " + name + " is sequential and does not run on the backend cuda\n  expected: one of " + known +
                         ", or the backend host");
    }

    /**
     * Of D^-1 A, at most: by the symbol sum_d c_d cos(d theta), which is linear in each cosine. 2 for a star, more for
     * elements with long edges.
     */
    double largest_eigenvalue(const Stencil &stencil)
    {
      const double diagonal =
        stencil.diagonal.empty() ? stencil.coefficient(0, 0, 0) : *std::min_element(stencil.diagonal.begin(), stencil.diagonal.end());
      const int z = stencil.n_z > 1 ? 1 : 0, y = stencil.n_y > 1 ? 1 : 0;
      double    largest = diagonal;
      for (int corner = 0; corner < 8; ++corner) // theta is 0 or pi in each direction
        {
          double symbol = diagonal - stencil.coefficient(0, 0, 0);
          for (int dz = -z; dz <= z; ++dz)
            for (int dy = -y; dy <= y; ++dy)
              for (int dx = -1; dx <= 1; ++dx)
                {
                  const bool is_odd = ((corner & 1) * dx + (corner >> 1 & 1) * dy + (corner >> 2) * dz) % 2 != 0;
                  symbol += (is_odd ? -1. : 1.) * stencil.coefficient(dx, dy, dz);
                }
          largest = std::max(largest, symbol);
        }
      return largest / diagonal;
    }

    Request request_for(const SmootherOptions &options, Backend backend, int dim, double at_once)
    {
      const int known_dim = dim >= 1 && dim <= 3 ? dim : 2;
      return {options, backend, options.omega > 0. ? options.omega : default_omega(options.method, known_dim, at_once), known_dim};
    }
  } // namespace

  void SmootherOptions::validate() const
  {
    find(method);
    if (!(omega >= 0. && omega < 2.))
      throw InvalidInput("multigrid smoother: omega is " + number(omega) + "\n  expected: a number between 0 and 2, or 0 to have it chosen");
    if (method == "chebyshev" && omega != 0.)
      throw InvalidInput("multigrid smoother: omega is " + number(omega) +
                         " for chebyshev, which has no relaxation factor\n  expected: 0, and the interval of its eigenvalues if need be");
    if (method == "gauss-seidel" || method == "multicolour-gauss-seidel")
      if (omega != 0. && omega != 1.)
        throw InvalidInput("multigrid smoother: omega is " + number(omega) + " for " + method + "\n  expected: 0 or 1; sor takes others");
    if (iterations_per_step < 1)
      throw InvalidInput("multigrid smoother: iterations_per_step is " + std::to_string(iterations_per_step) + "\n  expected: a number >= 1");
    BlockAsyncOptions async = block_async;
    async.omega             = 1.; // the one above counts
    async.backend           = Backend::host;
    async.validate();
    chebyshev.validate();
  }

  const std::vector<std::string> &smoother_names()
  {
    static const std::vector<std::string> names = [] {
      std::vector<std::string> result;
      for (const Method &method : methods())
        result.push_back(method.name);
      return result;
    }();
    return names;
  }

  bool smoother_runs_on(const std::string &method, Backend backend)
  {
    return find(method).runs_on_cuda || backend != Backend::cuda;
  }

  bool is_damped(const std::string &method)
  {
    return find(method).omega == of_high_frequencies;
  }

  double default_omega(const std::string &method, int dim, double at_once)
  {
    const double in_sequence = find(method).omega(dim >= 1 && dim <= 3 ? dim : 2);
    if (method != "async" || dim == 1)
      return in_sequence;
    const double together = dim == 3 ? 0.75 : 0.6;
    return in_sequence + at_once * (together - in_sequence);
  }

  double share_at_once(const BlockAsyncOptions &options, Backend backend, int n_blocks, long n_rows)
  {
    if (n_blocks <= 1 && backend != Backend::cuda)
      return 0.;
    if (backend == Backend::cuda || options.schedule == Schedule::synchronous)
      return 1.;
    if (options.schedule == Schedule::replay)
      return 0.5;
    if (backend == Backend::reference)
      return 0.; // in sequence
    const int n_threads = options.n_threads > 0 ? options.n_threads : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
    return static_cast<double>(HostScheduler::n_at_work(n_blocks, n_rows, n_threads) - 1) / n_blocks;
  }

  std::unique_ptr<Relaxation> make_smoother(const CrsMatrix &A, const SmootherOptions &options, Backend backend, int dim)
  {
    options.validate();
    const int    n_blocks = options.method == "async" ? options.block_async.blocks(A.n_rows).n_blocks() : 1;
    const double at_once  = share_at_once(options.block_async, backend, n_blocks, A.n_rows);
    return find(options.method, backend).make(A, request_for(options, backend, dim, at_once));
  }

  std::unique_ptr<Relaxation> make_smoother(const Stencil &stencil, const SmootherOptions &options, Backend backend)
  {
    options.validate();
    const int     dim     = (stencil.n_x > 1) + (stencil.n_y > 1) + (stencil.n_z > 1);
    const Method &method  = find(options.method, backend);
    Request       request = request_for(options, backend, dim, backend == Backend::cuda ? 1. : 0.); // see default_omega()
    if (options.omega == 0. && is_damped(options.method))
      if (const double largest = largest_eigenvalue(stencil); largest > 2.)
        request.omega *= 2. / largest;
    return method.make_of_stencil != nullptr ? method.make_of_stencil(stencil, request) : method.make(stencil.to_crs(), request);
  }
} // namespace leopard
