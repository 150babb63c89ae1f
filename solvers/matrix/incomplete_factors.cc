// SPDX-License-Identifier: Apache-2.0
#include "incomplete_factors.h"

#include "../base/errors.h"
#include "../base/norms.h"
#include "../base/thread_pool.h"
#include "../base/usable_resources.h"
#include "../base/words.h"
#include "substitution.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <random>
#include <utility>

namespace leopard
{
  namespace
  {
    constexpr double first_shift = 1e-3;

    constexpr long rows_of_part = 4096, rows_of_norm = 1 << 14;

    /** That eliminate by levels: rows of a level lie apart in memory, which costs time; an estimate, not measured. */
    constexpr int fewest_threads = 4;

    /** The first entry from `begin` on whose column is not below this one; it is mostly near. */
    inline int first_from(const int *columns, int begin, int end, int column)
    {
      int step = 1;
      while (begin + step <= end && columns[begin + step - 1] < column)
        {
          begin += step;
          step *= 2;
        }
      return static_cast<int>(std::lower_bound(columns + begin, columns + std::min(begin + step, end), column) - columns);
    }

    /** Takes the rows above, which are done, out of row i. */
    template <typename Number>
    void eliminate_row(const FactorPattern &pattern, std::vector<Number> &values, int i)
    {
      const int *columns = pattern.columns.data();
      const int  end     = pattern.offsets[i + 1];
      for (int p = pattern.offsets[i]; p < pattern.diagonal[i]; ++p)
        {
          const int k = columns[p];
          values[p] /= values[pattern.diagonal[k]];
          for (int q = pattern.diagonal[k] + 1, target = p + 1; q < pattern.offsets[k + 1]; ++q)
            {
              target = first_from(columns, target, end, columns[q]);
              if (target == end)
                break;
              if (columns[target] == columns[q])
                values[target] -= values[p] * values[q];
            }
        }
    }

    /** The first of n rows for which is_refused(i) holds; -1: none. */
    template <typename Refused>
    int first_row(ThreadPool &pool, int n, const Refused &is_refused)
    {
      std::atomic<int> first{n};
      parallel_for(pool, n, rows_of_part, [&](long begin, long end) {
        for (int i = static_cast<int>(begin); i < static_cast<int>(end); ++i)
          if (is_refused(i))
            {
              for (int before = first.load(); i < before && !first.compare_exchange_weak(before, i);)
                ;
              return;
            }
      });
      return first < n ? first.load() : -1;
    }
  } // namespace

  std::string FactorOptions::name() const
  {
    return std::string(kind == FactorKind::ilu ? "ILU" : "IC") + "(" + std::to_string(fill_level) + ")";
  }

  void FactorOptions::validate() const
  {
    if (fill_level < 0)
      throw InvalidInput("incomplete factors: fill_level is " + std::to_string(fill_level) + "\n  expected: a number >= 0");
    if (!(smallest_pivot >= 0. && smallest_pivot < 1.))
      throw InvalidInput("incomplete factors: smallest_pivot is " + short_text(smallest_pivot) + "\n  expected: a number from 0 to below 1");
    if (!(largest_shift >= 0.))
      throw InvalidInput("incomplete factors: largest_shift is " + short_text(largest_shift) + "\n  expected: a number >= 0");
    if (!(max_bytes >= 0.))
      throw InvalidInput("incomplete factors: max_bytes is " + short_text(max_bytes) +
                         "\n  expected: a number >= 0, where 0 stands for half of what this process may use");
    if (n_threads < 0 || n_threads > 4096)
      throw InvalidInput("incomplete factors: n_threads is " + std::to_string(n_threads) + std::string("\n  expected: 0 to 4096, ") +
                         meaning_of_no_threads);
    if (!(largest_growth >= 1.))
      throw InvalidInput("incomplete factors: largest_growth is " + short_text(largest_growth) + "\n  expected: a number >= 1");
  }

