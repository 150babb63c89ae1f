// SPDX-License-Identifier: Apache-2.0
#include "matrix_traits.h"

#include "../base/norms.h"
#include "../base/thread_pool.h"
#include "../base/words.h"
#include "../matrix/matrix_entries.h"
#include "../matrix/row_sums.h"
#include "strong_methods.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <mutex>

namespace leopard::command_line
{
  namespace
  {
    constexpr double hopeless_radius = 0.97; ///< of |B|, that is not found to be small

    /** What entries tell, of some rows or of all. */
    struct Look
    {
      double off_diagonal = 0., of_wrong_sign = 0., smallest = std::numeric_limits<double>::infinity(), largest = 0.;
      double sum = 0., absolute_sum = 0.; // of all entries
      bool   positive = true, whole = true, dominant = true, singular = true, singular_in_single = true, coupled = false;
      bool   above = false, below = false; // the diagonal
      long   n_even = 0;                   // rows in which the entries beside the diagonal outweigh it, or nearly

      void add_row(const CrsMatrix<double> &A, int i, double diagonal)
      {
        const double size   = std::abs(diagonal);
        double       of_row = 0., absolute = 0.;
        for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
          {
            const double value = A.values[p];
            of_row += value;
            absolute += std::abs(value);
            if (A.columns[p] == i)
              continue;
            above = above || (A.columns[p] > i && value != 0.);
            below = below || (A.columns[p] < i && value != 0.);
            if (size > 0.)
              {
                const double part = std::abs(value) / size;
                off_diagonal += part;
                of_wrong_sign += (value > 0.) == (diagonal > 0.) ? part : 0.;
              }
          }
        sum += of_row;
        absolute_sum += absolute;
        n_even += absolute - size > hopeless_radius * size ? 1 : 0;
        const bool alone   = absolute == size;
        singular           = singular && kind_of_row_sum(of_row, absolute, !alone) != RowSum::other;
        singular_in_single = singular_in_single && kind_of_row_sum(of_row, absolute, !alone, row_sum_rounding_single) != RowSum::other;
        coupled            = coupled || !alone;
        positive           = positive && diagonal > 0.;
        dominant           = dominant && absolute - size <= (1. + 1e-12) * size;
        smallest           = size > 0. ? std::min(smallest, size) : smallest;
        largest            = std::max(largest, size);
        whole              = whole && size > 0.;
      }

      void add(const Look &other)
      {
        off_diagonal += other.off_diagonal;
        of_wrong_sign += other.of_wrong_sign;
        sum += other.sum;
        absolute_sum += other.absolute_sum;
        smallest           = std::min(smallest, other.smallest);
        largest            = std::max(largest, other.largest);
        positive           = positive && other.positive;
        dominant           = dominant && other.dominant;
        whole              = whole && other.whole;
        singular           = singular && other.singular;
        singular_in_single = singular_in_single && other.singular_in_single;
        coupled            = coupled || other.coupled;
        above              = above || other.above;
        below              = below || other.below;
        n_even += other.n_even;
      }
    };

    /** @return whether A is symmetric and nearly all rows of |B| sum to 1 or nearly so: its radius is not small. */
    bool look_at_entries(const CrsMatrix<double> &A, MatrixTraits &traits, std::vector<double> &diagonal)
    {
      constexpr double hopeless_share = 0.95;
      Look             look;
      std::mutex       one_at_a_time;
      parallel_for(A.n_rows, 4096, [&](long begin, long end) {
        Look mine;
        for (int i = static_cast<int>(begin); i < static_cast<int>(end); ++i)
          {
            diagonal[i] = entry(A, i, i);
            mine.add_row(A, i, diagonal[i]);
          }
        const std::lock_guard<std::mutex> lock(one_at_a_time);
        look.add(mine);
      });
      traits.diagonal_range        = look.largest / look.smallest;
      traits.has_positive_diagonal = look.positive;
      traits.has_whole_diagonal    = look.whole;
      traits.is_dominant           = look.whole && look.dominant;
      traits.is_triangular         = !traits.is_symmetric && look.whole && !(look.above && look.below);
      traits.why_indefinite =
        traits.is_symmetric && look.positive && look.sum < -1e-12 * look.absolute_sum ? "the sum of its entries is below zero" : "";
      traits.is_singular           = look.singular && look.coupled;
      traits.is_singular_in_single = look.singular_in_single && look.coupled;
      traits.wrong_sign            = look.off_diagonal > 0. ? look.of_wrong_sign / look.off_diagonal : 0.;
      return traits.is_symmetric && static_cast<double>(look.n_even) > hopeless_share * A.n_rows;
    }

