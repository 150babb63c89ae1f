// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <applications/base/arithmetic.h>
#include <applications/base/entry_documentation.h>
#include <applications/base/parameter_file.h>
#include <applications/discretization/discretization.h>
#include <applications/linear_solvers/linear_solver.h>
#include <applications/nonlinear/newton.h>
#include <applications/output/pattern_measures.h>
#include <applications/problems/problem.h>
#include <applications/run/boundary_names.h>
#include <applications/run/sweep.h>
#include <applications/studies/parameters/smoother_study_parameters.h>
#include <applications/time_stepping/time_loop.h>
#include <solvers/base/errors.h>

#include <memory>
#include <string>
#include <vector>

namespace leopard
{
  /** Section "Verification": convergence studies against an exact solution. */
  struct VerificationParameters
  {
    unsigned int refinements = 0;     ///< how often to refine; 0: no study
    bool         in_time     = false; ///< halve the time step instead of the mesh

    void declare(dealii::ParameterHandler &prm);
    void read(dealii::ParameterHandler &prm);
  };

  /** The whole parameter file, read and checked. */
  struct Parameters
  {
    int                         dimension = 2;
    std::string                 directory; ///< run directory
    std::unique_ptr<Problem>    problem;
    MeshParameters              mesh;
    Growth                      growth;
    DiscretizationParameters    discretization;
    LinearSolverParameters      linear_solver;
    NewtonParameters            newton;
    TimeParameters              time;
    TimeLoopParameters          time_loop;
    VerificationParameters      verification;
    bool                        scale_output = true;   ///< by the domain's growth
    std::string                 study        = "none"; ///< or "smoothers"
    SmootherStudyParameters     smoother_study;
    std::vector<Parameters>     cases; ///< of a study: the file with the changes of each of smoother_study.cases
    PatternMeasureParameters    pattern_measures;
    SweepParameters             sweep;
    std::string                 all_entries;          ///< the file with all defaults, in parseable form
    GivenEntries                given;                ///< "Section/Entry" of what the file and the overrides give, and where
    double                      n_unknowns      = 0.; ///< of the run, about; 0: not known
    double                      n_nodes_of_file = 0.; ///< that 'Mesh/File' says it has
    BoundaryNames               boundary_names;       ///< that 'Mesh/File' has
    std::vector<ComputedNumber> computed;             ///< numbers that are written as arithmetic
    std::string                 text;                 ///< the file as it was read

    /**
     * Reads a file (none, if the name is empty) and then the overrides "Section/Entry=value". Collective. @throws Error
     * with file, line and entry for whatever is wrong, contradictory choices included.
     */
    Parameters(const std::string &file, const std::vector<std::string> &overrides, MPI_Comm comm);

    /**
     * Replaces the backend "automatic". Collective. @return one line that says what was chosen and why. @throws Error.
     */
    std::string choose_backend(MPI_Comm comm, const NodePlace &place);

    /** What is run, for the log. */
    std::string description(MPI_Comm comm) const;

    /**
     * Whether section "Linear solver" solves something; a study of smoothers needs it only on the way to an adaptive
     * mesh.
     */
    bool has_linear_solver() const { return study == "none" || (cases.empty() && mesh.adaptive && !smoother_study.uses_stencil()); }

    /** Of a stationary run: solutions, each on a finer mesh than the one before. */
    unsigned int n_cycles() const { return mesh.adaptive ? mesh.adaptive_cycles : verification.refinements + 1; }

    /** A message behind the place of the entry that it begins with, "FILE:LINE: ...", where that is given. */
    std::string located(const std::string &message) const;
    /** Does something whose errors are located(). */
    template <typename Action>
    auto locating(const Action &action) const
    {
      try
        {
          return action();
        }
      catch (const Error &error)
        {
          throw Error(located(error.what()));
        }
    }

    /** The value of an entry "Section/Entry", as text. */
    std::string value(const std::string &entry) const;

    /** The GPU that computes, once the backend is chosen; -1: none does. */
    int device() const;

    /**
     * After choose_backend(): whether the levels that 'Multigrid/Levels' asks for are there, and the coarsest one is
     * small enough, where they are stored for reasons of these ranks. @throws Error.
     */
    void check_levels_on(MPI_Comm comm) const;

    /** The documentation of all entries: a parameter file with the defaults. */
    static std::string documentation();

    /** All entries as they are declared without a file. */
    static std::vector<DeclaredEntry> declared();

  private:
    /** @param given the value that the file gives to an entry "Section/Entry", or an empty text. */
    void declare(dealii::ParameterHandler &prm, std::vector<std::unique_ptr<Problem>> &problems, const GivenValue &given);
    void read(dealii::ParameterHandler &prm, std::vector<std::unique_ptr<Problem>> &problems);
    /** In the section of the problem, where prm is. */
    void read_boundary_names(dealii::ParameterHandler &prm);
    void read_cases(const std::string &file, const std::vector<std::string> &overrides, MPI_Comm comm);
    void check_contradictions() const;
    void check_multigrid() const;
    void check_noise() const;
    void check_transport() const;
    void check_quasi_stationary() const;
    void check_symmetry() const;
    void check_source() const;
    Parameters() = default;
  };
} // namespace leopard
