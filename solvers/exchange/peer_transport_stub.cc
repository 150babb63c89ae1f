// SPDX-License-Identifier: Apache-2.0
#include "../base/errors.h"
#include "peer_transport.h"

namespace leopard
{
  std::unique_ptr<Transport>
  make_peer_transport(int /*rank*/, int /*n_ranks*/, long /*largest_vector*/, const AllGather & /*all_gather*/, std::string & /*why_not*/)
  {
    throw DeviceError("built without CUDA: configure with -D LEOPARD_CUDA=ON");
  }
} // namespace leopard
