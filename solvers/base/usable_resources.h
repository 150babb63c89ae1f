// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <string>
#include <vector>

namespace leopard
{
  /** What the control groups of a process let it use (cgroups(7)); infinity: no limit. */
  struct CgroupLimits
  {
    double cores  = std::numeric_limits<double>::infinity(); ///< seconds of processor time a second
    double memory = std::numeric_limits<double>::infinity(); ///< bytes
  };

  /**
   * The tightest limits of a process's groups and of those above them, version 2 (cpu.max, memory.max) or 1
   * (cpu.cfs_quota_us, memory.limit_in_bytes). What cannot be read is no limit.
   * @param memberships the text of /proc/self/cgroup. @param root where the groups are mounted, /sys/fs/cgroup.
   */
  CgroupLimits cgroup_limits(const std::string &memberships, const std::string &root);

  /** Of this process; read once. */
  const CgroupLimits &cgroup_limits();

  /**
   * Numbers of the cores (hardware threads) on which the calling thread and those that it makes may run: its affinity
   * mask, which taskset, mpirun, srun and cpusets narrow and std::thread::hardware_concurrency() does not see.
   */
  std::vector<int> allowed_cores();

  /** Number of threads that run at once: of allowed_cores(), as many as the limit of the groups lets run; >= 1. */
  int usable_cores();

  /** For messages on a number of threads: what 0 means, usable_cores(). */
  inline constexpr const char *meaning_of_no_threads = "where 0 stands for as many as this process may use";

  /**
   * The same for one of several processes of a machine, which share them: a core that k processes may use is 1 / k of a
   * core to each, and the limit of the groups is one for all. >= 1.
   * @param allowed allowed_cores() of each process. @param which of them. @param limit of the groups, in cores.
   */
  int usable_cores(const std::vector<std::vector<int>> &allowed, int which, double limit);

  /**
   * Bytes that this process may use at most, also if they are in use now: the least of the machine's memory, the limit
   * of its groups (Slurm's --mem, containers) and RLIMIT_AS (ulimit -v). 0: not known.
   */
  double usable_memory();
} // namespace leopard
