// SPDX-License-Identifier: Apache-2.0
#include "../base/errors.h"
#include "../base/norms.h"
#include "../base/vector_clones.h"
#include "host_scheduler.h"
#include "stencil_engine.h"

#include <array>

namespace leopard
{
  namespace
  {
    /**
     * Nodes of a tile in x, y and z. In two dimensions a tile of x and b stays in a core's first and second cache
     * during its sweeps.
     */
    template <typename Number>
    std::array<int, 3> tile_of(const Stencil<Number> &stencil)
    {
      return stencil.n_z == 1 ? std::array<int, 3>{std::min(stencil.n_x, 512), 16, 1} : std::array<int, 3>{std::min(stencil.n_x, 128), 8, 8};
    }

    /** The stencil engine's oracle: the stored matrix in the order of the tiles, relaxed by the reference engine. */
    template <typename Number>
    class StencilReferenceEngine : public StencilEngine<Number>
    {
    public:
      StencilReferenceEngine(const Stencil<Number> &stencil, const BlockAsyncOptions &options)
        : StencilEngine<Number>(options)
        , tile(tile_of(stencil))
        , partition(tile_partition(stencil.n_x, stencil.n_y, stencil.n_z, tile[0], tile[1], tile[2]))
        , engine(make_reference_engine(permute(stencil.to_crs(), partition), in_tiles(options, partition)))
      {
      }

      MemorySpace memory_space() const override { return MemorySpace::host; }
      bool        is_fixed_linear_map() const override { return engine->is_fixed_linear_map(); }
      std::string description() const override { return engine->description() + ", tiles of a stencil"; }

      void iterate(Number *x, const Number *b, int n_iterations) override
      {
        const std::vector<Number> new_b = in_new_order(b);
        std::vector<Number>       new_x = in_new_order(x);
        engine->iterate(new_x.data(), new_b.data(), n_iterations);
        for (std::size_t i = 0; i < new_x.size(); ++i)
          x[partition.old_row[i]] = new_x[i];
      }

      double residual_norm_squared(const Number *x, const Number *b) override
      {
        return engine->residual_norm_squared(in_new_order(x).data(), in_new_order(b).data());
      }

      double norm_squared(const Number *b) override { return engine->norm_squared(b); }

      void update_stencil(const Stencil<Number> &stencil) override
      {
        engine->set_omega(this->omega);
        engine->set_sweep_weights(this->sweep_weights);
        engine->update_values(permute(stencil.to_crs(), partition).values.data());
      }

    private:
      static BlockAsyncOptions in_tiles(BlockAsyncOptions options, const Partition &partition)
      {
        options.block_offsets = partition.block_offsets;
        return options;
      }

      std::vector<Number> in_new_order(const Number *v) const
      {
        std::vector<Number> result(partition.old_row.size());
        for (std::size_t i = 0; i < result.size(); ++i)
          result[i] = v[partition.old_row[i]];
        return result;
      }

      std::array<int, 3>                        tile;
      Partition                                 partition;
      std::unique_ptr<BlockAsyncEngine<Number>> engine;
    };

    /** A tile with a margin of one node on each side, x fastest. */
    template <typename Number>
    struct Window
    {
      int                 n_x = 0, n_y = 0, n_z = 0; ///< margin included
      std::vector<Number> values;
      int                 index(int x, int y, int z) const { return ((z + 1) * n_y + y + 1) * n_x + x + 1; }
    };

    /** A row of a tile and the rows beside it in a window, for one Jacobi sweep. */
    template <typename Number>
    struct RowSweep
    {
      int           n;
      const Number *rows[9]; ///< [3 (dz + 1) + dy + 1], at the first node; the row itself is the fifth
      const Number *rhs;     ///< b
      const Number *weights; ///< omega / d_i, or null
      Number        weight;  ///< the same where it does not vary; where it does, what it is multiplied with in this sweep
      Number        keep;    ///< 1 - omega
      const Number *c;       ///< coefficients
    };

    template <typename Number>
    Number weight_of(const RowSweep<Number> &s, int i)
    {
      return s.weights != nullptr ? s.weight * s.weights[i] : s.weight;
    }

    /** next_i = (1 - omega) u_i + omega / d_i (b_i - the off-diagonal part of (A u)_i) for five points in a plane. */
    template <typename Number>
    LEOPARD_VECTOR_CLONES void sweep_flat_star(const RowSweep<Number> &s, Number *__restrict next)
    {
      const Number *here = s.rows[4], *front = s.rows[3], *back = s.rows[5];
      const Number  west = s.c[12], east = s.c[14], south = s.c[10], north = s.c[16];
      for (int i = 0; i < s.n; ++i)
        {
          const Number r = s.rhs[i] - west * here[i - 1] - east * here[i + 1] - south * front[i] - north * back[i];
          next[i]        = s.keep * here[i] + weight_of(s, i) * r;
        }
    }

