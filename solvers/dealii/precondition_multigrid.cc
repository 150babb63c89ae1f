// SPDX-License-Identifier: Apache-2.0
#include "precondition_multigrid.h"

#include "../device/device.h"
#include "../device/device_array.h"

#include <algorithm>

namespace leopard
{
  namespace
  {
    void copy_entries(double *to, const std::vector<int> &to_indices, const double *from, const std::vector<int> &from_indices)
    {
      const std::size_t n = std::max(to_indices.size(), from_indices.size());
      for (std::size_t i = 0; i < n; ++i)
        to[to_indices.empty() ? i : to_indices[i]] = from[from_indices.empty() ? i : from_indices[i]];
    }
  } // namespace

  struct PreconditionMultigrid::Data
  {
    Data(Multigrid<double> multigrid_, std::vector<int> position_, std::vector<int> isolated_, std::vector<double> inverse_diagonal_)
      : multigrid(std::move(multigrid_))
      , position(std::move(position_))
      , isolated(std::move(isolated_))
      , inverse_diagonal(std::move(inverse_diagonal_))
      , on_device(multigrid.memory_space() == MemorySpace::device)
    {
      if (on_device)
        {
          device_position = device::Array<int>(position);
          device_isolated = device::Array<int>(isolated);
          device_inverse_diagonal.reinit(isolated.size());
          device_inverse_diagonal.copy_from_host(inverse_diagonal.data());
          device_values.reinit(isolated.size());
        }
      if (!is_direct())
        {
          if (on_device)
            {
              device_x.reinit(multigrid.n_columns());
              device_b.reinit(multigrid.n_rows());
            }
          else
            {
              host_x.resize(multigrid.n_columns());
              host_b.resize(multigrid.n_rows());
            }
        }
    }

    /** Whether the user's arrays can be handed over as they are. */
    bool is_direct() const { return position.empty() && multigrid.n_columns() == multigrid.n_rows(); }

    void gather(double *to, const double *from) const
    {
      if (on_device)
        device::copy_entries(to, nullptr, from, device_position.data(), multigrid.n_rows(), false);
      else if (position.empty())
        std::copy_n(from, multigrid.n_rows(), to);
      else
        copy_entries(to, {}, from, position);
    }

    void scatter(double *to, const double *from) const
    {
      if (on_device)
        device::copy_entries(to, device_position.data(), from, nullptr, multigrid.n_rows(), false);
      else if (position.empty())
        std::copy_n(from, multigrid.n_rows(), to);
      else
        copy_entries(to, position, from, {});
    }

    void solve_isolated(double *x, const double *b)
    {
      const int n = static_cast<int>(isolated.size());
      if (n == 0)
        return;
      if (on_device)
        {
          device::copy_entries(device_values.data(), nullptr, b, device_isolated.data(), n, false);
          device_values.scale(device_inverse_diagonal);
          device::copy_entries(x, device_isolated.data(), device_values.data(), nullptr, n, false);
        }
      else
        for (int i = 0; i < n; ++i)
          x[isolated[i]] = inverse_diagonal[i] * b[isolated[i]];
    }

    Multigrid<double>   multigrid;
    std::vector<int>    position; ///< of the multigrid's own unknowns among the user's; empty: the same
    std::vector<int>    isolated; ///< positions of those that are solved with the diagonal
    std::vector<double> inverse_diagonal;
    const bool          on_device;

    std::vector<double>  host_x, host_b; ///< x with ghosts
    DeviceVector<double> device_x, device_b, device_inverse_diagonal, device_values;
    device::Array<int>   device_position, device_isolated;
  };

  namespace
  {
    std::vector<int> positions(const std::vector<int> &rows, const Field &field)
    {
      std::vector<int> result;
      result.reserve(rows.size());
      for (const int row : rows)
        result.push_back(field.n_components * row + field.component);
      return result;
    }

    std::vector<int> positions(int n, const Field &field)
    {
      std::vector<int> result;
      if (field.n_components > 1)
        for (int i = 0; i < n; ++i)
          result.push_back(field.n_components * i + field.component);
      return result;
    }

    std::vector<double> inverses(const std::vector<int> &rows, const std::vector<double> &diagonal)
    {
      std::vector<double> result;
      for (const int row : rows)
        result.push_back(1. / diagonal[row]);
      return result;
    }
  } // namespace

  PreconditionMultigrid::PreconditionMultigrid(const MultigridHierarchy             &hierarchy,
                                               const MultigridOptions               &options,
                                               std::unique_ptr<CoarseSolver<double>> coarse,
                                               const Field                          &field)
    : data(std::make_unique<Data>(Multigrid<double>(hierarchy, options, std::move(coarse)),
                                  positions(hierarchy.finest_matrix().n_rows, field),
                                  std::vector<int>(),
                                  std::vector<double>()))
  {
  }

  PreconditionMultigrid::PreconditionMultigrid(const FoundStencil                   &found,
                                               const std::vector<double>            &diagonal,
                                               int                                   n_levels,
                                               const MultigridOptions               &options,
                                               std::unique_ptr<CoarseSolver<double>> coarse,
                                               const Field                          &field)
    : data(std::make_unique<Data>(Multigrid<double>(found.stencil, n_levels, options, std::move(coarse)),
                                  positions(found.rows, field),
                                  positions(found.isolated_rows, field),
                                  inverses(found.isolated_rows, diagonal)))
  {
  }

  PreconditionMultigrid::~PreconditionMultigrid()                                 = default;
  PreconditionMultigrid::PreconditionMultigrid(PreconditionMultigrid &&) noexcept = default;

  MemorySpace PreconditionMultigrid::memory_space() const
  {
    return data->multigrid.memory_space();
  }

  Multigrid<double> &PreconditionMultigrid::multigrid() const
  {
    return data->multigrid;
  }

  void PreconditionMultigrid::apply(double *x, const double *b, bool read_x, const std::function<void(double *, const double *)> &method) const
  {
    if (data->is_direct())
      method(x, b);
    else
      {
        double *own_x = data->on_device ? data->device_x.data() : data->host_x.data(),
               *own_b = data->on_device ? data->device_b.data() : data->host_b.data();
        data->gather(own_b, b);
        if (read_x)
          data->gather(own_x, x);
        method(own_x, own_b);
        data->scatter(x, own_x);
      }
    data->solve_isolated(x, b);
  }

  void PreconditionMultigrid::vmult(HostVector &dst, const HostVector &src) const
  {
    apply(dst.begin(), src.begin(), false, [this](double *x, const double *b) { data->multigrid.vmult(x, b); });
  }

  void PreconditionMultigrid::vmult(DeviceVector<double> &dst, const DeviceVector<double> &src) const
  {
    apply(dst.data(), src.data(), false, [this](double *x, const double *b) { data->multigrid.vmult(x, b); });
  }

  SolveResult PreconditionMultigrid::solve(double *x, const double *b, const StoppingCriteria &criteria)
  {
    SolveResult result;
    apply(x, b, true, [&](double *own_x, const double *own_b) { result = data->multigrid.solve(own_x, own_b, criteria); });
    return result;
  }
} // namespace leopard
