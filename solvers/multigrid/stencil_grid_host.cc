// SPDX-License-Identifier: Apache-2.0
#include "stencil_grid_host.h"

#include "../base/norms.h"
#include "../base/vector_clones.h"

#include <algorithm>

namespace leopard
{
  namespace
  {
    /** r_i = b_i - d_i u_i, with b and d null for zero and for a constant. */
    template <typename Number>
    LEOPARD_VECTOR_CLONES void begin_residual(const Number *b, const Number *diagonal, Number constant, const Number *u, int n, Number *__restrict r)
    {
      if (b == nullptr)
        for (int i = 0; i < n; ++i)
          r[i] = -(diagonal != nullptr ? diagonal[i] : constant) * u[i];
      else
        for (int i = 0; i < n; ++i)
          r[i] = b[i] - (diagonal != nullptr ? diagonal[i] : constant) * u[i];
    }

    template <typename Number>
    LEOPARD_VECTOR_CLONES void subtract_middle(Number c, const Number *u, int n, Number *__restrict r)
    {
      for (int i = 0; i < n; ++i)
        r[i] -= c * u[i];
    }

    template <typename Number>
    LEOPARD_VECTOR_CLONES void subtract_three(Number west, Number here, Number east, const Number *u, int n, Number *__restrict r)
    {
      for (int i = 0; i < n; ++i)
        r[i] -= west * u[i - 1] + here * u[i] + east * u[i + 1];
    }

    /** sum = here + before / 2 + weight behind. */
    template <typename Number>
    LEOPARD_VECTOR_CLONES void sum_lines(const Number *here, const Number *before, Number weight, const Number *behind, long n, Number *sum)
    {
      for (long i = 0; i < n; ++i)
        sum[i] = here[i] + Number(0.5) * before[i] + weight * behind[i];
    }

    /** coarse_i = fine_{2i+1} + (fine_{2i} + fine_{2i+2}) / 2. */
    template <typename Number>
    LEOPARD_VECTOR_CLONES void restrict_inside(const Number *fine, int n, Number *__restrict coarse)
    {
      for (int i = 0; i < n; ++i)
        coarse[i] = fine[2 * i + 1] + Number(0.5) * (fine[2 * i] + fine[2 * i + 2]);
    }
  } // namespace

  template <typename Number>
  StencilHostGrid<Number>::StencilHostGrid(const StencilGrid &grid, int n_below, int n_above)
    : rounded(rounded_to<Number>(grid.stencil))
    , nodes{grid.n(0), grid.n(1), grid.n(2)}
    , star(rounded.is_star())
  {
    set_coefficients();
    for (int d = 0; d < 3; ++d)
      last_weights[d] = static_cast<Number>(grid.last_weight(d));

    const Stencil<Number> &s    = rounded;
    const bool             flat = s.n_z == 1;
    if (!s.ghost_below)
      n_below = 0;
    if (!s.ghost_above)
      n_above = 0;
    begin_y = flat ? -n_below : 0;
    end_y   = s.n_y + (flat ? n_above : 0);
    end_b_y = s.n_y + (flat && s.ghost_above ? 1 : 0);
    begin_z = flat ? 0 : -n_below;
    end_z   = s.n_z + (flat ? 0 : n_above);
    end_b_z = s.n_z + (!flat && s.ghost_above ? 1 : 0);
    for (int k = begin_z; k < end_z; ++k)
      for (int j = begin_y; j < end_y; ++j)
        if (j < 0 || j >= s.n_y || k < 0 || k >= s.n_z)
          for (int begin = 0; begin < s.n_x; begin += piece_size)
            ghosts.push_back({j, k, begin, std::min(begin + piece_size, s.n_x)});
  }

  template <typename Number>
  void StencilHostGrid<Number>::set_coefficients()
  {
    for (int dz = -1; dz <= 1; ++dz)
      for (int dy = -1; dy <= 1; ++dy)
        coefficients[dz + 1][dy + 1] = {
          rounded.coefficient(-1, dy, dz), dz == 0 && dy == 0 ? Number(0) : rounded.coefficient(0, dy, dz), rounded.coefficient(1, dy, dz)};
  }

  template <typename Number>
  void StencilHostGrid<Number>::update_values(const Stencil<double> &stencil)
  {
    round_to(rounded, stencil);
    set_coefficients();
  }

