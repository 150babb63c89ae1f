// SPDX-License-Identifier: Apache-2.0
#include "theta_rule.h"

#include "../../base/errors.h"

#include <cmath>
#include <string>

namespace leopard::studies
{
  std::vector<int> two_valued_local_iterations(const CrsMatrix &A, const Blocks &blocks, int k)
  {
    if (k < 2)
      throw InvalidInput("theta-dependent local iterations: k is " + std::to_string(k) + "\n  expected: a number >= 2");
    std::vector<double> inside(blocks.n_blocks(), 0.), outside(blocks.n_blocks(), 0.);
    double              all_inside = 0., all_outside = 0.;
    for (int block = 0; block < blocks.n_blocks(); ++block)
      {
        for (int p = A.row_offsets[blocks.owned_begin[block]]; p < A.row_offsets[blocks.owned_begin[block + 1]]; ++p)
          (A.columns[p] >= blocks.begin[block] && A.columns[p] < blocks.end[block] ? inside : outside)[block] += std::abs(A.values[p]);
        all_inside += inside[block];
        all_outside += outside[block];
      }
    std::vector<int> result(blocks.n_blocks());
    for (int block = 0; block < blocks.n_blocks(); ++block)
      result[block] = inside[block] * all_outside > all_inside * outside[block] ? k : k - 1; // without division: nothing may be outside
    return result;
  }
} // namespace leopard::studies
