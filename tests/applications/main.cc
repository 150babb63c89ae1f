// SPDX-License-Identifier: Apache-2.0
#include <solvers/device/device.h>

#include <deal.II/base/mpi.h>

#include <gtest/gtest.h>

int main(int argc, char **argv)
{
  testing::InitGoogleTest(&argc, argv);
  dealii::Utilities::MPI::MPI_InitFinalize mpi(argc, argv, 1);
  if (const int n = leopard::device::n_devices(); n > 0) // which ranks share in turn
    leopard::device::select(static_cast<int>(dealii::Utilities::MPI::this_mpi_process(MPI_COMM_WORLD)) % n);
  return RUN_ALL_TESTS();
}
