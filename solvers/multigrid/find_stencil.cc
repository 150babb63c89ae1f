// SPDX-License-Identifier: Apache-2.0
#include "find_stencil.h"

#include "../base/errors.h"
#include "../base/norms.h"
#include "../base/thread_pool.h"
#include "../base/together_by_sums.h"
#include "../matrix/matrix_entries.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

namespace leopard
{
  namespace
  {
    constexpr const char *first_row = " (the first row is 0)"; ///< for messages

    /** What is wrong, for why_not. */
    struct NotFound : Error
    {
      using Error::Error;
    };

    std::string text_of(double value)
    {
      char text[32];
      std::snprintf(text, sizeof(text), "%.6g", value);
      return text;
    }

    bool is_coupled(const CrsMatrix<double> &A, int i)
    {
      for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
        if (A.columns[p] != i && A.values[p] != 0.)
          return true;
      return false;
    }

    const Communication<double> &communication_of(const RowsOfRanks &ranks)
    {
      static const Communication<double> one_rank;
      return ranks.communication != nullptr ? *ranks.communication : one_rank;
    }

    /** Rows at the nodes of a lattice, that of all ranks. */
    class Lattice
    {
    public:
      Lattice(const CrsMatrix<double> &A_, const std::vector<double> &coordinates_, int dim_, const RowsOfRanks &ranks_)
        : A(A_)
        , coordinates(coordinates_)
        , dim(dim_)
        , is_isolated(A_.n_rows)
        , ranks(ranks_)
        , all(communication_of(ranks_))
      {
        find_isolated_rows();
        together([this] { check_coordinates(); }, ranks.communication);
        fetch_coordinates_of_ghosts();
        measure();
        together([this] { place(); }, ranks.communication);
        fetch_nodes_of_ghosts();
      }

      /** Position of a row in intervals from the lattice's corner. */
      std::array<int, 3> position(int row) const
      {
        std::array<int, 3> p = {0, 0, 0};
        for (int d = 0; d < dim; ++d)
          p[d] = static_cast<int>(std::lround((coordinates[static_cast<std::size_t>(row) * dim + d] - lower[d]) / interval[d]));
        return p;
      }

      const CrsMatrix<double>   &A;
      const std::vector<double> &coordinates;
      const int                  dim;
      std::vector<char>          is_isolated;
      std::array<int, 3>         n = {1, 1, 1};
      std::vector<int>           rows, isolated_rows; ///< row of each node; the others
      std::vector<int>           node;                ///< of each column; -1: none

    private:
      double coordinate(int column, int d) const
      {
        return column < A.n_rows ? coordinates[static_cast<std::size_t>(column) * dim + d] : of_ghosts[d][column];
      }

      void fetch_coordinates_of_ghosts()
      {
        if (ranks.communication == nullptr)
          return;
        of_ghosts.assign(dim, std::vector<double>(A.n_columns));
        for (int d = 0; d < dim; ++d)
          {
            for (int i = 0; i < A.n_rows; ++i)
              of_ghosts[d][i] = coordinate(i, d);
            all.update_ghosts(of_ghosts[d].data(), MemorySpace::host);
          }
      }

      void fetch_nodes_of_ghosts()
      {
        if (ranks.communication == nullptr)
          return;
        std::vector<double> nodes(node.begin(), node.end());
        nodes.resize(A.n_columns);
        all.update_ghosts(nodes.data(), MemorySpace::host);
        node.assign(nodes.begin(), nodes.end());
      }

      void find_isolated_rows()
      {
        for (int i = 0; i < A.n_rows; ++i)
          {
            is_isolated[i] = !is_coupled(A, i);
            if (is_isolated[i])
              isolated_rows.push_back(i);
          }
        n_found = all.sum(static_cast<double>(A.n_rows) - static_cast<double>(isolated_rows.size()));
        if (n_found == 0.)
          throw NotFound{"no row is coupled to another"};
      }

      /** @throws InvalidInput. What is no number has no node, and passes every comparison of distances. */
      void check_coordinates() const
      {
        for (int i = 0; i < A.n_rows; ++i)
          for (int d = 0; d < dim && !is_isolated[i]; ++d)
            if (const double x = coordinates[static_cast<std::size_t>(i) * dim + d]; !std::isfinite(x))
              throw InvalidInput("find_stencil: coordinate " + std::to_string(d) + " of row " + std::to_string(ranks.first + i) + " is " +
                                 text_of(x) + first_row + "\n  expected: finite numbers");
      }

