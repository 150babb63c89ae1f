// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "phi_functions.h"
#include "schemes.h"
#include "sums.h"

#include <applications/reaction_diffusion/kinetics/tape_kinetics.h>

namespace leopard::reaction_diffusion
{
  /**
   * A step of the scheme ETDRK4 of du/dt = D laplace u + r(u): Krogstad, J. Comput. Phys. 203 (2005) 72, ETDRK4-B, of
   * order 4, with L = D laplace + J, where J, the mean of dr/du over the nodes, is taken anew with each new step size.
   * A mode of -laplace with eigenvalue lambda has the N x N matrix L = J - lambda D; in these modes, with g(u) = r(u) -
   * J u, which is evaluated at the nodes, and phi_k = phi_k(dt L), psi_k = phi_k(dt L / 2),
   *
   *   a = psi_0 u + dt/2 psi_1 g(u),
   *   b = psi_0 u + dt (psi_1 / 2 - psi_2) g(u) + dt psi_2 g(a),
   *   c = phi_0 u + dt (phi_1 - 2 phi_2) g(u) + 2 dt phi_2 g(b),
   *   v = phi_0 u + dt (phi_1 - 3 phi_2 + 4 phi_3) g(u) + dt (2 phi_2 - 4 phi_3) (g(a) + g(b)) + dt (4 phi_3 - phi_2)
   *   g(c)
   *
   * is the new solution. With g(v) in the place of g(c) v would be of order 3: the difference is one estimate of the
   * error, and g(v) is the next step's g(u). It sees nothing where c and v have the same g, as in a species that is
   * driven by others; so a second one is added, of what the parabola through g at 0, dt/2 and dt leaves out,
   *
   *   dt^4 / 32 phi_1 g[t - last, t, t + dt/2, t + dt],
   *
   * the divided difference with the step before, whose size was `last`, times the integral of |s (s - dt/2) (s - dt)|.
   * Homogeneous steady solutions are kept, and linear reactions are exact. Where r depends on the time a and b are at
   * t + dt/2, c and v at t + dt.
   */
  template <int N>
  struct ExponentialStep
  {
    static constexpr int n_matrices = 7; ///< a mode: psi_0, psi_1, psi_2, phi_0, phi_1, phi_2, phi_3
    static constexpr int n_stages   = 3; ///< a, b, c

    /** Of the step, at which a stage is; beyond the last one is the new solution. */
    static LEOPARD_HOST_DEVICE double fraction(int stage) { return stage < 2 ? 0.5 : 1.; }

    /** Of a mode. @param jacobian J, @param at entry e of matrix m is matrices[(m N N + e) stride]. */
    static LEOPARD_HOST_DEVICE void
    set_up(double dt, const double *jacobian, const double *diffusion, double eigenvalue, double *matrices, long stride)
    {
      double z[N * N];
      for (int e = 0; e < N * N; ++e)
        z[e] = 0.5 * dt * (jacobian[e] - (e % (N + 1) == 0 ? diffusion[e / (N + 1)] * eigenvalue : 0.));
      PhiFunctions<N> phi = PhiFunctions<N>::at(z);
      for (int m = 0; m < 3; ++m)
        for (int e = 0; e < N * N; ++e)
          matrices[(m * N * N + e) * stride] = phi.of[m][e];
      phi.double_argument();
      for (int m = 0; m < 4; ++m)
        for (int e = 0; e < N * N; ++e)
          matrices[((m + 3) * N * N + e) * stride] = phi.of[m][e];
    }

    /** What a mode reads: fields of the whole grid in modes, of which it is mode i; field c at c n + i. */
    struct Mode
    {
      const double *matrices; ///< as set_up() has them, of mode 0
      long          n, i;

      /** result = (weights of psi_0 ... phi_3) v, + what is there. */
      LEOPARD_HOST_DEVICE void add(int m, double weight, const double *v, double *result) const
      {
        for (int c = 0; c < N; ++c)
          for (int d = 0; d < N; ++d)
            result[c] += weight * matrices[((m * N + c) * N + d) * n + i] * v[d];
      }
      LEOPARD_HOST_DEVICE void load(const double *field, double *v) const
      {
        for (int c = 0; c < N; ++c)
          v[c] = field[c * n + i];
      }
      LEOPARD_HOST_DEVICE void store(const double *v, double *field) const
      {
        for (int c = 0; c < N; ++c)
          field[c * n + i] = v[c];
      }
    };

    /** g(u), g(a), g(b), g(c) in modes. */
    struct Rates
    {
      const double *of[n_stages + 1];
    };

    /** a, b or c (stage 0, 1, 2) of a mode. */
    static LEOPARD_HOST_DEVICE void stage(int s, const Mode &mode, double dt, const double *u, const Rates &rates, double *result)
    {
      double sum[N] = {}, v[N];
      mode.load(u, v);
      mode.add(s < 2 ? psi_0 : phi_0, 1., v, sum);
      mode.load(rates.of[0], v);
      mode.add(s < 2 ? psi_1 : phi_1, s < 2 ? 0.5 * dt : dt, v, sum);
      if (s > 0)
        {
          const double weight = s == 1 ? dt : 2. * dt;
          double       w[N];
          mode.load(rates.of[s], w);
          for (int c = 0; c < N; ++c)
            w[c] -= v[c];
          mode.add(s == 1 ? psi_2 : phi_2, weight, w, sum);
        }
      mode.store(sum, result);
    }

