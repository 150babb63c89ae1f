// SPDX-License-Identifier: Apache-2.0
// Several GPUs: AMC, DC and DK of the papers, and the exchange of what is needed only (thesis, section 4.7).
#include "gpu_ways.h"
#include "judges.h"
#include "sample_statistics.h"
#include "slowed_gpu.h"

#include <solvers/base/errors.h>
#include <solvers/base/norms.h>
#include <solvers/base/stopwatch.h>
#include <solvers/base/usable_resources.h>
#include <solvers/device/device.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>

namespace leopard::studies
{
  namespace
  {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();

    struct Measured
    {
      GpuWay way;
      double set_up = nan, iteration = nan, residual = nan, to_tolerance = nan; ///< seconds, the relative residual after n iterations, and seconds
      double iterations             = nan;                                      ///< to the tolerance, of the slowest GPU
      std::vector<double> residuals = {};                                       ///< of each run, the one above is their median
    };

    using Make = std::function<std::unique_ptr<Relaxation<double>>(const SeveralGpusOptions &gpus)>;

    /** A system with right-hand side ones. */
    class Measuring
    {
    public:
      Measuring(Make make_, int n_rows, const Settings &settings_)
        : make(std::move(make_))
        , b(n_rows, 1.)
        , settings(settings_)
        , norm_b(std::sqrt(static_cast<double>(n_rows)))
      {
      }

      /** @param n iterations for the residual; @param tolerance that is to be reached. */
      Measured measure(const GpuWay &way, int n, int n_residual, double tolerance) const
      {
        SeveralGpusOptions gpus;
        for (int gpu = 0; gpu < way.n_gpus; ++gpu)
          gpus.devices.push_back(gpu);
        gpus.exchange = way.exchange;
        gpus.waits    = way.waits;
        gpus.shares   = way.shares;
        Measured     result;
        const double start = now();
        const auto   all   = make(gpus);
        result.way         = way;
        result.set_up      = now() - start;
        std::vector<double> x(b.size());
        const auto          seconds = [&](int n_iterations) {
          std::fill(x.begin(), x.end(), 0.);
          all->restart();
          const double begin = now();
          all->iterate(x.data(), b.data(), n_iterations);
          return now() - begin;
        };
        seconds(2);
        std::optional<SlowedGpu> slow;
        if (way.taken > 0.)
          slow.emplace(way.n_gpus - 1, way.taken);
        // what copies x and b takes is in both
        std::vector<double> differences;
        for (int run = 0; run < settings.runs_or(3, 5); ++run)
          {
            const int    fewer = n / 4;
            const double few = seconds(fewer), many = seconds(n);
            differences.push_back((many - few) / (n - fewer));
          }
        result.iteration = median(differences);
        for (int run = 0; run < settings.runs_or(3, 5); ++run)
          {
            seconds(n_residual);
            result.residuals.push_back(std::sqrt(all->residual_norm_squared(x.data(), b.data())) / norm_b);
          }
        result.residual = median(result.residuals);
        if (tolerance > 0.)
          {
            StoppingCriteria criteria;
            criteria.relative_tolerance = tolerance;
            criteria.max_iterations     = 100 * n;
            criteria.stagnation_tests   = 0;
            std::vector<double> times, iterations;
            for (int run = 0; run < settings.runs_or(3, 5); ++run)
              {
                std::fill(x.begin(), x.end(), 0.);
                const SolveResult found = solve(*all, x.data(), b.data(), criteria);
                times.push_back(found.status == SolveStatus::converged ? found.seconds : nan);
                iterations.push_back(found.min_iterations);
              }
            result.iterations   = median(iterations);
            result.to_tolerance = median(times);
          }
        return result;
      }

      /** As many iterations as take some tenths of a second on one GPU, and as many as leave a residual to compare. */
      Measured one(int &n, int &n_residual) const
      {
        n                    = 40;
        const Measured first = measure({}, n, n, 0.);
        n                    = std::clamp(static_cast<int>(0.2 / first.iteration), 400, 2000);
        for (n_residual = 400; n_residual > 4; n_residual /= 2)
          if (const Measured found = measure({}, 40, n_residual, 0.); found.residual > 1e-8)
            break;
        return measure({}, n, n_residual, 0.);
      }

