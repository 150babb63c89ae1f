// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "expression_tape.h"

namespace leopard::reaction_diffusion
{
  /**
   * Where and when a reaction is evaluated: node as NodeRow::node. Loads, sources and fluxes, have a time of their own:
   * an explicit reaction is that of old solutions, with the loads of the new one.
   */
  struct NodeAtTime
  {
    NodeAtTime() = default;
    LEOPARD_HOST_DEVICE NodeAtTime(int node_, double time_)
      : NodeAtTime(node_, time_, time_)
    {
    }
    LEOPARD_HOST_DEVICE NodeAtTime(int node_, double time_, double load_time_)
      : node(node_)
      , time(time_)
      , load_time(load_time_)
    {
    }

    int    node = 0;
    double time = 0., load_time = 0.;
  };

  /**
   * A reaction of N species given as expressions; a functor like those of kinetics_choice.h. They may depend on the
   * time and on values given by node.
   */
  template <int N>
  struct TapeKinetics
  {
    static constexpr int n_species = N;
    static_assert(N * (N + 1) <= CompactTape::max_outputs);
    CompactTape        tape;
    const CompactTape *device_tape    = nullptr; ///< what GPU code reads: a copy in device memory (see KineticsOnDevice)
    int                n_further      = 0;       ///< KineticsChoice::n_further_inputs
    bool               has_load_time  = false;   ///< KineticsChoice::has_load_time
    const double      *by_node        = nullptr; ///< KineticsChoice::by_node, host memory
    const double      *device_by_node = nullptr; ///< what GPU code reads in its place
    long               n_nodes        = 0;

    TapeKinetics() = default;
    /**
     * @param expressions in N inputs, n_further_ more and, or not, the time of loads: f_1 ... f_N, then df_c/du_d at
     * N + c * N + d. @throws InvalidInput for a tape that is too long.
     */
    explicit TapeKinetics(const ExpressionTape &expressions, int n_further_ = 0, bool has_load_time_ = false)
      : tape(expressions, N)
      , n_further(n_further_)
      , has_load_time(has_load_time_)
    {
    }
    void set_by_node(const double *values, long n_nodes_)
    {
      by_node = values;
      n_nodes = n_nodes_;
    }

    LEOPARD_HOST_DEVICE void evaluate(const double *u, NodeAtTime at, double *r, double *j) const
    {
      const double *const values = copy_at_hand(by_node, &device_by_node);
      run(copy_at_hand(tape, device_tape), n_further, has_load_time, at, n_further > 1 ? values + at.node : nullptr, n_nodes, u, r, j);
    }

  private:
    /**
     * An interpreter with all its functions is long: one copy of it. It is given what it reads by value: a pointer to
     * *this would be one into a kernel's parameters, which are no memory that compute-sanitizer knows.
     * @param values the first value of the node; the others are n_nodes apart.
     */
    LEOPARD_HOST_DEVICE LEOPARD_NO_INLINE static void run(const CompactTape &t,
                                                          int                n_further,
                                                          bool               has_load_time,
                                                          NodeAtTime         at,
                                                          const double      *values,
                                                          long               n_nodes,
                                                          const double      *u,
                                                          double            *r,
                                                          double            *j)
    {
      double registers[CompactTape::max_registers];
      for (int c = 0; c < N; ++c)
        registers[c] = u[c];
      if (n_further > 0)
        registers[N] = at.time;
      for (int p = 0; p + 1 < n_further; ++p)
        registers[N + 1 + p] = values[p * n_nodes];
      if (has_load_time)
        registers[N + n_further] = at.load_time;
      t.execute(j == nullptr ? t.n_first_instructions : t.n_instructions, registers);
      for (int c = 0; c < N; ++c)
        r[c] = t.operand(registers, t.outputs[c]);
      for (int e = 0; j != nullptr && e < N * N; ++e)
        j[e] = t.operand(registers, t.outputs[N + e]);
    }
  };
} // namespace leopard::reaction_diffusion
