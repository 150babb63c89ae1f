// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "controller.h"

#include <solvers/base/quick_inverse.h>

namespace leopard::reaction_diffusion
{
  /** The equations of one node: what host loops and GPU kernels share. N is the number of fields. */
  template <typename Kinetics>
  struct NodeSystem
  {
    static constexpr int N = Kinetics::n_species;

    Kinetics kinetics;
    double   gamma;
    double   diffusion[N];
    bool     explicit_reaction; ///< the Jacobian has no derivatives of the reaction
    double   omega;

    const double *increments = nullptr; ///< of noise in this step, NodeNoise::set(); null: none. Memory of whoever reads it
    long          n_nodes    = 0;       ///< from one field to the next there

    /** For the Jacobian of a coarser level, at nodes that have no increments. */
    NodeSystem without_noise() const
    {
      NodeSystem result = *this;
      result.increments = nullptr;
      return result;
    }

    /** Coefficients of the present attempt. */
    struct Scheme : SchemeCoefficients
    {
      double diffusion_factor, reaction_factor, prediction[max_levels], reaction_error, rms;
      double new_time, time[2]; ///< of the new solution; of levels 0 and 1
      bool   explicit_reaction, predicting;

      LEOPARD_HOST_DEVICE explicit Scheme(const Controller &c)
        : SchemeCoefficients(c)
        , diffusion_factor(c.diffusion_factor)
        , reaction_factor(c.reaction_factor)
        , prediction{c.prediction[0], c.prediction[1], c.prediction[2], c.prediction[3]}
        , reaction_error(c.reaction_error)
        , rms(c.rms)
        , new_time(c.time + c.step_size)
        , time{c.time, c.time - c.steps[0]}
        , explicit_reaction(c.explicit_reaction())
        , predicting(c.predicting)
      {
      }

      /**
       * Of one value, the i-th of each level, which is read where the prediction uses it. @tparam n_levels as many as
       * the scheme has.
       */
      template <int n_levels>
      LEOPARD_HOST_DEVICE double predict(const double *const (&levels)[n_levels], long i) const
      {
        double result = prediction[0] * levels[0][i];
        for (int l = 1; l < n_levels; ++l)
          if (prediction[l] != 0.)
            result += prediction[l] * levels[l][i];
        return result;
      }
    };

    /**
     * The largest positive derivative of a rate by its own field, over all nodes, at the time zero; 0 where the
     * reaction is explicit. Kinetics with values by node have them in host memory.
     * @param u host memory, field c of node i at c * n + i.
     */
    double largest_rate(const double *u, long n) const
    {
      double result = 0.;
      if (explicit_reaction)
        return result;
      for (long i = 0; i < n; ++i)
        {
          double here[N], r[N], j[N * N];
          for (int c = 0; c < N; ++c)
            here[c] = u[c * n + i];
          kinetics.evaluate(here, {static_cast<int>(i), 0.}, r, j);
          for (int c = 0; c < N; ++c)
            result = gamma * j[c * N + c] > result ? gamma * j[c * N + c] : result;
        }
      return result;
    }

    double smallest_diffusion() const
    {
      double result = diffusion[0];
      for (int c = 1; c < N; ++c)
        result = diffusion[c] < result ? diffusion[c] : result;
      return result;
    }

    /**
     * What the reaction contributes: factor r and factor dr/du, or in the IMEX scheme their extrapolation and no
     * derivative.
     */
    LEOPARD_HOST_DEVICE void reaction(const Scheme &s, int node, const double *u, const double *u_n, const double *u_o, double *r, double *j) const
    {
      const double factor = gamma * s.reaction_factor;
      if (!s.explicit_reaction)
        {
          kinetics.evaluate(u, {node, s.new_time}, r, j);
          for (int c = 0; c < N; ++c)
            r[c] *= factor;
          for (int e = 0; e < N * N; ++e)
            j[e] *= factor;
          return;
        }
      double r_n[N], r_o[N];
      kinetics.evaluate(u_n, {node, s.time[0], s.new_time}, r_n, nullptr); // weights sum to 1: loads are those of the new time
      for (int c = 0; c < N; ++c)
        r_o[c] = 0.;
      if (s.reaction[1] != 0.)
        kinetics.evaluate(u_o, {node, s.time[1], s.new_time}, r_o, nullptr);
      for (int c = 0; c < N; ++c)
        r[c] = factor * (s.reaction[0] * r_n[c] + s.reaction[1] * r_o[c]);
      for (int e = 0; e < N * N; ++e)
        j[e] = 0.;
    }

