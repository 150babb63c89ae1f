// SPDX-License-Identifier: Apache-2.0
#include "implementation.h"

#include <applications/base/log.h>
#include <applications/base/number_or_word.h>
#include <applications/base/stop_signal.h>
#include <solvers/base/errors.h>
#include <solvers/base/usable_resources.h>
#include <solvers/base/words.h>
#include <solvers/dealii/vector_norm.h>
#include <solvers/device/device.h>
#include <solvers/device/waiting.h>
#include <solvers/distributed/gpus/unlike_gpus.h>

#include <deal.II/base/mpi.h>
#include <deal.II/base/parameter_handler.h>
#include <deal.II/base/timer.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <thread>
#include <utility>

namespace leopard
{
  using namespace dealii;

  namespace
  {
    constexpr double usual_overlap_percent = 25.;
  } // namespace

  std::vector<std::string> LinearSolverParameters::methods_with_tau()
  {
    return method_names(as_solver, [](const Method &method) { return method.omega == OmegaRange::damping; });
  }

  void LinearSolverParameters::declare(ParameterHandler &prm)
  {
    using namespace Patterns;
    const std::vector<std::string> relaxations = method_names(as_solver);
    prm.enter_subsection("Linear solver");
    prm.declare_entry(
      "Method",
      "automatic",
      Selection("automatic|" + joined(relaxations, "|") + "|cg|gmres|multigrid|direct"),
      "automatic: what suits problem and mesh, as the log says: cg (gmres with Newton's method) with multigrid on boxes of similar cells "
      "and with amg elsewhere, or for large systems aggregation where there is a GPU, gmres with async in the general time loop, a direct solver for "
      "small problems that may be indefinite or whose steps "
      "are long (doc/solvers.md); async: block-asynchronous iteration async-(k); the relaxations " +
        joined({relaxations.begin() + 1, relaxations.end()}) +
        "; Krylov methods; geometric multigrid (see section 'Multigrid'); a sparse direct solver.");
    prm.declare_entry(
      "Preconditioner",
      "none",
      Selection("none|" + joined(method_names(as_preconditioner), "|") + "|ilu|ic|aggregation|amg|multigrid"),
      "Preconditioner of cg and gmres (with the method automatic: none lets it choose); ilu and ic are incomplete factors "
      "(ic of symmetric matrices), on several ranks of each rank's own rows; aggregation is algebraic multigrid by smoothed aggregation, "
      "with levels of all ranks; all of these on host or GPU; amg is Trilinos ML, on the host; multigrid one cycle of "
      "section 'Multigrid'. These three take several fields one after the other (doc/solvers.md). Where the preconditioner varies from "
      "call to call, as chaotic schedules make it, or is not symmetric for cg, the flexible variants are used.");
    prm.declare_entry("Backend",
                      "automatic",
                      Selection("automatic|reference|host|cuda"),
                      "Who computes: one thread with a seeded schedule (reference), host threads, or a GPU. automatic: cuda where there is a GPU "
                      "and the method runs there, host otherwise.");
    prm.declare_entry(
      "Precision",
      "automatic",
      Selection("automatic|double|mixed"),
      "mixed: iterative refinement, residual and solution in double, iterations of a relaxation or cycles of multigrid in single "
      "precision, which moves half the bytes; the residual in double decides. cg and gmres, too, with their preconditioner in single precision (not "
      "amg and aggregation; multigrid on the host of one rank, on several ranks the others on the host), and in double from where that does not "
      "converge, as the log says. Not for direct. Of async-refinement each block corrects its values in single precision. automatic: "
      "mixed for the method multigrid where 'Multigrid/Precision' = automatic is single, and without a full multigrid start; double otherwise.");
    prm.declare_entry(
      "Max iterations",
      "0",
      Integer(0),
      "Limit of linear iterations (global iterations of relaxations); 0: 10000, or 200 where the method automatic takes amg or aggregation for long "
      "time steps, as a shorter step is done sooner than more. Dimensionless.");
    prm.declare_entry(
      "Relative tolerance",
      "1e-8",
      Double(0., 1.),
      "Residual at which to stop, against the right-hand side, in linear problems; in Newton's method see its forcing. Dimensionless.");
    prm.declare_entry("Test every", "10", Integer(1), "Global iterations between two residual tests of a relaxation. Dimensionless.");
    prm.declare_entry("Omega",
                      "1",
                      NumberOrWord("tau"),
                      "Relaxation factor of " + joined(method_names(as_solver, &Method::has_omega), ", ", " and ") + ", between 0 and 2; tau, for " +
                        joined(methods_with_tau(), ", ", " and ") +
                        " with symmetric matrices: 2 / (lambda_1 + lambda_n), of the extreme eigenvalues of D^-1 A, estimated from the matrix "
                        "of all ranks when the solver is set up and, with fewer products, whenever its values change. Dimensionless.");
    prm.declare_entry("Tuning time",
                      "0",
                      Double(0.),
                      "async as solver, on one rank: so long are block size, local iterations, omega, momentum and the form of execution on a GPU "
                      "searched for by measuring with "
                      "the matrix, of blocks of the Block shape, before it is first solved with; where its values change, in time steps and Newton's "
                      "method, without omega and momentum. "
                      "The log and run.json say what was chosen. 0: they are those of this section. Seconds.");
    prm.declare_entry("Local iterations", "5", Integer(1, 1000), "async: k, the Jacobi sweeps inside a block. Dimensionless.");
    prm.declare_entry("Block size",
                      "0",
                      Integer(0, 65536),
                      "async: rows a block (at most 1024 on a GPU). 0: 256, and 512 as a smoother of stored levels on a GPU whose rows have at most "
                      "12 entries in the mean. Dimensionless.");
    prm.declare_entry(
      "Block shape",
      "compact",
      Selection("compact|rows"),
      "async as solver or preconditioner: blocks of unknowns that are near to one another, of each rank's own, or of consecutive rows "
      "of the matrix. Compact ones need a fraction of the iterations. (A smoother has 'Multigrid/Block shape'.)");
    prm.declare_entry(
      "Overlap",
      "none",
      Selection(words_of(overlap_names(), "|")),
      "async as solver or preconditioner, and in the triangular solves of ilu and ic: which rows beside its own a block relaxes, without "
      "writing them: as many before as behind them, before (rows on which those of L depend), or behind.");
    prm.declare_entry(
      "Overlap percent", format("%g", usual_overlap_percent), Double(0., 90.), "Of the rows of a block, with overlap. Dimensionless.");
    prm.declare_entry("Overlap level",
                      "0",
                      Integer(0, 1000),
                      "With overlap, instead of Overlap percent: a block relaxes the rows that are at most so many edges of the matrix's graph away "
                      "from its own, of the rank's, beside the Block size rows of its own. With the backend reference or the schedule replay. 0: as "
                      "Overlap percent says. Dimensionless.");
    prm.declare_entry("Block omega",
                      "1",
                      Double(),
                      "async as solver or preconditioner: weight of a block's update against what was there before, between 0 and 2. Dimensionless.");
    prm.declare_entry("l1 weights",
                      "false",
                      Bool(),
                      "async as solver or preconditioner: adds the sizes of the entries outside the block to the diagonal, so that matrices that are "
                      "positive definite, but not dominated by their diagonal, converge.");
    prm.declare_entry("Schedule",
                      "chaotic",
                      Selection(words_of(schedule_names(), "|")),
                      "async: order of block updates: synchronous (block Jacobi), chaotic (what the hardware does; results vary within the "
                      "tolerance), replay (seeded, reproducible; reference and host).");
    prm.declare_entry(
      "Two stage",
      "automatic",
      Selection(words_of(two_stage_names(), "|")),
      "async as solver or preconditioner, and in the triangular solves of ilu and ic: class of two-stage iteration, whose inner iterations are those "
      "in a block, and whose outer ones are the global ones. automatic: synchronous or block, as the Schedule is, with Jacobi sweeps in a block. "
      "inner (with Schedule = synchronous), outer and total: the rows of a block one after the other, each from the newest values of the block; "
      "total: and from those of other blocks, read anew for each row, which is published at once. On a GPU 32 rows are relaxed at once, and the next "
      "32 do not wait for them. These three: general time loop.");
    prm.declare_entry(
      "Seed", "0", Integer(0), "async: seed of the replay schedule, and of the order of rows of 'Two stage' on the backend reference.");
    prm.declare_entry("Momentum",
                      "0",
                      Double(0., 0.999),
                      "async: momentum beta of the second-order Richardson iteration; omega may then go up to 2 (1 + beta). Dimensionless.");
    prm.declare_entry("Smallest eigenvalue",
                      "0",
                      Double(0.),
                      "chebyshev: lower end of its interval, an eigenvalue of D^-1 A; 0: a thirtieth of the upper end, which smooths but hardly "
                      "solves. Dimensionless.");
    prm.declare_entry("Largest eigenvalue", "0", Double(0.), "chebyshev: upper end of its interval; 0: estimated. Dimensionless.");
    prm.declare_entry(
      "Threads", "0", Integer(0, 4096), "Host backend: threads a rank; 0: the cores that ranks may use, shared among them. Dimensionless.");
    prm.declare_entry("Restart", "50", Integer(2, 1000), "gmres: basis vectors before a restart. Dimensionless.");
    prm.declare_entry("Preconditioner iterations",
                      "2",
                      Integer(1),
                      joined(method_names(as_preconditioner, &Method::is_iterated), ", ", " and ") +
                        " as preconditioner: (global) iterations. Dimensionless.");
    prm.declare_entry(
      "Triangular solves",
      "automatic",
      Selection("automatic|exact|async"),
      "ilu and ic: how their factors are solved with: exact (substitution: on the host, on a GPU cuSPARSE), or "
      "async, some iterations of block-asynchronous iteration, with Local iterations, Block size and Schedule of this section. automatic: exact on "
      "the host; on a GPU, where exact ones take many times as long, asynchronous ones with iterations of their own, synchronous for cg or where "
      "the Schedule is not chaotic, and exact ones as soon as a solve fails with these.");
    prm.declare_entry("Triangular iterations",
                      "3",
                      Integer(1, 100000),
                      "ilu and ic with asynchronous triangular solves: global iterations of each solve. Dimensionless.");
    prm.declare_entry("Fill level",
                      "0",
                      Integer(0),
                      "ilu and ic: up to which level their factors have fill, entries that the matrix does not have: of a level more when the "
                      "elimination makes them of what has come about before. 0: the entries of the matrix and no others. Dimensionless.");
    prm.declare_entry("Factor sweeps",
                      "0",
                      Integer(0, 100000),
                      "ilu and ic: fixed-point sweeps that find the factors, on the backend; 0: elimination, on the host. Dimensionless.");
    prm.declare_entry("Device", "-1", Integer(-1, 255), "Backend cuda: number of the GPU; -1: the ranks of a machine share its GPUs in turn.");
    prm.declare_entry(
      "GPUs",
      "1",
      Integer(1, 64),
      "Backend cuda, one rank, double precision, general time loop: so many GPUs share out the rows, those from number Device on "
      "(-1: from 0), of async as solver, and of cg and gmres with the preconditioners none, " +
        joined(method_names(as_preconditioner, Backend::cuda)) +
        ", ilu and ic, which each GPU makes of its own rows. The method automatic takes one of these, as the log says. Where one GPU "
        "has multigrid or the fused time loop it is faster, the latter several times, and ranks with a GPU each have both. 1: one GPU, "
        "or one a rank. Dimensionless.");
    prm.declare_entry(
      "GPU exchange",
      "halo",
      Selection("halo|waiting halo|amc|dc|dk"),
      "With several GPUs, async as solver: how they get one another's values. halo: kernels write new ones to the GPUs that need them; waiting halo: "
      "and all wait for them after each global iteration; amc: all of x is copied by way of host memory; dc: from and to the first "
      "GPU; dk: x is read and written on the first GPU.");
    prm.declare_entry(
      "Waiting",
      "spin",
      Selection("spin|block"),
      "Backend cuda: what the host does while the GPU works. spin: asks again and again, as CUDA does by itself, which keeps a core busy; "
      "block: sleeps, which saves the host's energy and costs some microseconds a wait (doc/solvers.md).");
    prm.declare_entry(
      "Wait for ghosts",
      "true",
      Bool(),
      "Several ranks, async as solver in double precision: false lets ranks go on between two tests of the residual with what has arrived of "
      "their neighbours' values; a rank that is faster does more iterations meanwhile, up to five times as many. Residuals are true ones, of the "
      "newest values. It pays where messages take long; ranks that share a GPU should wait (doc/scaling.md). Needs the schedule chaotic, and the "
      "backend host or cuda.");
    prm.leave_subsection();
    multigrid.declare(prm);
  }

