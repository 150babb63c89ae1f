// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <applications/reaction_diffusion/mesh/mesh_laplacian.h>
#include <solvers/base/errors.h>

#include <Eigen/Eigenvalues>

#include <string>
#include <vector>

namespace leopard::reaction_diffusion
{
  /**
   * The modes of any mesh from its matrix, by a solver for dense symmetric eigenvalue problems: O(n^3) operations and
   * O(n^2) memory, sequential. As ModeTransform, but mode k is the one of the k-th smallest eigenvalue.
   */
  class DenseModes
  {
  public:
    /** @throws InvalidInput for more than 3000 nodes. */
    explicit DenseModes(const MeshLaplacian &mesh)
    {
      const int n = mesh.n_nodes();
      if (n > 3000)
        throw InvalidInput("the backend reference makes dense matrices of " + std::to_string(n) + " nodes\n  expected: at most 3000");
      Eigen::MatrixXd A = Eigen::MatrixXd::Zero(n, n);
      scale.resize(n);
      for (int i = 0; i < n; ++i)
        scale(i) = std::sqrt(mesh.weight[i]);
      for (int i = 0; i < n; ++i)
        for (int p = mesh.matrix.row_offsets[i]; p < mesh.matrix.row_offsets[i + 1]; ++p)
          {
            const int j = mesh.matrix.columns[p];
            if (j != i) // weight_i A_ij is symmetric, and rows sum to zero
              {
                A(i, j) = mesh.matrix.values[p] * scale(i) / scale(j);
                A(i, i) -= mesh.matrix.values[p];
              }
          }
      const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(0.5 * (A + A.transpose()));
      vectors = solver.eigenvectors();
      eigenvalue.assign(solver.eigenvalues().data(), solver.eigenvalues().data() + n);
    }

    void to_modes(double *f, int n_fields) const
    {
      for_fields(f, n_fields, [&](auto &field) { field = vectors.transpose() * scale.cwiseProduct(field).eval(); });
    }
    void from_modes(double *f, int n_fields) const
    {
      for_fields(f, n_fields, [&](auto &field) { field = (vectors * field).eval().cwiseQuotient(scale); });
    }

    std::vector<double> eigenvalue; ///< of -laplace

  private:
    template <typename Change>
    void for_fields(double *f, int n_fields, const Change &change) const
    {
      for (int c = 0; c < n_fields; ++c)
        {
          Eigen::Map<Eigen::VectorXd> field(f + c * scale.size(), scale.size());
          change(field);
        }
    }

    Eigen::MatrixXd vectors;
    Eigen::VectorXd scale; ///< sqrt(weight)
  };
} // namespace leopard::reaction_diffusion
