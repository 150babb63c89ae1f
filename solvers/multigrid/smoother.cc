// SPDX-License-Identifier: Apache-2.0
#include "slab_smoother.h"

#include "../base/errors.h"
#include "../base/usable_resources.h"
#include "../base/words.h"
#include "../block_async/host_scheduler.h"
#include "../block_async/stencil_engine.h"

#include <algorithm>
#include <cmath>

namespace leopard
{
  namespace
  {
    constexpr double omega_of_moving_tiles = 0.85; ///< best in two and three dimensions; above 0.9 the highest frequencies stay

    /** See moving_weights(). */
    constexpr double smoothed_share       = 0.15;
    constexpr double share_of_slab        = 0.35;
    constexpr int    most_weighted_sweeps = 8;

    const Method &find(const std::string &name, Backend backend)
    {
      const Method &method = find_method(name, as_smoother);
      if (!method.runs_on(backend, as_smoother))
        throw InvalidInput("multigrid smoother: " + name + " is sequential and does not run on the backend cuda\n  expected: one of " +
                           joined(method_names(as_smoother, backend)) + ", or the backend host");
      return method;
    }

    /**
     * Of D^-1 A, at most: by the symbol sum_d c_d cos(d theta), which is linear in each cosine. 2 for a star, more for
     * elements with long edges.
     */
    template <typename Number>
    double largest_eigenvalue(const Stencil<Number> &stencil)
    {
      const double diagonal =
        stencil.diagonal.empty() ? stencil.coefficient(0, 0, 0) : *std::min_element(stencil.diagonal.begin(), stencil.diagonal.end());
      const int z = stencil.n_z > 1 ? 1 : 0, y = stencil.n_y > 1 ? 1 : 0;
      double    largest = diagonal;
      for (int corner = 0; corner < 8; ++corner) // theta is 0 or pi in each direction
        {
          double symbol = diagonal - static_cast<double>(stencil.coefficient(0, 0, 0));
          for (int dz = -z; dz <= z; ++dz)
            for (int dy = -y; dy <= y; ++dy)
              for (int dx = -1; dx <= 1; ++dx)
                {
                  const bool is_odd = ((corner & 1) * dx + (corner >> 1 & 1) * dy + (corner >> 2) * dz) % 2 != 0;
                  symbol += (is_odd ? -1. : 1.) * static_cast<double>(stencil.coefficient(dx, dy, dz));
                }
          largest = std::max(largest, symbol);
        }
      return largest / diagonal;
    }

    MethodOptions method_options(const SmootherOptions &smoother, Backend backend, int dim, double at_once)
    {
      MethodOptions options = {backend, smoother.omega, smoother.chebyshev, &smoother.block_async};
      if (options.omega == 0.)
        options.omega = default_omega(smoother.method, dim, at_once);
      options.chebyshev.n_threads = smoother.block_async.n_threads;
      if (options.chebyshev.ratio == 0.) // the smallest eigenvalue of a high frequency is 1 / dim, the largest 2
        options.chebyshev.ratio = 2. * (dim >= 1 && dim <= 3 ? dim : 2);
      return options;
    }

    /**
     * @param smoother whose sweep_weights are set where they are to be chosen; the result refers to its block_async.
     */
    template <typename Number>
    MethodOptions method_options(const Stencil<Number> &stencil, SmootherOptions &smoother, Backend backend)
    {
      const int  dim     = stencil.dim();
      const bool moves   = smoother.omega == 0. && smoother_moves(smoother, backend, dim);
      auto      &weights = smoother.block_async.sweep_weights;
      if (moves && weights.empty())
        weights = moving_weights(stencil, smoother.block_async.local_iterations);
      MethodOptions options = method_options(smoother, backend, dim, backend == Backend::cuda ? 1. : 0.); // see default_omega()
      if (moves)
        options.omega = omega_of_moving_tiles;
      if (smoother.omega == 0. && is_damped(smoother.method))
        if (const double largest = largest_eigenvalue(stencil); largest > 2.)
          options.omega *= 2. / largest;
      if (smoother.method == "async" && !weights.empty())
        options.omega = 1.; // the weights count
      return options;
    }
  } // namespace

