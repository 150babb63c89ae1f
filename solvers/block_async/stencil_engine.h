// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../base/errors.h"
#include "../matrix/stencil.h"
#include "block_async_engine.h"

namespace leopard
{
  /** Where the tiles of a GPU's stencils stand. */
  enum class TilePlaces
  {
    in_turn, ///< they move by half of their size from iteration to iteration, in the chaotic schedule with launches
    first,   ///< where those of the first iteration do, always
    /**
     * Where those of the second do, always; but in a slab with a ghost plane below they begin with its first plane: if
     * that lies half a tile below a border of tiles, so do the others.
     */
    moved
  };

  /** Half of the planes (lines in two dimensions) of such a tile. */
  constexpr int half_tile(bool flat)
  {
    return flat ? 16 : 4;
  }

  /**
   * Planes (lines in two dimensions) of a tile of a GPU in the launch form. @param full not a star: it has diagonal
   * neighbours.
   */
  constexpr int tile_planes(bool flat, bool full)
  {
    return flat ? 32 : full ? 16 : 8;
  }

  /**
   * What the engines of all backends have in common for operators that are not stored: no stored values to change,
   * nothing that restart() forgets (tiles that move go on from where they are).
   */
  template <typename Number>
  class StencilEngine : public BlockAsyncEngine<Number>
  {
  public:
    explicit StencilEngine(const BlockAsyncOptions &options)
      : omega(options.omega)
      , sweep_weights(options.sweep_weights)
    {
    }

    void restart() override {}
    void update_values(const Number * /*values*/) override
    {
      throw InvalidInput("a stencil has no stored values to change\n  expected: a stencil with other coefficients");
    }
    void update_stencil(const Stencil<Number> &stencil) override = 0;
    /** Counts from the next update_stencil() on. */
    void set_omega(double new_omega) override { omega = new_omega; }
    void set_sweep_weights(const std::vector<double> &weights) override { sweep_weights = weights; }

  protected:
    /** For a description. */
    std::string weights_text() const { return sweep_weights.empty() ? "" : "weights that differ from sweep to sweep, "; }

    double              omega;
    std::vector<double> sweep_weights; ///< empty: omega in each sweep; else omega is 1
  };

  /** @throws InvalidInput naming an option that is for stored matrices only. */
  void require_fit_for_stencil(const BlockAsyncOptions &options);

  template <typename Number>
  std::unique_ptr<BlockAsyncEngine<Number>> make_stencil_reference_engine(const Stencil<Number> &stencil, const BlockAsyncOptions &options);
  template <typename Number>
  std::unique_ptr<BlockAsyncEngine<Number>> make_stencil_host_engine(const Stencil<Number> &stencil, const BlockAsyncOptions &options);
  /** For grids of one line of nodes; make_stencil_cuda_engine() takes it for them. */
  template <typename Number>
  std::unique_ptr<BlockAsyncEngine<Number>> make_stencil_line_cuda_engine(const Stencil<Number> &stencil, const BlockAsyncOptions &options);
  template <typename Number>
  std::unique_ptr<BlockAsyncEngine<Number>>
  make_stencil_cuda_engine(const Stencil<Number> &stencil, const BlockAsyncOptions &options, TilePlaces places = TilePlaces::in_turn);
} // namespace leopard
