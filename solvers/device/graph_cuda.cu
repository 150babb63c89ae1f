// SPDX-License-Identifier: Apache-2.0
#include "cuda_error.cuh"
#include "device.h"
#include "recording.cuh"

namespace leopard::device
{
  struct Graph::Data
  {
    cudaGraphExec_t executable = nullptr;
    ~Data()
    {
      if (executable == nullptr)
        return;
      const RecordingLock lock(recording());
      cudaGraphExecDestroy(executable);
    }
  };

  Graph::Graph()
    : data(std::make_unique<Data>())
  {
  }

  Graph::~Graph() = default;

  bool is_recording()
  {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    LEOPARD_CHECK(cudaStreamIsCapturing(cudaStreamPerThread, &status));
    return status != cudaStreamCaptureStatusNone;
  }

  bool Graph::is_recorded() const
  {
    return data->executable != nullptr;
  }

  void Graph::record(const std::function<void()> &function)
  {
    const RecordingLock lock(recording());
    data              = std::make_unique<Data>();
    cudaGraph_t graph = nullptr;
    LEOPARD_CHECK(cudaStreamBeginCapture(cudaStreamPerThread, cudaStreamCaptureModeThreadLocal));
    try
      {
        function();
      }
    catch (...)
      {
        cudaStreamEndCapture(cudaStreamPerThread, &graph);
        if (graph != nullptr)
          cudaGraphDestroy(graph);
        cudaGetLastError(); // the recording's end reports what went wrong once more
        throw;
      }
    LEOPARD_CHECK(cudaStreamEndCapture(cudaStreamPerThread, &graph));
    const cudaError_t code = cudaGraphInstantiate(&data->executable, graph, 0);
    cudaGraphDestroy(graph);
    LEOPARD_CHECK(code);
  }

  void Graph::launch() const
  {
    if (data->executable == nullptr)
      throw DeviceError("a CUDA graph is launched before it was recorded");
    LEOPARD_CHECK(cudaGraphLaunch(data->executable, cudaStreamPerThread));
  }
} // namespace leopard::device