  template <typename Number>
  typename StencilHostGrid<Number>::Scratch StencilHostGrid<Number>::scratch(const StencilHostGrid<Number> *coarse) const
  {
    Scratch    s;
    const bool has_lines = nodes[1] > 1 || nodes[2] > 1;
    s.sum.resize(std::max(has_lines ? nodes[0] : 0, piece_size));
    for (std::vector<Number> &line : s.lines)
      line.resize(has_lines ? nodes[0] : 0);
    if (coarse != nullptr && nodes[2] > 1)
      for (std::vector<Number> &plane : s.planes)
        plane.resize(static_cast<std::size_t>(coarse->nodes[0]) * coarse->nodes[1]);
    return s;
  }

  template <typename Number>
  void StencilHostGrid<Number>::subtract_line(const Coefficients &c, const Number *line, int begin, int end, Number *__restrict r) const
  {
    const int n = nodes[0];
    if (begin == 0 && end > 0)
      r[0] -= c.here * line[0] + (n > 1 ? c.east * line[1] : Number(0));
    if (end == n && n > 1 && begin < n)
      r[n - 1 - begin] -= c.west * line[n - 2] + c.here * line[n - 1];
    const int from = std::max(begin, 1), to = std::min(end, n - 1);
    if (c.west == Number(0) && c.east == Number(0))
      subtract_middle(c.here, line + from, to - from, r + from - begin);
    else
      subtract_three(c.west, c.here, c.east, line + from, to - from, r + from - begin);
  }

  template <typename Number>
  void StencilHostGrid<Number>::residual_line(const Number *x, const Number *b, int j, int k, int begin, int end, Number *__restrict r) const
  {
    const int     n_x = nodes[0], n_y = nodes[1];
    const long    first = (static_cast<long>(k) * n_y + j) * n_x;
    const Number *u = x + first, *d = rounded.diagonal.empty() ? nullptr : rounded.diagonal.data() + first;
    const Number  centre = rounded.coefficient(0, 0, 0);
    begin_residual(b != nullptr ? b + first + begin : nullptr, d != nullptr ? d + begin : nullptr, centre, u + begin, end - begin, r);
    for (int dz = -1; dz <= 1; ++dz)
      for (int dy = -1; dy <= 1; ++dy)
        if (has_line(j + dy, k + dz) && !(star && dz != 0 && dy != 0))
          subtract_line(coefficients[dz + 1][dy + 1], u + (static_cast<long>(dz) * n_y + dy) * n_x, begin, end, r);
  }

  template <typename Number>
  void StencilHostGrid<Number>::value_line(const Number *x, const Number *b, int j, int k, int begin, int end, Number *r) const
  {
    if (x != nullptr)
      residual_line(x, b, j, k, begin, end, r);
    else
      std::copy_n(b + (static_cast<long>(k) * nodes[1] + j) * nodes[0] + begin, end - begin, r);
  }

