// SPDX-License-Identifier: Apache-2.0
#include "multigrid_test.h"

#include <algorithm>

namespace leopard
{
  Dense identity(int n)
  {
    Dense I(n, n);
    for (int i = 0; i < n; ++i)
      I(i, i) = 1.;
    return I;
  }

  Dense dense(const CrsMatrix<double> &A)
  {
    Dense D(A.n_rows, A.n_columns);
    for (int i = 0; i < A.n_rows; ++i)
      for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
        D(i, A.columns[p]) += A.values[p];
    return D;
  }

  CrsMatrix<double> crs(const Dense &A)
  {
    CrsMatrix<double> result;
    result.n_rows    = A.n_rows;
    result.n_columns = A.n_columns;
    for (int i = 0; i < A.n_rows; ++i)
      {
        for (int j = 0; j < A.n_columns; ++j)
          if (A(i, j) != 0.)
            {
              result.columns.push_back(j);
              result.values.push_back(A(i, j));
            }
        result.row_offsets.push_back(result.n_entries());
      }
    return result;
  }

  Dense transpose(const Dense &A)
  {
    Dense T(A.n_columns, A.n_rows);
    for (int i = 0; i < A.n_rows; ++i)
      for (int j = 0; j < A.n_columns; ++j)
        T(j, i) = A(i, j);
    return T;
  }

  Dense operator*(const Dense &A, const Dense &B)
  {
    Dense C(A.n_rows, B.n_columns);
    for (int i = 0; i < A.n_rows; ++i)
      for (int k = 0; k < A.n_columns; ++k)
        for (int j = 0; j < B.n_columns; ++j)
          C(i, j) += A(i, k) * B(k, j);
    return C;
  }

  namespace
  {
    Dense combination(const Dense &A, double factor, const Dense &B)
    {
      Dense C = A;
      for (std::size_t i = 0; i < C.values.size(); ++i)
        C.values[i] += factor * B.values[i];
      return C;
    }
  } // namespace

  Dense operator+(const Dense &A, const Dense &B)
  {
    return combination(A, 1., B);
  }

  Dense operator-(const Dense &A, const Dense &B)
  {
    return combination(A, -1., B);
  }

  Vector operator*(const Dense &A, const Vector &x)
  {
    Vector y(A.n_rows, 0.);
    for (int i = 0; i < A.n_rows; ++i)
      for (int j = 0; j < A.n_columns; ++j)
        y[i] += A(i, j) * x[j];
    return y;
  }

  Vector operator-(const Vector &a, const Vector &b)
  {
    Vector c = a;
    for (std::size_t i = 0; i < c.size(); ++i)
      c[i] -= b[i];
    return c;
  }

  Vector operator+(const Vector &a, const Vector &b)
  {
    Vector c = a;
    for (std::size_t i = 0; i < c.size(); ++i)
      c[i] += b[i];
    return c;
  }

  Dense inverse(const Dense &A)
  {
    const int n    = A.n_rows;
    Dense     left = A, right = identity(n);
    for (int k = 0; k < n; ++k)
      {
        int pivot = k;
        for (int i = k; i < n; ++i)
          if (std::abs(left(i, k)) > std::abs(left(pivot, k)))
            pivot = i;
        for (int j = 0; j < n; ++j)
          {
            std::swap(left(k, j), left(pivot, j));
            std::swap(right(k, j), right(pivot, j));
          }
        const double d = 1. / left(k, k);
        for (int j = 0; j < n; ++j)
          {
            left(k, j) *= d;
            right(k, j) *= d;
          }
        for (int i = 0; i < n; ++i)
          if (const double factor = left(i, k); i != k && factor != 0.)
            for (int j = 0; j < n; ++j)
              {
                left(i, j) -= factor * left(k, j);
                right(i, j) -= factor * right(k, j);
              }
      }
    return right;
  }

  double largest_difference(const Dense &A, const Dense &B)
  {
    return A.n_rows == B.n_rows && A.n_columns == B.n_columns ? largest_difference(A.values, B.values) : 1e300;
  }

  double norm(const Vector &v)
  {
    double sum = 0.;
    for (const double x : v)
      sum += x * x;
    return std::sqrt(sum);
  }

  Stencil<double> three_point_stencil(int n, double delta)
  {
    Stencil<double> stencil;
    stencil.n_x                   = n;
    stencil.coefficient(0, 0, 0)  = 2. + delta;
    stencil.coefficient(-1, 0, 0) = stencil.coefficient(1, 0, 0) = -1.;
    return stencil;
  }

  MultigridOptions jacobi_multigrid(Backend backend, double omega)
  {
    MultigridOptions options;
    options.backend         = backend;
    options.n_threads       = 3;
    options.smoother.method = "damped-jacobi";
    options.smoother.omega  = omega;
    options.pre_smoothing = options.post_smoothing = 2;
    return options;
  }

