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
    bool        reaction_is_zero  = false;  ///< so that it is transport that steps solve for
    bool        has_newton        = false;  ///< the matrix is a Jacobian; otherwise it is symmetric and positive (semi-)definite
    bool        may_be_indefinite = false;  ///< the reaction may outweigh diffusion, as indefiniteness() judges
    bool        fixed_iterations  = false;  ///< Newton's method asks for a number of iterations instead of a tolerance
    bool        is_singular       = false;  ///< the solution is determined up to a constant only
    bool        is_of_file        = false;  ///< the mesh, whose cells may be triangles or tetrahedra, which have no levels
    bool        has_levels        = false;  ///< multigrid can be had, with a coarsest level that is small
    bool        has_even_levels   = false;  ///< and suits: Q1, constant coefficients, cells whose edges have about the same length
    int         dimension         = 2;      ///< of space
    double      n_unknowns        = 0.;     ///< about; 0: not known
    std::string preconditioner    = "none"; ///< what the user asks for
    std::string backend           = "automatic";
    int         n_gpus            = 1;     ///< more: what each can do with its own rows
    bool        has_gpu           = false; ///< each rank has a GPU of its own, which the backend automatic may take
  };

  struct SolverChoice
  {
    std::string method, preconditioner, reason;

    /** "cg with the preconditioner amg". */
    std::string name() const;
  };

  /** From so many on `aggregation` on a GPU takes less time than `amg` on the host, see choose_method(). */
  constexpr double least_unknowns_on_gpu = 150e3;

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
   *   | the same, general loop, error-controlled: small; else | direct; gmres, amg | long steps: indefinite or unsymmetric systems; relaxations stagnate |
   *   | the same with cuda                                  | gmres, aggregation       | the same; amg and direct do not run there                |
   *   | the same on several GPUs                            | gmres, ilu               | aggregation has one GPU                                  |
   *   | steps in time, Newton's method, consistent mass     | gmres, ssor; with cuda chebyshev | they bear it, relaxations do not                 |
   *   | steps in time, Newton's method                      | gmres, async             | the same, not symmetric                                  |
   *   | determined up to a constant: has levels; else       | cg, multigrid; aggregation | they keep the mean out; not on several GPUs            |
   *   | several GPUs: may be indefinite; else               | gmres, ilu; cg or gmres, chebyshev | no multigrid, aggregation or amg there         |
   *   | small, may be indefinite                            | direct                   | nothing else is safe                                     |
   *   | levels that suit; with cuda wherever there are any  | cg or gmres, multigrid   | 4 to 8 iterations on every mesh                          |
   *   | cuda, no levels                                     | cg or gmres, aggregation | amg does not run there                                   |
   *   | all else                                            | cg or gmres, amg         | bears jumps, long cells and degrees; 10 to 100 iterations |
   *   | backend automatic, a GPU a rank, where amg is above, from 150,000 unknowns on | aggregation for amg, on the GPU | see below |
   *
   * The last row is for all but stationary reactions that may make the matrix indefinite, for which aggregation was not
   * measured. least_unknowns_on_gpu: set-up and solution of amg take at least 2.2 us an unknown on one rank (whole runs
   * with 1,050,625 unknowns take 17.7 s, and 15.4 with aggregation on an H200, levels made on the host:
   * 2026-11-24_h200_stored_multigrid.md); those of aggregation, levels made on the GPU, 57 ms of 1.9 and 159 ms of 7.7
   * million unknowns (2026-11-24_h200_algebraic_multigrid.md); CUDA starts in 0.3 s (2026-12-01_h200_start.md), which
   * amg takes for some 140,000. Long steps would have it at fewer: of 8,450 unknowns aggregation takes 11 s on an H200,
   * which waits for launches, and amg 3.8 s on two cores, which grow with the unknowns: equal at some 25,000, if the
   * iterations stay.
   */
  SolverChoice choose_method(const SolverTask &task);
  /** Whether it is to be known if there is a GPU: what is chosen, or the reason, depends on it. */
  bool asks_for_gpu(SolverTask task);
} // namespace leopard
