// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../base/backend.h"
#include "../base/rank_sums.h"

#include <memory>
#include <string>

namespace leopard
{
  template <typename Number>
  class Communication;
  template <typename Number>
  class Relaxation;
  template <typename Number>
  class KrylovSolver;
  template <typename Number>
  class Multigrid;

  /**
   * What finds the corrections of an iterative refinement. Vectors have n_rows() values in memory_space(). On several
   * ranks these are a rank's own ones, and all functions that compute are collective.
   */
  template <typename Number>
  class InnerSolver
  {
  public:
    virtual ~InnerSolver() = default;

    /** "async-(5)", "V-cycle", "CG", ... */
    virtual std::string name() const         = 0;
    virtual int         n_rows() const       = 0;
    virtual MemorySpace memory_space() const = 0;
    /**
     * Whether it does as many iterations as it is told; Krylov methods end by their own tolerance, and do at most so
     * many.
     */
    virtual bool counts() const { return true; }

    /** Whether momentum pays, see CorrectionMomentum. */
    virtual bool bears_momentum() const { return false; }

    /**
     * Vectors of its own for c and r, which spare it copies; null: it has none. Entry i of these is the row
     * own_order()[i], in memory_space(); null: i itself.
     */
    virtual Number    *own_correction() { return nullptr; }
    virtual Number    *own_residual() { return nullptr; }
    virtual const int *own_order() const { return nullptr; }

    /**
     * c near A^-1 r, whatever is in c, by n iterations from zero, at most n of one that does not count. @return the
     * iterations done.
     */
    virtual int solve(Number *c, const Number *r, int n) = 0;

    /** n iterations more, of one that counts. */
    virtual void go_on(Number *c, const Number *r, int n) = 0;

    /** ||r - A c|| / ||r|| in this precision, of the last c: what the method itself has reached. */
    virtual double relative_residual(Number *c, const Number *r) = 0;
  };

  /** Iterations of a relaxation. @throws InvalidInput for none, or one with ghosts; so for the others. */
  template <typename Number>
  std::unique_ptr<InnerSolver<Number>> make_inner_solver(std::shared_ptr<Relaxation<Number>> relaxation);
  /**
   * The same for a matrix with ghosts, which are brought up to date before each iteration. @throws InvalidInput for
   * none.
   */
  template <typename Number>
  std::unique_ptr<InnerSolver<Number>> make_inner_solver(std::shared_ptr<Relaxation<Number>>          relaxation,
                                                         std::shared_ptr<const Communication<Number>> communication);
  /** Cycles of a multigrid. */
  template <typename Number>
  std::unique_ptr<InnerSolver<Number>> make_inner_solver(std::shared_ptr<Multigrid<Number>> multigrid);
  /** The same on several ranks; corrections have n_columns() values. @throws InvalidInput for none. */
  template <typename Number>
  std::unique_ptr<InnerSolver<Number>> make_inner_solver(std::shared_ptr<Multigrid<Number>> multigrid, std::shared_ptr<const RankSums> ranks);
  /** A Krylov method, by the tolerance and at most the number of iterations that it was made with. */
  template <typename Number>
  std::unique_ptr<InnerSolver<Number>> make_inner_solver(std::shared_ptr<KrylovSolver<Number>> krylov);

  /**
   * What such a method in single precision should be made with for each correction, so that as few corrections as that
   * precision allows gain about equally many digits: fewer are spoilt by rounding. @param tolerance of the refinement,
   * in (0, 1).
   */
  double tolerance_of_corrections(double tolerance);
} // namespace leopard
