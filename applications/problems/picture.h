// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deal.II/base/point.h>

#include <mpi.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace leopard
{
  /**
   * Numbers on a rectangular grid, a function of the place in the unit square: at the centres of the grid's cells the
   * numbers, between them bilinear, and beyond the outer centres as there.
   */
  struct Picture
  {
    unsigned int        n_columns = 0, n_rows = 0;
    std::vector<double> values;           ///< n_columns n_rows, row by row from the top
    bool                is_table = false; ///< numbers of a CSV, which are no pixels

    /** @param x, y in (0, 1), y upwards; elsewhere as at the nearest place there. */
    double value(double x, double y) const;
  };

  /**
   * Reads the content of a file: PNG (grey or colour, of which the luma 0.2126 R + 0.7152 G + 0.0722 B counts; without
   * its transparency) and PGM as numbers from 0 to 1, CSV as the numbers that it has, separated by commas, semicolons
   * or blanks. What it is says the ending of `path`. @throws Error that names the file, and the line of a CSV.
   */
  Picture read_picture(const std::string &path, const std::string &content);

  /**
   * A field that cells of a file have. @param value gets it. @return whether the place is in their reach; thread-safe.
   */
  using FieldOfFile = std::function<bool(const dealii::Point<3> &place, double &value)>;

  /**
   * Functions of the place with names: pictures, which are stretched over a box around the domain, and fields on the
   * cells of VTU files, which are where these cells are.
   */
  class Pictures
  {
  public:
    /**
     * Of the entry 'Images', "coat: coat.png, rain: rain.csv, old: end.pvtu: u". Files of VTK are not read yet, but by
     * set_field(). @param folder that relative paths begin from; @param taken names that have another meaning in
     * expressions. Collective. @throws Error naming the entry.
     */
    static std::shared_ptr<Pictures>
    read(const std::string &entry, const std::string &text, const std::string &folder, const std::vector<std::string> &taken, MPI_Comm comm);

    /** The names in such a text, whatever they are. */
    static std::vector<std::string> names_in(const std::string &text);

    const std::vector<std::string> &names() const { return all_names; }
    /** Path of each file. */
    const std::vector<std::string> &paths() const { return all_paths; }
    /** The name in a VTU file of one that is a field there; empty for pictures. */
    const std::string &field(std::size_t i) const { return all_fields[i]; }
    /** What a field is, and "from (0, 0) to (1, 2)", where. Until then its values are nan. */
    void set_field(std::size_t i, const FieldOfFile &function, const std::string &reach);
    /** Of a field that is set. */
    const FieldOfFile &function(std::size_t i) const { return functions[i]; }
    const std::string &reach(std::size_t i) const { return reaches[i]; }
    /** Whether an expression names one. */
    bool are_named_in(const std::string &expression) const;

    /** Opposite corners of the box, 2 or more numbers each. Until it is set it is the unit square. */
    void set_box(const std::vector<double> &lower, const std::vector<double> &upper);

    /**
     * "picture coat: coat.png, 400 x 100 numbers over [0, 4] x [0, 1]" of one of them, "field old: u of end.pvtu, from
     * (0, 0) to (4, 1)" of another.
     */
    std::string description(std::size_t i) const;
    /** Whether it has pixels, as PNG and PGM, and is no table of numbers. */
    bool is_picture(std::size_t i) const;
    /** How many times as long as wide, or as wide as long, its pixels are in that box; 1: they are squares. */
    double stretch(std::size_t i) const;

    /** Values at a place. @param values one for each name. */
    void evaluate(const dealii::Point<3> &place, double *values) const;

  private:
    std::vector<std::string> all_names, all_paths, all_fields, reaches;
    std::vector<Picture>     pictures; ///< empty ones for fields
    std::vector<FieldOfFile> functions;
    double                   corner[2] = {0., 0.}, length[2] = {1., 1.};
  };
} // namespace leopard
