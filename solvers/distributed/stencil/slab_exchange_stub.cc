// SPDX-License-Identifier: Apache-2.0
#include "../../base/errors.h"
#include "slab_exchange_cuda.h"

namespace leopard
{
  std::unique_ptr<SlabExchange> make_cuda_slab_exchange(
    int /*rank*/, int /*n_ranks*/, long /*largest_plane*/, long /*largest_vector*/, const AllGather & /*all_gather*/, std::string & /*why_not*/)
  {
    throw DeviceError("built without CUDA: configure with -D LEOPARD_CUDA=ON");
  }
} // namespace leopard
