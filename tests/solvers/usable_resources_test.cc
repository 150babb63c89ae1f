// SPDX-License-Identifier: Apache-2.0
// What a process may use: cores of its affinity mask, limits of control groups and of its address space.
#include <solvers/base/thread_pool.h>
#include <solvers/base/usable_resources.h>

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <thread>

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

namespace
{
  using namespace leopard;

  /** A folder of control groups, as the system shows them. */
  class Groups : public testing::Test
  {
  protected:
    Groups() { std::filesystem::create_directories(root); }
    ~Groups() override { std::filesystem::remove_all(root); }

    void write(const std::string &name, const std::string &text) const
    {
      std::filesystem::create_directories((root / name).parent_path());
      std::ofstream(root / name) << text << "\n";
    }

    CgroupLimits limits(const std::string &memberships) const { return cgroup_limits(memberships, root.string()); }

    const std::filesystem::path root = std::filesystem::temp_directory_path() / ("leopard_groups_" + std::to_string(::getpid()));
  };

  /** A group in another one, which holds it to less. */
  TEST_F(Groups, OfVersion2)
  {
    write("job/cpu.max", "400000 100000");
    write("job/memory.max", "1000000");
    write("job/step/cpu.max", "max 100000");
    write("job/step/memory.max", "max");
    EXPECT_EQ(limits("0::/job/step\n").cores, 4.);
    EXPECT_EQ(limits("0::/job/step\n").memory, 1e6);
    write("job/step/cpu.max", "150000 100000");
    write("job/step/memory.max", "500000");
    EXPECT_EQ(limits("0::/job/step\n").cores, 1.5);
    EXPECT_EQ(limits("0::/job/step\n").memory, 5e5);
  }

  /** A controller has a hierarchy of its own; -1, and a number of more bytes than there are, stand for no limit. */
  TEST_F(Groups, OfVersion1)
  {
    const std::string memberships = "5:memory:/docker/a\n4:cpu,cpuacct:/docker/a\n1:name=systemd:/x\n0::/system.slice\n";
    write("memory/docker/a/memory.limit_in_bytes", "2000000");
    write("memory/memory.limit_in_bytes", "9223372036854771712");
    write("cpu/docker/a/cpu.cfs_quota_us", "300000");
    write("cpu/docker/a/cpu.cfs_period_us", "100000");
    write("cpu/cpu.cfs_quota_us", "-1");
    write("cpu/cpu.cfs_period_us", "100000");
    EXPECT_EQ(limits(memberships).cores, 3.);
    EXPECT_EQ(limits(memberships).memory, 2e6);
    write("cpu/docker/a/cpu.cfs_quota_us", "-1");
    EXPECT_TRUE(std::isinf(limits(memberships).cores));
  }

  /** Containers see their own group as the root, whatever its path is outside. */
  TEST_F(Groups, OfAContainer)
  {
    write("memory.max", "3000000");
    EXPECT_EQ(limits("0::/outside/of/it\n").memory, 3e6);
    write("own/memory.max", "4000000"); // the root, and nothing above it is read
    EXPECT_EQ(cgroup_limits("0::/../elsewhere\n", (root / "own").string()).memory, 4e6);
    EXPECT_TRUE(std::isinf(limits("").memory));
    EXPECT_TRUE(std::isinf(limits("no such text").cores));
  }

  /** Ranks of a machine with cores of their own have them whole, others share. */
  TEST(UsableCores, AreSharedByThoseWhoMayUseThem)
  {
    const std::vector<int> all = {0, 1, 2, 3, 4, 5, 6, 7};
    EXPECT_EQ(usable_cores({all, all}, 0, HUGE_VAL), 4);
    EXPECT_EQ(usable_cores({all, all, all}, 2, HUGE_VAL), 2);
    EXPECT_EQ(usable_cores({{0, 1, 2, 3}, {4, 5, 6, 7}}, 1, HUGE_VAL), 4);
    EXPECT_EQ(usable_cores({{0}, {1}}, 0, HUGE_VAL), 1);
    EXPECT_EQ(usable_cores({{0}, {0}}, 0, HUGE_VAL), 1); // at least
    EXPECT_EQ(usable_cores({all, {0, 1}}, 0, HUGE_VAL), 7);
    EXPECT_EQ(usable_cores({all}, 0, 2.5), 3);
    EXPECT_EQ(usable_cores({all, all}, 0, 2.), 1);
  }

  /** std::thread::hardware_concurrency() does not see the mask; the library's threads do. */
  TEST(UsableCores, AreThoseOfTheAffinityMask)
  {
    std::thread([] { // the mask is the thread's own
      cpu_set_t one;
      CPU_ZERO(&one);
      CPU_SET(allowed_cores().back(), &one);
      ASSERT_EQ(::sched_setaffinity(0, sizeof(one), &one), 0);
      EXPECT_EQ(allowed_cores().size(), 1u);
      EXPECT_EQ(usable_cores(), 1);
      EXPECT_EQ(shared_thread_pool(0)->size(), 1);
    })
      .join();
    EXPECT_GE(usable_cores(), 1);
    EXPECT_LE(usable_cores(), static_cast<int>(allowed_cores().size()));
  }

  TEST(UsableMemory, IsHeldToTheAddressSpace)
  {
    const double before = usable_memory();
    EXPECT_GT(before, 0.);
    struct rlimit limit = {};
    ASSERT_EQ(::getrlimit(RLIMIT_AS, &limit), 0);
    struct rlimit smaller = limit;
    smaller.rlim_cur      = static_cast<rlim_t>(before / 2.);
    ASSERT_EQ(::setrlimit(RLIMIT_AS, &smaller), 0);
    EXPECT_EQ(usable_memory(), static_cast<double>(smaller.rlim_cur));
    ASSERT_EQ(::setrlimit(RLIMIT_AS, &limit), 0);
  }
} // namespace
