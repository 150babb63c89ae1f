// SPDX-License-Identifier: Apache-2.0
#include "sweep.h"

#include <applications/base/arithmetic.h>
#include <applications/base/log.h>
#include <applications/base/parameter_file.h>

#include <solvers/base/errors.h>

#include <deal.II/base/parameter_handler.h>
#include <deal.II/base/utilities.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>

namespace leopard
{
  using namespace dealii;

  void SweepParameters::declare(ParameterHandler &prm)
  {
    using namespace Patterns;
    prm.enter_subsection("Run");
    prm.declare_entry(
      "Sweep",
      "",
      Anything(),
      "Repeats the run with all combinations of other values: 'ENTRY: VALUE, VALUE, ...; ENTRY: ...', for example 'gamma: 500, 1000; kappa: 8, "
      "10, 12'. An entry is named as Section/Entry, or by its name alone where only one section has it, a constant of the problem's 'Constants' by "
      "its name. Each run has a folder in "
      "'Directory'/runs; sweep.csv there compares them. Empty: one run.");
    prm.declare_entry("Sweep ranks per run",
                      "0",
                      Integer(0),
                      "Ranks that share a run of a sweep; as many runs go on at the same time as there are such groups. 0: all. Dimensionless.");
    prm.declare_entry(
      "Sweep runs at a time",
      "0",
      Integer(0, 1024),
      "Runs of a sweep that a rank does side by side. Their time steps run at the same time, on one GPU or each on a share of the rank's host "
      "threads, by the fused time loop; all else of them goes in turns. 0: as many as pay, which is 1 for the general time loop, large grids, "
      "runs with several ranks and a sweep over 'Threads'. A sweep that is to compare times needs 1. Dimensionless.");
    prm.declare_entry(
      "Sweep keeps",
      "all",
      Selection("all|measures"),
      "What the runs of a sweep leave in their folders. all: fields and checkpoints, as a single run; measures: neither of them, but the measures "
      "that sweep.csv compares, statistics and log, which takes less time where runs are small. --resume then has nothing to go on from: runs that "
      "have not finished, or that 'End time' now lets go further, begin anew; with all, so do those that have kept their measures only.");
    prm.leave_subsection();
  }

  namespace
  {
    const char *const expected_form = "\n  expected: ENTRY: VALUE, VALUE, ...; ENTRY: VALUE, ..., for example 'gamma: 500, 1000; kappa: 8, 10'";

    /** The path of the entry, or of the constant, that a user means. @throws Error. */
    std::string
    find_axis(ParameterHandler &prm, const std::string &name, const std::string &where, const std::string &section, const Constants &constants)
    {
      const auto is_constant = [&](const std::string &text) {
        return std::any_of(constants.begin(), constants.end(), [&](const auto &constant) { return constant.first == text; });
      };
      const std::string all = section + "/Constants/", path = all + name;
      if (name.rfind(all, 0) == 0 && is_constant(name.substr(all.size())))
        return name;
      if (!is_constant(name))
        return find_entry(prm, name, where);
      std::string entry;
      try
        {
          entry = find_entry(prm, name, where);
        }
      catch (const Error &)
        {
          return path; // there is no such entry
        }
      throw Error(where + ": '" + name + "' is a constant and an entry\n  expected: '" + path + "' or '" + entry + "'");
    }

    /** What a value stands for, however it is written. */
    std::string meaning(const std::string &value, const Constants &constants)
    {
      if (value == "yes" || value == "no")
        return value == "yes" ? "true" : "false";
      const std::string plain  = plain_number(value, constants);
      char             *end    = nullptr;
      const double      number = std::strtod(plain.c_str(), &end);
      return *end == '\0' && end != plain.c_str() ? format("%.17g", number + 0.) : value; // of -0: 0
    }

