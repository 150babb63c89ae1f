// SPDX-License-Identifier: Apache-2.0
#include <applications/studies/papers/busy_processes.h>
#include <applications/studies/papers/energy_judge.h>
#include <applications/studies/papers/fault_run.h>
#include <applications/studies/papers/faults.h>
#include <applications/studies/papers/imbalance_model.h>
#include <applications/studies/papers/plain_crs.h>
#include <applications/studies/papers/published.h>
#include <applications/studies/papers/sample_statistics.h>
#include <solvers/base/errors.h>
#include <solvers/matrix/analysis.h>
#include <solvers/matrix/generators.h>
#include <solvers/matrix/mesh_matrices.h>

#include <gtest/gtest.h>

#include <cmath>
#include <csignal>
#include <functional>
#include <numeric>
#include <set>
#include <sstream>

namespace
{
  using namespace leopard;
  using namespace leopard::studies;

  Settings on_host()
  {
    Settings settings;
    settings.backend = "host";
    return settings;
  }

  std::string refused(const Settings &settings, Uses uses, const std::vector<std::string> &names)
  {
    uses.stands_in = true; // no matrix is there
    try
      {
        refuse_unused("a study", settings, uses, names);
      }
    catch (const InvalidInput &error)
      {
        const std::string text = error.what();
        return text.substr(0, text.find(' '));
      }
    return "";
  }

  // fails if what belongs to the host is taken on a GPU, or the other way around
  TEST(Options, of_host_and_gpu)
  {
    Settings of_gpu, of_host;
    of_gpu.execution = "launch";
    of_gpu.gpus      = 2;
    of_host.threads  = 2;
    for (const char *backend : {"host", "cuda"})
      {
        of_gpu.backend = of_host.backend = backend;
        const bool on_gpu                = of_gpu.backend == "cuda";
        EXPECT_EQ(refused(of_gpu, {}, {}), on_gpu ? "" : "--execution");
        EXPECT_EQ(refused(of_host, {}, {}), on_gpu ? "--threads" : "");
        EXPECT_EQ(refused(of_host, {false, true}, {}), "");
      }
    of_gpu.execution = "automatic";
    of_gpu.backend   = "host";
    EXPECT_EQ(refused(of_gpu, {}, {}), "--gpus");
  }

  // fails if a seed is refused that something depends on, or accepted where nothing does
  TEST(Options, seed)
  {
    Settings settings = on_host();
    settings.seed     = 3;
    EXPECT_EQ(refused(settings, {}, {"fv1", "trefethen-60", "G3_circuit"}), "--seed");
    EXPECT_EQ(refused(settings, {}, {"fv1", "circuit-12"}), "");
    EXPECT_EQ(refused(settings, {}, {"random-60"}), "");
    EXPECT_EQ(refused(settings, {true}, {}), "");
    settings.schedule = "replay";
    EXPECT_EQ(refused(settings, {}, {}), "");
  }

  TEST(Statistics, textbook_sample)
  {
    const Statistics s = statistics({2., 4., 4., 4., 5., 5., 7., 9.});
    EXPECT_EQ(s.n, 8);
    EXPECT_DOUBLE_EQ(s.mean, 5.);
    EXPECT_DOUBLE_EQ(s.maximum, 9.);
    EXPECT_DOUBLE_EQ(s.minimum, 2.);
    EXPECT_DOUBLE_EQ(s.absolute_variation, 7.);
    EXPECT_DOUBLE_EQ(s.relative_variation, 1.4);
    EXPECT_DOUBLE_EQ(s.variance, 32. / 7.);
    EXPECT_DOUBLE_EQ(s.standard_deviation, std::sqrt(32. / 7.));
    EXPECT_DOUBLE_EQ(s.standard_error, std::sqrt(4. / 7.));
  }

  TEST(Statistics, one_sample_and_none)
  {
    EXPECT_EQ(statistics({3.}).variance, 0.);
    EXPECT_THROW(statistics({}), InvalidInput);
    EXPECT_THROW(median({}), InvalidInput);
  }

