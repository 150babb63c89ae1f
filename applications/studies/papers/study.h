// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "study_report.h"

#include <solvers/block_async/names.h>
#include <solvers/device/device_vector.h>

#include <cstdint>
#include <memory>

namespace leopard::studies
{
  /** What the command line says. Zero and empty text stand for what a study takes by itself. */
  struct Settings
  {
    std::string              backend   = "automatic"; ///< automatic, host, cuda
    std::string              execution = "automatic"; ///< automatic, launch, persistent
    std::string              schedule  = "automatic"; ///< automatic, chaotic, synchronous, replay
    std::string              matrices;                ///< folder of Matrix Market files, see folder()
    std::string              matrix;                  ///< see load_problem(); several with commas
    std::string              csv;
    int                      runs             = 0;
    int                      block_size       = 0;
    int                      local_iterations = 0;
    int                      size             = 0; ///< nodes a side of generated grids
    int                      threads          = 0; ///< backend host
    int                      gpus             = 0; ///< at most; 0: all there are
    std::vector<int>         gpu_counts;           ///< how many of them, see gpu_counts(); empty: 1, 2, ...
    std::vector<std::string> exchanges;            ///< between GPUs, see exchanges_of(); empty: all
    double                   seconds = 10.;        ///< energy: a solve is repeated for as long at least
    std::uint64_t            seed    = 1;
    bool                     full    = false; ///< the sizes and runs of the papers

    /** What backend is meant on this machine. @throws InvalidInput for other words. */
    Backend resolved_backend() const;
    int     runs_or(int reduced, int of_the_paper) const { return runs > 0 ? runs : full ? of_the_paper : reduced; }
    int     block_size_or(int value) const { return block_size > 0 ? block_size : value; }
    int     local_iterations_or(int value) const { return local_iterations > 0 ? local_iterations : value; }
    int     size_or(int reduced, int of_the_paper) const { return size > 0 ? size : full ? of_the_paper : reduced; }
    /** The names in matrix, or these. */
    std::vector<std::string> matrices_or(const std::vector<std::string> &names) const;
    /**
     * Where files of matrices are looked for: matrices, else the variable LEOPARD_MATRICES; empty: neither is there.
     */
    std::string folder() const;
  };

  /** A x = b with b = (1, ..., 1), which is what reproduces the published numbers; the papers do not say. */
  struct Problem
  {
    std::string         name;
    CrsMatrix<double>   A;
    std::vector<double> b;
  };

  /**
   * "trefethen" (of order 2000) and "trefethen-N", "five-point-N" (N x N nodes, delta = 0.01), "seven-point-N" (N^3,
   * delta = 0), "circuit-N" (N x N, circuit_matrix()), "elasticity-N" (N^3 cells), "random-N" (N rows,
   * random_dominant_matrix()), "hanging-N", "q2-N", "jumps-N" and "convection-N" (solvers/matrix/mesh_matrices.h) are
   * generated; any other NAME is read from NAME.mtx.gz, NAME.mtx or NAME_reconstructed.mtx.gz in the folder. @throws
   * InvalidInput saying where it was looked for.
   */
  Problem load_problem(const std::string &name, const Settings &settings);

  /**
   * @throws InvalidInput: an option is given, and the study does so and so. @param instead what would be accepted, too.
   */
  [[noreturn]] void refuse(const std::string &study, const std::string &option, const std::string &why, const std::string &instead = "");

  /**
   * What a study makes use of with these settings, beside what they and the matrices say by themselves. The table of
   * studies in main.cc says what it never uses.
   */
  struct Uses
  {
    bool random            = false; ///< beside random matrices and the schedule replay
    bool threads_with_cuda = false; ///< host threads beside GPUs
    bool size = true, full = true;
    bool stands_in = false; ///< generates something for matrices that are missing
  };
  /**
   * @throws InvalidInput for what is given and changes nothing: --execution and --gpus on the host, --threads on a GPU,
   * --seed where nothing is random, --matrices where all matrices are generated, and what is not in uses; and for a
   * matrix that cannot be had, before anything is computed.
   * @param names of matrices; empty: the study has none by name.
   */
  void refuse_unused(const std::string &study, const Settings &settings, const Uses &uses, const std::vector<std::string> &names);

