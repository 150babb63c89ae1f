// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../base/number_types.h"

#include <string>

namespace leopard
{
  /**
   * How the values of a matrix are stored. Every choice is lossless: the values used are the values given, to the last
   * bit. A matrix in single precision is stored as it is, or by a dictionary: there double_precision, what options say
   * that are meant for any number type, is single_precision.
   */
  enum class Storage
  {
    automatic,        ///< the smallest that loses nothing
    double_precision, ///< 8 bytes a value: as they are
    single_precision, ///< 4 bytes, where every value is a single precision number
    bfloat16,         ///< 2 bytes, of a matrix in single precision whose values have 8 significant bits (see round_to_bfloat16())
    dictionary        ///< 1 byte, the number of a value in a table of at most 256 distinct ones
  };

  /** "automatic", "double", "single", "bfloat16" or "dictionary". */
  std::string to_string(Storage storage);

  constexpr int most_distinct_values = 256; ///< that a dictionary has

  /**
   * What is to be used for the values of a matrix; never automatic, and for floats not double_precision.
   * @param wanted automatic, or the storage to use. @param fits_dictionary whether there are at most
   * most_distinct_values different ones, zero included. @param are_singles, are_bfloats whether all are single
   * precision numbers, and those with 8 significant bits; if not the former, lost is one that is none.
   * @throws InvalidInput if the storage wanted would lose a value, naming it.
   */
  template <typename Number>
  Storage choose_storage(Storage wanted, bool fits_dictionary, bool are_singles, bool are_bfloats, double lost);
} // namespace leopard
