// SPDX-License-Identifier: Apache-2.0
#include "nodes.h"

#include "../base/errors.h"
#include "../base/norms.h"
#include "../base/thread_pool.h"
#include "../base/words.h"
#include "../matrix/matrix_entries.h"
#include "../matrix/matrix_market.h"
#include "../matrix/npy.h"
#include "report.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <mutex>
#include <utility>

namespace leopard::command_line
{
  namespace
  {
    /**
     * v^T A v / v^T |D| v in absolute value: far below 1 near the null space, about 1 for random numbers. By all
     * threads.
     */
    double energy_of(const CrsMatrix<double> &A, const std::vector<double> &v)
    {
      double     energy = 0., scale = 0.;
      std::mutex one_at_a_time;
      parallel_for(A.n_rows, 4096, [&](long begin, long end) {
        double my_energy = 0., my_scale = 0.;
        for (int i = static_cast<int>(begin); i < static_cast<int>(end); ++i)
          for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
            {
              my_energy += v[i] * A.values[p] * v[A.columns[p]];
              if (A.columns[p] == i)
                my_scale += v[i] * std::abs(A.values[p]) * v[i];
            }
        const std::lock_guard<std::mutex> lock(one_at_a_time);
        energy += my_energy;
        scale += my_scale;
      });
      return std::abs(energy) / scale;
    }

    /** v^T A v and v^T D v for the constant of each unknown of a node. */
    struct Sums
    {
      std::array<double, 3> energy = {}, scale = {};
    };
  } // namespace

  Arguments with_nodes(Arguments arguments, const CrsMatrix<double> &A)
  {
    constexpr double far_from_null = 0.5;
    constexpr int    most          = 100; // vectors, and unknowns of a node: each is an unknown of every coarse node
    if (!arguments.has_nodes())
      return arguments;
    const std::string each = std::to_string(arguments.block_unknowns);
    if (arguments.block_unknowns > most)
      throw UsageError("--block-unknowns is " + each + "\n  expected: at most " + std::to_string(most) +
                       ", the unknowns of a node in consecutive rows");
    if (A.n_rows % arguments.block_unknowns != 0)
      throw UsageError("--block-unknowns is " + each + ", and " + arguments.matrix + " has " + std::to_string(A.n_rows) +
                       " rows\n  expected: a number that divides them, the unknowns of a node in consecutive rows");
    std::string       text = std::to_string(A.n_rows / arguments.block_unknowns) + " of " + each + (each == "1" ? " unknown" : " unknowns");
    const std::string path = arguments.near_null_space;
    if (!path.empty())
      {
        auto vectors = is_npy(path) ? read_npy_columns(path, A.n_rows, most) : read_matrix_market_columns(path, A.n_rows, most);
        for (std::size_t k = 0; k < vectors.size(); ++k)
          if (std::all_of(vectors[k].begin(), vectors[k].end(), [](double v) { return v == 0.; }))
            throw InvalidInput(path + ": column " + std::to_string(k + 1) +
                               " is zero\n  expected: vectors that the matrix maps to zero but near boundaries, and that are not zero themselves");
        for (std::size_t k = 0; k < vectors.size(); ++k)
          if (const double energy = energy_of(A, vectors[k]); !(energy < far_from_null))
            log_line("warning",
                     path + ": column " + std::to_string(k + 1) + " is not near the null space: v^T A v is " + short_text(energy, 2) +
                       " of v^T |D| v, and levels made for it may not correct what they should");
        text += ", near the null space " + std::to_string(vectors.size()) + (vectors.size() == 1 ? " vector" : " vectors") + " of " + path;
        arguments.near_null_space_vectors = std::make_shared<const std::vector<std::vector<double>>>(std::move(vectors));
      }
    log_line("nodes", text);
    return arguments;
  }

