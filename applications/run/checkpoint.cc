// SPDX-License-Identifier: Apache-2.0
#include "checkpoint.h"

#include <applications/base/collective.h>
#include <applications/base/files.h>
#include <applications/base/log.h>
#include <applications/base/manifest.h>
#include <applications/base/run_directory.h>

#include <solvers/base/errors.h>

#include <deal.II/base/exceptions.h>
#include <deal.II/base/mpi.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <regex>
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

    /** JSON is UTF-8, and what a user has named need not be: such bytes are replaced. */
    std::string text_of(const json &content)
    {
      return content.dump(1, ' ', false, json::error_handler_t::replace);
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
            if (std::regex_match(name, std::regex("step_[0-9]{9,}")) && entry.symlink_status().type() == fs::file_type::directory)
              folders.push_back(entry.path());
          }
      std::sort(folders.rbegin(), folders.rend());
      return folders;
    }

    /** The metadata, or why the folder cannot be used. */
    json read_metadata(const fs::path &folder, std::string &damage)
    {
      std::ifstream stream(folder / "metadata.json");
      json          metadata  = json::parse(stream, nullptr, false);
      const auto    is_broken = [&metadata] {
        if (!metadata.is_object() || !metadata.contains("files") || !metadata["files"].is_object())
          return true;
        for (const char *number : {"format", "step", "time", "next_step_size", "start_size"})
          if (metadata.contains(number) && !metadata[number].is_number())
            return true;
        const auto &files = metadata["files"];
        return !metadata.contains("step") ||
               std::any_of(files.begin(), files.end(), [](const json &file) { return !file.is_object() || !file.contains("checksum"); });
      };
      if (is_broken())
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

  Checkpoints::Checkpoints(RunDirectory &run_, MPI_Comm comm_)
    : run(run_)
    , directory(run_.path("checkpoints"))
    , comm(comm_)
  {
  }

  void Checkpoints::write(unsigned int step, const json &metadata, const std::function<void(const std::string &)> &write_content) const
  {
    const std::string folder = format("/step_%09u", step), name = directory + folder, temporary = name + ".tmp";
    run.record({"checkpoints" + folder + "/"});
    on_rank_zero(comm, [&] {
      delete_checkpoint(temporary);
      make_folder(temporary);
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
    try
      {
        throw_if_any_failed(error, comm);
        on_rank_zero(comm, [&] {
          json all      = metadata;
          all["format"] = format_version;
          all["step"]   = step;
          all["files"]  = list_files(temporary);
          for (const auto &file : all["files"].items())
            sync_file(temporary + "/" + file.key());
          write_file_atomically(temporary + "/metadata.json", text_of(all));
          sync_folder(temporary);
          delete_checkpoint(name);
          fs::rename(temporary, name);
          sync_folder(directory);
          auto folders = complete_folders(directory);
          for (const fs::path &folder : folders) // of a run that has gone on from an older one, as they were damaged
            if (folder.filename() > fs::path(name).filename())
              delete_checkpoint(folder.string());
          unsigned int n_complete = 0;
          for (const fs::path &folder : complete_folders(directory))
            if (!fs::exists(folder / "metadata.json") || ++n_complete > 2) // killed while it was deleted; older than the last two
              delete_checkpoint(folder.string());
        });
      }
    catch (const std::exception &)
      {
        if (dealii::Utilities::MPI::this_mpi_process(comm) == 0)
          delete_checkpoint(temporary); // what it takes may be what lacks
        throw;
      }
  }

  std::optional<Checkpoints::Found> Checkpoints::newest(Log &log) const
  {
    return newest_of(
      run.path(), [&](const std::string &text) { log.warning(text); }, "a whole one; --overwrite to start anew", comm);
  }

  std::optional<Checkpoints::Found> Checkpoints::newest_of(const std::string                              &run_directory,
                                                           const std::function<void(const std::string &)> &warn,
                                                           const std::string                              &expected,
                                                           MPI_Comm                                        comm)
  {
    const std::string directory = run_directory + "/checkpoints";
    Found             found;
    std::string       text;
    on_rank_zero(comm, [&] {
      const auto folders = complete_folders(directory);
      for (const fs::path &folder : folders)
        {
          std::string damage;
          const json  metadata = read_metadata(folder, damage);
          if (damage.empty())
            {
              found.directory = folder.string();
              text            = text_of(metadata);
              return;
            }
          warn("the checkpoint '" + folder.string() + "' is passed over: " + damage);
        }
      if (!folders.empty())
        throw std::runtime_error("no checkpoint in '" + directory + "' can be used\n  expected: " + expected);
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
