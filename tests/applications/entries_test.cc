// SPDX-License-Identifier: Apache-2.0
// Who reads an entry, and what --resume allows for it.
#include <applications/base/log.h>
#include <applications/base/parameter_file.h>
#include <applications/run/entries.h>
#include <applications/run/parameters.h>
#include <applications/run/resume.h>
#include <applications/run/run.h>
#include <applications/run/unused_entries.h>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

namespace leopard
{
  namespace
  {
    namespace fs = std::filesystem;

    TEST(SameValue, ComparesNumbersAndWords)
    {
      EXPECT_TRUE(same_value("1e-3", "0.001"));
      EXPECT_TRUE(same_value("0, 1", "0,1.0"));
      EXPECT_TRUE(same_value("0", "0, 0.0"));
      EXPECT_TRUE(same_value("0.5 * cos(2*pi*x)", "5e-1*cos( 2 * pi*x )"));
      EXPECT_TRUE(same_value("", "  "));
      EXPECT_FALSE(same_value("1e-3", "1e-4"));
      EXPECT_FALSE(same_value("0, 1", "0, 1, 1"));
      EXPECT_FALSE(same_value("0, 0", "0, 1"));
      EXPECT_FALSE(same_value("x", "y"));
      EXPECT_FALSE(same_value("my mesh.msh", "mymesh.msh"));
      EXPECT_FALSE(same_value("u1", "u2"));
      EXPECT_FALSE(same_value("", "0"));
      EXPECT_FALSE(same_value("true", "false"));
    }

    TEST(Entries, EveryEntryHasItsRowAndEveryRowAnEntry)
    {
      const auto            declared = assignments_of(Parameters::documentation());
      const auto            rows     = rows_of_entries();
      std::set<std::string> different(rows.begin(), rows.end());
      EXPECT_EQ(different.size(), rows.size()) << "a row twice";
      EXPECT_GT(declared.size(), 100u);
      for (const auto &[entry, value] : declared)
        {
          EXPECT_NO_THROW(on_resume(entry, true)) << entry;
          EXPECT_NO_THROW(on_resume(entry, false)) << entry;
        }
      for (const std::string &row : rows)
        EXPECT_TRUE(
          std::any_of(declared.begin(),
                      declared.end(),
                      [&](const auto &d) { return row.back() == '*' ? d.first.rfind(row.substr(0, row.size() - 1), 0) == 0 : d.first == row; }))
          << "no entry is declared for the row " << row;
    }

    /**
     * A parameter file, small enough for a hundred runs of it, and what none of its entries can show in so small a run.
     */
    struct Case
    {
      std::string           name;
      std::string           text;
      std::set<std::string> without_effect;
    };

    const std::string tiny = "subsection Mesh\n set Global refinements = 2\nend\n";
    const std::string turing =
      "set Problem = turing\nsubsection Turing\n set gamma = 100\n set Start from steady state = true\n set Perturbation = 0.05\nend\n" + tiny +
      "subsection Discretization\n set Method = finite elements\nend\n";
    const std::string steps = "subsection Time stepping\n set Step control = fixed\n set Step size = 1e-3\n set End time = 3e-3\nend\nsubsection "
                              "Output\n set Log every = 1\nend\n";

