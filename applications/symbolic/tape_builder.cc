// SPDX-License-Identifier: Apache-2.0
#include "tape_builder.h"

#include <solvers/base/errors.h>

#include <cstring>
#include <limits>

namespace leopard
{
  TapeBuilder::TapeBuilder(unsigned int n_inputs_)
    : n_inputs(n_inputs_)
  {
  }

  TapeBuilder::Register TapeBuilder::constant(double value)
  {
    for (unsigned int i = 0; i < constants.size(); ++i)
      if (std::memcmp(&constants[i], &value, sizeof(value)) == 0) // 0 and -0 differ
        return first_constant + static_cast<Register>(i);
    constants.push_back(value);
    return first_constant + static_cast<Register>(constants.size()) - 1;
  }

  TapeBuilder::Register TapeBuilder::apply(Operation operation, Register a, Register b)
  {
    const auto [found, is_new] = known.emplace(std::make_tuple(operation, a, b), first_instruction + static_cast<Register>(instructions.size()));
    if (is_new)
      instructions.emplace_back(operation, a, b);
    return found->second;
  }

  ExpressionTape TapeBuilder::tape() const
  {
    ExpressionTape result;
    result.n_inputs  = n_inputs;
    result.constants = constants;
    if (n_inputs + constants.size() + instructions.size() > std::numeric_limits<std::uint16_t>::max())
      throw Error("the expressions of the kinetics have more than 65535 operations\n  expected: shorter ones");
    const auto number = [&](Register r) {
      const auto base = static_cast<Register>(n_inputs);
      return static_cast<std::uint16_t>(r >= first_instruction ? base + static_cast<Register>(constants.size()) + r - first_instruction
                                        : r >= first_constant  ? base + r - first_constant
                                                               : r);
    };
    for (const auto &[operation, a, b] : instructions)
      result.instructions.push_back({operation, number(a), number(b)});
    for (const Register output : outputs)
      result.outputs.push_back(number(output));
    return result;
  }
} // namespace leopard
