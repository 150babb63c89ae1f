// SPDX-License-Identifier: Apache-2.0
#include "waiting.h"

#include "../base/errors.h"

namespace leopard::device
{
  std::string to_string(Waiting waiting)
  {
    return waiting == Waiting::spin ? "spin" : "block";
  }

  Waiting waiting_of(const std::string &name)
  {
    for (const Waiting waiting : {Waiting::spin, Waiting::block})
      if (name == to_string(waiting))
        return waiting;
    throw InvalidInput("waiting is '" + name + "'\n  expected: spin or block");
  }
} // namespace leopard::device
