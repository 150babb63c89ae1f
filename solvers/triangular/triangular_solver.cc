// SPDX-License-Identifier: Apache-2.0
#include "triangular_solver.h"

#include "../base/errors.h"
#include "../device/device_array.h"
#include "../matrix/block_crs.h"
#include "../matrix/substitution.h"
#include "../relaxation/diagonal.h"
#include "triangular_engine.h"

#include <algorithm>
#include <utility>

namespace leopard
{
  namespace
  {
    template <typename Number>
    void check_triangle(const CrsMatrix<Number> &T, Triangle triangle)
    {
      T.validate();
      if (T.n_columns != T.n_rows)
        throw InvalidInput("triangular solve: the matrix has " + std::to_string(T.n_columns - T.n_rows) +
                           " ghost columns\n  expected: the whole matrix, on one rank");
      for (int i = 0; i < T.n_rows; ++i)
        for (int p = T.row_offsets[i]; p < T.row_offsets[i + 1]; ++p)
          if (const int j = T.columns[p]; triangle == Triangle::lower ? j > i : j < i)
            throw InvalidInput("triangular solve: there is an entry in row " + std::to_string(i) + ", column " + std::to_string(j) +
                               " (the first row is 0)\n  expected: none " + (triangle == Triangle::lower ? "right" : "left") + " of the diagonal");
    }

    TriangularRows rows_of(const std::vector<int> &offsets, const std::vector<int> &columns, const std::vector<int> &diagonal, Triangle triangle)
    {
      return {static_cast<int>(diagonal.size()), offsets.data(), offsets.data() + 1, columns.data(), diagonal.data(), triangle == Triangle::upper};
    }

    template <typename Number>
    class HostSubstitution : public TriangularEngine<Number>
    {
    public:
      HostSubstitution(const CrsMatrix<Number> &T, Triangle triangle, int n_threads)
        : row_offsets(T.row_offsets)
        , diagonal(diagonal_entries(T))
        , levels(std::make_shared<RowLevels>(rows_of(row_offsets, T.columns, diagonal, triangle), n_threads))
        , substitution(rows_of(row_offsets, T.columns, diagonal, triangle), T.values.data(), levels)
      {
      }

      MemorySpace memory_space() const override { return MemorySpace::host; }
      bool        is_fixed_linear_map() const override { return true; }
      std::string description() const override { return "exact, " + levels->description(); }

      void solve(Number *x, const Number *b) override { substitution.solve(x, b); }

      void update_values(const Number *values) override
      {
        check_new_values(row_offsets, diagonal, values);
        substitution.update_values(values);
      }

    private:
      const std::vector<int>                 row_offsets, diagonal;
      const std::shared_ptr<const RowLevels> levels;
      Substitution<Number>                   substitution;
    };

    BlockAsyncOptions mirrored(BlockAsyncOptions options)
    {
      options.last_block_first = !options.last_block_first;
      options.overlap          = options.overlap == Overlap::upward     ? Overlap::downward
                                 : options.overlap == Overlap::downward ? Overlap::upward
                                                                        : options.overlap;
      return options;
    }

    template <typename Number>
    class AsynchronousSolve : public TriangularEngine<Number>
    {
    public:
      AsynchronousSolve(const CrsMatrix<Number> &T, Triangle triangle, const TriangularOptions &options)
        : n_iterations(options.n_iterations)
        , relaxation(T, triangle == Triangle::lower ? options.block_async : mirrored(options.block_async))
      {
        if (!options.start_from_diagonal)
          return;
        diagonal = diagonal_entries(T);
        invert_diagonal(T.values.data());
      }

      MemorySpace memory_space() const override { return relaxation.memory_space(); }
      bool        is_fixed_linear_map() const override { return relaxation.is_fixed_linear_map(); }

      std::string description() const override
      {
        return std::to_string(n_iterations) + " iterations of " + relaxation.name() + ", " + relaxation.description();
      }

