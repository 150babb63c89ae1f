// SPDX-License-Identifier: Apache-2.0
#include "krylov_of_parts.h"

#include "../../base/errors.h"
#include "../../base/thread_pool.h"
#include "../../base/usable_resources.h"
#include "../../device/device.h"
#include "../../device/device_vector.h"
#include "../../exchange/peer_transport.h"
#include "../../krylov/krylov_over_ranks.h"
#include "../../matrix/own_columns.h"
#include "team_communication.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

namespace leopard
{
  void PartsOptions::validate(Backend backend) const
  {
    const auto require = [](bool holds, const std::string &option, const std::string &found, const std::string &expected) {
      if (!holds)
        throw InvalidInput("Krylov method of several parts: " + option + " is " + found + "\n  expected: " + expected);
    };
    const auto list_of = [](std::size_t n) { return "a list of " + std::to_string(n); };
    const auto n       = static_cast<std::size_t>(std::max(0, n_parts));
    require(n_parts >= 1, "n_parts", std::to_string(n_parts), "a number >= 1");
    require(devices.empty() || devices.size() == n, "devices", list_of(devices.size()), "a GPU for each of " + std::to_string(n) + " parts, or none");
    for (const int device : devices)
      {
        require(device >= 0, "devices", "a list with " + std::to_string(device), "numbers from 0");
        require(backend != Backend::cuda || std::count(devices.begin(), devices.end(), device) == 1,
                "devices",
                "a list that names GPU " + std::to_string(device) + " more than once",
                "another GPU for each part, as kernels of parts wait for one another; on fewer GPUs fewer parts, or the backend host");
      }
    require(shares.empty() || shares.size() == n, "shares", list_of(shares.size()), "one for each of " + std::to_string(n) + " parts, or none");
  }

  namespace
  {
    Blocks blocks_of(const std::vector<int> &block_offsets, int n_rows)
    {
      if (block_offsets.empty())
        return contiguous_blocks(n_rows, 1);
      Blocks result = blocks_between(block_offsets);
      if (result.n_rows() != n_rows)
        throw InvalidInput("Krylov method of several parts: block_offsets end with " + std::to_string(result.n_rows()) +
                           "\n  expected: the number of rows, " + std::to_string(n_rows));
      return result;
    }

    /** What a thread has. */
    template <typename Number>
    struct Member
    {
      CrsMatrix<Number>                                rows;
      std::shared_ptr<const TeamCommunication<Number>> communication; ///< null: there is one part
      std::shared_ptr<const Ranks>                     ranks;         ///< of several GPUs
      PartPreconditioner<Number>                       preconditioner;
      std::vector<int>                                 own_entries; ///< of the rows, those in own columns
      std::vector<Number>                              own_values;  ///< workspace: of these
      std::unique_ptr<KrylovSolver<Number>>            krylov;
      DeviceVector<Number>                             x, b; ///< of GPUs
    };

    template <typename Number, typename Options>
    class KrylovOfParts : public KrylovSolver<Number>
    {
    public:
      KrylovOfParts(const CrsMatrix<Number>              &A,
                    const Options                        &options_,
                    const PartsOptions                   &parts_,
                    const MakePartPreconditioner<Number> &make_preconditioner_)
        : KrylovOfParts((check(A, options_, parts_), A.n_rows), options_, parts_, make_preconditioner_)
      {
        const std::vector<double> shares = parts.shares.empty() ? std::vector<double>(parts.n_parts, 1.) : parts.shares;
        row_offsets                      = A.row_offsets;
        rows                             = row_parts(A, part_offsets(A, blocks_of(parts.block_offsets, n), shares), OtherRows::needed);
        team.run([&](int rank) { members[rank].rows = rows_of(A, rows[rank]); });
        if (parts.n_parts > 1)
          team.run([&](int rank) { connect(rank); });
        team.run([&](int rank) { make_method(rank); });
      }

      /** Each thread gives back what is its own; what ranks share goes together. */
      ~KrylovOfParts() override
      {
        try
          {
            team.run([&](int rank) {
              Member<Number> &mine = members[rank];
              mine.krylov.reset();
              mine.preconditioner = {};
              team.wait(); // whose kernels may use what goes next
              mine.ranks.reset();
              mine.communication.reset();
              mine = Member<Number>();
            });
          }
        catch (...)
          { // an error that is not the caller's any more
          }
      }

