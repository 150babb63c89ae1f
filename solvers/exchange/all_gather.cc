// SPDX-License-Identifier: Apache-2.0
#include "all_gather.h"

#include <cstring>
#include <vector>

namespace leopard
{
  std::string first_error_of(const AllGather &all_gather, int n_ranks, const std::string &own)
  {
    struct Text
    {
      char characters[2048];
    };
    Text mine = {};
    std::strncpy(mine.characters, own.c_str(), sizeof(Text) - 1);
    std::vector<Text> texts(n_ranks);
    all_gather(&mine, sizeof(Text), texts.data());
    for (const Text &text : texts)
      if (text.characters[0] != '\0')
        return text.characters;
    return "";
  }
} // namespace leopard
