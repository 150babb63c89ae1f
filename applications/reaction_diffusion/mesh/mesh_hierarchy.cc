// SPDX-License-Identifier: Apache-2.0
#include "mesh_hierarchy.h"
#include "mesh_aggregates.h"

#include <solvers/base/errors.h>
#include <solvers/matrix/sparse_product.h>
#include <solvers/multigrid/aggregation.h>

#include <algorithm>
#include <utility>

namespace leopard::reaction_diffusion
{
  bool has_positive_diagonal(const MeshLaplacian &mesh)
  {
    for (int i = 0; i < mesh.n_nodes(); ++i)
      if (!(mesh.row(i).diagonal > 0.))
        return false;
    return true;
  }

  std::vector<double> divide_by_sums(const std::vector<int> &row_offsets, std::vector<double> &values)
  {
    std::vector<double> sums(row_offsets.size() - 1, 0.);
    for (std::size_t i = 0; i < sums.size(); ++i)
      {
        for (int p = row_offsets[i]; p < row_offsets[i + 1]; ++p)
          sums[i] += values[p];
        for (int p = row_offsets[i]; p < row_offsets[i + 1]; ++p)
          values[p] /= sums[i];
      }
    return sums;
  }

  std::vector<double> restricted(const CrsMatrix<double> &R, const std::vector<double> &x, int dimension)
  {
    std::vector<double> result(x.empty() ? 0 : static_cast<std::size_t>(R.n_rows) * dimension, 0.);
    for (int i = 0; i < R.n_rows && !x.empty(); ++i)
      for (int p = R.row_offsets[i]; p < R.row_offsets[i + 1]; ++p)
        for (int d = 0; d < dimension; ++d)
          result[static_cast<std::size_t>(i) * dimension + d] += R.values[p] * x[static_cast<std::size_t>(R.columns[p]) * dimension + d];
    return result;
  }

  std::vector<int> representatives(const CrsMatrix<double> &R, const MeshLaplacian &mesh)
  {
    std::vector<int> result;
    for (int i = 0; i < R.n_rows; ++i)
      {
        int most = -1;
        for (int p = R.row_offsets[i]; p < R.row_offsets[i + 1]; ++p)
          if (R.columns[p] < mesh.n_nodes() && (most < 0 || R.values[p] > R.values[most])) // no ghost
            most = p;
        if (most >= 0)
          result.push_back(mesh.finest_node.empty() ? R.columns[most] : mesh.finest_node[R.columns[most]]);
      }
    return result;
  }

  std::vector<double> MeshRanks::with_gathered(const std::vector<double> &values, std::size_t n_arrays) const
  {
    const auto is_gathered = [](const MeshLevel &level) { return level.part.gathered; };
    const auto level       = std::find_if(levels.begin(), levels.end(), is_gathered);
    if (level == levels.end() || n_arrays == 0)
      return values;
    const MeshLevel       &finer = *(level - 1);
    const std::vector<int> nodes = representatives(finer.restriction, finer.mesh); // of the rank's own nodes there
    const auto             n     = static_cast<std::ptrdiff_t>(values.size() / n_arrays);
    std::vector<double>    result, own(nodes.size());
    for (std::size_t a = 0; a < n_arrays; ++a)
      {
        const auto begin = values.begin() + static_cast<std::ptrdiff_t>(a) * n;
        for (std::size_t i = 0; i < nodes.size(); ++i)
          own[i] = begin[nodes[i]];
        const std::vector<double> all = gather(own);
        result.insert(result.end(), begin, begin + n);
        result.insert(result.end(), all.begin(), all.end());
      }
    return result;
  }

  namespace
  {
    /** Fills the transfers of a level and makes the next one. @return whether there is one. */
    bool coarsen(MeshLevel &level, MeshLevel &coarse)
    {
      const MeshLaplacian &mesh = level.mesh;
      if (!has_positive_diagonal(mesh))
        return false;
      // strong couplings alone: aggregates of all neighbours make levels twice as stiff
      // (tests/reaction_diffusion/stiffness_test.cc)
      const Aggregates aggregates = aggregates_of(mesh);
      if (aggregates.n == 0 || 2 * aggregates.n > mesh.n_nodes())
        return false;
      CrsMatrix<double> P = smoothed_prolongation(aggregates), R = transpose(P);
      for (std::size_t p = 0; p < R.values.size(); ++p)
        R.values[p] *= mesh.weight[R.columns[p]];
      const std::vector<double> m_c = divide_by_sums(R.row_offsets, R.values);
      if (!std::all_of(m_c.begin(), m_c.end(), [](double m) { return m > 0.; }))
        return false;
      coarse.mesh.matrix   = product(R, product(mesh.matrix, P));
      const double largest = *std::max_element(m_c.begin(), m_c.end());
      for (const double m : m_c)
        coarse.mesh.weight.push_back(m / largest);
      coarse.mesh.dimension   = mesh.dimension;
      coarse.mesh.coordinates = restricted(R, mesh.coordinates, mesh.dimension);
      coarse.mesh.decay       = restricted(R, mesh.decay, 1);
      coarse.mesh.finest_node = representatives(R, mesh);
      level.prolongation      = std::move(P);
      level.restriction       = std::move(R);
      return true;
    }

    std::vector<MeshLevel> levels_of(const MeshRanks &ranks, bool with_coarser)
    {
      if (!with_coarser)
        return {ranks.levels.front()};
      if (!ranks.with_coarser)
        throw InvalidInput(
          "the linear method needs coarser levels, and the ranks have shared out the mesh alone\n  expected: ranks made with coarser levels");
      return ranks.levels;
    }
  } // namespace

  std::vector<MeshLevel> make_levels(const MeshLaplacian &mesh, bool with_coarser, const MeshRanks *ranks)
  {
    if (ranks != nullptr)
      return levels_of(*ranks, with_coarser);
    std::vector<MeshLevel> levels(1);
    levels[0].mesh = mesh;
    for (MeshLevel coarse; with_coarser && levels.back().mesh.n_nodes() > coarse_nodes && coarsen(levels.back(), coarse); coarse = {})
      levels.push_back(std::move(coarse));
    for (MeshLevel &level : levels)
      level.n_all = level.mesh.n_nodes();
    return levels;
  }
} // namespace leopard::reaction_diffusion
