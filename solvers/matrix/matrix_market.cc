// SPDX-License-Identifier: Apache-2.0
#include "matrix_market.h"

#include "../base/errors.h"
#include "../base/read_text.h"
#include "../base/resize_touched.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <mutex>
#include <new>
#include <optional>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>

namespace leopard
{
  namespace
  {
    constexpr long long max_int = std::numeric_limits<int>::max();

    /**
     * Up to here a matrix may have any number of rows, beyond only as many as it has entries: a short file must not
     * claim gigabytes.
     */
    constexpr int max_rows_without_entries = 1 << 20;

    /** Integers up to here are doubles. */
    constexpr long long max_exact_integer = 1LL << 53;

    [[noreturn]] void fail_at(const std::string &name, std::size_t line, const std::string &what, const std::string &expected)
    {
      throw InvalidInput(name + ":" + std::to_string(line) + ": " + what + "\n  expected: " + expected);
    }

    bool is_blank(char c)
    {
      return c == ' ' || c == '\t';
    }

    /** At most 40 characters of a text from a file, in quotes, with ? for what is not printable. */
    std::string quoted(std::string_view text)
    {
      constexpr std::size_t max_length = 40;
      std::string           result(text.substr(0, max_length));
      for (char &c : result)
        if (c < ' ' || c > '~')
          c = '?';
      return "'" + result + "'" + (text.size() > max_length ? "..." : "");
    }

    /** Walks through the lines of a text and through what stands on a line; knows for messages where it is. */
    class LineReader
    {
    public:
      LineReader(const char *begin, const char *end, const std::string &name)
        : next(begin)
        , end(end)
        , name(name)
      {
      }

      /** Goes to the next line, or to the next one that is not blank; false at the end of the text. */
      bool next_line(bool skip_blank_lines = true)
      {
        while (next != end)
          {
            const auto *newline = static_cast<const char *>(std::memchr(next, '\n', end - next));
            cursor              = next;
            line_end            = newline != nullptr ? newline : end;
            next                = newline != nullptr ? newline + 1 : end;
            ++line_number;
            if (line_end != cursor && line_end[-1] == '\r')
              --line_end;
            if (!skip_blank_lines || !at_end_of_line())
              return true;
          }
        cursor = line_end = end;
        return false;
      }

      /** Skips blanks. */
      bool at_end_of_line()
      {
        while (cursor != line_end && is_blank(*cursor))
          ++cursor;
        return cursor == line_end;
      }

      bool at_comment() const { return cursor != line_end && *cursor == '%'; }

      /** The rest of the line. */
      std::string_view rest() const { return {cursor, static_cast<std::size_t>(line_end - cursor)}; }

      /** The next word, which remains; empty at the end of the line. */
      std::string_view word()
      {
        at_end_of_line();
        return {cursor, static_cast<std::size_t>(std::find_if(cursor, line_end, is_blank) - cursor)};
      }

      /** Whether the next word is this one, of either case; then it is read. */
      bool accept(std::string_view expected)
      {
        const auto lower_case = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
        const auto found      = word();
        const bool equal =
          std::equal(found.begin(), found.end(), expected.begin(), expected.end(), [&](char a, char b) { return lower_case(a) == lower_case(b); });
        cursor += equal ? found.size() : 0;
        return equal;
      }

      /** Reads one of the accepted words, of either case. @return its number among them. */
      int keyword(const char *what, std::initializer_list<const char *> accepted)
      {
        std::string expected;
        int         i = 0;
        for (const std::string candidate : accepted)
          {
            if (accept(candidate))
              return i;
            expected += (i == 0 ? "'" : " or '") + candidate + "'";
            ++i;
          }
        fail_at_word(what, expected + "; nothing else can be read");
      }

      /** Reads a whole number from lower to upper. */
      int whole_number(const char *what, int lower, int upper)
      {
        int value = 0;
        if (!number(value, false, lower, upper))
          fail_at_word(what, "a whole number from " + std::to_string(lower) + " to " + std::to_string(upper));
        return value;
      }

