// SPDX-License-Identifier: Apache-2.0
#include "stepper.h"

#include "engine.h"
#include "mesh/mesh_hierarchy.h"

#include <solvers/base/errors.h>
#include <solvers/base/words.h>

#include <algorithm>
#include <cmath>
#include <functional>

namespace leopard::reaction_diffusion
{
  namespace
  {
    template <typename... Functors>
    std::vector<std::pair<std::string, std::size_t>> names_and_constants(ListOfKinetics<Functors...> /*unused*/)
    {
      return {{Functors::name, Functors::n_constants}...};
    }
  } // namespace

  std::vector<std::string> kinetics_names()
  {
    std::vector<std::string> names;
    for (const auto &[name, n_constants] : names_and_constants(CompiledKinetics()))
      names.push_back(name);
    return names;
  }

  namespace
  {
    void require(bool condition, const std::string &found, const std::string &expected)
    {
      if (!condition)
        throw InvalidInput(found + "\n  expected: " + expected);
    }

    /** @param ranks null: one rank. */
    void require_backend_of_several(const StepperOptions &options, const Ranks *ranks)
    {
      require(ranks == nullptr || options.backend != Backend::reference, "the backend is reference and there are several ranks", "host or cuda");
      require(ranks == nullptr || !is_exponential(options.stepping.scheme), "the scheme is ETDRK4 and there are several ranks", "one rank");
    }

    /** @param n_own nodes of the rank. */
    void require_values_by_node(const KineticsChoice &kinetics, long n_own)
    {
      const std::size_t expected = kinetics.n_by_node() * n_own, found = kinetics.by_node != nullptr ? kinetics.by_node->size() : 0;
      require(found == expected,
              "the reaction is given " + std::to_string(found) + " values by node",
              std::to_string(expected) + ", " + std::to_string(kinetics.n_by_node()) + " for each node");
    }

    /** @param ranks null: one rank. */
    std::unique_ptr<Engine> make_engine(const MeshLaplacian &mesh, const StepperOptions &options, const std::shared_ptr<MeshRanks> &ranks)
    {
      const bool exponential = is_exponential(options.stepping.scheme);
      require(!exponential || options.backend == Backend::reference,
              "the scheme is ETDRK4 and the domain a mesh",
              "a grid, whose modes are known, or the backend reference, which computes those of small meshes");
      if (options.backend == Backend::reference)
        return exponential ? make_exponential_reference_engine(mesh, options) : make_reference_engine(mesh, options);
      return options.backend == Backend::host ? make_host_engine(mesh, options, ranks) : make_cuda_engine(mesh, options, ranks);
    }

    /** @param slabs null: one rank. */
    std::unique_ptr<Engine> make_engine(const NodeGrid &grid, const StepperOptions &options, const std::shared_ptr<GridSlabs> &slabs)
    {
      if (options.backend == Backend::reference)
        return make_engine(laplacian_of(grid), options, nullptr);
      require(!grid.is_periodic() || slabs == nullptr, "the grid is periodic, and ranks share it", "one rank, or the grid's rows, laplacian_of()");
      if (is_exponential(options.stepping.scheme))
        return options.backend == Backend::host ? make_exponential_host_engine(grid, options) : make_exponential_cuda_engine(grid, options);
      return options.backend == Backend::host ? make_host_engine(grid, options, slabs) : make_cuda_engine(grid, options, slabs);
    }
  } // namespace

  std::string KineticsChoice::why_not() const
  {
    if (name != "expressions")
      return "";
    const std::size_t others = n_further_inputs + (has_load_time ? 1 : 0), n = expressions.n_inputs < others ? 0 : expressions.n_inputs - others;
    if (n < 1 || n > max_species)
      return "they have " + std::to_string(n) + " species, and 1 to " + std::to_string(max_species) + " are possible";
    if (expressions.outputs.size() != n * (n + 1))
      return "they give " + std::to_string(expressions.outputs.size()) + " values instead of " + std::to_string(n) + " rates and " +
             std::to_string(n * n) + " derivatives";
    return CompactTape::why_not(expressions);
  }

