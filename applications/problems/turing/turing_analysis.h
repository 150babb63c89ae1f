// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <applications/problems/domain.h>

#include <deal.II/base/symmetric_tensor.h>

#include <nlohmann/json_fwd.hpp>

#include <complex>
#include <string>
#include <vector>

namespace leopard
{
  /**
   * A steady state u* of du/dt = r(u) + D laplace u - div J, J cross-diffusion and advection, and what is linear there.
   * Dimensionless.
   */
  struct LinearizedSystem
  {
    std::vector<std::string> species;
    std::vector<double>      steady_state; ///< u*, n numbers
    std::vector<double>      jacobian;     ///< J = dr/du at u*, n n numbers, by rows
    std::vector<double>      diffusion;    ///< the diagonal of D, n numbers, not negative

    std::vector<unsigned int> still; ///< quasi-stationary species

    /** Of anisotropic diffusion: a matrix D_c for each species, of which space_dimension rows count. Otherwise none. */
    std::vector<dealii::SymmetricTensor<2, 3>> tensors;
    unsigned int                               space_dimension = 2;

    std::vector<double>               cross;       ///< what cross-diffusion adds to D, n n numbers by rows; empty: nothing
    std::vector<dealii::Tensor<1, 3>> drift;       ///< of advection d(v_c u_c)/du_d, likewise
    std::vector<double>               drift_along; ///< V, drift times the direction of the wave vector, once that is chosen

    /** Whether growth depends on the direction of the wave vector. */
    bool is_anisotropic() const { return !tensors.empty() || !drift.empty(); }
    /** D with cross-diffusion, n n numbers by rows; no tensors. */
    std::vector<double> full_diffusion() const;

    unsigned int n() const { return species.size(); }

    /** Whether every species has a time derivative and diffuses. */
    bool is_parabolic() const;

    /**
     * The system for wave vectors k e in the direction e, a unit vector: D has the diagonal e . D_c e, there are no
     * tensors, and drift_along takes the place of the drift.
     */
    LinearizedSystem along(const dealii::Tensor<1, 3> &direction) const;

    /**
     * The eigenvalues of A = J - k^2 D, the one with the largest real part first; with drift_along, unless k is zero,
     * the 2 n of J - k^2 D - i k V and of its conjugate. By LAPACK. Of quasi-stationary species s and the others e
     * those of A_ee - A_es A_ss^-1 A_se. @throws Error if A_ss has no inverse.
     */
    std::vector<std::complex<double>> eigenvalues(double k_squared) const;
    /** Those of J - diag(decay), n numbers. */
    std::vector<std::complex<double>> eigenvalues_with(const std::vector<double> &decay) const;

    /** Which of so many rows, n for each part of a complex matrix, are of quasi-stationary species. */
    std::vector<bool> is_still(unsigned int n_rows) const;
  };

  /**
   * Eigenfunctions of the Laplacian, -laplace Y = k^2 Y: on a box products of cos(pi m x/Lx) in a direction with zero
   * flux and of exp(+-2 pi i m x/Lx) in a periodic one, m = 0, 1, ...; on a sphere of radius R the 2 l + 1 spherical
   * harmonics of a degree l.
   */
  struct Mode
  {
    std::vector<int> numbers;           ///< m, n, ... or l; with tensors that couple periodic directions also negative: of exp(i (k_x x + k_y y))
    double           k            = 0.; ///< wave number pi sqrt(m^2/Lx^2 + n^2/Ly^2 + ...), periodic 2 m for m; or sqrt(l (l + 1))/R
    double           growth_rate  = 0.; ///< largest real part of the eigenvalues of J - k^2 D
    unsigned int     multiplicity = 1;  ///< eigenfunctions with these numbers: 2 for each periodic direction with m > 0; 2 l + 1
  };

  /**
   * Linear stability of a homogeneous steady state (Turing 1952; Murray, Mathematical Biology II, sections 2.3 to 2.5,
   * for two species): a disturbance with the wave number k grows like exp(lambda t), lambda an eigenvalue of J - k^2 D.
   * A Turing pattern forms if the state is stable for k = 0 and unstable for a wave number that the domain has. What
   * the linear theory cannot know: patterns that need a large disturbance, and how a pattern changes after it has
   * formed.
   *
   * With anisotropic diffusion a disturbance with the wave vector k e has the matrix J - k^2 diag(e . D_c e): the
   * analysis is that of the direction e of the fastest growth, and stripes are expected across it. Where all D_c are
   * proportional all directions grow equally fast, each with a wave number of its own.
   *
   * A species that is quasi-stationary is eliminated: at each wave number it follows the others.
   *
   * With cross-diffusion D is a full matrix, whose eigenvalues must have positive real parts: otherwise disturbances
   * grow the faster the shorter they are. Advection gives disturbances with the wave vector k e the matrix J - k^2 D -
   * i k V, and growth depends on their direction (Rovinsky and Menzinger, Phys. Rev. Lett. 69 (1992) 1193); these are
   * plane waves, of an unbounded or periodic domain.
   */
  struct TuringAnalysis
  {
    /**
     * @throws Error if the Jacobian is not finite, and where short disturbances grow, for their D or because a species
     * that does not diffuse makes more of itself.
     */
    TuringAnalysis(const LinearizedSystem &system, const Domain &domain);