  void SmootherOptions::validate() const
  {
    const OmegaRange range = find_method(method, as_smoother).omega;
    if (!(omega >= 0. && omega < 2.))
      throw InvalidInput("multigrid smoother: omega is " + short_text(omega) + "\n  expected: a number between 0 and 2, or 0 to have it chosen");
    if (range == OmegaRange::none && omega != 0.)
      throw InvalidInput("multigrid smoother: omega is " + short_text(omega) + " for " + method +
                         ", which has no relaxation factor\n  expected: 0, and the interval of its eigenvalues if need be");
    if (range == OmegaRange::one && omega != 0. && omega != 1.)
      throw InvalidInput("multigrid smoother: omega is " + short_text(omega) + " for " + method + "\n  expected: 0 or 1; sor takes others");
    if (iterations_per_step < 1)
      throw InvalidInput("multigrid smoother: iterations_per_step is " + std::to_string(iterations_per_step) + "\n  expected: a number >= 1");
    BlockAsyncOptions async = block_async;
    async.omega             = 1.; // the one above counts
    async.backend           = Backend::host;
    async.validate();
    if (!block_async.sweep_weights.empty() && (omega != 0. || method != "async"))
      throw InvalidInput("multigrid smoother: sweep_weights are given for " + method + " with omega " + short_text(omega) +
                         "\n  expected: sweep_weights for async only, and omega 0");
    chebyshev.validate();
  }

  bool is_damped(const std::string &method)
  {
    return default_omega(method, 2, 0.) < 1.;
  }

  double default_omega(const std::string &method, int dim, double at_once)
  {
    const auto omega = find_method(method, as_smoother).smoothing_omega;
    return omega != nullptr ? omega(dim >= 1 && dim <= 3 ? dim : 2, at_once) : 1.;
  }

  bool are_relaxed_at_once(const BlockAsyncOptions &options, Backend backend)
  {
    return backend == Backend::cuda || options.schedule == Schedule::synchronous;
  }

  double share_at_once(const BlockAsyncOptions &options, Backend backend, int n_blocks, long n_rows)
  {
    if (n_blocks <= 1 && backend != Backend::cuda)
      return 0.;
    if (are_relaxed_at_once(options, backend))
      return 1.;
    if (options.schedule == Schedule::replay)
      return 0.5;
    if (backend == Backend::reference)
      return 0.; // in sequence
    const int n_threads = options.n_threads > 0 ? options.n_threads : usable_cores();
    return static_cast<double>(HostScheduler::n_at_work(n_blocks, n_rows, n_threads) - 1) / n_blocks;
  }

  bool smoother_moves(const SmootherOptions &options, Backend backend, int dim)
  {
    return backend == Backend::cuda && dim > 1 && options.method == "async" && options.block_async.schedule == Schedule::chaotic &&
           options.block_async.execution != Execution::persistent && options.block_async.local_iterations >= 3;
  }

  template <typename Number>
  std::vector<double> moving_weights(const Stencil<Number> &stencil, int n_sweeps)
  {
    const double diagonal =
      stencil.diagonal.empty() ? stencil.coefficient(0, 0, 0) : *std::min_element(stencil.diagonal.begin(), stencil.diagonal.end());
    const int z = stencil.n_z > 1 ? 1 : 0, y = stencil.n_y > 1 ? 1 : 0;
    double    r = 0.;
    for (int dz = -z; dz <= z; ++dz)
      for (int dy = -y; dy <= y; ++dy)
        for (int dx = -1; dx <= 1; ++dx)
          if (dx != 0 || dy != 0 || dz != 0)
            {
              const double c = stencil.coefficient(dx, dy, dz), opposite = stencil.coefficient(-dx, -dy, -dz);
              if (!(std::abs(c - opposite) <= 1e-5 * diagonal && c / diagonal <= 0.))
                return {};
              r -= c / diagonal;
            }
    if (!(r <= 1. + 1e-5) || n_sweeps > most_weighted_sweeps) // 1, but for rounding
      return {};
    r                  = std::min(r, 1.);
    const double share = stencil.is_slab() ? share_of_slab : smoothed_share;
    return chebyshev_sweep_weights(n_sweeps, std::max(share * (1. + r), 1. - r), 1. + r);
  }