  void KineticsChoice::validate() const
  {
    require(std::isfinite(gamma), "gamma is " + short_text(gamma), "a finite number");
    if (name == "expressions")
      {
        require(why_not().empty(), "the kinetics are expressions that cannot be stepped: " + why_not(), "expressions within these limits");
        return;
      }
    std::string list;
    std::size_t wanted = 0;
    bool        known  = false;
    for (const auto &[compiled, n_constants] : names_and_constants(CompiledKinetics()))
      {
        list += (list.empty() ? "" : ", ") + compiled;
        if (compiled == name)
          {
            known  = true;
            wanted = n_constants;
          }
      }
    require(known, "there are no kinetics '" + name + "'", "one of " + list + ", or expressions");
    require(constants.size() == wanted, name + " kinetics are given " + std::to_string(constants.size()) + " constants", std::to_string(wanted));
    for (const double c : constants)
      require(std::isfinite(c), "a constant of the " + name + " kinetics is " + short_text(c), "a finite number");
  }

  std::string NoiseChoice::why_not() const
  {
    return acts() ? CompactTape::why_not(strengths) : "";
  }

  void NoiseChoice::validate(std::size_t n_species, long n_nodes_) const
  {
    if (!acts())
      return;
    require(why_not().empty(), "the strengths of noise cannot be stepped: " + why_not(), "expressions within these limits");
    require(strengths.outputs.size() == n_species && strengths.n_inputs == n_species + n_further_inputs,
            "noise has " + std::to_string(strengths.outputs.size()) + " strengths of " + std::to_string(strengths.n_inputs) + " inputs",
            std::to_string(n_species) + " strengths, one a field, of as many inputs and further ones");
    const std::size_t n_values = by_node != nullptr ? by_node->size() : 0, n_wanted = n_by_node() * n_nodes_;
    require(n_values == n_wanted,
            "noise is given " + std::to_string(n_values) + " values by node",
            std::to_string(n_wanted) + ", " + std::to_string(n_by_node()) + " for each node");
    const std::size_t n_places = places != nullptr ? places->size() : 0;
    require(static_cast<long>(n_places) == n_nodes_ && n_nodes() == n_nodes_,
            "noise is given " + std::to_string(n_places) + " places and " + std::to_string(n_nodes()) + " masses of nodes",
            std::to_string(n_nodes_) + ", one for each node");
    for (const double m : *mass)
      require(m > 0. && std::isfinite(m), "the mass of a node is " + short_text(m) + ", and there is noise", "a positive number");
  }

  double StepperOptions::largest_diffusion() const
  {
    return *std::max_element(diffusion.begin(), diffusion.end());
  }

  void StepperOptions::validate() const
  {
    kinetics.validate();
    const std::size_t n = kinetics.n_species();
    require(diffusion.size() == n,
            std::to_string(diffusion.size()) + " diffusion coefficients are given for " + kinetics.name,
            std::to_string(n) + ", one a field");
    for (const double d : diffusion)
      require(d > 0. && std::isfinite(d), "a diffusion coefficient is " + short_text(d), "a positive number");
    require(n_beside >= 1, std::to_string(n_beside) + " Steppers are said to use the GPU", "1 or more, this one among them");
    const SteppingOptions &s = stepping;
    require(s.step_size > 0. && std::isfinite(s.step_size), "the step size is " + short_text(s.step_size), "a positive number");
    require((s.error_tolerance > 0. && std::isfinite(s.error_tolerance)) || !s.error_controlled,
            "the error tolerance is " + short_text(s.error_tolerance),
            "a positive number");
    require(s.smallest_step >= 0. && s.largest_step > 0.,
            "the smallest step is " + short_text(s.smallest_step) + " and the largest " + short_text(s.largest_step),
            "numbers from 0 on, the largest not 0");
    require(s.steady_tolerance >= 0. && std::isfinite(s.steady_tolerance),
            "the steady tolerance is " + short_text(s.steady_tolerance),
            "a positive number, or 0 for none");
    require(s.bound_fraction >= 0. && s.bound_fraction <= 1.,
            "the fraction of the asynchronous bound is " + short_text(s.bound_fraction),
            "0 for steps that do not follow it, or at most 1");
    require(std::isfinite(growth.rate) && (growth.dimension == 2 || growth.dimension == 3),
            "the domain grows with the rate " + short_text(growth.rate) + " in " + std::to_string(growth.dimension) + " dimensions",
            "a finite rate in 2 or 3");
    require(s.bound_fraction == 0. || !s.error_controlled, "steps are error-controlled and follow the asynchronous bound", "one of both");
    require(s.bound_fraction == 0. || !has_explicit_reaction(s.scheme),
            "steps follow the asynchronous bound, but with an explicit reaction every step has a convergent iteration",
            "another scheme");
    require(!is_exponential(s.scheme) || (s.bound_fraction == 0. && growth.law == GrowthLaw::none),
            "the scheme is ETDRK4, and steps follow the asynchronous bound or the domain grows",
            "another scheme; this one has no such bound and its modes do not grow");
    require(!noise.acts() || (s.scheme == Scheme::implicit_euler && !s.error_controlled && s.bound_fraction == 0. && growth.law == GrowthLaw::none),
            "there is noise, and the scheme is not implicit Euler, steps are not fixed, or the domain grows",
            "implicit Euler with fixed steps on a domain that stays");
    require(s.newton_tolerance >= 0. && s.newton_floor >= 0. && std::isfinite(s.newton_tolerance) && std::isfinite(s.newton_floor),
            "the tolerances of Newton's method are " + short_text(s.newton_tolerance) + " and " + short_text(s.newton_floor),
            "finite numbers that are not negative");
    require(s.newton_error_fraction >= 0. && s.newton_error_fraction <= 1.,
            "the part of the error that Newton's method may leave is " + short_text(s.newton_error_fraction),
            "a number from 0 to 1");
    require(s.newton_tolerance > 0. || s.newton_floor > 0., "both tolerances of Newton's method are 0", "at least one positive number");
    require(s.max_newton_steps >= 1 && s.max_sweeps >= 1 && s.max_cycles >= 1, "a largest number of iterations is below 1", "1 or more");
    require(s.omega > 0. && s.omega < 2., "the relaxation factor omega is " + short_text(s.omega), "a number between 0 and 2");
    require(local_iterations >= 1, "the number of local iterations is " + std::to_string(local_iterations), "1 or more");
    require(n_threads >= 0, "the number of threads is " + std::to_string(n_threads), "0 for all, or more");
  }

