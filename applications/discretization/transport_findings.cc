// SPDX-License-Identifier: Apache-2.0
#include "transport_findings.h"

#include <deal.II/base/mpi.h>

namespace leopard
{
  namespace
  {
    std::vector<double> numbers_of(const TransportFindings::Advection &found)
    {
      return {static_cast<double>(found.field), found.peclet, found.own, found.added, found.place[0], found.place[1], found.place[2]};
    }

    TransportFindings::Advection advection_of(const std::vector<double> &numbers)
    {
      return {static_cast<unsigned int>(numbers[0]), numbers[1], numbers[2], numbers[3], dealii::Point<3>(numbers[4], numbers[5], numbers[6])};
    }

    /** Numbers of eigenvalues and fields, the place, the eigenvalues and the fields. */
    std::vector<double> numbers_of(const TransportFindings::Diffusion &found)
    {
      std::vector<double> numbers = {
        static_cast<double>(found.eigenvalues.size()), static_cast<double>(found.fields.size()), found.place[0], found.place[1], found.place[2]};
      for (const std::complex<double> &value : found.eigenvalues)
        {
          numbers.push_back(value.real());
          numbers.push_back(value.imag());
        }
      numbers.insert(numbers.end(), found.fields.begin(), found.fields.end());
      return numbers;
    }

    TransportFindings::Diffusion diffusion_of(const std::vector<double> &numbers)
    {
      TransportFindings::Diffusion found;
      const auto                   n_eigenvalues = static_cast<std::size_t>(numbers[0]);
      found.place                                = dealii::Point<3>(numbers[2], numbers[3], numbers[4]);
      for (std::size_t i = 0; i < n_eigenvalues; ++i)
        found.eigenvalues.emplace_back(numbers[5 + 2 * i], numbers[6 + 2 * i]);
      found.fields.assign(numbers.begin() + static_cast<std::ptrdiff_t>(5 + 2 * n_eigenvalues), numbers.end());
      return found;
    }
  } // namespace

  void TransportFindings::share(MPI_Comm comm)
  {
    for (const std::vector<double> &numbers : dealii::Utilities::MPI::all_gather(comm, numbers_of(advection)))
      if (const Advection of_rank = advection_of(numbers); of_rank.is_stronger_than(advection))
        advection = of_rank;
    const Diffusion own = diffusion;
    for (const std::vector<double> &numbers : dealii::Utilities::MPI::all_gather(comm, numbers_of(own)))
      if (const Diffusion of_rank = diffusion_of(numbers); of_rank.is_worse_than(diffusion))
        diffusion = of_rank;
  }
} // namespace leopard
