// SPDX-License-Identifier: Apache-2.0
#include "mesh.h"

#include "gmsh_file.h"
#include "gmsh_triangulation.h"
#include "periodic_boundary.h"

#include <applications/base/collective.h>
#include <applications/base/log.h>
#include <solvers/base/errors.h>
#include <solvers/base/words.h>

#include <deal.II/base/parameter_handler.h>
#include <deal.II/base/quadrature_lib.h>
#include <deal.II/distributed/shared_tria.h>
#include <deal.II/distributed/tria.h>
#include <deal.II/fe/fe_simplex_p.h>
#include <deal.II/fe/fe_values.h>
#include <deal.II/fe/mapping_fe.h>
#include <deal.II/fe/mapping_q.h>
#include <deal.II/grid/grid_generator.h>
#include <deal.II/grid/grid_tools.h>
#include <deal.II/grid/manifold_lib.h>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <utility>

namespace leopard
{
  using namespace dealii;

  void MeshParameters::declare(ParameterHandler &prm)
  {
    using namespace Patterns;
    prm.enter_subsection("Mesh");
    prm.declare_entry(
      "Domain",
      "hypercube",
      Selection("hypercube|box|L-shape|ball|cylinder|file|sphere|torus|surface file"),
      "hypercube and box: from the lower to the upper corner; L-shape: that square or cube without its upper quarter "
      "or eighth; ball: radius around the origin; cylinder: along the x axis (3D; a disc in 2D); file: a Gmsh mesh. With 'Dimension = "
      "2', surfaces in space: sphere around the origin; torus around the y axis; surface file: a Gmsh mesh of one. Boundary ids: hypercube and box 0 "
      "and 1 at the "
      "lower and upper end in x, 2 and 3 in y, 4 and 5 in z; cylinder in 3D 0 (mantle), 1 and 2 (ends at -x and x); L-shape, ball, disc 0; sphere, "
      "torus "
      "none; leopard --describe-mesh FILE prints them.");
    prm.declare_entry("Lower corner", "0", List(Double(), 1, 3, ","), "One number for all directions or one each. Dimensionless length.");
    prm.declare_entry("Upper corner", "1", List(Double(), 1, 3, ","), "One number for all directions or one each. Dimensionless length.");
    prm.declare_entry("Cells",
                      "1",
                      List(Integer(1), 1, 3, ","),
                      "Cells of the coarse mesh in each direction (hypercube, box), one number for all or one each. Dimensionless.");
    prm.declare_entry(
      "Radius", "1", Double(0.), "Radius of the ball, cylinder or sphere, or of the circle in the middle of the torus' tube. Dimensionless length.");
    prm.declare_entry("Tube radius", "0.4", Double(0.), "Radius of the torus' tube. Dimensionless length.");
    prm.declare_entry("Half length", "1", Double(0.), "Half the length of the cylinder. Dimensionless length.");
    prm.declare_entry(
      "File",
      "",
      Anything(),
      "Gmsh mesh (MSH 2.2 or 4.1, ASCII) of one kind of cells, quadrilaterals or triangles, hexahedra or tetrahedra; relative to the folder of the "
      "parameter file. Boundary ids are the numbers of the physical groups of curves (2D) or surfaces (3D), 0 without.");
    prm.declare_entry(
      "Periodic",
      "",
      Anything(),
      "Directions in which the domain closes: x, y, z, separated by commas. What leaves at one end comes in at the other, and the boundaries there "
      "take "
      "no values and no fluxes. For hypercube and box, and for files whose faces at both ends match. Empty: none.");
    prm.declare_entry("Global refinements", "0", Integer(0, 20), "How often each cell is split in 2^dim. Dimensionless.");
    prm.declare_entry("Adaptive", "false", Bool(), "Refine where the Kelly error estimator is large (stationary problems only).");
    prm.declare_entry(
      "Adaptive cycles", "5", Integer(1, 100), "Solutions of an adaptive run, the first on the globally refined mesh. Dimensionless.");
    prm.declare_entry("Refine fraction", "0.3", Double(0., 1.), "Fraction of the cells that a cycle refines. Dimensionless.");
    prm.declare_entry("Coarsen fraction", "0.03", Double(0., 1.), "Fraction of the cells that a cycle coarsens. Dimensionless.");
    prm.leave_subsection();
  }

