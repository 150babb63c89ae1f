// SPDX-License-Identifier: Apache-2.0
// Energy of solvers, and a host that sleeps while the GPU works (thesis, chapter 5).
#include "energy_judge.h"
#include "energy_run.h"
#include "published.h"

#include <solvers/base/errors.h>
#include <solvers/base/usable_resources.h>

#include <algorithm>
#include <cmath>
#include <fstream>

namespace leopard::studies
{
  namespace
  {
    using device::EnergyUse;
    using device::Waiting;

    constexpr double tolerance_of_cg = 1e-10; // not printed
    constexpr int    most_digits     = 12;    // not printed
    constexpr double not_known       = std::numeric_limits<double>::quiet_NaN();

    /** The study's task, and what it goes with. */
    struct Study
    {
      const Settings &settings;
      EnergyLab      &lab;
      EnergyJudge    &judge;
      Report         &report;

      Settings on_host() const
      {
        Settings result = settings;
        result.backend  = "host";
        return result;
      }
      std::vector<Waiting> ways() const { return lab.on_device ? std::vector{Waiting::spin, Waiting::block} : std::vector{Waiting::spin}; }
    };

    struct Printed
    {
      double seconds = not_known, watt_hours = not_known;
    };

    const std::vector<std::string> columns = {"solver",
                                              "waiting",
                                              "iterations",
                                              "time (s)",
                                              "busy cores of this process",
                                              "GPU, counter (W)",
                                              "GPU, sampled (W)",
                                              "CPU (W)",
                                              "GPU (J)",
                                              "CPU (J)",
                                              "GPU and CPU (J)",
                                              "GPU above idle (J)",
                                              "CPU above idle (J)",
                                              "printed time (s)",
                                              "printed, GPU and CPU (Wh)"};

    void add_row(Table &table, const EnergyLab &lab, const EnergyRow &row, const Printed &printed)
    {
      const bool done   = row.outcome.converged;
      const bool counts = row.use.gpu.how != row.use.gpu_sampled.how;
      table.add_row({row.name,
                     row.waiting,
                     done ? cell(row.outcome.iterations) : "no convergence",
                     cell(row.seconds, "%.4g"),
                     cell(row.cores, "%.2f"),
                     cell(counts ? row.use.gpu.joules / row.use.seconds : not_known, "%.1f"),
                     cell(row.use.gpu_sampled.joules / row.use.seconds, "%.1f"),
                     cell(row.use.cpu.joules / row.use.seconds, "%.1f"),
                     cell(row.joules(row.use.gpu), "%.4g"),
                     cell(row.joules(row.use.cpu), "%.4g"),
                     cell(row.joules(), "%.4g"),
                     cell(lab.above_idle(row, &EnergyUse::gpu), "%.4g"),
                     cell(lab.above_idle(row, &EnergyUse::cpu), "%.4g"),
                     cell(printed.seconds, "%.2f"),
                     cell(printed.watt_hours, "%.2f")});
    }

    /** Mean power in twenty parts of the time (Figures 5.4, 5.5), of rows that differ in how the host waits. */
    void add_power_over_time(const std::string &title, const std::vector<EnergyRow> &rows, Report &report)
    {
      constexpr int            parts = 20;
      std::vector<std::string> heads = {"time (s)"};
      for (const EnergyRow &row : rows)
        for (const char *what : {": CPU (W)", ": GPU (W)"})
          heads.push_back(row.name + ", " + row.waiting + what);
      Table  table(title, heads);
      double length = 0.;
      for (const EnergyRow &row : rows)
        if (!row.samples.empty())
          length = std::max(length, row.samples.back().seconds - row.samples.front().seconds);
      for (int part = 0; part < parts && length > 0.; ++part)
        {
          std::vector<std::string> cells = {cell((part + 0.5) * length / parts, "%.2f")};
          for (const EnergyRow &row : rows)
            {
              double cpu = 0., gpu = 0.;
              int    n = 0;
              for (const device::PowerSample &sample : row.samples)
                if (const double at = (sample.seconds - row.samples.front().seconds) / length * parts; at >= part && at < part + 1)
                  {
                    cpu += sample.cpu;
                    gpu += sample.gpu;
                    ++n;
                  }
              cells.insert(cells.end(), {cell(n > 0 ? cpu / n : not_known, "%.1f"), cell(n > 0 ? gpu / n : not_known, "%.1f")});
            }
          table.add_row(cells);
        }
      if (length > 0.)
        report.add(table);
    }

