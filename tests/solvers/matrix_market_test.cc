// SPDX-License-Identifier: Apache-2.0
#include "file_size_limit.h"
#include "matrix_of_rows.h"
#include "real_matrices.h"

#include <solvers/base/errors.h>
#include <solvers/matrix/generators.h>
#include <solvers/matrix/matrix_market.h>

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include <unistd.h>
#include <zlib.h>

namespace leopard
{
  namespace
  {
    namespace fs = std::filesystem;
    using Vector = std::vector<double>;

    const std::string general   = "%%MatrixMarket matrix coordinate real general\n";
    const std::string symmetric = "%%MatrixMarket matrix coordinate real symmetric\n";
    const std::string pattern   = "%%MatrixMarket matrix coordinate pattern general\n";
    const std::string integer   = "%%MatrixMarket matrix coordinate integer general\n";
    const std::string array     = "%%MatrixMarket matrix array real general\n";

    /** A folder of its own for each test. */
    class MatrixMarket : public testing::Test
    {
    protected:
      MatrixMarket()
      {
        const std::string test = testing::UnitTest::GetInstance()->current_test_info()->name();
        folder                 = fs::temp_directory_path() / ("leopard_matrix_market_" + test + "_" + std::to_string(::getpid()));
        fs::create_directories(folder);
      }
      ~MatrixMarket() override { fs::remove_all(folder); }

      std::string path(const std::string &name) const { return (folder / name).string(); }

      std::string write(const std::string &name, const std::string &content) const
      {
        std::ofstream(path(name), std::ios::binary) << content;
        return path(name);
      }

      std::string write_gz(const std::string &name, const std::string &content) const
      {
        gzFile file = gzopen(path(name).c_str(), "wb");
        gzwrite(file, content.data(), static_cast<unsigned int>(content.size()));
        gzclose(file);
        return path(name);
      }

      std::size_t n_files() const { return std::distance(fs::directory_iterator(folder), fs::directory_iterator()); }

      fs::path folder;
    };

    std::string content_of(const std::string &path)
    {
      std::ifstream file(path, std::ios::binary);
      return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    }

    CrsMatrix<double> parse(const std::string &text)
    {
      return parse_matrix_market(text.data(), text.data() + text.size(), "text");
    }

    CrsMatrix<double> matrix(int n, const std::vector<int> &row_offsets, const std::vector<int> &columns, const Vector &values)
    {
      return {n, n, row_offsets, columns, values};
    }

    void expect_equal(const CrsMatrix<double> &A, const CrsMatrix<double> &B)
    {
      EXPECT_EQ(A.n_rows, B.n_rows);
      EXPECT_EQ(A.n_columns, B.n_columns);
      EXPECT_EQ(A.row_offsets, B.row_offsets);
      EXPECT_EQ(A.columns, B.columns);
      EXPECT_EQ(A.values, B.values);
    }

    std::string message(const std::function<void()> &function)
    {
      try
        {
          function();
        }
      catch (const Error &error)
        {
          return error.what();
        }
      return "accepted";
    }

    /**
     * Expects that text is refused in the given line, with a message that contains found, and expected after 'expected:
     * '.
     */
    void expect_refused(const std::string &text, int line, const std::string &found, const std::string &expected)
    {
      const std::string what = message([&] { parse(text); });
      EXPECT_EQ(what.rfind("text:" + std::to_string(line) + ": ", 0), 0U) << what;
      const std::size_t split = what.find("\n  expected: ");
      ASSERT_NE(split, std::string::npos) << what;
      EXPECT_NE(what.substr(0, split).find(found), std::string::npos) << what << "\nlacks: " << found;
      EXPECT_NE(what.substr(split).find(expected), std::string::npos) << what << "\nlacks: " << expected;
    }

