// SPDX-License-Identifier: Apache-2.0
#include "mesh_hierarchy.h"

#include <solvers/matrix/sparse_product.h>
#include <solvers/multigrid/aggregation.h>

#include <algorithm>
#include <utility>

namespace leopard::reaction_diffusion
{
  namespace
  {
    /** R = m_c^-1 P^T m. @param m_c becomes P^T m. */
    CrsMatrix<double> weighted_restriction(const CrsMatrix<double> &P, const std::vector<double> &m, std::vector<double> &m_c)
    {
      CrsMatrix<double> R = transpose(P);
      m_c.assign(R.n_rows, 0.);
      for (int i = 0; i < R.n_rows; ++i)
        {
          for (int p = R.row_offsets[i]; p < R.row_offsets[i + 1]; ++p)
            {
              R.values[p] *= m[R.columns[p]];
              m_c[i] += R.values[p];
            }
          for (int p = R.row_offsets[i]; p < R.row_offsets[i + 1]; ++p)
            R.values[p] /= m_c[i];
        }
      return R;
    }

    /** Fills the transfers of a level and makes the next one. @return whether there is one. */
    bool coarsen(MeshLevel &level, MeshLevel &coarse)
    {
      const MeshLaplacian &mesh = level.mesh;
      for (int i = 0; i < mesh.n_nodes(); ++i)
        if (!(mesh.row(i).diagonal > 0.))
          return false;
      const Aggregates aggregates = aggregate(mesh.matrix, 0.); // all couplings are strong
      if (aggregates.n == 0 || 2 * aggregates.n > mesh.n_nodes())
        return false;
      CrsMatrix<double>   P = smoothed_prolongation(aggregates);
      std::vector<double> m_c;
      CrsMatrix<double>   R = weighted_restriction(P, mesh.weight, m_c);
      if (!std::all_of(m_c.begin(), m_c.end(), [](double m) { return m > 0.; }))
        return false;
      coarse.mesh.matrix   = product(R, product(mesh.matrix, P));
      const double largest = *std::max_element(m_c.begin(), m_c.end());
      coarse.mesh.weight   = m_c;
      for (double &weight : coarse.mesh.weight)
        weight /= largest;
      coarse.mesh.dimension = mesh.dimension;
      coarse.mesh.coordinates.assign(mesh.coordinates.empty() ? 0 : static_cast<std::size_t>(R.n_rows) * mesh.dimension, 0.);
      for (int i = 0; i < R.n_rows && !mesh.coordinates.empty(); ++i)
        for (int p = R.row_offsets[i]; p < R.row_offsets[i + 1]; ++p)
          for (int d = 0; d < mesh.dimension; ++d)
            coarse.mesh.coordinates[static_cast<std::size_t>(i) * mesh.dimension + d] +=
              R.values[p] * mesh.coordinates[static_cast<std::size_t>(R.columns[p]) * mesh.dimension + d];
      coarse.owner.resize(level.owner.empty() ? 0 : aggregates.n);
      for (int i = static_cast<int>(level.owner.size()) - 1; i >= 0; --i) // an aggregate belongs to the owner of its first node
        coarse.owner[aggregates.of_row[i]] = level.owner[i];
      level.prolongation = std::move(P);
      level.restriction  = std::move(R);
      return true;
    }
  } // namespace

  std::vector<MeshLevel> make_levels(const MeshLaplacian &mesh, bool with_coarser, const MeshRanks *ranks)
  {
    std::vector<MeshLevel> levels(1);
    levels[0].mesh = mesh;
    if (ranks != nullptr)
      levels[0].owner = ranks->owner;
    for (MeshLevel coarse; with_coarser && levels.back().mesh.n_nodes() > coarse_nodes && coarsen(levels.back(), coarse); coarse = {})
      levels.push_back(std::move(coarse));
    for (MeshLevel &level : levels)
      level.n_all = level.mesh.n_nodes();
    if (ranks != nullptr)
      take_part(levels, *ranks);
    return levels;
  }
} // namespace leopard::reaction_diffusion
