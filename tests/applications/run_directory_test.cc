// SPDX-License-Identifier: Apache-2.0
// A program that is killed between any two changes of its run directory leaves one that it can go on with; and file
// systems that have no locks, or cannot tell whether there is room.
#include <applications/base/files.h>
#include <applications/base/run_directory.h>
#include <applications/run/checkpoint.h>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cerrno>
#include <cstdarg>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace
{
  int  changes_left = -1; ///< until the process ends as if it had been killed; negative: never
  void one_more_change()
  {
    if (changes_left >= 0 && changes_left-- == 0)
      ::_exit(9);
  }

  int flock_says     = 0; ///< a value of errno; 0: what the system says
  int fallocate_says = 0;

  template <typename Function>
  Function *of_the_system(const char *name)
  {
    return reinterpret_cast<Function *>(::dlsym(RTLD_NEXT, name));
  }
} // namespace

// what changes a file system goes through these, also from the standard library
extern "C"
{
  int open(const char *path, int flags, ...)
  {
    std::va_list arguments;
    va_start(arguments, flags);
    const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    if ((flags & (O_CREAT | O_TRUNC)) != 0)
      one_more_change();
    static const auto real = of_the_system<int(const char *, int, ...)>("open");
    return real(path, flags, mode);
  }

  ssize_t write(int file, const void *text, std::size_t n)
  {
    one_more_change();
    static const auto real = of_the_system<ssize_t(int, const void *, std::size_t)>("write");
    return real(file, text, n);
  }

  int rename(const char *from, const char *to) noexcept
  {
    one_more_change();
    static const auto real = of_the_system<int(const char *, const char *)>("rename");
    return real(from, to);
  }

  int remove(const char *path) noexcept
  {
    one_more_change();
    static const auto real = of_the_system<int(const char *)>("remove");
    return real(path);
  }

  int unlink(const char *path) noexcept
  {
    one_more_change();
    static const auto real = of_the_system<int(const char *)>("unlink");
    return real(path);
  }

  int mkdir(const char *path, mode_t mode) noexcept
  {
    one_more_change();
    static const auto real = of_the_system<int(const char *, mode_t)>("mkdir");
    return real(path, mode);
  }

  int flock(int file, int operation) noexcept
  {
    static const auto real = of_the_system<int(int, int)>("flock");
    const int         says = flock_says;
    if (says == EINTR)
      flock_says = 0; // once
    return says != 0 ? (errno = says, -1) : real(file, operation);
  }

  int fallocate(int file, int mode, off_t begin, off_t length)
  {
    static const auto real = of_the_system<int(int, int, off_t, off_t)>("fallocate");
    return fallocate_says != 0 ? (errno = fallocate_says, -1) : real(file, mode, begin, length);
  }
}

namespace leopard
{
  namespace
  {
    namespace fs = std::filesystem;

    /** What a run does with its directory. */
    void run_in(const std::string &folder, OpenMode mode)
    {
      RunDirectory directory(folder, mode, MPI_COMM_SELF);
      directory.begin({"run.json", "log.txt"});
      directory.record({"run.json", "log.txt"});
      write_file_atomically(directory.path("run.json"), R"({"leopard": {"version": "0"}})");
      GrowingFile log;
      log.open(directory.path("log.txt"), false);
      log.append("one line\n");
      directory.record({"solution/one.vtu"});
      make_folder(directory.path("solution"));
      write_file_atomically(directory.path("solution/one.vtu"), "values");
    }

    /** A folder that the file system does not lock is used all the same, and the log says so. */
    TEST(RunDirectory, GoesOnWithoutLocks)
    {
      const fs::path folder = fs::temp_directory_path() / ("leopard_no_lock_" + std::to_string(::getpid()));
      for (const int code : {ENOSYS, EOPNOTSUPP, ENOLCK, EINTR, 0})
        {
          flock_says = code;
          RunDirectory first(folder, OpenMode::fresh, MPI_COMM_SELF);
          const bool   is_locked = code == 0 || code == EINTR;
          try
            {
              const RunDirectory second(folder, OpenMode::fresh, MPI_COMM_SELF);
              EXPECT_FALSE(is_locked) << code;
            }
          catch (const std::exception &error)
            {
              EXPECT_TRUE(is_locked) << code;
              EXPECT_NE(std::string(error.what()).find("is in use by another run"), std::string::npos) << error.what();
            }
          const std::string said = first.begin({});
          EXPECT_EQ(said.find("cannot be locked") == std::string::npos, is_locked) << said;
          EXPECT_EQ(said.find('\n'), std::string::npos) << said;
          fs::remove_all(folder);
        }
      flock_says = EIO;
      EXPECT_THROW(RunDirectory(folder, OpenMode::fresh, MPI_COMM_SELF), std::exception);
      flock_says = 0;
      fs::remove_all(folder);
    }