  TEST(Statistics, small_differences_of_large_numbers)
  {
    const Statistics s = statistics({1e9 + 1., 1e9 + 2., 1e9 + 3.});
    EXPECT_DOUBLE_EQ(s.variance, 1.);
    EXPECT_DOUBLE_EQ(s.mean, 1e9 + 2.);
  }

  TEST(Statistics, median_and_line)
  {
    EXPECT_EQ(median({5., 1., 3.}), 3.);
    EXPECT_EQ(median({4., 1., 3., 2.}), 3.);
    const Line line = fit_line({0., 1., 2.}, {1., 3., 5.});
    EXPECT_NEAR(line.intercept, 1., 1e-15);
    EXPECT_NEAR(line.slope, 2., 1e-15);
    EXPECT_NEAR(line.deviation, 0., 1e-15);
    EXPECT_THROW(fit_line({1., 1.}, {1., 2.}), InvalidInput);
  }

  TEST(Published, columns_belong_together)
  {
    for (const char *name : {"fv1", "trefethen"})
      for (const auto &row : published::variation(name))
        {
          EXPECT_LE(row.minimum, row.mean);
          EXPECT_LE(row.mean, row.maximum);
          EXPECT_NEAR(std::sqrt(row.variance) / row.standard_deviation, 1., 1e-3) << name << " " << row.iteration;
        }
    EXPECT_EQ(published::variation("fv1").size(), 15u);
    EXPECT_EQ(published::variation("trefethen").size(), 10u);
    EXPECT_TRUE(published::variation("fv3").empty());
  }

  TEST(Faults, chosen_rows_are_different_sorted_and_reproducible)
  {
    const std::vector<int> rows = choose_rows(1000, 0.25, 7);
    EXPECT_EQ(rows.size(), 250u);
    EXPECT_EQ(std::set<int>(rows.begin(), rows.end()).size(), 250u);
    EXPECT_TRUE(std::is_sorted(rows.begin(), rows.end()));
    EXPECT_GE(rows.front(), 0);
    EXPECT_LT(rows.back(), 1000);
    EXPECT_EQ(rows, choose_rows(1000, 0.25, 7));
    EXPECT_NE(rows, choose_rows(1000, 0.25, 8));
    EXPECT_EQ(choose_rows(10, 1., 1).size(), 10u);
    EXPECT_TRUE(choose_rows(10, 0., 1).empty());
    EXPECT_THROW(choose_rows(10, 1.5, 1), InvalidInput);
  }

  TEST(Faults, stopped_rows_hold_the_diagonal_alone)
  {
    const CrsMatrix<double> A       = five_point_matrix(4, 4, 0.1);
    const CrsMatrix<double> stopped = stop_rows(A, {5, 6});
    stopped.validate();
    EXPECT_EQ(stopped.row_offsets[6] - stopped.row_offsets[5], 1);
    EXPECT_EQ(stopped.columns[stopped.row_offsets[5]], 5);
    EXPECT_EQ(stopped.n_entries(), A.n_entries() - 8);
    const std::vector<double> x(16, 3.), b = stopped_right_hand_side(A, std::vector<double>(16, 1.), {5, 6}, x);
    EXPECT_DOUBLE_EQ(b[5], 3. * 4.1);
    EXPECT_DOUBLE_EQ(b[4], 1.);
  }

