// SPDX-License-Identifier: Apache-2.0
#include "../device/cuda_error.cuh"
#include "../device/device.h"
#include "inverted_diagonal.cuh"
#include "monitor_cuda.cuh"
#include "stencil_engine.h"
#include "stencil_kernels.cuh"

#include <cstdint>
#include <type_traits>

namespace leopard
{
  namespace
  {
    template <typename Number>
    class StencilCudaEngine : public StencilEngine<Number>
    {
      // 16 values of x and as many of b a thread: what fits in registers in double precision. Single precision has the
      // same tiles where a warp's lines are still whole ones of 128 bytes, and twice the tiles a multiprocessor: so it
      // is the same method, and small grids are spread over as many multiprocessors.
      template <bool full, bool variable>
      using FlatShape = StencilShape<Number, 32, 1, 1, 8, full, variable>;
      // of a star long lines, which memory serves better; a full one exchanges whole planes, and fewer so
      static constexpr bool is_double = std::is_same_v<Number, double>;
      template <bool full, bool variable>
      using DeepShape = StencilShape<Number, full && is_double ? 8 : 16, full && is_double ? 4 : 2, full ? 2 : 4, full ? 4 : 2, full, variable>;

    public:
      StencilCudaEngine(const Stencil<Number> &stencil, const BlockAsyncOptions &options_, TilePlaces places_)
        : StencilEngine<Number>(options_)
        , options(options_)
        , places(places_)
        , n_rows(stencil.n_rows())
        , inverse_diagonals(stencil.diagonal.size())
        , below(stencil.ghost_below ? stencil.plane() : 0)
        , old_x(options_.schedule == Schedule::synchronous ? below + n_rows + (stencil.ghost_above ? stencil.plane() : 0) : 0)
      {
        const bool flat = stencil.n_z == 1, full = !stencil.is_star(), variable = !stencil.diagonal.empty();
        view.n_x               = stencil.n_x;
        view.n_y               = flat ? 1 : stencil.n_y;
        view.n_z               = flat ? stencil.n_y : stencil.n_z;
        view.begin_z           = stencil.ghost_below ? -1 : 0;
        view.end_z             = view.n_z + (stencil.ghost_above ? 1 : 0);
        view.inverse_diagonals = inverse_diagonals.data();
        StencilCudaEngine::update_stencil(stencil);
        if (flat)
          choose_shape<FlatShape>(full, variable);
        else
          choose_shape<DeepShape>(full, variable);
        monitor = std::make_unique<CudaMonitor>(n_tiles());
        if (places != TilePlaces::in_turn && 2 * half_tile(flat) != planes_a_warp * n_warps)
          throw InvalidInput("block-asynchronous iteration: tiles of " + std::to_string(planes_a_warp * n_warps) +
                             " planes are to stand at fixed places\n  expected: " + std::to_string(2 * half_tile(flat)) + " planes");
      }

      MemorySpace memory_space() const override { return MemorySpace::device; }
      bool        is_fixed_linear_map() const override { return options.schedule == Schedule::synchronous || n_tiles() <= 1; }

      std::string description() const override
      {
        return std::to_string(n_tiles()) + " tiles of " + std::to_string(tile_x) + " x " + (tile_y > 1 ? std::to_string(tile_y) + " x " : "") +
               std::to_string(planes_a_warp * n_warps) + " nodes" + (moves() ? " that move by half a tile" : "") + ", stencil form, " +
               this->weights_text() + to_string(execution) + ", no stored matrix";
      }

      void iterate(Number *x, const Number *b, int n_iterations) override
      {
        if (n_iterations == 0)
          return;
        if (execution == Execution::persistent)
          {
            launch(x, x, b, n_iterations, 0, monitor->no_tests(), options.local_iterations);
            return;
          }
        const bool synchronous = options.schedule == Schedule::synchronous;
        for (int n = 0; n < n_iterations; ++n)
          {
            if (synchronous)
              device::copy_on_device(old_x.data(), x - below, old_x.size() * sizeof(Number));
            launch(x, synchronous ? old_x.data() + below : x, b, 1, 0, monitor->no_tests(), options.local_iterations, next_moved());
          }
      }

