// SPDX-License-Identifier: Apache-2.0
#include "../base/thread_pool.h"
#include "operations.h"

#include <algorithm>
#include <numeric>
#include <thread>

namespace leopard
{
  namespace
  {
    /** The grid nodes beside which a node of the other grid lies in one direction: none, one or two, with the same weight. */
    struct Neighbours
    {
      int    node[2];
      int    count;
      double weight;
    };

    /** Coarse nodes from which fine node i is interpolated, if they exist. A direction of one node is not coarsened. */
    Neighbours parents(int i, int n_fine)
    {
      if (n_fine == 1)
        return {{0, 0}, 1, 1.};
      const int half = i >> 1; // also of the ghost node -1, which is coarse node -1
      return i % 2 != 0 ? Neighbours{{half, half}, 1, 1.} : Neighbours{{half - 1, half}, 2, 0.5};
    }

    /** Vectors and operator of a level, with the ghost planes of a slab around x. A line is a row of nodes in x. */
    class Level
    {
    public:
      Level(const StencilGrid &grid_, const MultigridOptions &options, bool coarsest)
        : grid(grid_)
        , stencil(grid.stencil)
        , below(stencil.ghost_below ? stencil.plane() : 0)
        , all_x(below + stencil.n_rows() + (stencil.ghost_above ? 2 * stencil.plane() : 0))
        , b(stencil.n_rows() + (stencil.ghost_above ? stencil.plane() : 0))
        , smoother(coarsest ? nullptr : make_smoother(stencil, options.smoother, Backend::host))
      {
        const bool flat  = stencil.n_z == 1;
        const int  first = stencil.ghost_below ? -1 : 0, above = stencil.ghost_above ? 2 : 0;
        begin_y = flat ? first : 0;
        end_y   = stencil.n_y + (flat ? above : 0);
        begin_z = flat ? 0 : first;
        end_z   = stencil.n_z + (flat ? 0 : above);
      }

      double *x() { return all_x.data() + below; }
      int     n() const { return stencil.n_rows(); }

      bool has_line(int y, int z) const { return y >= begin_y && y < end_y && z >= begin_z && z < end_z; }
      /** Whether b has values there: own lines, and those of the ghost plane above a slab. */
      bool has_row(int y, int z) const { return has_line(y, z) && y >= 0 && z >= 0 && y <= stencil.n_y && z <= stencil.n_z; }
      bool owns(int y, int z) const { return y >= 0 && z >= 0 && y < stencil.n_y && z < stencil.n_z; }
      long line(int y, int z) const { return (static_cast<long>(z) * stencil.n_y + y) * stencil.n_x; }
      /** What interpolated values on a line are multiplied with (see StencilGrid). */
      double line_weight(int y, int z) const
      {
        return (y == stencil.n_y - 1 ? grid.last_weight(1) : 1.) * (z == stencil.n_z - 1 ? grid.last_weight(2) : 1.);
      }

      /** r = b - A v on a line. */
      void residual_line(const double *v, const double *rhs, int y, int z, double *r) const
      {
        const long    here = line(y, z);
        const double *u    = v + here;
        const int     n    = stencil.n_x;
        if (stencil.diagonal.empty())
          {
            const double d = stencil.coefficient(0, 0, 0);
            for (int i = 0; i < n; ++i)
              r[i] = rhs[here + i] - d * u[i];
          }
        else
          for (int i = 0; i < n; ++i)
            r[i] = rhs[here + i] - stencil.diagonal[here + i] * u[i];
        for (int dz = stencil.n_z > 1 ? -1 : 0; dz <= (stencil.n_z > 1 ? 1 : 0); ++dz)
          for (int dy = -1; dy <= 1; ++dy)
            if (has_line(y + dy, z + dz))
              {
                const bool    own = dy == 0 && dz == 0;
                const double *w   = v + line(y + dy, z + dz);
                subtract_line(stencil.coefficient(-1, dy, dz), own ? 0. : stencil.coefficient(0, dy, dz), stencil.coefficient(1, dy, dz), w, r);
              }
      }

      const StencilGrid           grid;
      const Stencil              &stencil;
      const std::ptrdiff_t        below; ///< nodes of the ghost plane
      std::vector<double>         all_x, b;
      std::unique_ptr<Relaxation> smoother;
      int                         begin_y, end_y, begin_z, end_z; ///< of the lines that x has

    private:
      /** r_i -= left w_(i-1) + middle w_i + right w_(i+1) */
      void subtract_line(double left, double middle, double right, const double *w, double *__restrict r) const
      {
        const int n = stencil.n_x;
        if (left == 0. && right == 0.)
          {
            if (middle != 0.)
              for (int i = 0; i < n; ++i)
                r[i] -= middle * w[i];
            return;
          }
        r[0] -= middle * w[0] + (n > 1 ? right * w[1] : 0.);
        for (int i = 1; i < n - 1; ++i)
          r[i] -= left * w[i - 1] + middle * w[i] + right * w[i + 1];
        if (n > 1)
          r[n - 1] -= left * w[n - 2] + middle * w[n - 1];
      }
    };