  TEST(Faults, stopped_components_keep_their_values_and_the_others_go_on)
  {
    const Problem           problem{"five-point", five_point_matrix(12, 12, 0.1), std::vector<double>(144, 1.)};
    const std::vector<int>  rows     = choose_rows(144, 0.25, 3);
    const Settings          settings = on_host();
    const BlockAsyncOptions options  = async(settings, 16, 5);
    BlockAsync<double>      method(problem.A, options);
    Experiment              healthy(method, problem.b);
    FaultRun                run(problem, healthy, options, settings, rows);
    run.start();
    run.iterate(10);
    const std::vector<double> before = healthy.x();
    run.stop();
    run.iterate(300);
    const double              stalled = run.relative_residual(); // also brings x back
    const std::vector<double> after   = healthy.x();
    for (const int i : rows)
      EXPECT_NEAR(after[i], before[i], 1e-12);
    run.iterate(100);
    EXPECT_NEAR(run.relative_residual(), stalled, 1e-9 * stalled);
    EXPECT_GT(stalled, 1e-6);
    run.recover();
    run.iterate(500);
    EXPECT_LT(run.relative_residual(), 1e-12);
  }

  TEST(Faults, corruption_changes_the_rows_that_are_named)
  {
    EXPECT_EQ(corrupt({1., 2., 3.}, {1}, 0.5), (std::vector<double>{1., 3., 3.}));
  }

  /** r_t = factor^t. */
  std::vector<double> geometric(double factor, int n)
  {
    std::vector<double> history(n + 1, 1.);
    for (int t = 1; t <= n; ++t)
      history[t] = history[t - 1] * factor;
    return history;
  }

  TEST(Detection, nothing_is_suspected_where_convergence_is_as_expected)
  {
    const Calibration c = calibrate({geometric(0.5, 30), geometric(0.5, 30)}, 5, 1e-7);
    EXPECT_NEAR(c.log_reduction[5], 5. * std::log(0.5), 1e-13);
    EXPECT_TRUE(std::isnan(c.log_reduction[4]));
    EXPECT_TRUE(std::isnan(c.log_reduction[29])); // 0.5^29 is below the floor
    EXPECT_NEAR(delay(c, geometric(0.5, 30), 10), 0., 1e-12);
    EXPECT_EQ(suspected_at(c, geometric(0.5, 30), 0.01), -1);
  }

  TEST(Detection, a_pause_is_the_iterations_it_lasts)
  {
    const Calibration   c       = calibrate({geometric(0.5, 30)}, 5, 1e-7);
    std::vector<double> history = geometric(0.5, 30);
    for (int t = 30; t >= 12; --t)
      history[t] = history[t - 2]; // stands still for two iterations from 10 on
    history[11] = history[10];
    EXPECT_NEAR(delay(c, history, 12), 2., 1e-12);
    EXPECT_EQ(suspected_at(c, history, 0.5), 11);
    EXPECT_EQ(suspected_at(c, history, 1.5), 12);
    EXPECT_EQ(suspected_at(c, history, 2.5), -1);
    EXPECT_EQ(suspected_at(c, history, 0.5, 20), -1); // has left the window
  }

  TEST(Detection, growth_and_what_is_no_number_are_suspected)
  {
    const Calibration   c       = calibrate({geometric(0.5, 30)}, 5, 1e-7);
    std::vector<double> history = geometric(0.5, 30);
    history[15]                 = 1.;
    EXPECT_GT(delay(c, history, 15), 5.);
    EXPECT_EQ(suspected_at(c, history, 5.), 15);
    history[15] = NAN;
    EXPECT_EQ(suspected_at(c, history, 5.), 15);
  }

  TEST(Detection, wrong_calibrations_are_refused)
  {
    EXPECT_THROW(calibrate({}, 5, 0.), InvalidInput);
    EXPECT_THROW(calibrate({geometric(0.5, 10), geometric(0.5, 11)}, 5, 0.), InvalidInput);
    EXPECT_THROW(calibrate({geometric(0.5, 10)}, 0, 0.), InvalidInput);
  }

