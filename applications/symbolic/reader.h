// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "differentiate.h"

#include <ginac/ginac.h>

#include <map>
#include <string>
#include <vector>

namespace leopard::symbolic
{
  /** What the names in expressions mean. */
  class Names
  {
  public:
    /**
     * @param kind "species or constant", what a name may be, for messages. @throws Error for a constant that has the
     * name of a variable: one of the two meanings would be lost in silence.
     */
    Names(const std::vector<std::string> &variables, const Constants &constants, const std::string &kind = "species or constant");

    const GiNaC::realsymbol &variable(unsigned int i) const { return symbols[i]; }

    /** Reads an expression. @throws Error that says where the mistake is and what is expected. */
    GiNaC::ex read(const NamedExpression &expression) const;

    /**
     * Reports what has gone wrong with a whole expression; at the first use of `name` if there is one. @throws Error.
     */
    [[noreturn]] void fail(const NamedExpression &expression, const std::string &reason, const std::string &name = "") const;

    std::vector<GiNaC::realsymbol> symbols;

  private:
    [[noreturn]] void fail_at(const NamedExpression &expression, std::size_t position, const std::string &reason) const;

    std::string                      kind, expected;
    std::map<std::string, GiNaC::ex> meanings;
  };
} // namespace leopard::symbolic