    struct Band
    {
      double k_min = 0., k_max = 0.;
    };

    /** Conditions of Murray II (2.31) for two species: a pattern forms if all are met. */
    struct Conditions
    {
      double trace       = 0.; ///< f_u + g_v, must be negative
      double determinant = 0.; ///< f_u g_v - f_v g_u, must be positive
      double mixed       = 0.; ///< D_v f_u + D_u g_v, must be positive
      double excess      = 0.; ///< mixed^2 / (4 D_u D_v determinant), must be above 1
      /** The least D_v/D_u (D_u/D_v where v is the activator) that gives a pattern; 0: no ratio does. */
      double       critical_ratio = 0.;
      unsigned int activator      = 0; ///< the species that activates itself
    };

    LinearizedSystem                  system;
    Domain                            domain;
    std::vector<std::complex<double>> eigenvalues; ///< of J
    bool                              stable_without_diffusion = false;
    Conditions                        conditions; ///< two species only
    std::vector<Band>                 bands;      ///< of the unstable wave numbers, ascending; of anisotropic diffusion in any direction

    // of anisotropic diffusion; the angle of a direction in the plane is the one from the x axis
    dealii::Tensor<1, 3> direction;                 ///< that of the fastest growth, a unit vector with its sign left open
    bool                 prefers_direction = false; ///< whether others grow more slowly
    double               slowest_direction = 0.;    ///< the largest growth rate in the direction where this is least
    double               shortest          = 0.;    ///< of the fastest wavelengths of all directions
    double               longest           = 0.;    ///< of these
    bool                 has_known_modes   = false; ///< whether those of the domain are known for this diffusion

    double k_fastest   = 0.; ///< the fastest growing wave number of an unbounded domain; if nothing grows: the slowest decaying
    double growth_rate = 0.; ///< of k_fastest
    double frequency   = 0.; ///< of k_fastest, imaginary part of its eigenvalue; not 0: waves

    std::vector<Mode> modes;        ///< the unstable ones of a box or sphere, the fastest growing first; empty if there are very many
    double            n_modes = 0.; ///< how many eigenfunctions; of other domains, and if there are very many, after Weyl's law

    double wavelength = 0.; ///< 2 pi / k of the fastest growing mode of a box or sphere, of k_fastest on other domains
    double n_spots    = 0.; ///< of that wavelength: hexagons in 2D, a body-centred lattice in 3D

    bool        pattern = false; ///< whether small disturbances will form a Turing pattern
    std::string reason;          ///< why not

    bool is_anisotropic() const { return system.is_anisotropic(); }
    /** Whether there are Conditions: of two species that diffuse, without cross-diffusion and advection. */
    bool has_conditions() const { return system.n() == 2 && system.is_parabolic() && system.cross.empty() && system.drift_along.empty(); }

    /**
     * Lines for the log. @param place of coefficients that depend on it: where they are taken, "at the centre of the
     * domain"; empty: they are the same everywhere.
     */
    std::string text(const std::string &place = "") const;
    /** The same for run.json. */
    nlohmann::json report() const;

  private:
    bool   is_unstable(double k_squared) const;
    double growth(double k_squared) const { return system.eigenvalues(k_squared).front().real(); }
    /** What counts as zero against rounding errors (of kinetics that conserve a mass). */
    double zero() const;
    void   check_system() const;
    /**
     * @throws Error if there is a wave number at which the equations of quasi-stationary species do not determine them.
     */
    void check_quasi_stationary() const;
    /** A number s such that no disturbance with k^2 > s grows. */
    double largest_unstable() const;
    /** The same where not all species diffuse and have a time derivative, by looking at wave numbers beyond. */
    double where_all_decay() const;
    /** Values of k^2 where an eigenvalue is zero. */
    std::vector<double> zeros_of_growth() const;
    void                find_direction();
    /** Whether a tensor has an entry that couples two axes. */
    bool are_coupled(unsigned int d, unsigned int e) const;
    /** Beyond these numbers Gershgorin's discs of J - diag(k . D_c k) lie in the left half-plane. */
    std::vector<int> largest_numbers() const;
    /** Those with these numbers, and with negative ones of periodic directions, that grow. */
    void        add_modes(const std::vector<int> &numbers);
    void        find_modes_by_axes();
    void        find_bands();
    void        find_fastest(const std::vector<double> &grid, double best);
    void        find_modes();
    void        find_modes_of_box();
    void        find_modes_of_sphere();
    void        check_conditions();
    void        predict();
    void        explain();
    std::string why_stable() const;
    double      smallest_wave_number(unsigned int d) const;
  };
} // namespace leopard