  namespace
  {
    /** One number for all directions, or one a direction. */
    template <typename Number>
    std::vector<Number> per_direction(const std::string &entry, const std::vector<Number> &given, int dimension)
    {
      if (given.size() == 1)
        return std::vector<Number>(dimension, given[0]);
      if (static_cast<int>(given.size()) != dimension)
        throw Error("'Mesh/" + entry + "' has " + std::to_string(given.size()) + " numbers\n  expected: 1 or " + std::to_string(dimension) +
                    ", as 'Dimension' is " + std::to_string(dimension));
      return given;
    }
  } // namespace

  void MeshParameters::read(ParameterHandler &prm, int dimension)
  {
    prm.enter_subsection("Mesh");
    domain = prm.get("Domain");
    lower  = per_direction("Lower corner", Utilities::string_to_double(Utilities::split_string_list(prm.get("Lower corner"))), dimension);
    upper  = per_direction("Upper corner", Utilities::string_to_double(Utilities::split_string_list(prm.get("Upper corner"))), dimension);
    std::vector<unsigned int> numbers;
    for (const int n : Utilities::string_to_int(Utilities::split_string_list(prm.get("Cells"))))
      numbers.push_back(n);
    cells              = per_direction("Cells", numbers, dimension);
    radius             = prm.get_double("Radius");
    tube_radius        = prm.get_double("Tube radius");
    half_length        = prm.get_double("Half length");
    file               = prm.get("File");
    periodic           = periodic_directions(prm.get("Periodic"), dimension);
    global_refinements = prm.get_integer("Global refinements");
    adaptive           = prm.get_bool("Adaptive");
    adaptive_cycles    = prm.get_integer("Adaptive cycles");
    refine_fraction    = prm.get_double("Refine fraction");
    coarsen_fraction   = prm.get_double("Coarsen fraction");
    prm.leave_subsection();

    for (int d = 0; d < dimension; ++d)
      if (!(lower[d] < upper[d]))
        throw Error("'Mesh/Lower corner' is not below 'Mesh/Upper corner' in direction " + std::to_string(d) + ": " + short_text(lower[d]) + " and " +
                    short_text(upper[d]) + "\n  expected: the lower corner below the upper one in each direction");
    // so that squares and products of lengths, and of what is divided by them, are numbers
    constexpr double longest = 1e50;
    const auto       check   = [&](const std::string &entry, double length, double shortest) {
      if (!(std::abs(length) <= longest && std::abs(length) >= shortest))
        throw Error("'Mesh/" + entry + "' is " + format("%g", length) + "\n  expected: lengths from 1e-50 to 1e50, the unit is free");
    };
    for (int d = 0; d < dimension; ++d)
      {
        check("Lower corner", lower[d], 0.);
        check("Upper corner", upper[d], 0.);
        check("Upper corner' - 'Lower corner", upper[d] - lower[d], 1. / longest);
      }
    for (const auto &[entry, length] : {std::pair{"Radius", radius}, {"Tube radius", tube_radius}, {"Half length", half_length}})
      check(entry, length, length > 0. ? 1. / longest : 0.);
    const bool needs_file = domain == "file" || domain == "surface file";
    if (needs_file == file.empty())
      throw Error(file.empty()
                    ? "'Mesh/Domain' is " + domain + ", but 'Mesh/File' is empty\n  expected: the path of a Gmsh mesh"
                    : "'Mesh/File' is " + file + ", but 'Mesh/Domain' is " + domain + "\n  expected: set Domain = file or surface file, or no file");
    if ((domain == "ball" || domain == "cylinder" || domain == "sphere" || domain == "torus") && radius <= 0.)
      throw Error("'Mesh/Radius' is " + short_text(radius) + "\n  expected: a positive length");
    if (domain == "torus" && !(tube_radius >= 1e-3 * radius && tube_radius < radius))
      throw Error("'Mesh/Tube radius' is " + short_text(tube_radius) +
                  "\n  expected: a length from a thousandth of 'Mesh/Radius' = " + short_text(radius) + " to just below it");
    if (is_surface() && dimension != 2)
      throw Error("'Mesh/Domain' is " + domain + ", a surface, but 'Dimension' is " + std::to_string(dimension) +
                  "\n  expected: set Dimension = 2, the dimension of the surface itself");
    if (is_periodic() && global_refinements == 0 && n_coarse_cells(dimension) == 1.)
      throw Error("'Mesh/Periodic' is " + names_of_directions(periodic) +
                  ", and the mesh has one cell, whose corners would be the same node\n  expected: 'Mesh/Global refinements' or 'Cells' above that");
    if (is_periodic() && domain != "hypercube" && domain != "box" && domain != "file")
      throw Error("'Mesh/Periodic' is " + names_of_directions(periodic) + ", and 'Mesh/Domain' is " + domain +
                  ", whose boundary does not match across\n  expected: hypercube, box or file, or no periodic directions");
    if (refine_fraction + coarsen_fraction > 1.)
      throw Error("'Mesh/Refine fraction' and 'Mesh/Coarsen fraction' add up to more than 1\n  expected: a sum of at most 1");
  }

