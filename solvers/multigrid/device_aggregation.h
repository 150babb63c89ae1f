// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../matrix/device_crs.h"
#include "aggregation.h"

#include <vector>

namespace leopard::device
{
  /** As leopard::NearNullSpace, in device memory. */
  struct NearNullSpace
  {
    int           n_nodes = 0, n_vectors = 0;
    Array<int>    first_row; ///< n_nodes + 1; empty: each row is a node
    Array<int>    node_of;   ///< of each row its node; empty likewise
    Array<double> values;    ///< n_rows x n_vectors, row after row
  };

  leopard::NearNullSpace to_host(const NearNullSpace &space);

  /** As leopard::Aggregates, in device memory. */
  struct Aggregates
  {
    Array<int>        of_row; ///< of each row its aggregate; -1: in none
    int               n = 0;
    DeviceCrs<double> strong;
  };

  /**
   * Strong couplings as the host's aggregate() finds them; the aggregates are others, as the host's come out of a
   * sequence. Their middles are a maximal set of rows no two of which are strongly coupled to each other or to a third
   * row, found in rounds in which all rows that have the largest number of all that are two couplings away join; the
   * numbers look random and are always the same, and those of rows that follow others are smaller than those of all
   * that do not. A row belongs to the middle that it is coupled to, or else to that of the neighbour it is coupled to
   * most strongly. Rows without strong couplings are in none. There are fewer and less regular aggregates than the
   * host's: coarse levels are smaller, and convergence takes more iterations of conjugate gradients: a fifth to six
   * tenths for a Laplacian, twice as many for one that is strong in one direction only. Source: Bell, Dalton, Olson,
   * SIAM J. Sci. Comput. 34 (2012) C123, section 4.3, algorithm 5.
   */
  Aggregates aggregate(const DeviceCrs<double> &A, double strength);

  /**
   * As the host's; lambda_max is at most Gershgorin's bound. @param aggregates whose matrix is used up. @throws
   * InvalidInput as the host's.
   */
  DeviceCrs<double> smoothed_prolongation(Aggregates &aggregates);

  /** A level of aggregation_levels(). */
  struct AggregationLevel
  {
    DeviceCrs<double> matrix;
    DeviceCrs<double> prolongation; ///< from the next coarser level; none on the coarsest
    Array<int>        of_row;       ///< of each row the first unknown of its aggregate on the next coarser level; -1: none
    NearNullSpace     near_null;    ///< of this level
  };

  /**
   * As aggregation_hierarchy(), on the device: coarsest level first. @param A of one rank, with values for which
   * has_valid_values() holds. @param options AggregationOptions::fits_on_device(). With one vector v that is nowhere
   * zero, is_like_scalar(), aggregates and P are those of diag(v) A diag(v), of which v is the constant, and then P <-
   * diag(v) P diag(w)^-1 with the largest magnitudes of v in each aggregate, w, the coarse level's vector. Of systems
   * all is as on the host but for the aggregates, which are those of aggregate(). @throws InvalidInput where a coarse
   * matrix has other values, and as make_near_null_space().
   */
  std::vector<AggregationLevel> aggregation_levels(DeviceCrs<double> A, const AggregationOptions &options);

  /**
   * As galerkin_on_host() but for rounding, by products in device memory, for levels that the host makes. @throws
   * InvalidInput, DeviceError.
   */
  GalerkinProduct galerkin_on_device(const AggregationOptions &options, double n_finest);

  /**
   * An order of each level's rows in which those of an aggregate are neighbours, and aggregates that are one on a
   * coarser level, too: contiguous blocks are compact. Rows in no aggregate are the last. @return old_row of each
   * level, coarsest first, that of the coarsest empty.
   */
  std::vector<Array<int>> aggregate_orders(const std::vector<AggregationLevel> &levels);
} // namespace leopard::device
