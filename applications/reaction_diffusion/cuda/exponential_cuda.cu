// SPDX-License-Identifier: Apache-2.0
// Exponential steps on a GPU: a step is a CUDA graph, its sums are what the host reads.
#include "device_modes.cuh"
#include "grid_kernels.cuh"

#include <applications/reaction_diffusion/exponential_engine.h>
#include <applications/reaction_diffusion/kinetics/kinetics_on_device.h>
#include <solvers/base/errors.h>
#include <solvers/device/grid_stride.cuh>
#include <solvers/device/recording.cuh>

#include <algorithm>
#include <array>
#include <memory>

namespace leopard::reaction_diffusion
{
  namespace
  {
    using device::first_index;
    using device::stride;

    /** What changes from step to step. */
    template <int N>
    struct StepParameters
    {
      double time, dt, last, rms, diffusion[N], jacobian[N * N], difference[N * N];
    };

    template <int N>
    __global__ void set_up_modes(const StepParameters<N> *p, const double *eigenvalue, long n, double *matrices)
    {
      for (long i = first_index<long>(); i < n; i += stride<long>())
        if (eigenvalue[i] >= 0.) // there is a mode
          ExponentialStep<N>::set_up(p->dt, p->jacobian, p->diffusion, eigenvalue[i], matrices + i, n);
    }

    template <int N>
    __global__ void change_rates(const StepParameters<N> *p, const double *eigenvalue, long n, const double *u, double *rates)
    {
      for (long i = first_index<long>(); i < n; i += stride<long>())
        if (eigenvalue[i] >= 0.)
          ExponentialStep<N>::change_jacobian({nullptr, n, i}, p->difference, u, rates);
    }

    /** Zeros where there is no mode, also after a step that has failed with values that are not finite. */
    template <int N>
    __device__ bool is_no_mode(double eigenvalue, const typename ExponentialStep<N>::Mode &mode, double *result)
    {
      constexpr double zeros[N] = {};
      if (eigenvalue < 0.)
        mode.store(zeros, result);
      return eigenvalue < 0.;
    }

    template <int N>
    __global__ void compute_stage(int                                s,
                                  const StepParameters<N>           *p,
                                  const double                      *eigenvalue,
                                  const double                      *matrices,
                                  long                               n,
                                  const double                      *u,
                                  typename ExponentialStep<N>::Rates rates,
                                  double                            *result)
    {
      for (long i = first_index<long>(); i < n; i += stride<long>())
        if (const typename ExponentialStep<N>::Mode mode = {matrices, n, i}; !is_no_mode<N>(eigenvalue[i], mode, result))
          {
            if (s < ExponentialStep<N>::n_stages)
              ExponentialStep<N>::stage(s, mode, p->dt, u, rates, result);
            else
              ExponentialStep<N>::finish(mode, p->dt, u, rates, result);
          }
    }

    template <int N>
    __global__ void estimate_error(const StepParameters<N>           *p,
                                   const double                      *eigenvalue,
                                   const double                      *matrices,
                                   long                               n,
                                   typename ExponentialStep<N>::Rates rates,
                                   const double                      *older_rates,
                                   const double                      *new_rates,
                                   double                            *result)
    {
      for (long i = first_index<long>(); i < n; i += stride<long>())
        if (const typename ExponentialStep<N>::Mode mode = {matrices, n, i}; !is_no_mode<N>(eigenvalue[i], mode, result))
          ExponentialStep<N>::error(mode, p->dt, p->last, rates, older_rates, new_rates, result);
    }

    /** The fields of a node and its mirror images, a row a field. */
    template <int dim, int N>
    struct GroupValues
    {
      static constexpr int n_nodes = NodeGroup<dim>::n_nodes;
      double               of[N][n_nodes];

      /** From even and odd parts. */
      __device__ void load_folded(const NodeGroup<dim> &group, const double *folded)
      {
        for (int c = 0; c < N; ++c)
          {
            for (int s = 0; s < n_nodes; ++s)
              of[c][s] = group.has_place(s) ? folded[c * group.grid.size() + group.place(s)] : 0.;
            group.unfold(of[c]);
          }
      }
      __device__ void store_folded(const NodeGroup<dim> &group, double *folded)
      {
        for (int c = 0; c < N; ++c)
          {
            group.fold(of[c]);
            for (int s = 0; s < n_nodes; ++s)
              if (group.has_place(s))
                folded[c * group.grid.size() + group.place(s)] = of[c][s];
          }
      }
      __device__ void load(const NodeGroup<dim> &group, long n, const double *u)
      {
        for (int c = 0; c < N; ++c)
          for (int s = 0; s < n_nodes; ++s)
            of[c][s] = u[c * n + group.node(s)];
      }
      __device__ void store(const NodeGroup<dim> &group, long n, double *u) const
      {
        for (int c = 0; c < N; ++c)
          for (int s = 0; s < n_nodes; ++s)
            u[c * n + group.node(s)] = of[c][s];
      }
    };