  template <typename Number>
  IncompleteFactors<Number>::IncompleteFactors(const CrsMatrix<Number> &A, const FactorOptions &options, Factorization factorization_)
    : option(options)
    , factorization(std::move(factorization_))
  {
    option.validate();
    A.validate();
    pool = shared_thread_pool(A.n_rows < 2 * rows_of_part ? 1 : option.n_threads);
    make_pattern(A);
    if (option.kind == FactorKind::ic)
      find_mirrors();
    make_levels();
    factorize(A.values.data());
  }

  template <typename Number>
  IncompleteFactors<Number>::IncompleteFactors(IncompleteFactors &&) noexcept = default;
  template <typename Number>
  IncompleteFactors<Number>::~IncompleteFactors() = default;

  template <typename Number>
  void IncompleteFactors<Number>::make_pattern(const CrsMatrix<Number> &A)
  {
    pattern.kind = option.kind;
    pattern.diagonal.resize(A.n_rows);
    pattern.offsets.resize(A.n_rows + 1l);
    parallel_for(*pool, A.n_rows, rows_of_part, [&](long begin, long end) {
      for (long i = begin; i < end; ++i)
        pattern.offsets[i + 1] = static_cast<int>(std::count_if(
          A.columns.begin() + A.row_offsets[i], A.columns.begin() + A.row_offsets[i + 1], [&](int column) { return column < A.n_rows; }));
    });
    for (int i = 0; i < A.n_rows; ++i)
      pattern.offsets[i + 1] += pattern.offsets[i];
    pattern.columns.resize(pattern.offsets.back());
    pattern.source.resize(pattern.offsets.back());
    parallel_for(*pool, A.n_rows, rows_of_part, [&](long begin, long end) {
      std::vector<std::pair<int, int>> row; // column and entry of A
      for (int i = static_cast<int>(begin); i < static_cast<int>(end); ++i)
        {
          row.clear();
          for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
            if (A.columns[p] < A.n_rows)
              row.emplace_back(A.columns[p], p);
          std::sort(row.begin(), row.end());
          int q = pattern.offsets[i];
          for (const auto &[column, entry] : row)
            {
              if (column == i)
                pattern.diagonal[i] = q;
              pattern.columns[q]  = column;
              pattern.source[q++] = entry;
            }
        }
    });
    if (option.fill_level > 0)
      add_fill();
    of_A.resize(n_entries());
    values.resize(n_entries());
  }

  template <typename Number>
  TriangularRows IncompleteFactors<Number>::rows_of(bool upper) const
  {
    if (upper)
      return {pattern.n_rows(), pattern.diagonal.data(), pattern.offsets.data() + 1, pattern.columns.data(), pattern.diagonal.data(), true};
    return {pattern.n_rows(), pattern.offsets.data(), pattern.diagonal.data(), pattern.columns.data(), nullptr, false};
  }

  template <typename Number>
  void IncompleteFactors<Number>::make_levels()
  {
    lower_levels = std::make_shared<RowLevels>(rows_of(false), option.n_threads);
    upper_levels = std::make_shared<RowLevels>(rows_of(true), option.n_threads);
  }

  template <typename Number>
  void IncompleteFactors<Number>::add_fill()
  {
    const double memory = option.max_bytes > 0. ? option.max_bytes : 0.5 * usable_memory();
    const double most   = memory > 0. ? memory / bytes_of_factors<Number>(1.) : HUGE_VAL;
    try
      {
        pattern = with_fill(pattern, option.fill_level, most, option.asked_to_stop);
      }
    catch (const InvalidInput &problem)
      {
        const std::string what = problem.what();
        throw InvalidInput(what + (std::isfinite(most) ? ", or more memory: these take " + short_text(memory / 1e9, 3) + " GB, " +
                                                           (option.max_bytes > 0. ? "max_bytes" : "half of what this process may use")
                                                       : ""));
      }
    if (option.report_fill)
      option.report_fill(n_entries(), bytes_of_factors<Number>(n_entries()));
  }