  TEST(PlainCrs, gives_the_iterates_of_block_async)
  {
    const CrsMatrix<double>   A = trefethen_matrix(300);
    const std::vector<double> b(300, 1.);
    for (const int k : {1, 2, 5})
      {
        BlockAsyncOptions options;
        options.block_size                              = 64;
        options.local_iterations                        = k;
        options.n_threads                               = 1;
        const std::unique_ptr<Relaxation<double>> plain = make_plain_crs(A, 64, k, Backend::host, 1);
        BlockAsync<double>                        block(A, options);
        Experiment                                first(*plain, b), second(block, b);
        first.iterate(7);
        second.iterate(7);
        const std::vector<double> x = first.x(), y = second.x();
        for (int i = 0; i < 300; ++i)
          EXPECT_NEAR(x[i], y[i], 1e-14);
        EXPECT_NEAR(first.relative_residual() / second.relative_residual(), 1., 1e-9);
      }
    EXPECT_THROW(make_plain_crs(A, 64, 0, Backend::host, 1), InvalidInput);
  }

  TEST(Reach, interpolates_and_tells_divergence)
  {
    const Problem      problem{"five-point", five_point_matrix(12, 12, 0.5), std::vector<double>(144, 1.)};
    BlockAsync<double> method(problem.A, async(on_host(), 16, 5));
    Experiment         experiment(method, problem.b);
    const Reached      reached = reach(experiment, 1e-8, 1000);
    EXPECT_TRUE(reached.converged);
    experiment.start();
    experiment.iterate(static_cast<int>(std::ceil(reached.iterations)));
    EXPECT_LE(experiment.relative_residual(), 1e-8);
    experiment.start();
    experiment.iterate(static_cast<int>(std::ceil(reached.iterations)) - 1);
    EXPECT_GT(experiment.relative_residual(), 1e-8);
    EXPECT_GT(reached.seconds, 0.);

    const CrsMatrix<double> strong = five_point_matrix(12, 12, -2.); // not even definite
    BlockAsync<double>      wild(strong, async(on_host(), 16, 1));
    Experiment              diverging(wild, problem.b);
    const Reached           no = reach(diverging, 1e-8, 5000);
    EXPECT_TRUE(no.diverged);
    EXPECT_EQ(no.iterations_text(), "diverges");
    EXPECT_TRUE(std::isnan(no.seconds));
  }

  TEST(Reports, findings_are_sentences_and_cells_are_quoted)
  {
    std::ostringstream out;
    Report             report(out, "");
    report.finding("T Table 1", "water is wet", true, "100 percent");
    report.finding("T Table 2", "fire is cold", false, "700 C");
    report.undecided("T Table 3", "it rains", "nobody looked");
    report.finding("", "ice floats", true, "all of it");
    report.finish();
    EXPECT_EQ(out.str(),
              "finding of the paper (T Table 1): water is wet: holds: measured 100 percent\n"
              "finding of the paper (T Table 2): fire is cold: does not hold: measured 700 C\n"
              "finding of the paper (T Table 3): it rains: is not decided here: nobody looked\n"
              "finding: ice floats: holds: measured all of it\n");
    Table table("a, b", {"x", "y"});
    table.add_row({cell(1.5, "%.1f"), cell(NAN)});
    EXPECT_THROW(table.add_row({"1"}), InvalidInput);
    std::ostringstream csv;
    table.write_csv(csv);
    EXPECT_EQ(csv.str(), "\"a, b\"\nx,y\n1.5,-\n\n");
  }

  TEST(Problems, are_generated_or_looked_for)
  {
    EXPECT_EQ(load_problem("trefethen-50", on_host()).A.n_rows, 50);
    EXPECT_EQ(load_problem("five-point-5", on_host()).A.n_rows, 25);
    EXPECT_EQ(load_problem("hanging-2", on_host()).A.values, hanging_nodes_matrix(2).values);
    EXPECT_EQ(load_problem("q2-2", on_host()).A.values, quadratic_elements_matrix(2).values);
    EXPECT_EQ(load_problem("jumps-8", on_host()).A.values, jumping_coefficients_matrix(8).values);
    EXPECT_EQ(load_problem("convection-3", on_host()).A.values, convection_matrix(3).values);
    EXPECT_THROW(load_problem("five-point-x", on_host()), InvalidInput);
    EXPECT_THROW(load_problem("nowhere", on_host()), InvalidInput);
  }