      double real_value()
      {
        double value = 0.;
        if (!number(value, true, std::numeric_limits<double>::lowest(), std::numeric_limits<double>::max()))
          fail_at_word("value", "a finite real number within the range of double, 4.9e-324 to 1.8e308");
        return value;
      }

      double integer_value()
      {
        long long value = 0;
        if (!number(value, true, -max_exact_integer, max_exact_integer))
          fail_at_word("value", "an integer of at most 2^53 = " + std::to_string(max_exact_integer));
        return static_cast<double>(value);
      }

      void expect_end_of_line(const char *after)
      {
        if (!at_end_of_line())
          fail(quoted(rest()) + " follows " + after, "nothing more on this line");
      }

      /** Of what is left, one of n parts that begin and end with lines; its lines have other numbers. */
      LineReader part(int part, int n_parts) const
      {
        const auto border = [&](int i) {
          if (i == 0 || i == n_parts)
            return i == 0 ? next : end;
          const char *place   = next + (end - next) / n_parts * i;
          const auto *newline = static_cast<const char *>(std::memchr(place, '\n', end - place));
          return newline == nullptr ? end : newline + 1;
        };
        return {border(part), border(part + 1), name};
      }

      std::size_t line() const { return line_number; }
      std::size_t n_bytes_left() const { return end - next; }

      [[noreturn]] void fail(const std::string &what, const std::string &expected) const
      {
        fail_at(name, std::max<std::size_t>(line_number, 1), what, expected);
      }

    private:
      [[noreturn]] void fail_at_word(const char *what, const std::string &expected)
      {
        fail("the " + std::string(what) + " is " + (at_end_of_line() ? "missing" : quoted(word())), expected);
      }

      /**
       * Reads a number from lower to upper; std::from_chars knows no plus sign. If it is none of these, only blanks
       * before it are skipped.
       */
      template <typename Number>
      bool number(Number &value, bool accept_plus, Number lower, Number upper)
      {
        at_end_of_line();
        const char *start = cursor;
        if (accept_plus && line_end - start > 1 && start[0] == '+' && start[1] != '-')
          ++start;
        const auto [stop, error] = std::from_chars(start, line_end, value);
        if (error != std::errc() || (stop != line_end && !is_blank(*stop)) || !(value >= lower && value <= upper))
          return false;
        cursor = stop;
        return true;
      }

      const char        *next;
      const char        *end;
      const char        *cursor      = nullptr;
      const char        *line_end    = nullptr;
      std::size_t        line_number = 0; ///< of the line that the cursor is in, from 1
      const std::string &name;
    };

    /** What stands in the header that a reader of entries has to know. */
    struct Header
    {
      bool        is_array     = false;
      bool        is_integer   = false;
      bool        is_pattern   = false;
      bool        is_symmetric = false; ///< the lower triangle stands for both
      bool        is_skew      = false; ///< and is_symmetric: the upper one has the other sign, and the diagonal is zero
      int         n_rows       = 0;
      int         n_columns    = 0;
      int         n_entries    = 0; ///< lines that follow
      std::size_t size_line    = 0;
      bool        is_row       = false; ///< a vector that is written as one, and has been read as a column
    };

    void read_banner_begin(LineReader &reader)
    {
      const char *banner = "a banner such as '%%MatrixMarket matrix coordinate real general'";
      if (!reader.next_line(false))
        reader.fail("the file is empty", banner);
      if (!reader.accept("%%MatrixMarket"))
        reader.fail("the file begins with " + quoted(reader.rest()), banner);
      reader.keyword("object", {"matrix"});
    }

