// SPDX-License-Identifier: Apache-2.0
#include "aggregation.h"

#include "../base/errors.h"
#include "../base/words.h"
#include "../matrix/matrix_entries.h"
#include "../matrix/own_columns.h"
#include "../matrix/rows_in_parts.h"
#include "../matrix/sparse_product.h"
#include "row_of_level.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <string>
#include <utility>

namespace leopard
{
  bool AggregationOptions::is_like_scalar() const
  {
    return is_scalar() ||
           (block_unknowns == 1 && near_null_space.size() == 1 &&
            std::all_of(near_null_space[0].begin(), near_null_space[0].end(), [](double v) { return std::abs(v) > 1e-75 && std::abs(v) < 1e75; }));
  }

  void AggregationOptions::validate() const
  {
    if (!(strength >= 0. && strength < 1.))
      throw InvalidInput("aggregation: strength is " + short_text(strength) + "\n  expected: 0 <= strength < 1");
    if (max_coarse < 1 || max_levels < 1)
      throw InvalidInput("aggregation: max_coarse is " + std::to_string(max_coarse) + " and max_levels " + std::to_string(max_levels) +
                         "\n  expected: at least 1");
    if (!(most_complexity >= 0.))
      throw InvalidInput("aggregation: most_complexity is " + short_text(most_complexity) + "\n  expected: 0 or more");
  }

  namespace
  {
    constexpr int none = -1;

    /** Brings the entries of ghosts up to date in a vector with a number for each column. */
    using UpdateGhosts = std::function<void(std::vector<double> &)>;

    /** How strong the couplings of the rows are; see AggregationOptions. */
    class Couplings
    {
    public:
      Couplings(const CrsMatrix<double> &A_, double strength_, int n_threads, const UpdateGhosts &update_ghosts)
        : A(A_)
        , strength(strength_)
        , sign(diagonal_of(A_))
        , m(A_.n_columns, 0.)
      {
        parallel_for(*shared_thread_pool(n_threads), A.n_rows, 4096, [&](long begin, long end) {
          for (int i = static_cast<int>(begin); i < end; ++i)
            {
              sign[i] = sign[i] < 0. ? 1. : -1.;
              if (!(largest(i) > 0.))
                sign[i] = 0.;
              m[i] = largest(i);
            }
        });
        update_ghosts(m);
      }

      /** Whether no coupling of row i is strong for both of its rows. */
      bool follows(int i) const
      {
        for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
          if (A.columns[p] != i && is_strong(i, p, false))
            return false;
        return true;
      }

      /** @param p an entry of row i. @param follows of that row. */
      bool is_strong(int i, int p, bool follows) const
      {
        if (strength == 0.)
          return A.values[p] != 0.;
        if (follows)
          return of(i, p) > followed * m[i];
        const double m_j = m[A.columns[p]]; // products of roots neither overflow nor vanish where the entries do not
        return of(i, p) > strength * std::min(std::max(m[i], m_j), above_mean * (std::sqrt(m[i]) * std::sqrt(m_j)));
      }

    private:
      double of(int i, int p) const { return sign[i] == 0. ? std::abs(A.values[p]) : sign[i] * A.values[p]; }

      double largest(int i) const
      {
        double result = 0.;
        for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
          if (A.columns[p] != i)
            result = std::max(result, of(i, p));
        return result;
      }

      const CrsMatrix<double> &A;
      const double             strength;
      std::vector<double>      sign, m; ///< sign 0: absolute values
    };