  namespace
  {
    /** function(x, b) with pointers to where the multigrid computes; then x on the host. */
    template <typename Number, typename Function>
    Vector call(const Multigrid<Number> &multigrid, Vector x, const Vector &b, const Function &function)
    {
      x.resize(multigrid.n_columns());
      call_with_numbers<Number>(multigrid.memory_space(), x, b, function);
      x.resize(multigrid.n_rows());
      return x;
    }
  } // namespace

  template <typename Number>
  Vector vmult(Multigrid<Number> &multigrid, const Vector &b)
  {
    // what is in x before must not matter
    return call(multigrid, Vector(multigrid.n_columns(), NAN), b, [&](Number *x, const Number *right) { multigrid.vmult(x, right); });
  }

  template <typename Number>
  Vector cycle(Multigrid<Number> &multigrid, Vector x, const Vector &b)
  {
    return call(multigrid, std::move(x), b, [&](Number *to, const Number *right) { multigrid.cycle(to, right); });
  }

  template <typename Number>
  SolveResult solve(Multigrid<Number> &multigrid, Vector &x, const Vector &b, double relative_tolerance, int max_cycles)
  {
    StoppingCriteria criteria;
    criteria.relative_tolerance = relative_tolerance;
    criteria.max_iterations     = max_cycles;
    SolveResult result;
    x = call(multigrid, x, b, [&](Number *to, const Number *right) { result = multigrid.solve(to, right, criteria); });
    return result;
  }

  template <typename Number>
  Vector multiply(Multigrid<Number> &multigrid, const Vector &x)
  {
    Vector y(multigrid.n_rows(), NAN);
    Vector padded = x;
    padded.resize(multigrid.n_columns());
    return call(multigrid, y, padded, [&](Number *to, const Number *from) { multigrid.multiply(to, const_cast<Number *>(from)); });
  }

#define INSTANTIATE(Number)                                                                                                        \
  template Vector      vmult(Multigrid<Number> &multigrid, const Vector &b);                                                       \
  template Vector      cycle(Multigrid<Number> &multigrid, Vector x, const Vector &b);                                             \
  template SolveResult solve(Multigrid<Number> &multigrid, Vector &x, const Vector &b, double relative_tolerance, int max_cycles); \
  template Vector      multiply(Multigrid<Number> &multigrid, const Vector &x);
  LEOPARD_FOR_EACH_NUMBER(INSTANTIATE)
#undef INSTANTIATE

  Dense matrix_of(int n, const std::function<Vector(const Vector &)> &function)
  {
    Dense result(n, n);
    for (int j = 0; j < n; ++j)
      {
        Vector unit(n, 0.);
        unit[j]             = 1.;
        const Vector column = function(unit);
        for (int i = 0; i < n; ++i)
          result(i, j) = column[i];
      }
    return result;
  }

  namespace
  {
    class UsersCoarseSolver : public CoarseSolver<double>
    {
    public:
      UsersCoarseSolver(const CrsMatrix<double> &A, MemorySpace space_)
        : A_inverse(inverse(dense(A)))
        , space(space_)
      {
      }
      std::string name() const override { return "the user's"; }

      void solve(double *x, const double *b) override
      {
        const std::size_t n_bytes = A_inverse.n_rows * sizeof(double);
        Vector            right(A_inverse.n_rows);
        if (space == MemorySpace::device)
          device::copy_to_host(right.data(), b, n_bytes);
        else
          std::copy_n(b, right.size(), right.begin());
        const Vector result = A_inverse * right;
        if (space == MemorySpace::device)
          device::copy_to_device(x, result.data(), n_bytes);
        else
          std::copy(result.begin(), result.end(), x);
      }

    private:
      const Dense       A_inverse;
      const MemorySpace space;
    };

    /**
     * Neumann in one dimension on n cells: -1 2 -1 with 1 at the ends (stiffness), 1 with 1/2 at the ends (lumped
     * mass).
     */
    Dense stiffness(int n)
    {
      Dense K(n + 1, n + 1);
      for (int cell = 0; cell < n; ++cell)
        for (int a = 0; a < 2; ++a)
          for (int b = 0; b < 2; ++b)
            K(cell + a, cell + b) += a == b ? 1. : -1.;
      return K;
    }

    Dense mass(int n)
    {
      Dense M = identity(n + 1);
      M(0, 0) = M(n, n) = 0.5;
      return M;
    }

