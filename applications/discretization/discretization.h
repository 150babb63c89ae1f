// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mesh.h"
#include "periodic_simplices.h"
#include "semi_discrete_system.h"
#include "shared_mesh.h"
#include "transport_terms.h"

#include <applications/discretization/level_source.h>
#include <applications/problems/found_value.h>
#include <applications/problems/problem.h>

#include <deal.II/base/quadrature.h>
#include <deal.II/distributed/tria_base.h>
#include <deal.II/dofs/dof_handler.h>
#include <deal.II/fe/mapping.h>
#include <deal.II/lac/affine_constraints.h>
#include <deal.II/lac/trilinos_sparsity_pattern.h>

#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace dealii
{
  template <int, int>
  class FEValues;
}

namespace leopard
{
  /** Section "Discretization" of the parameter file. */
  struct DiscretizationParameters
  {
    bool         finite_differences = false; ///< Q1 with vertex quadrature: the 5- or 7-point stencil with lumped mass
    bool         automatic          = false; ///< whether that was chosen
    unsigned int degree             = 1;     ///< of the finite elements
    bool         lumped_mass        = true;  ///< of the time derivative; of finite differences always
    bool         multigrid          = false; ///< whether the linear solver asks for levels; said by it, no entry of the section
    bool         bears_constants    = false; ///< whether it bears a matrix that maps constants to zero; likewise

    void declare(dealii::ParameterHandler &prm);
    /** @throws Error for choices that contradict each other or the mesh. */
    void read(dealii::ParameterHandler &prm, const MeshParameters &mesh, bool has_reaction);
    /** Whether no entry but the method decides on the mass matrix. */
    bool has_lumped_mass_only() const { return finite_differences && !automatic; }
    /** What was chosen and why, or what another choice would gain; a line for the log, or nothing. */
    std::string remark(const MeshParameters &mesh, bool in_time) const;
    /** What 'Method' = automatic stands for, once the other entries are read. */
    std::string automatic_method(const MeshParameters &mesh, bool has_reaction) const;

  private:
    bool can_be_differences(const MeshParameters &mesh) const;
  };

  /** The interleaved unknowns n_components * i + c of scalar degrees of freedom i; both arrays have the same length. */
  void select_component(const std::vector<dealii::types::global_dof_index> &scalar,
                        unsigned int                                        n_components,
                        unsigned int                                        c,
                        std::vector<dealii::types::global_dof_index>       &unknowns);

  /** The message for an expression that is not finite at a point of the mesh and a time. */
  template <int spacedim>
  std::string not_finite_message(const Expression &expression, double value, const dealii::Point<spacedim> &p, double t)
  {
    return expression_of_entry(expression.expression(), expression.entry_name()) + is_value(value) + at_point(p, t) + expected_everywhere();
  }

  /**
   * Mesh, elements, constraints, levels and assembly. One weak form serves finite differences and finite elements. With
   * dim = 2 and spacedim = 3 the domain is a surface, the gradients are tangential and the Laplacian is that of Laplace
   * and Beltrami.
   */
  template <int dim, int spacedim = dim>
  class Discretization : public LevelSource
  {
  public:
    /**
     * Makes the coarse mesh and checks the boundary ids that the problem names. Collective. @param shared instead of
     * the coarse mesh: one that is refined and numbered, of the same mesh_parameters and degree, which is not changed;
     * nullptr: none. @throws Error.
     */
    Discretization(const MeshParameters              &mesh_parameters,
                   const DiscretizationParameters    &parameters,
                   const Problem                     &problem,
                   MPI_Comm                           comm,
                   NumberedMeshPointer<dim, spacedim> shared = nullptr);

    /**
     * Splits every cell of the coarse mesh so often and numbers the unknowns; a shared mesh stays as it is. @throws
     * Error, before, if there will be more than can be counted; Stopped.
     */
    void refine_coarse_mesh(unsigned int n_refinements);

    /**
     * Numbers the unknowns on the present mesh and makes constraints. Call after every change of the mesh.
     */
    void distribute_unknowns();

    /**
     * Assembles all of the system; the load at time t. @throws Error naming the entry if a coefficient is not finite or
     * not positive.
     */
    void assemble(SemiDiscreteSystem &system, double t) const;
    /**
     * Assembles the load only, and takes the boundary values of time t, where these or the sources depend on time.
     * @param sources SemiDiscreteSystem::sources of this load.
     */
    void assemble_load(HostVector &load, std::vector<double> &sources, double t);

