// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "diffusion.h"

#include <complex>
#include <string>
#include <vector>

namespace leopard
{
  class Problem;

  /** Eigenvalues of an n x n matrix by rows, that with the least real part first; NaN if not all entries are finite. */
  std::vector<std::complex<double>> diffusion_eigenvalues(const std::vector<double> &matrix, unsigned int n);

  /**
   * The matrix D of a problem with cross-diffusion, D_cd = a_c delta_cd + C_cd, see Problem and FieldTransport. Where
   * an eigenvalue of D has a negative real part disturbances grow the faster the shorter they are (the equations are
   * not parabolic in the sense of Petrovskii), and no mesh is fine enough. The symmetric part of D need not be
   * positive definite: that of chemotaxis is not where it is strong. Quasi-stationary fields are eliminated. Where a_c
   * is a matrix D is looked at in the directions of its axes. Dimensionless.
   */
  class DiffusionMatrix
  {
  public:
    /** Keeps a reference to the problem. */
    explicit DiffusionMatrix(const Problem &problem);

    /** Whether there is cross-diffusion. */
    bool is_there() const;
    /** Whether D is the same at all places, times and values of fields. */
    bool is_constant() const;
    /** Whether D depends on the fields. */
    bool depends_on_fields() const;

    /**
     * The eigenvalues of D at a place if one has a real part that is not positive (not negative, where a field has no
     * diffusion of its own or is quasi-stationary); else nothing. @param x the place, @param coefficients those of
     * FieldTransport::coefficients() there.
     */
    std::vector<std::complex<double>> wrong_at(const dealii::Point<3> &x, const double *coefficients) const;

    /**
     * "'Turing/Cross-diffusion u, v' = 2 makes a diffusion matrix with the eigenvalues -1, 3 at (0, 0): ...", with what
     * is right. @param where place and values of the fields; may be empty. @param how "expected", "to try".
     */
    std::string message(const std::vector<std::complex<double>> &eigenvalues, const std::string &where, const std::string &how = "expected") const;

    /** @throws Error if D is constant and wrong_at() says something. */
    void check_constants() const;

  private:
    /** Whether no eigenvalue of D, from which quasi-stationary fields are eliminated, is wrong. */
    bool                is_right(const std::vector<double> &D, unsigned int n) const;
    std::vector<double> without_quasi_stationary(std::vector<double> D, unsigned int &n) const;

    const Problem     &problem;
    const unsigned int n_fields;
    bool               may_be_zero = false; ///< the real part of an eigenvalue
  };
} // namespace leopard
