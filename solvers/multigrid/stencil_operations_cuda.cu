// SPDX-License-Identifier: Apache-2.0
#include "../base/errors.h"
#include "../device/device_array.h"
#include "../device/partial_sums.cuh"
#include "operations.h"
#include "stencil_level_kernels.cuh"

#include <algorithm>
#include <cstdint>

namespace leopard
{
  namespace
  {
    constexpr int n_threads = 256;

    template <typename Number>
    __global__ void negate_kernel(Number *v, int n)
    {
      if (const int i = blockIdx.x * blockDim.x + threadIdx.x; i < n)
        v[i] = -v[i];
    }

    template <typename Number>
    struct Level
    {
      /** @param wide null: no overlap. The coarsest level has no smoother. */
      Level(const StencilGrid &level, const MultigridOptions &options, bool coarsest, const SlabOverlap &overlap, const Stencil<double> *wide)
        : n(level.stencil.n_rows())
        , below(level.stencil.ghost_below ? whole_lines(overlap.below() * level.stencil.plane()) : 0)
        , below_b(level.stencil.ghost_below ? whole_lines(overlap.planes * level.stencil.plane()) : 0)
        , diagonal(rounded_to<Number>(level.stencil.diagonal))
        , all_x(below + n + (level.stencil.ghost_above ? overlap.above() * level.stencil.plane() : 0))
        , all_b(below_b + n + (level.stencil.ghost_above ? overlap.b_above() * level.stencil.plane() : 0))
        , smoother(coarsest          ? nullptr
                   : wide != nullptr ? make_slab_smoother(rounded_to<Number>(level.stencil),
                                                          rounded_to<Number>(*wide),
                                                          level.stencil.ghost_below ? overlap.planes : 0,
                                                          options.smoother,
                                                          Backend::cuda)
                                     : make_smoother(rounded_to<Number>(level.stencil), options.smoother, Backend::cuda))
        , flat(level.stencil.n_z == 1)
        , full(!level.stencil.is_star())
      {
        const Stencil<double> &stencil = level.stencil;
        const int              first = stencil.ghost_below ? -overlap.below() : 0, above = stencil.ghost_above ? overlap.above() : 0;
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
          grid.last_weights[d] = static_cast<Number>(level.last_weight(d));
        for (std::size_t i = 0; i < stencil.coefficients.size(); ++i)
          grid.coefficients[i] = static_cast<Number>(stencil.coefficients[i]);
      }

      /** Where pairs of neighbours can be read at once. */
      static int whole_lines(int n) { return (n + 31) / 32 * 32; }

      Number *x() const { return placed_x != nullptr ? placed_x : all_x.data() + below; }
      Number *b() const { return placed_b != nullptr ? placed_b : all_b.data() + below_b; }

      int                                 n, below, below_b; ///< own nodes; places of x in all_x, of b in all_b
      device::Array<Number>               diagonal, all_x, all_b;
      Number                             *placed_x = nullptr, *placed_b = nullptr; ///< elsewhere
      std::unique_ptr<Relaxation<Number>> smoother;
      bool                                flat, full;
      GridView<Number>                    grid;

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

    template <typename Number>
    class StencilCudaOperations : public MultigridOperations<Number>
    {
    public:
      StencilCudaOperations(const std::vector<StencilGrid> &stencils, const MultigridOptions &options_, const SlabOverlap &overlap)
        : options(options_)
        , overlaps(overlap.planes > 0)
        , sums(n_parts_for(stencils.back()))
      {
        require_memory(stencils);
        for (std::size_t l = 0; l < stencils.size(); ++l)
          levels.push_back(std::make_unique<Level<Number>>(
            stencils[l], options, l == 0 && stencils.size() > 1, overlap, overlaps && l > 0 ? &overlap.wide[l] : nullptr));
      }

      MemorySpace         memory_space() const override { return MemorySpace::device; }
      int                 n_levels() const override { return static_cast<int>(levels.size()); }
      int                 n_unknowns(int l) const override { return levels[l]->n; }
      Relaxation<Number> &smoother(int l) override { return *levels[l]->smoother; }
      Number             *x(int l) override { return levels[l]->x(); }
      Number             *b(int l) override { return levels[l]->b(); }

