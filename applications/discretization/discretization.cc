// SPDX-License-Identifier: Apache-2.0
#include "discretization.h"

#include "expression_function.h"
#include "mesh_count.h"
#include "periodic_boundary.h"
#include "simplex_refinement.h"

#include <applications/base/collective.h>
#include <applications/base/log.h>
#include <applications/base/stop_signal.h>
#include <applications/problems/field_transport.h>
#include <solvers/base/errors.h>

#include <deal.II/base/parameter_handler.h>
#include <deal.II/base/quadrature_lib.h>
#include <deal.II/distributed/solution_transfer.h>
#include <deal.II/distributed/tria.h>
#include <deal.II/dofs/dof_tools.h>
#include <deal.II/fe/fe_q.h>
#include <deal.II/fe/fe_simplex_p.h>
#include <deal.II/fe/mapping.h>
#include <deal.II/grid/grid_tools.h>
#include <deal.II/lac/dynamic_sparsity_pattern.h>
#include <deal.II/lac/sparsity_tools.h>
#include <deal.II/numerics/vector_tools_boundary.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace leopard
{
  using namespace dealii;

  void DiscretizationParameters::declare(ParameterHandler &prm)
  {
    using namespace Patterns;
    prm.enter_subsection("Discretization");
    prm.declare_entry(
      "Method",
      "automatic",
      Selection("automatic|finite differences|finite elements"),
      "finite differences: the five- or seven-point stencil on uniform meshes, with lumped mass; finite elements: Q_p with Gauss quadrature. "
      "automatic: "
      "finite differences for problems with a reaction on a uniform box (hypercube or box, degree 1, lumped mass), finite elements otherwise. Both "
      "are of "
      "order 2 with errors of about the same size; the stencil has no positive entries off the diagonal, so that concentrations stay positive and "
      "asynchronous iterations converge for every shape of the cells, and time steps take a part of the time.");
    prm.declare_entry("Degree", "1", Integer(1, 8), "Polynomial degree p of the finite elements. Dimensionless.");
    prm.declare_entry(
      "Mass matrix",
      "lumped",
      Selection("lumped|consistent"),
      "Of the time derivative, with finite elements: lumped (row sums; diagonal, so that relaxation converges for small time steps, too) "
      "or consistent (for Q1 in 2D its off-diagonal entries sum up to 1.25 times the diagonal, and plain relaxation diverges).");
    prm.leave_subsection();
  }

  bool DiscretizationParameters::can_be_differences(const MeshParameters &mesh) const
  {
    return (mesh.domain == "hypercube" || mesh.domain == "box") && !mesh.adaptive && degree == 1 && lumped_mass;
  }

  std::string DiscretizationParameters::remark(const MeshParameters &mesh, bool in_time) const
  {
    if (automatic && finite_differences)
      return "discretization: finite differences (automatic: a reaction on a uniform box)";
    if (!finite_differences && in_time && can_be_differences(mesh))
      return "discretization: finite elements, as asked for; on this uniform box 'Discretization/Method' = finite differences has errors of the same "
             "order, and its time steps take fewer linear iterations";
    return "";
  }

  std::string DiscretizationParameters::automatic_method(const MeshParameters &mesh, bool has_reaction) const
  {
    return has_reaction && can_be_differences(mesh) ? "finite differences" : "finite elements";
  }

  void DiscretizationParameters::read(ParameterHandler &prm, const MeshParameters &mesh, bool has_reaction)
  {
    prm.enter_subsection("Discretization");
    const std::string method = prm.get("Method");
    degree                   = prm.get_integer("Degree");
    lumped_mass              = prm.get("Mass matrix") == "lumped";
    prm.leave_subsection();
    automatic          = method == "automatic";
    finite_differences = (automatic ? automatic_method(mesh, has_reaction) : method) == "finite differences";
    if (!finite_differences)
      return;
    if (degree != 1)
      throw Error("'Discretization/Method' is finite differences, but 'Discretization/Degree' is " + std::to_string(degree) +
                  "\n  expected: degree 1, or finite elements");
    if (!mesh.is_uniform() || mesh.adaptive)
      throw Error("'Discretization/Method' is finite differences, but the mesh is not uniform ('Mesh/" +
                  (mesh.adaptive ? std::string("Adaptive' is true)") : "Domain' is " + mesh.domain + ")") +
                  "\n  expected: a hypercube, box or L-shape without adaptive refinement, or finite elements");
  }

  namespace
  {
    /** The coarse one, without numbers yet. */
    template <int dim, int spacedim>
    NumberedMeshPointer<dim, spacedim>
    make_numbered_mesh(const MeshParameters &mesh, const DiscretizationParameters &parameters, const Problem &problem, MPI_Comm comm)
    {
      check_before_it_is_made(mesh, dim, problem.fields().size(), parameters.degree);
      return std::make_shared<NumberedMesh<dim, spacedim>>(make_coarse_mesh<dim, spacedim>(mesh, parameters.multigrid, comm));
    }
  } // namespace

  template <int dim, int spacedim>
  Discretization<dim, spacedim>::Discretization(const MeshParameters              &mesh_parameters_,
                                                const DiscretizationParameters    &parameters_,
                                                const Problem                     &problem_,
                                                MPI_Comm                           comm_,
                                                NumberedMeshPointer<dim, spacedim> shared)
    : comm(comm_)
    , mesh(shared != nullptr ? std::move(shared) : make_numbered_mesh<dim, spacedim>(mesh_parameters_, parameters_, problem_, comm_))
    , triangulation(*mesh->triangulation)
    , mapping(make_mapping(triangulation, mesh_parameters_.is_uniform() ? 1 : parameters_.degree))
    , dof_handler(mesh->dof_handler)
    , simplices(has_simplices(triangulation))
    , mesh_parameters(mesh_parameters_)
    , parameters(parameters_)
    , problem(problem_)
    , components(problem_.fields().size())
  {
    if (simplices)
      check_simplices();
    if (parameters.finite_differences)
      {
        quadrature      = QTrapezoid<dim>();
        face_quadrature = QTrapezoid<dim - 1>();
      }
    else
      {
        quadrature = gauss(parameters.degree + 1);
        if (simplices)
          face_quadrature = QGaussSimplex<dim - 1>(parameters.degree + 1);
        else
          face_quadrature = QGauss<dim - 1>(parameters.degree + 1);
      }
    check_boundary_ids();
    check_singularity();
  }

  namespace
  {
    /**
     * Whether there is a reaction that is not zero for all values, as diffusion alone has it in a file with
     * expressions.
     */
    bool reacts(const Problem &problem)
    {
      if (!problem.has_reaction() || problem.reaction_depends_on_place())
        return problem.has_reaction();
      const std::size_t   n = problem.fields().size();
      std::vector<double> u(n, 0.7), rates(n), slopes(n * n);
      problem.reaction(1, u.data(), rates.data(), slopes.data());
      const auto is_not_zero = [](double x) { return x != 0.; };
      return std::any_of(rates.begin(), rates.end(), is_not_zero) || std::any_of(slopes.begin(), slopes.end(), is_not_zero);
    }
  } // namespace

  template <int dim, int spacedim>
  void Discretization<dim, spacedim>::check_simplices() const
  {
    if (parameters.degree > 2)
      throw Error("'Discretization/Degree' is " + std::to_string(parameters.degree) +
                  " on a mesh of triangles or tetrahedra\n  expected: 1 or 2, or a mesh of quadrilaterals or hexahedra");
    if (parameters.degree == 2 && parameters.lumped_mass && problem.time_dependent())
      throw Error(
        "'Discretization/Degree' is 2 and 'Mass matrix' is lumped on a mesh of triangles or tetrahedra, at whose vertices lumped masses are zero "
        "or negative\n  expected: set Mass matrix = consistent, or set Degree = 1");
    if (parameters.degree < 2 || !problem.time_dependent())
      return;
    const std::string weights =
      "'Discretization/Degree' is 2 on a mesh of " +
      std::string(dim == 2 ? "triangles, at whose vertices weights are zero" : "tetrahedra, at whose vertices weights are negative");
    if (dim == 3 && reacts(problem))
      throw Error(weights +
                  ": the reaction acts at the nodes with these, and steps would be unstable\n  expected: set Degree = 1, or a mesh of hexahedra");
    if (const std::string missing = problem.what_is_missing(); !missing.empty())
      throw Error(weights + ", and " + missing + ": nothing holds its values there\n  expected: set Degree = 1, or a mesh of quadrilaterals");
  }

  template <int dim, int spacedim>
  Quadrature<dim> Discretization<dim, spacedim>::gauss(unsigned int n_points) const
  {
    if (simplices)
      return QGaussSimplex<dim>(n_points);
    return QGauss<dim>(n_points);
  }

  template <int dim, int spacedim>
  void Discretization<dim, spacedim>::check_boundary_ids() const
  {
    const auto  ids = boundary_ids(triangulation);
    std::string present;
    for (const auto id : ids)
      present += (present.empty() ? "" : ", ") + std::to_string(id);
    const auto        periodic = periodic_ids(triangulation);
    const std::string others   = ids.empty() ? (dim != spacedim ? "none, as the domain is a closed surface" : "none, as all boundaries are periodic")
                                             : "one of " + present + ", or * for all others";
    for (unsigned int c = 0; c < components; ++c)
      for (const BoundaryExpressions *condition : {&problem.boundary(c).values, &problem.boundary(c).fluxes})
        for (const unsigned int id : condition->named_ids())
          if (ids.count(id) == 0)
            throw Error("'" + condition->entry_name() + "' names the boundary id " + std::to_string(id) +
                        (periodic.count(id) == 1 ? ", which is periodic ('Mesh/Periodic' = " + names_of_directions(mesh_parameters.periodic) +
                                                     "), so that it has no values and no fluxes"
                                                 : std::string(", which the mesh does not have")) +
                        "\n  expected: " + others);
  }

  template <int dim, int spacedim>
  void Discretization<dim, spacedim>::check_singularity() const
  {
    if (problem.has_reaction() && !problem.reaction_depends_on_fields() && !problem.time_dependent() && dirichlet_boundary(0).empty())
      throw Error("section '" + problem.name() + "' prescribes boundary values nowhere, and " +
                  expression_of_entry(problem.reaction_entry(0).text, problem.reaction_entry(0).entry) + " does not depend on " +
                  problem.fields()[0] + ", so the solution is determined up to a constant only, if sources and fluxes balance at all" +
                  "\n  expected: the problem laplace, with this as a part of its 'Source': it finds the solution of mean zero, and says where they "
                  "do not balance" +
                  (boundary_ids(triangulation).empty() ? "" : "; or 'Boundary values' for at least one boundary id") +
                  "; or a reaction that depends on " + problem.fields()[0]);
    const bool has_levels = dim == spacedim && !simplices && !(mesh_parameters.adaptive && mesh_parameters.is_periodic());
    if (is_singular() && !parameters.bears_constants)
      throw Error("section '" + problem.name() + "' prescribes boundary values nowhere, so the solution is determined up to a constant only" +
                  "\n  expected: 'Linear solver/Method' = cg with 'Preconditioner' = aggregation" + (has_levels ? " or multigrid" : "") +
                  ", which finds the solution of mean zero; or " +
                  (boundary_ids(triangulation).empty() ? "" : "'Boundary values' for at least one boundary id, or ") +
                  "a Helmholtz problem with delta > 0");
  }

  template <int dim, int spacedim>
  bool Discretization<dim, spacedim>::is_singular() const
  {
    return !problem.time_dependent() && !problem.has_reaction() && problem.absorption(0) == 0. && dirichlet_boundary(0).empty();
  }

  template <int dim, int spacedim>
  bool Discretization<dim, spacedim>::has_mean_of_absorption() const
  {
    return !problem.time_dependent() && !problem.has_reaction() && problem.absorption(0) > 0. && dirichlet_boundary(0).empty();
  }

  template <int dim, int spacedim>
  void Discretization<dim, spacedim>::refine_coarse_mesh(unsigned int n_refinements)
  {
    const bool shared = dof_handler.has_active_dofs();
    check_count(std::ldexp(static_cast<double>(triangulation.n_global_active_cells()), shared ? 0 : static_cast<int>(dim * n_refinements)),
                dim,
                components,
                parameters.degree);
    if (shared)
      {
        set_up_unknowns();
        return;
      }
    for (unsigned int i = 0; i < n_refinements; ++i)
      {
        throw_if_stop_requested(comm);
        if (simplices)
          leopard::refine_simplices(triangulation);
        else
          triangulation.refine_global(1);
      }
    throw_if_stop_requested(comm);
    distribute_unknowns();
  }

  template <int dim, int spacedim>
  void Discretization<dim, spacedim>::distribute_unknowns()
  {
    check_count(static_cast<double>(triangulation.n_global_active_cells()), dim, components, parameters.degree);
    if (simplices)
      dof_handler.distribute_dofs(FE_SimplexP<dim, spacedim>(parameters.degree));
    else
      dof_handler.distribute_dofs(FE_Q<dim, spacedim>(parameters.degree));
    mesh->nodes.clear();
    levels_are_numbered = false;
    set_up_unknowns();
  }

  template <int dim, int spacedim>
  void Discretization<dim, spacedim>::set_up_unknowns()
  {
    owned    = dof_handler.locally_owned_dofs();
    relevant = DoFTools::extract_locally_relevant_dofs(dof_handler);
    h        = shortest_edge();
    find_originals();
    const auto interleaved = [&](const IndexSet &scalar) {
      IndexSet set(components * scalar.size());
      for (auto interval = scalar.begin_intervals(); interval != scalar.end_intervals(); ++interval)
        set.add_range(components * *interval->begin(), components * (interval->last() + 1));
      set.compress();
      return set;
    };
    owned_unknowns    = interleaved(owned);
    relevant_unknowns = interleaved(relevant);

    make_constraints();
  }

  template <int dim, int spacedim>
  double Discretization<dim, spacedim>::shortest_edge() const
  {
    double shortest = std::numeric_limits<double>::max();
    for (const auto &cell : dof_handler.active_cell_iterators())
      if (cell->is_locally_owned())
        for (const auto line : cell->line_indices())
          shortest = std::min(shortest, cell->line(line)->vertex(0).distance(cell->line(line)->vertex(1)));
    return Utilities::MPI::min(shortest, comm);
  }

  template <int dim, int spacedim>
  TrilinosWrappers::SparsityPattern Discretization<dim, spacedim>::sparsity_pattern() const
  {
    DynamicSparsityPattern               pattern(relevant_unknowns);
    std::vector<types::global_dof_index> dofs(dof_handler.get_fe().dofs_per_cell), unknowns(dofs.size()), of_partner(dofs.size());
    for (const auto &cell : dof_handler.active_cell_iterators())
      if (cell->is_locally_owned())
        {
          cell->get_dof_indices(dofs);
          for (unsigned int c = 0; c < components; ++c)
            {
              select_component(dofs, components, c, unknowns);
              constraints.add_entries_local_to_global(unknowns, pattern, false);
              for (const auto dof : dofs)
                for (unsigned int d = 0; d < components; ++d)
                  pattern.add(components * dof + c, components * dof + d); // the reaction couples the fields of a node
              for (unsigned int d = 0; d < components; ++d)
                if (d != c && problem.transport() != nullptr && problem.transport()->couples(c, d)) // and this the fields of neighbours
                  {
                    select_component(dofs, components, d, of_partner);
                    constraints.add_entries_local_to_global(unknowns, of_partner, pattern, false);
                  }
            }
        }
    SparsityTools::distribute_sparsity_pattern(pattern, owned_unknowns, comm, relevant_unknowns);
    TrilinosWrappers::SparsityPattern result;
    result.reinit(owned_unknowns, owned_unknowns, pattern, comm);
    return result;
  }

  template <int dim, int spacedim>
  HostVector Discretization<dim, spacedim>::make_vector() const
  {
    return HostVector(owned_unknowns, comm);
  }

  template <int dim, int spacedim>
  void Discretization<dim, spacedim>::interpolate_initial_values(HostVector &u) const
  {
    u.reinit(owned_unknowns, comm);
    const std::vector<double> &coordinates = nodes();
    std::string                error;
    Point<spacedim>            point;
    for (unsigned int i = 0; i < owned.n_elements(); ++i)
      {
        std::copy_n(&coordinates[i * spacedim], spacedim, point.begin_raw());
        for (unsigned int c = 0; c < components; ++c)
          {
            const double value = problem.initial_value(c, to_3d(point));
            if (!std::isfinite(value) && error.empty())
              error = not_finite_message(problem.initial[c], value, point, 0.);
            u.begin()[components * i + c] = value;
          }
      }
    throw_if_any_entry_failed(error, comm);
    u.compress(VectorOperation::insert);
  }

  template <int dim, int spacedim>
  void Discretization<dim, spacedim>::extract_component(const HostVector &u, unsigned int c, HostVector &scalar) const
  {
    HostVector own(owned, comm);
    for (unsigned int i = 0; i < own.locally_owned_size(); ++i)
      own.begin()[i] = u.begin()[components * i + c];
    scalar.reinit(owned, relevant, comm);
    scalar = own;
  }

  template <int dim, int spacedim>
  void Discretization<dim, spacedim>::insert_component(const HostVector &scalar, unsigned int c, HostVector &u) const
  {
    for (unsigned int i = 0; i < owned.n_elements(); ++i)
      u.begin()[components * i + c] = scalar(owned.nth_index_in_set(i));
  }

  template <int dim, int spacedim>
  void Discretization<dim, spacedim>::solution_after_refinement(HostVector &u, const std::function<void()> &mark)
  {
    std::vector<HostVector>         old(components);
    std::vector<const HostVector *> pointers;
    for (unsigned int c = 0; c < components; ++c)
      {
        extract_component(u, c, old[c]);
        pointers.push_back(&old[c]);
      }
    mark();
    triangulation.prepare_coarsening_and_refinement();
    parallel::distributed::SolutionTransfer<dim, HostVector, spacedim> transfer(dof_handler);
    transfer.prepare_for_coarsening_and_refinement(pointers);
    triangulation.execute_coarsening_and_refinement();
    distribute_unknowns();

    std::vector<HostVector>   fresh(components, HostVector(owned, comm));
    std::vector<HostVector *> fresh_pointers;
    for (HostVector &vector : fresh)
      fresh_pointers.push_back(&vector);
    transfer.interpolate(fresh_pointers);
    u.reinit(owned_unknowns, comm);
    for (unsigned int c = 0; c < components; ++c)
      insert_component(fresh[c], c, u);
    constraints.set_zero(u);
  }

  template <int dim, int spacedim>
  void Discretization<dim, spacedim>::refine_globally(HostVector &u)
  {
    check_count(std::ldexp(static_cast<double>(triangulation.n_global_active_cells()), dim), dim, components, parameters.degree);
    if (simplices)
      {
        refine_simplices(u);
        return;
      }
    solution_after_refinement(u, [&] {
      for (const auto &cell : triangulation.active_cell_iterators())
        if (cell->is_locally_owned())
          cell->set_refine_flag();
    });
  }

  template <int dim, int spacedim>
  std::vector<double> Discretization<dim, spacedim>::values_of_cells(const HostVector &scalar) const
  {
    const unsigned int  n = dof_handler.get_fe().dofs_per_cell;
    std::vector<double> values(static_cast<std::size_t>(n) * triangulation.n_active_cells(), 0.);
    Vector<double>      local(n);
    for (const auto &cell : dof_handler.active_cell_iterators())
      if (cell->is_locally_owned())
        {
          cell->get_dof_values(scalar, local);
          std::copy(local.begin(), local.end(), values.begin() + static_cast<long>(n) * cell->active_cell_index());
        }
    Utilities::MPI::sum(ArrayView<const double>(values.data(), values.size()), comm, ArrayView<double>(values.data(), values.size()));
    return values;
  }

  template <int dim, int spacedim>
  void Discretization<dim, spacedim>::refine_simplices(HostVector &u)
  {
    std::vector<std::vector<double>> old(components);
    HostVector                       scalar;
    for (unsigned int c = 0; c < components; ++c)
      {
        extract_component(u, c, scalar);
        old[c] = values_of_cells(scalar);
      }
    std::vector<Point<spacedim>> corners; // dim + 1 a cell
    for (const auto &cell : triangulation.active_cell_iterators())
      for (const unsigned int i : cell->vertex_indices())
        corners.push_back(cell->vertex(i));
    leopard::refine_simplices(triangulation);
    distribute_unknowns();

    const auto                                        &fe = dof_handler.get_fe();
    std::vector<types::global_dof_index>               dofs(fe.dofs_per_cell);
    std::map<types::global_dof_index, Point<spacedim>> points;
    DoFTools::map_dofs_to_support_points(*mapping, dof_handler, points);
    u = make_vector();
    for (const auto &cell : dof_handler.active_cell_iterators())
      if (cell->is_locally_owned())
        {
          const std::size_t      parent = cell->active_cell_index() >> dim;
          const Point<spacedim> *corner = &corners[(dim + 1) * parent];
          Tensor<2, dim>         gram; // of the parent's edges at its first corner: its barycentric coordinates are those of the unit cell
          for (int d = 0; d < dim; ++d)
            for (int e = 0; e < dim; ++e)
              gram[d][e] = (corner[d + 1] - corner[0]) * (corner[e + 1] - corner[0]);
          cell->get_dof_indices(dofs);
          for (const auto dof : dofs)
            if (owned.is_element(dof))
              {
                Tensor<1, dim> projections;
                for (int d = 0; d < dim; ++d)
                  projections[d] = (corner[d + 1] - corner[0]) * (points.at(dof) - corner[0]);
                const Point<dim> p(invert(gram) * projections);
                for (unsigned int c = 0; c < components; ++c)
                  {
                    double value = 0.;
                    for (unsigned int j = 0; j < dofs.size(); ++j)
                      value += fe.shape_value(j, p) * old[c][dofs.size() * parent + j];
                    u(components * dof + c) = value;
                  }
              }
        }
    u.compress(VectorOperation::insert);
    constraints.set_zero(u);
  }

  namespace
  {
    /**
     * The gradient of a function at a quadrature point, on a surface its tangential part. Differences of fourth order
     * along the edges of the cell, each with a step of its own, so that long thin cells and domains have both right.
     */
    template <int dim, int spacedim>
    Tensor<1, spacedim> gradient_of(const Function<spacedim> &f, const FEValues<dim, spacedim> &values, unsigned int q)
    {
      constexpr double                       step     = 1e-3; // of the cell, in which quadrature points lie deeper
      const DerivativeForm<1, dim, spacedim> jacobian = values.jacobian(q);
      const DerivativeForm<1, spacedim, dim> inverse  = values.inverse_jacobian(q);
      const Point<spacedim>                  point    = values.quadrature_point(q);
      Tensor<1, spacedim>                    gradient;
      for (unsigned int k = 0; k < dim; ++k)
        {
          Tensor<1, spacedim> shift;
          for (unsigned int d = 0; d < spacedim; ++d)
            shift[d] = step * jacobian[d][k];
          const double near = f.value(point + shift) - f.value(point - shift), far = f.value(point + 2. * shift) - f.value(point - 2. * shift);
          for (unsigned int d = 0; d < spacedim; ++d)
            gradient[d] += (8. * near - far) / (12. * step) * inverse[k][d];
        }
      return gradient;
    }
  } // namespace

  template <int dim, int spacedim>
  typename Discretization<dim, spacedim>::Errors Discretization<dim, spacedim>::errors(const HostVector &u, double t) const
  {
    Errors                           result;
    FEValues<dim, spacedim>          values(*mapping,
                                   dof_handler.get_fe(),
                                   gauss(parameters.degree + 2),
                                   update_values | update_gradients | update_quadrature_points | update_JxW_values | update_jacobians |
                                     update_inverse_jacobians);
    const Quadrature<dim>            nodes(dof_handler.get_fe().get_unit_support_points());
    FEValues<dim, spacedim>          at_nodes(*mapping, dof_handler.get_fe(), nodes, update_values | update_quadrature_points);
    std::vector<double>              u_values(values.n_quadrature_points), node_values(nodes.size());
    std::vector<Tensor<1, spacedim>> gradients(values.n_quadrature_points);
    std::string                      not_finite; // the first such place
    const auto                       require_finite = [&](double value, const char *what, unsigned int c, const Point<spacedim> &p) {
      if (std::isfinite(value) || !not_finite.empty())
        return;
      not_finite = std::string(what) + " against the exact solution of " + problem.fields()[c] + ", " +
                   expression_of_entry(problem.exact_solution[c].expression(), problem.exact_solution[c].entry_name()) + ", is not finite" +
                   at_point(p, t) + "\n  expected: an expression that has values and differences, up to 1e150, on the whole domain";
    };
    for (unsigned int c = 0; c < components; ++c)
      {
        HostVector scalar;
        extract_component(u, c, scalar);
        const ExpressionFunction<spacedim> exact(problem.exact_solution[c], t);
        StopPoints                         stop_points(triangulation.n_global_active_cells(), triangulation.n_locally_owned_active_cells(), comm);
        for (const auto &cell : dof_handler.active_cell_iterators())
          {
            if (!cell->is_locally_owned())
              continue;
            stop_points.one_more();
            values.reinit(cell);
            at_nodes.reinit(cell);
            values.get_function_values(scalar, u_values);
            values.get_function_gradients(scalar, gradients);
            at_nodes.get_function_values(scalar, node_values);
            for (const auto q : values.quadrature_point_indices())
              {
                const Point<spacedim> point          = values.quadrature_point(q);
                const auto            exact_gradient = gradient_of(exact, values, q);
                const double          difference     = u_values[q] - exact.value(point);
                require_finite(difference * difference, "the error", c, point);
                require_finite((gradients[q] - exact_gradient).norm_square(), "the gradient's error", c, point);
                result.l2 += difference * difference * values.JxW(q);
                result.h1_seminorm += (gradients[q] - exact_gradient).norm_square() * values.JxW(q);
              }
            for (const auto q : at_nodes.quadrature_point_indices())
              {
                const double difference = node_values[q] - exact.value(at_nodes.quadrature_point(q));
                require_finite(difference, "the error", c, at_nodes.quadrature_point(q));
                result.nodal_maximum = std::max(result.nodal_maximum, std::abs(difference));
              }
          }
        stop_points.finish();
      }
    throw_if_any_failed(not_finite, comm);
    result.l2            = std::sqrt(Utilities::MPI::sum(result.l2, comm));
    result.h1_seminorm   = std::sqrt(Utilities::MPI::sum(result.h1_seminorm, comm));
    result.nodal_maximum = Utilities::MPI::max(result.nodal_maximum, comm);
    return result;
  }

  template class Discretization<2>;
  template class Discretization<3>;
  template class Discretization<2, 3>;
} // namespace leopard
