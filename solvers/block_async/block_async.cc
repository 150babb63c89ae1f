// SPDX-License-Identifier: Apache-2.0
#include "block_async.h"

#include "../base/errors.h"
#include "../base/usable_resources.h"
#include "../base/words.h"
#include "block_async_engine.h"
#include "stencil_engine.h"

#include <cmath>
#include <numbers>

namespace leopard
{
  std::string to_string(Execution execution)
  {
    switch (execution)
      {
        case Execution::automatic:
          return "automatic";
        case Execution::launch:
          return "launch";
        case Execution::persistent:
          return "persistent";
      }
    return "unknown";
  }

  std::string to_string(TwoStage kind)
  {
    switch (kind)
      {
        case TwoStage::automatic:
          return "automatic";
        case TwoStage::synchronous:
          return "synchronous";
        case TwoStage::inner:
          return "inner";
        case TwoStage::block:
          return "block";
        case TwoStage::outer:
          return "outer";
        case TwoStage::total:
          return "total";
      }
    return "unknown";
  }

  namespace
  {
    std::string to_text(const BlockAsyncOptions &options)
    {
      if (options.corrections == Corrections::none)
        return "async-(" + std::to_string(options.local_iterations) + ")";
      const int loops = options.correction_loops;
      return "async-refinement-(" + (loops > 1 ? std::to_string(loops) + " x " : "") + std::to_string(options.local_iterations) + ")" +
             (options.corrections == Corrections::single_precision ? " with corrections in single precision" : "");
    }

    const char *const weights_of_stored_matrix =
      "block-asynchronous iteration: sweep_weights are given for a stored matrix\n  expected: that option for stencils only";

    constexpr int most_local_iterations = 10000; ///< more would be a global iteration that does not end
  }                                              // namespace

