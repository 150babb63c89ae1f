// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

namespace leopard
{
  struct LinearSolverParameters;
  struct Parameters;
  struct TimeParameters;

  /**
   * What was chosen where the file leaves it to the program, in lines for a log: the discretization, the linear
   * solver of a stationary problem, and what several GPUs of a rank cost time steps.
   */
  std::vector<std::string> choices(const Parameters &parameters);

  /**
   * Which time loop a run will have and what solves in it, in a line, as far as that can be known without the mesh;
   * empty for stationary problems and studies.
   * @throws Error if one is asked for that cannot be.
   */
  std::string expected_time_loop(const Parameters &parameters);

  /**
   * What the entries contradict once methods, time loop and backend are chosen, as far as that needs no mesh: to be
   * called before anything is written. Collective. @throws Error.
   */
  void check_choices(const Parameters &parameters, MPI_Comm comm);

  /**
   * Whether the settings, with this linear solver, ask for the general time loop, and why; empty if they do not. The
   * mesh and the machine may have reasons of their own.
   */
  std::string why_general_time_loop(const Parameters &parameters, const LinearSolverParameters &linear);

  /** "'Time stepping/Engine' is fused, but ..." @throws Error, always. */
  [[noreturn]] void refuse_fused_time_loop(const TimeParameters &time, const std::string &why_not);
} // namespace leopard
