// SPDX-License-Identifier: Apache-2.0
#include "distributed_rows.h"

#include <Epetra_CrsMatrix.h>
#include <Epetra_Map.h>

#include <algorithm>
#include <map>
#include <utility>

namespace leopard
{
  using namespace dealii;
  using Index = types::global_dof_index;

  DistributedRows::DistributedRows(const HostMatrix &matrix, const IndexSet &identity_rows)
  {
    const Epetra_CrsMatrix &epetra = matrix.trilinos_matrix();
    columns.reserve(epetra.NumMyNonzeros());
    values.reserve(epetra.NumMyNonzeros());
    for (int row = 0; row < epetra.NumMyRows(); ++row)
      {
        const auto global = static_cast<Index>(epetra.GRID(row));
        if (identity_rows.size() > 0 && identity_rows.is_element(global))
          {
            columns.push_back(global);
            values.push_back(1.);
          }
        else
          {
            int     n           = 0;
            int    *row_columns = nullptr;
            double *row_values  = nullptr;
            epetra.ExtractMyRowView(row, n, row_values, row_columns);
            for (int p = 0; p < n; ++p)
              {
                columns.push_back(static_cast<Index>(epetra.GCID(row_columns[p])));
                values.push_back(row_values[p]);
              }
          }
        row_offsets.push_back(static_cast<int>(columns.size()));
      }
  }

  namespace
  {
    Index first_of(const IndexSet &owned)
    {
      return owned.n_elements() > 0 ? owned.nth_index_in_set(0) : 0;
    }

    /** The global number of each column of a matrix with ghosts. */
    std::vector<Index> numbers_of_columns(const IndexSet &owned_columns, const IndexSet &ghosts)
    {
      std::vector<Index> result, of_ghosts;
      owned_columns.fill_index_vector(result);
      ghosts.fill_index_vector(of_ghosts);
      result.insert(result.end(), of_ghosts.begin(), of_ghosts.end());
      return result;
    }
  } // namespace

  DistributedRows::DistributedRows(const LocalMatrix &local, const IndexSet &identity_rows)
  {
    const CrsMatrix<double> &A      = local.matrix;
    const std::vector<Index> number = numbers_of_columns(local.owned, local.ghosts);
    columns.reserve(A.columns.size());
    values.reserve(A.columns.size());
    for (int row = 0; row < A.n_rows; ++row)
      {
        if (identity_rows.is_element(number[row]))
          {
            columns.push_back(number[row]);
            values.push_back(1.);
          }
        else
          for (int p = A.row_offsets[row]; p < A.row_offsets[row + 1]; ++p)
            {
              columns.push_back(number[A.columns[p]]);
              values.push_back(A.values[p]);
            }
        row_offsets.push_back(static_cast<int>(columns.size()));
      }
  }

  DistributedRows::DistributedRows(const CrsMatrix<double> &matrix, const IndexSet &owned_columns, const IndexSet &ghosts)
    : row_offsets(matrix.row_offsets)
    , values(matrix.values)
  {
    const std::vector<Index> number = numbers_of_columns(owned_columns, ghosts);
    columns.reserve(matrix.columns.size());
    for (const int column : matrix.columns)
      columns.push_back(number[column]);
  }

  namespace
  {
    /** Entries of rows that other ranks own, sent to them; returns those that have come. */
    std::vector<DistributedEntry> exchange(const std::vector<DistributedEntry> &entries, const IndexSet &owned_rows, MPI_Comm comm)
    {
      std::vector<DistributedEntry> arrived;
      if (Utilities::MPI::n_mpi_processes(comm) == 1)
        return arrived;
      std::vector<Index> rows;
      for (const DistributedEntry &entry : entries)
        if (!owned_rows.is_element(entry.row))
          rows.push_back(entry.row);
      std::sort(rows.begin(), rows.end());
      rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
      IndexSet foreign(owned_rows.size());
      foreign.add_indices(rows.begin(), rows.end());
      foreign.compress();
      const std::vector<unsigned int> owner = Utilities::MPI::compute_index_owner(owned_rows, foreign, comm);

      std::map<unsigned int, std::vector<DistributedEntry>> to_send;
      for (const DistributedEntry &entry : entries)
        if (!owned_rows.is_element(entry.row))
          to_send[owner[foreign.index_within_set(entry.row)]].push_back(entry);
      for (const auto &[rank, received] : Utilities::MPI::some_to_some(comm, to_send))
        arrived.insert(arrived.end(), received.begin(), received.end());
      return arrived;
    }
  } // namespace

