// SPDX-License-Identifier: Apache-2.0
#include "manifest.h"

#include <solvers/base/whole_file.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include <fnmatch.h>

namespace leopard
{
  namespace fs = std::filesystem;
  using nlohmann::json;

  namespace
  {
    const std::string first_line = "# What Leopard has written here; --overwrite deletes this and nothing else.";

    bool is_file(const fs::path &path)
    {
      std::error_code ignored;
      return fs::symlink_status(path, ignored).type() == fs::file_type::regular;
    }

    bool is_folder(const fs::path &path)
    {
      std::error_code ignored;
      return fs::symlink_status(path, ignored).type() == fs::file_type::directory;
    }

    /** What is in a folder; nothing if it is none, or a link to one. */
    std::vector<fs::path> content_of(const fs::path &folder)
    {
      std::vector<fs::path> content;
      std::error_code       code;
      if (is_folder(folder))
        for (fs::directory_iterator entry(folder, code), end; !code && entry != end; entry.increment(code))
          content.push_back(entry->path());
      std::sort(content.begin(), content.end());
      return content;
    }

    /** Whether a path of the list is one inside the directory that no link leads out of. */
    bool is_inside(const fs::path &directory, const fs::path &relative)
    {
      fs::path path = directory;
      for (const fs::path &part : relative)
        {
          if (part == ".." || part.is_absolute() || (path != directory && !is_folder(path)))
            return false;
          path /= part;
        }
      return !relative.empty();
    }

    /** @return why it could not be deleted; empty if it is gone, or no file. */
    std::string delete_file(const fs::path &path)
    {
      std::error_code code;
      if (is_file(path))
        fs::remove(path, code);
      return code ? "'" + path.string() + "' cannot be deleted: " + code.message() : "";
    }

    void delete_if_empty(const fs::path &folder)
    {
      std::error_code ignored;
      if (is_folder(folder))
        fs::remove(folder, ignored); // which refuses if something is in it
    }

    void delete_left_overs(const fs::path &folder)
    {
      for (const fs::path &path : content_of(folder))
        if (NewFile::is_left_over(path.filename().string()))
          delete_file(path);
    }

    /** Whether the file begins as lists do. */
    bool is_list(const fs::path &path)
    {
      std::ifstream stream(path);
      std::string   line;
      return is_file(path) && std::getline(stream, line) && line == first_line;
    }
  } // namespace

  bool holds_run(const std::string &directory)
  {
    const fs::path run_json = fs::path(directory) / "run.json";
    if (!is_list(fs::path(directory) / Manifest::file_name))
      return false;
    if (!is_file(run_json)) // killed before there was one
      return !fs::exists(fs::symlink_status(run_json));
    std::ifstream stream(run_json);
    const json    content = json::parse(stream, nullptr, false);
    if (content.is_discarded()) // damaged, and the list says whose it is
      return true;
    return content.is_object() && content.contains("leopard") && content["leopard"].is_object() && content["leopard"].contains("version");
  }

  void delete_checkpoint(const std::string &folder)
  {
    if (!is_folder(folder))
      return;
    // which says what the files are; without it the rest is no checkpoint, also if the program is killed before it is
    // gone
    const std::string list = folder + "/metadata.json", set_aside = list + ".tmp";
    std::error_code   ignored;
    if (is_file(list) && (is_file(set_aside) || !fs::exists(fs::symlink_status(set_aside))))
      fs::rename(list, set_aside, ignored);
    std::ifstream stream(is_file(list) ? list : set_aside);
    const json    metadata = json::parse(stream, nullptr, false);
    if (metadata.is_object() && metadata.contains("files") && metadata["files"].is_object())
      for (const auto &file : metadata["files"].items())
        if (file.key().find('/') == std::string::npos && file.key() != "..")
          delete_file(fs::path(folder) / file.key());
    for (const char *name : {"mesh", "mesh.info", "mesh_fixed.data", "mesh_variable.data", "metadata.json", "metadata.json.tmp"})
      delete_file(fs::path(folder) / name);
    delete_left_overs(folder);
    delete_if_empty(folder);
  }

  Manifest::Manifest(const std::string &directory_)
    : directory(fs::canonical(directory_).string())
  {
    is_ours = is_list(fs::path(directory) / file_name);
    std::ifstream stream(fs::path(directory) / file_name);
    std::string   line;
    std::getline(stream, line);
    while (is_ours && std::getline(stream, line))
      if (!line.empty())
        entries.insert(line);
  }

