// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cell_fields.h"
#include "mesh.h"

#include <string>
#include <vector>

namespace leopard
{
  /** What Discretization::save() has written into a folder, of a run that need not be like this one. */
  struct SavedFields
  {
    std::string               folder;
    MeshParameters            mesh;          ///< whose coarse mesh it stands on
    unsigned int              degree    = 1; ///< of the elements
    unsigned int              n_fields  = 1; ///< of each vector
    unsigned int              n_vectors = 1; ///< the first one is read
    std::vector<unsigned int> wanted;        ///< the numbers of the fields that are taken, in this order
  };

  /** Adds the cells that this rank has of the saved mesh. Collective. @throws Error. */
  template <int dim, int spacedim>
  void add_saved_fields(const SavedFields &saved, CellFields<dim, spacedim> &cells, MPI_Comm comm);
} // namespace leopard
