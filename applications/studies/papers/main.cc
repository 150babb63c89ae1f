// SPDX-License-Identifier: Apache-2.0
#include "study.h"

#include <leopard/version.h>
#include <solvers/base/errors.h>
#include <solvers/device/device.h>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <iostream>
#include <iterator>
#include <limits>

namespace
{
  using leopard::studies::Report;
  using leopard::studies::Settings;

  /** What a study takes from the command line; all have --csv. */
  enum Options : unsigned
  {
    backend          = 1u << 0,
    execution        = 1u << 1,
    schedule         = 1u << 2,
    threads          = 1u << 3,
    seed             = 1u << 4,
    block_size       = 1u << 5,
    local_iterations = 1u << 6,
    matrix           = 1u << 7,
    folder           = 1u << 8,
    runs             = 1u << 9,
    size             = 1u << 10,
    gpus             = 1u << 11,
    seconds          = 1u << 12,
    full             = 1u << 13,
    gpu_counts       = 1u << 14,
    exchange         = 1u << 15,

    iteration = backend | execution | schedule | threads | seed | block_size | local_iterations,
    matrices  = matrix | folder
  };

  struct Option
  {
    unsigned    flag;
    const char *name, *why_not; ///< the latter of each study that does not take it
  };

  const CLI::Range at_least_zero(0, std::numeric_limits<int>::max());

  constexpr Option options[] = {
    {backend, "--backend", "runs on the host only"},
    {execution, "--execution", "iterates on no GPU"},
    {schedule, "--schedule", "has no choice of schedules"},
    {threads, "--threads", "has no choice of host threads"},
    {seed, "--seed", "has nothing random"},
    {block_size, "--block-size", "has no blocks"},
    {local_iterations, "--local-iterations", "has no choice of local iterations"},
    {matrix, "--matrix", "takes no matrices by name"},
    {folder, "--matrices", "takes no matrices by name"},
    {runs, "--runs", "has no choice of runs"},
    {size, "--size", "takes its matrices from --matrix, such as five-point-512"},
    {gpus, "--gpus", "uses one GPU at most"},
    {seconds, "--seconds", "repeats nothing for as long as is said"},
    {full, "--full", "is always full"},
    {gpu_counts, "--gpu-counts", "compares no numbers of GPUs"},
    {exchange, "--exchange", "has no choice of exchanges between GPUs"},
  };

  struct Study
  {
    const char *name, *description;
    void (*run)(const Settings &, Report &);
    unsigned options;
    int      largest_size = 1024; ///< of --size
  };

  constexpr Study studies[] = {
    {"variation", "How much runs differ (thesis, Tables 4.1 to 4.4)", leopard::studies::study_variation, iteration | matrices | runs | full},
    {"local-iterations",
     "What local iterations cost (Table 4.5)",
     leopard::studies::study_local_iterations,
     (iteration & ~local_iterations) | matrices | runs | full},
    {"storage", "Plain CRS against block-CRS (Table 4.8)", leopard::studies::study_storage, (iteration & ~local_iterations) | runs | size | full},
    {"weights", "omega and l1 weights against SOR (Figures 4.18 to 4.20)", leopard::studies::study_weights, iteration | matrices | full},
    {"theta", "theta-dependent local iterations (Table 4.9, Figures 4.21, 4.22)", leopard::studies::study_theta, iteration | matrices},
    {"mesh-blocks", "Blocks adapted to the mesh (Figures 4.24 to 4.26)", leopard::studies::study_mesh_blocks, iteration | runs | size | full},
    {"refinement",
     "Iterative refinement, synchronous and block-asynchronous (Figures 4.31 to 4.37)",
     leopard::studies::study_refinement,
     iteration | matrices | runs | full},
    {"precision",
     "The a-priori choice of the precision, beside times (refinement paper, section 5)",
     leopard::studies::study_precision,
     iteration | matrices | runs | full},
    {"overlap",
     "Overlap of blocks, triangular factors (overlap paper, Figures 2 to 5, 8, 9, Table 1)",
     leopard::studies::study_overlap,
     iteration | matrices | runs | size | full},
    {"taxonomy",
     "The classes of two-stage iterations (Table 3.1)",
     leopard::studies::study_taxonomy,
     (iteration & ~execution) | matrices | runs | full},
    {"divergence", "Schedules that converge and diverge (Theorems 3.2.2 to 3.2.6)", leopard::studies::study_divergence, seed | matrices},
    {"imbalance",
     "What waiting costs beside other work on the same cores, or with --backend cuda where one of several GPUs is slow",
     leopard::studies::study_imbalance,
     iteration | matrices | runs | gpus | full},
    {"gpus",
     "One and more GPUs: AMC, DC, DK, and what is needed only (Figures 4.10 to 4.14)",
     leopard::studies::study_gpus,
     (iteration & ~threads) | matrices | runs | size | gpus | gpu_counts | exchange | full,
     16384},
    {"copies", "How fast host and GPUs copy (Table C.3)", leopard::studies::study_copies, backend | threads | runs | size | gpus | full},
    {"energy",
     "Energy of solvers, waiting by sleep (thesis, chapter 5: Tables 5.1 to 5.6, Figures 5.4 to 5.6)",
     leopard::studies::study_energy,
     iteration | matrices | size | seconds | full},
    {"faults",
     "Components that stop for a while, and silent errors (Table 4.7, Figure 4.7)",
     leopard::studies::study_faults,
     iteration | matrices | runs | full},
  };

