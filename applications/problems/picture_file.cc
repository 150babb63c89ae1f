// SPDX-License-Identifier: Apache-2.0
// Pictures and tables from the content of files: PNG, PGM, CSV.
#include "picture.h"

#include <solvers/base/errors.h>

#include <png.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <sstream>

namespace leopard
{
  namespace
  {
    constexpr double most_pixels = 1e8;

    [[noreturn]] void fail(const std::string &path, const std::string &reason, const std::string &expected)
    {
      throw Error("the file '" + path + "' " + reason + "\n  expected: " + expected);
    }

    void check_size(const std::string &path, double n_columns, double n_rows)
    {
      std::ostringstream size;
      size << n_columns << " x " << n_rows;
      if (!(n_columns >= 1. && n_rows >= 1. && n_columns * n_rows <= most_pixels))
        fail(path, "is a picture of " + size.str() + " pixels", "at least one in each direction, and at most 10^8");
    }

    /**
     * What libpng works on. It leaves its functions by longjmp where something is wrong, so that those of this struct
     * that call it have no objects with destructors.
     */
    struct PngReader
    {
      png_structp          png  = nullptr;
      png_infop            info = nullptr;
      const unsigned char *data = nullptr;
      std::size_t          size = 0, position = 0;
      char                 error[200] = "it ends too early, or memory is short";

      ~PngReader() { png_destroy_read_struct(&png, &info, nullptr); }

      static void read(png_structp png, png_bytep bytes, png_size_t n)
      {
        auto *reader = static_cast<PngReader *>(png_get_io_ptr(png));
        if (n > reader->size - reader->position)
          png_error(png, "it ends too early");
        std::memcpy(bytes, reader->data + reader->position, n);
        reader->position += n;
      }
      [[noreturn]] static void on_error(png_structp png, png_const_charp what)
      {
        auto *reader = static_cast<PngReader *>(png_get_error_ptr(png));
        std::strncpy(reader->error, what, sizeof(reader->error) - 1);
        png_longjmp(png, 1);
      }
      static void on_warning(png_structp /*png*/, png_const_charp /*what*/) {}

      /** Reads the header and asks for grey or colour of 8 or 16 bits. */
      bool begin()
      {
        png = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, on_error, on_warning);
        if (png == nullptr || (info = png_create_info_struct(png)) == nullptr || setjmp(png_jmpbuf(png)) != 0)
          return false;
        png_set_read_fn(png, this, read);
        png_read_info(png, info);
        png_set_palette_to_rgb(png);
        png_set_expand_gray_1_2_4_to_8(png);
        png_set_strip_alpha(png);
        png_set_interlace_handling(png);
        png_read_update_info(png, info);
        return true;
      }
      bool rows(png_bytepp pointers)
      {
        if (setjmp(png_jmpbuf(png)) != 0)
          return false;
        png_read_image(png, pointers);
        png_read_end(png, nullptr);
        return true;
      }
    };

    Picture read_png(const std::string &path, const std::string &content)
    {
      PngReader reader;
      reader.data           = reinterpret_cast<const unsigned char *>(content.data());
      reader.size           = content.size();
      const auto no_picture = [&] { fail(path, std::string("is no PNG that can be read: ") + reader.error, "a whole PNG picture"); };
      if (!reader.begin())
        no_picture();
      Picture result;
      result.n_columns = png_get_image_width(reader.png, reader.info);
      result.n_rows    = png_get_image_height(reader.png, reader.info);
      check_size(path, result.n_columns, result.n_rows);
      const std::size_t          n_bytes = png_get_rowbytes(reader.png, reader.info);
      const unsigned int         depth = png_get_bit_depth(reader.png, reader.info) / 8, channels = png_get_channels(reader.png, reader.info);
      std::vector<unsigned char> bytes(n_bytes * result.n_rows);
      std::vector<png_bytep>     pointers;
      for (std::size_t row = 0; row < result.n_rows; ++row)
        pointers.push_back(bytes.data() + row * n_bytes);
      if (!reader.rows(pointers.data()))
        no_picture();
      const auto sample = [&](const unsigned char *pixel, unsigned int channel) {
        const unsigned char *p = pixel + static_cast<std::size_t>(channel) * depth;
        return depth == 2 ? (p[0] * 256. + p[1]) / 65535. : p[0] / 255.; // the high byte first
      };
      for (std::size_t row = 0; row < result.n_rows; ++row)
        for (std::size_t column = 0; column < result.n_columns; ++column)
          {
            const unsigned char *pixel = pointers[row] + column * channels * depth;
            result.values.push_back(channels < 3 ? sample(pixel, 0)
                                                 : 0.2126 * sample(pixel, 0) + 0.7152 * sample(pixel, 1) + 0.0722 * sample(pixel, 2));
          }
      return result;
    }

    /** The next number of a PGM, after blanks and comments; -1 if there is none. */
    long next_number(const std::string &content, std::size_t &position)
    {
      while (position < content.size() && (std::isspace(static_cast<unsigned char>(content[position])) != 0 || content[position] == '#'))
        if (content[position] == '#')
          position = std::min(content.find('\n', position), content.size());
        else
          ++position;
      const std::size_t begin = position;
      long              value = 0;
      while (position < content.size() && std::isdigit(static_cast<unsigned char>(content[position])) != 0 && position - begin < 9)
        value = 10 * value + (content[position++] - '0');
      return position == begin ? -1 : value;
    }

