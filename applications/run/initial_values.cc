// SPDX-License-Identifier: Apache-2.0
#include "initial_values.h"

#include "checkpoint.h"
#include "parameters.h"
#include "provenance.h"
#include "simulation.h"
#include "vtu_source.h"

#include <applications/base/collective.h>
#include <applications/base/log.h>
#include <applications/base/parameter_file.h>
#include <applications/discretization/saved_fields.h>
#include <applications/output/vtu_fields.h>
#include <applications/problems/found_value.h>
#include <solvers/base/errors.h>
#include <solvers/base/words.h>

#include <deal.II/base/mpi.h>
#include <deal.II/base/parameter_handler.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <sstream>

namespace leopard
{
  using namespace dealii;
  using nlohmann::json;
  namespace fs = std::filesystem;

  namespace
  {
    /** What 'Initial values from' names. */
    struct Source
    {
      std::vector<std::string> files; ///< of a VTU; none: a checkpoint
      SavedFields              saved;
      unsigned int             step     = 0;
      double                   time     = 0.;
      bool                     has_time = false; ///< stationary runs have none
      std::vector<std::string> warnings;
    };

    std::string entry_of(const Problem &problem)
    {
      return "'" + problem.name() + "/Initial values from'";
    }

    const char *const all_fields = "all fields of this problem by their names";

    Source find_checkpoint(const Parameters &parameters, const std::string &where, MPI_Comm comm)
    {
      const Problem    &problem = *parameters.problem;
      const std::string folder  = problem.initial_from;
      Source            source;
      const auto        found = Checkpoints::newest_of(
        folder,
        [&](const std::string &text) { source.warnings.push_back(text); },
        "a whole one in the folder that " + entry_of(problem) + " names, or one of that run's .pvtu files",
        comm);
      if (!found)
        throw Error(where + ", which has no checkpoint\n  expected: the folder of a run that has written one, a .vtu or a .pvtu file");
      if (!found->metadata->contains("parameters"))
        throw Error(where + ", whose checkpoint does not say with which parameters it was made\n  expected: a run of this version");
      const std::string text  = found->metadata->at("parameters");
      const auto        value = [&](const std::string &entry) { return given_value(text, {}, entry); };
      const auto        there = make_problem(value("Problem"));
      there->prepare([&](const std::string &entry) { return value(there->name() + "/" + entry); });
      source.saved.wanted = find_fields(problem.fields(), there->fields(), where + ", which", all_fields);

      ParameterHandler prm;
      source.saved.mesh.declare(prm);
      prm.parse_input_from_string(text, "", true);
      const int dimension = Utilities::string_to_int(value("Dimension"));
      source.saved.mesh.read(prm, dimension);
      if (source.saved.mesh.is_surface() != parameters.mesh.is_surface() || dimension != parameters.dimension)
        throw Error(where + ", a run on " + kind_of_domain(source.saved.mesh.is_surface(), dimension) + ", and 'Mesh/Domain' is " +
                    kind_of_domain(parameters.mesh.is_surface(), parameters.dimension) + "\n  expected: a run of the same dimension");
      if (!source.saved.mesh.file.empty())
        {
          const json mesh        = found->metadata->value("mesh_file", json::object());
          source.saved.mesh.file = mesh.value("path", source.saved.mesh.file);
          if (checksum_of_text(read_file(source.saved.mesh.file, comm)) != mesh.value("checksum", ""))
            throw Error(
              where + ", and its mesh file '" + source.saved.mesh.file +
              "' has another content than it had in that run\n  expected: the same content, or a .pvtu file of the run, which has its mesh");
        }
      source.saved.folder    = found->directory;
      source.saved.degree    = Utilities::string_to_int(value("Discretization/Degree"));
      source.saved.n_fields  = there->fields().size();
      source.saved.n_vectors = found->metadata->contains("step_sizes") ? found->metadata->at("step_sizes").size() + 1 : 1;
      source.step            = found->step;
      source.has_time        = found->metadata->contains("time");
      source.time            = found->metadata->value("time", 0.);
      return source;
    }