  void BlockAsyncOptions::validate() const
  {
    const auto is_count = [](int k) { return k >= 1 && k <= most_local_iterations; };
    const auto counts   = "1 to " + std::to_string(most_local_iterations);
    const auto require  = [](bool holds, const std::string &option, const std::string &found, const std::string &expected) {
      if (!holds)
        throw InvalidInput("block-asynchronous iteration: " + option + " is " + found + "\n  expected: " + expected);
    };
    require(block_size >= 1 && block_size <= 65536, "block_size", std::to_string(block_size), "1 to 65536 rows a block");
    require(overlap_percent >= 0. && overlap_percent <= 90., "overlap_percent", short_text(overlap_percent), "0 to 90 percent of a block");
    require(
      block_offsets.empty() || overlap == Overlap::none, "overlap", "given together with block_offsets", "overlap with blocks of block_size rows");
    require(overlap_level >= 0 && overlap_level <= 1000, "overlap_level", std::to_string(overlap_level), "0 to 1000 edges");
    require(overlap_level == 0 || overlap_percent == 0., "overlap_level", "given together with overlap_percent", "one of the two");
    require(overlap_level == 0 || backend == Backend::reference || (backend == Backend::host && schedule == Schedule::replay),
            "overlap_level",
            std::to_string(overlap_level) + " on the backend " + to_string(backend),
            "the backend reference, or a replay: the others have rows of a block side by side (overlap_percent)");
    require(staleness >= 0 && staleness <= 2, "staleness", std::to_string(staleness), "0 to 2 global iterations");
    require(is_count(local_iterations), "local_iterations", std::to_string(local_iterations), counts);
    for (const int k : local_iterations_per_block)
      require(is_count(k), "local_iterations_per_block", std::to_string(k), counts);
    require(block_omega > 0. && block_omega < 2., "block_omega", short_text(block_omega), "a number between 0 and 2");
    require(momentum >= 0. && momentum < 1., "momentum", short_text(momentum), "a number from 0 to below 1");
    require(omega > 0. && omega < 2. * (1. + momentum), "omega", short_text(omega), "a number between 0 and 2 (1 + momentum)");
    if (!sweep_weights.empty())
      {
        require(static_cast<int>(sweep_weights.size()) == local_iterations && local_iterations <= most_sweep_weights,
                "sweep_weights",
                "a list of " + std::to_string(sweep_weights.size()) + " for " + std::to_string(local_iterations) + " local_iterations",
                "one for each of at most " + std::to_string(most_sweep_weights) + " local iterations");
        for (const double weight : sweep_weights)
          require(weight > 0. && weight <= 1000., "sweep_weights", "a list with " + short_text(weight), "numbers above 0, at most 1000");
        require(omega == 1., "omega", short_text(omega) + " together with sweep_weights", "1, or no sweep_weights");
      }
    require(correction_loops >= 1 && correction_loops <= most_local_iterations, "correction_loops", std::to_string(correction_loops), counts);
    require(corrections != Corrections::none || correction_loops == 1, "correction_loops", std::to_string(correction_loops), "1 without corrections");
    if (corrections != Corrections::none)
      {
        require(momentum == 0., "momentum", short_text(momentum), "0 with corrections, each of which begins at zero");
        require(overlap == Overlap::none, "overlap", "given together with corrections", "none");
        require(storage == Storage::automatic || storage == Storage::double_precision,
                "storage",
                to_string(storage),
                "automatic or double with corrections");
      }
    require(n_threads >= 0 && n_threads <= 4096, "n_threads", std::to_string(n_threads), std::string("0 to 4096, ") + meaning_of_no_threads);
    require(!(backend == Backend::cuda && schedule == Schedule::replay),
            "schedule",
            "replay",
            "chaotic or synchronous on the backend cuda; replay runs on the backends reference and host");
    const bool waits = two_stage == TwoStage::synchronous || two_stage == TwoStage::inner;
    require(two_stage == TwoStage::automatic || waits == (schedule == Schedule::synchronous),
            "two_stage",
            to_string(two_stage) + " with the schedule " +
              (schedule == Schedule::synchronous ? "synchronous"
               : schedule == Schedule::replay    ? "replay"
                                                 : "chaotic"),
            waits ? "the schedule synchronous with it, or two_stage block, outer or total"
                  : "the schedule chaotic or replay with it, or two_stage synchronous or inner");
    if (has_asynchronous_inner_iteration())
      {
        const std::string kind = to_string(two_stage);
        require(backend != Backend::cuda || execution != Execution::persistent,
                "execution",
                "persistent with two_stage " + kind,
                "automatic or launch, as there is a launch a global iteration; or two_stage synchronous or block");
        require(momentum == 0., "momentum", short_text(momentum) + " with two_stage " + kind, "0, or two_stage synchronous or block");
        require(corrections == Corrections::none, "corrections", "given with two_stage " + kind, "none, or two_stage synchronous or block");
        require(two_stage != TwoStage::total || overlap == Overlap::none,
                "overlap",
                "given with two_stage total",
                "none, as rows are published at once by the block that owns them; or two_stage outer");
        require(two_stage != TwoStage::total || block_omega == 1.,
                "block_omega",
                short_text(block_omega) + " with two_stage total",
                "1, as no update of a whole block is there to be weighted; or omega");
      }
  }

  bool BlockAsyncOptions::has_asynchronous_inner_iteration() const
  {
    return two_stage == TwoStage::inner || two_stage == TwoStage::outer || two_stage == TwoStage::total;
  }

  bool BlockAsyncOptions::is_jacobi() const
  {
    return schedule == Schedule::synchronous && local_iterations == 1 && !has_asynchronous_inner_iteration();
  }

  bool BlockAsyncOptions::uses_seed(Backend on) const
  {
    return schedule == Schedule::replay || (on == Backend::reference && has_asynchronous_inner_iteration());
  }

  Blocks BlockAsyncOptions::blocks(int n_rows) const
  {
    Blocks result = block_offsets.empty() ? contiguous_blocks(n_rows, block_size, overlap, overlap_percent) : blocks_between(block_offsets);
    if (result.n_rows() != n_rows)
      throw InvalidInput("block-asynchronous iteration: block_offsets end at " + std::to_string(result.n_rows()) +
                         "\n  expected: at the number of rows, " + std::to_string(n_rows));
    if (!local_iterations_per_block.empty() && static_cast<int>(local_iterations_per_block.size()) != result.n_blocks())
      throw InvalidInput("block-asynchronous iteration: local_iterations_per_block has " + std::to_string(local_iterations_per_block.size()) +
                         " numbers\n  expected: one for each of the " + std::to_string(result.n_blocks()) + " blocks");
    if (last_block_first)
      result.reverse();
    return result;
  }

