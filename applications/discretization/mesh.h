// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <applications/problems/domain.h>

#include <deal.II/base/types.h>

#include <mpi.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace dealii
{
  class ParameterHandler;
  namespace parallel
  {
    template <int dim, int spacedim>
    class TriangulationBase;
  }
  template <int dim, int spacedim>
  class Mapping;
  template <int dim, int spacedim>
  class Triangulation;
} // namespace dealii

namespace leopard
{
  /** Section "Mesh" of the parameter file. Lengths are dimensionless. */
  struct MeshParameters
  {
    std::string               domain      = "hypercube";
    std::vector<double>       lower       = {0., 0., 0.}; ///< lower corner (hypercube, box)
    std::vector<double>       upper       = {1., 1., 1.};
    std::vector<unsigned int> cells       = {1}; ///< cells a direction of the coarse mesh
    double                    radius      = 1.;  ///< ball, cylinder, sphere, and the circle in the middle of the torus' tube
    double                    tube_radius = 0.4; ///< torus
    double                    half_length = 1.;  ///< cylinder in 3D
    std::string               file;              ///< Gmsh file, MSH 2.2 or 4.1
    std::vector<bool>         periodic;          ///< in which directions; may be empty: in none
    unsigned int              global_refinements = 0;

    bool         adaptive         = false;
    unsigned int adaptive_cycles  = 5;   ///< solutions of an adaptive run, the first on the globally refined mesh
    double       refine_fraction  = 0.3; ///< fraction of the cells to refine
    double       coarsen_fraction = 0.03;

    void declare(dealii::ParameterHandler &prm);
    /** @param dimension 2 or 3. @throws Error for contradictory or impossible entries. */
    void read(dealii::ParameterHandler &prm, int dimension);

    /** Whether all cells are equal rectangles or boxes, as finite differences need it. */
    bool is_uniform() const { return domain == "hypercube" || domain == "box" || domain == "L-shape"; }

    /** About the domain, first and last coordinate in each direction; the unit square or cube where a file says it. */
    std::vector<std::pair<double, double>> box_around(int dimension) const;

    /** About; 0 where a file says it. */
    double n_coarse_cells(int dimension) const;
    /**
     * The longest edge of a cell of a hypercube or box against the shortest; 0 for other domains. Where it is far from
     * 1, relaxation smooths in some directions only.
     */
    double edge_ratio(int dimension) const;

    bool is_periodic() const { return std::find(periodic.begin(), periodic.end(), true) != periodic.end(); }

    /** Whether it is a hypercube or box without boundary, as all its directions are periodic. */
    bool is_periodic_all_around() const
    {
      return is_periodic() && (domain == "hypercube" || domain == "box") && std::count(periodic.begin(), periodic.end(), false) == 0;
    }

    /** Whether the domain is a surface in space: dim = 2, spacedim = 3. */
    bool is_surface() const { return domain == "sphere" || domain == "torus" || domain == "surface file"; }
    /** Whether the domain has no boundary for certain; of the surface in a file that is not known. */
    bool is_closed() const { return is_periodic_all_around() || domain == "sphere" || domain == "torus"; }
  };

  /**
   * Makes the coarse mesh, without global refinement: of quadrilaterals or hexahedra a
   * parallel::distributed::Triangulation, on p4est; of triangles or tetrahedra, which p4est does not know, a
   * parallel::shared one, which is whole on every rank and cannot be refined adaptively. Opposite faces of periodic
   * directions match (make_periodic()). Collective.
   * @param multigrid whether the levels are to be built, too.
   * @throws Error for a mesh file that is missing, broken, of the other dimension or of cells that cannot be used; for
   * simplices and multigrid or adaptive refinement.
   */
  template <int dim, int spacedim>
  std::unique_ptr<dealii::parallel::TriangulationBase<dim, spacedim>>
  make_coarse_mesh(const MeshParameters &parameters, bool multigrid, MPI_Comm comm);

  /** Whether the cells are triangles or tetrahedra; on all ranks. */
  template <int dim, int spacedim>
  bool has_simplices(const dealii::Triangulation<dim, spacedim> &triangulation);

  /** Cells of a degree for a triangulation: of simplices always 1, as files say nothing of curved ones. */
  template <int dim, int spacedim>
  std::unique_ptr<dealii::Mapping<dim, spacedim>> make_mapping(const dealii::Triangulation<dim, spacedim> &triangulation, unsigned int degree);

  /** Area or volume. Collective. */
  template <int dim, int spacedim>
  double measure_of(const dealii::parallel::TriangulationBase<dim, spacedim> &triangulation);

  /**
   * Name, edges and measure of the domain, for problems. Makes the coarse mesh for its area or volume, if need be.
   * Collective. @throws Error as make_coarse_mesh().
   */
  template <int dim, int spacedim>
  Domain describe_domain(const MeshParameters &parameters, MPI_Comm comm);

  /** Boundary ids of the mesh but for periodic faces, the same on every rank. Collective. */
  template <int dim, int spacedim>
  std::set<dealii::types::boundary_id> boundary_ids(const dealii::Triangulation<dim, spacedim> &triangulation);
} // namespace leopard