  /** The options with the backend, execution, schedule, threads and seed of the command line. */
  BlockAsyncOptions with(const Settings &settings, BlockAsyncOptions options);

  /** Async-(k) in blocks of block_size rows, as the command line wants it. */
  BlockAsyncOptions async(const Settings &settings, int block_size, int local_iterations);

  /**
   * For statistics over runs: where the chaotic schedule is always the same, on one thread, the replay schedule takes
   * its place, whose random numbers go on from run to run.
   */
  std::unique_ptr<BlockAsync<double>> make_varying(const CrsMatrix<double> &A, BlockAsyncOptions options, const Settings &settings);
  /** Whether it may do so with these settings. */
  bool may_replay(const Settings &settings);

  /** A relaxation with its vectors, in its memory. */
  class Experiment
  {
  public:
    Experiment(Relaxation<double> &relaxation, const std::vector<double> &b);

    /** x = 0, and nothing remembered. */
    void start();
    /** Returns when they are done. */
    void iterate(int n_iterations);
    /** ||b - A x|| / ||b||. */
    double relative_residual();
    /** From x = 0, with the tests of leopard::solve(). */
    SolveResult solve(const StoppingCriteria &criteria);

    std::vector<double> x() const;
    void                set_x(const std::vector<double> &values);
    void                set_b(const std::vector<double> &values);

  private:
    double *x_data();
    double *b_data();

    Relaxation<double>  &relaxation;
    const bool           on_device;
    std::vector<double>  host_x, host_b;
    DeviceVector<double> device_x, device_b;
    double               norm_b;
  };

  /** How far an iteration comes. */
  struct Reached
  {
    bool   converged = false, diverged = false;
    double iterations = 0.; ///< to the tolerance, interpolated between tests; without convergence those that were done
    double factor     = 0.; ///< of the residual in an iteration, in the mean over the second half
    double seconds    = 0.; ///< of as many iterations in a second run without tests; nan without convergence
    double residual   = 0.; ///< the last one

    std::vector<int>    at;        ///< the iterations after which the residual was tested
    std::vector<double> residuals; ///< and what it was

    /** Iterations, or "diverges", or "> n". */
    std::string iterations_text() const;
    /** Iterations to the tolerance; infinitely many without convergence. */
    double iterations_needed() const;
  };

  /**
   * From x = 0 to a relative residual. Tests after each of the first 50 iterations, then every fiftieth of those done.
   */
  Reached reach(Experiment &experiment, double tolerance, int max_iterations, bool with_time = true);

  /** "backend cuda, NVIDIA H200" or "backend host, 2 threads". */
  std::string machine(const Settings &settings);

  // the studies
  void study_variation(const Settings &settings, Report &report);
  void study_local_iterations(const Settings &settings, Report &report);
  void study_storage(const Settings &settings, Report &report);
  void study_weights(const Settings &settings, Report &report);
  void study_theta(const Settings &settings, Report &report);
  void study_mesh_blocks(const Settings &settings, Report &report);
  void study_refinement(const Settings &settings, Report &report);
  void study_precision(const Settings &settings, Report &report);
  void study_overlap(const Settings &settings, Report &report);
  void study_taxonomy(const Settings &settings, Report &report);
  void study_divergence(const Settings &settings, Report &report);
  void study_imbalance(const Settings &settings, Report &report);
  void study_imbalance_of_gpus(const Settings &settings, Report &report); ///< of it, with --backend cuda
  void study_copies(const Settings &settings, Report &report);
  void study_gpus(const Settings &settings, Report &report); ///< @throws InvalidInput without a GPU
  void study_faults(const Settings &settings, Report &report);
  void study_energy(const Settings &settings, Report &report);
  void study_detection(const Settings &settings, Report &report); ///< the second part of faults
} // namespace leopard::studies