    /** The same for seven points. */
    template <typename Number>
    LEOPARD_VECTOR_CLONES void sweep_star(const RowSweep<Number> &s, Number *__restrict next)
    {
      const Number *here = s.rows[4], *front = s.rows[3], *back = s.rows[5], *below = s.rows[1], *above = s.rows[7];
      const Number  west = s.c[12], east = s.c[14], south = s.c[10], north = s.c[16], bottom = s.c[4], top = s.c[22];
      for (int i = 0; i < s.n; ++i)
        {
          const Number r =
            s.rhs[i] - west * here[i - 1] - east * here[i + 1] - south * front[i] - north * back[i] - bottom * below[i] - top * above[i];
          next[i] = s.keep * here[i] + weight_of(s, i) * r;
        }
    }

    /** The same for nine points (rows 3 to 5) or twenty-seven (rows 0 to 8). */
    template <int first, int end, typename Number>
    inline void sweep_rows(const RowSweep<Number> &s, Number *__restrict next)
    {
      for (int i = 0; i < s.n; ++i)
        {
          Number r = s.rhs[i];
          for (int l = first; l < end; ++l)
            {
              r -= s.c[3 * l] * s.rows[l][i - 1] + s.c[3 * l + 2] * s.rows[l][i + 1];
              if (l != 4)
                r -= s.c[3 * l + 1] * s.rows[l][i];
            }
          next[i] = s.keep * s.rows[4][i] + weight_of(s, i) * r;
        }
    }

    template <typename Number>
    LEOPARD_VECTOR_CLONES void sweep_flat_full(const RowSweep<Number> &s, Number *__restrict next)
    {
      sweep_rows<3, 6>(s, next);
    }

    template <typename Number>
    LEOPARD_VECTOR_CLONES void sweep_full(const RowSweep<Number> &s, Number *__restrict next)
    {
      sweep_rows<0, 9>(s, next);
    }

    /**
     * The tiles of a stencil on host threads. Each sweep runs over rows of the grid, which the compiler turns into
     * vector instructions.
     */
    template <typename Number>
    class StencilHostEngine : public StencilEngine<Number>
    {
    public:
      StencilHostEngine(const Stencil<Number> &stencil_, const BlockAsyncOptions &options_)
        : StencilEngine<Number>(options_)
        , stencil(stencil_)
        , options(options_)
        , tile(tile_of(stencil_))
        , tiles{(stencil.n_x + tile[0] - 1) / tile[0], (stencil.n_y + tile[1] - 1) / tile[1], (stencil.n_z + tile[2] - 1) / tile[2]}
        , star(stencil.is_star())
        , flat(stencil.n_z == 1)
        , begin_y(flat && stencil.ghost_below ? -1 : 0)
        , end_y(stencil.n_y + (flat && stencil.ghost_above ? 1 : 0))
        , begin_z(!flat && stencil.ghost_below ? -1 : 0)
        , end_z(stencil.n_z + (!flat && stencil.ghost_above ? 1 : 0))
        , weights(stencil.diagonal.size())
        , scheduler(tiles[0] * tiles[1] * tiles[2], stencil.n_rows(), options_.n_threads)
        , scratch(scheduler.n_threads())
        , below(stencil.ghost_below ? stencil.plane() : 0)
        , old_x(options_.schedule == Schedule::synchronous ? below + stencil.n_rows() + (stencil.ghost_above ? stencil.plane() : 0) : 0)
      {
        set_weights();
        for (Scratch &s : scratch)
          for (Window<Number> *window : {&s.current, &s.next})
            {
              window->n_x = tile[0] + 2;
              window->n_y = tile[1] + 2;
              window->n_z = tile[2] + 2;
              window->values.resize(static_cast<std::size_t>(window->n_x) * window->n_y * window->n_z);
            }
      }

      MemorySpace memory_space() const override { return MemorySpace::host; }
      bool        is_fixed_linear_map() const override { return options.schedule == Schedule::synchronous || scheduler.n_threads() == 1; }

      std::string description() const override
      {
        return std::to_string(tiles[0] * tiles[1] * tiles[2]) + " tiles of " + std::to_string(tile[0]) + " x " + std::to_string(tile[1]) +
               (flat ? "" : " x " + std::to_string(tile[2])) + " nodes on " + std::to_string(scheduler.n_threads()) +
               " threads, stencil form, no stored matrix";
      }

