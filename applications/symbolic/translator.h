// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tape_builder.h"

#include <ginac/ginac.h>

#include <map>
#include <string>
#include <vector>

namespace leopard
{
  /** Thrown while an expression is translated; says what is wrong, not where. */
  struct NotTranslatable
  {
    std::string reason;
    std::string function = ""; ///< the one that is to blame, if it is one
  };

  /**
   * Translates GiNaC's trees to a tape. Operands are sorted by their text, since GiNaC's own order varies from run to
   * run.
   */
  class Translator
  {
  public:
    explicit Translator(const std::vector<GiNaC::realsymbol> &variables);

    /** Appends an expression in the variables to the tape's outputs. @throws NotTranslatable. */
    void add_output(const GiNaC::ex &e) { builder.add_output(translate(e)); }

    /** @throws Error if it is too long. */
    ExpressionTape tape() const { return builder.tape(); }

  private:
    using Register = TapeBuilder::Register;

    static bool                   is_constant(const GiNaC::ex &e);
    static double                 number(const GiNaC::ex &e);
    static double                 sign(const GiNaC::ex &term);
    static std::string            key(const GiNaC::ex &e);
    static std::vector<GiNaC::ex> sorted_operands(const GiNaC::ex &e);

    Register translate(const GiNaC::ex &e);
    Register translate_anew(const GiNaC::ex &e);
    Register translate_sum(const GiNaC::ex &e);
    Register translate_product(const GiNaC::ex &e);
    Register translate_power(const GiNaC::ex &base, const GiNaC::ex &exponent);
    Register integer_power(Register x, unsigned int n);
    Register translate_function(const GiNaC::ex &e);

    TapeBuilder                         builder;
    std::map<std::string, unsigned int> inputs;

    std::map<GiNaC::ex, Register, GiNaC::ex_is_less> known; ///< what has been translated
  };
} // namespace leopard
