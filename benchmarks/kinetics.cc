// SPDX-License-Identifier: Apache-2.0
// kinetics: nanoseconds a node of the compiled kinetics of the solver library and of the same as expressions, on one
// thread, all data in the second cache.
#include <applications/problems/turing/kinetics.h>
#include <applications/reaction_diffusion/kinetics/kinetics_choice.h>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>

namespace
{
  using namespace leopard;

  /** Of the fastest of some repetitions. */
  template <typename Evaluate>
  double nanoseconds(const Evaluate &evaluate)
  {
    constexpr int       n_nodes = 4096, n_repetitions = 200;
    std::vector<double> u(n_nodes * 2), results(n_nodes * 6);
    for (unsigned int i = 0; i < u.size(); ++i)
      u[i] = 0.5 + 0.001 * (i % 1000);
    double best = 1e300;
    for (int repetition = 0; repetition < n_repetitions; ++repetition)
      {
        const auto start = std::chrono::steady_clock::now();
        evaluate(n_nodes, u.data(), results.data(), results.data() + 2 * n_nodes);
        best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
      }
    return best / n_nodes * 1e9;
  }
} // namespace

int main(int argc, char **argv)
{
  CLI::App app("Nanoseconds a node of the built-in kinetics, compiled and as expressions, on one thread");
  CLI11_PARSE(app, argc, argv);
  std::printf("%-18s %12s %12s   ns a node, rates and derivatives\n", "", "compiled", "expressions");
  for (const std::string &name : reaction_diffusion::kinetics_names())
    {
      const auto                         kinetics = kinetics_registry().at(name)();
      reaction_diffusion::KineticsChoice choice{name, {}, 1., {}};
      for (const auto &parameter : kinetics->parameters())
        choice.constants.push_back(parameter.value);
      kinetics->compile();
      const double compiled    = reaction_diffusion::with_two_species(choice, [](const auto &functor) {
        return nanoseconds([&](int n, const double *u, double *r, double *j) {
          for (int i = 0; i < n; ++i)
            functor.evaluate(u + 2 * i, {}, r + 2 * i, j + 4 * i);
        });
      });
      const double expressions = nanoseconds([&](int n, const double *u, double *r, double *j) { kinetics->evaluate(n, u, r, j); });
      std::printf("%-18s %12.2f %12.2f\n", name.c_str(), compiled, expressions);
    }
}
