// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <applications/base/value_errors.h>
#include <applications/discretization/growth.h>
#include <applications/problems/places.h>
#include <solvers/dealii/trilinos_matrix.h>

#include <string>
#include <vector>

namespace leopard
{
  class Problem;
  class TransportTerms;
  struct SemiDiscreteSystem;

  /**
   * Whether a time step takes reaction and transport at its new time (implicit), or leaves it to the history
   * (explicit).
   */
  enum class ReactionTreatment
  {
    implicit,
    explicit_
  };

  /**
   * The algebraic system of one time step, or of a stationary problem (a = 0):
   *
   *   G(u) = load + history - L u + m r(u) + R(u) = 0,   L = K + a M,   J(u) = L - m r'(u) - R'(u) = -dG/du.
   *
   * R is cross-diffusion and advection, see TransportTerms, where there is any. On a domain that grows, K is to be
   * multiplied by k = GrowthFactors::diffusion, and s = GrowthFactors::dilution times M comes in. G is divided by k
   * then, so that the matrix is still K and something that acts at the nodes: L = K
   * + (a + s)/k M, and load, history and m are divided by k.
   *
   * The reaction acts at the nodes, so that without R J differs from L in the C x C diagonal blocks of the nodes only,
   * and nothing is re-assembled. With an explicit reaction m r(u) + R(u) is missing in G and J = L. Knows matrices and
   * vectors, no mesh and no dimension. Of constrained unknowns, those with m = 0, G is zero, and the reaction is not
   * asked for.
   *
   * Rows of quasi-stationary fields, of which M is zero, are multiplied by max(1, (a + s)/k m_i / (K_ii + m_i)), in G
   * and in J: norms then weigh what is missing there as what is missing in the other rows, where short steps make a
   * large.
   */
  class ImplicitSystem
  {
  public:
    /** Keeps references. Collective. */
    ImplicitSystem(const SemiDiscreteSystem &system, const Problem &problem, ReactionTreatment treatment = ReactionTreatment::implicit);

    /** Of a reaction that depends on the place: coordinates of the own nodes, as LevelSource::nodes() gives them. */
    void set_places(const std::vector<double> &nodes);
    /** R, of which a reference is kept. Collective. */
    void set_transport(TransportTerms &terms);
    bool has_transport() const { return transport != nullptr; }
    /**
     * Whether from now on only quasi-stationary fields are unknown: G is zero in the rows of the others, and J has a
     * diagonal there and nothing else.
     */
    void hold_evolving(bool hold) { holds = hold; }
    /** The time at which residual() and linearize() take what depends on it. */
    void   set_time(double t) { time = t; }
    double time_of_step() const { return time; }

    /** @throws Error, on all ranks, if a coefficient is not defined at a node at that time. Collective. */
    void check_coefficients() const;

    /**
     * Sets a and recomputes L; does nothing if all is what it was. Then linearize() must follow before the Jacobian is
     * used.
     */
    void set_mass_factor(double a, const GrowthFactors &growth = {});

    /** r = G(u). @param history a vector, or nullptr for none. */
    void residual(const HostVector &u, const HostVector *history, HostVector &r) const;

    /**
     * Computes the values of J at u. @return whether the derivatives of reaction and transport are finite; if not, J is
     * of no use. Collective.
     */
    bool linearize(const HostVector &u);

    /** J as of the last linearize(). Without implicit reaction and transport this is L. */
    const HostMatrix &jacobian() const { return matrix; }

    /** sums_i = sum_j |J_ij| of the own rows, J as of the last linearize(). */
    void row_sums(HostVector &sums) const;

    /** Changes when L changes: without implicit reaction and transport the matrix is the same as long as this is. */
    unsigned int matrix_version() const { return version; }

    /**
     * The first entry of r that is not finite, for a message: "of v at (0.5, 0.25), where u = 1, v = 0", and the entry
     * of the reaction if that is none there. Collective. @param nodes coordinates of the own nodes, or empty.
     */
    ValueComplaint where_not_finite(const HostVector &u, const HostVector &r, const std::vector<double> &nodes = {}) const;

    /**
     * "the expression '1/u' of the entry 'Turing/Reaction u' is inf at (0.5, 0) and t = 0, where u = 0": of the first
     * node where the reaction is no finite number; empty if there is none. Constrained unknowns are left out.
     * Collective.
     * @param nodes coordinates of the own nodes, or empty; @param derivatives whether those by the fields count, too.
     */
    std::string complaint_of_reaction(const HostVector &u, double t, const std::vector<double> &nodes, bool derivatives) const;

