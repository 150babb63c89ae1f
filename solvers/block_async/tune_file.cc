// SPDX-License-Identifier: Apache-2.0
// The file of a tuned choice.
#include "../base/errors.h"
#include "../base/kind_of_file.h"
#include "../base/whole_file.h"
#include "../base/words.h"
#include "names.h"
#include "tune.h"

#include <nlohmann/json.hpp>

#include <cerrno>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <limits>
#include <set>
#include <system_error>
#include <utility>

namespace leopard
{
  namespace
  {
    using Json = nlohmann::ordered_json;

    constexpr int version = 1;

    const Names<BlockShape> shapes   = names_of({BlockShape::contiguous, BlockShape::rcm, BlockShape::metis});
    const Names<Backend>    backends = names_of({Backend::reference, Backend::host, Backend::cuda});
    const Names<Storage>    storages =
      names_of({Storage::automatic, Storage::double_precision, Storage::single_precision, Storage::bfloat16, Storage::dictionary});

    /** Puts the values in an object; the counterpart of Reader. */
    class Writer
    {
    public:
      template <typename T>
      void value(const char *key, const T &found)
      {
        object[key] = found;
      }

      template <typename Enum>
      void choice(const char *key, const Enum &found, const Names<Enum> & /*names*/)
      {
        object[key] = to_string(found);
      }

      Json object = Json::object();
    };

    /** Takes the values out of an object; afterwards none may be left. */
    class Reader
    {
    public:
      Reader(const std::string &path_, const Json &object_, std::string prefix_)
        : path(path_)
        , object(object_)
        , prefix(std::move(prefix_))
      {
        if (!object.is_object())
          refuse(prefix.empty() ? "the file" : "the key '" + prefix.substr(0, prefix.size() - 1) + "'",
                 shown(object),
                 "an object { ... } of keys and values");
      }

      [[noreturn]] void refuse(const std::string &what, const std::string &found, const std::string &expected) const
      {
        throw InvalidInput(path + ": " + what + " is " + found + "\n  expected: " + expected);
      }

      static std::string shown(const Json &value)
      {
        const std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
        return text.size() <= 60 ? text : text.substr(0, 60) + "...";
      }

      const Json &at(const std::string &key, const std::string &expected)
      {
        known.insert(key);
        if (!object.contains(key))
          refuse("the key '" + prefix + key + "'", "missing", expected);
        return object.at(key);
      }

      void value(const std::string &key, double &result)
      {
        const Json &found = at(key, "a number");
        if (!found.is_number() || !std::isfinite(found.get<double>()))
          wrong(key, found, "a finite number");
        result = found.get<double>();
      }

      void value(const std::string &key, bool &result)
      {
        const Json &found = at(key, "true or false");
        if (!found.is_boolean())
          wrong(key, found, "true or false");
        result = found.get<bool>();
      }

      void value(const std::string &key, int &result) { result = integer(key, at(key, "a whole number")); }

      void value(const std::string &key, std::uint64_t &result)
      {
        const Json &found = at(key, "a whole number >= 0");
        if (!found.is_number_unsigned())
          wrong(key, found, "a whole number >= 0");
        result = found.get<std::uint64_t>();
      }

      void value(const std::string &key, std::vector<int> &result)
      {
        const Json &found = at(key, "a list of whole numbers");
        if (!found.is_array())
          wrong(key, found, "a list of whole numbers");
        result.clear();
        for (const Json &element : found)
          result.push_back(integer(key, element));
      }

      template <typename Enum>
      void choice(const std::string &key, Enum &result, const Names<Enum> &names)
      {
        std::string all;
        for (const auto &[name, candidate] : names)
          all += (all.empty() ? "" : candidate == names.back().second ? " or " : ", ") + ("\"" + name + "\"");
        const Json &found = at(key, all);
        for (const auto &[name, candidate] : names)
          if (found == name)
            {
              result = candidate;
              return;
            }
        wrong(key, found, all);
      }

      void no_more() const
      {
        for (const auto &item : object.items())
          if (known.count(item.key()) == 0)
            throw InvalidInput(path + ": the key '" + prefix + item.key() + "' is unknown\n  expected: only the keys that write_choice() writes");
      }

    private:
      [[noreturn]] void wrong(const std::string &key, const Json &found, const std::string &expected) const
      {
        refuse("the key '" + prefix + key + "'", shown(found), expected);
      }

      int integer(const std::string &key, const Json &found) const
      {
        constexpr auto smallest = std::numeric_limits<int>::min(), largest = std::numeric_limits<int>::max();
        const bool     fits = found.is_number_unsigned() ? found.get<std::uint64_t>() <= static_cast<std::uint64_t>(largest)
                                                         : found.is_number_integer() && found.get<std::int64_t>() >= smallest;
        if (!fits)
          wrong(key, found, "a whole number (of 32 bits)");
        return found.get<int>();
      }

      const std::string    &path;
      const Json           &object;
      const std::string     prefix;
      std::set<std::string> known;
    };

