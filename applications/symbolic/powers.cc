// SPDX-License-Identifier: Apache-2.0
#include "powers.h"

#include <cctype>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>

namespace leopard
{
  namespace
  {
    /** The value of what is made of numbers and constants alone; not a number of what has variables. */
    using Value = double;

    constexpr Value unknown = std::numeric_limits<double>::quiet_NaN();

    struct NoExpression
    {
    };

    Value call(const std::string &function, Value x)
    {
      static const std::map<std::string, double (*)(double)> functions = {{"exp", std::exp},
                                                                          {"log", std::log},
                                                                          {"sqrt", std::sqrt},
                                                                          {"sin", std::sin},
                                                                          {"cos", std::cos},
                                                                          {"tan", std::tan},
                                                                          {"asin", std::asin},
                                                                          {"acos", std::acos},
                                                                          {"atan", std::atan},
                                                                          {"sinh", std::sinh},
                                                                          {"cosh", std::cosh},
                                                                          {"tanh", std::tanh},
                                                                          {"abs", std::fabs},
                                                                          {"asinh", std::asinh},
                                                                          {"acosh", std::acosh},
                                                                          {"atanh", std::atanh}};
      const auto                                             found     = functions.find(function);
      return found != functions.end() ? found->second(x) : unknown;
    }

    /** Evaluates + - * / ^ and calls by recursive descent. */
    class Evaluation
    {
    public:
      Evaluation(const std::string &text_, const std::vector<std::pair<std::string, double>> &constants_)
        : text(text_)
        , constants(constants_)
      {
      }

      LargePower run()
      {
        try
          {
            sum();
          }
        catch (const NoExpression &) // the parser will say where
          {
          }
        return found;
      }

    private:
      char next()
      {
        while (i < text.size() && std::isspace(static_cast<unsigned char>(text[i])) != 0)
          ++i;
        return i < text.size() ? text[i] : '\0';
      }

      bool take(char c)
      {
        const bool is_there = next() == c;
        i += is_there ? 1 : 0;
        return is_there;
      }

      Value sum()
      {
        Value result = product();
        for (char c = next(); c == '+' || c == '-'; c = next())
          {
            ++i;
            result += c == '+' ? product() : -product();
          }
        return result;
      }

      Value product()
      {
        Value result = factor();
        for (char c = next(); c == '*' || c == '/'; c = next())
          {
            ++i;
            const Value with = factor();
            result           = c == '*' ? result * with : result / with;
          }
        return result;
      }

      Value factor()
      {
        double sign = 1.;
        for (char c = next(); c == '+' || c == '-'; c = next())
          {
            sign = c == '-' ? -sign : sign;
            ++i;
          }
        Value result = primary();
        if (next() == '^')
          {
            const std::size_t position = i++;
            result                     = power(result, factor(), position);
          }
        return sign * result;
      }

      Value primary()
      {
        const char c = next();
        if (take('('))
          {
            const Value inner = sum();
            close();
            return inner;
          }
        if (std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '.')
          {
            char        *end   = nullptr;
            const double value = std::strtod(text.c_str() + i, &end);
            if (end == text.c_str() + i)
              throw NoExpression();
            i = end - text.c_str();
            return value;
          }
        const std::size_t begin = i;
        while (i < text.size() && (std::isalnum(static_cast<unsigned char>(text[i])) != 0 || text[i] == '_'))
          ++i;
        if (begin == i)
          throw NoExpression();
        return named(text.substr(begin, i - begin), begin);
      }

      Value named(const std::string &name, std::size_t begin)
      {
        if (take('('))
          {
            const Value x = sum();
            const Value y = take(',') ? sum() : unknown;
            close();
            return name == "pow" ? power(x, y, begin) : call(name, x);
          }
        if (name == "pi")
          return std::acos(-1.);
        for (const auto &[constant, value] : constants)
          if (constant == name)
            return value;
        return unknown;
      }

      void close()
      {
        if (!take(')'))
          throw NoExpression();
      }

      Value power(Value base, Value exponent, std::size_t position)
      {
        constexpr double largest_exponent = 100000.;
        if (found.reason.empty() && std::abs(exponent) > largest_exponent)
          found = {position, "an exponent is at most 100000"};
        const double result = std::pow(base, exponent);
        if (found.reason.empty() && std::isinf(result) && base != 0.)
          found = {position, "the power of numbers is beyond the range of double precision"};
        return result;
      }

      const std::string                                 &text;
      const std::vector<std::pair<std::string, double>> &constants;
      std::size_t                                        i = 0;
      LargePower                                         found;
    };
  } // namespace

  LargePower find_large_power(const std::string &expression, const std::vector<std::pair<std::string, double>> &constants)
  {
    return Evaluation(expression, constants).run();
  }
} // namespace leopard
