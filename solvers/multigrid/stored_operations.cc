// SPDX-License-Identifier: Apache-2.0
#include "stored_operations.h"

#include "../base/errors.h"
#include "../block_async/block_async.h"
#include "../device/device.h"
#include "../matrix/blocks.h"
#include "../matrix/sparse_product.h"
#include "coarse_solvers.h"
#include "row_of_level.h"

#include <algorithm>
#include <cmath>
#include <future>
#include <numeric>
#include <string>
#include <utility>

namespace leopard
{
  namespace
  {
    /** Bytes of the operators, with transposed ones where they are not given. */
    template <typename Number>
    std::size_t operator_bytes(const MultigridLevel &level)
    {
      return bytes<Number>(level.matrix) + bytes<Number>(level.prolongation) +
             std::max(bytes<Number>(level.restriction), bytes<Number>(level.prolongation)) + 2 * bytes<Number>(level.interface);
    }

    template <typename Number>
    std::size_t vector_bytes(const MultigridLevel &level)
    {
      return (2 * static_cast<std::size_t>(level.matrix.n_columns) + level.matrix.n_rows) * sizeof(Number);
    }

    /** The same of levels on the device, with vectors and smoothers. */
    template <typename Number>
    std::size_t hierarchy_bytes(const std::vector<device::AggregationLevel> &levels)
    {
      std::size_t sum = 0;
      for (const device::AggregationLevel &level : levels)
        sum += (2l * level.matrix.n_entries + 2l * level.prolongation.n_entries) * (sizeof(Number) + sizeof(int)) +
               4l * level.matrix.n_rows * (sizeof(Number) + sizeof(int));
      return sum;
    }

    /** Operators, vectors, and smoothers that have a copy of their matrix; blocks that move have another one. */
    template <typename Number>
    std::size_t hierarchy_bytes(const MultigridHierarchy &hierarchy, bool moves)
    {
      std::size_t sum = bytes<Number>(hierarchy.matrix) + hierarchy.matrix.n_columns * sizeof(Number);
      for (std::size_t l = 0; l < hierarchy.levels.size(); ++l)
        {
          const MultigridLevel &level = hierarchy.levels[l];
          sum += operator_bytes<Number>(level) + vector_bytes<Number>(level) + (l > 0 ? bytes<Number>(level.matrix) : 0);
          if (l > 0 && moves)
            sum += bytes<Number>(level.matrix) + level.matrix.n_rows * (2 * sizeof(Number) + sizeof(int));
        }
      return sum;
    }

    void check_device_memory(std::size_t needed, std::size_t n_unknowns)
    {
      const std::size_t free = device::free_memory();
      if (needed > free)
        throw DeviceError("multigrid: the hierarchy of " + std::to_string(n_unknowns) + " unknowns needs about " + std::to_string(needed) +
                          " bytes on the GPU, of which " + std::to_string(free) +
                          " are free\n  expected: a smaller problem, a larger GPU, more ranks on more GPUs, or the backend host");
    }

    /** For vectors of Numbers; null for one rank in another number type than double. */
    template <typename Number>
    std::shared_ptr<const Communication<Number>> for_number(const std::shared_ptr<const Communication<double>> &communication)
    {
      if constexpr (std::is_same_v<Number, double>)
        return communication;
      else if (communication == nullptr || !communication->is_distributed())
        return nullptr;
      else
        return communication->in_single();
    }

    std::string new_values_of(int level)
    {
      return "multigrid, new values of level " + std::to_string(level);
    }

    /** See SmootherOptions::any_block_size. */
    constexpr int  rows_of_large_blocks         = 512;
    constexpr long most_entries_of_large_blocks = 12; ///< a row, in the mean

    /** Whether a smoother begins from zero with zeros in x, which may be there already. Null: there is none. */
    template <typename Number>
    bool writes_zeros(const Relaxation<Number> *smoother)
    {
      return dynamic_cast<const BlockAsync<Number> *>(smoother) != nullptr;
    }

    [[noreturn]] void refuse_number_of_values(std::size_t found, std::size_t expected, int level)
    {
      throw InvalidInput(new_values_of(level) + ": a matrix has " + std::to_string(found) + " entries\n  expected: the pattern it had, of " +
                         std::to_string(expected));
    }
  } // namespace

