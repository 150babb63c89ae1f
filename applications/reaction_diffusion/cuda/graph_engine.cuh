// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "device_noise.cuh"
#include "device_time_loop.cuh"

#include <applications/reaction_diffusion/engine.h>
#include <applications/reaction_diffusion/kinetics/kinetics_on_device.h>
#include <solvers/exchange/ranks.h>

#include <memory>
#include <string>
#include <vector>

namespace leopard::reaction_diffusion
{
  static_assert(iterations_a_turn % waited_exchange_interval == 0);

  /**
   * The time loop as a CUDA graph, on the nodes of a domain: a DeviceGrid or a DeviceMesh, whose kernels the graph
   * launches (TimeLoopKernels). Where ranks exchange values by messages, which no graph can hold, the host launches
   * them. Beside, a domain has
   *
   *   has_spare, n_values(), first_value()         whether it uses GraphState::spare; a slot's size and first value
   *   set_values(slot, u), get_values(slot, u)     from and to the caller's array; the former says whether launches of
   *                                                cycles are no longer those that were recorded
   *   sums                                         BlockSums of its kernels
   *   connect()                                    see Engine
   *   blocks(), n_levels(), level_name             words of a description
   */
  template <typename Kinetics, template <typename> class Domain>
  class GraphEngine : public Engine
  {
    static constexpr int N = Kinetics::n_species;

  public:
    /** @param whole, ranks_ as the domain takes them; ranks_ null: one rank. */
    template <typename Whole, typename OfRanks>
    GraphEngine(
      const Whole &whole, const StepperOptions &options, const Kinetics &kinetics, bool with_multigrid, const std::shared_ptr<OfRanks> &ranks_)
      : ranks(ranks_)
      , local_iterations(options.local_iterations)
      , cycle(options.cycle)
      , on_device(kinetics)
      , state(1)
      , noise(options.noise.acts() ? std::make_unique<const DeviceNoise<N>>(options.noise) : nullptr)
      , domain(whole,
               options,
               make_node_system(on_device.kinetics, options, noise != nullptr ? noise->increments() : nullptr),
               with_multigrid,
               state.data(),
               ranks_.get(),
               noise.get())
      , fields(levels_kept(options.stepping.scheme) + 1 + (domain.has_spare ? 1 : 0))
    {
      GraphState initial{};
      for (std::size_t f = 0; f < fields.size(); ++f)
        {
          fields[f] = device::Array<double>(domain.n_values());
          LEOPARD_CHECK(cudaMemset(fields[f].data(), 0, fields[f].size() * sizeof(double)));
          (domain.has_spare && f + 1 == fields.size() ? initial.spare : initial.slots[f]) = fields[f].data() + domain.first_value();
        }
      device::copy_to_device(state.data(), &initial, sizeof(GraphState));
      device::wait();
    }

    void connect() override { domain.connect(); }

    void set_slot(int slot, const double *u) override
    {
      if (domain.set_values(slot_pointer(slot), u))
        loop.forget();
      device::wait();
    }
    void        get_slot(int slot, double *u) const override { domain.get_values(slot_pointer(slot), u); }
    bool        has_multigrid() const override { return domain.has_cycles(); }
    double      smallest_reduction() const override { return 3e-6; } // corrections are floats
    std::string description() const override
    {
      return (ranks != nullptr ? ranks->description() : "") + domain.blocks() + ", " + std::to_string(local_iterations) +
             " local sweeps, the time loop " + (is_recorded() ? "a CUDA graph" : "followed by the host, as messages need it") +
             (has_multigrid() ? ", " + to_string(cycle) + "-cycles on " + std::to_string(domain.n_levels()) + " " + domain.level_name : "") +
             ", corrections in single precision";
    }

    void run(Controller &c) override
    {
      loop.run(c, is_recorded(), domain, state.data(), local_iterations, domain.sums.parts(), domain.sums.n_parts());
    }

  private:
    bool is_recorded() const { return ranks == nullptr || ranks->transport->is_queued(); }

    double *slot_pointer(int slot) const
    {
      double *pointer;
      device::copy_to_host(&pointer, &state.data()->slots[slot], sizeof(double *));
      return pointer;
    }

    const std::shared_ptr<Ranks>                ranks; ///< or null
    const int                                   local_iterations;
    const CycleType                             cycle;
    const KineticsOnDevice<Kinetics>            on_device;
    const device::Array<GraphState>             state;
    const std::unique_ptr<const DeviceNoise<N>> noise; ///< or null
    Domain<Kinetics>                            domain;
    std::vector<device::Array<double>>          fields; ///< slots, and the spare one
    DeviceTimeLoop                              loop;
  };
} // namespace leopard::reaction_diffusion
