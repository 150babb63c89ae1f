// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../matrix/device_crs.h"
#include "../relaxation/with_ghosts.h"
#include "device_aggregation.h"
#include "level_order.h"
#include "linear_algebra.h"
#include "moving_blocks.h"
#include "operations.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace leopard
{
  /** Of a stored matrix with values of this kind. */
  template <typename Number>
  std::size_t bytes(const CrsMatrix<double> &A)
  {
    return A.values.size() * (sizeof(Number) + sizeof(int)) + A.row_offsets.size() * sizeof(int);
  }

  /**
   * What levels by smoothed aggregation take of memory while they are made, about, the matrix with them: its levels,
   * smoothers, and products that are worked on. @param most_complexity what they take at most with
   * AggregationOptions::most_complexity; 0: as usual.
   */
  inline double bytes_of_aggregation(const CrsMatrix<double> &A, double most_complexity = 0.)
  {
    constexpr double of_matrix = 8., usual = 2.;
    return of_matrix * static_cast<double>(bytes<double>(A)) * (most_complexity > usual ? most_complexity / usual : 1.);
  }

  /** Vectors among which a singular problem is solved. */
  template <typename Number>
  struct NullSpace
  {
    int                       n = 0;
    std::shared_ptr<Number[]> vector;
    double                    norm_squared = 0.; ///< over all ranks
  };

  /** The operations of a cycle on stored matrices. What makes them and gives them new values is in the .cc file. */
  template <typename Number>
  class StoredOperations : public MultigridOperations<Number>
  {
  public:
    StoredOperations(const MultigridHierarchy &hierarchy, const MultigridOptions &options);
    /** @param finest, coarsest the matrices of the first and the last level, in host memory. */
    StoredOperations(const std::vector<device::AggregationLevel> &from,
                     const CrsMatrix<double>                     &finest,
                     const CrsMatrix<double>                     &coarsest,
                     const MultigridOptions                      &options);

    MemorySpace               memory_space() const override { return algebra->memory_space(); }
    int                       n_levels() const override { return static_cast<int>(levels.size()); }
    int                       n_unknowns(int level) const override { return levels[level].n; }
    std::size_t               memory() const override { return n_bytes; }
    double                    n_entries(int level) const override { return levels[level].n_entries; }
    Relaxation<Number>       &smoother(int level) override { return *levels[level].smoother; }
    int                       n_rows() const override { return rows; }
    int                       n_columns() const override { return adaptive ? global_columns : levels.back().n_columns; }
    std::string               description(int level) const override { return levels[level].text; }
    Number                   *x(int level) override { return levels[level].x.get(); }
    Number                   *b(int level) override { return levels[level].b.get(); }
    bool                      is_adaptive() const override { return adaptive; }
    bool                      is_queued() const override { return memory_space() == MemorySpace::device && ghosts_are_queued; }
    device::DeviceCrs<double> matrix_on_device() const override { return given; }
    bool                      is_singular() const override { return coarse_null_space.norm_squared > 0.; }

    void set_zero(int level) override
    {
      Level &l = levels[level];
      if (!l.is_zero)
        algebra->set_zero(l.x.get(), l.n_columns);
      l.is_zero = false;
    }

    void smooth(int level, int n_steps) override { smooth(level, n_steps, false); }

    void smooth_from_zero(int level, int n_steps) override
    {
      Level &l = levels[level];
      if (l.has_ghosts) // which have to be made zero, too, and exchanged after the first iteration
        {
          set_zero(level);
          // but a visit without waiting begins with an exchange that is waited for
          return smooth(level, n_steps, l.loose == nullptr);
        }
      l.smoother->restart();
      if (l.is_zero && l.writes_zeros)
        l.smoother->iterate(l.x.get(), l.b.get(), n_steps * iterations_per_step);
      else
        l.smoother->iterate_from_zero(l.x.get(), l.b.get(), n_steps * iterations_per_step);
      l.is_zero = false;
    }

    void restrict_residual(int level) override
    {
      Level &l = levels[level], &coarse = levels[level - 1];
      coarse.is_zero = !adaptive && !l.has_ghosts && !coarse.has_ghosts && level + 1 < n_levels() && // whose residual is asked for
                       algebra->restricted_residual(coarse.b.get(), coarse.x.get(), *l.R, *l.A, l.x.get(), l.b.get());
      if (coarse.is_zero)
        return;
      update_ghosts(level, l.x.get());
      if (l.smoother == nullptr || !l.smoother->residual(l.r.get(), l.x.get(), l.b.get()))
        l.A->multiply(l.r.get(), -1., l.x.get(), 1., l.b.get());
      if (l.E != nullptr)
        l.E->multiply(l.r.get(), -1., l.x.get(), 1., l.r.get());
      update_ghosts(level, l.r.get());
      l.R->multiply(coarse.b.get(), 1., l.r.get(), adaptive ? 1. : 0., coarse.b.get());
    }

    void correct(int level) override
    {
      Level &l = levels[level], &coarse = levels[level - 1];
      update_ghosts(level - 1, coarse.x.get());
      l.P->multiply(l.x.get(), 1., coarse.x.get(), 1., l.x.get());
      if (l.E_transpose == nullptr)
        return;
      update_ghosts(level, l.x.get());
      l.E_transpose->multiply(l.b.get(), -1., l.x.get(), 1., l.b.get());
    }

    void restrict_right_hand_side(int level) override
    {
      Level &l = levels[level], &coarse = levels[level - 1];
      algebra->copy_entries(l.r.get(), nullptr, l.b.get(), nullptr, l.n);
      update_ghosts(level, l.r.get());
      l.R->multiply(coarse.b.get(), 1., l.r.get(), 0., coarse.b.get());
    }

    void interpolate(int level) override
    {
      update_ghosts(level - 1, x(level - 1));
      levels[level].P->multiply(x(level), 1., x(level - 1), 0., x(level));
    }

    void set_right_hand_sides(const Number *b) override
    {
      if (!adaptive)
        {
          if (b != levels.back().b.get())
            algebra->copy_entries(levels.back().b.get(), nullptr, b, finest_order.get(), rows);
          project(levels.back().b.get(), global_null_space, communication(n_levels()));
          return;
        }
      algebra->copy_entries(global_residual.get(), nullptr, b, nullptr, rows);
      project(global_residual.get(), global_null_space, communication(n_levels()));
      distribute_residual();
    }

    void set_solution(const Number *x) override
    {
      if (x != levels.back().x.get())
        algebra->copy_entries(levels.back().x.get(), nullptr, x, finest_order.get(), rows);
    }

    void get_solution(Number *x) override
    {
      if (adaptive)
        {
          algebra->set_zero(x, rows);
          add_solutions(x);
          return;
        }
      project(levels.back().x.get(), global_null_space, communication(n_levels()));
      if (x != levels.back().x.get())
        algebra->copy_entries(x, finest_order.get(), levels.back().x.get(), nullptr, rows);
    }

    /** On the device, where a refinement reads and writes vectors in this order. */
    bool takes_own_vectors() const override
    {
      return memory_space() == MemorySpace::device && !adaptive && !is_singular() && !communication(n_levels()).is_distributed();
    }
    const int *own_order() const override { return takes_own_vectors() ? finest_order.get() : nullptr; }

    void set_residual(Number *x, const Number *b) override
    {
      compute_residual(x, b);
      distribute_residual();
    }

    void add_solutions(Number *x) override
    {
      for (int level = 0; level < n_levels(); ++level)
        {
          const Level &l = levels[level];
          update_ghosts(level, l.x.get());
          algebra->copy_entries(x, l.up.global_rows.get(), l.x.get(), l.up.level_rows.get(), l.up.n, true);
        }
      project(x, global_null_space, communication(n_levels()));
    }

    void multiply(Number *y, Number *x) override
    {
      if (adaptive)
        {
          if (communication(n_levels()).has_ghosts())
            communication(n_levels()).update_ghosts(x, memory_space());
          matrix->multiply(y, 1., x, 0., nullptr);
          return;
        }
      if (takes_own_vectors() && x == levels.back().x.get())
        {
          levels.back().A->multiply(y, 1., x, 0., nullptr);
          return;
        }
      set_solution(x);
      update_ghosts(n_levels() - 1, levels.back().x.get());
      levels.back().A->multiply(levels.back().r.get(), 1., levels.back().x.get(), 0., nullptr);
      algebra->copy_entries(y, finest_order.get(), levels.back().r.get(), nullptr, rows);
    }

    double residual_norm_squared(Number *x, const Number *b) override
    {
      compute_residual(x, b);
      const Number *r = adaptive ? global_residual.get() : levels.back().r.get();
      return algebra->norm_squared(r, rows);
    }

    double norm_squared(const Number *b) override { return algebra->norm_squared(b, rows); }

    double restricted_residual_norm_squared() override
    {
      const Level &l = levels.back();
      return algebra->dot(l.r.get(), l.r.get(), l.n);
    }

    void update_values(const MultigridHierarchy &hierarchy) override;

    void remove_coarse_mean(Number *v) override { project(v, coarse_null_space, communication(0)); }

    const Communication<Number> &communication(int level) const override
    {
      const Communication<Number> *result = level == n_levels() ? global_communication.get() : levels[level].communication.get();
      return result != nullptr ? *result : one_rank();
    }

  private:
    static const Communication<Number> &one_rank()
    {
      static const Communication<Number> communication;
      return communication;
    }

    void smooth(int level, int n_steps, bool ghosts_are_current)
    {
      Level    &l = levels[level];
      const int n = n_steps * iterations_per_step;
      if (n == 0)
        return;
      l.smoother->restart();
      iterate_with_ghosts(*l.smoother, l.x.get(), l.b.get(), n, communication(level), ghosts_are_current, l.loose.get());
    }

    using Matrix = typename LinearAlgebra<Number>::Matrix;

    struct CopyList
    {
      int                    n = 0;
      std::shared_ptr<int[]> global_rows, level_rows;
    };

    struct Level
    {
      int                                          n = 0, n_columns = 0, n_entries = 0;
      std::unique_ptr<Matrix>                      A, P, R, E, E_transpose;
      std::shared_ptr<Number[]>                    x, b, r;  ///< r with ghosts, too: the restriction reads them
      CopyList                                     down, up; ///< right-hand sides from the active mesh, corrections to it
      std::unique_ptr<Relaxation<Number>>          smoother;
      double                                       largest_omega = 0.; ///< of the smoother for lambda_max <= 2; 0: it does not follow the matrix
      double                                       omega         = 0.; ///< that it has, if it does
      std::string                                  text;
      std::vector<int>                             old_row;                                 ///< of the user's numbering; empty: the same, or not here
      std::vector<int>                             entries, E_entries, E_transpose_entries; ///< of the user's matrices, from the first update on
      device::DeviceCrs<Number>                    crs;                                     ///< where set-up is done on the device: what A refers to,
      device::Array<int>                           order, entries_on_device;                ///< old_row, and like entries
      std::shared_ptr<const Communication<Number>> communication;                           ///< null: one rank
      std::unique_ptr<LooseExchange<Number>>       loose;                                   ///< of the communication; null: the smoother waits
      bool                                         has_ghosts   = false;
      bool                                         writes_zeros = false; ///< the smoother does, to begin from zero
      bool                                         is_zero      = false; ///< x, by restrict_residual() of the finer level just before
    };

    void set_up_level(const MultigridHierarchy &hierarchy, std::vector<LevelOrder> &orders, int level, const MultigridOptions &options);

    void set_up_on_host(const MultigridHierarchy &hierarchy, LevelOrder &order, int level, const MultigridOptions &options);

    /** The host's part is to hand over what the user has: see device_crs.h. */
    void set_up_on_device(const MultigridHierarchy &hierarchy, LevelOrder &order, int level, const MultigridOptions &options);

    /**
     * A level's matrix on the device, in its order. @throws InvalidInput for 16 bits and another number type than
     * float.
     */
    static void take_matrix(Level &l, device::DeviceCrs<Number> A, bool in_sixteen_bits);

    /** The smoother of a level that takes turns with one in the other blocks. @param A in the level's order. */
    template <typename Crs>
    std::unique_ptr<Relaxation<Number>> in_moving_blocks(
      std::unique_ptr<Relaxation<Number>> smoother, const Crs &A, LevelOrder &order, SmootherOptions options, Backend backend, int dim) const;

    /** Old rows for set_right_hand_sides() and its like; null: the user's order. */
    std::shared_ptr<int[]> order_of_finest() const;

    /** Old rows in host memory, fetched where they are on the device only. */
    const std::vector<int> &host_order(Level &l) const;

    void set_up_copy_lists(const MultigridHierarchy &hierarchy, const MultigridLevel &from, Level &l) const;

    void set_up_interface(const MultigridLevel &from, Level &l) const;

    void update_level(const MultigridLevel &from, Level &l, int level);

    /** @param A with the new values, in any order. @param values in the level's order; in the memory that A is in. */
    template <typename Crs>
    void update_smoother(const Crs &A, Level &l, int level, const Number *values);

    /** In memory that the next call writes to. */
    const std::vector<Number> &in_order(const std::vector<double> &values, const std::vector<int> &entries, int level);

    /** Sets the level's relaxation factors, too. @param A in any numbering. @param dim of space; 0: unknown. */
    template <typename Crs>
    SmootherOptions smoother_options(const Crs &A, int dim, const std::vector<int> &block_offsets, const MultigridOptions &options, int level);

    double estimate(const CrsMatrix<double> &A, int n_steps) const { return estimate_lambda_max(A, n_steps, n_threads); }
    double estimate(const device::DeviceCrs<Number> &A, int n_steps) const { return estimate_lambda_max(A, n_steps); }

    /** The relaxation factor that suits a level's matrix, in any numbering. Collective. */
    template <typename Crs>
    double omega_for(const Crs &A, int level) const;

    void find_null_spaces(const CrsMatrix<double> &finest_matrix, const CrsMatrix<double> &coarsest_matrix);

    void update_ghosts(int level, Number *v) const
    {
      if (levels[level].has_ghosts)
        levels[level].communication->update_ghosts(v, memory_space());
    }

    void project(Number *v, const NullSpace<Number> &space, const Communication<Number> &communication) const
    {
      if (space.norm_squared == 0.)
        return;
      const double product = communication.sum(algebra->dot(v, space.vector.get(), space.n));
      algebra->add(v, static_cast<Number>(-product / space.norm_squared), space.vector.get(), space.n);
    }

    /** r = b - A x of the whole problem: global_residual, or that of the finest level. */
    void compute_residual(Number *x, const Number *b)
    {
      const Communication<Number> &whole = communication(n_levels());
      if (whole.has_ghosts())
        whole.update_ghosts(x, memory_space());
      Number       *r = adaptive ? global_residual.get() : levels.back().r.get();
      const Matrix &A = adaptive ? *matrix : *levels.back().A;
      A.multiply(r, -1., x, 1., b);
      project(r, global_null_space, whole);
    }

    /** All b_l from global_residual. */
    void distribute_residual()
    {
      if (communication(n_levels()).has_ghosts())
        communication(n_levels()).update_ghosts(global_residual.get(), memory_space());
      for (Level &l : levels)
        {
          algebra->set_zero(l.b.get(), l.n);
          algebra->copy_entries(l.b.get(), l.down.level_rows.get(), global_residual.get(), l.down.global_rows.get(), l.down.n);
        }
    }

    const std::unique_ptr<LinearAlgebra<Number>> algebra;
    const int                                    n_threads, iterations_per_step;
    const bool                                   moves; ///< blocks do
    const std::size_t                            n_bytes;
    const bool                                   adaptive, on_device; ///< on_device: set-up is
    std::vector<Level>                           levels;

    int                                          rows = 0, global_columns = 0; ///< of the whole problem
    bool                                         ghosts_are_queued = true;     ///< or there are none
    std::unique_ptr<Matrix>                      matrix;                       ///< adaptive hierarchies: of the active mesh
    std::shared_ptr<Number[]>                    global_residual;
    device::DeviceCrs<double>                    given;        ///< the finest matrix as the user gave it, if it is on the device
    std::shared_ptr<int[]>                       finest_order; ///< others: the finest level's; null: the user's
    std::shared_ptr<const Communication<Number>> global_communication;
    NullSpace<Number>                            coarse_null_space, global_null_space; ///< singular problems
    std::vector<Number>                          new_values;                           ///< of update_values(), of one matrix at a time
  };
} // namespace leopard