  template <typename Number>
  StoredOperations<Number>::StoredOperations(const MultigridHierarchy &hierarchy, const MultigridOptions &options)
    : algebra(make_linear_algebra<Number>(options.backend, options.n_threads))
    , n_threads(options.n_threads)
    , iterations_per_step(options.smoother.iterations_per_step)
    , moves(options.smoother.moving_blocks == MovingBlocksChoice::yes)
    , n_bytes(hierarchy_bytes<Number>(hierarchy, moves))
    , adaptive(hierarchy.is_adaptive())
    , on_device(is_set_up_on_device(options))
  {
    if (options.backend == Backend::cuda)
      check_device_memory(n_bytes + (on_device ? bytes<double>(hierarchy.levels.back().matrix) : 0), // to set up in
                          hierarchy.finest_matrix().n_rows);
    std::vector<LevelOrder> orders = level_orders(hierarchy, options.smoother, moves, options.n_threads, on_device);
    levels.resize(hierarchy.levels.size());
    for (std::size_t l = 0; l < levels.size(); ++l)
      set_up_level(hierarchy, orders, static_cast<int>(l), options);
    if (adaptive)
      {
        matrix               = algebra->matrix(rounded_to<Number>(hierarchy.matrix));
        rows                 = hierarchy.matrix.n_rows;
        global_columns       = hierarchy.matrix.n_columns;
        global_residual      = algebra->vector(global_columns);
        global_communication = for_number<Number>(hierarchy.communication);
      }
    else
      {
        rows                 = levels.back().n;
        finest_order         = order_of_finest();
        global_communication = levels.back().communication;
      }
    for (int level = 0; level <= n_levels(); ++level) // the last one: the whole problem's
      if (communication(level).has_ghosts())
        ghosts_are_queued = communication(level).is_queued(memory_space()) && ghosts_are_queued; // all are made ready
    for (const Level &l : levels)
      ghosts_are_queued = ghosts_are_queued && l.loose == nullptr;
    find_null_spaces(hierarchy.finest_matrix(), hierarchy.levels.front().matrix);
    if (on_device)
      device::release_scratch();
  }

  template <typename Number>
  StoredOperations<Number>::StoredOperations(const std::vector<device::AggregationLevel> &from,
                                             const CrsMatrix<double>                     &finest,
                                             const CrsMatrix<double>                     &coarsest,
                                             const MultigridOptions                      &options)
    : algebra(make_linear_algebra<Number>(options.backend, options.n_threads))
    , n_threads(options.n_threads)
    , iterations_per_step(options.smoother.iterations_per_step)
    , moves(false)
    , n_bytes(hierarchy_bytes<Number>(from) + (find_method(options.smoother.method).has_blocks || !std::is_same_v<Number, double>
                                                 ? from.back().matrix.memory() // kept for a Krylov method
                                                 : 0))
    , adaptive(false)
    , on_device(true)
    , levels(from.size())
    , rows(finest.n_rows)
    , global_columns(finest.n_rows)
  {
    const bool                      has_blocks = find_method(options.smoother.method).has_blocks;
    std::vector<device::Array<int>> orders(from.size());
    if (has_blocks && options.smoother.block_shape != BlockShape::contiguous)
      orders = device::aggregate_orders(from);
    for (std::size_t level = 0; level < from.size(); ++level)
      {
        Level &l    = levels[level];
        l.order     = std::move(orders[level]);
        l.n         = from[level].matrix.n_rows;
        l.n_columns = l.n;
        l.n_entries = from[level].matrix.n_entries;
        l.text      = !has_blocks ? "" : l.order.size() > 0 ? "blocks of aggregates" : "contiguous blocks";
        l.x         = algebra->vector(l.n);
        l.b         = algebra->vector(l.n);
        l.r         = algebra->vector(l.n);
        take_matrix(l, device::permuted<Number>(from[level].matrix, l.order, l.order), level > 0 && options.sixteen_bits);
        if (level == 0)
          continue;
        const device::DeviceCrs<Number> P = device::permuted<Number>(from[level].prolongation, l.order, levels[level - 1].order);
        l.P                               = make_matrix(P);
        l.R                               = make_matrix(device::transposed(P));
        l.smoother                        = on_level({l.n, level + 1 < levels.size(), l.order.size() > 0},
                              [&] { return make_smoother(l.crs, smoother_options(l.crs, 0, {}, options, static_cast<int>(level)), 0); });
        l.writes_zeros                    = writes_zeros(l.smoother.get());
      }
    given        = from.back().matrix;
    finest_order = order_of_finest();
    find_null_spaces(finest, coarsest);
    device::release_scratch();
  }