  /** All that there are. */
  void add_options(CLI::App &app, Settings &settings, int largest_size)
  {
    app.add_option("--backend", settings.backend, "automatic, host or cuda; automatic: a GPU if there is one")
      ->check(CLI::IsMember({"automatic", "host", "cuda"}));
    app.add_option("--execution", settings.execution, "on cuda: automatic, launch (one a global iteration) or persistent")
      ->check(CLI::IsMember({"automatic", "launch", "persistent"}));
    app.add_option("--schedule", settings.schedule, "automatic, chaotic, synchronous, or replay (host); automatic: chaotic")
      ->check(CLI::IsMember({"automatic", "chaotic", "synchronous", "replay"}));
    app.add_option("--matrices", settings.matrices, "folder of fv1.mtx.gz, fv3.mtx.gz, ...; else the variable LEOPARD_MATRICES");
    app.add_option("--matrix",
                   settings.matrix,
                   "names, with commas: fv1, fv3, Chem97ZtZ, ...; generated: trefethen, trefethen-N, five-point-N, seven-point-N, circuit-N, "
                   "elasticity-N, random-N, hanging-N, q2-N, jumps-N, convection-N");
    app.add_option("--runs", settings.runs, "runs to take the statistics or the median of; 0: what the study takes by itself")->check(at_least_zero);
    app.add_option("--seed", settings.seed, "of everything that is chosen at random");
    app.add_option("--csv", settings.csv, "file for the tables");
    app.add_option("--block-size", settings.block_size, "rows a block; 0: as in the paper")->check(at_least_zero);
    app
      .add_option(
        "--local-iterations", settings.local_iterations, "local iterations a global one, where they are not what is studied; 0: as in the paper")
      ->check(at_least_zero);
    app.add_option("--size", settings.size, "nodes a side of generated grids; 0: what the study takes by itself")->check(CLI::Range(0, largest_size));
    app.add_option("--threads", settings.threads, "threads of the backend host; 0: all")->check(at_least_zero);
    app.add_option("--gpus", settings.gpus, "how many GPUs at most; 0: all there are")->check(at_least_zero);
    app.add_option("--gpu-counts", settings.gpu_counts, "how many GPUs, with commas, such as 1,4; none: 1, 2, ... up to --gpus")->delimiter(',');
    app.add_option("--exchange", settings.exchanges, "between GPUs: of halo, amc, dc, dk, with commas; none: all, of very large matrices halo")
      ->delimiter(',');
    app.add_option("--seconds", settings.seconds, "of energy: how long a solve is repeated at least (default 10)")->check(CLI::Range(1e-3, 1e6));
    app.add_flag("--full", settings.full, "sizes and runs of the papers; without it some are smaller, and the text says which");
  }

  /** Those that the study has not are accepted with any value, and not shown, for refuse_others() to say why. */
  void hide_others(CLI::App &app, const Study &study)
  {
    for (const Option &option : options)
      if ((study.options & option.flag) == 0)
        {
          app.remove_option(app.get_option(option.name));
          app.add_option(option.name)->expected(0, 1)->group("");
        }
  }

  void refuse_others(const CLI::App &app, const Study &study)
  {
    for (const Option &option : options)
      if ((study.options & option.flag) == 0 && app.count(option.name) > 0)
        leopard::studies::refuse(study.name, option.name, option.why_not);
  }
} // namespace

int main(int argc, char **argv)
{
  Settings settings;
  CLI::App app("The experiments of the papers on block-asynchronous iteration, published numbers beside measured ones");
  app.require_subcommand(1);
  app.set_version_flag("--version",
                       std::string("leopard-study ") + leopard::version() + " (" + leopard::git_commit() + ")" +
                         (leopard::device::built_with_cuda() ? ", with CUDA" : ", without CUDA"));
  const Study *wanted = nullptr;
  for (const Study &study : studies)
    {
      CLI::App *command = app.add_subcommand(study.name, study.description);
      add_options(*command, settings, study.largest_size);
      hide_others(*command, study);
      command->callback([&wanted, &study] { wanted = &study; });
    }
  try
    {
      app.parse(argc, argv);
    }
  catch (const CLI::ParseError &error)
    {
      if (argc > 1 && argv[1][0] != '-' &&
          std::none_of(std::begin(studies), std::end(studies), [&](const Study &study) { return std::string(argv[1]) == study.name; }))
        {
          std::cerr << "error: there is no study '" << argv[1] << "'\n  expected: one of those that --help lists\n";
          return 2;
        }
      return app.exit(error) == 0 ? 0 : 2;
    }
  try
    {
      refuse_others(*app.get_subcommand(wanted->name), *wanted);
      Report report(std::cout, settings.csv);
      report.say(
        "async-(k) is k sweeps in a block, as in the thesis' Algorithm 14 and the journal's Algorithm 1. The thesis' listings (Algorithms 16 to 18) "
        "do"
        "\none before the k local ones, 1 + k in all: what is printed as async-(5) may be async-(6) here, which Tables 4.1 and 4.2 speak for.");
      wanted->run(settings, report);
      report.finish();
    }
  catch (const std::exception &error)
    {
      std::cerr << "error: " << error.what() << '\n';
      return 1;
    }
  return 0;
}
