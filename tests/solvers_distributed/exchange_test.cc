// SPDX-License-Identifier: Apache-2.0
// Exchanges of any pattern: values go to the ranks that need them, waited for or not.
#include "ranks_test.h"

#include <solvers/base/errors.h>
#include <solvers/device/device_array.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <random>
#include <set>

namespace leopard
{
  namespace
  {
    constexpr int n_own = 60, n_values = 3;

    /** The entries of rank `of` that rank `by` reads: of some ranks none, though they read some of that one's. */
    std::vector<int> entries_read(int by, int of)
    {
      std::vector<int> result;
      for (int i = 0; i < n_own && by != of && (by + 2 * of) % 3 != 0; ++i)
        if ((i * 7 + by) % (3 + of) == 0)
          result.push_back(i);
      return result;
    }

    /** Ghosts stand behind the own entries: of odd ranks in order, of even ones in reverse. */
    ExchangePattern pattern_of(int rank, int n_ranks)
    {
      ExchangePattern pattern;
      int             n_ghosts = 0;
      for (int r = 0; r < n_ranks; ++r)
        {
          for (const int i : entries_read(r, rank))
            pattern.add_sent(r, i);
          const int n = static_cast<int>(entries_read(rank, r).size());
          for (int k = 0; k < n; ++k)
            pattern.add_received(r, n_own + n_ghosts + (r % 2 == 1 ? k : n - 1 - k));
          n_ghosts += n;
        }
      return pattern;
    }

    class ExchangeTest : public testing::TestWithParam<Backend>
    {
    protected:
      void SetUp() override
      {
        if (GetParam() == Backend::cuda && device::n_devices() == 0)
          GTEST_SKIP() << "no GPU";
        transport = make_slab_exchange(MPI_COMM_WORLD, GetParam(), false, 1, 8);
        exchange  = transport->connect(pattern, n_values);
      }

      /** Exchanges host values by way of the backend's memory. @param how of a vector there. */
      template <typename Number, typename How>
      void on_backend(std::vector<Number> &v, const How &how)
      {
        if (GetParam() != Backend::cuda)
          return how(v.data());
        const device::Array<Number> there(v);
        how(there.data());
        device::copy_to_host(v.data(), there.data(), v.size() * sizeof(Number));
      }

      template <typename Number>
      std::vector<Number> vector_with(int base) const
      {
        std::vector<Number> v((n_own + pattern.received.size()) * n_values, Number(-1));
        for (int i = 0; i < n_own * n_values; ++i)
          v[i] = Number(base + 1000 * my_rank() + i);
        return v;
      }

      /** Ghosts are those of vector_with(base(rank)) on the ranks that own them. */
      template <typename Number, typename Base>
      void expect_ghosts(const std::vector<Number> &v, const Base &base) const
      {
        for (const auto &from : pattern.from)
          {
            const std::vector<int> entries = entries_read(my_rank(), from.rank);
            ASSERT_EQ(static_cast<int>(entries.size()), from.count);
            for (int k = 0; k < from.count; ++k)
              for (int c = 0; c < n_values; ++c)
                ASSERT_EQ(v[pattern.received[from.offset + k] * n_values + c],
                          Number(base(from.rank) + 1000 * from.rank + entries[k] * n_values + c));
          }
        for (int i = 0; i < n_own * n_values; ++i)
          ASSERT_EQ(v[i], Number(base(my_rank()) + 1000 * my_rank() + i));
      }

      const ExchangePattern         pattern = pattern_of(my_rank(), n_ranks());
      std::unique_ptr<SlabExchange> transport;
      std::unique_ptr<Exchange>     exchange;
    };
    INSTANTIATE_TEST_SUITE_P(Backends, ExchangeTest, testing::Values(Backend::host, Backend::cuda), [](const auto &info) {
      return to_string(info.param);
    });
  } // namespace