    /**
     * The diagonal and the strong couplings, in A's order; weak ones are added to the diagonal. Without a diagonal
     * entry there is none. @param follows receives Aggregates::follows, of nodes.
     */
    CrsMatrix<double>
    strong_part(const CrsMatrix<double> &A, double strength, int n_threads, const UpdateGhosts &update_ghosts, std::vector<char> &follows)
    {
      const Couplings couplings(A, strength, n_threads, update_ghosts);
      follows.assign(A.n_rows, 0);
      return rows_in_parts<double>(A.n_rows, A.n_columns, n_threads, [&](int begin, int end, CrsMatrix<double> &result) {
        for (int i = begin; i < end; ++i)
          {
            double weak  = 0.;
            long   place = none; // of the diagonal
            follows[i]   = couplings.follows(i) ? 1 : 0;
            for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
              {
                const int j = A.columns[p];
                if (j != i && !couplings.is_strong(i, p, follows[i] != 0))
                  {
                    weak += A.values[p];
                    continue;
                  }
                if (j == i)
                  place = static_cast<long>(result.values.size());
                result.columns.push_back(j);
                result.values.push_back(A.values[p]);
              }
            const bool coupled = static_cast<long>(result.columns.size()) - result.row_offsets.back() > 1; // if not, it is in no aggregate
            if (place != none && weak != 0. && coupled)
              result.values[place] += weak;
            result.row_offsets.push_back(static_cast<int>(result.columns.size()));
          }
      });
    }

    /** Of D^-1 A, a little more than the power method says. */
    double
    largest_eigenvalue(const CrsMatrix<double> &A, const std::vector<double> &diagonal, int n_threads, const Communication<double> &communication)
    {
      const auto          pool = shared_thread_pool(n_threads);
      std::vector<double> v(A.n_columns), next(A.n_columns);
      for (int i = 0; i < A.n_rows; ++i) // rough: all frequencies
        v[i] = std::sin(1. + 1e4 * i);
      for (int iteration = 0;; ++iteration)
        {
          const auto   end  = v.begin() + A.n_rows;
          const double norm = std::sqrt(communication.sum(std::inner_product(v.begin(), end, v.begin(), 0.)));
          if (iteration == 15 || !(norm > 0.))
            return 1.1 * norm;
          communication.update_ghosts(v.data(), MemorySpace::host);
          parallel_for(*pool, A.n_rows, 4096, [&](long begin, long end) {
            for (long i = begin; i < end; ++i)
              {
                double sum = 0.;
                for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
                  sum += A.values[p] * v[A.columns[p]];
                next[i] = diagonal[i] != 0. ? sum / norm / diagonal[i] : 0.;
              }
          });
          v.swap(next);
        }
    }

    /** @param all with ghosts, which are in aggregates of other ranks only. @param follows of its rows. */
    Aggregates aggregates_of(const CrsMatrix<double> &all, const std::vector<char> &follows)
    {
      const bool              ghosts = all.n_columns > all.n_rows;
      const CrsMatrix<double> own = ghosts ? own_columns(all) : CrsMatrix<double>(), &S = ghosts ? own : all;
      Aggregates              result;
      std::vector<int>       &of_row = result.of_row;
      of_row.assign(S.n_rows, none);
      const auto row     = [&](int i) { return std::pair(S.columns.begin() + S.row_offsets[i], S.columns.begin() + S.row_offsets[i + 1]); };
      const auto coupled = [&](int i) {
        const auto begin = all.columns.begin();
        return std::any_of(begin + all.row_offsets[i], begin + all.row_offsets[i + 1], [&](int j) { return j != i; });
      };
      for (int i = 0; i < S.n_rows; ++i)
        {
          const auto [begin, end] = row(i);
          if (of_row[i] != none || follows[i] != 0 || !coupled(i) || !std::all_of(begin, end, [&](int j) { return of_row[j] == none; }))
            continue;
          of_row[i] = result.n;
          std::for_each(begin, end, [&](int j) { of_row[j] = result.n; });
          ++result.n;
        }
      const std::vector<int> first_pass = of_row;
      for (int i = 0; i < S.n_rows; ++i)
        {
          double strongest = 0.;
          for (int p = S.row_offsets[i]; p < S.row_offsets[i + 1] && first_pass[i] == none; ++p)
            if (const int j = S.columns[p]; j != i && first_pass[j] != none && std::abs(S.values[p]) > strongest)
              {
                strongest = std::abs(S.values[p]);
                of_row[i] = first_pass[j];
              }
        }
      for (int i = 0; i < S.n_rows; ++i)
        {
          if (of_row[i] != none || !coupled(i))
            continue;
          const auto [begin, end] = row(i);
          of_row[i]               = result.n;
          std::for_each(begin, end, [&](int j) { of_row[j] = of_row[j] == none ? result.n : of_row[j]; });
          ++result.n;
        }
      return result;
    }

