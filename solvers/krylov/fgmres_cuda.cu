// SPDX-License-Identifier: Apache-2.0
#include "krylov_cuda.cuh"

namespace leopard
{
  namespace
  {
    /** Both passes of Gram and Schmidt: the first takes components, the second what the first has left of them. */
    __device__ double *components(const FgmresState &state, bool second)
    {
      return second ? state.remainders() : state.components;
    }

    /** z_j = z in the first pass; parts of w . v_i for all i <= j. */
    template <typename Number>
    __global__ void __launch_bounds__(krylov_threads) find_products(int                n,
                                                                    const Number      *w,
                                                                    const Number      *basis,
                                                                    const Number      *z, ///< null in the second pass
                                                                    Number            *directions,
                                                                    const FgmresState *state,
                                                                    double            *parts,
                                                                    int                n_sums)
    {
      const int j = state->column;
      if (z != nullptr)
        for_entries(n, [&](long i) { directions[static_cast<std::size_t>(j) * n + i] = z[i]; });
      write_products(n, w, basis, j + 1, parts, n_sums);
    }

    /** A thread block a column. */
    __global__ void __launch_bounds__(krylov_threads) sum_products(FgmresState *state, bool second, const double *parts, int n_parts, int n_sums)
    {
      const int i = blockIdx.x;
      if (i > state->column)
        return;
      const double sum = sum_of_column(parts, n_parts, n_sums, i);
      if (threadIdx.x == 0)
        components(*state, second)[i] = sum;
    }

    /** w less its components; parts of w . w, and of how many ranks are late. */
    template <typename Number>
    __global__ void __launch_bounds__(krylov_threads)
      subtract_components(int n, Number *w, const Number *basis, const FgmresState *state, bool second, double *parts)
    {
      const double *h       = components(*state, second);
      const int     j       = state->column;
      double        sums[2] = {0., late_here(*state)};
      for_entries(n, [&](long i) {
        Number w_i = w[i];
        for (int l = 0; l <= j; ++l)
          w_i -= static_cast<Number>(h[l]) * basis[static_cast<std::size_t>(l) * n + i];
        w[i] = w_i;
        sums[0] += static_cast<double>(w_i) * static_cast<double>(w_i);
      });
      write_part<Addition>(sums, parts, 2);
    }

    __global__ void __launch_bounds__(krylov_threads)
      rotate(FgmresState *state, const double *parts, int n_parts, cudaGraphConditionalHandle more, cudaGraphConditionalHandle checking)
    {
      with_merged<Addition, 2>(parts, n_parts, [&](const double *sums) {
        state->rotate(sums[0], sums[1]);
        set_conditions(*state, more, checking);
      });
    }

    /** v = w / ||w||, the next of the basis. */
    template <typename Number>
    __global__ void __launch_bounds__(krylov_threads) add_to_basis(int n, const Number *w, Number *v, Number *basis, const FgmresState *state)
    {
      if (state->checking)
        return;
      const Number factor = static_cast<Number>(state->inverse_norm);
      Number      *next   = basis + static_cast<std::size_t>(state->column) * n;
      for_entries(n, [&](long i) { v[i] = next[i] = factor * w[i]; });
    }

    __global__ void solve_triangle(FgmresState *state)
    {
      state->solve_triangle();
    }

    /** e = sum_j y_j z_j */
    template <typename Number>
    __global__ void __launch_bounds__(krylov_threads) combine_directions(int n, const Number *directions, Number *e, const FgmresState *state)
    {
      const int n_directions = state->column;
      for_entries(n, [&](long i) {
        Number sum = 0;
        for (int j = 0; j < n_directions; ++j)
          sum += static_cast<Number>(state->y[j]) * directions[static_cast<std::size_t>(j) * n + i];
        e[i] = sum;
      });
    }

    template <typename Number>
    class CudaFgmres : public CudaKrylov<Number, FgmresState>
    {
      using Base = CudaKrylov<Number, FgmresState>;

