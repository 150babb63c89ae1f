// SPDX-License-Identifier: Apache-2.0
// The values of a checkpoint on triangles and tetrahedra: what is written is read, and other sizes are refused.
#include <applications/discretization/cell_values_file.h>
#include <solvers/base/errors.h>

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include <unistd.h>

namespace leopard
{
  namespace
  {
    /** 3 cells, 2 vectors, 4 values a cell: 100 v + i. */
    class CellValues : public testing::Test
    {
    protected:
      CellValues()
        : folder((std::filesystem::temp_directory_path() / ("cell_values_" + std::to_string(::getpid()))).string())
      {
        std::filesystem::create_directory(folder);
        CellValuesFile::write(
          folder,
          3,
          2,
          [](std::size_t v) {
            std::vector<double> values(12);
            for (std::size_t i = 0; i < values.size(); ++i)
              values[i] = 100. * v + i;
            return values;
          },
          MPI_COMM_SELF);
      }
      ~CellValues() override { std::filesystem::remove_all(folder); }

      /** What check() complains of; empty: nothing. */
      std::string complaint(std::size_t n_cells, std::size_t n_vectors, std::size_t values_a_cell) const
      {
        CellValuesFile file(folder, MPI_COMM_SELF);
        try
          {
            file.check(n_cells, n_vectors, values_a_cell, ", and more");
          }
        catch (const Error &error)
          {
            return error.what();
          }
        return "";
      }

      const std::string folder;
    };

    TEST_F(CellValues, AreReadAsTheyWereWritten)
    {
      CellValuesFile file(folder, MPI_COMM_SELF);
      file.check(3, 2, 4, "");
      for (std::size_t v = 0; v < 2; ++v)
        for (std::size_t cell = 0; cell < 3; ++cell)
          for (std::size_t i = 0; i < 4; ++i)
            EXPECT_EQ(file.values(v, cell)[i], 100. * v + 4. * cell + i);
    }

    TEST_F(CellValues, OtherSizesAreRefusedWithBoth)
    {
      EXPECT_EQ(complaint(3, 2, 4), "");
      const std::string found = "it has 3 cells, 2 vectors, 208 bytes\n  expected: ";
      EXPECT_NE(complaint(4, 2, 3).find(found + "4 cells, 2 vectors, 208 bytes, and more"), std::string::npos) << complaint(4, 2, 3);
      EXPECT_NE(complaint(3, 1, 8).find(found + "3 cells, 1 vectors, 208 bytes"), std::string::npos) << complaint(3, 1, 8);
      EXPECT_NE(complaint(3, 2, 6).find(found + "3 cells, 2 vectors, 304 bytes"), std::string::npos) << complaint(3, 2, 6);
      std::filesystem::resize_file(folder + "/values", 207);
      EXPECT_NE(complaint(3, 2, 4).find("207 bytes\n  expected: 3 cells, 2 vectors, 208 bytes"), std::string::npos) << complaint(3, 2, 4);
      std::filesystem::resize_file(folder + "/values", 5);
      EXPECT_NE(complaint(3, 2, 4).find("it has 0 cells, 0 vectors, 5 bytes"), std::string::npos) << complaint(3, 2, 4);
    }
  } // namespace
} // namespace leopard
