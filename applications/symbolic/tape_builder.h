// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <applications/reaction_diffusion/kinetics/expression_tape.h>

#include <map>
#include <tuple>

namespace leopard
{
  using reaction_diffusion::ExpressionTape;
  using reaction_diffusion::Operation;

  /** Builds an ExpressionTape; the same operation on the same operands is done once. */
  class TapeBuilder
  {
  public:
    using Register = int; ///< not the tape's numbers: tape() assigns these

    explicit TapeBuilder(unsigned int n_inputs);

    Register input(unsigned int i) const { return static_cast<Register>(i); }
    Register constant(double value);
    Register apply(Operation operation, Register a, Register b);
    void     add_output(Register value) { outputs.push_back(value); }

    /** @throws Error for more registers than an instruction can name. */
    ExpressionTape tape() const;

  private:
    static constexpr Register first_constant = 1 << 20, first_instruction = 1 << 21;

    unsigned int                                                  n_inputs;
    std::vector<double>                                           constants;
    std::vector<std::tuple<Operation, Register, Register>>        instructions;
    std::map<std::tuple<Operation, Register, Register>, Register> known;
    std::vector<Register>                                         outputs;
  };
} // namespace leopard
