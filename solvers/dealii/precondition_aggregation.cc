// SPDX-License-Identifier: Apache-2.0
#include "precondition_aggregation.h"

#include "../base/errors.h"
#include "own_rows.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

namespace leopard
{
  namespace
  {
    /**
     * The rows and columns of one field, where there are several with another row sum s: max(|s|, 0.2 sum of the
     * absolute values that couple the row to other fields). So it is definite also where a field grows by itself in a
     * step so long that A is not (Laird and Giles 2002).
     */
    CrsMatrix<double> block_of_field(const CrsMatrix<double> &A, int field, int n_fields)
    {
      if (n_fields == 1)
        return A;
      CrsMatrix<double> block;
      block.n_rows = block.n_columns = A.n_rows / n_fields;
      for (int i = field; i < A.n_rows; i += n_fields)
        {
          double sum = 0., beside = 0.;
          int    diagonal = -1;
          for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
            if (A.columns[p] % n_fields == field)
              {
                if (A.columns[p] == i)
                  diagonal = block.n_entries();
                sum += A.values[p];
                block.columns.push_back(A.columns[p] / n_fields);
                block.values.push_back(A.values[p]);
              }
            else
              beside += std::abs(A.values[p]);
          if (diagonal >= 0)
            block.values[diagonal] += std::max(std::abs(sum), 0.2 * beside) - sum;
          block.row_offsets.push_back(block.n_entries());
        }
      return block;
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
    take(crs_matrix(A, name), data);
  }

  void PreconditionAggregation::initialize(const HostMatrix &A, const AdditionalData &data)
  {
    together(A.get_mpi_communicator(), [&] { take(own_block(A, name), data); });
  }

  void PreconditionAggregation::take(const CrsMatrix<double> &A, const AdditionalData &data)
  {
    if (data.n_fields < 1 || A.n_rows % data.n_fields != 0)
      throw InvalidInput(name + ": n_fields is " + std::to_string(data.n_fields) + ", and the matrix has " + std::to_string(A.n_rows) +
                         " rows\n  expected: a number >= 1 that divides them");
    if (data.n_fields > 1 && !data.aggregation.is_scalar())
      throw InvalidInput(name + ": n_fields is " + std::to_string(data.n_fields) +
                         ", and block_unknowns or near_null_space are given\n  expected: n_fields = 1, as their levels have all unknowns of a node");
    std::vector<PreconditionMultigrid> made;
    double                             worst = 1.;
    for (int c = 0; c < data.n_fields; ++c)
      {
        Multigrid<double> multigrid(block_of_field(A, c, data.n_fields), data.aggregation, data.multigrid);
        worst = std::max(worst, multigrid.operator_complexity());
        made.emplace_back(std::move(multigrid), Field{c, data.n_fields});
      }
    fields     = std::move(made);
    n_rows     = A.n_rows;
    complexity = worst;
    of_system  = !data.aggregation.is_scalar();
  }

  bool PreconditionAggregation::is_fixed_linear_map() const
  {
    return !fields.empty() && std::all_of(fields.begin(), fields.end(), [](const auto &f) { return f.is_fixed_linear_map(); });
  }

  bool PreconditionAggregation::is_symmetric_map() const
  {
    return !fields.empty() && std::all_of(fields.begin(), fields.end(), [](const auto &f) { return f.is_symmetric_map(); });
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
           " levels, operator complexity " + number + (fields.size() > 1 ? ", for each field" : "") +
           (of_system && options.backend == Backend::cuda ? ", made on the host" : "");
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
    for (const PreconditionMultigrid &field : fields)
      field.vmult(x, b);
  }
} // namespace leopard
