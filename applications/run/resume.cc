// SPDX-License-Identifier: Apache-2.0
#include "resume.h"

#include "entries.h"
#include "parameters.h"
#include "provenance.h"
#include "simulation.h"

#include <applications/base/collective.h>
#include <applications/base/log.h>
#include <applications/base/parameter_file.h>
#include <applications/base/run_directory.h>
#include <applications/discretization/periodic_boundary.h>
#include <applications/output/vtu_file.h>
#include <solvers/base/errors.h>

#include <deal.II/base/mpi.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>

namespace leopard
{
  using nlohmann::json;

  namespace
  {
    /** A number, a word, or another character. */
    struct Token
    {
      std::string text;
      bool        is_number = false;
      double      number    = 0.;

      bool operator==(const Token &other) const { return is_number == other.is_number && (is_number ? number == other.number : text == other.text); }
    };

    std::vector<Token> tokens_of(const std::string &text)
    {
      const auto         is_digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
      const auto         is_word  = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
      std::vector<Token> tokens;
      for (std::size_t i = 0, n = 1; i < text.size(); i += n)
        {
          n = 1;
          if (std::isspace(static_cast<unsigned char>(text[i])) != 0)
            continue;
          Token token;
          if (is_digit(text[i]) || (text[i] == '.' && i + 1 < text.size() && is_digit(text[i + 1])))
            {
              char *end       = nullptr;
              token.is_number = true;
              token.number    = std::strtod(&text[i], &end);
              n               = end - &text[i];
            }
          else
            while (is_word(text[i]) && i + n < text.size() && is_word(text[i + n]))
              ++n;
          token.text = text.substr(i, n);
          tokens.push_back(token);
        }
      return tokens;
    }

    /** A list of equal numbers as one number. */
    std::vector<Token> without_repetition(const std::vector<Token> &tokens)
    {
      for (std::size_t i = 0; i < tokens.size(); ++i)
        if (i % 2 == 0 ? !(tokens[i].is_number && tokens[i] == tokens[0]) : tokens[i].text != ",")
          return tokens;
      return tokens.size() % 2 == 0 ? tokens : std::vector<Token>{tokens[0]};
    }

    /** Whether they name the same constants with the same values, in whatever order and by whatever arithmetic. */
    bool same_constants(const std::string &a, const std::string &b)
    {
      try
        {
          const auto values = [](const std::string &text) {
            const Constants constants = read_constants("Constants", text);
            return std::map<std::string, double>(constants.begin(), constants.end());
          };
          return values(a) == values(b);
        }
      catch (const Error &) // of another version, perhaps
        {
          return false;
        }
    }

    /** Name and checksum of the mesh file; null without one. Collective. */
    json mesh_file(const Parameters &parameters, MPI_Comm comm)
    {
      return parameters.mesh.file.empty()
               ? json()
               : json{{"path", parameters.mesh.file}, {"checksum", checksum_of_text(read_file(parameters.mesh.file, comm))}};
    }

    /** Checksum of each file of 'Turing/Images' by its path, of a .pvtu those of its pieces. Collective. */
    json picture_files(const Parameters &parameters, MPI_Comm comm)
    {
      json result = json::object();
      if (parameters.problem->pictures != nullptr)
        for (std::size_t i = 0; i < parameters.problem->pictures->paths().size(); ++i)
          {
            const std::string &path = parameters.problem->pictures->paths()[i];
            for (const std::string &file : parameters.problem->pictures->field(i).empty() ? std::vector<std::string>{path} : files_of_vtu(path))
              result[file] = checksum_of_text(read_file(file, comm));
          }
      return result;
    }

    /** Whether the run is to end before the checkpoint. */
    std::string why_too_short(const Parameters &parameters, const Checkpoints::Found &found)
    {
      if (parameters.problem->time_dependent())
        return parameters.time.end_time < found.metadata->at("time")
                 ? format(", but the run is at time %.8g", found.metadata->at("time").get<double>())
                 : "";
      return parameters.n_cycles() < found.step + 1 ? ", but the run has done " + std::to_string(found.step + 1) + " of its cycles" : "";
    }
  } // namespace

