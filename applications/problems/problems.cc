// SPDX-License-Identifier: Apache-2.0
#include "problems.h"

#include "helmholtz/helmholtz.h"
#include "laplace/laplace.h"
#include "reaction_diffusion/reaction_diffusion.h"
#include "turing/turing.h"

#include <solvers/base/errors.h>

namespace leopard
{
  namespace
  {
    template <typename P>
    std::unique_ptr<Problem> make()
    {
      return std::make_unique<P>();
    }
  } // namespace

  const std::vector<NamedProblem> &problems()
  {
    static const std::vector<NamedProblem> table = {{"laplace", "-div(a grad u) = s", make<Laplace>},
                                                    {"helmholtz", "-laplace u + delta u = s", make<Helmholtz>},
                                                    {"reaction-diffusion", "-laplace u = f(u) + s (all stationary)", make<ReactionDiffusion>},
                                                    {"turing", "u_t = gamma f + D_u laplace u + s for each species u", make<Turing>}};
    return table;
  }

  std::string problem_names()
  {
    std::string names;
    for (const NamedProblem &problem : problems())
      names += (names.empty() ? "" : "|") + std::string(problem.name);
    return names;
  }

  std::unique_ptr<Problem> make_problem(const std::string &name)
  {
    for (const NamedProblem &problem : problems())
      if (name == problem.name)
        return problem.make();
    throw Error("there is no problem '" + name + "'\n  expected: one of " + problem_names());
  }
} // namespace leopard
