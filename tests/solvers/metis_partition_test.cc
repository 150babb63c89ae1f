// SPDX-License-Identifier: Apache-2.0
// Blocks by METIS of systems, whose nodes have several rows; of others see block_async_options_test.cc.
#include <solvers/matrix/blocks.h>
#include <solvers/matrix/elasticity.h>

#include <gtest/gtest.h>

#include <utility>

namespace leopard
{
  namespace
  {
    /** As a graph of rows elasticity takes METIS ten times as long. Zeros of the matrix are left out. */
    TEST(MetisPartition, NodesOfSystemsStayTogether)
    {
      for (const auto &[dim, cells] : {std::pair(2, 30), std::pair(3, 8)})
        {
          const CrsMatrix<double> A = Elasticity{dim, {cells, cells, cells}}.matrix();
          for (const int block_size : {50, 100, 256})
            {
              const Partition p = metis_partition(A, block_size);
              EXPECT_LE(blocks_between(p.block_offsets).largest(), block_size);
              EXPECT_LE(p.block_offsets.size(), 1. + 1.3 * A.n_rows / block_size) << dim << ", " << block_size;
              for (std::size_t j = 0; j + 1 < p.block_offsets.size(); ++j)
                for (int i = p.block_offsets[j]; i < p.block_offsets[j + 1]; ++i)
                  EXPECT_EQ(p.old_row[i] % dim, (i - p.block_offsets[j]) % dim);
            }
        }
    }
  } // namespace
} // namespace leopard
