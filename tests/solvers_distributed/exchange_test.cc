// SPDX-License-Identifier: Apache-2.0
// Exchanges of any pattern: values go to the ranks that need them, waited for or not.
#include "ranks_test.h"

#include <solvers/base/errors.h>
#include <solvers/device/device_array.h>
#include <solvers/distributed/mpi/mpi_exchange.h>
#include <solvers/exchange/peer_transport.h>
#include <solvers/exchange/slab_pattern.h>

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

    enum class Wire
    {
      best,     ///< what make_transport() takes
      messages, ///< even where GPUs can write into one another's memory
      memory    ///< kernels write there, even where ranks share a GPU; else skipped
    };

    struct Form
    {
      Backend backend;
      Wire    wire;
    };

    std::string name_of(const Form &form)
    {
      return to_string(form.backend) + (form.wire == Wire::messages ? "_staged" : form.wire == Wire::memory ? "_memory" : "");
    }

    class ExchangeTest : public testing::TestWithParam<Form>
    {
    protected:
      void SetUp() override
      {
        if (is_on_device() && device::n_devices() == 0)
          GTEST_SKIP() << "no GPU";
        std::string why_not;
        transport = GetParam().wire == Wire::memory ? make_peer_transport(my_rank(), n_ranks(), 8, all_gather_in(MPI_COMM_WORLD), why_not)
                                                    : make_transport(MPI_COMM_WORLD, GetParam().backend, GetParam().wire == Wire::messages, 8);
        if (transport == nullptr)
          GTEST_SKIP() << why_not;
        exchange = transport->connect(pattern, n_values);
      }

      static bool is_on_device() { return GetParam().backend == Backend::cuda; }

      /** Exchanges host values by way of the backend's memory. @param how of a vector there. */
      template <typename Number, typename How>
      void on_backend(std::vector<Number> &v, const How &how)
      {
        if (!is_on_device())
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

      /**
       * A visit, with own values from base on. Ranks call differently often, and ghosts are of this visit or as they
       * were; at last all come without a wait.
       */
      template <typename Number>
      void check_visit(int base)
      {
        exchange->begin();
        std::vector<Number> v         = vector_with<Number>(base);
        const auto          is_of_now = [&] {
          int n_missing = 0;
          for (std::size_t k = n_own * n_values; k < v.size(); ++k)
            {
              EXPECT_TRUE(v[k] == Number(-1) || (v[k] >= Number(base) && v[k] < Number(base + 10000))) << v[k] << ", not from " << base << " on";
              n_missing += v[k] == Number(-1);
            }
          return n_missing;
        };
        for (int call = 0; call < 3 + 4 * my_rank(); ++call)
          {
            on_backend(v, [&](Number *x) { exchange->update_loosely(x); });
            is_of_now();
          }
        const auto start = std::chrono::steady_clock::now();
        int        n_missing;
        do
          {
            on_backend(v, [&](Number *x) { exchange->update_loosely(x); });
            n_missing = is_of_now();
            MPI_Allreduce(MPI_IN_PLACE, &n_missing, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
          }
        while (n_missing > 0 && std::chrono::steady_clock::now() - start < std::chrono::seconds(60));
        EXPECT_EQ(n_missing, 0);
        expect_ghosts(v, [base](int /*rank*/) { return base; });
        // a visit ends with an exchange that is waited for
        v = vector_with<Number>(base + 1);
        on_backend(v, [&](Number *x) { exchange->update(x); });
        expect_ghosts(v, [base](int /*rank*/) { return base + 1; });
      }

      const ExchangePattern      pattern = pattern_of(my_rank(), n_ranks());
      std::unique_ptr<Transport> transport;
      std::unique_ptr<Exchange>  exchange;
    };
    INSTANTIATE_TEST_SUITE_P(Forms,
                             ExchangeTest,
                             testing::Values(Form{Backend::host, Wire::best},
                                             Form{Backend::cuda, Wire::best},
                                             Form{Backend::cuda, Wire::messages},
                                             Form{Backend::cuda, Wire::memory}),
                             [](const auto &info) { return name_of(info.param); });
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
    const auto update_at = [&](auto number) {
      using Number          = decltype(number);
      std::vector<Number> v = vector_with<Number>(7);
      on_backend(v, [&](Number *x) {
        std::vector<Number *> address = {x};
        if (!is_on_device())
          return exchange->update_at(address.data());
        const device::Array<Number *> there(address);
        exchange->update_at(there.data());
        device::synchronize();
      });
      expect_ghosts(v, [](int /*rank*/) { return 7; });
    };
    update_at(double());
    update_at(float());
  }

  TEST_P(ExchangeTest, WhatIsNotWaitedForIsOfThisVisit)
  {
    for (int visit = 1; visit <= 5; ++visit)
      check_visit<double>(10000 * visit);
  }

  TEST_P(ExchangeTest, SingleThatIsNotWaitedForIsOfThisVisit)
  {
    for (int visit = 1; visit <= 5; ++visit)
      check_visit<float>(10000 * visit);
  }

  TEST_P(ExchangeTest, AVisitBeginsBeforeItsExchanges)
  {
    std::vector<double> v = vector_with<double>(1);
    on_backend(v, [&](double *x) { EXPECT_THROW(exchange->update_loosely(x), InvalidInput); });
    check_visit<double>(10000);
  }

  /** The last rank has none, and no vector; the others send their only entry to one another. */
  TEST_P(ExchangeTest, ARankWithoutRows)
  {
    const int       last = n_ranks() - 1;
    ExchangePattern all;
    for (int r = 0, ghost = 1; r < last && my_rank() < last; ++r)
      if (r != my_rank())
        {
          all.add_sent(r, 0);
          all.add_received(r, ghost++);
        }
    const auto          connected = transport->connect(all, 1);
    std::vector<double> v(my_rank() < last ? last : 0, -1.), expected;
    if (my_rank() < last)
      {
        v[0] = my_rank();
        expected.push_back(my_rank());
        for (int r = 0; r < last; ++r)
          if (r != my_rank())
            expected.push_back(r);
      }
    on_backend(v, [&](double *x) {
      connected->begin();
      connected->update_loosely(x);
      connected->update(x);
    });
    EXPECT_EQ(v, expected);
    std::vector<float> w(v.size(), -1.F);
    if (!w.empty())
      w[0] = static_cast<float>(my_rank());
    on_backend(w, [&](float *x) { connected->update(x); });
    EXPECT_EQ(w, std::vector<float>(expected.begin(), expected.end()));
  }

  /** Each rank gets its right neighbour's first entry of one vector and second entry of the other one. */
  TEST_P(ExchangeTest, TwoVectorsTravelAtOnce)
  {
    const int       left = (my_rank() + n_ranks() - 1) % n_ranks(), right = (my_rank() + 1) % n_ranks(), n = 3;
    ExchangePattern pair;
    pair.second = 4;
    if (n_ranks() > 1)
      for (const int entry : {0, 4 + 1})
        {
          pair.add_sent(left, entry);
          pair.add_received(right, entry + 2);
        }
    const auto connected = transport->connect(pair, n);
    const auto check     = [&](auto number) {
      using Number       = decltype(number);
      const auto numbers = [](int size, double value) { return std::vector<Number>(size, Number(value)); };
      auto       v = numbers(4 * n, 10. * my_rank()), w = numbers(4 * n, 10. * my_rank() + 1.), v_expected = v, w_expected = w;
      if (n_ranks() > 1)
        for (int c = 0; c < n; ++c)
          {
            v_expected[2 * n + c] = Number(10. * right);
            w_expected[3 * n + c] = Number(10. * right + 1.);
          }
      on_backend(v, [&](Number *x) { on_backend(w, [&](Number *y) { connected->update(x, y); }); });
      EXPECT_EQ(v, v_expected);
      EXPECT_EQ(w, w_expected);
    };
    check(double());
    check(float());
    std::vector<double> v(4 * n);
    connected->begin();
    EXPECT_THROW(connected->update(v.data()), InvalidInput);
    EXPECT_THROW(connected->update_loosely(v.data()), InvalidInput);
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

  TEST(MpiExchange, RefusesMoreValuesThanMpiCounts)
  {
    const auto      transport = make_transport(MPI_COMM_WORLD, Backend::host, false, 8);
    ExchangePattern sends, receives;
    for (const int i : {0, 1})
      {
        sends.add_sent(my_rank() + 1, i);
        receives.add_received(my_rank() + 1, i);
      }
    for (const ExchangePattern &pattern : {sends, receives})
      EXPECT_THROW(transport->connect(my_rank() == 0 ? pattern : ExchangePattern(), 1 << 30), InvalidInput) << "on all ranks";
  }

  TEST(MpiExchange, ItsCommunicatorIsGivenBackWhileAnExceptionIsOnItsWay)
  {
    int n_freed = 0, key = MPI_KEYVAL_INVALID;
    MPI_Comm_create_keyval(
      MPI_COMM_NULL_COPY_FN,
      [](MPI_Comm, int, void *, void *n) {
        ++*static_cast<int *>(n);
        return MPI_SUCCESS;
      },
      &key,
      &n_freed);
    try
      {
        const auto comm = duplicate(MPI_COMM_WORLD);
        MPI_Comm_set_attr(*comm, key, nullptr);
        throw InvalidInput("on purpose");
      }
    catch (const InvalidInput &)
      {
      }
    EXPECT_EQ(n_freed, 1);
    MPI_Comm_free_keyval(&key);
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

  TEST(SlabPattern, PlanesGoToTheRanksBesideIt)
  {
    const auto own = [](const ExchangePattern &p) { return std::pair(p.sent, p.received); };
    using Planes   = std::pair<std::vector<int>, std::vector<int>>;
    const Slab            middle{1, 3, 1, 4, 2, 7}; // planes 1 to 4 of two fields, one ghost plane below, two above
    const ExchangePattern pattern = slab_pattern(middle);
    EXPECT_EQ(own(pattern), Planes({1, 8, 4, 11}, {0, 7, 5, 12}));
    EXPECT_EQ(pattern.neighbours(), (std::vector<int>{0, 2}));
    EXPECT_EQ(pattern.to[1].offset, 2);
    EXPECT_EQ(own(slab_pattern({0, 3, 0, 4})), Planes({3}, {4}));
    const ExchangePattern two = slab_pattern_for_restriction({1, 3, 1, 4});
    EXPECT_EQ(two.second, 7);
    EXPECT_EQ(own(two), Planes({1, 2, 8, 4}, {0, 5, 6, 12})); // plane 1 of the second vector is number 8
    EXPECT_EQ(own(slab_pattern_for_restriction({2, 3, 1, 4})), Planes({1, 2, 8}, {0}));
    EXPECT_TRUE(slab_pattern({0, 1, 0, 4}).neighbours().empty());
  }
} // namespace leopard