    private:
      const Make                make;
      const std::vector<double> b;
      const Settings           &settings;
      const double              norm_b;
    };

    /** Measures each way and says at once what it has found, so that what is killed has said what it knew. */
    template <typename Measure>
    std::vector<Measured> measure_all(const std::vector<GpuWay> &ways, const Measure &measure, Report &report)
    {
      std::vector<Measured> rows;
      rows.reserve(ways.size());
      for (const GpuWay &way : ways)
        {
          const Measured m = measure(way);
          report.say("measured: " + way.text() + " on " + std::to_string(way.n_gpus) + ": " + cell(1e6 * m.iteration, "%.2f") +
                     " us an iteration, residual " + cell(m.residual, "%.2e") + ", " + cell(m.iterations, "%.0f") + " iterations and " +
                     cell(m.to_tolerance, "%.4f") + " s to the tolerance");
          rows.push_back(m);
        }
      return rows;
    }

    /** @param one seconds of an iteration on one GPU. */
    void add_table(const std::string &title, double one, const std::vector<Measured> &rows, Report &report)
    {
      Table table(title,
                  {"exchange", "GPUs", "set-up (s)", "an iteration (us)", "times as fast as one", "residual", "iterations to it", "seconds to it"});
      for (const Measured &row : rows)
        table.add_row({row.way.text(),
                       cell(row.way.n_gpus),
                       cell(row.set_up, "%.2f"),
                       cell(1e6 * row.iteration, "%.2f"),
                       cell(one / row.iteration, "%.2f"),
                       cell(row.residual, "%.2e"),
                       cell(row.iterations, "%.0f"),
                       cell(row.to_tolerance, "%.4f")});
      report.add(table);
    }

    void study_matrix(const Problem &problem, const Settings &settings, const std::vector<int> &counts, Report &report)
    {
      const BlockAsyncOptions options =
        async(settings, settings.block_size_or(problem.A.n_rows < 100000 ? 448 : 256), settings.local_iterations_or(5));
      const Measuring matrix([&](const SeveralGpusOptions &gpus) { return make_several_gpus(problem.A, options, gpus); }, problem.A.n_rows, settings);
      const int       n_gpus = counts.back();
      int             n = 0, n_residual = 0;
      const Measured  one       = matrix.one(n, n_residual);
      const double    tolerance = std::max(one.residual, 1e-10);
      const bool      is_cut    = problem.A.n_rows > 40000000 && settings.exchanges.empty();
      if (is_cut)
        report.say(problem.name +
                   ": exchanges that copy or keep all of x on a GPU are left out, and disturbances (--exchange LIST has them measured)");
      const std::vector<GpuWay>   ways = ways_of(counts, is_cut ? std::vector<GpuExchange>{GpuExchange::halo} : exchanges_of(settings), !is_cut);
      const std::vector<Measured> rows = measure_all(
        ways, [&](const GpuWay &way) { return matrix.measure(way, n, n_residual, tolerance); }, report);
      add_table(problem.name + ": residual after " + std::to_string(n_residual) + " global iterations; to " + cell(tolerance, "%.2e"),
                one.iteration,
                rows,
                report);
      if (is_cut)
        return;
      std::vector<ExchangeRow> exchanges;
      for (const Measured &m : rows)
        if (!m.way.waits && m.way.taken == 0. && m.way.shares.empty())
          exchanges.push_back({m.way.exchange, m.way.n_gpus, m.iteration, m.to_tolerance, m.residuals});
      judge_exchanges(problem.name, n_gpus, exchanges, report);
      const auto of = [&](bool waits, bool is_slowed) {
        return std::find_if(rows.begin(), rows.end(), [&](const Measured &m) {
          return m.way.n_gpus == n_gpus && m.way.exchange == GpuExchange::halo && m.way.shares.empty() && (m.way.taken > 0.) == is_slowed &&
                 m.way.waits == waits;
        });
      };
      if (of(true, true) == rows.end())
        return;
      judge_slowed(
        problem.name, {of(true, true)->iteration / of(true, false)->iteration, of(true, true)->to_tolerance, of(false, true)->to_tolerance}, report);
    }

