// SPDX-License-Identifier: Apache-2.0
#include "../base/errors.h"
#include "../device/device_array.h"
#include "../device/partial_sums.cuh"
#include "operations.h"
#include "stencil_level_kernels.cuh"

#include <algorithm>

namespace leopard
{
  namespace
  {
    constexpr int n_threads = 256;

    __global__ void negate_kernel(double *v, int n)
    {
      if (const int i = blockIdx.x * blockDim.x + threadIdx.x; i < n)
        v[i] = -v[i];
    }

    struct Level
    {
      Level(const StencilGrid &level, const MultigridOptions &options, bool coarsest)
        : n(level.stencil.n_rows())
        , below(level.stencil.ghost_below ? (level.stencil.plane() + 31) / 32 * 32 : 0)
        , diagonal(level.stencil.diagonal)
        , all_x(below + n + (level.stencil.ghost_above ? 2 * level.stencil.plane() : 0))
        , b(n + (level.stencil.ghost_above ? level.stencil.plane() : 0))
        , smoother(coarsest ? nullptr : make_smoother(level.stencil, options.smoother, Backend::cuda))
        , flat(level.stencil.n_z == 1)
        , full(!level.stencil.is_star())
      {
        const Stencil<double> &stencil = level.stencil;
        const int              first = stencil.ghost_below ? -1 : 0, above = stencil.ghost_above ? 2 : 0;
        grid = {stencil.n_x,
                stencil.n_y,
                stencil.n_z,
                {},
                stencil.diagonal.empty() ? nullptr : diagonal.data(),
                {},
                flat ? first : 0,
                stencil.n_y + (flat ? above : 0),
                flat ? 0 : first,
                stencil.n_z + (flat ? 0 : above)};
        for (int d = 0; d < 3; ++d)
          grid.last_weights[d] = level.last_weight(d);
        std::copy(stencil.coefficients.begin(), stencil.coefficients.end(), grid.coefficients);
      }

      double *x() const { return all_x.data() + below; }

      int                                 n, below; ///< own nodes; place of x in all_x, which keeps x where pairs of neighbours can be read at once
      device::Array<double>               diagonal, all_x, b;
      std::unique_ptr<Relaxation<double>> smoother;
      bool                                flat, full;
      GridView                            grid;

      /** Calls f with the shape that the kernels for this grid are compiled for. */
      template <typename F>
      void with_shape(const F &f) const
      {
        if (full)
          flat ? f(GridShape<true, true>()) : f(GridShape<true, false>());
        else
          flat ? f(GridShape<false, true>()) : f(GridShape<false, false>());
      }
    };

    class StencilCudaOperations : public MultigridOperations<double>
    {
    public:
      StencilCudaOperations(const std::vector<StencilGrid> &stencils, const MultigridOptions &options_)
        : options(options_)
        , sums(n_parts_for(stencils.back()))
      {
        require_memory(stencils);
        for (std::size_t l = 0; l < stencils.size(); ++l)
          levels.push_back(std::make_unique<Level>(stencils[l], options, l == 0 && stencils.size() > 1));
        LEOPARD_CHECK(cudaHostAlloc(&restricted_norm, sizeof(double), cudaHostAllocMapped));
      }

      StencilCudaOperations(const StencilCudaOperations &)            = delete;
      StencilCudaOperations &operator=(const StencilCudaOperations &) = delete;
      ~StencilCudaOperations() override { cudaFreeHost(restricted_norm); }

      MemorySpace         memory_space() const override { return MemorySpace::device; }
      int                 n_levels() const override { return static_cast<int>(levels.size()); }
      int                 n_unknowns(int l) const override { return levels[l]->n; }
      Relaxation<double> &smoother(int l) override { return *levels[l]->smoother; }
      double             *x(int l) override { return levels[l]->x(); }
      double             *b(int l) override { return levels[l]->b.data(); }

      std::size_t memory() const override
      {
        std::size_t n = 0;
        for (const auto &level : levels)
          n += sizeof(double) * (level->all_x.size() + level->b.size() + 2 * level->diagonal.size()); // the smoother has a diagonal of its own
        return n;
      }

      void set_zero(int l) override { LEOPARD_CHECK(cudaMemsetAsync(levels[l]->all_x.data(), 0, levels[l]->all_x.size() * sizeof(double))); }

      void smooth(int l, int n_steps) override
      {
        smoother(l).restart();
        smoother(l).iterate(x(l), b(l), n_steps * options.smoother.iterations_per_step);
      }

      void restrict_residual(int l) override { restrict(l, x(l), b(l)); }
      void restrict_right_hand_side(int l) override { restrict(l, nullptr, b(l)); }
      void correct(int l) override { prolongate<true>(l); }
      void interpolate(int l) override { prolongate<false>(l); }

      void set_right_hand_sides(const double *b_) override { device::copy_on_device(b(n_levels() - 1), b_, finest_bytes()); }
      void set_solution(const double *x_) override { device::copy_on_device(x(n_levels() - 1), x_, finest_bytes()); }
      void get_solution(double *x_) override { device::copy_on_device(x_, x(n_levels() - 1), finest_bytes()); }

      void multiply(double *y, double *x_) override
      {
        const int n = levels.back()->n;
        device::set_zero(y, finest_bytes()); // as the right-hand side: y = -(0 - A x), each node reading its own only
        queue_residual(y, x_, y);
        negate_kernel<<<blocks_for(n), n_threads>>>(y, n);
        LEOPARD_CHECK(cudaGetLastError());
      }

