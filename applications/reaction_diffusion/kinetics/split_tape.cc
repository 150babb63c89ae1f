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

  bool depends_on_input(const ExpressionTape &tape)
  {
    const auto is_constant = [&](std::uint16_t output) { return output >= tape.n_inputs && output < tape.n_inputs + tape.constants.size(); };
    return !std::all_of(tape.outputs.begin(), tape.outputs.end(), is_constant);
  }

  ExpressionTape with_loads(const ExpressionTape &tape, unsigned int n, const ExpressionTape &factors)
  {
    const std::size_t load_time = tape.n_inputs + factors.outputs.size() * n, n_inputs = load_time + (depends_on_input(factors) ? 1 : 0);
    ExpressionTape    result;
    result.n_inputs = static_cast<unsigned int>(n_inputs);
    for (const std::vector<double> &constants : {tape.constants, factors.constants})
      result.constants.insert(result.constants.end(), constants.begin(), constants.end());
    const std::size_t of_factors = n_inputs + tape.constants.size();
    const auto        append     = [&](Operation operation, std::size_t a, std::size_t b) {
      result.instructions.push_back({operation, static_cast<std::uint16_t>(a), static_cast<std::uint16_t>(b)});
      return result.n_registers() - std::size_t(1);
    };
    // Appends the instructions of a tape; the registers that they have now. @param inputs, constants where they are.
    const auto append_all = [&](const ExpressionTape &from, std::size_t inputs, std::size_t constants) {
      std::vector<std::size_t> now;
      for (std::size_t i = 0; i < from.n_inputs; ++i)
        now.push_back(inputs + i);
      for (std::size_t i = 0; i < from.constants.size(); ++i)
        now.push_back(constants + i);
      for (const ExpressionTape::Instruction &i : from.instructions)
        now.push_back(append(i.operation, now[i.a], now[i.b]));
      return now;
    };
    const std::vector<std::size_t> in_tape = append_all(tape, 0, n_inputs), in_factors = append_all(factors, load_time, of_factors);
    std::vector<std::size_t>       outputs;
    for (const std::uint16_t output : tape.outputs)
      outputs.push_back(in_tape[output]);
    for (std::size_t k = 0; k < factors.outputs.size(); ++k)
      for (std::size_t c = 0; c < n; ++c)
        {
          const std::size_t constant = factors.outputs[k] - factors.n_inputs, load = tape.n_inputs + k * n + c;
          const bool is_one = factors.outputs[k] >= factors.n_inputs && constant < factors.constants.size() && factors.constants[constant] == 1.;
          outputs[c]        = append(Operation::add, outputs[c], is_one ? load : append(Operation::multiply, in_factors[factors.outputs[k]], load));
        }
    for (const std::size_t output : outputs)
      result.outputs.push_back(static_cast<std::uint16_t>(output));
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