    /**
     * The part of the IMEX scheme's error that comes on top of u - prediction, see Controller.
     * @param r the extrapolated reaction; gets the result.
     */
    LEOPARD_HOST_DEVICE void extrapolation_error(const Scheme &s, int node, const double *u, double *r) const
    {
      double now[N];
      kinetics.evaluate(u, {node, s.new_time}, now, nullptr); // without an estimate, too: what is not finite here must not be accepted
      for (int c = 0; c < N; ++c)
        r[c] = s.reaction_error * (r[c] - gamma * s.reaction_factor * now[c]);
    }

    /** Sums::row_rate of a node. @param j derivatives of the reaction, as reaction() gives them. */
    LEOPARD_HOST_DEVICE double row_rate(const Scheme &s, const double *j, const NodeRow &row) const
    {
      double result = 0.;
      for (int c = 0; c < N; ++c)
        {
          double sum = j[c * N + c] + diffusion[c] * (row.excess - row.decay);
          for (int d = 0; d < N; ++d)
            if (d != c)
              sum += j[c * N + d] < 0. ? -j[c * N + d] : j[c * N + d];
          result = larger_or_nan(sum, result);
        }
      return result * s.diffusion_factor;
    }

    /**
     * The residual G and the Jacobian's diagonal block D of a node, and its part of the sums.
     * @param laplace of u at the node, a value a field.
     * @param levels old values at the node, read where the scheme and the prediction use them.
     * @tparam n_levels as many as the scheme has.
     */
    template <int n_levels>
    LEOPARD_HOST_DEVICE void residual(const Scheme &s,
                                      const double *u,
                                      const double *const (&levels)[n_levels],
                                      const double  *laplace,
                                      const NodeRow &row,
                                      double        *g,
                                      double        *block,
                                      Sums          &sums) const
    {
      double r[N];
      reaction(s, row.node, u, levels[0], levels[1], r, block);
      sums.row_rate = Sums::merge(Sums::n - 1, sums.row_rate, row_rate(s, block, row));
      double old[N];
      for (int c = 0; c < N; ++c)
        {
          old[c] = s.history[0] * levels[0][c];
          for (int l = 1; l < n_levels - 1; ++l)
            if (s.history[l] != 0.)
              old[c] += s.history[l] * levels[l][c];
          if (increments != nullptr)
            old[c] += increments[c * n_nodes + row.node];
          const double diffused = row.decay != 0. ? laplace[c] - row.decay * u[c] : laplace[c]; // on a grid no multiplication
          g[c]                  = u[c] - old[c] - s.implicit * (diffusion[c] * diffused + r[c]);
        }
      if (s.explicit_reaction && !s.predicting)
        extrapolation_error(s, row.node, u, r);
      for (int c = 0; c < N; ++c)
        {
          sums.residual += row.weight * row.weight * g[c] * g[c];
          sums.squares += u[c] * u[c];
          if (s.predicting)
            sums.history += row.weight * row.weight * old[c] * old[c];
          else
            {
              const double predicted = s.predict(levels, c);
              const double e         = (u[c] - predicted + (s.explicit_reaction ? r[c] : 0.)) * quick_inverse(error_scale(u[c], s.rms)),
                           change    = u[c] - levels[0][c];
              sums.history += e * e;
              sums.largest = larger_or_nan(e * e, sums.largest);
              sums.change += change * change;
              sums.negative += u[c] < 0. ? 1. : 0.;
            }
        }
      for (int e = 0; e < N * N; ++e)
        block[e] *= -s.implicit;
      for (int c = 0; c < N; ++c)
        block[c * N + c] += 1. + s.implicit * diffusion[c] * (row.diagonal + row.decay);
    }

    /** What sweeps multiply with: the inverse of the diagonal block with NodeRow::damping() of its diffusion. */
    LEOPARD_HOST_DEVICE void relaxation_matrix(const double *block, double implicit, const NodeRow &row, double *result) const
    {
      double damped[N * N];
      for (int e = 0; e < N * N; ++e)
        damped[e] = block[e] + (e % (N + 1) == 0 ? implicit * diffusion[e / (N + 1)] * row.damping() : 0.);
      inverse(damped, result);
    }