    /** The size line, after blank lines and comments. */
    void read_sizes(LineReader &reader, Header &header)
    {
      reader.expect_end_of_line("the banner");
      do
        if (!reader.next_line())
          reader.fail("the file ends before the size line", header.is_array ? "rows and columns" : "rows, columns and number of entries");
      while (reader.at_comment());
      header.size_line = reader.line();
      header.n_rows    = reader.whole_number("number of rows", 0, max_int);
      header.n_columns = reader.whole_number("number of columns", 0, max_int);
      if (!header.is_array)
        header.n_entries = reader.whole_number("number of entries", 0, max_int);
      reader.expect_end_of_line("the sizes");
    }

    Header read_matrix_header(LineReader &reader)
    {
      read_banner_begin(reader);
      Header header;
      reader.keyword("format", {"coordinate"});
      const int field     = reader.keyword("field", {"real", "integer", "pattern"});
      header.is_integer   = field == 1;
      header.is_pattern   = field == 2;
      const int symmetry  = reader.keyword("symmetry", {"general", "symmetric", "skew-symmetric"});
      header.is_symmetric = symmetry > 0;
      header.is_skew      = symmetry == 2;
      read_sizes(reader, header);

      const long long   n = header.n_rows, n_entries = header.n_entries;
      const long long   n_places = header.is_symmetric ? n * (n + 1) / 2 : n * n;
      const std::string has      = "the matrix has " + std::to_string(n) + " rows and " + std::to_string(header.n_columns) + " columns";
      if (header.n_rows != header.n_columns)
        reader.fail(has, "a square matrix");
      if (n_entries > n_places)
        reader.fail(has + ", but " + std::to_string(n_entries) + " entries", "at most " + std::to_string(n_places) + " entries");
      if (header.is_symmetric && 2 * n_entries - n > max_int)
        reader.fail("the matrix has " + std::to_string(n_entries) + " entries in its lower triangle",
                    "at most 2^31 - 1 entries in both triangles together");
      if (n > max_rows_without_entries && n > (header.is_symmetric ? 2 : 1) * n_entries)
        reader.fail("the matrix has " + std::to_string(n) + " rows and only " + std::to_string(n_entries) + " entries, so that there are empty rows",
                    "an entry in each row");
      return header;
    }

    /** Of n rows and 1 to most columns. What is 1 x 1 may be called symmetric, as SciPy calls it. */
    Header read_columns_header(LineReader &reader, int n, int most)
    {
      read_banner_begin(reader);
      Header header;
      header.is_array   = reader.keyword("format", {"array", "coordinate"}) == 0;
      header.is_integer = reader.keyword("field", {"real", "integer"}) == 1;
      if (n == 1)
        reader.keyword("symmetry", {"general", "symmetric"});
      else
        reader.keyword("symmetry", {"general"});
      read_sizes(reader, header);
      header.is_row = most == 1 && n > 1 && header.n_rows == 1 && header.n_columns == n;
      if (header.is_row)
        std::swap(header.n_rows, header.n_columns);
      const std::string what = most == 1 ? "the vector has " : "the array has ", rows = std::to_string(header.n_rows) + " rows";
      if (header.n_rows != n || header.n_columns < 1 || header.n_columns > most)
        reader.fail(what + rows + " and " + std::to_string(header.n_columns) + " columns",
                    std::to_string(n) + " rows and 1 " + (most == 1 ? "column" : "to " + std::to_string(most) + " columns"));
      const long long n_numbers = static_cast<long long>(n) * header.n_columns;
      if (n_numbers > max_int)
        reader.fail(what + std::to_string(n_numbers) + " numbers", "at most 2^31 - 1");
      if (header.is_array)
        header.n_entries = static_cast<int>(n_numbers);
      if (header.n_entries > n_numbers)
        reader.fail(what + rows + (most == 1 ? "" : " and " + std::to_string(header.n_columns) + " columns") + ", but " +
                      std::to_string(header.n_entries) + " entries",
                    "at most " + std::to_string(n_numbers) + " entries");
      return header;
    }

