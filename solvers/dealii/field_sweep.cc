// SPDX-License-Identifier: Apache-2.0
#include "field_sweep.h"

#include "../distributed/mpi/ghost_exchange.h"
#include "../matrix/matrix_entries.h"
#include "index_sets.h"
#include "thread_limit.h"

#include <deal.II/base/mpi.h>

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>

namespace leopard
{
  namespace
  {
    bool on_any(bool here, MPI_Comm comm)
    {
      return dealii::Utilities::MPI::max(here ? 1 : 0, comm) == 1;
    }
  } // namespace

  template <typename Number>
  FieldSweep<Number>::FieldSweep(
    const LocalMatrix &A, int n_fields_, Backend backend, int n_threads, MPI_Comm comm_, const std::vector<double> &scale)
    : n_fields(n_fields_)
    , n_rows(A.matrix.n_rows)
    , comm(comm_)
    , algebra(make_linear_algebra<Number>(backend, within_thread_limit(n_threads)))
    , before(n_fields_)
    , behind(n_fields_)
  {
    find_couplings(A);
    find_mirror_images(A.matrix);
    right_hand_side = algebra->vector(n_rows);
    update_values(A.matrix.values.data(), scale);
  }

  template <typename Number>
  void FieldSweep<Number>::find_couplings(const LocalMatrix &A)
  {
    const CrsMatrix<double> &matrix = A.matrix;
    std::vector<int>         field_of(matrix.n_columns);
    for (int j = 0; j < n_rows; ++j)
      field_of[j] = j % n_fields;
    int next = n_rows;
    for (const auto ghost : A.ghosts)
      field_of[next++] = static_cast<int>(ghost % n_fields);

    bool across = false, has_entries = false;
    for (int c = 0; c < n_fields; ++c)
      for (Couplings *const couplings : {&before[c], &behind[c]})
        {
          CrsMatrix<Number> &pattern = couplings->pattern;
          pattern.n_rows             = n_rows;
          pattern.n_columns          = matrix.n_columns;
          for (int i = 0; i < n_rows; ++i)
            {
              for (int p = matrix.row_offsets[i]; p < matrix.row_offsets[i + 1] && i % n_fields == c; ++p)
                if (const int d = field_of[matrix.columns[p]]; couplings == &before[c] ? d < c : d > c)
                  {
                    pattern.columns.push_back(matrix.columns[p]);
                    couplings->entries.push_back(p);
                    couplings->fields.push_back(d);
                    across      = across || matrix.columns[p] >= n_rows;
                    has_entries = true;
                  }
              pattern.row_offsets.push_back(static_cast<int>(pattern.columns.size()));
            }
          pattern.values.resize(pattern.columns.size());
        }
    may_be_coupled = on_any(has_entries, comm);
    if (!on_any(across, comm))
      return;
    const auto exchange = std::make_shared<GhostExchange<double>>(own_range(A.owned, comm), numbers_of(A.ghosts), comm);
    if constexpr (std::is_same_v<Number, double>)
      ghosts = exchange;
    else
      ghosts = exchange->in_single();
    x_with_ghosts = algebra->vector(matrix.n_columns);
  }

  template <typename Number>
  void FieldSweep<Number>::find_mirror_images(const CrsMatrix<double> &A)
  {
    for (int c = 0; c < n_fields; ++c)
      for (const Couplings *const couplings : {&before[c], &behind[c]})
        for (int i = c; i < n_rows; i += n_fields)
          for (int q = couplings->pattern.row_offsets[i]; q < couplings->pattern.row_offsets[i + 1]; ++q)
            if (const int j = couplings->pattern.columns[q]; j < n_rows)
              if (const int image = find_entry(A, j, i); image == -1 || couplings == &before[c]) // pairs once
                mirrored.push_back({couplings->entries[q], image, find_entry(A, i, i), find_entry(A, j, j)});
  }

