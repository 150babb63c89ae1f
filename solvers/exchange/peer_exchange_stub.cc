// SPDX-License-Identifier: Apache-2.0
#include "../base/errors.h"
#include "peer_exchange.h"

namespace leopard
{
  std::unique_ptr<Exchange> make_peer_exchange(const ExchangePattern & /*pattern*/,
                                               int /*n_values*/,
                                               int /*rank*/,
                                               int /*n_ranks*/,
                                               const AllGather & /*all_gather*/,
                                               const std::shared_ptr<Traffic> & /*sent*/)
  {
    throw DeviceError("built without CUDA: configure with -D LEOPARD_CUDA=ON");
  }
} // namespace leopard