      std::size_t memory() const override
      {
        std::size_t n = 0;
        for (const auto &level : levels)
          n += sizeof(Number) * (level->all_x.size() + level->all_b.size() + 2 * level->diagonal.size()); // the smoother has a diagonal of its own
        return n;
      }

      void set_zero(int l) override { LEOPARD_CHECK(cudaMemsetAsync(levels[l]->all_x.data(), 0, levels[l]->all_x.size() * sizeof(Number))); }

      void smooth(int l, int n_steps) override
      {
        smoother(l).restart();
        smoother(l).iterate(x(l), b(l), n_steps * options.smoother.iterations_per_step);
      }

      void smooth_from_zero(int l, int n_steps) override
      {
        if (!overlaps && levels[l]->all_x.size() > static_cast<std::size_t>(levels[l]->n)) // ghosts of a slab
          return MultigridOperations<Number>::smooth_from_zero(l, n_steps);
        smoother(l).restart();
        smoother(l).iterate_from_zero(x(l), b(l), n_steps * options.smoother.iterations_per_step);
      }

      void restrict_residual(int l) override { restrict(l, x(l), b(l)); }
      void restrict_right_hand_side(int l) override { restrict(l, nullptr, b(l)); }
      void correct(int l) override { prolongate<true>(l); }
      void interpolate(int l) override { prolongate<false>(l); }

      void set_right_hand_sides(const Number *b_) override { copy_finest(b(n_levels() - 1), b_); }
      void set_solution(const Number *x_) override { copy_finest(x(n_levels() - 1), x_); }
      void get_solution(Number *x_) override { copy_finest(x_, x(n_levels() - 1)); }
      bool takes_own_vectors() const override { return true; }

      void place_coarsest(Number *x_, Number *b_) override
      {
        Level<Number> &level = *levels.front();
        level.placed_x       = x_;
        level.placed_b       = b_;
        level.all_x          = device::Array<Number>();
        level.all_b          = device::Array<Number>();
      }

      void multiply(Number *y, Number *x_) override
      {
        const int n = levels.back()->n;
        device::set_zero(y, finest_bytes()); // as the right-hand side: y = -(0 - A x), each node reading its own only
        queue_residual(y, x_, y);
        negate_kernel<<<blocks_for(n), n_threads>>>(y, n);
        LEOPARD_CHECK(cudaGetLastError());
      }

      double residual_norm_squared(Number *x_, const Number *b_) override
      {
        queue_residual(nullptr, x_, b_);
        return sums.sum_of(n_residual_blocks);
      }

      double restricted_residual_norm_squared() override { return sums.sum_of(n_restricted_parts); }

      double norm_squared(const Number *b_) override { return sums.norm_squared(b_, levels.back()->n); }

    private:
      static constexpr int n_residual_blocks = 132 * 16;

      std::size_t finest_bytes() const { return levels.back()->n * sizeof(Number); }

      void copy_finest(Number *to, const Number *from) const
      {
        if (to != from)
          device::copy_on_device(to, from, finest_bytes());
      }

      static int    blocks_for(long n) { return static_cast<int>((n + n_threads - 1) / n_threads); }
      static double bytes_of(double n, bool variable) { return n * sizeof(Number) * (variable ? 4 : 2); } // x, b, and the diagonal twice

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
          const GridView<Number> &g = levels.back()->grid;
          const dim3              t = tiles<decltype(shape)>(g.n_x, g.n_y, g.n_z);
          n                         = static_cast<int>(t.x * t.y * t.z);
        });
        return n;
      }

      static int n_parts_for(const StencilGrid &level)
      {
        const Stencil<double> &s = level.stencil;
        const dim3 t       = s.n_z == 1 ? tiles<GridShape<false, true>>(s.n_x, s.n_y, s.n_z) : tiles<GridShape<false, false>>(s.n_x, s.n_y, s.n_z);
        const dim3 marches = s.n_z == 1 ? flat_blocks(s.n_x, s.n_y) : deep_blocks(s.n_x, s.n_y, s.n_z);
        return std::max({n_residual_blocks, static_cast<int>(t.x * t.y * t.z), static_cast<int>(marches.x * marches.y * marches.z)});
      }

