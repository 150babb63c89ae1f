// SPDX-License-Identifier: Apache-2.0
#include "mesh_hierarchy.h"

#include <Eigen/SparseCore>

#include <algorithm>
#include <cmath>

namespace leopard::reaction_diffusion
{
  namespace
  {
    using Matrix = Eigen::SparseMatrix<double, Eigen::RowMajor, int>;
    using Vector = Eigen::VectorXd;

    /** Rows of A may be in any order, those of the result are sorted, as Eigen wants them. */
    Matrix eigen_matrix(const CrsMatrix &A)
    {
      std::vector<Eigen::Triplet<double>> entries;
      entries.reserve(A.columns.size());
      for (int i = 0; i < A.n_rows; ++i)
        for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
          entries.emplace_back(i, A.columns[p], A.values[p]);
      Matrix result(A.n_rows, A.n_columns);
      result.setFromTriplets(entries.begin(), entries.end());
      return result;
    }

    CrsMatrix crs_matrix(Matrix A)
    {
      A.makeCompressed();
      CrsMatrix result;
      result.n_rows    = static_cast<int>(A.rows());
      result.n_columns = static_cast<int>(A.cols());
      result.row_offsets.assign(A.outerIndexPtr(), A.outerIndexPtr() + A.rows() + 1);
      result.columns.assign(A.innerIndexPtr(), A.innerIndexPtr() + A.nonZeros());
      result.values.assign(A.valuePtr(), A.valuePtr() + A.nonZeros());
      return result;
    }

    /**
     * P_0: a node with all its neighbours where none of them is taken, then the nodes between join their nearest
     * aggregate.
     */
    Matrix aggregates(const CrsMatrix &A)
    {
      constexpr int    none = -1;
      std::vector<int> aggregate(A.n_rows, none);
      int              n_aggregates = 0;
      for (int i = 0; i < A.n_rows; ++i)
        {
          const auto begin = A.columns.begin() + A.row_offsets[i], end = A.columns.begin() + A.row_offsets[i + 1];
          if (!std::all_of(begin, end, [&](int j) { return aggregate[j] == none; }))
            continue;
          std::for_each(begin, end, [&](int j) { aggregate[j] = n_aggregates; });
          ++n_aggregates;
        }
      const std::vector<int> first_pass = aggregate;
      for (int i = 0; i < A.n_rows; ++i)
        {
          double strongest = 0.;
          for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1] && first_pass[i] == none; ++p)
            if (const int j = A.columns[p]; j != i && first_pass[j] != none && std::abs(A.values[p]) > strongest)
              {
                strongest    = std::abs(A.values[p]);
                aggregate[i] = first_pass[j];
              }
          if (aggregate[i] == none)
            aggregate[i] = n_aggregates++;
        }
      std::vector<Eigen::Triplet<double>> entries;
      entries.reserve(A.n_rows);
      for (int i = 0; i < A.n_rows; ++i)
        entries.emplace_back(i, aggregate[i], 1.);
      Matrix result(A.n_rows, n_aggregates);
      result.setFromTriplets(entries.begin(), entries.end());
      return result;
    }

    /** Of D^-1 L, a little more than the power method says. */
    double largest_eigenvalue(const Matrix &L, const Vector &inverse_diagonal)
    {
      Vector v(L.rows());
      for (int i = 0; i < v.size(); ++i) // rough: all frequencies
        v[i] = std::sin(1. + 1e4 * i);
      double norm = 0.;
      for (int iteration = 0; iteration < 15; ++iteration)
        {
          v /= v.norm();
          v    = inverse_diagonal.cwiseProduct(L * v);
          norm = v.norm();
        }
      return 1.1 * norm;
    }

    /** Fills the transfers of a level and makes the next one. @return whether there is one. */
    bool coarsen(MeshLevel &level, MeshLevel &coarse)
    {
      const MeshLaplacian &mesh = level.mesh;
      Vector               inverse_diagonal(mesh.n_nodes());
      for (int i = 0; i < mesh.n_nodes(); ++i)
        {
          inverse_diagonal[i] = 1. / mesh.row(i).diagonal;
          if (!(inverse_diagonal[i] > 0.))
            return false;
        }
      const Matrix L = eigen_matrix(mesh.matrix), P_0 = aggregates(mesh.matrix);
      if (2 * P_0.cols() > P_0.rows())
        return false;
      const Vector omega     = 4. / (3. * largest_eigenvalue(L, inverse_diagonal)) * inverse_diagonal;
      const Matrix smoothing = omega.asDiagonal() * Matrix(L * P_0), P = P_0 - smoothing;
      const Vector m = Eigen::Map<const Vector>(mesh.weight.data(), mesh.n_nodes()), m_c = P.transpose() * m;
      if (!(m_c.minCoeff() > 0.))
        return false;
      const Matrix weighted = m.asDiagonal() * P, R = m_c.cwiseInverse().asDiagonal() * Matrix(weighted.transpose());
      level.prolongation  = crs_matrix(P);
      level.restriction   = crs_matrix(R);
      coarse.mesh.matrix  = crs_matrix(Matrix(R * Matrix(L * P)));
      const Vector weight = m_c / m_c.maxCoeff();
      coarse.mesh.weight.assign(weight.data(), weight.data() + weight.size());
      coarse.mesh.dimension = mesh.dimension;
      if (!mesh.coordinates.empty())
        {
          using Coordinates = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
          coarse.mesh.coordinates.resize(static_cast<std::size_t>(R.rows()) * mesh.dimension);
          Eigen::Map<Coordinates>(coarse.mesh.coordinates.data(), R.rows(), mesh.dimension) =
            R * Eigen::Map<const Coordinates>(mesh.coordinates.data(), mesh.n_nodes(), mesh.dimension);
        }
      coarse.owner.resize(level.owner.empty() ? 0 : P_0.cols());
      for (int i = static_cast<int>(level.owner.size()) - 1; i >= 0; --i) // an aggregate belongs to the owner of its first node
        coarse.owner[P_0.innerIndexPtr()[i]] = level.owner[i];
      return true;
    }
  } // namespace

  std::vector<MeshLevel> make_levels(const MeshLaplacian &mesh, bool with_coarser, const MeshRanks *ranks)
  {
    std::vector<MeshLevel> levels(1);
    levels[0].mesh = mesh;
    if (ranks != nullptr)
      levels[0].owner = ranks->owner;
    MeshLevel coarse;
    while (with_coarser && levels.back().mesh.n_nodes() > coarse_nodes && coarsen(levels.back(), coarse))
      levels.push_back(coarse);
    for (MeshLevel &level : levels)
      level.n_all = level.mesh.n_nodes();
    if (ranks != nullptr)
      take_part(levels, *ranks);
    return levels;
  }
} // namespace leopard::reaction_diffusion