    /**
     * Folded g(u). @param u n values a field, read where folded is null, else (unless it is null) written. @param
     * folded of u; @param also, if it is not null, is to be the folded u. @param fraction of the step, at which it is.
     */
    template <int dim, typename Kinetics>
    __global__ void compute_rates(const StepParameters<Kinetics::n_species> *p,
                                  ExponentialNodes<Kinetics>                 nodes,
                                  double                                     fraction,
                                  FoldedGrid                                 grid,
                                  long                                       n,
                                  const double                              *folded,
                                  double                                    *u,
                                  double                                    *also,
                                  double                                    *g)
    {
      constexpr int N = Kinetics::n_species;
      for (long i = first_index<long>(); i < grid.n_groups(); i += stride<long>())
        {
          const NodeGroup<dim> group(grid, i);
          GroupValues<dim, N>  values, rates;
          if (folded != nullptr)
            values.load_folded(group, folded);
          else
            values.load(group, n, u);
          for (int s = 0; s < NodeGroup<dim>::n_nodes; ++s)
            {
              double here[N], rate[N];
              for (int c = 0; c < N; ++c)
                here[c] = values.of[c][s];
              nodes.rate(p->jacobian, here, {static_cast<int>(group.node(s)), p->time + fraction * p->dt}, rate);
              for (int c = 0; c < N; ++c)
                rates.of[c][s] = rate[c];
            }
          rates.store_folded(group, g);
          if (folded != nullptr && u != nullptr)
            values.store(group, n, u);
          if (also != nullptr)
            values.store_folded(group, also);
        }
    }

    /** Each thread block's Sums. @param error folded. */
    template <int dim, int N>
    __global__ void __launch_bounds__(grid_threads)
      sum_step(const StepParameters<N> *p, FoldedGrid grid, long n, const double *old, const double *u, const double *error, double *parts)
    {
      Sums sums;
      for (long i = first_index<long>(); i < grid.n_groups(); i += stride<long>())
        {
          const NodeGroup<dim> group(grid, i);
          GroupValues<dim, N>  errors;
          errors.load_folded(group, error);
          for (int s = 0; s < NodeGroup<dim>::n_nodes; ++s)
            if (!group.is_copy(s))
              for (int c = 0; c < N; ++c)
                {
                  const long k = c * n + group.node(s);
                  add_sums_of_step(p->rms, old[k], u[k], errors.of[c][s], sums);
                }
        }
      write_part(sums, parts);
    }

    /** Each thread block's sums of derivatives and squares: see ExponentialNodes::add_jacobian(). */
    template <typename Kinetics>
    __global__ void __launch_bounds__(grid_threads)
      sum_derivatives_of(ExponentialNodes<Kinetics> nodes, double time, long n, const double *u, double *parts)
    {
      constexpr int n_sums       = Kinetics::n_species * Kinetics::n_species + 1;
      double        sums[n_sums] = {};
      for (long i = first_index<long>(); i < n; i += stride<long>())
        {
          double here[Kinetics::n_species];
          for (int c = 0; c < Kinetics::n_species; ++c)
            here[c] = u[c * n + i];
          nodes.add_jacobian(here, {static_cast<int>(i), time}, sums);
        }
      write_part<Addition>(sums, parts, n_sums);
    }

    template <typename Kinetics, int dim>
    class ExponentialCuda : public ExponentialEngine<Kinetics::n_species>
    {
      static constexpr int N = Kinetics::n_species;
      using Base             = ExponentialEngine<N>;
      using Step             = ExponentialStep<N>;
      using typename Base::Jacobian;
      static constexpr int n_slots = 3, n_sums = std::max(Sums::n, N *N + 1);

