// SPDX-License-Identifier: Apache-2.0
#include "boundary_names.h"

#include <applications/discretization/gmsh_mesh.h>
#include <solvers/base/errors.h>

#include <deal.II/base/mpi.h>
#include <deal.II/base/utilities.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <utility>

namespace leopard
{
  using namespace dealii;

  BoundaryNames::BoundaryNames(const std::string &mesh_file, int dimension, MPI_Comm comm)
  {
    std::multimap<std::string, unsigned int> found;
    std::string                              failure;
    std::error_code                          ignored;
    if (Utilities::MPI::this_mpi_process(comm) == 0 && std::filesystem::is_regular_file(mesh_file, ignored))
      try
        {
          std::ifstream stream(mesh_file);
          found = gmsh_group_names(stream, dimension - 1);
        }
      catch (const GmshFailure &problem)
        {
          failure = "the mesh file '" + mesh_file + "' cannot be used: " + problem.reason;
        }
    std::tie(ids, failure) = Utilities::MPI::broadcast(comm, std::make_pair(found, failure));
    if (!failure.empty())
      throw Error(failure);
  }

  std::string BoundaryNames::with_ids(const std::string &entry, const std::string &text) const
  {
    if (ids.empty())
      return text;
    std::string result;
    for (const std::string &item : Utilities::split_string_list(text, ';'))
      {
        const auto        colon = item.find(':');
        const std::string key   = Utilities::trim(item.substr(0, colon));
        const bool named = colon != std::string::npos && !key.empty() && key != "*" && key.find_first_not_of("0123456789") != std::string::npos;
        const auto of    = ids.equal_range(key);
        if (named && of.first == of.second)
          {
            std::string           names;
            std::set<std::string> said;
            for (const auto &[name, id] : ids)
              if (said.insert(name).second)
                names += (names.empty() ? "" : ", ") + name;
            throw Error("the entry '" + entry + "' names the boundary '" + key + "', which the mesh file does not have\n  expected: " + names +
                        "; or a boundary id, or * for all the others");
          }
        if (named && std::next(of.first) != of.second)
          throw Error("the entry '" + entry + "' names the boundary '" + key + "', and the mesh file has the name twice, for the ids " +
                      std::to_string(of.first->second) + " and " + std::to_string(std::next(of.first)->second) + "\n  expected: one of the ids");
        result += (result.empty() ? "" : "; ") + (named ? std::to_string(of.first->second) + item.substr(colon) : item);
      }
    return result;
  }

  std::string BoundaryNames::described(unsigned int id) const
  {
    std::string names;
    for (const auto &[name, of] : ids)
      if (of == id)
        names += (names.empty() ? "" : ", ") + name;
    return std::to_string(id) + (names.empty() ? "" : " (" + names + ")");
  }
} // namespace leopard
