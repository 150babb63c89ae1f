// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../matrix/device_crs.h"
#include "block_async.h"
#include "device_block_crs.cuh"

#include <memory>

namespace leopard
{
  /**
   * The packets of a matrix (see device_block_crs.cuh), made on the device from a matrix that is there.
   */
  template <typename Number>
  class DevicePackets
  {
  public:
    /** @throws InvalidInput for values that relaxation cannot take, and matrices that are too large; DeviceError. */
    DevicePackets(const device::DeviceCrs<Number> &A, const BlockAsyncOptions &options);

    /**
     * New values for the pattern of A, where they are stored as given. @param values host or device memory, in the
     * order of A.
     * @throws InvalidInput if one is not finite, or zero on the diagonal; then nothing has changed.
     */
    void update_values(const Number *values, double omega);

    /** See BlockAsyncEngine. */
    void place_ghosts_before(int n);

    Storage                    storage     = Storage::automatic;
    bool                       has_columns = true;
    DistanceSlots              slots;
    int                        n_rows = 0, n_columns = 0, n_blocks = 0, n_local_rows = 0, largest_block = 0;
    int                        inner_width = 0, outer_width = 0, outer_bytes = 0, inner_bytes = 0, most_ghosts = 0; ///< the largest of a block
    int                        n_values = 0;                                                                        ///< of the dictionary
    std::size_t                n_bytes  = 0;                                                                        ///< of all arrays
    device::Array<char>        bytes;
    device::Array<BlockExtent> extents;
    device::Array<Number>      keeps;                     ///< with l1 weights: 1 - omega a_ii / d_i of each local row
    device::Array<Number>      weight_table, value_table; ///< see TableView; empty: stored as they are

  private:
    struct Maker;
    device::DeviceCrs<Number> matrix; ///< for values that change: stored as given
    Blocks                    blocks;
    device::Array<int>        begin, end, owned_begin, owned_end, first_local; ///< of the blocks: see Blocks and BlockCrs
    bool                      l1_weights;
  };
} // namespace leopard
