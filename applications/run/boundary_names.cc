// SPDX-License-Identifier: Apache-2.0
#include "boundary_names.h"

#include <applications/discretization/gmsh_mesh.h>
#include <solvers/base/errors.h>

#include <deal.II/base/mpi.h>
#include <deal.II/base/utilities.h>

#include <boost/serialization/set.hpp>

#include <filesystem>
#include <fstream>
#include <tuple>

namespace leopard
{
  using namespace dealii;

  BoundaryNames::BoundaryNames(const std::string &mesh_file, int dimension, MPI_Comm comm)
    : file(mesh_file)
  {
    std::map<std::string, std::set<unsigned int>> found;
    std::string                                   failure;
    std::error_code                               ignored;
    if (Utilities::MPI::this_mpi_process(comm) == 0 && std::filesystem::is_regular_file(mesh_file, ignored))
      try
        {
          std::ifstream stream(mesh_file);
          is_read = static_cast<bool>(stream);
          for (const auto &[name, of] : gmsh_group_names(stream, dimension - 1))
            found[Utilities::trim(name)].insert(of.begin(), of.end());
        }
      catch (const GmshFailure &problem)
        {
          failure = "the mesh file '" + mesh_file + "' cannot be used: " + problem.reason;
        }
    std::tie(ids, failure) = Utilities::MPI::broadcast(comm, std::make_pair(found, failure));
    is_read                = Utilities::MPI::broadcast(comm, is_read);
    if (!failure.empty())
      throw Error(failure);
  }

  std::string BoundaryNames::text_of_names() const
  {
    std::string names;
    for (const auto &[name, of] : ids)
      if (!name.empty() && name.find_first_of(":;#") == std::string::npos)
        names += (names.empty() ? "'" : ", '") + name + "'";
    return names + (names.empty() ? "" : ", ") + "a boundary id, or * for all the others" +
           (!names.empty() ? ""
            : file.empty() ? "; only physical groups of a mesh file have names"
            : is_read      ? "; no physical group of the boundary of '" + file + "' has a name that can stand here"
                           : "; the mesh file '" + file + "' cannot be read");
  }

  std::string BoundaryNames::with_ids(const std::string &entry, const std::string &text) const
  {
    std::string result;
    for (const std::string &item : Utilities::split_string_list(text, ';'))
      {
        const auto        colon = item.find(':');
        const std::string key   = Utilities::trim(item.substr(0, colon));
        const bool named = colon != std::string::npos && !key.empty() && key != "*" && key.find_first_not_of("0123456789") != std::string::npos;
        const auto of    = ids.find(key);
        if (named && of == ids.end())
          throw Error("the entry '" + entry + "' names the boundary '" + key + "', which is not there\n  expected: " + text_of_names());
        if (named && of->second.size() > 1)
          throw Error("the entry '" + entry + "' names the boundary '" + key + "', a name of the ids " + std::to_string(*of->second.begin()) +
                      " and " + std::to_string(*std::next(of->second.begin())) + " in the mesh file\n  expected: one of the ids");
        result += (result.empty() ? "" : "; ") + (named ? std::to_string(*of->second.begin()) + item.substr(colon) : item);
      }
    return result;
  }

  std::string BoundaryNames::described(unsigned int id) const
  {
    std::string names;
    for (const auto &[name, of] : ids)
      if (of.count(id) == 1)
        names += (names.empty() ? "" : ", ") + name;
    return std::to_string(id) + (names.empty() ? "" : " (" + names + ")");
  }
} // namespace leopard
