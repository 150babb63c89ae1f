// SPDX-License-Identifier: Apache-2.0
#include "unused_constants.h"

#include "parameters.h"

#include <solvers/base/errors.h>

#include <deal.II/base/utilities.h>

#include <algorithm>

namespace leopard
{
  namespace
  {
    /** What is written in the file where constants are known, without 'Constants' itself. */
    std::vector<std::string> texts_of(const Parameters &parameters)
    {
      const std::string        section = parameters.problem->name() + "/";
      std::vector<std::string> texts;
      for (const auto &[entry, where] : parameters.given)
        if (entry.rfind(section, 0) == 0 && entry != section + "Constants" && entry != section + "Images" && entry != section + "Initial values from")
          texts.push_back(parameters.value(entry));
      for (const ComputedNumber &number : parameters.computed)
        texts.push_back(number.written);
      for (const SweepAxis &axis : parameters.sweep.axes)
        texts.insert(texts.end(), axis.values.begin(), axis.values.end());
      return texts;
    }

    /** The names of the constants that a run uses. */
    std::vector<std::string> used_constants(const Parameters &parameters)
    {
      std::vector<std::string> texts = texts_of(parameters), used;
      const auto               items = split_outside_parentheses(parameters.value(parameters.problem->name() + "/Constants"), ',');
      // later ones may use earlier ones
      for (auto item = items.rbegin(); item != items.rend(); ++item)
        {
          const auto        colon = item->find(':');
          const std::string name  = dealii::Utilities::trim(item->substr(0, colon));
          if (name.empty() || std::none_of(texts.begin(), texts.end(), [&](const std::string &text) { return is_named(name, text); }))
            continue;
          used.push_back(name);
          texts.push_back(item->substr(colon + 1));
        }
      return used;
    }

    /** The entry that sets what the kinetics calls by this name, or nothing. */
    std::string own_entry(const Parameters &parameters, const std::string &name)
    {
      const std::string section = parameters.problem->name() + "/";
      const std::string entry   = section + (section == "Turing/" ? parameters.value("Turing/Kinetics") + " " : "") + name;
      return parameters.value(entry).empty() ? "" : entry;
    }
  } // namespace

  std::vector<UnusedConstant> unused_constants(const Parameters &parameters)
  {
    std::vector<UnusedConstant> result;
    if (parameters.problem->pictures != nullptr)
      {
        const std::vector<std::string> texts = texts_of(parameters);
        for (const std::string &name : parameters.problem->pictures->names())
          if (std::none_of(texts.begin(), texts.end(), [&](const std::string &text) { return is_named(name, text); }))
            result.push_back({parameters.problem->name() + "/Images/" + name, "no expression of the run names it"});
      }
    if (parameters.problem->constants.empty())
      return result;
    std::vector<std::string> used = used_constants(parameters);
    for (const Parameters &c : parameters.cases)
      {
        const auto more = used_constants(c);
        used.insert(used.end(), more.begin(), more.end());
      }
    for (const auto &[name, value] : parameters.problem->constants)
      if (std::find(used.begin(), used.end(), name) == used.end())
        {
          const std::string own = own_entry(parameters, name);
          result.push_back(
            {parameters.problem->name() + "/Constants/" + name,
             "no expression or number of the run names it" + (own.empty() ? "" : "; the " + name + " of the problem is '" + own + "'")});
        }
    return result;
  }

  void check_swept_constants(const Parameters &parameters)
  {
    for (const UnusedConstant &constant : unused_constants(parameters))
      for (const SweepAxis &axis : parameters.sweep.axes)
        if (axis.entry == constant.entry)
          throw Error("'Run/Sweep' varies '" + axis.name + "', but " + constant.why +
                      ", so that all runs would be the same\n  expected: a constant that is used, or an entry");
  }
} // namespace leopard
