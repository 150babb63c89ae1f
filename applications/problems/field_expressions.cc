// SPDX-License-Identifier: Apache-2.0
#include "field_expressions.h"

#include "coefficient.h"

#include <solvers/base/errors.h>

#include <deal.II/base/mpi.h>

#include <algorithm>
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

    /**
     * differentiate() on rank 0 for all. @param places names that expressions know beside those of the fields; @param
     * names_place whether one names some: otherwise the result does without them.
     */
    DifferentiatedExpressions differentiate_once(const std::vector<NamedExpression> &expressions,
                                                 const std::vector<std::string>     &fields,
                                                 const Constants                    &constants,
                                                 const std::vector<std::string>     &places,
                                                 bool                                names_place,
                                                 MPI_Comm                            comm)
    {
      DifferentiatedExpressions result;
      std::string               error;
      if (dealii::Utilities::MPI::this_mpi_process(comm) == 0)
        try
          {
            try
              {
                result = differentiate(expressions, fields, constants, names_place ? places : std::vector<std::string>());
              }
            catch (const Error &)
              {
                result = differentiate(expressions, fields, constants, places); // whose message lists all that may be named
              }
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

  FieldExpressions::FieldExpressions(const std::vector<std::string>     &fields,
                                     const std::vector<NamedExpression> &expressions,
                                     const Constants                    &constants,
                                     MPI_Comm                            comm,
                                     std::shared_ptr<const Pictures>     pictures_)
    : n_fields(fields.size())
    , texts(expressions)
    , pictures(std::move(pictures_))
  {
    const bool on_place =
      std::any_of(texts.begin(), texts.end(), [&](const NamedExpression &expression) { return names_place(expression.text, pictures.get()); });
    compiled = differentiate_once(texts, fields, constants, names_of_places(pictures.get()), on_place, comm);
  }

  void FieldExpressions::evaluate(unsigned int n_nodes, const double *u, double *values, double *derivatives, const Places &places) const
  {
    static thread_local std::vector<double> inputs;
    if (depends_on_place())
      {
        const std::size_t n = n_fields, width = compiled.values.n_inputs;
        inputs.assign(n_nodes * width, 0.);
        for (unsigned int i = 0; i < n_nodes; ++i)
          {
            double *const input = inputs.data() + i * width;
            std::copy_n(u + i * n, n, input);
            evaluate_places(point_of(places, i), places.time, pictures.get(), input + n);
          }
        u = inputs.data();
      }
    if (values != nullptr)
      compiled.values.evaluate(n_nodes, u, values);
    if (derivatives != nullptr)
      compiled.derivatives.evaluate(n_nodes, u, derivatives);
  }
} // namespace leopard
