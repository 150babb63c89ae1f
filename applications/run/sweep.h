// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <applications/symbolic/differentiate.h>

#include <string>
#include <vector>

namespace dealii
{
  class ParameterHandler;
}

namespace leopard
{
  /** An entry, or one of the constants of the file, that a sweep varies. */
  struct SweepAxis
  {
    std::string              name;  ///< as the user wrote it: "gamma"
    std::string              entry; ///< its path: "Turing/gamma", or "Turing/Constants/a"
    std::vector<std::string> values;
  };

  /** One run of a sweep. */
  struct SweepRun
  {
    std::string              name;      ///< "gamma=500, kappa=8"
    std::string              folder;    ///< the same, fit for a file system
    std::vector<std::string> values;    ///< one for each axis, numbers as such also where they are written as arithmetic
    std::vector<std::string> overrides; ///< "Turing/gamma=500", ...
  };

  /** Why what a file asks for is not written, see SweepParameters::writes_files(). */
  inline const char *const keeps_measures = "'Run/Sweep keeps' is measures";

  /** What section "Run" of the parameter file says about a parameter sweep. */
  struct SweepParameters
  {
    std::vector<SweepAxis> axes;              ///< empty: one run, no sweep
    Constants              constants;         ///< of the problem
    unsigned int           ranks_per_run = 0; ///< 0: all ranks of the program
    unsigned int           at_a_time     = 0; ///< runs that one rank does side by side; 0: as many as pay
    bool                   measures_only = false;
    bool                   is_one_run    = false; ///< these are the parameters of one run of a sweep; said by it, no entry

    void declare(dealii::ParameterHandler &prm);
    /**
     * @throws Error for a form that is not understood, an entry that does not exist or is ambiguous, with similar ones,
     * and values named twice.
     */
    void read(dealii::ParameterHandler &prm, const std::string &problem_section, const Constants &constants);

    /** All combinations; the last axis runs fastest. */
    std::vector<SweepRun> runs() const;

    bool is_sweep() const { return is_one_run || !axes.empty(); }
    /** Whether runs write fields and checkpoints. */
    bool writes_files() const { return !(measures_only && is_sweep()); }
  };
} // namespace leopard
