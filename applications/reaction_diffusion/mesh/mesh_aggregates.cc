// SPDX-License-Identifier: Apache-2.0
#include "mesh_aggregates.h"

namespace leopard::reaction_diffusion
{
  CrsMatrix<double> stiffness(const MeshLaplacian &mesh)
  {
    CrsMatrix<double> K = mesh.matrix;
    for (int i = 0; i < K.n_rows; ++i)
      for (int p = K.row_offsets[i]; p < K.row_offsets[i + 1]; ++p)
        K.values[p] *= mesh.weight[i];
    return K;
  }

  Aggregates aggregates_of(const MeshLaplacian &mesh, const Communication<double> &communication)
  {
    constexpr double        less = 0.1;
    const CrsMatrix<double> K    = stiffness(mesh);
    for (double strength = aggregate_strength;; strength = strength > 1.5 * less ? strength - less : 0.)
      {
        Aggregates result = aggregate(K, strength, 1, {}, communication);
        double     n_left = 0.;
        for (int i = 0; i < K.n_rows; ++i)
          if (result.of_row[i] < 0 && K.row_offsets[i + 1] - K.row_offsets[i] > 1)
            n_left += 1.;
        if (strength == 0. || communication.sum(n_left) == 0.)
          return result;
      }
  }
} // namespace leopard::reaction_diffusion