    public:
      ExponentialCuda(const NodeGrid &grid, const StepperOptions &options, const Kinetics &kinetics)
        : n(grid.n_nodes())
        , on_device(kinetics)
        , nodes{on_device.kinetics, options.kinetics.gamma}
        , modes(grid, N)
        , n_modes(modes.grid.size())
        , parameters(1)
        , matrices(Step::n_matrices * N * N * n_modes)
        , work(N * n_modes)
        , folded(zeros(N * n_modes)) // and zero it stays where there is no node
        , parts(static_cast<std::size_t>(n_sums) * n_sum_blocks())
        , merged(n_sums)
      {
        std::copy(options.diffusion.begin(), options.diffusion.end(), current.diffusion);
        for (device::Array<double> &array : values)
          array = zeros(N * n);
        for (auto *arrays : {&in_modes, &rates, &stage_rates})
          for (device::Array<double> &array : *arrays)
            array = zeros(N * n_modes);
        LEOPARD_CHECK(cudaMemset(matrices.data(), 0, matrices.size() * sizeof(double)));
        send();
        device::wait();
        const device::RecordingLock lock(device::recording()); // cuBLAS loads its kernels at the first use
        queue_step(0, 1); // libraries load their kernels at the first use, which must not be while a graph is recorded
        for (int from = 0; from < n_slots; ++from)
          graphs.at(from).record([&] { queue_step(from, (from + 1) % n_slots); });
        device::wait();
      }

      void set_slot(int slot, const double *u) override
      {
        device::copy_to_device(values[slot].data(), u, N * n * sizeof(double));
        Base::forget(slot);
      }
      void        get_slot(int slot, double *u) const override { device::copy_to_host(u, values[slot].data(), N * n * sizeof(double)); }
      std::string description() const override
      {
        return "exponential steps in " + std::to_string(n) + " modes of the Laplacian, dense transforms by cuBLAS, a step a CUDA graph";
      }

    protected:
      double n_nodes() const override { return static_cast<double>(n); }

      void to_modes(int slot, const Jacobian &jacobian) override
      {
        std::copy(jacobian.begin(), jacobian.end(), current.jacobian);
        current.time = Base::now;
        send();
        device::set_zero(work.data(), work.size() * sizeof(double)); // where there is no node; a step that failed leaves what is not finite
        const device::RecordingLock lock(device::recording());       // cuBLAS loads its kernels at the first use
        evaluate(0., nullptr, values[slot].data(), work.data(), rates[slot].data());
        modes.to_modes(work.data(), in_modes[slot].data());
      }

      std::array<double, N * N + 1> sum_derivatives(int slot) const override
      {
        sum_derivatives_of<Kinetics><<<n_sum_blocks(), grid_threads, 0, device::stream()>>>(nodes, Base::now, n, values[slot].data(), parts.data());
        merge_rank<Addition, N * N + 1><<<1, grid_threads, 0, device::stream()>>>(parts.data(), n_sum_blocks(), merged.data());
        LEOPARD_CHECK(cudaGetLastError());
        std::array<double, N * N + 1> result;
        read(result.data(), result.size());
        return result;
      }

      void set_up(double dt, const Jacobian &jacobian) override
      {
        current.dt = dt;
        std::copy(jacobian.begin(), jacobian.end(), current.jacobian);
        send();
        set_up_modes<N>
          <<<blocks_for_modes(), device::threads, 0, device::stream()>>>(parameters.data(), modes.eigenvalues(), n_modes, matrices.data());
        LEOPARD_CHECK(cudaGetLastError());
      }

      void change_jacobian(int slot, const Jacobian &difference) override
      {
        std::copy(difference.begin(), difference.end(), current.difference);
        send();
        change_rates<N><<<blocks_for_modes(), device::threads, 0, device::stream()>>>(
          parameters.data(), modes.eigenvalues(), n_modes, in_modes[slot].data(), rates[slot].data());
        LEOPARD_CHECK(cudaGetLastError());
      }

      Sums attempt(int from, int to, double dt, double last, double rms) override
      {
        if (to != (from + 1) % n_slots)
          throw InvalidInput("a step goes from slot " + std::to_string(from) + " to slot " + std::to_string(to) + "\n  expected: the next one");
        current.time = Base::now;
        current.dt   = dt;
        current.last = last;
        current.rms  = rms;
        send();
        graphs.at(from).launch();
        double sums[Sums::n];
        read(sums, Sums::n);
        return Sums(sums);
      }

    private:
      static device::Array<double> zeros(std::size_t size)
      {
        device::Array<double> result(size);
        LEOPARD_CHECK(cudaMemset(result.data(), 0, size * sizeof(double)));
        return result;
      }