    /** P^T of residuals, line by line: the lines between two coarse lines count for both and are computed once. */
    class Restriction
    {
    public:
      /** @param x null: of rhs instead of the residual. */
      Restriction(const Level &fine_, const Level &coarse_, const double *x_, const double *rhs_)
        : fine(fine_)
        , coarse(coarse_)
        , x(x_)
        , rhs(rhs_)
        , r(fine.stencil.n_x)
        , restricted(coarse.stencil.n_x)
      {
      }

      /** out = P^T in x and y of fine plane z, for coarse lines [begin, end). */
      void plane(int z, int begin, int end, double *out)
      {
        const int c_x = coarse.stencil.n_x;
        std::fill_n(out, static_cast<std::size_t>(end - begin) * c_x, 0.);
        const bool one  = fine.stencil.n_y == 1;
        const int  last = one ? 1 : 2 * end + 1; // behind it
        for (int y = one ? 0 : 2 * begin; y < last; ++y)
          if (fine.has_row(y, z))
            {
              restrict_line(y, z, one || y < 2 * end || end == coarse.stencil.n_y);
              const Neighbours of = parents(y, fine.stencil.n_y);
              for (int p = 0; p < of.count; ++p)
                if (of.node[p] >= begin && of.node[p] < end)
                  for (int i = 0; i < c_x; ++i)
                    out[(of.node[p] - begin) * c_x + i] += of.weight * restricted[i];
            }
      }

      double norm = 0.;      ///< of the own residuals so far, squared
      bool   counts = true; ///< whether planes count in it

    private:
      void restrict_line(int y, int z, bool line_counts)
      {
        const int n = fine.stencil.n_x, c_x = coarse.stencil.n_x;
        if (x != nullptr)
          fine.residual_line(x, rhs, y, z, r.data());
        else
          std::copy_n(rhs + fine.line(y, z), n, r.begin());
        if (counts && line_counts && fine.owns(y, z))
          norm = std::inner_product(r.begin(), r.end(), r.begin(), norm);
        const double weight = fine.line_weight(y, z);
        if (n == 1)
          {
            restricted[0] = weight * r[0];
            return;
          }
        r[n - 1] *= fine.grid.last_weight(0);
        for (int i = 0; i < c_x; ++i)
          restricted[i] = weight * (r[2 * i + 1] + 0.5 * (r[2 * i] + (2 * i + 2 < n ? r[2 * i + 2] : 0.)));
      }

      const Level        &fine, &coarse;
      const double       *x, *rhs;
      std::vector<double> r, restricted;
    };

    class StencilHostOperations : public Multigrid::Operations
    {
    public:
      StencilHostOperations(const std::vector<StencilGrid> &stencils, const MultigridOptions &options_)
        : options(options_)
        , pool(options.n_threads > 0 ? options.n_threads : static_cast<int>(std::max(1u, std::thread::hardware_concurrency())))
        , norms(pool.size())
      {
        for (std::size_t l = 0; l < stencils.size(); ++l)
          levels.push_back(std::make_unique<Level>(stencils[l], options, l == 0 && stencils.size() > 1));
      }

      MemorySpace memory_space() const override { return MemorySpace::host; }
      int         n_levels() const override { return static_cast<int>(levels.size()); }
      int         n_unknowns(int l) const override { return levels[l]->n(); }
      Relaxation &smoother(int l) override { return *levels[l]->smoother; }
      double     *x(int l) override { return levels[l]->x(); }
      double     *b(int l) override { return levels[l]->b.data(); }

      std::size_t memory() const override
      {
        std::size_t n = 0;
        for (const auto &level : levels)
          n += sizeof(double) * (level->all_x.size() + level->b.size() + 2 * level->stencil.diagonal.size()); // the smoother has one of its own
        return n;
      }

      void set_zero(int l) override { std::fill(levels[l]->all_x.begin(), levels[l]->all_x.end(), 0.); }

      void smooth(int l, int n_steps) override
      {
        smoother(l).restart();
        smoother(l).iterate(x(l), b(l), n_steps * options.smoother.iterations_per_step);
      }

      void restrict_residual(int l) override
      {
        const double norm = restrict(l, x(l));
        if (l == n_levels() - 1)
          restricted_norm = norm;
      }
      void restrict_right_hand_side(int l) override { restrict(l, nullptr); }
      void correct(int l) override { prolongate<true>(l); }
      void interpolate(int l) override { prolongate<false>(l); }

      void set_right_hand_side(const double *b_) override { std::copy_n(b_, levels.back()->n(), b(n_levels() - 1)); }
      void set_solution(const double *x_) override { std::copy_n(x_, levels.back()->n(), x(n_levels() - 1)); }
      void get_solution(double *x_) override { std::copy_n(x(n_levels() - 1), levels.back()->n(), x_); }

