// SPDX-License-Identifier: Apache-2.0
#include "file_size_limit.h"

#include <solvers/base/errors.h>
#include <solvers/block_async/prediction.h>
#include <solvers/block_async/tune.h>
#include <solvers/device/device.h>
#include <solvers/matrix/generators.h>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <set>

#include <unistd.h>

namespace leopard
{
  namespace
  {
    namespace fs = std::filesystem;
    using Vector = std::vector<double>;

    /** Relaxes with a choice as its documentation says, and gives the solution back in the old order. */
    SolveResult use(const TunedChoice &choice, const CrsMatrix<double> &A, Vector &x, const Vector &b)
    {
      const Partition   partition = choice.partition(A);
      BlockAsyncOptions options   = choice.options;
      options.block_offsets       = partition.block_offsets;
      BlockAsync<double> relaxation(permute(A, partition), options);
      Vector             new_x = permute(x, partition), new_b = permute(b, partition);
      StoppingCriteria   criteria;
      criteria.relative_tolerance = 1e-8;
      criteria.max_iterations     = 100000;
      const SolveResult result    = solve(relaxation, new_x.data(), new_b.data(), criteria);
      x                           = permute_back(new_x, partition);
      return result;
    }

    bool contains(const std::string &text, const std::string &part)
    {
      return text.find(part) != std::string::npos;
    }

    /** Tunes; with ten times the time again and again where the time is too short on a busy machine. */
    TunedChoice tuned(const CrsMatrix<double> &A, TuneRequest request)
    {
      for (; request.seconds < 100.; request.seconds *= 10.)
        try
          {
            return tune(A, request);
          }
        catch (const ConvergenceFailure &)
          {
          }
      return tune(A, request);
    }

    std::vector<std::string> lines_of(const CrsMatrix<double> &A, TuneRequest request, TunedChoice &choice)
    {
      std::vector<std::string> lines;
      request.report = [&](const std::string &line) { lines.push_back(line); };
      choice         = tuned(A, request);
      return lines;
    }

    TEST(Tune, ChoosesSomethingThatConverges)
    {
      const CrsMatrix<double> A = five_point_matrix(40, 40, 0.01);
      TuneRequest             request;
      request.seconds   = 1.;
      request.n_threads = 2;
      TunedChoice              choice;
      std::vector<std::string> lines;
      int                      n_measured = 0, n_with_momentum = 0, n_of_metis = 0;
      const auto               is_enough = [&] { return n_measured >= 3 && n_with_momentum >= 3 && n_of_metis >= 4; };
      for (; !is_enough() && request.seconds <= 100.; request.seconds *= 10.) // a busy machine measures less in the same time
        {
          lines      = lines_of(A, request, choice);
          n_measured = n_with_momentum = n_of_metis = 0;
          for (const std::string &line : lines)
            {
              n_measured += contains(line, "s a digit (") ? 1 : 0;
              n_with_momentum += contains(line, "momentum = 0.") ? 1 : 0;
              n_of_metis += contains(line, "metis blocks of ") ? 1 : 0;
            }
        }
      EXPECT_GT(choice.seconds_a_digit, 0.);
      EXPECT_TRUE(choice.options.block_offsets.empty());
      EXPECT_EQ(choice.options.n_threads, 2);
      EXPECT_EQ(choice.options.backend, Backend::host);
      EXPECT_GE(n_measured, 3);
      EXPECT_GE(n_with_momentum, 3);
      EXPECT_GE(n_of_metis, 4);
      EXPECT_TRUE(contains(lines.front(), "eigenvalues of D^-1 A: ")) << lines.front();
      EXPECT_TRUE(contains(lines.back(), "chosen: ")) << lines.back();

      Vector x(A.n_rows, 0.), b(A.n_rows);
      multiply(A, Vector(A.n_rows, 1.).data(), b.data());
      EXPECT_EQ(use(choice, A, x, b).status, SolveStatus::converged);
      for (const double value : x)
        EXPECT_NEAR(value, 1., 1e-4);
    }

