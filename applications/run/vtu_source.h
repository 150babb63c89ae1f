// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <applications/discretization/discretization.h>

#include <mpi.h>

#include <string>
#include <vector>

namespace leopard
{
  struct Parameters;

  // What entries have in common that name a .vtu or .pvtu file for its fields.

  /** "a surface", "a part of the plane", "a body". */
  std::string kind_of_domain(bool surface, int dimension);

  /**
   * The places of the wanted names among others. @param where of these, for messages; @param why_wanted the names.
   * @throws Error.
   */
  std::vector<unsigned int>
  find_fields(const std::vector<std::string> &wanted, const std::vector<std::string> &there, const std::string &where, const std::string &why_wanted);

  /**
   * The files that a .pvtu names, or the .vtu itself, of which the first is looked at: it has the wanted fields. Local.
   * @throws std::runtime_error.
   */
  std::vector<std::string>
  find_vtu_files(const std::string &path, const std::vector<std::string> &wanted, const std::string &why_wanted = "this field");

  /**
   * What is said of nodes of the mesh that lie outside of the cells of a source. @param source "'Turing/Initial values
   * from' is end.vtu"; @param reach "from (0, 0) to (1, 2)".
   */
  std::string
  outside_message(const std::string &source, unsigned long long n_outside, unsigned long long n, const std::string &place, const std::string &reach);

  /** What is said of a field that is not finite at a node. */
  std::string field_not_finite_message(const std::string &source, const std::string &field, double value, const std::string &place);

  /**
   * Reads the fields that 'Images' names in VTU files; each rank all cells of them. Collective. @throws Error naming
   * the entry.
   */
  void read_fields_of_images(const Parameters &parameters, MPI_Comm comm);

  /**
   * Looks at them at the nodes of the mesh. Collective. @throws Error if a node lies outside of the cells, by more than
   * a tenth of their size, or a value is not finite.
   */
  template <int dim, int spacedim>
  void check_fields_of_images(const Parameters &parameters, const Discretization<dim, spacedim> &discretization, MPI_Comm comm);
} // namespace leopard
