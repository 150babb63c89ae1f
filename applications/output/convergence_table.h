// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace leopard
{
  /**
   * Errors over refinements with their rates, log(e_i-1/e_i) / log(s_i-1/s_i), where s is the quantity that is
   * refined: mesh size, time step, or (number of unknowns)^(-1/dim) in adaptive runs. None where an error is zero. The
   * mesh size is shown as the shortest edge; rates are of (number of cells)^(-1/dim), which a refinement of all cells
   * halves, while the shortest edge of tetrahedra may be one that the refinement draws.
   */
  class ConvergenceTable
  {
  public:
    /** @param refined name of the column s. */
    explicit ConvergenceTable(const std::string &refined);

    /** @param refined what the column shows. @param for_rates s, any multiple of it; 0: `refined`. */
    void add(unsigned long long n_unknowns, double refined, double l2, double h1_seminorm, double nodal_maximum, double for_rates = 0.);

    /** L2 error of the last row, 0 if there is none. */
    double last_l2_error() const { return rows.empty() ? 0. : rows.back().errors[0]; }

    /** Rate of the L2 error between the last two rows, 0 if there is none. */
    double last_l2_rate() const;

    std::string text() const; ///< aligned columns with a header
    std::string csv() const;
    /** Writes BASE.txt and BASE.csv. Local. @throws std::runtime_error. */
    void write(const std::string &base) const;

  private:
    struct Row
    {
      unsigned long long n_unknowns;
      double             refined;
      double             errors[3];
      double             for_rates;
    };
    /** Not a number if there is none. */
    double rate(std::size_t row, unsigned int error) const;

    std::string      refined_name;
    std::vector<Row> rows;
  };
} // namespace leopard