  template <typename Number>
  void IncompleteFactors<Number>::find_mirrors()
  {
    // entries of a column come in the order of rows, as those of the mirrored row do
    std::vector<int> next(pattern.offsets.begin(), pattern.offsets.end() - 1);
    mirror.resize(n_entries());
    for (int i = 0; i < pattern.n_rows(); ++i)
      for (int p = pattern.offsets[i]; p < pattern.offsets[i + 1]; ++p)
        {
          const int j = pattern.columns[p], q = next[j];
          if (q >= pattern.offsets[j + 1] || pattern.columns[q] != i)
            throw InvalidInput(option.name() + ": the matrix has an entry in row " + std::to_string(i) + ", column " + std::to_string(j) +
                               " or between row " + std::to_string(j) + ", column " +
                               (q < pattern.offsets[j + 1] ? std::to_string(pattern.columns[q]) : std::to_string(i)) +
                               " and there without its mirror image (the first row is 0)\n  expected: a symmetric matrix; ILU takes others");
          mirror[p] = q;
          ++next[j];
        }
  }

  template <typename Number>
  std::string IncompleteFactors<Number>::asymmetry(int i) const
  {
    const double allowed  = std::is_same_v<Number, double> ? 1e-10 : 1e-4;
    const auto   diagonal = [&](int row) { return static_cast<double>(of_A[pattern.diagonal[row]]); };
    if (!(diagonal(i) > 0.))
      return "the diagonal entry of row " + std::to_string(i) + " is " + short_text(diagonal(i)) +
             " (the first row is 0)\n  expected: positive ones; ILU takes others";
    for (int p = pattern.offsets[i]; p < pattern.diagonal[i]; ++p)
      {
        const double a = static_cast<double>(of_A[p]), b = static_cast<double>(of_A[mirror[p]]);
        if (!(std::abs(a - b) <= allowed * std::sqrt(diagonal(i)) * std::sqrt(diagonal(pattern.columns[p]))))
          return "the entry of row " + std::to_string(i) + ", column " + std::to_string(pattern.columns[p]) + " is " + short_text(a) +
                 " and its mirror image " + short_text(b) + " (the first row is 0)" + "\n  expected: a symmetric matrix; ILU takes others";
      }
    return "";
  }

  template <typename Number>
  void IncompleteFactors<Number>::check_symmetry() const
  {
    if (const int row = first_row(*pool, pattern.n_rows(), [this](int i) { return !asymmetry(i).empty(); }); row >= 0)
      throw InvalidInput(option.name() + ": " + asymmetry(row));
  }

  template <typename Number>
  int IncompleteFactors<Number>::refused_pivot() const
  {
    return first_row(*pool, pattern.n_rows(), [this](int i) {
      const double quotient = static_cast<double>(values[pattern.diagonal[i]]) / static_cast<double>(of_A[pattern.diagonal[i]]);
      bool         taken    = (option.kind == FactorKind::ic ? quotient : std::abs(quotient)) > option.smallest_pivot;
      for (int p = pattern.offsets[i]; p < pattern.offsets[i + 1] && taken; ++p)
        taken = std::isfinite(values[p]);
      return !taken;
    });
  }

  template <typename Number>
  void IncompleteFactors<Number>::put(const Number *new_values, double shifted_by)
  {
    alpha = shifted_by;
    parallel_for(*pool, pattern.n_rows(), rows_of_part, [&](long begin, long end) {
      for (long i = begin; i < end; ++i)
        {
          for (int p = pattern.offsets[i]; p < pattern.offsets[i + 1]; ++p)
            of_A[p] = pattern.source[p] < 0 ? Number(0) : new_values[pattern.source[p]];
          of_A[pattern.diagonal[i]] *= static_cast<Number>(1. + alpha);
        }
    });
  }

  template <typename Number>
  void IncompleteFactors<Number>::eliminate()
  {
    parallel_for(*pool, pattern.n_rows(), rows_of_part, [&](long begin, long end) {
      std::copy(of_A.begin() + pattern.offsets[begin], of_A.begin() + pattern.offsets[end], values.begin() + pattern.offsets[begin]);
    });
    std::atomic<bool> is_stopped{false};
    const auto        take = [&](int i) {
      if (option.asked_to_stop && i % rows_of_question == 0 && option.asked_to_stop())
        is_stopped = true;
      if (!is_stopped.load(std::memory_order_relaxed))
        eliminate_row(pattern, values, i);
    };
    if (lower_levels->n_threads() >= fewest_threads)
      lower_levels->for_rows([&](int /*place*/, int i) { take(i); });
    else
      for (int i = 0; i < pattern.n_rows() && !is_stopped; ++i)
        take(i);
    if (is_stopped)
      throw FactorsStopped(option.name() + ": given up while rows are eliminated, as asked_to_stop says");
  }

