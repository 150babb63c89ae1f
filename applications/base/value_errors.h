// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <solvers/base/errors.h>

#include <string>

namespace leopard
{
  /** Why values cannot be used, for a message. */
  struct ValueComplaint
  {
    std::string text;                 ///< empty: they can
    bool        blames_entry = false; ///< whether it names an entry whose value it is, which other steps or solvers do not mend
  };

  /** An entry has no finite value somewhere, or none that it may have; the text names it. */
  class EntryError : public Error
  {
  public:
    using Error::Error;
  };

  /** Numbers that come of a solution are not finite; a shorter step may mend that. */
  class NotFinite : public ConvergenceFailure
  {
  public:
    explicit NotFinite(const ValueComplaint &complaint)
      : ConvergenceFailure(complaint.text)
      , blames_entry(complaint.blames_entry)
    {
    }

    const bool blames_entry; ///< see ValueComplaint
  };
} // namespace leopard