    /** What an exchange costs, and what is gained. @param is_weak as many planes on each GPU as on one; else in all. */
    void study_stencil(bool is_weak, int side, const Settings &settings, const std::vector<int> &counts, Report &report)
    {
      const BlockAsyncOptions options = async(settings, settings.block_size_or(256), settings.local_iterations_or(5));
      Table                   table("five-point stencil, " + std::to_string(side) + " x " + std::to_string(side) + " nodes " +
                    (is_weak ? "a GPU" : "on all GPUs together") + ", not stored",
                  {"exchange", "GPUs", "an iteration (us)", "times as fast as one", "efficiency"});
      double                  one = nan;
      for (const int gpus : counts)
        {
          const long n_y = static_cast<long>(side) * (is_weak ? gpus : 1);
          if (side * n_y > std::numeric_limits<int>::max())
            {
              report.say("five-point stencil, " + std::to_string(side) + " x " + std::to_string(n_y) + " nodes: left out, more than can be counted");
              continue;
            }
          const Stencil<double> stencil = five_point_stencil(side, static_cast<int>(n_y), 0.01);
          const Measuring measuring([&](const SeveralGpusOptions &o) { return make_several_gpus(stencil, options, o); }, stencil.n_rows(), settings);
          const auto      measure = [&](const GpuWay &way) { return measuring.measure(way, 2000, 2, 0.); };
          for (const Measured &found : measure_all({{GpuExchange::halo, false, gpus}, {GpuExchange::halo, true, gpus}}, measure, report))
            {
              if (gpus == 1 && !found.way.waits)
                one = found.iteration;
              const double faster = (is_weak ? gpus : 1.) * one / found.iteration; // for as much work
              table.add_row({found.way.text(), cell(gpus), cell(1e6 * found.iteration, "%.2f"), cell(faster, "%.2f"), cell(faster / gpus, "%.3f")});
            }
        }
      report.add(table);
    }

    /** A grid that is small enough for the persistent form, in all: what further GPUs gain. */
    void study_small_stencil(const Settings &settings, const std::vector<int> &counts, Report &report)
    {
      const int               side    = std::min(1024, settings.size_or(1024, 1024));
      const Stencil<double>   stencil = five_point_stencil(side, side, 0.01);
      const BlockAsyncOptions options = async(settings, settings.block_size_or(256), settings.local_iterations_or(5));
      const Measuring measuring([&](const SeveralGpusOptions &o) { return make_several_gpus(stencil, options, o); }, stencil.n_rows(), settings);
      constexpr int   n = 20000, n_residual = 200;
      const Measured  one  = measuring.measure({}, n, n_residual, 0.);
      const auto      rows = measure_all(
        ways_of(counts, {GpuExchange::halo}, false),
        [&](const GpuWay &way) { return measuring.measure(way, way.waits ? n / 10 : n, n_residual, one.residual); },
        report);
      add_table("five-point stencil, " + std::to_string(side) + " x " + std::to_string(side) + " nodes in all, not stored: residual after " +
                  std::to_string(n_residual) + " global iterations; to " + cell(one.residual, "%.2e"),
                one.iteration,
                rows,
                report);
    }