    /** max_j sum_i |a_ij / a_jj| without i = j, which bounds rho(|B|), too: the columns of Markov chains tell more. */
    double bound_by_columns(const CrsMatrix<double> &A, const std::vector<double> &diagonal)
    {
      std::vector<double> sums(A.n_rows, 0.);
      parallel_for(A.n_rows, 1 << 16, [&](long first, long end) { // of columns, each of which is summed in the order of rows
        for (int i = 0; i < A.n_rows; ++i)
          for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
            if (const int j = A.columns[p]; j != i && j >= first && j < end)
              sums[j] += std::abs(A.values[p] / diagonal[j]);
      });
      double largest = 0.;
      for (const double sum : sums)
        largest = std::isfinite(sum) ? std::max(largest, sum) : std::numeric_limits<double>::infinity();
      return largest;
    }

    /**
     * max_i (|B| v)_i / v_i for some v > 0 of power iterations with |B| + I; ends early where the radius is not small.
     */
    double bound_of_radius(const CrsMatrix<double> &A, const std::vector<double> &diagonal)
    {
      constexpr int       most = 30, few = 6;
      constexpr double    seconds = 0.5;
      const auto          start   = std::chrono::steady_clock::now();
      std::vector<double> v(A.n_rows, 1.), next(A.n_rows);
      double              bound = std::numeric_limits<double>::infinity();
      for (int step = 0; step < most; ++step)
        {
          double     largest = 0., norm = 0.;
          bool       finite = true;
          std::mutex one_at_a_time;
          parallel_for(A.n_rows, 4096, [&](long begin, long end) {
            double my_largest = 0., my_norm = 0.;
            bool   my_finite = true;
            for (int i = static_cast<int>(begin); i < static_cast<int>(end); ++i)
              {
                double sum = 0.;
                for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
                  if (A.columns[p] != i)
                    sum += std::abs(A.values[p]) * v[A.columns[p]];
                sum /= std::abs(diagonal[i]);
                my_finite  = my_finite && std::isfinite(sum / v[i]);
                my_largest = std::max(my_largest, sum / v[i]);
                next[i]    = sum + v[i];
                my_norm    = std::max(my_norm, next[i]);
              }
            const std::lock_guard<std::mutex> lock(one_at_a_time);
            largest = std::max(largest, my_largest);
            norm    = std::max(norm, my_norm);
            finite  = finite && my_finite;
          });
          if (!finite)
            return std::numeric_limits<double>::infinity();
          bound = std::min(bound, largest);
          parallel_for(A.n_rows, 1 << 16, [&](long begin, long end) {
            std::transform(next.begin() + begin, next.begin() + end, v.begin() + begin, [&](double w) { return std::max(w / norm, 1e-200); });
          });
          const bool late = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() > seconds;
          if (!(bound > 0.5 * fast_radius) || late || (step >= few && bound > hopeless_radius))
            break;
        }
      return bound;
    }

    /** Whether corners of a plane through the centre differ by more than half the largest coupling along the axes. */
    bool is_oblique(const Stencil<double> &stencil, double largest)
    {
      const auto differs = [&](double a, double b) { return std::abs(a - b) > 0.5 * largest; };
      return differs(stencil.coefficient(1, 1, 0), stencil.coefficient(1, -1, 0)) ||
             differs(stencil.coefficient(1, 0, 1), stencil.coefficient(1, 0, -1)) ||
             differs(stencil.coefficient(0, 1, 1), stencil.coefficient(0, 1, -1));
    }

    /**
     * Whether within four edges of some rows, along the rows of A, there are not many more others than within two: 3
     * times as many in two dimensions, 5 or 6 in three, tens in random graphs, whose coarse levels fill up, and where
     * iterations reach all of the matrix soon.
     */
    bool rows_grow_like_a_mesh(const CrsMatrix<double> &A)
    {
      constexpr int    n_samples = 16;
      constexpr double most      = 10.;
      std::vector<int> seen_by(A.n_rows, -1), front;
      std::size_t      near = 0, far = 0;
      for (int sample = 0; sample < n_samples; ++sample)
        {
          front             = {static_cast<int>((sample + 0.5) * A.n_rows / n_samples)};
          seen_by[front[0]] = sample;
          std::size_t begin = 0;
          for (int edge = 0; edge < 4; ++edge)
            {
              const std::size_t end = front.size();
              for (std::size_t k = begin; k < end; ++k)
                for (int p = A.row_offsets[front[k]]; p < A.row_offsets[front[k] + 1]; ++p)
                  if (const int j = A.columns[p]; seen_by[j] != sample)
                    {
                      seen_by[j] = sample;
                      front.push_back(j);
                    }
              begin = end;
              near += edge == 1 ? front.size() : 0;
            }
          far += front.size();
        }
      return static_cast<double>(far) <= most * static_cast<double>(near);
    }

