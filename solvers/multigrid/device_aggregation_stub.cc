// SPDX-License-Identifier: Apache-2.0
#include "../device/no_cuda.h"
#include "device_aggregation.h"

namespace leopard::device
{
  Aggregates aggregate(const DeviceCrs<double> & /*A*/, double /*strength*/)
  {
    no_cuda();
  }
  DeviceCrs<double> smoothed_prolongation(Aggregates & /*aggregates*/)
  {
    no_cuda();
  }
  std::vector<AggregationLevel> aggregation_levels(DeviceCrs<double> /*A*/, const AggregationOptions & /*options*/)
  {
    no_cuda();
  }
  leopard::NearNullSpace to_host(const NearNullSpace & /*space*/)
  {
    no_cuda();
  }
  GalerkinProduct galerkin_on_device(const AggregationOptions & /*options*/, double /*n_finest*/)
  {
    no_cuda();
  }
  std::vector<Array<int>> aggregate_orders(const std::vector<AggregationLevel> & /*levels*/)
  {
    no_cuda();
  }
} // namespace leopard::device
