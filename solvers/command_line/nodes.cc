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
#include <atomic>
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

  namespace
  {
    /** Whether nearly all nodes of so many rows have rows that couple the same nodes. @param A with sorted rows. */
    bool rows_of_nodes_are_alike(const CrsMatrix<double> &A, int each)
    {
      constexpr double  few     = 0.1;
      const int         n_nodes = A.n_rows / each;
      std::atomic<long> n_others{0};
      parallel_for(n_nodes, 4096, [&](long begin, long end) {
        long       mine  = 0;
        const auto nodes = [&](int i, std::vector<int> &found) {
          found.clear();
          for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
            if (const int node = A.columns[p] / each; found.empty() || found.back() != node)
              found.push_back(node);
        };
        std::vector<int> first, other;
        for (int node = static_cast<int>(begin); node < static_cast<int>(end); ++node)
          {
            bool alike = true;
            nodes(each * node, first);
            for (int c = 1; c < each && alike; ++c)
              {
                nodes(each * node + c, other);
                alike = other == first;
              }
            mine += alike ? 0 : 1;
          }
        n_others += mine;
      });
      return static_cast<double>(n_others) <= few * n_nodes;
    }

    /** v^T A v over v^T |D| v for the constant v of each unknown of a node, the largest. */
    double largest_energy_of_constants(const CrsMatrix<double> &A, int each)
    {
      std::vector<double> energy(each, 0.), scale(each, 0.);
      std::mutex          one_at_a_time;
      parallel_for(A.n_rows, 4096, [&](long begin, long end) {
        std::vector<double> my_energy(each, 0.), my_scale(each, 0.);
        for (int i = static_cast<int>(begin); i < static_cast<int>(end); ++i)
          for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
            if (const int j = A.columns[p]; i % each == j % each)
              {
                my_energy[i % each] += A.values[p];
                my_scale[i % each] += i == j ? A.values[p] : 0.;
              }
        const std::lock_guard<std::mutex> lock(one_at_a_time);
        for (int c = 0; c < each; ++c)
          {
            energy[c] += my_energy[c];
            scale[c] += my_scale[c];
          }
      });
      double largest = 0.;
      for (int c = 0; c < each; ++c)
        largest = larger_or_nan(largest, std::abs(energy[c]) / scale[c]);
      return largest;
    }
  } // namespace

  Arguments with_found_nodes(Arguments arguments, const CrsMatrix<double> &A, const MatrixTraits &traits)
  {
    constexpr double near = 0.1;
    if (!traits.is_symmetric || !traits.has_positive_diagonal || traits.is_like_diffusion() || arguments.has_nodes() ||
        arguments.has("--block-unknowns") || (arguments.method_name != "automatic" && !arguments.has_multigrid()))
      return arguments;
    for (const int each : {2, 3})
      if (A.n_rows % each == 0 && rows_of_nodes_are_alike(A, each) && reached(largest_energy_of_constants(A, each), near))
        arguments.block_unknowns = each;
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