  template <typename Number>
  void StoredOperations<Number>::update_values(const MultigridHierarchy &hierarchy)
  {
    if (hierarchy.levels.size() != levels.size() || hierarchy.matrix.n_rows != (adaptive ? rows : 0))
      throw InvalidInput("multigrid: new values are given for " + std::to_string(hierarchy.levels.size()) + " levels and " +
                         std::to_string(hierarchy.finest_matrix().n_rows) + " unknowns\n  expected: " + std::to_string(levels.size()) +
                         " levels and " + std::to_string(rows) + " unknowns");
    if (adaptive)
      matrix->update_values(rounded_to<Number>(hierarchy.matrix.values));
    for (std::size_t l = 0; l < levels.size(); ++l)
      on_level({levels[l].n, l + 1 < levels.size(), levels[l].order.size() > 0 || !levels[l].old_row.empty()},
               [&] { update_level(hierarchy.levels[l], levels[l], static_cast<int>(l)); });
    find_null_spaces(hierarchy.finest_matrix(), hierarchy.levels.front().matrix);
  }

  template <typename Number>
  void StoredOperations<Number>::set_up_level(const MultigridHierarchy &hierarchy,
                                              std::vector<LevelOrder>  &orders,
                                              int                       level,
                                              const MultigridOptions   &options)
  {
    const MultigridLevel &from  = hierarchy.levels[level];
    LevelOrder           &order = orders[level];
    Level                &l     = levels[level];
    l.n                         = from.matrix.n_rows;
    l.n_columns                 = from.matrix.n_columns;
    l.n_entries                 = from.matrix.n_entries();
    l.text                      = order.text;
    l.old_row                   = std::move(order.old_row);
    l.order                     = std::move(order.on_device);
    l.communication             = for_number<Number>(from.communication);
    l.has_ghosts                = l.communication != nullptr && l.communication->has_ghosts();
    // all ranks have one of their own then, so that they give it up at the same time
    if (l.has_ghosts && l.communication->max(host_order(l).empty() ? 0. : 1.) > 0.)
      l.communication = l.communication->reordered(host_order(l));
    l.x = algebra->vector(l.n_columns);
    l.b = algebra->vector(l.n);
    l.r = algebra->vector(l.n_columns);
    if (adaptive)
      set_up_copy_lists(hierarchy, from, l);
    if (level > 0)
      {
        set_up_interface(from, l);
        if (l.has_ghosts && !options.wait_for_ghosts)
          l.loose = l.communication->loose();
      }
    on_level({l.n, level + 1 < static_cast<int>(levels.size()), l.order.size() > 0 || !l.old_row.empty()}, [&] {
      if (on_device)
        set_up_on_device(hierarchy, order, level, options);
      else
        set_up_on_host(hierarchy, order, level, options);
    });
    l.writes_zeros = writes_zeros(l.smoother.get());
  }

