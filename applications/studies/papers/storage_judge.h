// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "study_report.h"

namespace leopard::studies
{
  /** Seconds of a global iteration and of starting (conversion and upload) of a method in two storages. */
  struct StorageTimes
  {
    double crs, block_crs, crs_start, block_crs_start;
  };

  /** Thesis, Table 4.8 and section 4.9, of async-(k), k = 1 or 5: block-CRS against Algorithm 16. */
  void judge_storage(int k, const StorageTimes &times, Report &report);

  /**
   * Section 4.8.2, "almost no performance difference": seconds of an iteration of Algorithms 16 and 17, to 10 percent.
   * A statement on GPUs, which host threads do not decide.
   */
  void judge_diagonal(int k, bool on_gpu, double by_branch, double by_product, Report &report);

  /**
   * Section 4.9: largest relative differences of the iterates of async-(k) in both storages where nothing is left to
   * chance, on one host thread and in one block on the backend.
   */
  void judge_iterates(int k, double one_thread, double one_block, Report &report);
  /** Likewise of Algorithms 16 and 18 as printed. */
  void judge_printed_iterates(double apart, Report &report);

  /** Largest relative difference of a printed algorithm's iterates from those of two numbers of sweeps. */
  struct SweepDifferences
  {
    double of_k, of_one_more; ///< from k sweeps, from 1 + k
  };

  /** Whether what is printed as async-(k) makes 1 + k sweeps. @param printed "Algorithm 16". */
  void judge_sweeps(const std::string &printed, int k, const SweepDifferences &differences, Report &report);
} // namespace leopard::studies