    /** No block is written where the file system cannot tell: glibc's posix_fallocate() would write to each. */
    TEST(RunDirectory, AsksForRoomWithoutWriting)
    {
      const std::string folder = fs::temp_directory_path().string();
      EXPECT_NO_THROW(check_room(folder, {100000}));
      for (const int code : {EOPNOTSUPP, ENOSYS, EINVAL})
        {
          fallocate_says = code;
          EXPECT_NO_THROW(check_room(folder, {100000}));
        }
      fallocate_says = ENOSPC;
      EXPECT_THROW(check_room(folder, {100000}), std::exception);
      fallocate_says = 0;
    }

    class KilledRun : public ::testing::TestWithParam<OpenMode>
    {
    };

    TEST_P(KilledRun, MayBeLeftAtAnyMoment)
    {
      const fs::path base = fs::temp_directory_path() / ("leopard_killed_" + std::to_string(::getpid()));
      int            n    = 0;
      for (bool is_cut_off = true; is_cut_off && n < 1000; ++n)
        {
          const fs::path folder = base / std::to_string(n), mine = folder / "mine.txt";
          fs::create_directories(base);
          if (GetParam() == OpenMode::overwrite)
            {
              run_in(folder, OpenMode::fresh);
              std::ofstream(mine) << "of the user";
            }
          const pid_t child = ::fork();
          ASSERT_GE(child, 0);
          if (child == 0)
            {
              changes_left = n;
              run_in(folder, GetParam());
              ::_exit(0);
            }
          int status = 0;
          ASSERT_EQ(::waitpid(child, &status, 0), child);
          ASSERT_TRUE(WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 9)) << status;
          is_cut_off = WEXITSTATUS(status) == 9;
          EXPECT_NO_THROW(run_in(folder, OpenMode::overwrite)) << "cut off after " << n << " changes";
          EXPECT_EQ(fs::exists(mine), GetParam() == OpenMode::overwrite);
          std::size_t n_files = 0; // lock, list, run.json, log.txt, solution, one.vtu
          for ([[maybe_unused]] const auto &entry : fs::recursive_directory_iterator(folder))
            ++n_files;
          EXPECT_EQ(n_files, fs::exists(mine) ? 7u : 6u) << "cut off after " << n << " changes";
        }
      EXPECT_GT(n, GetParam() == OpenMode::overwrite ? 20 : 12); // that many places there are
      EXPECT_LT(n, 1000);
      fs::remove_all(base);
    }

    /** Checkpoints with a file that is not as long as their metadata say; what has none is not a checkpoint. */
    int count_damaged(const fs::path &checkpoints, int &n_whole)
    {
      int n_damaged = 0;
      n_whole       = 0;
      for (const auto &entry : fs::directory_iterator(checkpoints))
        if (entry.path().extension() != ".tmp" && fs::exists(entry.path() / "metadata.json"))
          {
            std::ifstream stream(entry.path() / "metadata.json");
            const auto    metadata = nlohmann::json::parse(stream, nullptr, false);
            bool          is_whole = metadata.is_object();
            if (is_whole)
              for (const auto &file : metadata["files"].items())
                is_whole = is_whole && fs::exists(entry.path() / file.key()) && fs::file_size(entry.path() / file.key()) == file.value()["bytes"];
            ++(is_whole ? n_whole : n_damaged);
          }
      return n_damaged;
    }

    TEST(KilledCheckpoints, AreWholeOrGone)
    {
      const fs::path folder = fs::temp_directory_path() / ("leopard_killed_checkpoints_" + std::to_string(::getpid()));
      int            n      = 0;
      for (bool is_cut_off = true; is_cut_off && n < 1000; ++n)
        {
          const pid_t child = ::fork();
          ASSERT_GE(child, 0);
          if (child == 0)
            {
              RunDirectory directory(folder.string(), OpenMode::fresh, MPI_COMM_SELF);
              directory.begin({"run.json"});
              const Checkpoints checkpoints(directory, MPI_COMM_SELF);
              for (unsigned int step = 1; step <= 5; ++step)
                {
                  changes_left = step == 5 ? n : -1; // the fifth takes the place of the third
                  checkpoints.write(step, nlohmann::json::object(), [](const std::string &to) { std::ofstream(to + "/mesh") << "values"; });
                }
              ::_exit(0);
            }
          int status = 0, n_whole = 0;
          ASSERT_EQ(::waitpid(child, &status, 0), child);
          ASSERT_TRUE(WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 9)) << status;
          is_cut_off = WEXITSTATUS(status) == 9;
          EXPECT_EQ(count_damaged(folder / "checkpoints", n_whole), 0) << "cut off after " << n << " changes";
          EXPECT_GE(n_whole, 2) << "cut off after " << n << " changes";
          fs::remove_all(folder);
        }
      EXPECT_GT(n, 8);
      EXPECT_LT(n, 1000);
    }

    INSTANTIATE_TEST_SUITE_P(Modes, KilledRun, ::testing::Values(OpenMode::fresh, OpenMode::overwrite), [](const auto &info) {
      return std::string(info.param == OpenMode::fresh ? "fresh" : "overwrite");
    });
  } // namespace
} // namespace leopard
