// SPDX-License-Identifier: Apache-2.0
// Ghost values that nobody waits for: the exchange, and multigrid with it. Run with 2 and 4 ranks, too; one rank is a
// rank.
#include "level_problem.h"

#include <solvers/base/errors.h>
#include <solvers/dealii/index_sets.h>
#include <solvers/distributed/mpi/gathered_coarse_solver.h>
#include <solvers/distributed/mpi/ghost_exchange.h>
#include <solvers/multigrid/multigrid.h>

#include <deal.II/base/mpi.h>

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <thread>

// PETSc, of which deal.II includes the headers, makes macros of some
#undef MPI_Issend
#undef MPI_Irecv
#undef MPI_Test
#undef MPI_Wait
#undef MPI_Waitall

namespace
{
  // Requests that are begun and not done, and communicators made and not freed; counted by MPI's profiling interface.
  std::multiset<MPI_Request> live_requests;
  int                        live_communicators = 0;

  void ended(MPI_Request request)
  {
    const auto found = live_requests.find(request);
    if (found != live_requests.end())
      live_requests.erase(found);
  }
} // namespace

extern "C"
{
  int MPI_Issend(const void *values, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request)
  {
    const int result = PMPI_Issend(values, n, type, to, tag, comm, request);
    live_requests.insert(*request);
    return result;
  }
  int MPI_Irecv(void *values, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request *request)
  {
    const int result = PMPI_Irecv(values, n, type, from, tag, comm, request);
    live_requests.insert(*request);
    return result;
  }
  int MPI_Test(MPI_Request *request, int *done, MPI_Status *status)
  {
    const MPI_Request before = *request;
    const int         result = PMPI_Test(request, done, status);
    if (*done)
      ended(before);
    return result;
  }
  int MPI_Wait(MPI_Request *request, MPI_Status *status)
  {
    ended(*request);
    return PMPI_Wait(request, status);
  }
  int MPI_Waitall(int n, MPI_Request *requests, MPI_Status *statuses)
  {
    std::for_each(requests, requests + n, ended);
    return PMPI_Waitall(n, requests, statuses);
  }
  int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *copy)
  {
    ++live_communicators;
    return PMPI_Comm_dup(comm, copy);
  }
  int MPI_Comm_free(MPI_Comm *comm)
  {
    --live_communicators;
    return PMPI_Comm_free(comm);
  }
}

namespace leopard
{
  namespace
  {
    using namespace dealii;

    int my_rank()
    {
      return static_cast<int>(Utilities::MPI::this_mpi_process(MPI_COMM_WORLD));
    }

    int n_ranks()
    {
      return static_cast<int>(Utilities::MPI::n_mpi_processes(MPI_COMM_WORLD));
    }

    /** Expects what is made meanwhile to have gone when it is destroyed. */
    struct NothingIsLeft
    {
      ~NothingIsLeft()
      {
        EXPECT_EQ(live_requests.size(), requests);
        EXPECT_EQ(live_communicators, communicators);
      }
      const std::size_t requests      = live_requests.size();
      const int         communicators = live_communicators;
    };

    /**
     * A vector of n_own entries a rank whose ghosts are the last two of the rank before and, if both ways, the first
     * two of the rank behind.
     */
    struct Line
    {
      static constexpr int n_own = 6;

      explicit Line(bool both_ways)
        : owned(n_own * n_ranks())
        , ghosts(owned.size())
      {
        const int begin = n_own * my_rank();
        owned.add_range(begin, begin + n_own);
        if (my_rank() > 0)
          ghosts.add_range(begin - 2, begin);
        if (both_ways && my_rank() < n_ranks() - 1)
          ghosts.add_range(begin + n_own, begin + n_own + 2);
        exchange = std::make_unique<GhostExchange<double>>(own_range(owned, MPI_COMM_WORLD), numbers_of(ghosts), MPI_COMM_WORLD);
        x.resize(n_own + ghosts.n_elements());
      }

