// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace dealii
{
  template <int dim, int spacedim>
  class Triangulation;
}

namespace leopard
{
  /**
   * The file `values` of a checkpoint on triangles or tetrahedra: the numbers of cells and of vectors (std::size_t),
   * then the values of each vector, cell by cell (double). The mesh is that of the mesh file, refined as often as the
   * number of cells says.
   */
  class CellValuesFile
  {
  public:
    /** Collective. @param values of vector number v on all cells, on rank 0. @throws Error. */
    static void write(const std::string                                     &folder,
                      std::size_t                                            n_cells,
                      std::size_t                                            n_vectors,
                      const std::function<std::vector<double>(std::size_t)> &values,
                      MPI_Comm                                               comm);

    /** Reads it, on every rank. Collective. @throws Error. */
    CellValuesFile(const std::string &folder, MPI_Comm comm);

    /** Refines a coarse mesh until it has as many cells as the file says, or more. */
    template <int dim, int spacedim>
    void refine(dealii::Triangulation<dim, spacedim> &triangulation) const;

    /**
     * To be called before value(). @param advice what else is expected, behind the sizes. @throws Error with the sizes
     * found and those expected unless the file has exactly these.
     */
    void check(std::size_t n_cells, std::size_t n_vectors, std::size_t values_a_cell, const std::string &advice);

    /** The values of a vector on a cell, as many as check() was told. */
    const double *values(std::size_t vector, std::size_t cell) const { return &all[(vector * n_cells + cell) * values_a_cell]; }

  private:
    const std::string   path;
    std::string         text; ///< until check()
    std::size_t         n_cells = 0, n_vectors = 0, values_a_cell = 0;
    std::vector<double> all;
  };
} // namespace leopard
