// SPDX-License-Identifier: Apache-2.0
#include "cell_values_file.h"

#include "simplex_refinement.h"

#include <applications/base/collective.h>
#include <applications/base/files.h>
#include <solvers/base/errors.h>

#include <deal.II/grid/tria.h>

#include <cstring>

namespace leopard
{
  namespace
  {
    constexpr std::size_t head = 2 * sizeof(std::size_t); ///< bytes before the values

    std::string sizes_text(std::size_t n_cells, std::size_t n_vectors, std::size_t n_bytes)
    {
      return std::to_string(n_cells) + " cells, " + std::to_string(n_vectors) + " vectors, " + std::to_string(n_bytes) + " bytes";
    }
  } // namespace

  void CellValuesFile::write(const std::string                                     &folder,
                             std::size_t                                            n_cells,
                             std::size_t                                            n_vectors,
                             const std::function<std::vector<double>(std::size_t)> &values,
                             MPI_Comm                                               comm)
  {
    std::string       text;
    const std::size_t sizes[] = {n_cells, n_vectors};
    text.append(reinterpret_cast<const char *>(sizes), head);
    for (std::size_t v = 0; v < n_vectors; ++v)
      {
        const std::vector<double> of_cells = values(v);
        text.append(reinterpret_cast<const char *>(of_cells.data()), of_cells.size() * sizeof(double));
      }
    on_rank_zero(comm, [&] {
      check_room(folder, {text.size()});
      write_file_atomically(folder + "/values", text);
    });
  }

  CellValuesFile::CellValuesFile(const std::string &folder, MPI_Comm comm)
    : path(folder + "/values")
    , text(read_file(path, comm))
  {
    if (text.size() < head)
      return;
    std::memcpy(&n_cells, text.data(), sizeof(n_cells));
    std::memcpy(&n_vectors, text.data() + sizeof(n_cells), sizeof(n_vectors));
  }

  template <int dim, int spacedim>
  void CellValuesFile::refine(dealii::Triangulation<dim, spacedim> &triangulation) const
  {
    while (triangulation.n_active_cells() < n_cells && n_cells < text.size()) // a cell takes more than a byte
      refine_simplices(triangulation);
  }

  void CellValuesFile::check(std::size_t expected_cells, std::size_t expected_vectors, std::size_t values_a_cell_, const std::string &advice)
  {
    values_a_cell              = values_a_cell_;
    const std::size_t n_values = expected_cells * expected_vectors * values_a_cell;
    if (n_cells != expected_cells || n_vectors != expected_vectors || text.size() != head + n_values * sizeof(double))
      throw Error("the file '" + path + "' is not of this mesh and these fields: it has " + sizes_text(n_cells, n_vectors, text.size()) +
                  "\n  expected: " + sizes_text(expected_cells, expected_vectors, head + n_values * sizeof(double)) + advice);
    all.resize(n_values);
    std::memcpy(all.data(), text.data() + head, n_values * sizeof(double));
    text = std::string();
  }

  template void CellValuesFile::refine(dealii::Triangulation<2, 2> &) const;
  template void CellValuesFile::refine(dealii::Triangulation<3, 3> &) const;
  template void CellValuesFile::refine(dealii::Triangulation<2, 3> &) const;
} // namespace leopard
