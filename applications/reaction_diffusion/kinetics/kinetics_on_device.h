// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tape_kinetics.h"

#include <solvers/device/device_array.h>

namespace leopard::reaction_diffusion
{
  /** Kinetics as a parameter of kernels. */
  template <typename Kinetics>
  struct KineticsOnDevice
  {
    explicit KineticsOnDevice(const Kinetics &kinetics_)
      : kinetics(kinetics_)
    {
    }
    const Kinetics kinetics;
  };

  /**
   * A tape is read instruction by instruction, and for that it is in device memory: kernels read their parameters fast
   * only at places known beforehand.
   */
  template <int N>
  struct KineticsOnDevice<TapeKinetics<N>>
  {
    explicit KineticsOnDevice(const TapeKinetics<N> &kinetics_)
      : tape(std::vector<CompactTape>(1, kinetics_.tape))
      , kinetics(with_tape(kinetics_, tape.data()))
    {
    }
    const device::Array<CompactTape> tape;
    const TapeKinetics<N>            kinetics;

  private:
    static TapeKinetics<N> with_tape(TapeKinetics<N> kinetics, const CompactTape *tape)
    {
      kinetics.device_tape = tape;
      return kinetics;
    }
  };
} // namespace leopard::reaction_diffusion
