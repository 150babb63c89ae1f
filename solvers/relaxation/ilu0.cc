// SPDX-License-Identifier: Apache-2.0
#include "ilu0.h"

#include "../base/errors.h"
#include "host_relaxation.h"
#include "methods.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace leopard
{
  namespace
  {
    /**
     * Both factors in one matrix, rows sorted by column: L without its diagonal left of the diagonal, U from there on.
     */
    template <typename Number>
    class IncompleteFactors
    {
    public:
      explicit IncompleteFactors(const CrsMatrix<Number> &A)
        : offsets(1, 0)
        , diagonal(A.n_rows)
        , position(A.n_rows, -1)
      {
        std::vector<std::pair<int, int>> row; // column and entry of A
        for (int i = 0; i < A.n_rows; ++i)
          {
            row.clear();
            for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
              if (A.columns[p] < A.n_rows)
                row.emplace_back(A.columns[p], p);
            std::sort(row.begin(), row.end());
            for (const auto &[column, entry] : row)
              {
                if (column == i)
                  diagonal[i] = static_cast<int>(columns.size());
                columns.push_back(column);
                source.push_back(entry);
              }
            offsets.push_back(static_cast<int>(columns.size()));
          }
        values.resize(columns.size());
        factorize(A.values);
      }

      void factorize(const std::vector<Number> &new_values)
      {
        for (std::size_t p = 0; p < values.size(); ++p)
          values[p] = new_values[source[p]];
        const int n = static_cast<int>(diagonal.size());
        for (int i = 0; i < n; ++i)
          {
            for (int p = offsets[i]; p < offsets[i + 1]; ++p)
              position[columns[p]] = p;
            for (int p = offsets[i]; p < diagonal[i]; ++p)
              {
                const int k = columns[p];
                values[p] /= values[diagonal[k]];
                for (int q = diagonal[k] + 1; q < offsets[k + 1]; ++q)
                  if (const int target = position[columns[q]]; target >= 0)
                    values[target] -= values[p] * values[q];
              }
            for (int p = offsets[i]; p < offsets[i + 1]; ++p)
              position[columns[p]] = -1;
            if (const Number pivot = values[diagonal[i]]; !(std::isfinite(pivot) && pivot != Number(0)))
              throw InvalidInput("ILU(0): the pivot of row " + std::to_string(i) + " is " + std::to_string(pivot) +
                                 "\n  expected: a matrix whose incomplete factors exist, such as an M-matrix; choose another smoother");
          }
      }

      /** v <- (L U)^-1 v. */
      void solve(Number *v) const
      {
        const int n = static_cast<int>(diagonal.size());
        for (int i = 0; i < n; ++i)
          for (int p = offsets[i]; p < diagonal[i]; ++p)
            v[i] -= values[p] * v[columns[p]];
        for (int i = n - 1; i >= 0; --i)
          {
            for (int p = diagonal[i] + 1; p < offsets[i + 1]; ++p)
              v[i] -= values[p] * v[columns[p]];
            v[i] /= values[diagonal[i]];
          }
      }

    private:
      std::vector<int>    offsets, diagonal, columns, source; ///< diagonal: the entry of each row; source: the entry of A
      std::vector<Number> values;
      std::vector<int>    position; ///< of each column in the row at work, or -1
    };

    template <typename Number>
    class HostIlu0 : public HostRelaxation<Number>
    {
    public:
      HostIlu0(const CrsMatrix<Number> &A_, double omega_)
        : HostRelaxation<Number>(A_)
        , omega(static_cast<Number>(omega_))
        , factors(A)
        , correction(A.n_rows)
      {
      }

      std::string name() const override { return "ILU(0)"; }
      bool        is_symmetric_map() const override { return true; }

      void iterate(Number *x, const Number *b, int n_iterations) override
      {
        for (int n = 0; n < n_iterations; ++n)
          {
            for (int i = 0; i < A.n_rows; ++i)
              correction[i] = residual(i, x, b);
            factors.solve(correction.data());
            for (int i = 0; i < A.n_rows; ++i)
              x[i] += omega * correction[i];
          }
      }

      void update_values(const Number *values) override
      {
        HostRelaxation<Number>::update_values(values);
        factors.factorize(A.values);
      }

    private:
      using HostRelaxation<Number>::A;
      using HostRelaxation<Number>::residual;

      const Number              omega;
      IncompleteFactors<Number> factors;
      std::vector<Number>       correction;
    };
  } // namespace

  template <typename Number>
  std::unique_ptr<Relaxation<Number>> make_ilu0(const CrsMatrix<Number> &A, double omega)
  {
    if (!(omega > 0. && omega < 2.))
      throw InvalidInput("ILU(0): omega is " + std::to_string(omega) + "\n  expected: a number between 0 and 2");
    return std::make_unique<HostIlu0<Number>>(A, omega);
  }

  extern const Method ilu0_method = {.name    = "ilu0",
                                     .meaning = "incomplete factors with the entries of the matrix",
                                     .uses    = as_smoother,
                                     .make    = [](const auto &A, const MethodOptions &options) { return make_ilu0(A, options.omega); }};

#define INSTANTIATE(Number) template std::unique_ptr<Relaxation<Number>> make_ilu0(const CrsMatrix<Number> &A, double omega);
  LEOPARD_FOR_EACH_NUMBER(INSTANTIATE)
#undef INSTANTIATE
} // namespace leopard
