// SPDX-License-Identifier: Apache-2.0
#include <solvers/block_async/block_async.h>
#include <solvers/krylov/cg.h>
#include <solvers/krylov/fgmres.h>
#include <solvers/krylov/gcr.h>
#include <solvers/multigrid/multigrid.h>

#include <cstdio>

int main()
{
  const leopard::CrsMatrix<double> A = leopard::five_point_stencil(10, 10, 0.1).to_crs();
  leopard::BlockAsync<double>      method(A, leopard::BlockAsyncOptions());
  std::vector<double>              x(A.n_rows, 0.), b(A.n_rows, 1.);
  leopard::StoppingCriteria        criteria;
  criteria.relative_tolerance       = 1e-8;
  const leopard::SolveResult result = leopard::solve(method, x.data(), b.data(), criteria);
  std::printf("%s after %d iterations\n", leopard::to_string(result.status).c_str(), result.n_iterations);
  const leopard::KrylovResult again = leopard::make_cg<double>(A, leopard::CgOptions())->solve(x.data(), b.data());
  std::printf("%s after %d iterations\n", leopard::to_string(again.reason).c_str(), again.n_iterations);
  return result.status == leopard::SolveStatus::converged && again.converged ? 0 : 1;
}
