// SPDX-License-Identifier: Apache-2.0
#include "precondition_multigrid.h"

#include "../base/errors.h"
#include "../device/device.h"
#include "../device/device_array.h"
#include "../distributed/stencil/multigrid_on_slabs.h"
#include "../refinement/mixed_multigrid.h"
#include "../refinement/over_ranks.h"
#include "thread_limit.h"

#include <algorithm>

namespace leopard
{
  namespace
  {
    template <typename Number>
    void copy_entries(Number *to, const std::vector<int> &to_indices, const Number *from, const std::vector<int> &from_indices)
    {
      const std::size_t n = std::max(to_indices.size(), from_indices.size());
      for (std::size_t i = 0; i < n; ++i)
        to[to_indices.empty() ? i : to_indices[i]] = from[from_indices.empty() ? i : from_indices[i]];
    }

    /** A coarse solver in double for cycles in single precision, whose matrices have been multiplied with a weight. */
    class CoarseInDouble : public CoarseSolver<float>
    {
    public:
      /** @param n, n_columns unknowns of the coarsest level, without ghosts and with them. */
      CoarseInDouble(std::unique_ptr<CoarseSolver<double>> inner_, int n, int n_columns, double weight_, const MultigridOptions &options)
        : inner(std::move(inner_))
        , weight(weight_)
        , right_hand_sides(make_mixed_vectors<float>(n, 1., options.backend, options.n_threads))
        , solutions(make_mixed_vectors<float>(n_columns, 1., options.backend, options.n_threads))
      {
        if (solutions->memory_space() == MemorySpace::device)
          {
            device_x.reinit(n_columns);
            device_b.reinit(n);
          }
        else
          {
            host_x.resize(n_columns);
            host_b.resize(n);
          }
      }

      std::string name() const override { return inner->name() + " in double precision"; }
      bool        is_fixed_linear_map() const override { return inner->is_fixed_linear_map(); }
      bool        is_queued() const override { return inner->is_queued(); }
      double      copy_seconds() const override { return inner->copy_seconds(); }

      void solve(float *x, const float *b) override
      {
        const bool on_device = solutions->memory_space() == MemorySpace::device;
        double    *own_x = on_device ? device_x.data() : host_x.data(), *own_b = on_device ? device_b.data() : host_b.data();
        right_hand_sides->set(own_b, b, 1.);
        inner->solve(own_x, own_b);
        solutions->only_round(x, own_x, 1. / weight);
      }

      void update(const CrsMatrix<double> &A, bool singular) override
      {
        CrsMatrix<double> own = A;
        for (double &value : own.values)
          value /= weight;
        inner->update(own, singular);
      }

    private:
      const std::unique_ptr<CoarseSolver<double>> inner;
      const double                                weight;
      const std::unique_ptr<MixedVectors<float>>  right_hand_sides, solutions; ///< the latter with ghosts
      std::vector<double>                         host_x, host_b;
      DeviceVector<double>                        device_x, device_b;
    };

    std::unique_ptr<CoarseSolver<float>>
    in_single(std::unique_ptr<CoarseSolver<double>> coarse, int n, int n_columns, double weight, const MultigridOptions &options)
    {
      if (coarse == nullptr)
        return nullptr;
      return std::make_unique<CoarseInDouble>(std::move(coarse), n, n_columns, weight, options);
    }

    DistributedStencilOptions within_thread_limit(DistributedStencilOptions options)
    {
      options.multigrid = leopard::within_thread_limit(options.multigrid);
      return options;
    }

    /** The number of unknowns on the coarsest level. */
    int n_coarsest(const Stencil<double> &finest, int n_levels, const MultigridOptions &options)
    {
      return stencil_levels(finest, n_levels == 0 ? default_n_levels(finest, options.backend) : n_levels).front().stencil.n_rows();
    }
  } // namespace

  /** Either of the two multigrids. What is of the user's vectors is in double. */
  struct PreconditionMultigrid::Data
  {
    Data(Multigrid<double> multigrid, std::vector<int> position_, std::vector<int> isolated_, const std::vector<double> &isolated_diagonal)
      : in_double(std::make_shared<Multigrid<double>>(std::move(multigrid)))
      , position(std::move(position_))
      , isolated(std::move(isolated_))
    {
      allocate();
      set_isolated_diagonal(isolated_diagonal);
    }

