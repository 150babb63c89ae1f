// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../relaxation/relaxation.h"
#include "linear_algebra.h"

#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace leopard
{
  /** Relaxation factor where blocks of stored matrices move, dimensionless: Q2, 0.7 and 0.85 with as many cycles. */
  constexpr double omega_of_moving_blocks = 0.7;

  /**
   * A relaxation in blocks of which every second iteration takes other blocks, half a block beside the first ones: what
   * one iteration leaves at the borders of its blocks is inside those of the next. Two iterations are worth nearly four
   * in blocks that stay (benchmarks/results/2026-11-28_h200_moving_blocks.md), as with tiles of stencils
   * (smoother_moves()). restart() does not begin with the first blocks again: the iterations before and after a coarse
   * correction take turns.
   */
  template <typename Number>
  class MovingBlocks : public Relaxation<Number>
  {
  public:
    /** Relaxation in the other blocks. Memory is that of the first one. */
    struct Other
    {
      std::unique_ptr<Relaxation<Number>>     relaxation;
      std::shared_ptr<int[]>                  rows;    ///< its row i is row rows[i] of the first
      std::function<std::shared_ptr<int[]>()> entries; ///< its entry p is entry entries()[p] of the first; asked for with the first new values
      std::size_t                             n_entries = 0;
    };

    /** @param first without ghosts. @param algebra of the memory that the two are in; outlives this. */
    MovingBlocks(std::unique_ptr<Relaxation<Number>> first_, Other other_, const LinearAlgebra<Number> &algebra_)
      : first(std::move(first_))
      , other(std::move(other_))
      , algebra(algebra_)
      , n(first->n_rows())
      , x_there(algebra.vector(n))
      , b_there(algebra.vector(n))
    {
    }

    std::string name() const override { return first->name(); }
    std::string description() const override
    {
      const std::string text = first->description();
      return text + (text.empty() ? "" : ", ") + "blocks that move by half of their size every second iteration";
    }
    int         n_rows() const override { return n; }
    int         n_columns() const override { return n; }
    MemorySpace memory_space() const override { return first->memory_space(); }
    bool        is_fixed_linear_map() const override { return false; } // after an odd number of iterations it is another one
    bool        is_queued() const override { return first->is_queued() && other.relaxation->is_queued(); }
    void        restart() override
    {
      first->restart();
      other.relaxation->restart();
    }

    void iterate(Number *x, const Number *b, int n_iterations) override
    {
      for (int i = 0; i < n_iterations; ++i, in_other = !in_other)
        in_other ? iterate_there(x, b) : first->iterate(x, b, 1);
    }

    void iterate_from_zero(Number *x, const Number *b, int n_iterations) override
    {
      if (in_other || n_iterations < 1)
        return Relaxation<Number>::iterate_from_zero(x, b, n_iterations);
      first->iterate_from_zero(x, b, 1);
      in_other = true;
      iterate(x, b, n_iterations - 1);
    }

    bool   residual(Number *r, const Number *x, const Number *b) override { return first->residual(r, x, b); }
    double residual_norm_squared(const Number *x, const Number *b) override { return first->residual_norm_squared(x, b); }
    double norm_squared(const Number *b) override { return first->norm_squared(b); }

    void update_values(const Number *values) override
    {
      first->update_values(values); // refuses what is not finite
      if (entries == nullptr)
        {
          entries      = other.entries();
          values_there = algebra.vector(other.n_entries);
        }
      algebra.copy_entries(values_there.get(), nullptr, values, entries.get(), static_cast<int>(other.n_entries));
      other.relaxation->update_values(values_there.get());
    }

    void set_omega(double omega) override
    {
      first->set_omega(omega);
      other.relaxation->set_omega(omega);
    }

  private:
    void iterate_there(Number *x, const Number *b)
    {
      algebra.copy_entries(x_there.get(), nullptr, x, other.rows.get(), n);
      algebra.copy_entries(b_there.get(), nullptr, b, other.rows.get(), n);
      other.relaxation->iterate(x_there.get(), b_there.get(), 1);
      algebra.copy_entries(x, other.rows.get(), x_there.get(), nullptr, n);
    }

    const std::unique_ptr<Relaxation<Number>> first;
    const Other                               other;
    const LinearAlgebra<Number>              &algebra;
    const int                                 n;
    const std::shared_ptr<Number[]>           x_there, b_there;
    std::shared_ptr<int[]>                    entries;
    std::shared_ptr<Number[]>                 values_there;
    bool                                      in_other = false; ///< the next iteration
  };
} // namespace leopard
