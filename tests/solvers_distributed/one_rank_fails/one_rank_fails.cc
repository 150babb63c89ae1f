// SPDX-License-Identifier: Apache-2.0
// A program of ranks of which those that its arguments name fail while the others wait for them in the library.
#include <solvers/base/errors.h>
#include <solvers/distributed/mpi/error_reporter.h>
#include <solvers/distributed/mpi/mpi_transport.h>
#include <solvers/distributed/mpi/own_range.h>

#include <algorithm>
#include <string>
#include <vector>

int main(int argc, char **argv)
{
  MPI_Init(&argc, &argv);
  const std::vector<std::string> failing(argv + 1, argv + argc);
  const int                      code = leopard::run_on_ranks("one_rank_fails", MPI_COMM_WORLD, [&] {
    const std::string rank = std::to_string(leopard::rank_in(MPI_COMM_WORLD));
    if (std::count(failing.begin(), failing.end(), rank) > 0)
      throw leopard::Error("no memory left on its GPU\n  expected: " + std::to_string(failing.size()) + " of these");
    leopard::own_range(1, MPI_COMM_WORLD);
  });
  MPI_Finalize();
  return code;
}
