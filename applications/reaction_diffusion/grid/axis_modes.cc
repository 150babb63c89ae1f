// SPDX-License-Identifier: Apache-2.0
#include "axis_modes.h"

#include <solvers/base/errors.h>

#include <Eigen/Eigenvalues>

#include <algorithm>
#include <cmath>

namespace leopard::reaction_diffusion
{
  AxisModes make_modes(const Axis &axis)
  {
    const auto      n = static_cast<Eigen::Index>(axis.lower.size());
    Eigen::VectorXd scale(n);
    Eigen::MatrixXd symmetric = Eigen::MatrixXd::Zero(n, n);
    // weight_i lower_i = weight_i-1 upper_i-1: sqrt(weight) makes the operator symmetric
    for (int i = 0; i < n; ++i)
      {
        scale(i) = std::sqrt(axis.weight[i]);
        symmetric(i, i) += axis.lower[i] + axis.upper[i];
        if (const int before = axis.around(i - 1); axis.lower[i] > 0.)
          {
            const double beside = std::sqrt(axis.lower[i] * axis.upper[before]);
            symmetric(i, before) -= beside;
            symmetric(before, i) -= beside;
          }
      }
    Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver;
    if (axis.periodic)
      solver.compute(symmetric);
    else
      solver.computeFromTridiagonal(symmetric.diagonal(), symmetric.diagonal(-1));
    if (solver.info() != Eigen::Success)
      throw ConvergenceFailure("the eigenvalues of the Laplacian on a line of " + std::to_string(n) + " nodes were not found");
    const Eigen::MatrixXd &q = solver.eigenvectors();
    AxisModes              modes;
    for (Eigen::Index k = 0; k < n; ++k)
      modes.eigenvalue.push_back(std::max(0., solver.eigenvalues()(k)));
    for (Eigen::Index k = 0; k < n; ++k)
      for (Eigen::Index i = 0; i < n; ++i)
        {
          modes.from_modes.push_back(q(i, k) / scale(i));
          modes.to_modes.push_back(q(k, i) * scale(k)); // column k of the transposed matrix times the scale of node k
        }
    return modes;
  }
} // namespace leopard::reaction_diffusion
