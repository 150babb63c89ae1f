// SPDX-License-Identifier: Apache-2.0
#include "method.h"

#include "../base/errors.h"
#include "../device/device.h"
#include "../matrix/analysis.h"
#include "../relaxation/chebyshev.h"
#include "../relaxation/point_relaxation.h"

#include <algorithm>
#include <cstdio>
#include <utility>

namespace leopard::command_line
{
  namespace
  {
    constexpr double caution = 0.5; ///< asynchronous iterations bear less momentum than synchronous ones

    std::string number(double value)
    {
      char text[32];
      std::snprintf(text, sizeof(text), "%.5g", value);
      return text;
    }

    /** "no GPU answers" in the words that fit this build. */
    std::string no_gpu()
    {
      return device::built_with_cuda() ? "no GPU answers" : "no GPU answers (built without CUDA)";
    }

    void check_device(const std::string &who)
    {
      if (!device::built_with_cuda())
        throw DeviceError(who + ": this program is built without CUDA\n  expected: --backend host or automatic, or a build configured with "
                                "-D LEOPARD_CUDA=ON");
      if (device::n_devices() == 0)
        throw DeviceError(who + ": no GPU answers on this machine\n  expected: a GPU and its driver, or --backend host or automatic");
    }

    bool is_parallel(const Arguments &a)
    {
      return a.method == Method::async && a.async.schedule != Schedule::replay;
    }

    ChosenBackend choose(const Arguments &a)
    {
      const std::string threads = is_parallel(a) ? "host threads" : "one host thread";
      if (a.backend == "cuda")
        check_device("--backend cuda");
      if (a.backend == "reference")
        return {Backend::reference, "reference, as asked for: one thread, in sequence"};
      if (a.backend == "host")
        return {Backend::host, "host, as asked for: " + threads};
      if (a.backend == "automatic" && a.method == Method::async && a.async.schedule == Schedule::replay)
        return {Backend::host, "host: a replay does not run on a GPU: " + threads};
      if (device::n_devices() == 0)
        return {Backend::host, "host: " + no_gpu() + ": " + threads};
      const std::string name = device::info(0).name;
      return {Backend::cuda, a.backend == "cuda" ? "cuda, as asked for: " + name : "cuda: a GPU answers: " + name};
    }

    void check_options_of_backend(const Arguments &a, Backend backend)
    {
      const auto refuse = [&](const char *option, const char *expected) {
        throw UsageError(std::string(option) + " is given, and the backend is " + to_string(backend) + "\n  expected: " + expected);
      };
      if (backend != Backend::cuda && a.async.execution != Execution::automatic)
        refuse("--execution", "it with the backend cuda only");
      if (backend != Backend::cuda && a.async.storage != Storage::automatic && a.async.storage != Storage::double_precision)
        refuse("--storage", "it with the backend cuda only; the others store doubles");
      if (backend != Backend::host && a.has("--threads"))
        refuse("--threads", "it with the backend host only");
    }

    ExtremeEigenvalues eigenvalues_of(const CrsMatrix &A, const std::string &what_for, const Log &log)
    {
      log("eigenvalues", "of D^-1 A, for " + what_for + " ...");
      try
        {
          const ExtremeEigenvalues e = extreme_eigenvalues(A, 1e-3);
          log("eigenvalues", number(e.smallest) + " to " + number(e.largest));
          if (!(e.smallest > 0.))
            throw InvalidInput("the smallest eigenvalue of D^-1 A is " + number(e.smallest) + "\n  expected: a positive definite matrix");
          return e;
        }
      catch (const InvalidInput &problem)
        {
          throw InvalidInput(what_for + ": " + problem.what());
        }
    }

    std::unique_ptr<Relaxation> make_chebyshev_solver(const CrsMatrix &A, Backend backend, const Log &log)
    {
      constexpr double         margin = 1e-3; // of the interval around the eigenvalues as computed
      const ExtremeEigenvalues e      = eigenvalues_of(A, "--method chebyshev", log);
      ChebyshevOptions         options;
      options.lambda_min = (1. - margin) * e.smallest;
      options.lambda_max = (1. + margin) * e.largest;
      options.backend    = backend;
      return make_chebyshev(A, options);
    }

    std::unique_ptr<Relaxation> make_point_solver(const CrsMatrix &A, const Arguments &a, Backend backend, const Log &log)
    {
      PointRelaxationOptions options;
      options.backend = backend;
      options.omega   = a.async.omega;
      options.method  = a.method == Method::jacobi         ? PointMethod::jacobi
                        : a.method == Method::gauss_seidel ? PointMethod::gauss_seidel
                        : a.method == Method::sor          ? PointMethod::sor
                                                           : PointMethod::ssor;
      if (a.omega_is_tau)
        options.omega = tau_scaling(eigenvalues_of(A, "--omega tau", log));
      return make_point_relaxation(A, options);
    }

    /** What only the matrix can tell. */
    void complete_weights(const CrsMatrix &A, const Arguments &a, BlockAsyncOptions &options, const Log &log)
    {
      if (a.omega_is_tau)
        options.omega = tau_scaling(eigenvalues_of(A, "--omega tau", log));
      if (!a.momentum_from_matrix)
        return;
      const bool               is_classical = options.schedule == Schedule::synchronous && options.local_iterations == 1;
      const MomentumParameters parameters   = momentum_parameters(eigenvalues_of(A, "--momentum automatic", log), is_classical ? 0. : caution);
      options.omega                         = parameters.omega;
      options.momentum                      = parameters.momentum;
    }