    /** A random matrix with values of all magnitudes and rows that may be empty, each sorted. */
    CrsMatrix<double> random_matrix(int n, double density, bool is_symmetric, std::mt19937_64 &random)
    {
      std::uniform_real_distribution<double>     uniform(0., 1.);
      std::vector<std::map<int, double>>         rows(n);
      const std::vector<double>                  special = {0., -0., 1., 0.1, 1. / 3., 5e-324, 2.2250738585072014e-308, -1.7976931348623157e308};
      std::uniform_int_distribution<std::size_t> index(0, special.size() - 1);
      for (int i = 0; i < n; ++i)
        for (int j = 0; j < (is_symmetric ? i + 1 : n); ++j)
          if (uniform(random) < density)
            {
              const double kind  = uniform(random);
              const double value = kind < 0.1 ? special[index(random)] : (uniform(random) - 0.5) * std::pow(10., 600. * uniform(random) - 300.);
              rows[i][j]         = value;
              if (is_symmetric)
                rows[j][i] = value;
            }
      return matrix_of_rows(rows);
    }

    TEST_F(MatrixMarket, ReadsTheKindsOfMatrices)
    {
      expect_equal(parse(general + "% comment\n%\n2 2 3\n2 2 -1.5e-3\n1 2 +.5\n1 1 4.\n"), matrix(2, {0, 2, 3}, {0, 1, 1}, {4., 0.5, -1.5e-3}));
      expect_equal(parse(symmetric + "3 3 4\n3 1 7\n1 1 1\n3 3 3\n2 2 2\n"), matrix(3, {0, 2, 3, 5}, {0, 2, 1, 0, 2}, {1., 7., 2., 7., 3.}));
      expect_equal(parse(pattern + "2 2 2\n2 1\n1 2\n"), matrix(2, {0, 1, 2}, {1, 0}, {1., 1.}));
      expect_equal(parse("%%MatrixMarket matrix coordinate pattern symmetric\n2 2 1\n2 1\n"), matrix(2, {0, 1, 2}, {1, 0}, {1., 1.}));
      expect_equal(parse(integer + "1 1 1\n1 1 -9007199254740992\n"), matrix(1, {0, 1}, {0}, {-9007199254740992.}));
      expect_equal(parse(general + "0 0 0\n"), CrsMatrix<double>());
      expect_equal(parse(general + "2 2 0\n"), matrix(2, {0, 0, 0}, {}, {}));
    }

    TEST_F(MatrixMarket, AcceptsWhatTheFormatLeavesFree)
    {
      const CrsMatrix<double> expected = matrix(2, {0, 1, 2}, {0, 1}, {4., 5.});
      expect_equal(parse("%%MatrixMarket matrix coordinate real general\r\n% c\r\n\r\n2 2 2\r\n1 1 4\r\n2 2 5\r\n"), expected);
      expect_equal(parse("%%matrixmarket\tMATRIX  Coordinate rEAL GENERAL \n2 2 2\n1 1 4\n2 2 5"), expected);
      expect_equal(parse(general + "\n%\n \t\n  2\t2   2  \n\n 1 1 4 \n\t\n2 2\t5\t\n\n\n"), expected);
      expect_equal(parse(general + "2 2 2\r\n1 1 4\r\n2 2 5\r"), expected);
    }

    TEST_F(MatrixMarket, ReadsSkewSymmetricOnes)
    {
      const std::string       banner = "%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 2\n";
      const CrsMatrix<double> A      = parse(banner + "2 1 1.5\n3 2 -2\n");
      EXPECT_EQ(A.row_offsets, (std::vector<int>{0, 1, 3, 4}));
      EXPECT_EQ(A.columns, (std::vector<int>{1, 0, 2, 1}));
      EXPECT_EQ(A.values, (std::vector<double>{-1.5, 1.5, 2., -2.}));
      expect_refused(banner + "2 1 1\n2 2 1\n", 4, "row 2, column 2 is on the diagonal", "below the diagonal only");
      expect_refused(banner + "2 1 1\n2 3 1\n", 4, "is above the diagonal", "'skew-symmetric'");
    }

