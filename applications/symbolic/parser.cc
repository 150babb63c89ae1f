// SPDX-License-Identifier: Apache-2.0
#include "parser.h"

#include "function_names.h"
#include "functions.h"

#include <solvers/base/words.h>

#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <set>
#include <vector>

namespace leopard::symbolic
{
  using GiNaC::ex;

  namespace
  {
    struct Function
    {
      unsigned int                                 n_arguments; ///< at least
      bool                                         or_more;
      std::function<ex(const std::vector<ex> &xs)> apply;
    };

    Function one(ex (*f)(const ex &))
    {
      return {1, false, [f](const std::vector<ex> &xs) { return f(xs[0]); }};
    }

    /** Of GiNaC, whose functions are templates. */
#define LEOPARD_FUNCTION(name)                                   \
  {                                                              \
#name, one([](const ex &x) -> ex { return GiNaC::name(x); }) \
  }

    Function repeated(ex (*f)(const ex &, const ex &))
    {
      return {1, true, [f](const std::vector<ex> &xs) {
                ex result = xs[0];
                for (std::size_t i = 1; i < xs.size(); ++i)
                  result = f(result, xs[i]);
                return result;
              }};
    }

    const std::map<std::string, Function> &functions()
    {
      static const std::map<std::string, Function> table = {
        LEOPARD_FUNCTION(exp),
        LEOPARD_FUNCTION(log),
        LEOPARD_FUNCTION(sqrt),
        LEOPARD_FUNCTION(sin),
        LEOPARD_FUNCTION(cos),
        LEOPARD_FUNCTION(tan),
        LEOPARD_FUNCTION(asin),
        LEOPARD_FUNCTION(acos),
        LEOPARD_FUNCTION(atan),
        LEOPARD_FUNCTION(sinh),
        LEOPARD_FUNCTION(cosh),
        LEOPARD_FUNCTION(tanh),
        LEOPARD_FUNCTION(asinh),
        LEOPARD_FUNCTION(acosh),
        LEOPARD_FUNCTION(atanh),
        LEOPARD_FUNCTION(step),
        {"ln", one([](const ex &x) -> ex { return GiNaC::log(x); })},
        {"log2", one([](const ex &x) -> ex { return GiNaC::log(x) / GiNaC::log(2); })},
        {"log10", one([](const ex &x) -> ex { return GiNaC::log(x) / GiNaC::log(10); })},
        {"sign", one([](const ex &x) -> ex { return choose(less(x, 0), -1, less(0, x)); })},
        {"abs", one(absolute_value)},
        {"atan2", {2, false, [](const std::vector<ex> &xs) -> ex { return GiNaC::atan2(xs[0], xs[1]); }}},
        {"pow", {2, false, nullptr}}, // see power()
        {"if", {3, false, [](const std::vector<ex> &xs) { return choose(xs[0], xs[1], xs[2]); }}},
        {"min", repeated(minimum)},
        {"max", repeated(maximum)}};
      return table;
    }

#undef LEOPARD_FUNCTION

    const std::set<std::string> &further_functions_of_muparser()
    {
      static const std::set<std::string> names = {"avg", "ceil", "cot", "csc", "erfc", "floor", "int", "rint", "sec", "sum"};
      return names;
    }

    bool starts_name(char c)
    {
      return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_';
    }

    bool is_digit(char c)
    {
      return std::isdigit(static_cast<unsigned char>(c)) != 0;
    }

    /** By recursive descent, one function for each strength of binding. */
    class Parser
    {
    public:
      Parser(const std::string &text_, const std::map<std::string, ex> &names_, const std::string &kind_of_names_)
        : text(text_)
        , names(names_)
        , kind_of_names(kind_of_names_)
      {
      }

      ex parse()
      {
        refuse_misreadings(text);
        skip_blanks();
        if (at == text.size())
          fail(0, "it is empty");
        const ex result = conditional();
        if (at < text.size())
          fail(at, sign_is_known() ? "an operator or the end is expected" : "an expression has no such sign");
        return result;
      }

    private:
      static constexpr int largest_exponent = 100000;

      [[noreturn]] static void fail(std::size_t position, const std::string &reason) { throw Misread{position, reason}; }

      void skip_blanks()
      {
        while (at < text.size() && std::isspace(static_cast<unsigned char>(text[at])) != 0)
          ++at;
      }

