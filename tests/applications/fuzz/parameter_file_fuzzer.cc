// SPDX-License-Identifier: Apache-2.0
// Feeds any bytes to the reader of parameter files, with an entry of each kind declared: a file, and after bytes 0 the
// overrides of a command line. What is accepted must, printed, be read as the same again. The lists of studies are read
// from the same bytes. For libFuzzer.
#include "fuzz.h"

#include <applications/base/entry_documentation.h>
#include <applications/base/parameter_file.h>
#include <applications/studies/parameters/list_syntax.h>

#include <deal.II/base/parameter_handler.h>

#include <memory>
#include <vector>

namespace
{
  void declare(dealii::ParameterHandler &prm)
  {
    using namespace dealii::Patterns;
    prm.declare_entry("Problem", "turing", Selection("laplace|helmholtz|turing"), "A choice.");
    prm.declare_entry("Dimension", "2", Integer(2, 3), "An integer.");
    prm.enter_subsection("Mesh");
    prm.declare_entry("Cells", "1", List(Integer(1), 1, 3, ","), "A list of integers.");
    prm.declare_entry("Lower corner", "0", List(Double(), 1, 3, ","), "A list of numbers.");
    prm.declare_entry("Adaptive", "false", Bool(), "Yes or no.");
    prm.declare_entry("File", "", Anything(), "Text.");
    prm.leave_subsection();
    prm.enter_subsection("Time stepping");
    prm.declare_entry("Step size", "1e-4", Double(1e-300), "A number.");
    prm.declare_entry("Cycles", "V", List(Selection("V|W|F"), 1, 3, ","), "A list of choices.");
    prm.leave_subsection();
  }
} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
  std::vector<std::string> parts(1);
  for (std::size_t i = 0; i < size; ++i)
    if (data[i] == 0)
      parts.emplace_back();
    else
      parts.back() += static_cast<char>(data[i]);
  const std::string              text = parts[0];
  const std::vector<std::string> overrides(parts.begin() + 1, parts.end());

  dealii::ParameterHandler prm;
  declare(prm);
  if (fuzz::accepts([&] { leopard::parse_parameters(prm, text, "fuzz.prm", overrides); }))
    {
      const std::string        printed = leopard::all_parameters(prm);
      dealii::ParameterHandler again;
      declare(again);
      fuzz::require(fuzz::accepts([&] { leopard::parse_parameters(again, printed, "printed.prm", {}); }), "what is printed can be read");
      for (const auto &path : leopard::declared_entries(prm))
        {
          const auto value_in = [&](dealii::ParameterHandler &handler) {
            if (path.size() > 1)
              handler.enter_subsection(path[0]);
            std::string value = handler.get(path.back());
            if (path.size() > 1)
              handler.leave_subsection();
            return value;
          };
          fuzz::require(value_in(prm) == value_in(again), "the same value of " + path.back() + " when it is printed and read again");
          const std::string entry = path.size() > 1 ? path[0] + "/" + path[1] : path[0], given = leopard::given_value(text, overrides, entry);
          fuzz::require(given.empty() || given == value_in(prm), "the value of " + entry + " that was given");
        }
    }
  fuzz::accepts([&] { leopard::find_entry(prm, text, "fuzz"); });
  fuzz::accepts([&] {
    for (const std::string &part : leopard::split_list("fuzz", text))
      {
        fuzz::accepts([&] { leopard::parse_call("fuzz", part); });
        fuzz::accepts([&] { leopard::parse_bracketed("fuzz", part); });
      }
  });
  return 0;
}
