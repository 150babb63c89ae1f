// SPDX-License-Identifier: Apache-2.0
#include "../multigrid/stencil_grid_host.h"
#include "host_vectors.h"
#include "outer_engine.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace leopard
{
  namespace
  {
    /** What does not depend on the form of the matrix, on host threads. */
    template <typename Number>
    class HostSystem : public HostVectors<Number, OuterSystem<Number>>
    {
    public:
      HostSystem(int n_, double norm_, double norm_of_scaled_, std::vector<double> scale_, double weight_, int n_threads)
        : HostVectors<Number, OuterSystem<Number>>(n_, std::move(scale_), weight_, n_threads)
        , norm_of_A(norm_)
        , norm_of_scaled(norm_of_scaled_)
      {
      }

      double norm_of_matrix() const override { return norm_of_A; }
      double norm_of_scaled_matrix() const override { return norm_of_scaled; }

      RoundedNorms corrected_residual(Number                                         *low,
                                      double                                         *to,
                                      const double                                   *x,
                                      const typename OuterSystem<Number>::Correction &correction,
                                      const double                                   *b,
                                      double                                          unit,
                                      double                                          factor) override
      {
        const double  back = this->weight / correction.factor;
        const Number *c    = correction.c;
        const auto   &S    = this->scale;
        parallel_for(*this->pool, this->n, this->grain, [&](long begin, long end) {
          for (long i = begin; i < end; ++i)
            to[i] = x[i] + (std::isfinite(c[i]) ? (S.empty() ? back : S[i] * back) * static_cast<double>(c[i]) : 0.);
        });
        return this->residual(low, to, b, unit, factor);
      }

    protected:
      double norm_of_A, norm_of_scaled;
    };

    template <typename Number>
    class StoredHostSystem : public HostSystem<Number>
    {
    public:
      StoredHostSystem(const CrsMatrix<double> &A_, const std::vector<double> &scale_, int n_threads)
        : HostSystem<Number>(A_.n_rows, largest_row_sum(A_, {}), largest_row_sum(A_, scale_), scale_, 1., n_threads)
        , A(A_)
        , grain_rows(A.n_rows == 0 ? 1 : std::max(1l, HostSystem<Number>::grain * A.n_rows / std::max(A.n_entries(), 1)))
      {
      }

      RoundedNorms residual(Number *low, const double *x, const double *b, double unit, double factor) override
      {
        const double norm = std::sqrt(parallel_sum(*pool, n, grain_rows, [&](long begin, long end) {
          double sum = 0.;
          for (long i = begin; i < end; ++i)
            {
              double r = b[i];
              for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
                r -= A.values[p] * x[A.columns[p]];
              low[i] = static_cast<Number>(scale.empty() ? factor * r : factor * scale[i] * r);
              sum += square(unit * r);
            }
          return sum;
        }));
        return this->norms_of(norm, low, unit, factor);
      }

      void update_values(const CrsMatrix<double> &other, const std::vector<double> &other_scale) override
      {
        require_pattern(other, A.n_rows, A.values.size());
        A.values             = other.values;
        scale                = other_scale;
        this->norm_of_A      = largest_row_sum(A, {});
        this->norm_of_scaled = largest_row_sum(A, scale);
      }

    private:
      using HostSystem<Number>::n;
      using HostSystem<Number>::scale;
      using HostSystem<Number>::pool;

      CrsMatrix<double> A;
      const long        grain_rows;
    };

    template <typename Number>
    class StencilHostSystem : public HostSystem<Number>
    {
    public:
      StencilHostSystem(const Stencil<double> &A, double weight, int n_threads)
        : HostSystem<Number>(A.n_rows(), largest_row_sum(A), weight * largest_row_sum(A), {}, weight, n_threads)
        , grid({A, {1., 1., 1.}})
      {
      }

      RoundedNorms residual(Number *low, const double *x, const double *b, double unit, double factor) override
      {
        const double norm = std::sqrt(parallel_sum(*pool, grid.n_pieces(), 2, [&](long begin, long end) {
          std::array<double, StencilHostGrid<double>::piece_size> r;
          double                                                  sum = 0.;
          for (long number = begin; number < end; ++number)
            {
              const auto        piece = grid.piece(number);
              const std::size_t first = (static_cast<std::size_t>(piece.k) * grid.stencil().n_y + piece.j) * grid.stencil().n_x + piece.begin;
              grid.residual_line(x, b, piece.j, piece.k, piece.begin, piece.end, r.data());
              for (int i = 0; i < piece.end - piece.begin; ++i)
                {
                  low[first + i] = static_cast<Number>(factor * r[i]);
                  sum += square(unit * r[i]);
                }
            }
          return sum;
        }));
        return this->norms_of(norm, low, unit, factor);
      }

    private:
      using HostSystem<Number>::pool;

      const StencilHostGrid<double> grid;
    };
  } // namespace

  template <typename Number>
  std::unique_ptr<OuterSystem<Number>> make_host_system(const CrsMatrix<double> &A, const std::vector<double> &scale, int n_threads)
  {
    return std::make_unique<StoredHostSystem<Number>>(A, scale, n_threads);
  }

  template <typename Number>
  std::unique_ptr<OuterSystem<Number>> make_host_system(const Stencil<double> &A, double weight, int n_threads)
  {
    return std::make_unique<StencilHostSystem<Number>>(A, weight, n_threads);
  }

#define INSTANTIATE(Number)                                                                                                                    \
  template std::unique_ptr<OuterSystem<Number>> make_host_system(const CrsMatrix<double> &A, const std::vector<double> &scale, int n_threads); \
  template std::unique_ptr<OuterSystem<Number>> make_host_system(const Stencil<double> &A, double weight, int n_threads);
  LEOPARD_FOR_EACH_NUMBER(INSTANTIATE)
#undef INSTANTIATE
} // namespace leopard