  template <typename Number>
  std::unique_ptr<Relaxation<Number>> make_smoother(const CrsMatrix<Number> &A, const SmootherOptions &options, Backend backend, int dim)
  {
    options.validate();
    const Method &method   = find(options.method, backend);
    const int     n_blocks = method.has_blocks ? options.block_async.blocks(A.n_rows).n_blocks() : 1;
    const double  at_once  = share_at_once(options.block_async, backend, n_blocks, A.n_rows);
    return (method.make_smoother ? method.make_smoother : method.make)(A, method_options(options, backend, dim, at_once));
  }

  bool is_made_on_device(const SmootherOptions &options)
  {
    return static_cast<bool>(find_method(options.method, as_smoother).make_on_device);
  }

  template <typename Number>
  std::unique_ptr<Relaxation<Number>> make_smoother(const device::DeviceCrs<Number> &A, const SmootherOptions &options, int dim)
  {
    options.validate();
    return find(options.method, Backend::cuda).make_on_device(A, method_options(options, Backend::cuda, dim, 1.)); // see share_at_once()
  }

  template <typename Number>
  std::unique_ptr<Relaxation<Number>> make_smoother(const Stencil<Number> &stencil, const SmootherOptions &options, Backend backend)
  {
    options.validate();
    const Method       &method       = find(options.method, backend);
    SmootherOptions     with_weights = options;
    const MethodOptions request      = method_options(stencil, with_weights, backend);
    return method.make_of_stencil ? method.make_of_stencil(stencil, request) : method.make(stencil.to_crs(), request);
  }

  template <typename Number>
  void update_smoother(Relaxation<Number> &smoother, const Stencil<Number> &stencil, const SmootherOptions &options, Backend backend)
  {
    if (find(options.method, backend).make_of_stencil) // the factor of the others does not depend on values
      {
        SmootherOptions     with_weights = options;
        const MethodOptions request      = method_options(stencil, with_weights, backend);
        const auto         &weights      = with_weights.block_async.sweep_weights;
        auto               *async        = dynamic_cast<BlockAsync<Number> *>(&smoother);
        if (options.method == "async" && async != nullptr && !weights.empty())
          async->set_sweep_weights(weights);
        else
          smoother.set_omega(request.omega);
      }
    smoother.update_stencil(stencil);
  }

  bool can_overlap(const SmootherOptions &options, Backend backend, int dim)
  {
    return options.method == "async" && dim > 1 && (backend == Backend::host || smoother_moves(options, backend, dim));
  }

  int planes_of_overlap(bool flat)
  {
    return half_tile(flat);
  }

  namespace
  {
    /** See make_slab_smoother(). Counts its iterations, whichever vectors they are for. */
    template <typename Number>
    class SlabSmoother : public Relaxation<Number>
    {
    public:
      SlabSmoother(const Stencil<Number> &own_, const Stencil<Number> &wide_, int n_below, const BlockAsyncOptions &options)
        : n(own_.n_rows())
        , below(static_cast<std::ptrdiff_t>(n_below) * own_.plane())
        , text("async-(" + std::to_string(options.local_iterations) + ")")
        , own(make(own_, options, TilePlaces::first))
        , wide(make(wide_, options, TilePlaces::moved))
      {
      }

      std::string name() const override { return text; }
      std::string description() const override { return own->description() + ", every second time across the borders between slabs"; }
      int         n_rows() const override { return n; }
      int         n_columns() const override { return n; } // ghosts stand around them
      MemorySpace memory_space() const override { return own->memory_space(); }
      bool        is_fixed_linear_map() const override { return own->is_fixed_linear_map() && wide->is_fixed_linear_map(); }

