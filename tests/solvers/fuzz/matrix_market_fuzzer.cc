// SPDX-License-Identifier: Apache-2.0
// Feeds any bytes to the Matrix Market reader, as a matrix and as a vector, plain, compressed and damaged: they are
// refused with an Error, or give a consistent result, the same from a compressed file as from memory. For libFuzzer.
// The last byte says which length a vector should have and what is damaged.
#include <solvers/base/errors.h>
#include <solvers/matrix/matrix_market.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

namespace
{
  void require(bool condition, const char *what)
  {
    if (condition)
      return;
    std::fprintf(stderr, "what was accepted violates: %s\n", what);
    std::abort();
  }

  void check(const leopard::CrsMatrix<double> &A)
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

  void check(const std::vector<double> &v)
  {
    require(std::all_of(v.begin(), v.end(), [](double value) { return std::isfinite(value); }), "finite values");
  }

  /** What read() returns, after a check; nothing if it refuses. */
  template <typename Read>
  auto result_of(const Read &read) -> std::optional<decltype(read())>
  {
    try
      {
        auto result = read();
        check(result);
        return result;
      }
    catch (const leopard::Error &)
      {
        return {};
      }
  }

  /** A file in memory. */
  class File
  {
  public:
    explicit File(const std::string &bytes)
      : descriptor(memfd_create("fuzz", MFD_CLOEXEC))
    {
      if (descriptor < 0 || write(descriptor, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size()))
        std::abort();
    }
    File(const File &)            = delete;
    File &operator=(const File &) = delete;
    ~File() { close(descriptor); }

    std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor); }

  private:
    const int descriptor;
  };

  std::string compressed(const std::string &text)
  {
    z_stream    stream = {};
    std::string result(text.size() + 128, '\0');
    if (deflateInit2(&stream, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
      std::abort();
    result.resize(std::max<std::size_t>(result.size(), deflateBound(&stream, text.size())));
    stream.next_in   = reinterpret_cast<Bytef *>(const_cast<char *>(text.data()));
    stream.avail_in  = static_cast<uInt>(text.size());
    stream.next_out  = reinterpret_cast<Bytef *>(result.data());
    stream.avail_out = static_cast<uInt>(result.size());
    if (deflate(&stream, Z_FINISH) != Z_STREAM_END)
      std::abort();
    result.resize(stream.total_out);
    deflateEnd(&stream);
    return result;
  }
} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
  const unsigned int control = size > 0 ? data[size - 1] : 0;
  const std::string  text(reinterpret_cast<const char *>(data), size > 0 ? size - 1 : 0);
  const int          n = static_cast<int>(control % 16);

  const auto matrix = result_of([&] { return leopard::parse_matrix_market(text.data(), text.data() + text.size(), "fuzz"); });
  const File plain(text);
  const auto vector = result_of([&] { return leopard::read_matrix_market_vector(plain.path(), n); });
  require(!vector || vector->size() == static_cast<std::size_t>(n), "a vector of the length that was asked for");
  if (text.size() < 2 || text[0] != '\x1f' || text[1] != '\x8b') // which a file would be decompressed for
    {
      std::string packed = compressed(text);
      const File  file(packed);
      const auto  same_matrix = result_of([&] { return leopard::read_matrix_market(file.path()); });
      require(matrix.has_value() == same_matrix.has_value(), "the same verdict on a compressed matrix");
      require(!matrix ||
                (matrix->row_offsets == same_matrix->row_offsets && matrix->columns == same_matrix->columns && matrix->values == same_matrix->values),
              "the same matrix from a compressed file");
      const auto same_vector = result_of([&] { return leopard::read_matrix_market_vector(file.path(), n); });
      require(vector == same_vector, "the same vector from a compressed file");

      if (control % 2 == 0)
        packed.resize(packed.size() * (control / 2) / 128);
      else
        packed[packed.size() * (control / 2) / 128] ^= static_cast<char>(1 << control % 8);
      const File damaged(packed);
      result_of([&] { return leopard::read_matrix_market(damaged.path()); });
    }
  else
    result_of([&] { return leopard::read_matrix_market(plain.path()); });
  return 0;
}