    /**
     * The time to a residual of 1e-2 over the part of the last GPU that is taken away. Predicted from the row without,
     * where an iteration that waits takes f times as long: f times as long waiting; not waiting the slow GPU takes f
     * times as long, too, and has fewer iterations to do, iterations_of_slow_gpu(). f itself is not predicted.
     */
    void study_slow_gpu(const Problem &problem, const Settings &settings, int n_gpus, Report &report)
    {
      constexpr double        tolerance = 1e-2;
      const BlockAsyncOptions options   = async(settings, settings.block_size_or(256), settings.local_iterations_or(5));
      const Measuring         measuring(
        [&](const SeveralGpusOptions &gpus) { return make_several_gpus(problem.A, options, gpus); }, problem.A.n_rows, settings);
      Table    table(problem.name + ": to " + cell(tolerance, "%.0e") + " on " + std::to_string(n_gpus) + " GPUs, medians of " +
                    std::to_string(settings.runs_or(3, 5)) + " runs",
                  {"part of a GPU taken",
                      "fair slow-down",
                      "slow-down seen",
                      "without waiting (ms)",
                      "predicted",
                      "iterations of the slow GPU",
                      "predicted iterations",
                      "with waiting (ms)",
                      "predicted, waiting",
                      "iterations, waiting",
                      "waiting over not waiting",
                      "predicted ratio"});
      Measured whole_free, whole_waiting;
      double   wins_from = nan, predicted_from = nan;
      for (const double taken : {0., 0.25, 0.5, 0.75})
        {
          const auto     measured = [&](bool waits) { return measuring.measure({GpuExchange::halo, waits, n_gpus, {}, taken}, 400, 4, tolerance); };
          const Measured free = measured(false), waiting = measured(true);
          if (taken == 0.)
            {
              whole_free    = free;
              whole_waiting = waiting;
            }
          const double slow_down = waiting.iteration / whole_waiting.iteration, gain = waiting.to_tolerance / free.to_tolerance;
          const double part           = iterations_of_slow_gpu(n_gpus, larger_or_nan(1., slow_down), tolerance);
          const double predicted_gain = whole_waiting.to_tolerance / (part * whole_free.to_tolerance);
          if (std::isnan(wins_from) && gain > 1.)
            wins_from = slow_down;
          if (std::isnan(predicted_from) && predicted_gain > 1.)
            predicted_from = slow_down;
          table.add_row({cell(taken, "%.2f"),
                         cell(1. / (1. - taken), "%.2f"),
                         cell(slow_down, "%.2f"),
                         cell(1e3 * free.to_tolerance, "%.2f"),
                         cell(1e3 * slow_down * part * whole_free.to_tolerance, "%.2f"),
                         cell(free.iterations, "%.0f"),
                         cell(part * whole_free.iterations, "%.0f"),
                         cell(1e3 * waiting.to_tolerance, "%.2f"),
                         cell(1e3 * slow_down * whole_waiting.to_tolerance, "%.2f"),
                         cell(waiting.iterations, "%.0f"),
                         cell(gain, "%.2f"),
                         cell(predicted_gain, "%.2f")});
        }
      report.add(table);
      const auto from = [](double slow_down) { return std::isnan(slow_down) ? std::string("none of these") : cell(slow_down, "%.2f"); };
      report.say(problem.name + ": not waiting wins from a slow-down of " + from(predicted_from) + " on as predicted from the times without, of " +
                 from(wins_from) + " as measured");
    }
  } // namespace

  namespace
  {
    /**
     * Digits that b gains in as many iterations over those of a, by medians; nothing is decided where single runs say
     * the contrary.
     */
    void judge_digits(
      const std::string &figure, const std::string &claim, const ExchangeRow &a, const ExchangeRow &b, const Limits &limits, Report &report)
    {
      const auto   ratio = [](double one, double other) { return one > 0. && one < 1. && other > 0. ? std::log(other) / std::log(one) : nan; };
      const double one = a.residuals.empty() ? nan : median(a.residuals), other = b.residuals.empty() ? nan : median(b.residuals),
                   found         = ratio(one, other);
      const std::string measured = cell(found, "%.3f") + " times the digits; residuals " + cell(one, "%.2e") + " and " + cell(other, "%.2e");
      double            least = found, most = found;
      for (const double x : a.residuals)
        for (const double y : b.residuals)
          {
            least = -larger_or_nan(-least, -ratio(x, y));
            most  = larger_or_nan(most, ratio(x, y));
          }
      std::string why_not;
      if (!std::isfinite(least) || !std::isfinite(most))
        why_not = "no finite number was measured";
      else if (!(limits.hold(least) == limits.hold(found) && limits.hold(most) == limits.hold(found)))
        why_not = measured + ", of single runs from " + cell(least, "%.3f") + " to " + cell(most, "%.3f") + " times";
      report.decide(figure, claim, limits.hold(found), measured, why_not);
    }
  } // namespace

