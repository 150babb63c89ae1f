// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <solvers/matrix/stencil.h>
#include <solvers/multigrid/hierarchy.h>

#include <string>

namespace leopard
{
  /**
   * "five:4096", "five:1023x8191", "seven:256", "seven:63x31x15", ...: three, five, nine, seven or twenty-seven points,
   * a colon, and the nodes a side, or those of each direction. @param delta added to the diagonal.
   * @throws InvalidInput.
   */
  Stencil<double> stencil_of(const std::string &text, double delta);

  /**
   * "q2:1024": quadratic elements on 1024^2 cells, down to 16^2 cells; they have a stored form only. 0: another case.
   */
  int cells_of_elements(const std::string &text);

  /**
   * Each edge between two unknowns gets a coefficient of its own, 1 + strength sin(7 x + 1) cos(5 y) at its middle (x,
   * y); those to the boundary keep theirs. With coordinates in intervals of the finest grid neighbours have nothing in
   * common, nor have levels: the coarse problems are those of other coefficients around the same mean.
   */
  void vary(MultigridHierarchy &hierarchy, double strength);
} // namespace leopard
