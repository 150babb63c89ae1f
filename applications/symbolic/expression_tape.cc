// SPDX-License-Identifier: Apache-2.0
#include "expression_tape.h"

#include <algorithm>
#include <cmath>

namespace leopard
{
  namespace
  {
    constexpr unsigned int width = 64; ///< points that an instruction handles at once; their registers stay in the first cache

    template <typename Function>
    void apply(const double *a, const double *b, double *result, const Function &f)
    {
#pragma GCC ivdep
      for (unsigned int l = 0; l < width; ++l)
        result[l] = f(a[l], b[l]);
    }

    void execute(ExpressionTape::Operation operation, const double *a, const double *b, double *r)
    {
      using O = ExpressionTape::Operation;
      switch (operation)
        {
          case O::add:
            return apply(a, b, r, [](double x, double y) { return x + y; });
          case O::subtract:
            return apply(a, b, r, [](double x, double y) { return x - y; });
          case O::multiply:
            return apply(a, b, r, [](double x, double y) { return x * y; });
          case O::divide:
            return apply(a, b, r, [](double x, double y) { return x / y; });
          case O::power:
            return apply(a, b, r, [](double x, double y) { return std::pow(x, y); });
          case O::atan2:
            return apply(a, b, r, [](double x, double y) { return std::atan2(x, y); });
          case O::negate:
            return apply(a, b, r, [](double x, double) { return -x; });
          case O::abs:
            return apply(a, b, r, [](double x, double) { return std::abs(x); });
          case O::sign:
            return apply(a, b, r, [](double x, double) { return static_cast<double>((x > 0.) - (x < 0.)); });
          case O::sqrt:
            return apply(a, b, r, [](double x, double) { return std::sqrt(x); });
          case O::exp:
            return apply(a, b, r, [](double x, double) { return std::exp(x); });
          case O::log:
            return apply(a, b, r, [](double x, double) { return std::log(x); });
          case O::sin:
            return apply(a, b, r, [](double x, double) { return std::sin(x); });
          case O::cos:
            return apply(a, b, r, [](double x, double) { return std::cos(x); });
          case O::tan:
            return apply(a, b, r, [](double x, double) { return std::tan(x); });
          case O::asin:
            return apply(a, b, r, [](double x, double) { return std::asin(x); });
          case O::acos:
            return apply(a, b, r, [](double x, double) { return std::acos(x); });
          case O::atan:
            return apply(a, b, r, [](double x, double) { return std::atan(x); });
          case O::sinh:
            return apply(a, b, r, [](double x, double) { return std::sinh(x); });
          case O::cosh:
            return apply(a, b, r, [](double x, double) { return std::cosh(x); });
          case O::tanh:
            return apply(a, b, r, [](double x, double) { return std::tanh(x); });
          case O::asinh:
            return apply(a, b, r, [](double x, double) { return std::asinh(x); });
          case O::acosh:
            return apply(a, b, r, [](double x, double) { return std::acosh(x); });
          case O::atanh:
            return apply(a, b, r, [](double x, double) { return std::atanh(x); });
        }
    }
  } // namespace

  void ExpressionTape::evaluate(unsigned int n_points, const double *inputs, double *values) const
  {
    static thread_local std::vector<double> registers;
    if (registers.size() < n_registers() * width)
      registers.resize(n_registers() * width);
    for (unsigned int c = 0; c < constants.size(); ++c)
      std::fill_n(registers.data() + (n_inputs + c) * width, width, constants[c]);
    double *const first_result = registers.data() + (n_inputs + constants.size()) * width;

    for (unsigned int begin = 0; begin < n_points; begin += width)
      {
        const unsigned int  n     = std::min(width, n_points - begin);
        const double *const point = inputs + static_cast<std::size_t>(begin) * n_inputs;
        for (unsigned int i = 0; i < n_inputs; ++i)
          {
            double *const lanes = registers.data() + i * width;
            if (n == width)
              for (unsigned int l = 0; l < width; ++l)
                lanes[l] = point[l * n_inputs + i];
            else
              for (unsigned int l = 0; l < width; ++l) // lanes beyond the end repeat the last point
                lanes[l] = point[std::min(l, n - 1) * n_inputs + i];
          }
        double *result = first_result;
        for (const Instruction &instruction : instructions)
          {
            execute(instruction.operation, registers.data() + instruction.a * width, registers.data() + instruction.b * width, result);
            result += width;
          }
        const unsigned int n_outputs       = outputs.size();
        double *const      result_of_point = values + static_cast<std::size_t>(begin) * n_outputs;
        for (unsigned int o = 0; o < n_outputs; ++o)
          {
            const double *const lanes = registers.data() + outputs[o] * width;
            for (unsigned int l = 0; l < n; ++l)
              result_of_point[l * n_outputs + o] = lanes[l];
          }
      }
  }
} // namespace leopard
