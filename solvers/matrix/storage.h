// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../base/number_types.h"

#include <cstdint>
#include <string>
#include <vector>

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
    dictionary        ///< 1 byte, the number of a value in a table of at most 256 distinct ones
  };

  /** "automatic", "double", "single" or "dictionary". */
  std::string to_string(Storage storage);

  /** The distinct values of a matrix, for Storage::dictionary. */
  class Dictionary
  {
  public:
    static constexpr int max_size = 256;

    /**
     * Adds a value unless it is there. Returns false, once and for all, when there are more than max_size distinct
     * ones.
     */
    bool add(double value);

    /** One that nothing fits into. */
    static Dictionary overfull()
    {
      Dictionary result;
      result.full = true;
      return result;
    }

    bool                       fits() const { return !full; }
    const std::vector<double> &values() const { return table; }
    /** The number of a value that was added; -0. and 0. are different values. */
    std::uint8_t index_of(double value) const;

  private:
    int slot_of(double value) const;

    std::vector<double> table;
    std::vector<int>    slots = std::vector<int>(1024, -1); ///< open addressing on the bits of the value
    bool                full  = false;
  };

  /**
   * What is to be used for these values; never automatic, and for floats not double_precision.
   * @param wanted automatic, or the storage to use.
   * @param fits_dictionary whether there are at most Dictionary::max_size distinct ones, zero included. @param
   * are_singles whether all are single precision numbers; if not, lost is one that is none.
   * @throws InvalidInput if the storage wanted would lose a value, naming the value.
   */
  template <typename Number>
  Storage choose_storage(Storage wanted, bool fits_dictionary, bool are_singles, double lost);

  /** The same from the values. @param dictionary receives the distinct values if the result is Storage::dictionary. */
  template <typename Number>
  Storage choose_storage(const std::vector<const std::vector<Number> *> &values, Storage wanted, Dictionary &dictionary);
} // namespace leopard
