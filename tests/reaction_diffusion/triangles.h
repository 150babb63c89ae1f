// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reaction_diffusion_test.h"

#include <array>
#include <map>
#include <random>

namespace leopard::reaction_diffusion
{
  /**
   * Linear elements on the unit square: n x n nodes, moved at random by up to `shift` of the mesh size inside, squares
   * halved in either way.
   */
  struct Triangles
  {
    Triangles(int n, double shift, unsigned int seed)
    {
      std::mt19937                           generator(seed);
      std::uniform_real_distribution<double> random(-shift, shift);
      const double                           h = 1. / (n - 1);
      for (int i = 0; i < n * n; ++i)
        {
          const int  k = i % n, l = i / n;
          const bool inside = k > 0 && k + 1 < n && l > 0 && l + 1 < n;
          nodes.push_back({h * (k + (inside ? random(generator) : 0.)), h * (l + (inside ? random(generator) : 0.))});
        }
      std::vector<std::map<int, double>> rows(nodes.size());
      Vector                             mass(nodes.size(), 0.);
      for (int l = 0; l + 1 < n; ++l)
        for (int k = 0; k + 1 < n; ++k)
          {
            const int a = l * n + k, b = a + 1, c = a + n + 1, d = a + n;
            if (generator() % 2 == 0)
              {
                add({a, b, c}, rows, mass);
                add({a, c, d}, rows, mass);
              }
            else
              {
                add({a, b, d}, rows, mass);
                add({b, c, d}, rows, mass);
              }
          }
      CrsMatrix<double> &A = laplacian.matrix;
      A.n_rows = A.n_columns = static_cast<int>(nodes.size());
      const double largest   = *std::max_element(mass.begin(), mass.end());
      for (std::size_t i = 0; i < nodes.size(); ++i)
        {
          for (const auto &[j, value] : rows[i])
            {
              A.columns.push_back(j);
              A.values.push_back(value / mass[i]);
            }
          A.row_offsets.push_back(static_cast<int>(A.columns.size()));
          laplacian.weight.push_back(mass[i] / largest);
        }
    }

    MeshLaplacian                      laplacian;
    std::vector<std::array<double, 2>> nodes;

  private:
    void add(const std::array<int, 3> &corner, std::vector<std::map<int, double>> &rows, Vector &mass) const
    {
      std::array<std::array<double, 2>, 3> edge; // opposite to each corner
      for (int i = 0; i < 3; ++i)
        for (int d = 0; d < 2; ++d)
          edge[i][d] = nodes[corner[(i + 2) % 3]][d] - nodes[corner[(i + 1) % 3]][d];
      const double area = 0.5 * (edge[0][0] * edge[1][1] - edge[0][1] * edge[1][0]);
      for (int i = 0; i < 3; ++i)
        {
          mass[corner[i]] += area / 3.;
          for (int j = 0; j < 3; ++j)
            rows[corner[i]][corner[j]] += (edge[i][0] * edge[j][0] + edge[i][1] * edge[j][1]) / (4. * area);
        }
    }
  };

  inline Vector smooth_fields(const Triangles &mesh)
  {
    const std::size_t n = mesh.nodes.size();
    Vector            u(2 * n);
    for (std::size_t i = 0; i < n; ++i)
      {
        u[i]     = 0.92 + 0.1 * std::cos(M_PI * mesh.nodes[i][0]) * std::cos(2. * M_PI * mesh.nodes[i][1]);
        u[n + i] = 0.94 - 0.1 * std::cos(2. * M_PI * mesh.nodes[i][0]) * std::cos(M_PI * mesh.nodes[i][1]);
      }
    return u;
  }
} // namespace leopard::reaction_diffusion
