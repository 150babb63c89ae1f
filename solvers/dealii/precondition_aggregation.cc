// SPDX-License-Identifier: Apache-2.0
#include "precondition_aggregation.h"

#include "../base/errors.h"
#include "../distributed/mpi/gathered_coarse_solver.h"
#include "distributed_aggregation.h"
#include "own_rows.h"
#include "thread_limit.h"

#include <deal.II/base/mpi.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <utility>

namespace leopard
{
  using dealii::IndexSet;

  namespace
  {
    IndexSet of_field(const IndexSet &all, dealii::types::global_dof_index field, dealii::types::global_dof_index n_fields)
    {
      IndexSet result(all.size() / n_fields);
      for (const auto i : all)
        if (i % n_fields == field)
          result.add_index(i / n_fields);
      result.compress();
      return result;
    }

    /**
     * The rows and columns of one field, where there are several with another row sum s: max(|s|, 0.2 sum of the
     * absolute values that couple the row to other fields). So it is definite also where a field grows by itself in a
     * step so long that A is not (Laird and Giles 2002).
     */
    LocalMatrix block_of_field(const LocalMatrix &whole, int field, int n_fields)
    {
      if (n_fields == 1)
        return whole;
      const CrsMatrix<double> &A = whole.matrix;
      LocalMatrix              result{{}, of_field(whole.owned, field, n_fields), of_field(whole.ghosts, field, n_fields)};
      CrsMatrix<double>       &block = result.matrix;
      block.n_rows                   = A.n_rows / n_fields;
      std::vector<int> column(A.n_columns, -1); // in the block; -1: of another field
      for (int j = field; j < A.n_rows; j += n_fields)
        column[j] = block.n_columns++;
      for (std::size_t g = 0; g < whole.ghosts.n_elements(); ++g)
        if (static_cast<int>(whole.ghosts.nth_index_in_set(g) % n_fields) == field)
          column[A.n_rows + g] = block.n_columns++;
      for (int i = field; i < A.n_rows; i += n_fields)
        {
          double sum = 0., beside = 0.;
          int    diagonal = -1;
          for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
            if (const int j = column[A.columns[p]]; j >= 0)
              {
                if (A.columns[p] == i)
                  diagonal = block.n_entries();
                sum += A.values[p];
                block.columns.push_back(j);
                block.values.push_back(A.values[p]);
              }
            else
              beside += std::abs(A.values[p]);
          if (diagonal >= 0)
            block.values[diagonal] += std::max(std::abs(sum), 0.2 * beside) - sum;
          block.row_offsets.push_back(block.n_entries());
        }
      return result;
    }

    /** Entries of all levels over those of the finest, of all ranks. */
    double operator_complexity(const MultigridHierarchy &hierarchy, MPI_Comm comm)
    {
      double entries = 0., finest = 0.;
      for (const MultigridLevel &level : hierarchy.levels)
        entries += finest = dealii::Utilities::MPI::sum(static_cast<double>(level.matrix.n_entries()), comm);
      return finest > 0. ? entries / finest : 1.;
    }
  } // namespace

  PreconditionAggregation::PreconditionAggregation()
    : OwnRowsPreconditioner("PreconditionAggregation")
  {
  }

  MultigridOptions PreconditionAggregation::AdditionalData::one_step_of_chebyshev()
  {
    MultigridOptions options;
    options.smoother.method = "chebyshev";
    options.pre_smoothing = options.post_smoothing = 1;
    return options;
  }

  void PreconditionAggregation::initialize(const dealii::SparseMatrix<double> &A, const AdditionalData &data)
  {
    take({crs_matrix(A, name), dealii::complete_index_set(A.m()), IndexSet(A.m())}, data, MPI_COMM_SELF);
  }

  void PreconditionAggregation::initialize(const HostMatrix &A, const AdditionalData &data)
  {
    LocalMatrix local;
    together(A.get_mpi_communicator(), [&] {
      require_square(A, name);
      local = local_matrix(A);
    });
    take(local, data, A.get_mpi_communicator());
  }

