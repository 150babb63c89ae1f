// SPDX-License-Identifier: Apache-2.0
#include "names.h"

namespace leopard
{
  std::string to_string(Schedule schedule)
  {
    switch (schedule)
      {
        case Schedule::synchronous:
          return "synchronous";
        case Schedule::replay:
          return "replay";
        default:
          return "chaotic";
      }
  }

  std::string to_string(Overlap overlap)
  {
    switch (overlap)
      {
        case Overlap::uniform:
          return "uniform";
        case Overlap::upward:
          return "upward";
        case Overlap::downward:
          return "downward";
        default:
          return "none";
      }
  }

  const Names<Schedule> &schedule_names()
  {
    static const auto names = names_of({Schedule::chaotic, Schedule::synchronous, Schedule::replay});
    return names;
  }

  const Names<TwoStage> &two_stage_names()
  {
    static const auto names = names_of(two_stage_kinds);
    return names;
  }

  const Names<Execution> &execution_names()
  {
    static const auto names = names_of({Execution::automatic, Execution::launch, Execution::persistent});
    return names;
  }

  const Names<Overlap> &overlap_names()
  {
    static const auto names = names_of({Overlap::none, Overlap::uniform, Overlap::upward, Overlap::downward});
    return names;
  }
} // namespace leopard
