// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

/**
 * @file
 * Vectors in NumPy's file format .npy: the bytes 93 4E 55 4D 50 59 (hexadecimal), two bytes of version, the length of
 * a header and the header, a Python dictionary such as {'descr': '<f8', 'fortran_order': False, 'shape': (100,), },
 * then the numbers in binary.
 * https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
 */
namespace leopard
{
  /** Whether the file begins as one of NumPy's does, whatever its name. False where it cannot be read. */
  bool is_npy(const std::string &path);

  /**
   * Reads a vector of n entries: shape (n,), (n, 1) or (1, n), numbers of 4 or 8 bytes in floating point or signed and
   * unsigned integers of 1 to 8 bytes, in the order of bytes of this machine or the other.
   * @throws InvalidInput, with the file, what was found and what is expected: a file that is none, of another version,
   * kind of numbers or shape, too short or too long, or with an entry that is not finite or an integer beyond 2^53.
   */
  std::vector<double> read_npy_vector(const std::string &path, int n);

  /**
   * The same for several vectors, the columns of an array of shape (n, m), in the order of C or Fortran, or one of
   * shape (n,). @param most columns that are read. @throws InvalidInput likewise, and for more columns or none.
   */
  std::vector<std::vector<double>> read_npy_columns(const std::string &path, int n, int most);

  /**
   * Writes a vector, shape (n,), doubles of this machine, whole or not at all. @throws InvalidInput for a value that is
   * not finite, Error if the file cannot be written.
   */
  void write_npy_vector(const std::vector<double> &x, const std::string &path);
} // namespace leopard