      int blocks_for_modes() const { return device::blocks_for(n_modes); }
      int n_sum_blocks() const { return std::min(device::blocks_for(n), 4 * device::n_multiprocessors()); }

      void send() const { device::copy_to_device(parameters.data(), &current, sizeof(current)); }

      void read(double *values_, std::size_t n_values) const
      {
        LEOPARD_CHECK(cudaStreamSynchronize(device::stream()));
        device::copy_to_host(values_, merged.data(), n_values * sizeof(double));
      }

      /** g(u) in modes; see compute_rates(). */
      void evaluate(double fraction, const double *parts_of_u, double *u, double *also, double *g) const
      {
        compute_rates<dim><<<device::blocks_for(modes.grid.n_groups()), device::threads, 0, device::stream()>>>(
          parameters.data(), nodes, fraction, modes.grid, n, parts_of_u, u, also, folded.data());
        modes.to_modes(folded.data(), g);
      }

      void queue_step(int from, int to)
      {
        const double *const        u = in_modes[from].data();
        const typename Step::Rates g{{rates[from].data(), stage_rates[0].data(), stage_rates[1].data(), stage_rates[2].data()}};
        const auto                 stage = [&](int s, double *result) {
          compute_stage<N><<<blocks_for_modes(), device::threads, 0, device::stream()>>>(
            s, parameters.data(), modes.eigenvalues(), matrices.data(), n_modes, u, g, result);
        };
        for (int s = 0; s < Step::n_stages; ++s)
          {
            stage(s, folded.data());
            modes.from_modes(folded.data(), work.data());
            evaluate(Step::fraction(s), work.data(), nullptr, nullptr, stage_rates[s].data());
          }
        stage(Step::n_stages, in_modes[to].data());
        modes.from_modes(in_modes[to].data(), work.data());
        evaluate(1., work.data(), values[to].data(), nullptr, rates[to].data());
        estimate_error<N><<<blocks_for_modes(), device::threads, 0, device::stream()>>>(
          parameters.data(), modes.eigenvalues(), matrices.data(), n_modes, g, rates[3 - from - to].data(), rates[to].data(), folded.data());
        modes.from_modes(folded.data(), work.data());
        sum_step<dim, N><<<n_sum_blocks(), grid_threads, 0, device::stream()>>>(
          parameters.data(), modes.grid, n, values[from].data(), values[to].data(), work.data(), parts.data());
        merge_rank<Sums, Sums::n><<<1, grid_threads, 0, device::stream()>>>(parts.data(), n_sum_blocks(), merged.data());
        LEOPARD_CHECK(cudaGetLastError());
      }

      const long                                 n;
      const KineticsOnDevice<Kinetics>           on_device;
      const ExponentialNodes<Kinetics>           nodes;
      const DeviceModes                          modes;
      const long                                 n_modes; ///< of a folded field
      StepParameters<N>                          current = {};
      const device::Array<StepParameters<N>>     parameters;
      const device::Array<double>                matrices;
      const device::Array<double>                work, folded; ///< workspace
      const device::Array<double>                parts, merged;
      std::array<device::Array<double>, n_slots> values;                       ///< at the nodes
      std::array<device::Array<double>, n_slots> in_modes, rates, stage_rates; ///< in modes
      std::array<device::Graph, n_slots>         graphs;                       ///< of a step from each slot to the next
    };
  } // namespace

  std::unique_ptr<Engine> make_exponential_cuda_engine(const NodeGrid &grid, const StepperOptions &options)
  {
    if (device::n_devices() == 0)
      device::throw_no_device("the backend is cuda", "the backend host");
    for (const int n : grid.n)
      if (n > 16384) // dense matrices of half the size, for each plane
        throw InvalidInput(
          "the grid has " + std::to_string(n) +
          " nodes in a direction, and transforms on a GPU are products with dense matrices\n  expected: at most 16384, or the backend host");
    return with_kinetics(options.kinetics, [&](const auto &kinetics) -> std::unique_ptr<Engine> {
      using Kinetics = std::decay_t<decltype(kinetics)>;
      if (grid.is_flat())
        return std::make_unique<ExponentialCuda<Kinetics, 2>>(grid, options, kinetics);
      return std::make_unique<ExponentialCuda<Kinetics, 3>>(grid, options, kinetics);
    });
  }
} // namespace leopard::reaction_diffusion