      bool sign_is_known() const
      {
        return starts_name(text[at]) || is_digit(text[at]) || std::string("+-*/^(),.<>!?:").find(text[at]) != std::string::npos;
      }

      /** Whether the sign comes next, which is then passed over. A longer sign that begins with it is another one. */
      bool accept(const std::string &sign)
      {
        if (text.compare(at, sign.size(), sign) != 0 ||
            (sign.size() == 1 && std::string("<>!").find(sign) != std::string::npos && text[at + 1] == '='))
          return false;
        at += sign.size();
        skip_blanks();
        return true;
      }

      /** GiNaC computes at once with numbers, and may find a pole. */
      template <typename Compute>
      ex compute(std::size_t position, const Compute &result) const
      {
        try
          {
            return result();
          }
        catch (const std::exception &exception)
          {
            std::string reason = exception.what();
            if (const auto end = reason.find("(): "); end != std::string::npos)
              reason = reason.substr(end + 4);
            fail(position, reason);
          }
      }

      static ex truth(const ex &e) { return 1 - equal(e, 0); }

      /** A ? B : C, of which C may be another one. */
      ex conditional()
      {
        std::vector<std::pair<ex, ex>> cases; // conditions and what is so where they are the first that hold
        ex                             otherwise = disjunction();
        while (accept("?"))
          {
            const ex yes = conditional();
            if (!accept(":"))
              fail(at, "':' is expected, as in A ? B : C");
            cases.emplace_back(otherwise, yes);
            otherwise = disjunction();
          }
        for (auto part = cases.rbegin(); part != cases.rend(); ++part)
          otherwise = choose(part->first, part->second, otherwise);
        return otherwise;
      }

      ex disjunction()
      {
        ex result = conjunction();
        while (accept("||"))
          result = 1 - (1 - truth(result)) * (1 - truth(conjunction()));
        return result;
      }

      ex conjunction()
      {
        ex result = comparison();
        while (accept("&&"))
          result = truth(result) * truth(comparison());
        return result;
      }

      ex comparison()
      {
        const ex left = sum();
        if (accept("<="))
          return less_equal(left, sum());
        if (accept(">="))
          return less_equal(sum(), left);
        if (accept("=="))
          return equal(left, sum());
        if (accept("!="))
          return 1 - equal(left, sum());
        if (accept("<"))
          return less(left, sum());
        if (accept(">"))
          return less(sum(), left);
        return left;
      }

      ex sum()
      {
        ex result = product();
        while (true)
          if (accept("+"))
            result += product();
          else if (accept("-"))
            result -= product();
          else
            return result;
      }

      ex product()
      {
        ex result = signed_factor();
        while (true)
          if (const std::size_t position = at; accept("*"))
            result *= signed_factor();
          else if (accept("/"))
            {
              const ex divisor = signed_factor();
              result           = compute(position, [&] { return result / divisor; });
            }
          else
            return result;
      }

      ex signed_factor()
      {
        if (accept("-"))
          return -signed_factor();
        if (accept("+"))
          return signed_factor();
        if (accept("!"))
          return equal(signed_factor(), 0);
        const ex base = primary();
        if (const std::size_t position = at; accept("^"))
          return power(base, exponent(), position);
        return base;
      }

      ex exponent()
      {
        if (accept("-"))
          return -exponent();
        if (accept("+"))
          return exponent();
        return primary();
      }

      /**
       * Exact numbers are as long as they must be, so that large powers of them would take memory and time without end.
       */
      ex power(ex base, const ex &exponent, std::size_t position) const
      {
        const ex base_value = base.evalf(), exponent_value = exponent.evalf();
        if (GiNaC::is_a<GiNaC::numeric>(exponent_value))
          {
            const double e = GiNaC::ex_to<GiNaC::numeric>(exponent_value).to_double();
            if (!(std::abs(e) <= largest_exponent))
              fail(position + 1, "an exponent is at most " + std::to_string(largest_exponent));
            if (GiNaC::is_a<GiNaC::numeric>(base_value))
              {
                const double b = GiNaC::abs(GiNaC::ex_to<GiNaC::numeric>(base_value)).to_double();
                if (b > 0. && !(std::abs(e * std::log2(b)) < 1080.))
                  fail(position, "the power is beyond the range of double precision");
                if (std::abs(e) > 1000.)
                  base = base_value;
              }
          }
        return compute(position, [&] { return GiNaC::pow(base, exponent); });
      }

