// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "crs_matrix.h"

#include <string>
#include <vector>

/**
 * @file
 * Matrices and right-hand sides in the Matrix Market exchange format: R. F. Boisvert, R. Pozo, K. A. Remington, *The
 * Matrix Market Exchange Formats: Initial Design*, NISTIR 5935, 1996, and
 * https://math.nist.gov/MatrixMarket/formats.html. In short:
 *
 *     %%MatrixMarket matrix coordinate real symmetric     the banner: object, format, field, symmetry
 *     % any comment                                       any number of these, before the size line only
 *     3 3 4                                               the size line: rows, columns, entries that follow
 *     1 1 2.5                                             an entry a line: row, column (from 1), value
 *     2 1 -1
 *     2 2 2.5
 *     3 3 1e-3
 *
 * The words of the banner may be of either case. Blanks and tabs separate what stands on a line; lines end in LF or CR
 * LF, the last one may have no end. Blank lines may stand anywhere after the banner. Numbers are read and written the
 * same in every locale.
 *
 * The readers are strict: whatever does not follow the format is an InvalidInput that says file, line, what was found
 * and what is expected. Files may be compressed with gzip, which is recognized by their first two bytes and not by
 * their name.
 */
namespace leopard
{
  /**
   * Reads a square sparse matrix from a file, each row's entries sorted by column.
   *
   * Accepted are the format coordinate, the fields real, integer (values up to 2^53, which double holds exactly) and
   * pattern (all values are 1), and the symmetries general, symmetric and skew-symmetric (the file holds the lower
   * triangle; what is below the diagonal is mirrored). Zeros that the file stores remain entries. A matrix needs not be
   * fit for relaxation: CrsMatrix::validate() finds empty rows or a missing diagonal.
   *
   * Memory grows with the size of the text only, whatever its size line announces: a matrix of more than 2^20 rows and
   * fewer entries than rows is refused, as some of its rows are empty.
   *
   * @throws InvalidInput if the file cannot be read, is of another kind (array, complex, hermitian,
   * rectangular), is malformed, is truncated, has an entry twice, a value that is not finite or out of double's range,
   * an entry above the diagonal although it is symmetric, or more than 2^31 - 1 entries after mirroring.
   */
  CrsMatrix<double> read_matrix_market(const std::string &path);

  /**
   * The same for a text in memory, not compressed, [begin, end). @param name stands in messages where the path would.
   */
  CrsMatrix<double> parse_matrix_market(const char *begin, const char *end, const std::string &name);

  /**
   * Reads a vector of n entries, such as a right-hand side: a general matrix of n rows and one column, or of one row
   * and n columns, real or integer, in format array (a value a line, all of them) or coordinate (entries that the file
   * does not hold are 0).
   * @throws InvalidInput as read_matrix_market() does, and for another length than n, with both lengths.
   */
  std::vector<double> read_matrix_market_vector(const std::string &path, int n);

  /**
   * The same for the columns of a matrix of n rows; in format array one column after the other. @param most columns
   * that are read. @throws InvalidInput likewise, and for more columns or none.
   */
  std::vector<std::vector<double>> read_matrix_market_columns(const std::string &path, int n, int most);

  /**
   * Writes a square matrix in format coordinate, field real, row by row, in as few digits (at most 17) as give back the
   * same doubles when read. A path that ends in .gz is compressed. The file is written as PATH.tmp, which is renamed
   * when complete; it is never half written.
   * @param symmetric writes the lower triangle only; A has to be exactly symmetric.
   * @throws InvalidInput for a matrix that could not be read back: inconsistent arrays, ghost columns, an entry stored
   * twice, a value that is not finite, or not symmetric although said to be.
   * @throws Error if the file cannot be written. PATH is what it was then, and PATH.tmp is removed.
   */
  void write_matrix_market(const CrsMatrix<double> &A, const std::string &path, bool symmetric = false);

  /**
   * Writes a vector likewise, in format array. @throws InvalidInput for a value that is not finite, Error if the file
   * cannot be written.
   */
  void write_matrix_market_vector(const std::vector<double> &x, const std::string &path);
} // namespace leopard