  std::vector<double> chebyshev_sweep_weights(int k, double smallest, double largest)
  {
    if (!(k >= 1 && smallest > 0. && smallest <= largest && std::isfinite(largest)))
      throw InvalidInput("block-asynchronous iteration: weights of " + std::to_string(k) + " sweeps for eigenvalues from " + short_text(smallest) +
                         " to " + short_text(largest) + "\n  expected: at least one sweep, and eigenvalues above 0 in ascending order");
    std::vector<double> weights(k);
    for (int s = 0; s < k; ++s)
      weights[s] = 2. / (largest + smallest + (largest - smallest) * std::cos((s + 0.5) * std::numbers::pi / k));
    return weights;
  }

  void require_fit_for_matrix(const BlockAsyncOptions &options)
  {
    if (!options.sweep_weights.empty())
      throw InvalidInput(weights_of_stored_matrix);
  }

  template <typename Number>
  BlockAsync<Number>::BlockAsync(const CrsMatrix<Number> &A, const BlockAsyncOptions &options_)
    : options(options_)
    , rows(A.n_rows)
    , columns(A.n_columns)
  {
    options.validate();
    A.validate();
    require_fit_for_matrix(options);
    // a replayed schedule is sequential wherever it runs
    const bool in_sequence = options.backend == Backend::reference || (options.backend == Backend::host && options.schedule == Schedule::replay);
    if (options.corrections != Corrections::none)
      engine = in_sequence                        ? make_reference_correction_engine(A, options)
               : options.backend == Backend::host ? make_host_correction_engine(A, options)
                                                  : make_cuda_correction_engine(A, options);
    else if (options.has_asynchronous_inner_iteration())
      engine = in_sequence                        ? make_reference_two_stage_engine(A, options)
               : options.backend == Backend::host ? make_host_two_stage_engine(A, options)
                                                  : make_cuda_engine(A, options);
    else
      engine = in_sequence                        ? make_reference_engine(A, options)
               : options.backend == Backend::host ? make_host_engine(A, options)
                                                  : make_cuda_engine(A, options);
  }

  template <typename Number>
  BlockAsync<Number>::BlockAsync(const device::DeviceCrs<Number> &A, const BlockAsyncOptions &options_)
    : options(options_)
    , rows(A.n_rows)
    , columns(A.n_columns)
  {
    options.validate();
    require_fit_for_matrix(options);
    if (options.backend != Backend::cuda || options.corrections != Corrections::none)
      throw InvalidInput("block-asynchronous iteration: a matrix on the device, and the backend " + to_string(options.backend) +
                         (options.corrections == Corrections::none ? "" : " with corrections") +
                         "\n  expected: the backend cuda without corrections, or a matrix in host memory");
    engine = make_cuda_engine(A, options);
  }

  void require_fit_for_stencil(const BlockAsyncOptions &options)
  {
    const char *unfit = options.l1_weights                            ? "l1_weights"
                        : options.block_omega != 1.                   ? "block_omega"
                        : options.momentum != 0.                      ? "momentum"
                        : options.overlap != Overlap::none            ? "overlap"
                        : options.last_block_first                    ? "last_block_first"
                        : !options.block_offsets.empty()              ? "block_offsets"
                        : !options.local_iterations_per_block.empty() ? "local_iterations_per_block"
                        : options.corrections != Corrections::none    ? "corrections"
                        : options.has_asynchronous_inner_iteration()  ? "an asynchronous inner iteration (two_stage)"
                                                                      : nullptr;
    if (unfit != nullptr)
      throw InvalidInput(std::string("block-asynchronous iteration: ") + unfit +
                         " is given for a stencil\n  expected: that option for stored matrices only; Stencil::to_crs() makes one");
  }

  template <typename Number>
  BlockAsync<Number>::BlockAsync(const Stencil<Number> &stencil, const BlockAsyncOptions &options_)
    : options(options_)
    , is_stencil(true)
    , rows((stencil.validate(), stencil.n_rows()))
    , columns(rows)
  {
    options.validate();
    require_fit_for_stencil(options);
    switch (options.backend)
      {
        case Backend::reference:
          engine = make_stencil_reference_engine(stencil, options);
          break;
        case Backend::host:
          engine =
            options.schedule == Schedule::replay ? make_stencil_reference_engine(stencil, options) : make_stencil_host_engine(stencil, options);
          break;
        case Backend::cuda:
          engine = make_stencil_cuda_engine(stencil, options);
          break;
      }
  }

