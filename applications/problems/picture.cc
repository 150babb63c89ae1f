// SPDX-License-Identifier: Apache-2.0
#include "picture.h"

#include <applications/base/collective.h>
#include <applications/base/log.h>
#include <applications/symbolic/differentiate.h>
#include <solvers/base/errors.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>

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
    struct Item
    {
      std::string name, file, field; ///< of "name: file: field"
    };

    bool is_vtu(const std::string &file)
    {
      const auto ending = std::filesystem::path(file).extension();
      return ending == ".vtu" || ending == ".pvtu";
    }

    std::vector<Item> items_of(const std::string &text)
    {
      const auto        trimmed = [](const std::string &part) { return split_outside_parentheses(part, ',')[0]; };
      std::vector<Item> result;
      for (const std::string &item : split_outside_parentheses(text, ','))
        if (const auto colon = item.find(':'); !item.empty())
          {
            result.push_back({trimmed(item.substr(0, colon)), colon == std::string::npos ? "" : trimmed(item.substr(colon + 1)), ""});
            Item &last = result.back();
            if (const auto second = last.file.rfind(':'); second != std::string::npos && is_vtu(trimmed(last.file.substr(0, second))))
              last = {last.name, trimmed(last.file.substr(0, second)), trimmed(last.file.substr(second + 1))};
            if (is_vtu(last.file) && last.field.empty())
              last.field = last.name;
          }
      return result;
    }
  } // namespace

  std::vector<std::string> Pictures::names_in(const std::string &text)
  {
    std::vector<std::string> names;
    for (const Item &item : items_of(text))
      names.push_back(item.name);
    return names;
  }

  std::shared_ptr<Pictures>
  Pictures::read(const std::string &entry, const std::string &text, const std::string &folder, const std::vector<std::string> &taken, MPI_Comm comm)
  {
    auto       result = std::make_shared<Pictures>();
    const auto fail   = [&](const std::string &name, const std::string &reason) {
      throw Error("'" + entry + "' has the name '" + name + "': " + reason +
                  "\n  expected: NAME: FILE, NAME: FILE, ..., for example 'coat: coat.png', and of .vtu and .pvtu files NAME: FILE: FIELD");
    };
    const auto with_name = [&](const std::string &name, const std::string &what) { return "'" + entry + "', " + name + ": " + what; };
    for (const auto &[name, file, field] : items_of(text))
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
        result->all_fields.push_back(field);
        result->reaches.emplace_back();
        result->functions.emplace_back();
        if (!field.empty())
          {
            result->pictures.emplace_back();
            continue;
          }
        if (const auto colon = file.rfind(':'); colon != std::string::npos && !std::filesystem::path(file.substr(0, colon)).extension().empty())
          throw Error(with_name(name,
                                "a field is asked of '" + file.substr(0, colon) +
                                  "'\n  expected: a file whose name ends in .vtu or .pvtu, which alone have fields"));
        try
          {
            result->pictures.push_back(read_picture(result->all_paths.back(), read_file(result->all_paths.back(), comm)));
          }
        catch (const std::exception &error)
          {
            throw Error(with_name(name, error.what()));
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

  void Pictures::set_field(std::size_t i, const FieldOfFile &function, const std::string &reach)
  {
    functions[i] = function;
    reaches[i]   = reach;
  }

  std::string Pictures::description(std::size_t i) const
  {
    if (!all_fields[i].empty())
      return "field " + all_names[i] + ": " + all_fields[i] + " of " + all_paths[i] + ", " + reaches[i];
    return "picture " + all_names[i] + ": " + all_paths[i] + ", " + std::to_string(pictures[i].n_columns) + " x " +
           std::to_string(pictures[i].n_rows) +
           format(" numbers over [%g, %g] x [%g, %g]", corner[0], corner[0] + length[0], corner[1], corner[1] + length[1]);
  }

  bool Pictures::is_picture(std::size_t i) const
  {
    return !pictures[i].is_table && all_fields[i].empty();
  }

  double Pictures::stretch(std::size_t i) const
  {
    if (pictures[i].n_columns == 1 || pictures[i].n_rows == 1) // which has no shape
      return 1.;
    const double ratio = length[0] / pictures[i].n_columns * pictures[i].n_rows / length[1];
    return std::max(ratio, 1. / ratio);
  }

  void Pictures::evaluate(const dealii::Point<3> &place, double *values) const
  {
    for (std::size_t i = 0; i < pictures.size(); ++i)
      if (all_fields[i].empty())
        values[i] = pictures[i].value((place[0] - corner[0]) / length[0], (place[1] - corner[1]) / length[1]);
      else if (!functions[i] || !functions[i](place, values[i]))
        values[i] = std::numeric_limits<double>::quiet_NaN();
  }
} // namespace leopard