    /** All that a choice consists of, in the order of the file. */
    template <typename Archive, typename Choice>
    void transfer(Archive &archive, Choice &choice)
    {
      auto &o = choice.options;
      archive.choice("shape", choice.shape, shapes);
      archive.choice("backend", o.backend, backends);
      archive.choice("schedule", o.schedule, schedule_names());
      archive.choice("execution", o.execution, execution_names());
      archive.choice("storage", o.storage, storages);
      archive.value("block_size", o.block_size);
      archive.choice("overlap", o.overlap, overlap_names());
      archive.value("overlap_percent", o.overlap_percent);
      archive.value("local_iterations", o.local_iterations);
      archive.value("local_iterations_per_block", o.local_iterations_per_block);
      archive.value("omega", o.omega);
      archive.value("block_omega", o.block_omega);
      archive.value("l1_weights", o.l1_weights);
      archive.value("momentum", o.momentum);
      archive.value("n_threads", o.n_threads);
      archive.value("seed", o.seed);
      archive.value("seconds_a_digit", choice.seconds_a_digit);
    }

    Json parsed(const std::string &path)
    {
      if (const std::string kind = why_no_regular_file(path); !kind.empty())
        throw InvalidInput(path + ": this is " + kind + "\n  expected: a file that write_choice() wrote");
      std::ifstream file(path, std::ios::binary);
      if (!file)
        throw InvalidInput(path + ": the file cannot be opened: " + std::generic_category().message(errno) +
                           "\n  expected: a file that write_choice() wrote");
      std::string text;
      try
        {
          text.assign(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
        }
      catch (const std::ios_base::failure &)
        {
          throw InvalidInput(path + ": the file cannot be read\n  expected: a file that write_choice() wrote");
        }

      const auto last = text.find_last_not_of(" \t\r\n");
      if (last == std::string::npos)
        throw InvalidInput(path + ": the file is empty\n  expected: a file that write_choice() wrote");
      if (text[last] != '}')
        throw InvalidInput(path +
                           ": the file does not end with a closing brace: it is cut off, or something was added\n  expected: all of a file that "
                           "write_choice() wrote");
      constexpr int                      deepest = 3; // what is nested without end would overflow the stack of all that is recursive
      std::vector<std::set<std::string>> keys;        // of the objects that are open
      const auto                         check_keys = [&](int depth, Json::parse_event_t event, Json &value) {
        if (depth > deepest)
          throw InvalidInput(path + ": there are more than " + std::to_string(deepest) +
                             " lists or objects within one another\n  expected: a file that write_choice() wrote");
        if (event == Json::parse_event_t::object_start)
          keys.emplace_back();
        else if (event == Json::parse_event_t::object_end)
          keys.pop_back();
        else if (event == Json::parse_event_t::key && !keys.back().insert(value.get<std::string>()).second)
          throw InvalidInput(path + ": the key '" + value.get<std::string>() + "' stands there twice\n  expected: each key once");
        return true;
      };
      try
        {
          return Json::parse(text, check_keys);
        }
      catch (const Json::exception &problem)
        {
          std::string       what    = problem.what();
          const std::string id_ends = "] ";
          if (const auto id = what.find(id_ends); id != std::string::npos)
            what.erase(0, id + id_ends.size());
          for (char &c : what) // the message shows what was found, which may be no text at all
            if (static_cast<unsigned char>(c) >= 0x80)
              c = '?';
          throw InvalidInput(path + ": this is not JSON: " + what + "\n  expected: a file that write_choice() wrote");
        }
    }
  } // namespace

  void write_choice(const TunedChoice &choice, const CrsMatrix<double> &A, const std::string &path)
  {
    choice.options.validate();
    if (!std::isfinite(choice.seconds_a_digit))
      throw InvalidInput(path + ": not written, as seconds_a_digit is " + short_text(choice.seconds_a_digit) + "\n  expected: a finite number");
    if (!choice.options.block_offsets.empty())
      throw InvalidInput(path + ": not written, as the options have block_offsets\n  expected: none; they follow from the shape of the blocks");
    Writer file, matrix, options;
    matrix.value("rows", A.n_rows);
    matrix.value("entries", A.n_entries());
    transfer(options, choice);
    file.value("leopard_choice", version);
    file.value("matrix", matrix.object);
    file.value("choice", options.object);
    write_whole(path, file.object.dump(2) + "\n");
  }

  TunedChoice read_choice(const std::string &path, const CrsMatrix<double> &A)
  {
    const Json json = parsed(path);
    Reader     file(path, json, "");
    int        found_version = 0, n_rows = 0, n_entries = 0;
    file.value("leopard_choice", found_version);
    if (found_version != version)
      file.refuse("the key 'leopard_choice' (the version of the format)", std::to_string(found_version), std::to_string(version));
    Reader matrix(path, file.at("matrix", "an object with rows and entries"), "matrix.");
    Reader options(path, file.at("choice", "an object with the options"), "choice.");
    file.no_more();
    matrix.value("rows", n_rows);
    matrix.value("entries", n_entries);
    matrix.no_more();
    TunedChoice choice;
    transfer(options, choice);
    options.no_more();
    if (n_rows != A.n_rows)
      file.refuse("the key 'matrix.rows'", std::to_string(n_rows), std::to_string(A.n_rows) + ", the rows of the matrix at hand; tune anew for it");
    if (n_entries != A.n_entries())
      file.refuse("the key 'matrix.entries'",
                  std::to_string(n_entries),
                  std::to_string(A.n_entries()) + ", the entries of the matrix at hand; tune anew for it");
    try
      {
        choice.options.validate();
      }
    catch (const InvalidInput &problem)
      {
        throw InvalidInput(path + ": " + problem.what());
      }
    if (choice.seconds_a_digit < 0.)
      file.refuse("the key 'choice.seconds_a_digit'", short_text(choice.seconds_a_digit), "a number >= 0");
    return choice;
  }
} // namespace leopard