  class Stepper::Implementation
  {
  public:
    /**
     * @param n_own_ nodes of the rank, @param n_all of all ranks. @param largest_row, largest_excess as of
     * MeshLaplacian.
     */
    Implementation(std::unique_ptr<Engine> engine_, const StepperOptions &options, long n_own_, long n_all, double largest_row, double largest_excess)
      : n_own(n_own_)
      , by_node(options.kinetics.by_node)
      , noise(options.noise)
      , species(static_cast<int>(options.diffusion.size()))
      , engine(std::move(engine_))
    {
      controller.options            = options.stepping;
      controller.growth             = options.growth;
      controller.next_step          = options.stepping.step_size;
      controller.n_unknowns         = static_cast<double>(n_all) * species;
      controller.has_multigrid      = engine->has_multigrid();
      controller.smallest_reduction = engine->smallest_reduction();
      controller.rate_bound         = options.largest_diffusion() * largest_row;
      controller.excess_bound       = options.largest_diffusion() * largest_excess;
    }

    const long                                       n_own;
    const std::shared_ptr<const std::vector<double>> by_node; ///< which the engine reads
    const NoiseChoice                                noise;   ///< likewise
    const int                                        species;
    std::unique_ptr<Engine>                          engine;
    Controller                                       controller;
  };

  namespace
  {
    /**
     * Makes what one rank alone may fail to make, for want of memory, say; then all ranks throw, and none waits for the
     * others in start().
     */
    void make_together(const Ranks *ranks, const std::function<void()> &make)
    {
      if (ranks != nullptr)
        ranks->together(make);
      else
        make();
    }
  } // namespace

  Stepper::Stepper(const NodeGrid &grid, const StepperOptions &options, const std::shared_ptr<GridSlabs> &slabs)
  {
    make_together(slabs.get(), [&] {
      options.validate();
      require_backend_of_several(options, slabs.get());
      grid.validate(static_cast<int>(options.diffusion.size()));
      const long n_own = slabs != nullptr ? slabs->own_grid().n_nodes() : grid.n_nodes();
      require_values_by_node(options.kinetics, n_own);
      options.noise.validate(options.diffusion.size(), n_own);
      auto engine    = make_engine(grid, options, slabs);
      implementation = std::make_unique<Implementation>(std::move(engine), options, n_own, grid.n_nodes(), largest_row(grid), 0.);
    });
    implementation->engine->connect();
  }