      // coarse lines or planes that a warp marches through: far marches read fewer of them twice, near ones keep more
      // multiprocessors at work
      static constexpr int far = 4, near = 1;
      static dim3          flat_blocks(int n_x, int n_y)
      {
        const int lines = 4 * (is_large(n_x, n_y, 1) ? far : near);
        return dim3(((n_x + 1) / 2 + 30) / 31, ((n_y + 1) / 2 + lines - 1) / lines);
      }
      static dim3 deep_blocks(int n_x, int n_y, int n_z)
      {
        const int planes = is_large(n_x, n_y, n_z) ? far : near;
        return dim3(((n_x + 1) / 2 + 30) / 31, ((n_y + 1) / 2 + deep_lines - 1) / deep_lines, ((n_z + 1) / 2 + planes - 1) / planes);
      }
      static bool is_large(int n_x, int n_y, int n_z) { return static_cast<double>(n_x) * n_y * n_z > 4e6; }

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

      static constexpr int most_blocks = 65535; ///< of a launch, in y and in z
      static bool          fits(const dim3 &blocks) { return blocks.y <= most_blocks && blocks.z <= most_blocks; }

      /** Whether two neighbours at an even column can be moved at once. */
      static bool is_paired(const GridView<Number> &grid, const Number *v)
      {
        return grid.n_x % 2 == 0 && reinterpret_cast<std::uintptr_t>(v) % (2 * sizeof(Number)) == 0;
      }

      void restrict(int l, const Number *x_, const Number *b_)
      {
        const GridView<Number> &fine = levels[l]->grid, &coarse = levels[l - 1]->grid;
        double                 *parts   = l == n_levels() - 1 && x_ != nullptr ? sums.parts() : nullptr;
        const bool              marches = fine.n_x > 1 && fine.n_y > 1 && x_ != nullptr;
        if (levels[l]->flat && marches && fits(flat_blocks(fine.n_x, fine.n_y)))
          return levels[l]->full ? restrict_flat<true>(l, x_, b_, parts) : restrict_flat<false>(l, x_, b_, parts);
        if (!levels[l]->flat && !levels[l]->full && marches && fits(deep_blocks(fine.n_x, fine.n_y, fine.n_z)))
          return restrict_deep(l, x_, b_, parts);
        levels[l]->with_shape([&](auto shape) {
          using Shape       = decltype(shape);
          const dim3 blocks = tiles<Shape>(fine.n_x, fine.n_y, fine.n_z);
          device::launch_early(
            restrict_kernel<Shape, Number>, blocks, Shape::n_threads, 0, fine, coarse.n_x, coarse.n_y, coarse.n_z, x_, b_, b(l - 1), parts);
        });
        LEOPARD_CHECK(cudaGetLastError());
        if (parts != nullptr)
          n_restricted_parts = n_parts_for_restriction();
      }

      template <bool full>
      void restrict_flat(int l, const Number *x_, const Number *b_, double *parts)
      {
        const GridView<Number> &fine = levels[l]->grid, &coarse = levels[l - 1]->grid;
        const bool              paired = is_paired(fine, x_) && is_paired(fine, b_);
        const auto              kernel = is_large(fine.n_x, fine.n_y, 1)
                                           ? (paired ? restrict_flat_kernel<full, far, true, Number> : restrict_flat_kernel<full, far, false, Number>)
                                           : (paired ? restrict_flat_kernel<full, near, true, Number> : restrict_flat_kernel<full, near, false, Number>);
        const dim3              blocks = flat_blocks(fine.n_x, fine.n_y);
        device::launch_early(kernel, blocks, 128, 0, fine, coarse.n_x, coarse.n_y, x_, b_, b(l - 1), parts);
        end_restriction(blocks, parts);
      }

