// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

namespace leopard
{
  struct Parameters;

  /**
   * Makes the coarse mesh as the run does (of a hypercube or box one cell, whose boundary ids are those of any number)
   * and says what is wrong with it: boundary ids that it does not have, boundary values that do not determine the
   * solution or are not the same at both ends of a periodic direction, elements that its cells cannot have, too many
   * unknowns. Of a study of smoothers all cases. Collective.
   * @throws Error as the run does.
   */
  void check_mesh(const Parameters &parameters, MPI_Comm comm);
} // namespace leopard
