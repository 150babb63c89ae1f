// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace leopard
{
  enum class CycleType
  {
    v,
    w,
    f
  };

  /** "V", "W" or "F". */
  std::string to_string(CycleType cycle);

  /**
   * A multigrid cycle on levels 0 (the coarsest) to `level`, from the present x_level: smoothing, the residual
   * restricted, the coarser level's cycle from zero (V: one, W: two, F: an F- and a V-cycle), its correction added,
   * smoothing. The only recursion of the project: stored matrices, stencils, and the grids and meshes of the time loop,
   * on the host and queued on the GPU, hand in the parts:
   *
   *   smooth_before(level), smooth_after(level)   x_l nearer to A_l^-1 b_l
   *   restrict_residual(level)                    b_{l-1} = R_l (b_l - A_l x_l)
   *   set_zero(level)                             x_l = 0; on the device it may be left to the restriction or to the
   *   smoothing that follows
   *   correct(level)                              x_l += P_l x_{l-1}
   *   solve_coarsest()                            x_0 near A_0^-1 b_0
   *
   * Time steps have a first guess, and take no full start; times of levels (MultigridProfile) are those of stored
   * levels and stencils, where a level is not a part of one launch.
   *
   * Source: Trottenberg, Oosterlee, Schueller, Multigrid, 2001, section 2.4.
   */
  template <typename Parts>
  void multigrid_cycle(Parts &&parts, int level, CycleType type = CycleType::v)
  {
    if (level == 0)
      {
        parts.solve_coarsest();
        return;
      }
    parts.smooth_before(level);
    parts.restrict_residual(level);
    parts.set_zero(level - 1);
    multigrid_cycle(parts, level - 1, type);
    if (level > 1 && type != CycleType::v)
      multigrid_cycle(parts, level - 1, type == CycleType::w ? CycleType::w : CycleType::v);
    parts.correct(level);
    parts.smooth_after(level);
  }

  /**
   * Full multigrid: right-hand sides down to the coarsest level, and on the way up from its solution one cycle a level.
   * Beside the parts of a cycle it asks for
   *
   *   restrict_right_hand_side(level)   b_{l-1} = R_l b_l
   *   interpolate(level)                x_l = P_l x_{l-1}
   */
  template <typename Parts>
  void full_multigrid(Parts &&parts, int finest, CycleType type)
  {
    for (int level = finest; level > 0; --level)
      parts.restrict_right_hand_side(level);
    parts.solve_coarsest();
    for (int level = 1; level <= finest; ++level)
      {
        parts.interpolate(level);
        multigrid_cycle(parts, level, type);
      }
  }
} // namespace leopard
