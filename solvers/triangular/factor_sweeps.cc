// SPDX-License-Identifier: Apache-2.0
#include "factor_sweeps.h"

#include "../base/errors.h"
#include "../base/thread_pool.h"
#include "../base/usable_resources.h"
#include "../block_async/host_scheduler.h"
#include "factor_sweep_rule.h"

#include <memory>

namespace leopard
{
  namespace
  {
    struct ReadNewest
    {
      template <typename Number>
      Number operator()(const Number *value) const
      {
        return load(*value);
      }
    };

    template <typename Number>
    void sweep_on_host(const FactorPattern &pattern, const std::vector<Number> &A, std::vector<Number> &values, const FactorSweepOptions &options)
    {
      const ColumnsOfPattern            by_column(pattern);
      const SweepView                   view{pattern.offsets.data(),
                           pattern.columns.data(),
                           by_column.rows.data(),
                           pattern.diagonal.data(),
                           by_column.offsets.data(),
                           by_column.column_rows.data(),
                           by_column.entry.data(),
                           static_cast<int>(values.size()),
                           pattern.kind == FactorKind::ic};
      std::vector<Number>               old;
      const std::shared_ptr<ThreadPool> pool = shared_thread_pool(options.backend == Backend::reference ? 1 : options.n_threads);
      for (int sweep = 0; sweep < options.n_sweeps; ++sweep)
        {
          if (options.synchronous)
            old = values;
          const Number *from = options.synchronous ? old.data() : values.data();
          parallel_for(*pool, view.n_entries, 4096, [&](long begin, long end) {
            for (long p = begin; p < end; ++p)
              store(values[p], swept_entry(view, static_cast<int>(p), A.data(), from, ReadNewest()));
          });
        }
    }
  } // namespace

  void FactorSweepOptions::validate() const
  {
    if (n_sweeps < 1 || n_sweeps > 100000)
      throw InvalidInput("incomplete factors: n_sweeps is " + std::to_string(n_sweeps) + "\n  expected: 1 to 100000");
    if (n_threads < 0 || n_threads > 4096)
      throw InvalidInput("incomplete factors: n_threads is " + std::to_string(n_threads) + "\n  expected: 0 to 4096, " + meaning_of_no_threads);
  }

  ColumnsOfPattern::ColumnsOfPattern(const FactorPattern &pattern)
    : rows(pattern.columns.size())
    , offsets(pattern.n_rows() + 1, 0)
    , column_rows(pattern.columns.size())
    , entry(pattern.columns.size())
  {
    for (const int column : pattern.columns)
      ++offsets[column + 1];
    for (int j = 0; j < pattern.n_rows(); ++j)
      offsets[j + 1] += offsets[j];
    std::vector<int> next(offsets.begin(), offsets.end() - 1);
    for (int i = 0; i < pattern.n_rows(); ++i)
      for (int p = pattern.offsets[i]; p < pattern.offsets[i + 1]; ++p)
        {
          const int place    = next[pattern.columns[p]]++;
          rows[p]            = i;
          column_rows[place] = i;
          entry[place]       = p;
        }
  }

  template <typename Number>
  typename IncompleteFactors<Number>::Factorization factor_sweeps(const FactorSweepOptions &options)
  {
    options.validate();
    return [options](const FactorPattern &pattern, const std::vector<Number> &A, std::vector<Number> &values) {
      for (int i = 0; i < pattern.n_rows(); ++i)
        for (int p = pattern.offsets[i]; p < pattern.offsets[i + 1]; ++p)
          values[p] = p < pattern.diagonal[i] ? A[p] / A[pattern.diagonal[pattern.columns[p]]] : A[p];
      if (options.backend == Backend::cuda)
        sweep_on_cuda(pattern, A, values, options);
      else
        sweep_on_host(pattern, A, values, options);
    };
  }

#define INSTANTIATE(Number) template IncompleteFactors<Number>::Factorization factor_sweeps<Number>(const FactorSweepOptions &options);
  LEOPARD_FOR_EACH_NUMBER(INSTANTIATE)
#undef INSTANTIATE
} // namespace leopard