    /** Of a problem with FieldTransport; keeps references. Collective. */
    std::unique_ptr<TransportTerms> make_transport_terms() const;

    /** Initial values at the nodes. @throws Error naming the entry if one is not finite. */
    void interpolate_initial_values(HostVector &u) const;

    /** u from values at the own nodes, field c of node i of nodes() at [i * n_components() + c]. */
    void set_values_at_nodes(const std::vector<double> &values, HostVector &u) const;

    /** Whether there are any on this mesh. Collective. */
    bool has_constraints() const { return dealii::Utilities::MPI::max(constraints.n_constraints(), comm) > 0; }
    /** Sets constrained unknowns (boundary values, hanging nodes, periodic copies) from the others. */
    void distribute_constraints(HostVector &u) const;
    /** Zero in constrained unknowns: as solutions of the linear systems have it, so that first guesses should, too. */
    void zero_constrained(HostVector &u) const { constraints.set_zero(u); }

    /**
     * @throws Error naming entries and places if prescribed values are not the same at both ends of a periodic
     * direction at one of the times. Collective.
     */
    void check_periodic_boundary_values(const std::vector<double> &times) const;

    /**
     * Where u is most of all another value than the one prescribed, for a message; empty if it is nowhere. Collective.
     */
    std::string against_boundary_values(const HostVector &u) const;

    /** One component as a vector of the scalar DoFHandler with ghost values. */
    void extract_component(const HostVector &u, unsigned int c, HostVector &scalar) const;
    /** The other way: writes a scalar vector (with or without ghosts) into component c. */
    void insert_component(const HostVector &scalar, unsigned int c, HostVector &u) const;

    /**
     * Refines and coarsens by the Kelly estimator of component 0 and keeps u as far as the new mesh allows. The
     * estimator looks at jumps of a du/dn, or where a is a matrix of du/dn.
     */
    void refine_adaptively(HostVector &u);
    /** Splits every cell; u is interpolated to the finer mesh. Calls distribute_unknowns(). */
    void refine_globally(HostVector &u);

    /** Writes mesh and vectors into a folder, for any number of ranks to read. Collective. */
    void save(const std::string &folder, const std::vector<const HostVector *> &vectors) const;
    /** Reads them back onto the coarse mesh of the same parameters; calls distribute_unknowns(). Collective. */
    std::vector<HostVector> load(const std::string &folder, unsigned int n_vectors);

    /** ||u - u_exact||_L2 and the H1 seminorm of that, all components together; the largest nodal error. */
    struct Errors
    {
      double l2 = 0., h1_seminorm = 0., nodal_maximum = 0.;
    };
    Errors errors(const HostVector &u, double t) const;

    // for multigrid
    int                        dimension() const override { return spacedim; }
    const std::vector<double> &nodes() const override;
    dealii::IndexSet           constrained_unknowns(unsigned int field) const override;
    dealii::IndexSet           periodic_copies() const override;
    MultigridHierarchy         hierarchy(unsigned int field, const LocalMatrix &A, unsigned int n_levels) override;

    /** The scalar degree of freedom that another one is a periodic copy of; itself if it is none. */
    dealii::types::global_dof_index original(dealii::types::global_dof_index dof) const;

    /** Integral of the squared gradient of a scalar field with ghost values. Collective. */
    double gradient_energy(const HostVector &scalar) const;

    /** Whether the problem determines its solution up to a constant only. */
    bool is_singular() const;
    /**
     * Whether absorption alone determines the constant part of a linear problem's solution: no values are prescribed.
     */
    bool has_mean_of_absorption() const;
    /**
     * Makes the mean of u, an integral over the domain, zero; returns what it was. @param lumped_mass of the assembled
     * system.
     */
    double remove_mean(HostVector &u, const HostVector &lumped_mass) const;
    /**
     * Makes r orthogonal to the constants: subtracts the mean of its entries from those that are not constrained;
     * returns their sum.
     */
    double balance(HostVector &r) const;

    HostVector               make_vector() const;                                             ///< zero, own entries only
    const std::vector<bool> &periodic_directions() const { return mesh_parameters.periodic; } ///< may be empty: none
    double                   mesh_size() const { return h; }                                  ///< shortest cell edge, dimensionless
    /** (number of cells)^(-1/dim): what a refinement of all cells halves on every mesh. */
    double       relative_mesh_size() const { return std::pow(static_cast<double>(triangulation.n_global_active_cells()), -1. / dim); }
    unsigned int n_components() const { return components; }
    dealii::types::global_dof_index n_unknowns() const { return components * dof_handler.n_dofs(); }

