// SPDX-License-Identifier: Apache-2.0
// Time to a residual on ranks that wait for one another's values and on ranks that do not, where something disturbs
// them; and what a message between two of them takes: mpirun -n 2 waiting_ranks
#include "rank_timing.h"

#include <solvers/base/errors.h>
#include <solvers/base/stopwatch.h>
#include <solvers/block_async/block_async.h>
#include <solvers/device/device_array.h>
#include <solvers/distributed/mpi/distributed_rows.h>
#include <solvers/distributed/mpi/ghost_exchange.h>
#include <solvers/distributed/mpi/mpi_transport.h>
#include <solvers/matrix/generators.h>
#include <solvers/relaxation/with_ghosts.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <limits>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace
{
  using namespace leopard;

  /**
   * As long as that to some microseconds, by which a thread that sleeps comes back too late: it sleeps less, and looks
   * at the clock.
   */
  void sleep(double seconds)
  {
    constexpr double late  = 2e-4;
    const double     until = now() + seconds;
    if (seconds > late)
      std::this_thread::sleep_for(std::chrono::duration<double>(seconds - late));
    while (now() < until)
      std::this_thread::yield();
  }

  double median(std::vector<double> values)
  {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
  }

  struct Settings
  {
    int    size = 512, block_size = 256, local_iterations = 5, test_every = 20, runs = 3, seed = 1;
    double tolerance = 1e-2, delta = 0.01;
    double factor = 10., probability = 0.1; ///< of iterations that are slowed at random

    std::string backend = "host", csv, only;
    bool        staged  = false;

    bool on_device() const { return backend == "cuda"; }
  };

  /** Values in a space. */
  class Values
  {
  public:
    Values(const std::vector<double> &values, MemorySpace space_)
      : space(space_)
      , host(space == MemorySpace::host ? values : std::vector<double>())
      , device(space == MemorySpace::host ? std::vector<double>() : values)
    {
    }
    double     *data() { return space == MemorySpace::host ? host.data() : device.data(); }
    std::size_t size() const { return space == MemorySpace::host ? host.size() : device.size(); }

  private:
    MemorySpace           space;
    std::vector<double>   host;
    device::Array<double> device;
  };

  void set_zero(double *x, std::size_t n, MemorySpace space)
  {
    if (space == MemorySpace::host)
      std::fill_n(x, n, 0.);
    else
      device::set_zero(x, n * sizeof(double));
  }

  void copy(double *to, const double *from, std::size_t n, MemorySpace space)
  {
    if (space == MemorySpace::host)
      std::copy_n(from, n, to);
    else
      device::copy_on_device(to, from, n * sizeof(double));
  }

  /** What is not as usual, of the last rank but for the first two and the last one. */
  struct Disturbance
  {
    const char *text;
    double      part      = 0.;    ///< of the rows that the first rank has; 0: all ranks have as many
    double      delay     = 0.;    ///< seconds that values are on their way from rank to rank
    double      slow_down = 1.;    ///< how many times as long iterations take
    double      stop      = 0.;    ///< seconds that it stands still, once
    double      lost      = 0.;    ///< part of its values that become 0, once
    bool        at_random = false; ///< each iteration of each rank may take Settings::factor times as long
  };

  const std::vector<Disturbance> disturbances = {{"none"},
                                                 {"60 percent of the rows on the first rank", 0.6},
                                                 {"a link that delays by 1 ms", 0., 1e-3},
                                                 {"a link that delays by 10 ms", 0., 1e-2},
                                                 {"a rank that takes twice as long", 0., 0., 2.},
                                                 {"a rank that takes ten times as long", 0., 0., 10.},
                                                 {"a rank that stops for a second", 0., 0., 1., 1.},
                                                 {"a rank that loses half of its values", 0., 0., 1., 0., 0.5},
                                                 {"all ranks, slowed at random", 0., 0., 1., 0., 0., true}};

  /**
   * What not waiting gains where each rank's iterations take f times as long with probability p, each by itself: the
   * mean of the longest of all ranks' iterations, for which all wait, over that of one, (1 + (f - 1) (1 - (1 - p)^n)) /
   * (1 + (f - 1) p) on n ranks. More than two ranks wait for their neighbours only, and lose less.
   */
  double predicted_at_random(const Settings &settings)
  {
    const double longer = settings.factor - 1.;
    return (1. + longer * (1. - std::pow(1. - settings.probability, n_ranks))) / (1. + longer * settings.probability);
  }

  /** Lets them happen between two iterations of this rank, in each solve anew. */
  class Events
  {
  public:
    Events(const Disturbance &disturbance_, const Settings &settings_, int n_rows_)
      : disturbance(disturbance_)
      , settings(settings_)
      , n_rows(n_rows_)
    {
      std::seed_seq numbers{settings.seed, rank}; // of each rank others
      random.seed(numbers);
    }

    /** @param after seconds from now on: what happens once happens then. */
    void start(double after)
    {
      iterates_since = now();
      happens_at     = iterates_since + after;
    }

    void before_exchange(double *x, MemorySpace space)
    {
      if (rank < n_ranks - 1 && !disturbance.at_random)
        return;
      if (space == MemorySpace::device)
        device::wait(); // the iteration is queued only
      if (disturbance.at_random && std::bernoulli_distribution(settings.probability)(random))
        sleep((settings.factor - 1.) * (now() - iterates_since));
      sleep((disturbance.slow_down - 1.) * (now() - iterates_since));
      if (now() < happens_at)
        return;
      happens_at = std::numeric_limits<double>::infinity();
      sleep(disturbance.stop);
      set_zero(x, static_cast<std::size_t>(disturbance.lost * n_rows), space);
    }

    void after_exchange() { iterates_since = now(); }

    double delay() const { return disturbance.delay; }

  private:
    const Disturbance &disturbance;
    const Settings    &settings;
    const int          n_rows;
    std::mt19937_64    random;
    double             iterates_since = 0., happens_at = 0.;
  };

  /** Ghosts that are waited for, and all that has to do with tests of the residual. */
  class WaitedFor : public Communication<double>
  {
  public:
    WaitedFor(const GhostExchange<double> &ghosts_, Events &events_)
      : ghosts(ghosts_)
      , events(events_)
    {
    }
    void update_ghosts(double *x, MemorySpace space) const override
    {
      events.before_exchange(x, space);
      ghosts.update_ghosts(x, space);
      sleep(events.delay());
      events.after_exchange();
    }
    double sum(double value) const override { return ghosts.sum(value); }
    double max(double value) const override { return ghosts.max(value); }
    bool   is_distributed() const override { return true; }
    bool   has_ghosts() const override { return true; }

  private:
    const GhostExchange<double> &ghosts;
    Events                      &events;
  };

  /** Ghosts that are not. On a link that delays, the next values are sent when the last ones have arrived. */
  class NotWaitedFor : public FreeExchange<double>
  {
  public:
    NotWaitedFor(const GhostExchange<double> &ghosts, Events &events_, int n_rows_, int n_ghosts, MemorySpace space)
      : exchange(ghosts.free())
      , events(events_)
      , n_rows(n_rows_)
      , before(std::vector<double>(n_ghosts), space)
      , on_their_way(std::vector<double>(n_ghosts), space)
    {
    }
    void begin() override
    {
      exchange->begin();
      arrive_at = 0.;
    }
    void update_ghosts(double *x, MemorySpace space) override
    {
      events.before_exchange(x, space);
      if (events.delay() == 0.)
        exchange->update_ghosts(x, space);
      else
        update_late(x, space);
      events.after_exchange();
    }
    bool        all_are_done() override { return exchange->all_are_done(); }
    std::string first_error(const std::string &text) const override { return exchange->first_error(text); }

  private:
    void update_late(double *x, MemorySpace space)
    {
      double *const ghosts = x + n_rows;
      if (arrive_at > 0. && now() < arrive_at)
        return;
      if (arrive_at > 0.)
        copy(ghosts, on_their_way.data(), before.size(), space);
      copy(before.data(), ghosts, before.size(), space);
      exchange->update_ghosts(x, space);
      copy(on_their_way.data(), ghosts, before.size(), space);
      copy(ghosts, before.data(), before.size(), space);
      arrive_at = now() + events.delay();
    }

    const std::unique_ptr<FreeExchange<double>> exchange;
    Events                                     &events;
    const int                                   n_rows;
    Values                                      before, on_their_way;
    double                                      arrive_at = 0.; ///< 0: nothing is on its way
  };

  /** A rank's rows of five_point_matrix(); b = 1. */
  class Part
  {
  public:
    Part(const Settings &settings_, const Disturbance &disturbance)
      : settings(settings_)
      , own(own_range(n_own(settings.size * settings.size, disturbance.part), MPI_COMM_WORLD))
      , rows(own_rows(five_point_matrix(settings.size, settings.size, settings.delta), own))
      , numbers(rows.ghosts(own))
      , ghosts(own, numbers, MPI_COMM_WORLD, {}, settings.staged)
      , relaxation(rows.number(own, numbers), options())
      , events(disturbance, settings, own.n())
      , waited_for(ghosts, events)
      , not_waited_for(ghosts, events, own.n(), static_cast<int>(numbers.size()), relaxation.memory_space())
      , x(std::vector<double>(relaxation.n_columns()), relaxation.memory_space())
      , b(std::vector<double>(own.n(), 1.), relaxation.memory_space())
    {
    }

    /** From x = 0. @param after see Events::start(). @throws ConvergenceFailure. */
    SolveResult solve(bool waits, double after)
    {
      StoppingCriteria criteria;
      criteria.relative_tolerance = settings.tolerance;
      criteria.test_every         = settings.test_every;
      criteria.max_iterations     = 1000000;
      criteria.stagnation_tests   = 0;
      set_zero(x.data(), x.size(), relaxation.memory_space());
      if (settings.on_device())
        device::wait();
      MPI_Barrier(MPI_COMM_WORLD);
      events.start(after);
      const SolveResult result = waits ? leopard::solve(relaxation, x.data(), b.data(), criteria, waited_for)
                                       : leopard::solve(relaxation, x.data(), b.data(), criteria, waited_for, not_waited_for);
      if (result.status != SolveStatus::converged)
        throw ConvergenceFailure("the tolerance is not reached within " + std::to_string(criteria.max_iterations) +
                                 " iterations\n  expected: a smaller --size or a larger --tolerance");
      return result;
    }

  private:
    static int n_own(int n, double part)
    {
      const double of_first = part > 0. ? part : 1. / n_ranks;
      const auto   begin    = [&](int r) { return static_cast<int>(r == 0 ? 0. : n * (of_first + (1. - of_first) * (r - 1) / (n_ranks - 1)) + 0.5); };
      return begin(rank + 1) - begin(rank);
    }

    BlockAsyncOptions options() const
    {
      BlockAsyncOptions result;
      result.backend          = settings.on_device() ? Backend::cuda : Backend::host;
      result.n_threads        = 1;
      result.block_size       = settings.block_size;
      result.local_iterations = settings.local_iterations;
      return result;
    }

    const Settings             &settings;
    const OwnRange              own;
    const DistributedRows       rows;
    const std::vector<int>      numbers; ///< of ghosts
    const GhostExchange<double> ghosts;
    BlockAsync<double>          relaxation;
    Events                      events;
    WaitedFor                   waited_for;
    NotWaitedFor                not_waited_for;
    Values                      x, b;
  };

  /** Between the last two tests the logarithm of the residual is taken as linear. */
  double seconds_to(double tolerance, const SolveResult &result)
  {
    const std::size_t n    = result.history_residuals.size();
    const double      goal = tolerance * result.initial_residual; // of x = 0: the norm of b
    const double      from = result.history_residuals[n - 2], to = result.history_residuals[n - 1];
    const double      before = result.history_seconds[n - 2];
    return before + std::log(from / goal) / std::log(from / to) * (result.history_seconds[n - 1] - before);
  }

  /** Medians of what was measured in one way. */
  struct Way
  {
    std::vector<double> seconds, fewest, most;

    void add(double tolerance, const SolveResult &result)
    {
      double slowest = seconds_to(tolerance, result); // the same moment, but for clocks
      MPI_Allreduce(MPI_IN_PLACE, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
      seconds.push_back(slowest);
      fewest.push_back(result.min_iterations);
      most.push_back(result.n_iterations);
    }
  };

  /** @throws InvalidInput if the file cannot be written. */
  std::ofstream written(const std::string &path)
  {
    std::ofstream file(path);
    if (!file)
      throw InvalidInput(path + " cannot be written\n  expected: a path in a folder that exists");
    return file;
  }

  /** Of the file that scripts/plot_study draws. */
  constexpr const char *csv_columns = "waiting (ms),iterations of waiting,not waiting (ms),fewest iterations of not waiting,most iterations of not "
                                      "waiting,waiting / not waiting,predicted";

  void measure_disturbances(const Settings &settings)
  {
    print("five-point %d x %d, delta = %g, async-(%d) in blocks of %d rows, %s, to a relative residual of %.0e, tests every %d, medians of %d runs\n"
          "(once is after half the time without disturbance; iterations: of the rank that did the fewest, the most; at random: an iteration in %.3g\n"
          "takes %g times as long; predicted from the mean of the longest of all ranks; for the others see waiting_model)\n\n",
          settings.size,
          settings.size,
          settings.delta,
          settings.local_iterations,
          settings.block_size,
          settings.on_device() ? "each rank on a GPU" : "a thread a rank",
          settings.tolerance,
          settings.test_every,
          settings.runs,
          1. / settings.probability,
          settings.factor);
    print("| disturbance | waiting (ms) | iterations | not waiting (ms) | iterations | waiting / not | predicted |\n|---|---|---|---|---|---|---|\n");
    std::ofstream csv;
    if (rank == 0 && !settings.csv.empty())
      csv = written(settings.csv);
    csv << "\"" << n_ranks << " ranks" << (settings.on_device() ? ", a GPU each" : ", a thread each") << "\"\ndisturbance," << csv_columns << '\n';
    double half_time[2] = {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
    for (const Disturbance &disturbance : disturbances)
      {
        if (&disturbance != &disturbances.front() && std::string(disturbance.text).find(settings.only) == std::string::npos)
          continue;
        Part part(settings, disturbance);
        Way  ways[2]; // not waiting, waiting
        for (int run = 0; run < settings.runs; ++run)
          for (const bool waits : {true, false})
            ways[waits].add(settings.tolerance, part.solve(waits, half_time[waits]));
        if (&disturbance == &disturbances.front())
          for (const bool waits : {true, false})
            half_time[waits] = 0.5 * median(ways[waits].seconds);
        const double waiting = median(ways[true].seconds), free = median(ways[false].seconds);
        const double most = median(ways[true].most), free_fewest = median(ways[false].fewest), free_most = median(ways[false].most);
        char         predicted[32] = "";
        if (disturbance.at_random)
          std::snprintf(predicted, sizeof(predicted), "%.2f", predicted_at_random(settings));
        print("| %s | %.4g | %.0f | %.4g | %.0f to %.0f | %.2f | %s |\n",
              disturbance.text,
              1e3 * waiting,
              most,
              1e3 * free,
              free_fewest,
              free_most,
              waiting / free,
              predicted);
        csv << '"' << disturbance.text << "\"," << 1e3 * waiting << ',' << most << ',' << 1e3 * free << ',' << free_fewest << ',' << free_most << ','
            << waiting / free << ',' << predicted << '\n';
      }
  }

  /** Half of the time there and back between the first two ranks. */
  double seconds_of_message(int n_bytes, int n_messages)
  {
    std::vector<char>   message(n_bytes);
    std::vector<double> seconds;
    const int           other = 1 - rank;
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; rank < 2 && i < n_messages; ++i)
      {
        const double start = now();
        if (rank == 0)
          MPI_Send(message.data(), n_bytes, MPI_CHAR, other, 0, MPI_COMM_WORLD);
        MPI_Recv(message.data(), n_bytes, MPI_CHAR, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 1)
          MPI_Send(message.data(), n_bytes, MPI_CHAR, other, 0, MPI_COMM_WORLD);
        seconds.push_back(0.5 * (now() - start));
      }
    MPI_Barrier(MPI_COMM_WORLD);
    return seconds.empty() ? 0. : median(seconds);
  }

  void measure_messages()
  {
    constexpr int small = 8, row = 512 * 8, large = 1 << 20;
    const double  of_small = seconds_of_message(small, 5000), of_row = seconds_of_message(row, 5000), of_large = seconds_of_message(large, 200);
    print("\nA message from the first rank to the second (half of there and back, medians): %d bytes %.2f us, %d bytes %.2f us, %d bytes %.0f us\n",
          small,
          1e6 * of_small,
          row,
          1e6 * of_row,
          large,
          1e6 * of_large);
  }
} // namespace

int main(int argc, char **argv)
{
  Settings settings;
  CLI::App app("Time to a residual on ranks that wait for one another's values and on ranks that do not: mpirun -n 2 waiting_ranks");
  app.add_option("--size", settings.size, "nodes a side of the grid")->check(CLI::Range(8, 4096));
  app.add_option("--delta", settings.delta, "the matrix has 4 + delta on its diagonal, -1 beside it; 0 or more (0.01)");
  app.add_option("--only", settings.only, "measures, beside none, disturbances with this text in their name");
  app.add_option("--factor", settings.factor, "how many times as long an iteration takes that is slowed at random");
  app.add_option("--probability", settings.probability, "of an iteration to be slowed at random");
  app.add_option("--seed", settings.seed, "of what is at random");
  app.add_option("--block-size", settings.block_size, "rows a block")->check(CLI::PositiveNumber);
  app.add_option("--local-iterations", settings.local_iterations, "local iterations a global one")->check(CLI::PositiveNumber);
  app.add_option("--test-every", settings.test_every, "global iterations between two tests of the residual")->check(CLI::PositiveNumber);
  app.add_option("--tolerance", settings.tolerance, "of the residual, relative to b")->check(CLI::Range(1e-12, 0.5));
  app.add_option("--backend", settings.backend, "host: a thread a rank; cuda: a GPU a rank")->check(CLI::IsMember({"host", "cuda"}));
  app.add_flag("--staged", settings.staged, "cuda: messages by way of the host also where ranks wait (without waiting they are)");
  app.add_option("--csv", settings.csv, "file for the table, which scripts/plot_study draws");
  app.add_option("--runs", settings.runs, "solves of each kind, in turns")->check(CLI::PositiveNumber);
  return run_on_ranks("waiting_ranks", app, argc, argv, [&] {
    const auto require = [](bool holds, const std::string &option, double found, const std::string &expected) {
      if (!holds)
        throw InvalidInput(option + " is " + std::to_string(found) + "\n  expected: " + expected);
    };
    if (std::none_of(disturbances.begin(), disturbances.end(), [&](const Disturbance &d) {
          return std::string(d.text).find(settings.only) != std::string::npos;
        }))
      throw InvalidInput("--only is '" + settings.only + "', which no disturbance has in its name\n  expected: such as none, link, takes, random");
    require(settings.delta >= 0. && std::isfinite(settings.delta), "--delta", settings.delta, "a number >= 0");
    require(settings.factor >= 1. && std::isfinite(settings.factor), "--factor", settings.factor, "a number >= 1");
    require(settings.probability > 0. && settings.probability <= 1., "--probability", settings.probability, "a number above 0, at most 1");
    if (n_ranks < 2)
      throw InvalidInput("there is one rank\n  expected: several (mpirun -n 2 waiting_ranks)");
    print("%d ranks, %u cores\n", n_ranks, std::thread::hardware_concurrency());
    if (settings.on_device())
      select_gpu();
    measure_disturbances(settings);
    measure_messages();
  });
}