  TEST(Reached, needs_infinitely_many_iterations_where_it_does_not_converge)
  {
    Reached reached;
    reached.iterations = 50.;
    EXPECT_EQ(reached.iterations_needed(), HUGE_VAL); // so that whatever converges has needed fewer
    EXPECT_EQ(reached.iterations_text(), "> 50");
    reached.converged = true;
    EXPECT_EQ(reached.iterations_needed(), 50.);
    EXPECT_EQ(reached.iterations_text(), "50.0");
  }

  // what a row says if threads are off a part of the time, of global iterations of 1 ms, 1.2 ms with waiting
  std::vector<Imbalance> slowed_rows(double free_excess, double waiting_excess)
  {
    std::vector<Imbalance> rows;
    for (const double f : {1., 2., 3.})
      rows.push_back({static_cast<int>(rows.size()), f, {f * (f > 1. ? free_excess : 1.), 1000.}, {1.2 * f * (f > 1. ? waiting_excess : 1.), 1000.}});
    return rows;
  }

  std::string judged(const std::vector<Imbalance> &rows, int n_threads = 2)
  {
    std::ostringstream out;
    Report             report(out, "");
    judge_imbalance("A", n_threads, rows, report);
    report.finish();
    return out.str();
  }

  int count(const std::string &text, const std::string &words)
  {
    int n = 0;
    for (std::size_t at = text.find(words); at != std::string::npos; at = text.find(words, at + 1))
      ++n;
    return n;
  }

  TEST(Imbalance_model, follows_its_formula)
  {
    const ImbalanceModel model(slowed_rows(1., 1.));
    EXPECT_DOUBLE_EQ(model.seconds_an_iteration(), 1e-3);
    EXPECT_DOUBLE_EQ(model.predicted_free(2.), 2.);
    EXPECT_DOUBLE_EQ(model.predicted_waiting(2.), 2.4);
    EXPECT_DOUBLE_EQ(ImbalanceModel::fair_slow_down(2, 3, 2), 2.5);
    EXPECT_DOUBLE_EQ(ImbalanceModel::fair_slow_down(2, 3, 8), 1.);

    std::vector<Imbalance> rows = slowed_rows(1., 1.);
    rows[0].slow_down           = 2.; // other work beside all rows
    EXPECT_DOUBLE_EQ(ImbalanceModel(rows).predicted_free(3.), 1.5);
  }

  TEST(Imbalance_findings, can_each_be_another_one)
  {
    const std::string good = judged(slowed_rows(1., 1.1));
    EXPECT_EQ(count(good, ": holds: "), 5) << good;
    EXPECT_EQ(count(judged(slowed_rows(1.4, 1.)), "explains: holds"), 1);
    EXPECT_EQ(count(judged(slowed_rows(1.6, 1.)), "explains: does not hold"), 1);
    EXPECT_EQ(count(judged(slowed_rows(1., 1.6)), "factor of 1.5: does not hold"), 1);
    EXPECT_EQ(count(judged(slowed_rows(1., 0.4)), "longer than it does alone: does not hold"), 1); // waiting is faster
    EXPECT_EQ(count(judged(slowed_rows(NAN, 1.)), ": does not hold: "), 3);

    std::vector<Imbalance> rows = slowed_rows(1., 1.);
    rows[0].free                = {1.4, 1000.};
    EXPECT_EQ(count(judged(rows), "of the time to solution: does not hold"), 1);
    rows[0].free    = {1., 1000.};
    rows[0].waiting = {1.3, 1000.};
    EXPECT_EQ(count(judged(rows), "percent of a global iteration: does not hold"), 1);
  }

