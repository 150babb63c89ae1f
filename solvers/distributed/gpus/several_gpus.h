// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../../block_async/block_async.h"

#include <memory>
#include <string>
#include <vector>

namespace leopard
{
  /** How GPUs get the values of one another's rows. */
  enum class GpuExchange
  {
    amc, ///< asynchronous multicopy: x is in pinned host memory; before a global iteration a GPU copies all of it in, afterwards its part out
    dc,  ///< direct copies: x is on the first GPU, the master; the others copy all of it in, and their parts back
    dk,  ///< direct kernels: x is on the master only, and the kernels of the others read and write it there
    halo ///< each GPU has its part and copies of what its rows need; kernels write new values to the GPUs that need them
  };

  constexpr GpuExchange gpu_exchanges[] = {GpuExchange::amc, GpuExchange::dc, GpuExchange::dk, GpuExchange::halo};

  /** "amc", "dc", "dk" or "halo". */
  std::string to_string(GpuExchange exchange);

  /** Options of make_several_gpus(). */
  struct SeveralGpusOptions
  {
    std::vector<int>    devices;                      ///< of each part its GPU, numbered from 0; one GPU may have several parts
    GpuExchange         exchange = GpuExchange::halo; ///< amc, dc, dk: chaotic schedule
    bool                waits  = false; ///< halo: after each global iteration GPUs wait for one another's values; needed in the synchronous schedule
    std::vector<double> shares = {};    ///< part of the matrix's entries of each GPU, dimensionless; empty: equal ones

    /** @throws InvalidInput naming the option, what was found and what is expected. */
    void validate(const BlockAsyncOptions &options) const;
  };

  /**
   * Block-asynchronous iteration for a stored matrix on several GPUs of this process, a thread each. Rows are cut into
   * consecutive parts at beginnings of blocks; on its part each GPU iterates as BlockAsync does, and between its global
   * iterations, or in the persistent form while they go on (halo), values travel as GpuExchange says. Nobody waits for
   * anybody but for a test of the residual, and at the end, or with `waits`: a GPU that is faster does more global
   * iterations meanwhile, also in iterate(). With waits and the synchronous schedule values of a stored matrix are
   * those of one GPU. rho(|I - D^-1 A|) < 1 makes all of it converge, as for one GPU: between two tests a value is so
   * many iterations old at most as the fastest GPU does.
   * Source of amc, dc, dk: Anzt, Tomov, Dongarra, Heuveline 2013, section 3.4; thesis, section 4.6.
   *
   * x and b of what is returned are in host memory; iterate() and iterate_until() copy them to the GPUs, and x back. It
   * tests by itself: iterate_until() tests after each `every` global iterations of the slowest GPU, after twice as
   * many, and so on, where these take less than four tenths of a millisecond (each call begins with `every` again,
   * after 100 tests); a stored matrix takes new values where they are stored as given. Its residuals are true ones, as
   * GPUs stop for a test.
   * @param A square. @throws InvalidInput; DeviceError, also where a GPU cannot reach the memory of another one and the
   * exchange needs that.
   */
  template <typename Number>
  std::unique_ptr<Relaxation<Number>> make_several_gpus(const CrsMatrix<Number> &A, const BlockAsyncOptions &options, const SeveralGpusOptions &gpus);

  /**
   * The same for an operator that is not stored: the parts are slabs of the grid, cut where tiles begin if there is a
   * tile for each, else anywhere, and tiles begin anew in each; the exchange is halo. With waits and the synchronous
   * schedule values are those of one GPU to the last bit if slabs are cut where tiles begin, or with one local
   * iteration to rounding. In the persistent form, where all tiles of a slab are on its GPU at once, tiles at its ends
   * write their outermost plane into the memory of the GPU beside. Its stencil can change, its values not.
   */
  template <typename Number>
  std::unique_ptr<Relaxation<Number>>
  make_several_gpus(const Stencil<Number> &stencil, const BlockAsyncOptions &options, const SeveralGpusOptions &gpus);
} // namespace leopard