    TEST_F(MatrixMarket, RefusesOtherBanners)
    {
      const std::string banner = "%%MatrixMarket matrix coordinate real general";
      expect_refused("", 1, "is empty", banner);
      expect_refused("\n" + general, 1, "begins with ''", banner);
      expect_refused("2 2 1\n1 1 1\n", 1, "begins with '2 2 1'", banner);
      expect_refused("%MatrixMarket matrix coordinate real general\n", 1, "'%MatrixMarket matrix coordinate real gen'...", banner);
      expect_refused("\x1f\x8b\x08\x01", 1, std::string(4, '?'), banner);
      expect_refused("%%MatrixMarket vector coordinate real general\n1 1 0\n", 1, "object is 'vector'", "'matrix'");
      expect_refused("%%MatrixMarket matrix array real general\n1 1\n1\n", 1, "format is 'array'", "'coordinate'");
      expect_refused("%%MatrixMarket matrix coordinate complex general\n", 1, "field is 'complex'", "'real' or 'integer' or 'pattern'");
      expect_refused("%%MatrixMarket matrix coordinate double general\n", 1, "field is 'double'", "'real' or 'integer' or 'pattern'");
      for (const std::string symmetry : {"hermitian", "skew", "symmetri", "symmetrical"})
        expect_refused("%%MatrixMarket matrix coordinate real " + symmetry + "\n",
                       1,
                       "symmetry is '" + symmetry + "'",
                       "'general' or 'symmetric' or 'skew-symmetric'; nothing else can be read");
      expect_refused("%%MatrixMarket matrix coordinate real\n1 1 0\n", 1, "symmetry is missing", "'general' or 'symmetric' or 'skew-symmetric'");
      expect_refused("%%MatrixMarket matrix coordinate real general x y\n", 1, "'x y' follows the banner", "nothing more");
    }

    TEST_F(MatrixMarket, RefusesBadSizes)
    {
      expect_refused(general, 1, "ends before the size line", "rows, columns and number of entries");
      expect_refused(general + "% a\n%b\n\n", 4, "ends before the size line", "rows, columns and number of entries");
      expect_refused(general + "%\n3\n", 3, "number of columns is missing", "from 0 to 2147483647");
      expect_refused(general + "3 3\n", 2, "number of entries is missing", "from 0 to 2147483647");
      expect_refused(general + "n 3 1\n", 2, "number of rows is 'n'", "whole number");
      expect_refused(general + "3.0 3 1\n", 2, "number of rows is '3.0'", "whole number");
      expect_refused(general + "3 -3 1\n", 2, "number of columns is '-3'", "from 0 to 2147483647");
      expect_refused(general + "3 3 1 1\n", 2, "'1' follows the sizes", "nothing more");
      expect_refused(general + "3 4 1\n1 1 1\n", 2, "3 rows and 4 columns", "a square matrix");
      expect_refused(general + "2 2 5\n1 1 1\n", 2, "2 rows and 2 columns, but 5 entries", "at most 4");
      expect_refused(symmetric + "2 2 4\n1 1 1\n", 2, "but 4 entries", "at most 3");
      expect_refused(general + "2147483648 2147483648 1\n1 1 1\n", 2, "'2147483648'", "from 0 to 2147483647");
      expect_refused(general + "100000 100000 2147483648\n", 2, "number of entries is '2147483648'", "from 0 to 2147483647");
      expect_refused(general + "3 3 99999999999999999999999\n", 2, "number of entries is '99999999999999999999999'", "from 0 to 2147483647");
      expect_refused(symmetric + "100000 100000 1100000000\n", 2, "1100000000 entries in its lower triangle", "2^31 - 1");
      // neither of these may take gigabytes
      expect_refused(general + "100000 100000 2000000000\n1 1 1\n", 3, "ends after 1 of 2000000000 entries", "line 2 announces");
      expect_refused(general + "2000000000 2000000000 2000000000\n1 1 1\n", 3, "ends after 1 of 2000000000 entries", "line 2 announces");
      expect_refused(general + "2000000000 2000000000 1\n1 1 1\n", 2, "2000000000 rows and only 1 entries", "an entry in each row");
    }

