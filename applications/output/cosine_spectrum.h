// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace leopard
{
  /**
   * Spectrum of a field on the nodes of a uniform grid with no flux through its boundary: f = sum of a_k cos(k_1 pi
   * x_1/L_1) ... cos(k_d pi x_d/L_d) with k_i = 0 ... n_i - 1, the modes that the grid resolves. In a periodic
   * direction the modes are cos(2 pi k_i x_i/L_i) and sin(2 pi k_i x_i/L_i), and the last node, which is the first
   * again, is left out. One transform (FFTW, REDFT00 and R2HC) of N nodes: O(N log N). Knows no mesh and no MPI.
   */
  class CosineSpectrum
  {
  public:
    /**
     * @param n_nodes nodes in each direction, both boundaries included, at least 2; @param lengths of the box,
     * dimensionless; @param periodic directions; may be empty: none. Allocates all it needs.
     */
    CosineSpectrum(const std::vector<unsigned int> &n_nodes, const std::vector<double> &lengths, const std::vector<bool> &periodic = {});
    ~CosineSpectrum();
    CosineSpectrum(const CosineSpectrum &)            = delete;
    CosineSpectrum &operator=(const CosineSpectrum &) = delete;

    /** Number of nodes N. */
    std::size_t size() const { return n_values; }

    /**
     * The N nodal values, to be filled in before dominant_wave_number(), which overwrites them; the first direction
     * runs fastest. Host memory.
     */
    double *values() { return buffer.get(); }

    /** Fills values() in from all nodes, those that a periodic direction leaves out included. Host memory. */
    void set_values(const double *all_nodes);

    /**
     * Wave number 2 pi / wavelength of the strongest structure: modes with |k| in the same interval of length pi / max
     * L_i form a shell; the result is the mean of |k| over the shell of largest energy and its two neighbours, weighted
     * with the energy. One cosine gives its own wave number to rounding. 0 if the field is constant to 10 digits.
     * Dimensionless, 1 / length.
     */
    double dominant_wave_number();

    /**
     * Sums of the modes' mean squares, but for the mean of the field: all of them, and those with a wave number |k| in
     * one of the intervals.
     */
    struct Energy
    {
      double total = 0., inside = 0.;
    };

    /** Overwrites values() as dominant_wave_number() does, which must be filled in again before. */
    Energy energy_in(const std::vector<std::pair<double, double>> &intervals);

  private:
    struct Free
    {
      void operator()(double *p) const;
    };
    /** Transforms values(), then calls visit(k, energy) for each mode, the constant one (k = 0) first. */
    template <typename Visit>
    void visit_modes(const Visit &visit);

    const std::vector<unsigned int> n_all;    ///< nodes in each direction
    std::vector<unsigned int>       n_nodes;  ///< of them in values()
    std::vector<bool>               periodic; ///< one a direction
    const std::vector<double>       lengths;
    std::size_t                     n_values = 1;
    std::unique_ptr<double[], Free> buffer;
    void                           *plan            = nullptr;
    double                          shell_thickness = 0.;
    std::vector<double>             energy, moment; ///< of each shell: sum of the energies, and of energies times |k|
  };
} // namespace leopard