    const std::vector<Case> &cases()
    {
      // a steady state that is found anyway; values that stay positive and bounded; a line search that is content at
      // once; one rank
      static const std::set<std::string> quiet     = {"Turing/Constants", // that nobody names
                                                      "Laplace/Constants",
                                                      "Helmholtz/Constants",
                                                      "Reaction-diffusion/Constants",
                                                      "Turing/Steady state",
                                                      "Turing/Steady state guess",
                                                      "Time stepping/Blow-up factor",
                                                      "Time stepping/Negative values",
                                                      "Newton/Line search",
                                                      "Linear solver/Wait for ghosts",
                                                      "Multigrid/Wait for ghosts"};
      const auto                         quiet_and = [](const std::string &entry) {
        std::set<std::string> result = quiet;
        result.insert(entry);
        return result;
      };
      const auto solver = [](const std::string &entries) { return "subsection Linear solver\n set Threads = 1\n" + entries + "end\n"; };
      const auto time   = [](const std::string &entries) { return "subsection Time stepping\n" + entries + "end\n"; };

      static const std::vector<Case> all = {
        {"fused", turing + steps + solver(""), quiet},
        {"fused, SBDF2",
         turing + steps + time(" set Scheme = SBDF2\n") + solver(" set Method = cg\n set Preconditioner = async\n"),
         quiet_and("Newton/Max steps")},
        {"general, gmres with async",
         turing + "subsection Mesh\n set Cells = 2\nend\nsubsection Output\n set Log every = 1\nend\n" +
           time(" set Engine = general\n set Step control = fixed\n set Step size = 1e-2\n set End time = 3e-2\n") +
           solver(" set Method = gmres\n set Preconditioner = async\n set Block size = 4\n"),
         quiet_and("Output/Times")},
        {"general, replay, error control",
         turing + "subsection Output\n set Log every = 1\nend\n" +
           time(" set Step size = 2e-3\n set Largest step = 1\n set End time = 0.08\n set Error tolerance = 0.1\n") +
           solver(" set Method = async\n set Schedule = replay\n set Block size = 8\n"),
         quiet},
        {"general, SBDF2, direct", turing + steps + time(" set Scheme = SBDF2\n") + solver(" set Method = direct\n"), quiet},
        {"stationary, multigrid",
         "set Problem = laplace\nsubsection Laplace\n set Source = 1\nend\nsubsection Mesh\n set Global refinements = 4\nend\n"
         "subsection Multigrid\n set Levels = 3\nend\n" +
           solver(" set Method = multigrid\n set Precision = double\n"),
         quiet},
        {"stationary, chebyshev",
         "set Problem = helmholtz\nsubsection Helmholtz\n set Source = 1\n set Delta = 100\nend\n" + tiny + solver(" set Method = chebyshev\n"),
         quiet},
        {"Newton, fixed iterations",
         "set Problem = reaction-diffusion\nsubsection Reaction-diffusion\n set Source = 2\nend\n" + tiny +
           "subsection Discretization\n set Method = finite elements\nend\nsubsection Newton\n set Forcing = fixed iterations\n set Linear "
           "iterations = 10\nend\n" +
           solver(" set Block size = 3\n"),
         quiet},
        {"stationary, automatic",
         "set Problem = laplace\nsubsection Laplace\n set Source = 1\nend\nsubsection Mesh\n set Global refinements = 4\nend\n"
         "subsection Multigrid\n set Levels = 3\n set Precision = double\nend\n" +
           solver(""),
         quiet},
        {"adaptive",
         "set Problem = laplace\nsubsection Laplace\n set Source = 1\nend\nsubsection Mesh\n set Global refinements = 3\n set Adaptive = true\n"
         " set Adaptive cycles = 2\nend\n" +
           solver(" set Method = cg\n set Preconditioner = ssor\n"),
         quiet_and("Mesh/Coarsen fraction")}};
      return all;
    }

    /** A picture that can be read; no expression of the cases names it. */
    std::string picture()
    {
      const fs::path path = fs::temp_directory_path() / ("leopard_entries_" + std::to_string(::getpid()) + ".csv");
      std::ofstream(path) << "1, 2\n3, 4\n";
      return path.string();
    }

