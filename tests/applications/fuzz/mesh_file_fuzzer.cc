// SPDX-License-Identifier: Apache-2.0
// Feeds any text to the check of mesh files (MSH 2.2). What it accepts goes to deal.II's reader and is refined: that may refuse it with an exception, but
// must not crash, and a mesh that it makes has cells with a finite measure. The first byte says whether the mesh is one in the plane, of a surface or of a
// body. deal.II and p4est are not compiled with the fuzzer's instrumentation. For libFuzzer.
#include "fuzz.h"

#include <applications/discretization/gmsh_file.h>

#include <deal.II/base/mpi.h>
#include <deal.II/distributed/tria.h>
#include <deal.II/grid/grid_in.h>

#include <cmath>
#include <exception>
#include <sstream>

namespace
{
  template <int dim, int spacedim>
  void check(const std::string &text)
  {
    if (!leopard::why_no_mesh(text, dim, spacedim).empty())
      return;
    dealii::parallel::distributed::Triangulation<dim, spacedim> triangulation(MPI_COMM_WORLD);
    std::istringstream                                          stream(text);
    try
      {
        dealii::GridIn<dim, spacedim> grid_in(triangulation);
        grid_in.read_msh(stream);
      }
    catch (const std::exception &)
      {
        return; // the program reports it
      }
    triangulation.refine_global(1);
    for (const auto &cell : triangulation.active_cell_iterators())
      fuzz::require(std::isfinite(cell->measure()) && cell->measure() > 0., "cells have a positive measure");
  }
} // namespace

extern "C" int LLVMFuzzerInitialize(int *argc, char ***argv)
{
  setenv("OMPI_MCA_opal_signal", "", 1); // signals are the fuzzer's
  static dealii::Utilities::MPI::MPI_InitFinalize mpi(*argc, *argv, 1);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
  if (size == 0)
    return 0;
  const std::string text(reinterpret_cast<const char *>(data) + 1, size - 1);
  switch (data[0] % 3)
    {
      case 0:
        check<2, 2>(text);
        break;
      case 1:
        check<2, 3>(text);
        break;
      default:
        check<3, 3>(text);
    }
  return 0;
}