  void LinearSolverParameters::read(ParameterHandler &prm)
  {
    prm.enter_subsection("Linear solver");
    method                       = prm.get("Method");
    preconditioner               = prm.get("Preconditioner");
    backend                      = prm.get("Backend");
    precision                    = prm.get("Precision");
    max_iterations               = prm.get_integer("Max iterations");
    relative_tolerance           = prm.get_double("Relative tolerance");
    test_every                   = prm.get_integer("Test every");
    omega_is_tau                 = prm.get("Omega") == "tau";
    omega                        = omega_is_tau ? LinearSolverParameters().omega : prm.get_double("Omega");
    tuning_time                  = prm.get_double("Tuning time");
    restart                      = prm.get_integer("Restart");
    preconditioner_iterations    = prm.get_integer("Preconditioner iterations");
    triangular_solves            = prm.get("Triangular solves");
    triangular_iterations        = prm.get_integer("Triangular iterations");
    fill_level                   = static_cast<int>(prm.get_integer("Fill level"));
    factor_sweeps                = prm.get_integer("Factor sweeps");
    device                       = prm.get_integer("Device");
    n_gpus                       = static_cast<int>(prm.get_integer("GPUs"));
    gpu_exchange                 = prm.get("GPU exchange");
    waiting                      = prm.get("Waiting");
    wait_for_ghosts              = prm.get_bool("Wait for ghosts");
    block_async.local_iterations = prm.get_integer("Local iterations");
    const int rows               = static_cast<int>(prm.get_integer("Block size"));
    any_block_size               = rows == 0;
    block_async.block_size       = any_block_size ? BlockAsyncOptions().block_size : rows;
    block_shape                  = prm.get("Block shape");
    block_async.block_omega      = prm.get_double("Block omega");
    block_async.l1_weights       = prm.get_bool("l1 weights");
    block_async.overlap_percent  = prm.get_double("Overlap percent");
    block_async.overlap_level    = static_cast<int>(prm.get_integer("Overlap level"));
    block_async.overlap          = value_of(prm.get("Overlap"), overlap_names());
    block_async.seed             = prm.get_integer("Seed");
    block_async.n_threads        = prm.get_integer("Threads");
    block_async.schedule         = value_of(prm.get("Schedule"), schedule_names());
    block_async.two_stage        = value_of(prm.get("Two stage"), two_stage_names());
    block_async.momentum         = prm.get_double("Momentum");
    lambda_min                   = prm.get_double("Smallest eigenvalue");
    lambda_max                   = prm.get_double("Largest eigenvalue");
    prm.leave_subsection();
    if (block_async.overlap_level > 0)
      {
        if (block_async.overlap_percent != usual_overlap_percent)
          throw Error("'Linear solver/Overlap level' is given together with 'Linear solver/Overlap percent'\n  expected: one of the two");
        block_async.overlap_percent = 0.;
      }
    multigrid.read(prm, block_async, any_block_size);
  }

