// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <mpi.h>
#include <set>
#include <string>

namespace leopard
{
  /**
   * Names of boundary ids, those that a mesh file gives to physical groups of the boundary ($PhysicalNames). In
   * 'Boundary values' and 'Boundary fluxes' they may stand in the place of ids. What is a number there is an id, and *
   * all the others, whatever groups are called.
   */
  class BoundaryNames
  {
  public:
    BoundaryNames() = default;
    /**
     * @param mesh_file empty, or one that cannot be read: there are no names. @param dimension of the mesh's cells.
     * Collective. @throws Error where the file's names are no such list.
     */
    BoundaryNames(const std::string &mesh_file, int dimension, MPI_Comm comm);

    /**
     * "NAME: EXPRESSION; ..." with ids in the place of names.
     * @throws Error where a name is not one of the mesh, or that of several ids.
     */
    std::string with_ids(const std::string &entry, const std::string &text) const;

    /** "7 (inlet)", or "7" without a name. */
    std::string described(unsigned int id) const;

  private:
    /** What an entry can name, "'inlet', 'wall', a boundary id, ...", and why there are no names. */
    std::string text_of_names() const;

    std::string                                   file;
    bool                                          is_read = false; ///< the file
    std::map<std::string, std::set<unsigned int>> ids;
  };
} // namespace leopard
