// SPDX-License-Identifier: Apache-2.0
// Multigrid of the time loop on meshes whose cells are long.
#include "long_cells.h"

#include <applications/reaction_diffusion/mesh/mesh_hierarchy.h>

#include <string>

namespace leopard::reaction_diffusion
{
  class ReactionDiffusionLongCells : public BackendTest
  {
  };
  INSTANTIATE_TEST_SUITE_P(Backends, ReactionDiffusionLongCells, testing::Values(Backend::host, Backend::cuda), backend_name);

  /**
   * Squares take 5. With aggregates that join nodes across the long side at the boundary, as couplings of 0.3 make
   * them, the linear solver fails in the first case and the last, and 8 to 19 cycles are taken in the others; with a
   * coarsest level of 66 nodes, which sweeps do not solve, 13 in the first.
   */
  TEST_P(ReactionDiffusionLongCells, TakeHardlyMoreCyclesThanSquares)
  {
    const struct
    {
      std::array<int, 3>    n_cells;
      std::array<double, 3> length;
    } cases[] = {{{32, 16, 0}, {2., 0.02, 1.}},
                 {{128, 8, 0}, {1., 1., 1.}},
                 {{16, 16, 16}, {1., 1., 0.25}},
                 {{24, 24, 4}, {1., 1., 1. / 16.}},
                 {{16, 8, 8}, {2., 1., 0.01}}};
    for (const auto &box : cases)
      {
        const std::string what =
          std::to_string(box.n_cells[0]) + " x " + std::to_string(box.n_cells[1]) + " x " + std::to_string(box.n_cells[2]) + " cells";
        const LongCells mesh(box.n_cells, box.length);
        ASSERT_NO_THROW(mesh.laplacian.validate());
        StepperOptions options            = fixed_steps(GetParam(), Scheme::bdf2, 4e-3);
        options.kinetics.gamma            = 500.;
        options.diffusion                 = {1., 20.};
        options.stepping.linear_method    = LinearMethod::multigrid;
        options.stepping.newton_tolerance = 1e-6;
        Totals totals;
        solution_at(mesh.laplacian, options, mesh.smooth_fields(), 0.04, &totals);
        const int most = GetParam() == Backend::cuda ? 15 : 8; // damped Jacobi sweeps smooth on the GPU
        EXPECT_LE(totals.cycles, most * totals.newton_steps) << what << ": " << totals.cycles << " in " << totals.newton_steps << " Newton steps";
      }
  }
} // namespace leopard::reaction_diffusion
