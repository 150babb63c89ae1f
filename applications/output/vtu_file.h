// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace leopard
{
  /** Cells of a VTU file with values at their points. */
  struct VtuPiece
  {
    std::vector<double>                        points; ///< x, y, z of each
    std::vector<std::uint64_t>                 connectivity, offsets;
    std::vector<unsigned int>                  types; ///< of the cells, numbers of VTK
    std::map<std::string, std::vector<double>> fields;
    bool                                       single_precision = false; ///< of a field
    bool                                       single_points    = false; ///< of the points
  };

  /** The files that a .pvtu names, with their paths; a .vtu itself. Local. @throws std::runtime_error. */
  std::vector<std::string> files_of_vtu(const std::string &path);

  /** The fields of a .vtu at points, by name. Local. @throws std::runtime_error. */
  std::vector<std::string> fields_of_vtu(const std::string &path);

  /**
   * Reads a .vtu file: an unstructured grid of VTK's XML format, with ASCII, base64 or raw appended data, with zlib or
   * no compression, of either byte order. Local.
   * Source: VTK File Formats, https://docs.vtk.org/en/latest/design_documents/VTKFileFormats.html.
   * @param fields that are wanted, scalars at points. @throws std::runtime_error for a file that is missing, damaged or
   * of another kind, and without such a field.
   */
  std::vector<VtuPiece> read_vtu(const std::string &path, const std::vector<std::string> &fields);
} // namespace leopard