    Data(MultigridOnSlabs slabs_, std::vector<int> isolated_, const std::vector<double> &isolated_diagonal)
      : in_double(slabs_.multigrid, &slabs_.multigrid->multigrid())
      , slabs(std::move(slabs_))
      , isolated(std::move(isolated_))
    {
      allocate();
      set_isolated_diagonal(isolated_diagonal);
    }

    /** @param weight_ that of the multigrid's matrices. @param ranks_ null: one. */
    Data(Multigrid<float>                multigrid,
         double                          weight_,
         std::vector<int>                position_,
         std::vector<int>                isolated_,
         const std::vector<double>      &isolated_diagonal,
         const MultigridOptions         &options,
         std::shared_ptr<const RankSums> ranks_)
      : in_single(std::make_shared<Multigrid<float>>(std::move(multigrid)))
      , ranks(ranks_ != nullptr ? std::move(ranks_) : std::make_shared<const RankSums>())
      , weight(weight_)
      , position(std::move(position_))
      , isolated(std::move(isolated_))
      , vectors(over_ranks<float>(make_mixed_vectors<float>(in_single->n_rows(), weight_, options.backend, options.n_threads), ranks))
      , low_x(make_mixed_vectors<float>(in_single->n_columns(), 1., options.backend, options.n_threads)->vector())
      , low_b(vectors->vector())
    {
      allocate();
      set_isolated_diagonal(isolated_diagonal);
    }

    /** f(the multigrid). */
    template <typename Function>
    auto of_multigrid(const Function &f) const
    {
      return in_double != nullptr ? f(*in_double) : f(*in_single);
    }

    int n_rows() const
    {
      return of_multigrid([](const auto &m) { return m.n_rows(); });
    }
    int n_columns() const
    {
      return of_multigrid([](const auto &m) { return m.n_columns(); });
    }
    bool on_device() const
    {
      return of_multigrid([](const auto &m) { return m.memory_space(); }) == MemorySpace::device;
    }

    void allocate()
    {
      if (on_device())
        {
          device_position = device::Array<int>(position);
          device_isolated = device::Array<int>(isolated);
          inverses.allocate_on_device(isolated.size());
          if (in_single != nullptr)
            low_inverses.allocate_on_device(isolated.size());
        }
      if (!is_direct())
        {
          if (on_device())
            {
              device_x.reinit(n_columns());
              device_b.reinit(n_rows());
            }
          else
            {
              host_x.resize(n_columns());
              host_b.resize(n_rows());
            }
        }
    }

    void set_isolated_diagonal(const std::vector<double> &diagonal)
    {
      inverses.set(diagonal, 1.);
      if (in_single != nullptr)
        low_inverses.set(diagonal, weight);
    }

    /** Whether the user's arrays can be handed over as they are. */
    bool is_direct() const { return !on_slabs() && position.empty() && n_columns() == n_rows(); }
    bool on_slabs() const { return slabs.rows != nullptr; }

    /** Whether the unknowns are all entries of the user's vectors, and not one field of several. */
    bool is_of_all() const
    {
      const std::size_t n         = position.size() + isolated.size();
      const auto        is_within = [n](int i) { return static_cast<std::size_t>(i) < n; };
      return position.empty() ||
             (std::all_of(position.begin(), position.end(), is_within) && std::all_of(isolated.begin(), isolated.end(), is_within));
    }

    template <typename Number>
    void gather(Number *to, const Number *from) const
    {
      if (on_device())
        device::copy_entries<Number>(to, nullptr, from, device_position.data(), n_rows(), false);
      else if (position.empty())
        std::copy_n(from, n_rows(), to);
      else
        copy_entries(to, {}, from, position);
    }

    template <typename Number>
    void scatter(Number *to, const Number *from) const
    {
      if (on_device())
        device::copy_entries<Number>(to, device_position.data(), from, nullptr, n_rows(), false);
      else if (position.empty())
        std::copy_n(from, n_rows(), to);
      else
        copy_entries(to, position, from, {});
    }

    /** 1 / (weight a_ii) of what is isolated. */
    template <typename Number>
    struct Inverses
    {
      std::vector<Number>  values;
      DeviceVector<Number> on_device, workspace;

      void allocate_on_device(std::size_t n)
      {
        on_device.reinit(n);
        workspace.reinit(n);
      }

      void set(const std::vector<double> &diagonal, double weight)
      {
        values.resize(diagonal.size());
        for (std::size_t i = 0; i < diagonal.size(); ++i)
          values[i] = static_cast<Number>(1. / diagonal[i] / weight);
        if (on_device.size() > 0)
          on_device.copy_from_host(values.data());
      }
    };

