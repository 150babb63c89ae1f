// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace leopard
{
  /** What the choice of a linear solver depends on. */
  struct SolverTask
  {
    bool        is_needed         = true;   ///< false: nothing is solved, so that no entry of the section contradicts another
    bool        in_time           = false;  ///< steps in time: the mass stands on the diagonal, and shorter steps make it dominant
    bool        follows_bound     = false;  ///< steps are so short that every asynchronous iteration converges
    bool        consistent_mass   = false;  ///< not diagonal, so that relaxations diverge however short the steps are
    unsigned    quasi_stationary  = 0;      ///< species without a time derivative, whose rows have no mass
    bool        long_steps        = false;  ///< the general time loop with steps that follow an error estimate: soon too long for relaxations
    bool        has_newton        = false;  ///< the matrix is a Jacobian; otherwise it is symmetric and positive (semi-)definite
    bool        may_be_indefinite = false;  ///< the reaction may outweigh diffusion, as indefiniteness() judges
    bool        fixed_iterations  = false;  ///< Newton's method asks for a number of iterations instead of a tolerance
    bool        is_singular       = false;  ///< the solution is determined up to a constant only
    bool        has_levels        = false;  ///< multigrid can be had, with a coarsest level that is small
    bool        has_even_levels   = false;  ///< and suits: Q1, constant coefficients, cells whose edges have about the same length
    int         dimension         = 2;      ///< of space
    double      n_unknowns        = 0.;     ///< about; 0: not known
    std::string preconditioner    = "none"; ///< what the user asks for
    std::string backend           = "automatic";
    int         n_gpus            = 1; ///< more: what each can do with its own rows
  };

  struct SolverChoice
  {
    std::string method, preconditioner, reason;

    /** "cg with the preconditioner amg". */
    std::string name() const;
  };

  /**
   * What 'Linear solver/Method' = automatic stands for: the first row that applies. Measured in
   * benchmarks/results/2026-11-22_default_solvers_host.md, quasi-stationary species in
   * 2026-11-26_quasi_stationary_host.md.
   *
   *   | when                                                | method, preconditioner   | why                                                      |
   *   |-----------------------------------------------------|--------------------------|----------------------------------------------------------|
   *   | a preconditioner is given                           | cg or gmres with it      | cg where the matrix is symmetric and positive definite   |
   *   | 'Newton/Forcing' is fixed iterations                | async                    | such a number is meant for a relaxation                  |
   *   | quasi-stationary species; several on a small mesh   | gmres, ilu; direct       | no mass in their rows; amg field by field stagnates      |
   *   | steps within the asynchronous bound                 | async                    | it converges for certain, in a few iterations            |
   *   | steps in time, explicit reaction                    | cg, chebyshev            | symmetric; short steps need few iterations and no levels |
   *   | the same, general loop, error-controlled: small; else | direct; gmres, amg | long steps are indefinite systems; others stagnate |
   *   | the same with cuda                                  | gmres, aggregation       | the same; amg and direct do not run there                |
   *   | the same on several GPUs                            | gmres, ilu               | aggregation has one GPU                                  |
   *   | steps in time, Newton's method, consistent mass     | gmres, ssor; with cuda chebyshev | they bear it, relaxations do not                 |
   *   | steps in time, Newton's method                      | gmres, async             | the same, not symmetric                                  |
   *   | determined up to a constant                         | cg, multigrid            | the only one that keeps the mean out; not on several GPUs |
   *   | several GPUs: may be indefinite; else               | gmres, ilu; cg or gmres, chebyshev | no multigrid, aggregation or amg there         |
   *   | small, may be indefinite                            | direct                   | nothing else is safe                                     |
   *   | levels that suit; with cuda wherever there are any  | cg or gmres, multigrid   | 4 to 8 iterations on every mesh                          |
   *   | cuda, no levels                                     | cg or gmres, aggregation | amg does not run there                                   |
   *   | all else                                            | cg or gmres, amg         | bears jumps, long cells and degrees; 10 to 100 iterations |
   */
  SolverChoice choose_method(const SolverTask &task);
} // namespace leopard
