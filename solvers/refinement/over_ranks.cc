// SPDX-License-Identifier: Apache-2.0
#include "over_ranks.h"

#include "../base/errors.h"
#include "../base/norms.h"

#include <cmath>
#include <limits>
#include <utility>

namespace leopard
{
  namespace
  {
    /** @tparam Interface MixedVectors or OuterSystem. */
    template <typename Number, typename Interface>
    class OverRanks : public Interface
    {
    public:
      OverRanks(std::unique_ptr<Interface> own_, std::shared_ptr<const RankSums> ranks_)
        : own(std::move(own_))
        , ranks(std::move(ranks_))
      {
        if (own == nullptr || ranks == nullptr)
          throw InvalidInput("refinement on several ranks: a rank's own vectors or the communication are missing\n  expected: both");
      }

      int         n_rows() const override { return own->n_rows(); }
      MemorySpace memory_space() const override { return own->memory_space(); }

      RoundedNorms round(Number *low, const double *v, double unit, double factor) override { return of_all(own->round(low, v, unit, factor)); }
      void         add(double *x, const Number *c, double factor) override { own->add(x, c, factor); }
      void         set(double *x, const Number *c, double factor) override { own->set(x, c, factor); }

      void take_step(Number *c, Number *s, double weight, double momentum, bool goes_on) override { own->take_step(c, s, weight, momentum, goes_on); }

      double largest(const double *v) override { return largest_of_all(own->largest(v)); }
      double norm(const Number *c) override { return norm_of_all(own->norm(c)); }
      double norm(const double *v, double unit) override { return norm_of_all(own->norm(v, unit)); }

      std::shared_ptr<Number[]> vector() const override { return own->vector(); }
      std::shared_ptr<double[]> double_vector() const override { return own->double_vector(); }
      void                      copy(double *to, const double *from) const override { own->copy(to, from); }

    protected:
      double       norm_of_all(double norm) const { return std::sqrt(ranks->sum(square(norm))); }
      RoundedNorms of_all(const RoundedNorms &norms) const { return {norm_of_all(norms.vector), norm_of_all(norms.low)}; }
      /** Infinity where one is no number, which a maximum over ranks may lose. */
      double largest_of_all(double value) const { return ranks->max(std::isfinite(value) ? value : std::numeric_limits<double>::infinity()); }

      const std::unique_ptr<Interface> own;

    private:
      const std::shared_ptr<const RankSums> ranks;
    };

    template <typename Number>
    class SystemOverRanks : public OverRanks<Number, OuterSystem<Number>>
    {
    public:
      using Correction = typename OuterSystem<Number>::Correction;

      SystemOverRanks(std::unique_ptr<OuterSystem<Number>> own_, int n_columns, std::shared_ptr<const Communication<double>> communication_)
        : OverRanks<Number, OuterSystem<Number>>(std::move(own_), communication_)
        , communication(std::move(communication_))
        , with_ghosts(
            make_mixed_vectors<Number>(n_columns, 1., own->memory_space() == MemorySpace::device ? Backend::cuda : Backend::host, 1)->double_vector())
      {
      }

      double norm_of_matrix() const override { return this->largest_of_all(own->norm_of_matrix()); }
      double norm_of_scaled_matrix() const override { return this->largest_of_all(own->norm_of_scaled_matrix()); }

      RoundedNorms residual(Number *low, const double *x, const double *b, double unit, double factor) override
      {
        own->copy(with_ghosts.get(), x);
        communication->update_ghosts(with_ghosts.get(), own->memory_space());
        return this->of_all(own->residual(low, with_ghosts.get(), b, unit, factor));
      }

      RoundedNorms
      corrected_residual(Number *low, double *to, const double *x, const Correction &correction, const double *b, double unit, double factor) override
      {
        own->copy(to, x);
        own->add(to, correction.c, correction.factor);
        return residual(low, to, b, unit, factor);
      }

      void update_values(const CrsMatrix<double> &A, const std::vector<double> &scale) override { own->update_values(A, scale); }

    private:
      using OverRanks<Number, OuterSystem<Number>>::own;

      const std::shared_ptr<const Communication<double>> communication;
      const std::shared_ptr<double[]>                    with_ghosts; ///< workspace, where own's vectors are
    };
  } // namespace

  template <typename Number>
  std::unique_ptr<MixedVectors<Number>> over_ranks(std::unique_ptr<MixedVectors<Number>> own, std::shared_ptr<const RankSums> ranks)
  {
    return std::make_unique<OverRanks<Number, MixedVectors<Number>>>(std::move(own), std::move(ranks));
  }

  template <typename Number>
  std::unique_ptr<OuterSystem<Number>>
  over_ranks(std::unique_ptr<OuterSystem<Number>> own, int n_columns, std::shared_ptr<const Communication<double>> communication)
  {
    if (communication != nullptr && !communication->is_distributed())
      return own;
    return std::make_unique<SystemOverRanks<Number>>(std::move(own), n_columns, std::move(communication));
  }

  std::vector<double> scale_over_ranks(const CrsMatrix<double> &A, const Communication<double> &communication)
  {
    std::vector<double> scale;
    const SizesOfValues own(A),
      all(communication.max(own.is_extreme ? 1. : 0.) > 0., communication.max(own.largest), -communication.max(-own.smallest));
    if (all.need_scaling())
      {
        scale = scale_of_rows(A);
        scale.resize(A.n_columns, 1.);
        communication.update_ghosts(scale.data(), MemorySpace::host);
      }
    return scale;
  }

#define INSTANTIATE(Number)                                                                                                                    \
  template std::unique_ptr<MixedVectors<Number>> over_ranks(std::unique_ptr<MixedVectors<Number>> own, std::shared_ptr<const RankSums> ranks); \
  template std::unique_ptr<OuterSystem<Number>>  over_ranks(                                                                                   \
     std::unique_ptr<OuterSystem<Number>> own, int n_columns, std::shared_ptr<const Communication<double>> communication);
  LEOPARD_FOR_EACH_NUMBER(INSTANTIATE)
#undef INSTANTIATE
} // namespace leopard