    /** Calls read_line for each of the lines that the header announces; fewer and more are errors. */
    template <typename Function>
    void for_each_entry(LineReader &reader, const Header &header, const Function &read_line)
    {
      const std::string n = std::to_string(header.n_entries), announced = n + " entries, as line " + std::to_string(header.size_line) + " announces";
      for (int i = 0; i < header.n_entries; ++i)
        {
          if (!reader.next_line())
            reader.fail("the file ends after " + std::to_string(i) + " of " + n + " entries", announced);
          if (reader.at_comment())
            reader.fail("a comment among the entries: " + quoted(reader.rest()), "comments before the size line only");
          read_line();
          reader.expect_end_of_line("the entry");
        }
      if (reader.next_line())
        reader.fail(quoted(reader.rest()) + " follows the last entry", announced + ", and nothing more");
    }

    /** An entry of a file, counted from 0. */
    struct Entry
    {
      int    row;
      int    column;
      double value;
    };

    Entry read_entry(LineReader &reader, const Header &header)
    {
      Entry entry;
      entry.row    = reader.whole_number("row", 1, header.n_rows) - 1;
      entry.column = reader.whole_number("column", 1, header.n_columns) - 1;
      if (header.is_symmetric && entry.column > entry.row)
        reader.fail("the entry in row " + std::to_string(entry.row + 1) + ", column " + std::to_string(entry.column + 1) + " is above the diagonal",
                    header.is_skew ? "the lower triangle only, as the banner says 'skew-symmetric'"
                                   : "the lower triangle only, as the banner says 'symmetric'");
      if (header.is_skew && entry.column == entry.row)
        reader.fail("the entry in row " + std::to_string(entry.row + 1) + ", column " + std::to_string(entry.column + 1) + " is on the diagonal",
                    "entries below the diagonal only, as the banner says 'skew-symmetric'");
      entry.value = header.is_pattern ? 1. : header.is_integer ? reader.integer_value() : reader.real_value();
      return entry;
    }

    struct Entries
    {
      std::vector<std::vector<Entry>> parts;
      long long                       n_mirrored = 0; ///< of a symmetric matrix: those beside the diagonal
    };

    /**
     * All entries, read by the threads of a pool, each a part of the lines. Nothing where anything is wrong: who reads
     * in sequence knows the line. @param reader before the entries.
     */
    std::optional<Entries> entries_in_parts(const LineReader &reader, const Header &header, ThreadPool &pool)
    {
      constexpr std::size_t            grain   = 1 << 16; // bytes a part
      const int                        n_parts = static_cast<int>(std::min<std::size_t>(pool.size(), reader.n_bytes_left() / grain + 1));
      Entries                          result;
      std::vector<std::vector<Entry>> &parts = result.parts;
      std::atomic<long long>           n_mirrored{0};
      std::atomic<bool>                wrong{false};
      parts.resize(n_parts);
      const auto read_part = [&](int part) {
        try
          {
            LineReader        lines = reader.part(part, n_parts);
            const std::size_t share = header.n_entries / n_parts + header.n_entries / (8 * n_parts);
            parts[part].reserve(std::min(share, lines.n_bytes_left() / 4 + 1)); // an entry takes four bytes at least
            while (lines.next_line())
              {
                if (lines.at_comment() || parts[part].size() > static_cast<std::size_t>(header.n_entries))
                  throw InvalidInput("");
                parts[part].push_back(read_entry(lines, header));
                lines.expect_end_of_line("the entry");
              }
            n_mirrored += std::count_if(parts[part].begin(), parts[part].end(), [](const Entry &e) { return e.row != e.column; });
          }
        catch (const InvalidInput &)
          {
            wrong = true;
          }
      };
      pool.run(read_part, n_parts);
      std::size_t n = 0;
      for (const std::vector<Entry> &part : parts)
        n += part.size();
      if (wrong || n != static_cast<std::size_t>(header.n_entries))
        return std::nullopt;
      result.n_mirrored = header.is_symmetric ? n_mirrored.load() : 0;
      return result;
    }

