// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "communication.h"

#include <string>

namespace leopard
{
  /**
   * A LooseExchange for ranks that go on by themselves until all have done their part of a visit, see
   * iterate_freely().
   */
  template <typename Number>
  class FreeExchange : public LooseExchange<Number>
  {
  public:
    /**
     * This rank has done its part of the visit; whether all ranks have. Waits for nobody: it is asked again until it is
     * true, on all ranks, before the next visit begins.
     */
    virtual bool all_are_done() = 0;
    /** The text of the first rank whose text is not empty; empty if there is none. Collective. */
    virtual std::string first_error(const std::string &text) const = 0;
  };
} // namespace leopard
