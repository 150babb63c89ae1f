// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <applications/reaction_diffusion/mesh/mesh_laplacian.h>

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
    explicit DenseModes(const MeshLaplacian &mesh);

    void to_modes(double *f, int n_fields) const;
    void from_modes(double *f, int n_fields) const;

    std::vector<double> eigenvalue; ///< of -laplace

  private:
    std::vector<double> vectors; ///< orthogonal: entry i of vector k at k n + i
    std::vector<double> scale;   ///< sqrt(weight) of each node: scale u has coefficients in these vectors
  };
} // namespace leopard::reaction_diffusion
