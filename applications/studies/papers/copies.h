// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "study_report.h"

#include <vector>

namespace leopard::studies
{
  /** 10^9 bytes a second that arrive at their destination. */
  struct CopySpeeds
  {
    double                           on_host = 0.;     ///< from host memory to host memory, all threads
    std::vector<double>              to_gpu, from_gpu; ///< of each GPU, host memory on the other side
    std::vector<std::vector<double>> between;          ///< [from][to]; on the diagonal within a GPU
  };

  /** What the thesis says of Table C.3. What needs GPUs that are not there is not decided. */
  void judge_copies(const CopySpeeds &speeds, Report &report);
} // namespace leopard::studies
