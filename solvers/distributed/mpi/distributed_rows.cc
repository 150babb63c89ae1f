// SPDX-License-Identifier: Apache-2.0
#include "distributed_rows.h"

#include "../../matrix/sparse_product.h"
#include "some_to_some.h"

#include <algorithm>
#include <map>
#include <utility>

namespace leopard
{
  DistributedRows::DistributedRows(const CrsMatrix<double> &matrix, const OwnRange &own_columns, const std::vector<int> &ghosts)
    : row_offsets(matrix.row_offsets)
    , values(matrix.values)
  {
    const int n = own_columns.n();
    columns.reserve(matrix.columns.size());
    for (const int column : matrix.columns)
      columns.push_back(column < n ? own_columns.first() + column : ghosts[column - n]);
  }

  namespace
  {
    /** Entries of rows that other ranks own, sent to them; returns those that have come. */
    std::vector<DistributedEntry> exchange(const std::vector<DistributedEntry> &entries, const OwnRange &rows, MPI_Comm comm)
    {
      std::vector<DistributedEntry> arrived;
      if (rows.n_ranks() == 1)
        return arrived;
      std::map<int, std::vector<DistributedEntry>> to_send;
      for (const DistributedEntry &entry : entries)
        if (!rows.contains(entry.row))
          to_send[rows.owner_of(entry.row)].push_back(entry);
      for (const auto &[rank, received] : some_to_some(to_send, comm))
        arrived.insert(arrived.end(), received.begin(), received.end());
      return arrived;
    }
  } // namespace