    /** A choice with momentum may not depend on the order in which threads come. */
    TEST(Tune, MomentumThatIsChosenConvergesAgain)
    {
      const CrsMatrix<double> A = five_point_matrix(120, 120, 0.);
      TuneRequest             request;
      request.seconds   = 2.;
      request.n_threads = 1; // always in the same order, in which much momentum converges
      for (int repetition = 0; repetition < 2; ++repetition)
        {
          const TunedChoice choice    = tuned(A, request);
          const Partition   partition = choice.partition(A);
          BlockAsyncOptions options   = choice.options;
          options.block_offsets       = partition.block_offsets;
          EXPECT_TRUE(choice.options.momentum == 0. || converges_in_all_schedules(permute(A, partition), options, 60.))
            << "momentum " << choice.options.momentum << ", k " << choice.options.local_iterations;
        }
    }

    TEST(Tune, GoesWithoutEigenvaluesWhereThereAreNone)
    {
      const CrsMatrix<double> A = random_dominant_matrix(300, 5, 0.8, 3);
      TuneRequest             request;
      request.seconds   = 0.3;
      request.n_threads = 1;
      TunedChoice                    choice;
      const std::vector<std::string> lines = lines_of(A, request, choice);
      EXPECT_TRUE(contains(lines.front(), "not symmetric")) << lines.front();
      EXPECT_EQ(choice.options.momentum, 0.);
      Vector x(A.n_rows, 0.), b(A.n_rows, 1.);
      EXPECT_EQ(use(choice, A, x, b).status, SolveStatus::converged);
    }

    TEST(Tune, WorksOnMatricesSmallerThanABlock)
    {
      TuneRequest request;
      request.seconds              = 0.1;
      request.n_threads            = 1;
      const CrsMatrix<double> A    = five_point_matrix(3, 3, 0.);
      TunedChoice             made = tuned(A, request);
      Vector                  x(A.n_rows, 0.), b(A.n_rows, 1.);
      EXPECT_EQ(use(made, A, x, b).status, SolveStatus::converged);
      EXPECT_NO_THROW(tuned(five_point_matrix(1, 1, 0.), request));
    }

    /** Tiles of a grid in place of the shapes, omega and momentum left alone, values that may change. */
    TEST(Tune, OfBlocksThatAreGiven)
    {
      const CrsMatrix<double> A = five_point_matrix(40, 40, 0.1);
      std::set<int>           sizes; // that were asked for
      TuneRequest             request;
      request.seconds   = 0.5;
      request.n_threads = 1;
      request.storage   = Storage::double_precision;
      request.weights   = false;
      request.partition = [&](int block_size) {
        sizes.insert(block_size);
        int side = 1;
        while ((side + 1) * (side + 1) <= block_size)
          ++side;
        return tile_partition(40, 40, 1, side, side, 1);
      };
      TunedChoice                    choice;
      const std::vector<std::string> lines = lines_of(A, request, choice);
      EXPECT_EQ(sizes.count(choice.options.block_size), 1u);
      EXPECT_GE(sizes.size(), 2u);
      EXPECT_EQ(choice.options.omega, 1.);
      EXPECT_EQ(choice.options.momentum, 0.);
      EXPECT_EQ(choice.options.storage, Storage::double_precision);
      for (const std::string &line : lines)
        {
          EXPECT_FALSE(contains(line, "contiguous") || contains(line, "metis") || contains(line, "rcm")) << line;
          EXPECT_FALSE(contains(line, "momentum = 0.") || contains(line, "eigenvalues")) << line;
        }
      Partition partition          = request.partition(choice.options.block_size);
      choice.options.block_offsets = partition.block_offsets;
      BlockAsync<double> relaxation(permute(A, partition), choice.options);
      Vector             x(A.n_rows, 0.), b(A.n_rows, 1.);
      StoppingCriteria   criteria;
      criteria.relative_tolerance = 1e-8;
      criteria.max_iterations     = 100000;
      EXPECT_EQ(solve(relaxation, x.data(), b.data(), criteria).status, SolveStatus::converged);
    }

    /** b = A 1 = 0 would tell nothing; neighbours in a ring, each with -1, rows that sum to zero. */
    TEST(Tune, OfAMatrixThatMapsOnesToZero)
    {
      constexpr int     n = 200;
      CrsMatrix<double> A;
      A.n_rows = A.n_columns = n;
      for (int i = 0; i < n; ++i)
        {
          for (const int distance : {0, 1, 7, n - 7, n - 1})
            {
              A.columns.push_back((i + distance) % n);
              A.values.push_back(distance == 0 ? 4. : -1.);
            }
          A.row_offsets.push_back(static_cast<int>(A.columns.size()));
        }
      TuneRequest request;
      request.seconds   = 0.5;
      request.n_threads = 1;
      request.weights   = false;
      EXPECT_GT(tuned(A, request).seconds_a_digit, 0.);
    }

