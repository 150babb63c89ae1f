// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../base/errors.h"
#include "../base/norms.h"
#include "crs_matrix.h"

#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace leopard
{
  class RowLevels;
  class ThreadPool;
  struct TriangularRows;
  template <typename Number>
  class Substitution;

  /** Factors that would need more of the diagonal than FactorOptions::largest_shift. */
  class ShiftTooLarge : public InvalidInput
  {
  public:
    using InvalidInput::InvalidInput;
  };

  /** Factors that were given up, as FactorOptions::asked_to_stop said. */
  class FactorsStopped : public ConvergenceFailure
  {
  public:
    using ConvergenceFailure::ConvergenceFailure;
  };

  /** Which incomplete factors. */
  enum class FactorKind
  {
    ilu, ///< A near L U, L with ones on its diagonal
    ic   ///< A near L L^T, for symmetric matrices with a positive diagonal
  };

  struct FactorOptions
  {
    FactorKind kind = FactorKind::ilu;
    /** Up to which level L and U have fill, entries that A does not have; 0: none. See with_fill(). */
    int fill_level = 0;
    /**
     * A pivot is refused whose quotient by the diagonal entry is not above this: of ilu in its absolute value. In [0,
     * 1).
     */
    double smallest_pivot = 1e-8;
    /**
     * Where a pivot is refused, or (L U)^-1 A makes vectors larger than largest_growth times: A + alpha diag(A) is
     * factorized instead, alpha = 0.001 and then doubled until the factors are taken. Otherwise a pivot that is refused
     * is an error, and growth is not looked at.
     */
    bool   shift         = true;
    double largest_shift = 1000.; ///< of alpha; where it would have to be larger there are no factors. Dimensionless, not negative
    double largest_growth =
      10.; ///< as four steps of power iteration see it; 1 to 2 of good factors, 1e8 of a biharmonic operator's with too small a shift

    /** Of memory, for factors with fill while they are made, see bytes_of_factors(); 0: half of usable_memory(). */
    double max_bytes = 0.;
    /** Told their entries and bytes_of_factors() when the fill is known, before values are computed. */
    std::function<void(double n_entries, double bytes)> report_fill = {};
    /**
     * Asked every rows_of_question rows, by several threads, while the fill is found and rows are eliminated: where it
     * says so the factors are given up (FactorsStopped).
     */
    std::function<bool()> asked_to_stop = {};
    /** Of the host; 0: as many as this process may use. The factors, and what solve() does, do not depend on it. */
    int n_threads = 0;

    /** @throws InvalidInput naming the option, what was found and what is expected. */
    void validate() const;
    /** "ILU(0)", "IC(1)": the level of fill in brackets. */
    std::string name() const;
  };

  /**
   * Where L and U have entries, both in one matrix with rows sorted by column: row i holds the entries
   * offsets[i] <= p < offsets[i+1], those of L before diagonal[i], those of U from there on. Ghost columns are left
   * out.
   */
  struct FactorPattern
  {
    std::vector<int> offsets = {0}, columns, diagonal;
    std::vector<int> source; ///< which entry of the CrsMatrix stands there; -1 for fill

    FactorKind kind = FactorKind::ilu; ///< of ic the pattern is symmetric, and U alone is to be found

    int n_rows() const { return static_cast<int>(diagonal.size()); }
  };

  constexpr int rows_of_question = 16; ///< FactorOptions::asked_to_stop

  /**
   * A pattern with fill up to a level, which is 0 for the entries of the pattern that is given, and otherwise the
   * smallest of level(i, k) + level(k, j) + 1 over all k < min(i, j): elimination of row k makes a_ij of a_ik and a_kj,
   * and the more often it takes something made, the smaller it is where A is dominated by its diagonal. Up to level
   * n_rows() the factors are those of elimination without pivoting. In sequence, a row after the other.
   * @param pattern of level 0. @param level >= 0. @param max_entries of the result. @param asked_to_stop see
   * FactorOptions.
   * @throws InvalidInput for more than these, and for more than 2^31 - 1; FactorsStopped. Source: Saad,
   * Iterative Methods for Sparse Linear Systems, 2003, definition 10.5 and algorithm 10.5 (section 10.3.3).
   */
  FactorPattern with_fill(const FactorPattern &pattern, int level, double max_entries = HUGE_VAL, const std::function<bool()> &asked_to_stop = {});

  /**
   * What incomplete factors take of memory, about, while they are made and when solves have them: the pattern with
   * sources and levels, the values of A and of the factors, and L and U by themselves.
   */
  template <typename Number>
  double bytes_of_factors(double n_entries)
  {
    return n_entries * (6. * sizeof(int) + 3. * sizeof(Number));
  }

  /**
   * Incomplete factors ILU(p) or IC(p) of a matrix, on the host: L and U have the entries of A and fill up to level p,
   * and (L U)_ij = a_ij for these, 0 for fill. Exact for tridiagonal matrices. They are those of rows that are
   * eliminated in the order of their numbers; threads share the rows of a level where that pays (RowLevels).
   *
   * They exist for M-matrices; of other positive definite ones a pivot may be negative, or all are positive and the
   * factors nearly singular. Then (FactorOptions::shift) a multiple of the diagonal is added, which shift() and
   * description() say.
   *
   * IC(p) is ILU(p) of a symmetric matrix with positive pivots d_i: U = D L^T, and its factor is U^T D^-1/2. U alone is
   * taken, so that what solve() does is symmetric to rounding however U was found.
   * Source: Saad, Iterative Methods for Sparse Linear Systems, 2003, algorithm 10.4 (section 10.3.2); shift: Manteuffel
   * 1980.
   */
  template <typename Number>
  class IncompleteFactors
  {
  public:
    /** Finds the values of L and U (in the order of the pattern), given those of A in the same order. */
    using Factorization = std::function<void(const FactorPattern &pattern, const std::vector<Number> &A, std::vector<Number> &factors)>;

    /**
     * @param A host memory; copied. @param factorization another than elimination.
     * @throws ShiftTooLarge where no shift helps that is allowed. @throws FactorsStopped. @throws InvalidInput for what
     * A.validate() and with_fill() refuse; for ic also if A is not symmetric (to 1e-10,
     * in single precision 1e-4, of sqrt(a_ii a_jj)) or has a diagonal entry that is not positive; for a pivot that is
     * refused, or is not finite, without a shift and where no shift helps, naming the row.
     */
    explicit IncompleteFactors(const CrsMatrix<Number> &A, const FactorOptions &options = {}, Factorization factorization = nullptr);
    IncompleteFactors(IncompleteFactors &&) noexcept;
    ~IncompleteFactors();

    /**
     * Factorizes anew, in the order of the CrsMatrix's values. With elimination it allocates nothing. @throws
     * InvalidInput.
     */
    void factorize(const Number *values);

    /** v <- (L U)^-1 v, exact. @param v n_rows values, host memory. */
    void solve(Number *v) const;

    /**
     * What solve() does with L and with U, for who wants it to stay as it is while other values are factorized, or does
     * not need it: here it is gone, with its memory, until factorize() makes it anew.
     */
    std::pair<std::unique_ptr<Substitution<Number>>, std::unique_ptr<Substitution<Number>>> take_solves();

    CrsMatrix<Number> lower() const; ///< L; of ilu with its ones
    CrsMatrix<Number> upper() const; ///< U; of ic L^T

    const FactorOptions &options() const { return option; }
    int                  n_rows() const { return pattern.n_rows(); }
    /** alpha, where A + alpha diag(A) was factorized (dimensionless); mostly 0. */
    double shift() const { return alpha; }
    /** Entries of L and U together, the diagonal once. */
    int n_entries() const { return static_cast<int>(pattern.columns.size()); }
    /** "IC(0) of A + 0.004 diag(A), 12345 entries". */
    std::string description() const;
    /**
     * How far L U is from A + alpha diag(A) where L and U have entries: the Frobenius norm of the difference by that of
     * A there.
     */
    double residual() const;

  private:
    void   make_pattern(const CrsMatrix<Number> &A);
    void   make_levels();
    void   add_fill();
    void   find_mirrors();
    void   check_symmetry() const;
    void   put(const Number *new_values, double shifted_by);
    void   eliminate();
    int    refused_pivot() const;
    void   make_symmetric();
    double growth();
    double norm(const std::vector<Number> &of);
    void   make_solves();

    std::string    asymmetry(int row) const;
    TriangularRows rows_of(bool upper) const;

    FactorOptions       option;
    Factorization       factorization;
    FactorPattern       pattern;
    std::vector<int>    mirror;       ///< ic: of each entry a_ij that of a_ji
    std::vector<Number> of_A, values; ///< A (shifted) and L, U, both in the order of the pattern
    std::vector<Number> v, w;         ///< growth(): vectors
    double              alpha = 0.;

    std::shared_ptr<ThreadPool>           pool;
    std::vector<SafeNorm>                 norms; ///< of pieces of a vector, which do not depend on threads
    std::shared_ptr<const RowLevels>      lower_levels, upper_levels;
    std::unique_ptr<Substitution<Number>> forward, backward; ///< L^-1, U^-1
  };
} // namespace leopard
