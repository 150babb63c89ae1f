// SPDX-License-Identifier: Apache-2.0
#include "precondition_block_async.h"

#include "../base/errors.h"
#include "../base/norms.h"
#include "../base/words.h"
#include "../block_async/tune.h"
#include "../device/device_vector.h"
#include "../distributed/mpi/ghost_exchange.h"
#include "../matrix/scaled_matrix.h"
#include "../refinement/inner_solver.h"
#include "../refinement/over_ranks.h"
#include "../relaxation/tau_scaling.h"
#include "../relaxation/with_ghosts.h"
#include "index_sets.h"
#include "own_rows.h"
#include "thread_limit.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <random>

namespace leopard
{
  namespace
  {
    using AdditionalData = PreconditionBlockAsync::AdditionalData;

    [[noreturn]] void fail(const std::string &what, const std::string &expected)
    {
      throw InvalidInput("PreconditionBlockAsync: " + what + "\n  expected: " + expected);
    }

    /** A without the zeros off its diagonal, and with a one on the diagonal of zero rows, which are returned. */
    std::vector<int> make_relaxable(CrsMatrix<double> &A)
    {
      CrsMatrix<double> result;
      std::vector<int>  zero_rows;
      result.n_rows    = A.n_rows;
      result.n_columns = A.n_columns;
      for (int i = 0; i < A.n_rows; ++i)
        {
          const auto begin = A.values.begin() + A.row_offsets[i], end = A.values.begin() + A.row_offsets[i + 1];
          if (std::all_of(begin, end, [](double value) { return value == 0.; }))
            {
              zero_rows.push_back(i);
              result.columns.push_back(i);
              result.values.push_back(1.);
            }
          else
            for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
              if (A.columns[p] == i || A.values[p] != 0.)
                {
                  result.columns.push_back(A.columns[p]);
                  result.values.push_back(A.values[p]);
                }
          result.row_offsets.push_back(static_cast<int>(result.columns.size()));
        }
      A = std::move(result);
      return zero_rows;
    }

    Partition make_partition(const CrsMatrix<double> &A, const AdditionalData &options)
    {
      if (options.block_shape == BlockShape::tiles)
        return compact_partition(A, options.coordinates, options.dim, options.block_size, within_thread_limit(options.n_threads));
      return shaped_partition(A, A.n_rows <= options.block_size ? BlockShape::contiguous : options.block_shape, options.block_size);
    }

    BlockAsyncOptions block_async_options(const AdditionalData &data)
    {
      BlockAsyncOptions options;
      options.local_iterations = data.local_iterations;
      options.block_size       = data.block_size;
      options.omega            = data.omega; // tau, once it is known
      options.l1_weights       = data.l1_weights;
      options.schedule         = data.schedule;
      options.backend          = data.backend;
      options.n_threads        = within_thread_limit(data.n_threads);
      options.block_omega      = data.block_omega;
      options.momentum         = data.momentum;
      options.overlap          = data.overlap;
      options.overlap_percent  = data.overlap == Overlap::none ? 0. : data.overlap_percent;
      options.two_stage        = data.two_stage;
      options.seed             = data.seed;
      return options;
    }

    /** What tune() finds for A, relaxable, in the place of what the data say. */
    void take_tuned(const CrsMatrix<double> &A, AdditionalData &data)
    {
      if (data.omega_is_tau)
        fail("tuning_seconds and omega_is_tau are set, which both choose omega", "one of the two");
      if (data.overlap != Overlap::none || data.l1_weights || data.two_stage != TwoStage::automatic)
        fail("tuning_seconds is set, and overlap, l1_weights or two_stage, which are not tried", "none of these");
      TuneRequest request;
      request.backend          = data.backend;
      request.seconds          = data.tuning_seconds;
      request.n_threads        = within_thread_limit(data.n_threads);
      const TunedChoice choice = tune(A, request);
      data.block_shape         = choice.shape;
      data.block_size          = choice.options.block_size;
      data.local_iterations    = choice.options.local_iterations;
      data.omega               = choice.options.omega;
      data.momentum            = choice.options.momentum;
      data.block_omega         = choice.options.block_omega;
    }

    void check_tau(const AdditionalData &data)
    {
      if (data.l1_weights)
        fail("omega_is_tau is set, and l1_weights, to which the eigenvalues of D^-1 A do not apply", "one of the two");
    }

    /** Collective. */
    TauEstimate tau_of(const CrsMatrix<double> &A, const Communication<double> &communication, const AdditionalData &data, unsigned int rank)
    {
      TauEstimateOptions options;
      options.n_threads = within_thread_limit(data.n_threads);
      options.rank      = rank;
      try
        {
          return estimate_tau(A, communication, options);
        }
      catch (const InvalidInput &error)
        {
          throw InvalidInput("PreconditionBlockAsync: omega_is_tau: " + std::string(error.what()));
        }
    }
  } // namespace

