// SPDX-License-Identifier: Apache-2.0
#include "communication.h"

#include "../base/errors.h"

namespace leopard
{
  template <typename Number>
  std::unique_ptr<const Communication<Number>> Communication<Number>::reordered(const std::vector<int> & /*old_row*/) const
  {
    throw InvalidInput(
      "an exchange of ghosts cannot serve vectors in another order\n  expected: Communication::reordered(), or blocks of contiguous rows");
  }

  template <typename Number>
  std::unique_ptr<LooseExchange<Number>> Communication<Number>::loose() const
  {
    throw InvalidInput("an exchange of ghosts cannot do without waiting\n  expected: Communication::loose(), or to wait for ghosts");
  }

  template <typename Number>
  std::unique_ptr<const Communication<float>> Communication<Number>::in_single() const
  {
    if (!is_distributed())
      return std::make_unique<Communication<float>>();
    throw InvalidInput("an exchange of ghosts cannot serve vectors in single precision\n  expected: Communication::in_single(), or double precision");
  }

#define INSTANTIATE(Number) template class Communication<Number>;
  LEOPARD_FOR_EACH_NUMBER(INSTANTIATE)
#undef INSTANTIATE
} // namespace leopard
