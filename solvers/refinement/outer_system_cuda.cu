// SPDX-License-Identifier: Apache-2.0
#include "../device/device_array.h"
#include "../device/partial_sums.cuh"
#include "../matrix/compact_rows.cuh"
#include "../matrix/device_matrix.h"
#include "../multigrid/stencil_level_kernels.cuh"
#include "outer_engine.h"

#include <algorithm>
#include <cmath>

namespace leopard
{
  namespace
  {
    constexpr int n_threads = 256;

    /** What becomes of a value v_i of row i: low = fl(factor S v), where low is not null. */
    template <typename Number>
    struct Rounding
    {
      const double *__restrict__ scale; ///< S; null: ones
      double unit, factor;
      Number *__restrict__ low;
      const int *__restrict__ places; ///< of the rows in low; null: their own

      /** @return (unit v)^2. */
      __device__ double operator()(unsigned int i, double v) const
      {
        if (low != nullptr)
          low[places != nullptr ? places[i] : i] = static_cast<Number>(scale != nullptr ? factor * scale[i] * v : factor * v);
        return square(unit * v);
      }
    };

    /** Rounds r, and the block's part of ||unit r||^2. */
    template <typename Number>
    __global__ void __launch_bounds__(n_threads) round_kernel(const double *__restrict__ r, const Rounding<Number> rounding, int n, double *parts)
    {
      __shared__ double partial[32];
      double            sum = 0.;
      for (unsigned int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        sum += rounding(i, r[i]);
      sum = sum_over_block(sum, partial);
      if (threadIdx.x == 0)
        parts[blockIdx.x] = sum;
    }

    /** The same of r = b - A x, which is not stored: of a matrix in few bytes. */
    template <typename Number>
    __global__ void __launch_bounds__(n_threads) compact_residual_kernel(
      const device::CompactView<double> A, const double *__restrict__ x, const double *__restrict__ b, const Rounding<Number> rounding, double *parts)
    {
      __shared__ double  partial[32];
      double             sum  = 0.;
      const unsigned int lane = threadIdx.x % 32, n = A.n_rows, stride = gridDim.x * blockDim.x / 32;
      for (unsigned int slice = (blockIdx.x * blockDim.x + threadIdx.x) / 32; 32 * slice < n; slice += stride)
        {
          const unsigned int row = 32 * slice + lane;
          const double       b_i = row < n ? b[row] : 0., product = A.product(slice, lane, x);
          if (row < n)
            sum += rounding(row, b_i - product);
        }
      sum = sum_over_block(sum, partial);
      if (threadIdx.x == 0)
        parts[blockIdx.x] = sum;
    }

    /** places[order[i]] = i. */
    __global__ void __launch_bounds__(n_threads) places_kernel(const int *__restrict__ order, int n, int *__restrict__ places)
    {
      for (unsigned int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        places[order[i]] = static_cast<int>(i);
    }

    /**
     * to = x + S c / factor, without what is not finite; or all of S c / factor where x is null. @param places of c.
     */
    template <typename Number>
    __global__ void __launch_bounds__(n_threads) add_kernel(const double *x,
                                                            const Number *__restrict__ c,
                                                            const double *__restrict__ scale,
                                                            const int *__restrict__ places,
                                                            double  inverse_factor,
                                                            int     n,
                                                            double *to)
    {
      for (unsigned int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        {
          const double value = static_cast<double>(c[places != nullptr ? places[i] : i]) * (scale != nullptr ? scale[i] : 1.);
          to[i]              = x == nullptr ? value * inverse_factor : x[i] + (isfinite(value) ? value * inverse_factor : 0.);
        }
    }

    /** See MixedVectors::take_step(). */
    template <typename Number>
    __global__ void __launch_bounds__(n_threads) take_step_kernel(Number *c, Number *s, Number weight, Number momentum, bool goes_on, int n)
    {
      const bool reads = goes_on || momentum != Number(0);
      for (unsigned int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        {
          const Number last = reads ? s[i] : Number(0), y = goes_on ? last : Number(0), c_i = c[i];
          const Number step = (isfinite(c_i) ? weight * (c_i - y) : Number(0)) + (momentum != Number(0) ? momentum * last : Number(0));
          s[i]              = step;
          c[i]              = y + step;
        }
    }

    /**
     * The power of two for which that times the largest value, given by its bits, is in [1/2, 1), as to_about_one().
     */
    __device__ double factor_for(const unsigned long long *largest)
    {
      const double value    = __longlong_as_double(static_cast<long long>(*largest));
      int          exponent = 0;
      if (isfinite(value))
        frexp(value, &exponent);
      return ldexp(1., min(max(-exponent, -1000), 1000));
    }

    /** low = fl(f v), f of the largest value. */
    template <typename Number>
    __global__ void __launch_bounds__(n_threads)
      to_low_kernel(const double *__restrict__ v, const unsigned long long *__restrict__ largest, int n, Number *__restrict__ low)
    {
      const double factor = factor_for(largest);
      for (unsigned int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        low[i] = static_cast<Number>(factor * v[i]);
    }

    /** x = weight c / f. */
    template <typename Number>
    __global__ void __launch_bounds__(n_threads)
      from_low_kernel(const Number *__restrict__ c, const unsigned long long *__restrict__ largest, double weight, int n, double *__restrict__ x)
    {
      const double inverse = weight / factor_for(largest);
      for (unsigned int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        x[i] = inverse * static_cast<double>(c[i]);
    }

    /**
     * The largest |v_i| as its bits, which are in the order of the numbers; infinity and what is no number are largest.
     */
    __global__ void __launch_bounds__(n_threads) largest_kernel(const double *v, int n, unsigned long long *result)
    {
      unsigned long long largest = 0;
      for (unsigned int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        largest = max(largest, static_cast<unsigned long long>(__double_as_longlong(fabs(v[i]))));
      for (int offset = 16; offset > 0; offset /= 2)
        largest = max(largest, __shfl_down_sync(0xffffffffu, largest, offset));
      if (threadIdx.x % 32 == 0)
        atomicMax(result, largest);
    }

    constexpr int march = 8; ///< nodes in the direction of the march that a thread computes

    /** What is known beside the matrix, and where results go. */
    template <typename Number>
    struct StencilResidual
    {
      const double *__restrict__ x;
      const Number *__restrict__ c;
      double inverse_factor; ///< of c
      const double *__restrict__ b;
      double unit, factor;
      double *__restrict__ to;
      Number *__restrict__ low;
      int first_block_y = 0, first_block_z = 0; ///< where a launch begins
    };

    /** See stencil_residual_kernel(). @tparam interior all neighbours are known to exist. @return the thread's part. */
    template <typename Shape, bool interior, bool corrects, typename Number>
    __device__ double march_through(const GridView<double> &A, const StencilResidual<Number> &v, int i, int j, int begin)
    {
      constexpr int n_lines = Shape::flat ? 1 : 3, middle = n_lines / 2;
      const auto    row_of   = [&](int p) { return Shape::flat ? A.index(i, p, 0) : A.index(i, j, p); };
      const auto    has_node = [&](int dx, int dy, int p) { return interior || (Shape::flat ? A.has(i + dx, p, 0) : A.has(i + dx, j + dy, p)); };
      // the nodes around (i, j) in the planes before, here and behind; in two dimensions planes are lines
      double     plane[3][n_lines][3];
      const auto load = [&](int p, bool sides, double(&values)[n_lines][3]) {
        const int row = row_of(p);
#pragma unroll
        for (int line = 0; line < n_lines; ++line)
#pragma unroll
          for (int dx = -1; dx <= 1; ++dx)
            {
              const bool center = dx == 0 && line == middle, needed = Shape::full || center || (sides && (dx == 0 || line == middle));
              double     value = 0.;
              if (needed && has_node(dx, line - middle, p))
                {
                  const int other = row + (line - middle) * A.n_x + dx;
                  value           = __ldg(v.x + other);
                  if constexpr (corrects)
                    value += static_cast<double>(__ldg(v.c + other)) * v.inverse_factor;
                }
              values[line][dx + 1] = value;
            }
      };
      load(begin - 1, false, plane[0]);
      load(begin, true, plane[1]);
      double sum = 0.;
#pragma unroll
      for (int step = 0; step < march; ++step)
        {
          const int p = begin + step;
          load(p + 1, step + 1 < march, plane[(step + 2) % 3]);
          if (!has_node(0, 0, p))
            continue;
          const int    row  = row_of(p);
          const double here = plane[(step + 1) % 3][middle][1];
          double       r    = __ldg(v.b + row) - (A.diagonal != nullptr ? A.diagonal[row] : A.coefficients[13]) * here;
#pragma unroll
          for (int dp = 0; dp < 3; ++dp)
#pragma unroll
            for (int line = 0; line < n_lines; ++line)
#pragma unroll
              for (int dx = 0; dx < 3; ++dx)
                {
                  const int distance = (dp != 1) + (line != middle) + (dx != 1);
                  if (distance > 0 && (Shape::full || distance == 1))
                    r -= A.coefficients[Shape::flat ? 9 + 3 * dp + dx : 9 * dp + 3 * line + dx] * plane[(step + dp) % 3][line][dx];
                }
          sum += square(v.unit * r);
          v.low[row] = static_cast<Number>(v.factor * r);
          if constexpr (corrects)
            v.to[row] = here;
        }
      return sum;
    }

    /**
     * to = x + c inverse_factor, low = fl(factor (b - A to)), and the block's part of ||unit (b - A to)||^2; without
     * `corrects` to = x, which is not written. Threads march through `march` nodes in y (flat) or z, with the
     * neighbours before and behind in registers, so that each vector is read from memory once. A block has 32 columns;
     * its eight warps stand one behind the other (flat), or side by side in y.
     */
    template <typename Shape, bool corrects, typename Number>
    __global__ void __launch_bounds__(n_threads)
      stencil_residual_kernel(const GridView<double> A, const StencilResidual<Number> v, double *__restrict__ parts)
    {
      __shared__ double partial[32];
      const int         first_i = 32 * blockIdx.x, i = first_i + threadIdx.x % 32;
      const int         first_j = 8 * (v.first_block_y + blockIdx.y), j = first_j + threadIdx.x / 32;
      const int         begin = march * (Shape::flat ? j : v.first_block_z + static_cast<int>(blockIdx.z));
      const bool        in_x  = first_i > 0 && first_i + 32 < A.n_x;
      const bool interior = in_x && begin > 0 && (Shape::flat ? begin + march < A.n_y : begin + march < A.n_z && first_j > 0 && first_j + 8 < A.n_y);
      double     sum      = 0.;
      if (interior)
        sum = march_through<Shape, true, corrects>(A, v, i, j, begin);
      else if (i < A.n_x && (Shape::flat || j < A.n_y))
        sum = march_through<Shape, false, corrects>(A, v, i, j, begin);
      sum = sum_over_block(sum, partial);
      if (threadIdx.x == 0)
        parts[(blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x] = sum;
    }

    /** MixedVectors, and what else has them. */
    template <typename Number, typename Interface>
    class CudaVectors : public Interface
    {
    public:
      CudaVectors(int n_, const std::vector<double> &scale_, double weight_, int n_parts = n_blocks)
        : n(n_)
        , scale(scale_)
        , weight(weight_)
        , bits(1)
        , of_low(1)
        , sums(std::max(n_parts, n_blocks))
      {
      }

      int         n_rows() const override { return n; }
      MemorySpace memory_space() const override { return MemorySpace::device; }

      RoundedNorms round(Number *low, const double *v, double unit, double factor) override
      {
        const double of_vector = rounded_norm(low, v, unit, factor);
        return {of_vector, scale.size() == 0 ? of_vector * (factor / unit) : norm(low)};
      }

      void only_round(Number *low, const double *v, double factor) override { queue_round(low, v, 1., factor); }

      void add(double *x, const Number *c, double factor) override { queue_add(x, c, factor, x); }
      void set(double *x, const Number *c, double factor) override { queue_add(nullptr, c, factor, x); }

      void take_step(Number *c, Number *s, double a, double momentum, bool goes_on) override
      {
        take_step_kernel<<<n_blocks, n_threads>>>(c, s, static_cast<Number>(a), static_cast<Number>(momentum), goes_on, n);
        LEOPARD_CHECK(cudaGetLastError());
      }

      void to_low(Number *low, const double *v) override
      {
        if (scale.size() > 0)
          return Interface::to_low(low, v);
        queue_largest(v, of_low);
        to_low_kernel<<<n_blocks, n_threads>>>(v, of_low.data(), n, low);
        LEOPARD_CHECK(cudaGetLastError());
      }

      void from_low(double *x, const Number *c) override
      {
        if (scale.size() > 0)
          return Interface::from_low(x, c);
        from_low_kernel<<<n_blocks, n_threads>>>(c, of_low.data(), weight, n, x);
        LEOPARD_CHECK(cudaGetLastError());
      }

      double largest(const double *v) override
      {
        queue_largest(v, bits);
        double result = 0.;
        static_assert(sizeof(result) == sizeof(unsigned long long));
        device::copy_to_host(&result, bits.data(), sizeof(result));
        return result;
      }

      double norm(const Number *c) override { return std::sqrt(sums.norm_squared(c, n)); }
      double norm(const double *v, double unit) override { return rounded_norm(nullptr, v, unit, unit); }

      std::shared_ptr<Number[]> vector() const override { return allocated<Number>(); }
      std::shared_ptr<double[]> double_vector() const override { return allocated<double>(); }
      void                      copy(double *to, const double *from) const override { device::copy_on_device(to, from, n * sizeof(double)); }

    protected:
      static constexpr int n_blocks = 132 * 8;

      /** As many as the GPU holds, at most n_blocks. */
      static int blocks_at_once(const void *kernel)
      {
        int on_one = 0;
        LEOPARD_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&on_one, kernel, n_threads, 0));
        return std::min(n_blocks, std::max(1, on_one * device::n_multiprocessors()));
      }

      template <typename T>
      std::shared_ptr<T[]> allocated() const
      {
        return {static_cast<T *>(device::allocate(n * sizeof(T))), [](T *p) { device::release(p); }};
      }

      void queue_largest(const double *v, const device::Array<unsigned long long> &result)
      {
        device::set_zero(result.data(), sizeof(unsigned long long));
        largest_kernel<<<n_blocks, n_threads>>>(v, n, result.data());
        LEOPARD_CHECK(cudaGetLastError());
      }

      Rounding<Number> rounding(Number *low, double unit, double factor) const { return {scale.data(), unit, factor, low, places.data()}; }

      /** The parts of ||unit v||^2 are in sums. */
      void queue_round(Number *low, const double *v, double unit, double factor)
      {
        round_kernel<<<n_blocks, n_threads>>>(v, rounding(low, unit, factor), n, sums.parts());
        LEOPARD_CHECK(cudaGetLastError());
      }

      double rounded_norm(Number *low, const double *v, double unit, double factor)
      {
        queue_round(low, v, unit, factor);
        return std::sqrt(sums.sum_of(n_blocks));
      }

      /** to = x + weight S c / factor; x may be null. */
      void queue_add(const double *x, const Number *c, double factor, double *to)
      {
        add_kernel<<<n_blocks, n_threads>>>(x, c, scale.data(), places.data(), weight / factor, n, to);
        LEOPARD_CHECK(cudaGetLastError());
      }

      const int                               n;
      device::Array<double>                   scale;        ///< empty: ones
      const double                            weight;       ///< of corrections
      const device::Array<unsigned long long> bits, of_low; ///< the largest value that was asked for, and of the last to_low()
      const device::PartialSums               sums;
      device::Array<int>                      places; ///< of rows in vectors of Numbers; empty: their own
    };

    /** What does not depend on the form of the matrix. */
    template <typename Number>
    class CudaSystem : public CudaVectors<Number, OuterSystem<Number>>
    {
    public:
      using Correction = typename OuterSystem<Number>::Correction;

      template <typename... More>
      CudaSystem(int n_, double norm_, double norm_of_scaled_, const std::vector<double> &scale_, double weight_, More... n_parts)
        : CudaVectors<Number, OuterSystem<Number>>(n_, scale_, weight_, n_parts...)
        , norm_of_A(norm_)
        , norm_of_scaled(norm_of_scaled_)
      {
      }

      double norm_of_matrix() const override { return norm_of_A; }
      double norm_of_scaled_matrix() const override { return norm_of_scaled; }

      RoundedNorms
      corrected_residual(Number *low, double *to, const double *x, const Correction &correction, const double *b, double unit, double factor) override
      {
        this->queue_add(x, correction.c, correction.factor, to);
        return this->residual(low, to, b, unit, factor);
      }

    protected:
      double norm_of_A, norm_of_scaled;
    };

    template <typename Number>
    class StoredCudaSystem : public CudaSystem<Number>
    {
    public:
      StoredCudaSystem(const CrsMatrix<double> &A, const std::vector<double> &scale_)
        : CudaSystem<Number>(A.n_rows, largest_row_sum(A, {}), largest_row_sum(A, scale_), scale_, 1.)
        , n_entries(A.values.size())
        , matrix(A)
        , r(A.n_rows)
        , n_residual_blocks(CudaSystem<Number>::blocks_at_once(reinterpret_cast<const void *>(compact_residual_kernel<Number>)))
      {
      }

      RoundedNorms residual(Number *low, const double *x, const double *b, double unit, double factor) override
      {
        double norm = 0.;
        if (const device::CompactView<double> A = matrix.compact_view(); A.n_rows > 0)
          {
            compact_residual_kernel<<<n_residual_blocks, n_threads>>>(A, x, b, this->rounding(low, unit, factor), this->sums.parts());
            LEOPARD_CHECK(cudaGetLastError());
            norm = std::sqrt(this->sums.sum_of(n_residual_blocks));
          }
        else
          {
            matrix.multiply(r.data(), -1., x, 1., b);
            norm = this->rounded_norm(low, r.data(), unit, factor);
          }
        return {norm, this->scale.size() == 0 ? norm * (factor / unit) : this->norm(low)};
      }

      bool take_order(const int *order) override
      {
        this->places = device::Array<int>(static_cast<std::size_t>(this->n));
        places_kernel<<<this->n_blocks, n_threads>>>(order, this->n, this->places.data());
        LEOPARD_CHECK(cudaGetLastError());
        return true;
      }

      void update_values(const CrsMatrix<double> &A, const std::vector<double> &scale_) override
      {
        require_pattern(A, matrix.n_rows(), n_entries);
        matrix.update_values(A.values.data());
        this->scale          = device::Array<double>(scale_);
        this->norm_of_A      = largest_row_sum(A, {});
        this->norm_of_scaled = largest_row_sum(A, scale_);
      }

    private:
      const std::size_t            n_entries;
      device::DeviceMatrix<double> matrix;
      const device::Array<double>  r;
      const int                    n_residual_blocks;
    };

    template <typename Number>
    class StencilCudaSystem : public CudaSystem<Number>
    {
    public:
      using Correction = typename OuterSystem<Number>::Correction;

      StencilCudaSystem(const Stencil<double> &A, double weight_)
        : CudaSystem<Number>(A.n_rows(), largest_row_sum(A), weight_ * largest_row_sum(A), {}, weight_, n_parts(A))
        , diagonal(A.diagonal)
        , full(!A.is_star())
      {
        grid = {A.n_x, A.n_y, A.n_z, {}, diagonal.data(), {1., 1., 1.}, 0, A.n_y, 0, A.n_z};
        std::copy(A.coefficients.begin(), A.coefficients.end(), grid.coefficients);
      }

      RoundedNorms residual(Number *low, const double *x, const double *b, double unit, double factor) override
      {
        return queue<false>({x, nullptr, 0., b, unit, factor, nullptr, low});
      }

      RoundedNorms
      corrected_residual(Number *low, double *to, const double *x, const Correction &correction, const double *b, double unit, double factor) override
      {
        const RoundedNorms norms = queue<true>({x, correction.c, this->weight / correction.factor, b, unit, factor, to, low});
        // numbers that are not finite have not been left out
        return std::isfinite(norms.vector) ? norms : CudaSystem<Number>::corrected_residual(low, to, x, correction, b, unit, factor);
      }

    private:
      static dim3 blocks_for(const Stencil<double> &A) { return blocks_for(A.n_x, A.n_y, A.n_z); }
      static dim3 blocks_for(int n_x, int n_y, int n_z)
      {
        const auto count = [](int n, int of) { return static_cast<unsigned int>((n + of - 1) / of); };
        return n_z == 1 ? dim3(count(n_x, 32), count(n_y, 8 * march), 1) : dim3(count(n_x, 32), count(n_y, 8), count(n_z, march));
      }
      static int n_parts(const Stencil<double> &A)
      {
        const dim3 blocks = blocks_for(A);
        return static_cast<int>(blocks.x * blocks.y * blocks.z);
      }

      template <bool corrects>
      RoundedNorms queue(const StencilResidual<Number> &v)
      {
        const bool              flat   = grid.n_z == 1;
        const auto              kernel = full ? (flat ? stencil_residual_kernel<GridShape<true, true>, corrects, Number>
                                                      : stencil_residual_kernel<GridShape<true, false>, corrects, Number>)
                                              : (flat ? stencil_residual_kernel<GridShape<false, true>, corrects, Number>
                                                      : stencil_residual_kernel<GridShape<false, false>, corrects, Number>);
        constexpr unsigned int  most   = 65535; // blocks of a launch, in y and in z
        const dim3              all    = blocks_for(grid.n_x, grid.n_y, grid.n_z);
        StencilResidual<Number> piece  = v; // nearly always the only one
        unsigned int            n_done = 0;
        for (unsigned int z = 0; z < all.z; z += most)
          for (unsigned int y = 0; y < all.y; y += most)
            {
              const dim3 blocks(all.x, std::min(most, all.y - y), std::min(most, all.z - z));
              piece.first_block_y = static_cast<int>(y);
              piece.first_block_z = static_cast<int>(z);
              kernel<<<blocks, n_threads>>>(grid, piece, this->sums.parts() + n_done);
              LEOPARD_CHECK(cudaGetLastError());
              n_done += blocks.x * blocks.y * blocks.z;
            }
        const double norm = std::sqrt(this->sums.sum_of(static_cast<int>(n_done)));
        return {norm, norm * (v.factor / v.unit)};
      }

      const device::Array<double> diagonal;
      const bool                  full;
      GridView<double>            grid;
    };
  } // namespace

  template <typename Number>
  std::unique_ptr<MixedVectors<Number>> make_cuda_vectors(int n, double weight)
  {
    return std::make_unique<CudaVectors<Number, MixedVectors<Number>>>(n, std::vector<double>(), weight);
  }

  template <typename Number>
  std::unique_ptr<OuterSystem<Number>> make_cuda_system(const CrsMatrix<double> &A, const std::vector<double> &scale)
  {
    return std::make_unique<StoredCudaSystem<Number>>(A, scale);
  }

  template <typename Number>
  std::unique_ptr<OuterSystem<Number>> make_cuda_system(const Stencil<double> &A, double weight)
  {
    return std::make_unique<StencilCudaSystem<Number>>(A, weight);
  }

#define INSTANTIATE(Number)                                                                                                      \
  template std::unique_ptr<MixedVectors<Number>> make_cuda_vectors(int n, double weight);                                        \
  template std::unique_ptr<OuterSystem<Number>>  make_cuda_system(const CrsMatrix<double> &A, const std::vector<double> &scale); \
  template std::unique_ptr<OuterSystem<Number>>  make_cuda_system(const Stencil<double> &A, double weight);
  LEOPARD_FOR_EACH_NUMBER(INSTANTIATE)
#undef INSTANTIATE
} // namespace leopard
