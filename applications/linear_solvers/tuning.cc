// SPDX-License-Identifier: Apache-2.0
#include "tuning.h"

#include <applications/base/log.h>
#include <solvers/base/errors.h>
#include <solvers/base/stopwatch.h>
#include <solvers/block_async/tune.h>

#include <nlohmann/json.hpp>

namespace leopard
{
  std::string Tuning::text() const
  {
    return format("tuned in %.2g s: blocks of %d, %d local iterations, omega = %.4g, momentum = %.4g",
                  seconds,
                  options.block_size,
                  options.local_iterations,
                  options.omega,
                  options.momentum) +
           (options.execution == Execution::automatic ? "" : ", " + to_string(options.execution)) + format(": %.3g s a digit", seconds_a_digit);
  }

  nlohmann::json Tuning::report() const
  {
    return {{"block_size", options.block_size},
            {"local_iterations", options.local_iterations},
            {"omega", options.omega},
            {"momentum", options.momentum},
            {"execution", to_string(options.execution)},
            {"seconds_a_digit", seconds_a_digit},
            {"seconds", seconds}};
  }

  Tuning tune_async(const LinearSolverParameters &parameters, const CrsMatrix<double> &A, const std::function<Partition(int block_size)> &partition)
  {
    TuneRequest request;
    request.backend   = parameters.block_async.backend;
    request.n_threads = parameters.block_async.n_threads;
    request.seconds   = parameters.tuning_time;
    request.storage   = parameters.block_async.storage;
    request.weights   = !parameters.values_change;
    request.partition = partition;
    const Stopwatch time;
    Tuning          result;
    try
      {
        const TunedChoice choice = tune(A, request);
        result.options           = choice.options;
        result.seconds_a_digit   = choice.seconds_a_digit;
        result.seconds           = time.seconds();
      }
    catch (const ConvergenceFailure &failure)
      {
        const std::string what = failure.what();
        throw ConvergenceFailure("'Linear solver/Tuning time' is " + format("%g", parameters.tuning_time) + " s: " + what.substr(0, what.find('\n')) +
                                 "\n  to try: a longer time, or another 'Linear solver/Method'" +
                                 (parameters.suited.method.empty() || parameters.suited.method == "async" ? "" : ": " + parameters.suited.name()));
      }
    return result;
  }
} // namespace leopard
