// SPDX-License-Identifier: Apache-2.0
#include "vtu_source.h"

#include "parameters.h"

#include <applications/base/collective.h>
#include <applications/base/log.h>
#include <applications/output/vtu_fields.h>
#include <applications/output/vtu_file.h>
#include <applications/problems/found_value.h>
#include <solvers/base/errors.h>
#include <solvers/base/words.h>

#include <deal.II/base/mpi.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <mutex>
#include <shared_mutex>
#include <stdexcept>
#include <unordered_map>

namespace leopard
{
  using namespace dealii;

  std::string kind_of_domain(bool surface, int dimension)
  {
    return surface ? "a surface" : dimension == 2 ? "a part of the plane" : "a body";
  }

  std::vector<unsigned int>
  find_fields(const std::vector<std::string> &wanted, const std::vector<std::string> &there, const std::string &where, const std::string &why_wanted)
  {
    const auto missing = [&](const std::string &field) {
      return where + " has no field '" + field + "'\n  expected: " + why_wanted + "; there " +
             (there.empty() ? "is none" : "are " + joined(there, ", "));
    };
    std::vector<unsigned int> result;
    for (const std::string &field : wanted)
      {
        const auto found = std::find(there.begin(), there.end(), field);
        if (found == there.end())
          throw Error(missing(field));
        result.push_back(found - there.begin());
      }
    return result;
  }

  std::vector<std::string> find_vtu_files(const std::string &path, const std::vector<std::string> &wanted, const std::string &why_wanted)
  {
    std::vector<std::string> files = files_of_vtu(path);
    find_fields(wanted, fields_of_vtu(files.at(0)), "the file '" + files[0] + "'", why_wanted);
    return files;
  }

  std::string
  outside_message(const std::string &source, unsigned long long n_outside, unsigned long long n, const std::string &place, const std::string &reach)
  {
    return source + format(", and %llu of %llu nodes of the mesh lie outside of its cells, for example ", n_outside, n) + place +
           "\n  expected: fields on the whole domain; they reach " + reach;
  }

  std::string field_not_finite_message(const std::string &source, const std::string &field, double value, const std::string &place)
  {
    return source + ", where " + field + is_value(value) + " at " + place + "\n  expected: a finite number everywhere";
  }

  namespace
  {
    std::string source_of(const Problem &problem, std::size_t i)
    {
      return "'" + problem.name() + "/Images', " + problem.pictures->names()[i] + ", is " + problem.pictures->paths()[i];
    }

    /** One field on cells, which keeps what it has found: nodes and quadrature points are asked for in each step. */
    template <int dim, int spacedim>
    class FieldOnCells
    {
    public:
      bool find(const Point<3> &place, double &value) const
      {
        const std::array<double, 3> key = {place[0], place[1], place[2]};
        {
          const std::shared_lock<std::shared_mutex> lock(mutex);
          if (const auto known = found.find(key); known != found.end())
            {
              value = known->second.second;
              return known->second.first;
            }
        }
        Point<spacedim> x;
        for (int d = 0; d < spacedim; ++d)
          x[d] = place[d];
        double                                    distance = 0.;
        const bool                                is_there = cells.find(x, &value, distance) != CellFields<dim, spacedim>::Place::far_away;
        const std::unique_lock<std::shared_mutex> lock(mutex);
        found[key] = {is_there, value};
        return is_there;
      }

      CellFields<dim, spacedim> cells = CellFields<dim, spacedim>(1);

    private:
      struct Hash
      {
        std::size_t operator()(const std::array<double, 3> &x) const
        {
          std::size_t hash = 0;
          for (const double coordinate : x)
            hash = hash * 1000003 + std::hash<double>()(coordinate);
          return hash;
        }
      };
      mutable std::shared_mutex                                                        mutex;
      mutable std::unordered_map<std::array<double, 3>, std::pair<bool, double>, Hash> found;
    };

    template <int dim, int spacedim>
    void read_field(const Parameters &parameters, std::size_t i)
    {
      const Problem                 &problem  = *parameters.problem;
      Pictures                      &pictures = *problem.pictures;
      const std::vector<std::string> wanted   = {pictures.field(i)};
      auto                           field    = std::make_shared<FieldOnCells<dim, spacedim>>();
      for (const std::string &file : find_vtu_files(pictures.paths()[i], wanted, "NAME: FILE: FIELD with a field of the file"))
        add_vtu(file, wanted, field->cells);
      field->cells.distribute({}, MPI_COMM_SELF);
      if (field->cells.n_cells() == 0)
        throw Error("the file '" + pictures.paths()[i] + "' has no cells of dimension " + std::to_string(dim) + "\n  expected: a field on " +
                    kind_of_domain(dim != spacedim, dim));
      pictures.set_field(
        i,
        [field](const Point<3> &place, double &value) { return field->find(place, value); },
        "from " + place_text(field->cells.lower()) + " to " + place_text(field->cells.upper()));
    }
  } // namespace

  void read_fields_of_images(const Parameters &parameters, MPI_Comm comm)
  {
    const Problem &problem = *parameters.problem;
    for (std::size_t i = 0; problem.pictures != nullptr && i < problem.pictures->names().size(); ++i)
      {
        std::string error;
        if (!problem.pictures->field(i).empty())
          try
            {
              if (parameters.mesh.is_surface())
                read_field<2, 3>(parameters, i);
              else if (parameters.dimension == 2)
                read_field<2, 2>(parameters, i);
              else
                read_field<3, 3>(parameters, i);
            }
          catch (const std::exception &exception)
            {
              error = "'" + problem.name() + "/Images', " + problem.pictures->names()[i] + ": " + exception.what();
            }
        throw_if_any_failed(error, comm);
      }
  }

  template <int dim, int spacedim>
  void check_fields_of_images(const Parameters &parameters, const Discretization<dim, spacedim> &discretization, MPI_Comm comm)
  {
    const Problem &problem = *parameters.problem;
    if (problem.pictures == nullptr)
      return;
    const std::vector<double> &nodes = discretization.nodes();
    for (std::size_t i = 0; i < problem.pictures->names().size(); ++i)
      if (!problem.pictures->field(i).empty())
        {
          unsigned long long n_outside = 0;
          std::string        outside, not_finite;
          for (std::size_t k = 0; k < nodes.size(); k += spacedim)
            {
              double     value = 0.;
              const auto place = [&] { return place_text(&nodes[k], spacedim); };
              if (const bool is_there = problem.pictures->function(i)(point_of({&nodes[k], spacedim, 0.}, 0), value); !is_there)
                {
                  if (n_outside++ == 0)
                    outside = place();
                }
              else if (!std::isfinite(value) && not_finite.empty())
                not_finite = field_not_finite_message(source_of(problem, i), problem.pictures->field(i), value, place());
            }
          const unsigned long long all_outside = Utilities::MPI::sum(n_outside, comm);
          const unsigned long long n           = Utilities::MPI::sum(static_cast<unsigned long long>(nodes.size() / spacedim), comm);
          throw_if_any_failed(outside.empty() ? "" : outside_message(source_of(problem, i), all_outside, n, outside, problem.pictures->reach(i)),
                              comm);
          throw_if_any_failed(not_finite, comm);
        }
  }

  template void check_fields_of_images(const Parameters &, const Discretization<2, 2> &, MPI_Comm);
  template void check_fields_of_images(const Parameters &, const Discretization<3, 3> &, MPI_Comm);
  template void check_fields_of_images(const Parameters &, const Discretization<2, 3> &, MPI_Comm);
} // namespace leopard