    /** The same in sequence, for what is wrong. */
    void refuse_entries(LineReader reader, const Header &header)
    {
      for_each_entry(reader, header, [&] { read_entry(reader, header); });
      reader.fail("the entries cannot be read", "lines as the format has them"); // not reached
    }

    /** The lines of the first two entries in a place; all of the text has been read before. */
    std::pair<std::size_t, std::size_t> lines_of_duplicate(LineReader reader, const Header &header, int row, int column)
    {
      std::size_t first = 0, second = 0;
      for (int i = 0; i < header.n_entries && second == 0; ++i)
        {
          reader.next_line();
          const Entry entry = read_entry(reader, header);
          if (entry.row == row && entry.column == column)
            (first == 0 ? first : second) = reader.line();
        }
      return {first, second};
    }

    /** Sorts each row by column. @return row and column of an entry that stands twice, if there is one. */
    std::optional<std::pair<int, int>> sort_rows(CrsMatrix<double> &A, int first, int last)
    {
      std::vector<std::pair<int, double>> row;
      for (int i = first; i < last; ++i)
        {
          const int begin = A.row_offsets[i], end = A.row_offsets[i + 1];
          if (!std::is_sorted(A.columns.begin() + begin, A.columns.begin() + end))
            {
              row.clear();
              for (int p = begin; p < end; ++p)
                row.emplace_back(A.columns[p], A.values[p]);
              std::sort(row.begin(), row.end(), [](const auto &a, const auto &b) { return a.first < b.first; });
              for (int p = begin; p < end; ++p)
                std::tie(A.columns[p], A.values[p]) = row[p - begin];
            }
          const auto twice = std::adjacent_find(A.columns.begin() + begin, A.columns.begin() + end);
          if (twice != A.columns.begin() + end)
            return std::pair(i, *twice);
        }
      return {};
    }

    /** Of all rows, and the first of those entries. */
    std::optional<std::pair<int, int>> sort_rows(CrsMatrix<double> &A, ThreadPool &pool)
    {
      std::mutex                         one_at_a_time;
      std::optional<std::pair<int, int>> result;
      parallel_for(pool, A.n_rows, 4096, [&](long begin, long end) {
        const auto found = sort_rows(A, static_cast<int>(begin), static_cast<int>(end));
        if (!found)
          return;
        const std::lock_guard<std::mutex> lock(one_at_a_time);
        if (!result || *found < *result)
          result = found;
      });
      return result;
    }

    /**
     * Compressed rows by counting, with the entries of a row in no order; a mirrored entry for each beside the diagonal
     * of a symmetric matrix.
     */
    CrsMatrix<double> to_rows(const std::vector<std::vector<Entry>> &parts, const Header &header, ThreadPool &pool)
    {
      CrsMatrix<double> A;
      A.n_rows = A.n_columns = header.n_rows;
      A.row_offsets.assign(static_cast<std::size_t>(A.n_rows) + 1, 0);
      // function(row, next place in that row, column, value) for each entry and each mirrored one, by all threads
      const auto for_each = [&](std::vector<int> &places, const auto &function) {
        pool.run(
          [&](int part) {
            const auto take = [&](int row, int column, double value) {
              function(std::atomic_ref<int>(places[row]).fetch_add(1, std::memory_order_relaxed), column, value);
            };
            for (const Entry &entry : parts[part])
              {
                take(entry.row, entry.column, entry.value);
                if (header.is_symmetric && entry.row != entry.column)
                  take(entry.column, entry.row, header.is_skew ? -entry.value : entry.value);
              }
          },
          static_cast<int>(parts.size()));
      };
      std::vector<int> next(static_cast<std::size_t>(A.n_rows), 0);
      for_each(next, [](int /*place*/, int /*column*/, double /*value*/) {});
      for (int i = 0; i < A.n_rows; ++i)
        {
          A.row_offsets[i + 1] = A.row_offsets[i] + next[i];
          next[i]              = A.row_offsets[i];
        }
      resize_touched(A.columns, A.row_offsets[A.n_rows], pool);
      resize_touched(A.values, A.row_offsets[A.n_rows], pool);
      for_each(next, [&](int p, int column, double value) {
        A.columns[p] = column;
        A.values[p]  = value;
      });
      return A;
    }