  void PreconditionAggregation::take(const LocalMatrix &A, const AdditionalData &new_data, MPI_Comm comm)
  {
    const int n = A.matrix.n_rows;
    together(comm, [&] {
      if (new_data.n_fields < 1 || n % new_data.n_fields != 0)
        throw InvalidInput(name + ": n_fields is " + std::to_string(new_data.n_fields) + ", and the matrix has " + std::to_string(n) +
                           " rows\n  expected: a number >= 1 that divides them");
      if (new_data.n_fields > 1 && !new_data.aggregation.is_scalar())
        throw InvalidInput(
          name + ": n_fields is " + std::to_string(new_data.n_fields) +
          ", and block_unknowns or near_null_space are given\n  expected: n_fields = 1, as their levels have all unknowns of a node");
    });
    const bool several_ranks = dealii::Utilities::MPI::job_supports_mpi() && dealii::Utilities::MPI::n_mpi_processes(comm) > 1;
    std::vector<PreconditionMultigrid> made;
    double                             worst = 1.;
    for (int c = 0; c < new_data.n_fields; ++c)
      {
        const LocalMatrix block = block_of_field(A, c, new_data.n_fields);
        if (!several_ranks)
          {
            made.emplace_back(block.matrix, new_data.aggregation, new_data.multigrid, Field{c, new_data.n_fields}, new_data.arithmetic);
            worst = std::max(worst, made.back().operator_complexity());
          }
        else
          {
            const MultigridHierarchy hierarchy = aggregation_hierarchy(block, within_thread_limit(new_data.aggregation), comm);
            worst                              = std::max(worst, operator_complexity(hierarchy, comm));
            made.emplace_back(hierarchy,
                              new_data.multigrid,
                              std::make_unique<GatheredCoarseSolver>(hierarchy.levels.front(), within_thread_limit(new_data.multigrid), comm),
                              Field{c, new_data.n_fields},
                              new_data.arithmetic);
          }
      }
    std::unique_ptr<FieldSweep<double>> over_fields;
    if (new_data.n_fields > 1)
      over_fields = std::make_unique<FieldSweep<double>>(A, new_data.n_fields, new_data.multigrid.backend, new_data.multigrid.n_threads, comm);
    data         = new_data;
    fields       = std::move(made);
    sweep        = std::move(over_fields);
    n_rows       = n;
    complexity   = worst;
    made_on_host = !new_data.aggregation.fits_on_device();
    on_ranks     = several_ranks;
  }

  void PreconditionAggregation::require_rows(std::size_t n) const
  {
    if (!is_initialized() || n != n_rows)
      throw InvalidInput(name + ": update_values() of a matrix with " + std::to_string(n) +
                         " rows\n  expected: " + (is_initialized() ? "the first one's, " + std::to_string(n_rows) : "initialize() before it"));
  }

  void PreconditionAggregation::update_values(const dealii::SparseMatrix<double> &A)
  {
    require_rows(A.m());
    initialize(A, AdditionalData(data));
  }

  void PreconditionAggregation::update_values(const HostMatrix &A)
  {
    together(A.get_mpi_communicator(), [&] { require_rows(A.local_size()); });
    initialize(A, AdditionalData(data));
  }

  bool PreconditionAggregation::is_fixed_linear_map() const
  {
    return !fields.empty() && std::all_of(fields.begin(), fields.end(), [](const auto &f) { return f.is_fixed_linear_map(); });
  }

  bool PreconditionAggregation::is_symmetric_map() const
  {
    return !fields.empty() && (sweep == nullptr || sweep->is_symmetric()) &&
           std::all_of(fields.begin(), fields.end(), [](const auto &f) { return f.is_symmetric_map(); });
  }

  std::string PreconditionAggregation::description() const
  {
    if (fields.empty())
      return "";
    const MultigridOptions options = fields[0].options();
    char                   number[32];
    std::snprintf(number, sizeof(number), "%.3g", complexity);
    return to_string(options.cycle) + "(" + std::to_string(options.pre_smoothing) + "," + std::to_string(options.post_smoothing) +
           ") multigrid by smoothed aggregation, smoother " + options.smoother.method + ", " + std::to_string(fields[0].n_levels()) +
           " levels, operator complexity " + number + (data.arithmetic == Arithmetic::single_precision ? ", in single precision" : "") +
           (sweep != nullptr ? ", " + sweep->description() : "") +
           ((made_on_host || on_ranks) && options.backend == Backend::cuda ? ", made on the host" : "");
  }

  bool PreconditionAggregation::is_initialized() const
  {
    return !fields.empty();
  }

  std::size_t PreconditionAggregation::n_own_rows() const
  {
    return n_rows;
  }

  MemorySpace PreconditionAggregation::memory_space() const
  {
    return fields[0].memory_space();
  }

  void PreconditionAggregation::apply_there(double *x, const double *b) const
  {
    if (sweep == nullptr)
      fields[0].vmult(x, b);
    else
      sweep->vmult(x, b, [this](int field, double *of_x, const double *of_b) { fields[field].vmult(of_x, of_b); });
  }
} // namespace leopard
