// SPDX-License-Identifier: Apache-2.0
// kinetics: nanoseconds a node of the built-in kinetics and of the same as expressions, on one thread, all data in the second cache.
#include <applications/problems/turing/expression_kinetics.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

namespace
{
  using namespace leopard;

  /** Of the fastest of some repetitions. */
  double nanoseconds(const Kinetics &kinetics, bool derivatives)
  {
    constexpr unsigned int n_nodes = 4096, n_repetitions = 200;
    std::vector<double>    u(n_nodes * 2), results(n_nodes * 4);
    for (unsigned int i = 0; i < u.size(); ++i)
      u[i] = 0.5 + 0.001 * (i % 1000);
    double best = 1e300;
    for (unsigned int repetition = 0; repetition < n_repetitions; ++repetition)
      {
        const auto start = std::chrono::steady_clock::now();
        kinetics.evaluate(n_nodes, u.data(), derivatives ? nullptr : results.data(), derivatives ? results.data() : nullptr);
        best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
      }
    return best / n_nodes * 1e9;
  }
} // namespace

int main()
{
  struct Case
  {
    const char *name, *f, *g;
    Constants   constants;
  };
  const Case cases[] = {{"Schnakenberg", "a - u + u^2*v", "b - u^2*v", {{"a", 0.126779}, {"b", 0.792366}}},
                        {"Gierer-Meinhardt", "a - b*u + u^2/(v*(1 + K*u^2))", "u^2 - v", {{"a", 0.1}, {"b", 1.}, {"K", 0.3}}},
                        {"Brusselator", "A - (B + 1)*u + u^2*v", "B*u - u^2*v", {{"A", 4.5}, {"B", 6.75}}},
                        {"Gray-Scott", "-u*v^2 + F*(1 - u)", "u*v^2 - (F + k)*v", {{"F", 0.035}, {"k", 0.06}}},
                        {"FitzHugh-Nagumo", "u - u^3 - v", "epsilon*(u - b*v + a)", {{"epsilon", 1.}, {"a", 0.1}, {"b", 1.}}}};
  std::printf("%-18s %12s %12s %12s %12s   ns a node\n", "", "rates", "expression", "derivatives", "expression");
  for (const Case &c : cases)
    {
      const auto               built_in = kinetics_registry().at(c.name)();
      const ExpressionKinetics expressions({"u", "v"}, {{"f", c.f}, {"g", c.g}}, c.constants);
      std::printf("%-18s %12.2f %12.2f %12.2f %12.2f\n",
                  c.name,
                  nanoseconds(*built_in, false),
                  nanoseconds(expressions, false),
                  nanoseconds(*built_in, true),
                  nanoseconds(expressions, true));
    }
}
