// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "host_multigrid.h"

#include <applications/reaction_diffusion/engine.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace leopard::reaction_diffusion
{
  /**
   * The time loop on host threads, on the nodes of a domain: a HostGrid or a HostMesh. Vectors are those of the
   * domain's finest level. Beside what a HostMultigrid asks for, a domain has
   *
   *   for_places(f)         f(entry, place): where the caller's arrays have each entry of a level's vectors
   *   choose_coarsest(u)    before steps from the solution u, the caller's array
   *   linearize(scheme, u)  the Jacobian at u on the coarse levels
   *   connect()             see Engine
   *   blocks(), level_name  words of a description
   *
   * and a level, beside what multiply() and Gcr ask for, sweep(), set_block() and n_pieces().
   */
  template <typename Kinetics, template <typename> class Domain>
  class HostEngine : public Engine
  {
    static constexpr int N = Kinetics::n_species;
    using Level            = typename Domain<Kinetics>::Level;
    using Scheme           = typename NodeSystem<Kinetics>::Scheme;

  public:
    /** @param levels of all ranks, and ranks_, null for one rank: as the domain takes them. */
    template <typename Levels, typename OfRanks>
    HostEngine(const Levels &levels, const StepperOptions &options_, const Kinetics &kinetics, const std::shared_ptr<OfRanks> &ranks_)
      : options(options_)
      , ranks(ranks_)
      , noise(make_node_noise<N>(options.noise))
      , increments(N * options.noise.n_nodes())
      , domain(levels, make_node_system(kinetics, options_, increments.empty() ? nullptr : increments.data()), options_, ranks_.get())
      , fine(*domain.levels[0])
      , multigrid(options_.cycle)
      , partial_sums(fine.n_pieces())
    {
      slots = make_slots(options.stepping.scheme, fine.d.size());
      if (has_multigrid())
        multigrid.allocate(domain);
    }

    void connect() override { domain.connect(); }

    void set_slot(int slot, const double *u) override
    {
      domain.for_places([&](long entry, long place) { slots[slot][entry] = u[place]; });
      if (has_multigrid())
        domain.choose_coarsest(u);
    }
    void get_slot(int slot, double *u) const override
    {
      domain.for_places([&](long entry, long place) { u[place] = slots[slot][entry]; });
    }
    bool        has_multigrid() const override { return options.stepping.linear_method != LinearMethod::sweeps; }
    std::string description() const override
    {
      return (ranks != nullptr ? ranks->description() : "") + std::to_string(fine.scheduler.n_threads()) + " host threads, " +
             std::to_string(fine.n_blocks) + " blocks of " + domain.blocks() + ", " + std::to_string(options.local_iterations) + " local sweeps" +
             (has_multigrid() ? ", " + to_string(options.cycle) + "-cycles on " + std::to_string(domain.levels.size()) + " " + domain.level_name
                              : "");
    }

    void run(Controller &c) override
    {
      c.run([&](Action action) {
        look_for_stop();
        if (action == Action::predict)
          predict(c);
        else
          correct(c);
        return evaluate(c);
      });
    }

  private:
    void predict(const Controller &c)
    {
      double       *u = slots[c.slot(-1)].data();
      const double *old[max_levels];
      get_levels(c, slots, old);
      const Scheme scheme(c);
      for_entries([&](long i) { u[i] = scheme.predict(old, i); });
      if (!increments.empty())
        fine.for_nodes([&](const auto &node, int /*piece*/) {
          double u_n[N];
          for (int s = 0; s < N; ++s)
            u_n[s] = old[0][node.entry(s)];
          noise.set(c, node.row().node, u_n, increments.data());
        });
    }

    /** J d = -G, u += d. */
    void correct(Controller &c)
    {
      double *u = slots[c.slot(-1)].data();
      fine.clear();
      if (c.uses_multigrid)
        {
          domain.linearize(Scheme(c), u);
          c.n_cycles = multigrid.solve(domain, c.implicit, c.reduction, c.n_cycles, [this] { look_for_stop(); });
        }
      else
        sweep(c);
      for_entries([&](long i) { u[i] += fine.d[i]; });
    }

    /** c.n_sweeps sweeps in parts that take less than a second on one thread. */
    void sweep(const Controller &c)
    {
      constexpr double updates_of_a_part = 2e7; // of unknowns
      const int        k                 = options.local_iterations;
      const int        together          = std::max(1, static_cast<int>(std::min<double>(c.n_sweeps, updates_of_a_part / c.n_unknowns)) / k) * k;
      for (int done = 0; done < c.n_sweeps; done += together)
        {
          if (done > 0)
            {
              look_for_stop();
              fine.update_ghosts(fine.d.data());
            }
          fine.sweep(domain.system, c.implicit, std::min(together, c.n_sweeps - done), k);
        }
    }

    /** G, the blocks of J and the sums at u. */
    Sums evaluate(const Controller &c)
    {
      double       *u = slots[c.slot(-1)].data();
      const double *old[max_levels];
      get_levels(c, slots, old);
      const int    n_levels = c.n_slots() - 1;
      const Scheme scheme(c);
      fine.update_ghosts(u);
      std::fill(partial_sums.begin(), partial_sums.end(), Sums());
      fine.for_nodes([&](const auto &node, int piece) {
        const NodeRow row = node.row();
        double        here[N], values[max_levels][N] = {}, laplace[N], g[N], block[N * N];
        node.sum_of_neighbours(u, laplace);
        for (int s = 0; s < N; ++s)
          {
            for (int l = 0; l < n_levels; ++l)
              values[l][s] = old[l][node.entry(s)];
            here[s] = u[node.entry(s)];
            laplace[s] -= row.diagonal * here[s];
          }
        const double *const levels[max_levels] = {values[0], values[1], values[2], values[3]};
        domain.system.residual(scheme, here, levels, laplace, row, g, block, partial_sums[piece]);
        fine.set_block(domain.system, c.implicit, node, row, block, c.uses_multigrid);
        for (int s = 0; s < N; ++s)
          fine.rhs[node.entry(s)] = -g[s];
      });
      return total();
    }

    /** Of the partial sums, over all ranks. */
    Sums total() const
    {
      Sums result;
      for (const Sums &sums : partial_sums)
        result.add(sums);
      if (ranks == nullptr)
        return result;
      double values[Sums::n];
      result.copy_to(values);
      ranks->merge(values, Sums::n, Sums::merge);
      return Sums(values);
    }

    /** f(i) for all own entries of all fields, in parallel. */
    template <typename F>
    void for_entries(const F &f)
    {
      fine.for_ranges([&](long begin, long end, int /*piece*/) {
        for (long i = begin; i < end; ++i)
          f(i);
      });
    }

    const StepperOptions            options;
    const std::shared_ptr<Ranks>    ranks; ///< or null
    const NodeNoise<N>              noise;
    std::vector<double>             increments; ///< see NodeSystem; empty without noise
    Domain<Kinetics>                domain;
    Level                          &fine;
    HostMultigrid<Domain<Kinetics>> multigrid;
    Engine::Slots                   slots;
    std::vector<Sums>               partial_sums;
  };
} // namespace leopard::reaction_diffusion
