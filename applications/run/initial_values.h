// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <applications/discretization/discretization.h>

#include <mpi.h>

namespace leopard
{
  struct Parameters;
  struct RunContext;

  /**
   * Looks at what the entry 'Initial values from' names, as far as that needs no mesh; nothing if it is empty.
   * Collective.
   * @throws Error if nothing is there, or nothing that can be used: no checkpoint, another dimension, no such field.
   */
  void check_source_of_initial_values(const Parameters &parameters, MPI_Comm comm);

  /**
   * What set_initial_values() reads and looks up at the nodes, without setting anything. @param discretization refined
   * and numbered. Collective. @throws Error as it does.
   */
  template <int dim, int spacedim>
  void check_initial_values(const Parameters &parameters, const Discretization<dim, spacedim> &discretization, MPI_Comm comm);

  /**
   * The initial values at the nodes, zero in constrained unknowns: those of the problem, or taken by the fields' names
   * from the end of another run or from a VTU file, with a line in the log and "initial_values" in run.json. At a node
   * of the source a value is as it is there, in its cells it is interpolated, and up to a tenth of a cell's size beside
   * them (of curved boundaries) it is that of the nearest place. Collective.
   * @throws Error also if a node lies farther outside or a value is not finite, of fields of 'Images', too.
   */
  template <int dim, int spacedim>
  void set_initial_values(const RunContext &context, const Discretization<dim, spacedim> &discretization, HostVector &u);
} // namespace leopard
