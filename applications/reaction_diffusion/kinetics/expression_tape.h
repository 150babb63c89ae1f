// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <solvers/base/host_device.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

namespace leopard::reaction_diffusion
{
  /**
   * What an instruction of a tape does with registers a and b; those from `negate` on have one argument. Truth is 1,
   * and what is not 0 is true; `when` is b where a is true and 0 elsewhere, `unless` the other way round, so that their
   * sum is a choice of which the other part may be infinite.
   */
  enum class Operation : std::uint8_t
  {
    add,
    subtract,
    multiply,
    divide,
    power,
    atan2,
    less,
    less_equal,
    equal,
    minimum,
    maximum,
    when,
    unless,
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

  template <Operation operation>
  LEOPARD_HOST_DEVICE double apply(double a, double b)
  {
    using O = Operation;
    if constexpr (operation == O::add)
      return a + b;
    else if constexpr (operation == O::subtract)
      return a - b;
    else if constexpr (operation == O::multiply)
      return a * b;
    else if constexpr (operation == O::divide)
      return a / b;
    else if constexpr (operation == O::power)
      return std::pow(a, b);
    else if constexpr (operation == O::atan2)
      return std::atan2(a, b);
    else if constexpr (operation == O::less)
      return a < b ? 1. : 0.;
    else if constexpr (operation == O::less_equal)
      return a <= b ? 1. : 0.;
    else if constexpr (operation == O::equal)
      return a == b ? 1. : 0.;
    else if constexpr (operation == O::minimum)
      return b < a ? b : a;
    else if constexpr (operation == O::maximum)
      return a < b ? b : a;
    else if constexpr (operation == O::when)
      return a != 0. ? b : 0.;
    else if constexpr (operation == O::unless)
      return a != 0. ? 0. : b;
    else if constexpr (operation == O::negate)
      return -a;
    else if constexpr (operation == O::abs)
      return std::fabs(a);
    else if constexpr (operation == O::sign)
      return static_cast<double>((a > 0.) - (a < 0.));
    else if constexpr (operation == O::sqrt)
      return std::sqrt(a);
    else if constexpr (operation == O::exp)
      return std::exp(a);
    else if constexpr (operation == O::log)
      return std::log(a);
    else if constexpr (operation == O::sin)
      return std::sin(a);
    else if constexpr (operation == O::cos)
      return std::cos(a);
    else if constexpr (operation == O::tan)
      return std::tan(a);
    else if constexpr (operation == O::asin)
      return std::asin(a);
    else if constexpr (operation == O::acos)
      return std::acos(a);
    else if constexpr (operation == O::atan)
      return std::atan(a);
    else if constexpr (operation == O::sinh)
      return std::sinh(a);
    else if constexpr (operation == O::cosh)
      return std::cosh(a);
    else if constexpr (operation == O::tanh)
      return std::tanh(a);
    else if constexpr (operation == O::asinh)
      return std::asinh(a);
    else if constexpr (operation == O::acosh)
      return std::acosh(a);
    else
      return std::atanh(a);
  }

  template <Operation operation>
  using OperationConstant = std::integral_constant<Operation, operation>;