  TEST(Imbalance_findings, are_open_where_they_cannot_fail)
  {
    EXPECT_EQ(count(judged({slowed_rows(1., 1.)[0]}), "is not decided here: no busy process"), 3);
    std::vector<Imbalance> rows = slowed_rows(1., 1.);
    EXPECT_EQ(count(judged(rows, 1), "is not decided here: one thread"), 3);
    rows[0].slow_down = 1.5;
    EXPECT_EQ(count(judged(rows), "is not decided here: other work"), 3);
  }

  device::EnergyUse energy_use(double gpu, double cpu, double seconds = 10.)
  {
    device::EnergyUse use;
    use.seconds = seconds;
    use.gpu     = {gpu, 0.1, "a counter", std::isnan(gpu) ? "no counter" : ""};
    use.cpu     = {cpu, 0.1, "a counter", std::isnan(cpu) ? "no counter" : ""};
    return use;
  }

  EnergyRow energy_row(double seconds, double cores, double gpu_watts, double cpu_watts)
  {
    EnergyRow row;
    row.outcome     = {true, 10};
    row.repetitions = 10;
    row.seconds     = seconds;
    row.cores       = cores;
    row.use         = energy_use(gpu_watts * 10. * seconds, cpu_watts * 10. * seconds, 10. * seconds);
    return row;
  }

  std::string judged_of(const std::function<void(Report &)> &judge)
  {
    std::ostringstream out;
    Report             report(out, "");
    judge(report);
    report.finish();
    return out.str();
  }

  std::string energy_judged(const std::function<void(EnergyJudge &)> &judge, double gpu = 500., double cpu = 400., bool on_device = true)
  {
    return judged_of([&](Report &report) {
      EnergyJudge judging(on_device, energy_use(gpu, cpu), report);
      judge(judging);
    });
  }

  TEST(Energy_findings, of_waiting_can_each_be_another_one)
  {
    const auto judged = [](const EnergyRow &spin, const EnergyRow &block, double cpu = 400.) {
      return energy_judged(
        [&](EnergyJudge &judge) {
          judge.waiting("T", "a solve", {spin, block});
          judge.power("T", "its power", 0.7, {spin, block});
        },
        500.,
        cpu);
    };
    const EnergyRow   spin = energy_row(1., 1., 300., 100.);
    const std::string good = judged(spin, energy_row(1., 0.1, 200., 50.));
    EXPECT_EQ(count(good, ": holds: "), 5) << good;
    EXPECT_EQ(count(judged(spin, energy_row(1.3, 0.1, 100., 50.)), "lengthen a solve (by more than 10 percent): does not hold"), 1);
    EXPECT_EQ(count(judged(spin, energy_row(1.09, 0.1, 100., 50.)), "lengthen a solve (by more than 10 percent): is not decided"), 1);
    EXPECT_EQ(count(judged(spin, energy_row(1., 0.9, 200., 50.)), "half as much of a core busy: does not hold"), 1);
    EXPECT_EQ(count(judged(spin, energy_row(1., 0.1, 400., 110.)), "saves energy: does not hold"), 1);
    EXPECT_EQ(count(judged(spin, energy_row(1., 0.1, 400., 110.)), "saves energy, GPU alone: does not hold"), 1);
    EXPECT_EQ(count(judged(spin, energy_row(1., 0.1, 200., 90.)), "its power: does not hold"), 1);
    EXPECT_EQ(count(judged(spin, energy_row(NAN, NAN, NAN, NAN)), "is not decided here: one of them"), 5);
    const std::string without_cpu = judged(energy_row(1., 1., 300., NAN), energy_row(1., 0.1, 200., NAN), NAN);
    EXPECT_EQ(count(without_cpu, "is not decided here: energy of the CPU: no counter"), 2) << without_cpu;
    EXPECT_EQ(count(without_cpu, "saves energy, GPU alone: holds"), 1);
    EXPECT_EQ(count(energy_judged([&](EnergyJudge &judge) { judge.waiting("T", "a solve", {spin}); }), "there is no GPU to wait for"), 2);
  }

