// SPDX-License-Identifier: Apache-2.0
#include "cycle_traffic.h"

#include <solvers/base/errors.h>
#include <solvers/matrix/storage.h>

#include <algorithm>
#include <cstdio>
#include <set>
#include <string>

namespace leopard
{
  namespace
  {
    bool are_few(const std::vector<double> &values)
    {
      std::set<double> different;
      for (const double value : values)
        if (different.insert(value).second && different.size() > most_distinct_values)
          return false;
      return true;
    }

    bool has(const std::string &text, const char *words)
    {
      return text.find(words) != std::string::npos;
    }

    /** The line of a level, empty for level 0. @throws Error if there is none. */
    std::string line_of(const std::string &description, std::size_t level)
    {
      const std::size_t begin = description.find("\n  level " + std::to_string(level) + ": ");
      if (begin == std::string::npos)
        throw Error("the description of the multigrid has no line of level " + std::to_string(level));
      return description.substr(begin + 1, description.find('\n', begin + 1) - begin - 1);
    }

    /** Of a value of a matrix that async has on a GPU; 0: there is none. */
    double bytes_of_value(const std::string &line)
    {
      for (const auto &[storage, bytes] : {std::pair(Storage::dictionary, 1.),
                                           std::pair(Storage::bfloat16, 2.),
                                           std::pair(Storage::single_precision, 4.),
                                           std::pair(Storage::double_precision, 8.)})
        if (has(line, ("values stored as " + to_string(storage)).c_str()))
          return bytes;
      return 0.;
    }

    /** Bytes of a matrix as the smoother, as the residual, and of a transfer as its product reads it. */
    struct MatrixBytes
    {
      double smoothed = 0., multiplied = 0., transferred = 0.;
    };

    /** @param number bytes of one. */
    MatrixBytes matrix_bytes(const LevelFacts &level, const std::string &line, const MultigridOptions &options, double number)
    {
      const bool on_device = options.backend == Backend::cuda;
      const auto product   = [&](double entries, bool few_values) {
        return on_device && few_values ? 3. * entries + 1.5 * level.n : (number + 4.) * entries + 4. * level.n;
      };
      MatrixBytes result;
      result.transferred = product(level.transfers, level.few_transfers);
      result.multiplied = result.smoothed = product(level.entries, level.few_values);
      const double inside                 = level.entries - level.n;          // weights stand for the diagonal
      if (const double value = bytes_of_value(line); on_device && value > 0.) // packets, which the residual reads, too
        result.multiplied = result.smoothed = (value + (has(line, "columns of 16 bits") ? 2. : 0.)) * inside + (value == 1. ? 1. : number) * level.n;
      else if (options.smoother.method == "async") // on the host
        result.smoothed = (number + 2.) * inside + number * level.n;
      return result;
    }
  } // namespace

  LevelFacts facts_of(const MultigridLevel &level)
  {
    LevelFacts facts;
    facts.n             = level.matrix.n_rows;
    facts.entries       = level.matrix.n_entries();
    facts.transfers     = level.prolongation.n_entries();
    facts.few_values    = are_few(level.matrix.values);
    facts.few_transfers = are_few(level.prolongation.values);
    return facts;
  }

  LevelFacts facts_of(const Stencil<double> &stencil)
  {
    LevelFacts facts;
    facts.n        = stencil.n_rows();
    facts.diagonal = static_cast<double>(stencil.diagonal.size());
    return facts;
  }

  template <typename Number>
  std::vector<Traffic> cycle_traffic(const Multigrid<Number> &multigrid, const std::vector<LevelFacts> &facts)
  {
    const MultigridOptions &options     = multigrid.options();
    const std::string       description = multigrid.description();
    const double            number      = sizeof(Number);
    std::vector<Traffic>    result(facts.size());
    for (std::size_t l = 1; l < facts.size(); ++l)
      {
        const LevelFacts &level = facts[l];
        const double      n = level.n, n_coarse = facts[l - 1].n;
        const bool        stored   = level.entries > 0.;
        const std::string line     = line_of(description, l);
        MatrixBytes       matrices = {number * level.diagonal, number * level.diagonal, 0.};
        if (stored)
          matrices = matrix_bytes(level, line, options, number);
        const double iterations = (options.pre_smoothing + options.post_smoothing) * options.smoother.iterations_per_step;
        // x and b read, x written, once a global iteration; blocks that move: every second one beside three vectors
        // that are read and written with the numbers of their entries
        const double moves  = stored && has(line, "blocks that move") ? 0.5 * 3. * (2. * number + 4.) * n : 0.;
        result[l].smoothing = iterations * (3. * number * n + matrices.smoothed + moves);
        // residual: x and b read; with stored matrices r is written and read again. Coarse b written, x set to zero;
        // correction: coarse x read, x read and written
        result[l].residual_and_transfers =
          number * ((stored ? 4. : 2.) * n + 2. * n_coarse) + matrices.multiplied + 2. * matrices.transferred + number * (2. * n + n_coarse);
      }
    return result;
  }

  template <typename Number>
  void print_roofline(const char *what, Multigrid<Number> &multigrid, const std::vector<LevelFacts> &facts, double cycle_seconds, double bandwidth)
  {
    if (facts.size() < 2)
      return;
    const std::vector<Traffic> traffic = cycle_traffic(multigrid, facts);
    const MultigridProfile     profile = multigrid.profile(5);
    double                     sum     = 0.;
    std::printf("  %s\n  %5s %12s %12s %12s %12s %12s %12s\n", what, "level", "unknowns", "MB", "at bandwidth", "measured", "smoother", "transfers");
    for (std::size_t l = traffic.size() - 1; l > 0; --l)
      {
        const double moved = traffic[l].sum();
        const auto  &p     = profile.levels[l];
        sum += moved;
        std::printf("  %5zu %12d %12.3f %9.1f us %9.1f us %9.1f us %9.1f us\n",
                    l,
                    p.n_unknowns,
                    moved * 1e-6,
                    moved / bandwidth * 1e6,
                    (p.smoother + p.residual_and_transfers) * 1e6,
                    p.smoother * 1e6,
                    p.residual_and_transfers * 1e6);
      }
    std::printf("  %5d %12d %12s %12s %9.1f us (coarse solver%s)\n",
                0,
                profile.levels[0].n_unknowns,
                "",
                "",
                profile.coarse_solver * 1e6,
                profile.copies > 0. ? ", copies apart" : "");
    std::printf("  %s: a cycle moves %.1f MB: %.1f us at the copy bandwidth, %.1f us measured (%.0f %%); its parts, each waited for: %.1f us, copies "
                "%.1f us\n",
                what,
                sum * 1e-6,
                sum / bandwidth * 1e6,
                cycle_seconds * 1e6,
                100. * sum / bandwidth / cycle_seconds,
                profile.sum() * 1e6,
                profile.copies * 1e6);
  }

#define INSTANTIATE(Number)                                                                                              \
  template std::vector<Traffic> cycle_traffic(const Multigrid<Number> &multigrid, const std::vector<LevelFacts> &facts); \
  template void                 print_roofline(                                                                          \
                    const char *what, Multigrid<Number> &multigrid, const std::vector<LevelFacts> &facts, double cycle_seconds, double bandwidth);
  INSTANTIATE(double)
  INSTANTIATE(float)
#undef INSTANTIATE
} // namespace leopard