  void Manifest::open()
  {
    for (const char *folder : {"", "solution", "checkpoints"})
      delete_left_overs(fs::path(directory) / folder);
    const std::string path = directory + "/" + file_name;
    if (!is_ours && fs::exists(fs::symlink_status(path)))
      throw std::runtime_error("'" + path + "' is not the list of what Leopard has written\n  expected: no file of this name; rename it");
    if (!is_ours) // whole at once: a run that is killed here leaves no file that nobody knows
      write_file_atomically(path, first_line + "\n");
    file.open(path, true);
  }

  namespace
  {
    [[noreturn]] void fail_as_not_ours(const std::string &path)
    {
      throw std::runtime_error("'" + path + "' is to be written, and is there already: Leopard has not written it" +
                               "\n  expected: no file of this name; rename it, or take another 'Run/Directory'");
    }
  } // namespace

  void Manifest::require_free(const std::vector<std::string> &names) const
  {
    for (const std::string &name : names)
      for (const fs::path &path : content_of((fs::path(directory) / name).parent_path()))
        if (::fnmatch((fs::path(directory) / name).filename().c_str(), path.filename().c_str(), 0) == 0 &&
            entries.count(path.lexically_relative(directory).string()) == 0)
          fail_as_not_ours(path.string());
  }

  void Manifest::add(const std::vector<std::string> &paths)
  {
    std::string text;
    for (const std::string &path : paths)
      if (entries.count(path) == 0)
        {
          if (path.back() != '/' && fs::exists(fs::symlink_status(fs::path(directory) / path)))
            fail_as_not_ours(directory + "/" + path);
          entries.insert(path);
          text += path + "\n";
        }
    if (!text.empty())
      file.append(text);
  }

  namespace
  {
    bool is_run(const std::string &entry)
    {
      return entry.rfind("runs/", 0) == 0 && entry.back() == '/';
    }

    void delete_run(const fs::path &path)
    {
      if (!is_folder(path) || !holds_run(path.string()))
        return;
      Manifest(path.string()).delete_all();
      delete_file(path / Manifest::file_name);
      delete_file(path / "lock");
      delete_if_empty(path);
    }
  } // namespace

  void Manifest::delete_all()
  {
    std::set<fs::path> folders; // sorted: a folder before what is in it
    bool               has_run_json = false;
    std::string        failure;
    for (const std::string &entry : entries)
      {
        const bool     is_of_folder = entry.back() == '/';
        const fs::path relative     = is_of_folder ? entry.substr(0, entry.size() - 1) : entry;
        has_run_json                = has_run_json || entry == "run.json";
        if (!is_inside(directory, relative) || entry == "run.json")
          continue;
        for (fs::path folder = relative.parent_path(); !folder.empty(); folder = folder.parent_path())
          folders.insert(folder);
        const fs::path path = directory / relative;
        if (!is_of_folder)
          failure = failure.empty() ? delete_file(path) : failure;
        else if (is_run(entry))
          delete_run(path);
        else if (*relative.begin() == "checkpoints")
          {
            delete_checkpoint(path.string());
            delete_checkpoint(path.string() + ".tmp");
          }
      }
    delete_left_overs(directory);
    for (auto folder = folders.rbegin(); folder != folders.rend(); ++folder)
      {
        delete_left_overs(directory / *folder);
        delete_if_empty(directory / *folder);
      }
    // the list is the last to change, and says alone that this is a run: a deletion that is cut off can be repeated
    if (has_run_json && failure.empty())
      failure = delete_file(fs::path(directory) / "run.json");
    if (!failure.empty())
      throw std::runtime_error(failure + "\n  expected: files of the run there that may be deleted, or another 'Run/Directory'");
    if (is_ours)
      write_file_atomically(directory + "/" + file_name, first_line + "\n");
    entries.clear();
  }

  std::vector<std::string> Manifest::others() const
  {
    std::vector<std::string> result;
    for (const fs::path &path : content_of(directory))
      {
        const std::string name = path.filename().string();
        if (name == "lock" || name == file_name || entries.count(name) > 0 || entries.lower_bound(name + "/") != entries.lower_bound(name + "0"))
          continue;
        result.push_back(name + (is_folder(path) ? "/" : ""));
      }
    return result;
  }
} // namespace leopard