  // fails if a spread, a meter or a value that is not known is not looked at
  TEST(Energy_findings, of_meters_can_each_be_another_one)
  {
    const auto judged = [](double last_gpu, double last_cpu, double sampled, bool has_both = true) {
      std::vector<EnergyRow> rows(9, energy_row(1., 1., 300., 100.));
      rows.push_back(energy_row(1., 1., last_gpu, last_cpu));
      for (EnergyRow &row : rows)
        row.use.gpu_sampled = {sampled * row.use.gpu.joules, 0.1, "samples", ""};
      device::EnergyUse idle = energy_use(500., 400.);
      idle.gpu_sampled       = {490., 0.1, has_both ? "samples" : "a counter", ""};
      return judged_of([&](Report &report) { EnergyJudge(true, idle, report).meters("CG", rows); });
    };
    EXPECT_EQ(count(judged(310., 97., 1.08), ": holds: "), 3);
    for (const double wrong : {350., 250., double(NAN), double(INFINITY)})
      {
        EXPECT_EQ(count(judged(wrong, 100., 1.), "GPU: joules of CG differ by at most 5 percent from one measurement to another: does not hold"), 1)
          << wrong;
        EXPECT_EQ(count(judged(300., wrong, 1.), "CPU: joules of CG differ by at most 5 percent from one measurement to another: does not hold"), 1)
          << wrong;
      }
    for (const double wrong : {0.8, 1.2, double(NAN)})
      EXPECT_EQ(count(judged(300., 100., wrong), "to 10 percent: does not hold"), 1) << wrong;
    EXPECT_EQ(count(judged(300., 100., 1., false), "there is one of them only"), 1);
    EXPECT_EQ(count(energy_judged([](EnergyJudge &judge) { judge.meters("CG", {}); }), ": holds: "), 0);
    EXPECT_EQ(count(energy_judged([](EnergyJudge &judge) { judge.meters("CG", {}); }, NAN, NAN), "is not decided here: no counter"), 2);
    EXPECT_EQ(count(energy_judged([](EnergyJudge &judge) { judge.meters("CG", {}); }, NAN, NAN, false), "is not decided here: no counter"), 1);
  }

