// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../triangular/triangular_choice.h"
#include "arguments.h"
#include "matrix_traits.h"

#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace leopard::command_line
{
  /** A method for a matrix, and why it is tried. */
  struct Attempt
  {
    std::string method, preconditioner = "none";
    std::string why;
    int         max_iterations = 0; ///< after which the next one is tried; 0: what the arguments say

    std::shared_ptr<const Stencil<double>> stencil             = nullptr; ///< that the matrix is, where the method is for it
    double                                 largest_shift       = std::numeric_limits<double>::infinity(); ///< see Arguments
    bool                                   has_factors_to_come = false; ///< sparse factors follow, what they cost is not known yet, see at_its_turn()
    int                                    early_iterations    = 0;     ///< after which early_residual shows whether it suits; 0: it is not asked
    double                                 early_residual      = 1.;    ///< see KrylovLimits
    int                                    more_iterations     = -1;    ///< with which it goes on where these are promising; -1: max_iterations
    bool                                   has_dear_factors    = false; ///< that sparse ones are, is known without an analysis
    bool                                   in_double           = false; ///< cycles, too: single precision does not do, or has failed
    bool                                   is_for_singular     = false; ///< where factors have shown that the matrix is
    std::string                            smoother            = "";    ///< of multigrid; empty: what the arguments say
    bool                                   is_patient          = false; ///< see patient()
    double                                 most_complexity     = 0.;    ///< of multigrid by aggregation, see Arguments
    std::optional<TriangularChoice>        triangular          = {};    ///< of ic and ilu, where it is chosen; else what the arguments say
    bool                                   is_exact_next       = false; ///< the one before with exact triangular solves
  };

  /**
   * What to try, in this order: the first is what should be fastest, each of the next is stronger. Of arguments with a
   * method it is that method.
   * @param A whose traits these are, or with another scaling; its pattern tells what factors cost.
   */
  std::vector<Attempt> attempts_for(const CrsMatrix<double> &A, const MatrixTraits &traits, const Arguments &arguments);

  /**
   * The attempt when those before it have failed: where sparse factors follow that are cheap, it may take no longer
   * than these are worth. That needs an analysis of the pattern of A, for which what the first attempt solves does not
   * wait, and for which there must be time. GMRES ends after half of that where it has gained little until then.
   * @param tolerance relative, of the residual; 0: none. @param seconds_left of --max-seconds; infinite: no limit.
   */
  Attempt at_its_turn(Attempt attempt, const CrsMatrix<double> &A, double tolerance, double seconds_left = std::numeric_limits<double>::infinity());

  /**
   * An attempt that its max_iterations ended although its residual falls steadily, to go on with: ten times the
   * iterations, where what follows are sparse factors that are not cheap. Else nothing.
   * @param reached_so_far residual over right-hand side, after max_iterations. @param next the attempt that follows.
   */
  std::optional<Attempt> patient(const Attempt &attempt, double reached_so_far, const Attempt &next, const CrsMatrix<double> &A);

  /**
   * After attempt i, of which exact triangular solves would change nothing: leaves out the one with these.
   * @return whether attempt i was the last one, then.
   */
  bool leave_out_exact_solves(std::vector<Attempt> &attempts, std::size_t i);

  /**
   * After attempt i, whose levels filled up: takes out those with such levels. @return whether it was the last, then.
   */
  bool leave_out_levels(std::vector<Attempt> &attempts, std::size_t i);

  /** The arguments as if the attempt had been asked for. */
  Arguments with_attempt(const Arguments &arguments, const Attempt &attempt);

  /** "CG preconditioned by multigrid", "cg preconditioned by ic with exact solves" where that was tried without. */
  std::string text_of(const Attempt &attempt);
} // namespace leopard::command_line
