// SPDX-License-Identifier: Apache-2.0
#include "contradictions.h"

#include "automatic.h"
#include "nodes.h"
#include "report.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <utility>

namespace leopard::command_line
{
  void contradiction(const std::string &option, const std::string &with, const std::string &expected)
  {
    throw UsageError(option + " is given with " + with + "\n  expected: " + expected);
  }

  void refuse(const Arguments &a, std::initializer_list<const char *> options, const std::string &with, const std::string &expected)
  {
    for (const char *option : options)
      if (a.has(option))
        contradiction(option, with, expected);
  }

  void check_names_of_vectors(const Arguments &a)
  {
    const auto ends = [](std::string path, const std::string &with) {
      std::transform(path.begin(), path.end(), path.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
      return path.size() >= with.size() && path.compare(path.size() - with.size(), with.size(), with) == 0;
    };
    const auto refuse_compressed = [&](const std::string &option, const std::string &path) {
      if (ends(path, ".npy.gz"))
        throw UsageError(option + " is " + path + "\n  expected: a .npy file that is not compressed, or one in Matrix Market format, which may be");
    };
    refuse_compressed("--solution", a.solution);
    refuse_compressed("--rhs", a.rhs);
    refuse_compressed("--near-null-space", a.near_null_space);
    if (ends(a.solution, ".npy") && std::filesystem::path(a.solution).extension() != ".npy")
      throw UsageError("--solution is " + a.solution + "\n  expected: a name that ends in .npy, in small letters, for NumPy");
  }

  void say_what_is_unused(const Arguments &arguments)
  {
    const std::string method = text_of({arguments.method_name, arguments.preconditioner, ""});
    if (arguments.has("--threads") && arguments.method_name == "direct")
      log_line("unused", "--threads, as direct works in one thread");
    if (arguments.has("--test-every") && !arguments.is_relaxation())
      log_line("unused", "--test-every, as " + arguments.method_name + " knows its residual after each iteration");
    if (arguments.inner_iterations > 0 && (arguments.precision != Precision::mixed || (arguments.is_krylov() && arguments.has_multigrid())))
      log_line("unused", "--inner-iterations, as there are no corrections in single precision");
    if (arguments.has("--triangular") && !arguments.has_factors())
      log_line("unused",
               std::string("--triangular") + (arguments.has("--triangular-iterations") ? " and --triangular-iterations" : "") + ", as " + method +
                 " has no incomplete factors");
    if (arguments.has_nodes() && !arguments.has_multigrid())
      log_line("unused", text_of_nodes(arguments) + ", as " + method + " has no levels");
  }

  std::string words_of_method(const Arguments &a)
  {
    return "--method " + a.method_name + (a.is_krylov() ? " --preconditioner " + a.preconditioner : "") +
           (a.has_multigrid() && a.has("--smoother") ? " --smoother " + a.smoother : "");
  }

  std::string words_of_smoother(const Arguments &a)
  {
    return words_of_method(a) + (a.has_multigrid() && !a.has("--smoother") ? ", whose smoother is " + a.smoother : "");
  }
} // namespace leopard::command_line