      bool iterate_from_zero(Number *x, const Number *b, int n_iterations) override
      {
        const bool is_slab = view.begin_z < 0 || view.end_z > view.n_z; // whose ghosts a second iteration would read
        if (execution == Execution::persistent || options.schedule == Schedule::synchronous || (is_slab && n_iterations > 1))
          return false;
        launch(x, nullptr, b, 1, 0, monitor->no_tests(), options.local_iterations, next_moved());
        iterate(x, b, n_iterations - 1);
        return true;
      }

      bool tests_itself() const override { return execution == Execution::persistent; }

      IterationReport iterate_until(Number *x, const Number *b, int n_iterations, const ResidualTest &test) override
      {
        // now and then the host looks too: at the time, and at whether there is progress
        launch(x, x, b, static_cast<int>(std::min<long>(n_iterations, 100l * test.every)), test.every, monitor->view(test), options.local_iterations);
        return monitor->report();
      }

      double residual_norm_squared(const Number *x, const Number *b) override
      {
        queue_residual(x, b);
        return monitor->sum_of_parts();
      }

      double norm_squared(const Number *b) override { return monitor->norm_squared(b, n_rows); }

      /** In the persistent form, of the planes whose ghosts stand together. */
      bool mirror(const Mirrors<Number> &mirrors) override
      {
        const std::size_t plane = static_cast<std::size_t>(view.n_x) * view.n_y, n_below = view.begin_z < 0 ? plane : 0,
                          n_above = view.end_z > view.n_z ? plane : 0, n = mirrors.rows.size();
        if (execution != Execution::persistent || n != n_below + n_above)
          return false;
        for (std::size_t i = 0; i < n; ++i)
          {
            const bool        is_below = i < n_below;
            const std::size_t first    = is_below ? 0 : n_below;
            if (mirrors.rows[i] != static_cast<int>((is_below ? 0 : n_rows - plane) + i - first) ||
                mirrors.places[i] != mirrors.places[first] + (i - first))
              return false;
          }
        view.mirror_below = n_below > 0 ? mirrors.places.front() : nullptr;
        view.mirror_above = n_above > 0 ? mirrors.places[n_below] : nullptr;
        return true;
      }

      void update_stencil(const Stencil<Number> &stencil) override
      {
        const bool   flat     = stencil.n_z == 1;
        const double scale    = scale_of(stencil, this->omega);
        view.keep             = static_cast<Number>(1. - this->omega);
        view.inverse_diagonal = static_cast<Number>(scale);
        for (int dz = -1; dz <= 1; ++dz)
          for (int dy = -1; dy <= 1; ++dy)
            for (int dx = -1; dx <= 1; ++dx)
              view.weights[(dz + 1) * 9 + (dy + 1) * 3 + dx + 1] =
                static_cast<Number>(-scale * (flat ? (dy == 0 ? stencil.coefficient(dx, dz, 0) : Number(0)) : stencil.coefficient(dx, dy, dz)));
        copy_inverted(inverse_diagonals, stencil.diagonal, this->omega);
        view.has_sweep_weights = !this->sweep_weights.empty();
        for (std::size_t s = 0; s < this->sweep_weights.size(); ++s)
          view.sweep_weights[s] = static_cast<Number>(this->sweep_weights[s]);
      }

    private:
      using Kernel = void (*)(StencilView<Number>, RelaxVectors<Number>, RelaxParameters<Number>, MonitorView);

      int n_tiles() const { return view.tiles_x * view.tiles_y * tiles_z; }

      /**
       * In the chaotic schedule with a launch an iteration every second iteration has its tiles moved by half of their
       * size in each direction: what an iteration leaves at the tiles' borders, where values were frozen, is inside the
       * tiles of the next one.
       */
      bool moves() const
      {
        return execution == Execution::launch && options.schedule == Schedule::chaotic && n_tiles() > 1 && places == TilePlaces::in_turn;
      }
      bool next_moved()
      {
        if (places != TilePlaces::in_turn)
          return places == TilePlaces::moved;
        const bool now = moved;
        moved          = moves() && !moved;
        return now;
      }

