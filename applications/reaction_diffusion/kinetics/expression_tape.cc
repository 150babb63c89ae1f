// SPDX-License-Identifier: Apache-2.0
#include "expression_tape.h"

#include <solvers/base/errors.h>

#include <algorithm>
#include <cstdint>

namespace leopard::reaction_diffusion
{
  namespace
  {
    /** @tparam width points that an instruction handles at once. */
    template <unsigned int width>
    struct Lanes
    {
      const double *a, *b;
      double       *result;

      template <Operation operation>
      void operator()(OperationConstant<operation> /*unused*/)
      {
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC ivdep
#endif
        for (unsigned int l = 0; l < width; ++l)
          result[l] = apply<operation>(a[l], b[l]);
      }
    };

    template <unsigned int width>
    void evaluate_in_lanes(const ExpressionTape &tape, unsigned int n_points, const double *inputs, double *values)
    {
      const unsigned int                      n_inputs = tape.n_inputs;
      static thread_local std::vector<double> registers;
      if (registers.size() < tape.n_registers() * width)
        registers.resize(tape.n_registers() * width);
      for (unsigned int c = 0; c < tape.constants.size(); ++c)
        std::fill_n(registers.data() + (n_inputs + c) * width, width, tape.constants[c]);
      double *const first_result = registers.data() + (n_inputs + tape.constants.size()) * width;

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
          for (const ExpressionTape::Instruction &instruction : tape.instructions)
            {
              Lanes<width> lanes{registers.data() + instruction.a * width, registers.data() + instruction.b * width, result};
              with_operation(instruction.operation, lanes);
              result += width;
            }
          const unsigned int n_outputs       = tape.outputs.size();
          double *const      result_of_point = values + static_cast<std::size_t>(begin) * n_outputs;
          for (unsigned int o = 0; o < n_outputs; ++o)
            {
              const double *const lanes = registers.data() + tape.outputs[o] * width;
              for (unsigned int l = 0; l < n; ++l)
                result_of_point[l * n_outputs + o] = lanes[l];
            }
        }
    }
  } // namespace

  void ExpressionTape::evaluate(unsigned int n_points, const double *inputs, double *values) const
  {
    if (n_points < 4)
      evaluate_in_lanes<1>(*this, n_points, inputs, values);
    else
      evaluate_in_lanes<64>(*this, n_points, inputs, values); // whose registers stay in the first cache
  }

  namespace
  {
    /** Gives each instruction of a tape a register that no living value has. */
    struct Registers
    {
      explicit Registers(const ExpressionTape &tape)
        : first(tape.n_inputs + tape.constants.size())
        , n(static_cast<int>(tape.n_inputs))
        , number(tape.instructions.size())
      {
        std::vector<std::size_t> last_use(tape.instructions.size());
        for (std::size_t i = 0; i < last_use.size(); ++i)
          {
            last_use[i] = i;
            for (const std::size_t operand : {tape.instructions[i].a, tape.instructions[i].b})
              if (operand >= first)
                last_use[operand - first] = i;
          }
        for (const std::size_t output : tape.outputs)
          if (output >= first)
            last_use[output - first] = last_use.size();
        std::vector<int> free;
        for (std::size_t i = 0; i < last_use.size(); ++i)
          {
            for (const std::size_t operand : {tape.instructions[i].a, tape.instructions[i].b})
              if (operand >= first && last_use[operand - first] == i && std::find(free.begin(), free.end(), number[operand - first]) == free.end())
                free.push_back(number[operand - first]); // once, also where both operands are the same
            if (free.empty())
              free.push_back(n++);
            number[i] = free.back();
            free.pop_back();
            if (last_use[i] == i) // nobody reads it
              free.push_back(number[i]);
          }
      }

      std::size_t      first;  ///< the tape's register of the first instruction
      int              n;      ///< how many there are
      std::vector<int> number; ///< of each instruction
    };
  } // namespace

  std::string CompactTape::why_not(const ExpressionTape &tape)
  {
    const auto exceeds = [](std::size_t found, int most, const std::string &what) {
      return found > static_cast<std::size_t>(most) ? "they have " + std::to_string(found) + " " + what + ", more than " + std::to_string(most)
                                                    : std::string();
    };
    for (const std::string &reason : {exceeds(tape.instructions.size(), max_instructions, "operations with their derivatives"),
                                      exceeds(tape.constants.size(), max_constants, "constants"),
                                      exceeds(tape.outputs.size(), max_outputs, "values and derivatives")})
      if (!reason.empty())
        return reason;
    return exceeds(Registers(tape).n, max_registers, "values to be kept at a time");
  }

  CompactTape::CompactTape(const ExpressionTape &tape, int n_first_outputs)
    : n_instructions(static_cast<int>(tape.instructions.size()))
    , constants{}
    , instructions{}
    , outputs{}
  {
    if (const std::string reason = why_not(tape); !reason.empty())
      throw InvalidInput("the expressions are too long: " + reason + "\n  expected: shorter expressions");
    const Registers registers(tape);
    const auto      operand = [&](std::size_t i) {
      return static_cast<std::uint8_t>(i < tape.n_inputs     ? i
                                            : i < registers.first ? max_registers + i - tape.n_inputs
                                                                  : registers.number[i - registers.first]);
    };
    std::copy(tape.constants.begin(), tape.constants.end(), constants);
    for (int i = 0; i < n_instructions; ++i)
      {
        const ExpressionTape::Instruction &from = tape.instructions[i];
        instructions[i]                         = {from.operation, static_cast<std::uint8_t>(registers.number[i]), operand(from.a), operand(from.b)};
      }
    for (int o = 0; o < static_cast<int>(tape.outputs.size()); ++o)
      {
        outputs[o] = operand(tape.outputs[o]);
        if (o < n_first_outputs && tape.outputs[o] >= registers.first)
          n_first_instructions = std::max(n_first_instructions, static_cast<int>(tape.outputs[o] - registers.first) + 1);
      }
  }
} // namespace leopard::reaction_diffusion