    /** One or two values that are not the default. */
    const std::map<std::string, std::vector<std::string>> &other_values()
    {
      static const std::map<std::string, std::vector<std::string>> values = {{"Problem", {"helmholtz", "laplace"}},
                                                                             {"Dimension", {"3"}},
                                                                             {"Study", {"smoothers"}},
                                                                             {"Run/Wall time", {"1e-9"}},
                                                                             {"Run/Stop if too slow", {"true"}},
                                                                             {"Run/Checkpoint interval", {"0"}},
                                                                             {"Run/Checkpoint steps", {"1"}},
                                                                             {"Run/Sweep ranks per run", {"1"}},
                                                                             {"Run/Sweep runs at a time", {"2"}},
                                                                             {"Output/Times", {"1e-3, 2e-3"}},
                                                                             {"Output/Interval", {"1e-3"}},
                                                                             {"Output/Scale by growth", {"false"}},
                                                                             {"Output/Log every", {"3"}},
                                                                             {"Output/Spot threshold", {"5"}},
                                                                             {"Laplace/Constants", {"k: 1"}},
                                                                             {"Helmholtz/Constants", {"k: 1"}},
                                                                             {"Reaction-diffusion/Constants", {"k: 1"}},
                                                                             {"Laplace/Coefficient", {"2"}},
                                                                             {"Laplace/Coefficient tensor", {"2, 0, 1"}},
                                                                             {"Laplace/Source", {"x"}},
                                                                             {"Laplace/Initial value", {"sin(20*x)*y"}},
                                                                             {"Laplace/Initial values from", {"no_such_run"}},
                                                                             {"Laplace/Exact solution", {"x"}},
                                                                             {"Laplace/Boundary values", {"*: x"}},
                                                                             {"Laplace/Boundary fluxes", {"1: 2"}},
                                                                             {"Helmholtz/Delta", {"7"}},
                                                                             {"Helmholtz/Source", {"x"}},
                                                                             {"Helmholtz/Initial value", {"sin(20*x)*y"}},
                                                                             {"Helmholtz/Initial values from", {"no_such_run"}},
                                                                             {"Helmholtz/Exact solution", {"x"}},
                                                                             {"Helmholtz/Boundary values", {"*: x"}},
                                                                             {"Helmholtz/Boundary fluxes", {"1: 2"}},
                                                                             {"Reaction-diffusion/Reaction", {"expression"}},
                                                                             {"Reaction-diffusion/alpha", {"3"}},
                                                                             {"Reaction-diffusion/beta", {"3"}},
                                                                             {"Reaction-diffusion/f", {"u"}},
                                                                             {"Reaction-diffusion/Derivative of f", {"1"}},
                                                                             {"Reaction-diffusion/Source", {"x"}},
                                                                             {"Reaction-diffusion/Initial value", {"x*y"}},
                                                                             {"Reaction-diffusion/Initial values from", {"no_such_run"}},
                                                                             {"Reaction-diffusion/Exact solution", {"x"}},
                                                                             {"Reaction-diffusion/Boundary values", {"*: x"}},
                                                                             {"Reaction-diffusion/Boundary fluxes", {"1: 2"}},
                                                                             {"Turing/Kinetics", {"Brusselator"}},
                                                                             {"Turing/gamma", {"70"}},
                                                                             {"Turing/kappa", {"12"}},
                                                                             {"Turing/Barkley a", {"0.7"}},
                                                                             {"Turing/Barkley b", {"0.05"}},
                                                                             {"Turing/Barkley epsilon", {"0.03"}},
                                                                             {"Turing/Brusselator A", {"1.5"}},
                                                                             {"Turing/Brusselator B", {"1.5"}},
                                                                             {"Turing/FitzHugh-Nagumo a", {"0.5"}},
                                                                             {"Turing/FitzHugh-Nagumo b", {"0.5"}},
                                                                             {"Turing/FitzHugh-Nagumo epsilon", {"0.5"}},
                                                                             {"Turing/Gierer-Meinhardt a", {"0.3"}},
                                                                             {"Turing/Gierer-Meinhardt b", {"0.9"}},
                                                                             {"Turing/Gierer-Meinhardt K", {"0.1"}},
                                                                             {"Turing/Gray-Scott F", {"0.03"}},
                                                                             {"Turing/Gray-Scott k", {"0.05"}},
                                                                             {"Turing/Lengyel-Epstein a", {"11"}},
                                                                             {"Turing/Lengyel-Epstein b", {"0.3"}},
                                                                             {"Turing/Lengyel-Epstein sigma", {"19"}},
                                                                             {"Turing/Oregonator f", {"1.3"}},
                                                                             {"Turing/Oregonator q", {"0.003"}},
                                                                             {"Turing/Oregonator epsilon", {"0.02"}},
                                                                             {"Turing/Schnakenberg a", {"0.2"}},
                                                                             {"Turing/Schnakenberg b", {"0.9"}},
                                                                             {"Turing/Thomas a", {"100"}},
                                                                             {"Turing/Thomas b", {"76"}},
                                                                             {"Turing/Thomas alpha", {"1.4"}},
                                                                             {"Turing/Thomas rho", {"12"}},
                                                                             {"Turing/Thomas K", {"0.12"}},
                                                                             {"Turing/Noise u", {"0.1"}},
                                                                             {"Turing/Noise v", {"0.1"}},
                                                                             {"Turing/Cross-diffusion u", {"v: 0.1*u"}},
                                                                             {"Turing/Cross-diffusion v", {"u: 0.1*v"}},
                                                                             {"Turing/Quasi-stationary species", {"v"}},
                                                                             {"Turing/Advection u", {"1, 0"}},
                                                                             {"Turing/Advection v", {"1, 0"}},
                                                                             {"Turing/Species", {"a, b"}},
                                                                             {"Turing/Constants", {"k: 1"}},
                                                                             {"Turing/Reaction u", {"u"}},
                                                                             {"Turing/Reaction v", {"v"}},
                                                                             {"Turing/Diffusion u", {"2"}},
                                                                             {"Turing/Diffusion v", {"2"}},
                                                                             {"Turing/Diffusion tensor u", {"2, 0, 1"}},
                                                                             {"Turing/Diffusion tensor v", {"2, 0, 1"}},
                                                                             {"Turing/Images", {"coat: " + picture()}},
                                                                             {"Turing/Steady state", {"any"}},
                                                                             {"Turing/Steady state guess", {"u: 1, v: 1"}},
                                                                             {"Turing/Start from steady state", {"false", "true"}},
                                                                             {"Turing/Perturbation", {"0.1"}},
                                                                             {"Turing/Seed", {"7"}},
                                                                             {"Turing/Source u", {"1"}},
                                                                             {"Turing/Source v", {"1"}},
                                                                             {"Turing/Initial value u", {"0.3"}},
                                                                             {"Turing/Initial value v", {"0.3"}},
                                                                             {"Turing/Initial values from", {"no_such_run"}},
                                                                             {"Turing/Exact solution u", {"x"}},
                                                                             {"Turing/Exact solution v", {"x"}},
                                                                             {"Turing/Boundary values u", {"*: 1"}},
                                                                             {"Turing/Boundary values v", {"*: 1"}},
                                                                             {"Turing/Boundary fluxes u", {"1: 2"}},
                                                                             {"Turing/Boundary fluxes v", {"1: 2"}},
                                                                             {"Mesh/Domain", {"L-shape"}},
                                                                             {"Mesh/Lower corner", {"-1"}},
                                                                             {"Mesh/Upper corner", {"2"}},
                                                                             {"Mesh/Cells", {"3"}},
                                                                             {"Mesh/Radius", {"2"}},
                                                                             {"Mesh/Tube radius", {"0.3"}},
                                                                             {"Mesh/Half length", {"2"}},
                                                                             {"Mesh/File", {"no_such_file.msh"}},
                                                                             {"Mesh/Periodic", {"y"}},
                                                                             {"Mesh/Global refinements", {"1"}},
                                                                             {"Mesh/Adaptive", {"true", "false"}},
                                                                             {"Mesh/Adaptive cycles", {"1"}},
                                                                             {"Mesh/Refine fraction", {"0.6"}},
                                                                             {"Mesh/Coarsen fraction", {"0.4"}},
                                                                             {"Mesh/Growth", {"linear"}},
                                                                             {"Mesh/Growth rate", {"2"}},
                                                                             {"Discretization/Method", {"finite differences"}},
                                                                             {"Discretization/Degree", {"2"}},
                                                                             {"Discretization/Mass matrix", {"consistent"}},
                                                                             {"Linear solver/Method", {"direct", "gmres"}},
                                                                             {"Linear solver/Preconditioner", {"jacobi"}},
                                                                             {"Linear solver/Backend", {"reference"}},
                                                                             {"Linear solver/Precision", {"mixed"}},
                                                                             {"Linear solver/Max iterations", {"1"}},
                                                                             {"Linear solver/Relative tolerance", {"0.5"}},
                                                                             {"Linear solver/Test every", {"1"}},
                                                                             {"Linear solver/Omega", {"0.7"}},
                                                                             {"Linear solver/Tuning time", {"0.5"}},
                                                                             {"Linear solver/Local iterations", {"1"}},
                                                                             {"Linear solver/Block size", {"5"}},
                                                                             {"Linear solver/Block shape", {"rows"}},
                                                                             {"Linear solver/Overlap", {"uniform"}},
                                                                             {"Linear solver/Overlap percent", {"50"}},
                                                                             {"Linear solver/Overlap level", {"1"}},
                                                                             {"Linear solver/Block omega", {"0.8"}},
                                                                             {"Linear solver/l1 weights", {"true"}},
                                                                             {"Linear solver/Schedule", {"synchronous"}},
                                                                             {"Linear solver/Two stage", {"outer"}},
                                                                             {"Linear solver/Seed", {"17"}},
                                                                             {"Linear solver/Momentum", {"0.5"}},
                                                                             {"Linear solver/Smallest eigenvalue", {"0.1"}},
                                                                             {"Linear solver/Largest eigenvalue", {"3"}},
                                                                             {"Linear solver/Threads", {"3"}},
                                                                             {"Linear solver/Restart", {"2"}},
                                                                             {"Linear solver/Preconditioner iterations", {"1"}},
                                                                             {"Linear solver/Triangular solves", {"async"}},
                                                                             {"Linear solver/Triangular iterations", {"7"}},
                                                                             {"Linear solver/Fill level", {"1"}},
                                                                             {"Linear solver/Factor sweeps", {"4"}},
                                                                             {"Linear solver/Device", {"5"}},
                                                                             {"Linear solver/GPUs", {"2"}},
                                                                             {"Linear solver/GPU exchange", {"amc"}},
                                                                             {"Linear solver/Waiting", {"block"}},
                                                                             {"Linear solver/Wait for ghosts", {"false"}},
                                                                             {"Multigrid/Levels", {"2"}},
                                                                             {"Multigrid/Cycle", {"W"}},
                                                                             {"Multigrid/Full multigrid start", {"true"}},
                                                                             {"Multigrid/Pre smoothing", {"1"}},
                                                                             {"Multigrid/Post smoothing", {"1"}},
                                                                             {"Multigrid/Smoother", {"jacobi"}},
                                                                             {"Multigrid/Smoother omega", {"0.5"}},
                                                                             {"Multigrid/Smoothing iterations per step", {"2"}},
                                                                             {"Multigrid/Wait for ghosts", {"false"}},
                                                                             {"Multigrid/Block shape", {"contiguous"}},
                                                                             {"Multigrid/Blocks move", {"true"}},
                                                                             {"Multigrid/Coarse solver", {"cg"}},
                                                                             {"Multigrid/Form", {"stored"}},
                                                                             {"Multigrid/Precision", {"single"}},
                                                                             {"Multigrid/Level storage", {"bfloat16"}},
                                                                             {"Multigrid/CUDA graph", {"false"}},
                                                                             {"Newton/Max steps", {"1"}},
                                                                             {"Newton/Relative tolerance", {"0.9"}},
                                                                             {"Newton/Absolute tolerance", {"0.9"}},
                                                                             {"Newton/Error fraction", {"0"}},
                                                                             {"Newton/Forcing", {"Eisenstat-Walker", "relative tolerance"}},
                                                                             {"Newton/Linear iterations", {"3"}},
                                                                             {"Newton/Linear tolerance", {"0.5"}},
                                                                             {"Newton/Line search", {"false"}},
                                                                             {"Time stepping/Scheme", {"implicit Euler"}},
                                                                             {"Time stepping/Step control", {"fixed", "multiple of h^2"}},
                                                                             {"Time stepping/Step size", {"5e-4"}},
                                                                             {"Time stepping/Step factor", {"0.3"}},
                                                                             {"Time stepping/Bound fraction", {"0.5"}},
                                                                             {"Time stepping/Error tolerance", {"1e-2"}},
                                                                             {"Time stepping/Smallest step", {"0.5"}},
                                                                             {"Time stepping/Largest step", {"1.5e-3"}},
                                                                             {"Time stepping/End time", {"2e-3"}},
                                                                             {"Time stepping/Estimate error", {"true"}},
                                                                             {"Time stepping/Steady tolerance", {"1e9"}},
                                                                             {"Time stepping/Negative values", {"stop"}},
                                                                             {"Time stepping/Engine", {"general", "fused"}},
                                                                             {"Time stepping/GPU exchange", {"messages"}},
                                                                             {"Time stepping/Blow-up factor", {"1e7"}},
                                                                             {"Verification/Refinements", {"1"}},
                                                                             {"Verification/Refine", {"time"}},
                                                                             {"Smoother study/Cases", {"one"}},
                                                                             {"Smoother study/Stencil", {"5-point"}},
                                                                             {"Smoother study/Sizes", {"15"}},
                                                                             {"Smoother study/Epsilon", {"1"}},
                                                                             {"Smoother study/Refinements", {"2"}},
                                                                             {"Smoother study/Additional refinements", {"1"}},
                                                                             {"Smoother study/Smoothers", {"jacobi"}},
                                                                             {"Smoother study/Levels", {"2"}},
                                                                             {"Smoother study/Smoothing steps", {"1"}},
                                                                             {"Smoother study/Cycles", {"W"}},
                                                                             {"Smoother study/Solvers", {"cg"}},
                                                                             {"Smoother study/Coarse solver", {"cg"}},
                                                                             {"Smoother study/Coarse tolerance", {"0.1"}},
                                                                             {"Smoother study/Backend", {"host"}},
                                                                             {"Smoother study/Repetitions", {"1"}},
                                                                             {"Smoother study/Tolerance", {"1e-3"}},
                                                                             {"Smoother study/Max cycles", {"3"}},
                                                                             {"Smoother study/Cycles beyond", {"1"}},
                                                                             {"Smoother study/Published", {"Table 4.11"}}};
      return values;
    }

