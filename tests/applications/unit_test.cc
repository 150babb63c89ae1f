// SPDX-License-Identifier: Apache-2.0
#include <applications/base/collective.h>
#include <applications/base/files.h>
#include <applications/base/log.h>
#include <applications/base/parameter_file.h>
#include <applications/output/convergence_table.h>
#include <applications/problems/problem.h>
#include <applications/problems/turing/kinetics.h>
#include <applications/time_stepping/field_inspection.h>
#include <solvers/base/errors.h>
#include <tests/solvers/file_size_limit.h>

#include <deal.II/base/mpi.h>
#include <deal.II/base/parameter_handler.h>

#include <gtest/gtest.h>

#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace leopard
{
  namespace
  {
    /** Not the first one: a small part of it would hide that another field cannot be trusted. */
    TEST(FieldInspection, NamesTheFieldThatIsNegativeMost)
    {
      FieldInspection values;
      values.size    = {10., 1., 100.};
      values.minimum = {-1e-6, -0.3, -1.};
      EXPECT_EQ(values.negative_field(), 1);
      values.minimum = {-1e-8, 0., 5.};
      EXPECT_EQ(values.negative_field(), -1);
    }

    TEST(Expression, EvaluatesAndKnowsTime)
    {
      const Expression f("Test/f", "x + 2*y + 4*z + 8*t + cos(pi)");
      EXPECT_DOUBLE_EQ(f.value(dealii::Point<3>(1., 1., 1.), 1.), 14.);
      EXPECT_TRUE(f.depends_on_time());
      EXPECT_FALSE(Expression("Test/f", "sqrt(x) + tan(y)").depends_on_time());
      EXPECT_TRUE(Expression("Test/f", "exp(-t)*x").depends_on_time());
      EXPECT_TRUE(Expression().is_zero());
      EXPECT_DOUBLE_EQ(Expression("Test/f", "c*x^2", {{"c", 2.}}).value(dealii::Point<3>(3., 0., 0.)), 18.);
      EXPECT_THROW(Expression("Test/f", "x +* y"), Error);
    }

    TEST(BoundaryExpressions, FindsIdsAndTheRest)
    {
      const BoundaryExpressions g("Test/g", "0: 1; 3: x; *: 7");
      EXPECT_DOUBLE_EQ(g.find(0)->value(dealii::Point<3>()), 1.);
      EXPECT_DOUBLE_EQ(g.find(3)->value(dealii::Point<3>(5., 0., 0.)), 5.);
      EXPECT_DOUBLE_EQ(g.find(2)->value(dealii::Point<3>()), 7.);
      EXPECT_EQ(BoundaryExpressions("Test/g", "0: 1").find(1), nullptr);
      EXPECT_THROW(BoundaryExpressions("Test/g", "0: 1; 0: 2"), Error);
    }

    TEST(Kinetics, JacobiansAreDerivatives)
    {
      EXPECT_EQ(kinetics_registry().size(), 9u);
      for (const auto &[name, make] : kinetics_registry())
        {
          const auto kinetics = make();
          kinetics->compile();
          constexpr double    h    = 1e-6;
          const double        at[] = {0.7, 0.4}, shifted[] = {0.7 + h, 0.4, 0.7 - h, 0.4, 0.7, 0.4 + h, 0.7, 0.4 - h};
          std::vector<double> j(4), r(8);
          kinetics->evaluate(1, at, nullptr, j.data());
          kinetics->evaluate(4, shifted, r.data(), nullptr);
          for (unsigned int c = 0; c < 2; ++c)
            {
              EXPECT_NEAR(j[2 * c], (r[c] - r[2 + c]) / (2 * h), 1e-7) << name;
              EXPECT_NEAR(j[2 * c + 1], (r[4 + c] - r[6 + c]) / (2 * h), 1e-7) << name;
            }
        }
    }

    TEST(Files, AreWrittenWholeOrNotAtAll)
    {
      const auto folder = std::filesystem::temp_directory_path() / ("leopard_test_" + std::to_string(::getpid()));
      std::filesystem::create_directories(folder);
      const std::string file = (folder / "a").string();
      write_file_atomically(file, "old");
      write_file_atomically(file, "new");
      std::ifstream stream(file);
      std::string   content;
      stream >> content;
      EXPECT_EQ(content, "new");
      // what somebody else has under a similar name is nobody's business
      std::ofstream(file + ".tmp") << "precious";
      std::filesystem::create_symlink(file + ".tmp", folder / "link");
      write_file_atomically(file, "newest");
      write_file_atomically((folder / "link").string(), "in the place of the link");
      std::ifstream(file + ".tmp") >> content;
      EXPECT_EQ(content, "precious");
      EXPECT_THROW(write_file_atomically((folder / "no/such/folder").string(), "x"), std::runtime_error);
      std::filesystem::create_directories(folder / "b/c");
      EXPECT_THROW(write_file_atomically((folder / "b").string(), "x"), std::runtime_error);                           // a folder cannot be replaced
      EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator()), 4); // a, a.tmp, link, b
      std::filesystem::remove_all(folder);
    }

    TEST(Files, GrowByWholePieces)
    {
      const auto folder = std::filesystem::temp_directory_path() / ("leopard_growing_" + std::to_string(::getpid()));
      std::filesystem::create_directories(folder);
      const std::string path       = (folder / "log").string();
      const auto        content_of = [&] {
        std::ifstream stream(path);
        return std::string(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
      };
      Log log(MPI_COMM_SELF, false);
      log.line("before");
      log.open(path, false);
      log.line("first");
      EXPECT_NO_THROW(log.check());
      {
        const FileSizeLimit limit(20); // as a full disk
        log.line("much too long for the limit");
        log.line("x");
      }
      log.line("y");
      EXPECT_EQ(content_of(), "before\nfirst\n");
      try
        {
          log.check();
          ADD_FAILURE();
        }
      catch (const Error &error)
        {
          EXPECT_NE(std::string(error.what()).find("the file '" + path + "' is larger than files may be here"), std::string::npos) << error.what();
          EXPECT_NE(std::string(error.what()).find("ulimit -f"), std::string::npos) << error.what();
          EXPECT_EQ(std::string(error.what()).find("are free"), std::string::npos) << error.what();
        }
      std::filesystem::remove_all(folder);
    }

    TEST(ConvergenceTable, ComputesRates)
    {
      ConvergenceTable table("h");
      table.add(10, 0.5, 4., 2., 1.);
      table.add(40, 0.25, 1., 1., 1.);
      EXPECT_NEAR(table.last_l2_rate(), 2., 1e-12);
      EXPECT_NE(table.csv().find("2.000000"), std::string::npos);
    }

    TEST(ConvergenceTable, TakesTheRateOfWhatIsHalved)
    {
      ConvergenceTable table("h");
      table.add(10, 0.5, 4., 2., 1., 7.);
      table.add(80, 0.2, 1., 1., 1., 3.5); // the shortest edge of tetrahedra need not be halved
      EXPECT_NEAR(table.last_l2_rate(), 2., 1e-12);
      EXPECT_NE(table.csv().find(",2.000000000000e-01,1.000000000000e+00,2.000000,1.000000000000e+00,1.000000,"), std::string::npos) << table.csv();
    }

    TEST(ConvergenceTable, HasNoRateWhereAnErrorIsZero)
    {
      ConvergenceTable table("h");
      table.add(10, 0.5, 0., 0., 1.);
      table.add(40, 0.25, 1., 0., 0.);
      for (const std::string &text : {table.text(), table.csv()})
        for (const char *word : {"inf", "nan"})
          EXPECT_EQ(text.find(word), std::string::npos) << text;
      EXPECT_NE(table.text().find("1.00000e+00      -  0.00000e+00      -  0.00000e+00      -\n"), std::string::npos) << table.text();
      EXPECT_EQ(table.last_l2_rate(), 0.);
    }

    TEST(ParameterFile, ContinuesLinesAndIgnoresComments)
    {
      dealii::ParameterHandler prm;
      prm.enter_subsection("A");
      prm.declare_entry("b", "0", dealii::Patterns::Anything(), "");
      prm.leave_subsection();
      parse_parameters(prm, "# comment\nsubsection A # here\n  set b = 1 \\\n 2 # there\nend\n", "f.prm", {});
      prm.enter_subsection("A");
      EXPECT_EQ(prm.get("b"), "1 2");
      prm.leave_subsection();
      parse_parameters(prm, "", "f.prm", {"A/b = 3"});
      prm.enter_subsection("A");
      EXPECT_EQ(prm.get("b"), "3");
    }

    TEST(Log, Durations)
    {
      EXPECT_EQ(duration(0.84), "0.8 s");
      EXPECT_EQ(duration(42.), "42 s");
      EXPECT_EQ(duration(185.), "3 min 05 s");
      EXPECT_EQ(duration(7800.), "2 h 10 min");
      EXPECT_EQ(duration(NAN), "?");
    }
  } // namespace
} // namespace leopard
