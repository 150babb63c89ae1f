// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "arguments.h"

#include <initializer_list>
#include <string>

namespace leopard::command_line
{
  /** @throws UsageError: the option is given with that, and what is expected instead. */
  [[noreturn]] void contradiction(const std::string &option, const std::string &with, const std::string &expected);

  /** None of these options may have been given. @throws UsageError. */
  void refuse(const Arguments &a, std::initializer_list<const char *> options, const std::string &with, const std::string &expected);

  /**
   * Names of vectors in files: those of .npy files, which are not compressed and end in small letters. @throws
   * UsageError.
   */
  void check_names_of_vectors(const Arguments &a);

  /** Lines of the log about options that do nothing in the method that is tried. */
  void say_what_is_unused(const Arguments &arguments);

  /** "--method cg --preconditioner async", and a smoother that is given. */
  std::string words_of_method(const Arguments &a);
  /** The same, and the smoother where none is given: of options that it does not take. */
  std::string words_of_smoother(const Arguments &a);
} // namespace leopard::command_line
