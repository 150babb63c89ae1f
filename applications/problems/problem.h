// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "diffusion.h"
#include "domain.h"
#include "expression.h"
#include "places.h"

#include <mpi.h>
#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace dealii
{
  class ParameterHandler;
}

namespace leopard::reaction_diffusion
{
  struct KineticsChoice;
  struct NoiseChoice;
} // namespace leopard::reaction_diffusion

namespace leopard
{
  class FieldTransport;

  /** The value that the parameter file gives to an entry of the problem's section, or an empty text. */
  using GivenValue = std::function<std::string(const std::string &entry)>;

  /**
   * What is to be solved, for fields u_1 ... u_n (n is 1 or more) on a domain; all quantities dimensionless:
   *
   *   du_c/dt = div(a_c(x) grad u_c) - delta_c u_c + s_c(x,t) + r_c(u_1, ..., u_n, x, t) - div J_c,
   *
   * without the time derivative in stationary problems, and for fields that are quasi-stationary; a_c is a number or a
   * symmetric positive definite matrix, J_c what FieldTransport says. Boundary values u_c = g(x,t) or fluxes n . (a_c
   * grad u_c - J_c) = q(x,t) are given per field and boundary id. The reaction r is evaluated at the nodes.
   *
   * A problem knows no mesh, no matrix, no time loop and no output: it answers questions.
   */
  class Problem
  {
  public:
    virtual ~Problem() = default;

    /** Name of the problem, and of its section in the parameter file. */
    virtual std::string name() const = 0;
    /** Names of the fields; their number is the number of components. */
    virtual std::vector<std::string> fields() const { return {"u"}; }
    virtual bool                     time_dependent() const { return false; }
    /** Fields of a problem in time that have no time derivative: their equation holds at every time. Ascending. */
    virtual const std::vector<unsigned int> &quasi_stationary() const;
    bool                                     is_quasi_stationary(unsigned int c) const;
    /** Whether r_c is not zero; a problem without reaction is linear. */
    virtual bool has_reaction() const { return false; }
    /** Whether that depends on the fields, as far as is known: else it is a source. */
    virtual bool reaction_depends_on_fields() const { return has_reaction(); }
    /** Whether the fields are concentrations, which should not be negative. */
    virtual bool fields_are_concentrations() const { return false; }
    /** The equation with its coefficients, one line for the log. */
    virtual std::string description() const = 0;

    /** Called first: a look at values of the file on which it depends what entries there are. @throws Error. */
    virtual void prepare(const GivenValue & /*given*/) {}
    /** Declares the entries; they are read when the file is parsed. */
    virtual void declare_parameters(dealii::ParameterHandler &prm) = 0;
    /** Reads and checks the entries. @throws Error. */
    virtual void read_parameters(dealii::ParameterHandler &prm) = 0;

    /** a_c(x), of a field for which it is no matrix. */
    virtual double diffusion(unsigned int /*c*/, const dealii::Point<3> & /*x*/) const { return 1.; }
    /** The matrix a_c(x), or nullptr where it is a number, diffusion(). */
    virtual const Diffusion *diffusion_tensor(unsigned int /*c*/) const { return nullptr; }
    /** Whether a_c is zero everywhere. */
    virtual bool does_not_diffuse(unsigned int /*c*/) const { return false; }
    /**
     * "w is quasi-stationary", "w does not diffuse": of the first field for which one is so; empty if there is none.
     */
    std::string what_is_missing() const;
    /** The entry that a_c is from, for messages. */
    virtual std::string diffusion_entry(unsigned int /*c*/) const { return name(); }
    /** Whether all a_c are numbers that do not depend on x, as far as is known. */
    virtual bool has_constant_coefficients() const { return true; }
    /**
     * Positive numbers d_c with a_c(x) = d_c a(x), one a for all fields; empty if there are none. For constant numbers
     * a is 1.
     */
    virtual std::vector<double> proportional_diffusion() const;
    /**
     * Whether the solution may be determined up to a constant only, as no boundary id that is not named has a value
     * prescribed. @param closed whether the domain has no boundary, as all directions are periodic.
     */
    bool may_be_singular(bool closed = false) const;
    /** Cross-diffusion and advection, J_c; null where there is none. Of problems in time only. */
    virtual const FieldTransport *transport() const { return nullptr; }
    /** delta_c. */
    virtual double absorption(unsigned int /*c*/) const { return 0.; }