    Picture read_pgm(const std::string &path, const std::string &content)
    {
      const std::string expected = "a grey picture, P2 or P5, with width, height, largest value up to 65535, and as many values";
      const bool        binary   = content.rfind("P5", 0) == 0;
      if (!binary && content.rfind("P2", 0) != 0)
        fail(path, "is no PGM: it does not begin with P2 or P5", expected);
      std::size_t position = 2;
      const long  columns = next_number(content, position), rows = next_number(content, position), largest = next_number(content, position);
      check_size(path, columns, rows);
      if (largest < 1 || largest > 65535)
        fail(path, "is a PGM with the largest value " + std::to_string(largest), expected);
      Picture result;
      result.n_columns          = columns;
      result.n_rows             = rows;
      const std::size_t n       = static_cast<std::size_t>(columns) * rows;
      const std::size_t n_bytes = largest > 255 ? 2 : 1;
      ++position; // one blank before the values of a binary file
      for (std::size_t i = 0; i < n; ++i)
        {
          long value = -1;
          if (!binary)
            value = next_number(content, position);
          else if (position + n_bytes <= content.size())
            {
              value = static_cast<unsigned char>(content[position]);
              if (n_bytes == 2)
                value = 256 * value + static_cast<unsigned char>(content[position + 1]);
              position += n_bytes;
            }
          if (value < 0 || value > largest)
            fail(path,
                 value < 0 ? "has " + std::to_string(i) + " values, and " + std::to_string(n) + " pixels"
                           : "has the value " + std::to_string(value) + ", and " + std::to_string(largest) + " as the largest",
                 expected);
          result.values.push_back(static_cast<double>(value) / static_cast<double>(largest));
        }
      return result;
    }

    /** What stands between the separators, without the blanks around it; nothing of a line that is blank. */
    std::vector<std::string> cells_of_line(const std::string &line, char separator)
    {
      constexpr const char    *blanks = " \t\r";
      std::vector<std::string> cells;
      std::size_t              begin = line.find_first_not_of(blanks);
      while (begin != std::string::npos && begin <= line.size())
        {
          const std::size_t end  = separator == ' ' ? line.find_first_of(blanks, begin) : line.find(separator, begin);
          std::string       cell = line.substr(begin, end == std::string::npos ? end : end - begin);
          cell.erase(0, std::min(cell.find_first_not_of(blanks), cell.size()));
          cell.erase(cell.find_last_not_of(blanks) + 1);
          cells.push_back(cell);
          if (end == std::string::npos)
            break;
          begin = separator == ' ' ? line.find_first_not_of(blanks, end) : end + 1;
        }
      return cells;
    }

    Picture read_csv(const std::string &path, const std::string &content)
    {
      const std::string expected = "lines of as many finite numbers with decimal points, all separated by commas, or all by semicolons, or by blanks";
      const bool        has_mark = content.rfind("\xef\xbb\xbf", 0) == 0; // of UTF-8
      const char        between  = content.find(';') != std::string::npos ? ';' : content.find(',') != std::string::npos ? ',' : ' ';
      Picture           result;
      std::istringstream stream(has_mark ? content.substr(3) : content);
      unsigned int       number = 0;
      for (std::string line; std::getline(stream, line);)
        {
          ++number;
          const std::string              where = "line " + std::to_string(number);
          const std::vector<std::string> words = cells_of_line(line, between);
          const unsigned int             n     = words.size();
          for (const std::string &word : words)
            {
              if (word.empty())
                fail(path, "has an empty cell in " + where, expected);
              char        *end   = nullptr;
              const double value = std::strtod(word.c_str(), &end);
              if (*end != '\0' || !std::isfinite(value))
                fail(path, "has '" + word.substr(0, 40) + "' in " + where, expected);
              result.values.push_back(value);
            }
          if (n == 0)
            continue;
          if (result.n_rows > 0 && n != result.n_columns)
            fail(path,
                 "has " + std::to_string(n) + (n == 1 ? " number" : " numbers") + " in " + where + ", and " + std::to_string(result.n_columns) +
                   " in the lines before",
                 expected);
          result.n_columns = n;
          ++result.n_rows;
        }
      if (result.n_rows == 0)
        fail(path, "has no numbers", expected);
      result.is_table = true;
      return result;
    }
  } // namespace

  Picture read_picture(const std::string &path, const std::string &content)
  {
    std::string ending = path.substr(std::min(path.rfind('.'), path.size()));
    std::transform(ending.begin(), ending.end(), ending.begin(), [](unsigned char c) { return std::tolower(c); });
    if (ending == ".png")
      return read_png(path, content);
    if (ending == ".pgm")
      return read_pgm(path, content);
    if (ending == ".csv")
      return read_csv(path, content);
    fail(path, "is of no kind that is known", "a file whose name ends in .png, .pgm, .csv, .vtu or .pvtu");
  }
} // namespace leopard
