// SPDX-License-Identifier: Apache-2.0
#include "dense_modes.h"

#include <solvers/base/errors.h>

#include <Eigen/Eigenvalues>

#include <algorithm>
#include <cmath>
#include <string>

namespace leopard::reaction_diffusion
{
  DenseModes::DenseModes(const MeshLaplacian &mesh)
  {
    const int n = mesh.n_nodes();
    if (n > 3000)
      throw InvalidInput("the backend reference makes dense matrices of " + std::to_string(n) + " nodes\n  expected: at most 3000");
    for (const double weight : mesh.weight)
      scale.push_back(std::sqrt(weight));
    Eigen::MatrixXd A = Eigen::MatrixXd::Zero(n, n);
    for (int i = 0; i < n; ++i)
      for (int p = mesh.matrix.row_offsets[i]; p < mesh.matrix.row_offsets[i + 1]; ++p)
        {
          const int j = mesh.matrix.columns[p];
          if (j == i)
            continue; // rows sum to zero
          // weight_i A_ij is symmetric; both halves of what rounding has left of that
          const double value = 0.5 * mesh.matrix.values[p] * scale[i] / scale[j];
          A(i, j) += value;
          A(j, i) += value;
          A(i, i) -= mesh.matrix.values[p];
        }
    const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(A);
    if (solver.info() != Eigen::Success)
      throw ConvergenceFailure("the eigenvalues of the Laplacian on " + std::to_string(n) + " nodes were not found");
    vectors.assign(solver.eigenvectors().data(), solver.eigenvectors().data() + static_cast<long>(n) * n);
    eigenvalue.assign(solver.eigenvalues().data(), solver.eigenvalues().data() + n);
  }

  void DenseModes::to_modes(double *f, int n_fields) const
  {
    const std::size_t   n = scale.size();
    std::vector<double> result(n);
    for (int c = 0; c < n_fields; ++c)
      {
        double *const field = f + c * n;
        for (std::size_t k = 0; k < n; ++k)
          {
            result[k] = 0.;
            for (std::size_t i = 0; i < n; ++i)
              result[k] += vectors[k * n + i] * scale[i] * field[i];
          }
        std::copy(result.begin(), result.end(), field);
      }
  }

  void DenseModes::from_modes(double *f, int n_fields) const
  {
    const std::size_t   n = scale.size();
    std::vector<double> result(n);
    for (int c = 0; c < n_fields; ++c)
      {
        double *const field = f + c * n;
        std::fill(result.begin(), result.end(), 0.);
        for (std::size_t k = 0; k < n; ++k)
          for (std::size_t i = 0; i < n; ++i)
            result[i] += vectors[k * n + i] * field[k];
        for (std::size_t i = 0; i < n; ++i)
          field[i] = result[i] / scale[i];
      }
  }
} // namespace leopard::reaction_diffusion
