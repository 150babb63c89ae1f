// SPDX-License-Identifier: Apache-2.0
#include <solvers/base/errors.h>
#include <solvers/matrix/eigenvalues.h>
#include <solvers/matrix/mesh_matrices.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace
{
  using namespace leopard;

  /** The largest |(A u)_i| of rows at least `far` from the boundary of a square with sides 0 and `side`. */
  double largest_residual(const CrsMatrix<double> &A, const std::vector<std::array<int, 2>> &nodes, int side, int far, double (*u)(double, double))
  {
    double largest = 0.;
    for (int i = 0; i < A.n_rows; ++i)
      if (std::min(nodes[i][0], nodes[i][1]) >= far && std::max(nodes[i][0], nodes[i][1]) <= side - far)
        {
          double sum = 0.;
          for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
            sum += A.values[p] * u(nodes[A.columns[p]][0], nodes[A.columns[p]][1]);
          largest = std::max(largest, std::isfinite(sum) ? std::abs(sum) : HUGE_VAL);
        }
    return largest;
  }

  // harmonic functions that are of the elements solve the equation in all rows that do not see the boundary
  TEST(Mesh_matrices, are_those_of_their_equations)
  {
    const auto constant  = [](double, double) { return 1.; };
    const auto linear    = [](double x, double y) { return 3. * x - y; };
    const auto quadratic = [](double x, double y) { return x * x - y * y; };

    constexpr int                   n = 5, side = 4 * n;
    const CrsMatrix<double>         hanging = hanging_nodes_matrix(n);
    std::vector<std::array<int, 2>> nodes;
    for (int y = 1; y < side; ++y)
      for (int x = 1; x < side; ++x)
        if (x > side / 2 || (x % 2 == 0 && y % 2 == 0)) // all nodes but hanging ones
          nodes.push_back({x, y});
    ASSERT_EQ(hanging.n_rows, static_cast<int>(nodes.size()));
    EXPECT_EQ(hanging.n_rows, (2 * n - 1) * (5 * n - 1));
    EXPECT_LE(largest_residual(hanging, nodes, side, 4, constant), 1e-13);
    EXPECT_LE(largest_residual(hanging, nodes, side, 4, linear), 1e-12);
    EXPECT_GT(largest_residual(hanging, nodes, side, 4, [](double x, double y) { return x * x + y; }), 0.1);

    const CrsMatrix<double> q2 = quadratic_elements_matrix(4);
    nodes.clear();
    for (int y = 1; y < 8; ++y)
      for (int x = 1; x < 8; ++x)
        nodes.push_back({x, y});
    ASSERT_EQ(q2.n_rows, 49);
    EXPECT_LE(largest_residual(q2, nodes, 8, 3, constant), 1e-13);
    EXPECT_LE(largest_residual(q2, nodes, 8, 3, quadratic), 1e-12);
    EXPECT_GT(largest_residual(q2, nodes, 8, 3, [](double x, double) { return x * x; }), 0.1);

    const CrsMatrix<double> jumps = jumping_coefficients_matrix(16), flow = convection_matrix(16);
    nodes.clear();
    for (int y = 1; y <= 16; ++y)
      for (int x = 1; x <= 16; ++x)
        nodes.push_back({x, y});
    EXPECT_LE(largest_residual(jumps, nodes, 17, 2, constant), 1e-8); // of 4e6
    EXPECT_LE(largest_residual(flow, nodes, 17, 2, constant), 1e-11);
    const auto [least, most] = std::minmax_element(jumps.values.begin(), jumps.values.end());
    EXPECT_DOUBLE_EQ(*least, -1e6);
    EXPECT_DOUBLE_EQ(*most, 6e6); // in a corner: two sides of the boundary at half the distance
    EXPECT_NEAR(largest_residual(flow, nodes, 17, 2, [](double x, double) { return x; }), 1000. / 17., 1e-9); // h^2 1000 du/dx, u = x / h

    for (const CrsMatrix<double> *A : {&hanging, &q2, &jumps})
      {
        A->validate();
        EXPECT_FALSE(spectrum::find_asymmetry(*A).found);
      }
    flow.validate();
    EXPECT_TRUE(spectrum::find_asymmetry(flow).found);
    for (const auto make : {hanging_nodes_matrix, quadratic_elements_matrix, jumping_coefficients_matrix, convection_matrix})
      {
        EXPECT_THROW(make(1), InvalidInput);
        EXPECT_THROW(make(100000), InvalidInput);
      }
  }
} // namespace