  std::vector<std::pair<double, double>> MeshParameters::box_around(int dimension) const
  {
    std::vector<std::pair<double, double>> box(is_surface() ? 3 : dimension, {0., 1.});
    const double                           half = std::max(radius + (domain == "torus" ? tube_radius : 0.), domain == "cylinder" ? half_length : 0.);
    for (std::size_t d = 0; d < box.size(); ++d)
      if (is_uniform())
        box[d] = {lower[d], upper[d]};
      else if (file.empty())
        box[d] = {-half, half};
    return box;
  }

  double MeshParameters::n_coarse_cells(int dimension) const
  {
    if (domain == "file" || domain == "surface file")
      return 0.;
    if (domain == "torus")
      return 36.;
    double n = 1.;
    for (int d = 0; d < dimension; ++d)
      n *= domain == "hypercube" || domain == "box" ? cells[d] : 2.; // few
    return n;
  }

  double MeshParameters::edge_ratio(int dimension) const
  {
    if (domain != "hypercube" && domain != "box")
      return 0.;
    double shortest = upper[0] - lower[0], longest = 0.;
    for (int d = 0; d < dimension; ++d)
      {
        const double edge = (upper[d] - lower[d]) / cells[d];
        shortest          = d == 0 ? edge : std::min(shortest, edge);
        longest           = std::max(longest, edge);
      }
    return longest / shortest;
  }

  namespace
  {
    template <int dim>
    Point<dim> corner(const std::vector<double> &coordinates)
    {
      Point<dim> p;
      for (int d = 0; d < dim; ++d)
        p[d] = coordinates[d];
      return p;
    }

    /** What deal.II says against a mesh that has the right form; nothing if it takes it. */
    template <int dim, int spacedim>
    std::string why_deal_ii_refuses(Triangulation<dim, spacedim> &triangulation, const GmshMesh &mesh)
    {
      try
        {
          create_triangulation(triangulation, mesh);
        }
      catch (const ExceptionBase &exception)
        {
          std::ostringstream info;
          exception.print_info(info);
          const std::string reason = Utilities::trim(info.str());
          return exception.get_exc_name() + std::string(reason.empty() ? "" : ": ") + reason.substr(0, 400);
        }
      catch (const std::exception &exception)
        {
          return exception.what();
        }
      return "";
    }

    void throw_unless_empty(const std::string &reason, const std::string &file, int dim)
    {
      if (!reason.empty())
        throw Error("the mesh file '" + file + "' cannot be used: " + reason + "\n  expected: a Gmsh mesh in format 2.2 or 4.1, ASCII, with " +
                    (dim == 2 ? "quadrilaterals only or triangles only" : "hexahedra only or tetrahedra only") +
                    " for 'Dimension = " + std::to_string(dim) + "'");
    }

