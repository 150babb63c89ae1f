// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <solvers/base/stopwatch.h>
#include <solvers/device/energy_meter.h>

#include <mpi.h>

#include <nlohmann/json_fwd.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace leopard
{
  /**
   * The energy of the GPUs that a run uses, each once, and of the processors of all its machines, from when it is made.
   * It is that of the hardware, with what else runs on it, and with what it takes when idle.
   */
  class RunEnergy
  {
  public:
    /** @param uses_gpu whether each rank uses its current device. Collective. */
    RunEnergy(bool uses_gpu, MPI_Comm comm);
    ~RunEnergy();

    /** Over all ranks; a reason is that of the lowest rank that has one. Collective. */
    device::EnergyUse read();

    /**
     * The columns of statistics for what can be read. @param old the columns of the file that is gone on with, if there
     * is one: then those that it has. Collective.
     */
    std::vector<std::string> columns(const std::vector<std::string> *old);
    /**
     * J, one a column, of a reading that is at most a tenth of a second old; not a number where it cannot be read any
     * more. Collective.
     */
    void append(std::vector<double> &row);

    /** The line of the log. Collective. @param json receives the same. */
    std::string report(nlohmann::json &json);

  private:
    MPI_Comm                             comm;
    std::unique_ptr<device::EnergyMeter> meter;
    bool                                 counts_gpu = false, counts_cpu = false; ///< this rank, for all that share them
    bool                                 has_gpu_column = false, has_cpu_column = false;
    std::optional<device::EnergyUse>     last_read; ///< by append()
    Stopwatch                            since_last_read;
  };
} // namespace leopard
