// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deal.II/base/mpi.h>

#include <string>

namespace leopard
{
  /**
   * doc/parameters.md: all entries with defaults, what is allowed, and what they depend on. That is found out by asking
   * why_not_used() for a few files and all choices that these offer.
   */
  std::string reference_of_entries(MPI_Comm comm);
} // namespace leopard
