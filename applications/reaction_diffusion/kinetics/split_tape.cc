// SPDX-License-Identifier: Apache-2.0
#include "split_tape.h"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace leopard::reaction_diffusion
{
  ExpressionTape product(const ExpressionTape &factor, const ExpressionTape &tape, unsigned int n_variables)
  {
    ExpressionTape result;
    result.n_inputs  = n_variables + factor.n_inputs;
    result.constants = factor.constants;
    result.constants.insert(result.constants.end(), tape.constants.begin(), tape.constants.end());
    // where a register of either is now
    const auto moved = [&](const ExpressionTape &from, unsigned int first_input, std::size_t first_constant, std::size_t first_instruction) {
      return
        [&from, first_input, constants = result.n_inputs + first_constant, operations = result.n_registers() + first_instruction](std::size_t i) {
          const std::size_t n_known = from.n_inputs + from.constants.size();
          return static_cast<std::uint16_t>(i < from.n_inputs ? first_input + i
                                            : i < n_known     ? constants + i - from.n_inputs
                                                              : operations + i - n_known);
        };
    };
    const auto of_factor = moved(factor, n_variables, 0, 0), of_tape = moved(tape, 0, factor.constants.size(), factor.instructions.size());
    for (const ExpressionTape::Instruction &i : factor.instructions)
      result.instructions.push_back({i.operation, of_factor(i.a), of_factor(i.b)});
    for (const ExpressionTape::Instruction &i : tape.instructions)
      result.instructions.push_back({i.operation, of_tape(i.a), of_tape(i.b)});
    for (const std::uint16_t output : tape.outputs)
      {
        result.outputs.push_back(static_cast<std::uint16_t>(result.n_registers()));
        result.instructions.push_back({Operation::multiply, of_factor(factor.outputs[0]), of_tape(output)});
      }
    return result;
  }

  ExpressionTape one_where_allowed(const ExpressionTape &coefficient, double least)
  {
    ExpressionTape    result  = coefficient;
    const std::size_t n_known = coefficient.n_inputs + coefficient.constants.size(); // then two constants more
    const auto        moved   = [&](std::uint16_t i) { return static_cast<std::uint16_t>(i < n_known ? i : i + 2); };
    result.constants.insert(result.constants.end(), {least, std::numeric_limits<double>::max()});
    for (ExpressionTape::Instruction &instruction : result.instructions)
      instruction = {instruction.operation, moved(instruction.a), moved(instruction.b)};
    const auto append = [&](Operation operation, std::uint16_t a, std::uint16_t b) {
      result.instructions.push_back({operation, a, b});
      return static_cast<std::uint16_t>(result.n_registers() - 1);
    };
    const auto          lower = static_cast<std::uint16_t>(n_known), upper = static_cast<std::uint16_t>(n_known + 1);
    const std::uint16_t value = moved(coefficient.outputs[0]);
    const std::uint16_t is_in = append(Operation::multiply, append(Operation::less_equal, lower, value), append(Operation::less_equal, value, upper));
    result.outputs            = {append(Operation::divide, is_in, is_in)}; // 0/0
    return result;
  }

  ExpressionTape with_terms(const ExpressionTape &tape, unsigned int n)
  {
    ExpressionTape result = tape;
    result.n_inputs += n;
    const auto moved = [&](std::uint16_t i) { return static_cast<std::uint16_t>(i < tape.n_inputs ? i : i + n); };
    for (ExpressionTape::Instruction &instruction : result.instructions)
      instruction = {instruction.operation, moved(instruction.a), moved(instruction.b)};
    for (std::uint16_t &output : result.outputs)
      output = moved(output);
    for (unsigned int c = 0; c < n; ++c)
      {
        const auto sum = static_cast<std::uint16_t>(result.n_registers());
        result.instructions.push_back({Operation::add, result.outputs[c], static_cast<std::uint16_t>(tape.n_inputs + c)});
        result.outputs[c] = sum;
      }
    return result;
  }

  SplitTape split(const ExpressionTape &tape, const std::vector<bool> &is_given)
  {
    enum Kind : std::uint8_t
    {
      constant,
      given,
      varying
    };
    const std::size_t first = tape.n_inputs + tape.constants.size();
    std::vector<Kind> kind(tape.n_registers(), constant);
    for (unsigned int i = 0; i < tape.n_inputs; ++i)
      kind[i] = is_given[i] ? given : varying;
    for (std::size_t i = 0; i < tape.instructions.size(); ++i)
      kind[first + i] = std::max(kind[tape.instructions[i].a], kind[tape.instructions[i].b]);

    std::vector<bool> needed(tape.n_registers(), false); // by the rest
    for (const std::uint16_t output : tape.outputs)
      needed[output] = true;
    for (std::size_t i = tape.instructions.size(); i-- > 0;)
      if (needed[first + i] && kind[first + i] != given)
        needed[tape.instructions[i].a] = needed[tape.instructions[i].b] = true;

    SplitTape result;
    result.given = tape;
    result.given.outputs.clear();
    std::vector<std::uint16_t> number(tape.n_registers(), 0); // in the rest
    for (unsigned int i = 0; i < tape.n_inputs; ++i)
      if (kind[i] == varying)
        number[i] = static_cast<std::uint16_t>(result.rest.n_inputs++);
    for (std::size_t r = 0; r < number.size(); ++r)
      if (needed[r] && kind[r] == given)
        {
          number[r] = static_cast<std::uint16_t>(result.rest.n_inputs++);
          result.given.outputs.push_back(static_cast<std::uint16_t>(r));
        }
    for (std::size_t c = 0; c < tape.constants.size(); ++c)
      if (needed[tape.n_inputs + c])
        {
          number[tape.n_inputs + c] = static_cast<std::uint16_t>(result.rest.n_registers());
          result.rest.constants.push_back(tape.constants[c]);
        }
    for (std::size_t i = 0; i < tape.instructions.size(); ++i)
      if (needed[first + i] && kind[first + i] != given)
        {
          const ExpressionTape::Instruction &from = tape.instructions[i];
          number[first + i]                       = static_cast<std::uint16_t>(result.rest.n_registers());
          result.rest.instructions.push_back({from.operation, number[from.a], number[from.b]});
        }
    for (const std::uint16_t output : tape.outputs)
      result.rest.outputs.push_back(number[output]);
    return result;
  }
} // namespace leopard::reaction_diffusion
