// SPDX-License-Identifier: Apache-2.0
#include "usable_resources.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

namespace leopard
{
  namespace
  {
    constexpr double no_limit = std::numeric_limits<double>::infinity();

    /** The numbers that a file begins with; none where it is missing or says "max". */
    std::vector<double> numbers_in(const std::filesystem::path &path)
    {
      std::ifstream       stream(path);
      std::vector<double> numbers;
      for (double number; stream >> number;)
        numbers.push_back(number);
      return numbers;
    }

    double first_or_no_limit(const std::vector<double> &numbers)
    {
      return !numbers.empty() && numbers[0] > 0. ? numbers[0] : no_limit;
    }

    /** @param quota microseconds in each period; -1, or nothing: no limit. */
    double cores_of(double quota, double period)
    {
      return quota > 0. && period > 0. ? quota / period : no_limit;
    }

    /** f(folder) for the group of a path in a hierarchy and those above it. */
    template <typename Function>
    void for_groups(const std::filesystem::path &hierarchy, const std::string &path, const Function &f)
    {
      std::filesystem::path group = std::filesystem::path(path).lexically_normal().relative_path(); // never above the root
      for (; !group.empty(); group = group.parent_path())
        f(hierarchy / group);
      f(hierarchy);
    }
  } // namespace

  CgroupLimits cgroup_limits(const std::string &memberships, const std::string &root)
  {
    CgroupLimits       limits;
    const auto         add_cores  = [&](double cores) { limits.cores = std::min(limits.cores, cores); };
    const auto         add_memory = [&](double memory) { limits.memory = std::min(limits.memory, memory); };
    std::istringstream lines(memberships);
    for (std::string line; std::getline(lines, line);) // "number:controllers:path", of version 2 "0::path"
      {
        const std::size_t first = line.find(':'), second = first == std::string::npos ? first : line.find(':', first + 1);
        if (second == std::string::npos)
          continue;
        const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",", path = line.substr(second + 1);
        if (controllers == ",,")
          for_groups(root, path, [&](const std::filesystem::path &group) {
            if (const std::vector<double> cpu = numbers_in(group / "cpu.max"); cpu.size() == 2)
              add_cores(cores_of(cpu[0], cpu[1]));
            add_memory(first_or_no_limit(numbers_in(group / "memory.max")));
          });
        if (controllers.find(",cpu,") != std::string::npos)
          for_groups(root + "/cpu", path, [&](const std::filesystem::path &group) {
            add_cores(
              cores_of(first_or_no_limit(numbers_in(group / "cpu.cfs_quota_us")), first_or_no_limit(numbers_in(group / "cpu.cfs_period_us"))));
          });
        if (controllers.find(",memory,") != std::string::npos)
          for_groups(root + "/memory", path, [&](const std::filesystem::path &group) {
            add_memory(first_or_no_limit(numbers_in(group / "memory.limit_in_bytes")));
          });
      }
    return limits;
  }

  const CgroupLimits &cgroup_limits()
  {
    static const CgroupLimits limits = [] {
      std::ifstream      stream("/proc/self/cgroup");
      std::ostringstream text;
      text << stream.rdbuf();
      return cgroup_limits(text.str(), "/sys/fs/cgroup");
    }();
    return limits;
  }

  std::vector<int> allowed_cores()
  {
    std::vector<int> cores;
    for (int n = CPU_SETSIZE; cores.empty() && n <= 1 << 20; n *= 2) // the system refuses a set that is too small
      {
        cpu_set_t        *set  = CPU_ALLOC(n);
        const std::size_t size = CPU_ALLOC_SIZE(n);
        if (set != nullptr && ::sched_getaffinity(0, size, set) == 0)
          for (int core = 0; core < n; ++core)
            if (CPU_ISSET_S(core, size, set))
              cores.push_back(core);
        CPU_FREE(set);
      }
    if (cores.empty())
      for (unsigned int core = 0; core < std::max(1u, std::thread::hardware_concurrency()); ++core)
        cores.push_back(static_cast<int>(core));
    return cores;
  }

  int usable_cores(const std::vector<std::vector<int>> &allowed, int which, double limit)
  {
    const std::vector<int> &own   = allowed[which];
    double                  cores = 0.;
    for (const int core : own)
      cores += 1. / static_cast<double>(std::count_if(allowed.begin(), allowed.end(), [core](const std::vector<int> &others) {
                 return std::binary_search(others.begin(), others.end(), core);
               }));
    constexpr double rounding = 1e-9;
    return std::max(1, static_cast<int>(std::floor(std::min(cores, std::ceil(limit) / static_cast<double>(allowed.size())) + rounding)));
  }

  int usable_cores()
  {
    return usable_cores({allowed_cores()}, 0, cgroup_limits().cores);
  }

  double usable_memory()
  {
    const long pages = ::sysconf(_SC_PHYS_PAGES), size = ::sysconf(_SC_PAGESIZE);
    double     memory = cgroup_limits().memory;
    if (pages > 0 && size > 0)
      memory = std::min(memory, static_cast<double>(pages) * static_cast<double>(size));
    struct rlimit address_space = {};
    if (::getrlimit(RLIMIT_AS, &address_space) == 0 && address_space.rlim_cur != RLIM_INFINITY)
      memory = std::min(memory, static_cast<double>(address_space.rlim_cur));
    return std::isfinite(memory) ? memory : 0.;
  }
} // namespace leopard
