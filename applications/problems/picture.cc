// SPDX-License-Identifier: Apache-2.0
#include "picture.h"

#include <applications/base/collective.h>
#include <applications/base/log.h>
#include <applications/symbolic/differentiate.h>
#include <solvers/base/errors.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

namespace leopard
{
  double Picture::value(double x, double y) const
  {
    const auto         place  = [](double s, unsigned int n) { return std::clamp(s * n - 0.5, 0., n - 1.); };
    const double       column = place(x, n_columns), row = place(1. - y, n_rows);
    const unsigned int i = std::min<unsigned int>(column, n_columns - 1), j = std::min<unsigned int>(row, n_rows - 1);
    const unsigned int right = std::min(i + 1, n_columns - 1), below = std::min(j + 1, n_rows - 1);
    const double       a = column - i, b = row - j;
    const auto         at = [&](unsigned int c, unsigned int r) { return values[static_cast<std::size_t>(r) * n_columns + c]; };
    return (1. - b) * ((1. - a) * at(i, j) + a * at(right, j)) + b * ((1. - a) * at(i, below) + a * at(right, below));
  }

  namespace
  {
    /** "name", "file" of "name: file". */
    std::vector<std::pair<std::string, std::string>> items_of(const std::string &text)
    {
      std::vector<std::pair<std::string, std::string>> result;
      for (const std::string &item : split_outside_parentheses(text, ','))
        if (const auto colon = item.find(':'); !item.empty())
          result.emplace_back(split_outside_parentheses(item.substr(0, colon), ',')[0],
                              colon == std::string::npos ? "" : split_outside_parentheses(item.substr(colon + 1), ',')[0]);
      return result;
    }
  } // namespace

  std::vector<std::string> Pictures::names_in(const std::string &text)
  {
    std::vector<std::string> names;
    for (const auto &[name, file] : items_of(text))
      names.push_back(name);
    return names;
  }

  std::shared_ptr<Pictures>
  Pictures::read(const std::string &entry, const std::string &text, const std::string &folder, const std::vector<std::string> &taken, MPI_Comm comm)
  {
    auto       result = std::make_shared<Pictures>();
    const auto fail   = [&](const std::string &name, const std::string &reason) {
      throw Error("'" + entry + "' has the name '" + name + "': " + reason +
                  "\n  expected: NAME: FILE, NAME: FILE, ..., for example 'coat: coat.png'");
    };
    for (const auto &[name, file] : items_of(text))
      {
        if (const std::string reason = why_no_name(name); !reason.empty())
          fail(name, reason);
        if (std::find(taken.begin(), taken.end(), name) != taken.end())
          fail(name, "it has another meaning in expressions already");
        if (std::find(result->all_names.begin(), result->all_names.end(), name) != result->all_names.end())
          fail(name, "it stands there twice");
        if (file.empty())
          fail(name, "a file is missing");
        const std::filesystem::path path(file);
        result->all_names.push_back(name);
        result->all_paths.push_back(path.is_relative() ? (std::filesystem::path(folder) / path).lexically_normal().string() : file);
        try
          {
            result->pictures.push_back(read_picture(result->all_paths.back(), read_file(result->all_paths.back(), comm)));
          }
        catch (const std::exception &error)
          {
            throw Error("'" + entry + "', " + name + ": " + error.what());
          }
      }
    return result;
  }

  bool Pictures::are_named_in(const std::string &expression) const
  {
    return std::any_of(all_names.begin(), all_names.end(), [&](const std::string &name) { return is_named(name, expression); });
  }

  void Pictures::set_box(const std::vector<double> &lower, const std::vector<double> &upper)
  {
    for (unsigned int d = 0; d < 2; ++d)
      {
        corner[d] = lower[d];
        length[d] = upper[d] - lower[d];
      }
  }

  std::string Pictures::description(std::size_t i) const
  {
    return all_names[i] + ": " + all_paths[i] + ", " + std::to_string(pictures[i].n_columns) + " x " + std::to_string(pictures[i].n_rows) +
           format(" numbers over [%g, %g] x [%g, %g]", corner[0], corner[0] + length[0], corner[1], corner[1] + length[1]);
  }

  bool Pictures::is_picture(std::size_t i) const
  {
    return !pictures[i].is_table;
  }

  double Pictures::stretch(std::size_t i) const
  {
    if (pictures[i].n_columns == 1 || pictures[i].n_rows == 1) // which has no shape
      return 1.;
    const double ratio = length[0] / pictures[i].n_columns * pictures[i].n_rows / length[1];
    return std::max(ratio, 1. / ratio);
  }

  void Pictures::evaluate(double x, double y, double *values) const
  {
    for (const Picture &picture : pictures)
      *values++ = picture.value((x - corner[0]) / length[0], (y - corner[1]) / length[1]);
  }
} // namespace leopard
