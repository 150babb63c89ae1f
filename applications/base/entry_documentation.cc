// SPDX-License-Identifier: Apache-2.0
#include "entry_documentation.h"

#include <deal.II/base/parameter_handler.h>
#include <deal.II/base/utilities.h>

#include <nlohmann/json.hpp>

#include <sstream>

namespace leopard
{
  using dealii::Utilities::trim;

  namespace
  {
    /** A name that deal.II has mangled: what is no letter or digit is "_" and two hexadecimal digits. */
    std::string demangled(const std::string &name)
    {
      std::string result;
      for (std::size_t i = 0; i < name.size(); ++i)
        if (name[i] == '_' && i + 2 < name.size())
          {
            result += static_cast<char>(std::stoi(name.substr(i + 1, 2), nullptr, 16));
            i += 2;
          }
        else
          result += name[i];
      return result;
    }

    void collect(const nlohmann::ordered_json &node, const std::vector<std::string> &sections, std::vector<DeclaredEntry> &entries)
    {
      for (const auto &[name, child] : node.items())
        {
          std::vector<std::string> path = sections;
          path.push_back(demangled(name));
          if (child.contains("value") && child.at("value").is_string() && child.contains("pattern_description"))
            entries.push_back({path,
                               "",
                               child.at("default_value").get<std::string>(),
                               child.at("documentation").get<std::string>(),
                               child.at("pattern_description").get<std::string>()});
          else if (child.is_object())
            collect(child, path, entries);
        }
    }

    /** "a number >= 0 and <= 1" of "[Double 0...1 (inclusive)]", "a number, or tau" of "[Double or tau]". */
    std::string number_in_words(const std::string &kind, const std::string &pattern)
    {
      std::string text   = kind == "Integer" ? "an integer" : "a number";
      const auto  middle = pattern.find("...");
      if (const auto word = pattern.find(" or "); word != std::string::npos && middle == std::string::npos)
        return text + ", or " + pattern.substr(word + 4, pattern.find(']') - word - 4);
      if (middle == std::string::npos)
        return text;
      const auto        begin = pattern.find_last_of(" ", middle) + 1, end = pattern.find(' ', middle);
      const std::string low = pattern.substr(begin, middle - begin), high = pattern.substr(middle + 3, end - middle - 3);
      const bool        has_low  = low.find("MAX") == std::string::npos && low != "-2147483648";
      const bool        has_high = high.find("MAX") == std::string::npos && high != "2147483647";
      if (has_low)
        text += low == "1e-300" ? " above 0" : " >= " + low;
      if (has_high)
        text += std::string(has_low ? " and" : "") + " <= " + high;
      if (const auto other = pattern.find(" or "); other != std::string::npos)
        text += ", or " + pattern.substr(other + 4, pattern.find(']') - other - 4);
      return text;
    }

    /** Lines of at most so many characters. */
    std::string wrapped(const std::string &text, const std::string &begin)
    {
      constexpr std::size_t most = 100;
      std::istringstream    words(text);
      std::string           result, line;
      for (std::string word; words >> word;)
        {
          if (!line.empty() && line.size() + word.size() >= most)
            {
              result += begin + line + "\n";
              line.clear();
            }
          line += (line.empty() ? "" : " ") + word;
        }
      return result + begin + line + "\n";
    }
  } // namespace

  std::string DeclaredEntry::name() const
  {
    std::string text;
    for (const std::string &part : path)
      text += (text.empty() ? "" : "/") + part;
    return text;
  }

  std::vector<DeclaredEntry> entries_of(dealii::ParameterHandler &prm)
  {
    std::ostringstream stream;
    prm.print_parameters(stream, dealii::ParameterHandler::JSON | dealii::ParameterHandler::KeepDeclarationOrder);
    std::vector<DeclaredEntry> all, result;
    std::string                text = stream.str();
    for (char &c : text)
      c = static_cast<unsigned char>(c) < 128 ? c : '?'; // a value may be no UTF-8; values are read below
    collect(nlohmann::ordered_json::parse(text), {}, all);
    for (DeclaredEntry &entry : all)
      {
        for (std::size_t i = 0; i + 1 < entry.path.size(); ++i)
          prm.enter_subsection(entry.path[i]);
        entry.value = prm.get(entry.path.back());
        for (std::size_t i = 0; i + 1 < entry.path.size(); ++i)
          prm.leave_subsection();
      }
    for (const bool in_section : {false, true})
      for (const DeclaredEntry &entry : all)
        if ((entry.path.size() > 1) == in_section)
          result.push_back(entry);
    return result;
  }

  std::vector<std::string> choices_of(const std::string &pattern)
  {
    if (pattern.rfind("[Bool", 0) == 0)
      return {"true", "false"};
    if (pattern.rfind("[Selection ", 0) != 0)
      return {};
    return dealii::Utilities::split_string_list(trim(pattern.substr(11, pattern.find(']') - 11)), '|');
  }

  std::string in_words(const std::string &pattern)
  {
    std::istringstream stream(pattern.substr(pattern.find('[') == std::string::npos ? 0 : pattern.find('[') + 1));
    std::string        kind;
    stream >> kind;
    if (kind == "Selection")
      {
        std::string choices = trim(pattern.substr(pattern.find("Selection") + 9));
        choices             = trim(choices.substr(0, choices.find(']'))); // of a list more follows
        return "one of: " + dealii::Utilities::replace_in_string(choices, "|", " | ");
      }
    if (kind.rfind("Bool", 0) == 0)
      return "true or false";
    if (kind == "Integer" || kind == "Double")
      return number_in_words(kind, pattern);
    if (kind == "List")
      {
        const auto        inner = pattern.find('[', 1);
        const std::string item  = inner == std::string::npos ? "" : in_words(pattern.substr(inner, pattern.find(']') + 1 - inner));
        return "a list, separated by commas, of " + (item.empty() ? "texts" : "items that are each " + item);
      }
    return kind.rfind("Anything", 0) == 0 ? "" : pattern;
  }

  std::string all_parameters(dealii::ParameterHandler &prm)
  {
    std::string              text;
    std::vector<std::string> sections;
    for (const DeclaredEntry &entry : entries_of(prm))
      {
        const std::vector<std::string> own(entry.path.begin(), entry.path.end() - 1);
        if (own != sections)
          {
            for (std::size_t i = 0; i < sections.size(); ++i)
              text += "end\n\n";
            for (const std::string &section : own)
              text += "subsection " + section + "\n";
            sections = own;
          }
        const std::string indent(2 * sections.size(), ' ');
        const std::string allowed = in_words(entry.pattern);
        text += wrapped(entry.documentation, indent + "# ");
        text +=
          wrapped((allowed.empty() ? "" : "allowed: " + allowed + "; ") + "default: " + (entry.default_value.empty() ? "empty" : entry.default_value),
                  indent + "#   ");
        text += indent + "set " + entry.path.back() + " = " + entry.value + "\n\n";
      }
    for (std::size_t i = 0; i < sections.size(); ++i)
      text += "end\n";
    return text;
  }
} // namespace leopard
