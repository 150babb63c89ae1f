// SPDX-License-Identifier: Apache-2.0
#include "mesh_count.h"

#include <applications/base/log.h>
#include <solvers/base/errors.h>
#include <solvers/base/usable_resources.h>

#include <deal.II/base/types.h>

#include <cmath>
#include <limits>

namespace leopard
{
  void check_count(double n_cells, int dimension, unsigned int n_components, unsigned int degree)
  {
    const double     n_unknowns = n_components * (n_cells + 1.) * std::pow(degree, dimension);
    constexpr double most       = std::numeric_limits<dealii::types::global_dof_index>::max() / 2;
    if (!(n_unknowns <= most))
      throw Error("the mesh of " + format("%.4g", n_cells) + " cells has about " + format("%.4g", n_unknowns) +
                  " unknowns, more than this build of deal.II can count (" + format("%.0f", most) +
                  ")\n  expected: smaller 'Mesh/Cells', fewer refinements or a lower degree");
  }

  void check_before_it_is_made(const MeshParameters &mesh, int dimension, unsigned int n_components, unsigned int degree)
  {
    const double n = mesh.n_coarse_cells(dimension);
    check_count(std::ldexp(n, static_cast<int>(dimension * mesh.global_refinements)), dimension, n_components, degree);
    constexpr double bytes_a_cell = 200.; // at least, and each rank has the whole coarse mesh
    const double     memory       = usable_memory();
    if (memory > 0. && n * bytes_a_cell > memory)
      throw Error("the coarse mesh of " + format("%.4g", n) + " cells takes more than " + format("%.3g GB", 1e-9 * n * bytes_a_cell) +
                  ", and this process may use " + format("%.3g GB", 1e-9 * memory) +
                  "\n  expected: smaller 'Mesh/Cells'; 'Mesh/Global refinements' makes fine meshes of few coarse cells");
  }
} // namespace leopard