    /** What cannot be done with triangles and tetrahedra. */
    void check_simplices(const MeshParameters &parameters, CellKind kind, bool multigrid)
    {
      const std::string where = "'Mesh/File' is " + parameters.file + ", a mesh of " + names_of(kind);
      if (parameters.adaptive)
        throw Error(where +
                    ", and 'Mesh/Adaptive' is true, which deal.II cannot do with them\n  expected: set Adaptive = false with more 'Mesh/Global "
                    "refinements' or a mesh that Gmsh has made finer where that matters, or a mesh of " +
                    (kind == CellKind::triangle ? "quadrilaterals" : "hexahedra"));
      if (multigrid)
        throw Error(
          where +
          ", and multigrid or a study of smoothers is asked for, for which deal.II makes no levels of them\n  expected: another linear "
          "solver or preconditioner, for example 'Linear solver/Method' = cg or gmres with 'Preconditioner' = aggregation or amg, or a mesh of " +
          (kind == CellKind::triangle ? "quadrilaterals" : "hexahedra"));
    }

    /**
     * The surface of a torus around the y axis, its tube four cells around. Along it so many that cells are as much
     * longer than wide outside as they are wider than long inside: relaxation wants them nearly square
     * (GridGenerator::torus has four, whatever the radii are).
     */
    void make_torus(Triangulation<2, 3> &triangulation, double radius, double tube_radius)
    {
      constexpr unsigned int   n_around = 4;
      const double             ratio    = n_around * std::sqrt(radius * radius - tube_radius * tube_radius) / tube_radius;
      const unsigned int       n_along  = std::max(4u, static_cast<unsigned int>(std::lround(ratio)));
      std::vector<Point<3>>    vertices;
      std::vector<CellData<2>> cells;
      for (unsigned int i = 0; i < n_along; ++i)
        for (unsigned int j = 0; j < n_around; ++j)
          {
            const double phi = 2. * numbers::PI * i / n_along, theta = 2. * numbers::PI * j / n_around;
            const double distance = radius + tube_radius * std::cos(theta);
            vertices.emplace_back(distance * std::cos(phi), tube_radius * std::sin(theta), distance * std::sin(phi));
            const unsigned int next_i = (i + 1) % n_along, next_j = (j + 1) % n_around;
            cells.emplace_back();
            cells.back().vertices    = {n_around * i + j, n_around * next_i + j, n_around * i + next_j, n_around * next_i + next_j};
            cells.back().manifold_id = 0;
          }
      triangulation.create_triangulation(vertices, cells, SubCellData());
      triangulation.set_all_manifold_ids(0);
      triangulation.set_manifold(0, TorusManifold<2>(radius, tube_radius));
    }

    /** A part of the plane or of space. */
    template <int dim>
    void make_region(Triangulation<dim> &triangulation, const MeshParameters &parameters)
    {
      const Point<dim> lower = corner<dim>(parameters.lower), upper = corner<dim>(parameters.upper);
      if (parameters.domain == "hypercube" || parameters.domain == "box")
        GridGenerator::subdivided_hyper_rectangle(triangulation, parameters.cells, lower, upper, true);
      else if (parameters.domain == "L-shape")
        {
          std::vector<unsigned int> cells(dim, 2);
          std::vector<int>          remove(dim, -1); // negative: from the upper corner
          GridGenerator::subdivided_hyper_L(triangulation, cells, lower, upper, remove);
        }
      else if (parameters.domain == "ball")
        GridGenerator::hyper_ball_balanced(triangulation, Point<dim>(), parameters.radius);
      else
        {
          if constexpr (dim == 3)
            GridGenerator::cylinder(triangulation, parameters.radius, parameters.half_length);
          else
            GridGenerator::hyper_ball(triangulation, Point<dim>(), parameters.radius);
        }
    }
  } // namespace