      StencilView<Number> moved_view() const
      {
        StencilView<Number> result = view;
        const auto          move   = [](int &offset, int &tiles, int n, int size) {
          offset = tiles > 1 ? size / 2 : 0;
          tiles  = (n + offset + size - 1) / size;
        };
        int planes = tiles_z;
        move(result.offset_x, result.tiles_x, view.n_x, tile_x);
        move(result.offset_y, result.tiles_y, view.n_y, tile_y);
        move(result.offset_z, planes, view.n_z, planes_a_warp * n_warps);
        if (places == TilePlaces::moved && view.begin_z < 0)
          result.offset_z = 0;
        return result;
      }

      template <template <bool, bool> class Shape>
      void choose_shape(bool full, bool variable)
      {
        if (full)
          variable ? choose_form<Shape<true, true>>() : choose_form<Shape<true, false>>();
        else
          variable ? choose_form<Shape<false, true>>() : choose_form<Shape<false, false>>();
      }

      template <typename Shape>
      std::size_t shared_bytes(int warps, bool persistent) const
      {
        return sizeof(double) * 32 + sizeof(Number) * 32 * warps * Shape::n_y * (8 + (persistent ? 2 * Shape::n_z : 0));
      }

      /** How many warps stand on one another in a tile, and whether all tiles are on the chip at once. */
      template <typename Shape>
      void choose_form()
      {
        tile_x               = 2 * Shape::n_lanes_x;
        tile_y               = Shape::n_lanes_y * Shape::n_y;
        planes_a_warp        = Shape::n_z;
        view.tiles_x         = (view.n_x + tile_x - 1) / tile_x;
        view.tiles_y         = (view.n_y + tile_y - 1) / tile_y;
        const auto tiles_for = [&](int warps) { return (view.n_z + warps * planes_a_warp - 1) / (warps * planes_a_warp); };

        launch_kernels[0]     = relax_stencil_kernel<Shape, false, false>;
        launch_kernels[1]     = relax_stencil_kernel<Shape, false, true>;
        persistent_kernels[0] = relax_stencil_kernel<Shape, true, false>;
        persistent_kernels[1] = relax_stencil_kernel<Shape, true, true>;
        if (options.schedule == Schedule::synchronous && options.execution == Execution::persistent)
          throw InvalidInput("block-asynchronous iteration: execution is persistent for a stencil in the synchronous schedule\n  expected: execution "
                             "automatic or launch, or a stored matrix");
        if (options.schedule == Schedule::chaotic && options.execution != Execution::launch)
          for (int warps = Shape::max_warps; warps >= 2; warps /= 2)
            {
              // tall tiles converge better, but leave no multiprocessor without one
              const int  tiles = view.tiles_x * view.tiles_y * tiles_for(warps), multiprocessors = device::n_multiprocessors();
              const bool few = 4 * tiles < 3 * multiprocessors && warps > 2;
              if (few)
                continue;
              if (tiles <= at_once(warps, shared_bytes<Shape>(warps, true)) * multiprocessors)
                {
                  execution = Execution::persistent;
                  n_warps   = warps;
                  tiles_z   = tiles_for(warps);
                }
              break;
            }
        if (execution == Execution::persistent)
          n_shared = shared_bytes<Shape>(n_warps, true);
        else if (options.execution == Execution::persistent)
          throw InvalidInput("block-asynchronous iteration: execution is persistent, but the grid of " + std::to_string(n_rows) +
                             " nodes is too large to be on this GPU at once\n  expected: execution automatic or launch");
        else
          {
            n_warps  = tile_planes(Shape::flat, Shape::full) / planes_a_warp;
            tiles_z  = tiles_for(n_warps);
            n_shared = shared_bytes<Shape>(n_warps, false);
          }
      }

