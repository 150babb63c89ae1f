// SPDX-License-Identifier: Apache-2.0
// matrix_market_echo IN OUT: reads a matrix and writes it as a general real one; matrix_market_oracle.py compares the
// two.
#include <solvers/base/errors.h>
#include <solvers/matrix/matrix_market.h>

#include <exception>
#include <iostream>

int main(int argc, char **argv)
{
  if (argc != 3)
    {
      std::cerr << "usage: matrix_market_echo IN OUT\n";
      return 2;
    }
  try
    {
      leopard::write_matrix_market(leopard::read_matrix_market(argv[1]), argv[2]);
    }
  catch (const std::exception &error)
    {
      std::cerr << error.what() << '\n';
      return 1;
    }
  return 0;
}
