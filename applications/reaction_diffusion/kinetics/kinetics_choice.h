// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tape_kinetics.h"

#include <solvers/base/errors.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace leopard::reaction_diffusion
{
  // Reactions as functors, one definition for host and GPU. Each has
  //   n_species           the number of fields,
  //   evaluate(u, at, r, j)   r_c = f_c(u) at a node and time and, unless j is nullptr, j[c * n_species + d] =
  //   df_c/du_d, without the factor gamma,
  //   name, n_constants   what KineticsChoice::name calls it, and how many constants it has,
  // and its constants as members, in the order in which KineticsChoice::constants lists them. All dimensionless. A new
  // one is a struct and its place in the list CompiledKinetics. Reactions that have none are stepped as expressions
  // (TapeKinetics): a functor is for those whose speed counts.

  /** Schnakenberg 1979 in the form of the thesis, equations (4.25), (4.26): f = a - u + u^2 v, g = b - u^2 v. */
  struct Schnakenberg
  {
    static constexpr const char *name      = "Schnakenberg";
    static constexpr int         n_species = 2, n_constants = 2;
    double                       a, b;

    LEOPARD_HOST_DEVICE void evaluate(const double *u, NodeAtTime /*at*/, double *r, double *j) const
    {
      const double square = u[0] * u[0], product = 2. * u[0] * u[1], cubic = square * u[1];
      r[0] = a - u[0] + cubic;
      r[1] = b - cubic;
      if (j == nullptr)
        return;
      j[0] = product - 1.;
      j[1] = square;
      j[2] = -product;
      j[3] = -square;
    }
  };

  /**
   * Gierer and Meinhardt 1972, in the form of Murray, Mathematical Biology II, section 2.2: f = a - b u + u^2 / (v (1 +
   * K u^2)), g = u^2 - v.
   */
  struct GiererMeinhardt
  {
    static constexpr const char *name      = "Gierer-Meinhardt";
    static constexpr int         n_species = 2, n_constants = 3;
    double                       a, b, saturation;

    LEOPARD_HOST_DEVICE void evaluate(const double *u, NodeAtTime /*at*/, double *r, double *j) const
    {
      const double square = u[0] * u[0], s = 1. + saturation * square, production = square / (u[1] * s);
      r[0] = a - b * u[0] + production;
      r[1] = square - u[1];
      if (j == nullptr)
        return;
      j[0] = 2. * u[0] / (u[1] * s * s) - b;
      j[1] = -production / u[1];
      j[2] = 2. * u[0];
      j[3] = -1.;
    }
  };

  /** Prigogine and Lefever 1968: f = A - (B + 1) u + u^2 v, g = B u - u^2 v. */
  struct Brusselator
  {
    static constexpr const char *name      = "Brusselator";
    static constexpr int         n_species = 2, n_constants = 2;
    double                       feed, conversion;

    LEOPARD_HOST_DEVICE void evaluate(const double *u, NodeAtTime /*at*/, double *r, double *j) const
    {
      const double square = u[0] * u[0], cubic = square * u[1], product = 2. * u[0] * u[1];
      r[0] = feed - (conversion + 1.) * u[0] + cubic;
      r[1] = conversion * u[0] - cubic;
      if (j == nullptr)
        return;
      j[0] = product - (conversion + 1.);
      j[1] = square;
      j[2] = conversion - product;
      j[3] = -square;
    }
  };

  /**
   * Gray and Scott 1984 in the order of Pearson 1993, u the feed chemical, v the autocatalyst: f = -u v^2 + F (1 - u),
   * g = u v^2 - (F + k) v.
   */
  struct GrayScott
  {
    static constexpr const char *name      = "Gray-Scott";
    static constexpr int         n_species = 2, n_constants = 2;
    double                       feed, kill;

    LEOPARD_HOST_DEVICE void evaluate(const double *u, NodeAtTime /*at*/, double *r, double *j) const
    {
      const double square = u[1] * u[1], cubic = u[0] * square, product = 2. * u[0] * u[1];
      r[0] = feed * (1. - u[0]) - cubic;
      r[1] = cubic - (feed + kill) * u[1];
      if (j == nullptr)
        return;
      j[0] = -square - feed;
      j[1] = -product;
      j[2] = square;
      j[3] = product - (feed + kill);
    }
  };

  /** FitzHugh 1961, Nagumo 1962: f = u - u^3 - v, g = epsilon (u - b v + a); fields may be negative. */
  struct FitzHughNagumo
  {
    static constexpr const char *name      = "FitzHugh-Nagumo";
    static constexpr int         n_species = 2, n_constants = 3;
    double                       a, b, epsilon;

    LEOPARD_HOST_DEVICE void evaluate(const double *u, NodeAtTime /*at*/, double *r, double *j) const
    {
      r[0] = u[0] - u[0] * u[0] * u[0] - u[1];
      r[1] = epsilon * (u[0] - b * u[1] + a);
      if (j == nullptr)
        return;
      j[0] = 1. - 3. * u[0] * u[0];
      j[1] = -1.;
      j[2] = epsilon;
      j[3] = -epsilon * b;
    }
  };

  template <typename... Functors>
  struct ListOfKinetics
  {
  };

  /** All functors that a KineticsChoice can name. */
  using CompiledKinetics = ListOfKinetics<Schnakenberg, GiererMeinhardt, Brusselator, GrayScott, FitzHughNagumo>;

  /** Which reaction, and its constants. */
  struct KineticsChoice
  {
    std::string         name        = "Schnakenberg";       ///< of CompiledKinetics, or "expressions"
    std::vector<double> constants   = {0.126779, 0.792366}; ///< in the order of the functor's members, dimensionless
    double              gamma       = 1000.;                ///< strength of the reaction: the rates are gamma f_c; dimensionless
    ExpressionTape      expressions = {};                   ///< for the name "expressions", of one to max_species species: see TapeKinetics
    /**
     * Inputs of the expressions behind the species: none where the reaction is the same everywhere and always, else the
     * time and the values by_node, value p of node i at p * (number of nodes) + i, nodes as in the arrays of a Stepper.
     */
    unsigned int                               n_further_inputs = 0;
    std::shared_ptr<const std::vector<double>> by_node          = {};    ///< null: none
    bool                                       has_load_time    = false; ///< a last input behind these: NodeAtTime::load_time

    static constexpr unsigned int max_species = 6;

    /** Why these expressions cannot be stepped, in a sentence; empty if they can or the name is another. */
    std::string why_not() const;
    /**
     * @throws InvalidInput for a name that is not there, a wrong number of constants, constants that are not finite, or
     * with why_not().
     */
    void validate() const;
    /** Of a valid choice. */
    int n_species() const
    {
      return name == "expressions" ? static_cast<int>(expressions.n_inputs) - static_cast<int>(n_further_inputs) - (has_load_time ? 1 : 0) : 2;
    }
    /** How many values by_node has for each node. */
    std::size_t n_by_node() const { return n_further_inputs > 1 ? n_further_inputs - 1 : 0; }
  };

  /** Those of CompiledKinetics. */
  std::vector<std::string> kinetics_names();

  namespace internal
  {
    template <int N>
    TapeKinetics<N> tape_kinetics(const KineticsChoice &choice)
    {
      const std::size_t n = choice.n_by_node();
      TapeKinetics<N>   result(choice.expressions, static_cast<int>(choice.n_further_inputs), choice.has_load_time);
      if (n > 0)
        result.set_by_node(choice.by_node->data(), static_cast<long>(choice.by_node->size() / n));
      return result;
    }

    template <typename Kinetics, std::size_t... i>
    Kinetics with_constants(const std::vector<double> &constants, std::index_sequence<i...> /*unused*/)
    {
      return Kinetics{constants.at(i)...};
    }

    template <typename Visitor, typename First, typename... More>
    auto with_compiled(const KineticsChoice &choice, const Visitor &visitor, ListOfKinetics<First, More...> /*unused*/)
    {
      if constexpr (sizeof...(More) > 0)
        if (choice.name != First::name)
          return with_compiled(choice, visitor, ListOfKinetics<More...>());
      if (choice.name != First::name)
        throw InvalidInput("there are no compiled kinetics '" + choice.name + "'\n  expected: one of kinetics_names(), or expressions");
      static_assert(First::n_species == 2, "KineticsChoice::n_species() says 2 for all functors");
      return visitor(with_constants<First>(choice.constants, std::make_index_sequence<First::n_constants>()));
    }
  } // namespace internal

  /**
   * Calls visitor(functor) with the functor of the choice, which must be valid and of two species, and returns what
   * that returns. @throws InvalidInput.
   */
  template <typename Visitor>
  auto with_two_species(const KineticsChoice &choice, const Visitor &visitor)
  {
    if (choice.name == "expressions")
      return visitor(internal::tape_kinetics<2>(choice));
    return internal::with_compiled(choice, visitor, CompiledKinetics());
  }

  /** The same for any number of species. */
  template <typename Visitor>
  auto with_kinetics(const KineticsChoice &choice, const Visitor &visitor)
  {
    switch (choice.n_species())
      {
        case 1:
          return visitor(internal::tape_kinetics<1>(choice));
        case 3:
          return visitor(internal::tape_kinetics<3>(choice));
        case 4:
          return visitor(internal::tape_kinetics<4>(choice));
        case 5:
          return visitor(internal::tape_kinetics<5>(choice));
        case 6:
          return visitor(internal::tape_kinetics<6>(choice));
        default:
          return with_two_species(choice, visitor);
      }
  }
} // namespace leopard::reaction_diffusion
