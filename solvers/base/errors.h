// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>

namespace leopard
{
  /**
   * What a user or the machine has caused and a user can mend. The text says what was found, what was expected, where,
   * and what to do; it is complete and needs no call stack.
   *
   * In a parallel program an Error is *collective*: it is thrown on every rank with the same text, so that rank 0
   * reports it and no rank waits for one that has failed. What goes wrong on a single rank only is no Error until
   * all ranks know it (see together(), and in the program throw_if_any_failed()).
   */
  class Error : public std::runtime_error
  {
  public:
    using std::runtime_error::runtime_error;
  };

  /** A matrix, a vector length or an option that the solvers cannot work with. */
  class InvalidInput : public Error
  {
  public:
    using Error::Error;
  };

  /** A device that is asked for and is not there, has too little memory, or reports a CUDA error. */
  class DeviceError : public Error
  {
  public:
    using Error::Error;
  };

  /** An iteration that diverges, stagnates, or misses its tolerance within the iterations it was given. */
  class ConvergenceFailure : public Error
  {
  public:
    using Error::Error;
  };
} // namespace leopard
