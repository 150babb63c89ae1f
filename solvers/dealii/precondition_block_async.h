// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../block_async/block_async.h"
#include "../matrix/analysis.h"
#include "../refinement/mixed_vectors.h"

#include <deal.II/base/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace dealii
{
  template <typename>
  class SparseMatrix;
  namespace TrilinosWrappers
  {
    class SparseMatrix;
  }
} // namespace dealii

namespace leopard
{
  /**
   * Block-asynchronous iteration (see BlockAsync) as a preconditioner and a relaxation class in deal.II's sense, for
   * the Krylov solvers and for the multigrid smoothers mg::SmootherRelaxation and MGSmootherRelaxation.
   *
   * vmult(dst, src) does n_iterations global iterations for A dst = src from dst = 0, step(x, b) for A x = b from x.
   * With the synchronous schedule, the default, this is a fixed linear map C, symmetric if A is, and positive definite
   * if A is and the iteration converges: use it with any solver. With the chaotic schedule it is neither fixed nor
   * symmetric, and SolverFGMRES is the solver: SolverCG fails, and SolverFlexibleCG, though it bears the changes, took
   * up to five times the iterations for want of symmetry.
   *
   * Vectors are dealii::Vector<double>, LinearAlgebra::distributed::Vector<double> or TrilinosWrappers::MPI::Vector, in
   * host memory, without ghosts; only the own entries are used. With the backend cuda the matrix stays on the device
   * and each call copies src there and dst back. A Trilinos matrix may be distributed: blocks lie within a rank, ghost
   * values are exchanged before each global iteration, and all functions but clear() and the queries are collective.
   *
   * Rows whose entries are all zero or not stored, as level matrices may have them for DoFs at refinement edges and
   * boundaries, become rows of the identity: step() leaves their x alone, vmult() makes it zero. A zero diagonal in any
   * other row is an error.
   *
   * In single precision vectors stay double: vmult() multiplies src with a power of two of its size before it is
   * rounded, so that it keeps its digits whatever its units are, and step() iterates for the residual, which is
   * computed in double (a copy of A in double is kept for it). To the solver it is a preconditioner that differs by
   * some roundings of float.
   *
   * Nothing of A is referred to after initialize(). Calls of one object from several threads at once are not allowed,
   * as it has buffers.
   */
  class PreconditionBlockAsync
  {
  public:
    using size_type = dealii::types::global_dof_index;

    /**
     * Dimensionless numbers; BlockAsyncOptions says more of those that it has too. By name (C++20):
     * Fields{.n_iterations = 3, .block_size = 64}
     */
    struct Fields
    {
      int        n_iterations     = 2;                            ///< global iterations of a vmult() or step(), >= 1
      int        local_iterations = 5;                            ///< Jacobi sweeps inside a block per global iteration, >= 1
      int        block_size       = 256;                          ///< rows of a block, at most
      double     omega            = 1.;                           ///< relaxation factor of a sweep, in (0, 2)
      bool       l1_weights       = false;                        ///< adds the off-block entries' absolute values to the diagonal
      Schedule   schedule         = Schedule::synchronous;        ///< order and staleness of block updates
      Backend    backend          = Backend::host;                ///< host, cuda or reference
      BlockShape block_shape      = BlockShape::tiles;            ///< tiles: compact, of the coordinates, or METIS; vectors keep their order
      int        n_threads        = 0;                            ///< backend host; 0: what dealii::MultithreadInfo::n_threads() allows
      Arithmetic arithmetic       = Arithmetic::double_precision; ///< single_precision: iterations move half the bytes
      /**
       * Tiles: of the rank's rows, dim numbers each, or of nodes whose rows (equally many each) stand together
       * (support_points()). Without them blocks are compact parts of the matrix' graph, by METIS, some seconds a
       * million rows.
       */
      std::vector<double> coordinates = {};
      int                 dim         = 0; ///< of the coordinates
      /**
       * omega = tau = 2 / (lambda_1 + lambda_n), of the extreme eigenvalues of D^-1 A of all ranks' rows, in the place
       * of the number omega: estimated in initialize() with some hundred products at most. For symmetric matrices that
       * are positive definite, or semidefinite; not with l1_weights. With the synchronous schedule and one local
       * iteration it always converges.
       */
      bool omega_is_tau = false;

