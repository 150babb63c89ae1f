// SPDX-License-Identifier: Apache-2.0
#include "run_directory.h"

#include "collective.h"
#include "manifest.h"

#include <solvers/base/whole_file.h>

#include <deal.II/base/mpi.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace leopard
{
  namespace
  {
    namespace fs = std::filesystem;

    /** "'a', 'b' and 3 more" */
    std::string some_of(const std::vector<std::string> &names)
    {
      constexpr std::size_t most = 8;
      std::string           text;
      for (std::size_t i = 0; i < std::min(most, names.size()); ++i)
        text += (i > 0 ? ", '" : "'") + names[i] + "'";
      return text + (names.size() > most ? " and " + std::to_string(names.size() - most) + " more" : "");
    }

    /** @return whether the folder is missing or empty. */
    bool check(const std::string &directory, OpenMode mode)
    {
      std::error_code code;
      const auto      status = fs::status(directory, code);
      if (code && code != std::errc::no_such_file_or_directory && code != std::errc::not_a_directory)
        throw std::runtime_error("the run directory '" + directory + "' cannot be looked at: " + code.message() +
                                 "\n  expected: the name of a folder");
      if (!fs::exists(status) && fs::is_symlink(fs::symlink_status(directory, code)))
        throw std::runtime_error("the run directory '" + directory +
                                 "' is a symbolic link to what is not there\n  expected: a folder, a link to one, or a name that does not exist yet");
      if (fs::exists(status) && !fs::is_directory(status))
        throw std::runtime_error("the run directory '" + directory + "' is a file\n  expected: a folder, or a name that does not exist yet");
      std::vector<std::string> content;
      if (fs::exists(status))
        for (const auto &entry : fs::directory_iterator(directory))
          if (const std::string name = entry.path().filename().string(); name != "lock" && !NewFile::is_left_over(name))
            content.push_back(name);
      std::sort(content.begin(), content.end());
      const bool is_run = !content.empty() && holds_run(directory);
      if (mode == OpenMode::resume && !is_run && std::binary_search(content.begin(), content.end(), "checkpoints"))
        throw std::runtime_error(
          "the run in '" + directory + "' cannot be resumed: its " + Manifest::file_name +
          " is missing or damaged, or its run.json is not one of Leopard\n  expected: both as Leopard has written them; a run.json "
          "that is missing or damaged itself is no hindrance");
      if (mode == OpenMode::resume && !is_run)
        throw std::runtime_error("there is no run to resume in '" + directory +
                                 "'\n  expected: a folder that a run of Leopard has written; start without --resume");
      if (is_run)
        for (const char *name : {"solution", "checkpoints", "runs", "claims"})
          if (fs::is_symlink(fs::symlink_status(fs::path(directory) / name)))
            throw std::runtime_error("'" + directory + "/" + name + "' is a symbolic link, and Leopard neither writes nor deletes behind links" +
                                     "\n  expected: a folder; put the folder itself there, or make 'Run/Directory' a link");
      if (mode == OpenMode::fresh && !content.empty())
        throw std::runtime_error("the run directory '" + directory +
                                 "' is not empty\n  expected: a new or empty folder; --overwrite to delete the run there, --resume to go on with it, "
                                 "or another 'Run/Directory'");
      if (mode == OpenMode::overwrite && !content.empty() && !is_run)
        throw std::runtime_error("the folder '" + directory + "' is not empty and holds no run of Leopard (no " + Manifest::file_name +
                                 " and run.json that say so), but " + some_of(content) +
                                 ", so nothing in it is overwritten\n  expected: another 'Run/Directory'");
      return content.empty();
    }

    /** Whether the open file is the one of this name: whoever had the lock before may have removed it. */
    bool is_still_there(int file, const std::string &name)
    {
      struct stat mine, there;
      return ::fstat(file, &mine) == 0 && ::lstat(name.c_str(), &there) == 0 && mine.st_dev == there.st_dev && mine.st_ino == there.st_ino;
    }

    /** @return 0, or what flock() says, a value of errno. */
    int lock(int file)
    {
      int code = 0;
      do
        code = ::flock(file, LOCK_EX | LOCK_NB) != 0 ? errno : 0;
      while (code == EINTR);
      return code;
    }

    /** @param remark a line for the log where the file system has no locks. @return the open file. */
    int take_lock(const std::string &directory, std::string &remark)
    {
      const std::string name = directory + "/lock";
      int               file = -1;
      while (file < 0)
        {
          file = ::open(name.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
          if (file < 0)
            throw std::runtime_error("the run directory '" + directory + "' cannot be written: " + std::strerror(errno));
          const int code = lock(file);
          if (code == ENOSYS || code == EOPNOTSUPP || code == ENOLCK) // Lustre without -o flock, some NFS
            remark = "warning: the run directory '" + directory + "' cannot be locked (" + std::strerror(code) +
                     "), so nothing keeps a second run out of it";
          else if (code != 0)
            {
              ::close(file);
              if (code != EWOULDBLOCK)
                throw std::runtime_error("the run directory '" + directory + "' cannot be locked: " + std::strerror(code));
              std::string   holder;
              std::ifstream stream(name);
              std::getline(stream, holder);
              throw std::runtime_error("the run directory '" + directory + "' is in use by another run (" + holder +
                                       ")\n  expected: wait until it ends, or another 'Run/Directory'");
            }
          if (!is_still_there(file, name))
            {
              ::close(file);
              file = -1;
            }
        }
      // the kernel gives the lock back when the process ends, however it ends
      char host[256] = "";
      ::gethostname(host, sizeof(host) - 1);
      const std::string text = std::string("host ") + host + ", process " + std::to_string(::getpid()) + "\n";
      if (::ftruncate(file, 0) != 0 || ::write(file, text.data(), text.size()) < 0)
        {
          const int code = errno;
          ::close(file);
          throw std::runtime_error("the run directory '" + directory + "' cannot be written: " + std::strerror(code));
        }
      return file;
    }
  } // namespace

  RunDirectory::RunDirectory(const std::string &path, OpenMode mode_, MPI_Comm comm_)
    : directory(path)
    , mode(mode_)
    , comm(comm_)
  {
    on_rank_zero(comm, [&] {
      check(directory, mode);
      std::error_code code;
      fs::create_directories(directory, code);
      if (code)
        throw std::runtime_error("the run directory '" + directory + "' cannot be made: " + code.message());
      lock_file = take_lock(directory, no_lock);
      try
        {
          new_folder = check(directory, mode); // once more: another program may have come in between
        }
      catch (const std::exception &)
        {
          ::close(lock_file);
          lock_file = -1;
          throw;
        }
    });
    new_folder = dealii::Utilities::MPI::broadcast(comm, new_folder ? 1 : 0) != 0;
  }

  RunDirectory::~RunDirectory()
  {
    // the file stays: to remove it would race with a program that has just opened it
    if (lock_file >= 0)
      ::close(lock_file);
  }

  std::string RunDirectory::begin(const std::vector<std::string> &names)
  {
    std::string lines = no_lock;
    on_rank_zero(comm, [&] {
      if (mode == OpenMode::overwrite)
        {
          Manifest old(directory);
          old.require_free(names);
          old.delete_all();
          if (const auto not_ours = old.others(); !not_ours.empty())
            lines += (lines.empty() ? "in " : "\nin ") + directory + " there is what Leopard has not written, and it stays: " + some_of(not_ours);
        }
      manifest = std::make_unique<Manifest>(directory);
      manifest->open();
    });
    return lines;
  }

  void RunDirectory::record(const std::vector<std::string> &relative_paths)
  {
    on_rank_zero(comm, [&] { manifest->add(relative_paths); });
  }

  std::string RunDirectory::path(const std::string &relative) const
  {
    return relative.empty() ? directory : directory + "/" + relative;
  }
} // namespace leopard
