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
    return aggregate(stiffness(mesh), aggregate_strength, 1, {}, communication);
  }
} // namespace leopard::reaction_diffusion
