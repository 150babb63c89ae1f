// SPDX-License-Identifier: Apache-2.0
// matrix_market: megabytes of text a second that the reader of Matrix Market files takes on one thread, plain and
// compressed with gzip.
#include <solvers/matrix/generators.h>
#include <solvers/matrix/matrix_market.h>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <functional>

namespace
{
  using namespace leopard;
  constexpr double required = 100.; ///< MB/s

  /** Seconds of the fastest of some calls. */
  double fastest(int repetitions, const std::function<void()> &function)
  {
    double best = 1e300;
    for (int repetition = 0; repetition < repetitions; ++repetition)
      {
        const auto start = std::chrono::steady_clock::now();
        function();
        best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
      }
    return best;
  }

  /** A folder that vanishes with the object. */
  struct Folder
  {
    const std::filesystem::path path;
    explicit Folder(const std::filesystem::path &path_)
      : path(path_)
    {
      std::filesystem::create_directory(path);
    }
    Folder(const Folder &)            = delete;
    Folder &operator=(const Folder &) = delete;
    ~Folder() { std::filesystem::remove_all(path); }
  };
} // namespace

int main(int argc, char **argv)
{
  int         side = 1000, repetitions = 5;
  std::string folder = std::filesystem::temp_directory_path();
  CLI::App    app("Speed of reading Matrix Market files that this program writes");
  app.add_option("--side", side, "nodes a side of the square grid whose matrix is read")->check(CLI::Range(10, 10000))->capture_default_str();
  app.add_option("--repetitions", repetitions, "of which the fastest counts")->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--folder", folder, "where the files are for so long")->check(CLI::ExistingDirectory)->capture_default_str();
  CLI11_PARSE(app, argc, argv);

  const Folder      files(std::filesystem::path(folder) / "leopard_benchmark_matrix_market");
  CrsMatrix<double> few_digits = five_point_matrix(side, side, 0.1), all_digits = few_digits;
  for (std::size_t p = 0; p < all_digits.values.size(); ++p)
    all_digits.values[p] *= 1. + 0.1 * std::sin(static_cast<double>(p));
  std::printf("five-point matrix of %d rows and %d entries, fastest of %d; required: %.0f MB of text a second\n\n",
              few_digits.n_rows,
              few_digits.n_entries(),
              repetitions,
              required);
  std::printf("%-24s %12s %12s %12s %12s\n", "values", "text MB", "file MB", "MB/s", "of required");
  bool enough = true;
  for (const auto &[name, A] : {std::pair("of few digits", &few_digits), std::pair("of up to 17 digits", &all_digits)})
    {
      const auto plain = files.path / "matrix.mtx", packed = files.path / "matrix.mtx.gz";
      write_matrix_market(*A, plain);
      write_matrix_market(*A, packed);
      const double megabytes = 1e-6 * static_cast<double>(std::filesystem::file_size(plain));
      for (const auto &path : {plain, packed})
        {
          CrsMatrix<double> read;
          const double      speed = megabytes / fastest(repetitions, [&] { read = read_matrix_market(path); });
          if (read.columns != A->columns || read.values != A->values)
            {
              std::fprintf(stderr, "what was read is not what was written\n");
              return 1;
            }
          enough = enough && speed >= required;
          std::printf("%-24s %12.1f %12.1f %12.0f %12.2f\n",
                      (std::string(name) + (path == packed ? ", gzip" : "")).c_str(),
                      megabytes,
                      1e-6 * static_cast<double>(std::filesystem::file_size(path)),
                      speed,
                      speed / required);
        }
    }
  std::printf("\n%s\n", enough ? "fast enough" : "TOO SLOW");
  return enough ? 0 : 1;
}
