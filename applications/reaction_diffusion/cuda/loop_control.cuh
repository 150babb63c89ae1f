// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <solvers/device/conditional_graph.cuh>
#include <solvers/device/cuda_error.cuh>
#include <solvers/device/host_array.h>

#include <algorithm>
#include <tuple>
#include <utility>

namespace leopard::reaction_diffusion
{
  // Loops and branches around kernels on the calling thread's stream, which other kernels decide on. Of the two classes
  // here one records them, the other one follows them; what is looped over is written once, for either:
  //
  //   condition(name)           of a loop or branch of the body that is being gone through; a kernel is to set it
  //   queue(launch)             launches kernels
  //   repeat_while(c, body)     body() calls these functions again
  //   either(c, yes, no), if_holds(c, yes)

  /** What loops and branches of the time loop depend on. */
  enum class LoopCondition
  {
    running,       ///< there is something to do
    correcting,    ///< it is a correction, and no prediction
    iterating,     ///< global iterations are left
    cycles_wanted, ///< there is something for multigrid to do
    cycles_left,   ///< there is to be a cycle
    n
  };

  /** A condition, as kernels set it: of a CUDA graph, or (answer not null) for the host. It does not hold at first. */
  struct Condition
  {
    cudaGraphConditionalHandle handle;
    int                       *answer; ///< host memory that kernels reach

    __device__ void set(bool holds) const
    {
      if (answer != nullptr)
        *answer = holds ? 1 : 0;
      else
        cudaGraphSetConditional(handle, holds ? 1 : 0);
    }
  };

  /** Makes a CUDA graph of them, which runs without the host. */
  class RecordedLoops
  {
    using Graph = device::ConditionalGraph;

  public:
    /** @param whole the graph, still empty. */
    explicit RecordedLoops(cudaGraph_t whole)
      : into(whole)
    {
    }

    Condition condition(LoopCondition /*name*/) const { return {Graph::new_condition(into), nullptr}; }

    template <typename Launch>
    void queue(const Launch &launch)
    {
      last = Graph::record(into, last, launch);
    }
    template <typename Body>
    void repeat_while(Condition c, const Body &body)
    {
      inside(Graph::add_condition(into, last, c.handle, cudaGraphCondTypeWhile, 1)[0], body);
    }
    template <typename Yes, typename No>
    void either(Condition c, const Yes &yes, const No &no)
    {
      const cudaGraph_t *const graphs = Graph::add_condition(into, last, c.handle, cudaGraphCondTypeIf, 2);
      const cudaGraph_t        of_no  = graphs[1];
      inside(graphs[0], yes);
      inside(of_no, no);
    }
    template <typename Yes>
    void if_holds(Condition c, const Yes &yes)
    {
      inside(Graph::add_condition(into, last, c.handle, cudaGraphCondTypeIf, 1)[0], yes);
    }

  private:
    template <typename Body>
    void inside(cudaGraph_t graph, const Body &body)
    {
      const auto outside   = std::pair(into, last);
      std::tie(into, last) = std::pair(graph, cudaGraphNode_t(nullptr));
      body();
      std::tie(into, last) = outside;
    }

    cudaGraph_t     into; ///< what is being gone through
    cudaGraphNode_t last = nullptr;
  };

  /**
   * Goes through them on the host, which waits for the device at each condition: for what is not queued as a whole,
   * such as exchanges by messages.
   */
  class FollowedLoops
  {
  public:
    FollowedLoops()
      : answers(static_cast<std::size_t>(LoopCondition::n))
    {
    }

    /** Before they are gone through, once more too, when the stream has nothing to do: no condition holds. */
    void begin() const { std::fill_n(answers.data(), answers.size(), 0); }

    Condition condition(LoopCondition name) const { return {{}, answers.data() + static_cast<int>(name)}; }

    template <typename Launch>
    void queue(const Launch &launch) const
    {
      launch();
      LEOPARD_CHECK(cudaGetLastError());
    }
    template <typename Body>
    void repeat_while(Condition c, const Body &body) const
    {
      while (holds(c))
        body();
    }
    template <typename Yes, typename No>
    void either(Condition c, const Yes &yes, const No &no) const
    {
      if (holds(c))
        yes();
      else
        no();
    }
    template <typename Yes>
    void if_holds(Condition c, const Yes &yes) const
    {
      if (holds(c))
        yes();
    }

  private:
    static bool holds(Condition c)
    {
      LEOPARD_CHECK(cudaStreamSynchronize(cudaStreamPerThread));
      return *c.answer != 0;
    }

    device::HostArray<int> answers;
  };
} // namespace leopard::reaction_diffusion
