// SPDX-License-Identifier: Apache-2.0
#include "collective.h"

#include "value_errors.h"

#include <solvers/base/errors.h>
#include <solvers/base/kind_of_file.h>

#include <deal.II/base/mpi.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <new>
#include <sstream>

namespace leopard
{
  namespace
  {
    template <typename Kind>
    void throw_first(const std::string &local_error, MPI_Comm comm)
    {
      const int n_ranks = static_cast<int>(dealii::Utilities::MPI::n_mpi_processes(comm));
      const int rank    = static_cast<int>(dealii::Utilities::MPI::this_mpi_process(comm));
      const int first   = dealii::Utilities::MPI::min(local_error.empty() ? n_ranks : rank, comm);
      if (first < n_ranks)
        throw Kind(dealii::Utilities::MPI::broadcast(comm, local_error, first));
    }
  } // namespace

  void throw_if_any_failed(const std::string &local_error, MPI_Comm comm)
  {
    throw_first<Error>(local_error, comm);
  }

  void throw_if_any_entry_failed(const std::string &local_error, MPI_Comm comm)
  {
    throw_first<EntryError>(local_error, comm);
  }

  std::string read_file(const std::string &path, MPI_Comm comm)
  {
    std::string content;
    on_rank_zero(comm, [&] {
      if (const std::string kind = why_no_regular_file(path); !kind.empty())
        throw std::runtime_error("'" + path + "' is " + kind + "\n  expected: a file");
      std::ifstream stream(path, std::ios::binary);
      if (!stream)
        throw std::runtime_error("the file '" + path + "' cannot be read: " + std::strerror(errno));
      std::ostringstream text;
      text << stream.rdbuf();
      content = text.str();
    });
    return dealii::Utilities::MPI::broadcast(comm, content);
  }

  std::string message_of(const std::exception &exception)
  {
    return dynamic_cast<const std::bad_alloc *>(&exception) == nullptr
             ? exception.what()
             : "not enough memory\n  expected: a coarser mesh ('Mesh/Cells', 'Mesh/Global refinements'), a lower degree, or more memory "
               "(a limit may be set: ulimit -v)";
  }
} // namespace leopard