    /**
     * Of rows those of their nodes; -1 also for rows without couplings, such as the identity's of an unknown that is
     * prescribed in a node with others that are not.
     */
    std::vector<int> aggregates_of_rows(const CrsMatrix<double> &A, const std::vector<int> &of_node, const std::vector<int> &node_of)
    {
      std::vector<int> result(A.n_rows, none);
      for (int i = 0; i < A.n_rows; ++i)
        for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1] && result[i] == none; ++p)
          if (A.columns[p] != i && A.values[p] != 0.)
            result[i] = of_node[node_of[i]];
      return result;
    }

    /**
     * The strong couplings of one row of a system: entries whose nodes are strongly coupled, in A's order; weak ones
     * are added to the entry of the same unknown in the row's own node.
     */
    class StrongRow
    {
    public:
      StrongRow(const CrsMatrix<double> &A_, const CrsMatrix<double> &strong_, const NearNullSpace &space_, const std::vector<int> &node_of_)
        : A(A_)
        , strong(strong_)
        , space(space_)
        , node_of(node_of_)
        , row_of_node(strong_.n_columns, none)
      {
      }

      /** Appends it. @param lost row i of (A - A_s) B, n_vectors numbers. */
      void append(int i, CrsMatrix<double> &result, double *lost)
      {
        const int node = node_of.empty() ? i : node_of[i], first = space.first_of(node), n = space.first_of(node + 1) - first;
        for (int p = strong.row_offsets[node]; p < strong.row_offsets[node + 1]; ++p)
          row_of_node[strong.columns[p]] = i;
        weak.assign(n, 0.);
        place.assign(n, none);
        for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
          {
            const int j = A.columns[p], other = node_of.empty() ? j : node_of[j], unknown = j - space.first_of(other);
            if (row_of_node[other] != i)
              {
                if (unknown < n)
                  weak[unknown] += A.values[p];
                for (int k = 0; k < space.n_vectors; ++k)
                  lost[k] += A.values[p] * (entry_of_vector(j, k) - (unknown < n ? entry_of_vector(first + unknown, k) : 0.));
                continue;
              }
            if (other == node)
              place[unknown] = static_cast<int>(result.columns.size());
            result.columns.push_back(j);
            result.values.push_back(A.values[p]);
          }
        for (int unknown = 0; unknown < n; ++unknown)
          if (place[unknown] != none)
            result.values[place[unknown]] += weak[unknown];
          else if (weak[unknown] != 0.)
            {
              result.columns.push_back(first + unknown);
              result.values.push_back(weak[unknown]);
            }
        result.row_offsets.push_back(static_cast<int>(result.columns.size()));
      }

    private:
      double entry_of_vector(int i, int k) const { return space.values[static_cast<std::size_t>(i) * space.n_vectors + k]; }

      const CrsMatrix<double> &A, &strong;
      const NearNullSpace     &space;
      const std::vector<int>  &node_of;
      std::vector<int>         row_of_node, place; ///< the last row that a node is strongly coupled to; places of the node's own entries
      std::vector<double>      weak;               ///< for each unknown of the node
    };

    /** A_s of a system and (A - A_s) B, of the strong couplings of its nodes. */
    void take_strong_rows(const CrsMatrix<double> &A, const CrsMatrix<double> &strong, const NearNullSpace &space, int n_threads, Aggregates &result)
    {
      const std::vector<int> node_of = nodes_of_rows(space);
      result.lost.assign(static_cast<std::size_t>(A.n_rows) * space.n_vectors, 0.);
      result.strong = rows_in_parts<double>(A.n_rows, A.n_columns, n_threads, [&](int begin, int end, CrsMatrix<double> &part) {
        StrongRow row(A, strong, space, node_of);
        for (int i = begin; i < end; ++i)
          row.append(i, part, result.lost.data() + static_cast<std::size_t>(i) * space.n_vectors);
      });
    }

    /** A sum of multiples of rows of a matrix, terms of an entry in the order in which they come. */
    class SumOfRows
    {
    public:
      explicit SumOfRows(const CrsMatrix<double> &A_)
        : A(A_)
        , sum(A_.n_columns)
        , is_there(A_.n_columns, 0)
      {
      }

      void add(int column, double value)
      {
        sum[column] = is_there[column] != 0 ? sum[column] + value : value;
        if (is_there[column] == 0)
          columns.push_back(column);
        is_there[column] = 1;
      }

      void add_row(int i, double factor)
      {
        for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
          add(A.columns[p], factor * A.values[p]);
      }

      /** As a row sorted by column; begins the next sum. */
      void append_to(CrsMatrix<double> &result)
      {
        std::sort(columns.begin(), columns.end());
        for (const int column : columns)
          {
            result.columns.push_back(column);
            result.values.push_back(sum[column]);
            is_there[column] = 0;
          }
        columns.clear();
        result.row_offsets.push_back(static_cast<int>(result.columns.size()));
      }

    private:
      const CrsMatrix<double> &A;
      std::vector<double>      sum;
      std::vector<char>        is_there;
      std::vector<int>         columns;
    };

    /** Gives what A_s has lost of A B to motions of aggregates, as columns of the prolongation. */
    class LostMotions
    {
    public:
      LostMotions(const Aggregates &aggregates_, const NearNullSpace &coarse_)
        : aggregates(aggregates_)
        , coarse(coarse_)
        , rest(coarse_.n_vectors)
      {
      }

      /**
       * Adds factor times that of row i: to its aggregate, and what that does not reach to another it is coupled to.
       */
      void add(int i, double factor, SumOfRows &sum)
      {
        const CrsMatrix<double> &S   = aggregates.strong;
        const int                own = aggregates.of_row[i];
        std::copy_n(aggregates.lost.data() + static_cast<std::size_t>(i) * coarse.n_vectors, coarse.n_vectors, rest.data());
        give(own, factor, sum);
        for (int p = S.row_offsets[i]; p < S.row_offsets[i + 1] && !is_whole(own); ++p)
          if (const int other = S.columns[p] < S.n_rows ? aggregates.of_row[S.columns[p]] : none; other != none && is_whole(other))
            {
              give(other, factor, sum);
              return;
            }
      }

    private:
      int  rank(int aggregate) const { return coarse.first_row[aggregate + 1] - coarse.first_row[aggregate]; }
      bool is_whole(int aggregate) const { return rank(aggregate) == coarse.n_vectors; }

      /**
       * Takes x R off the rest: R has its pivots in columns of growing number, in which the rest is zero afterwards; of
       * full rank all of it.
       */
      void give(int aggregate, double factor, SumOfRows &sum)
      {
        const int     m = coarse.n_vectors, first = coarse.first_row[aggregate];
        const double *R     = coarse.values.data() + static_cast<std::size_t>(first) * m;
        int           pivot = 0;
        for (int l = 0; l < rank(aggregate); ++l, ++pivot)
          {
            while (R[l * m + pivot] == 0.)
              ++pivot;
            const double x = rest[pivot] / R[l * m + pivot];
            for (int k = pivot; k < m; ++k)
              rest[k] -= x * R[l * m + k];
            sum.add(first + l, factor * x);
          }
      }

      const Aggregates    &aggregates;
      const NearNullSpace &coarse;
      std::vector<double>  rest;
    };
  } // namespace

  Aggregates
  aggregate(const CrsMatrix<double> &A, double strength, int n_threads, const NearNullSpace &space, const Communication<double> &communication)
  {
    const std::vector<int> node_of       = nodes_of_rows(space);
    const auto             update_ghosts = [&](std::vector<double> &of_node) {
      std::vector<double> of_column(A.n_columns);
      for (int j = 0; j < A.n_columns; ++j)
        of_column[j] = of_node[node_of.empty() ? j : node_of[j]];
      communication.update_ghosts(of_column.data(), MemorySpace::host);
      for (int j = A.n_rows; j < A.n_columns; ++j)
        of_node[node_of.empty() ? j : node_of[j]] = of_column[j];
    };
    std::vector<char> follows;
    CrsMatrix<double> strong =
      strong_part(space.is_scalar() ? A : couplings_of_nodes(A, space, n_threads), strength, n_threads, update_ghosts, follows);
    Aggregates result = aggregates_of(strong, follows);
    result.follows    = std::move(follows);
    if (!node_of.empty())
      result.of_row = aggregates_of_rows(A, result.of_row, node_of);
    if (space.is_scalar())
      result.strong = std::move(strong);
    else
      take_strong_rows(A, strong, space, n_threads, result);
    result.diagonal = diagonal_of(space.is_scalar() ? result.strong : A);
    return result;
  }

  bool is_worth_a_level(long n_coarse, long n_fine)
  {
    return 4 * n_coarse <= 3 * n_fine;
  }

  void check_complexity(double n_entries, double n_finest, double most)
  {
    if (most > 0. && !(n_entries <= most * n_finest))
      throw LevelsFillUp("aggregation: coarse levels fill up, to more than " + short_text(most, 3) +
                         " times the entries of the matrix\n  expected: a matrix like those of meshes, or no limit");
  }

  void check_diagonal(const Aggregates &aggregates)
  {
    for (std::size_t i = 0; i < aggregates.of_row.size(); ++i)
      if (aggregates.of_row[i] != none && !(std::abs(aggregates.diagonal[i]) > 0.))
        throw InvalidInput("aggregation: row " + std::to_string(i) + " has the diagonal entry " + short_text(aggregates.diagonal[i]) +
                           " where weak couplings are added to it (the first row is 0)\n  expected: a number that is not zero");
  }

  CrsMatrix<double> smoothed_prolongation(const Aggregates &aggregates, int n_threads)
  {
    return smoothed_prolongation(aggregates, tentative_prolongation(aggregates.of_row, aggregates.n, {}, n_threads), n_threads);
  }

  CrsMatrix<double> smoothed_prolongation(const Aggregates            &aggregates,
                                          const TentativeProlongation &tentative,
                                          int                          n_threads,
                                          const Communication<double> &communication)
  {
    const CrsMatrix<double>   &S        = aggregates.strong;
    const std::vector<double> &diagonal = aggregates.diagonal;
    const std::vector<int>    &of_row   = aggregates.of_row;
    check_diagonal(aggregates);
    const double factor = 4. / (3. * largest_eigenvalue(S, diagonal, n_threads, communication));
    return rows_in_parts<double>(S.n_rows, tentative.prolongation.n_columns, n_threads, [&](int begin, int end, CrsMatrix<double> &P) {
      SumOfRows   sum(tentative.prolongation);
      LostMotions lost(aggregates, tentative.coarse);
      for (int i = begin; i < end; ++i)
        {
          for (int p = S.row_offsets[i]; p < S.row_offsets[i + 1] && of_row[i] != none; ++p)
            sum.add_row(S.columns[p], -factor / diagonal[i] * S.values[p] + (S.columns[p] == i ? 1. : 0.));
          if (of_row[i] != none && tentative.coarse.n_vectors > 0)
            lost.add(i, -factor / diagonal[i], sum);
          sum.append_to(P);
        }
    });
  }

  void check_for_aggregation(const CrsMatrix<double> &A)
  {
    A.validate();
    if (A.n_columns != A.n_rows)
      throw InvalidInput("aggregation: a matrix with " + std::to_string(A.n_rows) + " rows and " + std::to_string(A.n_columns) +
                         " columns\n  expected: a square one, without ghosts");
  }

  bool hold_free_motions(CrsMatrix<double> &A, const NearNullSpace &space, bool is_coarse)
  {
    constexpr int most    = 5000; // rows of a dense matrix
    const auto    motions = free_motions(A, space);
    if (motions.empty())
      return false;
    if (!is_coarse || A.n_rows > most)
      throw InvalidInput("aggregation: the matrix is singular, as it maps " + std::to_string(motions.size()) +
                         " of the vectors near its null space, or combinations, to zero, and " +
                         (is_coarse ? "its coarsest level has " + std::to_string(A.n_rows) + " rows" : "has no coarse level") +
                         "\n  expected: a regular matrix, or coarse levels with at most " + std::to_string(most) + " rows");
    A = with_held_motions(A, motions);
    return true;
  }

  void check_coarsest(long n_rows, const AggregationOptions &options)
  {
    if (options.most_complexity > 0. && n_rows > 3l * options.max_coarse)
      throw LevelsFillUp("aggregation: the coarsest level has " + std::to_string(n_rows) +
                         " rows, as hardly any are coupled so that they become one\n  expected: at most " + std::to_string(3l * options.max_coarse));
  }

  GalerkinProduct galerkin_on_host(const AggregationOptions &options, double n_finest)
  {
    return [n_threads = options.n_threads, most = options.most_complexity, n_finest](const CrsMatrix<double> &A, const CrsMatrix<double> &P) {
      const CrsMatrix<double> AP = product(A, P, n_threads);
      check_complexity(AP.n_entries(), n_finest, most);
      return product(transpose(P, n_threads), AP, n_threads);
    };
  }

  MultigridHierarchy aggregation_hierarchy(const CrsMatrix<double> &A, const AggregationOptions &options, GalerkinProduct galerkin)
  {
    options.validate();
    check_for_aggregation(A);
    NearNullSpace      space = make_near_null_space(A.n_rows, options.block_unknowns, options.near_null_space);
    MultigridHierarchy result;
    result.levels.resize(1);
    result.levels[0].matrix = A;
    const double n_finest   = A.n_entries();
    double       n_entries  = n_finest; // of all levels
    if (!galerkin)
      galerkin = galerkin_on_host(options, n_finest);
    while (static_cast<int>(result.levels.size()) < options.max_levels)
      {
        MultigridLevel &fine = result.levels.back();
        if (fine.matrix.n_rows <= options.max_coarse)
          break;
        const RowsOfLevel     rows       = {fine.matrix.n_rows, result.levels.size() > 1, false};
        const Aggregates      aggregates = aggregate(fine.matrix, options.strength, options.n_threads, space);
        TentativeProlongation tentative  = tentative_prolongation(aggregates.of_row, aggregates.n, space, options.n_threads);
        if (tentative.prolongation.n_columns == 0 || !is_worth_a_level(tentative.prolongation.n_columns, fine.matrix.n_rows))
          break;
        MultigridLevel coarse;
        fine.prolongation = on_level(rows, [&] { return smoothed_prolongation(aggregates, tentative, options.n_threads); });
        check_complexity(fine.prolongation.n_entries(), n_finest, options.most_complexity);
        coarse.matrix = galerkin(fine.matrix, fine.prolongation);
        space         = std::move(tentative.coarse);
        n_entries += coarse.matrix.n_entries();
        check_complexity(n_entries, n_finest, options.most_complexity);
        result.levels.push_back(std::move(coarse));
      }
    check_coarsest(result.levels.back().matrix.n_rows, options);
    if (!options.is_scalar()) // of others the coarse solver takes constants out
      hold_free_motions(result.levels.back().matrix, space, result.levels.size() > 1);
    std::reverse(result.levels.begin(), result.levels.end());
    return result;
  }
} // namespace leopard