  /** Iterations in single precision for vectors in double. */
  struct PreconditionBlockAsync::InSingle
  {
    /** @param scale of A's rows and ghosts, see scaled_to(). */
    InSingle(const CrsMatrix<double>                            &A,
             const std::vector<double>                          &scale,
             const BlockAsyncOptions                            &options,
             const std::shared_ptr<const Communication<double>> &communication)
      : system(over_ranks(make_outer_system<float>(A, scale, options.backend, options.n_threads), A.n_columns, communication))
      , relaxation(std::make_shared<BlockAsync<float>>(scaled_to<float>(A, scale).matrix, options))
      , inner(make_inner_solver<float>(relaxation, std::shared_ptr<const Communication<float>>(communication->in_single())))
      , own_c(inner->own_correction() == nullptr ? system->vector() : nullptr)
      , r(system->vector())
      , c(own_c == nullptr ? inner->own_correction() : own_c.get())
    {
    }

    void iterate(double *x, const double *b, int n_iterations, bool from_zero)
    {
      const auto map = [&](float *low_x, const float *low_b) { inner->solve(low_x, low_b, n_iterations); };
      if (from_zero)
        {
          apply_rounded<float>(*system, x, b, c, r.get(), map);
          return;
        }
      const double of_b = system->largest(b), unit = to_about_one(of_b > 0. ? of_b : system->norm_of_matrix() * system->largest(x));
      double       factor = unit;
      const auto   round  = [&](double f) { return system->residual(r.get(), x, b, unit, f); };
      round_to_fit(round(factor), unit, factor, round);
      map(c, r.get());
      system->add(x, c, factor);
    }

    const std::unique_ptr<OuterSystem<float>> system;
    const std::shared_ptr<Relaxation<float>>  relaxation;
    const std::unique_ptr<InnerSolver<float>> inner;
    const std::shared_ptr<float[]>            own_c, r;
    float *const                              c; ///< with ghosts
  };

  /** Arrays are in the order of the blocks. */
  struct PreconditionBlockAsync::Data
  {
    /** What solves is made by make_relaxation(). */
    Data(CrsMatrix<double> A, const AdditionalData &additional_data)
      : n_iterations(additional_data.n_iterations)
      , is_single(additional_data.arithmetic == Arithmetic::single_precision)
      , options(block_async_options(additional_data))
    {
      options.validate();
      omega = options.omega;
      if (options.overlap != Overlap::none && additional_data.block_shape != BlockShape::contiguous && additional_data.block_shape != BlockShape::rcm)
        fail("overlap is set with the block_shape " + to_string(additional_data.block_shape) + ", whose numbers are not those of neighbours",
             "contiguous or rcm");
      if (!(additional_data.tuning_seconds >= 0.))
        fail("tuning_seconds is " + short_text(additional_data.tuning_seconds), "a number >= 0");
      if (n_iterations < 1)
        fail("n_iterations is " + std::to_string(n_iterations), "a number >= 1");

      const std::vector<int> old_zero_rows = make_relaxable(A);
      A.validate(); // before rows get other numbers
      Partition partition = make_partition(A, additional_data);
      if (options.overlap == Overlap::none)
        options.block_offsets = partition.block_offsets; // else block_size rows each
      matrix  = permute(A, partition);
      old_row = std::move(partition.old_row);
      for (int i = 0; i < A.n_rows; ++i)
        if (std::binary_search(old_zero_rows.begin(), old_zero_rows.end(), old_row[i]))
          zero_rows.push_back(i);

      n_global_rows = A.n_rows;
    }

    /** Of the matrix, in single precision; collective. */
    std::vector<double> scale() const { return is_single ? scale_over_ranks(matrix, *communication) : std::vector<double>(); }

    /** @param scale that of scale(). */
    void make_relaxation(const std::vector<double> &scale)
    {
      if (is_single)
        in_single = std::make_unique<InSingle>(matrix, scale, options, communication);
      else
        relaxation = std::make_unique<BlockAsync<double>>(matrix, options);
      x.resize(matrix.n_columns);
      b.resize(matrix.n_rows);
      if (memory_space() == MemorySpace::device)
        {
          device_x.reinit(matrix.n_columns);
          device_b.reinit(matrix.n_rows);
        }
      matrix = CrsMatrix<double>();
    }

    MemorySpace memory_space() const { return in_single != nullptr ? in_single->relaxation->memory_space() : relaxation->memory_space(); }
    bool is_fixed_on_rank() const { return in_single != nullptr ? in_single->relaxation->is_fixed_linear_map() : relaxation->is_fixed_linear_map(); }

