// SPDX-License-Identifier: Apache-2.0
#include "../base/thread_pool.h"
#include "operations.h"
#include "row_of_level.h"
#include "stencil_grid_host.h"

#include <algorithm>

namespace leopard
{
  namespace
  {
    constexpr long nodes_a_share = 8192; ///< nodes that are worth waking a thread for

    template <typename Number>
    struct Level
    {
      using Scratch = typename StencilHostGrid<Number>::Scratch;

      Level(const StencilGrid &stencil_grid, const SlabOverlap &overlap)
        : grid(stencil_grid, overlap.below(), overlap.above())
        , n(stencil_grid.stencil.n_rows())
        , below(stencil_grid.stencil.ghost_below ? overlap.below() * stencil_grid.stencil.plane() : 0)
        , below_b(stencil_grid.stencil.ghost_below ? overlap.planes * stencil_grid.stencil.plane() : 0)
        , all_x(below + n + (stencil_grid.stencil.ghost_above ? overlap.above() * stencil_grid.stencil.plane() : 0))
        , all_b(below_b + n + (stencil_grid.stencil.ghost_above ? overlap.b_above() * stencil_grid.stencil.plane() : 0))
      {
      }

      Number *x() { return placed_x != nullptr ? placed_x : all_x.data() + below; }
      Number *b() { return placed_b != nullptr ? placed_b : all_b.data() + below_b; }

      StencilHostGrid<Number>             grid;
      int                                 n, below, below_b; ///< own nodes; nodes of ghost planes before them
      std::vector<Number>                 all_x, all_b;
      Number                             *placed_x = nullptr, *placed_b = nullptr; ///< elsewhere
      std::unique_ptr<Relaxation<Number>> smoother;
      std::vector<Scratch>                scratch; ///< one a thread
    };

    template <typename Number>
    class StencilHostOperations : public MultigridOperations<Number>
    {
      using Piece   = typename StencilHostGrid<Number>::Piece;
      using Scratch = typename StencilHostGrid<Number>::Scratch;

    public:
      StencilHostOperations(const std::vector<StencilGrid> &grids, const MultigridOptions &options, const SlabOverlap &overlap)
        : pool(shared_thread_pool(options.backend == Backend::reference ? 1 : options.n_threads))
        , backend(options.backend)
        , smoother_options(options.smoother)
      {
        if (smoother_options.block_async.n_threads == 0)
          smoother_options.block_async.n_threads = options.n_threads;
        levels.reserve(grids.size());
        for (std::size_t l = 0; l < grids.size(); ++l)
          {
            levels.emplace_back(grids[l], overlap);
            levels[l].scratch.assign(pool->size(), levels[l].grid.scratch(l > 0 ? &levels[l - 1].grid : nullptr));
            if (l > 0)
              levels[l].smoother = overlap.planes > 0 ? make_slab_smoother(levels[l].grid.stencil(),
                                                                           rounded_to<Number>(overlap.wide[l]),
                                                                           grids[l].stencil.ghost_below ? overlap.planes : 0,
                                                                           smoother_options,
                                                                           backend)
                                                      : on_level({levels[l].n, l + 1 < grids.size(), false},
                                                                 [&] { return make_smoother(levels[l].grid.stencil(), smoother_options, backend); });
          }
      }

      MemorySpace         memory_space() const override { return MemorySpace::host; }
      int                 n_levels() const override { return static_cast<int>(levels.size()); }
      int                 n_unknowns(int level) const override { return levels[level].n; }
      Relaxation<Number> &smoother(int level) override { return *levels[level].smoother; }
      Number             *x(int level) override { return levels[level].x(); }
      Number             *b(int level) override { return levels[level].b(); }

      std::size_t memory() const override
      {
        std::size_t sum = 0;
        for (const Level<Number> &level : levels)
          sum +=
            (level.all_x.size() + level.all_b.size() + 2 * level.grid.stencil().diagonal.size()) * sizeof(Number); // a diagonal for the smoother, too
        return sum;
      }

      void set_zero(int level) override
      {
        Number *all = levels[level].all_x.data();
        parallel_for(*pool, static_cast<long>(levels[level].all_x.size()), nodes_a_share, [&](long begin, long end) {
          std::fill(all + begin, all + end, Number(0));
        });
      }

      void place_coarsest(Number *x_, Number *b_) override
      {
        levels.front().placed_x = x_;
        levels.front().placed_b = b_;
      }

      void smooth(int level, int n_steps) override
      {
        smoother(level).restart();
        smoother(level).iterate(x(level), b(level), n_steps * smoother_options.iterations_per_step);
      }

      void restrict_residual(int level) override
      {
        const double norm = restrict_vector(level, x(level));
        if (level == n_levels() - 1)
          restricted_norm = norm;
      }

      void restrict_right_hand_side(int level) override { restrict_vector(level, nullptr); }
      void correct(int level) override { prolongate(level, true); }
      void interpolate(int level) override { prolongate(level, false); }

      void set_right_hand_sides(const Number *from) override { copy(from, b(n_levels() - 1)); }
      void set_solution(const Number *from) override { copy(from, x(n_levels() - 1)); }
      void get_solution(Number *to) override { copy(x(n_levels() - 1), to); }

