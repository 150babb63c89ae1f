// SPDX-License-Identifier: Apache-2.0
#include "ranks_test.h"

#include <solvers/device/device.h>

int main(int argc, char **argv)
{
  MPI_Init(&argc, &argv);
  testing::InitGoogleTest(&argc, argv);
  if (leopard::device::n_devices() > 0)
    leopard::device::select(leopard::my_rank() % leopard::device::n_devices());
  if (leopard::my_rank() > 0) // whose failures count all the same
    delete testing::UnitTest::GetInstance()->listeners().Release(testing::UnitTest::GetInstance()->listeners().default_result_printer());
  const int result = RUN_ALL_TESTS();
  int       any    = 0;
  MPI_Allreduce(&result, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Finalize();
  return any;
}
