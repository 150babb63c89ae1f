// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <solvers/base/stopwatch.h>
#include <solvers/block_async/block_async.h>
#include <solvers/device/device_vector.h>
#include <solvers/refinement/refinement.h>

#include <memory>
#include <vector>

namespace leopard::studies
{
  /** Refinement with async-(k) in the precision of Number. */
  template <typename Number>
  std::unique_ptr<Refinement<Number>>
  make_refinement_with_async(const CrsMatrix<double> &A, const BlockAsyncOptions &options, const RefinementOptions &how)
  {
    const auto make_inner = [&](const CrsMatrix<Number> &scaled) {
      return make_inner_solver(std::shared_ptr<Relaxation<Number>>(std::make_shared<BlockAsync<Number>>(scaled, options)));
    };
    return make_refinement<Number>(A, make_inner, how, options.backend, options.n_threads);
  }

  /** With vectors where the refinement wants them, from x = 0. @param seconds of the solve, without them. */
  template <typename Number>
  RefinementResult solve_by(Refinement<Number> &refinement, const std::vector<double> &b, double &seconds)
  {
    const bool           on_device = refinement.memory_space() == MemorySpace::device;
    std::vector<double>  host_x(on_device ? 0 : b.size(), 0.);
    DeviceVector<double> device_x(on_device ? b.size() : 0), device_b(on_device ? b.size() : 0);
    if (on_device)
      device_b.copy_from_host(b.data());
    const double     start  = now();
    RefinementResult result = on_device ? refinement.solve(device_x.data(), device_b.data()) : refinement.solve(host_x.data(), b.data());
    seconds                 = now() - start;
    return result;
  }
} // namespace leopard::studies