      int at_once(int warps, std::size_t shared) const
      {
        int fewest = 1 << 20;
        for (const Kernel kernel : persistent_kernels)
          {
            int blocks = 0;
            if (shared > device::allow_shared_memory(reinterpret_cast<const void *>(kernel)))
              return 0;
            LEOPARD_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 32 * warps, shared));
            fewest = std::min(fewest, blocks);
          }
        return fewest;
      }

      /** Queues the parts of ||b - A x||^2: no local iterations, so that x is only read. */
      void queue_residual(const Number *x, const Number *b) { launch(const_cast<Number *>(x), x, b, 1, 1, monitor->no_tests(), 0); }

      void
      launch(Number *x, const Number *off_block, const Number *b, int n, int test_every, MonitorView m, int local_iterations, bool is_moved = false)
      {
        const auto              aligned     = [](const void *p) { return reinterpret_cast<std::uintptr_t>(p) % (2 * sizeof(Number)) == 0; };
        const bool              persists    = execution == Execution::persistent;
        const bool              paired      = view.n_x % 2 == 0 && aligned(x) && aligned(b) && aligned(off_block);
        const bool              whole       = view.n_x % tile_x == 0 && view.n_y % tile_y == 0 && view.n_z % (n_warps * planes_a_warp) == 0;
        RelaxVectors<Number>    vectors     = {x, off_block, b, nullptr, monitor->parts(), nullptr, nullptr};
        RelaxParameters<Number> parameters  = {n, local_iterations, nullptr, Number(1), Number(0), false, test_every};
        const Kernel            kernel      = persists ? persistent_kernels[paired && whole] : launch_kernels[paired];
        StencilView<Number>     tiles       = is_moved ? moved_view() : view;
        void                   *arguments[] = {&tiles, &vectors, &parameters, &m};
        if (m.tests) // whose blocks wait for one another twice
          LEOPARD_CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<const void *>(kernel), n_tiles(), 32 * n_warps, arguments, n_shared, nullptr));
        else if (persists)
          kernel<<<n_tiles(), 32 * n_warps, n_shared>>>(view, vectors, parameters, m);
        else
          {
            const int size = planes_a_warp * n_warps, n_z = (view.n_z + tiles.offset_z + size - 1) / size;
            device::launch_early(kernel, tiles.tiles_x * tiles.tiles_y * n_z, 32 * n_warps, n_shared, tiles, vectors, parameters, m);
          }
        LEOPARD_CHECK(cudaGetLastError());
      }

      const BlockAsyncOptions      options;
      const TilePlaces             places;
      const int                    n_rows;
      StencilView<Number>          view = {};
      device::Array<Number>        inverse_diagonals;
      const std::ptrdiff_t         below; ///< nodes of the ghost plane below
      device::Array<Number>        old_x; ///< synchronous schedule only, with the ghost planes
      std::unique_ptr<CudaMonitor> monitor;
      Execution                    execution         = Execution::launch;
      Kernel                       launch_kernels[2] = {}, persistent_kernels[2] = {}; ///< the second where pairs can be moved
      bool                         moved  = false;                                     ///< whether the tiles of the next iteration are moved
      int                          tile_x = 0, tile_y = 0, planes_a_warp = 0, n_warps = 0, tiles_z = 0;
      std::size_t                  n_shared = 0;
    };
  } // namespace

  template <typename Number>
  std::unique_ptr<BlockAsyncEngine<Number>>
  make_stencil_cuda_engine(const Stencil<Number> &stencil, const BlockAsyncOptions &options, TilePlaces places)
  {
    if (stencil.n_y == 1 && stencil.n_z == 1)
      return make_stencil_line_cuda_engine(stencil, options);
    return std::make_unique<StencilCudaEngine<Number>>(stencil, options, places);
  }

#define INSTANTIATE(Number)                                                    \
  template std::unique_ptr<BlockAsyncEngine<Number>> make_stencil_cuda_engine( \
    const Stencil<Number> &stencil, const BlockAsyncOptions &options, TilePlaces places);
  LEOPARD_FOR_EACH_NUMBER(INSTANTIATE)
#undef INSTANTIATE
} // namespace leopard
