// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../base/backend.h"
#include "../exchange/communication.h"
#include "../multigrid/linear_algebra.h"
#include "trilinos_matrix.h"

#include <mpi.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace leopard
{
  /**
   * A preconditioner of a matrix A of several interleaved fields, made of one for each field, B_c: block Gauss-Seidel
   * over the fields, x_c = B_c (b_c - sum over d < c of A_cd x_d). Row i is of field i mod n_fields.
   *
   * Where A_cd is the transpose of A_dc for all fields, the sweep also goes back, x_c <- x_c - B_c sum over d > c of
   * A_cd x_d: the map (D + U)^-1 D (D + L)^-1 with D^-1 for all B_c, which is symmetric, and positive definite, if all
   * B_c are, as CG needs it. Columns of other ranks are taken to be as the rank's own ones in this. Where fields are
   * not coupled each is by itself.
   *
   * Several ranks: where fields are coupled across ranks, ghosts of x travel before a product. Then vmult() is
   * collective. Source: Saad 2003, Iterative Methods for Sparse Linear Systems, section 4.1.1.
   */
  template <typename Number>
  class FieldSweep
  {
  public:
    /** Sets the entries of a field of x to those of B_c b and leaves the others; arrays as those of vmult(). */
    using OfField = std::function<void(int field, Number *x, const Number *b)>;

    /**
     * Copies what couples fields. Collective. @param n_threads of products on the host. @param scale as for
     * update_values(). @throws DeviceError.
     */
    FieldSweep(const LocalMatrix &A, int n_fields, Backend backend, int n_threads, MPI_Comm comm, const std::vector<double> &scale = {});

    /**
     * Takes other values. Collective. @param values of all entries of A, in their order. @param scale s_c of each
     * field, for a map of the entries s_c s_d A_cd; empty: ones.
     */
    void update_values(const double *values, const std::vector<double> &scale = {});

    /** @param x, b the rank's own entries of all fields, in the memory space of the backend; different arrays. */
    void vmult(Number *x, const Number *b, const OfField &of_field) const;

    /** Whether the map is symmetric if all B_c are, with the values of now; the same on all ranks. */
    bool is_symmetric() const { return symmetric || !coupled; }
    /**
     * "for each field" where A has no entry that couples fields, "field after field", or with the values of now "field
     * after field and back".
     */
    std::string description() const;

  private:
    using Matrix = typename LinearAlgebra<Number>::Matrix;

    /** The entries that couple a field to those before it, or behind it, as a matrix whose other rows are empty. */
    struct Couplings
    {
      CrsMatrix<Number>       pattern;      ///< until product is made of it
      std::vector<int>        entries;      ///< their numbers among A's
      std::vector<int>        fields;       ///< of their columns
      std::unique_ptr<Matrix> product;      ///< made of entries that are not all zero on all ranks; null without entries
      bool                    used = false; ///< the same on all ranks
    };
    /** Entries of the rank's own rows and columns; -1: A has none there. */
    struct Mirrored
    {
      int entry, mirror_image, diagonal, mirrored_diagonal;
    };

    void          find_couplings(const LocalMatrix &A);
    void          find_mirror_images(const CrsMatrix<double> &A);
    bool          are_symmetric(const double *values) const;
    void          take(Couplings &couplings, int field, const double *values, const std::vector<double> &scale);
    const Number *with_ghosts(const Number *x) const;
    /** b - product x. @param b null: zeros. Collective. */
    const Number *subtract(const Couplings &couplings, const Number *x, const Number *b) const;

    const int                                    n_fields, n_rows;
    const MPI_Comm                               comm;
    std::unique_ptr<const LinearAlgebra<Number>> algebra;
    std::vector<Couplings>                       before, behind; ///< of each field
    std::vector<Mirrored>                        mirrored;
    std::shared_ptr<const Communication<Number>> ghosts; ///< null: no column of another rank couples fields
    std::shared_ptr<Number[]>                    right_hand_side, correction, x_with_ghosts;
    bool                                         symmetric = true, coupled = false, may_be_coupled = false;
  };
} // namespace leopard