      std::string name() const override
      {
        const std::string whose = is_on_device() ? (parts.n_parts == 1 ? " GPU" : " GPUs") : (parts.n_parts == 1 ? " thread" : " threads");
        return members[0].krylov->name() + " on " + std::to_string(parts.n_parts) + whose;
      }
      int         n_rows() const override { return n; }
      MemorySpace memory_space() const override { return MemorySpace::host; }

      const KrylovLimits &limits() const override { return options; }

      void update_values(const Number *values) override
      {
        is_usable         = false;
        const auto update = [&](int rank) {
          Member<Number> &mine = members[rank];
          std::copy(values + row_offsets[rows[rank].begin], values + row_offsets[rows[rank].end], mine.rows.values.begin());
          update_preconditioner(rank);
          team.wait(); // graphs are recorded where all of them can be
          of_rows(rank, [&] { mine.krylov->update_values(mine.rows.values.data()); });
        };
        team.run(std::cref(update)); // by reference, so that nothing is allocated
        is_usable = true;
      }

      using KrylovSolver<Number>::solve;

      KrylovResult solve(Number *x, const Number *b, const KrylovLimits &limits) override
      {
        if (!is_usable)
          throw Error("Krylov method of several parts: its last values could not be taken\n  expected: values that can, before it solves again");
        limits.validate();
        KrylovResult result;
        const auto   solve_part = [&](int rank) {
          const int    begin = rows[rank].begin;
          KrylovResult own =
            is_on_device() ? solve_on_device(rank, x + begin, b + begin, limits) : members[rank].krylov->solve(x + begin, b + begin, limits);
          if (rank == 0)
            result = std::move(own);
        };
        team.run(std::cref(solve_part));
        return result;
      }

    private:
      KrylovOfParts(int n_rows, const Options &options_, const PartsOptions &parts_, const MakePartPreconditioner<Number> &make_preconditioner_)
        : n(n_rows)
        , options(of_part(options_, parts_))
        , parts(with_devices(parts_))
        , make_preconditioner(make_preconditioner_)
        , members(parts.n_parts)
        , team(parts.n_parts, [this](int rank) {
          if (is_on_device())
            device::select(parts.devices[rank]);
          else
            use_own_thread_pools();
        })
      {
      }

      static void check(const CrsMatrix<Number> &A, const Options &options, const PartsOptions &parts)
      {
        options.validate();
        parts.validate(options.backend);
        A.validate_entries();
        if (A.n_columns != A.n_rows)
          throw InvalidInput("Krylov method of several parts: the matrix has " + std::to_string(A.n_rows) + " rows and " +
                             std::to_string(A.n_columns) + " columns\n  expected: as many");
      }

      /** Host threads of a part. */
      static Options of_part(Options options, const PartsOptions &parts)
      {
        const int n_threads = options.n_threads > 0 ? options.n_threads : usable_cores();
        options.n_threads   = std::max(1, n_threads / parts.n_parts);
        return options;
      }

      static PartsOptions with_devices(PartsOptions parts)
      {
        if (parts.devices.empty())
          {
            parts.devices.resize(parts.n_parts);
            std::iota(parts.devices.begin(), parts.devices.end(), 0);
          }
        return parts;
      }

      bool is_on_device() const { return options.backend == Backend::cuda; }

      /** Numbers of a rank that are added up at once. */
      static long n_sums(const CgOptions & /*options*/) { return 2; }
      static long n_sums(const FgmresOptions &options) { return std::max(2, options.restart + 1); }

      void connect(int rank)
      {
        Member<Number> &mine = members[rank];
        mine.communication =
          std::make_shared<const TeamCommunication<Number>>(team, rows, rank, is_on_device() ? MemorySpace::device : MemorySpace::host);
        if (!is_on_device())
          return;
        std::string                why_not;
        std::shared_ptr<Transport> transport =
          make_peer_transport(rank, parts.n_parts, parts.n_parts * n_sums(options), team.all_gather(rank), why_not);
        if (transport == nullptr)
          throw DeviceError("several GPUs: they cannot reach one another's memory: " + why_not +
                            "\n  expected: a path between them (nvidia-smi topo -p2p r), or one GPU");
        mine.ranks = std::make_shared<const Ranks>(rank, parts.n_parts, std::move(transport));
      }