  template <typename Number>
  bool FieldSweep<Number>::are_symmetric(const double *values) const
  {
    const auto value = [&](int entry) { return entry == -1 ? 0. : values[entry]; };
    return std::all_of(mirrored.begin(), mirrored.end(), [&](const Mirrored &pair) {
      constexpr double allowed = 1e-10; // as for incomplete factors
      const double     size    = std::sqrt(std::abs(value(pair.diagonal))) * std::sqrt(std::abs(value(pair.mirrored_diagonal)));
      return std::abs(value(pair.entry) - value(pair.mirror_image)) <= allowed * size;
    });
  }

  template <typename Number>
  void FieldSweep<Number>::update_values(const double *values, const std::vector<double> &scale)
  {
    symmetric = !on_any(!are_symmetric(values), comm);
    coupled   = false;
    for (int c = 0; c < n_fields; ++c)
      {
        take(before[c], c, values, scale);
        if (symmetric)
          take(behind[c], c, values, scale);
        coupled = coupled || before[c].used;
      }
    if (symmetric && coupled && correction == nullptr)
      correction = algebra->vector(n_rows);
  }

  template <typename Number>
  void FieldSweep<Number>::take(Couplings &couplings, int field, const double *values, const std::vector<double> &scale)
  {
    couplings.used = on_any(std::any_of(couplings.entries.begin(), couplings.entries.end(), [&](int entry) { return values[entry] != 0.; }), comm);
    if (!couplings.used || couplings.entries.empty())
      return;
    std::vector<Number> scaled;
    scaled.reserve(couplings.entries.size());
    for (std::size_t q = 0; q < couplings.entries.size(); ++q)
      scaled.push_back(static_cast<Number>(values[couplings.entries[q]] * (scale.empty() ? 1. : scale[field] * scale[couplings.fields[q]])));
    if (couplings.product != nullptr)
      return couplings.product->update_values(scaled);
    couplings.pattern.values = std::move(scaled);
    couplings.product        = algebra->matrix(std::move(couplings.pattern));
  }

  template <typename Number>
  const Number *FieldSweep<Number>::with_ghosts(const Number *x) const
  {
    if (ghosts == nullptr)
      return x;
    algebra->copy_entries(x_with_ghosts.get(), nullptr, x, nullptr, n_rows);
    ghosts->update_ghosts(x_with_ghosts.get(), algebra->memory_space());
    return x_with_ghosts.get();
  }

  template <typename Number>
  const Number *FieldSweep<Number>::subtract(const Couplings &couplings, const Number *x, const Number *b) const
  {
    Number *const       r     = right_hand_side.get();
    const Number *const all_x = with_ghosts(x);
    if (couplings.product != nullptr)
      couplings.product->multiply(r, Number(-1), all_x, Number(b != nullptr ? 1 : 0), b != nullptr ? b : r);
    else if (b == nullptr)
      algebra->set_zero(r, n_rows);
    return couplings.product != nullptr || b == nullptr ? r : b;
  }

  template <typename Number>
  void FieldSweep<Number>::vmult(Number *x, const Number *b, const OfField &of_field) const
  {
    for (int c = 0; c < n_fields; ++c)
      of_field(c, x, before[c].used ? subtract(before[c], x, b) : b);
    if (!symmetric || !coupled)
      return;
    Number *const d = correction.get();
    for (int c = n_fields - 2; c >= 0; --c)
      if (behind[c].used)
        {
          algebra->set_zero(d, n_rows);
          of_field(c, d, subtract(behind[c], x, nullptr));
          algebra->add(x, Number(1), d, n_rows);
        }
  }

  template <typename Number>
  std::string FieldSweep<Number>::description() const
  {
    return !may_be_coupled ? "for each field" : symmetric && coupled ? "field after field and back" : "field after field";
  }

  template class FieldSweep<double>;
  template class FieldSweep<float>;
} // namespace leopard
