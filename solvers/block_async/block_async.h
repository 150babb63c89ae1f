// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../matrix/crs_matrix.h"
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
    replay       ///< seeded order and staleness, bit-reproducible (backends reference and host)
  };

  struct BlockAsyncOptions
  {
    Backend       backend          = Backend::host;
    Schedule      schedule         = Schedule::chaotic;
    int           block_size       = 256; ///< rows a block; the last block may have fewer
    int           local_iterations = 5;   ///< k: Jacobi sweeps inside a block with off-block values frozen
    double        omega            = 1.;  ///< relaxation factor of each local sweep, dimensionless, in (0, 2)
    int           n_threads        = 0;   ///< host backend: threads; 0: as many as the machine has
    std::uint64_t seed             = 0;   ///< replay schedule: the seed

    /** @throws InvalidInput naming the option, what was found and what is expected. */
    void validate() const;
  };

  /**
   * Block-asynchronous iteration async-(k) for A x = b.
   *
   * Rows are split in blocks J of block_size consecutive rows. A global iteration relaxes each block once:
   *   s_i = b_i - sum_{j not in J} a_ij x_j            (off-block values frozen at what they are when the block begins),
   *   k times: x_i <- x_i + omega/a_ii (s_i - sum_{j in J} a_ij x_j)   for all i in J at once (Jacobi),
   * then the block's values are written for the others to see. Nothing orders the blocks in the chaotic schedule.
   * rho(|I - D^-1 A|) < 1 makes every schedule converge (omega = 1).
   * Source: Anzt, Tomov, Dongarra, Heuveline 2013, Algorithm 1; thesis, Algorithm 9 and section 4.8 (block-CRS).
   *
   * With one block it is k Jacobi sweeps on the whole system; with the synchronous schedule it is block Jacobi with k inner
   * sweeps.
   */
  class BlockAsync : public Relaxation
  {
  public:
    /** Copies (and for the backend cuda uploads) what it needs of A, after A.validate(). @throws InvalidInput, DeviceError. */
    BlockAsync(const CrsMatrix &A, const BlockAsyncOptions &options);
    ~BlockAsync() override;

    std::string name() const override;
    int         n_rows() const override;
    int         n_columns() const override;
    MemorySpace memory_space() const override;
    bool        is_fixed_linear_map() const override;
    void        iterate(double *x, const double *b, int n_iterations) override;
    double      residual_norm_squared(const double *x, const double *b) override;
    double      norm_squared(const double *b) override;
    void        update_values(const double *values) override;

    class Engine; ///< what a backend implements (block_async_engine.h)

  private:
    BlockAsyncOptions       options;
    int                     rows, columns;
    std::unique_ptr<Engine> engine;
  };
} // namespace leopard
