// SPDX-License-Identifier: Apache-2.0
#include "level_order.h"

#include "../matrix/blocks.h"

namespace leopard
{
  namespace
  {
    LevelOrder
    order_of(const MultigridHierarchy &hierarchy, const MultigridLevel &level, const SmootherOptions &options, int n_threads, bool on_device)
    {
      const int  block_size      = options.block_async.block_size;
      const bool has_coordinates = !level.coordinates.empty();
      if (options.block_shape == BlockShape::contiguous)
        return {{}, {}, "contiguous blocks", {}};
      if (level.matrix.n_rows <= block_size)
        return {{}, {}, "one block", {}};
      Partition          partition;
      device::Array<int> ordered;
      std::string        text;
      const bool         of_graph = options.block_shape != BlockShape::tiles || !has_coordinates;
      if (of_graph && on_device)
        hierarchy.validate(); // what set-up on the device would check later
      if (!of_graph)
        {
          if (on_device)
            ordered = device::coordinate_order(level.coordinates, level.dim, block_size, partition.block_offsets);
          if (ordered.size() == 0) // says what it is if a coordinate is not finite
            partition = coordinate_partition(level.coordinates, level.dim, block_size, n_threads);
          text = "tiles from coordinates";
        }
      else if (options.block_shape == BlockShape::rcm)
        {
          partition = rcm_partition(level.matrix, block_size);
          text      = "blocks in reverse Cuthill-McKee order";
        }
      else
        {
          partition = metis_partition(level.matrix, block_size);
          text      = options.block_shape == BlockShape::tiles ? "METIS blocks (no coordinates for tiles)" : "METIS blocks";
        }
      // overlapping blocks are made of block_size rows each; in this order they are compact, too
      if (options.block_async.overlap != Overlap::none)
        partition.block_offsets.clear();
      if (on_device && ordered.size() == 0)
        ordered = device::Array<int>(partition.old_row);
      return {std::move(partition.old_row), std::move(partition.block_offsets), text, std::move(ordered)};
    }
  } // namespace

  std::vector<LevelOrder> level_orders(const MultigridHierarchy &hierarchy, const SmootherOptions &options, int n_threads, bool on_device)
  {
    std::vector<LevelOrder> orders(hierarchy.levels.size());
    if (find_method(options.method).has_blocks)
      for (std::size_t l = 1; l < orders.size(); ++l)
        orders[l] = order_of(hierarchy, hierarchy.levels[l], options, n_threads, on_device);
    return orders;
  }
} // namespace leopard