      void measure()
      {
        constexpr double infinity   = std::numeric_limits<double>::infinity();
        lower                       = {infinity, infinity, infinity};
        std::array<double, 3> upper = {-infinity, -infinity, -infinity};
        for (int i = 0; i < A.n_rows; ++i)
          if (!is_isolated[i])
            for (int d = 0; d < dim; ++d)
              {
                const double x = coordinates[static_cast<std::size_t>(i) * dim + d];
                lower[d]       = std::min(lower[d], x);
                upper[d]       = std::max(upper[d], x);
              }
        for (int d = 0; d < dim; ++d)
          {
            lower[d] = -all.max(-lower[d]);
            upper[d] = all.max(upper[d]);
          }
        // the shortest distance of coupled rows in each direction
        std::array<double, 3> shortest = {infinity, infinity, infinity};
        for (int i = 0; i < A.n_rows; ++i)
          for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
            if (A.columns[p] != i && A.values[p] != 0.)
              for (int d = 0; d < dim; ++d)
                {
                  const double distance = std::abs(coordinate(A.columns[p], d) - coordinate(i, d));
                  if (distance > 1e-6 * (upper[d] - lower[d]))
                    shortest[d] = std::min(shortest[d], distance);
                }
        for (int d = 0; d < dim; ++d)
          shortest[d] = -all.max(-shortest[d]);
        double n_nodes = 1.;
        for (int d = 0; d < dim; ++d)
          if (upper[d] > lower[d])
            {
              if (shortest[d] == infinity)
                throw NotFound{"no rows are coupled in direction " + std::to_string(d)};
              // the mean interval, so that rounding does not add up
              n[d]        = static_cast<int>(std::min(1e9, std::round((upper[d] - lower[d]) / shortest[d]))) + 1;
              interval[d] = (upper[d] - lower[d]) / (n[d] - 1);
              n_nodes *= n[d];
            }
        if (n_nodes != n_found)
          throw NotFound{"a lattice of " + std::to_string(n[0]) + " x " + std::to_string(n[1]) + " x " + std::to_string(n[2]) + " nodes has " +
                         text_of(n_nodes) + " of them, and there are " + text_of(n_found) + " coupled rows"};
      }

      void place()
      {
        const bool is_whole = ranks.communication == nullptr;
        rows.assign(is_whole ? A.n_rows - isolated_rows.size() : 0, -1);
        node.assign(A.n_rows, -1);
        for (int i = 0; i < A.n_rows; ++i)
          {
            if (is_isolated[i])
              continue;
            const auto p = position(i);
            for (int d = 0; d < dim; ++d)
              if (!reached(std::abs(lower[d] + p[d] * interval[d] - coordinates[static_cast<std::size_t>(i) * dim + d]), 1e-4 * interval[d]))
                throw NotFound{"row " + std::to_string(ranks.first + i) + " does not stand at a node of the lattice: its coordinate " +
                               std::to_string(d) + " is " + text_of(coordinates[static_cast<std::size_t>(i) * dim + d]) + first_row};
            node[i] = (p[2] * n[1] + p[1]) * n[0] + p[0];
            if (!is_whole)
              rows.push_back(i);
            else if (rows[node[i]] >= 0)
              complain_of_same_place(rows[node[i]], i);
            else
              rows[node[i]] = i;
          }
        if (is_whole)
          return;
        std::sort(rows.begin(), rows.end(), [this](int i, int j) { return node[i] < node[j]; });
        for (std::size_t k = 1; k < rows.size(); ++k)
          if (node[rows[k]] == node[rows[k - 1]])
            complain_of_same_place(rows[k - 1], rows[k]);
      }

      [[noreturn]] void complain_of_same_place(int i, int j) const
      {
        throw NotFound{"the rows " + std::to_string(ranks.first + i) + " and " + std::to_string(ranks.first + j) + " stand at the same place" +
                       first_row};
      }

