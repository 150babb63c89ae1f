// SPDX-License-Identifier: Apache-2.0
#include "sweep_table.h"

#include <applications/base/files.h>
#include <applications/base/log.h>

#include <applications/studies/papers/study_report.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>

namespace leopard
{
  using nlohmann::json;

  bool has_ended(const std::string &status)
  {
    return status == "finished" || status == "steady state";
  }

  namespace
  {
    /** Columns aligned to the right, two blanks between them. */
    std::string aligned(const std::vector<std::vector<std::string>> &table)
    {
      std::vector<std::size_t> width(table[0].size(), 0);
      for (const auto &row : table)
        for (std::size_t c = 0; c < row.size(); ++c)
          width[c] = std::max(width[c], row[c].size());
      std::string text;
      for (const auto &row : table)
        {
          for (std::size_t c = 0; c < row.size(); ++c)
            text += std::string(width[c] - row[c].size() + (c == 0 ? 0 : 2), ' ') + row[c];
          text += "\n";
        }
      return text;
    }
  } // namespace

  SweepTable::SweepTable(const RunDirectory &directory_, const std::vector<SweepAxis> &axes_, const std::vector<SweepRun> &runs_)
    : directory(directory_)
    , axes(axes_)
    , runs(runs_)
    , results(runs.size(), json::object())
  {
  }

  SweepTable::~SweepTable() = default;

  void SweepTable::write()
  {
    std::vector<std::string> measures; // the measures of all runs; those with other problems may have others
    for (std::size_t i = 0; i < runs.size(); ++i)
      {
        if (!has_ended(results[i].value("status", "")))
          {
            std::ifstream stream(directory.path("runs/" + runs[i].folder + "/run.json"));
            results[i] = json::parse(stream, nullptr, false);
            if (!results[i].is_object())
              results[i] = json::object();
          }
        for (const json &measure : results[i].value("measures", json::array()))
          if (std::find(measures.begin(), measures.end(), measure.at("name")) == measures.end())
            measures.push_back(measure.at("name"));
      }

    std::vector<std::vector<std::string>> table(1);
    table[0] = {"run"};
    for (const SweepAxis &axis : axes)
      table[0].push_back(axis.name);
    table[0].insert(table[0].end(), {"status", "seconds"});
    table[0].insert(table[0].end(), measures.begin(), measures.end());
    for (std::size_t i = 0; i < runs.size(); ++i)
      {
        std::string   status = results[i].value("status", "not started");
        std::ifstream claim(directory.path("claims/" + runs[i].folder));
        if (std::string failure; std::getline(claim, failure)) // before it could write anything
          status = failure;
        status                       = status.substr(0, status.find_first_of(":\n"));
        std::vector<std::string> row = {runs[i].folder};
        row.insert(row.end(), runs[i].values.begin(), runs[i].values.end());
        row.insert(row.end(), {status, format("%.1f", results[i].value("wall_seconds_in_all", results[i].value("wall_seconds", 0.)))});
        std::map<std::string, std::string> values;
        for (const json &measure : results[i].value("measures", json::array()))
          values[measure.at("name")] = measure.at("value").is_number() ? format("%.8g", measure.at("value").get<double>()) : "nan";
        for (const std::string &measure : measures)
          row.push_back(values[measure]);
        table.push_back(row);
      }

    studies::Table for_programs("", table[0]);
    for (std::size_t i = 1; i < table.size(); ++i)
      for_programs.add_row(table[i]);
    std::ostringstream csv;
    for_programs.write_csv(csv);
    write_file_atomically(directory.path("sweep.csv"), csv.str());
    write_file_atomically(directory.path("sweep.txt"), aligned(table));
  }
} // namespace leopard
