// SPDX-License-Identifier: Apache-2.0
// New values of a multigrid hierarchy are copied into memory that is there: this program's operator new counts.
#include "../count_allocations.h"
#include "multigrid_test.h"

#include <gtest/gtest.h>

namespace leopard
{
  TEST(MultigridMemory, NothingIsAllocatedForAnotherStencil)
  {
    for (const bool varies : {false, true})
      for (const char *solver : {"dense", "direct"})
        for (const char *method : {"async", "jacobi", "damped-jacobi"})
          {
            Stencil<double> first = five_point_stencil(63, 62, 0.1), second = five_point_stencil(63, 62, 0.5);
            if (varies)
              for (int i = 0; i < first.n_rows(); ++i)
                {
                  first.diagonal.push_back(4.1 + i % 2);
                  second.diagonal.push_back(4.5 + i % 3);
                }
            MultigridOptions options;
            options.n_threads       = 2;
            options.coarse_solver   = solver;
            options.smoother.method = method;
            Multigrid<double> multigrid(first, 4, options);
            const long        before = n_allocations;
            EXPECT_TRUE(multigrid.update_values(second));
            const long after = n_allocations;
            EXPECT_EQ(after, before) << method << ", " << solver << (varies ? ", varies" : "");
          }
  }

  /** But for what Eigen's sparse factors of the coarsest level take with malloc. */
  TEST(MultigridMemory, NothingIsAllocatedForNewValues)
  {
    const MultigridHierarchy hierarchy = make_hierarchy(five_point_stencil(63, 63, 0.1), 4);
    MultigridHierarchy       changed   = hierarchy;
    for (MultigridLevel &level : changed.levels)
      for (double &v : level.matrix.values)
        v *= 1.5;
    for (const char *solver : {"dense", "direct"})
      for (const char *method : {"async", "damped-jacobi", "multicolour-gauss-seidel", "ilu0", "chebyshev"})
        {
          MultigridOptions options;
          options.n_threads       = 2;
          options.coarse_solver   = solver;
          options.smoother.method = method;
          Multigrid<double> multigrid(hierarchy, options);
          multigrid.update_values(changed);
          const long before = n_allocations;
          multigrid.update_values(hierarchy);
          const long after = n_allocations;
          EXPECT_EQ(after, before) << method << ", " << solver;
          std::vector<double> one(1); // and it does count
          EXPECT_GT(n_allocations, after);
        }
  }
} // namespace leopard
