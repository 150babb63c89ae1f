// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

namespace leopard
{
  /** Collective: the text of the first rank whose own text is not empty; empty if all are. */
  using FirstError = std::function<std::string(const std::string &own)>;

  /**
   * Calls function() on each rank. If it throws on any, all ranks throw the error of the first of them, of its kind and
   * with its text, so that none goes on to wait for one that has given up. Collective; function() itself must not be.
   * @param where stands before the text of an error of this rank.
   */
  void together(const std::function<void()> &function, const FirstError &first_error, const std::string &where = "");
} // namespace leopard
