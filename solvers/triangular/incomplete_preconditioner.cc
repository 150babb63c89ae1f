// SPDX-License-Identifier: Apache-2.0
#include "incomplete_preconditioner.h"

#include "../base/errors.h"
#include "../device/device_array.h"
#include "../matrix/substitution.h"

#include <utility>

namespace leopard
{
  namespace
  {
    FactorSweepOptions sweep_options(const IncompleteOptions &options)
    {
      const BlockAsyncOptions &o = options.solves.block_async;
      return {options.n_sweeps, o.backend, o.schedule == Schedule::synchronous, o.n_threads};
    }

    template <typename Number>
    IncompleteFactors<Number> factors_of(const CrsMatrix<Number> &A, const IncompleteOptions &options)
    {
      options.validate();
      if (A.n_columns != A.n_rows)
        throw InvalidInput("incomplete factors as a preconditioner: the matrix has " + std::to_string(A.n_columns - A.n_rows) +
                           " ghost columns\n  expected: the whole matrix, on one rank");
      FactorOptions factors = options.factors;
      factors.n_threads     = options.solves.block_async.backend == Backend::reference ? 1 : options.solves.block_async.n_threads;
      return IncompleteFactors<Number>(A, factors, options.n_sweeps > 0 ? factor_sweeps<Number>(sweep_options(options)) : nullptr);
    }

    /** What is the same however L and U are solved with. */
    template <typename Number>
    class FactorPreconditioner : public IncompletePreconditioner<Number>
    {
    public:
      FactorPreconditioner(IncompleteFactors<Number> factors_, const IncompleteOptions &options_)
        : options(options_)
        , factors(std::move(factors_))
        , rows(factors.n_rows())
      {
        take_description();
      }

      std::string name() const override { return options.factors.name(); }
      int         n_rows() const override { return rows; }
      double      shift() const override { return alpha; }

      bool is_symmetric_map() const override { return options.factors.kind == FactorKind::ic || options.n_sweeps == 0; }

      std::string description() const override
      {
        return of_factors + (options.n_sweeps > 0 ? " by " + std::to_string(options.n_sweeps) + " sweeps" : "") + "; solved with: ";
      }

    protected:
      void take_description()
      {
        alpha      = factors.shift();
        of_factors = factors.description();
      }

      const IncompleteOptions   options;
      IncompleteFactors<Number> factors;

    private:
      const int   rows;
      double      alpha = 0.;
      std::string of_factors;
    };

    /** By substitution on the host, where no matrices L and U are made. */
    template <typename Number>
    class SubstitutionPreconditioner : public FactorPreconditioner<Number>
    {
    public:
      SubstitutionPreconditioner(IncompleteFactors<Number> factors_, const IncompleteOptions &options)
        : FactorPreconditioner<Number>(std::move(factors_), options)
        , solves(factors.take_solves())
      {
      }

      MemorySpace memory_space() const override { return MemorySpace::host; }
      bool        is_queued() const override { return false; }
      bool        is_fixed_linear_map() const override { return true; }
      std::string description() const override
      {
        return FactorPreconditioner<Number>::description() + "exact, " + solves.first->levels().description();
      }

      void apply(Number *z, const Number *r) override
      {
        solves.first->solve(z, r);
        solves.second->solve(z, z);
      }

      void update_values(const Number *values) override
      {
        factors.factorize(values);
        solves = factors.take_solves();
        this->take_description();
      }

    private:
      using FactorPreconditioner<Number>::factors;

      std::pair<std::unique_ptr<Substitution<Number>>, std::unique_ptr<Substitution<Number>>> solves; ///< L^-1, U^-1
    };

    /** With L and U as matrices. */
    template <typename Number>
    class MatricesPreconditioner : public FactorPreconditioner<Number>
    {
    public:
      MatricesPreconditioner(IncompleteFactors<Number> factors_, const IncompleteOptions &options)
        : FactorPreconditioner<Number>(std::move(factors_), options)
        , lower(factors.lower(), Triangle::lower, options.solves)
        , upper(factors.upper(), Triangle::upper, options.solves)
        , on_host(lower.memory_space() == MemorySpace::host ? lower.n_rows() : 0)
        , on_device(lower.memory_space() == MemorySpace::device ? lower.n_rows() : 0)
      {
        factors.take_solves(); // which are not needed
      }

      MemorySpace memory_space() const override { return lower.memory_space(); }
      bool        is_queued() const override { return memory_space() == MemorySpace::device; }

      bool        is_fixed_linear_map() const override { return lower.is_fixed_linear_map() && upper.is_fixed_linear_map(); }
      bool        is_symmetric_map() const override { return lower.has_transposed_map() && FactorPreconditioner<Number>::is_symmetric_map(); }
      std::string description() const override { return FactorPreconditioner<Number>::description() + lower.description(); }

      void apply(Number *z, const Number *r) override
      {
        Number *between = is_queued() ? on_device.data() : on_host.data();
        lower.solve(between, r);
        upper.solve(z, between);
      }

      void update_values(const Number *values) override
      {
        factors.factorize(values);
        factors.take_solves();
        lower.update_values(factors.lower().values.data());
        upper.update_values(factors.upper().values.data());
        this->take_description();
      }

    private:
      using FactorPreconditioner<Number>::factors;

      TriangularSolver<Number> lower, upper;
      std::vector<Number>      on_host; ///< L^-1 r
      device::Array<Number>    on_device;
    };
  } // namespace

  void IncompleteOptions::validate() const
  {
    factors.validate();
    solves.validate();
    if (n_sweeps < 0)
      throw InvalidInput("incomplete factors: n_sweeps is " + std::to_string(n_sweeps) +
                         "\n  expected: a number >= 0, where 0 stands for elimination");
    if (n_sweeps > 0)
      sweep_options(*this).validate();
  }

  template <typename Number>
  std::shared_ptr<IncompletePreconditioner<Number>> make_incomplete_preconditioner(const CrsMatrix<Number> &A, const IncompleteOptions &options)
  {
    if (options.solves.solve == TriangularSolve::exact && options.solves.block_async.backend != Backend::cuda)
      return std::make_shared<SubstitutionPreconditioner<Number>>(factors_of(A, options), options);
    return std::make_shared<MatricesPreconditioner<Number>>(factors_of(A, options), options);
  }

#define INSTANTIATE(Number)                                                                                             \
  template std::shared_ptr<IncompletePreconditioner<Number>> make_incomplete_preconditioner(const CrsMatrix<Number> &A, \
                                                                                            const IncompleteOptions &options);
  LEOPARD_FOR_EACH_NUMBER(INSTANTIATE)
#undef INSTANTIATE
} // namespace leopard
