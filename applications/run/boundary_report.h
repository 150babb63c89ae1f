// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <applications/discretization/discretization.h>

namespace leopard
{
  struct RunContext;

  /**
   * Says in the log, and in run.json ("boundary", a text for each field), which values and fluxes each boundary id
   * gets, and which ids get none and so no flux: "boundary: u = 0 on 0; nothing is given for 1, 2, 3: no flux". Of a
   * problem in time only where its file gives conditions; nothing of a domain without boundary. Warns of gaps of
   * a mesh from a file (gaps_of()), where ids are given but not id 0 of its sides in no physical group, and, in a run
   * that begins, of what boundary_contradiction() and thin_layers() find. Collective.
   * @param end_time of a problem in time. @throws Error as boundary_contradiction().
   */
  template <int dim, int spacedim>
  void report_boundary(const RunContext &context, const Discretization<dim, spacedim> &discretization, double end_time = 0.);
} // namespace leopard
