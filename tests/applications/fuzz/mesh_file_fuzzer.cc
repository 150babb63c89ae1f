// SPDX-License-Identifier: Apache-2.0
// Feeds any text to the check of mesh files (MSH 2.2 and 4.1). Of what it accepts deal.II makes a mesh, which is
// refined: deal.II may refuse it with an exception, but must not crash, and the mesh has cells with a finite measure.
// The first byte says whether the mesh is one in the plane, of a surface or of a body. deal.II and p4est are not
// compiled with the fuzzer's instrumentation. For libFuzzer.
#include "fuzz.h"

#include <applications/discretization/gmsh_file.h>
#include <applications/discretization/gmsh_triangulation.h>
#include <applications/discretization/simplex_refinement.h>

#include <deal.II/base/mpi.h>
#include <deal.II/distributed/tria.h>

#include <cmath>
#include <exception>
#include <memory>

namespace
{
  template <int dim, int spacedim>
  void check(const std::string &text)
  {
    leopard::GmshMesh mesh;
    if (!leopard::why_no_mesh(text, dim, spacedim, mesh).empty())
      return;
    std::unique_ptr<dealii::Triangulation<dim, spacedim>> triangulation;
    if (leopard::is_simplex(mesh.kind))
      triangulation = std::make_unique<dealii::Triangulation<dim, spacedim>>();
    else
      triangulation = std::make_unique<dealii::parallel::distributed::Triangulation<dim, spacedim>>(MPI_COMM_WORLD);
    try
      {
        leopard::create_triangulation(*triangulation, mesh);
      }
    catch (const std::exception &)
      {
        return; // the program reports it
      }
    if (leopard::is_simplex(mesh.kind))
      leopard::refine_simplices(*triangulation);
    else
      triangulation->refine_global(1);
    for (const auto &cell : triangulation->active_cell_iterators())
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