    /** For another Discretization, once it is refined. */
    const NumberedMeshPointer<dim, spacedim> &numbered_mesh() const { return mesh; }

    MPI_Comm comm;

  private:
    NumberedMeshPointer<dim, spacedim> mesh; ///< see make_coarse_mesh()

  public:
    dealii::parallel::TriangulationBase<dim, spacedim> &triangulation;
    std::unique_ptr<dealii::Mapping<dim, spacedim>>     mapping;
    dealii::DoFHandler<dim, spacedim>                  &dof_handler;     ///< scalar
    dealii::IndexSet                                    owned, relevant; ///< scalar degrees of freedom

    /** Whether the cells are triangles or tetrahedra: elements P_p instead of Q_p. */
    bool on_simplices() const { return simplices; }

  private:
    using Cell = typename dealii::DoFHandler<dim, spacedim>::active_cell_iterator;
    /** With finite elements of degree p: exact to degree 2 n_points - 1 (of simplices nearly). */
    dealii::Quadrature<dim> gauss(unsigned int n_points) const;
    void                    check_simplices() const;
    /** On simplices: values of all cells, one cell after another, on every rank. Collective. */
    std::vector<double> values_of_cells(const HostVector &scalar) const;
    void                save_on_simplices(const std::string &folder, const std::vector<const HostVector *> &scalars) const;
    /** @return scalar vectors. */
    std::vector<HostVector> load_on_simplices(const std::string &folder, unsigned int n_scalars);
    /** refine_globally() of triangles and tetrahedra, which deal.II's parallel transfer of solutions does not know. */
    void refine_simplices(HostVector &u);

    void set_up_unknowns();
    /** Of the matrices. Collective. */
    dealii::TrilinosWrappers::SparsityPattern sparsity_pattern() const;
    void                                      check_boundary_ids() const;
    void                                      check_singularity() const;
    double                                    shortest_edge() const; ///< of all cells of all ranks, dimensionless. Collective
    /** On simplices: which degrees of freedom are periodic copies; the originals become relevant. Collective. */
    void                                 find_originals();
    void                                 make_constraints();
    void                                 take_boundary_values(double t);
    void                                 solution_after_refinement(HostVector &u, const std::function<void()> &mark);
    std::set<dealii::types::boundary_id> dirichlet_boundary(unsigned int c) const;
    using BoundaryValues = std::map<dealii::types::global_dof_index, double>;
    /** Of component c at time t, by scalar degree of freedom. Collective. @throws Error if one is not finite. */
    BoundaryValues boundary_values(unsigned int c, double t) const;
    /** g on the faces with a boundary id, by scalar degree of freedom. */
    BoundaryValues values_of(const Expression &g, dealii::types::boundary_id id, double t) const;
    /**
     * Of a periodic mesh of simplices, where they may be of other ranks: takes over what all ranks have. Collective.
     */
    void share_at_copies(BoundaryValues &values) const;
    /** Where copies of nodes have another value than these, as a message; or nothing. */
    std::string             contradiction_across(unsigned int c, const BoundaryValues &all, double t) const;
    dealii::Point<spacedim> place_of(dealii::types::global_dof_index dof) const; ///< for messages
    /** Diffusion and absorption of component c on the cell of values; what is wrong goes to error. */
    void
    integrate_stiffness(const dealii::FEValues<dim, spacedim> &values, unsigned int c, dealii::FullMatrix<double> &matrix, std::string &error) const;
    void assemble_boundary(const Cell &cell, unsigned int c, double t, dealii::Vector<double> &rhs, std::string &error) const;
    void assemble_weight(HostVector &weight) const;

    const bool                        simplices;
    const MeshParameters             &mesh_parameters;
    const DiscretizationParameters   &parameters;
    const Problem                    &problem;
    const unsigned int                components;
    dealii::Quadrature<dim>           quadrature;
    dealii::Quadrature<dim - 1>       face_quadrature;
    dealii::IndexSet                  owned_unknowns, relevant_unknowns;
    PeriodicCopies                    originals;   ///< on simplices
    dealii::AffineConstraints<double> conforming;  ///< of the scalar degrees of freedom: hanging nodes and periodic copies
    dealii::AffineConstraints<double> constraints; ///< of the interleaved unknowns: these, and boundary values
    double                            h                   = 0.;
    bool                              levels_are_numbered = false; ///< those of the present mesh
  };
} // namespace leopard