    /** Entries that say where, or that runs of a sweep, are no part of one run. */
    const std::set<std::string> left_out = {
      "Run/Directory", "Run/Sweep", "Run/Sweep ranks per run", "Run/Sweep runs at a time", "Run/Sweep keeps", "Study"};

    class Runs
    {
    public:
      Runs()
        : folder(fs::temp_directory_path() / ("leopard_entries_" + std::to_string(::getpid())))
      {
        fs::create_directories(folder);
      }
      ~Runs() { fs::remove_all(folder); }

      std::string file(const std::string &text) const
      {
        std::ofstream(folder / "case.prm") << text;
        return (folder / "case.prm").string();
      }

      /** All that a run has left but times; or what it was refused or failed with. */
      std::string result(const std::string &file, std::vector<std::string> overrides) const
      {
        overrides.push_back("Run/Directory=" + (folder / "run").string());
        try
          {
            Parameters parameters(file, overrides, MPI_COMM_SELF);
            Log        quiet(MPI_COMM_SELF, false);
            run_once({file, overrides, OpenMode::overwrite, "test", {}}, parameters, NodePlace(), quiet, MPI_COMM_SELF);
          }
        catch (const std::exception &exception)
          {
            return std::string("refused: ") + exception.what();
          }
        return left_behind();
      }

