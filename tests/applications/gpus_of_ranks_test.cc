// SPDX-License-Identifier: Apache-2.0
#include <applications/linear_solvers/gpu_remarks.h>
#include <solvers/distributed/gpus/unlike_gpus.h>
#include <solvers/distributed/mpi/mpi_transport.h>

#include <gtest/gtest.h>

namespace leopard
{
  namespace
  {
    const std::string h200 = "NVIDIA H200, 132 multiprocessors", h100 = "NVIDIA H100, 114 multiprocessors";
    const RankGpu     first = {0, "one", "0000:18:00.0", h200}, second = {0, "one", "0000:2a:00.0", h200};

    RankGpu on_another_host(RankGpu gpu)
    {
      gpu.machine = 1;
      gpu.host    = "two";
      return gpu;
    }

    TEST(GpusOfRanks, AreToldApartByMachineAndBus)
    {
      EXPECT_FALSE(share_a_gpu({}));
      EXPECT_FALSE(share_a_gpu({first}));
      EXPECT_FALSE(share_a_gpu({first, second}));
      EXPECT_FALSE(share_a_gpu({first, on_another_host(first)})) << "both are number 0 of the first slot";
      EXPECT_TRUE(share_a_gpu({first, second, first}));
      const RankGpu none = {0, "one", "", ""};
      EXPECT_FALSE(share_a_gpu({none, none}));
      EXPECT_TRUE(remarks_on({first, on_another_host(first)}).empty());
    }

    /** Kernels that wait for one another on one GPU need not end. */
    TEST(GpusOfRanks, ThatShareOneTakeMessages)
    {
      EXPECT_EQ(why_by_messages(false, true, share_a_gpu({first, second, first})), "ranks share a GPU");
      EXPECT_EQ(why_by_messages(false, true, share_a_gpu({first, second})), "");
      EXPECT_EQ(why_by_messages(true, true, true), "as asked for");
      EXPECT_EQ(why_by_messages(false, false, false), "the ranks are on several hosts");
    }

    TEST(GpusOfRanks, TheLogNamesThoseThatAreShared)
    {
      const auto lines = remarks_on({first, second, on_another_host(second), second});
      ASSERT_EQ(lines.size(), 1u);
      for (const std::string words : {"ranks 1, 3 have " + h200, std::string("0000:2a:00.0 of one"), std::string("should wait")})
        EXPECT_NE(lines[0].find(words), std::string::npos) << lines[0];
      EXPECT_EQ(lines[0].find("warning"), std::string::npos);
      const auto not_waiting = remarks_on({first, first}, false);
      ASSERT_EQ(not_waiting.size(), 1u);
      EXPECT_EQ(not_waiting[0].rfind("warning: ", 0), 0u) << not_waiting[0];
    }

    TEST(GpusOfRanks, TheLogNamesThoseThatAreNotAlike)
    {
      RankGpu slow    = on_another_host(first);
      slow.kind       = h100;
      const auto said = remarks_on({first, second, slow});
      ASSERT_EQ(said.size(), 1u);
      EXPECT_NE(said[0].find("ranks 0 to 1: " + h200 + "; rank 2: " + h100 + ";"), std::string::npos) << said[0];
      EXPECT_NE(said[0].find("as fast as the slowest"), std::string::npos);
      EXPECT_EQ(unlike_gpus({h200, h200}, "GPU"), "");
      EXPECT_EQ(unlike_gpus({h200}, "GPU"), "");
      EXPECT_EQ(unlike_gpus({h200, h100, h200}, "GPU", 2), "GPU 2: " + h200 + "; GPU 3: " + h100 + "; GPU 4: " + h200);
    }

    /** Where there is no GPU the bus is not asked for. */
    TEST(GpusOfRanks, OfOneRankWithoutAGpu)
    {
      const auto gpus = gpus_of_ranks(false, "", MPI_COMM_SELF);
      ASSERT_EQ(gpus.size(), 1u);
      EXPECT_EQ(gpus[0].machine, 0);
      EXPECT_FALSE(gpus[0].host.empty());
      EXPECT_EQ(gpus[0].bus_id, "");
    }
  } // namespace
} // namespace leopard
