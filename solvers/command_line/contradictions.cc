// SPDX-License-Identifier: Apache-2.0
#include "contradictions.h"

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