      void solve(Number *x, const Number *b) override
      {
        relaxation.restart();
        if (inverse_diagonal.empty())
          relaxation.iterate_from_zero(x, b, n_iterations);
        else
          {
            if (memory_space() == MemorySpace::device)
              scale_on_cuda(x, on_device.data(), b, relaxation.n_rows());
            else
              for (std::size_t i = 0; i < inverse_diagonal.size(); ++i)
                x[i] = inverse_diagonal[i] * b[i];
            relaxation.iterate(x, b, n_iterations);
          }
      }

      void update_values(const Number *values) override
      {
        relaxation.update_values(values);
        invert_diagonal(values);
      }

    private:
      void invert_diagonal(const Number *values)
      {
        inverse_diagonal.clear();
        for (const int p : diagonal)
          inverse_diagonal.push_back(Number(1) / values[p]);
        if (memory_space() == MemorySpace::device && !diagonal.empty())
          on_device = device::Array<Number>(inverse_diagonal);
      }

      const int             n_iterations;
      BlockAsync<Number>    relaxation;
      std::vector<int>      diagonal;         ///< its entries, if it starts from there
      std::vector<Number>   inverse_diagonal; ///< likewise
      device::Array<Number> on_device;
    };
  } // namespace

  void TriangularOptions::validate() const
  {
    block_async.validate();
    if (n_iterations < 1)
      throw InvalidInput("triangular solve: n_iterations is " + std::to_string(n_iterations) + "\n  expected: a number >= 1");
  }

  template <typename Number>
  TriangularSolver<Number>::TriangularSolver(const CrsMatrix<Number> &T, Triangle triangle, const TriangularOptions &options_)
    : rows(T.n_rows)
    , options(options_)
  {
    options.validate();
    check_triangle(T, triangle);
    if (options.solve == TriangularSolve::asynchronous)
      engine = std::make_unique<AsynchronousSolve<Number>>(T, triangle, options);
    else if (options.block_async.backend == Backend::cuda)
      engine = make_cuda_triangular(T, triangle);
    else
      engine = std::make_unique<HostSubstitution<Number>>(
        T, triangle, options.block_async.backend == Backend::reference ? 1 : options.block_async.n_threads);
  }

  template <typename Number>
  TriangularSolver<Number>::~TriangularSolver() = default;

  template <typename Number>
  MemorySpace TriangularSolver<Number>::memory_space() const
  {
    return engine->memory_space();
  }

  template <typename Number>
  bool TriangularSolver<Number>::is_fixed_linear_map() const
  {
    return engine->is_fixed_linear_map();
  }

  template <typename Number>
  bool TriangularSolver<Number>::has_transposed_map() const
  {
    // weights by row sums are others for T^T; D^-1 and what iterates commute for single sweeps only; rows of a block
    // that are taken as it happens, or at random, make no fixed map
    const BlockAsyncOptions &o = options.block_async;
    return options.solve == TriangularSolve::exact || (o.schedule == Schedule::synchronous && o.overlap == Overlap::none && o.momentum == 0. &&
                                                       !o.l1_weights && o.local_iterations_per_block.empty() && o.corrections == Corrections::none &&
                                                       (o.backend == Backend::host || !o.has_asynchronous_inner_iteration()) &&
                                                       (!options.start_from_diagonal || (o.local_iterations == 1 && o.block_omega == 1.)));
  }

  template <typename Number>
  std::string TriangularSolver<Number>::description() const
  {
    return engine->description();
  }

  template <typename Number>
  void TriangularSolver<Number>::solve(Number *x, const Number *b)
  {
    if (rows > 0)
      engine->solve(x, b);
  }

  template <typename Number>
  void TriangularSolver<Number>::update_values(const Number *values)
  {
    if (rows > 0)
      engine->update_values(values);
  }

#define INSTANTIATE(Number) template class TriangularSolver<Number>;
  LEOPARD_FOR_EACH_NUMBER(INSTANTIATE)
#undef INSTANTIATE
} // namespace leopard
