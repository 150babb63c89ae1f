// SPDX-License-Identifier: Apache-2.0
#include "stencil.h"

#include "../base/errors.h"
#include "../base/words.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace leopard
{
  namespace
  {
    Stencil<double> grid(int n_x, int n_y, int n_z)
    {
      Stencil<double> stencil;
      stencil.n_x = n_x;
      stencil.n_y = n_y;
      stencil.n_z = n_z;
      return stencil;
    }

    template <typename Number>
    void check_grid(const Stencil<Number> &s, int fewest)
    {
      if (std::min({s.n_x, s.n_y, s.n_z}) < fewest || static_cast<double>(s.n_x) * s.n_y * s.n_z > 2147483647.)
        throw InvalidInput("stencil: a grid of " + std::to_string(s.n_x) + " x " + std::to_string(s.n_y) + " x " + std::to_string(s.n_z) +
                           " nodes\n  expected: at least one node a direction and at most 2^31 - 1 in all");
    }
  } // namespace

  template <typename Number>
  bool Stencil<Number>::is_star() const
  {
    for (int dz = -1; dz <= 1; ++dz)
      for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx)
          if (dx * dx + dy * dy + dz * dz > 1 && coefficient(dx, dy, dz) != Number(0) && (n_z > 1 || dz == 0))
            return false;
    return true;
  }

  template <typename Number>
  int Stencil<Number>::n_rows() const
  {
    check_grid(*this, 0);
    return n_x * n_y * n_z;
  }

  template <typename Number>
  void Stencil<Number>::validate() const
  {
    check_grid(*this, 1);
    for (const Number c : coefficients)
      if (!std::isfinite(c))
        throw InvalidInput("stencil: a coefficient is " + std::to_string(c) + "\n  expected: finite numbers");
    if (diagonal.empty() && coefficient(0, 0, 0) == Number(0))
      throw InvalidInput("stencil: the central coefficient is zero\n  expected: a nonzero diagonal; relaxation divides by it");
    const std::size_t n_diagonal = static_cast<std::size_t>(n_rows()) + (ghost_above ? plane() : 0);
    if (!diagonal.empty() && diagonal.size() != n_diagonal)
      throw InvalidInput("stencil: " + std::to_string(diagonal.size()) + " diagonal entries\n  expected: none or one for each of the " +
                         std::to_string(n_diagonal) + (ghost_above ? " rows and nodes of the ghost plane above" : " rows"));
    for (std::size_t i = 0; i < diagonal.size(); ++i)
      if (!(std::isfinite(diagonal[i]) && diagonal[i] != Number(0)))
        throw InvalidInput("stencil: the diagonal entry of row " + std::to_string(i) + " is " + short_text(static_cast<double>(diagonal[i])) +
                           " (the first row is 0)\n  expected: a finite number that is not zero");
  }

  template <typename Number>
  CrsMatrix<Number> Stencil<Number>::to_crs() const
  {
    CrsMatrix<Number> A;
    to_crs(A);
    return A;
  }

  template <typename Number>
  void Stencil<Number>::to_crs(CrsMatrix<Number> &A) const
  {
    if (is_slab())
      throw InvalidInput(
        "stencil: a slab of a larger grid is to be stored as a matrix\n  expected: methods that need no stored matrix (async, jacobi, "
        "damped-jacobi) on several ranks");
    A.n_rows = A.n_columns = n_rows();
    A.row_offsets.assign(1, 0);
    A.columns.clear();
    A.values.clear();
    double n_entries = 0.; // at most, as a diagonal may have zeros
    for (int dz = -1; dz <= 1; ++dz)
      for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx)
          if (coefficient(dx, dy, dz) != Number(0) || (dx == 0 && dy == 0 && dz == 0 && !diagonal.empty()))
            n_entries += static_cast<double>(n_x - std::abs(dx)) * (n_y - std::abs(dy)) * (n_z - std::abs(dz));
    static const std::string of_what  = "entries in the matrix of a stencil"; // made once: nothing is to be allocated
    const std::size_t        capacity = checked_count(n_entries, of_what);
    A.row_offsets.reserve(static_cast<std::size_t>(A.n_rows) + 1);
    A.columns.reserve(capacity);
    A.values.reserve(capacity);
    for (int z = 0; z < n_z; ++z)
      for (int y = 0; y < n_y; ++y)
        for (int x = 0; x < n_x; ++x)
          {
            for (int dz = z > 0 ? -1 : 0; dz <= (z < n_z - 1 ? 1 : 0); ++dz)
              for (int dy = y > 0 ? -1 : 0; dy <= (y < n_y - 1 ? 1 : 0); ++dy)
                for (int dx = x > 0 ? -1 : 0; dx <= (x < n_x - 1 ? 1 : 0); ++dx)
                  {
                    const int    column = ((z + dz) * n_y + y + dy) * n_x + x + dx;
                    const bool   center = dx == 0 && dy == 0 && dz == 0;
                    const Number c      = center && !diagonal.empty() ? diagonal[column] : coefficient(dx, dy, dz);
                    if (c == Number(0))
                      continue;
                    A.columns.push_back(column);
                    A.values.push_back(c);
                  }
            A.row_offsets.push_back(A.n_entries());
          }
  }

  template <typename Number>
  bool have_same_pattern(const Stencil<Number> &a, const Stencil<Number> &b)
  {
    bool same = a.n_x == b.n_x && a.n_y == b.n_y && a.n_z == b.n_z && a.ghost_below == b.ghost_below && a.ghost_above == b.ghost_above &&
                a.diagonal.size() == b.diagonal.size();
    for (std::size_t i = 0; i < a.coefficients.size(); ++i)
      if (i != a.coefficients.size() / 2) // the diagonal
        same = same && (a.coefficients[i] == Number(0)) == (b.coefficients[i] == Number(0));
    return same;
  }

  Stencil<double> five_point_stencil(int n_x, int n_y, double delta)
  {
    Stencil<double> stencil      = grid(n_x, n_y, 1);
    stencil.coefficient(0, 0, 0) = 4. + delta;
    for (const int d : {-1, 1})
      stencil.coefficient(d, 0, 0) = stencil.coefficient(0, d, 0) = -1.;
    return stencil;
  }

  Stencil<double> nine_point_stencil(int n_x, int n_y, double delta)
  {
    Stencil<double> stencil = grid(n_x, n_y, 1);
    for (int dy = -1; dy <= 1; ++dy)
      for (int dx = -1; dx <= 1; ++dx)
        stencil.coefficient(dx, dy, 0) = -1. / 3.;
    stencil.coefficient(0, 0, 0) = 8. / 3. + delta;
    return stencil;
  }

  Stencil<double> seven_point_stencil(int n_x, int n_y, int n_z, double delta)
  {
    Stencil<double> stencil      = grid(n_x, n_y, n_z);
    stencil.coefficient(0, 0, 0) = 6. + delta;
    for (const int d : {-1, 1})
      stencil.coefficient(d, 0, 0) = stencil.coefficient(0, d, 0) = stencil.coefficient(0, 0, d) = -1.;
    return stencil;
  }

  Stencil<double> twenty_seven_point_stencil(int n_x, int n_y, int n_z, double delta)
  {
    Stencil<double> stencil = grid(n_x, n_y, n_z);
    for (int dz = -1; dz <= 1; ++dz)
      for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx)
          {
            const int distance              = dx * dx + dy * dy + dz * dz;
            stencil.coefficient(dx, dy, dz) = distance == 0 ? 8. / 3. + delta : distance == 1 ? 0. : distance == 2 ? -1. / 6. : -1. / 12.;
          }
    return stencil;
  }

#define INSTANTIATE(Number)        \
  template struct Stencil<Number>; \
  template bool have_same_pattern(const Stencil<Number> &a, const Stencil<Number> &b);
  LEOPARD_FOR_EACH_NUMBER(INSTANTIATE)
#undef INSTANTIATE
} // namespace leopard