      /** Entries that the last run has called unused. */
      std::set<std::string> not_used() const
      {
        std::set<std::string> entries;
        std::ifstream         stream(folder / "run/run.json");
        const nlohmann::json  json = nlohmann::json::parse(stream);
        for (const auto &item : json.at("not_used"))
          entries.insert(item.at("entry"));
        return entries;
      }

    private:
      std::string left_behind() const
      {
        std::vector<std::string> files;
        for (const auto &entry : fs::recursive_directory_iterator(folder / "run"))
          files.push_back(fs::relative(entry.path(), folder / "run").string());
        std::sort(files.begin(), files.end());
        std::ostringstream text;
        for (const std::string &name : files)
          {
            text << name << "\n";
            const bool log = name == "log.txt", statistics = name == "statistics";
            if (!log && !statistics && name.find(".vtu") == std::string::npos && name.find("convergence") == std::string::npos)
              continue;
            std::ifstream stream(folder / "run" / name);
            for (std::string line; std::getline(stream, line);)
              if (line.rfind("<!--", 0) != 0 && line.rfind("#This file", 0) != 0 && line.find("not used") == std::string::npos &&
                  line.find("finished after") == std::string::npos && line.find("seconds") == std::string::npos)
                text << (log ? without_seconds(line) : statistics ? without_column(line, 9) : line) << "\n";
          }
        return text.str();
      }

