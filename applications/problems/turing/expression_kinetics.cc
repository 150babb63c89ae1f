// SPDX-License-Identifier: Apache-2.0
#include "expression_kinetics.h"

#include <solvers/base/errors.h>

#include <deal.II/base/mpi.h>
#include <deal.II/base/utilities.h>

#include <algorithm>
#include <type_traits>

namespace leopard
{
  using reaction_diffusion::ExpressionTape;

  namespace
  {
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
  } // namespace

  ExpressionKinetics::ExpressionKinetics(const std::vector<std::string>     &species,
                                         const std::vector<NamedExpression> &reactions,
                                         const Constants                    &constants,
                                         MPI_Comm                            comm)
    : names(species)
  {
    for (const auto &[constant, value] : constants)
      if (std::find(species.begin(), species.end(), constant) != species.end())
        throw Error("'Turing/Constants' has a value for '" + constant +
                    "', which 'Turing/Species' names too\n  expected: another name for one of them");
    std::string error;
    if (dealii::Utilities::MPI::this_mpi_process(comm) == 0)
      try
        {
          compiled = differentiate(reactions, species, constants);
        }
      catch (const std::exception &exception)
        {
          error = exception.what();
        }
    error = dealii::Utilities::MPI::broadcast(comm, error);
    if (!error.empty())
      throw Error(error);
    for (ExpressionTape *tape : {&compiled.values, &compiled.derivatives, &compiled.both})
      broadcast(*tape, comm);
    for (unsigned int c = 0; c < species.size(); ++c)
      formulas += (c > 0 ? ", " : "") + ("f_" + species[c]) + " = " + reactions[c].text;
    for (const auto &[constant, value] : constants)
      {
        std::ostringstream text;
        text << ", " << constant << " = " << value;
        formulas += text.str();
      }
  }

  void ExpressionKinetics::evaluate(unsigned int n_nodes, const double *u, double *rates, double *jacobian) const
  {
    if (rates != nullptr)
      compiled.values.evaluate(n_nodes, u, rates);
    if (jacobian != nullptr)
      compiled.derivatives.evaluate(n_nodes, u, jacobian);
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
        if (name == "x" || name == "y" || name == "z" || name == "t")
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
