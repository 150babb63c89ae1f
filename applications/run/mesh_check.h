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

  /**
   * Looks at the fields that 'Initial values from' and 'Images' take from files at the nodes of the mesh that the run
   * begins with, or of a coarser one of some hundred thousand at most; nothing where there are none. Fields of 'Images'
   * have been read (read_fields_of_images()). Collective.
   * @throws Error as the run does: a field that is not there, cells that do not cover the domain, values that are not
   * finite.
   */
  void check_fields_of_files(const Parameters &parameters, MPI_Comm comm);
} // namespace leopard