      void iterate(Number *x, const Number *b, int n_iterations) override
      {
        if (options.schedule != Schedule::synchronous)
          {
            scheduler.run(n_iterations, [&](int t, int thread) { relax_tile(t, x, x, b, scratch[thread]); });
            return;
          }
        for (int n = 0; n < n_iterations; ++n)
          {
            std::copy_n(x - below, old_x.size(), old_x.begin());
            scheduler.run(1, [&](int t, int thread) { relax_tile(t, x, old_x.data() + below, b, scratch[thread]); });
          }
      }

      double residual_norm_squared(const Number *x, const Number *b) override
      {
        return scheduler.sum([&](int t) { return residual_of_tile(t, x, b); });
      }

      double norm_squared(const Number *b) override
      {
        return std::accumulate(b, b + stencil.n_rows(), 0., [](double sum, Number value) { return sum + square(value); });
      }

      void update_stencil(const Stencil<Number> &other) override
      {
        stencil = other;
        set_weights();
      }

    private:
      void set_weights()
      {
        const Number w = static_cast<Number>(this->omega);
        for (std::size_t i = 0; i < weights.size(); ++i)
          weights[i] = w / stencil.diagonal[i];
        weight = w / stencil.coefficient(0, 0, 0);
        keep   = Number(1) - w;
      }

      struct Scratch
      {
        Window<Number> current, next;
      };

      struct Place
      {
        int x, y, z, n_x, n_y, n_z; ///< first node and number of nodes
      };

      Place place_of(int t) const
      {
        Place p;
        p.x   = t % tiles[0] * tile[0];
        p.y   = t / tiles[0] % tiles[1] * tile[1];
        p.z   = t / (tiles[0] * tiles[1]) * tile[2];
        p.n_x = std::min(tile[0], stencil.n_x - p.x);
        p.n_y = std::min(tile[1], stencil.n_y - p.y);
        p.n_z = std::min(tile[2], stencil.n_z - p.z);
        return p;
      }

      /** Whether a line of nodes exists, of the grid or of a ghost plane. */
      bool exists(int y, int z) const { return y >= begin_y && y < end_y && z >= begin_z && z < end_z; }
      long index(int x, int y, int z) const { return (static_cast<long>(z) * stencil.n_y + y) * stencil.n_x + x; }

      /** Copies the tile from own and its margin from v; zero beyond the grid. */
      void fill(const Place &p, const Number *own, const Number *v, Window<Number> &window) const
      {
        for (int z = -1; z <= p.n_z; ++z)
          for (int y = -1; y <= p.n_y; ++y)
            {
              Number    *to   = window.values.data() + window.index(-1, y, z);
              const bool in   = exists(p.y + y, p.z + z);
              const bool mine = in && y >= 0 && y < p.n_y && z >= 0 && z < p.n_z;
              if (!in)
                std::fill_n(to, p.n_x + 2, Number(0));
              else if (!(flat && (z < 0 || z == p.n_z)))
                {
                  const long from = index(p.x, p.y + y, p.z + z);
                  to[0]           = p.x > 0 ? load(v[from - 1]) : Number(0);
                  if (mine)
                    std::copy_n(own + from, p.n_x, to + 1);
                  else
                    for (int x = 0; x < p.n_x; ++x)
                      to[1 + x] = load(v[from + x]);
                  to[1 + p.n_x] = p.x + p.n_x < stencil.n_x ? load(v[from + p.n_x]) : Number(0);
                }
            }
      }

      void relax_tile(int t, Number *x, const Number *off_tile, const Number *b, Scratch &s) const
      {
        const Place p = place_of(t);
        fill(p, x, off_tile, s.current);
        copy_margin(p, s);
        for (int sweep = 0; sweep < options.local_iterations; ++sweep)
          {
            for (int z = 0; z < p.n_z; ++z)
              for (int y = 0; y < p.n_y; ++y)
                sweep_row(p, y, z, b, sweep, s.current, s.next.values.data() + s.next.index(0, y, z));
            std::swap(s.current, s.next);
          }
        for (int z = 0; z < p.n_z; ++z)
          for (int y = 0; y < p.n_y; ++y)
            {
              const Number *from = s.current.values.data() + s.current.index(0, y, z);
              Number       *to   = x + index(p.x, p.y + y, p.z + z);
              // what other tiles may read meanwhile
              const bool seen = y == 0 || y == p.n_y - 1 || (!flat && (z == 0 || z == p.n_z - 1));
              for (int i = 0; i < (seen ? p.n_x : 1); ++i)
                store(to[i], from[i]);
              if (seen)
                continue;
              if (p.n_x > 2)
                std::copy(from + 1, from + p.n_x - 1, to + 1);
              store(to[p.n_x - 1], from[p.n_x - 1]);
            }
      }

