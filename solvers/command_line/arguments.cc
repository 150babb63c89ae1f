// SPDX-License-Identifier: Apache-2.0
#include "arguments.h"

#include "../base/errors.h"
#include "../base/norms.h"
#include "../base/words.h"
#include "../block_async/names.h"
#include "../device/device.h"
#include "../relaxation/point_relaxation.h"
#include "contradictions.h"
#include "gpus.h"

#include <CLI/CLI.hpp>
#include <leopard/version.h>

#include <charconv>
#include <cmath>
#include <filesystem>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace leopard::command_line
{
  namespace
  {
    template <typename Value>
    using Choices = Names<Value>;

    const auto               shapes     = names_of({BlockShape::contiguous, BlockShape::rcm, BlockShape::metis});
    const auto               exchanges  = names_of(gpu_exchanges);
    const auto               storages   = names_of({Storage::automatic, Storage::double_precision, Storage::single_precision, Storage::dictionary});
    const Choices<Precision> precisions = {
      {"double", Precision::double_precision}, {"single", Precision::single}, {"mixed", Precision::mixed}, {"automatic", Precision::automatic}};
    const Choices<device::Waiting> waitings              = {{"spin", device::Waiting::spin}, {"block", device::Waiting::block}};
    constexpr double               usual_overlap_percent = 25.;

    const char *const group_of_async = "Method async";

    /** The whole text as a number. */
    std::optional<double> to_number(const std::string &text)
    {
      double     value  = 0.;
      const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
      return result.ec == std::errc() && result.ptr == text.data() + text.size() && std::isfinite(value) ? std::optional(value) : std::nullopt;
    }

    /** For options that are numbers: what double precision does not hold would be read as zero. */
    const CLI::Validator in_range(
      [](const std::string &text) {
        double value = 0.;
        return std::from_chars(text.data(), text.data() + text.size(), value).ec != std::errc::result_out_of_range
                 ? std::string()
                 : "'" + text + "' is beyond the range of double precision\n  expected: 0, or a number from 2.3e-308 to 1.7e308 in size";
      },
      "");

    /** Words that stand for themselves. */
    Choices<std::string> choices_of(const std::vector<std::string> &words)
    {
      Choices<std::string> result;
      for (const std::string &word : words)
        result.emplace_back(word, word);
      return result;
    }

    /** Adds an option whose value is one of a few words. */
    template <typename Value>
    CLI::Option *add_choice(CLI::App &app, const std::string &name, Value &result, const Choices<Value> &choices, const std::string &text)
    {
      std::string words;
      for (const auto &choice : choices)
        words += (words.empty() ? "" : ", ") + choice.first;
      const auto read = [&result, choices, words, name](const std::string &word) {
        for (const auto &choice : choices)
          if (choice.first == word)
            {
              result = choice.second;
              return;
            }
        throw CLI::ValidationError(name + " is '" + word + "'\n  expected: one of " + words);
      };
      return app.add_option_function<std::string>(name, read, text + ": " + words)->type_name("WORD");
    }

    CLI::Option *add_path(CLI::App &app, const std::string &name, std::string &result, const std::string &text)
    {
      return app.add_option(name, result, text)
        ->type_name("FILE")
        ->check(CLI::Validator([](const std::string &path) { return path.empty() ? "the name of the file is empty" : std::string(); }, ""));
    }

    /** Reads an option that is a number or one word. */
    std::function<void(const std::string &)> number_or(const std::string &option, const std::string &word, double &number, bool &is_word)
    {
      return [=, &number, &is_word](const std::string &text) {
        is_word = text == word;
        if (const std::optional<double> value = to_number(text))
          number = *value;
        else if (!is_word)
          throw CLI::ValidationError(option + " is '" + text + "'\n  expected: a number, or " + word);
      };
    }

    void add_problem(CLI::App &app, Arguments &a)
    {
      add_path(app, "MATRIX", a.matrix, "square sparse matrix in Matrix Market format, .gz or not")->required();
      add_path(app, "--rhs", a.rhs, "right-hand side b, a vector in Matrix Market or .npy format; default: b = A 1, whose solution is all ones");
      add_path(app, "--solution", a.solution, "where to write x, a Matrix Market vector (.gz compresses), or where PATH ends in .npy one for NumPy");
      add_path(app,
               "--history",
               a.history,
               "where to write the residuals: CSV (.gz compresses) with iteration,residual,relative,time; time: seconds since the solve began, "
               "without set-up, empty between the first and the last where a GPU goes on without the host");
    }

    std::vector<std::string> preconditioner_names()
    {
      std::vector<std::string> names = {"automatic", "none", "multigrid", "ic", "ilu"};
      for (const std::string &name : method_names(as_preconditioner))
        names.push_back(name);
      return names;
    }

    void add_method(CLI::App &app, Arguments &a)
    {
      app.option_defaults()->group("Method");
      add_choice(app,
                 "--method",
                 a.method_name,
                 choices_of(solver_names()),
                 "default automatic, what the matrix lets expect, and the next stronger one where that fails; async where an option that only "
                 "relaxations know is given, which is said");
      add_choice(app, "--preconditioner", a.preconditioner, choices_of(preconditioner_names()), "of cg and gmres, default automatic");
      add_choice(
        app,
        "--triangular",
        a.triangular_solves,
        choices_of({"automatic", "exact", "async"}),
        "of ic and ilu, how their factors are solved with, default automatic: async on a GPU, and exact where that fails; exact on the host");
      app.add_option("--triangular-iterations", a.triangular.n_iterations, "of --triangular async: global iterations (default 3)")->type_name("N");
      app
        .add_option("--fill", a.fill_level, "of ic and ilu: level of fill of their factors; 0, the default: the entries of the matrix and no others")
        ->type_name("N");
      app.add_option("--factor-sweeps", a.factor_sweeps, "of ic and ilu: fixed-point sweeps that find the factors; 0, the default: elimination")
        ->type_name("N");
      add_choice(app,
                 "--smoother",
                 a.smoother,
                 choices_of(method_names(as_smoother)),
                 "of multigrid, default chebyshev, of stencils async, of matrices that are not symmetric ilu0 (with a GPU: after chebyshev, with "
                 "levels that the host makes)");
      app.add_option("--block-unknowns", a.block_unknowns, "of smoothed aggregation: unknowns of a node, in consecutive rows (default: as it seems)")
        ->type_name("N");
      add_path(
        app,
        "--near-null-space",
        a.near_null_space,
        "of multigrid by smoothed aggregation: vectors that the matrix maps to zero but near boundaries, such as translations and rotations of "
        "elasticity, a column each, in Matrix Market or .npy format");
      add_choice(app, "--backend", a.backend, choices_of({"automatic", "host", "cuda", "reference"}), "default automatic, a GPU where one answers");
      app.add_option("--threads", a.async.n_threads, "of the backend host; 0, the default: as many as this process may use")->type_name("N");
      add_choice(
        app,
        "--waiting",
        a.waiting,
        waitings,
        "of the backend cuda, what the host does while the GPU works, default spin: asks again and again; block: sleeps, which leaves the core "
        "to others and saves energy, and costs some microseconds a wait");
      app
        .add_option("--gpus",
                    a.n_gpus,
                    "rows shared out to the first N GPUs, a thread each, for --method async, or cg and gmres with what each GPU can make of its own "
                    "rows as a preconditioner: none, ic, ilu or a relaxation; automatic chooses among these. One GPU has multigrid, which for "
                    "matrices like those "
                    "of diffusion should be faster: then a line says so")
        ->type_name("N");
      app.add_option("--shares", a.gpus.shares, "of --gpus: the part of the matrix of each, such as 60,40 (default: equal ones)")
        ->delimiter(',')
        ->check(in_range)
        ->type_name("W,W,...");
      add_choice(app,
                 "--precision",
                 a.precision,
                 precisions,
                 "in which the method computes, default double; mixed: iterative refinement, residual and solution in double, the method in single "
                 "(async-refinement: corrections of blocks; multigrid, alone and as preconditioner: cycles; cg and gmres otherwise: all of it, for "
                 "each correction); automatic, of async: double or mixed, as the matrix lets expect; of multigrid: mixed where that can be, which is "
                 "the default with --method automatic");
      app
        .add_option("--inner-iterations",
                    a.inner_iterations,
                    "of --precision mixed, for each correction: iterations, or cycles (default 1, on a GPU 2), or at most so many of cg and gmres; "
                    "default: as many as gain six digits, or what is left of --tolerance, which the first correction measures")
        ->type_name("N");
      app
        .add_option_function<std::string>(
          "--omega",
          number_or("--omega", "tau", a.async.omega, a.omega_is_tau),
          "relaxation factor (default 1), or tau: 2 / (lambda_1 + lambda_n) of D^-1 A, for symmetric positive definite A")
        ->type_name("W|tau");
    }

    void add_async(CLI::App &app, Arguments &a)
    {
      app.option_defaults()->group(group_of_async)->always_capture_default();
      app.add_option("--local-iterations", a.async.local_iterations, "k, Jacobi sweeps inside a block")->type_name("K");
      app.add_option("--block-size", a.async.block_size, "rows a block")->type_name("N");
      app.option_defaults()->always_capture_default(false);
      add_choice(app, "--blocks", a.shape, shapes, "how rows are gathered in blocks, default contiguous");
      app.add_flag(
        "--theta",
        a.theta,
        "K local iterations only in blocks whose entries weigh more against those outside than in the whole matrix, K - 1 in the others: less work "
        "where local iterations gain little; says what to expect");
      app.add_option("--block-omega", a.async.block_omega, "weight of a block's update (default 1)")->check(in_range)->type_name("W");
      app
        .add_option(
          "--correction-loops", a.async.correction_loops, "async-refinement: corrections of a block in a global iteration, K sweeps each (default 1)")
        ->type_name("N");
      app.add_flag("--l1", a.async.l1_weights, "l1 weights: the off-block entries' absolute values added to the diagonal");
      app
        .add_option_function<std::string>("--momentum",
                                          number_or("--momentum", "automatic", a.async.momentum, a.momentum_from_matrix),
                                          "second-order Richardson: beta, or automatic (also if nothing follows): beta and omega from eigenvalues")
        ->type_name("[automatic|BETA]");
      add_choice(app, "--overlap", a.async.overlap, overlap_names(), "of neighbouring blocks, default none");
      app.add_option("--overlap-level", a.async.overlap_level, "instead of percent: rows so many edges away (reference, replay)")->type_name("N");
      app.add_option("--overlap-percent", a.async.overlap_percent, "percent of a block in overlap (default 25)")->check(in_range)->type_name("P");
      add_choice(app, "--schedule", a.async.schedule, schedule_names(), "of the blocks' updates, default chaotic");
      add_choice(app,
                 "--two-stage",
                 a.async.two_stage,
                 two_stage_names(),
                 "class of two-stage iteration (thesis, Table 3.1); default: synchronous or block, as the schedule is; inner (schedule "
                 "synchronous), outer, total: rows of a block in turn (a GPU: 32 at once), total with others' newest");
      const auto read_seed = [&a](const std::string &text) { // CLI11 takes -1 for 2^64 - 1
        const auto result = std::from_chars(text.data(), text.data() + text.size(), a.async.seed);
        if (result.ec != std::errc() || result.ptr != text.data() + text.size())
          throw CLI::ValidationError("--seed is '" + text + "'\n  expected: a whole number from 0 to 18446744073709551615");
      };
      app
        .add_option_function<std::string>(
          "--seed", read_seed, "of the schedule replay, and of the order of rows on the backend reference (default 0)")
        ->type_name("N");
      add_choice(app, "--execution", a.async.execution, execution_names(), "on the backend cuda, default automatic");
      add_choice(app,
                 "--exchange",
                 a.gpus.exchange,
                 exchanges,
                 "of --gpus with --method async, default halo: new values are written to the GPUs that need them; amc: all of x by way of host "
                 "memory; dc: copied from and "
                 "to the first GPU; dk: read and written there");
      app.add_flag("--wait", a.gpus.waits, "of --exchange halo: GPUs wait for one another's values after each global iteration");
      add_choice(app, "--storage", a.async.storage, storages, "of the values on the backend cuda, none loses a bit, default automatic");
      app.add_flag("--tune", a.tune, "choose blocks and options by measuring, then solve");
      app.add_option("--tune-seconds", a.tune_seconds, "time for --tune (default 5)")->check(in_range)->type_name("S");
      add_path(app, "--choice", a.choice, "a choice of --tune: written with --tune, else read");
    }

    void add_stopping(CLI::App &app, Arguments &a)
    {
      app.option_defaults()->group("Stopping")->always_capture_default();
      app
        .add_option("--tolerance",
                    a.criteria.relative_tolerance,
                    "relative: ||b - A x|| / ||b||; 0: do all iterations of a relaxation, unless the residual becomes 1e6 times the first; it is "
                    "computed at the end, and for --history or --max-seconds every --test-every")
        ->check(in_range)
        ->type_name("T");
      app.add_option("--max-iterations", a.criteria.max_iterations, "global iterations")->type_name("N");
      app.add_option("--test-every", a.criteria.test_every, "global iterations between two residual tests")->type_name("N");
      app.option_defaults()->always_capture_default(false);
      app
        .add_option("--max-seconds",
                    a.criteria.max_seconds,
                    "wall time from when the system has been read, looked at between iterations, and while factors with --fill are made; 0, the "
                    "default: no limit. "
                    "Not interrupted: a search of --tune-seconds, the set-up of levels and of other incomplete factors, and the factorization of "
                    "direct, whose time counts and "
                    "depends on fill-in that is not known before")
        ->check(in_range)
        ->type_name("S");
      app.option_defaults()->group("Options");
      app.add_flag("--analyze",
                   a.analyze,
                   "say what the matrix means for relaxation (spectral radii, eigenvalues, theta) and how long what --method automatic does takes; "
                   "do not solve");
    }

    /** "--momentum" takes a value or none, but never the word that follows if this is no value. */
    std::vector<std::string> words_of(int argc, char **argv)
    {
      std::vector<std::string> words(argv + 1, argv + argc);
      for (std::size_t i = 0; i < words.size(); ++i)
        if (words[i] == "--momentum" && (i + 1 == words.size() || (words[i + 1] != "automatic" && !to_number(words[i + 1]))))
          words[i] = "--momentum=automatic";
      return words;
    }

    /** Options of relaxations alone, beside what is none. */
    void check_krylov_and_multigrid(const Arguments &a)
    {
      const std::string with = "--method " + a.method_name;
      if (!a.is_krylov())
        refuse(a, {"--preconditioner"}, with, "it with --method cg or gmres");
      if (!a.has_multigrid())
        refuse(a, {"--smoother"}, words_of_method(a), "it with --method multigrid, or --preconditioner multigrid");
      const bool may_be_multigrid = a.method_name == "automatic" || (a.is_krylov() && a.preconditioner == "automatic") || a.analyze;
      if (!a.has_multigrid() && !may_be_multigrid)
        refuse(a,
               {"--block-unknowns", "--near-null-space"},
               words_of_method(a),
               "it with --method automatic or multigrid, or --preconditioner multigrid, whose levels are made of nodes");
      if (!a.has_factors())
        refuse(a, {"--fill", "--factor-sweeps"}, words_of_method(a), "it with --preconditioner ic or ilu");
      if (!a.has_factors() && a.method_name != "automatic" && !(a.is_krylov() && a.preconditioner == "automatic"))
        refuse(a, {"--triangular"}, words_of_method(a), "it with --method automatic, or --preconditioner ic or ilu");
      if (a.triangular.solve != TriangularSolve::asynchronous)
        refuse(a, {"--triangular-iterations"}, a.triangular_solves + " triangular solves", "--triangular async with it");
      if (a.is_relaxation())
        return;
      const std::string expected = "it with --method async, or another relaxation";
      refuse(a, {"--tune", "--tune-seconds", "--choice", "--theta"}, with, expected);
      if ((a.method_name == "direct" && a.precision != Precision::double_precision) ||
          (a.is_krylov() && !a.has_multigrid() && a.precision == Precision::automatic))
        refuse(a, {"--precision"}, words_of_method(a), a.is_krylov() ? "mixed or double" : expected + ", cg, gmres or multigrid");
      if (a.precision == Precision::single)
        contradiction("--precision single", with, a.is_krylov() && !a.has_multigrid() ? "mixed or double" : "mixed, automatic or double");
      if (a.method_name != "automatic")
        refuse(a, {"--test-every"}, with, expected);
      if (a.momentum_from_matrix || a.omega_is_tau)
        contradiction(a.omega_is_tau ? "--omega tau" : "--momentum automatic", with, "numbers, or " + expected);
      if (!(a.criteria.relative_tolerance > 0.))
        contradiction("--tolerance 0", with, "a tolerance; all iterations are done by relaxations only: --method async");
    }

    void check_method(const Arguments &a)
    {
      const OmegaRange omega = a.method().omega;
      if (!a.method().has_blocks)
        for (const std::string &option : a.given_for_async)
          contradiction(option,
                        words_of_smoother(a),
                        "it with --method " + joined(method_names(as_solver, [](const Method &m) { return m.has_blocks; }), ", ", " or ") + " only");
      if (omega == OmegaRange::none || omega == OmegaRange::one)
        refuse(a, {"--omega"}, words_of_smoother(a), omega == OmegaRange::none ? "no --omega" : "no --omega, or --method sor");
      if (a.omega_is_tau && omega == OmegaRange::relaxation)
        contradiction("--omega tau",
                      "--method " + a.method_name,
                      "a number; tau is for --method " +
                        joined(method_names(as_solver, [](const Method &m) { return m.omega == OmegaRange::damping; }), ", ", " and "));
    }

    void check_async(const Arguments &a)
    {
      if (a.method().corrects)
        refuse(a, {"--momentum", "--overlap", "--two-stage"}, "--method " + a.method_name, "it with --method async");
      else
        refuse(a,
               {"--correction-loops"},
               words_of_smoother(a),
               "it with --method " + joined(method_names(as_solver, [](const Method &m) { return m.corrects; }), ", ", " or "));
      if (a.momentum_from_matrix)
        refuse(a, {"--omega"}, "--momentum automatic", "no --omega, as it is chosen too; or --momentum with a number");
      if (a.async.l1_weights && (a.momentum_from_matrix || a.omega_is_tau))
        contradiction(
          "--l1", a.omega_is_tau ? "--omega tau" : "--momentum automatic", "numbers, as the eigenvalues of D^-1 A do not apply to l1 weights");
      if (a.async.overlap == Overlap::none)
        refuse(a, {"--overlap-percent", "--overlap-level"}, "no overlap", "--overlap uniform, upward or downward with it");
      if (a.async.overlap != Overlap::none && a.shape == BlockShape::metis)
        contradiction("--overlap", "--blocks metis", "--blocks contiguous or rcm, whose blocks are neighbours in the numbering");
      if (!a.async.uses_seed(a.backend == "reference" ? Backend::reference : Backend::host))
        refuse(a, {"--seed"}, "a schedule that knows none", "--schedule replay with it");
      if (!a.has("--gpus"))
        refuse(a, {"--exchange", "--wait", "--shares"}, "no --gpus", "--gpus with it");
      if (a.async.schedule == Schedule::replay)
        refuse(a, {"--threads", "--execution"}, "--schedule replay", "neither, as a replay is sequential");
    }

    void check_precision(const Arguments &a)
    {
      if (a.precision != Precision::mixed)
        refuse(a, {"--inner-iterations"}, "no --precision mixed", "it with it");
      if (a.method().corrects || (a.is_krylov() && a.has_multigrid()))
        refuse(a, {"--inner-iterations"}, words_of_method(a), "it with other methods, whose corrections have inner iterations");
      if ((a.precision == Precision::mixed || a.precision == Precision::automatic) && a.criteria.max_iterations == 0)
        contradiction("--max-iterations 0", "--precision mixed or automatic", "at least one iteration");
      if (!a.is_relaxation())
        return;
      const bool is_automatic = a.precision == Precision::automatic;
      if (is_automatic && (!a.method().has_blocks || a.method().corrects))
        contradiction("--precision automatic", "--method " + a.method_name, "it with --method async or multigrid");
      if ((a.precision != Precision::mixed && !is_automatic) || a.method().corrects)
        return;
      refuse(a,
             {"--test-every"},
             is_automatic ? "--precision automatic" : "--precision mixed",
             "no --test-every: in mixed precision the residual is computed after each correction");
      if (!is_automatic && !(a.criteria.relative_tolerance > 0.))
        contradiction("--tolerance 0", "--precision mixed", "a tolerance: corrections end where it is met");
    }

    void check_modes(const Arguments &a)
    {
      if (!a.tune)
        refuse(a, {"--tune-seconds"}, "no --tune", "--tune with it");
      if (a.tune || !a.choice.empty())
        {
          if (a.method().corrects)
            contradiction(a.tune ? "--tune" : "--choice", "--method " + a.method_name, "it with --method async");
          const std::string with     = a.tune ? "--tune" : "--choice",
                            expected = a.tune ? "no such option, as --tune chooses" : "no such option, as the file says what to use";
          for (const std::string &option : a.given_for_async)
            if (option != "--threads" && option != "--tune" && option != "--tune-seconds" && option != "--choice")
              contradiction(option, with, expected);
          refuse(a, {"--omega", "--gpus", "--shares"}, with, expected);
        }
      if (a.analyze)
        for (const std::string &option : a.given)
          if (option != "--analyze" && option != "--block-size" && option != "--blocks" && option.rfind("--overlap", 0) != 0 &&
              option != "--block-unknowns" && option != "--near-null-space")
            contradiction(option, "--analyze", "only options that say what the blocks and nodes are, as nothing is solved");
    }

    /** Beyond what StoppingCriteria::validate() refuses. */
    void check_numbers(const Arguments &a)
    {
      const auto require = [](bool holds, const std::string &option, double found, const std::string &expected) {
        if (!holds)
          throw UsageError(option + " is " + short_text(found) + "\n  expected: " + expected);
      };
      const bool is_below_x_0 = !reached(1., a.criteria.relative_tolerance);
      require(is_below_x_0, "--tolerance", a.criteria.relative_tolerance, "a number below 1, which x = 0 has");
      require(std::isfinite(a.criteria.max_seconds), "--max-seconds", a.criteria.max_seconds, "a number of seconds, or 0 for no limit");
      require(a.tune_seconds > 0. && std::isfinite(a.tune_seconds), "--tune-seconds", a.tune_seconds, "a positive number of seconds");
      require(!a.has("--inner-iterations") || a.inner_iterations >= 1, "--inner-iterations", a.inner_iterations, "a number >= 1");
      require(a.fill_level >= 0, "--fill", a.fill_level, "a number >= 0");
      require(a.factor_sweeps >= 0 && a.factor_sweeps <= 100000, "--factor-sweeps", a.factor_sweeps, "0 to 100000, where 0 stands for elimination");
      require(!a.has("--gpus") || (a.n_gpus >= 1 && a.n_gpus <= 64), "--gpus", a.n_gpus, "1 to 64");
      require(a.block_unknowns >= 1, "--block-unknowns", a.block_unknowns, "a number >= 1");
      require(a.triangular.n_iterations >= 1, "--triangular-iterations", a.triangular.n_iterations, "a number >= 1");
    }

    /**
     * The first option that only relaxations know, of which async has most; empty: none. What automatic knows, too,
     * such as --precision double, is none.
     */
    std::string what_asks_for_async(const Arguments &a)
    {
      if (!a.given_for_async.empty())
        return a.given_for_async.front();
      return a.has("--omega")                      ? "--omega"
             : a.precision == Precision::single    ? "--precision single"
             : a.criteria.relative_tolerance == 0. ? "--tolerance 0"
                                                   : "";
    }

    /** What is written may replace neither what is read nor something else that is written. */
    void check_paths(const Arguments &a)
    {
      std::vector<std::pair<std::string, std::string>> paths = {{"MATRIX", a.matrix}, {"--rhs", a.rhs}, {"--near-null-space", a.near_null_space}};
      for (const auto &[option, path] : {std::pair(std::string("--solution"), a.solution), {"--history", a.history}, {"--choice", a.choice}})
        {
          std::error_code ignored;
          for (const auto &[other, other_path] : paths)
            if (!path.empty() && !other_path.empty() &&
                std::filesystem::weakly_canonical(path, ignored) == std::filesystem::weakly_canonical(other_path, ignored))
              throw UsageError(std::string(option).append(" and ").append(other).append(" are the same file, ") + path +
                               "\n  expected: different files");
          paths.emplace_back(option, path);
        }
    }
  } // namespace

  std::vector<std::string> solver_names()
  {
    std::vector<std::string> names = {"automatic", "cg", "gmres", "multigrid", "direct"};
    for (const std::string &name : method_names(as_solver))
      names.push_back(name);
    return names;
  }

  const Method &Arguments::method() const
  {
    static const Method none = [] {
      Method nothing;
      nothing.omega = OmegaRange::none;
      return nothing;
    }();
    const Method *found = has_multigrid() ? lookup_method(smoother, as_smoother)
                          : has_factors() ? (triangular.solve == TriangularSolve::asynchronous ? lookup_method("async") : nullptr)
                          : is_krylov()   ? lookup_method(preconditioner, as_preconditioner)
                                          : lookup_method(method_name, as_solver);
    return found != nullptr ? *found : none;
  }

  bool Arguments::runs_on(Backend where) const
  {
    if (method_name == "direct" || method_name == "automatic")
      return where != Backend::cuda;
    const MethodUse use = has_multigrid() ? as_smoother : is_krylov() ? as_preconditioner : as_solver;
    return method().name[0] == '\0' || method().runs_on(where, use);
  }

  int parse_command_line(int argc, char **argv, Arguments &a)
  {
    CLI::App    app("leopard-solve solves A x = b: by block-asynchronous iteration, by Krylov methods and multigrid, or by a classical relaxation to "
                    "compare them with.",
                 "leopard-solve");
    std::string meanings =
      "\n  cg: conjugate gradients, for symmetric positive definite matrices\n  gmres: flexible GMRES(50), for all others"
      "\n  multigrid: of stencils where the matrix is one, else by smoothed aggregation\n  direct: sparse LU or Cholesky factors, on the host";
    for (const Method *method : methods())
      if ((method->uses & as_solver) != 0)
        meanings += "\n  " + std::string(method->name) + ": " + method->meaning;
    app.footer("Methods:" + meanings +
               "\n\nExample: leopard-solve A.mtx --blocks metis --solution x.mtx --history residuals.csv\n"
               "A badly scaled system is solved as a scaled one: where rounding keeps the residual of the file's above the tolerance, 0 means that\n"
               "that of the scaled one meets it, and each equation meets it against its own terms; the log says both.\n"
               "Exit code: 0 solved, or with --tolerance 0 all iterations done; 1 not so, or something wrong with files or devices, 2 wrong usage.");
    a.criteria.relative_tolerance = 1e-10;
    add_problem(app, a);
    add_method(app, a);
    add_async(app, a);
    add_stopping(app, a);
    app.set_version_flag("--version",
                         std::string("leopard-solve ") + version() + " (" + git_commit() + ")" +
                           (device::built_with_cuda() ? ", with CUDA" : ", without CUDA"));
    std::vector<std::string> words = words_of(argc, argv);
    std::reverse(words.begin(), words.end()); // as CLI11 wants them
    try
      {
        app.parse(std::move(words));
      }
    catch (const CLI::Success &success) // help and version
      {
        return app.exit(success);
      }
    catch (const CLI::ParseError &error)
      {
        const std::string what = error.what();
        throw UsageError(what + (what.find("\n  expected:") == std::string::npos ? "\n  to do: leopard-solve --help shows the options" : ""));
      }
    for (const CLI::Option *option : app.get_options())
      if (option->count() > 0 && !option->get_lnames().empty())
        {
          a.given.insert("--" + option->get_lnames().front());
          if (option->get_group() == group_of_async)
            a.given_for_async.push_back("--" + option->get_lnames().front());
        }
    if (!a.has("--method"))
      a.asks_for_async = what_asks_for_async(a);
    if (!a.asks_for_async.empty() || (a.analyze && !a.has("--method")))
      a.method_name = "async";
    a.triangular.solve = a.triangular_solves == "async" ? TriangularSolve::asynchronous : TriangularSolve::exact;
    if (a.async.overlap != Overlap::none && !a.has("--overlap-percent") && !a.has("--overlap-level"))
      a.async.overlap_percent = usual_overlap_percent;
    if (a.method().corrects) // --precision single: in the precision of the vectors
      a.async.corrections = a.precision == Precision::mixed ? Corrections::single_precision : Corrections::working_precision;
    a.async.backend         = a.backend == "reference" ? Backend::reference : Backend::host;
    a.criteria.keep_history = !a.history.empty();
    a.criteria.validate();
    check_numbers(a);
    if (a.has("--gpus"))
      take_gpus(a);
    check_krylov_and_multigrid(a);
    check_method(a);
    check_async(a);
    check_modes(a);
    check_precision(a);
    check_paths(a);
    if (a.method().has_blocks)
      a.async.validate();
    if (a.n_gpus > 0)
      {
        BlockAsyncOptions options = is_async_alone(a) ? a.async : BlockAsyncOptions();
        options.backend           = Backend::cuda;
        a.gpus.validate(options);
      }
    if (!a.method().has_blocks)
      {
        PointRelaxationOptions point;
        point.omega = a.async.omega; // 1 where there is none
        point.validate();
        BlockAsyncOptions threads;
        threads.n_threads = a.async.n_threads;
        threads.validate();
      }
    return -1;
  }
} // namespace leopard::command_line