    /**
     * The diagonal block with which cycles on a mesh work: that of the Jacobian, D = 1 + implicit diffusion
     * row.diagonal
     * - j, with the derivative j of the reaction, less NodeRow::decay, replaced by a stable one. j_cc > 0 (a field that
     *   grows by itself) becomes 0; of
     * two fields that further each other (j_cd j_dc > 0) so much is taken away that their decay outweighs it. With j
     * itself, levels that are too coarse for the pattern's wavelength would have negative or vanishing eigenvalues;
     * with the stable one relaxation smoothes on every level, however long the step. The difference concerns the few
     * modes that grow, which GCR finds. For two fields the result is stable in the strict sense: trace <= 0,
     * determinant >= 0.
     */
    LEOPARD_HOST_DEVICE void stable_block(const double *block, double implicit, const NodeRow &row, double *result) const
    {
      double j[N * N];
      for (int c = 0; c < N; ++c)
        for (int d = 0; d < N; ++d)
          j[c * N + d] = (c == d ? 1. + implicit * diffusion[c] * row.diagonal : 0.) - block[c * N + d];
      for (int c = 0; c < N; ++c)
        j[c * N + c] = j[c * N + c] < 0. ? j[c * N + c] : 0.;
      for (int c = 0; c < N; ++c)
        for (int d = 0; d < c; ++d)
          {
            const double decay = j[c * N + c] * j[d * N + d], mutual = j[c * N + d] * j[d * N + c];
            if (mutual <= decay)
              continue;
            const double factor = std::sqrt(decay / mutual);
            j[c * N + d] *= factor;
            j[d * N + c] *= factor;
          }
      for (int c = 0; c < N; ++c)
        for (int d = 0; d < N; ++d)
          result[c * N + d] = (c == d ? 1. + implicit * diffusion[c] * row.diagonal : 0.) - j[c * N + d];
    }

    /** The inverse of an N x N block. */
    static LEOPARD_HOST_DEVICE void inverse(const double *block, double *result)
    {
      if constexpr (N == 2)
        {
          const double factor = quick_inverse(block[0] * block[3] - block[1] * block[2]);
          result[0]           = factor * block[3];
          result[1]           = -factor * block[1];
          result[2]           = -factor * block[2];
          result[3]           = factor * block[0];
        }
      else
        {
          // Gauss-Jordan without pivoting: the block is close to the identity plus a diffusion that makes it dominant
          double a[N * N];
          for (int e = 0; e < N * N; ++e)
            {
              a[e]      = block[e];
              result[e] = e / N == e % N ? 1. : 0.;
            }
          for (int p = 0; p < N; ++p)
            {
              const double inverse = 1. / a[p * N + p];
              for (int d = 0; d < N; ++d)
                {
                  a[p * N + d] *= inverse;
                  result[p * N + d] *= inverse;
                }
              for (int c = 0; c < N; ++c)
                if (c != p)
                  {
                    const double f = a[c * N + p];
                    for (int d = 0; d < N; ++d)
                      {
                        a[c * N + d] -= f * a[p * N + d];
                        result[c * N + d] -= f * result[p * N + d];
                      }
                  }
            }
        }
    }

    /**
     * d of a node after it is relaxed: b is the right-hand side plus the neighbours' part; m the inverse of the node's
     * diagonal block, so that its fields are relaxed together; d the old values.
     */
    template <typename Number>
    static LEOPARD_HOST_DEVICE void relax(Number omega, const Number *b, const Number *m, Number *d)
    {
      Number next[N];
      for (int c = 0; c < N; ++c)
        {
          next[c] = Number(0);
          for (int e = 0; e < N; ++e)
            next[c] += m[c * N + e] * b[e];
        }
      for (int c = 0; c < N; ++c)
        d[c] += omega * (next[c] - d[c]);
    }
  };

  /** @param increments see NodeSystem; null where there is no noise. */
  template <typename Kinetics, typename Options>
  NodeSystem<Kinetics> make_node_system(const Kinetics &kinetics, const Options &options, const double *increments = nullptr)
  {
    NodeSystem<Kinetics> system{};
    system.kinetics          = kinetics;
    system.gamma             = options.kinetics.gamma;
    system.explicit_reaction = has_explicit_reaction(options.stepping.scheme);
    system.omega             = options.stepping.omega;
    system.increments        = increments;
    system.n_nodes           = options.noise.n_nodes();
    for (int c = 0; c < Kinetics::n_species; ++c)
      system.diffusion[c] = options.diffusion[c];
    return system;
  }
} // namespace leopard::reaction_diffusion
