// SPDX-License-Identifier: Apache-2.0
#include "boundary_check.h"

#include <applications/base/log.h>
#include <applications/discretization/mesh.h>
#include <applications/discretization/periodic_boundary.h>
#include <applications/problems/field_transport.h>
#include <applications/problems/problem.h>

#include <deal.II/base/mpi.h>
#include <deal.II/base/quadrature_lib.h>
#include <deal.II/fe/fe_values.h>
#include <deal.II/grid/grid_tools.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace leopard
{
  using namespace dealii;

  namespace
  {
    /** Of one kind of condition, values or fluxes, on all faces. */
    struct Comparison
    {
      double       scale      = 0.; ///< the largest number that is compared
      double       difference = -1., given = 0., exact = 0.;
      Point<3>     where;
      unsigned int id       = 0;
      bool         is_given = true;

      /** @param condition its value; one that is not given is zero. */
      void add(const Expression *condition, double exact_, const Point<3> &p, double t, unsigned int id_)
      {
        add_numbers(condition != nullptr ? condition->value(p, t) : 0., exact_, p, id_, condition != nullptr);
      }

      void add_numbers(double given_, double exact_, const Point<3> &p, unsigned int id_, bool is_given_ = true)
      {
        if (!std::isfinite(given_) || !std::isfinite(exact_)) // said elsewhere
          return;
        scale = std::max({scale, std::abs(given_), std::abs(exact_)});
        if (std::abs(given_ - exact_) > difference)
          *this = {scale, std::abs(given_ - exact_), given_, exact_, p, id_, is_given_};
      }

      /** That of the rank with the largest difference, everywhere. Collective. */
      void agree(MPI_Comm comm)
      {
        const std::vector<double> own = {scale, difference, given, exact, where[0], where[1], where[2], static_cast<double>(id), is_given ? 1. : 0.};
        for (const std::vector<double> &r : Utilities::MPI::all_gather(comm, own))
          if (scale = std::max(scale, r[0]); r[1] > difference)
            *this = {scale, r[1], r[2], r[3], {r[4], r[5], r[6]}, static_cast<unsigned int>(r[7]), r[8] != 0.};
      }

      std::string place() const { return format(" at (%g, %g, %g), boundary id %u", where[0], where[1], where[2], id); }
    };

    const char *const consequence = "; 'errors' would be the distance to the solution of another problem, on every mesh\n  to try: ";

    /** What is compared with the boundary conditions: the exact solution of a field at a time. */
    struct Exact
    {
      unsigned int field;
      double       time;
    };

    /** The largest |exact solution| at a vertex of the mesh. Collective. */
    template <int dim>
    double size_of_solution(const Discretization<dim, dim> &discretization, const Problem &problem, const Exact &of)
    {
      double size = 0.;
      for (const auto &cell : discretization.dof_handler.active_cell_iterators())
        for (const unsigned int v : cell->vertex_indices())
          if (cell->is_locally_owned())
            if (const double exact = problem.exact_solution[of.field].value(to_3d(cell->vertex(v)), of.time); std::isfinite(exact))
              size = std::max(size, std::abs(exact));
      return Utilities::MPI::max(size, discretization.triangulation.get_communicator());
    }

    /** The slope of the exact solution of a field in a direction that points outwards, from values inside. */
    template <int dim>
    double slope(const Problem &problem, const Exact &of, const Point<dim> &p, const Tensor<1, dim> &direction, double h)
    {
      const auto           exact   = [&](const Point<dim> &q) { return problem.exact_solution[of.field].value(to_3d(q), of.time); };
      const Tensor<1, dim> inwards = -h * direction;
      return (3. * exact(p) - 4. * exact(p + inwards) + exact(p + 2. * inwards)) / (2. * h);
    }

    /** -n . J of the exact solution, see FieldTransport. @param size is at least that of C u_d. */
    template <int dim>
    double transported_flux(const Problem &problem, const Exact &of, const Point<dim> &p, const Tensor<1, dim> &normal, double h, double &size)
    {
      const FieldTransport *transport = problem.transport();
      if (transport == nullptr)
        return 0.;
      std::vector<double> u, coefficients(transport->coefficients().expressions().size());
      for (const Expression &exact : problem.exact_solution)
        u.push_back(exact.value(to_3d(p), of.time));
      transport->coefficients().evaluate(1, u.data(), coefficients.data(), nullptr, {&p[0], dim, of.time});
      double flux = 0.;
      for (const FieldTransport::CrossTerm &term : transport->cross_terms())
        if (term.field == of.field)
          {
            flux += coefficients[term.expression] * slope(problem, {term.partner, of.time}, p, normal, h);
            size = std::max(size, std::abs(coefficients[term.expression] * u[term.partner]));
          }
      for (const FieldTransport::AdvectionTerm &term : transport->advection_terms())
        for (unsigned int d = 0; d < (term.field == of.field ? dim : 0); ++d)
          flux -= coefficients[term.expression + d] * normal[d] * u[of.field];
      return flux;
    }

    /** At the corners of a periodic face, and at their copies. */
    template <int dim, typename Face>
    void compare_across(const Face &face, const BoxEnds<dim> &ends, const Problem &problem, const Exact &of, Comparison &across)
    {
      const auto           exact  = [&](const Point<dim> &p) { return problem.exact_solution[of.field].value(to_3d(p), of.time); };
      const Tensor<1, dim> beyond = ends.to_copy(face);
      for (const unsigned int v : face->vertex_indices())
        across.add_numbers(exact(face->vertex(v) + beyond), exact(face->vertex(v)), to_3d(face->vertex(v)), id_before(face->boundary_id()));
    }

    template <int dim>
    void compare(const Discretization<dim, dim> &discretization,
                 const Problem                  &problem,
                 const Exact                    &of,
                 bool                            is_plane,
                 Comparison                     &values,
                 Comparison                     &fluxes,
                 Comparison                     &across)
    {
      const double size   = size_of_solution(discretization, problem, of);
      const double length = std::pow(GridTools::volume(discretization.triangulation, *discretization.mapping), 1. / dim);
      values.scale = across.scale   = size; // where both are to be zero they differ by rounding errors of what the solution is elsewhere
      Quadrature<dim - 1> points    = QGauss<dim - 1>(3);
      const bool          simplices = discretization.dof_handler.get_fe().reference_cell().is_simplex();
      if (dim == 3 && simplices)
        points = QGaussSimplex<dim - 1>(2);
      const BoxEnds<dim> ends(discretization.triangulation);
      FEFaceValues<dim>  face(*discretization.mapping, discretization.dof_handler.get_fe(), points, update_quadrature_points | update_normal_vectors);
      const auto         exact = [&](const Point<dim> &p) { return problem.exact_solution[of.field].value(to_3d(p), of.time); };
      for (const auto &cell : discretization.dof_handler.active_cell_iterators())
        for (const unsigned int f : cell->face_indices())
          if (cell->is_locally_owned() && cell->face(f)->at_boundary())
            {
              if (is_periodic(cell->face(f)->boundary_id()))
                {
                  compare_across(cell->face(f), ends, problem, of, across);
                  continue;
                }
              const unsigned int id    = cell->face(f)->boundary_id();
              const Expression  *value = problem.boundary(of.field).value(id), *flux = problem.boundary(of.field).flux(id);
              const double       h         = 1e-4 * cell->diameter();
              const bool         has_value = value != nullptr;
              for (const unsigned int v : cell->face(f)->vertex_indices()) // on curved boundaries only these are for certain
                if (const Point<dim> &p = cell->face(f)->vertex(v); has_value)
                  values.add(value, exact(p), to_3d(p), of.time, id);
              if (!is_plane)
                continue;
              face.reinit(cell, f);
              for (unsigned int k = 0; k < points.size(); ++k)
                {
                  const Point<dim> &p = face.quadrature_point(k);
                  if (has_value)
                    {
                      values.add(value, exact(p), to_3d(p), of.time, id);
                      continue;
                    }
                  // n . a grad u is the slope along a n, which points outwards, too
                  Tensor<1, dim> direction = face.normal_vector(k);
                  double         a         = 1.;
                  if (const Diffusion *tensor = problem.diffusion_tensor(of.field); tensor != nullptr)
                    {
                      const SymmetricTensor<2, 3> matrix = tensor->matrix(to_3d(p));
                      direction                          = 0.;
                      for (unsigned int d = 0; d < dim; ++d)
                        for (unsigned int e = 0; e < dim; ++e)
                          direction[d] += matrix[d][e] * face.normal_vector(k)[e];
                      a = direction.norm();
                      direction /= a;
                    }
                  else
                    a = problem.diffusion(of.field, to_3d(p));
                  double       carried_size = 0.;
                  const double carried      = transported_flux(problem, of, p, face.normal_vector(k), h, carried_size);
                  fluxes.add(flux, a * slope(problem, of, p, direction, h) + carried, to_3d(p), of.time, id);
                  // the precision of slopes, and those of the solution elsewhere
                  fluxes.scale =
                    std::max({fluxes.scale, 1e-4 * (a * std::abs(exact(p)) + carried_size) / cell->diameter(), 1e-3 * a * size / length});
                }
            }
    }

    /** Of one field at one time. Collective. */
    template <int dim>
    std::string contradiction(const Discretization<dim, dim> &discretization, const MeshParameters &mesh, const Problem &problem, const Exact &of)
    {
      Comparison values, fluxes, across;
      compare(discretization, problem, of, mesh.is_uniform(), values, fluxes, across);
      const MPI_Comm comm = discretization.triangulation.get_communicator();
      values.agree(comm);
      fluxes.agree(comm);
      across.agree(comm);
      const std::string field   = problem.fields()[of.field];
      const std::string section = "'" + problem.name() + "/", solution = "'" + problem.exact_solution[of.field].entry_name() + "'";
      const std::string contradicts = " contradict " + solution + ": ", at_time = problem.time_dependent() ? format(", t = %g", of.time) : "";
      if (across.difference > 1e-6 * across.scale)
        return "'Mesh/Periodic' = " + names_of_directions(mesh.periodic) + " contradicts " + solution + ": " +
               format("most of all it is %.6g beyond the periodic boundary where it is %.6g,", across.given, across.exact) + across.place() +
               at_time + consequence + "an exact solution that is periodic, or no periodic directions";
      if (values.difference > 1e-6 * values.scale)
        return section + problem.entry_for("Boundary values", field) + "'" + contradicts +
               format("most of all they are %.6g where it is %.6g,", values.given, values.exact) + values.place() + at_time + consequence +
               "'Boundary values' = automatic, or the exact solution that has these values";
      if (fluxes.difference > 1e-3 * fluxes.scale)
        return (problem.time_dependent() && !fluxes.is_given ? "the zero boundary fluxes"
                                                             : section + problem.entry_for("Boundary fluxes", field) + "'") +
               contradicts + "most of all a du/dn" + (problem.transport() != nullptr ? " with cross-diffusion and advection" : "") +
               format(" is %.6g where that of the solution is %.6g,", fluxes.given, fluxes.exact) + fluxes.place() + at_time +
               (fluxes.is_given ? "" : ", for which no condition is given, so that it is zero") + consequence +
               (problem.time_dependent()
                  ? "an exact solution whose normal derivative is zero at the boundary, as that of cos(pi*x) is on (0,1), or '" +
                      problem.entry_for("Boundary values", field) + "' = automatic"
                  : "'Boundary values' = automatic without fluxes, or the exact solution that has these fluxes");
      return "";
    }
  } // namespace

  std::vector<double> times_of_boundary_values(const Problem &problem, double end_time)
  {
    std::vector<double> times = {0.};
    for (int k = 0; k < (problem.time_dependent() && problem.load_depends_on_time() ? 8 : 0); ++k)
      times.push_back((k + 0.37) / 8. * end_time); // at whose simple fractions cos(pi*t) or the like may vanish
    return times;
  }

  template <int dim, int spacedim>
  std::string
  boundary_contradiction(const Discretization<dim, spacedim> &discretization, const MeshParameters &mesh, const Problem &problem, double end_time)
  {
    discretization.check_periodic_boundary_values(times_of_boundary_values(problem, end_time));
    std::vector<double> times = {0.};
    if (problem.time_dependent()) // since cos(pi*t) or the like may vanish at one
      times.push_back(0.37 * end_time);
    if constexpr (dim == spacedim)
      for (unsigned int c = 0; c < problem.exact_solution.size(); ++c)
        for (const double t : times)
          if (const std::string text = contradiction(discretization, mesh, problem, {c, t}); !text.empty())
            return text;
    return "";
  }

  template std::string boundary_contradiction(const Discretization<2, 2> &, const MeshParameters &, const Problem &, double);
  template std::string boundary_contradiction(const Discretization<3, 3> &, const MeshParameters &, const Problem &, double);
  template std::string boundary_contradiction(const Discretization<2, 3> &, const MeshParameters &, const Problem &, double);
} // namespace leopard