  template <typename Number>
  void IncompleteFactors<Number>::factorize(const Number *new_values)
  {
    put(new_values, 0.);
    if (option.kind == FactorKind::ic)
      check_symmetry();
    for (;; put(new_values, std::max(first_shift, 2. * alpha)))
      {
        if (factorization)
          factorization(pattern, of_A, values);
        else
          eliminate();
        const int row = refused_pivot();
        if (row < 0)
          make_symmetric();
        if (row < 0 && (!option.shift || reached(growth(), option.largest_growth)))
          break;
        const double next = std::max(first_shift, 2. * alpha);
        if (option.shift && next <= option.largest_shift)
          continue;
        const std::string what =
          option.name() + ": " +
          (row < 0 ? "the factors are nearly singular"
                   : "the pivot of row " + std::to_string(row) + " is " + short_text(static_cast<double>(values[pattern.diagonal[row]])) +
                       " where the diagonal entry is " + short_text(static_cast<double>(of_A[pattern.diagonal[row]])) + " (the first row is 0)") +
          "\n  expected: a matrix whose incomplete factors exist, such as an M-matrix; choose another ";
        if (!option.shift)
          throw InvalidInput(what + "smoother");
        throw ShiftTooLarge(what + "preconditioner: adding up to " + short_text(alpha, 3) + " of the diagonal does not help");
      }
    if (!option.shift) // otherwise growth() has done so
      make_solves();
  }

  template <typename Number>
  void IncompleteFactors<Number>::make_solves()
  {
    if (forward && backward)
      {
        forward->update_values(values.data());
        backward->update_values(values.data());
        return;
      }
    forward  = std::make_unique<Substitution<Number>>(rows_of(false), values.data(), lower_levels);
    backward = std::make_unique<Substitution<Number>>(rows_of(true), values.data(), upper_levels);
  }

  template <typename Number>
  void IncompleteFactors<Number>::make_symmetric()
  {
    if (mirror.empty())
      return;
    parallel_for(*pool, pattern.n_rows(), rows_of_part, [&](long begin, long end) {
      for (long i = begin; i < end; ++i)
        for (int p = pattern.offsets[i]; p < pattern.diagonal[i]; ++p)
          values[p] = values[mirror[p]] / values[pattern.diagonal[pattern.columns[p]]];
    });
  }

  template <typename Number>
  double IncompleteFactors<Number>::norm(const std::vector<Number> &of)
  {
    const long n = static_cast<long>(of.size());
    norms.assign((n + rows_of_norm - 1) / rows_of_norm, SafeNorm());
    parallel_for(*pool, static_cast<long>(norms.size()), 1, [&](long begin, long end) {
      for (long piece = begin; piece < end; ++piece)
        for (long i = piece * rows_of_norm; i < std::min(n, (piece + 1) * rows_of_norm); ++i)
          norms[piece].add(static_cast<double>(of[i]));
    });
    SafeNorm result;
    for (const SafeNorm &of_piece : norms)
      result.add(of_piece);
    return result.value();
  }

  template <typename Number>
  double IncompleteFactors<Number>::growth()
  {
    v.resize(pattern.n_rows());
    w.resize(pattern.n_rows());
    std::mt19937_64 random(1);
    for (Number &value : v)
      value = random() % 2 == 0 ? Number(1) : Number(-1);
    double factor = 1.;
    make_solves();
    for (int step = 0; step < 4 && factor > 0.; ++step)
      {
        parallel_for(*pool, pattern.n_rows(), rows_of_part, [&](long begin, long end) {
          for (long i = begin; i < end; ++i)
            {
              w[i] = 0;
              for (int p = pattern.offsets[i]; p < pattern.offsets[i + 1]; ++p)
                w[i] += of_A[p] * v[pattern.columns[p]];
            }
        });
        solve(w.data());
        const double before = norm(v), after = norm(w);
        factor = after / before;
        parallel_for(*pool, pattern.n_rows(), rows_of_part, [&](long begin, long end) {
          for (long i = begin; i < end; ++i)
            v[i] = static_cast<Number>(static_cast<double>(w[i]) / after);
        });
      }
    return pattern.n_rows() > 0 ? factor : 0.;
  }