  Arguments with_units_of_unknowns(Arguments arguments, const CrsMatrix<double> &A, const MatrixTraits &traits)
  {
    constexpr double much_nearer = 0.1, alike = 4.; // entries of a diagonal
    if (!traits.is_symmetric || !traits.is_like_diffusion() || !traits.has_whole_diagonal || !(traits.diagonal_range > alike) ||
        arguments.has_nodes())
      return arguments;
    const double        of_constant = energy_of(A, std::vector<double>(A.n_rows, 1.));
    std::vector<double> v           = diagonal_of(A);
    for (double &entry : v)
      entry = 1. / std::sqrt(std::abs(entry));
    if (!std::all_of(v.begin(), v.end(), [](double entry) { return std::isfinite(entry); }) || !(energy_of(A, v) <= much_nearer * of_constant))
      return arguments;
    log_line("units", "unknowns seem to have units of their own: levels keep |a_ii|^-1/2, near the null space, in the place of constants");
    arguments.near_null_space_vectors = std::make_shared<const std::vector<std::vector<double>>>(1, std::move(v));
    return arguments;
  }

  Arguments with_found_nodes(Arguments arguments, const CrsMatrix<double> &A, const MatrixTraits &traits)
  {
    constexpr double           near = 0.1;
    constexpr int              most = 3;
    std::array<Sums, most - 1> of; // of two and of three unknowns
    if (!traits.is_symmetric || !traits.has_positive_diagonal || traits.is_like_diffusion() || arguments.has_nodes())
      return arguments;
    std::mutex one_at_a_time;
    parallel_for(A.n_rows, 4096, [&](long begin, long end) {
      std::array<Sums, most - 1> mine;
      for (int i = static_cast<int>(begin); i < static_cast<int>(end); ++i)
        for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
          for (int each = 2; each <= most; ++each)
            if (const int j = A.columns[p]; i % each == j % each)
              {
                mine[each - 2].energy[i % each] += A.values[p];
                mine[each - 2].scale[i % each] += i == j ? A.values[p] : 0.;
              }
      const std::lock_guard<std::mutex> lock(one_at_a_time);
      for (int each = 2; each <= most; ++each)
        for (int c = 0; c < each; ++c)
          {
            of[each - 2].energy[c] += mine[each - 2].energy[c];
            of[each - 2].scale[c] += mine[each - 2].scale[c];
          }
    });
    double least = near;
    for (int each = 2; each <= most; ++each)
      {
        double largest = 0.;
        for (int c = 0; c < each; ++c)
          largest = larger_or_nan(largest, std::abs(of[each - 2].energy[c]) / of[each - 2].scale[c]);
        if (A.n_rows % each != 0 || !reached(largest, least))
          continue;
        least                    = largest;
        arguments.block_unknowns = each;
      }
    if (arguments.block_unknowns > 1)
      log_line("nodes",
               text_of_nodes(arguments) + " seem to be those of a node, as constants of each are near the null space (--block-unknowns 1: not)");
    return arguments;
  }

  std::vector<std::vector<double>> constants_of_nodes(int n_rows, int block_unknowns)
  {
    std::vector<std::vector<double>> result(block_unknowns, std::vector<double>(n_rows, 0.));
    for (int i = 0; i < n_rows; ++i)
      result[i % block_unknowns][i] = 1.;
    return result;
  }

  Arguments with_scaled_nodes(Arguments arguments, const std::vector<double> &c)
  {
    if (arguments.near_null_space_vectors == nullptr)
      return arguments;
    std::vector<std::vector<double>> vectors = *arguments.near_null_space_vectors;
    for (std::vector<double> &v : vectors)
      for (std::size_t i = 0; i < v.size(); ++i)
        {
          v[i] /= c[i];
          if (!std::isfinite(v[i]))
            throw InvalidInput(arguments.near_null_space + ": entry " + std::to_string(i + 1) + " overflows where the matrix is scaled");
        }
    arguments.near_null_space_vectors = std::make_shared<const std::vector<std::vector<double>>>(std::move(vectors));
    return arguments;
  }

  std::string text_of_nodes(const Arguments &arguments)
  {
    if (!arguments.has_nodes())
      return std::to_string(arguments.block_unknowns) + " unknowns each";
    const bool  has_both = arguments.has("--block-unknowns") && arguments.has("--near-null-space");
    std::string result   = arguments.has("--block-unknowns") ? "--block-unknowns " + std::to_string(arguments.block_unknowns) : "";
    return result + (has_both ? " and " : "") + (arguments.has("--near-null-space") ? "--near-null-space" : "");
  }
} // namespace leopard::command_line