  template <typename Number>
  void StoredOperations<Number>::set_up_on_host(const MultigridHierarchy &hierarchy, LevelOrder &order, int level, const MultigridOptions &options)
  {
    const MultigridLevel &from = hierarchy.levels[level];
    Level                &l    = levels[level];
    CrsMatrix<double>     A    = permute(from.matrix, l.old_row, l.old_row, options.n_threads);
    if (level == 0)
      {
        l.A = algebra->matrix(rounded_to<Number>(std::move(A)));
        return;
      }
    // the transfers beside the smoother: either takes long, and much of it is done by one thread
    const auto            when      = options.n_threads == 1 ? std::launch::deferred : std::launch::async;
    auto                  transfers = std::async(when, [&] {
      const std::vector<int> &coarse_order = levels[level - 1].old_row;
      CrsMatrix<double>       P            = permute(from.prolongation, l.old_row, coarse_order, options.n_threads);
      CrsMatrix<double>       R =
        from.restriction.n_columns == 0 ? transpose(P, options.n_threads) : permute(from.restriction, coarse_order, l.old_row, options.n_threads);
      return std::pair(rounded_to<Number>(std::move(P)), rounded_to<Number>(std::move(R)));
    });
    const SmootherOptions smoother  = smoother_options(from.matrix, from.dim, order.block_offsets, options, level);
    CrsMatrix<Number>     rounded   = rounded_to<Number>(std::move(A));
    l.smoother                      = make_smoother(rounded, smoother, options.backend, from.dim);
    if (!order.moved_offsets.empty())
      l.smoother = in_moving_blocks(std::move(l.smoother), rounded, order, smoother, options.backend, from.dim);
    l.A         = algebra->matrix(std::move(rounded));
    auto [P, R] = transfers.get();
    l.P         = algebra->matrix(std::move(P));
    l.R         = algebra->matrix(std::move(R));
  }

  template <typename Number>
  void StoredOperations<Number>::set_up_on_device(const MultigridHierarchy &hierarchy, LevelOrder &order, int level, const MultigridOptions &options)
  {
    const MultigridLevel &from    = hierarchy.levels[level];
    Level                &l       = levels[level];
    const auto            checked = [&](device::DeviceCrs<Number> A) {
      if (A.n_rows < 0)
        {
          hierarchy.validate(); // says what it is
          throw InvalidInput("multigrid hierarchy, level " + std::to_string(level) +
                             ": an entry of the matrix, the prolongation or the restriction is stored twice, out of range, or no finite number, or a "
                                        "diagonal entry vanishes when it is rounded");
        }
      return A;
    };
    take_matrix(l, checked(device::permuted<Number>(from.matrix, l.order, l.order, true)), level > 0 && options.sixteen_bits);
    if (level == 0)
      return;
    const device::Array<int>       &coarse_order = levels[level - 1].order;
    const device::DeviceCrs<Number> P            = checked(device::permuted<Number>(from.prolongation, l.order, coarse_order, false));
    l.P                                          = make_matrix(P);
    l.R                                          = make_matrix(from.restriction.n_columns == 0 ? device::transposed(P)
                                                      : checked(device::permuted<Number>(from.restriction, coarse_order, l.order, false)));
    const SmootherOptions smoother               = smoother_options(l.crs, from.dim, order.block_offsets, options, level);
    l.smoother                                   = make_smoother(l.crs, smoother, from.dim);
    if (!order.moved_offsets.empty())
      l.smoother = in_moving_blocks(std::move(l.smoother), l.crs, order, smoother, options.backend, from.dim);
  }

  template <typename Number>
  template <typename Crs>
  std::unique_ptr<Relaxation<Number>> StoredOperations<Number>::in_moving_blocks(
    std::unique_ptr<Relaxation<Number>> smoother, const Crs &A, LevelOrder &order, SmootherOptions options, Backend backend, int dim) const
  {
    typename MovingBlocks<Number>::Other other;
    options.block_async.block_offsets = std::move(order.moved_offsets);
    if constexpr (std::is_same_v<Crs, device::DeviceCrs<Number>>)
      {
        using Indices    = device::Array<int>;
        const auto data  = [](const std::shared_ptr<Indices> &indices) { return std::shared_ptr<int[]>(indices, indices->data()); };
        const auto rows  = std::make_shared<Indices>(std::move(order.moved_on_device));
        other.relaxation = make_smoother(device::permuted<Number>(A, *rows, *rows), options, dim);
        other.rows       = data(rows);
        other.entries    = [A, rows, data] { return data(std::make_shared<Indices>(device::permuted_entries(A, *rows))); };
        other.n_entries  = static_cast<std::size_t>(A.n_entries);
      }
    else
      {
        const auto rows  = std::make_shared<std::vector<int>>(std::move(order.moved_rows));
        other.relaxation = make_smoother(permute(A, *rows, *rows), options, backend, dim);
        other.rows       = algebra->indices(*rows);
        other.n_entries  = A.values.size();
        other.entries    = [entries = permuted_entries(A, *rows, *rows), this] { return algebra->indices(entries); };
      }
    return std::make_unique<MovingBlocks<Number>>(std::move(smoother), std::move(other), *algebra);
  }

