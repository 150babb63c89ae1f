// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fstream>
#include <limits>
#include <ostream>
#include <string>
#include <vector>

namespace leopard::studies
{
  /** A number as a cell: printf format; "-" for what is not a number, as where nothing was published. */
  std::string cell(double value, const char *format = "%.4e");
  std::string cell(int value);

  /** What a study has measured, with the published values in columns beside. Cells are text. */
  class Table
  {
  public:
    Table(std::string title, const std::vector<std::string> &columns);

    /** @throws InvalidInput unless there is a cell a column. */
    void add_row(std::vector<std::string> cells);

    void write_text(std::ostream &out) const; ///< columns aligned, between bars (Markdown)
    void write_csv(
      std::ostream &out) const; ///< a line with the title, one with the columns, the rows, an empty line; without a title the columns and rows only

  private:
    std::string                           title;
    std::vector<std::vector<std::string>> rows; ///< the first: the columns
  };

  /** Whether a finding of a paper was met again. */
  enum class Verdict
  {
    holds,
    does_not_hold,
    undecided
  };

  /** What two runs may differ by: a measured time or energy that is as near to a limit, of itself, decides nothing. */
  constexpr double undecided_within = 0.05;

  /** Where a ratio of times, or of energies, has to be for a claim to hold. */
  struct Limits
  {
    double least = -std::numeric_limits<double>::infinity(), most = std::numeric_limits<double>::infinity();

    /** Never of what is not a number. */
    bool hold(double ratio) const { return ratio >= least && ratio <= most; }
    /** Why a ratio decides nothing: it is no finite number, or within 5 percent of a limit. Empty if it decides. */
    std::string why_not(double ratio) const;
  };

  /** Takes a study's text, tables and findings; writes text at once, and CSV to a file if there is one. */
  class Report
  {
  public:
    /**
     * @param csv_path empty: no file; the file is as it was until the first table. @throws Error if it cannot be
     * written.
     */
    Report(std::ostream &out, const std::string &csv_path);
    ~Report();
    Report(const Report &)            = delete;
    Report &operator=(const Report &) = delete;

    void say(const std::string &line);
    void add(const Table &table);

    /** Kept for finish(). @param source empty: no paper says so. @param measured the numbers that decided. */
    void finding(const std::string &source, const std::string &claim, bool holds, const std::string &measured);
    /** The same where nothing could be decided, and why not. */
    void undecided(const std::string &source, const std::string &claim, const std::string &why);
    /**
     * finding(), or undecided() if there is a reason why the claim could not have failed. @param why_not empty: none.
     */
    void decide(const std::string &source, const std::string &claim, bool holds, const std::string &measured, const std::string &why_not);
    /**
     * decide() for ratios of times, all of which have to be within the limits: one that is clearly outside refutes,
     * and where none is, one that is within 5 percent of a limit leaves it undecided. Without ratios nothing is
     * decided.
     */
    void decide_times(const std::string         &source,
                      const std::string         &claim,
                      const Limits              &limits,
                      const std::vector<double> &ratios,
                      const std::string         &measured,
                      const std::string         &why_not = "");

    /**
     * The findings, a sentence each: "finding of the paper (source): ... holds: measured ...". @throws Error if the
     * file could not be written.
     */
    void finish();

  private:
    struct Finding
    {
      std::string source, claim, measured;
      Verdict     verdict;
    };

    void write(const Table &table);

    std::ostream        &out;
    std::string          csv_path;
    std::ofstream        csv;
    bool                 is_new = false, has_table = false;
    std::vector<Finding> findings;
  };
} // namespace leopard::studies
