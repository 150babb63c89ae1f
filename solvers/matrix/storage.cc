// SPDX-License-Identifier: Apache-2.0
#include "storage.h"

#include "../base/errors.h"

#include <bit>
#include <cstdint>
#include <type_traits>

namespace leopard
{
  std::string to_string(Storage storage)
  {
    switch (storage)
      {
        case Storage::automatic:
          return "automatic";
        case Storage::double_precision:
          return "double";
        case Storage::single_precision:
          return "single";
        case Storage::dictionary:
          return "dictionary";
      }
    return "unknown";
  }

  int Dictionary::slot_of(double value) const
  {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    int        slot = static_cast<int>((bits * 0x9e3779b97f4a7c15ull) >> 54); // Fibonacci hashing to 10 bits
    while (slots[slot] >= 0 && std::bit_cast<std::uint64_t>(table[slots[slot]]) != bits)
      slot = (slot + 1) % static_cast<int>(slots.size());
    return slot;
  }

  bool Dictionary::add(double value)
  {
    if (full)
      return false;
    const int slot = slot_of(value);
    if (slots[slot] >= 0)
      return true;
    if (table.size() == max_size)
      {
        full = true;
        return false;
      }
    slots[slot] = static_cast<int>(table.size());
    table.push_back(value);
    return true;
  }

  std::uint8_t Dictionary::index_of(double value) const
  {
    return static_cast<std::uint8_t>(slots[slot_of(value)]);
  }

  template <typename Number>
  Storage choose_storage(Storage wanted, bool fits_dictionary, bool are_singles, double lost)
  {
    constexpr bool    are_floats  = std::is_same_v<Number, float>;
    constexpr Storage as_they_are = are_floats ? Storage::single_precision : Storage::double_precision;
    if (wanted == Storage::double_precision || wanted == as_they_are)
      return as_they_are;
    if (wanted == Storage::dictionary && !fits_dictionary)
      throw InvalidInput("storage is dictionary, but the matrix has more than " + std::to_string(Dictionary::max_size) +
                         " distinct values\n  expected: storage automatic" + (are_floats ? "" : ", double") + " or single");
    if (wanted == Storage::single_precision && !are_singles)
      throw InvalidInput("storage is single, but the matrix has the value " + std::to_string(lost) +
                         ", which is no single precision number\n  expected: storage automatic or double");
    if (wanted == Storage::single_precision || wanted == Storage::dictionary)
      return wanted;
    return fits_dictionary ? Storage::dictionary : are_singles ? Storage::single_precision : Storage::double_precision;
  }

  template <typename Number>
  Storage choose_storage(const std::vector<const std::vector<Number> *> &values, Storage wanted, Dictionary &dictionary)
  {
    constexpr bool are_floats = std::is_same_v<Number, float>;
    dictionary                = Dictionary();
    if (wanted == Storage::double_precision || (are_floats && wanted == Storage::single_precision))
      return choose_storage<Number>(wanted, true, true, 0.);
    bool          singles_do = true;
    double        lost       = 0.;
    std::uint64_t last       = ~std::uint64_t(0); // bits of the value before, which is often the same; at first of no number
    for (const std::vector<Number> *array : values)
      for (const double value : *array)
        {
          if (std::bit_cast<std::uint64_t>(value) == last)
            continue;
          last = std::bit_cast<std::uint64_t>(value);
          dictionary.add(value);
          if (singles_do && static_cast<double>(static_cast<float>(value)) != value)
            {
              singles_do = false;
              lost       = value;
            }
          if ((are_floats || !singles_do) && !dictionary.fits())
            break;
        }
    return choose_storage<Number>(wanted, dictionary.fits(), singles_do, lost);
  }

#define INSTANTIATE(Number)                                                                                     \
  template Storage choose_storage<Number>(Storage wanted, bool fits_dictionary, bool are_singles, double lost); \
  template Storage choose_storage(const std::vector<const std::vector<Number> *> &values, Storage wanted, Dictionary &dictionary);
  LEOPARD_FOR_EACH_NUMBER(INSTANTIATE)
#undef INSTANTIATE
} // namespace leopard
