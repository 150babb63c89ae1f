// SPDX-License-Identifier: Apache-2.0
#include <applications/problems/turing/kinetics.h>
#include <applications/reaction_diffusion/kinetics/kinetics_choice.h>
#include <applications/symbolic/differentiate.h>
#include <applications/symbolic/misreading.h>
#include <applications/symbolic/separate.h>
#include <solvers/base/errors.h>

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace leopard
{
  namespace
  {
    double value_of(const std::string &text, double u, double v)
    {
      const auto   compiled = differentiate({{"f", text}}, {"u", "v"}, {{"a", 0.3}, {"n", 2.}});
      const double inputs[] = {u, v};
      double       value    = 0.;
      compiled.values.evaluate(1, inputs, &value);
      return value;
    }

    TEST(Symbolic, EvaluatesLikeC)
    {
      const double u = 0.7, v = 1.3, a = 0.3;
      EXPECT_DOUBLE_EQ(value_of("a - u + u^2*v", u, v), a - u + u * u * v);
      EXPECT_DOUBLE_EQ(value_of("-u^2", u, v), -u * u);
      EXPECT_DOUBLE_EQ(value_of("2*u - 3*v - (u - v)", u, v), u - 2. * v);
      EXPECT_DOUBLE_EQ(value_of("u/v/a", u, v), u / v / a);
      EXPECT_DOUBLE_EQ(value_of("u^-2", u, v), 1. / (u * u));
      EXPECT_DOUBLE_EQ(value_of("u^2.5", u, v), std::pow(u, 2.5));
      EXPECT_DOUBLE_EQ(value_of("u^(1/3)", u, v), std::cbrt(u));
      EXPECT_DOUBLE_EQ(value_of("u^v", u, v), std::pow(u, v));
      EXPECT_DOUBLE_EQ(value_of("pow(u, v)", u, v), std::pow(u, v));
      EXPECT_DOUBLE_EQ(value_of("u^40", u, v), std::pow(u, 40));
      EXPECT_DOUBLE_EQ(value_of("u^n/(1 + u^n)", u, v), u * u / (1. + u * u));
      EXPECT_DOUBLE_EQ(value_of("2*pi*u", u, v), 2. * std::acos(-1.) * u);
      EXPECT_DOUBLE_EQ(value_of("1e-3*u + .5 + 2.", u, v), 1e-3 * u + 2.5);
      EXPECT_DOUBLE_EQ(value_of("7", u, v), 7.);
      EXPECT_DOUBLE_EQ(value_of("v", u, v), v);
      EXPECT_DOUBLE_EQ(value_of("u - u", u, v), 0.);
      EXPECT_DOUBLE_EQ(value_of("u*step(a)", u, v), u); // of a constant step is allowed
      EXPECT_DOUBLE_EQ(value_of("exp(u)*log(v) + sqrt(u)", u, v), std::exp(u) * std::log(v) + std::sqrt(u));
      EXPECT_DOUBLE_EQ(value_of("sin(u) + cos(v) + tan(u) + asin(u) + acos(u) + atan(v)", u, v),
                       std::sin(u) + std::cos(v) + std::tan(u) + std::asin(u) + std::acos(u) + std::atan(v));
      EXPECT_DOUBLE_EQ(value_of("sinh(u) + cosh(v) + tanh(u)", u, v), std::sinh(u) + std::cosh(v) + std::tanh(u));
      EXPECT_DOUBLE_EQ(value_of("asinh(u) + acosh(v) + atanh(u)", u, v), std::asinh(u) + std::acosh(v) + std::atanh(u));
      EXPECT_DOUBLE_EQ(value_of("atan2(u, v)", u, v), std::atan2(u, v));
      EXPECT_DOUBLE_EQ(value_of("abs(u - v)", u, v), v - u);
    }

    /** As deep as is allowed; each level was once translated twice. */
    TEST(Symbolic, ContinuedFractionsTakeNoTime)
    {
      const double u = 0.7, v = 1.3;
      std::string  text     = "v";
      double       expected = v;
      for (int i = 0; i < 95; ++i)
        {
          text     = "1/(u+" + text + ")";
          expected = 1. / (u + expected);
        }
      EXPECT_NEAR(value_of(text, u, v), expected, 1e-14);
      EXPECT_THROW(value_of("1/(u+1/(u+1/(u+1/(u+1/(u+" + text + ")))))", u, v), Error); // deeper
      for (const std::string deep : {"sin(", "("})
        {
          std::string nested;
          for (int i = 0; i < 100000; ++i)
            nested += deep; // not even closed
          EXPECT_THROW(value_of(nested, u, v), Error);
        }
    }

    TEST(Symbolic, DerivativesAreThoseOfDifferenceQuotients)
    {
      const std::vector<std::string> texts = {"a - u + u^2*v",
                                              "u^2/(v*(1 + a*u^2))",
                                              "u^n/(a^n + u^n)*exp(-v)",
                                              "sqrt(u*v) + u^2.5 + u^v",
                                              "sin(u)*cos(v) + tan(u*v/3)",
                                              "asin(u/2) + acos(v/2) + atan(u*v) + atan2(u, v)",
                                              "sinh(u) + cosh(v) + tanh(u*v) + asinh(u) + acosh(1 + v) + atanh(u/2)",
                                              "abs(u - v)*log(u + v)",
                                              "7",
                                              "v"};
      std::vector<NamedExpression>   named;
      for (const auto &text : texts)
        named.push_back({"f", text});
      const auto          compiled = differentiate(named, {"u", "v"}, {{"a", 0.3}, {"n", 3.}});
      const unsigned int  n        = texts.size();
      const double        h        = 1e-6;
      std::vector<double> high(n), low(n), derivatives(2 * n);
      for (const double u : {0.3, 0.9})
        for (const double v : {0.4, 1.2})
          {
            const std::vector<double> point = {u, v};
            compiled.derivatives.evaluate(1, point.data(), derivatives.data());
            for (unsigned int j = 0; j < 2; ++j)
              {
                std::vector<double> shifted = point;
                shifted[j] += h;
                compiled.values.evaluate(1, shifted.data(), high.data());
                shifted[j] -= 2. * h;
                compiled.values.evaluate(1, shifted.data(), low.data());
                for (unsigned int i = 0; i < n; ++i)
                  EXPECT_NEAR(derivatives[2 * i + j], (high[i] - low[i]) / (2. * h), 1e-8 * (1. + std::abs(derivatives[2 * i + j]))) << texts[i];
              }
          }
    }

    TEST(Symbolic, BothIsValuesAndThenDerivatives)
    {
      const auto   compiled = differentiate({{"f", "a - u + u^n*v"}, {"g", "exp(-u*v)/(1 + u^2)"}}, {"u", "v"}, {{"a", 0.3}, {"n", 2.}});
      const double point[]  = {0.7, 1.3};
      double       apart[6], both[6];
      compiled.values.evaluate(1, point, apart);
      compiled.derivatives.evaluate(1, point, apart + 2);
      ASSERT_EQ(compiled.both.outputs.size(), 6u);
      compiled.both.evaluate(1, point, both);
      for (int i = 0; i < 6; ++i)
        EXPECT_EQ(both[i], apart[i]) << i;
      EXPECT_LT(compiled.both.instructions.size(), compiled.values.instructions.size() + compiled.derivatives.instructions.size())
        << "they share operations";
    }

    TEST(Symbolic, DerivativesAreFiniteWhereTheyExist)
    {
      // u^n with a constant n, and |u|, at u = 0: formulas with a division by u would give 0/0
      const auto   compiled = differentiate({{"f", "u^n + u^3/(a + u^3)"}, {"g", "abs(u)"}}, {"u", "v"}, {{"a", 1.}, {"n", 2.}});
      const double zero[]   = {0., 1.};
      double       derivatives[4];
      compiled.derivatives.evaluate(1, zero, derivatives);
      for (const double derivative : derivatives)
        EXPECT_EQ(derivative, 0.);
    }

    TEST(Symbolic, AllPointsAreEvaluatedWhateverTheirNumber)
    {
      const auto   compiled = differentiate({{"f", "u + 10*v"}, {"g", "u*v"}, {"h", "3"}}, {"u", "v"}, {});
      std::mt19937 generator(3);
      for (const unsigned int n : {0u, 1u, 2u, 63u, 64u, 65u, 200u})
        {
          std::vector<double> inputs(2 * n), values(3 * n + 1, -1.);
          for (double &x : inputs)
            x = std::uniform_real_distribution<double>(0., 1.)(generator);
          compiled.values.evaluate(n, inputs.data(), values.data());
          for (unsigned int i = 0; i < n; ++i)
            {
              EXPECT_DOUBLE_EQ(values[3 * i], inputs[2 * i] + 10. * inputs[2 * i + 1]);
              EXPECT_DOUBLE_EQ(values[3 * i + 1], inputs[2 * i] * inputs[2 * i + 1]);
              EXPECT_EQ(values[3 * i + 2], 3.);
            }
          EXPECT_EQ(values[3 * n], -1.) << "written beyond the end";
        }
    }

    TEST(Symbolic, CommonPartsAreComputedOnce)
    {
      const auto compiled = differentiate({{"f", "u^2*v - u"}, {"g", "1 - u^2*v"}}, {"u", "v"}, {});
      EXPECT_EQ(compiled.values.instructions.size(), 4u); // u u, (u u) v, and a subtraction each
    }

    void expect_error(const std::string &text, const std::vector<std::string> &says)
    {
      try
        {
          differentiate({{"Turing/Reaction u", text}}, {"u", "v"}, {{"a", 0.1}, {"b", 2.}});
          ADD_FAILURE() << text << " is accepted";
        }
      catch (const Error &error)
        {
          for (const std::string &said : says)
            EXPECT_NE(std::string(error.what()).find(said), std::string::npos) << "'" << said << "' is not in: " << error.what();
          EXPECT_NE(std::string(error.what()).find("Turing/Reaction u"), std::string::npos) << error.what();
        }
    }

    TEST(Symbolic, MistakesAreNamedWithTheirPosition)
    {
      expect_error("a - u + u^2*w", {"at position 13", "there is no species or constant 'w'"});
      expect_error("a + foo(u)", {"at position 5", "no function 'foo'"});
      expect_error("sin + u", {"at position 1", "'sin'"});
      expect_error("a*(u + ", {"at position 6", "the end"});
      expect_error("u v", {"at position 3", "'v'"});
      expect_error("2*u +* v", {"at position 6"});
      expect_error("u + v)", {"at position 6"});
      expect_error("u = v", {"at position 3", "did you mean '==', which compares, 'u == v'?"});
      expect_error("u & v", {"at position 3"});
      expect_error("", {"empty"});
      expect_error("   ", {"empty"});
      expect_error("a^u^v", {"parentheses"});
      expect_error("x*u", {"'x'"}); // kinetics do not depend on the place
      expect_error("u + sqrt(-2)", {"not a real number"});
      expect_error("I*u", {"'I'"});
      expect_error("1e400*u", {"at position 1", "beyond the range of double precision"});
      expect_error("u/(b - 2)", {"division by zero"});
      expect_error("v*step(u - 1)", {"at position 3", "derivative cannot be formed", "'step'"});
      expect_error("pow(u)", {"pow"});
    }

    TEST(Symbolic, Constants)
    {
      const Constants constants = read_constants("Turing/Constants", " a: 0.1, b :9e-1,");
      ASSERT_EQ(constants.size(), 2u);
      EXPECT_EQ(constants[0].first, "a");
      EXPECT_EQ(constants[1].second, 0.9);
      EXPECT_TRUE(read_constants("Turing/Constants", "").empty());
      const Constants computed = read_constants("Turing/Constants", "a: 1/4, b: max(a, 2*pi), c: b^2 + k", {{"k", 3.}});
      ASSERT_EQ(computed.size(), 3u);
      EXPECT_EQ(computed[0].second, 0.25);
      EXPECT_DOUBLE_EQ(computed[2].second, std::pow(2. * std::acos(-1.), 2) + 3.);
      for (const char *text : {"a",
                               "a: ",
                               "a: x",
                               "a: 1, a: 2",
                               "2a: 1",
                               "exp: 1",
                               "if: 1",
                               "pi: 3",
                               "a: 1; b: 2",
                               ": 1",
                               "a: nan",
                               "a: b, b: 1",
                               "a: 1/0",
                               "a: 1e300^2"})
        EXPECT_THROW(read_constants("Turing/Constants", text), Error) << text;
    }

    TEST(Symbolic, Species)
    {
      EXPECT_EQ(read_species("u, v, w_2"), (std::vector<std::string>{"u", "v", "w_2"}));
      EXPECT_EQ(read_species("activator").size(), 1u);
      for (const char *text : {"", "u,,v", "u, u", "x, y", "u v", "sin", "2u"})
        EXPECT_THROW(read_species(text), Error) << text;
    }

    /** The fused time loop takes the compiled ones, the general one the expressions. */
    TEST(BuiltInKinetics, CompiledOnesAreTheirExpressions)
    {
      const auto compiled = reaction_diffusion::kinetics_names();
      EXPECT_FALSE(compiled.empty());
      for (const std::string &name : compiled)
        {
          ASSERT_EQ(kinetics_registry().count(name), 1u) << name << " has no file in applications/problems/turing/kinetics";
          const auto                         built_in = kinetics_registry().at(name)();
          reaction_diffusion::KineticsChoice choice{name, {}, 1., {}};
          double                             next = 0.3; // all different, so that their order counts
          for (auto &parameter : built_in->parameters())
            choice.constants.push_back(parameter.value = next += 0.17);
          choice.validate();
          built_in->compile();
          const std::vector<double> u = {0.7, 0.4, 1.3, 2.1, 0.01, 5.};
          std::vector<double>       r(6), s(6), j(12), k(12);
          built_in->evaluate(3, u.data(), r.data(), j.data());
          reaction_diffusion::with_two_species(choice, [&](const auto &functor) {
            for (unsigned int i = 0; i < 3; ++i)
              functor.evaluate(u.data() + 2 * i, {}, s.data() + 2 * i, k.data() + 4 * i);
          });
          for (unsigned int i = 0; i < 6; ++i)
            EXPECT_NEAR(r[i], s[i], 1e-14 * (1. + std::abs(r[i]))) << name;
          for (unsigned int i = 0; i < 12; ++i)
            EXPECT_NEAR(j[i], k[i], 1e-13 * (1. + std::abs(j[i]))) << name;
        }
    }

    TEST(BuiltInKinetics, UnknownCompiledOnesAreAnError)
    {
      const reaction_diffusion::KineticsChoice choice{"Lengyel-Epstein", {1., 2.}, 1., {}};
      EXPECT_THROW(choice.validate(), Error);
      EXPECT_THROW(reaction_diffusion::with_two_species(choice, [](const auto & /*functor*/) {}), Error); // once: Schnakenberg
    }

    /** A parser that takes them may take them for something else, as muParser does. */
    TEST(Symbolic, MisreadingsAreRefused)
    {
      const auto reason = [](const std::string &text) {
        try
          {
            symbolic::refuse_misreadings(text);
            return std::string();
          }
        catch (const symbolic::Misread &misread)
          {
            return std::to_string(misread.position) + ": " + misread.reason;
          }
      };
      for (const char *text : {"max(1,5)",
                               "if(u<1, 2, min(3,4,5))",
                               "(max)(1)",
                               "u<=1 && v>=2 || u==3 && v!=4",
                               "2^3*4^5 + u^-2",
                               "-u^2-v^2",
                               "(2^3)^4",
                               "2^(3^4)",
                               "(1<2)<3",
                               "u<1 ? v<2 : v<3",
                               "1e-3^2 - 1e+3^2",
                               "atan2(u^2, v^2)",
                               "if(u<1, v<2, v>3)",
                               "))",
                               "((",
                               "",
                               "=="})
        EXPECT_EQ(reason(text), "") << text;
      EXPECT_NE(reason("1,5").find("1: numbers have a decimal point, '1.5'"), std::string::npos) << reason("1,5");
      EXPECT_NE(reason("sin(1)*(0,5 + u)").find("9: numbers have a decimal point, '0.5'"), std::string::npos);
      EXPECT_NE(reason("u, v").find("1: a comma stands between arguments of functions only"), std::string::npos);
      EXPECT_NE(reason("if(x=0.5,7,3)").find("4: nothing can be assigned here: did you mean '==', which compares, 'x == 0.5'?"), std::string::npos);
      EXPECT_NE(reason("u => 1").find("2: there is no such sign: did you mean '>='?"), std::string::npos);
      for (const char *text : {"u=1", "(u=1)", "u===1", "2^3^2", "2^-3^2", "u^v(2)^2", "1<2<3", "1 == 2 == 3", "if(1<2<3,4,5)"})
        EXPECT_NE(reason(text), "") << text;
    }

    TEST(Symbolic, ConditionsWithAQuestionMark)
    {
      const double u = 0.7, v = 1.3;
      EXPECT_DOUBLE_EQ(value_of("u < v ? 2 : 3", u, v), 2.);
      EXPECT_DOUBLE_EQ(value_of("1 + (u > v ? 2 : 3)", u, v), 4.);
      EXPECT_DOUBLE_EQ(value_of("u > v ? 1 : u > 1 ? 2 : u > 0 ? 3 : 4", u, v), 3.);
      EXPECT_DOUBLE_EQ(value_of("u < v ? u > 1 ? 2 : 3 : 4", u, v), 3.);
      EXPECT_DOUBLE_EQ(value_of("max(u < v ? 5 : 6, 1) + min(u)", u, v), 5. + u);
      expect_error("u < v ? 2", {"at position 9", "':' is expected, as in A ? B : C"});
      expect_error("u ? 2 : ", {"the end is unexpected"});
      std::string many = "1";
      for (int i = 0; i < 4000; ++i)
        many = "u?2:" + many;
      expect_error(many, {"levels are possible"});
    }

    TEST(Symbolic, ChoicesAndComparisons)
    {
      const double u = 0.7, v = 1.3;
      EXPECT_DOUBLE_EQ(value_of("if(u < v, u, v)", u, v), u);
      EXPECT_DOUBLE_EQ(value_of("if(u >= v, u, v)", u, v), v);
      EXPECT_DOUBLE_EQ(value_of("if(u > 1, log(u - 1), v)", u, v), v) << "what is not chosen may be no number";
      EXPECT_DOUBLE_EQ(value_of("min(u, v, 0.5) + max(u, v)", u, v), 0.5 + v);
      EXPECT_DOUBLE_EQ(value_of("(u < v) + 2*(u <= u) + 4*(u == v) + 8*(u != v)", u, v), 11.);
      EXPECT_DOUBLE_EQ(value_of("(u < v && v < u) + 2*(u < v || v < u) + 4*!(u < v)", u, v), 2.);
      EXPECT_DOUBLE_EQ(value_of("if(2 < 3, a, u)", u, v), 0.3);
      EXPECT_DOUBLE_EQ(value_of("sign(u - v) + abs(-2) + ln(v) - log(v) + log10(100)", u, v), 3.);
      expect_error("if(u, v)", {"at position 1", "'if' has 2 arguments and takes 3"});
      expect_error("min()", {"'min' has 0 arguments and takes 1 or more"});
      expect_error("9^(9^9)", {"at position"}); // once: memory without end
      expect_error("2^2000*u", {"beyond the range of double precision"});

      const auto   compiled = differentiate({{"f", "if(u < v, u^2, log(u - v))"}, {"g", "min(u*v, 3*u)"}, {"h", "max(u*v, 3*u)"}}, {"u", "v"}, {});
      const double point[]  = {u, v};
      std::vector<double> j(6);
      compiled.derivatives.evaluate(1, point, j.data());
      const double expected[] = {2. * u, 0., v, u, 3., 0.};
      for (int i = 0; i < 6; ++i)
        EXPECT_DOUBLE_EQ(j[i], expected[i]) << i;
    }

    TEST(TimeSeparation, SumOfProductsIsTheExpression)
    {
      TimeSeparation                              separation;
      std::vector<std::pair<std::string, double>> expected;
      std::vector<ExpressionTape>                 parts;
      const double                                x = 0.7, y = -0.4, t = 0.3;
      for (const auto &[text, value] :
           std::vector<std::pair<std::string, double>>{{"3", 3.},
                                                       {"0", 0.},
                                                       {"x*y", x * y},
                                                       {"exp(-t)", std::exp(-t)},
                                                       {"exp(-t)*sin(x)", std::exp(-t) * std::sin(x)},
                                                       {"(1 + t*x)^2*y", (1. + t * x) * (1. + t * x) * y},
                                                       {"(x - t)/(1 + t) - y/x", (x - t) / (1. + t) - y / x},
                                                       {"(x + t)/(1 + x^2)", (x + t) / (1. + x * x)},
                                                       {"1/((1 + t)*(1 + x))", 1. / ((1. + t) * (1. + x))},
                                                       {"(x + t)/(t*x*(2 + t)*(y - 3))", (x + t) / (t * x * (2. + t) * (y - 3.))},
                                                       {"x - y/(x*(1 + t) + y*(1 + t))", x - y / ((x + y) * (1. + t))},
                                                       {"-(x*t - y*sin(t))", -(x * t - y * std::sin(t))},
                                                       {"if(t < 0.5, x*(2 + t), y)", x * (2. + t)},
                                                       {"if(x > 0.9, t, t^2*y)", t * t * y}})
        {
          const auto part = separation.parts(compile({"Source", text}, {"x", "y", "z", "t"}, {}));
          ASSERT_TRUE(part) << text;
          parts.push_back(*part);
          expected.emplace_back(text, value);
        }
      const ExpressionTape factors = separation.factors();
      std::vector<double>  b(factors.outputs.size());
      ASSERT_EQ(b.size(), separation.n_factors());
      factors.evaluate(1, &t, b.data());
      for (std::size_t e = 0; e < parts.size(); ++e)
        {
          double sum = 0.;
          for (std::size_t k = 0; k < b.size(); ++k)
            {
              const double inputs[] = {x, y, 0., static_cast<double>(k)};
              double       f        = 0.;
              parts[e].evaluate(1, inputs, &f);
              sum += b[k] * f;
            }
          EXPECT_NEAR(sum, expected[e].second, 1e-14) << expected[e].first;
        }
      EXPECT_EQ(factors.outputs[0], 1u + 0u) << "what does not depend on the time has the factor 1, a constant";
      for (const std::string &text : {"sin(x - t)", "x^t", "1/(x + t)", "1/((1 + t)*(1 + x) + y)", "max(x, t)", "if(x < t, 1, 2)", "sqrt(x*t)"})
        EXPECT_FALSE(TimeSeparation().parts(compile({"Source", text}, {"x", "y", "z", "t"}, {}))) << text;
    }

    TEST(Symbolic, SourcesOfExactSolutions)
    {
      // -div((1 + x y) grad u) + 2 u = u^2 + s, and u_t = ... in time
      ManufacturedSolution solution{
        {"u"}, {{"E", "sin(x)*exp(y) + z^2*t"}}, {{{"a", "1 + x*y"}}}, {2.}, {{"r", "c*u^2"}}, {}, {}, {{"c", 3.}}, 0.5, true, 3};
      const double p[] = {0.3, 0.7, 0.2, 1.1}, x = p[0], y = p[1], z = p[2], t = p[3];
      const double u = std::sin(x) * std::exp(y) + z * z * t, ux = std::cos(x) * std::exp(y), uy = std::sin(x) * std::exp(y), a = 1. + x * y;
      double       s = 0.;
      sources_of(solution, {})[0].evaluate(1, p, &s);
      EXPECT_NEAR(s, z * z - (a * 2. * t + y * ux + x * uy) + 2. * u - 1.5 * u * u, 1e-13);
      solution.dimension = 2;
      sources_of(solution, {})[0].evaluate(1, p, &s);
      EXPECT_NEAR(s, z * z - (y * ux + x * uy) + 2. * u - 1.5 * u * u, 1e-13);
    }
  } // namespace
} // namespace leopard
