// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

namespace leopard
{
  struct Parameters;

  /**
   * What a run finds wrong with its coarse mesh, found without one: boundary ids that the mesh does not have, a
   * solution that boundary values do not determine, elements that its cells cannot have, too many unknowns. It is what
   * the run does, on one cell where the mesh is a hypercube or box, whose ids are those of any number of cells. Of a
   * study of smoothers all cases. Collective. @throws Error as the run does.
   */
  void check_mesh(const Parameters &parameters, MPI_Comm comm);
} // namespace leopard