  template <typename Number>
  void StoredOperations<Number>::take_matrix(Level &l, device::DeviceCrs<Number> A, bool in_sixteen_bits)
  {
    if constexpr (std::is_same_v<Number, float>)
      {
        if (in_sixteen_bits)
          device::round_to_bfloat16(A);
      }
    else if (in_sixteen_bits)
      throw InvalidInput("multigrid: sixteen_bits is true for a multigrid in double precision\n  expected: false, or single precision");
    l.crs = std::move(A);
    l.A   = make_matrix(l.crs);
  }

  template <typename Number>
  std::shared_ptr<int[]> StoredOperations<Number>::order_of_finest() const
  {
    const Level &l = levels.back();
    return on_device ? std::shared_ptr<int[]>(std::shared_ptr<int[]>(), l.order.data()) : algebra->indices(l.old_row);
  }

  template <typename Number>
  const std::vector<int> &StoredOperations<Number>::host_order(Level &l) const
  {
    if (l.old_row.empty() && l.order.size() > 0)
      {
        l.old_row.resize(l.order.size());
        device::copy_to_host(l.old_row.data(), l.order.data(), l.old_row.size() * sizeof(int));
      }
    return l.old_row;
  }

  template <typename Number>
  void StoredOperations<Number>::set_up_copy_lists(const MultigridHierarchy &hierarchy, const MultigridLevel &from, Level &l) const
  {
    const std::vector<int> &old_row = host_order(l);
    std::vector<int>        new_row(l.n_columns);
    std::iota(new_row.begin(), new_row.end(), 0);
    for (std::size_t i = 0; i < old_row.size(); ++i)
      new_row[old_row[i]] = static_cast<int>(i);
    const auto list = [&](const auto &counts) {
      std::vector<int> global_rows, level_rows;
      for (std::size_t i = 0; i < from.global_rows.size(); ++i)
        if (counts(from.global_rows[i], from.level_rows[i]))
          {
            global_rows.push_back(from.global_rows[i]);
            level_rows.push_back(new_row[from.level_rows[i]]);
          }
      return CopyList{static_cast<int>(global_rows.size()), algebra->indices(global_rows), algebra->indices(level_rows)};
    };
    l.down = list([&](int /*global*/, int level) { return level < l.n; });
    l.up   = list([&](int global, int /*level*/) { return global < hierarchy.matrix.n_rows; });
  }

  template <typename Number>
  void StoredOperations<Number>::set_up_interface(const MultigridLevel &from, Level &l) const
  {
    if (from.interface.n_rows == 0)
      return;
    const std::vector<int> &old_row = host_order(l);
    CrsMatrix<double>       E       = permute(from.interface, old_row, old_row);
    l.E_transpose =
      algebra->matrix(rounded_to<Number>(from.interface_transpose.n_rows == 0 ? transpose(E) : permute(from.interface_transpose, old_row, old_row)));
    l.E = algebra->matrix(rounded_to<Number>(std::move(E)));
  }

