// SPDX-License-Identifier: Apache-2.0
#include "field_output.h"

#include <applications/run/collective.h>
#include <applications/run/files.h>
#include <applications/run/log.h>

#include <deal.II/fe/mapping_q_cache.h>
#include <deal.II/numerics/data_out.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

namespace leopard
{
  using namespace dealii;

  template <int dim, int spacedim>
  FieldOutput<dim, spacedim>::FieldOutput(const std::string &directory_, const std::vector<std::string> &fields_, MPI_Comm comm_)
    : directory(directory_)
    , fields(fields_)
    , comm(comm_)
  {
    std::string error;
    if (Utilities::MPI::this_mpi_process(comm) == 0)
      {
        std::error_code code;
        std::filesystem::create_directories(directory + "/solution", code);
        if (code)
          error = "the folder '" + directory + "/solution' cannot be made: " + code.message();
      }
    throw_if_any_failed(error, comm);
  }

  template <int dim, int spacedim>
  void FieldOutput<dim, spacedim>::resume(double time)
  {
    std::string text;
    if (std::filesystem::exists(directory + "/solution.pvd")) // shared by the ranks
      text = read_file(directory + "/solution.pvd", comm);
    const std::regex entry("timestep=\"([^\"]*)\"[^>]*file=\"([^\"]*)\"");
    for (std::sregex_iterator match(text.begin(), text.end(), entry), end; match != end; ++match)
      if (const double t = std::stod((*match)[1]); t <= time * (1. + 1e-14))
        written.emplace_back(t, (*match)[2]);
  }

  template <int dim, int spacedim>
  void FieldOutput<dim, spacedim>::write(
    const Discretization<dim, spacedim> &discretization, const HostVector &u, double time, unsigned int step, double scale)
  {
    DataOut<dim, spacedim> data_out;
    data_out.attach_dof_handler(discretization.dof_handler);
    std::vector<HostVector> components(fields.size());
    for (unsigned int c = 0; c < fields.size(); ++c)
      {
        discretization.extract_component(u, c, components[c]);
        data_out.add_data_vector(components[c], fields[c]);
      }
    const unsigned int degree = discretization.dof_handler.get_fe().degree;
    if (scale == 1.)
      data_out.build_patches(*discretization.mapping, degree);
    else
      {
        MappingQCache<dim, spacedim> grown(dynamic_cast<const MappingQ<dim, spacedim> &>(*discretization.mapping).get_degree());
        grown.initialize(
          *discretization.mapping,
          discretization.triangulation,
          [scale](const auto &, const Point<spacedim> &p) { return Point<spacedim>(scale * p); },
          false);
        data_out.build_patches(grown, degree);
      }
    DataOutBase::VtkFlags flags(time, step);
    flags.compression_level        = DataOutBase::VtkFlags::best_speed;
    flags.write_higher_order_cells = degree > 1;
    data_out.set_flags(flags);

    const unsigned int rank = Utilities::MPI::this_mpi_process(comm), n_ranks = Utilities::MPI::n_mpi_processes(comm);
    const std::string  base  = format("solution_%07u", step);
    const auto         piece = [&](unsigned int r) { return base + format(".%04u.vtu", r); };
    std::string        error;
    try
      {
        std::ostringstream vtu;
        data_out.write_vtu(vtu);
        write_file_atomically(directory + "/solution/" + piece(rank), vtu.str());
        if (rank == 0)
          {
            std::vector<std::string> pieces;
            for (unsigned int r = 0; r < n_ranks; ++r)
              pieces.push_back(piece(r));
            std::ostringstream pvtu;
            data_out.write_pvtu_record(pvtu, pieces);
            write_file_atomically(directory + "/solution/" + base + ".pvtu", pvtu.str());
          }
      }
    catch (const std::exception &exception)
      {
        error = exception.what();
      }
    throw_if_any_failed(error, comm);

    if (written.empty() || written.back().first != time) // the last good state of a failed run may be there already
      written.emplace_back(time, "solution/" + base + ".pvtu");
    if (rank == 0)
      try
        {
          std::ostringstream pvd;
          DataOutBase::write_pvd_record(pvd, written);
          write_file_atomically(directory + "/solution.pvd", pvd.str());
        }
      catch (const std::exception &exception)
        {
          error = exception.what();
        }
    throw_if_any_failed(error, comm);
  }

  template class FieldOutput<2>;
  template class FieldOutput<3>;
  template class FieldOutput<2, 3>;
} // namespace leopard
