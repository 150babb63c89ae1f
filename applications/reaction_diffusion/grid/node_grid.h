// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <vector>

namespace leopard::reaction_diffusion
{
  /**
   * A uniform grid of nodes on a rectangle or box, numbered with x fastest, with zero flux through its boundary:
   * outermost nodes lie on the boundary and have half cells. In two dimensions n[2] = 1. In a periodic direction the
   * node behind the last one is the first: the period is n times the spacing.
   */
  struct NodeGrid
  {
    std::array<int, 3>    n        = {2, 2, 1};    ///< nodes in x, y, z
    std::array<double, 3> spacing  = {1., 1., 1.}; ///< between them, dimensionless
    std::array<bool, 3>   periodic = {};           ///< which directions; ranks do not share a grid that has one

    bool is_periodic() const { return periodic[0] || periodic[1] || periodic[2]; }
    long n_nodes() const { return static_cast<long>(n[0]) * n[1] * n[2]; }
    bool is_flat() const { return n[2] == 1; }
    /**
     * @throws InvalidInput for fewer than 2 nodes in a direction (z: 1 is fine; periodic: 3), spacings that are not
     * positive, or 2^31 values or more in all.
     */
    void validate(int n_species) const;
  };

  /**
   * One direction of a grid: (laplace u)_i = lower[i] (u_i-1 - u_i) + upper[i] (u_i+1 - u_i); the outermost entries are
   * zero, or, where the direction is periodic, weights of the node at the other end.
   */
  struct Axis
  {
    int n() const { return static_cast<int>(lower.size()); }
    /** The node that i stands for, one before the first or behind the last one included. */
    int around(int i) const { return i < 0 ? i + n() : i < n() ? i : i - n(); }

    bool                periodic = false;
    std::vector<double> lower, upper;
    std::vector<double> weight; ///< the node's cell over a whole one: 1, 1/2 at the ends (finest grid)

    // to and from the next coarser grid, which has every second node and, unless periodic, the last one; or all nodes;
    // or, of 3 or 2, one, whose value all have
    std::vector<int>    coarse_node;   ///< of fine node i: the coarse node at it, or before it
    std::vector<double> interpolation; ///< of fine node i: weight of coarse_node[i]; that of the next one, around(), is 1 minus this
    std::vector<int>    fine_node;     ///< of coarse node j: the fine node at it
    std::vector<double> restriction;   ///< of coarse node j, 3 j ...: weights of the fine nodes fine_node[j] - 1, + 0, + 1, around(); their sum is 1
  };

  /** A grid of a multigrid hierarchy: a tensor product of axes. */
  struct GridLevel
  {
    std::array<int, 3>  n = {1, 1, 1};
    std::array<Axis, 3> axis;

    long n_nodes() const { return static_cast<long>(n[0]) * n[1] * n[2]; }
    bool is_flat() const { return n[2] == 1; }
  };

  /**
   * The grid and coarser ones; without transfers only the grid itself. A direction with distances above 1.5 times those
   * of another one waits until the other has caught up (semi-coarsening), so that point relaxations smooth on cells
   * that are long and on grids that are thin. The coarsest grid has at most 3 nodes in each direction; one in those
   * that are thin.
   */
  std::vector<GridLevel> make_levels(const NodeGrid &grid, bool with_coarser = true);

  /**
   * The number of the coarsest grid that is of use to a multigrid cycle: on still coarser ones the reaction outweighs
   * diffusion and a relaxation no longer smoothes; it has fewer than 2500 nodes, since the solver there costs their
   * number times that of a line. @param diffusion the smallest coefficient, @param rate the largest
   * positive derivative of a rate by its own field, in 1 / time.
   */
  std::size_t coarsest_level(const std::vector<GridLevel> &levels, double diffusion, double rate);

  /** The sum of a row's entries of -laplace beside the diagonal, away from the boundary; 1 / length^2. */
  double largest_row(const NodeGrid &grid);

  // Multigrid for the time loop: GCR with cycles as preconditioner, and on the coarsest grid GCR with the mean
  // reaction.
  constexpr int    max_directions        = 6;   ///< that GCR keeps on the finest grid, the newest ones
  constexpr int    max_coarse_iterations = 30;  ///< all directions are kept
  constexpr double coarse_reduction      = 0.1; ///< of the residual on the coarsest grid
} // namespace leopard::reaction_diffusion
