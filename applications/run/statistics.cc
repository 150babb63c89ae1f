// SPDX-License-Identifier: Apache-2.0
#include "statistics.h"

#include "collective.h"
#include "files.h"
#include "log.h"

#include <cstdlib>
#include <sstream>
#include <stdexcept>

namespace leopard
{
  Statistics::Statistics(const std::string &path, const std::vector<std::string> &columns, MPI_Comm comm, double keep_up_to)
  {
    on_rank_zero(comm, [&] {
      std::string content;
      for (std::size_t c = 0; c < columns.size(); ++c)
        content += format("# %zu: %s\n", c + 1, columns[c].c_str());
      if (keep_up_to >= 0.)
        {
          std::ifstream old(path);
          for (std::string line; std::getline(old, line);)
            if (!line.empty() && line[0] != '#' && std::strtod(line.c_str(), nullptr) <= keep_up_to)
              content += line + "\n";
        }
      write_file_atomically(path, content);
      file.open(path, std::ios::app);
      if (!file)
        throw std::runtime_error("the file '" + path + "' cannot be written");
    });
  }

  void Statistics::row(const std::vector<double> &values)
  {
    if (!file.is_open())
      return;
    std::string line;
    for (const double value : values)
      line += format("%18.10g", value);
    file << line << std::endl;
  }
} // namespace leopard