    /** Whether it is a matrix of Tables 5.1 to 5.5. */
    bool is_of_waiting(const std::string &name)
    {
      return std::any_of(
        published::energy_of_waiting.begin(), published::energy_of_waiting.end(), [&](const auto &row) { return row.matrix == name; });
    }

    /** The matrix of the collection, where it is there, or one of its kind and, with --full, of about its size. */
    std::string matrix_or_stand_in(const std::string &name, const Settings &settings)
    {
      const auto generated = [&](const char *kind, int reduced, int full) { return kind + std::to_string(settings.size_or(reduced, full)); };
      for (const char *ending : {".mtx.gz", ".mtx"})
        if (!settings.folder().empty() && std::ifstream(settings.folder() + "/" + name + ending))
          return name;
      return name == "A318"         ? generated("seven-point-", 64, 318)
             : name == "apache2"    ? generated("seven-point-", 48, 89)
             : name == "ecology2"   ? generated("five-point-", 256, 1000)
             : name == "G3_circuit" ? generated("circuit-", 256, 1259)
             : name == "nd24k"      ? generated("elasticity-", 12, 28)
                                    : generated("elasticity-", 16, 67);
    }

    Problem loaded(const std::string &name, const Study &study)
    {
      const std::string taken   = matrix_or_stand_in(name, study.settings);
      Problem           problem = load_problem(taken, study.settings);
      study.report.say("\n" + (taken == name ? name : name + " is " + taken + " here, which is generated") + ": " + std::to_string(problem.A.n_rows) +
                       " rows, " + std::to_string(problem.A.n_entries()) + " entries");
      problem.name = name;
      return problem;
    }

    /** Tables 5.1 to 5.3: host threads against the GPU. */
    std::vector<EnergyRow> compare_hardware(const std::string                          &source,
                                            const std::string                          &method,
                                            const Problem                              &problem,
                                            const std::array<published::EnergyOfCg, 5> &printed,
                                            const Study                                &study)
    {
      const int              n_threads = usable_cores();
      Table                  table(source.substr(2) + ": " + method + ", " + problem.name + ", host threads and GPU, to 1e-10", columns);
      std::vector<EnergyRow> rows;
      std::string            missing;
      for (const published::EnergyOfCg &row : printed)
        {
          const bool        on_gpu = row.threads == 0;
          const std::string name   = method + (on_gpu ? ", GPU" : ", " + std::to_string(row.threads) + (row.threads == 1 ? " thread" : " threads"));
          if (on_gpu ? !study.lab.on_device : row.threads > n_threads)
            {
              missing += (missing.empty() ? "" : ", ") + name;
              continue;
            }
          EnergySolver solver = make_energy_solver(method, problem, tolerance_of_cg, on_gpu ? study.settings : study.on_host(), row.threads);
          solver.name         = name;
          rows.push_back(study.lab.measure(solver));
          if (!on_gpu)
            rows.back().waiting = "-";
          add_row(table, study.lab, rows.back(), {row.seconds, row.watt_hours});
        }
      study.report.add(table);
      if (!missing.empty())
        study.report.say("not measured here, on " + std::to_string(n_threads) + " cores" + (study.lab.on_device ? "" : " and no GPU") + ": " +
                         missing);
      study.judge.hardware(source, rows);
      return rows;
    }