      const RowsOfRanks               &ranks;
      const Communication<double>     &all;
      double                           n_found = 0.; ///< coupled rows
      std::vector<std::vector<double>> of_ghosts;    ///< the coordinates of columns, a direction; one rank: none
      std::array<double, 3>            lower, interval = {1., 1., 1.};
    };

    /** The values that the entries of one direction have. */
    struct Range
    {
      double smallest = std::numeric_limits<double>::infinity(), largest = -std::numeric_limits<double>::infinity(), sum = 0.;
      int    count = 0, row_of_smallest = -1, row_of_largest = -1; ///< the first with these values

      /** The last with an entry unlike those before. */
      int row() const { return std::max(row_of_smallest, row_of_largest); }

      void add(double value, int from_row)
      {
        widen(value, from_row, value, from_row);
        sum += value;
        ++count;
      }

      /** Values of later rows. */
      void add(const Range &later)
      {
        widen(later.smallest, later.row_of_smallest, later.largest, later.row_of_largest);
        sum += later.sum;
        count += later.count;
      }

      /** That of all ranks. */
      void add_others(const Communication<double> &all)
      {
        const bool varies_here = !(smallest >= largest), is_here = count > 0;
        count = static_cast<int>(all.sum(count));
        if (count == 0)
          return;
        const double smallest_of_all = -all.max(-smallest), largest_of_all = all.max(largest);
        sum             = all.sum(sum);
        row_of_smallest = row_of_largest = static_cast<int>(all.max(is_here && (varies_here || smallest > smallest_of_all) ? row() : -1));
        smallest                         = smallest_of_all;
        largest                          = std::isnan(sum) ? sum : largest_of_all; // a maximum over ranks may forget what is no number
      }

    private:
      void widen(double low, int row_of_low, double high, int row_of_high)
      {
        if (low < smallest)
          {
            smallest        = low;
            row_of_smallest = row_of_low;
          }
        if (high > largest || std::isnan(high)) // which stays, and is found
          {
            largest        = high;
            row_of_largest = row_of_high;
          }
      }
    };

    int slot_of(const std::array<int, 3> &offset)
    {
      return ((offset[2] + 1) * 3 + offset[1] + 1) * 3 + offset[0] + 1;
    }

    std::array<int, 3> position_of(int node, const Stencil<double> &grid)
    {
      return {node % grid.n_x, node / grid.n_x % grid.n_y, node / (grid.n_x * grid.n_y)};
    }

    using Ranges = std::array<Range, 27>;

    /** Of the nodes begin <= k < end of the own ones. @param first the number of the first own row, for messages. */
    Ranges ranges_of_nodes(const CrsMatrix<double> &A, const FoundStencil &found, int first, std::size_t begin, std::size_t end)
    {
      const auto name = [&](int i) { return i < A.n_rows ? "row " + std::to_string(first + i) : "a row of another rank"; };

      Ranges ranges;
      for (std::size_t k = begin; k < end; ++k)
        {
          const int  i    = found.rows[k];
          const auto here = position_of(found.nodes[i], found.stencil);
          for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
            {
              if (A.values[p] == 0. && A.columns[p] != i)
                continue;
              if (found.nodes[A.columns[p]] < 0)
                throw NotFound{name(i) + " is coupled to " + name(A.columns[p]) + ", which is a row of boundary values" + first_row};
              const auto         there  = position_of(found.nodes[A.columns[p]], found.stencil);
              std::array<int, 3> offset = {0, 0, 0};
              for (int d = 0; d < 3; ++d)
                {
                  offset[d] = there[d] - here[d];
                  if (std::abs(offset[d]) > 1)
                    throw NotFound{name(i) + " is coupled to " + name(A.columns[p]) + ", which is more than one interval away" + first_row};
                }
              ranges[slot_of(offset)].add(A.values[p], first + i);
            }
        }
      return ranges;
    }