  void LinearSolverParameters::choose(SolverTask task)
  {
    task.backend             = backend;
    task.n_gpus              = n_gpus;
    const std::string wanted = preconditioner;
    task.preconditioner      = "none";
    suited                   = choose_method(task);
    automatic                = method == "automatic";
    free                     = automatic && wanted == "none";
    const auto take          = [&](const SolverTask &task_, const std::string &more) {
      const SolverChoice chosen = choose_method(task_);
      method                    = chosen.method;
      preconditioner            = chosen.preconditioner;
      why                       = chosen.reason + more;
    };
    if (automatic)
      {
        task.preconditioner = wanted;
        take(task, "");
        if (const std::string on_host = why_not_on_device(); task.has_gpu && uses_aggregation() && free && !on_host.empty())
          {
            task.has_gpu = false; // what was chosen for the GPU cannot be had there
            take(task, "; not on the GPU, as " + on_host.substr(0, on_host.find('\n')));
            task.preconditioner = "none";
            suited              = choose_method(task);
          }
      }
    if (max_iterations == 0)
      {
        // a system that takes more is one of a step so long that the next, shorter one is done sooner
        const bool gives_up = automatic && task.long_steps && (preconditioner == "amg" || preconditioner == "aggregation");
        max_iterations      = gives_up ? 200 : LinearSolverParameters().max_iterations;
        if (gives_up)
          why += ", 200 iterations at most";
      }
    values_change = task.in_time || task.has_newton;
    choose_precision(task);
    if (corrects_blocks())
      block_async.corrections = precision == "mixed" ? Corrections::single_precision : Corrections::working_precision;
    if (!task.is_needed)
      return;
    check_contradictions();
    if (!(automatic && task.in_time)) // else the fused time loop may do the steps, which has solvers of its own
      check_precision();
  }