    /** @throws Error, as all of a file's errors are told. */
    Source find_source(const Parameters &parameters, MPI_Comm comm)
    {
      const Problem    &problem = *parameters.problem;
      const std::string path = problem.initial_from, where = entry_of(problem) + " is " + path;
      const std::string expected = "\n  expected: the folder of a run, a .vtu or a .pvtu file, from the folder where the program is started";
      Source            source;
      bool              is_run = false;
      std::string       files;
      on_rank_zero(comm, [&] {
        std::error_code ignored;
        const auto      extension = fs::path(path).extension();
        is_run                    = fs::is_directory(path, ignored);
        if (!fs::exists(path, ignored))
          throw std::runtime_error(where + ", and nothing of this name is there" + expected);
        if (is_run)
          return;
        if (extension != ".vtu" && extension != ".pvtu")
          throw std::runtime_error(where + ", which is neither a folder nor a file of these kinds" + expected +
                                   (extension == ".vtk" ? "; ParaView's 'Save Data' writes a .vtk file as .vtu" : ""));
        try
          {
            for (const std::string &file : find_vtu_files(path, problem.fields(), all_fields))
              files += file + '\n';
          }
        catch (const std::exception &error)
          {
            throw std::runtime_error(entry_of(problem) + ": " + error.what());
          }
      });
      if (Utilities::MPI::broadcast(comm, is_run))
        try
          {
            return find_checkpoint(parameters, where, comm);
          }
        catch (const Error &)
          {
            throw;
          }
        catch (const std::exception &exception) // on all ranks, as they read the same
          {
            throw Error(where + ", whose checkpoint is not as Leopard writes it: " + exception.what() + "\n  expected: a run of this version");
          }
      files = Utilities::MPI::broadcast(comm, files);
      std::istringstream lines(files);
      for (std::string file; std::getline(lines, file);)
        source.files.push_back(file);
      return source;
    }

    /** Each rank reads some of the files. @return whether numbers are of single precision. Collective. */
    template <int dim, int spacedim>
    bool add_files(const Source &source, const Problem &problem, CellFields<dim, spacedim> &cells, MPI_Comm comm)
    {
      const unsigned int rank = Utilities::MPI::this_mpi_process(comm), n_ranks = Utilities::MPI::n_mpi_processes(comm);
      std::string        error;
      bool               single_precision = false;
      try
        {
          for (std::size_t f = rank; f < source.files.size(); f += n_ranks)
            single_precision = add_vtu(source.files[f], problem.fields(), cells) || single_precision;
        }
      catch (const std::exception &exception)
        {
          error = entry_of(problem) + ": " + exception.what();
        }
      throw_if_any_failed(error, comm);
      return Utilities::MPI::logical_or(single_precision, comm);
    }

    /** How many nodes were found where, on all ranks. */
    struct Found
    {
      std::array<unsigned long long, 4> n{};                      ///< by CellFields::Place
      double                            farthest         = 0.;    ///< beside the cells, over their size
      bool                              single_precision = false; ///< numbers of files
    };

    std::string text_of(const Found &found)
    {
      const auto [nodes, inside, beside, outside] = found.n;
      const unsigned long long all                = nodes + inside + beside + outside;
      std::string              text               = nodes == all ? format("; all %llu nodes are nodes there", all)
                                                                 : format("; of %llu nodes %llu are nodes there, %llu are interpolated in its cells", all, nodes, inside);
      if (beside > 0)
        text += format(", %llu lie beside its cells by up to %.2g of a cell's size and take the value of the nearest place", beside, found.farthest);
      return text;
    }

    /** The values at the own nodes. Collective. @throws Error. */
    template <int dim, int spacedim>
    std::vector<double>
    look_up(const Problem &problem, const CellFields<dim, spacedim> &cells, const std::vector<Point<spacedim>> &points, Found &found, MPI_Comm comm)
    {
      using Place                     = typename CellFields<dim, spacedim>::Place;
      const std::string      source   = entry_of(problem) + " is " + problem.initial_from;
      const std::size_t      n_fields = problem.fields().size();
      std::vector<double>    values(n_fields * points.size(), 0.);
      std::string            error;
      const Point<spacedim> *outside = nullptr;
      for (std::size_t i = 0; i < points.size(); ++i)
        {
          double     *here     = &values[n_fields * i];
          double      distance = 0.;
          const Place place    = cells.find(points[i], here, distance);
          ++found.n[static_cast<unsigned int>(place)];
          if (place == Place::beside)
            found.farthest = std::max(found.farthest, distance);
          if (place == Place::far_away && outside == nullptr)
            outside = &points[i];
          for (std::size_t c = 0; c < n_fields; ++c)
            {
              if (!std::isfinite(here[c]) && error.empty())
                error = field_not_finite_message(source, problem.fields()[c], here[c], place_text(points[i]));
              here[c] = problem.perturbed(c, to_3d(points[i]), here[c]);
            }
        }
      for (unsigned long long &n : found.n)
        n = Utilities::MPI::sum(n, comm);
      found.farthest = Utilities::MPI::max(found.farthest, comm);
      if (outside != nullptr)
        error = outside_message(source,
                                found.n[3],
                                found.n[0] + found.n[1] + found.n[2] + found.n[3],
                                place_text(*outside),
                                "from " + place_text(cells.lower()) + " to " + place_text(cells.upper()));
      throw_if_any_failed(error, comm);
      return values;
    }