      double        block_omega     = 1.;            ///< weight of a block's update, in (0, 2)
      double        momentum        = 0.;            ///< beta in [0, 1) of the second-order Richardson iteration, which begins anew in each call
      Overlap       overlap         = Overlap::none; ///< of blocks that are neighbours in their numbering: block_shape contiguous or rcm
      double        overlap_percent = 25.;           ///< of a block, with an overlap; 0 to 90
      TwoStage      two_stage       = TwoStage::automatic; ///< inner, outer, total: a fixed linear map on the backend host at most
      std::uint64_t seed            = 0;                   ///< of the schedule replay, and of rows in random order
      /**
       * Seconds, about, for which tune() looks for block_shape, block_size, local_iterations, omega and momentum, in
       * the place of those above; 0: none. One rank. What it finds is the fastest by itself, in the chaotic schedule;
       * options() says it.
       */
      double tuning_seconds = 0.;
    };

    /** The same by position, as deal.II's classes have it. Wherever it is expected, Fields will do, too. */
    struct AdditionalData : Fields
    {
      AdditionalData(const Fields &fields);
      explicit AdditionalData(int        n_iterations     = 2,
                              int        local_iterations = 5,
                              int        block_size       = 256,
                              double     omega            = 1.,
                              bool       l1_weights       = false,
                              Schedule   schedule         = Schedule::synchronous,
                              Backend    backend          = Backend::host,
                              BlockShape block_shape      = BlockShape::tiles,
                              int        n_threads        = 0,
                              Arithmetic arithmetic       = Arithmetic::double_precision);
    };

    PreconditionBlockAsync();
    ~PreconditionBlockAsync();

    /**
     * Copies what it needs of the square matrix A. @throws InvalidInput, also if tau is asked for and A has none,
     * DeviceError; what was there before is then kept.
     */
    void initialize(const dealii::SparseMatrix<double> &A, const AdditionalData &data = AdditionalData());
    /** The same for a compressed matrix whose rows on each rank are contiguous. Collective, errors too. */
    void initialize(const dealii::TrilinosWrappers::SparseMatrix &A, const AdditionalData &data = AdditionalData());
    /** Releases everything. */
    void clear();

    size_type m() const; ///< rows of A; 0 before initialize()
    size_type n() const; ///< columns of A
    /**
     * Whether vmult() is the same linear map in every call, so that the solver need not be flexible. It need not be
     * symmetric. Not in single precision, where it is one up to roundings of float: CG bears them, GMRES takes some
     * iterations more than FGMRES.
     */
    bool is_fixed_linear_map() const;
    /** What the iteration was made with, tuned or not; defaults before initialize(). */
    BlockAsyncOptions options() const;
    /** The relaxation factor: the number that was given, or tau; 0 before initialize(). */
    double omega() const;
    /** The eigenvalues of D^-1 A as tau was made of them; zeros where it was not asked for. */
    ExtremeEigenvalues eigenvalues() const;

    /**
     * dst = C src: n_iterations from zero. @throws InvalidInput before initialize() and for vectors of another length;
     * the others too.
     */
    template <typename VectorType>
    void vmult(VectorType &dst, const VectorType &src) const
    {
      iterate(dst.begin(), dst.locally_owned_size(), src.begin(), src.locally_owned_size(), true);
    }

    /** x <- x + C (b - A x): n_iterations from x. */
    template <typename VectorType>
    void step(VectorType &x, const VectorType &b) const
    {
      iterate(x.begin(), x.locally_owned_size(), b.begin(), b.locally_owned_size(), false);
    }

    /**
     * dst = C^T src, which is vmult() where C is symmetric, as it is for symmetric A and the synchronous schedule. The
     * first call tests this with two random vectors. @throws InvalidInput if C is not symmetric or no fixed linear map:
     * C^T is not implemented.
     */
    template <typename VectorType>
    void Tvmult(VectorType &dst, const VectorType &src) const
    {
      require_symmetric_map();
      vmult(dst, src);
    }

    /** x <- x + C^T (b - A x), under the conditions of Tvmult(). */
    template <typename VectorType>
    void Tstep(VectorType &x, const VectorType &b) const
    {
      require_symmetric_map();
      step(x, b);
    }

  private:
    struct Data;
    struct InSingle;

    void iterate(double *x, std::size_t n_x, const double *b, std::size_t n_b, bool from_zero) const;
    void require_symmetric_map() const;

    std::unique_ptr<Data> data;
  };
} // namespace leopard
