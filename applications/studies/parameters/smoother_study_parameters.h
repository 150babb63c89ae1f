// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "smoother_choice.h"

#include <applications/discretization/mesh.h>
#include <applications/problems/problem.h>
#include <solvers/multigrid/multigrid.h>

#include <string>
#include <vector>

namespace dealii
{
  class ParameterHandler;
}

namespace leopard
{
  /** A case of a study: the parameter file with some entries changed. */
  struct StudyCase
  {
    std::string              name;
    std::vector<std::string> overrides; ///< "Section/Entry=value"
  };

  /**
   * Section "Smoother study". A study runs all combinations of the lists, in each of its cases. Numbers are
   * dimensionless.
   */
  struct SmootherStudyParameters
  {
    std::vector<StudyCase>      cases; ///< empty: the file as it is
    std::vector<SmootherChoice> smoothers;
    std::string                 stencil = "none"; ///< what is smoothed instead of the problem on its mesh: "3-point", ...
    std::vector<int>            sizes;            ///< of the stencil: unknowns a direction; additional refinements included
    std::vector<double>         epsilon;          ///< of the stencil: what is added to its diagonal; condition number about 4 dim / epsilon
    std::vector<int>            refinements;      ///< of the mesh; empty: Mesh/Global refinements; additional ones included
    std::vector<int>            levels;           ///< 0: as many as there are
    std::vector<int>            smoothing_steps;  ///< before and after the coarse correction
    std::vector<CycleType>      cycles;
    std::vector<std::string>    solvers; ///< "multigrid", "cg"

    std::string coarse_solver          = "dense";
    double      coarse_tolerance       = 1e-10; ///< of coarse_solver cg
    std::string backend                = "automatic";
    int         additional_refinements = 0; ///< of all meshes and stencils
    int         repetitions            = 5;
    double      tolerance              = 1e-10; ///< ||b - A x|| / ||b||
    int         max_cycles             = 100;
    int         cycles_beyond          = 0; ///< after the tolerance is met, to see what accuracy can be attained
    std::string published              = "none";

    void declare(dealii::ParameterHandler &prm);
    /** @throws Error for lists and choices that cannot be used. */
    void read(dealii::ParameterHandler &prm);

    /**
     * Checks a case against its problem and mesh. @throws Error for what contradicts, and for more levels than there
     * are.
     */
    void check(const Problem &problem, const MeshParameters &mesh) const;

    /**
     * Replaces the backend "automatic". @return one line that says what was chosen and why. @throws DeviceError if cuda
     * cannot be had.
     */
    std::string choose_backend();

    /** Global refinements of the meshes, additional ones included. */
    std::vector<int> mesh_refinements(const MeshParameters &mesh) const;

    bool uses_stencil() const { return stencil != "none"; }
    int  stencil_dimension() const; ///< 1, 2 or 3

  private:
    void check_stencil() const;
    void refine(int n_times);
  };
} // namespace leopard
