// SPDX-License-Identifier: Apache-2.0
#include "methods.h"

#include "../base/errors.h"
#include "../base/words.h"

namespace leopard
{
  // each is defined beside its method, some in rooms above
  extern const Method async_method, async_refinement_method, jacobi_method, damped_jacobi_method, gauss_seidel_method, multicolour_method, sor_method,
    ssor_method, chebyshev_method, chebyshev4_method, ilu0_method;

  const std::vector<const Method *> &methods()
  {
    static const std::vector<const Method *> all = {&async_method,
                                                    &async_refinement_method,
                                                    &jacobi_method,
                                                    &damped_jacobi_method,
                                                    &gauss_seidel_method,
                                                    &multicolour_method,
                                                    &sor_method,
                                                    &ssor_method,
                                                    &chebyshev_method,
                                                    &chebyshev4_method,
                                                    &ilu0_method};
    return all;
  }

  std::vector<std::string> method_names(MethodUse use, Backend backend)
  {
    return method_names(use, [=](const Method &method) { return method.runs_on(backend, use); });
  }

  std::vector<std::string> method_names(MethodUse use, const std::function<bool(const Method &)> &condition)
  {
    std::vector<std::string> names;
    for (const Method *method : methods())
      if ((method->uses & use) != 0 && condition(*method))
        names.emplace_back(method->name);
    return names;
  }

  const Method *lookup_method(const std::string &name, MethodUse use)
  {
    for (const Method *method : methods())
      if (method->name == name && (method->uses & use) != 0)
        return method;
    return nullptr;
  }

  const Method &find_method(const std::string &name, MethodUse use)
  {
    if (const Method *method = lookup_method(name, use))
      return *method;
    const std::vector<std::string> names = method_names(use);
    throw InvalidInput(std::string(use == as_smoother ? "multigrid smoother: " : "") + "the method is '" + name + "'" + did_you_mean(name, names) +
                       "\n  expected: one of " + joined(names));
  }

  double omega_for_high_frequencies(int dim, double /*at_once*/)
  {
    return 2. * dim / (2. * dim + 1.);
  }
} // namespace leopard