  template <typename Number>
  void StoredOperations<Number>::update_level(const MultigridLevel &from, Level &l, int level)
  {
    if (from.matrix.n_rows != l.n || from.matrix.n_columns != l.n_columns || from.matrix.n_entries() != l.n_entries)
      throw InvalidInput(new_values_of(level) + ": a matrix of " + std::to_string(from.matrix.n_rows) + " rows and " +
                         std::to_string(from.matrix.n_entries()) + " entries\n  expected: the pattern it had, of " + std::to_string(l.n) +
                         " rows and " + std::to_string(l.n_entries) + " entries");
    if (on_device)
      {
        if (from.matrix.values.size() != static_cast<std::size_t>(l.n_entries))
          refuse_number_of_values(from.matrix.values.size(), l.n_entries, level);
        if (l.entries_on_device.size() == 0)
          l.entries_on_device = device::permuted_entries(from.matrix, l.order, l.order);
        device::permuted_values(l.crs.arrays->values.data(), from.matrix.values, l.entries_on_device);
        update_smoother(l.crs, l, level, l.crs.arrays->values.data());
      }
    else
      {
        if (l.entries.empty())
          l.entries = permuted_entries(from.matrix, l.old_row, l.old_row);
        const std::vector<Number> &values = in_order(from.matrix.values, l.entries, level);
        l.A->update_values(values);
        update_smoother(from.matrix, l, level, values.data());
      }
    if (l.E == nullptr)
      return;
    if (l.E_entries.empty())
      {
        const std::vector<int> &old_row = host_order(l);
        l.E_entries                     = permuted_entries(from.interface, old_row, old_row);
        if (from.interface_transpose.n_rows > 0)
          l.E_transpose_entries = permuted_entries(from.interface_transpose, old_row, old_row);
        else
          {
            CrsMatrix<double> E = permute(from.interface, old_row, old_row);
            E.values.assign(l.E_entries.begin(), l.E_entries.end());
            E = transpose(E);
            l.E_transpose_entries.assign(E.values.begin(), E.values.end());
          }
      }
    l.E->update_values(in_order(from.interface.values, l.E_entries, level));
    const CrsMatrix<double> &transposed = from.interface_transpose.n_rows == 0 ? from.interface : from.interface_transpose;
    l.E_transpose->update_values(in_order(transposed.values, l.E_transpose_entries, level));
  }

  template <typename Number>
  const std::vector<Number> &StoredOperations<Number>::in_order(const std::vector<double> &values, const std::vector<int> &entries, int level)
  {
    if (values.size() != entries.size())
      refuse_number_of_values(values.size(), entries.size(), level);
    new_values.resize(values.size());
    for (std::size_t p = 0; p < values.size(); ++p)
      new_values[p] = static_cast<Number>(values[entries[p]]);
    return new_values;
  }

  template <typename Number>
  template <typename Crs>
  void StoredOperations<Number>::update_smoother(const Crs &A, Level &l, int level, const Number *values)
  {
    if (l.smoother == nullptr)
      return;
    if (l.largest_omega > 0.)
      if (const double omega = omega_for(A, level); omega != l.omega)
        {
          l.smoother->set_omega(omega);
          l.omega = omega;
        }
    l.smoother->update_values(values);
  }

  template <typename Number>
  template <typename Crs>
  SmootherOptions
  StoredOperations<Number>::smoother_options(const Crs &A, int dim, const std::vector<int> &block_offsets, const MultigridOptions &options, int level)
  {
    Level          &l                = levels[level];
    SmootherOptions result           = options.smoother;
    result.block_async.block_offsets = block_offsets;
    if (result.block_async.n_threads == 0)
      result.block_async.n_threads = options.n_threads;
    const Method &method = find_method(result.method);
    if (method.has_interval && result.chebyshev.lambda_max == 0. && communication(level).is_distributed())
      result.chebyshev.lambda_max = communication(level).max(estimate(A, 40));
    if (result.omega == 0. && is_damped(result.method))
      {
        const int    n_blocks = method.has_blocks ? result.block_async.blocks(A.n_rows).n_blocks() : 1;
        const double at_once  = share_at_once(result.block_async, options.backend, n_blocks, A.n_rows);
        l.largest_omega       = moves ? omega_of_moving_blocks : default_omega(result.method, dim, at_once);
        result.omega = l.omega = omega_for(A, level);
      }
    return result;
  }

  template <typename Number>
  template <typename Crs>
  double StoredOperations<Number>::omega_for(const Crs &A, int level) const
  {
    double lambda_max = communication(level).max(gershgorin_bound(A)); // a look that most matrices pass
    if (lambda_max > 2.001)
      lambda_max = communication(level).max(estimate(A, 15));
    else
      lambda_max = 2.;
    return levels[level].largest_omega * std::min(1., 2. / lambda_max);
  }