      void set(double value) { std::fill(x.begin(), x.begin() + n_own, value); }

      IndexSet                               owned, ghosts;
      std::unique_ptr<GhostExchange<double>> exchange;
      std::vector<double>                    x;
    };

    /** Exchanges until the condition holds on all ranks. */
    void update_until(LooseExchange<double> &loose, std::vector<double> &x, const std::function<bool()> &holds)
    {
      MPI_Request all       = MPI_REQUEST_NULL;
      bool        has_ended = false;
      for (int done = 0; !done;)
        {
          loose.update_ghosts(x.data(), MemorySpace::host);
          if (!has_ended && holds())
            {
              MPI_Ibarrier(MPI_COMM_WORLD, &all);
              has_ended = true;
            }
          if (has_ended)
            PMPI_Test(&all, &done, MPI_STATUS_IGNORE);
        }
    }

    /** Numbers of a rank that do not follow those of the rank before are an error on all ranks. */
    TEST(RanksOfIndexSets, AreInOrder)
    {
      IndexSet in_order(3 * n_ranks()), reversed(3 * n_ranks());
      in_order.add_range(3 * my_rank(), 3 * my_rank() + 3);
      reversed.add_range(3 * (n_ranks() - 1 - my_rank()), 3 * (n_ranks() - my_rank()));
      const OwnRange own = own_range(in_order, MPI_COMM_WORLD);
      EXPECT_EQ(own.first(), 3 * my_rank());
      EXPECT_EQ(own.n_all(), 3 * n_ranks());
      EXPECT_EQ(numbers_of(in_order), std::vector<int>({own.first(), own.first() + 1, own.first() + 2}));
      if (n_ranks() > 1)
        {
          EXPECT_THROW(own_range(reversed, MPI_COMM_WORLD), InvalidInput);
        }
    }