    TEST_F(MatrixMarket, RefusesBadEntries)
    {
      expect_refused(general + "3 3 1\n0 1 1\n", 3, "row is '0'", "from 1 to 3");
      expect_refused(general + "3 3 1\n-1 1 1\n", 3, "row is '-1'", "from 1 to 3");
      expect_refused(general + "3 3 2\n1 1 1\n\n4 1 1\n", 5, "row is '4'", "from 1 to 3");
      expect_refused(general + "3 3 1\n1 4 1\n", 3, "column is '4'", "from 1 to 3");
      expect_refused(general + "3 3 1\n1 99999999999999999999 1\n", 3, "column is '99999999999999999999'", "from 1 to 3");
      expect_refused(general + "3 3 1\n1 1.5 1\n", 3, "column is '1.5'", "from 1 to 3");
      expect_refused(general + "3 3 1\n1,1,1\n", 3, "row is '1,1,1'", "from 1 to 3");
      expect_refused(general + "3 3 1\n1\n", 3, "column is missing", "from 1 to 3");
      expect_refused(general + "3 3 1\n1 1\n", 3, "value is missing", "a finite real number");
      for (const std::string value :
           {"x", "nan", "NaN", "inf", "-INF", "1e999", "-1e999", "1e-999", "1.5d0", "0x10", "1,5", "++1", "+-1", "-+1", "+", "."})
        expect_refused(general + "3 3 2\n1 1 1\n2 2 " + value + "\n", 4, "value is '" + value + "'", "a finite real number");
      for (const std::string value : {"1.0", "1e3", "9007199254740993", "-9007199254740993", "-9223372036854775808", "99999999999999999999", "x"})
        expect_refused(integer + "3 3 1\n2 2 " + value + "\n", 3, "value is '" + value + "'", "an integer of at most 2^53");
      expect_refused(general + "3 3 1\n1 1 1 0\n", 3, "'0' follows the entry", "nothing more on this line");
      expect_refused(general + "3 3 1\n1 1 1 % one\n", 3, "'% one' follows the entry", "nothing more on this line");
      expect_refused(pattern + "3 3 1\n1 1 1\n", 3, "'1' follows the entry", "nothing more on this line");
      expect_refused(general + "3 3 1\n1 1 1\r\r\n", 3, "value is '1?'", "a finite real number");
      expect_refused(general + "3 3 1\n" + std::string(100, '1') + "\n", 3, "row is '" + std::string(40, '1') + "'...", "from 1 to 3");
      expect_refused(
        general + "3 3 1\n1 1 \xc3\xa4" + std::string("\0\x1b", 2) + "\n", 3, "value is '" + std::string(4, '?'), "a finite real number");
      expect_refused(symmetric + "3 3 2\n1 1 1\n1 3 1\n", 4, "row 1, column 3 is above the diagonal", "lower triangle only");
      expect_refused(symmetric + "3 3 2\n1 1 1\n2 3 1\n", 4, "row 2, column 3 is above the diagonal", "lower triangle only");
    }

    TEST_F(MatrixMarket, RefusesTooFewAndTooManyLines)
    {
      expect_refused(general + "3 3 2\n1 1 1\n", 3, "ends after 1 of 2 entries", "2 entries, as line 2 announces");
      expect_refused(general + "%\n3 3 2\n1 1 1\n2 2 2\n\n3 3 3\n", 7, "'3 3 3' follows the last entry", "2 entries, as line 3 announces");
      expect_refused(general + "3 3 0\nx\n", 3, "'x' follows the last entry", "0 entries");
      expect_refused(general + "3 3 2\n1 1 1\n% no\n2 2 2\n", 4, "'% no'", "comments before the size line only");
      expect_refused(general + "3 3 1\n1 1 1\n% no\n", 4, "'% no' follows the last entry", "1 entries");
    }

    TEST_F(MatrixMarket, RefusesDuplicatesAndNamesBothLines)
    {
      expect_refused(general + "3 3 4\n1 1 1\n\n2 3 1\n3 3 1\n2 3 1\n", 7, "row 2, column 3 stands here and in line 5", "each entry once");
      expect_refused(symmetric + "3 3 4\n1 1 1\n3 2 1\n3 3 1\n3 2 2\n", 6, "row 3, column 2 stands here and in line 4", "each entry once");
      expect_refused(pattern + "1 1 1\n1 1\n1 1\n", 4, "'1 1' follows the last entry", "nothing more");
    }

