// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

namespace leopard
{
  /**
   * What a mesh is, in lines: cells, vertices, extents, edges, boundary and material ids, and what can be computed on
   * it. Collective.
   * @param file a Gmsh mesh, or a parameter file (.prm), whose coarse mesh is taken; @param overrides of its entries.
   * @throws Error for a file that is missing or no mesh, with the reason.
   */
  std::string describe_mesh(const std::string &file, const std::vector<std::string> &overrides, MPI_Comm comm);
} // namespace leopard
