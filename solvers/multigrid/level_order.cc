// SPDX-License-Identifier: Apache-2.0
#include "level_order.h"

#include "../base/errors.h"
#include "../matrix/blocks.h"

namespace leopard
{
  namespace
  {
    constexpr long shortest_rows = 12; ///< entries, with which moving blocks pay

    /** The other tiles, in the order that there is. */
    void set_moved(const MultigridLevel &level, int block_size, LevelOrder &order)
    {
      if (order.on_device.size() > 0)
        {
          const device::Array<int> shifted = device::coordinate_order(level.coordinates, level.dim, block_size, order.moved_offsets, true);
          order.moved_on_device            = device::places_in(order.on_device, shifted);
          return;
        }
      Partition        shifted = coordinate_partition(level.coordinates, level.dim, block_size, 1, true);
      std::vector<int> place(shifted.old_row.size());
      for (std::size_t i = 0; i < place.size(); ++i)
        place[order.old_row[i]] = static_cast<int>(i);
      for (int &row : shifted.old_row)
        row = place[row];
      order.moved_rows    = std::move(shifted.old_row);
      order.moved_offsets = std::move(shifted.block_offsets);
    }

    LevelOrder order_of(
      const MultigridHierarchy &hierarchy, const MultigridLevel &level, const SmootherOptions &options, bool moves, int n_threads, bool on_device)
    {
      const int  block_size      = options.block_async.block_size;
      const bool has_coordinates = !level.coordinates.empty();
      if (options.block_shape == BlockShape::contiguous)
        return {{}, {}, "contiguous blocks", {}, {}, {}, {}};
      if (level.matrix.n_rows <= block_size)
        return {{}, {}, "one block", {}, {}, {}, {}};
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
      LevelOrder result{std::move(partition.old_row), std::move(partition.block_offsets), text, std::move(ordered), {}, {}, {}};
      if (moves)
        set_moved(level, block_size, result);
      return result;
    }
  } // namespace

  std::vector<LevelOrder> level_orders(const MultigridHierarchy &hierarchy, const SmootherOptions &options, bool moves, int n_threads, bool on_device)
  {
    std::vector<LevelOrder> orders(hierarchy.levels.size());
    if (find_method(options.method).has_blocks)
      for (std::size_t l = 1; l < orders.size(); ++l)
        orders[l] = order_of(hierarchy, hierarchy.levels[l], options, moves, n_threads, on_device);
    return orders;
  }

  bool blocks_move(const MultigridHierarchy &hierarchy, const MultigridOptions &options)
  {
    const SmootherOptions &smoother = options.smoother;
    if (smoother.moving_blocks == MovingBlocksChoice::no)
      return false;
    std::string why_not;
    if (smoother.method != "async")
      why_not = "the smoother is " + smoother.method;
    else if (smoother.block_shape != BlockShape::tiles)
      why_not = "they are not tiles";
    else if (smoother.block_async.overlap != Overlap::none)
      why_not = "they overlap";
    for (std::size_t l = 1; l < hierarchy.levels.size() && why_not.empty(); ++l)
      {
        const MultigridLevel &level = hierarchy.levels[l];
        if (level.communication != nullptr && level.communication->is_distributed())
          why_not = "ranks share level " + std::to_string(l);
        else if (level.coordinates.empty())
          why_not = "level " + std::to_string(l) + " has no coordinates";
      }
    if (smoother.moving_blocks == MovingBlocksChoice::yes && !why_not.empty())
      throw InvalidInput("multigrid smoother: blocks are to move, and " + why_not +
                         "\n  expected: async in tiles from coordinates, without overlap, on one rank; or blocks that stay");
    if (!why_not.empty() || smoother.moving_blocks == MovingBlocksChoice::yes)
      return why_not.empty();
    const MultigridLevel &finest = hierarchy.levels.back();
    return finest.dim == 2 && smoother_moves(smoother, options.backend, finest.dim) &&
           finest.matrix.n_entries() >= shortest_rows * static_cast<long>(finest.matrix.n_rows);
  }
} // namespace leopard