  DistributedRows::DistributedRows(const std::vector<DistributedEntry> &entries, const IndexSet &owned_rows, MPI_Comm comm)
  {
    const std::vector<DistributedEntry> arrived = exchange(entries, owned_rows, comm);
    const Index                         first   = first_of(owned_rows);
    const auto                          n_rows  = owned_rows.n_elements();
    const auto                          each    = [&](const auto &use) {
      for (const auto *list : {&entries, &arrived})
        for (const DistributedEntry &entry : *list)
          if (entry.row >= first && entry.row < first + n_rows)
            use(entry.row - first, entry);
    };
    // sorted by rows by counting, then each row by columns
    std::vector<int> offsets(n_rows + 1, 0);
    each([&](Index row, const DistributedEntry &) { ++offsets[row + 1]; });
    for (Index row = 0; row < n_rows; ++row)
      offsets[row + 1] += offsets[row];
    std::vector<std::pair<Index, double>> sorted(offsets.back());
    std::vector<int>                      position(offsets.begin(), offsets.end() - 1);
    each([&](Index row, const DistributedEntry &entry) { sorted[position[row]++] = {entry.column, entry.value}; });
    for (Index row = 0; row < n_rows; ++row)
      {
        const auto begin = sorted.begin() + offsets[row], end = sorted.begin() + offsets[row + 1];
        std::sort(begin, end);
        for (auto entry = begin; entry != end; ++entry)
          if (entry == begin || entry->first != (entry - 1)->first)
            {
              columns.push_back(entry->first);
              values.push_back(entry->second);
            }
        row_offsets.push_back(static_cast<int>(columns.size()));
      }
  }

  DistributedRows DistributedRows::transpose(const IndexSet &owned_rows, const IndexSet &owned_columns, MPI_Comm comm) const
  {
    const Index                   first = first_of(owned_rows);
    std::vector<DistributedEntry> entries;
    entries.reserve(columns.size());
    for (std::size_t row = 0; row + 1 < row_offsets.size(); ++row)
      for (int p = row_offsets[row]; p < row_offsets[row + 1]; ++p)
        entries.push_back({columns[p], first + static_cast<Index>(row), values[p]});
    return DistributedRows(entries, owned_columns, comm);
  }

  DistributedRows DistributedRows::rows_of_others(const IndexSet &owned_rows, const IndexSet &ghosts, MPI_Comm comm) const
  {
    const std::vector<unsigned int>            owner = Utilities::MPI::compute_index_owner(owned_rows, ghosts, comm);
    std::map<unsigned int, std::vector<Index>> asked;
    for (const Index row : ghosts)
      asked[owner[ghosts.index_within_set(row)]].push_back(row);

    std::map<unsigned int, std::vector<DistributedEntry>> answers;
    for (const auto &[rank, rows] : Utilities::MPI::some_to_some(comm, asked))
      {
        std::vector<DistributedEntry> &entries = answers[rank];
        for (const Index row : rows)
          {
            const auto own = owned_rows.index_within_set(row);
            for (int p = row_offsets[own]; p < row_offsets[own + 1]; ++p)
              entries.push_back({row, columns[p], values[p]});
          }
      }

    // owned rows ascend with the rank, and each rank answers in the order in which it is asked
    DistributedRows  result;
    std::vector<int> lengths(ghosts.n_elements(), 0);
    for (const auto &[rank, entries] : Utilities::MPI::some_to_some(comm, answers))
      for (const DistributedEntry &entry : entries)
        {
          ++lengths[ghosts.index_within_set(entry.row)];
          result.columns.push_back(entry.column);
          result.values.push_back(entry.value);
        }
    for (const int length : lengths)
      result.row_offsets.push_back(result.row_offsets.back() + length);
    return result;
  }

  void DistributedRows::clear_rows(const IndexSet &owned_rows, const IndexSet &rows)
  {
    int kept = 0;
    for (std::size_t row = 0, begin = 0; row + 1 < row_offsets.size(); ++row)
      {
        const std::size_t end = row_offsets[row + 1];
        if (!rows.is_element(owned_rows.nth_index_in_set(row)))
          for (std::size_t p = begin; p < end; ++p, ++kept)
            {
              columns[kept] = columns[p];
              values[kept]  = values[p];
            }
        row_offsets[row + 1] = kept;
        begin                = end;
      }
    columns.resize(kept);
    values.resize(kept);
  }

  void DistributedRows::append(const DistributedRows &rows)
  {
    const int before = row_offsets.back();
    for (std::size_t i = 1; i < rows.row_offsets.size(); ++i)
      row_offsets.push_back(before + rows.row_offsets[i]);
    columns.insert(columns.end(), rows.columns.begin(), rows.columns.end());
    values.insert(values.end(), rows.values.begin(), rows.values.end());
  }

  void DistributedRows::add_ghosts(const IndexSet &owned_columns, IndexSet &ghosts) const
  {
    const Index        first = first_of(owned_columns), n = owned_columns.n_elements();
    std::vector<Index> found;
    for (const Index column : columns)
      if (column < first || column >= first + n)
        found.push_back(column);
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    ghosts.add_indices(found.begin(), found.end());
  }

  int local_index(Index global, const IndexSet &owned, const IndexSet &ghosts)
  {
    const Index first = first_of(owned), n = owned.n_elements();
    return static_cast<int>(global >= first && global < first + n ? global - first : n + ghosts.index_within_set(global));
  }

  CrsMatrix<double> DistributedRows::number(const IndexSet &owned_columns, const IndexSet &ghosts) const
  {
    CrsMatrix<double> matrix;
    matrix.n_rows      = static_cast<int>(row_offsets.size()) - 1;
    matrix.n_columns   = static_cast<int>(owned_columns.n_elements() + ghosts.n_elements());
    matrix.row_offsets = row_offsets;
    matrix.values      = values;
    matrix.columns.reserve(columns.size());
    for (const Index column : columns)
      matrix.columns.push_back(local_index(column, owned_columns, ghosts));
    return matrix;
  }
} // namespace leopard