    const int                                    n_iterations;
    const bool                                   is_single;
    BlockAsyncOptions                            options;
    CrsMatrix<double>                            matrix; ///< in the order of blocks, until the relaxation is made
    double                                       omega = 0.;
    ExtremeEigenvalues                           eigenvalues; ///< of tau
    size_type                                    n_global_rows;
    std::unique_ptr<BlockAsync<double>>          relaxation; ///< or
    std::unique_ptr<InSingle>                    in_single;
    std::shared_ptr<const Communication<double>> communication = std::make_shared<const Communication<double>>();
    bool                                         is_fixed      = false;
    std::vector<int>                             old_row, zero_rows;
    std::vector<double>                          x, b; ///< x with ghosts
    DeviceVector<double>                         device_x, device_b;
    std::optional<bool>                          is_symmetric; ///< once it is known
  };

  PreconditionBlockAsync::AdditionalData::AdditionalData(const Fields &fields)
    : Fields(fields)
  {
  }

  PreconditionBlockAsync::AdditionalData::AdditionalData(int        n_iterations_,
                                                         int        local_iterations_,
                                                         int        block_size_,
                                                         double     omega_,
                                                         bool       l1_weights_,
                                                         Schedule   schedule_,
                                                         Backend    backend_,
                                                         BlockShape block_shape_,
                                                         int        n_threads_,
                                                         Arithmetic arithmetic_)
  {
    n_iterations     = n_iterations_;
    local_iterations = local_iterations_;
    block_size       = block_size_;
    omega            = omega_;
    l1_weights       = l1_weights_;
    schedule         = schedule_;
    backend          = backend_;
    block_shape      = block_shape_;
    n_threads        = n_threads_;
    arithmetic       = arithmetic_;
  }

  PreconditionBlockAsync::PreconditionBlockAsync()  = default;
  PreconditionBlockAsync::~PreconditionBlockAsync() = default;

  void PreconditionBlockAsync::initialize(const dealii::SparseMatrix<double> &A, const AdditionalData &additional_data)
  {
    CrsMatrix<double> matrix = crs_matrix(A, "PreconditionBlockAsync");
    AdditionalData    chosen = additional_data;
    TauEstimate       tau;
    if (chosen.omega_is_tau)
      {
        check_tau(chosen);
        CrsMatrix<double> relaxable = matrix;
        make_relaxable(relaxable);
        relaxable.validate();
        tau          = tau_of(relaxable, Communication<double>(), chosen, 0);
        chosen.omega = tau.omega;
      }
    if (chosen.tuning_seconds > 0.)
      {
        CrsMatrix<double> relaxable = matrix;
        make_relaxable(relaxable);
        relaxable.validate();
        take_tuned(relaxable, chosen);
      }
    auto made = std::make_unique<Data>(std::move(matrix), chosen);
    made->make_relaxation(made->scale());
    made->eigenvalues = tau.eigenvalues;
    made->is_fixed    = made->is_fixed_on_rank();
    data              = std::move(made);
  }

  void PreconditionBlockAsync::initialize(const dealii::TrilinosWrappers::SparseMatrix &A, const AdditionalData &additional_data)
  {
    require_square(A, "PreconditionBlockAsync");
    const MPI_Comm        comm = A.get_mpi_communicator();
    LocalMatrix           local;
    AdditionalData        chosen = additional_data;
    TauEstimate           tau;
    std::unique_ptr<Data> made;
    if (chosen.omega_is_tau)
      {
        check_tau(chosen);
        together(comm, [&] {
          local = local_matrix(A);
          make_relaxable(local.matrix);
          local.matrix.validate();
        });
        const GhostExchange<double> exchange(own_range(local.owned, comm), numbers_of(local.ghosts), comm);
        tau          = tau_of(local.matrix, exchange, chosen, dealii::Utilities::MPI::this_mpi_process(comm));
        chosen.omega = tau.omega;
      }
    together(comm, [&] {
      local = local_matrix(A);
      if (chosen.tuning_seconds > 0.)
        {
          if (const unsigned int n = dealii::Utilities::MPI::n_mpi_processes(comm); n > 1)
            fail("tuning_seconds is set, on " + std::to_string(n) + " ranks", "one rank, or 0 and what was found on one");
          CrsMatrix<double> relaxable = local.matrix;
          make_relaxable(relaxable);
          relaxable.validate();
          take_tuned(relaxable, chosen);
        }
      made = std::make_unique<Data>(std::move(local.matrix), chosen);
    });
    made->communication = std::make_shared<const GhostExchange<double>>(own_range(local.owned, comm), numbers_of(local.ghosts), comm, made->old_row);
    const std::vector<double> scale = made->scale();
    together(comm, [&] { made->make_relaxation(scale); });
    made->n_global_rows = A.m();
    made->eigenvalues   = tau.eigenvalues;
    made->is_fixed      = made->communication->max(made->is_fixed_on_rank() ? 0. : 1.) == 0.;
    data                = std::move(made);
  }