  DistributedRows::DistributedRows(const std::vector<DistributedEntry> &entries, const OwnRange &rows, MPI_Comm comm)
  {
    const std::vector<DistributedEntry> arrived = exchange(entries, rows, comm);
    const auto                          each    = [&](const auto &use) {
      for (const auto *list : {&entries, &arrived})
        for (const DistributedEntry &entry : *list)
          if (rows.contains(entry.row))
            use(entry.row - rows.first(), entry);
    };
    // sorted by rows by counting, then each row by columns
    std::vector<int> offsets(rows.n() + 1, 0);
    each([&](int row, const DistributedEntry &) { ++offsets[row + 1]; });
    for (int row = 0; row < rows.n(); ++row)
      offsets[row + 1] += offsets[row];
    std::vector<std::pair<int, double>> sorted(offsets.back());
    std::vector<int>                    position(offsets.begin(), offsets.end() - 1);
    each([&](int row, const DistributedEntry &entry) { sorted[position[row]++] = {entry.column, entry.value}; });
    for (int row = 0; row < rows.n(); ++row)
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

  DistributedRows DistributedRows::transpose(const OwnRange &rows, const OwnRange &own_columns, MPI_Comm comm) const
  {
    std::vector<DistributedEntry> entries;
    entries.reserve(columns.size());
    for (std::size_t row = 0; row + 1 < row_offsets.size(); ++row)
      for (int p = row_offsets[row]; p < row_offsets[row + 1]; ++p)
        entries.push_back({columns[p], rows.first() + static_cast<int>(row), values[p]});
    return DistributedRows(entries, own_columns, comm);
  }

  DistributedRows DistributedRows::rows_of_others(const OwnRange &rows, const std::vector<int> &ghosts, MPI_Comm comm) const
  {
    std::map<int, std::vector<int>> asked;
    for (const int row : ghosts)
      asked[rows.owner_of(row)].push_back(row);

    std::map<int, std::vector<DistributedEntry>> answers;
    for (const auto &[rank, of_rank] : some_to_some(asked, comm))
      {
        std::vector<DistributedEntry> &entries = answers[rank];
        for (const int row : of_rank)
          for (int p = row_offsets[row - rows.first()]; p < row_offsets[row - rows.first() + 1]; ++p)
            entries.push_back({row, columns[p], values[p]});
      }

    // owned rows ascend with the rank, and each rank answers in the order in which it is asked
    DistributedRows  result;
    std::vector<int> lengths(ghosts.size(), 0);
    for (const auto &[rank, entries] : some_to_some(answers, comm))
      for (const DistributedEntry &entry : entries)
        {
          ++lengths[std::lower_bound(ghosts.begin(), ghosts.end(), entry.row) - ghosts.begin()];
          result.columns.push_back(entry.column);
          result.values.push_back(entry.value);
        }
    for (const int length : lengths)
      result.row_offsets.push_back(result.row_offsets.back() + length);
    return result;
  }

  void DistributedRows::clear_rows(const OwnRange &rows, const std::vector<int> &empty)
  {
    int kept = 0;
    for (std::size_t row = 0, begin = 0; row + 1 < row_offsets.size(); ++row)
      {
        const std::size_t end = row_offsets[row + 1];
        if (!std::binary_search(empty.begin(), empty.end(), rows.first() + static_cast<int>(row)))
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

  std::vector<int> DistributedRows::ghosts(const OwnRange &own_columns) const
  {
    std::vector<int> result;
    for (const int column : columns)
      if (!own_columns.contains(column))
        result.push_back(column);
    std::sort(result.begin(), result.end());
    result.erase(std::unique(result.begin(), result.end()), result.end());
    return result;
  }

  DistributedRows own_rows(const CrsMatrix<double> &whole, const OwnRange &rows)
  {
    DistributedRows result;
    for (int i = rows.first(); i < rows.first() + rows.n(); ++i)
      {
        const auto begin = whole.row_offsets[i], end = whole.row_offsets[i + 1];
        result.columns.insert(result.columns.end(), whole.columns.begin() + begin, whole.columns.begin() + end);
        result.values.insert(result.values.end(), whole.values.begin() + begin, whole.values.begin() + end);
        result.row_offsets.push_back(static_cast<int>(result.columns.size()));
      }
    return result;
  }

  int local_index(int number, const OwnRange &own, const std::vector<int> &ghosts)
  {
    if (own.contains(number))
      return number - own.first();
    return own.n() + static_cast<int>(std::lower_bound(ghosts.begin(), ghosts.end(), number) - ghosts.begin());
  }

  CrsMatrix<double> DistributedRows::number(const OwnRange &own_columns, const std::vector<int> &ghosts) const
  {
    CrsMatrix<double> matrix;
    matrix.n_rows      = static_cast<int>(row_offsets.size()) - 1;
    matrix.n_columns   = own_columns.n() + static_cast<int>(ghosts.size());
    matrix.row_offsets = row_offsets;
    matrix.values      = values;
    matrix.columns.reserve(columns.size());
    for (const int column : columns)
      matrix.columns.push_back(local_index(column, own_columns, ghosts));
    return matrix;
  }

  CrsMatrix<double> DistributedRows::gathered(int n_columns, MPI_Comm comm) const
  {
    own_range(static_cast<int>(columns.size()), comm); // throws where there are too many
    CrsMatrix<double> whole;
    std::vector<int>  lengths;
    for (std::size_t row = 0; row + 1 < row_offsets.size(); ++row)
      lengths.push_back(row_offsets[row + 1] - row_offsets[row]);
    for (const int length : leopard::gathered(lengths, comm))
      whole.row_offsets.push_back(whole.row_offsets.back() + length);
    whole.n_rows    = static_cast<int>(whole.row_offsets.size()) - 1;
    whole.n_columns = n_columns;
    whole.columns   = leopard::gathered(columns, comm);
    whole.values    = leopard::gathered(values, comm);
    return whole;
  }

  DistributedRows
  product(const DistributedRows &A, const OwnRange &inner, const DistributedRows &B, const OwnRange &columns, MPI_Comm comm, int n_threads)
  {
    const std::vector<int> read = A.ghosts(inner);
    DistributedRows        rows = B;
    rows.append(B.rows_of_others(inner, read, comm));
    const std::vector<int> ghosts = rows.ghosts(columns);
    return DistributedRows(product(A.number(inner, read), rows.number(columns, ghosts), n_threads), columns, ghosts);
  }

  namespace
  {
    template <typename T>
    std::vector<T> gather_values(const std::vector<T> &own, MPI_Datatype type, MPI_Comm comm)
    {
      const OwnRange range = own_range(static_cast<int>(own.size()), comm);
      std::vector<T> all(range.n_all());
      MPI_Allgatherv(own.data(), range.n(), type, all.data(), range.counts().data(), range.offsets.data(), type, comm);
      return all;
    }
  } // namespace

  std::vector<double> gathered(const std::vector<double> &own, MPI_Comm comm)
  {
    return gather_values(own, MPI_DOUBLE, comm);
  }

  std::vector<int> gathered(const std::vector<int> &own, MPI_Comm comm)
  {
    return gather_values(own, MPI_INT, comm);
  }
} // namespace leopard
