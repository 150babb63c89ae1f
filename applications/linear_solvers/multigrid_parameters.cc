// SPDX-License-Identifier: Apache-2.0
#include "multigrid_parameters.h"

#include <solvers/base/errors.h>
#include <solvers/base/words.h>
#include <solvers/block_async/names.h>

#include <deal.II/base/parameter_handler.h>

namespace leopard
{
  using namespace dealii;

  void MultigridParameters::declare(ParameterHandler &prm)
  {
    using namespace Patterns;
    prm.enter_subsection("Multigrid");
    prm.declare_entry("Levels",
                      "0",
                      Integer(0, 40),
                      "Levels to use, from the finest down; 0: all that the mesh has. A mesh has one more than it was refined. Dimensionless.");
    prm.declare_entry("Cycle",
                      "V",
                      Selection("V|W|F"),
                      "The cycle, also that of the fused time loop in steps too long for sweeps. W and F on globally refined meshes.");
    prm.declare_entry(
      "Full multigrid start",
      "false",
      Bool(),
      "Method multigrid: begin with one cycle on each level from the coarsest up. Not in the fused time loop, whose steps have a first guess.");
    const std::string chosen = "; -1: 1 where it is async whose blocks move ('Blocks move', on a GPU or in the schedule synchronous; tiles of "
                               "stencils on a GPU do, too) and the "
                               "other one is not 0, or for the preconditioner aggregation; else 2. Dimensionless.";
    prm.declare_entry("Pre smoothing", "-1", Integer(-1, 1000), "Smoothing steps before the coarse grid correction" + chosen);
    prm.declare_entry("Post smoothing", "-1", Integer(-1, 1000), "Smoothing steps after the coarse grid correction" + chosen);
    prm.declare_entry("Smoother",
                      "automatic",
                      Selection("automatic|" + joined(method_names(as_smoother), "|")),
                      "What smooths; automatic: async, of the preconditioner aggregation chebyshev. Local iterations, block size, schedule and seed "
                      "of async are those of section 'Linear solver'.");
    prm.declare_entry("Smoother omega",
                      "0",
                      Double(0., 2.),
                      "Relaxation factor of the smoother; 0: what suits it, the dimension and the level's matrix. Dimensionless.");
    prm.declare_entry("Smoothing iterations per step", "1", Integer(1, 1000), "(Global) iterations that make one smoothing step. Dimensionless.");
    prm.declare_entry(
      "Wait for ghosts",
      "true",
      Bool(),
      "Several ranks: false lets the smoother async go on with what has arrived of its neighbours' values, without waiting for the newest "
      "ones; residuals, transfers and the first iteration of a smoothing wait all the same. Needs the schedule chaotic, and the "
      "backend host or cuda.");
    prm.declare_entry("Block shape",
                      "tiles",
                      Selection("contiguous|tiles|metis"),
                      "Smoother async: blocks of unknowns as they are numbered, compact in space, or compact in the matrix' graph.");
    prm.declare_entry(
      "Blocks move",
      "automatic",
      Selection("automatic|true|false"),
      "Smoother async in tiles, stored matrices, one rank: every second iteration takes other tiles, half of their size beside the "
      "first ones. Where all tiles are relaxed at once (GPUs, the schedule synchronous) two iterations are worth nearly four in tiles that stay, for "
      "another copy of the level matrices; host threads, which use newer values, gain nothing. automatic: on a "
      "GPU in two dimensions where rows are long (Q2), with the schedule chaotic and at least 3 local iterations.");
    prm.declare_entry("Coarse solver",
                      "dense",
                      Selection("dense|direct|cg|amg"),
                      "What solves on the coarsest level: its inverse (up to some thousand unknowns), sparse factors, conjugate gradients, or "
                      "these with Trilinos ML. direct and amg run on the host.");
    prm.declare_entry(
      "Form",
      "automatic",
      Selection("automatic|stored|stencil"),
      "Level matrices are stored, or never formed, as the matrix is the same stencil in all rows (uniform mesh, constant coefficients, values "
      "prescribed on the whole boundary). Several ranks share the grid out in slabs: cycles in double precision, the smoothers " +
        joined(method_names(as_smoother, [](const Method &m) { return static_cast<bool>(m.make_of_stencil); }), ", ", " and ") +
        ", the coarse solvers dense and direct, the backends host and cuda, and four lines (planes in three dimensions) of nodes a rank at least. "
        "automatic: a stencil where it is one, but stored where ranks share a GPU.");
    prm.declare_entry("Precision",
                      "automatic",
                      Selection("automatic|double|single"),
                      "Of the cycles where multigrid preconditions cg or gmres, whose vectors are double in any case: single moves half the bytes "
                      "and takes as many iterations, or one more. automatic: single, but double on the backend reference, where a "
                      "reaction may make the matrix indefinite, where several ranks have a stencil, and with 'Linear solver/Precision' = double; and "
                      "double from then on where single "
                      "precision does not do, as the log says; of the preconditioner aggregation automatic is double. The method multigrid has "
                      "'Linear solver/Precision'.");
    prm.declare_entry("Level storage",
                      "exact",
                      Selection("exact|bfloat16"),
                      "Backend cuda, stored matrices, cycles in single precision: bfloat16 rounds the entries beside the diagonal to 16 bits, half "
                      "the bytes of single precision; row sums stay, and the residual in double decides. Where most of these entries are "
                      "negative it takes as many cycles. Made anew where values change.");
    prm.declare_entry("CUDA graph", "true", Bool(), "Backend cuda: a cycle is one CUDA graph.");
    prm.leave_subsection();
  }

