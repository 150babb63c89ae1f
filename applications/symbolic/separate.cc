// SPDX-License-Identifier: Apache-2.0
#include "separate.h"

#include <applications/reaction_diffusion/kinetics/split_tape.h>

#include <algorithm>

namespace leopard
{
  namespace
  {
    using Register = TapeBuilder::Register;

    /** A sum of products of a factor of the time and one of the place; of pure ones that one, of constants both. */
    struct Sum
    {
      std::map<Register, Register> terms; ///< the place's factor by the time's
      std::optional<Register>      of_time, of_place;
    };

    class Separation
    {
    public:
      Separation(TapeBuilder &of_time_, unsigned int n_inputs)
        : of_time(of_time_)
        , of_place(n_inputs)
        , one_in_time(of_time.constant(1.))
        , one_in_place(of_place.constant(1.))
      {
      }

      Sum pure(std::optional<Register> time, std::optional<Register> place) const
      {
        if (place)
          return {{{one_in_time, *place}}, time, place};
        return {{{*time, one_in_place}}, time, place};
      }

      std::optional<Sum> apply(Operation operation, const Sum &a, const Sum &b)
      {
        std::optional<Register> time, place;
        if (a.of_time && b.of_time)
          time = of_time.apply(operation, *a.of_time, *b.of_time);
        if (a.of_place && b.of_place)
          place = of_place.apply(operation, *a.of_place, *b.of_place);
        if (time || place)
          return pure(time, place);
        switch (operation)
          {
            case Operation::add:
              return sum(a, b);
            case Operation::subtract:
              return sum(a, negative(b));
            case Operation::negate:
              return negative(a);
            case Operation::multiply:
              return product(a, b);
            case Operation::divide:
              return b.terms.size() == 1 ? std::optional<Sum>(product(a, inverse(b))) : std::nullopt;
            case Operation::when: // a choice: b or nothing
            case Operation::unless:
              return a.of_time || a.of_place ? std::optional<Sum>(product(chosen(operation, a), b)) : std::nullopt;
            default:
              return std::nullopt;
          }
      }

      TapeBuilder &of_time;
      TapeBuilder  of_place;

    private:
      static Register times(TapeBuilder &builder, Register one, Register a, Register b)
      {
        return a == one ? b : b == one ? a : builder.apply(Operation::multiply, std::min(a, b), std::max(a, b));
      }

      void add_term(Sum &result, Register time, Register place)
      {
        const auto [found, is_new] = result.terms.emplace(time, place);
        if (!is_new)
          found->second = of_place.apply(Operation::add, found->second, place);
      }

      Sum sum(const Sum &a, const Sum &b)
      {
        Sum result{a.terms, {}, {}};
        for (const auto &[time, place] : b.terms)
          add_term(result, time, place);
        return result;
      }

      Sum negative(const Sum &a)
      {
        Sum result;
        for (const auto &[time, place] : a.terms)
          result.terms[time] = of_place.apply(Operation::negate, place, place);
        return result;
      }

      Sum product(const Sum &a, const Sum &b)
      {
        Sum result;
        for (const auto &[time, place] : a.terms)
          for (const auto &[time_b, place_b] : b.terms)
            add_term(result, times(of_time, one_in_time, time, time_b), times(of_place, one_in_place, place, place_b));
        return result;
      }

      static Register inverse(TapeBuilder &builder, Register one, Register a) { return a == one ? one : builder.apply(Operation::divide, one, a); }

      /** 1/b of one that is a product, as pure ones are. */
      Sum inverse(const Sum &b)
      {
        const auto &[time, place] = *b.terms.begin();
        if (b.of_place)
          return pure({}, inverse(of_place, one_in_place, place));
        if (b.of_time)
          return pure(inverse(of_time, one_in_time, time), {});
        return {{{inverse(of_time, one_in_time, time), inverse(of_place, one_in_place, place)}}, {}, {}};
      }

      /** 1 where a pure condition chooses what is beside it, else 0. */
      Sum chosen(Operation operation, const Sum &condition)
      {
        if (condition.of_place)
          return pure({}, of_place.apply(operation, *condition.of_place, one_in_place));
        return pure(of_time.apply(operation, *condition.of_time, one_in_time), {});
      }

      const Register one_in_time, one_in_place;
    };
  } // namespace

  std::optional<ExpressionTape> TimeSeparation::parts(const ExpressionTape &tape)
  {
    Separation       separation(of_time, tape.n_inputs);
    TapeBuilder     &of_place = separation.of_place;
    std::vector<Sum> registers;
    for (unsigned int i = 0; i < tape.n_inputs; ++i)
      registers.push_back(i == time ? separation.pure(of_time.input(0), {}) : separation.pure({}, of_place.input(i)));
    for (const double c : tape.constants)
      registers.push_back(separation.pure(of_time.constant(c), of_place.constant(c)));
    for (const ExpressionTape::Instruction &i : tape.instructions)
      {
        const auto result = separation.apply(i.operation, registers[i.a], registers[i.b]);
        if (!result || result->terms.size() > most_terms)
          return {};
        registers.push_back(*result);
      }
    std::optional<Register> sum;
    for (const auto &[factor, place] : registers[tape.outputs[0]].terms)
      {
        const auto found = std::find(all_factors.begin(), all_factors.end(), factor);
        const auto k     = static_cast<double>(found - all_factors.begin());
        if (found == all_factors.end())
          all_factors.push_back(factor);
        const Register is_k = of_place.apply(Operation::equal, of_place.input(time), of_place.constant(k));
        const Register part = of_place.apply(Operation::when, is_k, place);
        sum                 = sum ? of_place.apply(Operation::add, *sum, part) : part;
      }
    of_place.add_output(*sum);
    return of_place.tape();
  }

  ExpressionTape TimeSeparation::factors() const
  {
    TapeBuilder builder = of_time;
    for (const Register factor : all_factors)
      builder.add_output(factor);
    return reaction_diffusion::split(builder.tape(), {false}).rest; // without what no factor needs
  }
} // namespace leopard