    /** x_i = b_i / a_ii there. */
    template <typename Number>
    void solve_isolated(Number *x, const Number *b, Inverses<Number> &of) const
    {
      const int n = static_cast<int>(isolated.size());
      if (n == 0)
        return;
      if (on_device())
        {
          device::copy_entries<Number>(of.workspace.data(), nullptr, b, device_isolated.data(), n, false);
          of.workspace.scale(of.on_device);
          device::copy_entries<Number>(x, device_isolated.data(), of.workspace.data(), nullptr, n, false);
        }
      else
        for (int i = 0; i < n; ++i)
          x[isolated[i]] = of.values[i] * b[isolated[i]];
    }

    /** f(c, r) in the multigrid's order, in single precision. */
    template <typename Function>
    void in_order(float *c, const float *r, bool read_c, const Function &f)
    {
      if (is_direct())
        return f(c, r);
      gather(low_b.get(), r);
      if (read_c)
        gather(low_x.get(), static_cast<const float *>(c));
      f(low_x.get(), low_b.get());
      scatter(c, static_cast<const float *>(low_x.get()));
      solve_isolated(c, r, low_inverses);
    }

    std::shared_ptr<Multigrid<double>>    in_double;
    const MultigridOnSlabs                slabs; ///< whose multigrid in_double is; or empty
    std::shared_ptr<Multigrid<float>>     in_single;
    const std::shared_ptr<const RankSums> ranks;       ///< of in_single
    const double                          weight = 1.; ///< of in_single's matrices
    std::vector<int>                      position;    ///< of the multigrid's own unknowns among the user's; empty: the same
    std::vector<int>                      isolated;    ///< positions of those that are solved with the diagonal
    Inverses<double>                      inverses;
    Inverses<float>                       low_inverses; ///< of in_single's matrices

    std::vector<double>  host_x, host_b; ///< x with ghosts
    DeviceVector<double> device_x, device_b;
    device::Array<int>   device_position, device_isolated;

    const std::unique_ptr<MixedVectors<float>> vectors;      ///< of in_single's unknowns
    const std::shared_ptr<float[]>             low_x, low_b; ///< x with ghosts
  };

  /** Cycles on all of the user's entries in single precision. */
  class PreconditionMultigrid::InnerCycles : public InnerSolver<float>
  {
  public:
    explicit InnerCycles(Data &data_)
      : data(data_)
      , inner(make_inner_solver(data_.in_single, data_.ranks))
    {
    }

    std::string name() const override { return inner->name(); }
    int         n_rows() const override { return data.n_rows() + static_cast<int>(data.isolated.size()); }
    MemorySpace memory_space() const override { return inner->memory_space(); }
    bool        bears_momentum() const override { return inner->bears_momentum(); }

    float *own_correction() override { return data.is_direct() ? inner->own_correction() : nullptr; }
    float *own_residual() override { return data.is_direct() ? inner->own_residual() : nullptr; }

    const int *own_order() const override { return data.is_direct() ? inner->own_order() : nullptr; }

    int solve(float *c, const float *r, int n) override
    {
      data.in_order(c, r, false, [&](float *own_c, const float *own_r) { inner->solve(own_c, own_r, n); });
      return n;
    }

    void go_on(float *c, const float *r, int n) override
    {
      data.in_order(c, r, true, [&](float *own_c, const float *own_r) { inner->go_on(own_c, own_r, n); });
    }

    double relative_residual(float *c, const float *r) override
    {
      double result = 0.; // what is isolated has none
      data.in_order(c, r, true, [&](float *own_c, const float *own_r) { result = inner->relative_residual(own_c, own_r); });
      return result;
    }

  private:
    Data                                     &data;
    const std::unique_ptr<InnerSolver<float>> inner;
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
  } // namespace

