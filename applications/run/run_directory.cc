// SPDX-License-Identifier: Apache-2.0
#include "run_directory.h"

#include "collective.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace leopard
{
  namespace
  {
    namespace fs = std::filesystem;

    /** All that a run leaves in its folder; --overwrite deletes these and nothing else. */
    constexpr std::array<const char *, 21> own_files = {"solution",        "solution.pvd",    "statistics",        "log.txt",
                                                        "run.json",        "checkpoints",     "parameters.prm",    "parameters_all.prm",
                                                        "convergence.txt", "convergence.csv", "pictures",          "runs",
                                                        "claims",          "sweep.txt",       "sweep.csv",         "contact_sheet.png",
                                                        "study.txt",       "study.csv",       "study_history.csv", "study_findings.csv",
                                                        "figures"};

    void check(const std::string &directory, OpenMode mode)
    {
      if (fs::exists(directory) && !fs::is_directory(directory))
        throw std::runtime_error("the run directory '" + directory + "' is a file\n  expected: a folder, or a name that does not exist yet");
      const bool holds_run = fs::exists(directory + "/parameters.prm");
      bool       empty     = true;
      if (fs::exists(directory))
        for (const auto &entry : fs::directory_iterator(directory))
          empty = empty && entry.path().filename() == "lock";
      if (mode == OpenMode::resume && !holds_run)
        throw std::runtime_error("there is no run to resume in '" + directory +
                                 "'\n  expected: a folder that a run of Leopard has written; start without --resume");
      if (mode == OpenMode::fresh && !empty)
        throw std::runtime_error("the run directory '" + directory +
                                 "' is not empty\n  expected: a new or empty folder; --overwrite to delete the run there, --resume to go on with it, "
                                 "or another 'Run/Directory'");
      if (mode == OpenMode::overwrite && !empty && !holds_run)
        throw std::runtime_error("the folder '" + directory +
                                 "' is not empty and holds no run of Leopard, so nothing in it is overwritten\n  expected: another 'Run/Directory'");
    }

    int take_lock(const std::string &directory)
    {
      const std::string name = directory + "/lock";
      const int         file = ::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
      if (file < 0)
        throw std::runtime_error("the run directory '" + directory + "' cannot be written: " + std::strerror(errno));
      if (::flock(file, LOCK_EX | LOCK_NB) != 0)
        {
          ::close(file);
          std::string   holder;
          std::ifstream stream(name);
          std::getline(stream, holder);
          throw std::runtime_error("the run directory '" + directory + "' is in use by another run (" + holder +
                                   ")\n  expected: wait until it ends, or another 'Run/Directory'");
        }
      // the kernel gives the lock back when the process ends, however it ends
      char host[256] = "";
      ::gethostname(host, sizeof(host) - 1);
      const std::string text = std::string("host ") + host + ", process " + std::to_string(::getpid()) + "\n";
      if (::ftruncate(file, 0) != 0 || ::write(file, text.data(), text.size()) < 0)
        {
          ::close(file);
          throw std::runtime_error("the run directory '" + directory + "' cannot be written: " + std::strerror(errno));
        }
      return file;
    }
  } // namespace

  RunDirectory::RunDirectory(const std::string &path, OpenMode mode, MPI_Comm comm)
    : directory(path)
  {
    on_rank_zero(comm, [&] {
      check(directory, mode);
      std::error_code code;
      fs::create_directories(directory, code);
      if (code)
        throw std::runtime_error("the run directory '" + directory + "' cannot be made: " + code.message());
      lock_file = take_lock(directory);
      if (mode == OpenMode::overwrite)
        for (const char *name : own_files)
          fs::remove_all(fs::path(directory) / name);
    });
  }

  RunDirectory::~RunDirectory()
  {
    if (lock_file >= 0)
      {
        ::unlink(path("lock").c_str());
        ::close(lock_file);
      }
  }

  std::string RunDirectory::path(const std::string &relative) const
  {
    return relative.empty() ? directory : directory + "/" + relative;
  }
} // namespace leopard