  template <typename Number>
  void StoredOperations<Number>::find_null_spaces(const CrsMatrix<double> &finest_matrix, const CrsMatrix<double> &coarsest_matrix)
  {
    const Communication<Number>             &whole  = communication(n_levels());
    const std::optional<std::vector<double>> finest = constants_in_null_space(finest_matrix, whole),
                                             coarse = constants_in_null_space(coarsest_matrix, communication(0));
    coarse_null_space = global_null_space = NullSpace<Number>();
    if (!finest || !coarse)
      return;
    const std::vector<int> &finest_old_row = host_order(levels.back());
    const auto              make           = [&](const std::vector<double> &vector, const Communication<Number> &communication) {
      NullSpace<Number> result;
      result.n      = static_cast<int>(vector.size());
      result.vector = algebra->vector(rounded_to<Number>(vector));
      double sum    = 0.;
      for (const double v : vector)
        sum += v;
      result.norm_squared = communication.sum(sum);
      return result;
    };
    coarse_null_space = make(*coarse, communication(0));
    if (adaptive || finest_old_row.empty())
      global_null_space = make(*finest, whole);
    else
      {
        std::vector<double> reordered(finest->size());
        for (std::size_t i = 0; i < reordered.size(); ++i)
          reordered[i] = (*finest)[finest_old_row[i]];
        global_null_space = make(reordered, whole);
      }
  }

  bool is_set_up_on_device(const MultigridOptions &options)
  {
    return options.backend == Backend::cuda && is_made_on_device(options.smoother);
  }

  template <typename Number>
  std::unique_ptr<MultigridOperations<Number>> make_stored_operations(const MultigridHierarchy &hierarchy, const MultigridOptions &options)
  {
    MultigridOptions         suited = options;
    const CrsMatrix<double> &A      = hierarchy.finest_matrix();
    if (options.smoother.any_block_size && options.backend == Backend::cuda && A.n_entries() <= most_entries_of_large_blocks * A.n_rows)
      suited.smoother.block_async.block_size = rows_of_large_blocks;
    return std::make_unique<StoredOperations<Number>>(hierarchy, suited);
  }

  bool is_aggregated_on_device(const MultigridOptions &options)
  {
    const BlockShape shape = options.smoother.block_shape;
    return is_set_up_on_device(options) &&
           (!find_method(options.smoother.method).has_blocks || shape == BlockShape::tiles || shape == BlockShape::contiguous);
  }

  template <typename Number>
  std::unique_ptr<MultigridOperations<Number>> make_aggregation_operations(const CrsMatrix<double>  &A,
                                                                           const AggregationOptions &aggregation,
                                                                           const MultigridOptions   &options,
                                                                           CrsMatrix<double>        &coarsest)
  {
    check_device_memory(static_cast<std::size_t>(bytes_of_aggregation(A)), A.n_rows);
    check_near_null_space(A.n_rows, aggregation.block_unknowns, aggregation.near_null_space);
    if (A.n_columns != A.n_rows)
      check_for_aggregation(A); // says what it is
    device::DeviceCrs<double> on_device = device::permuted<double>(A, {}, {}, true);
    if (on_device.n_rows < 0)
      {
        check_for_aggregation(A);
        throw InvalidInput("aggregation: an entry of the matrix is stored twice, out of range, or no finite number");
      }
    const std::vector<device::AggregationLevel> levels = device::aggregation_levels(std::move(on_device), aggregation);
    coarsest                                           = device::to_host(levels.front().matrix);
    if (!aggregation.is_scalar()) // of others the coarse solver takes constants out
      hold_free_motions(coarsest, device::to_host(levels.front().near_null), levels.size() > 1);
    return std::make_unique<StoredOperations<Number>>(levels, A, coarsest, options);
  }

#define INSTANTIATE(Number)                                                                                         \
  template std::unique_ptr<MultigridOperations<Number>> make_stored_operations(const MultigridHierarchy &hierarchy, \
                                                                               const MultigridOptions   &options);    \
  template std::unique_ptr<MultigridOperations<Number>> make_aggregation_operations(                                \
    const CrsMatrix<double> &A, const AggregationOptions &aggregation, const MultigridOptions &options, CrsMatrix<double> &coarsest);
  LEOPARD_FOR_EACH_NUMBER(INSTANTIATE)
#undef INSTANTIATE
} // namespace leopard
