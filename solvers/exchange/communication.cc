// SPDX-License-Identifier: Apache-2.0
#include "communication.h"

#include "../base/errors.h"

namespace leopard
{
  std::unique_ptr<const Communication> Communication::reordered(const std::vector<int> & /*old_row*/) const
  {
    throw InvalidInput(
      "an exchange of ghosts cannot serve vectors in another order\n  expected: Communication::reordered(), or blocks of contiguous rows");
  }

  std::unique_ptr<LooseExchange> Communication::loose() const
  {
    throw InvalidInput("an exchange of ghosts cannot do without waiting\n  expected: Communication::loose(), or to wait for ghosts");
  }
} // namespace leopard
