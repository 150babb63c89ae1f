// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "random_numbers.h"
#include "step_control.h"

#include <applications/reaction_diffusion/kinetics/tape_kinetics.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace leopard::reaction_diffusion
{
  /**
   * Random forces sigma_c dW_c on the fields, white in space and time, by the scheme of Euler and Maruyama with the
   * drift implicit (Kloeden and Platen, Numerical Solution of Stochastic Differential Equations, 12.2): a step of
   * implicit Euler from t_n has at a node with the lumped mass m
   *
   *   u_c - u_n,c = dt (diffusion_c laplace u_c + gamma f_c(u)) + sigma_c(u_n, x, t_n) sqrt(dt / m) xi_c,
   *
   * xi_c = normal_at() the node for field, step and seed. All dimensionless, arrays in host memory.
   */
  struct NoiseChoice
  {
    ExpressionTape                                   strengths; ///< sigma_c, inputs as of KineticsChoice::expressions; no outputs: no noise
    unsigned int                                     n_further_inputs = 0; ///< as KineticsChoice::n_further_inputs
    std::uint64_t                                    seed             = 1;
    std::shared_ptr<const std::vector<double>>       by_node          = {}; ///< as KineticsChoice::by_node
    std::shared_ptr<const std::vector<RoundedPlace>> places           = {}; ///< of the nodes, as in the arrays of a Stepper
    std::shared_ptr<const std::vector<double>>       mass             = {}; ///< m of the nodes: area or volume

    bool        acts() const { return !strengths.outputs.empty(); }
    long        n_nodes() const { return acts() && mass != nullptr ? static_cast<long>(mass->size()) : 0; }
    std::size_t n_by_node() const { return n_further_inputs > 1 ? n_further_inputs - 1 : 0; }
    /** Why these expressions cannot be stepped, in a sentence; empty if they can or there are none. */
    std::string why_not() const;
    /**
     * @param n_nodes_ of the rank. @throws InvalidInput with why_not(), for another number of species or nodes, and for
     * masses that are not positive.
     */
    void validate(std::size_t n_species, long n_nodes_) const;
  };

  /** The noise of one node: what host loops and GPU kernels share. N is the number of fields. */
  template <int N>
  struct NodeNoise
  {
    TapeKinetics<N>     strength; ///< its rates are sigma_c, without derivatives
    const RoundedPlace *places  = nullptr;
    const double       *mass    = nullptr;
    long                n_nodes = 0;
    std::uint64_t       seed    = 0;

    /**
     * sigma_c sqrt(dt / m) xi_c of the attempt under way, what NodeSystem::increments is to have.
     * @param node as NodeRow::node. @param u_n the old values there. @param increments of all nodes, field c of node i
     * at c * n_nodes + i; gets those of the node.
     */
    LEOPARD_HOST_DEVICE void set(const StepControl &control, int node, const double *u_n, double *increments) const
    {
      double sigma[N];
      strength.evaluate(u_n, {node, control.time}, sigma, nullptr);
      const double root = std::sqrt(control.step_size / mass[node]);
      for (int c = 0; c < N; ++c)
        increments[c * n_nodes + node] =
          sigma[c] == 0. ? 0. : sigma[c] * root * normal_at(places[node], c, static_cast<std::uint64_t>(control.step), seed);
    }
  };

  /** Reads the arrays of the choice, which must be valid. */
  template <int N>
  NodeNoise<N> make_node_noise(const NoiseChoice &choice)
  {
    NodeNoise<N> result{};
    if (!choice.acts())
      return result;
    result.strength = TapeKinetics<N>(choice.strengths, static_cast<int>(choice.n_further_inputs));
    if (choice.n_by_node() > 0)
      result.strength.set_by_node(choice.by_node->data(), choice.n_nodes());
    result.places  = choice.places->data();
    result.mass    = choice.mass->data();
    result.n_nodes = choice.n_nodes();
    result.seed    = choice.seed;
    return result;
  }
} // namespace leopard::reaction_diffusion