  namespace
  {
    template <typename Number>
    LEOPARD_VECTOR_CLONES double sum_of_squares(const Number *r, int n)
    {
      double sums[8] = {}; // several, for vector instructions
      int    i       = 0;
      for (; i + 8 <= n; i += 8)
        for (int e = 0; e < 8; ++e)
          sums[e] += square(r[i + e]);
      for (; i < n; ++i)
        sums[0] += square(r[i]);
      return ((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7]));
    }
  } // namespace

  template <typename Number>
  double StencilHostGrid<Number>::norm_squared(const Number *r, int n)
  {
    return sum_of_squares(r, n);
  }

  template <typename Number>
  void StencilHostGrid<Number>::restrict_line(const Number *fine, Number *__restrict coarse, int n_coarse) const
  {
    const int n = nodes[0];
    if (n == 1)
      {
        coarse[0] = fine[0];
        return;
      }
    const int n_whole = std::min(n_coarse, (n - 2) / 2); // whose three nodes are there and none is the last
    restrict_inside(fine, n_whole, coarse);
    for (int i = n_whole; i < n_coarse; ++i)
      coarse[i] = fine[2 * i + 1] + Number(0.5) * (fine[2 * i] + (2 * i + 2 < n ? last_weights[0] * fine[2 * i + 2] : Number(0)));
  }

  template <typename Number>
  double StencilHostGrid<Number>::restrict_nodes(
    const StencilHostGrid<Number> &coarse, const Number *x, const Number *b, Number *coarse_b, int first, int last, Scratch &s) const
  {
    constexpr int chunk    = piece_size / 2 - 1; // coarse nodes
    const int     n_coarse = coarse.nodes[0], n = nodes[0];
    double        norm = 0.;
    for (int begin = first; begin < last; begin += chunk)
      {
        const int end = std::min(begin + chunk, last), fine_begin = 2 * begin, fine_end = std::min(n, 2 * end + 1);
        Number   *r = s.sum.data();
        value_line(x, b, 0, 0, fine_begin, fine_end, r);
        norm += norm_squared(r, end == n_coarse ? fine_end - fine_begin : 2 * (end - begin));
        if (fine_end == n && n % 2 == 1)
          r[n - 1 - fine_begin] *= last_weights[0];
        if (fine_end == 2 * end)
          r[fine_end - fine_begin] = 0; // behind the last coarse node
        restrict_inside(r, end - begin, coarse_b + begin);
      }
    return norm;
  }

  template <typename Number>
  double StencilHostGrid<Number>::restrict_lines(
    const StencilHostGrid<Number> &coarse, const Number *x, const Number *b, int k, Number *plane, int first, int last, Scratch &s) const
  {
    const int n_x = nodes[0], n_y = nodes[1], c_x = coarse.nodes[0], c_y = coarse.nodes[1];
    double    norm = 0.;
    if (n_y == 1)
      {
        value_line(x, b, 0, k, 0, n_x, s.sum.data());
        restrict_line(s.sum.data(), plane, c_x);
        return norm_squared(s.sum.data(), n_x);
      }
    Number    *before = s.lines[0].data(), *here = s.lines[1].data(), *behind = s.lines[2].data(), *sum = s.sum.data();
    const auto line = [&](int j, Number *r) {
      if (j < end_b_y)
        value_line(x, b, j, k, 0, n_x, r);
      else
        std::fill_n(r, n_x, Number(0));
    };
    for (int J = first; J < last; ++J)
      {
        if (J == first)
          line(2 * J, before);
        line(2 * J + 1, here);
        line(2 * J + 2, behind);
        norm += norm_squared(before, n_x) + norm_squared(here, n_x);
        if (J == c_y - 1 && 2 * J + 2 < n_y) // a ghost is another one's
          norm += norm_squared(behind, n_x);
        const Number weight = Number(0.5) * (2 * J + 2 == n_y - 1 ? last_weights[1] : Number(1));
        sum_lines(here, before, weight, behind, n_x, sum);
        restrict_line(sum, plane + static_cast<long>(J) * c_x, c_x);
        std::swap(before, behind);
      }
    return norm;
  }

  template <typename Number>
  double StencilHostGrid<Number>::restrict_part(
    const StencilHostGrid<Number> &coarse, const Number *x, const Number *b, Number *coarse_b, int first, int last, Scratch &s) const
  {
    const int n_z = nodes[2], c_y = coarse.nodes[1], c_z = coarse.nodes[2];
    if (n_z == 1)
      return nodes[1] == 1 ? restrict_nodes(coarse, x, b, coarse_b, first, last, s) : restrict_lines(coarse, x, b, 0, coarse_b, first, last, s);
    const long n_plane = static_cast<long>(coarse.nodes[0]) * c_y;
    double     norm = 0., norm_before = 0.;
    Number    *before = s.planes[0].data(), *behind = s.planes[1].data();
    for (int K = first; K < last; ++K)
      {
        Number *here = coarse_b + K * n_plane;
        if (K == first)
          norm_before = restrict_lines(coarse, x, b, 2 * K, before, 0, c_y, s);
        norm += norm_before + restrict_lines(coarse, x, b, 2 * K + 1, here, 0, c_y, s);
        const bool   has_behind = 2 * K + 2 < end_b_z;
        const Number weight     = Number(0.5) * (2 * K + 2 == n_z - 1 ? last_weights[2] : Number(1));
        norm_before             = has_behind ? restrict_lines(coarse, x, b, 2 * K + 2, behind, 0, c_y, s) : 0.;
        if (K == c_z - 1 && 2 * K + 2 < n_z)
          norm += norm_before;
        if (!has_behind)
          std::fill_n(behind, n_plane, Number(0));
        sum_lines(here, before, weight, behind, n_plane, here);
        std::swap(before, behind);
      }
    return norm;
  }

  template <typename Number>
  typename StencilHostGrid<Number>::Piece StencilHostGrid<Number>::piece(long number) const
  {
    const long line  = number / n_pieces_of_line();
    const int  begin = static_cast<int>(number % n_pieces_of_line()) * piece_size;
    return {static_cast<int>(line % nodes[1]), static_cast<int>(line / nodes[1]), begin, std::min(begin + piece_size, nodes[0])};
  }

  /**
   * The coarse values begin <= i < end interpolated in y and z to line (j, k), where one line of them does, or in sum;
   * node i is at [i - begin].
   */
  template <typename Number>
  const Number *StencilHostGrid<Number>::interpolated_line(
    const StencilHostGrid<Number> &coarse, const Number *coarse_x, int j, int k, int begin, int end, Number *sum) const
  {
    const int     c_x = coarse.nodes[0], n_y = nodes[1], n_z = nodes[2], last_j = j >> 1, last_k = k >> 1; // node -1 is coarse node -1
    const Number *lines[4];
    int           n_lines = 0;
    const bool    even_y = n_y > 1 && j % 2 == 0, even_z = n_z > 1 && k % 2 == 0;
    for (int K = even_z ? last_k - 1 : last_k; K <= last_k; ++K)
      for (int J = even_y ? last_j - 1 : last_j; J <= last_j; ++J)
        if (coarse.has_line(J, K))
          lines[n_lines++] = coarse_x + (static_cast<long>(K) * coarse.nodes[1] + J) * c_x + begin;
    if (!even_y && !even_z)
      return lines[0];
    const Number weight = (even_y ? Number(0.5) * (j == n_y - 1 ? last_weights[1] : Number(1)) : Number(1)) *
                          (even_z ? Number(0.5) * (k == n_z - 1 ? last_weights[2] : Number(1)) : Number(1));
    const int n = end - begin;
    if (n_lines == 4)
      for (int i = 0; i < n; ++i)
        sum[i] = weight * (lines[0][i] + lines[1][i] + (lines[2][i] + lines[3][i]));
    else if (n_lines == 2)
      for (int i = 0; i < n; ++i)
        sum[i] = weight * (lines[0][i] + lines[1][i]);
    else
      for (int i = 0; i < n; ++i)
        sum[i] = n_lines == 1 ? weight * lines[0][i] : Number(0);
    return sum;
  }

  namespace
  {
    /**
     * to_i += the interpolation of n coarse values, which begin at the coarse node before (first_even) or at the one of
     * to_1.
     */
    template <typename Number>
    LEOPARD_VECTOR_CLONES void add_interpolated(const Number *from, int n_pairs, Number *__restrict to)
    {
      for (int i = 0; i < n_pairs; ++i)
        {
          to[2 * i] += Number(0.5) * (from[i - 1] + from[i]);
          to[2 * i + 1] += from[i];
        }
    }
  } // namespace

  template <typename Number>
  void StencilHostGrid<Number>::interpolate_piece(
    const StencilHostGrid<Number> &coarse, const Number *coarse_x, Number *x, bool add, const Piece &piece, Scratch &s) const
  {
    const int n = nodes[0], c_x = coarse.nodes[0];
    Number   *to = x + (static_cast<long>(piece.k) * nodes[1] + piece.j) * n;
    if (!add)
      std::fill(to + piece.begin, to + piece.end, Number(0));
    const int     first = n == 1 ? 0 : std::max(piece.begin / 2 - 1, 0), last = n == 1 ? 1 : std::min((piece.end + 1) / 2, c_x);
    const Number *from = interpolated_line(coarse, coarse_x, piece.j, piece.k, first, last, s.sum.data()) - first;
    if (n == 1)
      {
        to[0] += from[0];
        return;
      }
    int begin = piece.begin;
    if (begin == 0)
      {
        to[0] += Number(0.5) * from[0];
        to[1] += from[0];
        begin = 2;
      }
    const int n_pairs = std::max(0, std::min(piece.end, 2 * c_x) - begin) / 2;
    add_interpolated(from + begin / 2, n_pairs, to + begin);
    if (piece.end == n && n % 2 == 1)
      to[n - 1] += Number(0.5) * last_weights[0] * from[c_x - 1];
  }

#define INSTANTIATE(Number) template class StencilHostGrid<Number>;
  LEOPARD_FOR_EACH_NUMBER(INSTANTIATE)
#undef INSTANTIATE
} // namespace leopard
