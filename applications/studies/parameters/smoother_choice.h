// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <solvers/multigrid/smoother.h>

#include <optional>
#include <string>

namespace leopard
{
  /** One of the smoothers that a study compares. */
  struct SmootherChoice
  {
    std::string            text; ///< as written, and its name in tables
    SmootherOptions        options;
    std::optional<Backend> backend; ///< empty: the study's, or the host where the smoother does not run on a GPU

    /** Where it runs in a study on the given backend. */
    Backend backend_in(Backend study) const;
  };

  /**
   * "NAME" or "NAME(OPTION=VALUE, ...)" with a name of method_names(as_smoother). Options of all: merged (iterations
   * that make a smoothing step), backend (host or cuda); of those that have one: omega; of async: k (local iterations),
   * block (rows), shape, schedule, l1, overlap (percent); of chebyshev: lambda_min, lambda_max.
   * @param entry "Section/Entry", for messages. @throws Error naming what was found, what resembles it, and what is
   * expected.
   */
  SmootherChoice parse_smoother(const std::string &entry, const std::string &text);

  /** The options of parse_smoother() with their meaning, for the documentation of an entry. */
  std::string smoother_syntax();
} // namespace leopard