  template <int dim, int spacedim>
  std::unique_ptr<parallel::TriangulationBase<dim, spacedim>> make_coarse_mesh(const MeshParameters &parameters, bool multigrid, MPI_Comm comm)
  {
    using Smoothing      = Triangulation<dim, spacedim>;
    using Distributed    = parallel::distributed::Triangulation<dim, spacedim>;
    const bool from_file = parameters.domain == "file" || parameters.domain == "surface file";
    GmshMesh   mesh;
    if (from_file) // every rank reads the same text, which only rank 0 took from the disk
      throw_unless_empty(why_no_mesh(read_file(parameters.file, comm), dim, spacedim, mesh), parameters.file, dim);
    std::unique_ptr<parallel::TriangulationBase<dim, spacedim>> triangulation;
    if (from_file && is_simplex(mesh.kind))
      {
        check_simplices(parameters, mesh.kind, multigrid);
        triangulation = std::make_unique<parallel::shared::Triangulation<dim, spacedim>>(comm, Smoothing::none, true);
      }
    else
      triangulation =
        std::make_unique<Distributed>(comm,
                                      typename Smoothing::MeshSmoothing(Smoothing::smoothing_on_refinement | Smoothing::smoothing_on_coarsening |
                                                                        Smoothing::limit_level_difference_at_vertices), // for local smoothing
                                      multigrid ? Distributed::construct_multigrid_hierarchy : Distributed::default_setting);
    if (from_file)
      throw_unless_empty(why_deal_ii_refuses(*triangulation, mesh), parameters.file, dim);
    else if constexpr (dim != spacedim)
      {
        if (parameters.domain == "sphere")
          GridGenerator::hyper_sphere(*triangulation, Point<spacedim>(), parameters.radius);
        else
          make_torus(*triangulation, parameters.radius, parameters.tube_radius);
      }
    else
      make_region(*triangulation, parameters);
    if constexpr (dim == spacedim)
      make_periodic(*triangulation, parameters.periodic, from_file ? "the mesh file '" + parameters.file + "'" : "the " + parameters.domain);
    return triangulation;
  }

  template <int dim, int spacedim>
  bool has_simplices(const Triangulation<dim, spacedim> &triangulation)
  {
    return triangulation.all_reference_cells_are_simplex();
  }

  template <int dim, int spacedim>
  std::unique_ptr<Mapping<dim, spacedim>> make_mapping(const Triangulation<dim, spacedim> &triangulation, unsigned int degree)
  {
    if (has_simplices(triangulation))
      return std::make_unique<MappingFE<dim, spacedim>>(FE_SimplexP<dim, spacedim>(1));
    return std::make_unique<MappingQ<dim, spacedim>>(degree);
  }

  template <int dim, int spacedim>
  double measure_of(const parallel::TriangulationBase<dim, spacedim> &triangulation)
  {
    const auto mapping = make_mapping(triangulation, 4); // of a higher degree for the curved boundaries
    if (has_simplices(triangulation))
      {
        double                     measure = 0.;
        FE_SimplexP<dim, spacedim> fe(1);
        FEValues<dim, spacedim>    values(*mapping, fe, QGaussSimplex<dim>(1), update_JxW_values);
        for (const auto &cell : triangulation.active_cell_iterators())
          if (cell->is_locally_owned())
            {
              values.reinit(cell);
              measure += values.JxW(0);
            }
        return Utilities::MPI::sum(measure, triangulation.get_communicator());
      }
    return GridTools::volume(triangulation, *mapping);
  }

