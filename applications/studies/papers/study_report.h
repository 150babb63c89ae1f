// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fstream>
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

  /** Takes a study's text, tables and findings; writes text at once, and CSV to a file if there is one. */
  class Report
  {
  public:
    /** @param csv_path empty: no file. @throws Error if the file cannot be written. */
    Report(std::ostream &out, const std::string &csv_path);

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

    std::ostream        &out;
    std::string          csv_path;
    std::ofstream        csv;
    std::vector<Finding> findings;
  };
} // namespace leopard::studies
