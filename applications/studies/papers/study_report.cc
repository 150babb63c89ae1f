// SPDX-License-Identifier: Apache-2.0
#include "study_report.h"

#include <solvers/base/errors.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <system_error>

namespace leopard::studies
{
  std::string cell(double value, const char *format)
  {
    if (std::isnan(value))
      return "-";
    char text[64];
    std::snprintf(text, sizeof(text), format, value);
    return text;
  }

  std::string cell(int value)
  {
    return std::to_string(value);
  }

  Table::Table(std::string title_, const std::vector<std::string> &columns)
    : title(std::move(title_))
    , rows(1, columns)
  {
  }

  void Table::add_row(std::vector<std::string> cells)
  {
    if (cells.size() != rows[0].size())
      throw InvalidInput("table '" + title + "': a row has " + std::to_string(cells.size()) +
                         " cells\n  expected: " + std::to_string(rows[0].size()));
    rows.push_back(std::move(cells));
  }

  void Table::write_text(std::ostream &out) const
  {
    std::vector<std::size_t> widths(rows[0].size(), 3);
    for (const auto &row : rows)
      for (std::size_t c = 0; c < row.size(); ++c)
        widths[c] = std::max(widths[c], row[c].size());
    out << '\n' << title << "\n\n";
    for (std::size_t r = 0; r < rows.size(); ++r)
      {
        for (std::size_t c = 0; c < widths.size(); ++c)
          out << "| " << std::string(widths[c] - rows[r][c].size(), ' ') << rows[r][c] << ' ';
        out << "|\n";
        if (r == 0)
          {
            for (const std::size_t width : widths)
              out << '|' << std::string(width + 1, '-') << ':';
            out << "|\n";
          }
      }
    out << '\n' << std::flush;
  }

  namespace
  {
    std::string quoted(const std::string &text)
    {
      if (text.find_first_of(",\"\n") == std::string::npos)
        return text;
      std::string result = "\"";
      for (const char c : text)
        result += c == '"' ? "\"\"" : std::string(1, c);
      return result + '"';
    }
  } // namespace

  void Table::write_csv(std::ostream &out) const
  {
    if (!title.empty())
      out << quoted(title) << '\n';
    for (const auto &row : rows)
      for (std::size_t c = 0; c < row.size(); ++c)
        out << quoted(row[c]) << (c + 1 < row.size() ? ',' : '\n');
    if (!title.empty())
      out << '\n';
  }

  Report::Report(std::ostream &out_, const std::string &path)
    : out(out_)
    , csv_path(path)
  {
    if (path.empty())
      return;
    is_new = !std::filesystem::exists(path);
    csv.open(path, std::ios::app); // what is there stays until there is a table
    if (!csv)
      throw Error("the file " + path + " cannot be written\n  expected: a path in a folder that exists and may be written to");
  }

  Report::~Report()
  {
    csv.close();
    std::error_code ignored;
    if (is_new && !has_table)
      std::filesystem::remove(csv_path, ignored);
  }

  void Report::write(const Table &table)
  {
    if (!has_table)
      {
        csv.close();
        csv.open(csv_path);
        has_table = true;
      }
    table.write_csv(csv);
  }

  void Report::say(const std::string &line)
  {
    out << line << '\n' << std::flush;
  }

  void Report::add(const Table &table)
  {
    table.write_text(out);
    if (csv.is_open())
      write(table);
  }

  void Report::finding(const std::string &source, const std::string &claim, bool holds, const std::string &measured)
  {
    findings.push_back({source, claim, measured, holds ? Verdict::holds : Verdict::does_not_hold});
  }

  void Report::undecided(const std::string &source, const std::string &claim, const std::string &why)
  {
    findings.push_back({source, claim, why, Verdict::undecided});
  }

  void Report::decide(const std::string &source, const std::string &claim, bool holds, const std::string &measured, const std::string &why_not)
  {
    if (why_not.empty())
      finding(source, claim, holds, measured);
    else
      undecided(source, claim, why_not);
  }

  std::string Limits::why_not(double ratio) const
  {
    if (!std::isfinite(ratio))
      return "no finite number was measured";
    for (const double limit : {least, most})
      if (std::abs(ratio / limit - 1.) < undecided_within)
        return "a ratio of " + cell(ratio, "%.3f") + ", within 5 percent of " + cell(limit, "%.3g") + ": nothing is decided";
    return "";
  }

  void Report::decide_times(const std::string         &source,
                            const std::string         &claim,
                            const Limits              &limits,
                            const std::vector<double> &ratios,
                            const std::string         &measured,
                            const std::string         &why_not)
  {
    std::string near = ratios.empty() ? "no finite number was measured" : "";
    bool        fits = true;
    for (const double ratio : ratios)
      if (const std::string why = limits.why_not(ratio); !why.empty())
        near = why;
      else
        fits = fits && limits.hold(ratio);
    // what is clearly outside decides, whatever the others are
    decide(source, claim, fits, measured, !why_not.empty() ? why_not : fits && !near.empty() ? near + "; measured " + measured : "");
  }

  void Report::finish()
  {
    Table table("Findings", {"source", "finding", "verdict", "measured"});
    for (const Finding &f : findings)
      {
        const char *verdict = f.verdict == Verdict::holds ? "holds" : f.verdict == Verdict::does_not_hold ? "does not hold" : "is not decided here";
        out << "finding" << (f.source.empty() ? "" : " of the paper (" + f.source + ")") << ": " << f.claim << ": " << verdict
            << (f.verdict == Verdict::undecided ? ": " : ": measured ") << f.measured << '\n';
        table.add_row({f.source, f.claim, verdict, f.measured});
      }
    out << std::flush;
    if (!csv.is_open())
      return;
    write(table);
    csv.close();
    if (!csv)
      throw Error("the file " + csv_path + " could not be written completely\n  expected: a disk that is not full");
  }
} // namespace leopard::studies