  Stepper::Stepper(const MeshLaplacian &mesh, const StepperOptions &given, const std::shared_ptr<MeshRanks> &ranks)
  {
    StepperOptions options = given;
    const int      n_own   = mesh.n_nodes();
    make_together(ranks.get(), [&] {
      options.validate();
      require_backend_of_several(options, ranks.get());
      mesh.validate(ranks != nullptr);
      const int n_of_ranks = ranks != nullptr ? ranks->levels.front().mesh.n_nodes() : n_own;
      require(n_of_ranks == n_own,
              "the mesh has " + std::to_string(n_own) + " nodes on a rank, which has shared out one with " + std::to_string(n_of_ranks) + " there",
              "the same mesh");
      require_values_by_node(options.kinetics, n_own);
      options.noise.validate(options.diffusion.size(), n_own);
    });
    if (const std::size_t n = options.kinetics.n_by_node(); ranks != nullptr && n > 0) // collective, and not of the noise, which no coarser level has
      options.kinetics.by_node = std::make_shared<const std::vector<double>>(ranks->with_gathered(*options.kinetics.by_node, n));
    make_together(ranks.get(), [&] {
      const int n_all = ranks != nullptr ? ranks->levels.front().n_all : n_own;
      checked_count(static_cast<double>(n_all) * static_cast<double>(options.diffusion.size()), "values of all fields on the mesh");
      auto         engine = make_engine(mesh, options, ranks);
      const double row    = ranks != nullptr ? ranks->largest_row : mesh.largest_row();
      const double excess = ranks != nullptr ? ranks->largest_excess : mesh.largest_excess();
      implementation      = std::make_unique<Implementation>(std::move(engine), options, n_own, n_all, row, excess);
    });
    implementation->engine->connect();
  }

  Stepper::~Stepper() = default;

  int Stepper::n_species() const
  {
    return implementation->species;
  }

  long Stepper::n_nodes() const
  {
    return implementation->n_own;
  }

  void Stepper::start(const double *u)
  {
    Controller &c = implementation->controller;
    c.newest      = 0;
    c.row_rate    = -1.;
    c.resume({0, 0., c.options.step_size, {}});
    implementation->engine->set_slot(0, u);
  }

  StopReason Stepper::advance(double stop_time, long max_steps, double slack, const std::function<bool()> &asked_to_stop)
  {
    Controller &c = implementation->controller;
    if (c.n_levels == 0)
      throw InvalidInput("advance() is called before start() or resume()\n  expected: initial values");
    c.stop_time = stop_time;
    c.last_step = c.step + max_steps;
    c.slack     = slack;
    if (asked_to_stop && asked_to_stop())
      return c.stop_reason = StopReason::asked_to_stop;
    implementation->engine->asked_to_stop = asked_to_stop;
    try
      {
        implementation->engine->run(c);
      }
    catch (const AskedToStop &)
      {
        c.stop_reason = StopReason::asked_to_stop;
      }
    return c.stop_reason;
  }

  double Stepper::time() const
  {
    return implementation->controller.time;
  }

  long Stepper::step_number() const
  {
    return implementation->controller.step;
  }

  double Stepper::attempted_step_size() const
  {
    return implementation->controller.step_size;
  }

  double Stepper::next_step_size() const
  {
    return implementation->controller.next_step;
  }

  const StepFigures &Stepper::last_step() const
  {
    return implementation->controller.figures;
  }

  const Totals &Stepper::totals() const
  {
    return implementation->controller.totals;
  }

  void Stepper::solution(double *u, int level) const
  {
    const Controller &c = implementation->controller;
    require(level >= 0 && level < c.n_levels,
            "solution " + std::to_string(level) + " steps ago is asked for",
            "less than " + std::to_string(c.n_levels) + ", as many as are kept");
    implementation->engine->get_slot(c.slot(level), u);
  }

  Stepper::State Stepper::state() const
  {
    return implementation->controller.state();
  }

  void Stepper::resume(const State &state, const std::vector<std::vector<double>> &solutions)
  {
    Controller       &c = implementation->controller;
    const std::size_t n = solutions.size();
    require(n >= 1 && n <= max_levels && state.step_sizes.size() + 1 == n,
            std::to_string(n) + " solutions and " + std::to_string(state.step_sizes.size()) + " step sizes are given",
            "1 to " + std::to_string(max_levels) + " solutions and one step size fewer");
    for (const auto &u : solutions)
      require(static_cast<long>(u.size()) == n_species() * n_nodes(),
              "a solution has " + std::to_string(u.size()) + " values",
              std::to_string(n_species() * n_nodes()));
    c.resume(state);
    c.row_rate = -1.;
    c.newest   = c.n_levels - 1;
    for (int l = 0; l < c.n_levels; ++l)
      implementation->engine->set_slot(c.slot(l), solutions[l].data());
  }

  bool Stepper::has_multigrid() const
  {
    return implementation->engine->has_multigrid();
  }

  std::string Stepper::description() const
  {
    return implementation->engine->description();
  }
} // namespace leopard::reaction_diffusion
