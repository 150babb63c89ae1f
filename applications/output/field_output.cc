// SPDX-License-Identifier: Apache-2.0
#include "field_output.h"

#include <applications/base/collective.h>
#include <applications/base/files.h>
#include <applications/base/log.h>
#include <applications/base/run_directory.h>
#include <solvers/base/errors.h>

#include <deal.II/numerics/data_out.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <regex>
#include <sstream>

namespace leopard
{
  using namespace dealii;

  namespace
  {
    std::string base_name(const OutputPlace &place)
    {
      return format("solution_%07u", place.first) + (place.second > 0 ? "_" + std::to_string(place.second) : "");
    }

    /** 17 digits give back the same number. */
    std::string pvd_text(const std::map<OutputPlace, double> &written)
    {
      std::string text = "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\" ByteOrder=\"LittleEndian\">\n  <Collection>\n";
      for (const auto &[place, time] : written)
        text += format("    <DataSet timestep=\"%.17g\" group=\"\" part=\"0\" file=\"solution/%s.pvtu\"/>\n", time, base_name(place).c_str());
      return text + "  </Collection>\n</VTKFile>\n";
    }

    /** What pvd_text() has written. @throws Error naming the line that it has not. */
    std::map<OutputPlace, double> read_pvd(const std::string &text, const std::string &path)
    {
      static const std::regex       entry(R"xx( *<DataSet timestep="([^"]*)"[^>]* file="solution/solution_(\d{7,9})(_(\d{1,9}))?\.pvtu"/>\r?)xx");
      static const std::regex       frame(R"xx(\s*(<(\?xml|VTKFile|!--)[^<]*>|</?(Collection|VTKFile)>)?\s*)xx");
      std::map<OutputPlace, double> written;
      std::istringstream            lines(text);
      std::size_t                   number = 0;
      for (std::string line; std::getline(lines, line);)
        {
          ++number;
          std::smatch match;
          char       *end  = nullptr;
          double      time = 0.;
          if (std::regex_match(line, frame))
            continue;
          if (std::regex_match(line, match, entry))
            time = std::strtod(match[1].str().c_str(), &end);
          if (end == nullptr || match[1].length() == 0 || *end != '\0' || !std::isfinite(time))
            {
              std::replace_if(
                line.begin(), line.end(), [](unsigned char c) { return std::iscntrl(c) != 0; }, '?'); // a disk leaves zeros
              throw Error(
                path + ":" + std::to_string(number) + ": the line '" + line +
                "' is damaged\n  expected: an entry as Leopard writes it, with a time and the name of a file; mend the line, or remove it if "
                "that file is not needed");
            }
          const unsigned long step = std::stoul(match[2]), within = match[4].matched ? std::stoul(match[4]) : 0;
          written.emplace(OutputPlace(step, within), time);
        }
      if (text.find("</VTKFile>") == std::string::npos)
        throw Error(path +
                    ": the end of the file is missing\n  expected: a whole file; repair it, or remove it to go on without the earlier times in it");
      return written;
    }

    /** Fields on a domain that is larger than its mesh by a factor. */
    template <int dim, int spacedim>
    class ScaledDataOut : public DataOut<dim, spacedim>
    {
    public:
      /** To be called after build_patches(). */
      void scale(double factor)
      {
        for (auto &patch : this->patches)
          {
            for (Point<spacedim> &vertex : patch.vertices)
              vertex *= factor;
            if (patch.points_are_available) // the last rows of its data
              for (unsigned int d = patch.data.n_rows() - spacedim; d < patch.data.n_rows(); ++d)
                for (unsigned int i = 0; i < patch.data.n_cols(); ++i)
                  patch.data(d, i) *= factor;
          }
      }
    };
  } // namespace

  template <int dim, int spacedim>
  FieldOutput<dim, spacedim>::FieldOutput(RunDirectory &run_, const std::vector<std::string> &fields_, Log &log_, MPI_Comm comm_)
    : run(run_)
    , fields(fields_)
    , log(log_)
    , comm(comm_)
  {
  }

  template <int dim, int spacedim>
  std::vector<std::string> FieldOutput<dim, spacedim>::file_names()
  {
    const std::string seven_digits = "[0-9][0-9][0-9][0-9][0-9][0-9][0-9]";
    return {"solution.pvd", "solution/solution_" + seven_digits + "*.pvtu", "solution/solution_" + seven_digits + "*.vtu"};
  }

  template <int dim, int spacedim>
  void FieldOutput<dim, spacedim>::resume(unsigned int step)
  {
    const std::string path = run.path("solution.pvd");
    std::string       text;
    on_rank_zero(comm, [&] {
      if (!std::filesystem::exists(path))
        return;
      text = read_file(path, MPI_COMM_SELF);
      read_pvd(text, path); // throws for all ranks
    });
    text = Utilities::MPI::broadcast(comm, text);
    if (!text.empty())
      written = read_pvd(text, path);
    written.erase(written.lower_bound({step + 1, 0}), written.end());
    if (Utilities::MPI::this_mpi_process(comm) != 0)
      return;
    unsigned int n_missing = 0;
    std::string  first;
    for (const auto &[place, time] : written)
      if (const std::string file = "solution/" + base_name(place) + ".pvtu"; !std::filesystem::exists(run.path(file)) && n_missing++ == 0)
        first = file;
    if (n_missing > 0)
      log.warning(path + " names " + std::to_string(n_missing) + " of " + std::to_string(written.size()) +
                  " files that are not there, the first is " + first + ": ParaView cannot show these times; put them back, or remove their lines");
  }

  template <int dim, int spacedim>
  void FieldOutput<dim, spacedim>::check_places(const Discretization<dim, spacedim> &discretization)
  {
    constexpr double enough = 100.; // numbers of single precision from one node to the next
    if (checked_places)
      return;
    checked_places  = true;
    double farthest = 0., nearest = std::numeric_limits<double>::infinity();
    for (const auto &cell : discretization.dof_handler.active_cell_iterators())
      if (cell->is_locally_owned())
        {
          nearest = std::min(nearest, cell->minimum_vertex_distance());
          for (const unsigned int v : cell->vertex_indices())
            for (unsigned int d = 0; d < spacedim; ++d)
              farthest = std::max(farthest, std::abs(cell->vertex(v)[d]));
        }
    farthest = Utilities::MPI::max(farthest, comm);
    nearest  = Utilities::MPI::min(nearest, comm) / discretization.dof_handler.get_fe().degree;
    if (nearest < enough * std::numeric_limits<float>::epsilon() * farthest)
      log.warning(format("nodes are %.3g apart and up to %.3g from the origin: the files for ParaView hold places in single precision, which hardly "
                         "tells them apart; a domain at the origin has better ones, and checkpoints and statistics have the values",
                         nearest,
                         farthest));
  }

  template <int dim, int spacedim>
  void FieldOutput<dim, spacedim>::write(
    const Discretization<dim, spacedim> &discretization, const HostVector &u, double time, unsigned int step, double scale)
  {
    check_places(discretization);
    ScaledDataOut<dim, spacedim> data_out;
    data_out.attach_dof_handler(discretization.dof_handler);
    std::vector<HostVector> components(fields.size());
    for (unsigned int c = 0; c < fields.size(); ++c)
      {
        discretization.extract_component(u, c, components[c]);
        // said, not guessed from its length: on a torus there are as many nodes as cells
        data_out.add_data_vector(components[c], fields[c], DataOut<dim, spacedim>::type_dof_data);
        if (const double size = components[c].linfty_norm(); !told_sizes.count(c) && !(size <= std::numeric_limits<float>::max()))
          {
            told_sizes.insert(c);
            log.warning(
              format("|%s| is up to %.3g at time %g: the files for ParaView hold numbers in single precision, up to %.3g, and beyond it infinity; "
                     "checkpoints and statistics have the values",
                     fields[c].c_str(),
                     size,
                     time,
                     static_cast<double>(std::numeric_limits<float>::max())));
          }
      }
    // of quadratic tetrahedra deal.II 9.4 writes no cells at all: their vertices are written
    const unsigned int degree = dim == 3 && discretization.on_simplices() ? 1 : discretization.dof_handler.get_fe().degree;
    data_out.build_patches(*discretization.mapping, degree);
    data_out.scale(scale);
    DataOutBase::VtkFlags flags(time, step);
    flags.compression_level        = decltype(flags.compression_level)::best_speed; // an enum of VtkFlags in deal.II 9.4, of DataOutBase since 9.5
    flags.write_higher_order_cells = degree > 1;
    data_out.set_flags(flags);

    OutputPlace place(step, 0);
    for (auto there = written.find(place); there != written.end() && there->second != time; there = written.find(place))
      ++place.second; // the last good state of a failed run may be there already
    const unsigned int       rank = Utilities::MPI::this_mpi_process(comm), n_ranks = Utilities::MPI::n_mpi_processes(comm);
    const std::string        base  = base_name(place);
    const auto               piece = [&](unsigned int r) { return base + format(".%04u.vtu", r); };
    std::string              error;
    std::vector<std::string> pieces, files = {"solution/" + base + ".pvtu", "solution.pvd"};
    for (unsigned int r = 0; r < n_ranks; ++r)
      {
        pieces.push_back(piece(r));
        files.push_back("solution/" + piece(r));
      }
    run.record(files);
    on_rank_zero(comm, [&] { make_folder(run.path("solution")); });
    try
      {
        std::ostringstream vtu;
        data_out.write_vtu(vtu);
        write_file_atomically(run.path("solution/" + piece(rank)), vtu.str());
        if (rank == 0)
          {
            std::ostringstream pvtu;
            data_out.write_pvtu_record(pvtu, pieces);
            write_file_atomically(run.path("solution/" + base + ".pvtu"), pvtu.str());
          }
      }
    catch (const std::exception &exception)
      {
        error = exception.what();
      }
    throw_if_any_failed(error, comm);

    written[place] = time;
    on_rank_zero(comm, [&] { write_file_atomically(run.path("solution.pvd"), pvd_text(written)); });
  }

  template class FieldOutput<2>;
  template class FieldOutput<3>;
  template class FieldOutput<2, 3>;
} // namespace leopard
