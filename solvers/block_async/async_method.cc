// SPDX-License-Identifier: Apache-2.0
#include "../relaxation/methods.h"
#include "../relaxation/relaxation_engine.h"
#include "block_async.h"

namespace leopard
{
  namespace
  {
    BlockAsyncOptions async_options(const MethodOptions &given)
    {
      BlockAsyncOptions options = given.block_async != nullptr ? *given.block_async : BlockAsyncOptions();
      options.backend           = given.backend;
      options.omega             = given.omega;
      return options;
    }

    BlockAsyncOptions refinement_options(const MethodOptions &given)
    {
      BlockAsyncOptions options = async_options(given);
      if (options.corrections == Corrections::none)
        options.corrections = Corrections::single_precision;
      return options;
    }

    /** A smoothing step is a few global iterations: nothing is gained by keeping the blocks on the chip. */
    BlockAsyncOptions smoother_options(const MethodOptions &given)
    {
      BlockAsyncOptions options = async_options(given);
      if (options.backend == Backend::cuda && options.execution == Execution::automatic)
        options.execution = Execution::launch;
      return options;
    }

    /** Jacobi with threads, on a GPU, or of a stencil is synchronous async-(1). */
    BlockAsyncOptions jacobi_options(const MethodOptions &given)
    {
      BlockAsyncOptions options;
      options.backend          = given.backend;
      options.omega            = given.omega;
      options.schedule         = Schedule::synchronous;
      options.execution        = Execution::launch;
      options.local_iterations = 1;
      options.n_threads        = given.block_async != nullptr ? given.block_async->n_threads : 0;
      options.storage          = given.block_async != nullptr ? given.block_async->storage : Storage::double_precision; // for update_values()
      return options;
    }

    template <template <typename> class Matrix, typename Number>
    std::unique_ptr<Relaxation<Number>> make(const Matrix<Number> &A, const BlockAsyncOptions &options)
    {
      return std::make_unique<BlockAsync<Number>>(A, options);
    }

    /** For the list of methods, with such options. */
    template <BlockAsyncOptions (*options)(const MethodOptions &)>
    constexpr auto make_block_async = [](const auto &A, const MethodOptions &given) { return make(A, options(given)); };

    constexpr auto make_jacobi = [](const auto &A, const MethodOptions &given) {
      return make_point_relaxation(A, {PointMethod::jacobi, given.omega, false, given.backend});
    };

    /** The best where all blocks are relaxed at once is smaller. */
    double smoothing_omega_of_async(int dim, double at_once)
    {
      const double in_sequence = omega_for_high_frequencies(dim, at_once), together = dim == 3 ? 0.75 : 0.6;
      return dim == 1 ? in_sequence : in_sequence + at_once * (together - in_sequence);
    }
  } // namespace

  template <typename Number>
  std::unique_ptr<Relaxation<Number>> make_jacobi_cuda(const CrsMatrix<Number> &A, const PointRelaxationOptions &options)
  {
    return make(A, jacobi_options({.backend = Backend::cuda, .omega = options.omega}));
  }

#define INSTANTIATE(Number) \
  template std::unique_ptr<Relaxation<Number>> make_jacobi_cuda(const CrsMatrix<Number> &A, const PointRelaxationOptions &options);
  LEOPARD_FOR_EACH_NUMBER(INSTANTIATE)
#undef INSTANTIATE

  extern const Method async_method = {.name            = "async",
                                      .meaning         = "block-asynchronous iteration async-(k)",
                                      .uses_on_cuda    = everywhere,
                                      .omega           = OmegaRange::damping,
                                      .has_blocks      = true,
                                      .smoothing_omega = smoothing_omega_of_async,
                                      .make            = make_block_async<async_options>,
                                      .make_smoother   = make_block_async<smoother_options>,
                                      .make_of_stencil = make_block_async<smoother_options>,
                                      .make_on_device  = make_block_async<smoother_options>};

  extern const Method async_refinement_method = {.name         = "async-refinement",
                                                 .meaning      = "block-asynchronous refinement: blocks correct their values by async-(k) sweeps",
                                                 .uses         = as_solver,
                                                 .uses_on_cuda = as_solver,
                                                 .omega        = OmegaRange::damping,
                                                 .has_blocks   = true,
                                                 .corrects     = true,
                                                 .make         = make_block_async<refinement_options>};

  extern const Method jacobi_method = {.name            = "jacobi",
                                       .meaning         = "Jacobi",
                                       .uses_on_cuda    = everywhere,
                                       .omega           = OmegaRange::damping,
                                       .is_iterated     = false,
                                       .make            = make_jacobi,
                                       .make_smoother   = make_block_async<jacobi_options>,
                                       .make_of_stencil = make_block_async<jacobi_options>,
                                       .make_on_device  = make_block_async<jacobi_options>};

  extern const Method damped_jacobi_method = {.name            = "damped-jacobi",
                                              .meaning         = "Jacobi with the relaxation factor that smooths best",
                                              .uses            = as_smoother,
                                              .uses_on_cuda    = as_smoother,
                                              .omega           = OmegaRange::damping,
                                              .smoothing_omega = omega_for_high_frequencies,
                                              .make            = make_block_async<jacobi_options>,
                                              .make_of_stencil = make_block_async<jacobi_options>,
                                              .make_on_device  = make_block_async<jacobi_options>};
} // namespace leopard