    TEST(RanksOfLooseExchange, NobodyWaits)
    {
      const NothingIsLeft nothing_is_left;
      Line                line(true);
      const auto          loose = line.exchange->loose();
      constexpr int       n = 200, tag = 1;
      int                 token = 0;
      loose->begin();
      if (my_rank() == 0) // comes when all others have done all that they wanted to: if they waited for it, nobody would go on
        for (int rank = 1; rank < n_ranks(); ++rank)
          MPI_Recv(&token, 1, MPI_INT, rank, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      for (int i = 0; i < n; ++i)
        {
          line.set(i);
          loose->update_ghosts(line.x.data(), MemorySpace::host);
        }
      if (my_rank() > 0)
        MPI_Send(&token, 1, MPI_INT, 0, tag, MPI_COMM_WORLD);
    }

    TEST(RanksOfLooseExchange, TheNewestValuesArriveWhereTheyBelong)
    {
      for (const bool both_ways : {true, false})
        for (const bool reordered : {false, true})
          {
            const NothingIsLeft                          nothing_is_left;
            Line                                         line(both_ways);
            std::vector<int>                             old_row(Line::n_own);
            std::unique_ptr<const Communication<double>> other;
            std::iota(old_row.begin(), old_row.end(), 0);
            if (reordered)
              {
                std::reverse(old_row.begin(), old_row.end());
                other = line.exchange->reordered(old_row);
              }
            const auto loose = reordered ? other->loose() : line.exchange->loose();
            const auto set   = [&](double more) {
              for (int i = 0; i < Line::n_own; ++i)
                line.x[i] = static_cast<double>(line.owned.nth_index_in_set(old_row[i])) + more;
            };
            const auto right = [&] {
              for (std::size_t g = 0; g < line.ghosts.n_elements(); ++g)
                if (line.x[Line::n_own + g] != static_cast<double>(line.ghosts.nth_index_in_set(g)))
                  return false;
              return true;
            };
            loose->begin();
            for (int i = 1; i <= 3; ++i) // older values, which the last ones follow
              {
                set(1000. * i);
                loose->update_ghosts(line.x.data(), MemorySpace::host);
              }
            set(0.);
            update_until(*loose, line.x, right);
            EXPECT_TRUE(right());
          }
    }

    TEST(RanksOfLooseExchange, ValuesOfAVisitThatHasEndedOrNotBegunAreNotTaken)
    {
      const NothingIsLeft nothing_is_left;
      Line                line(false); // each rank reads of the one before, which may so be behind it or ahead
      const auto          loose      = line.exchange->loose();
      const bool          is_ahead   = my_rank() % 2 == 1;
      const auto          has_ghosts = [&](double value) { return std::count(line.x.begin() + Line::n_own, line.x.end(), value) > 0; };
      std::fill(line.x.begin(), line.x.end(), 0.);
      loose->begin();
      if (is_ahead)
        {
          loose->begin();
          line.set(2.);
          loose->update_ghosts(line.x.data(), MemorySpace::host);
        }
      MPI_Barrier(MPI_COMM_WORLD);
      if (!is_ahead)
        {
          line.set(1.); // the first messages of these ranks, to ranks in the second visit
          for (int i = 0; i < 100; ++i)
            {
              loose->update_ghosts(line.x.data(), MemorySpace::host);
              ASSERT_FALSE(has_ghosts(2.)) << "of the second visit in the first one";
            }
          loose->begin();
          line.set(2.);
        }
      update_until(*loose, line.x, [&] {
        EXPECT_FALSE(has_ghosts(1.)) << "of the first visit in the second one";
        return !has_ghosts(0.);
      });
    }

    TEST(RanksOfLooseExchange, GhostsGrowNewerInEachVisit)
    {
      for (const bool both_ways : {true, false})
        {
          const NothingIsLeft                                 nothing_is_left;
          std::array<Line, 2>                                 lines = {Line(both_ways), Line(both_ways)}; // as two levels of a cycle
          std::vector<std::unique_ptr<LooseExchange<double>>> loose;
          for (const Line &line : lines)
            loose.push_back(line.exchange->loose());
          std::mt19937 random(my_rank());
          for (int visit = 1; visit <= 101; ++visit)
            {
              Line                  &line = lines[visit % 2];
              LooseExchange<double> &any  = *loose[visit % 2];
              line.set(visit);
              any.begin();
              line.exchange->update_ghosts(line.x.data(), MemorySpace::host);
              std::vector<double> before = line.x;
              const int           n      = static_cast<int>(random() % 6); // another number on each rank
              for (int i = 1; i <= n; ++i)
                {
                  if (random() % 8 == 0)
                    std::this_thread::sleep_for(std::chrono::microseconds(random() % 200));
                  line.set(visit + 0.1 * i);
                  any.update_ghosts(line.x.data(), MemorySpace::host);
                  for (std::size_t g = Line::n_own; g < line.x.size(); ++g)
                    {
                      ASSERT_GE(line.x[g], before[g]) << "visit " << visit;
                      ASSERT_LT(line.x[g], visit + 1.) << "visit " << visit;
                    }
                  before = line.x;
                }
            }
        }
    }

    TEST(RanksOfLooseExchange, WhatIsOnItsWayIsTakenAtTheEnd)
    {
      const NothingIsLeft nothing_is_left;
      for (int i = 0; i < 20; ++i)
        {
          Line       line(i % 2 == 0);
          const auto loose = line.exchange->loose();
          loose->begin();
          for (int j = 0; j < 1 + (i + my_rank()) % 4; ++j)
            loose->update_ghosts(line.x.data(), MemorySpace::host);
        }
    }

    TEST(RanksOfLooseExchange, WhenAnExceptionEndsItNobodyWaits)
    {
      for (int i = 0; i < 3; ++i)
        try
          {
            Line       line(true);
            const auto loose = line.exchange->loose();
            loose->begin();
            for (int j = 0; j <= my_rank(); ++j)
              loose->update_ghosts(line.x.data(), MemorySpace::host);
            throw InvalidInput("on purpose");
          }
        catch (const InvalidInput &)
          {
          }
      MPI_Barrier(MPI_COMM_WORLD);
      Line line(true); // whose messages are not mixed up with those
      line.set(5.);
      line.exchange->update_ghosts(line.x.data(), MemorySpace::host);
      EXPECT_EQ(line.x, std::vector<double>(line.x.size(), 5.));
    }

    TEST(RanksOfLooseExchange, NotEveryCommunicationHasIt)
    {
      EXPECT_THROW(Communication<double>().loose(), InvalidInput);
    }

    /** An exchange whose loose one is another one. */
    class With : public Communication<double>
    {
    public:
      using Loose = std::function<std::unique_ptr<LooseExchange<double>>(const Communication<double> &)>;
      With(std::shared_ptr<const Communication<double>> exchange_, Loose make_)
        : exchange(std::move(exchange_))
        , make(std::move(make_))
      {
      }
      void                                         update_ghosts(double *x, MemorySpace space) const override { exchange->update_ghosts(x, space); }
      std::unique_ptr<LooseExchange<double>>       loose() const override { return make(*exchange); }
      double                                       sum(double value) const override { return exchange->sum(value); }
      double                                       max(double value) const override { return exchange->max(value); }
      bool                                         is_distributed() const override { return exchange->is_distributed(); }
      bool                                         has_ghosts() const override { return exchange->has_ghosts(); }
      std::unique_ptr<const Communication<double>> reordered(const std::vector<int> &old_row) const override
      {
        return std::make_unique<With>(exchange->reordered(old_row), make);
      }

    private:
      const std::shared_ptr<const Communication<double>> exchange;
      const Loose                                        make;
    };

    /** Nothing arrives. */
    struct Silent : LooseExchange<double>
    {
      void begin() override {}
      void update_ghosts(double * /*x*/, MemorySpace /*space*/) override {}
    };

    /** One rank is late, another one each time. */
    struct Late : LooseExchange<double>
    {
      explicit Late(std::unique_ptr<LooseExchange<double>> exchange_)
        : exchange(std::move(exchange_))
      {
      }
      void begin() override { exchange->begin(); }
      void update_ghosts(double *x, MemorySpace space) override
      {
        if (n_calls++ % n_ranks() == my_rank())
          std::this_thread::sleep_for(std::chrono::milliseconds(2));
        exchange->update_ghosts(x, space);
      }
      const std::unique_ptr<LooseExchange<double>> exchange;
      int                                          n_calls = 0;
    };

    MultigridHierarchy with(MultigridHierarchy hierarchy, const With::Loose &loose)
    {
      for (MultigridLevel &level : hierarchy.levels)
        if (level.communication != nullptr)
          level.communication = std::make_shared<With>(level.communication, loose);
      return hierarchy;
    }

    MultigridOptions asynchronous(bool wait_for_ghosts, int iterations_per_step = 1)
    {
      MultigridOptions options;
      options.n_threads                       = 1;
      options.smoother.block_async.block_size = 64;
      options.smoother.iterations_per_step    = iterations_per_step;
      options.wait_for_ghosts                 = wait_for_ghosts;
      return options;
    }

    Multigrid<double> make_multigrid(const MultigridHierarchy &hierarchy, const MultigridOptions &options)
    {
      if (n_ranks() == 1)
        return Multigrid<double>(hierarchy, options);
      return Multigrid<double>(hierarchy, options, std::make_unique<GatheredCoarseSolver>(hierarchy.levels.front(), options, MPI_COMM_WORLD));
    }

    double norm(const std::vector<double> &v, int n)
    {
      return std::sqrt(Utilities::MPI::sum(std::inner_product(v.begin(), v.begin() + n, v.begin(), 0.), MPI_COMM_WORLD));
    }

    /** Cycles to a residual of 1e-10, which is computed anew here, and an error of x that fits it. */
    int cycles(const MultigridHierarchy &hierarchy, const MultigridOptions &options, const std::vector<double> &known)
    {
      const CrsMatrix<double>     &A      = hierarchy.finest_matrix();
      const Communication<double> *ghosts = (hierarchy.is_adaptive() ? hierarchy.communication : hierarchy.levels.back().communication).get();
      const auto                   apply  = [&](std::vector<double> v) {
        if (ghosts != nullptr)
          ghosts->update_ghosts(v.data(), MemorySpace::host);
        std::vector<double> result(A.n_rows);
        multiply(A, v.data(), result.data());
        return result;
      };
      const std::vector<double> b         = apply(known);
      Multigrid<double>         multigrid = make_multigrid(hierarchy, options);
      std::vector<double>       x(A.n_columns, 0.);
      StoppingCriteria          criteria;
      criteria.relative_tolerance = 1e-10;
      criteria.max_iterations     = 60;
      const SolveResult result    = multigrid.solve(x.data(), b.data(), criteria);
      EXPECT_EQ(result.status, SolveStatus::converged) << result.final_residual;
      std::vector<double> r = apply(x), error(A.n_rows);
      for (int i = 0; i < A.n_rows; ++i)
        {
          r[i]     = b[i] - r[i];
          error[i] = x[i] - known[i];
        }
      EXPECT_LE(norm(r, A.n_rows), 1.001e-10 * norm(b, A.n_rows));
      EXPECT_NEAR(result.final_residual, norm(r, A.n_rows), 1e-3 * norm(r, A.n_rows) + 1e-14 * norm(b, A.n_rows));
      EXPECT_LE(norm(error, A.n_rows), 1e-6 * norm(known, A.n_rows));
      return result.n_iterations;
    }

    /** With values that the solution of the constrained problem can have. */
    std::vector<double> known_solution(const MultigridHierarchy &hierarchy)
    {
      std::mt19937_64                        random(17 + my_rank());
      std::uniform_real_distribution<double> value(-1., 1.);
      const CrsMatrix<double>               &A = hierarchy.finest_matrix();
      std::vector<double>                    x(A.n_columns, 0.);
      for (int i = 0; i < A.n_rows; ++i)
        x[i] = A.row_offsets[i + 1] - A.row_offsets[i] > 1 ? value(random) : 0.;
      return x;
    }

    MultigridHierarchy with_silent_ghosts(const MultigridHierarchy &hierarchy)
    {
      return with(hierarchy, [](const Communication<double> & /*exchange*/) { return std::make_unique<Silent>(); });
    }

    MultigridHierarchy with_late_ghosts(const MultigridHierarchy &hierarchy)
    {
      return with(hierarchy, [](const Communication<double> &exchange) { return std::make_unique<Late>(exchange.loose()); });
    }

    template <int dim>
    void compare_waiting_and_not(const LevelProblem<dim> &problem, unsigned int n_levels, int iterations_per_step)
    {
      const NothingIsLeft       nothing_is_left;
      const MultigridHierarchy  hierarchy = problem.hierarchy(n_levels);
      const std::vector<double> known     = known_solution(hierarchy);
      const MultigridOptions    loose     = asynchronous(false, iterations_per_step);
      const int                 waiting   = cycles(hierarchy, asynchronous(true, iterations_per_step), known);
      // what bounds the cycles whatever the machine does meanwhile: nothing arrives but what is waited for
      const int silent = cycles(with_silent_ghosts(hierarchy), loose, known);
      int       best   = 1000;
      for (int repetition = 0; repetition < 3; ++repetition)
        {
          const int n = cycles(hierarchy, loose, known);
          EXPECT_LE(n, silent + 2) << waiting << " cycles with waiting";
          best = std::min(best, n);
        }
      EXPECT_LE(best, waiting + 4) << silent << " cycles if nothing arrives";
      EXPECT_LE(cycles(with_late_ghosts(hierarchy), loose, known), silent + 2);
    }

    TEST(RanksOfLooseMultigrid, ConvergesToTheSameInAFewMoreCycles)
    {
      const auto uniform = distributed_mesh<2>(MPI_COMM_WORLD), adaptive = distributed_mesh<2>(MPI_COMM_WORLD);
      make_uniform(*uniform, 5);
      make_adaptive(*adaptive, 2, 2);
      for (const int iterations_per_step : {1, 3})
        compare_waiting_and_not(LevelProblem<2>(*uniform, 1), 3, iterations_per_step);
      compare_waiting_and_not(LevelProblem<2>(*adaptive, 1), 0, 1);
    }

    TEST(RanksOfLooseMultigrid, IsDestroyedWithMessagesOnTheirWay)
    {
      const auto mesh = distributed_mesh<2>(MPI_COMM_WORLD);
      make_uniform(*mesh, 4);
      const LevelProblem<2>     problem(*mesh, 1);
      const MultigridHierarchy  hierarchy = problem.hierarchy(3);
      const std::vector<double> known     = known_solution(hierarchy);
      {
        const NothingIsLeft nothing_is_left;
        for (const int n : {1, 3, 1, 5, 1})
          {
            Multigrid<double>   multigrid = make_multigrid(hierarchy, asynchronous(false)), other = make_multigrid(hierarchy, asynchronous(false));
            std::vector<double> x(multigrid.n_columns());
            for (int i = 0; i < n; ++i)
              {
                multigrid.vmult(x.data(), known.data());
                other.vmult(x.data(), known.data());
              }
          }
      }
      // nothing of it disturbs what comes next
      EXPECT_LE(cycles(hierarchy, asynchronous(true), known), 12);
    }

    TEST(RanksOfLooseMultigrid, SaysSoAndIsNoFixedMap)
    {
      const auto mesh = distributed_mesh<2>(MPI_COMM_WORLD);
      make_uniform(*mesh, 3);
      const MultigridHierarchy hierarchy = LevelProblem<2>(*mesh, 1).hierarchy(2);
      for (const bool wait : {true, false})
        {
          const Multigrid<double> multigrid = make_multigrid(hierarchy, asynchronous(wait));
          const std::string       text      = multigrid.description(),
                            expected        = wait ? "; ghosts of the smoother waited for" : "; ghosts of the smoother not waited for";
          EXPECT_EQ(text.find(expected) != std::string::npos, n_ranks() > 1) << text;
          EXPECT_EQ(multigrid.is_fixed_linear_map(), wait) << "one thread: only what arrives of other ranks varies";
        }
    }

    TEST(RanksOfLooseMultigrid, RefusesSmoothersThatAreNotAsynchronous)
    {
      const auto refused = [](const MultigridOptions &options) {
        try
          {
            options.validate();
            ADD_FAILURE() << "accepted: " << options.smoother.method;
          }
        catch (const InvalidInput &error)
          {
            EXPECT_NE(std::string(error.what()).find("wait_for_ghosts is false"), std::string::npos) << error.what();
            EXPECT_NE(std::string(error.what()).find("expected: true, or"), std::string::npos) << error.what();
          }
      };
      asynchronous(false).validate();
      for (const std::string &name : method_names(as_smoother))
        if (name != "async")
          {
            MultigridOptions options = asynchronous(false);
            options.smoother.method  = name;
            refused(options);
          }
      for (const Schedule schedule : {Schedule::synchronous, Schedule::replay})
        {
          MultigridOptions options              = asynchronous(false);
          options.smoother.block_async.schedule = schedule;
          refused(options);
        }
      MultigridOptions options = asynchronous(false);
      options.backend          = Backend::reference;
      refused(options);
    }
  } // namespace
} // namespace leopard