    /** ||load + history||_2 (divided by k), the scale that rounding errors of G have. */
    double scale(const HostVector *history, HostVector &workspace) const;
    /**
     * About what the rounding of u leaves in G(u), whatever is done: epsilon ||s_i u_i||_2, s_i = sum_j |L_ij|. Of
     * cells of the size h it is epsilon / (h^2 a) of scale(). Collective.
     */
    double rounding(const HostVector &u) const;

    /** rates = r(u) at the own nodes at a time, as a vector of the unknowns; not multiplied by m; 0 where m = 0. */
    void reaction(const HostVector &u, HostVector &rates, double t) const;

    /** The same with transport, r(u) + k R(u) / m: what an explicit step takes. @param growth at that time. */
    void explicit_rates(const HostVector &u, HostVector &rates, double t, const GrowthFactors &growth) const;

    /**
     * The number a* so that for every mass factor a > a* the rows of J(u) are strictly diagonally dominant, which makes
     * rho(|B|) < 1, B = I - D^-1 J, and so lets every asynchronous iteration converge (Chazan and Miranker 1969):
     *
     *   rho(|B|) <= ||B||_inf = max_i sum_{j != i} |J_ij| / J_ii < 1   if   sum_{j != i} |J_ij| < J_ii in every row i.
     *
     * For field c at a node, r'_cd = dr_c/du_d there, this is
     *
     *   sum_{j != i} |K_ij| + m_i sum_{d != c} |r'_cd| < K_ii + a mu_i - m_i r'_cc,   so that
     *   a* = max_i ( sum_{j != i} |K_ij| - K_ii + m_i (r'_cc + sum_{d != c} |r'_cd|) ) / mu_i.
     *
     * mu_i is M_ii less the absolute values of the other entries of M's row, that is m_i where the mass is lumped. With
     * the five-point stencil K's part is zero. Without implicit reaction r' = 0. With transport K is K - R'(u).
     *
     * On a domain that grows, K's part is multiplied by k and s is subtracted from a*.
     *
     * @param t time of u. @return a*; negative where every a will do, infinite where none will (a consistent mass
     * matrix may have mu_i <= 0, derivatives may be infinite). Collective.
     */
    double dominant_mass_factor(const HostVector &u, const GrowthFactors &growth = {}, double t = 0.) const;

  private:
    void find_node_entries();
    /** That of a row of a quasi-stationary field, see above. */
    double weight(unsigned int row) const;
    /** What sets rows of quasi-stationary fields apart, and those of the others where they are held. */
    void finish_residual(HostVector &r) const;
    void finish_jacobian();
    /** sum_{j != i} |J_ij| - J_ii of an own row without M's part; K and r' as of dominant_mass_factor(). */
    double excess_with_transport(unsigned int row, const double *derivatives, double diffusion) const;
    Places places(unsigned int first_node, double t) const;

    const SemiDiscreteSystem &system;
    const Problem            &problem;
    const unsigned int        n;                 ///< fields
    std::vector<bool>         is_still;          ///< which of them are quasi-stationary; empty: none
    bool                      holds = false;     ///< whether the others are held
    const bool                is_implicit;       ///< what is implicit if it is there: reaction and transport
    const bool                implicit_reaction; ///< and there is one
    double                    mass_factor = -1.; ///< (a + s)/k
    double                    node_factor = 1.;  ///< 1/k
    double                    length      = 1.;  ///< L of Growth
    unsigned int              version     = 0;
    std::vector<double>       coordinates; ///< of the own nodes, where the reaction depends on them
    unsigned int              dimension = 0;
    double                    time      = 0.;
    HostMatrix                linear_part;  ///< L
    HostMatrix                matrix;       ///< J
    std::vector<int>          node_entries; ///< where the entries (n*i+c, n*i+d) of the own rows stand, ordered by i, c, d
    std::vector<double>       linear_sums;  ///< s_i = sum_j |L_ij| of the own rows
    std::vector<double>       excess;       ///< sum_{j != i} |K_ij| - K_ii of the own rows
    std::vector<double>       dominance;    ///< mu_i of the own rows; empty in stationary problems

    mutable std::vector<double> node_rates, node_derivatives; ///< of a few nodes

    TransportTerms    *transport = nullptr;
    mutable HostVector transport_rates;      ///< R
    mutable HostMatrix transport_derivative; ///< R'
    std::vector<int>   row_offsets;          ///< of the own rows
  };
} // namespace leopard
