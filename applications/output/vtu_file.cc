// SPDX-License-Identifier: Apache-2.0
#include "vtu_file.h"

#include <applications/base/collective.h>
#include <solvers/base/words.h>

#include <deal.II/base/utilities.h>

#include <boost/property_tree/ptree.hpp>
#include <boost/property_tree/xml_parser.hpp>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <stdexcept>

#include <zlib.h>

namespace leopard
{
  namespace
  {
    using boost::property_tree::ptree;

    /** A file with what its arrays have in common. */
    struct XmlFile
    {
      std::string path;
      ptree       tree;
      std::string appended;                ///< behind the underscore
      bool        appended_is_raw = false; ///< and not base64
      bool        compressed      = false; ///< by zlib
      bool        swapped         = false; ///< the bytes of a number
      std::size_t header_bytes    = 4;     ///< of each number before the data

      [[noreturn]] void fail(const std::string &what, const std::string &expected) const
      {
        throw std::runtime_error("the file '" + path + "' " + what + "\n  expected: " + expected);
      }
      [[noreturn]] void fail_as_damaged(const std::string &what) const { fail("is damaged: " + what, "a whole VTU file"); }
    };

    const ptree nothing;

    std::string attribute(const ptree &node, const std::string &name, const std::string &otherwise = "")
    {
      return node.get("<xmlattr>." + name, otherwise);
    }