  TEST(Energy_findings, of_methods_and_hardware_can_each_be_another_one)
  {
    const auto table = [](double async, double mixed) {
      return energy_judged([&](EnergyJudge &judge) {
        judge.relaxations({{"Jacobi", {energy_row(10., 1., 300., 100.)}},
                           {"async-(5)", {energy_row(async, 1., 300., 100.)}},
                           {"MPIR async-(5)", {energy_row(mixed, 1., 300., 100.)}}});
      });
    };
    EXPECT_EQ(count(table(3., 1.), ": holds: "), 4); // with and without the CPU
    EXPECT_EQ(count(table(6., 1.), "50 at least): does not hold"), 1);
    EXPECT_EQ(count(table(3., 2.9), "20 at least): does not hold"), 1);
    EXPECT_EQ(count(energy_judged([](EnergyJudge &judge) { judge.relaxations({}); }), "is not decided here"), 4);

    const auto curve = [](const char *name, double seconds) {
      return EnergyCurve{name, {2, 12}, {0.1 * seconds, seconds}, energy_use(3000., 1000.)};
    };
    const auto fv1 = [&](double async, double mixed) {
      return energy_judged([&](EnergyJudge &judge) {
        judge.accuracies("fv1", {curve("Jacobi", 10.), curve("async-(5)", async), curve("MPIR async-(5)", mixed)});
      });
    };
    EXPECT_EQ(count(fv1(3., 4.), ": holds: "), 6);
    EXPECT_EQ(count(fv1(11., 4.), "async-(5) takes less energy than Jacobi to 1e-12: does not hold"), 1);
    EXPECT_EQ(count(fv1(3., 2.), "gains nothing over async-(5) to 1e-12: does not hold"), 1);
    EXPECT_EQ(count(fv1(3., 11.), "refinement takes less than Jacobi to 1e-12: does not hold"), 1);

    // of Chem97ZtZ to 1e-2 and to 1e-12, of Trefethen_2000 to 1e-12; twice each, with and without the CPU
    const auto of = [&](const char *matrix, double jacobi_first, double jacobi, double async_first, double async, double mixed_first, double mixed) {
      const auto two = [](const char *name, double first, double last) {
        return EnergyCurve{name, {2, 12}, {first, last}, energy_use(3000., 1000.)};
      };
      return energy_judged([&](EnergyJudge &judge) {
        judge.accuracies(matrix,
                         {two("Jacobi", jacobi_first, jacobi), two("async-(5)", async_first, async), two("MPIR async-(5)", mixed_first, mixed)});
      });
    };
    EXPECT_EQ(count(of("Chem97ZtZ", 1., 10., 2., 5., 1., 4.), ": holds: "), 8);
    EXPECT_EQ(count(of("Chem97ZtZ", 3., 10., 2., 5., 1., 4.), "Jacobi takes less energy than async-(5) to 1e-2: does not hold"), 1);
    EXPECT_EQ(count(of("Chem97ZtZ", 1., 4., 2., 5., 1., 4.), "async-(5) takes less than Jacobi to 1e-12: does not hold"), 1);
    EXPECT_EQ(count(of("Chem97ZtZ", 1., 10., 2., 5., 3., 4.), "refinement takes less than async-(5) to 1e-2: does not hold"), 1);
    EXPECT_EQ(count(of("Chem97ZtZ", 1., 10., 2., 5., 1., 6.), "refinement takes less than async-(5) to 1e-12: does not hold"), 1);
    EXPECT_EQ(count(of("trefethen", 1., 10., 2., 5., 1., 4.), ": holds: "), 4);
    EXPECT_EQ(count(of("trefethen", 1., 10., 2., 5., 1., 6.), "refinement takes less energy than async-(5) to 1e-12: does not hold"), 1);
    EXPECT_EQ(count(of("trefethen", 1., 4., 2., 5., 1., 3.), "async-(5) takes less than Jacobi to 1e-12: does not hold"), 1);
    for (const char *matrix : {"Chem97ZtZ", "fv1", "fv3", "trefethen"})
      EXPECT_EQ(count(of(matrix, NAN, NAN, NAN, NAN, NAN, NAN), ": holds: "), 0) << matrix;

    const auto hardware = [](double gpu_seconds, double cpu = 400.) {
      return energy_judged(
        [&](EnergyJudge &judge) {
          judge.hardware("T Table 5.1", {energy_row(10., 1., 80., 100.), energy_row(6., 2., 80., 120.), energy_row(gpu_seconds, 1., 300., 100.)});
        },
        500.,
        cpu);
    };
    EXPECT_EQ(count(hardware(1.), ": holds: "), 1);
    EXPECT_EQ(count(hardware(2.), ": does not hold: "), 1); // 800 J against 720 J of two threads
    EXPECT_EQ(count(hardware(1., NAN), "is not decided here: energy of the CPU"), 1);
  }

  TEST(Busy_processes, work_and_are_gone_afterwards)
  {
    std::vector<int> ids;
    {
      const BusyProcesses busy(3);
      ids = busy.ids();
      ASSERT_EQ(ids.size(), 3u);
      for (const int id : ids)
        EXPECT_EQ(kill(id, 0), 0);
    }
    for (const int id : ids)
      EXPECT_NE(kill(id, 0), 0); // waited for, too: not even a zombie
    try
      {
        const BusyProcesses busy(1);
        ids = busy.ids();
        throw InvalidInput("something else");
      }
    catch (const InvalidInput &)
      {
      }
    EXPECT_NE(kill(ids[0], 0), 0);
  }

  TEST(Core_share, is_a_share)
  {
    const double share = core_share(2, 0.05);
    EXPECT_GT(share, 0.);
    EXPECT_LE(share, 1.);
  }
} // namespace