    TEST_F(MatrixMarket, RefusesWhatIsNoFile)
    {
      EXPECT_NE(message([&] { read_matrix_market(path("missing.mtx")); }).find("missing.mtx: the file cannot be opened: No such file"),
                std::string::npos);
      EXPECT_NE(message([&] { read_matrix_market(folder.string()); }).find(folder.string() + ": this is a folder"), std::string::npos);
      const std::string empty = write("empty.mtx", "");
      EXPECT_EQ(message([&] { read_matrix_market(empty); }).find(empty + ":1: the file is empty"), 0U);
      EXPECT_THROW(read_matrix_market(empty), InvalidInput);
    }

    TEST_F(MatrixMarket, ReadsCompressedFilesByTheirContent)
    {
      const std::string text   = general + "2 2 2\n1 1 4\n2 2 5\n";
      const std::string packed = write_gz("packed.mtx", text), plain = write("plain.mtx.gz", text);
      expect_equal(read_matrix_market(packed), parse(text));
      expect_equal(read_matrix_market(plain), parse(text));
      const std::string wrong = write_gz("wrong.mtx.gz", general + "2 2 2\n1 1 4\n2 5 5\n");
      EXPECT_EQ(message([&] { read_matrix_market(wrong); }).find(wrong + ":4: the column is '5'"), 0U);
    }

    TEST_F(MatrixMarket, RefusesDamagedCompressedFiles)
    {
      std::mt19937_64 random(1);
      write_matrix_market(random_matrix(60, 0.5, false, random), path("whole.mtx.gz"));
      const std::string whole = content_of(path("whole.mtx.gz"));
      for (const std::size_t size : {whole.size() - 1, whole.size() / 2, std::size_t(10), std::size_t(2)})
        {
          const std::string file = write("cut.mtx.gz", whole.substr(0, size));
          const std::string what = message([&] { read_matrix_market(file); });
          EXPECT_NE(what.find("the compressed file ends too early"), std::string::npos) << what;
          EXPECT_EQ(what.find(file + ":" + (size < 20 ? "1:" : "")), 0U) << what;
        }
      for (const std::size_t position : {std::size_t(100), whole.size() - 6})
        {
          std::string damaged    = whole;
          damaged[position]      = static_cast<char>(damaged[position] ^ 0x55);
          const std::string file = write("damaged.mtx.gz", damaged);
          EXPECT_NE(message([&] { read_matrix_market(file); }), "accepted");
        }
    }

    TEST_F(MatrixMarket, RandomMatricesComeBackExactly)
    {
      std::mt19937_64 random(42);
      for (int i = 0; i < 60; ++i)
        {
          const bool              is_symmetric = i % 2 == 0;
          const CrsMatrix<double> A            = random_matrix(1 + i, i % 3 == 0 ? 0.5 : 0.05, is_symmetric, random);
          const std::string       file         = path(i % 4 < 2 ? "a.mtx" : "a.mtx.gz");
          write_matrix_market(A, file);
          expect_equal(read_matrix_market(file), A);
          if (!is_symmetric)
            continue;
          write_matrix_market(A, file, true);
          expect_equal(read_matrix_market(file), A);
        }
      EXPECT_EQ(n_files(), 2U); // no temporary file is left
      const CrsMatrix<double> large = random_dominant_matrix(20000, 10, 0.9, 7);
      write_matrix_market(large, path("large.mtx"));
      CrsMatrix<double> back = read_matrix_market(path("large.mtx"));
      write_matrix_market(back, path("again.mtx"));
      EXPECT_EQ(back.n_entries(), large.n_entries());
      expect_equal(read_matrix_market(path("again.mtx")), back);
    }

    /** Lines of some hundred kilobytes, which several threads read. */
    std::vector<std::string> lines_in_any_order(const CrsMatrix<double> &A, bool is_symmetric)
    {
      std::vector<std::string> lines;
      for (int i = 0; i < A.n_rows; ++i)
        for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
          if (!is_symmetric || A.columns[p] <= i)
            lines.push_back(std::to_string(i + 1) + " " + std::to_string(A.columns[p] + 1) + " " + std::to_string(A.values[p]) + "\n");
      std::shuffle(lines.begin(), lines.end(), std::mt19937(4));
      return lines;
    }