      double residual_norm_squared(double *x_, const double *b_) override
      {
        const Level &level = *levels.back();
        for_parts(level.stencil.n_y * level.stencil.n_z, [&](int begin, int end, int thread) {
          std::vector<double> r(level.stencil.n_x);
          double              norm = 0.;
          for (int line = begin; line < end; ++line)
            {
              level.residual_line(x_, b_, line % level.stencil.n_y, line / level.stencil.n_y, r.data());
              norm = std::inner_product(r.begin(), r.end(), r.begin(), norm);
            }
          norms[thread] = norm;
        });
        return std::accumulate(norms.begin(), norms.end(), 0.);
      }

      double restricted_residual_norm_squared() override { return restricted_norm; }
      double norm_squared(const double *b_) override { return std::inner_product(b_, b_ + levels.back()->n(), b_, 0.); }

    private:
      /** part(begin, end, thread) for a share of n things a thread. */
      template <typename Part>
      void for_parts(int n, const Part &part)
      {
        pool.run([&](int thread) {
          const auto first = [&](int t) { return static_cast<int>(static_cast<long>(n) * t / pool.size()); };
          part(first(thread), first(thread + 1), thread);
        });
      }

      /** @return the squared norm of the own residuals. */
      double restrict(int l, const double *v)
      {
        const Level &fine = *levels[l], &coarse = *levels[l - 1];
        const int    c_y = coarse.stencil.n_y, c_z = coarse.stencil.n_z, plane = coarse.stencil.n_x * c_y;
        double      *result = b(l - 1);
        if (fine.stencil.n_z == 1)
          for_parts(c_y, [&](int begin, int end, int thread) {
            Restriction restriction(fine, coarse, v, b(l));
            if (begin < end)
              restriction.plane(0, begin, end, result + static_cast<long>(begin) * coarse.stencil.n_x);
            norms[thread] = restriction.norm;
          });
        else
          for_parts(c_z, [&](int begin, int end, int thread) {
            Restriction         restriction(fine, coarse, v, b(l));
            std::vector<double> part(plane);
            std::fill_n(result + static_cast<long>(begin) * plane, static_cast<long>(end - begin) * plane, 0.);
            for (int z = 2 * begin; begin < end && z <= 2 * end && z < fine.end_z; ++z)
              {
                restriction.counts = z < 2 * end || end == c_z;
                restriction.plane(z, 0, c_y, part.data());
                const Neighbours of = parents(z, fine.stencil.n_z);
                for (int p = 0; p < of.count; ++p)
                  if (of.node[p] >= begin && of.node[p] < end)
                    for (int i = 0; i < plane; ++i)
                      result[static_cast<long>(of.node[p]) * plane + i] += of.weight * part[i];
              }
            norms[thread] = restriction.norm;
          });
        return std::accumulate(norms.begin(), norms.end(), 0.);
      }

      /** x_l += P x_(l-1) (add) or x_l = P x_(l-1), in ghost planes too. */
      template <bool add>
      void prolongate(int l)
      {
        Level       &fine = *levels[l], &coarse = *levels[l - 1];
        const int    n_y = fine.end_y - fine.begin_y, c_x = coarse.stencil.n_x, n = fine.stencil.n_x;
        for_parts(n_y * (fine.end_z - fine.begin_z), [&](int begin, int end, int /*thread*/) {
          std::vector<double> values(c_x + 2); // with a zero on each side
          for (int t = begin; t < end; ++t)
            {
              const int        y = fine.begin_y + t % n_y, z = fine.begin_z + t / n_y;
              const Neighbours of_y = parents(y, fine.stencil.n_y), of_z = parents(z, fine.stencil.n_z);
              const double     weight = of_y.weight * of_z.weight * fine.line_weight(y, z);
              std::fill(values.begin(), values.end(), 0.);
              for (int q = 0; q < of_z.count; ++q)
                for (int p = 0; p < of_y.count; ++p)
                  if (coarse.has_line(of_y.node[p], of_z.node[q]))
                    {
                      const double *line = coarse.x() + coarse.line(of_y.node[p], of_z.node[q]);
                      for (int i = 0; i < c_x; ++i)
                        values[1 + i] += weight * line[i];
                    }
              double *to = fine.x() + fine.line(y, z);
              for (int i = 0; i < n; ++i)
                {
                  const int    half  = i / 2;
                  const double value = n == 1 ? values[1] : i % 2 == 1 ? values[1 + half] : 0.5 * (values[half] + values[1 + half]);
                  to[i]              = (add ? to[i] : 0.) + (i == n - 1 ? fine.grid.last_weight(0) : 1.) * value;
                }
            }
        });
      }

      const MultigridOptions              options;
      std::vector<std::unique_ptr<Level>> levels;
      ThreadPool                          pool;
      std::vector<double>                 norms; ///< one a thread
      double                              restricted_norm = 0.;
    };
  } // namespace

  std::unique_ptr<Multigrid::Operations> make_stencil_host_operations(const std::vector<StencilGrid> &levels, const MultigridOptions &options)
  {
    return std::make_unique<StencilHostOperations>(levels, options);
  }
} // namespace leopard