    /** Of the own rows, in parts whose number does not depend on the threads; a rank has its own thread only. */
    Ranges own_ranges(const CrsMatrix<double> &A, const FoundStencil &found, const RowsOfRanks &ranks)
    {
      constexpr std::size_t nodes_a_part = 65536;
      const std::size_t     n = found.rows.size(), n_parts = (n + nodes_a_part - 1) / nodes_a_part;
      std::vector<Ranges>   parts(n_parts);
      parallel_for(*shared_thread_pool(ranks.communication == nullptr ? 0 : 1), static_cast<long>(n_parts), 1, [&](long from, long to) {
        for (long part = from; part < to; ++part)
          parts[part] = ranges_of_nodes(A, found, ranks.first, part * nodes_a_part, std::min(n, (part + 1) * nodes_a_part));
      });
      Ranges result;
      for (const Ranges &part : parts)
        for (std::size_t slot = 0; slot < result.size(); ++slot)
          result[slot].add(part[slot]);
      return result;
    }

    Ranges ranges_of(const CrsMatrix<double> &A, const FoundStencil &found, const RowsOfRanks &ranks)
    {
      Ranges result;
      together([&] { result = own_ranges(A, found, ranks); }, ranks.communication);
      if (ranks.communication != nullptr)
        for (Range &range : result)
          range.add_others(*ranks.communication);
      return result;
    }

    /**
     * The diagonal that varies. @param scale of all ranks'. @throws InvalidInput, on all ranks, where an entry is zero.
     */
    void read_diagonal(FoundStencil &found, const CrsMatrix<double> &A, double scale, const RowsOfRanks &ranks)
    {
      std::vector<double> &diagonal = ranks.communication == nullptr ? found.stencil.diagonal : found.own_diagonal;
      for (const int i : found.rows)
        diagonal.push_back(entry(A, i, i));
      found.diagonal_varies = true;
      if (ranks.communication == nullptr)
        return;
      found.stencil.coefficient(0, 0, 0) = scale; // which nobody uses
      together(
        [&] {
          Stencil<double> own; // of as many rows, for its check
          own.n_x      = static_cast<int>(diagonal.size());
          own.diagonal = diagonal;
          if (!diagonal.empty())
            own.validate();
        },
        ranks.communication);
    }

    /** What depends on values, for rows that have been placed. */
    void read_values(FoundStencil &found, const CrsMatrix<double> &A, double tolerance, const RowsOfRanks &ranks)
    {
      Ranges           ranges  = ranges_of(A, found, ranks);
      Stencil<double> &stencil = found.stencil;
      stencil.coefficients     = {};
      stencil.diagonal.clear();
      found.own_diagonal.clear();
      found.diagonal_varies = false;
      found.deviation       = 0.;
      for (std::size_t n = 0; n < found.isolated_rows.size(); ++n)
        found.isolated_diagonal[n] = entry(A, found.isolated_rows[n], found.isolated_rows[n]);

      const Range &center = ranges[slot_of({0, 0, 0})];
      const double scale  = std::max(std::abs(center.smallest), std::abs(center.largest));
      for (int slot = 0; slot < 27; ++slot)
        {
          const std::array<int, 3> offset = {slot % 3 - 1, slot / 3 % 3 - 1, slot / 9 - 1};
          Range                   &range  = ranges[slot];
          if (range.count == 0)
            continue;
          const int n_expected = (stencil.n_x - std::abs(offset[0])) * (stencil.n_y - std::abs(offset[1])) * (stencil.n_z - std::abs(offset[2]));
          if (range.count < n_expected)
            range.add(0., range.row()); // entries that are not stored
          const double difference = range.largest - range.smallest;
          if (slot == slot_of({0, 0, 0}) && !reached(difference, tolerance * scale))
            {
              read_diagonal(found, A, scale, ranks);
              continue;
            }
          if (!reached(difference, tolerance * scale))
            throw NotFound{"the coefficient of the neighbour at (" + std::to_string(offset[0]) + ", " + std::to_string(offset[1]) + ", " +
                           std::to_string(offset[2]) + ") varies from " + text_of(range.smallest) + " to " + text_of(range.largest) + " (row " +
                           std::to_string(range.row()) + ", the first is 0)"};
          const bool   vanishes = reached(std::max(std::abs(range.smallest), std::abs(range.largest)), tolerance * scale);
          const double value = vanishes ? 0. : difference == 0. ? range.smallest : std::clamp(range.sum / range.count, range.smallest, range.largest);
          stencil.coefficient(offset[0], offset[1], offset[2]) = value;
          found.deviation = std::max({found.deviation, (range.largest - value) / scale, (value - range.smallest) / scale});
        }
      stencil.validate();
    }