    /**
     * The reaction at many nodes, all arrays on the host. @param u n_nodes * n, the fields of a node side by side,
     * @param rates gets r_c at [node * n + c], @param jacobian gets dr_c/du_d at [(node * n + c) * n + d]; either may
     * be nullptr.
     */
    virtual void reaction(unsigned int n_nodes, const double *u, double *rates, double *jacobian, const Places &places = {}) const;
    /**
     * A message on the first of many nodes where a coefficient of the reaction is no number that it may be, with entry,
     * place and value; empty if there is none.
     */
    virtual std::string complaint_at(unsigned int /*n_nodes*/, const Places & /*places*/) const { return ""; }
    /** Expression and entry of r_c, for messages. */
    virtual NamedExpression reaction_entry(unsigned int c) const;
    /**
     * "the expression '1/u' of the entry 'Turing/Reaction u' is inf": what of the reaction at one node is no finite
     * number; empty if all is. @param derivatives whether those by the fields count, too.
     */
    std::string not_finite_in_reaction(const double *u, const Places &place, bool derivatives) const;
    /** Whether what complaint_at() looks at depends on t. */
    virtual bool coefficients_depend_on_time() const { return false; }
    /** Whether the reaction depends on x or t, so that it needs to know the places. */
    virtual bool reaction_depends_on_place() const { return false; }

    /** Whether random forces act, see noise_strength(). */
    virtual bool has_noise() const { return false; }
    /**
     * The strength sigma_c of a random force sigma_c dW_c, white in space and time: of a patch of area or volume m the
     * force in a time dt is normal with the variance sigma_c^2 m dt. Arrays as of reaction().
     */
    virtual void noise_strength(unsigned int n_nodes, const double *u, double *strengths, const Places &places = {}) const;
    /** Expression and entry of sigma_c, for messages. */
    virtual NamedExpression noise_entry(unsigned int c) const;

    /** u_c at time zero, or the first guess of a nonlinear stationary problem. */
    virtual double initial_value(unsigned int c, const dealii::Point<3> &x) const;

    /** A value that the field has at time zero before its random perturbation, with that. */
    virtual double perturbed(unsigned int /*c*/, const dealii::Point<3> & /*x*/, double value) const { return value; }

    /** A constant solution of the equation, n numbers; empty if none is known. */
    virtual const std::vector<double> &steady_state() const;

    /**
     * The reaction in the form that the fused time loop takes, if there is one. @param nodes where the n_nodes nodes of
     * its arrays are: for KineticsChoice::by_node of a reaction that depends on the place; the time is not looked at.
     * @param load_factors of with_loads(), for loads that come on top; null: none. @param loads s_kc at the nodes, that
     * of factor k and species c for node i at (k * n + c) * n_nodes + i.
     */
    virtual std::optional<reaction_diffusion::KineticsChoice> library_kinetics(unsigned int                              n_nodes      = 0,
                                                                               const Places                             &nodes        = {},
                                                                               const reaction_diffusion::ExpressionTape *load_factors = nullptr,
                                                                               const double                             *loads = nullptr) const;

    /**
     * The noise in the form that the fused time loop takes, without places and masses of nodes. @param nodes as of
     * library_kinetics().
     */
    virtual reaction_diffusion::NoiseChoice library_noise(unsigned int n_nodes = 0, const Places &nodes = {}) const;

