// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cosine_spectrum.h"
#include "found_pattern.h"

#include <applications/discretization/discretization.h>
#include <applications/discretization/growth.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace dealii
{
  class ParameterHandler;
}

namespace leopard
{
  /** What section "Output" of the parameter file says about the measures of a pattern. */
  struct PatternMeasureParameters
  {
    std::optional<double> spot_threshold; ///< none: half way between mean and maximum

    void declare(dealii::ParameterHandler &prm);
    /** @throws Error. */
    void read(dealii::ParameterHandler &prm);
  };

  /**
   * The numbers that describe the fields at one time, for the statistics: extremes, mean and mass of each field,
   * distance to a homogeneous state; and of the problem's pattern_field() (the activator) number of spots and dominant
   * wave number. Nodes are those of the unconstrained unknowns.
   *
   * An evaluation costs a few passes over the fields. The wave number of a uniform box takes the nodal values of that
   * field to rank 0 (8 bytes a node) and one transform there; on other meshes it takes the integral of the squared
   * gradient.
   */
  template <int dim, int spacedim = dim>
  class PatternMeasures
  {
  public:
    /** Keeps references; system must be assembled. Call again after a change of the mesh. Collective. */
    PatternMeasures(const Discretization<dim, spacedim> &discretization,
                    const SemiDiscreteSystem            &system,
                    const Problem                       &problem,

                    const Growth                   &growth,
                    const PatternMeasureParameters &parameters);

    /** "NAME (remark)" of each number that append() gives, in its order. */
    std::vector<std::string> columns() const;

    /**
     * Appends the measures of the interleaved fields u at a time to row; lengths and masses are those of the grown
     * domain. Collective; every rank gets all.
     */
    void append(const HostVector &u, double time, std::vector<double> &row);

    /**
     * Number of connected components of the nodes where the scalar field (with ghost values) is above (or below) the
     * threshold; nodes of one cell are neighbours. Each rank joins the nodes of its cells; rank 0 joins the parts of
     * different ranks, which costs a pair of numbers for each node above the threshold that two ranks share.
     * Collective.
     */
    unsigned long long count_spots(const HostVector &field, double threshold, bool below = false);

    /** What pattern the fields u have at a time, for the end of the log. Collective. */
    FoundPattern find_pattern(const HostVector &u, double time);

    /** Wave number of the pattern's component of u with this mean, on the mesh; see columns() for how. Collective. */
    double dominant_wave_number(const HostVector &u, double mean);

  private:
    void prepare_graph();
    void prepare_spectrum();

    const Discretization<dim, spacedim> &discretization;
    const SemiDiscreteSystem            &system;
    const Problem                       &problem;
    const Growth                        &growth;
    const PatternMeasureParameters      &parameters;
    std::vector<int>                     cell_nodes; ///< of the own cells: numbers of their nodes among the relevant ones
    HostVector                           label, label_with_ghosts, field;
    bool                                 uniform = false;
    std::unique_ptr<CosineSpectrum>      spectrum;                            ///< uniform boxes, rank 0 only
    std::vector<int>                     counts;                              ///< rank 0: own nodes of each rank
    std::vector<int>                     offsets;                             ///< rank 0: own nodes of all earlier ranks
    std::vector<int>                     grid_index;                          ///< rank 0: place of each node in the grid, rank after rank
    std::vector<double>                  own_values, all_values, grid_values; ///< grid_values: in the grid's order
  };
} // namespace leopard
