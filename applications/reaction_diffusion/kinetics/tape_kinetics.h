// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "expression_tape.h"

namespace leopard::reaction_diffusion
{
  /** A reaction of N species given as expressions; a functor like those of kinetics_choice.h. */
  template <int N>
  struct TapeKinetics
  {
    static constexpr int n_species = N;
    static_assert(N * (N + 1) <= CompactTape::max_outputs);
    CompactTape        tape;
    const CompactTape *device_tape = nullptr; ///< what GPU code reads: a copy in device memory (see KineticsOnDevice)

    TapeKinetics() = default;
    /**
     * @param expressions in N inputs: f_1 ... f_N, then df_c/du_d at N + c * N + d. @throws InvalidInput for a tape
     * that is too long.
     */
    explicit TapeKinetics(const ExpressionTape &expressions)
      : tape(expressions, N)
    {
    }

    // an interpreter with all its functions is long: one copy of it
    LEOPARD_HOST_DEVICE LEOPARD_NO_INLINE void evaluate(const double *u, double *r, double *j) const
    {
      const CompactTape &t = copy_at_hand(tape, device_tape);
      double             registers[CompactTape::max_registers];
      for (int c = 0; c < N; ++c)
        registers[c] = u[c];
      t.execute(j == nullptr ? t.n_first_instructions : t.n_instructions, registers);
      for (int c = 0; c < N; ++c)
        r[c] = t.operand(registers, t.outputs[c]);
      for (int e = 0; j != nullptr && e < N * N; ++e)
        j[e] = t.operand(registers, t.outputs[N + e]);
    }
  };
} // namespace leopard::reaction_diffusion