  PreconditionMultigrid::PreconditionMultigrid(const MultigridHierarchy             &hierarchy,
                                               const MultigridOptions               &given,
                                               std::unique_ptr<CoarseSolver<double>> coarse,
                                               const Field                          &field,
                                               Arithmetic                            arithmetic)
  {
    const MultigridOptions options  = within_thread_limit(given);
    std::vector<int>       position = positions(hierarchy.finest_matrix().n_rows, field);
    if (arithmetic == Arithmetic::double_precision)
      {
        data = std::make_unique<Data>(
          Multigrid<double>(hierarchy, options, std::move(coarse)), std::move(position), std::vector<int>(), std::vector<double>());
        return;
      }
    const double weight     = weight_for(hierarchy);
    const auto  &coarsest   = hierarchy.levels.front().matrix;
    auto         low_coarse = in_single(std::move(coarse), coarsest.n_rows, coarsest.n_columns, weight, options);
    data                    = std::make_unique<Data>(weight == 1. ? Multigrid<float>(hierarchy, options, std::move(low_coarse))
                                                                  : Multigrid<float>(times(hierarchy, weight), options, std::move(low_coarse)),
                                  weight,
                                  std::move(position),
                                  std::vector<int>(),
                                  std::vector<double>(),
                                  options,
                                  hierarchy.finest_communication());
  }

  PreconditionMultigrid::PreconditionMultigrid(const FoundStencil                   &found,
                                               int                                   n_levels,
                                               const MultigridOptions               &given,
                                               std::unique_ptr<CoarseSolver<double>> coarse,
                                               const Field                          &field,
                                               Arithmetic                            arithmetic)
  {
    const MultigridOptions options  = within_thread_limit(given);
    std::vector<int>       position = positions(found.rows, field), isolated = positions(found.isolated_rows, field);
    if (arithmetic == Arithmetic::double_precision)
      {
        data = std::make_unique<Data>(
          Multigrid<double>(found.stencil, n_levels, options, std::move(coarse)), std::move(position), std::move(isolated), found.isolated_diagonal);
        return;
      }
    const double weight     = weight_for(found.stencil);
    const int    n_coarse   = coarse == nullptr ? 0 : n_coarsest(found.stencil, n_levels, options);
    auto         low_coarse = in_single(std::move(coarse), n_coarse, n_coarse, weight, options);
    data                    = std::make_unique<Data>(Multigrid<float>(times(found.stencil, weight), n_levels, options, std::move(low_coarse)),
                                  weight,
                                  std::move(position),
                                  std::move(isolated),
                                  found.isolated_diagonal,
                                  options,
                                  nullptr);
  }

  PreconditionMultigrid::PreconditionMultigrid(
    const FoundStencil &found, MPI_Comm comm, int n_levels, const DistributedStencilOptions &options, const Field &field)
    : data(std::make_unique<Data>(multigrid_on_slabs(found, positions(found.rows, field), comm, n_levels, within_thread_limit(options)),
                                  positions(found.isolated_rows, field),
                                  found.isolated_diagonal))
  {
  }

  PreconditionMultigrid::PreconditionMultigrid(
    const CrsMatrix<double> &A, const AggregationOptions &aggregation, const MultigridOptions &given, const Field &field, Arithmetic arithmetic)
  {
    const MultigridOptions options  = within_thread_limit(given);
    std::vector<int>       position = positions(A.n_rows, field);
    if (arithmetic == Arithmetic::double_precision)
      {
        data = std::make_unique<Data>(
          Multigrid<double>(A, within_thread_limit(aggregation), options), std::move(position), std::vector<int>(), std::vector<double>());
        return;
      }
    const double weight = weight_for(A);
    data                = std::make_unique<Data>(weight == 1. ? Multigrid<float>(A, within_thread_limit(aggregation), options)
                                                              : Multigrid<float>(times(A, weight), within_thread_limit(aggregation), options),
                                  weight,
                                  std::move(position),
                                  std::vector<int>(),
                                  std::vector<double>(),
                                  options,
                                  nullptr);
  }

  PreconditionMultigrid::~PreconditionMultigrid()                                 = default;
  PreconditionMultigrid::PreconditionMultigrid(PreconditionMultigrid &&) noexcept = default;

  MemorySpace PreconditionMultigrid::memory_space() const
  {
    return data->on_device() ? MemorySpace::device : MemorySpace::host;
  }

  int PreconditionMultigrid::n_levels() const
  {
    return data->of_multigrid([](const auto &m) { return m.n_levels(); });
  }

  double PreconditionMultigrid::operator_complexity() const
  {
    return data->of_multigrid([](const auto &m) { return m.operator_complexity(); });
  }

  MultigridOptions PreconditionMultigrid::options() const
  {
    return data->of_multigrid([](const auto &m) { return m.options(); });
  }

  bool PreconditionMultigrid::is_fixed_linear_map() const
  {
    return data->in_double != nullptr && data->in_double->is_fixed_linear_map();
  }

