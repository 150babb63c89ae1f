// SPDX-License-Identifier: Apache-2.0
#include "option_names.h"

#include <cctype>
#include <regex>

namespace leopard::command_line
{
  namespace
  {
    /** What the library calls it, and who reads a command line. */
    struct Name
    {
      const char *field, *option;
      bool        is_word; ///< of plain English, too: it is the field where " is " follows
    };

    constexpr Name names[] = {{"relative_tolerance", "--tolerance", false},
                              {"max_iterations", "--max-iterations", false},
                              {"test_every", "--test-every", false},
                              {"max_seconds", "--max-seconds", false},
                              {"local_iterations", "--local-iterations", false},
                              {"correction_loops", "--correction-loops", false},
                              {"block_size", "--block-size", false},
                              {"block_unknowns", "--block-unknowns", false},
                              {"block_omega", "--block-omega", false},
                              {"two_stage", "--two-stage", false},
                              {"overlap_percent", "--overlap-percent", false},
                              {"overlap_level", "--overlap-level", false},
                              {"n_threads", "--threads", false},
                              {"waits", "--wait", true},
                              {"shares", "--shares", true},
                              {"overlap", "--overlap", true},
                              {"corrections", "--method async-refinement", true},
                              {"schedule", "--schedule", true},
                              {"execution", "--execution", true},
                              {"omega", "--omega", true},
                              {"momentum", "--momentum", true},
                              {"write_choice()", "--tune with --choice", false},
                              {"read_choice()", "--choice", false}};

    /** Whether a name may end before, or begin behind, this character: not in paths, keys and longer names. */
    bool separates(char c)
    {
      return std::isalnum(static_cast<unsigned char>(c)) == 0 && std::string("_-./'\"()").find(c) == std::string::npos;
    }

    bool stands_at(const std::string &text, std::size_t i, const Name &name)
    {
      const std::string field = name.field;
      const std::size_t end   = i + field.size();
      if (text.compare(i, field.size(), field) != 0 || (i > 0 && !separates(text[i - 1])))
        return false;
      if (name.is_word)
        return text.compare(end, 4, " is ") == 0;
      return end == text.size() || (separates(text[end]) && text[end] != ':'); // "PATH: ..."
    }
  } // namespace

  std::string as_in_file(const std::string &message, bool is_permuted)
  {
    const std::string from_zero = " (the first row is 0)";
    const auto        begin     = message.find(from_zero);
    if (begin == std::string::npos)
      return message;
    std::string result = message;
    result.replace(begin, from_zero.size(), is_permuted ? " (the first row is 0, in the order of the blocks)" : "");
    if (is_permuted)
      return result;
    static const std::regex place("\\b(row|column) (-?[0-9]+)");
    std::string             counted;
    auto                    copied = result.cbegin();
    for (std::sregex_iterator found(result.begin(), result.end(), place), none; found != none; ++found)
      {
        counted.append(copied, (*found)[2].first).append(std::to_string(std::stoll((*found)[2]) + 1));
        copied = (*found)[2].second;
      }
    return counted.append(copied, result.cend());
  }

  std::string in_options(const std::string &library_message, bool of_choice)
  {
    const std::string message = as_in_file(library_message);
    std::string       result;
    for (std::size_t i = 0; i < message.size();)
      {
        const Name *found = nullptr;
        for (const Name &name : names)
          if (stands_at(message, i, name) && (!of_choice || std::string(name.field).back() == ')'))
            found = &name;
        result += found != nullptr ? found->option : std::string(1, message[i]);
        i += found != nullptr ? std::string(found->field).size() : 1;
      }
    return result;
  }
} // namespace leopard::command_line