    /** Whether analyze() has something to say. */
    virtual bool has_analysis() const { return false; }
    /** What can be said before the run: lines for the log and the same for run.json. @throws Error. */
    virtual Forecast analyze(const Domain & /*domain*/, std::string & /*text*/, nlohmann::json & /*report*/) const { return {}; }
    /** The equation without its exact solution: what its sources are derived from. */
    virtual ManufacturedSolution manufactured() const;
    /** The field whose pattern is measured, the activator where there is one. */
    virtual unsigned int pattern_field() const { return 0; }

    MPI_Comm    comm = MPI_COMM_SELF; ///< of the ranks that read the same file together
    std::string folder;               ///< of that file

    // What every problem reads from its section, one expression a field
    std::vector<Expression>         source;              ///< s_c(x,t)
    std::vector<Expression>         initial;             ///< initial values, unless they are taken from elsewhere
    std::string                     initial_from;        ///< a run's folder or a VTU file with them; empty: the expressions
    std::vector<Expression>         exact_solution;      ///< empty if the file has none
    std::vector<BoundaryConditions> boundary_conditions; ///< of each field; empty: zero fluxes

    /** What field c has on the boundary. */
    const BoundaryConditions &boundary(unsigned int c) const;
    /** Whether some field has values or fluxes prescribed somewhere. */
    bool has_boundary_conditions() const;
    /** Whether there are sources or prescribed fluxes. */
    bool has_sources_or_fluxes() const;
    /** Whether some field has values prescribed somewhere on the boundary. */
    bool has_boundary_values() const;
    /** Entries of the equations in which t stands, in the order of the file's documentation. */
    virtual std::vector<std::string> entries_with_time() const;
    /** Whether sources, boundary values or fluxes depend on time. */
    bool load_depends_on_time() const;
    /**
     * Sources, fluxes and boundary values as sums of products b_k(t) f_k(x), see TimeSeparation.
     */
    struct SeparatedLoad
    {
      std::string                        why_not; ///< they are no such sums, a sentence; empty if they are
      reaction_diffusion::ExpressionTape factors; ///< b_k, of the time
      std::vector<Expression>            source;  ///< f_k with k as the time
      std::vector<BoundaryConditions>    boundary_conditions;
    };
    SeparatedLoad separated_load() const;
    /** The entry of a field: "Source u", or just "Source" if there is one field only. */
    virtual std::string entry_for(const std::string &what, const std::string &field) const;

    std::shared_ptr<Pictures> pictures; ///< that expressions of the section may name; null: none

    Constants     constants;     ///< by name, for all expressions and numbers of the file
    std::uint64_t seed      = 0; ///< of all random numbers
    unsigned int  dimension = 2; ///< of the domain; to be set before read_parameters()
    /** About the domain in each direction, as far as the file says it; to be set before read_parameters(), too. */
    std::vector<std::pair<double, double>> box_around = {{0., 1.}, {0., 1.}, {0., 1.}};
    std::string derived; ///< "source and boundary values", what follows from the exact solution and is not given; may be empty
    bool        has_derived_source = false;

  protected:
    /** Entries that all problems share: "Constants", "Source", "Exact solution", boundary conditions. */
    void declare_common_parameters(dealii::ParameterHandler &prm);
    /** First of all, since the others use them. */
    void read_constants_of(dealii::ParameterHandler &prm);
    /** Last, since sources are derived from all the others. */
    void read_common_parameters(dealii::ParameterHandler &prm);

  private:
    void               derive_sources(dealii::ParameterHandler &prm);
    void               declare_boundary_conditions(dealii::ParameterHandler &prm, const std::string &field);
    BoundaryConditions read_boundary_conditions(dealii::ParameterHandler &prm, unsigned int c);
  };

  /**
   * The problems that a parameter file can name, those of problems.h: "laplace|helmholtz|reaction-diffusion|turing".
   */
  std::string problem_names();

  /** Makes a problem by its name. @throws Error for a name that is not in problem_names(). */
  std::unique_ptr<Problem> make_problem(const std::string &name);
} // namespace leopard
