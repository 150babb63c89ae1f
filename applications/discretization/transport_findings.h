// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deal.II/base/point.h>

#include <mpi.h>

#include <complex>
#include <vector>

namespace leopard
{
  /** What is to be known of TransportTerms before a run: where advection is strongest, and where diffusion is none. */
  struct TransportFindings
  {
    /**
     * Where the cell Peclet number |v| h / (2 a) of an advected field is largest, a its own diffusion along v with that
     * of FieldTransport, h the length of the cell along v. Dimensionless.
     */
    struct Advection
    {
      unsigned int     field  = 0;
      double           peclet = 0.; ///< infinity where a is zero; zero: nothing is advected, or no diffusion is added
      double           own    = 0.; ///< a
      double           added  = 0.; ///< what is added along v, see TransportTerms
      dealii::Point<3> place;

      bool is_stronger_than(const Advection &other) const { return peclet > other.peclet || (peclet == other.peclet && added > other.added); }
    };
    /** Where an eigenvalue of DiffusionMatrix is most negative. */
    struct Diffusion
    {
      std::vector<std::complex<double>> eigenvalues; ///< empty: none is wrong
      std::vector<double>               fields;      ///< there
      dealii::Point<3>                  place;

      bool is_worse_than(const Diffusion &other) const
      {
        return !eigenvalues.empty() && (other.eigenvalues.empty() || eigenvalues[0].real() < other.eigenvalues[0].real());
      }
    };

    Advection advection;
    Diffusion diffusion;

    /** Takes the findings of the rank where they are worst. Collective. */
    void share(MPI_Comm comm);
  };
} // namespace leopard