      void restrict_deep(int l, const Number *x_, const Number *b_, double *parts)
      {
        const GridView<Number> &fine = levels[l]->grid, &coarse = levels[l - 1]->grid;
        const bool              paired = is_paired(fine, x_) && is_paired(fine, b_);
        const auto              kernel = is_large(fine.n_x, fine.n_y, fine.n_z)
                                           ? (paired ? restrict_deep_kernel<far, true, Number> : restrict_deep_kernel<far, false, Number>)
                                           : (paired ? restrict_deep_kernel<near, true, Number> : restrict_deep_kernel<near, false, Number>);
        const dim3              blocks = deep_blocks(fine.n_x, fine.n_y, fine.n_z);
        device::launch_early(kernel, blocks, 32 * (deep_lines + 1), 0, fine, coarse.n_x, coarse.n_y, coarse.n_z, x_, b_, b(l - 1), parts);
        end_restriction(blocks, parts);
      }

      void end_restriction(const dim3 &blocks, const double *parts)
      {
        LEOPARD_CHECK(cudaGetLastError());
        if (parts != nullptr)
          n_restricted_parts = static_cast<int>(blocks.x * blocks.y * blocks.z);
      }

      template <bool add>
      void prolongate(int l)
      {
        const GridView<Number> &fine = levels[l]->grid, &coarse = levels[l - 1]->grid;
        const auto              kernel   = is_paired(fine, x(l)) ? prolongate_kernel<add, true, Number> : prolongate_kernel<add, false, Number>;
        const int               blocks_x = (fine.n_x + 2 * prolongate_x - 1) / (2 * prolongate_x), lines = most_blocks * prolongate_y;
        for (int k = fine.begin_z; k < fine.end_z; k += most_blocks) // nearly always one launch
          for (int j = first_pair(fine); j < end_pair(fine); j += lines)
            device::launch_early(
              kernel,
              dim3(blocks_x, (std::min(lines, end_pair(fine) - j) + prolongate_y - 1) / prolongate_y, std::min(most_blocks, fine.end_z - k)),
              dim3(prolongate_x, prolongate_y),
              0,
              fine,
              coarse,
              j,
              k,
              x(l - 1),
              x(l));
        LEOPARD_CHECK(cudaGetLastError());
      }

      void queue_residual(Number *r, const Number *x_, const Number *b_)
      {
        levels.back()->with_shape(
          [&](auto shape) { residual_kernel<decltype(shape)><<<n_residual_blocks, n_threads>>>(levels.back()->grid, x_, b_, r, sums.parts()); });
        LEOPARD_CHECK(cudaGetLastError());
      }

    public:
      void update_stencils(const std::vector<StencilGrid> &grids) override
      {
        for (std::size_t l = 0; l < levels.size(); ++l)
          {
            Level<Number> &level = *levels[l];
            round_to(rounded, grids[l].stencil);
            if (rounded.diagonal.size() != level.diagonal.size())
              throw InvalidInput("multigrid: level " + std::to_string(l) + " of other values has another pattern\n  expected: a new Multigrid");
            std::copy(rounded.coefficients.begin(), rounded.coefficients.end(), level.grid.coefficients);
            if (level.diagonal.size() > 0)
              device::copy_to_device(level.diagonal.data(), rounded.diagonal.data(), rounded.diagonal.size() * sizeof(Number));
            if (level.smoother != nullptr)
              update_smoother(*level.smoother, rounded, options.smoother, Backend::cuda);
          }
      }

    private:
      Stencil<Number> rounded; ///< in host memory, for update_stencils()

      const MultigridOptions                      options;
      const bool                                  overlaps; ///< slabs, see SlabOverlap
      std::vector<std::unique_ptr<Level<Number>>> levels;
      device::PartialSums                         sums;                   ///< parts of norms on the finest level
      int                                         n_restricted_parts = 0; ///< always the same: see restrict()
    };
  } // namespace

  template <typename Number>
  std::unique_ptr<MultigridOperations<Number>>
  make_stencil_cuda_operations(const std::vector<StencilGrid> &levels, const MultigridOptions &options, const SlabOverlap &overlap)
  {
    return std::make_unique<StencilCudaOperations<Number>>(levels, options, overlap);
  }

#define INSTANTIATE(Number)                                                           \
  template std::unique_ptr<MultigridOperations<Number>> make_stencil_cuda_operations( \
    const std::vector<StencilGrid> &levels, const MultigridOptions &options, const SlabOverlap &overlap);
  LEOPARD_FOR_EACH_NUMBER(INSTANTIATE)
#undef INSTANTIATE
} // namespace leopard