  template <int dim, int spacedim>
  Domain describe_domain(const MeshParameters &parameters, MPI_Comm comm)
  {
    Domain domain;
    domain.name          = parameters.domain;
    domain.periodic      = parameters.periodic;
    domain.dimension     = dim;
    const double refined = std::pow(2., parameters.global_refinements);
    if (parameters.domain == "hypercube" || parameters.domain == "box")
      {
        domain.n_cells = 1.;
        for (unsigned int d = 0; d < dim; ++d)
          {
            const double n = parameters.cells[parameters.cells.size() == 1 ? 0 : d] * refined;
            domain.lower.push_back(parameters.lower[d]);
            domain.upper.push_back(parameters.upper[d]);
            domain.lengths.push_back(parameters.upper[d] - parameters.lower[d]);
            domain.measure *= domain.lengths.back();
            domain.cells.push_back(static_cast<unsigned int>(n));
            domain.n_cells *= n;
            domain.cell_size = std::max(domain.cell_size, domain.lengths.back() / n);
          }
        return domain;
      }
    const auto coarse = make_coarse_mesh<dim, spacedim>(parameters, false, comm);
    domain.n_cells    = coarse->n_global_active_cells() * std::pow(refined, dim);
    for (unsigned int d = 0; d < spacedim; ++d)
      {
        const auto coordinates = [d](const Point<spacedim> &a, const Point<spacedim> &b) { return a[d] < b[d]; };
        const auto [low, high] = std::minmax_element(coarse->get_vertices().begin(), coarse->get_vertices().end(), coordinates);
        domain.lower.push_back((*low)[d]);
        domain.upper.push_back((*high)[d]);
      }
    if (parameters.domain == "sphere")
      {
        domain.radius  = parameters.radius;
        domain.measure = 4. * numbers::PI * parameters.radius * parameters.radius;
      }
    else
      domain.measure = measure_of(*coarse);
    domain.cell_size = std::pow(domain.measure / domain.n_cells, 1. / dim);
    return domain;
  }

  template <int dim, int spacedim>
  std::set<types::boundary_id> boundary_ids(const Triangulation<dim, spacedim> &triangulation)
  {
    // the coarse mesh is whole on every rank
    std::set<types::boundary_id> ids;
    for (const auto &cell : triangulation.cell_iterators_on_level(0))
      for (const auto f : cell->face_indices())
        if (cell->face(f)->at_boundary() && !is_periodic(cell->face(f)->boundary_id()))
          ids.insert(cell->face(f)->boundary_id());
    return ids;
  }

  template std::unique_ptr<parallel::TriangulationBase<2, 2>> make_coarse_mesh(const MeshParameters &, bool, MPI_Comm);
  template bool                                               has_simplices(const Triangulation<2, 2> &);
  template std::unique_ptr<Mapping<2, 2>>                     make_mapping(const Triangulation<2, 2> &, unsigned int);
  template double                                             measure_of(const parallel::TriangulationBase<2, 2> &);
  template Domain                                             describe_domain<2, 2>(const MeshParameters &, MPI_Comm);
  template std::set<types::boundary_id>                       boundary_ids(const Triangulation<2, 2> &);
  template std::unique_ptr<parallel::TriangulationBase<3, 3>> make_coarse_mesh(const MeshParameters &, bool, MPI_Comm);
  template bool                                               has_simplices(const Triangulation<3, 3> &);
  template std::unique_ptr<Mapping<3, 3>>                     make_mapping(const Triangulation<3, 3> &, unsigned int);
  template double                                             measure_of(const parallel::TriangulationBase<3, 3> &);
  template Domain                                             describe_domain<3, 3>(const MeshParameters &, MPI_Comm);
  template std::set<types::boundary_id>                       boundary_ids(const Triangulation<3, 3> &);
  template std::unique_ptr<parallel::TriangulationBase<2, 3>> make_coarse_mesh(const MeshParameters &, bool, MPI_Comm);
  template bool                                               has_simplices(const Triangulation<2, 3> &);
  template std::unique_ptr<Mapping<2, 3>>                     make_mapping(const Triangulation<2, 3> &, unsigned int);
  template double                                             measure_of(const parallel::TriangulationBase<2, 3> &);
  template Domain                                             describe_domain<2, 3>(const MeshParameters &, MPI_Comm);
  template std::set<types::boundary_id>                       boundary_ids(const Triangulation<2, 3> &);
} // namespace leopard
