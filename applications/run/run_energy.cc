// SPDX-License-Identifier: Apache-2.0
#include "run_energy.h"

#include <solvers/base/errors.h>
#include <solvers/distributed/mpi/gpus_of_ranks.h>

#include <deal.II/base/mpi.h>

#include <nlohmann/json.hpp>

#include <algorithm>

namespace leopard
{
  using namespace dealii;

  namespace
  {
    const char *const of_gpu = "energy of the GPUs since the start of the program", *const of_cpu =
                                                                                      "energy of the processors since the start of the program";

    /** The sum over the ranks that count. */
    Energy sum(const Energy &energy, bool counts, MPI_Comm comm)
    {
      Energy                         result  = energy;
      const std::vector<std::string> reasons = Utilities::MPI::all_gather(comm, counts ? energy.why_not : std::string());
      result.joules                          = Utilities::MPI::sum(counts ? energy.joules : 0., comm);
      const auto why = std::find_if(reasons.begin(), reasons.end(), [](const std::string &reason) { return !reason.empty(); });
      result.why_not = why == reasons.end() ? "" : *why;
      result.how     = Utilities::MPI::broadcast(comm, energy.how); // rank 0 counts both
      return result;
    }

    nlohmann::json to_json(const Energy &energy)
    {
      if (!energy.is_known())
        return {{"not_known", energy.why_not}};
      return {{"joules", energy.joules}, {"how", energy.how}};
    }
  } // namespace

  RunEnergy::RunEnergy(bool uses_gpu, MPI_Comm comm_)
    : comm(comm_)
  {
    const int  rank = static_cast<int>(Utilities::MPI::this_mpi_process(comm));
    const auto gpus = gpus_of_ranks(uses_gpu, "", comm);
    counts_cpu      = gpus[rank].machine == rank;
    counts_gpu      = std::none_of(gpus.begin(), gpus.begin() + rank, [&](const RankGpu &lower) { return lower.same_gpu(gpus[rank]); });
    meter           = std::make_unique<device::EnergyMeter>(device::energy_sources(uses_gpu));
  }

  RunEnergy::~RunEnergy() = default;

  device::EnergyUse RunEnergy::read()
  {
    device::EnergyUse result = meter->read();
    result.gpu               = sum(result.gpu, counts_gpu, comm);
    result.cpu               = sum(result.cpu, counts_cpu, comm);
    return result;
  }

  std::vector<std::string> RunEnergy::columns(const std::vector<std::string> *old)
  {
    const device::EnergyUse now = read();
    const auto              has = [&](const char *name, const Energy &energy) {
      return old == nullptr ? energy.is_known()
                                         : std::any_of(old->begin(), old->end(), [&](const std::string &column) { return column.rfind(name, 0) == 0; });
    };
    has_gpu_column = has(of_gpu, now.gpu);
    has_cpu_column = has(of_cpu, now.cpu);
    std::vector<std::string> result;
    if (has_gpu_column)
      result.push_back(std::string(of_gpu) + " (J; " + (now.gpu.is_known() ? now.gpu.how : "cannot be read any more") + ")");
    if (has_cpu_column)
      result.push_back(std::string(of_cpu) + " (J; " + (now.cpu.is_known() ? now.cpu.how : "cannot be read any more") + "; all that runs on them)");
    return result;
  }

  void RunEnergy::append(std::vector<double> &row)
  {
    if (!has_gpu_column && !has_cpu_column)
      return;
    // with NVML a line of statistics took 3.5 ms longer than without, as hundreds of steps of a small problem do, and
    // its counter moves every tenth of a second
    constexpr double fresh = 0.1;
    if (!last_read || Utilities::MPI::max(since_last_read.seconds(), comm) >= fresh)
      {
        last_read       = read();
        since_last_read = Stopwatch();
      }
    if (has_gpu_column)
      row.push_back(last_read->gpu.joules);
    if (has_cpu_column)
      row.push_back(last_read->cpu.joules);
  }

  std::string RunEnergy::report(nlohmann::json &json)
  {
    device::EnergyUse start, use = read();
    start.gpu.joules = start.cpu.joules = start.gpu_sampled.joules = 0.;
    use                                                            = use.since(start); // with a look at whether that was long enough
    json                                                           = {{"seconds", use.seconds}, {"gpu", to_json(use.gpu)}, {"cpu", to_json(use.cpu)}};
    return "energy: " + use.text() + (use.gpu.is_known() || use.cpu.is_known() ? "; of all that runs on them" : "");
  }
} // namespace leopard
