// SPDX-License-Identifier: Apache-2.0
// The time loop on a mesh beside nodes that have values prescribed: MeshLaplacian::decay.
#include "inside.h"
#include "triangles.h"

#include <applications/reaction_diffusion/mesh/mesh_hierarchy.h>
#include <solvers/base/errors.h>

#include <cmath>
#include <limits>

namespace leopard::reaction_diffusion
{
  class Decay : public BackendTest
  {
  };

  namespace
  {
    INSTANTIATE_TEST_SUITE_P(Backends, Decay, testing::Values(Backend::reference, Backend::host, Backend::cuda), backend_name);

    /** The eigenfunction sin(pi x) sin(pi y) of the unit square, whose values on the boundary are zero. */
    struct Mode
    {
      explicit Mode(int n)
        : inside(inside_of(unit_grid(n, 2)))
      {
        const double h = 1. / (n - 1), s = 2. * std::sin(0.5 * M_PI * h) / h;
        lambda = 2. * s * s; // of the five-point stencil
        for (const int i : inside.nodes)
          values.push_back(std::sin(M_PI * h * (i % n)) * std::sin(M_PI * h * static_cast<double>(i / n)));
      }

      Vector at(double t) const
      {
        Vector u = values;
        for (double &value : u)
          value *= std::exp(-lambda * t);
        return u;
      }

      Inside inside;
      double lambda;
      Vector values;
    };

    StepperOptions diffusion_only(Backend backend, Scheme scheme, double dt)
    {
      StepperOptions options = fixed_steps(backend, scheme, dt);
      TapeWriter     nothing(1, {0.});
      nothing.tape.outputs          = {nothing.constant(0), nothing.constant(0)};
      options.kinetics              = {"expressions", {}, 1., nothing.tape};
      options.diffusion             = {1.};
      options.stepping.newton_floor = 1e-13;
      return options;
    }
  } // namespace

  /** exp(-lambda t), and with the order of the scheme: an explicit decay of 256 would not be stable in such steps. */
  TEST_P(Decay, OfAnEigenfunction)
  {
    const Mode mode(17);
    for (const Scheme scheme : multistep_schemes())
      for (const LinearMethod method : {LinearMethod::sweeps, LinearMethod::multigrid})
        {
          const auto error = [&](int steps) {
            StepperOptions options         = diffusion_only(GetParam(), scheme, 0.1 / steps);
            options.stepping.linear_method = method;
            const auto exact               = [&](int step) { return mode.at(step * options.stepping.step_size); };
            return largest_difference(solution_of_full_order(mode.inside.laplacian, options, exact, 0.1), mode.at(0.1));
          };
          const double fine = error(20);
          EXPECT_LT(fine, 0.02) << static_cast<int>(scheme);
          EXPECT_NEAR(std::log2(error(10) / fine), order_of(scheme), 0.25) << static_cast<int>(scheme);
        }
  }

  /** The same as that of a reaction, in steps that are long; triangles have positive entries beside the diagonal. */
  TEST_P(Decay, IsThatOfAReaction)
  {
    const Triangles   mesh(33, 0.3, 5);
    std::vector<bool> is_free;
    for (const auto &node : mesh.nodes)
      is_free.push_back(node[0] < 0.999 && (node[1] > 0.001 || node[0] > 0.5));
    const Inside        inside(mesh.laplacian, is_free);
    TapeWriter          w(4, {1., 10.}); // u, v, t, d
    const std::uint16_t one = w.constant(0), ten = w.constant(1), du = w.negate(3), dv = w.negate(w.times(ten, 3)), none = w.minus(one, one);
    w.tape.outputs = {w.add(w.times(du, 0), w.minus(one, 0)), w.add(w.times(dv, 1), w.minus(one, 1)), w.minus(du, one), none, none, w.minus(dv, one)};
    TapeWriter          plain(2, {1.});
    const std::uint16_t unit = plain.constant(0), zero = plain.minus(unit, unit), minus = plain.negate(unit);
    plain.tape.outputs = {plain.minus(unit, 0), plain.minus(unit, 1), minus, zero, zero, minus};
    Vector u(2 * inside.nodes.size());
    for (std::size_t i = 0; i < u.size(); ++i)
      u[i] = 0.5 + 0.3 * std::sin(static_cast<double>(i));
    for (const Scheme scheme : {Scheme::implicit_euler, Scheme::bdf2})
      for (const LinearMethod method : {LinearMethod::sweeps, LinearMethod::multigrid})
        {
          StepperOptions options          = fixed_steps(GetParam(), scheme, method == LinearMethod::sweeps ? 1e-4 : 2e-3);
          options.stepping.linear_method  = method;
          options.stepping.newton_floor   = 1e-13;
          options.kinetics                = {"expressions", {}, 1., plain.tape};
          StepperOptions other            = options;
          other.backend                   = Backend::reference;
          other.kinetics                  = {"expressions", {}, 1., w.tape};
          other.kinetics.n_further_inputs = 2;
          other.kinetics.by_node          = std::make_shared<const Vector>(inside.laplacian.decay);
          MeshLaplacian without_decay     = inside.laplacian;
          without_decay.decay.clear();
          Totals       totals;
          const double time     = 5. * options.stepping.step_size;
          const Vector found    = solution_at(inside.laplacian, options, u, time, &totals);
          const Vector expected = solution_at(without_decay, other, u, time);
          EXPECT_LT(largest_difference(found, expected), 1e-8) << static_cast<int>(scheme);
          EXPECT_LE(totals.cycles, 20 * totals.newton_steps);
        }
  }

  /** Coarser levels have the mean of the decay of their nodes, so that cycles reduce as they do without. */
  TEST(DecayOfLevels, IsAMean)
  {
    const Inside                 inside = inside_of(unit_grid(65, 2));
    const std::vector<MeshLevel> levels = make_levels(inside.laplacian);
    ASSERT_GT(levels.size(), 2u);
    for (std::size_t l = 0; l + 1 < levels.size(); ++l)
      {
        const auto total = [](const MeshLaplacian &mesh) {
          double of_decay = 0., of_all = 0.;
          for (int i = 0; i < mesh.n_nodes(); ++i)
            {
              of_decay += mesh.weight[i] * mesh.decay[i];
              of_all += mesh.weight[i];
            }
          return of_decay / of_all;
        };
        EXPECT_NEAR(total(levels[l + 1].mesh), total(levels[l].mesh), 1e-10 * total(levels[l].mesh)) << "level " << l;
      }
  }

  TEST(DecayOfMeshes, BadInputIsNamed)
  {
    const auto expect = [](const Vector &decay, const std::string &text) {
      MeshLaplacian mesh = laplacian_of(unit_grid(5, 2));
      mesh.decay         = decay;
      try
        {
          Stepper(mesh, fixed_steps(Backend::host, Scheme::bdf2, 1e-3));
          ADD_FAILURE() << text;
        }
      catch (const InvalidInput &error)
        {
          EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
        }
    };
    expect(Vector(24, 1.), "there are 24 values of decay\n  expected: one a node, 25");
    Vector infinite(25, 1.);
    infinite[3] = std::numeric_limits<double>::infinity();
    expect(infinite, "the decay of a node is inf");
  }
} // namespace leopard::reaction_diffusion
