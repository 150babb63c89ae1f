// SPDX-License-Identifier: Apache-2.0
#include "multigrid_data.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

namespace leopard
{
  namespace
  {
    template <typename Number>
    void put(Number *to, const std::vector<Number> &values, MemorySpace space)
    {
      if (space == MemorySpace::device)
        device::copy_to_device(to, values.data(), values.size() * sizeof(Number));
      else
        std::copy(values.begin(), values.end(), to);
    }

    std::string three_digits(double value)
    {
      char text[32];
      std::snprintf(text, sizeof(text), "%.3g", value);
      return text;
    }
  } // namespace

  double MultigridProfile::sum() const
  {
    double result = coarse_solver + copies;
    for (const Level &level : levels)
      result += level.smoother + level.residual_and_transfers;
    return result;
  }

  template <typename Number>
  std::string Multigrid<Number>::description() const
  {
    MultigridOperations<Number> &operations = *data->operations;
    const MultigridOptions      &options    = data->options;
    std::string text = to_string(options.cycle) + "(" + std::to_string(options.pre_smoothing) + "," + std::to_string(options.post_smoothing) +
                       ")-cycle" + (options.full_start ? " after full multigrid" : "") + ", " + std::to_string(n_levels()) +
                       (n_levels() == 1 ? " level" : " levels") + " of " + data->matrices + ", " + std::to_string(memory() / 1000000) + " MB";
    if (const Communication<Number> &ranks = operations.communication(data->whole()); ranks.is_distributed())
      {
        text += std::string("; ghosts of the smoother ") + (options.wait_for_ghosts ? "waited for" : "not waited for");
        if (const std::string way = ranks.description(memory_space()); !way.empty())
          text += "; ghosts: " + way;
      }
    if (is_singular())
      text += "; singular: constants are taken out";
    for (int level = n_levels() - 1; level > 0; --level)
      {
        const Relaxation<Number> &smoother = operations.smoother(level);
        text += "\n  level " + std::to_string(level) + ": " + std::to_string(operations.n_unknowns(level)) + " unknowns, " + smoother.name();
        for (const std::string &more : {operations.description(level), smoother.description()})
          text += more.empty() ? "" : ", " + more;
      }
    return text + "\n  level 0: " + std::to_string(operations.n_unknowns(0)) + " unknowns, " + data->coarse->name();
  }

  template <typename Number>
  std::string Multigrid<Number>::diagnosis()
  {
    constexpr int                n_first = 20, n_more = 20; // steps until the fastest growing part dominates, and steps that measure its growth
    MultigridOperations<Number> &operations = *data->operations;
    std::string                  text;
    for (int level = 1; level < n_levels(); ++level)
      {
        const int                              n = operations.n_unknowns(level);
        std::vector<Number>                    values(n);
        std::mt19937_64                        random(1);
        std::uniform_real_distribution<double> value(-1., 1.);
        std::generate(values.begin(), values.end(), [&] { return static_cast<Number>(value(random)); });
        operations.set_zero(level);
        put(operations.x(level), values, memory_space());
        std::fill(values.begin(), values.end(), Number(0));
        put(operations.b(level), values, memory_space());

        const Communication<Number> &communication = operations.communication(level);
        const auto                   residual      = [&] {
          if (communication.has_ghosts())
            communication.update_ghosts(operations.x(level), memory_space());
          return std::sqrt(communication.sum(operations.smoother(level).residual_norm_squared(operations.x(level), operations.b(level))));
        };
        operations.smooth(level, n_first);
        const double before = residual();
        operations.smooth(level, n_more);
        const double after = residual(), factor = std::pow(after / before, 1. / n_more);
        if (std::isfinite(after) && !(factor > 1.))
          continue;
        const long n_all = static_cast<long>(communication.sum(n));
        text.append(text.empty() ? "" : "\n").append(operations.smoother(level).name());
        text.append(" amplifies on level ").append(std::to_string(level)).append(" (").append(std::to_string(n_all)).append(" unknowns)");
        if (std::isfinite(factor))
          text.append(": by a factor of ").append(three_digits(factor)).append(" a step");
        else
          text.append(" beyond all numbers");
        text.append("; choose a smaller omega, or another smoother");
      }
    return text;
  }

  template <typename Number>
  MultigridProfile Multigrid<Number>::profile(int n_cycles)
  {
    MultigridOperations<Number> &operations = *data->operations;
    MultigridProfile             result;
    result.levels.resize(n_levels());
    for (int level = 0; level < n_levels(); ++level)
      {
        result.levels[level].n_unknowns = operations.n_unknowns(level);
        operations.set_zero(level);
        put(operations.b(level), std::vector<Number>(operations.n_unknowns(level), Number(1)), memory_space());
      }
    data->cycle(); // warms up
    data->profile = &result;
    for (int i = 0; i < n_cycles; ++i)
      data->cycle();
    data->profile = nullptr;
    for (MultigridProfile::Level &level : result.levels)
      {
        level.smoother /= n_cycles;
        level.residual_and_transfers /= n_cycles;
      }
    result.coarse_solver /= n_cycles;
    result.copies /= n_cycles;
    return result;
  }

#define INSTANTIATE(Number)                                         \
  template std::string      Multigrid<Number>::description() const; \
  template std::string      Multigrid<Number>::diagnosis();         \
  template MultigridProfile Multigrid<Number>::profile(int n_cycles);
  LEOPARD_FOR_EACH_NUMBER(INSTANTIATE)
#undef INSTANTIATE
} // namespace leopard
