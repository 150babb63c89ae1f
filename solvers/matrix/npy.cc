// SPDX-License-Identifier: Apache-2.0
#include "npy.h"

#include "../base/errors.h"
#include "../base/kind_of_file.h"
#include "../base/read_text.h"
#include "../base/whole_file.h"
#include "../base/words.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <new>
#include <string_view>
#include <utility>

namespace leopard
{
  namespace
  {
    constexpr std::string_view magic          = "\x93NUMPY";
    constexpr char             this_machine   = std::endian::native == std::endian::little ? '<' : '>';
    constexpr double           exact_integers = 9007199254740992.; // 2^53

    [[noreturn]] void fail(const std::string &path, const std::string &what, const std::string &expected)
    {
      throw InvalidInput(path + ": " + what + "\n  expected: " + expected);
    }

    /** What is printable of a header, at most 60 characters. */
    std::string printable(std::string_view text)
    {
      std::string result(text.substr(0, 60));
      for (char &c : result)
        c = c < ' ' || c > '~' ? '?' : c;
      return "'" + result + (text.size() > 60 ? "..." : "") + "'";
    }

    /** What stands behind 'key': in a header, up to the next comma outside of brackets; empty: it is not there. */
    std::string_view value_of(std::string_view header, const std::string &key)
    {
      const std::size_t place = header.find("'" + key + "'");
      const std::size_t colon = place == std::string_view::npos ? place : header.find(':', place);
      if (colon == std::string_view::npos)
        return {};
      std::size_t end   = colon + 1;
      int         depth = 0;
      while (end < header.size() && (depth > 0 || (header[end] != ',' && header[end] != '}')))
        {
          depth += header[end] == '(' ? 1 : header[end] == ')' ? -1 : 0;
          ++end;
        }
      std::string_view value = header.substr(colon + 1, end - colon - 1);
      while (!value.empty() && value.front() == ' ')
        value.remove_prefix(1);
      while (!value.empty() && value.back() == ' ')
        value.remove_suffix(1);
      return value;
    }

    /** One number of the type T in either order of bytes. */
    template <typename T>
    double number_at(const char *from, bool is_swapped)
    {
      char bytes[sizeof(T)];
      std::memcpy(bytes, from, sizeof(T));
      if (is_swapped)
        std::reverse(bytes, bytes + sizeof(T));
      T value;
      std::memcpy(&value, bytes, sizeof(T));
      return static_cast<double>(value);
    }

    struct NumberType
    {
      std::string_view name; ///< without the order of bytes
      std::size_t      size;
      bool             is_integer;
      double (*at)(const char *, bool);
    };

    constexpr NumberType number_types[] = {{"f8", 8, false, number_at<double>},
                                           {"f4", 4, false, number_at<float>},
                                           {"i8", 8, true, number_at<std::int64_t>},
                                           {"i4", 4, true, number_at<std::int32_t>},
                                           {"i2", 2, true, number_at<std::int16_t>},
                                           {"i1", 1, true, number_at<std::int8_t>},
                                           {"u8", 8, true, number_at<std::uint64_t>},
                                           {"u4", 4, true, number_at<std::uint32_t>},
                                           {"u2", 2, true, number_at<std::uint16_t>},
                                           {"u1", 1, true, number_at<std::uint8_t>}};

    /** Reads the header. @return where the numbers begin. */
    std::size_t read_header(const Text &text, const std::string &path, std::string_view &header)
    {
      const std::string_view all(text.data.get(), text.size);
      if (all.substr(0, magic.size()) != magic)
        fail(path, "the file does not begin as .npy files do", "a vector that numpy.save() has written");
      const auto        byte    = [&](std::size_t i) { return i < all.size() ? static_cast<std::size_t>(static_cast<unsigned char>(all[i])) : 0; };
      const std::size_t version = byte(6), first = version == 1 ? 10 : 12;
      const std::size_t length   = byte(8) + 256 * byte(9) + (version == 1 ? 0 : 65536 * byte(10) + 16777216 * byte(11));
      const bool        is_known = version >= 1 && version <= 3;
      if (!is_known)
        fail(path, "the version of the format is " + std::to_string(version), "1, 2 or 3");
      if (all.size() < first || all.size() - first < length)
        fail(path, "the file ends in its header", "the whole file, as numpy.save() has written it");
      header = all.substr(first, length);
      return first + length;
    }