    TEST(Tune, KeepsToItsTime)
    {
      const CrsMatrix<double> A = five_point_matrix(150, 150, 0.);
      TuneRequest             request;
      request.seconds          = 0.5;
      request.n_threads        = 1;
      const std::clock_t start = std::clock(); // of this process: on a busy machine less than goes by, and never more with one thread
      try
        {
          tune(A, request);
        }
      catch (const ConvergenceFailure &) // the first candidate may need more time than there is
        {
        }
      EXPECT_LT(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC, 10 * request.seconds);
    }

    TEST(Tune, SaysWhenNothingConverges)
    {
      CrsMatrix<double> A = random_dominant_matrix(200, 5, 0.8, 3);
      for (int i = 0; i < A.n_rows; ++i)
        for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
          A.values[p] *= A.columns[p] == i ? 0.01 : 1.;
      TuneRequest request;
      request.seconds   = 0.3;
      request.n_threads = 1;
      try
        {
          tune(A, request);
          ADD_FAILURE() << "something converges";
        }
      catch (const ConvergenceFailure &failure)
        {
          EXPECT_TRUE(contains(failure.what(), "none of the ")) << failure.what();
        }
    }

    TEST(Tune, RefusesWhatItCannotDo)
    {
      TuneRequest request;
      EXPECT_THROW(tune(CrsMatrix<double>(), request), InvalidInput);
      const CrsMatrix<double> A = five_point_matrix(3, 3, 0.);
      request.seconds           = 0.;
      EXPECT_THROW(tune(A, request), InvalidInput);
      request.seconds   = 1.;
      request.n_threads = -1;
      EXPECT_THROW(tune(A, request), InvalidInput);
      request.n_threads = 0;
      request.backend   = Backend::cuda;
      if (device::n_devices() > 0)
        return;
      EXPECT_THROW(tune(A, request), DeviceError);
    }

    TEST(Tune, RunsOnTheDevice)
    {
      if (device::n_devices() == 0)
        GTEST_SKIP() << "no GPU here";
      TuneRequest request;
      request.backend = Backend::cuda;
      request.seconds = 2.;
      TunedChoice                    choice;
      const std::vector<std::string> lines        = lines_of(five_point_matrix(100, 100, 0.01), request, choice);
      int                            n_persistent = 0, n_launch = 0;
      for (const std::string &line : lines)
        {
          n_persistent += contains(line, ", persistent: ") ? 1 : 0;
          n_launch += contains(line, ", launch: ") ? 1 : 0;
        }
      EXPECT_GE(n_persistent, 1);
      EXPECT_GE(n_launch, 1);
      EXPECT_EQ(choice.options.backend, Backend::cuda);
      EXPECT_GT(choice.seconds_a_digit, 0.);
    }

    /** A folder of its own for each test. */
    class ChoiceFile : public testing::Test
    {
    protected:
      ChoiceFile()
      {
        const std::string test = testing::UnitTest::GetInstance()->current_test_info()->name();
        folder                 = fs::temp_directory_path() / ("leopard_choice_" + test + "_" + std::to_string(::getpid()));
        fs::create_directories(folder);
        choice.shape                              = BlockShape::metis;
        choice.options.backend                    = Backend::host;
        choice.options.execution                  = Execution::launch;
        choice.options.storage                    = Storage::double_precision;
        choice.options.block_size                 = 128;
        choice.options.local_iterations           = 3;
        choice.options.local_iterations_per_block = {1, 7};
        choice.options.omega                      = 0.75;
        choice.options.momentum                   = 1. / 3.;
        choice.options.l1_weights                 = true;
        choice.options.n_threads                  = 4;
        choice.options.seed                       = ~std::uint64_t(0);
        choice.seconds_a_digit                    = 1.25e-3;
      }
      ~ChoiceFile() override { fs::remove_all(folder); }

      std::string path(const std::string &name) const { return (folder / name).string(); }

      std::string written() const
      {
        write_choice(choice, A, path("whole.json"));
        std::ifstream file(path("whole.json"));
        return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
      }

      /** Reads the file with one part of its text replaced and expects a refusal with these words. */
      void refused(const std::string &part, const std::string &by, const std::vector<std::string> &words) const
      {
        std::string       text = written();
        const std::size_t at   = text.find(part);
        ASSERT_NE(at, std::string::npos) << part << " is not in " << text;
        refused_text(text.replace(at, part.size(), by), words);
      }