  /** Calls visitor(OperationConstant<operation>()). */
  template <typename Visitor>
  LEOPARD_HOST_DEVICE void with_operation(Operation operation, Visitor &visitor)
  {
    using O = Operation;
    switch (operation)
      {
        case O::add:
          return visitor(OperationConstant<O::add>());
        case O::subtract:
          return visitor(OperationConstant<O::subtract>());
        case O::multiply:
          return visitor(OperationConstant<O::multiply>());
        case O::divide:
          return visitor(OperationConstant<O::divide>());
        case O::power:
          return visitor(OperationConstant<O::power>());
        case O::atan2:
          return visitor(OperationConstant<O::atan2>());
        case O::less:
          return visitor(OperationConstant<O::less>());
        case O::less_equal:
          return visitor(OperationConstant<O::less_equal>());
        case O::equal:
          return visitor(OperationConstant<O::equal>());
        case O::minimum:
          return visitor(OperationConstant<O::minimum>());
        case O::maximum:
          return visitor(OperationConstant<O::maximum>());
        case O::when:
          return visitor(OperationConstant<O::when>());
        case O::unless:
          return visitor(OperationConstant<O::unless>());
        case O::negate:
          return visitor(OperationConstant<O::negate>());
        case O::abs:
          return visitor(OperationConstant<O::abs>());
        case O::sign:
          return visitor(OperationConstant<O::sign>());
        case O::sqrt:
          return visitor(OperationConstant<O::sqrt>());
        case O::exp:
          return visitor(OperationConstant<O::exp>());
        case O::log:
          return visitor(OperationConstant<O::log>());
        case O::sin:
          return visitor(OperationConstant<O::sin>());
        case O::cos:
          return visitor(OperationConstant<O::cos>());
        case O::tan:
          return visitor(OperationConstant<O::tan>());
        case O::asin:
          return visitor(OperationConstant<O::asin>());
        case O::acos:
          return visitor(OperationConstant<O::acos>());
        case O::atan:
          return visitor(OperationConstant<O::atan>());
        case O::sinh:
          return visitor(OperationConstant<O::sinh>());
        case O::cosh:
          return visitor(OperationConstant<O::cosh>());
        case O::tanh:
          return visitor(OperationConstant<O::tanh>());
        case O::asinh:
          return visitor(OperationConstant<O::asinh>());
        case O::acosh:
          return visitor(OperationConstant<O::acosh>());
        case O::atanh:
          return visitor(OperationConstant<O::atanh>());
      }
  }

  /**
   * Some expressions in some variables as one straight-line program: instructions that each write a register of their
   * own. The registers are the inputs, then the constants, then one for each instruction. Of any length; CompactTape is
   * the form for GPU kernels.
   */
  struct ExpressionTape
  {
    /** result register = operation(register a, register b); operations of one argument have b = a. */
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
     * Evaluates all expressions at many points, a few points at a time, so that the cost of reading an instruction is
     * shared and its arithmetic is vectorized. May be called by several threads at once; allocates at a thread's first
     * call only.
     *
     * @param inputs host, n_points * n_inputs, the variables of a point side by side
     * @param values host, n_points * outputs.size(), the expressions of a point side by side; gets the results
     */
    void evaluate(unsigned int n_points, const double *inputs, double *values) const;
  };

  /** A tape of limited length in one piece of memory, for one point at a time: it is passed by value to GPU kernels. */
  struct CompactTape
  {
    static constexpr int max_instructions = 256, max_constants = 64, max_registers = 48, max_outputs = 42;

    /**
     * An operand below max_registers is a register, else constant a - max_registers. Registers are used again when
     * their value is dead.
     */
    struct Instruction
    {
      Operation    operation;
      std::uint8_t result, a, b;
    };

    int          n_instructions       = 0;
    int          n_first_instructions = 0; ///< so many are enough for the first outputs
    double       constants[max_constants];
    Instruction  instructions[max_instructions];
    std::uint8_t outputs[max_outputs]; ///< operands

    /** Why a tape cannot be made compact, in a sentence; empty if it can. */
    static std::string why_not(const ExpressionTape &tape);

    CompactTape() = default;
    /** @param n_first_outputs for which n_first_instructions is. @throws InvalidInput with why_not(). */
    CompactTape(const ExpressionTape &tape, int n_first_outputs);

    LEOPARD_HOST_DEVICE double operand(const double *registers, std::uint8_t i) const
    {
      return i < max_registers ? registers[i] : constants[i - max_registers];
    }

    /** Executes the first `n` instructions. @param registers max_registers numbers, the inputs first. */
    LEOPARD_HOST_DEVICE void execute(int n, double *registers) const
    {
      for (int i = 0; i < n; ++i)
        {
          const Instruction instruction = instructions[i];
          Evaluation        e{operand(registers, instruction.a), operand(registers, instruction.b), 0.};
          with_operation(instruction.operation, e);
          registers[instruction.result] = e.result;
        }
    }

  private:
    struct Evaluation
    {
      double a, b, result;

      template <Operation operation>
      LEOPARD_HOST_DEVICE void operator()(OperationConstant<operation> /*unused*/)
      {
        result = apply<operation>(a, b);
      }
    };
  };
} // namespace leopard::reaction_diffusion