    /** v of a mode. */
    static LEOPARD_HOST_DEVICE void finish(const Mode &mode, double dt, const double *u, const Rates &rates, double *result)
    {
      double sum[N] = {}, g[n_stages + 1][N], v[N];
      mode.load(u, v);
      mode.add(phi_0, 1., v, sum);
      for (int s = 0; s <= n_stages; ++s)
        mode.load(rates.of[s], g[s]);
      mode.add(phi_1, dt, g[0], sum);
      for (int c = 0; c < N; ++c)
        v[c] = -3. * g[0][c] + 2. * (g[1][c] + g[2][c]) - g[3][c];
      mode.add(phi_2, dt, v, sum);
      for (int c = 0; c < N; ++c)
        v[c] = 4. * (g[0][c] - g[1][c] - g[2][c] + g[3][c]);
      mode.add(phi_3, dt, v, sum);
      mode.store(sum, result);
    }

    /**
     * The error estimate of a mode. @param older_rates g of the solution before u. @param last the size of the step
     * between them, 0: not known. @param new_rates g(v).
     */
    static LEOPARD_HOST_DEVICE void
    error(const Mode &mode, double dt, double last, const Rates &rates, const double *older_rates, const double *new_rates, double *result)
    {
      double sum[N] = {}, v[N], w[N];
      mode.load(rates.of[n_stages], v);
      mode.load(new_rates, w);
      for (int c = 0; c < N; ++c)
        v[c] -= w[c];
      mode.add(phi_3, 4. * dt, v, sum);
      mode.add(phi_2, -dt, v, sum);
      if (last > 0.)
        {
          double older[N], old[N], middle[N];
          mode.load(older_rates, older);
          mode.load(rates.of[0], old);
          mode.load(rates.of[2], middle);
          const double square = dt * dt, to_middle = last + 0.5 * dt, to_end = last + dt;
          for (int c = 0; c < N; ++c)
            v[c] = 2. * old[c] / (last * square) - older[c] / (last * to_middle * to_end) - 4. * middle[c] / (square * to_middle) +
                   2. * w[c] / (square * to_end);
          mode.add(phi_1, square * square / 32., v, sum);
        }
      mode.store(sum, result);
    }

    /** g(u) of one J from that of another in modes. @param difference the old J less the new one. */
    static LEOPARD_HOST_DEVICE void change_jacobian(const Mode &mode, const double *difference, const double *u, double *rates)
    {
      double v[N], g[N];
      mode.load(u, v);
      mode.load(rates, g);
      for (int c = 0; c < N; ++c)
        for (int d = 0; d < N; ++d)
          g[c] += difference[c * N + d] * v[d];
      mode.store(g, rates);
    }

  private:
    enum Matrix
    {
      psi_0,
      psi_1,
      psi_2,
      phi_0,
      phi_1,
      phi_2,
      phi_3
    };
  };

  /** What happens at a node in these steps; arrays are of its N fields. */
  template <typename Kinetics>
  struct ExponentialNodes
  {
    static constexpr int N = Kinetics::n_species;

    Kinetics kinetics;
    double   gamma;

    /** g = gamma f(u) - J u. */
    LEOPARD_HOST_DEVICE void rate(const double *jacobian, const double *u, NodeAtTime at, double *g) const
    {
      double r[N];
      kinetics.evaluate(u, at, r, nullptr);
      for (int c = 0; c < N; ++c)
        {
          g[c] = gamma * r[c];
          for (int d = 0; d < N; ++d)
            g[c] -= jacobian[c * N + d] * u[d];
        }
    }

    /** Adds gamma df_c/du_d to sums[c N + d], and the squares of u to sums[N N]. */
    LEOPARD_HOST_DEVICE void add_jacobian(const double *u, NodeAtTime at, double *sums) const
    {
      double r[N], j[N * N];
      kinetics.evaluate(u, at, r, j);
      for (int c = 0; c < N; ++c)
        sums[N * N] += u[c] * u[c];
      for (int e = 0; e < N * N; ++e)
        sums[e] += gamma * j[e];
    }
  };

  /** Adds what Sums are after a step, of one value. @param error the estimate. @param rms of the old solution. */
  LEOPARD_HOST_DEVICE inline void add_sums_of_step(double rms, double old, double u, double error, Sums &sums)
  {
    const double e = error / error_scale(u, rms), change = u - old;
    sums.squares += u * u;
    sums.history += e * e;
    sums.largest = larger_or_nan(e * e, sums.largest);
    sums.change += change * change;
    sums.negative += u < 0. ? 1. : 0.;
  }
} // namespace leopard::reaction_diffusion