    void study_circuit(const Study &study)
    {
      const Problem problem = loaded("G3_circuit", study);
      compare_hardware("T Table 5.1", "CG", problem, published::energy_of_cg, study);
      compare_hardware("T Table 5.2", "CG, Jacobi", problem, published::energy_of_jacobi_cg, study);
    }

    /** How far a measurement can be trusted: CG again and again. */
    void study_meters(const Problem &problem, const Study &study)
    {
      constexpr int          n_measurements = 10;
      const EnergySolver     solver         = make_energy_solver("CG", problem, tolerance_of_cg, study.settings);
      std::vector<EnergyRow> rows;
      Table                  table("Measurements of the same solve: CG, " + problem.name,
                  {"measurement", "solves", "time (s)", "GPU, counter (J)", "GPU, sampled (J)", "CPU (J)"});
      if (study.lab.idle().gpu.is_known() || study.lab.idle().cpu.is_known())
        for (int i = 1; i <= n_measurements; ++i)
          {
            const EnergyRow &row = rows.emplace_back(study.lab.measure(solver));
            table.add_row({cell(i),
                           cell(row.repetitions),
                           cell(row.seconds, "%.4g"),
                           cell(row.joules(row.use.gpu), "%.4g"),
                           cell(row.joules(row.use.gpu_sampled), "%.4g"),
                           cell(row.joules(row.use.cpu), "%.4g")});
          }
      if (!rows.empty())
        study.report.add(table);
      study.judge.meters("CG, " + problem.name, rows);
    }

    /** Tables 5.4 and 5.5: CG on the GPU, with the two ways to wait. */
    std::vector<EnergyRow>
    compare_waiting(const std::string &source, const std::string &method, const Problem &problem, double plain, double asleep, const Study &study)
    {
      Table table(source.substr(2) + ": " + method + ", " + problem.name + ", to 1e-10; printed with the processor at 800 MHz, where it sleeps",
                  columns);
      const EnergySolver     solver = make_energy_solver(method, problem, tolerance_of_cg, study.settings);
      std::vector<EnergyRow> rows;
      for (const Waiting waiting : study.ways())
        {
          rows.push_back(study.lab.measure(solver, waiting));
          add_row(table, study.lab, rows.back(), {not_known, waiting == Waiting::spin ? plain : asleep});
        }
      study.report.add(table);
      study.judge.waiting(source, problem.name + ", " + method, rows);
      return rows;
    }

    void study_waiting(const std::string &name, const Study &study)
    {
      const auto printed =
        std::find_if(published::energy_of_waiting.begin(), published::energy_of_waiting.end(), [&](const auto &row) { return row.matrix == name; });
      const Problem problem = loaded(name, study);
      if (name == "A318")
        {
          study_meters(problem, study);
          compare_hardware("T Table 5.3", "CG", problem, published::energy_of_cg_a318, study);
          study.report.undecided("T Table 5.3",
                                 "a lower frequency of the processor hardly changes the time with a GPU, and saves about 5 percent",
                                 "frequencies are only read here, not set: that needs root");
        }
      const auto rows = compare_waiting("T Table 5.4", "CG", problem, printed->cg_plain, printed->cg_asleep, study);
      if (name == "A318")
        study.judge.power("T Figure 5.4", "A318, CG: a sleeping host lowers the CPU's power (by 5 percent at least)", 0.95, rows);
      if (name == "A318")
        add_power_over_time("Figure 5.4: power over time, CG, A318", rows, study.report);
      if (name != "A318") // whose diagonal is constant
        compare_waiting("T Table 5.5", "CG, Jacobi", problem, printed->jacobi_plain, printed->jacobi_asleep, study);
    }

