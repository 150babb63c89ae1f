// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../base/errors.h"
#include "../base/stopwatch.h"
#include "../base/thread_pool.h"
#include "../exchange/communication.h"
#include "krylov_engine.h"
#include "krylov_rules.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace leopard
{
  /** Vectors on host threads, a piece a thread; what Gcr calls a Space. Allocates nothing after construction. */
  class HostPieces
  {
  public:
    /** @param n entries, @param n_sums at most at once. */
    HostPieces(int n_, int n_threads, int n_sums)
      : n(n_)
      , pool(shared_thread_pool(n_threads))
      , pieces(static_cast<int>(std::max(1l, std::min<long>(pool->size(), n / grain))))
      , stride((n_sums + 7) / 8 * 8) // pieces write to cache lines of their own
      , parts(static_cast<std::size_t>(pieces) * stride)
    {
    }

    int n_pieces() const { return pieces; }

    template <typename F>
    void for_ranges(const F &f) const
    {
      if (pieces == 1)
        {
          f(0l, n, 0);
          return;
        }
      const auto work = [&](int piece) { f(n * piece / pieces, n * (piece + 1) / pieces, piece); };
      pool->run(std::cref(work), pieces); // by reference, so that nothing is allocated
    }

    void sum_over_ranks(double * /*values*/, int /*n*/) const {}

    /** f(begin, end, parts) for all ranges; then result[q] = merge of all parts[q], which begin as 0. */
    template <typename Merge, typename F>
    void merge_over(int n_sums, double *result, const Merge &merge, const F &f)
    {
      std::fill(parts.begin(), parts.end(), 0.);
      for_ranges([&](long begin, long end, int piece) { f(begin, end, &parts[piece * stride]); });
      for (int q = 0; q < n_sums; ++q)
        {
          result[q] = parts[q];
          for (int piece = 1; piece < pieces; ++piece)
            result[q] = merge(result[q], parts[piece * stride + q]);
        }
    }

    template <typename F>
    void sum_over(int n_sums, double *result, const F &f)
    {
      merge_over(
        n_sums, result, [](double a, double b) { return a + b; }, f);
    }

  private:
    static constexpr long grain = 8192; ///< entries that are worth waking a thread for

    const long                        n;
    const std::shared_ptr<ThreadPool> pool;
    const int                         pieces;
    const std::size_t                 stride;
    std::vector<double>               parts;
  };

  template <typename Number>
  using CommunicationPointer = std::shared_ptr<const Communication<Number>>;

  /**
   * The frame of a Krylov method on the host: units, the residual of x, beginning anew. On several ranks vectors are of
   * a rank's own rows, and sums, what is largest and all that follows from them the same on each.
   */
  template <typename Number>
  class HostKrylov : public KrylovSolver<Number>
  {
  public:
    int         n_rows() const override { return A.n_rows; }
    MemorySpace memory_space() const override { return MemorySpace::host; }
    void        update_values(const Number *values) override { std::copy_n(values, A.values.size(), A.values.begin()); }

    const KrylovLimits &limits() const override { return usual_limits; }

    using KrylovSolver<Number>::solve;
    KrylovResult solve(Number *x, const Number *b, const KrylovLimits &of_this) override
    {
      check_limits(of_this);
      const Stopwatch stopwatch;
      KrylovState    &state = scalars();
      state                 = initial;
      state.set(of_this);
      history.clear();
      history_seconds.clear();
      std::fill(e.begin(), e.end(), Number(0));
      double              largest = 0.;
      const Number *const of_all  = with_ghosts(x);
      space.merge_over(1, &largest, larger_magnitude, [&](long begin, long end, double *part) {
        for (long i = begin; i < end; ++i)
          part[0] = larger_magnitude(larger_magnitude(part[0], static_cast<double>(b[i])), residual(i, of_all, b));
      });
      state.choose_scale(communication->max(largest)); // what is not finite ends with the sums of check()
      while (check(x, b))
        {
          begin();
          while (!state.checking)
            {
              make_room(state);
              step();
              if (keeps_history)
                history_seconds.resize(state.iteration, stopwatch.seconds());
            }
          find_correction();
        }
      KrylovResult result = result_of(state);
      if (keeps_history)
        {
          const std::size_t n = std::min<std::size_t>(result.n_iterations, history.size());
          result.history.assign(history.begin(), history.begin() + n);
          result.history_seconds.assign(history_seconds.begin(), history_seconds.begin() + std::min(n, history_seconds.size()));
        }
      return result;
    }

  protected:
    using Vector = std::vector<Number>;

    /** @param n_sums that the method adds up at once. */
    HostKrylov(const CrsMatrix<Number>      &A_,
               const KrylovOptions          &options,
               PreconditionerPointer<Number> preconditioner_,
               int                           n_sums,
               CommunicationPointer<Number>  communication_ = std::make_shared<const Communication<Number>>())
      : A(A_)
      , preconditioner(std::move(preconditioner_))
      , communication(std::move(communication_))
      , space(A.n_rows, options.backend == Backend::reference ? 1 : options.n_threads, std::max(2, n_sums))
      , r(A.n_rows)
      , e(A.n_rows)
      , ghosted(communication->has_ghosts() ? A.n_columns : 0)
      , usual_limits(options)
      , initial(initial_state<Number>(options))
      , keeps_history(options.keep_history)
    {
    }

    virtual KrylovState &scalars() = 0;
    /** @throws InvalidInput. */
    virtual void check_limits(const KrylovLimits &limits) const { limits.validate(); }
    /** With r, which is the residual of x in units of the scale. */
    virtual void begin() = 0;
    /** Until scalars().checking, unless it is set by now. */
    virtual void step() = 0;
    /** Computes e unless the steps have. */
    virtual void find_correction() {}

    void multiply(Number *y, const Number *x)
    {
      const Number *const of_all = with_ghosts(x);
      space.for_ranges([&](long begin, long end, int /*piece*/) {
        for (long i = begin; i < end; ++i)
          {
            Number sum = 0;
            for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
              sum += A.values[p] * of_all[A.columns[p]];
            y[i] = sum;
          }
      });
    }

    /** HostPieces::sum_over() of all ranks. */
    template <typename F>
    void sum_over(int n_sums, double *result, const F &f)
    {
      space.sum_over(n_sums, result, f);
      for (int q = 0; q < n_sums; ++q)
        result[q] = communication->sum(result[q]);
    }

    /** How many numbers a method adds up at the end of a step: the second one is of is_late(). */
    int n_last_sums() { return scalars().max_seconds > 0. ? 2 : 1; }
    /** The second one, of the range that begins here; it is not asked for without a limit. */
    double late_in(long begin) { return begin == 0 && scalars().is_late() ? 1. : 0.; }

    CrsMatrix<Number>                   A;
    const PreconditionerPointer<Number> preconditioner;
    const CommunicationPointer<Number>  communication;
    HostPieces                          space;
    Vector                              r, e; ///< residual and correction, in units of the scale

  private:
    /** x itself, or where there are ghosts a copy of it with theirs, which the next call overwrites. */
    const Number *with_ghosts(const Number *x)
    {
      if (!communication->has_ghosts())
        return x;
      std::copy_n(x, A.n_rows, ghosted.begin());
      communication->update_ghosts(ghosted.data(), MemorySpace::host);
      return ghosted.data();
    }

    /** For the history of one more step: it grows as it is needed, since most solves do few of max_iterations. */
    void make_room(KrylovState &state)
    {
      constexpr std::size_t least = 1024;
      if (!keeps_history || state.iteration < static_cast<long>(history.size()))
        return;
      history.resize(std::min<std::size_t>(std::max(least, 2 * history.size()), state.max_iterations));
      state.history      = history.data();
      state.history_size = static_cast<int>(history.size());
    }

    /** b_i - (A x)_i in double precision. @param x with ghosts. */
    double residual(long i, const Number *x, const Number *b) const
    {
      double sum = static_cast<double>(b[i]);
      for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
        sum -= static_cast<double>(A.values[p]) * static_cast<double>(x[A.columns[p]]);
      return sum;
    }

    /** x += scale e, e = 0, r = (b - A x) / scale. @return whether to go on. */
    bool check(Number *x, const Number *b)
    {
      KrylovState &state = scalars();
      if (!state.first)
        space.for_ranges([&](long begin, long end, int /*piece*/) {
          for (long i = begin; i < end; ++i)
            {
              x[i] = static_cast<Number>(static_cast<double>(x[i]) + state.scale * static_cast<double>(e[i]));
              e[i] = 0;
            }
        });
      double              sums[2];
      const Number *const of_all = with_ghosts(x);
      sum_over(2, sums, [&](long begin, long end, double *part) {
        for (long i = begin; i < end; ++i)
          {
            const double r_i = state.inverse_scale * residual(i, of_all, b);
            r[i]             = static_cast<Number>(r_i);
            part[0] += square(r_i);
            part[1] += square(state.inverse_scale * static_cast<double>(b[i]));
          }
      });
      return state.check(sums[0], sums[1]);
    }

    Vector              ghosted; ///< see with_ghosts()
    const KrylovLimits  usual_limits;
    const KrylovState   initial;
    const bool          keeps_history;
    std::vector<double> history;         ///< of the steps until now, with room for more
    std::vector<double> history_seconds; ///< of the steps until now
  };

  /**
   * @return the preconditioner, or that which does nothing. @throws InvalidInput for what a method over ranks cannot
   * do. @param ranks of the backend cuda; else null.
   */
  template <typename Number, typename Options>
  PreconditionerPointer<Number> checked_on_ranks(const std::string            &method,
                                                 const CrsMatrix<Number>      &A,
                                                 const Options                &options,
                                                 PreconditionerPointer<Number> preconditioner,
                                                 const Communication<Number>  &communication,
                                                 const Ranks                  *ranks)
  {
    const auto require = [&](bool holds, const std::string &found, const std::string &expected) {
      if (!holds)
        throw InvalidInput(method + " of several ranks: " + found + "\n  expected: " + expected);
    };
    options.validate();
    A.validate_entries();
    const MemorySpace space = options.backend == Backend::cuda ? MemorySpace::device : MemorySpace::host;
    if (preconditioner != nullptr)
      {
        require(preconditioner->memory_space() == space,
                "the preconditioner " + preconditioner->name() + " is on the " + (space == MemorySpace::host ? "device" : "host") +
                  ", and the backend is " + to_string(options.backend),
                "both on the host, or both on the device");
        require(preconditioner->n_rows() == A.n_rows,
                "the preconditioner " + preconditioner->name() + " has " + std::to_string(preconditioner->n_rows()) + " rows",
                "those of this rank, " + std::to_string(A.n_rows));
      }
    if (space == MemorySpace::device)
      {
        require(preconditioner == nullptr || preconditioner->is_queued(),
                "the preconditioner " + (preconditioner != nullptr ? preconditioner->name() : "") + " waits for the host",
                "one that is queued on the device, since a solve is one CUDA graph");
        require(A.n_rows > 0, "a rank has no rows", "at least one on each device");
        require(ranks != nullptr && ranks->transport != nullptr && ranks->transport->is_queued() && communication.is_queued(space),
                "numbers or ghosts of the device are not put together by kernels",
                "Ranks with a transport that is queued, and such a communication; or the backend host");
      }
    return preconditioner != nullptr ? preconditioner : make_identity_preconditioner<Number>(A.n_rows, space);
  }
} // namespace leopard