  std::string describe(const ChangedEntry &change)
  {
    return "'" + change.entry + "' is " + (change.now.empty() ? "empty" : change.now) + ", and was " +
           (change.before.empty() ? "empty" : change.before);
  }

  bool same_value(const std::string &a, const std::string &b)
  {
    return without_repetition(tokens_of(a)) == without_repetition(tokens_of(b));
  }

  namespace
  {
    /** What `automatic` stands for, where all other entries that it depends on are as they are now. */
    std::string meaning(const std::string &entry, const std::string &value, const Parameters &now)
    {
      if (entry == "Mesh/Periodic")
        return names_of_directions(periodic_directions(value, now.dimension));
      if (value != "automatic")
        return value;
      const Problem &problem = *now.problem;
      if (entry == "Discretization/Method")
        return now.discretization.automatic_method(now.mesh, problem.time_dependent() || problem.has_reaction());
      if (entry.rfind(problem.name() + "/Boundary values", 0) == 0 && problem.exact_solution.empty())
        return "*: 0";
      return value;
    }
  } // namespace

  std::string content_of(const std::string &path)
  {
    std::ifstream      stream(path);
    std::ostringstream text;
    text << stream.rdbuf();
    return text.str();
  }

  std::vector<ChangedEntry> changed_entries(const std::string &all_entries_before, const Parameters &now)
  {
    std::map<std::string, std::string> before;
    for (const auto &[entry, value] : assignments_of(all_entries_before))
      before[entry] = value;
    std::vector<ChangedEntry> changes;
    for (const auto &[entry, value] : assignments_of(now.all_entries))
      if (const auto old = before.find(entry);
          entry != "Mesh/File" && old != before.end() && !(entry == now.problem->name() + "/Constants" && same_constants(old->second, value)) &&
          !same_value(meaning(entry, old->second, now), meaning(entry, value, now)) && why_not_used(entry, {now}).empty())
        changes.push_back({entry, old->second, value});
    return changes;
  }

  std::string changed_mesh_file(const Parameters &now, const json &before, MPI_Comm comm)
  {
    const json mesh = mesh_file(now, comm);
    if (mesh.is_null() || (before.is_object() && before.contains("checksum") && mesh["checksum"] == before["checksum"]))
      return "";
    return "the mesh file '" + now.mesh.file + "' has another content than " +
           (before.is_object() ? "that of the run had, '" + before.value("path", "") + "'" : "may be: its checksum was not kept");
  }

  std::string changed_pictures(const Parameters &now, const json &before, MPI_Comm comm)
  {
    const json files = picture_files(now, comm);
    for (const auto &[path, checksum] : files.items())
      if (!before.is_object() || std::none_of(before.begin(), before.end(), [&](const json &other) { return other == checksum; }))
        return "the file '" + path + "' of 'Turing/Images' has another content than it had in the run";
    return "";
  }

  bool Beginning::has_changed(const std::vector<std::string> &entries) const
  {
    return std::any_of(changes.begin(), changes.end(), [&](const ChangedEntry &change) {
      return std::find(entries.begin(), entries.end(), change.entry) != entries.end();
    });
  }

  namespace
  {
    /** What the folder of a run without a checkpoint says it was begun with, as a checkpoint's metadata. Collective. */
    json begun_with(const RunDirectory &directory, MPI_Comm comm)
    {
      const auto content = [&](const char *name) {
        return dealii::Utilities::MPI::broadcast(comm, dealii::Utilities::MPI::this_mpi_process(comm) == 0 ? content_of(directory.path(name)) : "");
      };
      json       result = {{"parameters", content("parameters_all.prm")}};
      const json report = json::parse(content("run.json"), nullptr, false);
      for (const char *key : {"mesh_file", "pictures"})
        if (report.is_object() && report.contains(key))
          result[key] = report[key];
      return result;
    }
  } // namespace