  MultigridOptions MultigridParameters::of_aggregation() const
  {
    MultigridOptions result = options;
    if (chooses_smoother)
      result.smoother.method = "chebyshev";
    for (int *steps : {&result.pre_smoothing, &result.post_smoothing})
      if (*steps < 0)
        *steps = 1;
    result.coarse_solver          = MultigridOptions().coarse_solver;
    result.full_start             = false; // of solvers
    result.sixteen_bits           = false;
    result.smoother.moving_blocks = MovingBlocksChoice::no; // aggregates are no tiles
    return result;
  }

  void MultigridParameters::read(ParameterHandler &prm, const BlockAsyncOptions &block_async, bool any_block_size)
  {
    prm.enter_subsection("Multigrid");
    n_levels                             = prm.get_integer("Levels");
    const std::string cycle              = prm.get("Cycle");
    options.cycle                        = cycle == "V" ? CycleType::v : cycle == "W" ? CycleType::w : CycleType::f;
    options.full_start                   = prm.get_bool("Full multigrid start");
    options.pre_smoothing                = prm.get_integer("Pre smoothing");
    options.post_smoothing               = prm.get_integer("Post smoothing");
    chooses_smoother                     = prm.get("Smoother") == "automatic";
    options.smoother.method              = chooses_smoother ? "async" : prm.get("Smoother");
    options.smoother.omega               = prm.get_double("Smoother omega");
    options.smoother.iterations_per_step = prm.get_integer("Smoothing iterations per step");
    options.wait_for_ghosts              = prm.get_bool("Wait for ghosts");
    options.smoother.block_shape         = value_of(prm.get("Block shape"), names_of({BlockShape::tiles, BlockShape::metis, BlockShape::contiguous}));
    const std::string moves              = prm.get("Blocks move");
    options.smoother.moving_blocks       = moves == "true"    ? MovingBlocksChoice::yes
                                           : moves == "false" ? MovingBlocksChoice::no
                                                              : MovingBlocksChoice::automatic;
    coarse_solver                        = prm.get("Coarse solver");
    options.coarse_solver                = coarse_solver == "direct" ? "direct" : "dense"; // cg and amg are handed to multigrid
    form                                 = prm.get("Form");
    precision                            = prm.get("Precision");
    options.sixteen_bits                 = prm.get("Level storage") == "bfloat16";
    options.use_graph                    = prm.get_bool("CUDA graph");
    prm.leave_subsection();

    options.smoother.block_async                 = block_async;
    options.smoother.any_block_size              = any_block_size;
    options.smoother.block_async.storage         = Storage::automatic; // values that change make a new smoother
    options.smoother.block_async.overlap         = Overlap::none;      // these are for solvers, preconditioners and triangular solves
    options.smoother.block_async.overlap_percent = 0.;
    options.smoother.block_async.overlap_level   = 0;
    options.smoother.block_async.two_stage       = TwoStage::automatic;
    options.smoother.block_async.block_omega     = 1.;
    options.smoother.block_async.l1_weights      = false;
    if (options.pre_smoothing == 0 && options.post_smoothing == 0)
      throw Error("'Multigrid/Pre smoothing' and 'Multigrid/Post smoothing' are both 0\n  expected: at least one smoothing step");
    const Method &smoother = find_method(options.smoother.method, as_smoother);
    if (smoother.omega == OmegaRange::one && options.smoother.omega != 0. && options.smoother.omega != 1.)
      throw Error("'Multigrid/Smoother' is " + options.smoother.method + ", but 'Multigrid/Smoother omega' is " +
                  Patterns::Tools::to_string(options.smoother.omega) + "\n  expected: omega = 0 or 1, or another smoother, for example sor");
    if (!options.wait_for_ghosts && (!smoother.has_blocks || block_async.schedule != Schedule::chaotic))
      throw Error(
        "'Multigrid/Wait for ghosts' is false, but " +
        (!smoother.has_blocks ? "'Multigrid/Smoother' is " + options.smoother.method : std::string("'Linear solver/Schedule' is not chaotic")) +
        "\n  expected: true, or the smoother async with the schedule chaotic, which converges with older values");
    if (options.smoother.moving_blocks == MovingBlocksChoice::yes && smoother.has_blocks && options.smoother.block_shape != BlockShape::tiles)
      throw Error("'Multigrid/Blocks move' is true, but 'Multigrid/Block shape' is " + to_string(options.smoother.block_shape) +
                  "\n  expected: automatic, or the shape tiles");
    if (!smoother.has_blocks) // where this entry is not used
      options.smoother.moving_blocks = MovingBlocksChoice::automatic;
    if (options.smoother.omega == 2.)
      throw Error("'Multigrid/Smoother omega' is 2\n  expected: a number below 2 (0: what suits the smoother)");
  }
} // namespace leopard
