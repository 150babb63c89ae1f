// SPDX-License-Identifier: Apache-2.0
// Feeds any text to the readers of expressions: the symbolic one of free kinetics (differentiated, compiled to tapes,
// evaluated), the one of sources and boundary values (muParser), constants, and lists of boundary values. The first
// byte says which. For libFuzzer.
#include "fuzz.h"

#include <applications/problems/expression.h>
#include <applications/symbolic/differentiate.h>

#include <cmath>
#include <cstring>

namespace
{
  using namespace leopard;

  void differentiated(const std::string &text)
  {
    const std::vector<std::string> variables = {"u", "v"};
    const Constants                constants = {{"a", 0.1}, {"b", 2.}};
    const auto                     result    = differentiate({{"Reaction u", text}, {"Reaction v", "a*u - v"}}, variables, constants);
    fuzz::require(result.values.outputs.size() == 2 && result.derivatives.outputs.size() == 4 && result.both.outputs.size() == 6,
                  "a value an output");
    const double points[] = {0., 0., 1., 2., -0.5, 3., 1e300, -1e300, 1e-300, 0.};
    double       values[10], derivatives[20], both[30];
    result.values.evaluate(5, points, values);
    result.derivatives.evaluate(5, points, derivatives);
    result.both.evaluate(5, points, both);
    for (int p = 0; p < 5; ++p)
      for (int i = 0; i < 2; ++i) // the bits, as NaN is not equal to itself
        fuzz::require(std::memcmp(values + 2 * p + i, both + 6 * p + i, sizeof(double)) == 0 || values[2 * p + i] != values[2 * p + i],
                      "the same value from the tape of values and that of all");
    // GiNaC's order of operands varies from run to run, and with it the rounding: what is finite stays so, near the
    // origin at least
    const auto once_more = differentiate({{"Reaction u", text}, {"Reaction v", "a*u - v"}}, variables, constants);
    fuzz::require(once_more.both.outputs.size() == result.both.outputs.size(), "as many outputs when it is differentiated again");
  }
} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
  if (size == 0)
    return 0;
  const std::string text(reinterpret_cast<const char *>(data) + 1, size - 1);
  switch (data[0] % 4)
    {
      case 0:
        fuzz::accepts([&] { differentiated(text); });
        break;
      case 1:
        fuzz::accepts([&] { Expression("fuzz", text).value(dealii::Point<3>(0.1, -0.2, 0.), 0.5); });
        break;
      case 2:
        fuzz::accepts([&] { BoundaryExpressions("fuzz", text); });
        break;
      default:
        fuzz::accepts([&] {
          for (const auto &[name, value] : read_constants("fuzz", text))
            fuzz::require(why_no_name(name).empty() && value == value, "constants with a name and a number");
        });
    }
  return 0;
}
