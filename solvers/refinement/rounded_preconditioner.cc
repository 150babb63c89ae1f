// SPDX-License-Identifier: Apache-2.0
#include "rounded_preconditioner.h"

#include "../base/errors.h"
#include "mixed_vectors.h"

#include <utility>

namespace leopard
{
  namespace
  {
    template <typename Number>
    class RoundedPreconditioner : public Preconditioner<double>
    {
    public:
      RoundedPreconditioner(std::shared_ptr<Preconditioner<Number>> low_, double weight, int n_threads)
        : low(std::move(low_))
        , vectors(
            make_mixed_vectors<Number>(low->n_rows(), weight, low->memory_space() == MemorySpace::device ? Backend::cuda : Backend::host, n_threads))
        , low_r(vectors->vector())
        , low_z(vectors->vector())
      {
      }

      std::string name() const override { return low->name() + " in single precision"; }
      int         n_rows() const override { return low->n_rows(); }
      MemorySpace memory_space() const override { return low->memory_space(); }
      bool        is_fixed_linear_map() const override { return low->is_fixed_linear_map(); }
      bool        is_symmetric_map() const override { return low->is_symmetric_map(); }
      bool        is_queued() const override { return low->is_queued(); }

      void apply(double *z, const double *r) override
      {
        apply_rounded<Number>(*vectors, z, r, low_z.get(), low_r.get(), [this](Number *low_z_, const Number *low_r_) { low->apply(low_z_, low_r_); });
      }

    private:
      const std::shared_ptr<Preconditioner<Number>> low;
      const std::unique_ptr<MixedVectors<Number>>   vectors;
      const std::shared_ptr<Number[]>               low_r, low_z;
    };
  } // namespace

  template <typename Number>
  std::shared_ptr<Preconditioner<double>> make_rounded_preconditioner(std::shared_ptr<Preconditioner<Number>> low, double weight, int n_threads)
  {
    if (low == nullptr)
      throw InvalidInput("a preconditioner in lower precision is made of none\n  expected: a preconditioner");
    return std::make_shared<RoundedPreconditioner<Number>>(std::move(low), weight, n_threads);
  }

  template std::shared_ptr<Preconditioner<double>>
  make_rounded_preconditioner(std::shared_ptr<Preconditioner<float>> low, double weight, int n_threads);
} // namespace leopard