      void refused_text(const std::string &text, const std::vector<std::string> &words) const
      {
        std::ofstream(path("damaged.json"), std::ios::binary) << text;
        try
          {
            read_choice(path("damaged.json"), A);
            ADD_FAILURE() << "accepted: " << text;
          }
        catch (const InvalidInput &error)
          {
            EXPECT_EQ(std::string(error.what()).find(path("damaged.json") + ": "), 0U) << error.what();
            EXPECT_TRUE(contains(error.what(), "\n  expected: ")) << error.what();
            for (const std::string &word : words)
              EXPECT_TRUE(contains(error.what(), word)) << "'" << word << "' is not in: " << error.what();
          }
      }

      fs::path                folder;
      const CrsMatrix<double> A = five_point_matrix(12, 10, 0.);
      TunedChoice             choice;
    };

    TEST_F(ChoiceFile, ComesBackExactly)
    {
      write_choice(choice, A, path("a.json"));
      const TunedChoice back = read_choice(path("a.json"), A);
      EXPECT_EQ(back.shape, choice.shape);
      EXPECT_EQ(back.seconds_a_digit, choice.seconds_a_digit);
      EXPECT_EQ(back.options.backend, choice.options.backend);
      EXPECT_EQ(back.options.schedule, choice.options.schedule);
      EXPECT_EQ(back.options.execution, choice.options.execution);
      EXPECT_EQ(back.options.storage, choice.options.storage);
      EXPECT_EQ(back.options.block_size, choice.options.block_size);
      EXPECT_EQ(back.options.overlap, choice.options.overlap);
      EXPECT_EQ(back.options.overlap_percent, choice.options.overlap_percent);
      EXPECT_EQ(back.options.local_iterations, choice.options.local_iterations);
      EXPECT_EQ(back.options.local_iterations_per_block, choice.options.local_iterations_per_block);
      EXPECT_EQ(back.options.omega, choice.options.omega);
      EXPECT_EQ(back.options.block_omega, choice.options.block_omega);
      EXPECT_EQ(back.options.l1_weights, choice.options.l1_weights);
      EXPECT_EQ(back.options.momentum, choice.options.momentum);
      EXPECT_EQ(back.options.n_threads, choice.options.n_threads);
      EXPECT_EQ(back.options.seed, choice.options.seed);
      write_choice(back, A, path("b.json"));
      std::ifstream b(path("b.json"));
      EXPECT_EQ(std::string(std::istreambuf_iterator<char>(b), std::istreambuf_iterator<char>()), written());
      for (const BlockShape shape : {BlockShape::contiguous, BlockShape::rcm, BlockShape::metis})
        {
          choice.shape = shape;
          write_choice(choice, A, path("a.json"));
          EXPECT_EQ(read_choice(path("a.json"), A).shape, shape);
          EXPECT_TRUE(contains(written(), "\"shape\": \"" + to_string(shape) + "\""));
        }
    }

    TEST_F(ChoiceFile, RefusesUnknownAndMissingKeys)
    {
      refused("\"omega\"", "\"omage\"", {"'choice.omega' is missing", "a number"});
      refused("\"omega\": 0.75,", "\"omega\": 0.75, \"omage\": 1,", {"'choice.omage' is unknown"});
      refused("\"omega\": 0.75,", "\"omega\": 0.75, \"omega\": 0.75,", {"'omega' stands there twice"});
      refused("\"rows\"", "\"row\"", {"'matrix.rows' is missing"});
      refused("\"rows\": 120,", "\"rows\": 120, \"columns\": 120,", {"'matrix.columns' is unknown"});
      refused("\"matrix\"", "\"matrices\"", {"'matrix' is missing"});
      refused("\"matrix\"", "\"more\": [], \"matrix\"", {"'more' is unknown"});
      refused("\"leopard_choice\": 1", "\"leopard_choice\": 2", {"version", "is 2", "expected: 1"});
      refused_text("{}", {"'leopard_choice' is missing"});
      refused_text("[]", {"does not end with a closing brace"});
      refused_text("{\"leopard_choice\": 1, \"matrix\": 3, \"choice\": {}}", {"'matrix' is 3", "an object"});
    }

