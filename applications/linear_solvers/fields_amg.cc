// SPDX-License-Identifier: Apache-2.0
#include "fields_amg.h"

#include <deal.II/lac/dynamic_sparsity_pattern.h>

#include <Epetra_CrsMatrix.h>

#include <algorithm>
#include <cmath>

namespace leopard
{
  using namespace dealii;

  namespace
  {
    /** f(column, value) for the entries of a row of this rank, columns in the numbering of all ranks. */
    template <typename F>
    void for_entries(const HostMatrix &A, int local_row, const F &f)
    {
      const Epetra_CrsMatrix &matrix = A.trilinos_matrix();
      int                     n = 0, *columns = nullptr;
      double                 *values = nullptr;
      matrix.ExtractMyRowView(local_row, n, values, columns);
      for (int p = 0; p < n; ++p)
        f(matrix.GCID(columns[p]), values[p]);
    }
  } // namespace

  FieldsAmg::FieldsAmg(const HostMatrix &A_, unsigned int n_components)
    : A(A_)
    , n_fields(static_cast<int>(n_components))
    , fields(n_components)
    , sweep(local_matrix(A_), n_fields, Backend::reference, 1, A_.get_mpi_communicator())
  {
    const auto rows   = A.local_range();
    const int  n_here = static_cast<int>((rows.second - rows.first) / n_components), first = static_cast<int>(rows.first / n_components);
    IndexSet   owned(A.m() / n_components);
    owned.add_range(first, first + n_here);
    for (int c = 0; c < n_fields; ++c)
      {
        DynamicSparsityPattern pattern(owned.size(), owned.size(), owned);
        for (int i = 0; i < n_here; ++i)
          for_entries(A, i * n_fields + c, [&](int column, double /*value*/) {
            if (column % n_fields == c)
              pattern.add(first + i, column / n_fields);
          });
        OfField &field = fields[c];
        field.P.reinit(owned, owned, pattern, A.get_mpi_communicator(), false);
        field.b.reinit(owned, A.get_mpi_communicator());
        field.x.reinit(field.b);
      }
  }

  void FieldsAmg::update_values()
  {
    const int first = static_cast<int>(A.local_range().first) / n_fields;
    for (int c = 0; c < n_fields; ++c)
      {
        OfField &field = fields[c];
        for (int i = 0; i < static_cast<int>(field.b.locally_owned_size()); ++i)
          {
            const int node = first + i;
            double    sum = 0., beside = 0., diagonal = 0.;
            for_entries(A, i * n_fields + c, [&](int column, double value) {
              const int d = column % n_fields;
              if (d != c)
                {
                  beside += std::abs(value);
                  return;
                }
              sum += value;
              if (column / n_fields == node)
                diagonal = value;
              else
                field.P.set(node, column / n_fields, value);
            });
            field.P.set(node, node, diagonal + std::max(std::abs(sum), 0.2 * beside) - sum);
          }
        field.P.compress(VectorOperation::insert);
        TrilinosWrappers::PreconditionAMG::AdditionalData data;
        data.elliptic              = true;
        data.higher_order_elements = false;
        field.amg.initialize(field.P, data);
      }
    sweep.update_values(local_values(A));
  }

  void FieldsAmg::vmult(HostVector &dst, const HostVector &src) const
  {
    sweep.vmult(dst.begin(), src.begin(), [this](int c, double *x, const double *b) {
      const OfField &field  = fields[c];
      const long     n_here = field.b.locally_owned_size();
      for (long i = 0; i < n_here; ++i)
        field.b.begin()[i] = b[i * n_fields + c];
      field.amg.vmult(field.x, field.b);
      for (long i = 0; i < n_here; ++i)
        x[i * n_fields + c] = field.x.begin()[i];
    });
  }
} // namespace leopard