      void multiply(Number *y, Number *from) override
      {
        const long n_x = levels.back().grid.stencil().n_x, n_y = levels.back().grid.stencil().n_y;
        for_pieces(levels.back(), [&](const Piece &p, Scratch & /*s*/) {
          Number *result = y + (p.k * n_y + p.j) * n_x;
          levels.back().grid.residual_line(from, nullptr, p.j, p.k, p.begin, p.end, result + p.begin);
          for (int i = p.begin; i < p.end; ++i)
            result[i] = -result[i];
          return 0.;
        });
      }

      double residual_norm_squared(Number *from, const Number *right) override
      {
        return for_pieces(levels.back(), [&](const Piece &p, Scratch &s) {
          levels.back().grid.residual_line(from, right, p.j, p.k, p.begin, p.end, s.sum.data());
          return StencilHostGrid<Number>::norm_squared(s.sum.data(), p.end - p.begin);
        });
      }

      void update_stencils(const std::vector<StencilGrid> &grids) override
      {
        for (std::size_t l = 0; l < levels.size(); ++l)
          {
            levels[l].grid.update_values(grids[l].stencil);
            if (l > 0)
              update_smoother(*levels[l].smoother, levels[l].grid.stencil(), smoother_options, backend);
          }
      }

      double norm_squared(const Number *v) override
      {
        return parallel_sum(*pool, levels.back().n, nodes_a_share, [&](long begin, long end) {
          return StencilHostGrid<Number>::norm_squared(v + begin, static_cast<int>(end - begin));
        });
      }

      double restricted_residual_norm_squared() override { return restricted_norm; }

    private:
      template <typename Function>
      void for_all(int level, const Function &function) const
      {
        parallel_for(*pool, levels[level].n, nodes_a_share, function);
      }

      void copy(const Number *from, Number *to) const
      {
        for_all(n_levels() - 1, [&](long begin, long end) { std::copy(from + begin, from + end, to + begin); });
      }

      /**
       * Parts of n indices, each with room of its own: function(first, last, scratch), which returns a number to be
       * summed up.
       */
      template <typename Function>
      double in_parts(Level<Number> &level, long n, const Function &function)
      {
        std::vector<double> sums(pool->size(), 0.);
        const int           n_parts = static_cast<int>(std::max(1l, std::min({static_cast<long>(pool->size()), level.n / nodes_a_share, n})));
        const auto          work    = [&](int part) { sums[part] = function(n * part / n_parts, n * (part + 1) / n_parts, level.scratch[part]); };
        pool->run(std::cref(work), n_parts); // by reference, so that nothing is allocated
        double sum = 0.;
        for (const double s : sums)
          sum += s;
        return sum;
      }

      /** function(piece, scratch) for the pieces of the level's lines; the sum of what it returns. */
      template <typename Function>
      double for_pieces(Level<Number> &level, const Function &function)
      {
        return in_parts(level, level.grid.n_pieces(), [&](long first, long last, Scratch &s) {
          double sum = 0.;
          for (long number = first; number < last; ++number)
            sum += function(level.grid.piece(number), s);
          return sum;
        });
      }

      /** The squared norm of what is restricted: the residual, or b where x is null. */
      double restrict_vector(int level, const Number *from)
      {
        Level<Number>         &fine = levels[level], &coarse = levels[level - 1];
        const Stencil<Number> &f = fine.grid.stencil(), &c = coarse.grid.stencil();
        return in_parts(fine,
                        f.n_z > 1   ? c.n_z
                        : f.n_y > 1 ? c.n_y
                                    : c.n_x,
                        [&](long first, long last, Scratch &s) {
                          return fine.grid.restrict_part(coarse.grid, from, fine.b(), coarse.b(), static_cast<int>(first), static_cast<int>(last), s);
                        });
      }

      void prolongate(int level, bool add)
      {
        Level<Number> &fine = levels[level], &coarse = levels[level - 1];
        for_pieces(fine, [&](const Piece &piece, Scratch &s) {
          fine.grid.interpolate_piece(coarse.grid, coarse.x(), fine.x(), add, piece, s);
          return 0.;
        });
        for (const Piece &piece : fine.grid.ghost_pieces())
          fine.grid.interpolate_piece(coarse.grid, coarse.x(), fine.x(), add, piece, fine.scratch.front());
      }

      const std::shared_ptr<ThreadPool> pool;
      const Backend                     backend;
      SmootherOptions                   smoother_options;
      std::vector<Level<Number>>        levels;
      double                            restricted_norm = 0.;
    };
  } // namespace

  template <typename Number>
  std::unique_ptr<MultigridOperations<Number>>
  make_stencil_host_operations(const std::vector<StencilGrid> &levels, const MultigridOptions &options, const SlabOverlap &overlap)
  {
    return std::make_unique<StencilHostOperations<Number>>(levels, options, overlap);
  }

#define INSTANTIATE(Number)                                                           \
  template std::unique_ptr<MultigridOperations<Number>> make_stencil_host_operations( \
    const std::vector<StencilGrid> &levels, const MultigridOptions &options, const SlabOverlap &overlap);
  LEOPARD_FOR_EACH_NUMBER(INSTANTIATE)
#undef INSTANTIATE
} // namespace leopard