    Dense interpolation(int n_coarse)
    {
      Dense P(2 * n_coarse + 1, n_coarse + 1);
      for (int i = 0; i <= 2 * n_coarse; ++i)
        {
          P(i, i / 2) += i % 2 == 0 ? 1. : 0.5;
          if (i % 2 == 1)
            P(i, i / 2 + 1) += 0.5;
        }
      return P;
    }

    Dense kronecker(const Dense &A, const Dense &B)
    {
      Dense result(A.n_rows * B.n_rows, A.n_columns * B.n_columns);
      for (int i = 0; i < result.n_rows; ++i)
        for (int j = 0; j < result.n_columns; ++j)
          result(i, j) = A(i / B.n_rows, j / B.n_columns) * B(i % B.n_rows, j % B.n_columns);
      return result;
    }
  } // namespace

  std::unique_ptr<CoarseSolver<double>> dense_coarse_solver(const CrsMatrix<double> &A, MemorySpace space)
  {
    return std::make_unique<UsersCoarseSolver>(A, space);
  }

  MultigridHierarchy neumann_hierarchy(int n_levels)
  {
    MultigridHierarchy hierarchy;
    hierarchy.levels.resize(n_levels);
    for (int l = 0; l < n_levels; ++l)
      {
        const int       n     = 2 << l;
        MultigridLevel &level = hierarchy.levels[l];
        level.matrix          = crs(kronecker(stiffness(n), mass(n)) + kronecker(mass(n), stiffness(n)));
        if (l > 0)
          level.prolongation = crs(kronecker(interpolation(n / 2), interpolation(n / 2)));
        level.dim = 2;
        for (int i = 0; i < level.matrix.n_rows; ++i)
          level.coordinates.insert(level.coordinates.end(), {static_cast<double>(i % (n + 1)) / n, static_cast<double>(i / (n + 1)) / n});
      }
    return hierarchy;
  }

  MultigridHierarchy adaptive_hierarchy(int n_levels)
  {
    MultigridHierarchy  hierarchy;
    std::vector<double> nodes; // of the active mesh, ascending
    hierarchy.levels.resize(n_levels);
    double h = 0.25;
    for (int l = 0; l < n_levels; ++l, h *= 0.5)
      {
        MultigridLevel &level = hierarchy.levels[l];
        const int       n     = l == 0 ? 3 : 4;
        level.dim             = 1;
        Dense A(n, n), E(n, n), P(n, l == 1 ? 3 : 4);
        for (int i = 0; i < n; ++i)
          level.coordinates.push_back(1. - (n - i) * h);
        for (int i = 0; i < n; ++i)
          {
            const bool edge = l > 0 && i == 0;
            A(i, i) += edge ? 1. : 2. / h;
            for (const int j : {i - 1, i + 1})
              if (j >= 0 && j < n)
                {
                  const bool to_edge = l > 0 && j == 0;
                  if (edge)
                    E(i, j) += -1. / h;
                  else if (!to_edge)
                    A(i, j) += -1. / h;
                }
            // which nodes are active: those left of the next level's first inner node, but not the ones that stand on
            // this level's edge
            const double x = level.coordinates[i];
            if (!edge && (l == n_levels - 1 || x <= 1. - 4. * (0.5 * h) + 1e-12))
              {
                level.global_rows.push_back(static_cast<int>(nodes.size()));
                level.level_rows.push_back(i);
                nodes.push_back(x);
              }
          }
        level.matrix = crs(A);
        if (l == 0)
          continue;
        level.interface                         = crs(E);
        const std::vector<double> &coarse_nodes = hierarchy.levels[l - 1].coordinates;
        for (int i = 0; i < n; ++i)
          for (std::size_t j = 0; j < coarse_nodes.size(); ++j)
            if (const double distance = std::abs(level.coordinates[i] - coarse_nodes[j]) / (2. * h); distance < 1. - 1e-9)
              P(i, static_cast<int>(j)) += 1. - distance;
        level.prolongation = crs(P);
      }
    std::vector<double> all = {0.};
    all.insert(all.end(), nodes.begin(), nodes.end());
    all.push_back(1.);
    const int n = static_cast<int>(nodes.size());
    Dense     A(n, n);
    for (int cell = 0; cell <= n; ++cell)
      {
        const double size = all[cell + 1] - all[cell];
        for (int a = 0; a < 2; ++a)
          for (int b = 0; b < 2; ++b)
            if (const int i = cell + a - 1, j = cell + b - 1; i >= 0 && i < n && j >= 0 && j < n)
              A(i, j) += (a == b ? 1. : -1.) / size;
      }
    hierarchy.matrix = crs(A);
    return hierarchy;
  }

  double relative_residual(const CrsMatrix<double> &A, const Vector &x, const Vector &b)
  {
    return residual_norm(A, x.data(), b.data()) / norm(b);
  }
} // namespace leopard
