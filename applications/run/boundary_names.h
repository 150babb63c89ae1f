// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <mpi.h>
#include <string>

namespace leopard
{
  /**
   * Names of boundary ids, those that a mesh file gives to physical groups of the boundary ($PhysicalNames). In
   * 'Boundary values' and 'Boundary fluxes' they may stand in the place of ids.
   */
  class BoundaryNames
  {
  public:
    BoundaryNames() = default;
    /**
     * @param mesh_file none, or one that cannot be read, which is said where the mesh is made: there are no names.
     * @param dimension of the mesh's cells. Collective. @throws Error where the file's names are no such list.
     */
    BoundaryNames(const std::string &mesh_file, int dimension, MPI_Comm comm);

    /**
     * "NAME: EXPRESSION; ..." with ids in the place of names; what has no names stays as it is.
     * @throws Error where a name is not one of the mesh, or that of two ids.
     */
    std::string with_ids(const std::string &entry, const std::string &text) const;

    /** "7 (inlet)", or "7" without a name. */
    std::string described(unsigned int id) const;

  private:
    std::multimap<std::string, unsigned int> ids;
  };
} // namespace leopard