    /** Figure 5.6: of a method, by the power of the last accuracy and the time to each. */
    EnergyCurve curve_of(const std::string &method, const Problem &problem, const EnergyRow &last, const Study &study)
    {
      EnergyCurve curve{method, {}, {}, last.use};
      for (int digits = 2; digits <= most_digits; digits += 2)
        {
          double seconds = last.seconds;
          if (digits < most_digits)
            seconds = study.lab.seconds_of(make_energy_solver(method, problem, std::pow(10., -digits), study.settings));
          curve.digits.push_back(digits);
          curve.seconds.push_back(seconds);
        }
      return curve;
    }

    void add_curves(const std::string &name, const std::vector<EnergyCurve> &curves, Report &report)
    {
      std::vector<std::string> heads = {"residual"};
      for (const EnergyCurve &curve : curves)
        for (const char *what : {": time (s)", ": GPU (J)", ": CPU (J)", ": GPU and CPU (J)"})
          heads.push_back(curve.name + what);
      Table table("Figure 5.6: energy over accuracy, " + name + " (the power at the last accuracy times the time to each)", heads);
      Table per_digit("Joules a digit, at the last accuracy that is reached, " + name, {"solver", "digits", "GPU (J)", "CPU (J)", "GPU and CPU (J)"});
      for (std::size_t i = 0; i < curves[0].digits.size(); ++i)
        {
          std::vector<std::string> row = {cell(std::pow(10., -curves[0].digits[i]), "%.0e")};
          for (const EnergyCurve &curve : curves)
            row.insert(
              row.end(),
              {cell(curve.seconds[i], "%.4g"), cell(curve.gpu(i), "%.4g"), cell(curve.cpu(i), "%.4g"), cell(curve.gpu(i) + curve.cpu(i), "%.4g")});
          table.add_row(row);
        }
      for (const EnergyCurve &curve : curves)
        {
          std::size_t i = curve.digits.size() - 1;
          while (i > 0 && std::isnan(curve.seconds[i]))
            --i;
          const double n = curve.digits[i];
          per_digit.add_row({curve.name,
                             cell(curve.digits[i]),
                             cell(curve.gpu(i) / n, "%.4g"),
                             cell(curve.cpu(i) / n, "%.4g"),
                             cell((curve.gpu(i) + curve.cpu(i)) / n, "%.4g")});
        }
      report.add(table);
      report.add(per_digit);
    }

    /**
     * A method in the table, on fv3 with each way to wait, else with that of the thesis. @return empty: it does not
     * take this matrix.
     */
    std::vector<EnergyRow> measure_method(const std::string &method, const Problem &problem, Table &table, const Study &study)
    {
      const auto printed = std::find_if(published::energy_of_relaxations.begin(), published::energy_of_relaxations.end(), [&](const auto &row) {
        return problem.name == "fv3" && row.method == method;
      });
      std::vector<EnergyRow> rows;
      try
        {
          const EnergySolver   solver = make_energy_solver(method, problem, std::pow(10., -most_digits), study.settings);
          std::vector<Waiting> ways   = study.ways();
          if (problem.name != "fv3")
            ways = {ways.back()};
          for (const Waiting waiting : ways)
            {
              rows.push_back(study.lab.measure(solver, waiting));
              Printed there;
              if (printed != published::energy_of_relaxations.end())
                there = {printed->seconds, waiting == Waiting::spin ? printed->plain_watt_hours : printed->asleep_watt_hours};
              add_row(table, study.lab, rows.back(), there);
            }
        }
      catch (const InvalidInput &error)
        {
          const std::string what = error.what();
          study.report.say(std::string(problem.name).append(": ").append(method).append(" is left out: ") + what.substr(0, what.find('\n')));
        }
      return rows;
    }