      static std::string without_seconds(const std::string &line)
      {
        if (line.rfind("step ", 0) == 0)
          return line.substr(0, line.find("  left "));
        const bool newton = line.size() > 60 && line.find_first_not_of(" 0123456789.e+-") == std::string::npos;
        return newton ? line.substr(0, line.find_last_of(' ')) : line;
      }

      static std::string without_column(const std::string &line, int column)
      {
        std::istringstream stream(line);
        std::string        word, text;
        for (int i = 0; stream >> word; ++i)
          text += i == column ? "" : word + " ";
        return text;
      }

      const fs::path folder;
    };

    class EntriesOf : public testing::TestWithParam<std::size_t>
    {
    };

    /** The first line of a log says how many threads there are, whether they are used or not. */
    std::string without_threads(const std::string &text)
    {
      return std::regex_replace(text, std::regex("host, [0-9]+ threads? a rank"), "host");
    }

    TEST(Entries, APictureThatNobodyNamesIsNotUsed)
    {
      const Runs        runs;
      const std::string file = runs.file(cases()[0].text);
      runs.result(file, {"Turing/Images=coat: " + picture() + ", rain: " + picture(), "Turing/gamma=100*rain"});
      EXPECT_EQ(runs.not_used().count("Turing/Images/coat"), 1u);
      EXPECT_EQ(runs.not_used().count("Turing/Images/rain"), 0u);
      EXPECT_EQ(runs.not_used().count("Turing/Images"), 0u);
      fs::remove(picture());
    }