      void iterate(Number *x, const Number *b, int n_iterations) override
      {
        for (int i = 0; i < n_iterations; ++i, reaches_out = !reaches_out)
          reaches_out ? wide->iterate(x - below, b - below, 1) : own->iterate(x, b, 1);
      }

      double residual_norm_squared(const Number *x, const Number *b) override { return own->residual_norm_squared(x, b); }
      double norm_squared(const Number *b) override { return own->norm_squared(b); }
      void   update_values(const Number   */*values*/) override
      {
        throw InvalidInput("a slab has no stored values to change\n  expected: a new smoother");
      }

      void iterate_from_zero(Number *x, const Number *b, int n_iterations) override
      {
        if (n_iterations != 1 || reaches_out || !own->iterate_from_zero(x, b, 1)) // ghosts would have to be zero, too
          throw InvalidInput("a slab is smoothed from zero in " + std::to_string(n_iterations) +
                             " iterations\n  expected: the first of two, on a GPU; or zeros and iterate()");
        reaches_out = true;
      }

    private:
      static std::unique_ptr<BlockAsyncEngine<Number>> make(const Stencil<Number> &stencil, const BlockAsyncOptions &options, TilePlaces places)
      {
        stencil.validate();
        require_fit_for_stencil(options);
        return options.backend == Backend::cuda ? make_stencil_cuda_engine(stencil, options, places) : make_stencil_host_engine(stencil, options);
      }

      const int                                       n;
      const std::ptrdiff_t                            below; ///< nodes
      const std::string                               text;
      const std::unique_ptr<BlockAsyncEngine<Number>> own, wide;
      bool                                            reaches_out = false; ///< the next iteration
    };
  } // namespace

  template <typename Number>
  std::unique_ptr<Relaxation<Number>>
  make_slab_smoother(const Stencil<Number> &own, const Stencil<Number> &wide, int n_below, const SmootherOptions &options, Backend backend)
  {
    options.validate();
    if (!can_overlap(options, backend, own.dim()))
      throw InvalidInput("multigrid on slabs: the smoother " + options.method +
                         " is to reach into the slabs beside\n  expected: async, on a GPU with tiles that move, or no overlap");
    Stencil<Number> whole = own; // its borders move: weights are those of one grid
    whole.ghost_below = whole.ghost_above = false;
    SmootherOptions     with_weights      = options;
    const MethodOptions request           = method_options(whole, with_weights, backend);
    BlockAsyncOptions   block_async       = with_weights.block_async;
    block_async.backend                   = backend;
    block_async.omega                     = request.omega;
    if (backend == Backend::cuda)
      block_async.execution = Execution::launch;
    return std::make_unique<SlabSmoother<Number>>(own, wide, n_below, block_async);
  }

#define INSTANTIATE(Number)                                                                                                                         \
  template std::vector<double>                 moving_weights(const Stencil<Number> &stencil, int n_sweeps);                                        \
  template std::unique_ptr<Relaxation<Number>> make_smoother(const CrsMatrix<Number> &A, const SmootherOptions &options, Backend backend, int dim); \
  template std::unique_ptr<Relaxation<Number>> make_smoother(const device::DeviceCrs<Number> &A, const SmootherOptions &options, int dim);          \
  template std::unique_ptr<Relaxation<Number>> make_smoother(const Stencil<Number> &stencil, const SmootherOptions &options, Backend backend);      \
  template void update_smoother(Relaxation<Number> &smoother, const Stencil<Number> &stencil, const SmootherOptions &options, Backend backend);     \
  template std::unique_ptr<Relaxation<Number>> make_slab_smoother(                                                                                  \
    const Stencil<Number> &own, const Stencil<Number> &wide, int n_below, const SmootherOptions &options, Backend backend);
  LEOPARD_FOR_EACH_NUMBER(INSTANTIATE)
#undef INSTANTIATE
} // namespace leopard