    /** Table 5.6, Figures 5.5 and 5.6. */
    void study_methods(const std::string &name, const Study &study)
    {
      const Problem problem = load_problem(name, study.settings);
      Table         table((name == "fv3" ? "Table 5.6, " : "As Table 5.6, ") + name + ", to " + cell(std::pow(10., -most_digits), "%.0e"), columns);
      std::vector<EnergyCurve> curves;
      EnergyRows               all;
      for (const std::string &method : energy_methods)
        {
          if (method == "CG, Jacobi")
            continue;
          const std::vector<EnergyRow> &rows = all[method] = measure_method(method, problem, table, study);
          if (rows.empty())
            continue;
          const std::string what         = std::string(name).append(", ").append(method);
          const bool        is_in_figure = name == "fv3" && (method == "Jacobi" || method == "async-(5)");
          if (name == "fv3")
            study.judge.waiting(is_in_figure ? "T Figure 5.5" : "", what, rows);
          if (is_in_figure)
            study.judge.power(
              "T Figure 5.5", what + ": a sleeping host lowers the CPU's power (printed: by 43 and 44 percent; by 30 at least)", 0.7, rows);
          curves.push_back(curve_of(method, problem, rows.back(), study)); // with idle-wait on a GPU, as in the thesis
        }
      if (curves.empty())
        return;
      study.report.add(table);
      if (name == "fv3")
        {
          study.judge.relaxations(all);
          for (const char *method : {"Jacobi", "async-(5)"})
            add_power_over_time("Figure 5.5: power over time, " + std::string(method) + ", fv3", all[method], study.report);
        }
      add_curves(name, curves, study.report);
      study.judge.accuracies(name, curves);
    }
  } // namespace

  void study_energy(const Settings &settings, Report &report)
  {
    const std::vector<std::string> names = settings.matrices_or(
      {"G3_circuit", "A318", "apache2", "ecology2", "nd24k", "audikw_1", "boneS10", "ldoor", "Chem97ZtZ", "fv1", "fv3", "trefethen"});
    std::vector<std::string> with_stand_ins = names;
    for (const std::string &name : names)
      if (is_of_waiting(name) && matrix_or_stand_in(name, settings) != name)
        with_stand_ins.push_back(matrix_or_stand_in(name, settings));
    const bool stands_in = with_stand_ins.size() > names.size();
    refuse_unused("energy", settings, {false, true, stands_in, stands_in, true}, with_stand_ins); // threads make hierarchies of multigrid
    const bool on_device = settings.resolved_backend() == Backend::cuda;
    EnergyLab  lab(on_device, settings.seconds);
    report.say(
      "energy: " + machine(settings) + "; each solve is repeated for " + cell(settings.seconds, "%.3g") +
      " s at least, its set-up left out\nCPU: the packages with all that runs on them, GPU: the whole board; busy cores: processor time of this "
      "process, with the 25 samples a second, over wall time\n(printed: of a machine of 2009, processors, board and a C1060 by a power meter)\n" +
      lab.text());
    EnergyJudge judge(on_device, lab.idle(), report);
    const Study study{settings, lab, judge, report};
    report.undecided("T Figure 5.5",
                     "a lower frequency of the processor saves 5 (Jacobi) and 7 percent (async-(5)) of its power",
                     "frequencies are only read here, not set: that needs root");
    std::map<std::string, std::string> stands_for; // of Tables 5.4 and 5.5: the first of the matrices that another one stands for
    for (const std::string &name : names)
      {
        if (name == "G3_circuit")
          study_circuit(study);
        const bool         waits = is_of_waiting(name);
        const std::string &first = waits ? stands_for.emplace(matrix_or_stand_in(name, settings), name).first->second : name;
        if (first != name)
          for (const auto &[table, what] : {std::pair("T Table 5.4", ", CG"), std::pair("T Table 5.5", ", CG, Jacobi")})
            report.undecided(table, name + what + ": a host that sleeps saves energy", "the matrix that is generated for it is that of " + first);
        else if (waits && (lab.on_device || name == "A318"))
          study_waiting(name, study);
        else if (waits)
          {
            judge.waiting("T Table 5.4", name + ", CG", {});
            judge.waiting("T Table 5.5", name + ", CG, Jacobi", {});
          }
        else
          study_methods(name, study);
      }
  }
} // namespace leopard::studies