    std::string weights(const BlockAsyncOptions &options)
    {
      std::string text = "omega = " + number(options.omega);
      if (options.momentum > 0.)
        text += ", momentum = " + number(options.momentum);
      if (options.block_omega != 1.)
        text += ", block omega = " + number(options.block_omega);
      return options.l1_weights ? text + ", l1 weights" : text;
    }

    Iteration make_async(const CrsMatrix &A, const TunedChoice &choice, bool theta_dependent, const Log &log)
    {
      BlockAsyncOptions options = choice.options;
      Iteration         result;
      result.is_replay = options.schedule == Schedule::replay;
      result.partition = choose_partition(A, choice.shape, options.block_size);
      CrsMatrix permuted;
      if (result.partition)
        {
          permuted = permute(A, *result.partition);
          if (choice.shape == BlockShape::metis)
            options.block_offsets = result.partition->block_offsets;
        }
      const CrsMatrix &matrix = result.partition ? permuted : A;
      if (theta_dependent)
        {
          const Blocks blocks                = options.blocks(matrix.n_rows);
          options.local_iterations_per_block = theta_dependent_local_iterations(theta(matrix, blocks), blocks, options.local_iterations);
          const auto [least, most] = std::minmax_element(options.local_iterations_per_block.begin(), options.local_iterations_per_block.end());
          log("theta", "local iterations from " + std::to_string(*least) + " to " + std::to_string(*most) + ", as theta says");
        }
      log("blocks",
          to_string(choice.shape) + (options.overlap == Overlap::none ? "" : ", overlap of " + number(options.overlap_percent) + " percent"));
      log("weights", weights(options));
      result.relaxation = std::make_unique<BlockAsync>(matrix, options);
      return result;
    }

    TunedChoice tuned(const CrsMatrix &A, const Arguments &a, Backend backend, const Log &log)
    {
      TuneRequest request;
      request.backend    = backend;
      request.seconds    = a.tune_seconds;
      request.n_threads  = a.async.n_threads;
      request.report     = [&](const std::string &line) { log("tuning", line); };
      TunedChoice choice = tune(A, request);
      if (!a.choice.empty())
        {
          write_choice(choice, A, a.choice);
          log("choice", "written to " + a.choice);
        }
      return choice;
    }

    TunedChoice choice_from_file(const CrsMatrix &A, const Arguments &a, const Log &log)
    {
      TunedChoice   choice  = read_choice(a.choice, A);
      const Backend backend = choice.options.backend;
      if (a.backend != "automatic" && a.backend != to_string(backend))
        throw UsageError("--backend is " + a.backend + ", and the choice in " + a.choice + " is for the backend " + to_string(backend) +
                         "\n  expected: the same, or --tune anew");
      if (backend == Backend::cuda)
        check_device("the choice in " + a.choice + " is for the backend cuda");
      if (a.has("--threads"))
        {
          if (backend != Backend::host)
            throw UsageError("--threads is given, and the choice in " + a.choice + " is for the backend " + to_string(backend) +
                             "\n  expected: it with the backend host only");
          choice.options.n_threads = a.async.n_threads;
        }
      log("choice", "of " + a.choice + ", for the backend " + to_string(backend));
      return choice;
    }
  } // namespace

  ChosenBackend choose_backend(const Arguments &arguments)
  {
    ChosenBackend result = choose(arguments);
    if (arguments.choice.empty() || arguments.tune)
      {
        check_options_of_backend(arguments, result.backend);
        if (arguments.method == Method::async)
          {
            BlockAsyncOptions options = arguments.async;
            options.backend           = result.backend;
            options.validate();
          }
      }
    return result;
  }

  std::optional<Partition> choose_partition(const CrsMatrix &A, BlockShape shape, int block_size)
  {
    if (shape == BlockShape::contiguous)
      return {};
    return shape == BlockShape::rcm ? rcm_partition(A, block_size) : metis_partition(A, block_size);
  }

  Iteration make_iteration(const CrsMatrix &A, const Arguments &a, const ChosenBackend &backend, const Log &log)
  {
    const bool reads_choice = !a.choice.empty() && !a.tune;
    if (!reads_choice)
      log("backend", backend.text);
    Iteration result;
    if (a.method == Method::chebyshev)
      result.relaxation = make_chebyshev_solver(A, backend.backend, log);
    else if (a.method != Method::async)
      result.relaxation = make_point_solver(A, a, backend.backend, log);
    else if (a.tune)
      result = make_async(A, tuned(A, a, backend.backend, log), false, log);
    else if (reads_choice)
      result = make_async(A, choice_from_file(A, a, log), false, log);
    else
      {
        TunedChoice choice;
        choice.shape           = a.shape;
        choice.options         = a.async;
        choice.options.backend = backend.backend;
        complete_weights(A, a, choice.options, log);
        result = make_async(A, choice, a.theta, log);
      }
    return result;
  }
} // namespace leopard::command_line