    std::string text_of(const std::string &banner, int n, const std::vector<std::string> &lines, std::size_t n_announced)
    {
      std::string text = banner + std::to_string(n) + " " + std::to_string(n) + " " + std::to_string(n_announced) + "\n";
      for (const std::string &line : lines)
        text += line;
      return text;
    }

    TEST_F(MatrixMarket, LongTextsAreReadInParts)
    {
      const CrsMatrix<double> A = five_point_matrix(140, 150, 0.25);
      for (const bool is_symmetric : {false, true})
        {
          std::vector<std::string> lines = lines_in_any_order(A, is_symmetric);
          const std::size_t        n     = lines.size();
          lines[n / 3].insert(0, "\n  \n");
          lines[n / 2].insert(lines[n / 2].size() - 1, "  \r");
          const std::string text = text_of(is_symmetric ? symmetric : general, A.n_rows, lines, n);
          ASSERT_GT(text.size(), 4u << 16);
          expect_equal(parse(text), A);
          expect_equal(read_matrix_market(write("plain.mtx", text)), A);
          expect_equal(read_matrix_market(write_gz("packed.mtx", text)), A);
        }
    }

    TEST_F(MatrixMarket, ErrorsInLongTextsHaveTheirLines)
    {
      const CrsMatrix<double>        A      = five_point_matrix(140, 150, 0.25);
      const std::vector<std::string> lines  = lines_in_any_order(A, false);
      const std::size_t              n      = lines.size();
      const auto                     expect = [&](const std::vector<std::string> &changed, std::size_t announced, const std::string &says) {
        const std::string found = message([&] { parse(text_of(general, A.n_rows, changed, announced)); });
        EXPECT_NE(found.find(says), std::string::npos) << found;
      };
      for (const std::size_t at : {std::size_t(0), n / 2, n - 1})
        {
          const std::string        line    = ":" + std::to_string(at + 3) + ": ";
          std::vector<std::string> changed = lines;
          changed[at]                      = "1 x 3\n";
          expect(changed, n, line + "the column is 'x'");
          changed[at] = "% comment\n";
          expect(changed, n, line + "a comment among the entries");
        }
      std::vector<std::string> more = lines;
      more.push_back("7 9 1\n");
      expect(more, n, ":" + std::to_string(n + 3) + ": '7 9 1' follows the last entry");
      expect(lines, n + 1, "the file ends after " + std::to_string(n) + " of " + std::to_string(n + 1));
      more          = lines;
      more[n - 100] = more[50];
      expect(more, n, ":" + std::to_string(n - 97) + ": the entry in row ");
      expect(more, n, "stands here and in line 53");
    }

    TEST_F(MatrixMarket, WritesWhatTheFormatSays)
    {
      const CrsMatrix<double> A = matrix(2, {0, 2, 4}, {1, 0, 0, 1}, {0.1, 4., 0.1, -5e-324});
      write_matrix_market(A, path("a.mtx"));
      EXPECT_EQ(content_of(path("a.mtx")), general + "2 2 4\n1 2 0.1\n1 1 4\n2 1 0.1\n2 2 -5e-324\n");
      write_matrix_market(A, path("a.mtx"), true);
      EXPECT_EQ(content_of(path("a.mtx")), symmetric + "2 2 3\n1 1 4\n2 1 0.1\n2 2 -5e-324\n");
      write_matrix_market(A, path("a.mtx.gz"));
      EXPECT_EQ(content_of(path("a.mtx.gz")).substr(0, 2), "\x1f\x8b");
      write_matrix_market_vector({1., -0.25}, path("b.mtx"));
      EXPECT_EQ(content_of(path("b.mtx")), array + "2 1\n1\n-0.25\n");
    }