  template <typename Number>
  BlockAsync<Number>::~BlockAsync() = default;

  template <typename Number>
  std::string BlockAsync<Number>::name() const
  {
    return to_text(options) + (options.momentum > 0. ? " with momentum" : "") +
           (options.has_asynchronous_inner_iteration() ? " two-stage " + to_string(options.two_stage) : "") +
           (options.schedule == Schedule::synchronous ? " synchronous"
            : options.schedule == Schedule::replay    ? " replayed"
                                                      : "");
  }

  template <typename Number>
  std::string BlockAsync<Number>::description() const
  {
    return engine->description();
  }

  template <typename Number>
  int BlockAsync<Number>::n_rows() const
  {
    return rows;
  }

  template <typename Number>
  int BlockAsync<Number>::n_columns() const
  {
    return columns;
  }

  template <typename Number>
  MemorySpace BlockAsync<Number>::memory_space() const
  {
    return engine->memory_space();
  }

  template <typename Number>
  bool BlockAsync<Number>::is_fixed_linear_map() const
  {
    return engine->is_fixed_linear_map();
  }

  template <typename Number>
  bool BlockAsync<Number>::is_symmetric_map() const
  {
    return options.schedule == Schedule::synchronous && options.overlap == Overlap::none && options.momentum == 0. &&
           !options.has_asynchronous_inner_iteration() &&
           options.corrections != Corrections::single_precision; // which rounds otherwise from one b to the next
  }

  template <typename Number>
  void BlockAsync<Number>::iterate(Number *x, const Number *b, int n_iterations)
  {
    engine->iterate(x, b, n_iterations);
  }

  template <typename Number>
  bool BlockAsync<Number>::residual(Number *r, const Number *x, const Number *b)
  {
    return engine->residual(r, x, b);
  }

  template <typename Number>
  void BlockAsync<Number>::iterate_from_zero(Number *x, const Number *b, int n_iterations)
  {
    if (n_iterations < 1 || !engine->iterate_from_zero(x, b, n_iterations))
      Relaxation<Number>::iterate_from_zero(x, b, n_iterations);
  }

  template <typename Number>
  bool BlockAsync<Number>::tests_itself() const
  {
    return engine->tests_itself();
  }

  template <typename Number>
  IterationReport BlockAsync<Number>::iterate_until(Number *x, const Number *b, int n_iterations, const ResidualTest &test)
  {
    return engine->iterate_until(x, b, n_iterations, test);
  }

  template <typename Number>
  void BlockAsync<Number>::restart()
  {
    engine->restart();
  }

  template <typename Number>
  double BlockAsync<Number>::residual_norm_squared(const Number *x, const Number *b)
  {
    return engine->residual_norm_squared(x, b);
  }

  template <typename Number>
  double BlockAsync<Number>::norm_squared(const Number *b)
  {
    return engine->norm_squared(b);
  }

  template <typename Number>
  void BlockAsync<Number>::update_values(const Number *values)
  {
    engine->update_values(values);
  }

  template <typename Number>
  void BlockAsync<Number>::update_stencil(const Stencil<Number> &stencil)
  {
    stencil.validate();
    engine->update_stencil(stencil);
  }

  template <typename Number>
  void BlockAsync<Number>::set_omega(double omega)
  {
    if (omega == options.omega && options.sweep_weights.empty())
      return;
    BlockAsyncOptions changed = options;
    changed.omega             = omega;
    changed.sweep_weights.clear();
    changed.validate();
    engine->set_omega(omega);
    engine->set_sweep_weights({});
    options = changed;
  }

  template <typename Number>
  void BlockAsync<Number>::set_sweep_weights(const std::vector<double> &weights)
  {
    if (!is_stencil)
      throw InvalidInput(weights_of_stored_matrix);
    BlockAsyncOptions changed = options;
    changed.sweep_weights     = weights;
    changed.omega             = 1.;
    changed.validate();
    engine->set_omega(1.);
    engine->set_sweep_weights(weights);
    options = changed;
  }

#define INSTANTIATE(Number) template class BlockAsync<Number>;
  LEOPARD_FOR_EACH_NUMBER(INSTANTIATE)
#undef INSTANTIATE
} // namespace leopard
