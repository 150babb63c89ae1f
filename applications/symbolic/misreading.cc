// SPDX-License-Identifier: Apache-2.0
#include "misreading.h"

#include <cctype>
#include <vector>

namespace leopard::symbolic
{
  namespace
  {
    bool is_numeral(char c)
    {
      return std::isdigit(static_cast<unsigned char>(c)) != 0;
    }

    bool is_of_word(char c)
    {
      return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
    }

    /** Goes through the signs of an expression and keeps what each open parenthesis has seen. */
    class Scan
    {
    public:
      explicit Scan(const std::string &text_)
        : text(text_)
      {
      }

      void run()
      {
        while (at < text.size())
          if (std::isspace(static_cast<unsigned char>(text[at])) != 0)
            ++at;
          else if (is_of_word(text[at]))
            word();
          else
            sign();
      }

    private:
      /** Of a pair of parentheses, or of the whole. */
      struct Level
      {
        bool is_call = false, has_power = false, has_comparison = false; ///< the latter two of the term that is being read
      };

      /** A name or a number, the sign in its exponent included. */
      void word()
      {
        const std::size_t begin     = at;
        const bool        is_number = is_numeral(text[at]) || text[at] == '.';
        while (at < text.size() && is_of_word(text[at]))
          {
            const bool has_exponent = is_number && (text[at] == 'e' || text[at] == 'E') && at + 2 < text.size();
            at += has_exponent && (text[at + 1] == '-' || text[at + 1] == '+') && is_numeral(text[at + 2]) ? 2 : 1;
          }
        after_name    = !is_number && at > begin;
        after_operand = true;
      }

      bool comes(const char *signs) const { return text.compare(at, 2, signs) == 0; }

      void sign()
      {
        Level            &level    = levels.back();
        const char        c        = text[at];
        const bool        was_name = after_name, is_binary = after_operand;
        const bool        is_equal   = comes("<=") || comes(">=") || comes("==") || comes("!=");
        const bool        is_logical = comes("&&") || comes("||");
        const std::size_t begin      = at;
        after_name = after_operand = false;
        at += is_equal || is_logical ? 2 : 1;
        if (c == '(')
          levels.push_back({was_name, false, false});
        else if (c == ')')
          {
            if (levels.size() > 1)
              levels.pop_back();
            after_operand = true;
          }
        else if (c == ',' && !level.is_call)
          throw Misread{begin, about_comma(begin)};
        else if (is_equal || c == '<' || c == '>')
          {
            if (level.has_comparison)
              throw Misread{begin, "a comparison of a comparison needs parentheses, or && between two"};
            level = {level.is_call, false, true};
          }
        else if (c == '=')
          throw Misread{begin, about_assignment(begin)};
        else if (is_logical || c == '?' || c == ':' || c == ',')
          level = {level.is_call, false, false};
        else if (c == '^')
          {
            if (level.has_power)
              throw Misread{begin, "a power of a power needs parentheses"};
            level.has_power = true;
          }
        else if (is_binary)
          level.has_power = false;
      }

      /** The word that ends before a sign, or begins behind it. */
      std::string before(std::size_t end) const
      {
        std::size_t begin = end;
        while (begin > 0 && is_of_word(text[begin - 1]))
          --begin;
        return text.substr(begin, end - begin);
      }

      std::string behind(std::size_t begin) const
      {
        std::size_t end = begin;
        while (end < text.size() && is_of_word(text[end]))
          ++end;
        return text.substr(begin, end - begin);
      }

      std::string about_comma(std::size_t comma) const
      {
        const std::string whole = before(comma), rest = behind(comma + 1);
        if (whole.empty() || rest.empty() || whole.find_first_not_of("0123456789") != std::string::npos || !is_numeral(rest[0]))
          return "a comma stands between arguments of functions only, and numbers have a decimal point, as in 1.5";
        return "numbers have a decimal point, '" + whole + "." + rest + "', and a comma stands between arguments of functions only";
      }

      std::string about_assignment(std::size_t sign) const
      {
        if (sign + 1 < text.size() && (text[sign + 1] == '<' || text[sign + 1] == '>'))
          return std::string("there is no such sign: did you mean '") + text[sign + 1] + "='?";
        std::size_t end = sign, begin = sign + 1;
        while (end > 0 && std::isspace(static_cast<unsigned char>(text[end - 1])) != 0)
          --end;
        while (begin < text.size() && std::isspace(static_cast<unsigned char>(text[begin])) != 0)
          ++begin;
        const std::string left = before(end), right = behind(begin);
        return "nothing can be assigned here: did you mean '==', which compares" +
               (left.empty() || right.empty() ? "?" : ", '" + left + " == " + right + "'?");
      }

      const std::string &text;
      std::vector<Level> levels     = {Level()};
      std::size_t        at         = 0;
      bool               after_name = false, after_operand = false;
    };
  } // namespace

  void refuse_misreadings(const std::string &text)
  {
    Scan(text).run();
  }
} // namespace leopard::symbolic