    /** Reads the source and looks it up at the own nodes. Collective. @throws Error. */
    template <int dim, int spacedim>
    std::vector<double>
    values_at_nodes(const Source &source, const Problem &problem, const Discretization<dim, spacedim> &discretization, Found &found, MPI_Comm comm)
    {
      CellFields<dim, spacedim> cells(problem.fields().size());
      if (source.files.empty())
        add_saved_fields(source.saved, cells, comm);
      else
        found.single_precision = add_files(source, problem, cells, comm);

      const std::vector<double>   &coordinates = discretization.nodes();
      std::vector<Point<spacedim>> points(coordinates.size() / spacedim);
      for (std::size_t i = 0; i < points.size(); ++i)
        std::copy_n(&coordinates[i * spacedim], spacedim, points[i].begin_raw());
      cells.distribute(points, comm);
      if (cells.n_cells() == 0)
        throw Error(entry_of(problem) + " is " + problem.initial_from + ", which has no cells of dimension " + std::to_string(dim) +
                    "\n  expected: fields on " + kind_of_domain(dim != spacedim, dim));
      return look_up(problem, cells, points, found, comm);
    }
  } // namespace

  void check_source_of_initial_values(const Parameters &parameters, MPI_Comm comm)
  {
    if (!parameters.problem->initial_from.empty())
      find_source(parameters, comm);
  }

  template <int dim, int spacedim>
  void check_initial_values(const Parameters &parameters, const Discretization<dim, spacedim> &discretization, MPI_Comm comm)
  {
    check_fields_of_images(parameters, discretization, comm);
    if (parameters.problem->initial_from.empty())
      return;
    Found found;
    values_at_nodes(find_source(parameters, comm), *parameters.problem, discretization, found, comm);
  }

  template <int dim, int spacedim>
  void set_initial_values(const RunContext &context, const Discretization<dim, spacedim> &discretization, HostVector &u)
  {
    const Problem &problem = *context.parameters.problem;
    check_fields_of_images(context.parameters, discretization, context.comm); // which initial values may name
    if (problem.initial_from.empty())
      {
        discretization.interpolate_initial_values(u);
        return;
      }
    const Source source = find_source(context.parameters, context.comm);
    for (const std::string &warning : source.warnings)
      context.log.warning(warning);
    Found found;
    discretization.set_values_at_nodes(values_at_nodes(source, problem, discretization, found, context.comm), u);

    const std::string time = source.has_time ? format(" at its time %.8g", source.time) : "";
    context.log.line("initial values of " + joined(problem.fields()) + " are those of " +
                     (source.files.empty() ? "the run in '" + problem.initial_from + "'" + format(", step %u", source.step) + time
                                           : "'" + problem.initial_from + "'" + (found.single_precision ? ", numbers of single precision" : "")) +
                     text_of(found));
    json &report = context.provenance.json()["initial_values"];
    report       = {{"from", problem.initial_from},
                    {"nodes_there", found.n[0]},
                    {"nodes_in_cells", found.n[1]},
                    {"nodes_beside_cells", found.n[2]},
                    {"farthest_over_cell_size", found.farthest}};
    if (source.files.empty())
      report["checkpoint"] = source.saved.folder;
    else
      report["single_precision"] = found.single_precision;
    if (source.has_time)
      report["time"] = source.time;
  }

  template void check_initial_values(const Parameters &, const Discretization<2, 2> &, MPI_Comm);
  template void check_initial_values(const Parameters &, const Discretization<3, 3> &, MPI_Comm);
  template void check_initial_values(const Parameters &, const Discretization<2, 3> &, MPI_Comm);
  template void set_initial_values(const RunContext &, const Discretization<2, 2> &, HostVector &);
  template void set_initial_values(const RunContext &, const Discretization<3, 3> &, HostVector &);
  template void set_initial_values(const RunContext &, const Discretization<2, 3> &, HostVector &);
} // namespace leopard
