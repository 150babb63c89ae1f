// SPDX-License-Identifier: Apache-2.0
#include "layer_check.h"

#include "parameters.h"

#include <applications/base/log.h>
#include <applications/problems/found_value.h>

#include <deal.II/base/mpi.h>

#include <algorithm>
#include <cmath>

namespace leopard
{
  using namespace dealii;

  namespace
  {
    constexpr double bearable = 2.5;  ///< sqrt(delta/a) h
    constexpr double alike    = 0.01; ///< boundary value and value inside, against the larger one: without a layer

    /** The largest sqrt(delta/a) h of a rank, and where. */
    struct Layer
    {
      double   strength = 0.;
      Point<3> place;
    };

    /** At a side of a cell, h the cell's length across it; of strength 0 where no layer is. */
    template <int spacedim>
    Layer layer_at(const Problem &problem, unsigned int c, const Expression &value, const Point<spacedim> &side, Tensor<1, spacedim> across)
    {
      Layer layer;
      layer.place         = to_3d(side);
      const double delta  = problem.absorption(c);
      const double inside = problem.source[c].value(layer.place) / delta, given = value.value(layer.place);
      if (!(std::abs(given - inside) > alike * std::max(std::abs(given), std::abs(inside))))
        return layer;
      const double h = across.norm();
      double       a = 0.;
      if (const Diffusion *const tensor = problem.diffusion_tensor(c); tensor != nullptr)
        {
          const SymmetricTensor<2, 3> matrix = tensor->matrix(layer.place);
          for (unsigned int d = 0; d < spacedim; ++d)
            for (unsigned int e = 0; e < spacedim; ++e)
              a += across[d] * matrix[d][e] * across[e] / (h * h);
        }
      else
        a = problem.diffusion(c, layer.place);
      layer.strength = std::sqrt(delta / a) * h;
      return layer;
    }

    template <int dim, int spacedim>
    Layer strongest_layer(const Discretization<dim, spacedim> &discretization, const Problem &problem)
    {
      const double across = discretization.on_simplices() ? dim + 1. : 2.; // the cell, against its centre's distance from a side
      Layer        found;
      for (const auto &cell : discretization.triangulation.active_cell_iterators())
        if (cell->is_locally_owned() && cell->at_boundary())
          for (const auto &face : cell->face_iterators())
            for (unsigned int c = 0; face->at_boundary() && c < discretization.n_components(); ++c)
              if (const Expression *const value = problem.boundary(c).value(face->boundary_id()); value != nullptr && problem.absorption(c) > 0.)
                if (const Layer here = layer_at(problem, c, *value, face->center(), across * (face->center() - cell->center()));
                    here.strength > found.strength)
                  found = here;
      return found;
    }
  } // namespace

  template <int dim, int spacedim>
  std::string thin_layers(const Discretization<dim, spacedim> &discretization, const Parameters &parameters)
  {
    const Problem                  &problem = *parameters.problem;
    const DiscretizationParameters &chosen  = parameters.discretization;
    if (problem.time_dependent() || chosen.finite_differences || parameters.mesh.adaptive)
      return "";
    const Layer  of_rank = strongest_layer(discretization, problem);
    const double factor  = 1. / std::ldexp(static_cast<double>(chosen.degree), static_cast<int>(parameters.verification.refinements));
    Layer        found;
    for (const std::vector<double> &numbers :
         Utilities::MPI::all_gather(discretization.comm, std::vector<double>{of_rank.strength, of_rank.place[0], of_rank.place[1], of_rank.place[2]}))
      if (numbers[0] * factor > found.strength)
        found = {numbers[0] * factor, Point<3>(numbers[1], numbers[2], numbers[3])};
    if (!(found.strength > bearable))
      return "";
    const bool         by_differences = parameters.mesh.is_uniform() && chosen.degree == 1;
    const unsigned int more           = std::ceil(std::log2(found.strength));
    return "absorption is strong on a cell, sqrt(delta) h is up to " + format("%.3g", found.strength) + ", at " +
           place_text(&found.place[0], spacedim) +
           ": the layer beside the boundary, between the value that is prescribed there and the one inside, is thinner than a cell, and finite "
           "elements oscillate beside it, by half of the difference between these values\n  to try: " +
           (by_differences ? "'Discretization/Method' = finite differences, which do not oscillate, or " : "") +
           format("%u more of 'Mesh/Global refinements', with which a cell is no longer than the layer", more);
  }

  template std::string thin_layers(const Discretization<2, 2> &, const Parameters &);
  template std::string thin_layers(const Discretization<3, 3> &, const Parameters &);
  template std::string thin_layers(const Discretization<2, 3> &, const Parameters &);
} // namespace leopard
