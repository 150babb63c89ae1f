// SPDX-License-Identifier: Apache-2.0
#include "block_async.h"

#include "../base/errors.h"
#include "block_async_engine.h"

namespace leopard
{
  void BlockAsyncOptions::validate() const
  {
    const auto require = [](bool holds, const std::string &option, const std::string &found, const std::string &expected) {
      if (!holds)
        throw InvalidInput("block-asynchronous iteration: " + option + " is " + found + "\n  expected: " + expected);
    };
    const int largest = backend == Backend::cuda ? 1024 : 65536;
    require(block_size >= 1 && block_size <= largest,
            "block_size",
            std::to_string(block_size),
            "1 to " + std::to_string(largest) + " rows a block on the backend " + to_string(backend));
    require(local_iterations >= 1, "local_iterations", std::to_string(local_iterations), "a number >= 1");
    require(omega > 0. && omega < 2., "omega", std::to_string(omega), "a number between 0 and 2");
    require(n_threads >= 0, "n_threads", std::to_string(n_threads), "a number >= 0, where 0 stands for all of the machine's");
    require(!(backend == Backend::cuda && schedule == Schedule::replay),
            "schedule",
            "replay",
            "chaotic or synchronous on the backend cuda; replay runs on the backends reference and host");
  }

  BlockAsync::BlockAsync(const CrsMatrix &A, const BlockAsyncOptions &options_)
    : options(options_)
    , rows(A.n_rows)
    , columns(A.n_columns)
  {
    options.validate();
    A.validate();
    switch (options.backend)
      {
        case Backend::reference:
          engine = make_reference_engine(A, options);
          break;
        case Backend::host:
          // a replayed schedule is sequential wherever it runs
          engine = options.schedule == Schedule::replay ? make_reference_engine(A, options) : make_host_engine(A, options);
          break;
        case Backend::cuda:
          engine = make_cuda_engine(A, options);
          break;
      }
  }

  BlockAsync::~BlockAsync() = default;

  std::string BlockAsync::name() const
  {
    return "async-(" + std::to_string(options.local_iterations) + ")" +
           (options.schedule == Schedule::synchronous ? " synchronous"
            : options.schedule == Schedule::replay    ? " replayed"
                                                      : "");
  }

  int BlockAsync::n_rows() const
  {
    return rows;
  }

  int BlockAsync::n_columns() const
  {
    return columns;
  }

  MemorySpace BlockAsync::memory_space() const
  {
    return engine->memory_space();
  }

  bool BlockAsync::is_fixed_linear_map() const
  {
    return engine->is_fixed_linear_map();
  }

  void BlockAsync::iterate(double *x, const double *b, int n_iterations)
  {
    engine->iterate(x, b, n_iterations);
  }

  double BlockAsync::residual_norm_squared(const double *x, const double *b)
  {
    return engine->residual_norm_squared(x, b);
  }

  double BlockAsync::norm_squared(const double *b)
  {
    return engine->norm_squared(b);
  }

  void BlockAsync::update_values(const double *values)
  {
    engine->update_values(values);
  }
} // namespace leopard