    std::size_t count(const XmlFile &file, const ptree &node, const std::string &name)
    {
      const std::string text = attribute(node, name);
      if (text.empty() || text.size() > 15 || !std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c) != 0; }))
        file.fail_as_damaged(name + " is '" + text + "'");
      return std::stoull(text);
    }

    /** The parser calls itself for each element in another. */
    bool is_too_deep(const std::string &text)
    {
      int depth = 0, deepest = 0;
      for (std::size_t i = text.find('<'); i != std::string::npos && i + 1 < text.size(); i = text.find('<', i + 1))
        if (text[i + 1] == '/')
          --depth;
        else if (text[i + 1] != '?' && text[i + 1] != '!')
          {
            const std::size_t end = text.find('>', i);
            if (end == std::string::npos || text[end - 1] != '/')
              deepest = std::max(deepest, ++depth);
          }
      return deepest > 50;
    }

    XmlFile open_xml(const std::string &path, const std::string &type)
    {
      XmlFile file;
      file.path        = path;
      std::string text = read_file(path, MPI_COMM_SELF);
      if (const std::size_t begin = text.find("<AppendedData"); begin != std::string::npos) // may have any bytes, which no parser takes
        {
          const std::size_t head_end = text.find('>', begin), first = text.find('_', head_end);
          if (head_end == std::string::npos || first == std::string::npos)
            file.fail_as_damaged("its appended data have no beginning");
          file.appended_is_raw = text.substr(begin, head_end - begin).find("\"raw\"") != std::string::npos;
          file.appended        = text.substr(first + 1);
          text                 = text.substr(0, begin) + "</VTKFile>";
        }
      if (text.rfind("# vtk DataFile", 0) == 0)
        file.fail("is of VTK's legacy format", "a VTU file, as which ParaView's 'Save Data' writes it");
      if (is_too_deep(text))
        file.fail_as_damaged("its elements stand in one another too deeply");
      try
        {
          std::istringstream stream(text);
          boost::property_tree::read_xml(stream, file.tree, boost::property_tree::xml_parser::no_comments);
        }
      catch (const boost::property_tree::xml_parser_error &error)
        {
          file.fail("is no whole XML file: " + error.message() + " in line " + std::to_string(error.line()), "a VTU file");
        }
      const ptree &root = file.tree.get_child("VTKFile", nothing);
      if (attribute(root, "type") != type)
        file.fail("is " + (attribute(root, "type").empty() ? "no file of VTK" : "of VTK's type " + attribute(root, "type")), type);
      const std::string compressor = attribute(root, "compressor"), order = attribute(root, "byte_order", "LittleEndian");
      if (!compressor.empty() && compressor != "vtkZLibDataCompressor")
        file.fail("is compressed by " + compressor, "vtkZLibDataCompressor, or no compression");
      const std::uint16_t one = 1;
      file.swapped            = (order == "LittleEndian") != (*reinterpret_cast<const unsigned char *>(&one) == 1);
      file.compressed         = !compressor.empty();
      file.header_bytes       = attribute(root, "header_type", "UInt32") == "UInt64" ? 8 : 4;
      return file;
    }

    /** Numbers of a type of VTK, as another; appended to the result. */
    template <typename From, typename To>
    void convert(const std::string &bytes, bool swapped, std::vector<To> &result)
    {
      for (std::size_t i = 0; i + sizeof(From) <= bytes.size(); i += sizeof(From))
        {
          unsigned char one[sizeof(From)];
          std::memcpy(one, &bytes[i], sizeof(From));
          if (swapped)
            std::reverse(one, one + sizeof(From));
          From value;
          std::memcpy(&value, one, sizeof(From));
          result.push_back(static_cast<To>(value));
        }
    }

    /**
     * Where an array's bytes are taken from, one after another: base64 in pieces that are encoded each for itself, or
     * raw.
     */
    class ByteStream
    {
    public:
      ByteStream(const XmlFile &file_, const std::string &text_, std::size_t position_, bool raw_)
        : file(file_)
        , text(text_)
        , position(position_)
        , raw(raw_)
      {
      }

      std::string take(std::size_t n)
      {
        const std::size_t length = raw ? n : (n + 2) / 3 * 4;
        if (n > text.size() || position > text.size() || length > text.size() - position)
          file.fail_as_damaged("an array ends too early");
        std::string piece = text.substr(position, length);
        position += length;
        if (raw)
          return piece;
        if (piece.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=") != std::string::npos)
          file.fail_as_damaged("an array has other characters than those of base64");
        const std::vector<unsigned char> bytes = dealii::Utilities::decode_base64(piece);
        std::string                      result(bytes.begin(), bytes.end());
        result.resize(n, '\0'); // deal.II leaves out zeros at the end
        return result;
      }

      /** The same bytes once more. */
      void        go_back_to(std::size_t where) { position = where; }
      std::size_t where() const { return position; }
      /** Whether a piece of n bytes was encoded for itself, so that another one follows. */
      bool ended(std::size_t n) const
      {
        const std::string filling((3 - n % 3) % 3, '=');
        return raw || (position >= filling.size() && text.compare(position - filling.size(), filling.size(), filling) == 0);
      }

    private:
      const XmlFile     &file;
      const std::string &text;
      std::size_t        position;
      const bool         raw;
    };

    std::vector<std::uint64_t> take_header(const XmlFile &file, const std::string &bytes)
    {
      std::vector<std::uint64_t> numbers;
      if (file.header_bytes == 8)
        convert<std::uint64_t>(bytes, file.swapped, numbers);
      else
        convert<std::uint32_t>(bytes, file.swapped, numbers);
      return numbers;
    }

    std::string uncompressed_bytes(const XmlFile &file, ByteStream &stream)
    {
      const std::size_t begin = stream.where();
      const std::size_t n     = take_header(file, stream.take(file.header_bytes)).at(0);
      if (stream.ended(file.header_bytes))
        return stream.take(n);
      stream.go_back_to(begin); // header and data are encoded together
      if (n > file.appended.size() + (std::size_t{1} << 40))
        file.fail_as_damaged("an array is too long");
      return stream.take(file.header_bytes + n).substr(file.header_bytes);
    }

    std::string inflated_bytes(const XmlFile &file, ByteStream &stream)
    {
      const std::size_t begin = stream.where(), n_blocks = take_header(file, stream.take(3 * file.header_bytes)).at(0);
      if (n_blocks > (std::size_t{1} << 32))
        file.fail_as_damaged("an array has too many blocks");
      stream.go_back_to(begin);
      const auto  header = take_header(file, stream.take((3 + n_blocks) * file.header_bytes)); // number, size, size of the last one, compressed sizes
      std::size_t total  = 0;
      for (std::size_t b = 0; b < n_blocks; ++b)
        total += header[3 + b];
      const std::string packed = stream.take(total);
      std::string       bytes;
      for (std::size_t b = 0, start = 0; b < n_blocks; start += header[3 + b], ++b)
        {
          const std::uint64_t size = b + 1 < n_blocks || header[2] == 0 ? header[1] : header[2];
          if (size > 1100 * header[3 + b] + 64) // more than zlib can do
            file.fail_as_damaged("a compressed block has a wrong size");
          const std::size_t before = bytes.size();
          bytes.resize(before + size);
          uLongf found = size;
          if (start + header[3 + b] > packed.size() ||
              ::uncompress(
                reinterpret_cast<Bytef *>(&bytes[0] + before), &found, reinterpret_cast<const Bytef *>(packed.data() + start), header[3 + b]) !=
                Z_OK ||
              found != size)
            file.fail_as_damaged("zlib cannot inflate an array");
        }
      return bytes;
    }

    template <typename To>
    std::vector<To> read_ascii(const XmlFile &file, const std::string &text)
    {
      std::vector<To> result;
      for (const char *p = text.c_str();;)
        {
          while (std::isspace(static_cast<unsigned char>(*p)) != 0)
            ++p;
          if (*p == '\0')
            return result;
          char        *end   = nullptr;
          const double value = std::strtod(p, &end);
          if (end == p)
            file.fail_as_damaged("'" + std::string(p, std::min<std::size_t>(20, std::strlen(p))) + "' is no number");
          result.push_back(std::is_integral_v<To> && !(value >= 0. && value < 1e15) ? To(-1) : static_cast<To>(value));
          p = end;
        }
    }

    /** A DataArray, which must have n numbers. */
    template <typename To>
    std::vector<To> read_array(const XmlFile &file, const ptree &array, std::size_t n)
    {
      const std::string format = attribute(array, "format", "ascii"), name = "the array '" + attribute(array, "Name", "points") + "'";
      const std::string type = attribute(array, "type");
      std::vector<To>   result;
      if (format == "ascii")
        result = read_ascii<To>(file, array.data());
      else
        {
          std::string text;
          const bool  appended = format == "appended";
          for (const char c : appended ? std::string() : array.data())
            if (std::isspace(static_cast<unsigned char>(c)) == 0)
              text += c;
          ByteStream stream(file, appended ? file.appended : text, appended ? count(file, array, "offset") : 0, appended && file.appended_is_raw);
          const std::string bytes = file.compressed ? inflated_bytes(file, stream) : uncompressed_bytes(file, stream);
          const std::pair<const char *, void (*)(const std::string &, bool, std::vector<To> &)> types[] = {{"Float32", convert<float>},
                                                                                                           {"Float64", convert<double>},
                                                                                                           {"Int8", convert<std::int8_t>},
                                                                                                           {"UInt8", convert<std::uint8_t>},
                                                                                                           {"Int16", convert<std::int16_t>},
                                                                                                           {"UInt16", convert<std::uint16_t>},
                                                                                                           {"Int32", convert<std::int32_t>},
                                                                                                           {"UInt32", convert<std::uint32_t>},
                                                                                                           {"Int64", convert<std::int64_t>},
                                                                                                           {"UInt64", convert<std::uint64_t>}};
          const auto found = std::find_if(std::begin(types), std::end(types), [&](const auto &t) { return type == t.first; });
          if (found == std::end(types))
            file.fail("has numbers of the type '" + type + "' in " + name, "Float32, Float64, or an integer type of VTK");
          found->second(bytes, file.swapped, result);
        }
      if (result.size() != n)
        file.fail_as_damaged(name + " has " + std::to_string(result.size()) + " numbers where there should be " + std::to_string(n));
      return result;
    }

    /** The array of a name in a part of a piece; null if there is none. */
    const ptree *find_array(const ptree &piece, const std::string &part, const std::string &name)
    {
      if (const auto arrays = piece.get_child_optional(part))
        for (const auto &[tag, array] : *arrays)
          if ((tag == "DataArray" || tag == "PDataArray") && (name.empty() || attribute(array, "Name") == name))
            return &array;
      return nullptr;
    }

    std::vector<std::string> names_of(const ptree &piece, const std::string &part)
    {
      std::vector<std::string> names;
      if (const auto arrays = piece.get_child_optional(part))
        for (const auto &[tag, array] : *arrays)
          if (tag == "DataArray" || tag == "PDataArray")
            names.push_back(attribute(array, "Name"));
      return names;
    }

    const ptree &required_array(const XmlFile &file, const ptree &piece, const std::string &part, const std::string &name)
    {
      const ptree *array = find_array(piece, part, name);
      if (array == nullptr)
        file.fail_as_damaged("it has no array '" + name + "' in " + part);
      return *array;
    }

    VtuPiece read_piece(const XmlFile &file, const ptree &piece, const std::vector<std::string> &fields)
    {
      VtuPiece          result;
      const std::size_t n_points = count(file, piece, "NumberOfPoints"), n_cells = count(file, piece, "NumberOfCells");
      if (n_points == 0 && n_cells == 0) // a rank without cells
        {
          for (const std::string &field : fields)
            result.fields[field] = {};
          return result;
        }
      const ptree &points  = required_array(file, piece, "Points", "");
      result.points        = read_array<double>(file, points, 3 * n_points);
      result.single_points = attribute(points, "type") == "Float32";
      result.types         = read_array<unsigned int>(file, required_array(file, piece, "Cells", "types"), n_cells);
      result.offsets       = read_array<std::uint64_t>(file, required_array(file, piece, "Cells", "offsets"), n_cells);
      for (std::size_t i = 0; i < n_cells; ++i)
        if (result.offsets[i] < (i == 0 ? 0 : result.offsets[i - 1]) || result.offsets[i] > (std::uint64_t{1} << 48))
          file.fail_as_damaged("the offsets of its cells do not grow");
      result.connectivity =
        read_array<std::uint64_t>(file, required_array(file, piece, "Cells", "connectivity"), n_cells == 0 ? 0 : result.offsets.back());
      for (const std::uint64_t point : result.connectivity)
        if (point >= n_points)
          file.fail_as_damaged("a cell names the point " + std::to_string(static_cast<std::int64_t>(point)) + " of " + std::to_string(n_points));
      for (const std::string &field : fields)
        {
          const ptree *array = find_array(piece, "PointData", field);
          if (array == nullptr)
            {
              const std::string names    = joined(names_of(piece, "PointData"));
              const bool        of_cells = find_array(piece, "CellData", field) != nullptr;
              file.fail(of_cells ? "has '" + field + "' as values of cells" : "has no field '" + field + "'",
                        of_cells ? "values of points; ParaView's filter 'Cell Data to Point Data' makes them"
                                 : "a field of this name at its points, where there " + (names.empty() ? "is none" : "are " + names));
            }
          if (const std::string n = attribute(*array, "NumberOfComponents", "1"); n != "1")
            file.fail("has the field '" + field + "' with " + n + " components", "one number at each point");
          result.fields[field]    = read_array<double>(file, *array, n_points);
          result.single_precision = result.single_precision || attribute(*array, "type") == "Float32";
        }
      return result;
    }
  } // namespace

  std::vector<std::string> files_of_vtu(const std::string &path)
  {
    namespace fs = std::filesystem;
    if (fs::path(path).extension() != ".pvtu")
      return {path};
    const XmlFile            file = open_xml(path, "PUnstructuredGrid");
    std::vector<std::string> pieces;
    for (const auto &[tag, piece] : file.tree.get_child("VTKFile.PUnstructuredGrid", nothing))
      if (tag == "Piece")
        pieces.push_back((fs::path(path).parent_path() / attribute(piece, "Source")).string());
    if (pieces.empty())
      file.fail("names no pieces", "a .pvtu file with at least one");
    std::error_code ignored;
    for (const std::string &piece : pieces)
      if (!fs::exists(piece, ignored))
        file.fail("names the piece '" + piece + "', which is not there", "all files that it names, where it names them: beside it");
    return pieces;
  }

  std::vector<std::string> fields_of_vtu(const std::string &path)
  {
    const XmlFile            file = open_xml(path, "UnstructuredGrid");
    std::vector<std::string> names;
    for (const auto &[tag, piece] : file.tree.get_child("VTKFile.UnstructuredGrid", nothing))
      if (tag == "Piece")
        return names_of(piece, "PointData");
    return names;
  }

  std::vector<VtuPiece> read_vtu(const std::string &path, const std::vector<std::string> &fields)
  {
    const XmlFile         file = open_xml(path, "UnstructuredGrid");
    std::vector<VtuPiece> pieces;
    for (const auto &[tag, piece] : file.tree.get_child("VTKFile.UnstructuredGrid", nothing))
      if (tag == "Piece")
        pieces.push_back(read_piece(file, piece, fields));
    return pieces;
  }
} // namespace leopard