    TEST_F(MatrixMarket, RefusesToWriteWhatCouldNotBeRead)
    {
      const CrsMatrix<double> good = matrix(2, {0, 2, 3}, {0, 1, 1}, {1., 2., 3.});
      const auto refused           = [&](const std::function<void(CrsMatrix<double> &)> &spoil, const std::string &what, bool is_symmetric = false) {
        CrsMatrix<double> A = good;
        spoil(A);
        EXPECT_THROW(write_matrix_market(A, path("a.mtx"), is_symmetric), InvalidInput);
        const std::string found = message([&] { write_matrix_market(A, path("a.mtx"), is_symmetric); });
        EXPECT_NE(found.find(what), std::string::npos) << found;
      };
      refused([](CrsMatrix<double> &A) { A.n_columns = 3; }, "2 rows and 3 columns");
      refused([](CrsMatrix<double> &A) { A.values.pop_back(); }, "contradict");
      refused([](CrsMatrix<double> &A) { A.row_offsets[1] = 4; }, "row_offsets decreases after row 1");
      refused([](CrsMatrix<double> &A) { A.columns[2] = 2; }, "row 2, column 3 is outside");
      refused([](CrsMatrix<double> &A) { A.columns[1] = 0; }, "row 1, column 1 is stored twice");
      refused([](CrsMatrix<double> &A) { A.values[1] = std::numeric_limits<double>::quiet_NaN(); }, "row 1, column 2 is nan");
      refused([](CrsMatrix<double> &) {}, "row 1, column 2 differs from the entry in row 2, column 1", true);
      refused([](CrsMatrix<double> &A) { A = matrix(2, {0, 1, 2}, {1, 0}, {1., 2.}); }, "row 1, column 2 differs", true);
      EXPECT_THROW(write_matrix_market_vector({1., HUGE_VAL}, path("a.mtx")), InvalidInput);
      EXPECT_EQ(n_files(), 0U);
    }

    TEST_F(MatrixMarket, LeavesNothingHalfWritten)
    {
      const CrsMatrix<double> A = five_point_matrix(3, 3, 0.);
      EXPECT_NE(message([&] { write_matrix_market(A, path("none/a.mtx")); }).find("cannot be written: No such file"), std::string::npos);
      fs::create_directory(folder / "taken");
      EXPECT_NE(message([&] { write_matrix_market(A, path("taken")); }).find("cannot be written"), std::string::npos);
      EXPECT_EQ(n_files(), 1U);
      const std::string old = write("a.mtx", "old"), neighbour = write("a.mtx.tmp", "precious");
      for (const int n : {3, 300})
        {
          {
            const FileSizeLimit limit(100);
            EXPECT_NE(message([&] { write_matrix_market(five_point_matrix(n, n, 0.), old); }).find("File too large"), std::string::npos);
          }
          EXPECT_EQ(content_of(old), "old");
          EXPECT_EQ(n_files(), 3U);
        }
      write_matrix_market(A, old);
      EXPECT_EQ(content_of(neighbour), "precious");
      EXPECT_EQ(n_files(), 3U);
    }

    TEST_F(MatrixMarket, VectorsComeBackExactly)
    {
      const Vector x = {0.1, -5e-324, 1. / 3., 1e300, 0.};
      for (const std::string name : {"b.mtx", "b.mtx.gz"})
        {
          write_matrix_market_vector(x, path(name));
          EXPECT_EQ(read_matrix_market_vector(path(name), 5), x);
        }
      const std::string sparse = "%%MatrixMarket matrix coordinate integer general\n4 1 2\n3 1 7\n1 1 -2\n";
      EXPECT_EQ(read_matrix_market_vector(write("sparse.mtx", sparse), 4), (Vector{-2., 0., 7., 0.}));
      EXPECT_EQ(read_matrix_market_vector(write("comments.mtx", array + "% c\n\n2 1\n\n1\n2"), 2), (Vector{1., 2.}));
      for (const std::string header : {"array real symmetric\n%\n1 1\n2.5\n", "coordinate real symmetric\n%\n1 1 1\n1 1 2.5\n"}) // as SciPy has it
        EXPECT_EQ(read_matrix_market_vector(write("one.mtx", "%%MatrixMarket matrix " + header), 1), (Vector{2.5}));
      EXPECT_EQ(read_matrix_market_vector(write("none.mtx", array + "0 1\n"), 0), Vector());
      EXPECT_EQ(read_matrix_market_vector(write("row.mtx", array + "1 3\n1\n2\n3\n"), 3), (Vector{1., 2., 3.})); // as .npy files may have it
      EXPECT_EQ(read_matrix_market_vector(write("row.mtx", "%%MatrixMarket matrix coordinate real general\n1 4 2\n1 3 7\n1 1 -2\n"), 4),
                (Vector{-2., 0., 7., 0.}));
    }