  template <typename Number>
  void IncompleteFactors<Number>::solve(Number *v) const
  {
    forward->solve(v, v);
    backward->solve(v, v);
  }

  template <typename Number>
  std::pair<std::unique_ptr<Substitution<Number>>, std::unique_ptr<Substitution<Number>>> IncompleteFactors<Number>::take_solves()
  {
    return {std::move(forward), std::move(backward)};
  }

  template <typename Number>
  CrsMatrix<Number> IncompleteFactors<Number>::lower() const
  {
    if (option.kind == FactorKind::ic)
      return transpose(upper());
    CrsMatrix<Number> L;
    L.n_rows = L.n_columns = pattern.n_rows();
    for (int i = 0; i < L.n_rows; ++i)
      {
        L.columns.insert(L.columns.end(), pattern.columns.begin() + pattern.offsets[i], pattern.columns.begin() + pattern.diagonal[i] + 1);
        L.values.insert(L.values.end(), values.begin() + pattern.offsets[i], values.begin() + pattern.diagonal[i]);
        L.values.push_back(Number(1));
        L.row_offsets.push_back(static_cast<int>(L.columns.size()));
      }
    return L;
  }

  template <typename Number>
  CrsMatrix<Number> IncompleteFactors<Number>::upper() const
  {
    CrsMatrix<Number> U;
    U.n_rows = U.n_columns = pattern.n_rows();
    for (int i = 0; i < U.n_rows; ++i)
      {
        const Number scale = option.kind == FactorKind::ic ? Number(1) / std::sqrt(values[pattern.diagonal[i]]) : Number(1);
        for (int p = pattern.diagonal[i]; p < pattern.offsets[i + 1]; ++p)
          {
            U.columns.push_back(pattern.columns[p]);
            U.values.push_back(scale * values[p]);
          }
        U.row_offsets.push_back(static_cast<int>(U.columns.size()));
      }
    return U;
  }

  template <typename Number>
  std::string IncompleteFactors<Number>::description() const
  {
    return option.name() + (alpha > 0. ? " of A + " + short_text(alpha) + " diag(A)" : "") + ", " + std::to_string(n_entries()) + " entries";
  }

  template <typename Number>
  double IncompleteFactors<Number>::residual() const
  {
    std::vector<int>    position(pattern.n_rows(), -1);
    std::vector<double> row;
    SafeNorm            difference, whole;
    for (int i = 0; i < pattern.n_rows(); ++i)
      {
        const int first = pattern.offsets[i], end = pattern.offsets[i + 1];
        row.assign(of_A.begin() + first, of_A.begin() + end);
        for (int p = first; p < end; ++p)
          {
            whole.add(row[p - first]);
            position[pattern.columns[p]] = p - first;
          }
        // row i of L times U: its ones, then the entries left of the diagonal
        for (int p = first; p <= pattern.diagonal[i]; ++p)
          {
            const int    k = pattern.columns[p];
            const double l = p < pattern.diagonal[i] ? static_cast<double>(values[p]) : 1.;
            for (int q = pattern.diagonal[k]; q < pattern.offsets[k + 1]; ++q)
              if (position[pattern.columns[q]] >= 0)
                row[position[pattern.columns[q]]] -= l * static_cast<double>(values[q]);
          }
        for (int p = first; p < end; ++p)
          {
            difference.add(row[p - first]);
            position[pattern.columns[p]] = -1;
          }
      }
    return whole.value() > 0. ? difference.value() / whole.value() : 0.;
  }

#define INSTANTIATE(Number) template class IncompleteFactors<Number>;
  LEOPARD_FOR_EACH_NUMBER(INSTANTIATE)
#undef INSTANTIATE
} // namespace leopard