    const NumberType &type_of(std::string_view descr, const std::string &path, bool &is_swapped)
    {
      const bool is_quoted = descr.size() >= 4 && (descr.front() == '\'' || descr.front() == '"') && descr.back() == descr.front();
      if (is_quoted)
        {
          const char             order = descr[1];
          const std::string_view name  = descr.substr(2, descr.size() - 3);
          const auto *found = std::find_if(std::begin(number_types), std::end(number_types), [&](const auto &t) { return t.name == name; });
          is_swapped        = (order == '<' || order == '>') && order != this_machine;
          if (found != std::end(number_types) && (order == '<' || order == '>' || order == '=' || (order == '|' && found->size == 1)))
            return *found;
        }
      fail(path, "the numbers are of the type " + printable(descr), "real numbers, such as '<f8' (float64)");
    }

    /** Of one column the shape may be that of a row, too. */
    int n_columns_of(std::string_view header, const std::string &path, int n, int most)
    {
      std::string shape(value_of(header, "shape"));
      shape.erase(std::remove(shape.begin(), shape.end(), ' '), shape.end());
      const std::string n_ = std::to_string(n);
      if (shape == "(" + n_ + ",)" || (most == 1 && shape == "(1," + n_ + ")"))
        return 1;
      for (int m = 1; m <= most; ++m)
        if (shape == "(" + n_ + "," + std::to_string(m) + ")")
          return m;
      fail(path,
           "the shape is " + printable(shape),
           most == 1 ? "(" + n_ + ",), a vector of as many entries as the matrix has rows"
                     : "(" + n_ + ",), or (" + n_ + ",m) with up to " + std::to_string(most) + " columns, of as many entries as the matrix has rows");
    }
  } // namespace

  bool is_npy(const std::string &path)
  {
    if (!why_no_regular_file(path).empty()) // a pipe would be waited for
      return false;
    char          begin[6] = {};
    std::ifstream file(path, std::ios::binary);
    return static_cast<bool>(file.read(begin, sizeof(begin))) && std::string_view(begin, sizeof(begin)) == magic;
  }

  std::vector<std::vector<double>> read_npy_columns(const std::string &path, int n, int most)
  {
    try
      {
        const Text        text = read_text(path, "a readable .npy file");
        std::string_view  header;
        const std::size_t begin      = read_header(text, path, header);
        bool              is_swapped = false;
        const NumberType &type       = type_of(value_of(header, "descr"), path, is_swapped);
        const auto        n_columns  = static_cast<std::size_t>(n_columns_of(header, path, n, most));
        const std::size_t n_bytes = text.size - begin, n_numbers = n * n_columns;
        if (n_bytes != n_numbers * type.size)
          fail(path,
               std::to_string(n_bytes) + " bytes follow the header",
               std::to_string(n_numbers * type.size) + ", for " + std::to_string(n_numbers) + " numbers of " + std::to_string(type.size) + " bytes");
        const bool                       by_columns = value_of(header, "fortran_order") == "True";
        std::vector<std::vector<double>> columns(n_columns, std::vector<double>(n));
        for (std::size_t t = 0; t < n_numbers; ++t)
          {
            double &x = by_columns ? columns[t / n][t % n] : columns[t % n_columns][t / n_columns];
            x         = type.at(text.data.get() + begin + t * type.size, is_swapped);
            if (!std::isfinite(x) || (type.is_integer && !(std::abs(x) <= exact_integers)))
              fail(path,
                   "entry " + std::to_string(t) + " (the first is 0) is " + short_text(x),
                   type.is_integer ? "integers of at most 2^53" : "finite numbers");
          }
        return columns;
      }
    catch (const std::bad_alloc &)
      {
        fail(path, "there is not enough memory to read this file", "a smaller file or more memory");
      }
  }

  std::vector<double> read_npy_vector(const std::string &path, int n)
  {
    return std::move(read_npy_columns(path, n, 1).front());
  }

  void write_npy_vector(const std::vector<double> &x, const std::string &path)
  {
    for (std::size_t i = 0; i < x.size(); ++i)
      if (!std::isfinite(x[i]))
        fail(path, "not written, as entry " + std::to_string(i) + " (the first is 0) is " + short_text(x[i]), "finite numbers");
    std::string header = std::string("{'descr': '") + this_machine + "f8', 'fortran_order': False, 'shape': (" + std::to_string(x.size()) + ",), }";
    header.resize((magic.size() + 4 + header.size() + 1 + 63) / 64 * 64 - magic.size() - 4 - 1, ' '); // numbers begin at a multiple of 64 bytes
    header += '\n';
    NewFile           file(path);
    const std::string begin =
      std::string(magic) + '\1' + '\0' + static_cast<char>(header.size() % 256) + static_cast<char>(header.size() / 256) + header;
    file.write(begin.data(), begin.size());
    if (!x.empty())
      file.write(reinterpret_cast<const char *>(x.data()), x.size() * sizeof(double));
    file.commit();
  }
} // namespace leopard