    std::vector<std::vector<double>> parse_columns(const char *begin, const char *end, const std::string &name, int n, int most)
    {
      LineReader                       reader(begin, end, name);
      const Header                     header = read_columns_header(reader, n, most);
      std::vector<std::vector<double>> columns(header.n_columns);
      const auto                       value = [&] { return header.is_integer ? reader.integer_value() : reader.real_value(); };
      if (header.is_array)
        {
          std::size_t t = 0; // one column after the other
          columns.front().reserve(std::min<std::size_t>(n, (reader.n_bytes_left() + 1) / 2));
          for_each_entry(reader, header, [&] { columns[t++ / n].push_back(value()); });
          return columns;
        }
      std::vector<std::vector<std::size_t>> line_of(columns.size(), std::vector<std::size_t>(n, 0));
      for (std::vector<double> &column : columns)
        column.assign(n, 0.);
      for_each_entry(reader, header, [&] {
        int i = reader.whole_number("row", 1, header.is_row ? 1 : n) - 1,
            k = reader.whole_number("column", 1, header.is_row ? n : header.n_columns) - 1;
        if (header.is_row)
          std::swap(i, k);
        std::size_t &line = line_of[k][i];
        if (line != 0)
          reader.fail("the entry in row " + std::to_string(i + 1) + (most == 1 ? "" : ", column " + std::to_string(k + 1)) +
                        " stands here and in line " + std::to_string(line),
                      "each entry once");
        line          = reader.line();
        columns[k][i] = value();
      });
      return columns;
    }

    template <typename Parse>
    auto read(const std::string &path, const Parse &parse)
    {
      try
        {
          const Text text = read_text(path, "a readable file in Matrix Market format");
          return parse(text.data.get(), text.data.get() + text.size);
        }
      catch (const std::bad_alloc &)
        {
          throw InvalidInput(path + ": there is not enough memory to read this file\n  expected: a smaller file or more memory");
        }
    }
  } // namespace

  CrsMatrix<double> parse_matrix_market(const char *begin, const char *end, const std::string &name)
  {
    LineReader       reader(begin, end, name);
    const Header     header         = read_matrix_header(reader);
    const LineReader before_entries = reader;
    const auto       pool           = shared_thread_pool(0);
    auto             entries        = entries_in_parts(reader, header, *pool);
    if (!entries)
      refuse_entries(reader, header);
    if (const long long n = header.n_entries + entries->n_mirrored; n > max_int)
      fail_at(name, header.size_line, "the matrix has " + std::to_string(n) + " entries in both triangles together", "at most 2^31 - 1 entries");
    CrsMatrix<double> A = to_rows(entries->parts, header, *pool);
    entries.reset();
    if (const auto twice = sort_rows(A, *pool))
      {
        auto [i, j] = *twice;
        if (header.is_symmetric && i < j)
          std::swap(i, j);
        const auto [first, second] = lines_of_duplicate(before_entries, header, i, j);
        fail_at(name,
                second,
                "the entry in row " + std::to_string(i + 1) + ", column " + std::to_string(j + 1) + " stands here and in line " +
                  std::to_string(first),
                "each entry once");
      }
    return A;
  }

  CrsMatrix<double> read_matrix_market(const std::string &path)
  {
    return read(path, [&](const char *begin, const char *end) { return parse_matrix_market(begin, end, path); });
  }

  std::vector<std::vector<double>> read_matrix_market_columns(const std::string &path, int n, int most)
  {
    return read(path, [&](const char *begin, const char *end) { return parse_columns(begin, end, path, n, most); });
  }

  std::vector<double> read_matrix_market_vector(const std::string &path, int n)
  {
    return std::move(read_matrix_market_columns(path, n, 1).front());
  }
} // namespace leopard
