// SPDX-License-Identifier: Apache-2.0
// The oracle: sequential, and its linear systems are solved directly.
#include <applications/reaction_diffusion/engine.h>
#include <applications/reaction_diffusion/mesh/mesh_laplacian.h>
#include <applications/reaction_diffusion/rules/node_system.h>

#include <Eigen/SparseCore>
#include <Eigen/SparseLU>

namespace leopard::reaction_diffusion
{
  namespace
  {
    template <typename Kinetics>
    class ReferenceEngine : public Engine
    {
      static constexpr int N = Kinetics::n_species;

    public:
      ReferenceEngine(const MeshLaplacian &mesh_, const StepperOptions &options, const Kinetics &kinetics)
        : mesh(mesh_)
        , noise(make_node_noise<N>(options.noise))
        , increments(N * options.noise.n_nodes())
        , system(make_node_system(kinetics, options, increments.empty() ? nullptr : increments.data()))
        , n(mesh.n_nodes())
        , rhs(N * n)
        , blocks(n * N * N)
      {
        slots = make_slots(options.stepping.scheme, N * n);
      }

      void        set_slot(int slot, const double *u) override { slots[slot].assign(u, u + N * n); }
      void        get_slot(int slot, double *u) const override { std::copy(slots[slot].begin(), slots[slot].end(), u); }
      bool        has_multigrid() const override { return false; }
      std::string description() const override { return "sequential, sparse LU of the Jacobian"; }

      void run(Controller &c) override
      {
        c.run([&](Action action) {
          look_for_stop();
          std::vector<double> &u = slots[c.slot(-1)];
          if (action == Action::predict)
            {
              const double *levels[max_levels];
              get_levels(c, slots, levels);
              for (long i = 0; i < N * n; ++i)
                u[i] = typename NodeSystem<Kinetics>::Scheme(c).predict(levels, i);
              for (long i = 0; i < n && !increments.empty(); ++i)
                {
                  double u_n[N];
                  for (int s = 0; s < N; ++s)
                    u_n[s] = levels[0][s * n + i];
                  noise.set(c, static_cast<int>(i), u_n, increments.data());
                }
            }
          else
            {
              correct(c, u);
              c.n_sweeps = 1; // of what sweeps would have needed: a direct solver misses no tolerance
            }
          return evaluate(c, u);
        });
      }

    private:
      /** Calls visit(j, weight) for the neighbours j of node i. */
      template <typename Visitor>
      void for_neighbours(long i, const Visitor &visit) const
      {
        for (int p = mesh.matrix.row_offsets[i]; p < mesh.matrix.row_offsets[i + 1]; ++p)
          if (mesh.matrix.columns[p] != i)
            visit(mesh.matrix.columns[p], -mesh.matrix.values[p]);
      }

      Sums evaluate(const Controller &c, const std::vector<double> &u)
      {
        const typename NodeSystem<Kinetics>::Scheme scheme(c);
        Sums                                        sums;
        for (long i = 0; i < n; ++i)
          {
            double here[N], old[max_levels][N] = {}, laplace[N] = {}, g[N];
            for_neighbours(i, [&](long j, double w) {
              for (int s = 0; s < N; ++s)
                laplace[s] += w * (u[s * n + j] - u[s * n + i]);
            });
            for (int s = 0; s < N; ++s)
              {
                here[s] = u[s * n + i];
                for (int l = 0; l < c.n_slots() - 1; ++l)
                  old[l][s] = slots[c.slot(l)][s * n + i];
              }
            const double *const levels[max_levels] = {old[0], old[1], old[2], old[3]};
            system.residual(scheme, here, levels, laplace, mesh.row(static_cast<int>(i)), g, &blocks[i * N * N], sums);
            for (int s = 0; s < N; ++s)
              rhs[s * n + i] = -g[s];
          }
        return sums;
      }

      /** J d = -G with an LU factorization, which is kept as long as it reduces the residual to a hundredth; u += d. */
      void correct(const Controller &c, std::vector<double> &u)
      {
        const bool stale = c.attempt_figures.newton_steps > 0 && c.norm > 0.01 * last_norm;
        last_norm        = c.norm;
        if (stale || c.implicit != factored_implicit)
          factorize(c.implicit);
        const Eigen::VectorXd d = lu.solve(Eigen::Map<const Eigen::VectorXd>(rhs.data(), N * n));
        for (long i = 0; i < N * n; ++i)
          u[i] += d[i];
      }

      void factorize(double implicit)
      {
        std::vector<Eigen::Triplet<double>> entries;
        for (long i = 0; i < n; ++i)
          for (int s = 0; s < N; ++s)
            {
              for (int t = 0; t < N; ++t)
                entries.emplace_back(s * n + i, t * n + i, blocks[(i * N + s) * N + t]);
              for_neighbours(i, [&](long j, double w) { entries.emplace_back(s * n + i, s * n + j, -implicit * system.diffusion[s] * w); });
            }
        Eigen::SparseMatrix<double> A(N * n, N * n);
        A.setFromTriplets(entries.begin(), entries.end());
        lu.compute(A);
        factored_implicit = implicit;
      }

      const MeshLaplacian                          mesh;
      const NodeNoise<N>                           noise;
      std::vector<double>                          increments; ///< see NodeSystem; empty without noise
      const NodeSystem<Kinetics>                   system;
      const long                                   n;
      Engine::Slots                                slots;
      std::vector<double>                          rhs, blocks;
      Eigen::SparseLU<Eigen::SparseMatrix<double>> lu;
      double                                       factored_implicit = -1., last_norm = 0.;
    };
  } // namespace

  std::unique_ptr<Engine> make_reference_engine(const MeshLaplacian &mesh, const StepperOptions &options)
  {
    return with_kinetics(options.kinetics, [&](const auto &kinetics) -> std::unique_ptr<Engine> {
      return std::make_unique<ReferenceEngine<std::decay_t<decltype(kinetics)>>>(mesh, options, kinetics);
    });
  }
} // namespace leopard::reaction_diffusion