  bool PreconditionMultigrid::is_symmetric_map() const
  {
    return data->of_multigrid([](const auto &m) { return m.is_symmetric_map(); });
  }

  std::string PreconditionMultigrid::description() const
  {
    return data->on_slabs() ? data->slabs.multigrid->description() : data->of_multigrid([](const auto &m) { return m.description(); });
  }

  std::string PreconditionMultigrid::diagnosis()
  {
    return data->of_multigrid([](auto &m) { return m.diagnosis(); });
  }

  void PreconditionMultigrid::update_values(const MultigridHierarchy &hierarchy)
  {
    if (data->weight != 1.)
      data->in_single->update_values(times(hierarchy, data->weight));
    else
      data->of_multigrid([&](auto &m) { m.update_values(hierarchy); });
  }

  bool PreconditionMultigrid::update_values(const FoundStencil &found)
  {
    if (data->on_slabs())
      return false;
    if (found.isolated_diagonal.size() != data->isolated.size())
      throw InvalidInput("multigrid preconditioner: the stencil leaves " + std::to_string(found.isolated_diagonal.size()) +
                         " rows by themselves\n  expected: those of the first, " + std::to_string(data->isolated.size()));
    const bool updated = data->weight != 1. ? data->in_single->update_values(times(found.stencil, data->weight))
                                            : data->of_multigrid([&](auto &m) { return m.update_values(found.stencil); });
    if (updated)
      data->set_isolated_diagonal(found.isolated_diagonal);
    return updated;
  }

  void PreconditionMultigrid::apply(double *x, const double *b, bool read_x, const std::function<void(double *, const double *)> &method) const
  {
    if (data->is_direct())
      method(x, b);
    else
      {
        double *own_x     = data->on_device() ? data->device_x.data() : data->host_x.data(),
               *own_b     = data->on_device() ? data->device_b.data() : data->host_b.data();
        const auto gather = [this](double *to, const double *from) {
          return data->on_slabs() ? data->slabs.rows->to_slab(to, from) : data->gather(to, from);
        };
        gather(own_b, b);
        if (read_x)
          gather(own_x, x);
        method(own_x, own_b);
        if (data->on_slabs())
          data->slabs.rows->from_slab(x, own_x);
        else
          data->scatter(x, static_cast<const double *>(own_x));
      }
    data->solve_isolated(x, b, data->inverses);
  }

  void PreconditionMultigrid::vmult(double *dst, const double *src) const
  {
    apply(dst, src, false, [this](double *x, const double *b) {
      if (data->in_double != nullptr)
        data->in_double->vmult(x, b);
      else
        apply_rounded<float>(*data->vectors, x, b, data->low_x.get(), data->low_b.get(), [this](float *low_x, const float *low_b) {
          data->in_single->vmult(low_x, low_b);
        });
    });
  }

  void PreconditionMultigrid::vmult(float *dst, const float *src) const
  {
    if (data->in_single == nullptr)
      throw InvalidInput("multigrid: a cycle in single precision is asked for, and those that there are are in double\n  expected: "
                         "Arithmetic::single_precision");
    data->in_order(dst, src, false, [this](float *c, const float *r) { data->in_single->vmult(c, r); });
  }

  void PreconditionMultigrid::vmult(HostVector &dst, const HostVector &src) const
  {
    vmult(dst.begin(), src.begin());
  }

  void PreconditionMultigrid::vmult(DeviceVector<double> &dst, const DeviceVector<double> &src) const
  {
    vmult(dst.data(), src.data());
  }

  SolveResult PreconditionMultigrid::solve(double *x, const double *b, const StoppingCriteria &criteria)
  {
    if (data->in_double == nullptr)
      throw InvalidInput("multigrid: a solve by cycles in single precision alone\n  expected: double precision, or a Refinement with inner_solver()");
    SolveResult result;
    apply(x, b, true, [&](double *own_x, const double *own_b) { result = data->in_double->solve(own_x, own_b, criteria); });
    return result;
  }

  std::unique_ptr<InnerSolver<float>> PreconditionMultigrid::inner_solver() const
  {
    const bool all = data->is_of_all();
    if (data->in_single == nullptr || !all)
      throw InvalidInput(std::string("multigrid: an inner solver is asked for, and the cycles are ") +
                         (all ? "in double precision" : "for one field of several") + "\n  expected: cycles in single precision for all entries");
    return std::make_unique<InnerCycles>(*data);
  }

  double PreconditionMultigrid::weight() const
  {
    return data->weight;
  }
} // namespace leopard
