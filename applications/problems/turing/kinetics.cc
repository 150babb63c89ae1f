// SPDX-License-Identifier: Apache-2.0
#include "kinetics.h"

#include <applications/problems/coefficient.h>
#include <solvers/base/errors.h>

#include <deal.II/base/mpi.h>
#include <deal.II/base/utilities.h>

#include <algorithm>
#include <cctype>
#include <sstream>
#include <type_traits>

namespace leopard
{
  namespace
  {
    using reaction_diffusion::ExpressionTape;

    template <typename T>
    void broadcast_plain(std::vector<T> &items, MPI_Comm comm)
    {
      static_assert(std::is_trivially_copyable<T>::value, "bytes are sent");
      auto n = static_cast<unsigned long>(items.size());
      MPI_Bcast(&n, 1, MPI_UNSIGNED_LONG, 0, comm);
      items.resize(n);
      MPI_Bcast(items.data(), static_cast<int>(n * sizeof(T)), MPI_BYTE, 0, comm);
    }

    void broadcast(ExpressionTape &tape, MPI_Comm comm)
    {
      tape.n_inputs = dealii::Utilities::MPI::broadcast(comm, tape.n_inputs);
      broadcast_plain(tape.constants, comm);
      broadcast_plain(tape.instructions, comm);
      broadcast_plain(tape.outputs, comm);
    }

    /** differentiate() on rank 0 for all. */
    DifferentiatedExpressions differentiate_once(const std::vector<NamedExpression> &reactions,
                                                 const std::vector<std::string>     &species,
                                                 const Constants                    &constants,
                                                 const std::vector<std::string>     &places,
                                                 MPI_Comm                            comm)
    {
      DifferentiatedExpressions result;
      std::string               error;
      if (dealii::Utilities::MPI::this_mpi_process(comm) == 0)
        try
          {
            result = differentiate(reactions, species, constants, places);
          }
        catch (const std::exception &exception)
          {
            error = exception.what();
          }
      error = dealii::Utilities::MPI::broadcast(comm, error);
      if (!error.empty())
        throw Error(error);
      for (ExpressionTape *tape : {&result.values, &result.derivatives, &result.both})
        broadcast(*tape, comm);
      return result;
    }
  } // namespace

  ExpressionKinetics::ExpressionKinetics(const std::vector<std::string>     &species,
                                         const std::vector<NamedExpression> &reactions_,
                                         const Constants                    &constants_,
                                         MPI_Comm                            comm,
                                         std::shared_ptr<const Pictures>     pictures_)
    : names(species)
    , reactions(reactions_)
    , constants(constants_)
    , pictures(std::move(pictures_))
  {
    const bool on_place =
      std::any_of(reactions.begin(), reactions.end(), [&](const NamedExpression &reaction) { return names_place(reaction.text, pictures.get()); });
    compiled = differentiate_once(reactions, species, constants, on_place ? names_of_places(pictures.get()) : std::vector<std::string>(), comm);
    for (unsigned int c = 0; c < species.size(); ++c)
      formulas += (c > 0 ? ", " : "") + ("f_" + species[c]) + " = " + reactions[c].text;
    for (const auto &[constant, value] : constants)
      {
        std::ostringstream text;
        text << ", " << constant << " = " << value;
        formulas += text.str();
      }
  }

  void ExpressionKinetics::evaluate(unsigned int n_nodes, const double *u, double *rates, double *jacobian, const Places &places) const
  {
    static thread_local std::vector<double> inputs;
    if (depends_on_place())
      {
        const std::size_t n = names.size(), width = compiled.values.n_inputs;
        inputs.assign(n_nodes * width, 0.);
        for (unsigned int i = 0; i < n_nodes; ++i)
          {
            double *const input = inputs.data() + i * width;
            std::copy_n(u + i * n, n, input);
            evaluate_places(point_of(places, i), places.time, pictures.get(), input + n);
          }
        u = inputs.data();
      }
    if (rates != nullptr)
      compiled.values.evaluate(n_nodes, u, rates);
    if (jacobian != nullptr)
      compiled.derivatives.evaluate(n_nodes, u, jacobian);
  }

  BuiltInKinetics::BuiltInKinetics(const std::vector<Parameter> &constants_, const std::string &f, const std::string &g)
    : constants(constants_)
    , reactions({{"f", f}, {"g", g}})
  {
  }

  void BuiltInKinetics::compile(MPI_Comm comm, const Constants &known, const std::shared_ptr<const Pictures> &pictures)
  {
    if (std::any_of(constants.begin(), constants.end(), [](const Parameter &constant) { return !constant.expression.empty(); }))
      {
        std::vector<NamedExpression> on_place = reactions;
        for (NamedExpression &reaction : on_place)
          reaction.text = with_constants(reaction.text);
        compiled = std::make_shared<const ExpressionKinetics>(species(), on_place, known, comm, pictures);
        return;
      }
    Constants values;
    for (const Parameter &constant : constants)
      values.emplace_back(constant.name, constant.value);
    compiled = std::make_shared<const ExpressionKinetics>(species(), reactions, values, comm);
  }

  std::string BuiltInKinetics::with_constants(const std::string &reaction) const
  {
    // word by word, so that what is put in is not looked at again: it may name constants of the file
    std::string result, word;
    for (const char c : reaction + ' ')
      {
        if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_')
          {
            word += c;
            continue;
          }
        const auto found = std::find_if(constants.begin(), constants.end(), [&](const Parameter &constant) { return constant.name == word; });
        result += found == constants.end() ? word : "(" + (found->expression.empty() ? to_expression(found->value) : found->expression) + ")";
        result += c;
        word.clear();
      }
    return dealii::Utilities::trim(result);
  }

  std::string BuiltInKinetics::formula() const
  {
    std::string text = dealii::Utilities::replace_in_string("f = " + reactions[0].text + ", g = " + reactions[1].text, "*", " ");
    for (const Parameter &constant : constants)
      if (!constant.expression.empty())
        text += ", " + constant.name + " = " + constant.expression;
    return text;
  }

  double BuiltInKinetics::value(const std::string &name) const
  {
    return std::find_if(constants.begin(), constants.end(), [&](const Parameter &constant) { return constant.name == name; })->value;
  }

  std::vector<std::string> read_species(const std::string &text)
  {
    const auto fail = [&](const std::string &reason) {
      throw Error("'Turing/Species' is '" + text + "': " + reason + "\n  expected: names separated by commas, for example u, v, w");
    };
    std::vector<std::string> species;
    for (const std::string &name : dealii::Utilities::split_string_list(text, ','))
      {
        if (const std::string reason = why_no_name(name); !reason.empty())
          fail(reason);
        if (names_coordinate_or_time(name))
          fail("'" + name + "' means a coordinate or the time in other expressions");
        if (std::find(species.begin(), species.end(), name) != species.end())
          fail("'" + name + "' stands there twice");
        species.push_back(name);
      }
    if (species.empty())
      fail("a name is missing");
    return species;
  }
} // namespace leopard