    FoundStencil find(const CrsMatrix<double> &A, const std::vector<double> &coordinates, int dim, double tolerance, const RowsOfRanks &ranks)
    {
      Lattice      lattice(A, coordinates, dim, ranks);
      FoundStencil found;
      found.stencil.n_x   = lattice.n[0];
      found.stencil.n_y   = lattice.n[1];
      found.stencil.n_z   = lattice.n[2];
      found.rows          = std::move(lattice.rows);
      found.nodes         = std::move(lattice.node);
      found.isolated_rows = std::move(lattice.isolated_rows);
      found.isolated_diagonal.resize(found.isolated_rows.size());
      read_values(found, A, tolerance, ranks);
      return found;
    }

    /** What find() returns; nothing, and why, where it throws NotFound, on this or on another rank. */
    template <typename Find>
    std::optional<FoundStencil> or_nothing(const Find &find, std::string *why_not)
    {
      try
        {
          return find();
        }
      catch (const InvalidInput &)
        {
          throw;
        }
      catch (const Error &not_found)
        {
          if (why_not != nullptr)
            *why_not = not_found.what();
          return std::nullopt;
        }
    }
  } // namespace

  std::optional<FoundStencil> find_stencil(
    const CrsMatrix<double> &A, const std::vector<double> &coordinates, int dim, std::string *why_not, double tolerance, const RowsOfRanks &ranks)
  {
    if (A.n_columns != A.n_rows && ranks.communication == nullptr)
      throw InvalidInput("find_stencil: the matrix has " + std::to_string(A.n_columns - A.n_rows) +
                         " ghost columns\n  expected: none, a whole matrix, or the ranks that share it");
    if (dim < 1 || dim > 3 || coordinates.size() != static_cast<std::size_t>(A.n_rows) * dim)
      throw InvalidInput("find_stencil: " + std::to_string(coordinates.size()) + " coordinates in " + std::to_string(dim) +
                         " dimensions\n  expected: 1, 2 or 3 dimensions, and that many coordinates for each of the " + std::to_string(A.n_rows) +
                         " rows");
    return or_nothing([&] { return find(A, coordinates, dim, tolerance, ranks); }, why_not);
  }

  std::optional<FoundStencil> find_stencil_on_grid(const CrsMatrix<double> &A, const std::array<int, 3> &n, std::string *why_not, double tolerance)
  {
    if (A.n_columns != A.n_rows || static_cast<double>(n[0]) * n[1] * n[2] != A.n_rows)
      throw InvalidInput("find_stencil_on_grid: a matrix of " + std::to_string(A.n_rows) + " x " + std::to_string(A.n_columns) + " for " +
                         std::to_string(n[0]) + " x " + std::to_string(n[1]) + " x " + std::to_string(n[2]) +
                         " nodes\n  expected: a square one with as many rows as nodes");
    const auto find_it = [&] {
      FoundStencil found;
      found.stencil.n_x = n[0];
      found.stencil.n_y = n[1];
      found.stencil.n_z = n[2];
      found.rows.resize(A.n_rows);
      std::iota(found.rows.begin(), found.rows.end(), 0);
      found.nodes = found.rows;
      read_values(found, A, tolerance, {});
      return found;
    };
    return or_nothing(find_it, why_not);
  }

  bool update_stencil(FoundStencil &found, const CrsMatrix<double> &A, double tolerance, const RowsOfRanks &ranks)
  {
    if ((A.n_columns != A.n_rows && ranks.communication == nullptr) || found.nodes.size() != static_cast<std::size_t>(A.n_columns))
      throw InvalidInput("update_stencil: a matrix of " + std::to_string(A.n_rows) + " x " + std::to_string(A.n_columns) + "\n  expected: one of " +
                         std::to_string(found.nodes.size()) + " rows and columns, as the first");
    const bool is_other = std::any_of(found.isolated_rows.begin(), found.isolated_rows.end(), [&](int row) { return is_coupled(A, row); });
    if (communication_of(ranks).max(is_other ? 1. : 0.) > 0.)
      return false;
    try
      {
        read_values(found, A, tolerance, ranks);
        return true;
      }
    catch (const InvalidInput &)
      {
        throw;
      }
    catch (const Error &)
      {
        return false;
      }
  }
} // namespace leopard
