// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../matrix/blocks.h"
#include "../matrix/crs_matrix.h"
#include "../matrix/stencil.h"
#include "../matrix/storage.h"
#include "../relaxation/relaxation.h"

#include <cstdint>
#include <memory>

namespace leopard
{
  /** The order and staleness of block updates. */
  enum class Schedule
  {
    synchronous, ///< every block reads the values of the previous global iteration: textbook block Jacobi with inner sweeps
    chaotic,     ///< what threads or the GPU happen to do: the newest values in memory, never the same twice
    replay ///< seeded order and staleness (backends reference and host): two objects do the same to the last bit, call by call. Random numbers go on
           ///< from call to call, also over restart() and solve(), so that the runs of one object show how runs vary
  };

  /**
   * The classes of two-stage iterations (thesis, Table 3.1): whether the iteration inside a block, the inner one, and
   * that of the blocks, the outer one, are synchronous, and which values of other blocks the inner one takes. Whether
   * the outer one is, Schedule says; a class that contradicts it is refused.
   */
  enum class TwoStage
  {
    automatic,   ///< synchronous in the synchronous schedule, else block
    synchronous, ///< both are; with other numbers of local iterations in each block it is model A of Bru, Elsner and Neumann
    inner,       ///< Algorithm 12: inner asynchronous, outer synchronous
    block,       ///< Algorithm 14: inner synchronous, outer asynchronous; with other numbers in each block a case of Algorithm 13
    outer,       ///< Algorithm 13: both asynchronous, other blocks' values as they are when the block begins
    total        ///< Algorithm 15: both asynchronous, other blocks' values read anew in each local iteration, own ones published at once
  };

  constexpr TwoStage two_stage_kinds[] = {
    TwoStage::automatic, TwoStage::synchronous, TwoStage::inner, TwoStage::block, TwoStage::outer, TwoStage::total};

  /** The name of the value: "automatic", ... */
  std::string to_string(TwoStage kind);

  /** How global iterations are executed on a GPU. Host threads always iterate as in the persistent form. */
  enum class Execution
  {
    automatic, ///< persistent where all blocks are on the chip at once, else launch
    launch,    ///< one kernel launch a global iteration
    persistent ///< one launch for all of them: each block iterates by itself, and only off-block values cross memory (in the synchronous schedule, which
               ///< must be asked for with this form, the blocks wait for one another after each global iteration)
  };

  std::string to_string(Execution execution);

  /** What a block relaxes: its values, or a correction of them, which makes it block-asynchronous refinement. */
  enum class Corrections
  {
    none,              ///< its values
    working_precision, ///< a correction in the precision of the vectors (thesis, Algorithm 22)
    single_precision   ///< a correction in single precision, added to vectors in theirs (thesis, Algorithm 23)
  };

  constexpr int most_sweep_weights = 16; ///< they are parameters of a kernel

  /** Options of BlockAsync. Numbers are dimensionless. */
  struct BlockAsyncOptions
  {
    Backend   backend   = Backend::host;
    Schedule  schedule  = Schedule::chaotic;
    TwoStage  two_stage = TwoStage::automatic;  ///< inner, outer, total: stored matrices; no momentum, no corrections; cuda: launch form
    Execution execution = Execution::automatic; ///< backend cuda
    Storage   storage   = Storage::automatic;   ///< of the matrix on the GPU; the other backends store Numbers

    int              block_size      = 256;           ///< rows a block; the last block may have fewer
    std::vector<int> block_offsets   = {};            ///< if not empty: where blocks begin, instead of block_size (see blocks_between())
    Overlap          overlap         = Overlap::none; ///< of neighbouring blocks; a block writes its own rows only (restricted)
    double           overlap_percent = 0.;            ///< percent of the block_size rows that are overlap, 0 to 90
    int              overlap_level = 0; ///< if not 0, instead of percent: overlap by graph distance (rows_with_overlap()); backend reference, replay
    bool             last_block_first =
      false; ///< blocks in reversed order, and rows that are taken in order (see two_stage): dependencies of upper triangular matrices

    int              local_iterations = 5; ///< k: sweeps inside a block, of Jacobi with off-block values frozen if two_stage says nothing else
    std::vector<int> local_iterations_per_block = {}; ///< if not empty: k for each block (see theta_dependent_local_iterations())

    double omega = 1.; ///< relaxation factor of each local sweep, in (0, 2 (1 + momentum)); tau scaling is omega = 2 / (lambda_1 + lambda_n)
    /**
     * Stencils: if not empty, the relaxation factors of the k local sweeps one after the other, in the place of omega;
     * at most most_sweep_weights (see chebyshev_sweep_weights()).
     */
    std::vector<double> sweep_weights = {};

