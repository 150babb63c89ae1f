// SPDX-License-Identifier: Apache-2.0
// Feeds any bytes to the Matrix Market parser: a text is refused with an Error, or gives a consistent matrix. For libFuzzer.
#include <solvers/base/errors.h>
#include <solvers/matrix/matrix_market.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace
{
  void require(bool condition, const char *what)
  {
    if (condition)
      return;
    std::fprintf(stderr, "an accepted matrix violates: %s\n", what);
    std::abort();
  }

  void check(const leopard::CrsMatrix &A)
  {
    require(A.n_rows >= 0 && A.n_columns == A.n_rows, "it is square");
    require(A.row_offsets.size() == static_cast<std::size_t>(A.n_rows) + 1, "n_rows + 1 offsets");
    require(A.columns.size() == A.values.size(), "a column an entry");
    require(A.row_offsets.front() == 0 && A.row_offsets.back() == A.n_entries(), "offsets from 0 to the number of entries");
    for (int i = 0; i < A.n_rows; ++i)
      {
        require(A.row_offsets[i] <= A.row_offsets[i + 1], "offsets do not decrease");
        for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
          {
            require(A.columns[p] >= 0 && A.columns[p] < A.n_columns, "columns in range");
            require(p == A.row_offsets[i] || A.columns[p - 1] < A.columns[p], "columns ascend within a row");
            require(std::isfinite(A.values[p]), "finite values");
          }
      }
  }
} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
  const char *text = reinterpret_cast<const char *>(data);
  try
    {
      check(leopard::parse_matrix_market(text, text + size, "fuzz"));
    }
  catch (const leopard::Error &)
    {
    }
  return 0;
}
