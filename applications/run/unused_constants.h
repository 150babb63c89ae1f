// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace leopard
{
  struct Parameters;

  /**
   * A constant of the problem's 'Constants', or a picture of 'Images', that no expression, number or value of a sweep
   * names.
   */
  struct UnusedConstant
  {
    std::string entry; ///< "Section/Constants/NAME", "Section/Images/NAME"
    std::string why;
  };

  /** Of a study, those that none of its cases uses. A constant that only unused ones use is unused, too. */
  std::vector<UnusedConstant> unused_constants(const Parameters &parameters);

  /** @throws Error for a sweep over such a constant: all its runs would be the same. */
  void check_swept_constants(const Parameters &parameters);
} // namespace leopard