    double block_omega = 1.;    ///< omega weight of a block's update, in (0, 2): x <- block_omega x_local + (1 - block_omega) x (Algorithm 19)
    bool   l1_weights  = false; ///< D + D_l1 in the place of D (Algorithm 20)
    double momentum    = 0.;    ///< beta in [0, 1) of the second-order Richardson iteration (see momentum_parameters())

    Corrections corrections      = Corrections::none; ///< without overlap, momentum and Storage::single_precision and dictionary
    int         correction_loops = 1;                 ///< corrections of a block in a global iteration, each of a residual of its own

    int           n_threads = 0; ///< host backend: threads; 0: as many as this process may use
    std::uint64_t seed      = 0; ///< replay schedule, and rows in random order (see two_stage): the seed
    int           staleness = 2; ///< and by how many global iterations values may be old at most, 0 to 2; 0: a random order of blocks, newest values

    /** @throws InvalidInput naming the option, what was found and what is expected. */
    void validate() const;

    /** Whether two_stage is inner, outer or total. */
    bool has_asynchronous_inner_iteration() const;
    /** Whether a global iteration is a step of Jacobi's method, damped by omega, whatever the blocks are. */
    bool is_jacobi() const;
    /** Whether the seed says in what order blocks or rows are taken on a backend. */
    bool uses_seed(Backend on) const;

    /** The blocks that these options mean for a matrix of n_rows rows. @throws InvalidInput. */
    Blocks blocks(int n_rows) const;
  };

  /**
   * Weights w_1 < ... < w_k of k Jacobi sweeps for eigenvalues of D^-1 A between smallest and largest: 1 / w_s are the
   * zeros of Chebyshev's polynomial T_k of this interval, so that prod_s (1 - w_s lambda) is least there, at most
   * 1 / T_k((largest + smallest) / (largest - smallest)), and smaller than 1 for 0 < lambda <= largest. Where d_i are
   * the same, or blocks and frozen values are, the order of the sweeps only matters for rounding. Dimensionless.
   * Source: Saad, Iterative Methods for Sparse Linear Systems, 2nd edition, section 12.3.2. @throws InvalidInput unless
   * k >= 1 and 0 < smallest <= largest.
   */
  std::vector<double> chebyshev_sweep_weights(int k, double smallest, double largest);

  namespace device
  {
    template <typename Number>
    struct DeviceCrs;
  }
  template <typename Number>
  class BlockAsyncEngine; ///< what a backend implements (block_async_engine.h)