    TEST_P(EntriesOf, AreUsedOrNamed)
    {
      const Case       &tested = cases()[GetParam()];
      const Runs        runs;
      const std::string file = runs.file(tested.text);
      SCOPED_TRACE(tested.name);
      const Parameters  parameters(file, {}, MPI_COMM_SELF);
      const std::string reference = runs.result(file, {});
      ASSERT_EQ(reference.find("refused"), std::string::npos) << reference;
      ASSERT_EQ(reference, runs.result(file, {})) << "the case is not reproducible";

      // every entry is given, with the value that it has anyway
      std::vector<std::string> all;
      for (const auto &[entry, value] : assignments_of(parameters.all_entries))
        if (left_out.count(entry) == 0)
          all.push_back(entry + "=" + value);
      ASSERT_EQ(reference, runs.result(file, all));
      const std::set<std::string> not_used = runs.not_used();
      EXPECT_GT(not_used.size(), 40u);

      std::vector<std::string> others; // of what is not used
      for (const auto &[entry, value] : assignments_of(parameters.all_entries))
        if (left_out.count(entry) == 0)
          {
            ASSERT_EQ(other_values().count(entry), 1u) << "the test knows no other value for " << entry;
            std::string other;
            for (const std::string &candidate : other_values().at(entry))
              if (other.empty() && !same_value(candidate, value))
                other = entry + "=" + candidate;
            ASSERT_FALSE(other.empty()) << entry;
            if (not_used.count(entry) == 0)
              {
                EXPECT_TRUE(tested.without_effect.count(entry) == 1 || reference != runs.result(file, {other}))
                  << other << " is used, it is said, and changes nothing";
                continue;
              }
            if (entry == "Linear solver/Method" || entry == "Linear solver/Preconditioner")
              continue; // of the fused time loop: another one may be a reason for the general one
            others.push_back(other);
            try
              {
                Parameters(file, others, MPI_COMM_SELF);
              }
            catch (const std::exception &)
              {
                others.pop_back(); // refused, which is said
              }
          }
      EXPECT_EQ(without_threads(reference), without_threads(runs.result(file, others)))
        << "some of these are not used, it is said, and change something";
      for (const std::string &other : others)
        EXPECT_EQ(runs.not_used().count(other.substr(0, other.find('='))), 1u) << other;
    }

    INSTANTIATE_TEST_SUITE_P(Cases, EntriesOf, testing::Range<std::size_t>(0, cases().size()));
  } // namespace
} // namespace leopard