  void judge_exchanges(const std::string &matrix, int n_gpus, const std::vector<ExchangeRow> &rows, Report &report)
  {
    const std::string why  = "this machine has " + std::to_string(n_gpus) + " GPU" + (n_gpus == 1 ? "" : "s");
    const auto        find = [&](GpuExchange exchange, int gpus) {
      return std::find_if(rows.begin(), rows.end(), [&](const ExchangeRow &row) { return row.exchange == exchange && row.n_gpus == gpus; });
    };
    using Key = std::pair<GpuExchange, int>;
    // decide(row, other row), if both are there
    const auto with = [&](const std::string &figure, const std::string &claim, const Key &one, const Key &other, const auto &decide) {
      const auto a = find(one.first, one.second), b = find(other.first, other.second);
      if (std::max(one.second, other.second) > n_gpus)
        report.undecided(figure, matrix + ": " + claim, why);
      else if (a == rows.end() || b == rows.end())
        report.undecided(figure, matrix + ": " + claim, "one of them was not measured");
      else
        decide(*a, *b);
    };
    const auto times = [&](const std::string &figure, const std::string &claim, const Key &one, const Key &other, const Limits &limits) {
      with(figure, claim, one, other, [&](const ExchangeRow &a, const ExchangeRow &b) {
        report.decide_times(figure,
                            matrix + ": " + claim,
                            limits,
                            {a.iteration / b.iteration},
                            cell(1e6 * a.iteration, "%.2f") + " and " + cell(1e6 * b.iteration, "%.2f") + " us an iteration, " +
                              cell(a.iteration / b.iteration, "%.2f") + " times");
      });
    };
    const auto to_solution = [&](const std::string &claim, const Key &one, const Key &other, const Limits &limits) {
      with("T Figure 4.14", claim, one, other, [&](const ExchangeRow &a, const ExchangeRow &b) {
        report.decide_times("T Figure 4.14",
                            matrix + ": " + claim,
                            limits,
                            {a.to_tolerance / b.to_tolerance},
                            cell(1e3 * a.to_tolerance, "%.3f") + " and " + cell(1e3 * b.to_tolerance, "%.3f") + " ms, " +
                              cell(a.to_tolerance / b.to_tolerance, "%.2f") + " times");
      });
    };
    const auto digits = [&](const std::string &figure, const std::string &claim, const Key &one, const Key &other, const Limits &limits) {
      with(figure, claim, one, other, [&](const ExchangeRow &a, const ExchangeRow &b) {
        judge_digits(figure, matrix + ": " + claim, a, b, limits, report);
      });
    };
    const Limits same{0.95, 1.05}, slower{-INFINITY, 0.95};
    const Key    amc_1{GpuExchange::amc, 1}, amc_2{GpuExchange::amc, 2}, amc_3{GpuExchange::amc, 3}, amc_4{GpuExchange::amc, 4},
      dc_1{GpuExchange::dc, 1}, dc_2{GpuExchange::dc, 2}, dk_1{GpuExchange::dk, 1}, dk_2{GpuExchange::dk, 2};
    times("T Figure 4.10", "on one GPU DC is a little faster than AMC (1 to 1.25 times as fast)", amc_1, dc_1, {1., 1.25});
    times("T Figure 4.10", "AMC on two GPUs is about twice as fast (1.7 to 2.3 times)", amc_1, amc_2, {1.7, 2.3});
    times("T Figure 4.10", "AMC on three GPUs is about 20 percent slower than on two (10 to 30)", amc_3, amc_2, {1.1, 1.3});
    times("T Figure 4.10", "AMC on four GPUs is faster than on two, less than twice", amc_2, amc_4, {1., 2.});
    digits("T Figure 4.10", "AMC converges nearly the same on two GPUs (digits an iteration to 5 percent)", amc_1, amc_2, same);
    times("T Figure 4.12", "DC on two GPUs takes less time an iteration, by less than 10 percent", dc_2, dc_1, {0.9, 1.});
    digits("T Figure 4.12", "DC converges the same on two GPUs (digits an iteration to 5 percent)", dc_1, dc_2, same);
    times("T Figure 4.13", "DK on two GPUs takes less time an iteration, by less than 10 percent", dk_2, dk_1, {0.9, 1.});
    digits("T Figure 4.13", "DK converges slower on two GPUs (5 percent fewer digits an iteration at least)", dk_1, dk_2, slower);
    to_solution("AMC takes almost half the time to the solution on two GPUs (0.4 to 0.6 times)", amc_2, amc_1, {0.4, 0.6});
    to_solution("DC takes a little less on two (0.8 to 1 times)", dc_2, dc_1, {0.8, 1.});
    to_solution("DK takes a little less on two (0.8 to 1 times)", dk_2, dk_1, {0.8, 1.});
  }

