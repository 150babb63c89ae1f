// SPDX-License-Identifier: Apache-2.0
#include "smoother_choice.h"

#include "list_syntax.h"

#include <solvers/base/errors.h>
#include <solvers/base/words.h>
#include <solvers/block_async/names.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <limits>
#include <set>

namespace leopard
{
  namespace
  {
    /** A value of an option, with all that a message on it needs. */
    struct Value
    {
      const std::string &entry, &smoother, &option, &text;

      [[noreturn]] void reject(const std::string &expected) const
      {
        throw Error("'" + entry + "' has '" + smoother + "', where " + option + " is '" + text + "'\n  expected: " + expected);
      }

      double number() const
      {
        char        *end    = nullptr;
        const double result = std::strtod(text.c_str(), &end);
        if (text.empty() || *end != '\0' || !(std::abs(result) < 1e300))
          reject("a number");
        return result;
      }

      int integer() const
      {
        const double result = number();
        if (result != static_cast<int>(result))
          reject("an integer");
        return static_cast<int>(result);
      }

      template <typename Choice>
      Choice one_of(const std::vector<std::pair<std::string, Choice>> &choices) const
      {
        std::string names;
        for (const auto &[name, choice] : choices)
          {
            if (name == text)
              return choice;
            names += (names.empty() ? "" : ", ") + name;
          }
        reject("one of " + names);
      }
    };

    struct Option
    {
      std::string                         name;
      std::function<bool(const Method &)> is_of; ///< empty: of all methods
      std::string                         meaning;
      void (*set)(SmootherChoice &, const Value &);
    };

    const std::vector<Option> &options()
    {
      static const std::vector<Option> all = {
        {"merged",
         {},
         "iterations that make one smoothing step",
         [](SmootherChoice &s, const Value &v) { s.options.iterations_per_step = v.integer(); }},
        {"backend",
         {},
         "host or cuda",
         [](SmootherChoice &s, const Value &v) {
           s.backend = v.one_of(names_of({Backend::host, Backend::cuda}));
         }},
        {"omega", &Method::has_omega, "relaxation factor", [](SmootherChoice &s, const Value &v) { s.options.omega = v.number(); }},
        {"k",
         &Method::has_blocks,
         "local iterations",
         [](SmootherChoice &s, const Value &v) { s.options.block_async.local_iterations = v.integer(); }},
        {"block", &Method::has_blocks, "rows a block", [](SmootherChoice &s, const Value &v) { s.options.block_async.block_size = v.integer(); }},
        {"shape",
         &Method::has_blocks,
         "of blocks: contiguous, tiles or metis",
         [](SmootherChoice &s, const Value &v) {
           s.options.block_shape = v.one_of(names_of({BlockShape::contiguous, BlockShape::tiles, BlockShape::metis}));
         }},
        {"schedule",
         &Method::has_blocks,
         "chaotic, synchronous or replay",
         [](SmootherChoice &s, const Value &v) { s.options.block_async.schedule = v.one_of(schedule_names()); }},
        {"l1",
         &Method::has_blocks,
         "l1 weights, true or false",
         [](SmootherChoice &s, const Value &v) {
           s.options.block_async.l1_weights = v.one_of<bool>({{"true", true}, {"false", false}});
         }},
        {"overlap",
         &Method::has_blocks,
         "of blocks, percent of their rows",
         [](SmootherChoice &s, const Value &v) {
           s.options.block_async.overlap_percent = v.number();
           s.options.block_async.overlap         = Overlap::uniform;
         }},
        {"lambda_min",
         &Method::has_interval,
         "lower end of the interval",
         [](SmootherChoice &s, const Value &v) { s.options.chebyshev.lambda_min = v.number(); }},
        {"lambda_max", &Method::has_interval, "upper end of the interval", [](SmootherChoice &s, const Value &v) {
           s.options.chebyshev.lambda_max = v.number();
         }}};
      return all;
    }
  } // namespace

  Backend SmootherChoice::backend_in(Backend study) const
  {
    return backend.value_or(find_method(options.method).runs_on(study, as_smoother) ? study : Backend::host);
  }

  SmootherChoice parse_smoother(const std::string &entry, const std::string &text)
  {
    const NamedSettings call = parse_call(entry, text);
    SmootherChoice      choice;
    choice.text                           = text;
    choice.options.method                 = call.name;
    const Method                  *method = lookup_method(call.name, as_smoother);
    const std::vector<std::string> names  = method_names(as_smoother);
    if (method == nullptr)
      throw Error("'" + entry + "' has the smoother '" + call.name + "'" + did_you_mean(call.name, names) + "\n  expected: one of " + joined(names));
    std::vector<std::string> known;
    for (const Option &option : options())
      if (!option.is_of || option.is_of(*method))
        known.push_back(option.name);
    std::set<std::string> given;
    for (const auto &[name, value] : call.settings)
      {
        if (std::find(known.begin(), known.end(), name) == known.end())
          throw Error("'" + entry + "' has '" + text + "': " + call.name + " has no option '" + name + "'" + did_you_mean(name, known) +
                      "\n  expected: one of " + joined(known));
        if (!given.insert(name).second)
          throw Error("'" + entry + "' has '" + text + "': the option " + name + " is given twice\n  expected: each option once");
        for (const Option &option : options())
          if (option.name == name)
            option.set(choice, {entry, text, name, value});
      }
    choice.options.any_block_size = given.count("block") == 0;
    try
      {
        choice.options.validate();
      }
    catch (const InvalidInput &error)
      {
        throw Error("'" + entry + "' has '" + text + "': " + error.what());
      }
    if (choice.backend && !method->runs_on(*choice.backend, as_smoother))
      throw Error("'" + entry + "' has '" + text + "', but " + call.name + " does not run on " + to_string(*choice.backend) +
                  "\n  expected: backend=host, or another smoother");
    return choice;
  }

  std::string smoother_syntax()
  {
    std::string text = "names of " + joined(method_names(as_smoother)) + "; options in brackets, as async(k=5, merged=2):";
    for (const Option &option : options())
      {
        text += (option.name == "merged" ? " " : "; ") + option.name + " (" + option.meaning;
        if (option.is_of)
          text += "; of " + joined(method_names(as_smoother, option.is_of));
        text += ")";
      }
    return text;
  }
} // namespace leopard
