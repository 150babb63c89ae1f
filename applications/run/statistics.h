// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <applications/base/files.h>

#include <mpi.h>

#include <string>
#include <vector>

namespace leopard
{
  /**
   * A text file of numbers with self-describing columns: header lines "# 1: step", "# 2: time", ..., then a row a step.
   * Rank 0 writes, every row at once.
   */
  class Statistics
  {
  public:
    /**
     * @param keep_up_to on resume, rows whose first column (the step) is beyond this are cut away, so that there are
     * neither gaps nor doubles; negative: a fresh file. Collective. @throws Error.
     */
    Statistics(const std::string &path, const std::vector<std::string> &columns, MPI_Comm comm, double keep_up_to = -1.);

    /** The columns that a file has; none where there is no such file. Collective. */
    static std::vector<std::string> columns_of(const std::string &path, MPI_Comm comm);

    /** One value a column. Collective. @throws Error if the disk does not take it. */
    void row(const std::vector<double> &values);

  private:
    MPI_Comm    comm;
    GrowingFile file; ///< open on rank 0 only
  };

  /**
   * What is known of each step: the columns of a run's statistics, but those of energy. @param measures of the fields.
   */
  std::vector<std::string> columns_of_steps(const std::vector<std::string> &fields, const std::vector<std::string> &measures);
} // namespace leopard