  /**
   * Block-asynchronous iteration async-(k) for A x = b.
   *
   * Rows are split in blocks J. A global iteration relaxes each block once:
   *   s_i = b_i - sum_{j not in J} a_ij x_j      (off-block values frozen at what they are when the block begins),
   *   k times, for all i in J at once (Jacobi):
   *     y_i <- y_i + omega / d_i (s_i - sum_{j in J} a_ij y_j) + momentum * v_i,
   *     with v_i the change of y_i in the sweep before, and sweep_weights[s] for omega in sweep s where these are
   *     given,
   *   x_i <- x_i + block_omega (y_i - x_i)  for the rows that the block owns,
   * with d_i = a_ii, or with l1 weights a_ii + sign(a_ii) sum_{j not in J} |a_ij|. Nothing orders the blocks in the
   * chaotic schedule. rho(|I - D^-1 A|) < 1 makes every schedule converge (omega = 1, no momentum).
   * Source: Anzt, Tomov, Dongarra, Heuveline 2013, Algorithm 1; thesis, Algorithm 14, sections 4.8 (block-CRS) and 4.10
   * (weights); overlap: Anzt, Chow, Szyld, Dongarra 2016, section 4. These two algorithms do k sweeps, as here. The
   * thesis's listings for CRS and block-CRS (Algorithms 16 to 18) do one update before their k local ones, 1 + k in
   * all: what they call async-(5) is async-(6) here.
   *
   * With corrections (block-asynchronous refinement: thesis, section 4.13, Algorithms 22 and 23) a block takes s_i as
   * above, y_i = x_i, and then correction_loops times
   *   r_i = s_i - sum_{j in J} a_ij y_j,   c_i = 0,
   *   k times c_i <- c_i + omega / d_i (r_i - sum_{j in J} a_ij c_j),
   *   y_i <- y_i + block_omega c_i,
   * and writes y. In the precision of the vectors that is async-(correction_loops k) but for rounding (of several loops
   * with block_omega = 1). In single precision c and what is swept over are floats: the block's part of the matrix,
   * scaled by powers of two to a diagonal near one (as ScaledMatrix is), and r, scaled to the largest one of the block;
   * s, r before it is rounded, and y stay Numbers, so that x becomes as accurate as they allow. Algorithm 23 as printed
   * takes r once before its loops, and would add the same correction again in each of them; here each loop has its own
   * r. What single precision costs and saves: a sweep reads 4 bytes a value instead of 8, but the block's part of the
   * matrix is there twice, read once a loop as Numbers for r, so that 6 bytes an entry come to the 10 of async-(k)
   * (value and 16-bit column), unless cache or registers hold them from one global iteration to the next. It can pay
   * where sweeps are what takes the time, many of them in a block; where it is memory, Refinement with async-(k) in
   * single precision reads 6 bytes an entry only. As a preconditioner it is for flexible Krylov methods: even where
   * is_fixed_linear_map(), it is linear to the rounding of single precision only.
   *
   * With an asynchronous inner iteration (two_stage inner, outer or total; thesis, section 3.3) rows of a block are
   * relaxed one after the other, each k times, from the current values of the block:
   *   y_i <- y_i + omega / d_i (s_i - sum_{j in J} a_ij y_j)
   * with s_i as above for inner and outer; total takes x_j for y_j, s_i of x as it is now, and so writes x_i at once.
   * Host threads take the rows of a block in their order, which makes these Gauss-Seidel sweeps; on a GPU the warps of
   * a block do not wait for one another, and each relaxes its 32 rows at once. The backend reference, and a replay,
   * take rows in random order, another one in each sweep, and with total a row of this block and a row of that one, at
   * random; a replay then draws for each sweep how old other blocks' values are. With a row a block and k = 1 these
   * classes are one iteration. If rho(|I - D^-1 A|) < 1 all converge (omega = 1; Frommer and Szyld, in the thesis).
   * Baudet's methods (preprint of 2011, Table I) are cases: AJ, whose processes take values of the beginning of an
   * iteration and publish at its end, is block with k = 1; AGS, which takes the new ones of its own rows, is outer with
   * k = 1; and PA, which publishes each value at once and takes the latest, is total, with any k.
   *
   * With one block it is k Jacobi sweeps on the whole system; with the synchronous schedule it is block Jacobi with k
   * inner sweeps. With momentum the velocities v live from one iterate() to the next, until restart(); the
   * random numbers of a replay, and of rows in random order, go on.
   */
  template <typename Number>
  class BlockAsync : public Relaxation<Number>
  {
  public:
    /**
     * Copies (and for the backend cuda uploads) what it needs of A, after A.validate(). @throws InvalidInput,
     * DeviceError.
     */
    BlockAsync(const CrsMatrix<Number> &A, const BlockAsyncOptions &options);

    /**
     * For a matrix that is on the device, such as CrsMatrix::validate() accepts; with backend cuda and no corrections.
     * Where values are stored as given it shares A's arrays, and update_values() writes to them.
     */
    BlockAsync(const device::DeviceCrs<Number> &A, const BlockAsyncOptions &options);

    /**
     * For an operator that is not stored. Blocks are tiles of the grid, of a shape that suits the backend; weights,
     * overlap, momentum and local iterations that vary from block to block are for stored matrices. @throws
     * InvalidInput, DeviceError.
     */
    BlockAsync(const Stencil<Number> &stencil, const BlockAsyncOptions &options);
    ~BlockAsync() override;

    std::string     name() const override;
    std::string     description() const override;
    int             n_rows() const override;
    int             n_columns() const override;
    MemorySpace     memory_space() const override;
    bool            is_fixed_linear_map() const override;
    bool            is_symmetric_map() const override;
    void            iterate(Number *x, const Number *b, int n_iterations) override;
    void            iterate_from_zero(Number *x, const Number *b, int n_iterations) override;
    bool            residual(Number *r, const Number *x, const Number *b) override;
    bool            tests_itself() const override;
    IterationReport iterate_until(Number *x, const Number *b, int n_iterations, const ResidualTest &test) override;
    void            restart() override;
    double          residual_norm_squared(const Number *x, const Number *b) override;
    double          norm_squared(const Number *b) override;
    /** On the backend cuda for values that are stored as they are only, Storage::double_precision. */
    void update_values(const Number *values) override;
    void update_stencil(const Stencil<Number> &stencil) override;
    /** In the place of sweep_weights, too. */
    void set_omega(double omega) override;
    /**
     * In the place of omega; counts from the next update_stencil() on. @throws InvalidInput, also for stored matrices.
     */
    void set_sweep_weights(const std::vector<double> &weights);

  private:
    BlockAsyncOptions                         options;
    bool                                      is_stencil = false;
    int                                       rows, columns;
    std::unique_ptr<BlockAsyncEngine<Number>> engine;
  };
} // namespace leopard
