// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../block_async/block_async.h"

#include <memory>
#include <string>

namespace leopard
{
  /** Which side of the diagonal has the entries. */
  enum class Triangle
  {
    lower,
    upper
  };

  /** How a triangular system is solved. */
  enum class TriangularSolve
  {
    exact,       ///< by substitution: on the host by levels of rows or in sequence (RowLevels), on the GPU by cuSPARSE (SpSV)
    asynchronous ///< some iterations of block-asynchronous iteration
  };

  struct TriangularOptions
  {
    TriangularSolve solve               = TriangularSolve::exact;
    int             n_iterations        = 3;     ///< asynchronous: global iterations
    bool            start_from_diagonal = false; ///< asynchronous: x_0 = D^-1 b, with D the diagonal; otherwise zero
    /**
     * Of exact ones the backend alone. Otherwise all of it, as for a lower triangular matrix: upward overlap is towards
     * the rows that others depend on. For an upper one the blocks come in reversed order, and upward and downward
     * change places.
     */
    BlockAsyncOptions block_async = {};

    /** @throws InvalidInput naming the option, what was found and what is expected. */
    void validate() const;
  };

  template <typename Number>
  class TriangularEngine; ///< what solves (triangular_engine.h)

  /**
   * x near T^-1 b, or that, for a triangular matrix T.
   *
   * With block-asynchronous iteration rho(|I - D^-1 T|) = 0, so that every schedule ends, whatever the matrix: with as
   * many local iterations as blocks have rows, a block is right once those are on which it depends. That takes one
   * global iteration where the blocks come one after the other, and as many as there are blocks where each reads values
   * of the iteration before.
   * Source: Anzt, Chow, Dongarra, Iterative sparse triangular solves for preconditioning, 2015; overlap: Anzt, Chow,
   * Szyld, Dongarra 2016.
   */
  template <typename Number>
  class TriangularSolver
  {
  public:
    /**
     * @param T host memory; copied. @throws InvalidInput for what T.validate() refuses, an entry on the wrong side of
     * the diagonal, with its row and column, and options; DeviceError.
     */
    TriangularSolver(const CrsMatrix<Number> &T, Triangle triangle, const TriangularOptions &options);
    ~TriangularSolver();

    int         n_rows() const { return rows; }
    MemorySpace memory_space() const;
    /** Whether x is the same linear function of b in every call. */
    bool is_fixed_linear_map() const;
    /** Whether a solver of T^T with the same options does the transposed linear map. */
    bool has_transposed_map() const;
    /** "exact, in sequence", "exact, in 298 levels by 2 threads", "3 iterations of async-(2), 47 blocks ...". */
    std::string description() const;

    /**
     * On the device it only queues its work. Allocates nothing.
     * @param x, b n_rows() values in memory_space(), not the same.
     */
    void solve(Number *x, const Number *b);

    /**
     * Takes other values of T, with all that was found out about its pattern. @param values one an entry, in T's order,
     * host memory. @throws InvalidInput if one is not finite, or zero on the diagonal; then the solver is as it was.
     * Asynchronous solves on the backend cuda need Storage::double_precision for it.
     */
    void update_values(const Number *values);

  private:
    const int                                 rows;
    const TriangularOptions                   options;
    std::unique_ptr<TriangularEngine<Number>> engine;
  };
} // namespace leopard
