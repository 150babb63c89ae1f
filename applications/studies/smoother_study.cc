// SPDX-License-Identifier: Apache-2.0
#include "smoother_study.h"

#include "smoother_run.h"
#include "smoother_tables.h"
#include "thesis_smoothers.h"

#include <applications/base/collective.h>
#include <applications/base/files.h>
#include <applications/base/log.h>
#include <applications/base/stop_signal.h>
#include <applications/run/provenance.h>
#include <solvers/base/errors.h>

#include <deal.II/base/mpi.h>

#include <nlohmann/json.hpp>

#include <sstream>

namespace leopard
{
  using studies::Table;

  namespace
  {
    /** What a study has found so far. */
    struct Results
    {
      std::vector<SmootherRow> rows;
      std::string              text; ///< the tables, for study.txt
    };

    /** All that a study may write. */
    std::vector<std::string> file_names()
    {
      return {"study.txt", "study.csv", "study_history.csv", "study_findings.csv"};
    }

    std::string csv(const Table &table)
    {
      std::ostringstream stream;
      table.write_csv(stream);
      return stream.str();
    }

    std::string text_of(const Table &table)
    {
      std::ostringstream stream;
      table.write_text(stream);
      return stream.str();
    }

    nlohmann::json summary(const std::vector<SmootherRow> &rows)
    {
      nlohmann::json result = nlohmann::json::array();
      for (const SmootherRow &row : rows)
        {
          nlohmann::json entry = {{"case", row.case_name},
                                  {"problem", row.problem},
                                  {"unknowns", row.unknowns},
                                  {"levels", row.levels},
                                  {"smoother", row.label()},
                                  {"backend", row.backend},
                                  {"status", row.status}};
          if (!row.cycles.empty())
            entry.update({{"cycles", row.cycles_quantile(0.5)}, {"seconds", row.seconds_quantile(0.5)}, {"convergence_factor", row.factor}});
          if (!row.winner_reason.empty())
            entry["winner_reason"] = row.winner_reason;
          result.push_back(entry);
        }
      return result;
    }

    void write_tables(const RunContext &context, const Results &results)
    {
      context.directory.record({"study.csv", "study_history.csv"});
      on_rank_zero(context.comm, [&] {
        write_file_atomically(context.directory.path("study.csv"), csv(study_table(results.rows)));
        write_file_atomically(context.directory.path("study_history.csv"), csv(history_table(results.rows)));
      });
      context.provenance.json()["study"] = summary(results.rows);
      context.provenance.write();
    }

    /**
     * All combinations on one problem; they compete. Stops early, without a winner, if the program is asked to stop.
     */
    void run_competition(
      const RunContext &context, const StudyProblem &problem, const Parameters &parameters, const std::string &case_name, Results &results)
    {
      const SmootherStudyParameters   &study = parameters.smoother_study;
      std::vector<SmootherCombination> combinations;
      for (const SmootherChoice &smoother : study.smoothers)
        for (const int steps : study.smoothing_steps)
          for (const CycleType cycle : study.cycles)
            for (const std::string &solver : study.solvers)
              combinations.push_back({&smoother, steps, cycle, solver});
      std::vector<SmootherRow> rows = run_smoothers(problem, combinations, study, parameters.linear_solver.block_async.n_threads);
      for (SmootherRow &row : rows)
        row.case_name = case_name;
      if (rows.empty())
        return;
      const Winner winner = stop_requested(context.comm) ? Winner{-1, "the study was stopped"} : choose_winner(rows);
      if (winner.row >= 0)
        rows[winner.row].winner_reason = winner.reason;
      const std::string text = competition_text(rows, winner);
      context.log.line(text);
      results.text += text;
      results.rows.insert(results.rows.end(), rows.begin(), rows.end());
      write_tables(context, results);
    }

    /** The published findings of the cases that have some. */
    void compare_with_published(const RunContext &context, Results &results)
    {
      std::vector<std::string> names;
      for (const SmootherRow &row : results.rows)
        if (row.published != "none" && std::find(names.begin(), names.end(), row.published) == names.end())
          names.push_back(row.published);
      if (names.empty())
        return;
      std::ostringstream text;
      context.directory.record({"study_findings.csv"});
      on_rank_zero(context.comm, [&] {
        studies::Report report(text, context.directory.path("study_findings.csv"));
        for (const std::string &name : names)
          {
            std::vector<SmootherRow> rows;
            for (const SmootherRow &row : results.rows)
              if (row.published == name)
                rows.push_back(row);
            report_thesis_findings(name, rows, report);
          }
        report.finish();
      });
      context.log.line(text.str());
      results.text += text.str();
    }

    void run_case(const RunContext &context, const Parameters &parameters, const std::string &name, Results &results)
    {
      if (!name.empty())
        context.log.line("\ncase " + name + ": " +
                         (parameters.smoother_study.uses_stencil() ? parameters.smoother_study.stencil : parameters.problem->description()));
      for (const ProblemMaker &make : study_problems(parameters, context.comm))
        if (!stop_requested(context.comm))
          try
            {
              const StudyProblem problem = make();
              context.begin(file_names());
              run_competition(context, problem, parameters, name, results);
            }
          catch (const NotEnoughMemory &error)
            {
              const std::string text = "left out: " + std::string(error.what());
              context.log.warning(text);
              results.text += text + "\n";
            }
    }
  } // namespace

  void check_smoother_study(OpenMode mode, MPI_Comm comm)
  {
    const unsigned int n_ranks = dealii::Utilities::MPI::n_mpi_processes(comm);
    if (n_ranks > 1)
      throw Error("a study of smoothers is started on " + std::to_string(n_ranks) +
                  " ranks\n  expected: one; 'Linear solver/Threads' sets the threads");
    if (mode == OpenMode::resume)
      throw Error("a study of smoothers cannot be resumed\n  expected: --overwrite, to begin anew");
  }

  std::string run_smoother_study(const RunContext &context)
  {
    const Parameters &parameters = context.parameters;
    Results           results;
    if (parameters.cases.empty())
      run_case(context, parameters, "", results);
    for (std::size_t i = 0; i < parameters.cases.size(); ++i)
      run_case(context, parameters.cases[i], parameters.smoother_study.cases[i].name, results);
    const std::string winners  = text_of(winner_table(results.rows)),
                      sentence = (stop_requested(context.comm) ? "The study was stopped before its end. " : "") +
                                 (stop_requested(context.comm) && results.rows.empty() ? std::string() : conclusion(results.rows));
    context.log.line(winners + "\n" + sentence);
    results.text                            = sentence + "\n\n" + results.text + winners;
    context.provenance.json()["conclusion"] = sentence;
    context.provenance.write();
    if (!stop_requested(context.comm))
      compare_with_published(context, results);
    context.begin(file_names()); // if all was left out
    context.directory.record({"study.txt"});
    on_rank_zero(context.comm, [&] { write_file_atomically(context.directory.path("study.txt"), results.text); });
    return stop_requested(context.comm) ? stop_status() : "finished";
  }
} // namespace leopard