    SweepAxis read_axis(ParameterHandler &prm, const std::string &item, const std::string &section, const Constants &constants)
    {
      const std::string where = "'Run/Sweep'";
      const auto        colon = item.find(':');
      SweepAxis         axis;
      axis.name = Utilities::trim(item.substr(0, colon));
      if (colon == std::string::npos || axis.name.empty())
        throw Error(where + " has the item '" + item + "'" + expected_form);
      axis.entry  = find_axis(prm, axis.name, where, section, constants);
      axis.values = split_outside_parentheses(item.substr(colon + 1), ',');
      std::map<std::string, std::string> meanings; // of the values before
      for (const std::string &value : axis.values)
        {
          if (value.empty())
            throw Error(where + " names no value, or an empty one, for '" + axis.name + "'" + expected_form);
          const auto [before, is_new] = meanings.emplace(meaning(value, constants), value);
          if (!is_new)
            throw Error(where + " names the value " + value + " of '" + axis.name + "' twice" +
                        (before->second == value ? "" : ", first as " + before->second) + "\n  expected: each value once");
        }
      for (const char *fixed :
           {"Run/Sweep", "Run/Sweep ranks per run", "Run/Sweep runs at a time", "Run/Sweep keeps", "Run/Directory", "Run/Wall time"})
        if (axis.entry == fixed)
          throw Error(where + " varies '" + axis.entry + "', which all runs share\n  expected: entries that say what a run computes");
      return axis;
    }

    /**
     * Letters, digits and ._+-=, no more than 100; what is changed or cut is marked with a checksum (FNV-1a), so that
     * no two are the same.
     */
    std::string file_name(const std::string &text)
    {
      std::string   name;
      std::uint32_t hash = 2166136261U;
      for (const char c : text)
        {
          hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
          name += std::isalnum(static_cast<unsigned char>(c)) != 0 || std::string("._+-=").find(c) != std::string::npos ? c : '_';
        }
      return name == text && name.size() <= 100 ? name : name.substr(0, 100) + format("_%08x", hash);
    }
  } // namespace

  void SweepParameters::read(ParameterHandler &prm, const std::string &problem_section, const Constants &constants_)
  {
    constants = constants_;
    prm.enter_subsection("Run");
    const std::string text = Utilities::trim(prm.get("Sweep"));
    ranks_per_run          = prm.get_integer("Sweep ranks per run");
    at_a_time              = prm.get_integer("Sweep runs at a time");
    measures_only          = prm.get("Sweep keeps") == "measures";
    prm.leave_subsection();
    axes.clear();
    if (text.empty())
      return;
    for (const std::string &item : split_outside_parentheses(text, ';'))
      if (!item.empty())
        {
          axes.push_back(read_axis(prm, item, problem_section, constants));
          for (std::size_t i = 0; i + 1 < axes.size(); ++i)
            if (axes[i].entry == axes.back().entry)
              throw Error("'Run/Sweep' names the entry '" + axes.back().entry + "' twice\n  expected: all its values in one list");
        }
    constexpr double most   = 1e5; // all of them are checked before the first begins
    double           n_runs = 1.;
    for (const SweepAxis &axis : axes)
      n_runs *= static_cast<double>(axis.values.size());
    if (n_runs > most)
      throw Error("'Run/Sweep' makes " + format("%.4g", n_runs) + " runs\n  expected: at most " + format("%g", most) + " combinations");
  }

  std::vector<SweepRun> SweepParameters::runs() const
  {
    std::vector<SweepRun> all(1);
    for (const SweepAxis &axis : axes)
      {
        std::vector<SweepRun> extended;
        for (const SweepRun &run : all)
          for (const std::string &value : axis.values)
            {
              extended.push_back(run);
              SweepRun &next = extended.back();
              next.name += (next.name.empty() ? "" : ", ") + axis.name + "=" + value;
              next.values.push_back(plain_number(value, constants));
              next.overrides.push_back(axis.entry + "=" + value);
            }
        all.swap(extended);
      }
    for (SweepRun &run : all)
      run.folder = file_name(Utilities::replace_in_string(run.name, ", ", "_"));
    return all;
  }
} // namespace leopard