    public:
      template <typename Matrix>
      CudaFgmres(const Matrix                        &A_,
                 const FgmresOptions                 &options,
                 const PreconditionerPointer<Number> &preconditioner_,
                 const RanksOnDevice<Number>         &ranks_ = {})
        : Base(A_, options, FgmresState(), preconditioner_, options.restart + 1, ranks_)
        , restart(options.restart)
        , numbers(std::vector<double>(FgmresState::n_numbers(restart), 0.))
        , basis(Base::zeros(static_cast<std::size_t>(n) * (restart + 1)))
        , directions(Base::zeros(static_cast<std::size_t>(n) * restart))
        , v(Base::zeros(n))
      {
        FgmresState scalars;
        scalars.restart = restart;
        scalars.use(numbers.data());
        device::copy_to_device(state.data(), &scalars, sizeof(FgmresState));
        Base::record();
      }

      std::string name() const override { return "FGMRES(" + std::to_string(restart) + ")"; }

    private:
      void queue_begin() override { add_to_basis<<<n_blocks, krylov_threads>>>(n, r.data(), v.data(), basis.data(), state.data()); }

      void queue_step(cudaGraphConditionalHandle more, cudaGraphConditionalHandle checking) override
      {
        preconditioner->apply(z.data(), v.data());
        Base::update_ghosts(z.data());
        A.multiply(q.data(), z.data());
        for (const bool second : {false, true})
          {
            find_products<<<n_blocks, krylov_threads>>>(
              n, q.data(), basis.data(), second ? nullptr : z.data(), directions.data(), state.data(), parts.data(), n_sums);
            Base::template put_together<Addition>(n_sums);
            sum_products<<<restart, krylov_threads>>>(state.data(), second, Base::summed(), Base::n_summed(), n_sums);
            subtract_components<<<n_blocks, krylov_threads>>>(n, q.data(), basis.data(), state.data(), second, parts.data());
          }
        Base::template put_together<Addition>(2);
        rotate<<<1, krylov_threads>>>(state.data(), Base::summed(), Base::n_summed(), more, checking);
        add_to_basis<<<n_blocks, krylov_threads>>>(n, q.data(), v.data(), basis.data(), state.data());
      }

      void queue_correction() override
      {
        solve_triangle<<<1, 1>>>(state.data());
        combine_directions<<<n_blocks, krylov_threads>>>(n, directions.data(), e.data(), state.data());
      }

      using Base::A;
      using Base::e;
      using Base::n;
      using Base::n_blocks;
      using Base::n_sums;
      using Base::parts;
      using Base::preconditioner;
      using Base::q;
      using Base::r;
      using Base::state;
      using Base::z;

      const int             restart;
      device::Array<double> numbers;           ///< the state's arrays
      device::Array<Number> basis, directions; ///< v_j, orthonormal, and z_j = M v_j, one after the other
      device::Array<Number> v;                 ///< the newest of the basis
    };
  } // namespace

  template <typename Number>
  std::unique_ptr<KrylovSolver<Number>> make_cuda_krylov(const CrsMatrix<Number>             &A,
                                                         const FgmresOptions                 &options,
                                                         const PreconditionerPointer<Number> &preconditioner,
                                                         const RanksOnDevice<Number>         &ranks)
  {
    return std::make_unique<CudaFgmres<Number>>(A, options, preconditioner, ranks);
  }

  template <typename Number>
  std::unique_ptr<KrylovSolver<Number>>
  make_cuda_krylov(const device::DeviceCrs<Number> &A, const FgmresOptions &options, const PreconditionerPointer<Number> &preconditioner)
  {
    return std::make_unique<CudaFgmres<Number>>(A, options, preconditioner);
  }

#define INSTANTIATE(Number)                                                                                            \
  template std::unique_ptr<KrylovSolver<Number>> make_cuda_krylov(const CrsMatrix<Number>             &A,              \
                                                                  const FgmresOptions                 &options,        \
                                                                  const PreconditionerPointer<Number> &preconditioner, \
                                                                  const RanksOnDevice<Number>         &ranks);                 \
  template std::unique_ptr<KrylovSolver<Number>> make_cuda_krylov(                                                     \
    const device::DeviceCrs<Number> &A, const FgmresOptions &options, const PreconditionerPointer<Number> &preconditioner);
  LEOPARD_FOR_EACH_NUMBER(INSTANTIATE)
#undef INSTANTIATE
} // namespace leopard