    /** MatrixTraits::n_core. @param T A^T, whose pattern may be another. */
    int rows_of_core(const CrsMatrix<double> &A, const CrsMatrix<double> &T)
    {
      std::vector<int> n_neighbours(A.n_rows, 0), left; // an entry of both counts once, or twice and keeps its row
      const auto       for_neighbours = [&](int i, const auto &f) {
        for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
          if (A.columns[p] != i)
            f(A.columns[p]);
        for (int p = T.row_offsets[i]; p < T.row_offsets[i + 1] && &T != &A; ++p)
          if (const int j = T.columns[p];
              j != i && !std::binary_search(A.columns.begin() + A.row_offsets[i], A.columns.begin() + A.row_offsets[i + 1], j))
            f(j);
      };
      for (int i = 0; i < A.n_rows; ++i)
        {
          for_neighbours(i, [&](int /*j*/) { ++n_neighbours[i]; });
          if (n_neighbours[i] <= 1)
            left.push_back(i);
        }
      int n = A.n_rows;
      for (std::size_t k = 0; k < left.size(); ++k, --n)
        for_neighbours(left[k], [&](int j) {
          if (--n_neighbours[j] == 1)
            left.push_back(j);
        });
      return n;
    }

    /** Along the columns, too, where A is not symmetric: a graph may spread in one direction of its edges only. */
    void look_how_it_spreads(const CrsMatrix<double> &A, MatrixTraits &traits)
    {
      CrsMatrix<double> transposed;
      traits.is_like_mesh = rows_grow_like_a_mesh(A);
      if (!traits.is_symmetric)
        {
          transposed          = transpose(A, 0);
          traits.is_like_mesh = traits.is_like_mesh && rows_grow_like_a_mesh(transposed);
        }
      constexpr double of_tree = 3.2; // entries a row, a few more than trees have
      if (!traits.is_like_mesh || A.n_entries() <= of_tree * A.n_rows)
        traits.n_core = rows_of_core(A, traits.is_symmetric ? A : transposed);
    }

    /**
     * Whether point smoothers smooth it, and it is definite: nearly equal couplings in all directions, those between
     * the axes, too, no row sum below zero.
     */
    bool suits_multigrid(const Stencil<double> &stencil)
    {
      constexpr double most     = 4.;
      double           smallest = std::numeric_limits<double>::infinity(), largest = 0., sum = 0.;
      const auto       look = [&](int n, double coefficient) {
        smallest = n > 1 ? std::min(smallest, std::abs(coefficient)) : smallest;
        largest  = n > 1 ? std::max(largest, std::abs(coefficient)) : largest;
      };
      look(stencil.n_x, stencil.coefficient(1, 0, 0));
      look(stencil.n_y, stencil.coefficient(0, 1, 0));
      look(stencil.n_z, stencil.coefficient(0, 0, 1));
      for (const double coefficient : stencil.coefficients)
        sum += coefficient;
      return largest <= most * smallest && !is_oblique(stencil, largest) && (!stencil.diagonal.empty() || sum >= -1e-12 * largest);
    }
  } // namespace

  MatrixTraits look_at(const CrsMatrix<double> &A, bool is_symmetric)
  {
    MatrixTraits        traits;
    std::vector<double> diagonal(A.n_rows, 0.);
    traits.n_rows       = A.n_rows;
    traits.is_symmetric = is_symmetric;
    const bool is_slow  = look_at_entries(A, traits, diagonal);
    traits.radius_bound = traits.has_whole_diagonal && !is_slow ? bound_of_radius(A, diagonal) : std::numeric_limits<double>::infinity();
    if (!is_symmetric && traits.has_whole_diagonal && !(traits.radius_bound <= fast_radius))
      traits.radius_bound = std::min(traits.radius_bound, bound_by_columns(A, diagonal));
    if (is_symmetric && traits.has_positive_diagonal && traits.is_like_diffusion())
      if (auto stencil = stencil_in_disguise(A); stencil && suits_multigrid(*stencil))
        traits.stencil = std::make_shared<const Stencil<double>>(std::move(*stencil));
    if (traits.stencil == nullptr && !traits.is_triangular)
      look_how_it_spreads(A, traits);
    return traits;
  }

  std::string range_text(const MatrixTraits &traits)
  {
    return std::isfinite(traits.diagonal_range) ? short_text(traits.diagonal_range, 2) : "1e308 or more";
  }
} // namespace leopard::command_line
