// SPDX-License-Identifier: Apache-2.0
// Adaptors whose n_threads is 0 make no more threads than deal.II allows: in a program of ranks one a rank.
#include <solvers/dealii/precondition_aggregation.h>
#include <solvers/dealii/precondition_multigrid.h>
#include <solvers/matrix/generators.h>

#include <deal.II/base/multithread_info.h>
#include <deal.II/lac/dynamic_sparsity_pattern.h>
#include <deal.II/lac/sparse_matrix.h>
#include <deal.II/lac/vector.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>

#include <dlfcn.h>
#include <pthread.h>

namespace
{
  std::atomic<int> n_made{0}; ///< threads
}

extern "C" int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*function)(void *), void *argument) noexcept
{
  static const auto real = reinterpret_cast<decltype(&pthread_create)>(::dlsym(RTLD_NEXT, "pthread_create"));
  ++n_made;
  return real(thread, attributes, function, argument);
}

namespace leopard
{
  namespace
  {
    constexpr int n = 20000; ///< rows, enough for several threads

    /** Threads that f() makes where deal.II allows so many. */
    template <typename Function>
    int n_made_within(unsigned int limit, const Function &f)
    {
      dealii::MultithreadInfo::set_thread_limit(limit);
      const int before = n_made;
      f();
      dealii::MultithreadInfo::set_thread_limit(1);
      return n_made - before;
    }

    /** Levels, and a cycle with each smoother that has threads. */
    void aggregate(const dealii::SparseMatrix<double> &A)
    {
      for (const char *smoother : {"chebyshev", "async"})
        {
          PreconditionAggregation::AdditionalData data;
          data.multigrid.smoother.method = smoother;
          PreconditionAggregation aggregation;
          aggregation.initialize(A, data);
          dealii::Vector<double> x(n), b(n);
          b = 1.;
          aggregation.vmult(x, b);
        }
    }

    TEST(ThreadLimit, HoldsForLevelsAndTheirSmoothers)
    {
      dealii::DynamicSparsityPattern entries(n);
      for (int i = 0; i < n; ++i)
        for (int j = std::max(0, i - 1); j <= std::min(n - 1, i + 1); ++j)
          entries.add(i, j);
      dealii::SparsityPattern pattern;
      pattern.copy_from(entries);
      dealii::SparseMatrix<double> A(pattern);
      for (const auto &entry : entries)
        A.set(entry.row(), entry.column(), entry.row() == entry.column() ? 2. : -1.);
      EXPECT_EQ(n_made_within(1, [&] { aggregate(A); }), 0);
      EXPECT_GT(n_made_within(3, [&] { aggregate(A); }), 0);
    }

    TEST(ThreadLimit, HoldsForMultigridOfAMatrix)
    {
      const CrsMatrix<double> A = five_point_matrix(150, 150, 0.);
      for (const unsigned int limit : {1u, 3u})
        n_made_within(limit, [&] {
          const MultigridOptions options = PreconditionMultigrid(A, AggregationOptions(), MultigridOptions()).options();
          EXPECT_EQ(options.n_threads, static_cast<int>(limit));
          EXPECT_EQ(options.smoother.block_async.n_threads, static_cast<int>(limit));
        });
    }
  } // namespace
} // namespace leopard
