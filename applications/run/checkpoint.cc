// SPDX-License-Identifier: Apache-2.0
#include "checkpoint.h"

#include "collective.h"
#include "files.h"
#include "log.h"

#include <solvers/base/errors.h>

#include <deal.II/base/exceptions.h>
#include <deal.II/base/mpi.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

namespace leopard
{
  namespace fs = std::filesystem;
  using nlohmann::json;

  namespace
  {
    constexpr int format_version = 1;

    std::string checksum_of(std::istream &stream)
    {
      std::uint64_t     hash = 14695981039346656037ULL;
      std::vector<char> buffer(1 << 16);
      while (stream)
        {
          stream.read(buffer.data(), static_cast<std::streamsize>(buffer.size()));
          for (std::streamsize i = 0; i < stream.gcount(); ++i)
            hash = (hash ^ static_cast<unsigned char>(buffer[i])) * 1099511628211ULL;
        }
      return format("%016llx", static_cast<unsigned long long>(hash));
    }

    std::string checksum(const fs::path &file)
    {
      std::ifstream stream(file, std::ios::binary);
      return checksum_of(stream);
    }

    json list_files(const std::string &folder)
    {
      json files = json::object();
      for (const auto &entry : fs::directory_iterator(folder))
        if (entry.path().filename() != "metadata.json")
          files[entry.path().filename().string()] = {{"bytes", entry.file_size()}, {"checksum", checksum(entry.path())}};
      return files;
    }

    /** Newest first. */
    std::vector<fs::path> complete_folders(const std::string &directory)
    {
      std::vector<fs::path> folders;
      if (fs::exists(directory))
        for (const auto &entry : fs::directory_iterator(directory))
          {
            const std::string name = entry.path().filename().string();
            if (name.rfind("step_", 0) == 0 && entry.path().extension() != ".tmp")
              folders.push_back(entry.path());
          }
      std::sort(folders.rbegin(), folders.rend());
      return folders;
    }

    /** The metadata, or why the folder cannot be used. */
    json read_metadata(const fs::path &folder, std::string &damage)
    {
      std::ifstream stream(folder / "metadata.json");
      json          metadata = json::parse(stream, nullptr, false);
      if (metadata.is_discarded() || !metadata.contains("files"))
        damage = "metadata.json is missing or broken";
      else if (metadata.value("format", 0) != format_version)
        damage = "it has format " + std::to_string(metadata.value("format", 0)) + ", this program reads " + std::to_string(format_version);
      else
        for (const auto &[name, expected] : metadata["files"].items())
          if (!fs::exists(folder / name) || checksum(folder / name) != expected["checksum"])
            damage = "the file " + name + " is missing or damaged";
      return metadata;
    }
  } // namespace

  std::string checksum_of_text(const std::string &text)
  {
    std::istringstream stream(text);
    return checksum_of(stream);
  }

  Checkpoints::Checkpoints(const std::string &directory_, MPI_Comm comm_)
    : directory(directory_)
    , comm(comm_)
  {
    on_rank_zero(comm, [&] { fs::create_directories(directory); });
  }

  void Checkpoints::write(unsigned int step, const json &metadata, const std::function<void(const std::string &)> &write_content) const
  {
    const std::string name = directory + format("/step_%09u", step), temporary = name + ".tmp";
    on_rank_zero(comm, [&] {
      fs::remove_all(temporary);
      fs::create_directory(temporary);
    });
    std::string error;
    try
      {
        write_content(temporary);
      }
    catch (const dealii::ExceptionBase &exception)
      {
        error = "the checkpoint '" + name + "' cannot be written: " + exception.get_exc_name();
      }
    catch (const std::exception &exception)
      {
        error = "the checkpoint '" + name + "' cannot be written: " + std::string(exception.what());
      }
    throw_if_any_failed(error, comm);
    on_rank_zero(comm, [&] {
      json all      = metadata;
      all["format"] = format_version;
      all["step"]   = step;
      all["files"]  = list_files(temporary);
      write_file_atomically(temporary + "/metadata.json", all.dump(1));
      sync_folder(temporary);
      fs::remove_all(name);
      fs::rename(temporary, name);
      sync_folder(directory);
      const auto folders = complete_folders(directory);
      for (std::size_t i = 2; i < folders.size(); ++i)
        fs::remove_all(folders[i]);
    });
  }

  std::optional<Checkpoints::Found> Checkpoints::newest(Log &log) const
  {
    Found       found;
    std::string text;
    on_rank_zero(comm, [&] {
      for (const fs::path &folder : complete_folders(directory))
        {
          std::string damage;
          const json  metadata = read_metadata(folder, damage);
          if (damage.empty())
            {
              found.directory = folder.string();
              text            = metadata.dump();
              return;
            }
          log.warning("the checkpoint '" + folder.string() + "' is passed over: " + damage);
        }
    });
    found.directory = dealii::Utilities::MPI::broadcast(comm, found.directory);
    text            = dealii::Utilities::MPI::broadcast(comm, text);
    if (text.empty())
      return std::nullopt;
    found.metadata = std::make_shared<const json>(json::parse(text));
    found.step     = found.metadata->at("step");
    return found;
  }
} // namespace leopard