    TEST_F(MatrixMarket, RefusesOtherVectors)
    {
      const auto refused = [&](const std::string &text, int n, int line, const std::string &what, const std::string &expected) {
        const std::string file  = write("b.mtx", text);
        const std::string found = message([&] { read_matrix_market_vector(file, n); });
        EXPECT_EQ(found.find(file + ":" + std::to_string(line) + ": "), 0U) << found;
        EXPECT_NE(found.find(what), std::string::npos) << found;
        EXPECT_NE(found.find("\n  expected: " + expected), std::string::npos) << found;
      };
      refused(array + "3 1\n1\n2\n3\n", 4, 2, "3 rows and 1 columns", "4 rows and 1 column");
      refused(array + "3 2\n1\n2\n3\n4\n5\n6\n", 3, 2, "3 rows and 2 columns", "3 rows and 1 column");
      refused(array + "3 1 3\n", 3, 2, "'3' follows the sizes", "nothing more");
      refused(array + "3 1\n1\n2\n", 3, 4, "ends after 2 of 3", "3 entries, as line 2 announces");
      refused(array + "3 1\n1\n2\n3\n4\n", 3, 6, "'4' follows the last", "3 entries, as line 2 announces");
      refused(array + "3 1\n1\n2 3\n", 3, 4, "'3' follows the entry", "nothing more");
      refused(array + "3 1\n1\ninf\n", 3, 4, "value is 'inf'", "a finite real number");
      refused(array, 3, 1, "ends before the size line", "rows and columns");
      refused(general + "3 1 2\n2 1 1\n2 1 1\n", 3, 4, "row 2 stands here and in line 3", "each entry once");
      refused(general + "3 1 2\n2 2 1\n2 1 1\n", 3, 3, "column is '2'", "a whole number from 1 to 1");
      refused(general + "3 1 4\n", 3, 2, "3 rows, but 4 entries", "at most 3 entries");
      refused(pattern + "3 1 1\n1 1\n", 3, 1, "field is 'pattern'", "'real' or 'integer'");
      refused(symmetric + "3 1 1\n1 1\n", 3, 1, "symmetry is 'symmetric'", "'general'");
      refused(array + "2000000000 1\n1\n", 2000000000, 3, "ends after 1 of 2000000000", "2000000000 entries");
    }

    /** Real matrices are beside the project; the folder is LEOPARD_MATRICES. */
    struct RealMatrix
    {
      std::string name;
      int         n_rows, n_entries;
    };

    void PrintTo(const RealMatrix &matrix, std::ostream *out)
    {
      *out << matrix.name;
    }

    class RealMatrices : public testing::TestWithParam<RealMatrix>
    {
    };

    TEST_P(RealMatrices, HaveTheirPublishedSizes)
    {
      const std::string file = real_matrix_file(GetParam().name);
      if (file.empty())
        GTEST_SKIP() << "no " << GetParam().name << ".mtx.gz here; the variable LEOPARD_MATRICES says in which folder";
      const CrsMatrix<double> A = read_matrix_market(file);
      EXPECT_EQ(A.n_rows, GetParam().n_rows);
      EXPECT_EQ(A.n_entries(), GetParam().n_entries);
      A.validate();
      if (GetParam().name == "Trefethen_2000")
        {
          // its values are known
          CrsMatrix<double> known = trefethen_matrix(2000);
          Vector            x(2000), y(2000), z(2000);
          for (int i = 0; i < 2000; ++i)
            x[i] = i % 7 - 3.;
          multiply(A, x.data(), y.data());
          multiply(known, x.data(), z.data());
          EXPECT_EQ(y, z); // whole numbers: exact in any order
        }
    }

    INSTANTIATE_TEST_SUITE_P(MatrixMarket,
                             RealMatrices,
                             testing::Values(RealMatrix{"fv1", 9604, 85264},
                                             RealMatrix{"fv3", 9801, 87025},
                                             RealMatrix{"Trefethen_2000", 2000, 41906}),
                             [](const auto &info) { return info.param.name; });
  } // namespace
} // namespace leopard