  Beginning find_beginning(RunDirectory &directory, const Parameters &parameters, Log &log, MPI_Comm comm)
  {
    Beginning beginning;
    beginning.checkpoint       = Checkpoints(directory, comm).newest(log);
    const auto       &found    = beginning.checkpoint;
    const json        metadata = found ? *found->metadata : begun_with(directory, comm);
    const std::string where    = "the run in '" + directory.path() + "' " +
                              (found ? "cannot go on from its checkpoint '" + found->directory + "'" : "has no checkpoint yet and cannot begin anew");
    if (!metadata.contains("parameters"))
      throw Error(where + ": it does not say with which parameters it was made\n  expected: a checkpoint of this version; --overwrite to start anew");
    std::string mistakes;
    for (const ChangedEntry &change : changed_entries(metadata.at("parameters"), parameters))
      {
        const OnResume allowed = on_resume(change.entry, parameters.problem->time_dependent());
        if (allowed == OnResume::fixed)
          mistakes += "\n  " + describe(change);
        else if (allowed == OnResume::further && found && !why_too_short(parameters, *found).empty())
          mistakes += "\n  " + describe(change) + why_too_short(parameters, *found);
        beginning.changes.push_back(change);
      }
    const bool names_files = found || metadata.contains("mesh_file"); // else it was killed before it had looked at them
    if (mistakes.empty() && names_files)                              // another domain is named already
      if (const std::string change = changed_mesh_file(parameters, metadata.value("mesh_file", json()), comm); !change.empty())
        mistakes += "\n  " + change;
    if (mistakes.empty() && names_files)
      if (const std::string change = changed_pictures(parameters, metadata.value("pictures", json()), comm); !change.empty())
        mistakes += "\n  " + change;
    if (!mistakes.empty())
      throw Error(where + " with these parameters:" + mistakes +
                  "\n  expected: the values that it was made with; --overwrite to start anew, or another 'Run/Directory'");
    return beginning;
  }

  void require_kind_of_run(const RunDirectory &directory, bool sweep, MPI_Comm comm)
  {
    on_rank_zero(comm, [&] {
      std::ifstream stream(directory.path("run.json"));
      const json    content = json::parse(stream, nullptr, false);
      if (content.is_object() && content.contains("runs") != sweep)
        throw std::runtime_error("in '" + directory.path() + "' there is " + (sweep ? "a single run, and a sweep" : "a sweep, and a single run") +
                                 " is to go on there\n  expected: the same 'Run/Sweep' as before, or another 'Run/Directory'");
    });
  }

  void report_changes(const RunContext &context)
  {
    context.provenance.json()["mesh_file"] = mesh_file(context.parameters, context.comm);
    if (const json pictures = picture_files(context.parameters, context.comm); !pictures.empty())
      context.provenance.json()["pictures"] = pictures;
    if (context.mode != OpenMode::resume)
      return;
    const auto &checkpoint = context.beginning.checkpoint;
    if (!checkpoint)
      context.log.line("no checkpoint is there: the run begins anew");
    json        all = checkpoint ? checkpoint->metadata->value("changes", json::array()) : json::array();
    std::string text;
    for (const auto &[entry, before, now] : context.beginning.changes)
      {
        all.push_back({{"step", checkpoint ? checkpoint->step : 0}, {"entry", entry}, {"before", before}, {"now", now}});
        text += (text.empty() ? "" : ", ") + ("'" + entry + "' from " + before + " to " + now);
      }
    context.provenance.json()["changed_on_resume"] = all;
    if (checkpoint && checkpoint->metadata->contains("initial_values"))
      context.provenance.json()["initial_values"] = checkpoint->metadata->at("initial_values");
    if (!text.empty())
      context.log.line("changed on resume: " + text);
  }

  json resume_metadata(const RunContext &context)
  {
    const json &report   = context.provenance.json();
    json        metadata = {{"parameters", context.parameters.all_entries},
                            {"mesh_file", report.at("mesh_file")},
                            {"pictures", report.value("pictures", json::object())},
                            {"wall_seconds", context.provenance.seconds_in_all()},
                            {"changes", report.value("changed_on_resume", json::array())}};
    if (report.contains("initial_values"))
      metadata["initial_values"] = report.at("initial_values");
    return metadata;
  }
} // namespace leopard
