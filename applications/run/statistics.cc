// SPDX-License-Identifier: Apache-2.0
#include "statistics.h"

#include <applications/base/collective.h>
#include <applications/base/files.h>
#include <applications/base/log.h>

#include <deal.II/base/mpi.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace leopard
{
  std::vector<std::string> columns_of_steps(const std::vector<std::string> &fields, const std::vector<std::string> &measures)
  {
    std::vector<std::string> columns = {"step",
                                        "time (dimensionless)",
                                        "step size (dimensionless)",
                                        "Newton steps",
                                        "linear iterations",
                                        "rejected steps",
                                        "Newton residual (l2 norm)",
                                        "local error over tolerance (0: not estimated)",
                                        "rate of change, RMS of du/dt (dimensionless)",
                                        "wall-clock time since the run was started or resumed (s)"};
    columns.insert(columns.end(), measures.begin(), measures.end());
    for (const std::string &field : fields)
      columns.push_back("mass balance of " + field + ": change in the step less integrated reaction (dimensionless)");
    columns.push_back("asynchronous bound of the step size (dimensionless)");
    columns.push_back("solved by gmres since the step exceeds the bound (1: yes)");
    columns.push_back("negative values set to zero");
    return columns;
  }

  namespace
  {
    /** Of a row that a kill has torn there are fewer than columns. */
    std::size_t n_numbers(const std::string &line)
    {
      std::istringstream words(line);
      std::size_t        n = 0;
      for (std::string word; words >> word;)
        ++n;
      return n;
    }
  } // namespace

  Statistics::Statistics(const std::string &path, const std::vector<std::string> &columns, MPI_Comm comm_, double keep_up_to)
    : comm(comm_)
  {
    on_rank_zero(comm, [&] {
      std::string content;
      for (std::size_t c = 0; c < columns.size(); ++c)
        content += format("# %zu: %s\n", c + 1, columns[c].c_str());
      if (keep_up_to >= 0.)
        {
          std::ifstream old(path);
          for (std::string line; std::getline(old, line);)
            if (!line.empty() && line[0] != '#' && n_numbers(line) == columns.size() && std::strtod(line.c_str(), nullptr) <= keep_up_to)
              content += line + "\n";
        }
      write_file_atomically(path, content);
      file.open(path, true);
    });
  }

  std::vector<std::string> Statistics::columns_of(const std::string &path, MPI_Comm comm)
  {
    std::vector<std::string> result;
    on_rank_zero(comm, [&] {
      std::ifstream stream(path);
      for (std::string line; std::getline(stream, line) && line[0] == '#';)
        if (const std::size_t colon = line.find(": "); colon != std::string::npos)
          result.push_back(line.substr(colon + 2));
    });
    return dealii::Utilities::MPI::broadcast(comm, result);
  }

  void Statistics::row(const std::vector<double> &values)
  {
    on_rank_zero(comm, [&] {
      std::string line;
      for (const double value : values)
        line += format("%18.10g", value);
      file.append(line + "\n");
    });
  }
} // namespace leopard