      void make_method(int rank)
      {
        Member<Number> &mine = members[rank];
        of_rows(rank, [&] {
          if (make_preconditioner)
            mine.preconditioner = make_preconditioner(own_columns(mine.rows, &mine.own_entries), rows[rank], rank);
          mine.own_values.resize(mine.own_entries.size());
          const auto &M = mine.preconditioner.preconditioner;
          mine.krylov   = parts.n_parts == 1 ? make(mine.rows, options, M) : make(mine.rows, options, M, mine.communication, mine.ranks);
        });
        if (!is_on_device())
          return;
        mine.x.reinit(rows[rank].n_rows());
        mine.b.reinit(rows[rank].n_rows());
      }

      void update_preconditioner(int rank)
      {
        Member<Number> &mine = members[rank];
        if (!mine.preconditioner.update_values)
          return;
        for (std::size_t k = 0; k < mine.own_entries.size(); ++k)
          mine.own_values[k] = mine.rows.values[mine.own_entries[k]];
        of_rows(rank, [&] { mine.preconditioner.update_values(mine.own_values.data()); });
      }

      /** Calls f(); what is wrong with the matrix is said to be of these rows. */
      template <typename F>
      void of_rows(int rank, const F &f) const
      {
        try
          {
            f();
          }
        catch (const InvalidInput &error)
          {
            if (parts.n_parts == 1)
              throw;
            throw InvalidInput("rows " + std::to_string(rows[rank].begin) + " to " + std::to_string(rows[rank].end - 1) +
                               ", counted from the first of them: " + error.what());
          }
      }

      template <typename... Arguments>
      static std::unique_ptr<KrylovSolver<Number>> make(const CrsMatrix<Number> &A, const CgOptions &options, const Arguments &...arguments)
      {
        return make_cg<Number>(A, options, arguments...);
      }
      template <typename... Arguments>
      static std::unique_ptr<KrylovSolver<Number>> make(const CrsMatrix<Number> &A, const FgmresOptions &options, const Arguments &...arguments)
      {
        return make_fgmres<Number>(A, options, arguments...);
      }

      KrylovResult solve_on_device(int rank, Number *x, const Number *b, const KrylovLimits &limits)
      {
        Member<Number> &mine = members[rank];
        mine.x.copy_from_host(x);
        mine.b.copy_from_host(b);
        KrylovResult result = mine.krylov->solve(mine.x.data(), mine.b.data(), limits);
        mine.x.copy_to_host(x);
        return result;
      }

      const int                            n;
      const Options                        options; ///< of a part
      const PartsOptions                   parts;
      const MakePartPreconditioner<Number> make_preconditioner;
      std::vector<int>                     row_offsets; ///< of all rows
      std::vector<RowPart>                 rows;
      std::vector<Member<Number>>          members;
      bool                                 is_usable = true; ///< whether all parts have the same values
      DeviceTeam                           team;
    };
  } // namespace

  template <typename Number>
  std::unique_ptr<KrylovSolver<Number>>
  make_cg(const CrsMatrix<Number> &A, const CgOptions &options, const PartsOptions &parts, const MakePartPreconditioner<Number> &make_preconditioner)
  {
    return std::make_unique<KrylovOfParts<Number, CgOptions>>(A, options, parts, make_preconditioner);
  }

  template <typename Number>
  std::unique_ptr<KrylovSolver<Number>> make_fgmres(const CrsMatrix<Number>              &A,
                                                    const FgmresOptions                  &options,
                                                    const PartsOptions                   &parts,
                                                    const MakePartPreconditioner<Number> &make_preconditioner)
  {
    return std::make_unique<KrylovOfParts<Number, FgmresOptions>>(A, options, parts, make_preconditioner);
  }

#define INSTANTIATE(Number)                                                                                                                      \
  template std::unique_ptr<KrylovSolver<Number>> make_cg(                                                                                        \
    const CrsMatrix<Number> &A, const CgOptions &options, const PartsOptions &parts, const MakePartPreconditioner<Number> &make_preconditioner); \
  template std::unique_ptr<KrylovSolver<Number>> make_fgmres(                                                                                    \
    const CrsMatrix<Number> &A, const FgmresOptions &options, const PartsOptions &parts, const MakePartPreconditioner<Number> &make_preconditioner);
  LEOPARD_FOR_EACH_NUMBER(INSTANTIATE)
#undef INSTANTIATE
} // namespace leopard