      /** The margin is frozen: both windows have the same. */
      static void copy_margin(const Place &p, Scratch &s)
      {
        for (int z = -1; z <= p.n_z; ++z)
          for (int y = -1; y <= p.n_y; ++y)
            {
              const int row = s.current.index(-1, y, z);
              if (y < 0 || y == p.n_y || z < 0 || z == p.n_z)
                std::copy_n(s.current.values.begin() + row, p.n_x + 2, s.next.values.begin() + row);
              else
                for (const int i : {row, row + 1 + p.n_x})
                  s.next.values[i] = s.current.values[i];
            }
      }

      /** A sweep over a row of the tile. */
      void sweep_row(const Place &p, int y, int z, const Number *b, int sweep, const Window<Number> &window, Number *next) const
      {
        const Number     w     = this->sweep_weights.empty() ? Number(1) : static_cast<Number>(this->sweep_weights[sweep]); // omega is 1 then
        const long       first = index(p.x, p.y + y, p.z + z);
        const Number    *here  = window.values.data() + window.index(0, y, z);
        RowSweep<Number> s;
        for (int dz = -1; dz <= 1; ++dz)
          for (int dy = -1; dy <= 1; ++dy)
            s.rows[3 * (dz + 1) + dy + 1] = here + (dz * window.n_y + dy) * window.n_x;
        s.n       = p.n_x;
        s.rhs     = b + first;
        s.weights = weights.empty() ? nullptr : weights.data() + first;
        s.weight  = weights.empty() ? w * weight : w;
        s.keep    = this->sweep_weights.empty() ? keep : Number(1) - w;
        s.c       = stencil.coefficients.data();
        if (star)
          flat ? sweep_flat_star(s, next) : sweep_star(s, next);
        else
          flat ? sweep_flat_full(s, next) : sweep_full(s, next);
      }

      double residual_of_tile(int t, const Number *x, const Number *b) const
      {
        const Place p   = place_of(t);
        double      sum = 0.;
        const auto  at  = [&](int i, int j, int k) { return i >= 0 && i < stencil.n_x && exists(j, k) ? x[index(i, j, k)] : Number(0); };
        for (int k = p.z; k < p.z + p.n_z; ++k)
          for (int j = p.y; j < p.y + p.n_y; ++j)
            for (int i = p.x; i < p.x + p.n_x; ++i)
              {
                const Number d = stencil.diagonal.empty() ? stencil.coefficient(0, 0, 0) : stencil.diagonal[index(i, j, k)];
                Number       r = b[index(i, j, k)] - d * x[index(i, j, k)];
                for (int dz = flat ? 0 : -1; dz <= (flat ? 0 : 1); ++dz)
                  for (int dy = -1; dy <= 1; ++dy)
                    for (int dx = -1; dx <= 1; ++dx)
                      if (const Number c = stencil.coefficient(dx, dy, dz); c != Number(0) && (dx != 0 || dy != 0 || dz != 0))
                        r -= c * at(i + dx, j + dy, k + dz);
                sum += square(r);
              }
        return sum;
      }

      Stencil<Number>          stencil;
      const BlockAsyncOptions  options;
      const std::array<int, 3> tile, tiles;
      const bool               star, flat;
      const int                begin_y, end_y, begin_z, end_z; ///< of the lines that exist
      std::vector<Number>      weights;                        ///< omega / d_i, if the diagonal varies
      Number                   weight = 0, keep = 0;           ///< the same if it does not; 1 - omega
      HostScheduler            scheduler;
      std::vector<Scratch>     scratch; ///< one a thread
      const std::ptrdiff_t     below;   ///< nodes of the ghost plane below
      std::vector<Number>      old_x;   ///< synchronous schedule only, with a ghost plane on each side that has them
    };
  } // namespace

  template <typename Number>
  std::unique_ptr<BlockAsyncEngine<Number>> make_stencil_reference_engine(const Stencil<Number> &stencil, const BlockAsyncOptions &options)
  {
    return std::make_unique<StencilReferenceEngine<Number>>(stencil, options);
  }

  template <typename Number>
  std::unique_ptr<BlockAsyncEngine<Number>> make_stencil_host_engine(const Stencil<Number> &stencil, const BlockAsyncOptions &options)
  {
    return std::make_unique<StencilHostEngine<Number>>(stencil, options);
  }

#define INSTANTIATE(Number)                                                                                           \
  template std::unique_ptr<BlockAsyncEngine<Number>> make_stencil_reference_engine(const Stencil<Number>   &stencil,  \
                                                                                   const BlockAsyncOptions &options); \
  template std::unique_ptr<BlockAsyncEngine<Number>> make_stencil_host_engine(const Stencil<Number> &stencil, const BlockAsyncOptions &options);
  LEOPARD_FOR_EACH_NUMBER(INSTANTIATE)
#undef INSTANTIATE
} // namespace leopard