  void PreconditionBlockAsync::clear()
  {
    data.reset();
  }

  PreconditionBlockAsync::size_type PreconditionBlockAsync::m() const
  {
    return data == nullptr ? 0 : data->n_global_rows;
  }

  PreconditionBlockAsync::size_type PreconditionBlockAsync::n() const
  {
    return m();
  }

  bool PreconditionBlockAsync::is_fixed_linear_map() const
  {
    return data != nullptr && data->is_fixed && data->in_single == nullptr;
  }

  BlockAsyncOptions PreconditionBlockAsync::options() const
  {
    return data == nullptr ? BlockAsyncOptions() : data->options;
  }

  double PreconditionBlockAsync::omega() const
  {
    return data == nullptr ? 0. : data->omega;
  }

  ExtremeEigenvalues PreconditionBlockAsync::eigenvalues() const
  {
    return data == nullptr ? ExtremeEigenvalues() : data->eigenvalues;
  }

  void PreconditionBlockAsync::iterate(double *x, std::size_t n_x, const double *b, std::size_t n_b, bool from_zero) const
  {
    if (data == nullptr)
      fail("it is used before initialize()", "initialize() first");
    Data             &d      = *data;
    const std::size_t n_rows = d.old_row.size();
    if (n_x != n_rows || n_b != n_rows)
      fail("the vectors have " + std::to_string(n_x) + " and " + std::to_string(n_b) + " own entries",
           std::to_string(n_rows) + ", as the matrix has rows here");

    std::fill(d.x.begin(), d.x.end(), 0.);
    for (std::size_t i = 0; i < n_rows; ++i)
      {
        d.b[i] = b[d.old_row[i]];
        if (!from_zero)
          d.x[i] = x[d.old_row[i]];
      }
    for (const int i : d.zero_rows)
      d.b[i] = d.x[i];

    double           *own_x = d.x.data(), *own_b = d.b.data();
    const MemorySpace space = d.memory_space();
    if (space == MemorySpace::device)
      {
        d.device_x.copy_from_host(own_x);
        d.device_b.copy_from_host(own_b);
        own_x = d.device_x.data();
        own_b = d.device_b.data();
      }
    if (d.in_single != nullptr)
      d.in_single->iterate(own_x, own_b, d.n_iterations, from_zero);
    else
      {
        if (d.options.momentum > 0.)
          d.relaxation->restart();
        iterate_with_ghosts(*d.relaxation, own_x, own_b, d.n_iterations, *d.communication, from_zero);
      }
    if (space == MemorySpace::device)
      d.device_x.copy_to_host(d.x.data());

    for (std::size_t i = 0; i < n_rows; ++i)
      x[d.old_row[i]] = d.x[i];
  }

  void PreconditionBlockAsync::require_symmetric_map() const
  {
    if (data != nullptr && !data->is_symmetric.has_value())
      {
        const std::size_t   n_rows = data->old_row.size();
        std::vector<double> u(n_rows), v(n_rows), Cu(n_rows), Cv(n_rows);
        std::mt19937        random; // NOLINT: the same numbers every time
        std::generate(u.begin(), u.end(), [&] { return std::uniform_real_distribution<double>(-1., 1.)(random); });
        std::generate(v.begin(), v.end(), [&] { return std::uniform_real_distribution<double>(-1., 1.)(random); });
        iterate(Cu.data(), n_rows, u.data(), n_rows, true);
        iterate(Cv.data(), n_rows, v.data(), n_rows, true);

        const auto product = [&](const std::vector<double> &a, const std::vector<double> &c) {
          return data->communication->sum(std::inner_product(a.begin(), a.end(), c.begin(), 0.));
        };
        const double tolerance = data->in_single != nullptr ? 1e-5 : 1e-10; // far above rounding
        const double error     = std::abs(product(u, Cv) - product(v, Cu));
        data->is_symmetric     = data->is_fixed && reached(error, tolerance * std::sqrt(product(u, u) * product(Cv, Cv)));
      }
    if (data != nullptr && !*data->is_symmetric)
      fail("the transpose is asked for and vmult() is not symmetric, the transpose of others is not implemented",
           "a symmetric matrix and the synchronous schedule, or vmult() and step() only");
  }
} // namespace leopard
