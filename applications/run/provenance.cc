// SPDX-License-Identifier: Apache-2.0
#include "provenance.h"

#include <applications/base/collective.h>
#include <applications/base/files.h>
#include <applications/base/turns.h>
#include <solvers/base/usable_resources.h>
#include <solvers/base/words.h>

#include <leopard/version.h>

#include <deal.II/base/config.h>

#include <nlohmann/json.hpp>
#include <Trilinos_version.h>

#include <ctime>
#include <fstream>

#include <unistd.h>

namespace leopard
{
  namespace
  {
    std::string utc_now()
    {
      const std::time_t now = std::time(nullptr);
      std::tm           parts{};
      gmtime_r(&now, &parts);
      char text[32];
      std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts);
      return text;
    }

    std::string processor()
    {
      std::ifstream stream("/proc/cpuinfo");
      for (std::string line; std::getline(stream, line);)
        if (line.rfind("model name", 0) == 0 && line.find(':') != std::string::npos)
          return line.substr(line.find(':') + 2);
      return "unknown";
    }
  } // namespace

  Provenance::Provenance(const std::string &path_, MPI_Comm comm_, const std::string &command)
    : path(path_)
    , comm(comm_)
    , content(std::make_unique<nlohmann::json>())
    , start(MPI_Wtime())
  {
    int n_ranks = 1;
    MPI_Comm_size(comm, &n_ranks);
    char host[256] = "", mpi[MPI_MAX_LIBRARY_VERSION_STRING];
    ::gethostname(host, sizeof(host) - 1);
    int length = 0;
    MPI_Get_library_version(mpi, &length);

    *content = {{"leopard", {{"version", version()}, {"commit", git_commit()}}},
                {"versions", {{"deal.II", DEAL_II_PACKAGE_VERSION}, {"Trilinos", TRILINOS_VERSION_STRING}, {"MPI", mpi}, {"compiler", __VERSION__}}},
                {"host", host},
                {"processor", processor()},
                {"usable_cores", usable_cores()},
                {"ranks", n_ranks},
                {"command", command},
                {"started", utc_now()},
                {"status", "running"}};
  }

  Provenance::~Provenance() = default;

  nlohmann::json &Provenance::json()
  {
    return *content;
  }

  void Provenance::add_measures(const std::vector<std::string> &columns, const std::vector<double> &values)
  {
    for (std::size_t i = 0; i < columns.size(); ++i) // in order: an object would be sorted
      (*content)["measures"].push_back({{"name", columns[i].substr(0, columns[i].find(" ("))}, {"value", values[i]}});
  }

  std::string Provenance::text() const
  {
    return content->dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n"; // names may be no UTF-8
  }

  std::unique_ptr<SetUp> Provenance::begin_set_up(bool may_write) const
  {
    int rank = 0, n_ranks = 1, n_all = 1;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &n_ranks);
    MPI_Comm_size(MPI_COMM_WORLD, &n_all);
    if (rank != 0 || n_ranks != n_all || takes_turns())
      return nullptr;
    if (!may_write && !has_written)
      return std::make_unique<SetUp>("", std::vector<std::string>());
    std::vector<std::string> texts;
    for (const std::string &status : stop_statuses())
      {
        (*content)["status"] = status;
        texts.push_back(text());
      }
    (*content)["status"] = "running";
    return std::make_unique<SetUp>(path, std::move(texts));
  }

  void Provenance::write_now()
  {
    constexpr std::size_t for_a_reason = 8192;
    const std::string     text         = this->text();
    write_file_atomically(path, text);
    has_written = true;
    if (has_failed || text.size() + for_a_reason <= room_size)
      return;
    room_size = text.size() + 2 * for_a_reason;
    room.reset();
    room = keep_room(path, room_size);
  }

  double Provenance::seconds_in_all() const
  {
    return earlier_seconds + MPI_Wtime() - start;
  }

  void Provenance::take_time()
  {
    (*content)["written"]             = utc_now();
    (*content)["wall_seconds"]        = MPI_Wtime() - start;
    (*content)["wall_seconds_in_all"] = seconds_in_all();
  }

  void Provenance::write()
  {
    take_time();
    on_rank_zero(comm, [&] { write_now(); });
  }

  void Provenance::write_failure(const std::string &reason) noexcept
  {
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    if (rank != 0)
      return;
    try
      {
        (*content)["status"] = "failed: " + without_long_lines(reason);
        take_time();
        has_failed = true;
        room.reset();
        write_now();
      }
    catch (const std::exception &)
      {
        // the reason itself is on its way to the user
      }
  }
} // namespace leopard