  void judge_slowed(const std::string &matrix, const SlowedRow &row, Report &report)
  {
    const std::string measured = "an iteration that waits takes " + cell(row.slow_down, "%.2f") + " times as long; " + cell(row.waiting, "%.4f") +
                                 " s waiting, " + cell(row.free, "%.4f") + " s not waiting";
    report.decide_times("(Leopard)",
                        matrix + ": with half of one GPU taken away not waiting is at least 1.3 times as fast to the same residual",
                        {1.3},
                        {row.waiting / row.free},
                        measured,
                        row.slow_down > 1.5 ? "" : "the matrix does not need the half that was taken: " + measured);
  }

  void study_imbalance_of_gpus(const Settings &settings, Report &report)
  {
    const std::vector<std::string> names = settings.matrices_or({"five-point-1024", "five-point-2048"});
    refuse_unused("imbalance with --backend cuda", settings, {}, names);
    const int n_gpus = settings.gpus > 0 ? std::min(settings.gpus, device::n_devices()) : device::n_devices();
    if (n_gpus < 2)
      throw InvalidInput("--backend is cuda, and there " + std::string(n_gpus == 1 ? "is one GPU" : "are no GPUs") +
                         "\n  expected: several, one of which is slowed, or --backend host");
    report.say("imbalance: " + std::to_string(n_gpus) + " GPUs, " + machine(settings) +
               ", multiprocessors of the last one taken away\n(no numbers were published; seen: of an iteration that waits)");
    for (const std::string &name : names)
      study_slow_gpu(load_problem(name, settings), settings, n_gpus, report);
  }

  namespace
  {
    /** 32 million rows with 225 million entries, and what is made of them. */
    bool there_is_room_for_a318()
    {
      return usable_memory() > 4e10 && static_cast<double>(device::info(0).free_memory) > 1e10;
    }
  } // namespace

  void study_gpus(const Settings &settings, Report &report)
  {
    std::vector<std::string> names = settings.matrices_or({"trefethen-20000", "fv3"});
    refuse_unused("gpus", settings, {}, names);
    if (settings.backend == "host")
      throw InvalidInput("--backend is host, and gpus compares one and more GPUs: nothing was run\n  expected: --backend automatic or cuda");
    if (device::n_devices() == 0)
      throw InvalidInput(device::why_no_devices() +
                         ", and gpus compares one and more of them: nothing was run\n  expected: a machine with a GPU and its "
                         "driver, and a build with CUDA");
    const std::vector<int> counts = gpu_counts(settings, device::n_devices());
    exchanges_of(settings); // before anything is measured
    report.say(
      "gpus: " + std::to_string(counts.back()) + " GPUs at most, " + machine(settings) +
      "\n(an iteration: without the copies of x and b to the GPUs and back; the residual is the one of one GPU after as many iterations, and "
      "\nthe time to it is with tests; T Figures 4.10 to 4.14 are from Fermi GPUs on two sockets)");
    if (settings.full && settings.matrix.empty())
      {
        if (there_is_room_for_a318())
          names.push_back("seven-point-318"); // A318
        else
          report.say("A318, seven-point-318, is left out: it takes 40 GB on the host and 10 on a GPU");
      }
    for (const std::string &name : names)
      study_matrix(load_problem(name, settings), settings, counts, report);
    study_stencil(true, settings.size_or(1024, 4096), settings, counts, report);
    study_stencil(false, settings.size_or(2048, 8192), settings, counts, report);
    study_small_stencil(settings, counts, report);
  }
} // namespace leopard::studies