      double residual_norm_squared(double *x_, const double *b_) override
      {
        queue_residual(nullptr, x_, b_);
        return sums.sum_of(n_residual_blocks);
      }

      double restricted_residual_norm_squared() override
      {
        device::synchronize();
        return *restricted_norm;
      }

      double norm_squared(const double *b_) override { return sums.norm_squared(b_, levels.back()->n); }

    private:
      static constexpr int n_residual_blocks = 132 * 16;

      std::size_t finest_bytes() const { return levels.back()->n * sizeof(double); }

      static int    blocks_for(long n) { return static_cast<int>((n + n_threads - 1) / n_threads); }
      static double bytes_of(double n, bool variable) { return n * sizeof(double) * (variable ? 4 : 2); } // x, b, and the diagonal twice

      /** Thread blocks in each direction for the restriction from a grid. */
      template <typename Shape>
      static dim3 tiles(int n_x, int n_y, int n_z)
      {
        const auto count = [](int n, int t) { return static_cast<unsigned int>((n + 2 * t - 1) / (2 * t)); };
        return dim3(count(n_x, Shape::t_x), count(n_y, Shape::t_y), count(n_z, Shape::t_z));
      }

      int n_parts_for_restriction() const
      {
        int n = 0;
        levels.back()->with_shape([&](auto shape) {
          const GridView &g = levels.back()->grid;
          const dim3      t = tiles<decltype(shape)>(g.n_x, g.n_y, g.n_z);
          n                 = static_cast<int>(t.x * t.y * t.z);
        });
        return n;
      }

      static int n_parts_for(const StencilGrid &level)
      {
        const Stencil<double> &s = level.stencil;
        const dim3 t = s.n_z == 1 ? tiles<GridShape<false, true>>(s.n_x, s.n_y, s.n_z) : tiles<GridShape<false, false>>(s.n_x, s.n_y, s.n_z);
        return std::max(n_residual_blocks, static_cast<int>(t.x * t.y * t.z));
      }

      static void require_memory(const std::vector<StencilGrid> &stencils)
      {
        double needed = 0.;
        for (const StencilGrid &level : stencils)
          needed += bytes_of(level.stencil.n_rows(), !level.stencil.diagonal.empty());
        const double available = static_cast<double>(device::free_memory());
        if (needed > available)
          throw DeviceError("multigrid: the levels need " + std::to_string(static_cast<long>(needed / 1048576.)) + " MiB of device memory, and " +
                            std::to_string(static_cast<long>(available / 1048576.)) +
                            " MiB are free\n  expected: a smaller problem, a larger GPU, or the backend host");
      }

      void restrict(int l, const double *x_, const double *b_)
      {
        const GridView &fine = levels[l]->grid, &coarse = levels[l - 1]->grid;
        double         *parts = l == n_levels() - 1 && x_ != nullptr ? sums.parts() : nullptr;
        levels[l]->with_shape([&](auto shape) {
          using Shape       = decltype(shape);
          const dim3 blocks = tiles<Shape>(fine.n_x, fine.n_y, fine.n_z);
          restrict_kernel<Shape><<<blocks, Shape::n_threads>>>(fine, coarse.n_x, coarse.n_y, coarse.n_z, x_, b_, b(l - 1), parts);
        });
        LEOPARD_CHECK(cudaGetLastError());
        if (parts != nullptr)
          sums.queue_sum(n_parts_for_restriction(), restricted_norm);
      }

      template <bool add>
      void prolongate(int l)
      {
        const GridView &fine = levels[l]->grid, &coarse = levels[l - 1]->grid;
        const int       blocks = blocks_for(static_cast<long>(fine.n_x) * (end_pair(fine) - first_pair(fine)) * (fine.end_z - fine.begin_z));
        prolongate_kernel<add><<<blocks, n_threads>>>(fine, coarse, x(l - 1), x(l));
        LEOPARD_CHECK(cudaGetLastError());
      }

      void queue_residual(double *r, const double *x_, const double *b_)
      {
        levels.back()->with_shape(
          [&](auto shape) { residual_kernel<decltype(shape)><<<n_residual_blocks, n_threads>>>(levels.back()->grid, x_, b_, r, sums.parts()); });
        LEOPARD_CHECK(cudaGetLastError());
      }

      const MultigridOptions              options;
      std::vector<std::unique_ptr<Level>> levels;
      device::PartialSums                 sums;                      ///< parts of norms on the finest level
      double                             *restricted_norm = nullptr; ///< pinned, written by the device
    };
  } // namespace

  template <typename Number>
  std::unique_ptr<MultigridOperations<Number>> make_stencil_cuda_operations(const std::vector<StencilGrid> &levels, const MultigridOptions &options)
  {
    static_assert(std::is_same_v<Number, double>, "the kernels for stencils compute in double");
    return std::make_unique<StencilCudaOperations>(levels, options);
  }

#define INSTANTIATE(Number)                                                                                                  \
  template std::unique_ptr<MultigridOperations<Number>> make_stencil_cuda_operations(const std::vector<StencilGrid> &levels, \
                                                                                     const MultigridOptions         &options);
  LEOPARD_FOR_EACH_NUMBER(INSTANTIATE)
#undef INSTANTIATE
} // namespace leopard
