// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cuda_error.cuh"
#include "recording.cuh"

#include <cstddef>

namespace leopard::device
{
  /**
   * A CUDA graph with loops and branches that kernels in it decide on, so that it runs without the host. Made of
   * pieces: record() what is launched on the calling thread's stream, add_condition() what is to be repeated or left
   * out. What a library launches must have been used once before it is recorded.
   */
  class ConditionalGraph
  {
  public:
    ConditionalGraph() = default;
    ~ConditionalGraph() { forget(); }

    ConditionalGraph(const ConditionalGraph &)            = delete;
    ConditionalGraph &operator=(const ConditionalGraph &) = delete;

    /** Whether it was completed and can be launched. */
    bool exists() const { return executable != nullptr; }

    void forget()
    {
      if (executable == nullptr && graph == nullptr)
        return;
      const RecordingLock lock(recording());
      if (executable != nullptr)
        cudaGraphExecDestroy(executable);
      if (graph != nullptr)
        cudaGraphDestroy(graph);
      executable = nullptr;
      graph      = nullptr;
    }

    /** @return the graph itself, still empty. */
    cudaGraph_t begin()
    {
      forget();
      LEOPARD_CHECK(cudaGraphCreate(&graph, 0));
      return graph;
    }

    void complete()
    {
      const RecordingLock lock(recording());
      LEOPARD_CHECK(cudaGraphInstantiate(&executable, graph, 0));
    }

    /** Queued. @throws DeviceError if there is none. */
    void launch() const
    {
      if (!exists())
        throw DeviceError("a CUDA graph is to be launched that has not been completed\n  expected: no use after its making has failed");
      LEOPARD_CHECK(cudaGraphLaunch(executable, cudaStreamPerThread));
    }

    /**
     * Something that kernels set by cudaGraphSetConditional(). @param in the graph that it is to stand in. It is 0 at
     * each launch.
     */
    static cudaGraphConditionalHandle new_condition(cudaGraph_t in)
    {
      cudaGraphConditionalHandle handle;
      LEOPARD_CHECK(cudaGraphConditionalHandleCreate(&handle, in, 0, cudaGraphCondAssignDefault));
      return handle;
    }

    /**
     * A node that runs its graphs by a condition that a kernel before it sets. @param node before it; becomes it.
     * @return its graphs: one, or two (if, else).
     */
    static cudaGraph_t *
    add_condition(cudaGraph_t to, cudaGraphNode_t &node, cudaGraphConditionalHandle handle, cudaGraphConditionalNodeType type, int n_graphs)
    {
      const cudaGraphNode_t after = node;
      cudaGraphNodeParams   parameters{};
      parameters.type               = cudaGraphNodeTypeConditional;
      parameters.conditional.handle = handle;
      parameters.conditional.type   = type;
      parameters.conditional.size   = n_graphs;
      LEOPARD_CHECK(cudaGraphAddNode(&node, to, &after, nullptr, 1, &parameters));
      return parameters.conditional.phGraph_out;
    }

    /**
     * Puts what `launch` launches on the stream into a graph, behind a node or (nullptr) at its beginning. If it
     * throws, the stream records no longer.
     * @return the last node.
     */
    template <typename Launch>
    static cudaGraphNode_t record(cudaGraph_t into, cudaGraphNode_t after, const Launch &launch)
    {
      const RecordingLock lock(recording());
      const cudaStream_t  stream = cudaStreamPerThread;
      LEOPARD_CHECK(cudaStreamBeginCaptureToGraph(
        stream, into, after != nullptr ? &after : nullptr, nullptr, after != nullptr ? 1 : 0, cudaStreamCaptureModeThreadLocal));
      cudaGraphNode_t result = nullptr;
      try
        {
          launch();
          LEOPARD_CHECK(cudaGetLastError());
          cudaStreamCaptureStatus status;
          const cudaGraphNode_t  *last   = nullptr;
          std::size_t             n_last = 0;
          LEOPARD_CHECK(cudaStreamGetCaptureInfo(stream, &status, nullptr, nullptr, &last, nullptr, &n_last));
          result = n_last > 0 ? last[0] : nullptr;
        }
      catch (...)
        {
          cudaStreamEndCapture(stream, &into);
          cudaGetLastError(); // the recording's end reports what went wrong once more
          throw;
        }
      LEOPARD_CHECK(cudaStreamEndCapture(stream, &into));
      return result;
    }

  private:
    cudaGraph_t     graph      = nullptr;
    cudaGraphExec_t executable = nullptr;
  };
} // namespace leopard::device