  TEST_P(ExchangeTest, GhostsAreTheValuesOfTheirOwners)
  {
    std::size_t n_sent = 0; // counted without the pattern
    for (int r = 0; r < n_ranks(); ++r)
      n_sent += entries_read(r, my_rank()).size();
    for (int step = 0; step < 20; ++step)
      {
        const auto          base  = [step](int /*rank*/) { return 10000 * step; };
        std::vector<double> v     = vector_with<double>(base(0));
        std::vector<float>  w     = vector_with<float>(base(0));
        const Traffic       begin = transport->traffic();
        on_backend(v, [&](double *x) { exchange->update(x); });
        expect_ghosts(v, base);
        EXPECT_EQ(transport->traffic().calls, begin.calls + 1);
        EXPECT_EQ(transport->traffic().bytes, begin.bytes + n_sent * n_values * sizeof(double));
        on_backend(w, [&](float *x) { exchange->update(x); });
        expect_ghosts(w, base);
        EXPECT_EQ(transport->traffic().bytes, begin.bytes + n_sent * n_values * (sizeof(double) + sizeof(float)));
      }
  }

  TEST_P(ExchangeTest, TheAddressOfAVectorIsReadWhenItsTurnComes)
  {
    const auto          base = [](int /*rank*/) { return 7; };
    std::vector<double> v    = vector_with<double>(7);
    on_backend(v, [&](double *x) {
      std::vector<double *> address = {x};
      if (GetParam() != Backend::cuda)
        return exchange->update_at(address.data());
      const device::Array<double *> there(address);
      exchange->update_at(there.data());
      device::synchronize();
    });
    expect_ghosts(v, base);
  }

  /**
   * Ranks call it differently often, and ghosts are of this visit or as they were; at last all come without a wait.
   */
  TEST_P(ExchangeTest, WhatIsNotWaitedForIsOfThisVisit)
  {
    for (int visit = 1; visit <= 5; ++visit)
      {
        const int base = 10000 * visit;
        exchange->begin();
        std::vector<double> v         = vector_with<double>(base);
        const auto          is_of_now = [&] {
          int n_missing = 0;
          for (std::size_t k = n_own * n_values; k < v.size(); ++k)
            {
              EXPECT_TRUE(v[k] == -1. || (v[k] >= base && v[k] < base + 10000)) << v[k] << " in visit " << visit;
              n_missing += v[k] == -1.;
            }
          return n_missing;
        };
        for (int call = 0; call < 3 + 4 * my_rank(); ++call)
          {
            on_backend(v, [&](double *x) { exchange->update_loosely(x); });
            is_of_now();
          }
        const auto start = std::chrono::steady_clock::now();
        int        n_missing;
        do
          {
            on_backend(v, [&](double *x) { exchange->update_loosely(x); });
            n_missing = is_of_now();
            MPI_Allreduce(MPI_IN_PLACE, &n_missing, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
          }
        while (n_missing > 0 && std::chrono::steady_clock::now() - start < std::chrono::seconds(60));
        EXPECT_EQ(n_missing, 0);
        expect_ghosts(v, [base](int /*rank*/) { return base; });
        // a visit ends with an exchange that is waited for
        v = vector_with<double>(base + 1);
        on_backend(v, [&](double *x) { exchange->update(x); });
        expect_ghosts(v, [base](int /*rank*/) { return base + 1; });
      }
  }

  /** In all orders of calls of several exchanges, one of which has no neighbours. */
  TEST_P(ExchangeTest, SeveralDoNotMix)
  {
    const auto          none = transport->connect({}, 1), other = transport->connect(pattern, n_values);
    std::vector<double> v = vector_with<double>(1), w = vector_with<double>(2);
    on_backend(v, [&](double *x) { other->update(x); });
    on_backend(w, [&](double *x) {
      exchange->update(x);
      none->update(x);
      none->begin();
      none->update_loosely(x);
    });
    expect_ghosts(v, [](int /*rank*/) { return 1; });
    expect_ghosts(w, [](int /*rank*/) { return 2; });
  }

  TEST(ExchangePattern, KnowsItsNeighboursAndOrders)
  {
    ExchangePattern pattern;
    pattern.add_sent(1, 4);
    pattern.add_sent(1, 0);
    pattern.add_sent(5, 4);
    pattern.add_received(2, 6);
    pattern.add_received(5, 5);
    EXPECT_EQ(pattern.neighbours(), (std::vector<int>{1, 2, 5}));
    EXPECT_EQ(pattern.to[0].count, 2);
    EXPECT_EQ(pattern.to[1].offset, 2);
    const ExchangePattern other = pattern.in_order({4, 3, 2, 1, 0}); // ghosts stay
    EXPECT_EQ(other.sent, (std::vector<int>{0, 4, 0}));
    EXPECT_EQ(other.received, pattern.received);
  }
} // namespace leopard