      ex primary()
      {
        if (at == text.size())
          fail(at, "the end is unexpected");
        if (accept("("))
          {
            const ex result = conditional();
            close();
            return result;
          }
        if (is_digit(text[at]) || text[at] == '.')
          return number();
        if (starts_name(text[at]))
          return name();
        fail(at, sign_is_known() ? "a number, a name or a parenthesis is expected" : "an expression has no such sign");
      }

      void close()
      {
        if (!accept(")"))
          fail(at, at == text.size() ? "the end is unexpected, a parenthesis is open" : "')' is expected");
      }

      ex number()
      {
        const std::size_t begin  = at;
        const auto        digits = [&] {
          while (at < text.size() && is_digit(text[at]))
            ++at;
        };
        digits();
        if (at < text.size() && text[at] == '.')
          ++at;
        digits();
        if (at - begin == 1 && text[begin] == '.')
          fail(begin, "a digit is missing");
        if (at < text.size() && (text[at] == 'e' || text[at] == 'E'))
          {
            const std::size_t sign = at + 1 < text.size() && (text[at + 1] == '+' || text[at + 1] == '-') ? 1 : 0;
            if (at + 1 + sign < text.size() && is_digit(text[at + 1 + sign]))
              {
                at += 1 + sign;
                digits();
              }
          }
        const std::string written = text.substr(begin, at - begin);
        errno                     = 0;
        const double value        = std::strtod(written.c_str(), nullptr);
        if (errno == ERANGE)
          fail(begin, "the number is beyond the range of double precision");
        skip_blanks();
        return value == 0. ? GiNaC::numeric(0) : GiNaC::numeric(written.c_str()); // 0e-99999999999 is exact, too, and would take for ever
      }

      ex name()
      {
        const std::size_t begin = at;
        while (at < text.size() && (starts_name(text[at]) || is_digit(text[at])))
          ++at;
        const std::string word = text.substr(begin, at - begin);
        skip_blanks();
        if (at < text.size() && text[at] == '(')
          return call(word, begin);
        const auto found = names.find(word);
        if (found == names.end())
          fail(begin, "there is no " + kind_of_names + " '" + word + "'");
        return found->second;
      }

      ex call(const std::string &word, std::size_t begin)
      {
        const auto found = functions().find(word);
        if (found == functions().end())
          fail(begin,
               "there is no function '" + word + "'" +
                 (further_functions_of_muparser().count(word) == 1
                    ? " here, where derivatives are formed; initial values, sources and boundary conditions know it, if they name no image"
                    : ""));
        accept("(");
        std::vector<ex> arguments;
        if (at == text.size() || text[at] != ')')
          do
            arguments.push_back(conditional());
          while (accept(","));
        close();
        const Function &function = found->second;
        if (arguments.size() < function.n_arguments || (arguments.size() > function.n_arguments && !function.or_more))
          fail(begin,
               "'" + word + "' has " + std::to_string(arguments.size()) + " arguments and takes " + std::to_string(function.n_arguments) +
                 (function.or_more ? " or more" : ""));
        if (word == "pow")
          return power(arguments[0], arguments[1], begin);
        return compute(begin, [&] { return function.apply(arguments); });
      }

      const std::string               &text;
      const std::map<std::string, ex> &names;
      const std::string               &kind_of_names;
      std::size_t                      at = 0;
    };
  } // namespace

  bool is_function(const std::string &name)
  {
    return functions().count(name) == 1;
  }

  std::string known_functions()
  {
    std::vector<std::string> names;
    for (const auto &[name, function] : functions())
      names.push_back(name);
    return joined(names);
  }

  std::string functions_of_muparser()
  {
    std::set<std::string> names = further_functions_of_muparser();
    for (const auto &[name, function] : functions())
      names.insert(name);
    names.erase("step");
    return joined({names.begin(), names.end()});
  }

  GiNaC::ex parse(const std::string &text, const std::map<std::string, GiNaC::ex> &names, const std::string &kind_of_names)
  {
    return Parser(text, names, kind_of_names).parse();
  }
} // namespace leopard::symbolic