  bool LinearSolverParameters::asks_for_gpu(SolverTask task) const
  {
    task.backend        = backend;
    task.n_gpus         = n_gpus;
    task.preconditioner = preconditioner;
    return method == "automatic" && leopard::asks_for_gpu(task);
  }

  SeveralGpusOptions LinearSolverParameters::several_gpus() const
  {
    SeveralGpusOptions options;
    for (int gpu = 0; gpu < n_gpus; ++gpu)
      options.devices.push_back(std::max(0, device) + gpu);
    options.waits = gpu_exchange == "waiting halo";
    for (const GpuExchange exchange : gpu_exchanges)
      if (to_string(exchange) == gpu_exchange)
        options.exchange = exchange;
    return options;
  }

  NodePlace NodePlace::find(MPI_Comm all_ranks)
  {
    MPI_Comm node;
    MPI_Comm_split_type(all_ranks, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    const auto      allowed = Utilities::MPI::all_gather(node, allowed_cores());
    const int       rank = static_cast<int>(Utilities::MPI::this_mpi_process(node)), n_ranks = static_cast<int>(allowed.size());
    const NodePlace place = {rank, n_ranks, usable_cores(allowed, rank, cgroup_limits().cores), static_cast<int>(allowed[rank].size())};
    MPI_Comm_free(&node);
    return place;
  }

  std::string NodePlace::remark_on_cores() const
  {
    const int n_machine = static_cast<int>(std::thread::hardware_concurrency()); // does not see what binds
    if (n_bound >= n_machine / n_ranks)
      return "";
    return "bound to " + std::to_string(n_bound) + " of " + std::to_string(n_machine) + " cores" + (n_ranks > 1 ? " (rank 0)" : "") +
           "; for more, where these have bound it: mpirun --bind-to none, srun --cpus-per-task";
  }

  std::string LinearSolverParameters::choose_backend(MPI_Comm comm, const NodePlace &place)
  {
    if (block_async.n_threads == 0)
      block_async.n_threads = place.n_cores;

    std::string why_host;
    const auto  why_no_gpu = [] { return device::n_devices() > 0 ? "no GPU answers where another rank is" : device::why_no_devices(); };
    const int   n_devices  = Utilities::MPI::min(device::n_devices(), comm);
    if (backend == "automatic")
      {
        std::string on_host = why_not_on_device();
        if (on_host.empty() && refines() && is_krylov() && Utilities::MPI::n_mpi_processes(comm) > 1 && !(automatic && values_change))
          on_host = "'Linear solver/Precision' is mixed with " + method + " on several ranks";
        if (n_devices > 0 && on_host.empty())
          backend = "cuda";
        else
          {
            backend  = "host";
            why_host = " (automatic: " + (n_devices == 0 ? why_no_gpu() : on_host.substr(0, on_host.find('\n'))) + ")";
          }
      }
    if (tunes() && Utilities::MPI::n_mpi_processes(comm) > 1)
      throw Error("'Linear solver/Tuning time' is " + format("%g", tuning_time) + ", but the program runs on " +
                  std::to_string(Utilities::MPI::n_mpi_processes(comm)) + " ranks\n  expected: one rank, or 0");
    if (uses_multigrid() && multigrid.options.smoother.moving_blocks == MovingBlocksChoice::yes && Utilities::MPI::n_mpi_processes(comm) > 1)
      throw Error("'Multigrid/Blocks move' is true, but the program runs on " + std::to_string(Utilities::MPI::n_mpi_processes(comm)) +
                  " ranks\n  expected: one rank, or automatic");
    if (!(automatic && values_change)) // as in choose()
      check_precision_on(comm);
    const std::string several = "'Linear solver/GPUs' is " + std::to_string(n_gpus) + ", but ";
    if (n_gpus > 1 && backend != "cuda")
      throw Error(several + "the backend is " + backend + why_host + "\n  expected: GPUs, or one");
    if (n_gpus > 1 && Utilities::MPI::n_mpi_processes(comm) > 1)
      throw Error(several + "the program runs on " + std::to_string(Utilities::MPI::n_mpi_processes(comm)) +
                  " ranks\n  expected: one rank, or one GPU, as each rank has its own");
    block_async.backend = backend == "cuda" ? Backend::cuda : backend == "host" ? Backend::host : Backend::reference;
    choose_triangular_solves();
    multigrid.options.backend                        = block_async.backend;
    multigrid.options.sixteen_bits                   = multigrid.options.sixteen_bits && backend == "cuda"; // else it is said to be not used
    multigrid.options.n_threads                      = block_async.n_threads;
    multigrid.options.smoother.block_async.n_threads = block_async.n_threads;
    if (backend == "reference")
      return "backend reference: one thread, sequential";
    if (backend == "host")
      return "backend host, " + std::to_string(block_async.n_threads) + (block_async.n_threads == 1 ? " thread" : " threads") + " a rank" + why_host;

    if (n_devices == 0)
      device::throw_no_device("'Linear solver/Backend' is cuda", "the backend host", why_no_gpu());
    if (device >= n_devices)
      throw DeviceError("'Linear solver/Device' is " + std::to_string(device) + ", but this machine has " + std::to_string(n_devices) +
                        " GPU(s), numbered from 0");
    if (std::max(0, device) + n_gpus > n_devices)
      throw DeviceError(several + "from number " + std::to_string(std::max(0, device)) + " on this machine has " +
                        std::to_string(n_devices - std::max(0, device)) + "\n  expected: as many GPUs at most");
    if (device < 0)
      device = place.rank % n_devices;
    device::select(device);
    device::set_waiting(device::waiting_of(waiting));
    const device::DeviceInfo gpu = device::info(device);
    gpus                         = gpus_of_ranks(true, kind_of(gpu), comm);
    return "backend cuda: " + gpu.name + (waiting == "block" ? ", the host sleeps while it works" : "") +
           (n_gpus == 1 ? "" : ", and " + std::to_string(n_gpus - 1) + " more" + (is_krylov() ? "" : ", exchange " + gpu_exchange));
  }

  std::vector<std::string> LinearSolverParameters::remarks_on_gpus() const
  {
    std::vector<std::string> result = remarks_on(gpus, wait_for_ghosts || !can_go_without_waiting());
    if (n_gpus > 1 && !gpus.empty())
      if (const std::string unlike = unlike_gpus(several_gpus().devices); !unlike.empty())
        result.push_back("the GPUs are not alike: " + unlike +
                         "; equal shares are as fast as the slowest (leopard-solve --shares gives each its own)");
    return result;
  }

  LinearSolver::LinearSolver(
    const LinearSolverParameters &parameters_, const HostMatrix &A_, unsigned int n_components_, LevelSource *levels_, MPI_Comm comm_)
    : parameters(parameters_)
    , A(A_)
    , n_components(n_components_)
    , levels(levels_)
    , comm(comm_)
  {
    const Timer timer;
    or_in_double([this] { make(); });
    if (parameters.goes_on_in_double())
      first_guess.reinit(A.locally_owned_range_indices(), comm);
    if (parameters.has_async_factors_at_first())
      guess_of_factors.reinit(A.locally_owned_range_indices(), comm);
    seconds = timer.wall_time();
  }

  void LinearSolver::make()
  {
    if (parameters.refines() && !parameters.cannot_refine_on(comm))
      implementation = make_refinement_solver(parameters, A, n_components, levels, comm);
    else if (parameters.method == "multigrid")
      implementation = make_multigrid_solver(parameters, A, *levels, comm);
    else if (parameters.is_relaxation())
      implementation = make_relaxation_solver(parameters, A, levels, comm);
    else if (parameters.method == "direct")
      implementation = make_direct_solver(A);
    else if (parameters.n_gpus > 1)
      implementation = make_krylov_on_gpus(parameters, A, levels, comm);
    else if (parameters.backend == "cuda")
      implementation = make_device_krylov_solver(parameters, A, n_components, levels, comm);
    else
      implementation = make_host_krylov_solver(parameters, A, n_components, levels, comm);
  }

  LinearSolver::~LinearSolver() = default;

  void LinearSolver::update_values()
  {
    const Timer timer;
    or_in_double([this] { implementation->update_values(); });
    seconds += timer.wall_time();
  }

  LinearSolveResult LinearSolver::solve(HostVector &x, const HostVector &b, const LinearTarget &target)
  {
    parameters.check_precision();
    parameters.check_precision_on(comm);
    throw_if_stop_requested(comm);
    n_in_single              = 0;
    LinearSolveResult result = parameters.has_async_factors_at_first() ? solve_or_exactly(x, b, target) : solve_in_precisions(x, b, target);
    result.note              = std::exchange(note, "");
    return result;
  }

  LinearSolveResult LinearSolver::solve_in_precisions(HostVector &x, const HostVector &b, const LinearTarget &target)
  {
    return parameters.goes_on_in_double() ? solve_or_in_double(x, b, target) : solve_scaled(x, b, target);
  }

  LinearSolveResult LinearSolver::solve_scaled(HostVector &x, const HostVector &b, const LinearTarget &target)
  {
    constexpr double smallest = 1e-100, largest = 1e100; // the squares of such norms, times those of tolerances, are numbers
    const double     norm = l2_norm(b);
    if (!std::isfinite(norm))
      throw ConvergenceFailure("the linear solver " + description() + " is given a right-hand side that is not finite");
    if (norm == 0. || (norm >= smallest && norm <= largest))
      return implementation->solve(x, b, target);
    HostVector scaled(b);
    for (double &value : scaled)
      value /= norm;
    for (double &value : x)
      value /= norm;
    LinearSolveResult result = implementation->solve(x, scaled, target);
    x *= norm;
    result.final_residual *= norm;
    return result;
  }

  void LinearSolver::report_missed_tolerance(double tolerance, const Progress &progress, const std::string &more) const
  {
    throw ConvergenceFailure("the linear solver " + description() + " has not reached the tolerance " + format("%g", tolerance) + " in " +
                             std::to_string(progress.n_iterations) + " iterations" +
                             (n_in_single > 0 ? ", " + std::to_string(n_in_single) + " of them in single precision before those in double" : "") +
                             ": the residual went from " + format("%.3e", progress.first) + " to " + format("%.3e", progress.last) +
                             ", the goal is " + format("%.3e", progress.goal) + "; " + judgement(progress) +
                             "\n  to try: " + advice(progress, parameters, more));
  }

  void report_divergence(const std::string            &method,
                         const SolveResult            &result,
                         const std::string            &unit,
                         const std::string            &diagnosis,
                         const LinearSolverParameters &parameters,
                         const std::string            &more)
  {
    Progress progress{result.n_iterations, result.initial_residual, result.final_residual};
    progress.rate = std::numeric_limits<double>::infinity();
    throw ConvergenceFailure("the linear solver " + method + " diverges: the residual went from " + format("%.3e", result.initial_residual) + " to " +
                             format("%.3e", result.final_residual) + " in " + std::to_string(result.n_iterations) + " " + unit +
                             (diagnosis.empty() ? "" : "\n  " + diagnosis) + "\n  to try: " + advice(progress, parameters, more));
  }

  std::string LinearSolver::description() const
  {
    return implementation->description();
  }

  std::string LinearSolver::details() const
  {
    return implementation->details();
  }

  nlohmann::json LinearSolver::report() const
  {
    return implementation->report();
  }
} // namespace leopard
