// SPDX-License-Identifier: Apache-2.0
#include "storage.h"

#include "../base/errors.h"
#include "../base/words.h"

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
        case Storage::bfloat16:
          return "bfloat16";
        case Storage::dictionary:
          return "dictionary";
      }
    return "unknown";
  }

  template <typename Number>
  Storage choose_storage(Storage wanted, bool fits_dictionary, bool are_singles, bool are_bfloats, double lost)
  {
    constexpr bool    are_floats  = std::is_same_v<Number, float>;
    constexpr Storage as_they_are = are_floats ? Storage::single_precision : Storage::double_precision;
    if (wanted == Storage::double_precision || wanted == as_they_are)
      return as_they_are;
    if (wanted == Storage::dictionary && !fits_dictionary)
      throw InvalidInput("storage is dictionary, but the matrix has more than " + std::to_string(most_distinct_values) +
                         " distinct values\n  expected: storage automatic" + (are_floats ? "" : ", double") + " or single");
    if (wanted == Storage::single_precision && !are_singles)
      throw InvalidInput("storage is single, but the matrix has the value " + short_text(lost, 17) +
                         ", which is no single precision number\n  expected: storage automatic or double");
    if (wanted == Storage::bfloat16 && !(are_floats && are_bfloats))
      throw InvalidInput(std::string("storage is bfloat16, but the matrix ") +
                         (are_floats ? "has values of more than 8 significant bits" : "is in double precision") + "\n  expected: storage automatic" +
                         (are_floats ? " or single" : ", double or single"));
    if (wanted != Storage::automatic)
      return wanted;
    if (fits_dictionary)
      return Storage::dictionary;
    return are_floats && are_bfloats ? Storage::bfloat16 : are_singles ? Storage::single_precision : Storage::double_precision;
  }

#define INSTANTIATE(Number) \
  template Storage choose_storage<Number>(Storage wanted, bool fits_dictionary, bool are_singles, bool are_bfloats, double lost);
  LEOPARD_FOR_EACH_NUMBER(INSTANTIATE)
#undef INSTANTIATE
} // namespace leopard
