// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../base/backend.h"
#include "../matrix/incomplete_factors.h"

namespace leopard
{
  struct FactorSweepOptions
  {
    int     n_sweeps    = 5;             ///< over all entries
    Backend backend     = Backend::host; ///< reference: one thread
    bool    synchronous = false;         ///< every sweep reads the values of the one before: always the same. Otherwise the newest in memory
    int     n_threads   = 0;             ///< host; 0: as many as this process may use

    /** @throws InvalidInput naming the option, what was found and what is expected. */
    void validate() const;
  };

  /**
   * Incomplete factors by fixed-point sweeps, for IncompleteFactors: all entries at once,
   *   l_ij = (a_ij - sum_{k < j} l_ik u_kj) / u_jj  for i > j,   u_ij = a_ij - sum_{k < i} l_ik u_kj  for i <= j,
   * where the pattern has entries (a_ij = 0 for fill), from l_ij = a_ij / a_jj, u_ij = a_ij, which is what a matrix
   * scaled to a diagonal of ones begins with. An entry depends on earlier ones only: whatever the order, the sweeps end
   * with the factors of elimination, to rounding, after as many as the longest chain of entries is long, and a few come
   * near them. One thread that reads the newest values needs one sweep. Of ic there is U alone, with
   * u_ki / u_kk in the place of l_ik. On the backend cuda the result is copied to the host once.
   * Source: Chow, Patel, Fine-grained parallel incomplete LU factorization, SIAM J. Sci. Comput. 37, 2015, algorithm 2.
   * @throws InvalidInput; what it returns, DeviceError.
   */
  template <typename Number>
  typename IncompleteFactors<Number>::Factorization factor_sweeps(const FactorSweepOptions &options);
} // namespace leopard
