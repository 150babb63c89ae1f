// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <solvers/distributed/mpi/gpus_of_ranks.h>
#include <solvers/distributed/mpi/mpi_transport.h>

#include <string>

namespace leopard
{
  inline int my_rank()
  {
    return rank_in(MPI_COMM_WORLD);
  }

  inline int n_ranks()
  {
    return size_of(MPI_COMM_WORLD);
  }

  /** Whether ranks share a GPU, and so exchange by messages. Collective. */
  inline bool have_one_gpu()
  {
    return n_ranks() > 1 && share_a_gpu(gpus_of_ranks(true, "", MPI_COMM_WORLD));
  }

  /** A number that must be the same on all ranks to the last bit. */
  inline void expect_same(double value, const std::string &what)
  {
    double extremes[2] = {value, -value};
    MPI_Allreduce(MPI_IN_PLACE, extremes, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    EXPECT_EQ(extremes[0], -extremes[1]) << what;
  }
} // namespace leopard
