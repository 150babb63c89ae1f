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
   * only at places known beforehand. So are values by node.
   */
  template <int N>
  struct KineticsOnDevice<TapeKinetics<N>>
  {
    explicit KineticsOnDevice(const TapeKinetics<N> &kinetics_)
      : tape(std::vector<CompactTape>(1, kinetics_.tape))
      , by_node(copy_of(kinetics_))
      , kinetics(on_device(kinetics_, tape.data(), by_node.data()))
    {
    }
    const device::Array<CompactTape> tape;
    const device::Array<double>      by_node;
    const TapeKinetics<N>            kinetics;

  private:
    static std::vector<double> copy_of(const TapeKinetics<N> &kinetics)
    {
      const long n = kinetics.by_node == nullptr ? 0 : (kinetics.n_further - 1) * kinetics.n_nodes;
      return n == 0 ? std::vector<double>(1) : std::vector<double>(kinetics.by_node, kinetics.by_node + n);
    }

    static TapeKinetics<N> on_device(TapeKinetics<N> kinetics, const CompactTape *tape, const double *by_node)
    {
      kinetics.device_tape    = tape;
      kinetics.device_by_node = by_node;
      return kinetics;
    }
  };
} // namespace leopard::reaction_diffusion
