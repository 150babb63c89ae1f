// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace leopard
{
  /**
   * Some expressions in some variables as one straight-line program: instructions that each write a register of their own. The registers
   * are the inputs, then the constants, then one for each instruction. It is plain data, so that other backends can interpret or print it.
   */
  struct ExpressionTape
  {
    enum class Operation : std::uint8_t
    {
      add,
      subtract,
      multiply,
      divide,
      power,
      atan2,
      negate,
      abs,
      sign,
      sqrt,
      exp,
      log,
      sin,
      cos,
      tan,
      asin,
      acos,
      atan,
      sinh,
      cosh,
      tanh,
      asinh,
      acosh,
      atanh
    };

    /** result register = operation(register a, register b); operations of one argument, those from `negate` on, have b = a. */
    struct Instruction
    {
      Operation     operation;
      std::uint16_t a, b;
    };

    unsigned int               n_inputs = 0;
    std::vector<double>        constants;
    std::vector<Instruction>   instructions; ///< instruction i writes register n_inputs + constants.size() + i
    std::vector<std::uint16_t> outputs;      ///< the registers that hold the values of the expressions

    unsigned int n_registers() const { return n_inputs + static_cast<unsigned int>(constants.size() + instructions.size()); }

    /**
     * Evaluates all expressions at many points, a few points at a time, so that the cost of reading an instruction is shared and its
     * arithmetic is vectorized. May be called by several threads at once; allocates at a thread's first call only.
     *
     * @param inputs host, n_points * n_inputs, the variables of a point side by side
     * @param values host, n_points * outputs.size(), the expressions of a point side by side; gets the results
     */
    void evaluate(unsigned int n_points, const double *inputs, double *values) const;
  };
} // namespace leopard
