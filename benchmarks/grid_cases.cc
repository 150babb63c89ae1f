// SPDX-License-Identifier: Apache-2.0
#include "grid_cases.h"

#include <solvers/base/errors.h>
#include <solvers/matrix/generators.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace leopard
{
  namespace
  {
    [[noreturn]] void refuse(const std::string &text)
    {
      throw InvalidInput(
        "the case is '" + text +
        "'\n  expected: three, five, nine, seven or twenty-seven, a colon, and the nodes a side or those of each direction, for example "
        "five:4096, five:1023x8191 or seven:63x31x15; or q2: and the cells a side");
    }

    /** "1023x8191"; a number is at least 1. @throws InvalidInput. */
    std::vector<int> numbers_of(const std::string &numbers, const std::string &text)
    {
      std::vector<int> result;
      for (std::size_t begin = 0; begin <= numbers.size();)
        {
          const std::size_t end    = std::min(numbers.find('x', begin), numbers.size());
          const std::string number = numbers.substr(begin, end - begin);
          if (number.empty() || number.size() > 9 || number.find_first_not_of("0123456789") != std::string::npos || std::atoi(number.c_str()) < 1)
            refuse(text);
          result.push_back(std::atoi(number.c_str()));
          begin = end + 1;
        }
      return result;
    }
  } // namespace

  Stencil<double> stencil_of(const std::string &text, double delta)
  {
    const std::size_t colon = text.find(':');
    if (colon == std::string::npos)
      refuse(text);
    const std::string name = text.substr(0, colon);
    std::vector<int>  n    = numbers_of(text.substr(colon + 1), text);
    const std::size_t dim  = name == "three" ? 1 : name == "five" || name == "nine" ? 2 : name == "seven" || name == "twenty-seven" ? 3 : 0;
    if (dim == 0 || (n.size() != 1 && n.size() != dim))
      refuse(text);
    n.resize(dim, n.front()); // one number is that of all directions
    if (name == "three")
      {
        Stencil<double> stencil;
        stencil.n_x                   = n[0];
        stencil.coefficient(0, 0, 0)  = 2. + delta;
        stencil.coefficient(-1, 0, 0) = stencil.coefficient(1, 0, 0) = -1.;
        return stencil;
      }
    if (name == "five")
      return five_point_stencil(n[0], n[1], delta);
    if (name == "nine")
      return nine_point_stencil(n[0], n[1], delta);
    if (name == "seven")
      return seven_point_stencil(n[0], n[1], n[2], delta);
    return twenty_seven_point_stencil(n[0], n[1], n[2], delta);
  }

  int cells_of_elements(const std::string &text)
  {
    int n = 0;
    return std::sscanf(text.c_str(), "q2:%d", &n) == 1 ? n : 0;
  }

  void vary(MultigridHierarchy &hierarchy, double strength)
  {
    for (MultigridLevel &level : hierarchy.levels)
      {
        const auto middle = [&](std::size_t i, std::size_t j, int d) {
          return (level.coordinates[i * level.dim + d] + level.coordinates[j * level.dim + d]) / 2;
        };
        scale_edges(level.matrix, [&](int i, int j) { return 1. + strength * std::sin(7. * middle(i, j, 0) + 1.) * std::cos(5. * middle(i, j, 1)); });
      }
  }
} // namespace leopard
