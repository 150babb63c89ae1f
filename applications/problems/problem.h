// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "expression.h"

#include <memory>
#include <string>
#include <vector>

namespace dealii
{
  class ParameterHandler;
}

namespace leopard
{
  /**
   * What is to be solved, for fields u_1 ... u_n (n is 1 or more) on a domain; all quantities dimensionless:
   *
   *   du_c/dt = div(a_c(x) grad u_c) - delta_c u_c + s_c(x,t) + r_c(u_1, ..., u_n),
   *
   * without the time derivative in stationary problems. Boundary values u_c = g or fluxes a_c du_c/dn = q are given per
   * boundary id. The reaction r is evaluated at the nodes.
   *
   * A problem knows no mesh, no matrix, no time loop and no output: it answers questions.
   */
  class Problem
  {
  public:
    virtual ~Problem() = default;

    /** Name of the problem, and of its section in the parameter file. */
    virtual std::string name() const = 0;
    /** Names of the fields; their number is the number of components. */
    virtual std::vector<std::string> fields() const { return {"u"}; }
    virtual bool                     time_dependent() const { return false; }
    /** Whether r_c is not zero; a problem without reaction is linear. */
    virtual bool has_reaction() const { return false; }
    /** The equation with its coefficients, one line for the log. */
    virtual std::string description() const = 0;

    /** Declares the entries; they are read when the file is parsed. */
    virtual void declare_parameters(dealii::ParameterHandler &prm) = 0;
    /** Reads and checks the entries. @throws Error. */
    virtual void read_parameters(dealii::ParameterHandler &prm) = 0;

    /** a_c(x). */
    virtual double diffusion(unsigned int /*c*/, const dealii::Point<3> & /*x*/) const { return 1.; }
    /** delta_c. */
    virtual double absorption(unsigned int /*c*/) const { return 0.; }

    /**
     * The reaction at one node. @param u the n fields, @param r gets the n rates, @param jacobian gets dr_c/du_d at
     * jacobian[c*n + d], unless it is nullptr.
     */
    virtual void reaction(const double *u, double *r, double *jacobian) const;

    /** u_c at time zero, or the first guess of a nonlinear stationary problem. */
    virtual double initial_value(unsigned int c, const dealii::Point<3> &x) const;

    // What every problem reads from its section, one expression a field
    std::vector<Expression> source;          ///< s_c(x,t)
    std::vector<Expression> initial;         ///< initial values
    std::vector<Expression> exact_solution;  ///< empty if the file has none
    BoundaryExpressions     boundary_values; ///< Dirichlet; stationary problems only
    BoundaryExpressions     boundary_fluxes; ///< Neumann; stationary problems only

  protected:
    /** Entries that all problems share: "Source", "Exact solution", and for stationary ones the boundary conditions. */
    void declare_common_parameters(dealii::ParameterHandler &prm);
    void read_common_parameters(dealii::ParameterHandler &prm);

  private:
    std::string entry_for(const std::string &what, const std::string &field) const;
  };

  /** The problems that a parameter file can name, "laplace|helmholtz|reaction-diffusion|turing". */
  std::string problem_names();

  /** Makes a problem by its name. @throws Error for a name that is not in problem_names(). */
  std::unique_ptr<Problem> make_problem(const std::string &name);
} // namespace leopard
