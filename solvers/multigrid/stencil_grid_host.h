// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hierarchy.h"

#include <array>
#include <vector>

namespace leopard
{
  /**
   * Residual and transfers of a stencil's grid on the host, line by line in x, so that the compiler makes vector
   * instructions of the inner loops. All functions may be called by several threads at once. Values beyond the grid are
   * zero, but for the ghost planes of a slab (see Stencil).
   */
  template <typename Number>
  class StencilHostGrid
  {
  public:
    /** Room for the lines that a thread works on. */
    struct Scratch
    {
      std::array<std::vector<Number>, 3> lines;  ///< of residuals
      std::vector<Number>                sum;    ///< of lines; at least piece_size values
      std::array<std::vector<Number>, 2> planes; ///< restricted planes
    };

    /** @param n_below, n_above ghost planes of x where the grid is a slab that goes on there. */
    explicit StencilHostGrid(const StencilGrid &grid, int n_below = 1, int n_above = 2);

    /** Another stencil of the same pattern. Allocates nothing. */
    void update_values(const Stencil<double> &stencil);

    static double norm_squared(const Number *r, int n);

    const Stencil<Number> &stencil() const { return rounded; }
    /** @param coarse the grid that is restricted to, null if there is none. */
    Scratch scratch(const StencilHostGrid<Number> *coarse) const;

    /**
     * r_i = b_i - (A x)_i for the nodes begin <= i < end of line (j, k); b null: zero. @param x, b whole grids, @param
     * r end - begin values.
     */
    void residual_line(const Number *x, const Number *b, int j, int k, int begin, int end, Number *r) const;

    /**
     * Part `first <= index < last` of coarse_b = P^T r for r = b - A x, or for x null r = b. Parts are split in the
     * last direction that has more than one node: indices are those of coarse planes, lines or nodes.
     * @return the sum of r_i^2 over fine nodes that are this part's. All parts together count each node once.
     */
    double
    restrict_part(const StencilHostGrid<Number> &coarse, const Number *x, const Number *b, Number *coarse_b, int first, int last, Scratch &s) const;

    /** Piece of a line: the nodes begin <= i < end of line (j, k). */
    struct Piece
    {
      int j, k, begin, end;
    };

    /** The grid's lines in pieces of at most piece_size nodes, an even number, numbered in the order of their nodes. */
    static constexpr int piece_size = 4096;
    long                 n_pieces() const { return static_cast<long>(nodes[1]) * nodes[2] * n_pieces_of_line(); }
    Piece                piece(long number) const;
    /** The lines of the ghost planes of x, in pieces. */
    const std::vector<Piece> &ghost_pieces() const { return ghosts; }

    /** x += P coarse_x (add), or x = P coarse_x, in a piece. */
    void interpolate_piece(const StencilHostGrid<Number> &coarse, const Number *coarse_x, Number *x, bool add, const Piece &piece, Scratch &s) const;

  private:
    int n_pieces_of_line() const { return (nodes[0] + piece_size - 1) / piece_size; }

    struct Coefficients
    {
      Number west = 0, here = 0, east = 0;
    };

    void set_coefficients();
    void subtract_line(const Coefficients &c, const Number *line, int begin, int end, Number *r) const;
    void value_line(const Number *x, const Number *b, int j, int k, int begin, int end, Number *r) const;
    double
    restrict_nodes(const StencilHostGrid<Number> &coarse, const Number *x, const Number *b, Number *coarse_b, int first, int last, Scratch &s) const;
    double restrict_lines(
      const StencilHostGrid<Number> &coarse, const Number *x, const Number *b, int k, Number *plane, int first, int last, Scratch &s) const;
    void restrict_line(const Number *fine, Number *coarse, int n_coarse) const;
    const Number *
    interpolated_line(const StencilHostGrid<Number> &coarse, const Number *coarse_x, int j, int k, int begin, int end, Number *sum) const;

    bool has_line(int j, int k) const { return j >= begin_y && j < end_y && k >= begin_z && k < end_z; }

    Stencil<Number>    rounded;
    const int          nodes[3]; ///< in each direction
    const bool         star;
    int                begin_y, end_y, begin_z, end_z; ///< of the lines that x has
    int                end_b_y, end_b_z;               ///< of the lines that b has
    std::vector<Piece> ghosts;
    Coefficients       coefficients[3][3]; ///< [dz + 1][dy + 1]; of the centre's line without the diagonal
    Number             last_weights[3];
  };
} // namespace leopard
