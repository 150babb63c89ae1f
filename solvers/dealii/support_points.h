// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deal.II/base/index_set.h>
#include <deal.II/dofs/dof_handler.h>
#include <deal.II/fe/fe.h>
#include <deal.II/fe/mapping.h>

#include <vector>

namespace leopard
{
  /**
   * Where the unknowns of a scalar element that has support points are: spacedim numbers each, in the order of own.
   * @param get_indices called for each cell: whether the rank owns it, and then what its unknowns are.
   */
  template <int dim, int spacedim, typename Cells, typename GetIndices>
  std::vector<double> support_points(const dealii::Mapping<dim, spacedim>    &mapping,
                                     const dealii::DoFHandler<dim, spacedim> &dof_handler,
                                     const dealii::IndexSet                  &own,
                                     const Cells                             &cells,
                                     const GetIndices                        &get_indices)
  {
    const auto                                  &nodes = dof_handler.get_fe().get_unit_support_points();
    std::vector<bool>                            is_done(own.n_elements(), false);
    std::vector<double>                          result(own.n_elements() * spacedim);
    std::vector<dealii::types::global_dof_index> indices(dof_handler.get_fe().n_dofs_per_cell());
    for (const auto &cell : cells)
      if (get_indices(cell, indices))
        for (std::size_t i = 0; i < nodes.size(); ++i)
          if (own.is_element(indices[i]))
            if (const auto own_index = own.index_within_set(indices[i]); !is_done[own_index])
              {
                is_done[own_index] = true;
                const auto point   = mapping.transform_unit_to_real_cell(cell, nodes[i]);
                for (unsigned int d = 0; d < spacedim; ++d)
                  result[own_index * spacedim + d] = point[d];
              }
    return result;
  }

  /**
   * The same of the active mesh, in the order of locally_owned_dofs(): PreconditionBlockAsync::Fields::coordinates.
   */
  template <int dim, int spacedim>
  std::vector<double> support_points(const dealii::Mapping<dim, spacedim> &mapping, const dealii::DoFHandler<dim, spacedim> &dof_handler)
  {
    return support_points(
      mapping, dof_handler, dof_handler.locally_owned_dofs(), dof_handler.active_cell_iterators(), [](const auto &cell, auto &indices) {
        if (cell->is_locally_owned())
          cell->get_dof_indices(indices);
        return cell->is_locally_owned();
      });
  }
} // namespace leopard