    TEST_F(ChoiceFile, RefusesWrongTypesAndValues)
    {
      refused("\"metis\"", "\"tiles\"", {"'choice.shape' is \"tiles\"", "\"contiguous\", \"rcm\" or \"metis\""});
      refused("\"metis\"", "3", {"'choice.shape' is 3"});
      refused("\"block_size\": 128", "\"block_size\": \"128\"", {"'choice.block_size' is \"128\"", "a whole number"});
      refused("\"block_size\": 128", "\"block_size\": 128.5", {"is 128.5", "a whole number"});
      refused("\"block_size\": 128", "\"block_size\": 12800000000", {"is 12800000000", "32 bits"});
      refused("\"block_size\": 128", "\"block_size\": 0", {"block_size is 0", "1 to 65536"});
      refused("\"l1_weights\": true", "\"l1_weights\": 1", {"'choice.l1_weights' is 1", "true or false"});
      refused("\"omega\": 0.75", "\"omega\": null", {"'choice.omega' is null", "a finite number"});
      refused("\"omega\": 0.75", "\"omega\": 5", {"omega is 5", "2 (1 + momentum)"});
      refused("18446744073709551615", "-1", {"'choice.seed' is -1", ">= 0"});
      refused("\"seconds_a_digit\": 0.00125", "\"seconds_a_digit\": -1", {"'choice.seconds_a_digit' is -1"});
      refused("\"momentum\": 0.3333333333333333", "\"momentum\": 1e999", {"not JSON"});
      refused("\"local_iterations_per_block\": [", "\"local_iterations_per_block\": [\"a\",", {"local_iterations_per_block' is \"a\""});
      refused("\"local_iterations_per_block\": [", "\"local_iterations_per_block\": [0,", {"is 0", "1 to 10000"});
    }

    TEST_F(ChoiceFile, RefusesOtherMatrices)
    {
      refused("\"rows\": 120", "\"rows\": 121", {"'matrix.rows' is 121", "120"});
      refused("\"entries\": 556", "\"entries\": 557", {"'matrix.entries' is 557", "556"});
      write_choice(choice, A, path("a.json"));
      EXPECT_THROW(read_choice(path("a.json"), five_point_matrix(10, 10, 0.)), InvalidInput);
    }

    TEST_F(ChoiceFile, RefusesWhatIsCutOff)
    {
      const std::string whole = written();
      for (std::size_t n = 0; n + 2 < whole.size(); n += n < whole.size() - 20 ? 37 : 1)
        {
          const std::string part = whole.substr(0, n), ends = part.substr(0, part.find_last_not_of(" \n") + 1);
          refused_text(part, {part.empty() ? "empty" : ends.back() == '}' ? "not JSON" : "cut off"});
        }
      refused_text(whole + "x", {"something was added"});
      refused_text("\xff\xfe", {"closing brace"});
      refused_text("\xff\xfe}", {"not JSON", "?"});
      const std::string many(100000, '['), ends(100000, ']'); // would overflow a stack
      refused_text("{\"leopard_choice\": " + many + ends + "}", {"within one another"});
      EXPECT_THROW(read_choice(path("missing.json"), A), InvalidInput);
      EXPECT_THROW(read_choice(folder.string(), A), InvalidInput);
    }

    TEST_F(ChoiceFile, IsWrittenWholeOrNotAtAll)
    {
      EXPECT_THROW(write_choice(choice, A, path("none/a.json")), Error);
      fs::create_directory(folder / "taken");
      EXPECT_THROW(write_choice(choice, A, path("taken")), Error);
      choice.options.omega = std::nan("");
      EXPECT_THROW(write_choice(choice, A, path("a.json")), InvalidInput);
      choice.options.omega   = 1.;
      choice.seconds_a_digit = HUGE_VAL;
      EXPECT_THROW(write_choice(choice, A, path("a.json")), InvalidInput);
      choice.seconds_a_digit       = 1.;
      choice.options.block_offsets = {0, 120};
      EXPECT_THROW(write_choice(choice, A, path("a.json")), InvalidInput);
      choice.options.block_offsets.clear();
      std::ofstream(path("a.json")) << "old";
      {
        const FileSizeLimit limit(50);
        EXPECT_THROW(write_choice(choice, A, path("a.json")), Error);
      }
      std::ifstream file(path("a.json"));
      EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()), "old");
      EXPECT_EQ(std::distance(fs::directory_iterator(folder), fs::directory_iterator()), 2);
    }
  } // namespace
} // namespace leopard
