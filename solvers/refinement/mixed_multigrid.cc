// SPDX-License-Identifier: Apache-2.0
#include "mixed_multigrid.h"

#include "../base/errors.h"
#include "../base/thread_pool.h"

#include <algorithm>
#include <cmath>
#include <mutex>

namespace leopard
{
  namespace
  {
    double weight_for_entry(double largest)
    {
      const int exponent = largest > 0. && std::isfinite(largest) ? std::ilogb(largest) : 0;
      return std::abs(exponent) <= 40 ? 1. : std::ldexp(1., -exponent / 2 * 2);
    }

    double largest_of(const std::vector<double> &values)
    {
      double largest = 0.;
      for (const double value : values)
        largest = std::max(largest, std::abs(value));
      return largest;
    }

    void scale_values(std::vector<double> &values, double weight)
    {
      for (double &value : values)
        value *= weight;
    }
  } // namespace

  double weight_for(const Stencil<double> &A)
  {
    return weight_for_entry(A.diagonal.empty() ? std::abs(A.coefficient(0, 0, 0)) : largest_of(A.diagonal));
  }

  double weight_for(const CrsMatrix<double> &A)
  {
    double     largest = 0.;
    std::mutex one_at_a_time;
    parallel_for(static_cast<long>(A.values.size()), 65536, [&](long begin, long end) {
      double mine = 0.;
      for (long p = begin; p < end; ++p)
        mine = std::max(mine, std::abs(A.values[p]));
      const std::lock_guard<std::mutex> lock(one_at_a_time);
      largest = std::max(largest, mine);
    });
    return weight_for_entry(largest);
  }

  double weight_for(const MultigridHierarchy &hierarchy)
  {
    const double largest       = largest_of(hierarchy.finest_matrix().values);
    const auto  &communication = hierarchy.finest_communication();
    return weight_for_entry(communication == nullptr ? largest : communication->max(largest));
  }

  std::vector<double> scale_of_weight(double weight, int n_rows)
  {
    return weight == 1. ? std::vector<double>() : std::vector<double>(n_rows, std::sqrt(weight));
  }

  int cycles_a_correction(MemorySpace space, bool is_deep_stencil)
  {
    return space != MemorySpace::device ? 1 : is_deep_stencil ? 3 : 2;
  }

  Stencil<double> times(Stencil<double> A, double weight)
  {
    for (double &value : A.coefficients)
      value *= weight;
    scale_values(A.diagonal, weight);
    return A;
  }

  CrsMatrix<double> times(CrsMatrix<double> A, double weight)
  {
    scale_values(A.values, weight);
    return A;
  }

  MultigridHierarchy times(MultigridHierarchy hierarchy, double weight)
  {
    scale_values(hierarchy.matrix.values, weight);
    for (MultigridLevel &level : hierarchy.levels)
      {
        scale_values(level.matrix.values, weight);
        scale_values(level.interface.values, weight);
        scale_values(level.interface_transpose.values, weight);
      }
    return hierarchy;
  }

  template <typename Number>
  std::unique_ptr<Refinement<Number>>
  make_refinement(const Stencil<double> &finest, int n_levels, const MultigridOptions &multigrid, const RefinementOptions &options)
  {
    finest.validate();
    const double weight = weight_for(finest);
    return std::make_unique<Refinement<Number>>(make_outer_system<Number>(finest, weight, multigrid.backend, multigrid.n_threads),
                                                make_inner_solver(std::make_shared<Multigrid<Number>>(times(finest, weight), n_levels, multigrid)),
                                                options);
  }

  template <typename Number>
  std::unique_ptr<Refinement<Number>>
  make_refinement(const MultigridHierarchy &hierarchy, const MultigridOptions &multigrid, const RefinementOptions &options)
  {
    const double weight = weight_for(hierarchy);
    auto         cycles = weight == 1. ? std::make_shared<Multigrid<Number>>(hierarchy, multigrid)
                                       : std::make_shared<Multigrid<Number>>(times(hierarchy, weight), multigrid);
    if (hierarchy.is_adaptive())
      throw InvalidInput("refinement with multigrid: the hierarchy is adaptive\n  expected: globally refined levels, or double precision");
    const CrsMatrix<double> &A = hierarchy.finest_matrix();
    return std::make_unique<Refinement<Number>>(
      make_outer_system<Number>(A, scale_of_weight(weight, A.n_rows), multigrid.backend, multigrid.n_threads),
      make_inner_solver(std::move(cycles)),
      options);
  }

#define INSTANTIATE(Number)                                                                                            \
  template std::unique_ptr<Refinement<Number>> make_refinement(                                                        \
    const Stencil<double> &finest, int n_levels, const MultigridOptions &multigrid, const RefinementOptions &options); \
  template std::unique_ptr<Refinement<Number>> make_refinement(                                                        \
    const MultigridHierarchy &hierarchy, const MultigridOptions &multigrid, const RefinementOptions &options);
  LEOPARD_FOR_EACH_NUMBER(INSTANTIATE)
#undef INSTANTIATE
} // namespace leopard
