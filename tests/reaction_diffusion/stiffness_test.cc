// SPDX-License-Identifier: Apache-2.0
// How stiff coarse levels of a mesh are: Galerkin's levels cannot be as soft as the mesh, and how much more they are
// is what cycles pay for.
#include "triangles.h"

#include <applications/reaction_diffusion/mesh/mesh_aggregates.h>
#include <applications/reaction_diffusion/mesh/mesh_hierarchy.h>
#include <solvers/krylov/cg.h>
#include <solvers/matrix/sparse_product.h>
#include <solvers/multigrid/aggregation.h>

#include <functional>
#include <iterator>
#include <numeric>
#include <string>
#include <vector>

namespace leopard::reaction_diffusion
{
  namespace
  {
    double scalar_product_of(const Vector &a, const Vector &b)
    {
      return std::inner_product(a.begin(), a.end(), b.begin(), 0.);
    }

    /** f^T K^+ f: how far a load f with the sum zero moves what K is the stiffness of. */
    double compliance(const CrsMatrix<double> &K, const Vector &f)
    {
      CgOptions options;
      options.tolerance      = 1e-10;
      options.max_iterations = 10000;
      Vector             x(f.size(), 0.);
      const KrylovResult result = make_cg<double>(K, options)->solve(x.data(), f.data());
      EXPECT_TRUE(result.converged) << K.n_rows;
      return scalar_product_of(f, x);
    }

    /** A load that varies slowly. */
    Vector smooth_load(const Triangles &mesh)
    {
      const MeshLaplacian &laplacian = mesh.laplacian;
      Vector               f(laplacian.n_nodes());
      double               sum = 0., weights = 0.;
      for (int i = 0; i < laplacian.n_nodes(); ++i)
        {
          f[i] = laplacian.weight[i] * (std::cos(M_PI * mesh.nodes[i][0]) + std::cos(M_PI * mesh.nodes[i][1]));
          sum += f[i];
          weights += laplacian.weight[i];
        }
      for (int i = 0; i < laplacian.n_nodes(); ++i)
        f[i] -= sum / weights * laplacian.weight[i];
      return f;
    }

    /** Of each coarser level, how many times as stiff as the mesh it is; the sizes of the levels, too. */
    struct Stiffness
    {
      std::vector<double> ratios;
      std::vector<int>    n_nodes;

      std::string text() const
      {
        std::string result;
        for (std::size_t l = 0; l < ratios.size(); ++l)
          result += (l > 0 ? ", " : "") + std::to_string(ratios[l]) + " (" + std::to_string(n_nodes[l]) + ")";
        return result;
      }
    };

    /** @param prolongation of a level with this matrix; empty: there is no coarser one. */
    Stiffness stiffness_of_levels(const Triangles                                                                       &mesh,
                                  const std::function<CrsMatrix<double>(const CrsMatrix<double> &K, std::size_t level)> &prolongation)
    {
      CrsMatrix<double> K       = stiffness(mesh.laplacian);
      Vector            f       = smooth_load(mesh);
      const double      of_mesh = compliance(K, f);
      Stiffness         result;
      for (std::size_t level = 0;; ++level)
        {
          const CrsMatrix<double> P = prolongation(K, level);
          if (P.n_columns == 0)
            return result;
          const CrsMatrix<double> R = transpose(P);
          Vector                  f_coarse(R.n_rows);
          multiply(R, f.data(), f_coarse.data());
          f = std::move(f_coarse);
          K = product(R, product(K, P));
          result.ratios.push_back(of_mesh / compliance(K, f));
          result.n_nodes.push_back(K.n_rows);
        }
    }

    /** Of the time loop's levels. */
    Stiffness of_time_loop(const Triangles &mesh)
    {
      const std::vector<MeshLevel> levels = make_levels(mesh.laplacian);
      return stiffness_of_levels(mesh, [&](const CrsMatrix<double> &, std::size_t level) {
        return level + 1 < levels.size() ? levels[level].prolongation : CrsMatrix<double>();
      });
    }

    /** Of the library's levels by smoothed aggregation. */
    Stiffness of_library(const Triangles &mesh)
    {
      return stiffness_of_levels(mesh, [&](const CrsMatrix<double> &K, std::size_t) {
        return K.n_rows <= coarse_nodes ? CrsMatrix<double>() : smoothed_prolongation(aggregate(K, AggregationOptions().strength));
      });
    }

    TEST(Stiffness, OfCoarseLevelsIsNearThatOfTheMesh)
    {
      constexpr double most[] = {1.3, 1.65, 2.1}; // of aggregates of all neighbours, smoothed, 1.5, 2.2 and 4
      for (const double shift : {0., 0.1, 0.25})
        {
          const Triangles mesh(129, shift, 1);
          for (const Stiffness &found : {of_time_loop(mesh), of_library(mesh)})
            {
              ASSERT_GE(found.ratios.size(), std::size(most)) << found.text();
              for (std::size_t l = 0; l < std::size(most); ++l)
                {
                  EXPECT_GT(found.ratios[l], l == 0 ? 1. : found.ratios[l - 1]) << found.text(); // Galerkin's are no softer than what they come from
                  EXPECT_LT(found.ratios[l], most[l]) << "nodes moved by " << shift << ": " << found.text();
                }
            }
        }
    }
  } // namespace
} // namespace leopard::reaction_diffusion
