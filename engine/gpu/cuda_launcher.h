// Launches kernels on a CUDA stream, one by one and as graphs: the backend of a
// KernelQueue.
#ifndef GAUNTLET_ENGINE_GPU_CUDA_LAUNCHER_H_
#define GAUNTLET_ENGINE_GPU_CUDA_LAUNCHER_H_

#include <cstdio>
#include <cstdlib>

#include <cuda_runtime.h>

#include "engine/gpu/cuda_failure.h"
#include "engine/gpu/kernel_queue.h"

namespace gauntlet::gpu {

// A Backend of KernelQueue for the current device of the thread.
class CudaLauncher {
 public:
  // A sequence of kernels; each depends on the one before it.
  struct Graph {
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t runnable = nullptr;
    cudaGraphNode_t* nodes = nullptr;
  };

  explicit CudaLauncher(CudaFailure& failure) : failure_(failure) {}
  void On(cudaStream_t stream) { stream_ = stream; }

  void Launch(const KernelLaunch& launch) {
    if (!failure_.none()) return;
    cudaKernelNodeParams node;
    void* values = nullptr;
    Describe(launch, &values, &node);
    failure_.Check("launch", cudaLaunchKernel(node.func, node.gridDim,
                                              node.blockDim, node.kernelParams,
                                              node.sharedMemBytes, stream_));
  }

  // Returns null if the graph cannot be built. This is not a failure of the
  // device, so CUDA's error is cleared.
  Graph* Build(const KernelLaunch* launches, size_t count) {
    if (!failure_.none()) return nullptr;
    auto* const graph = static_cast<Graph*>(std::calloc(1, sizeof(Graph)));
    if (graph == nullptr) return nullptr;
    graph->nodes =
        static_cast<cudaGraphNode_t*>(std::calloc(count, sizeof *graph->nodes));
    if (graph->nodes != nullptr && AddNodes(graph, launches, count) &&
        cudaGraphInstantiate(&graph->runnable, graph->graph, 0) ==
            cudaSuccess) {
      return graph;
    }
    Destroy(graph);
    cudaGetLastError();
    return nullptr;
  }

  bool Change(Graph* graph, size_t index, const KernelLaunch& launch) {
    cudaKernelNodeParams node;
    void* values = nullptr;
    Describe(launch, &values, &node);
    if (cudaGraphExecKernelNodeSetParams(graph->runnable, graph->nodes[index],
                                         &node) == cudaSuccess) {
      return true;
    }
    cudaGetLastError();
    return false;
  }

  void LaunchGraph(Graph* graph) {
    if (!failure_.none()) return;
    failure_.Check("launch", cudaGraphLaunch(graph->runnable, stream_));
  }

  void Destroy(Graph* graph) {
    if (graph->runnable != nullptr) cudaGraphExecDestroy(graph->runnable);
    if (graph->graph != nullptr) cudaGraphDestroy(graph->graph);
    std::free(graph->nodes);
    std::free(graph);
  }

 private:
  void Fail(const KernelLaunch& launch, cudaError_t error) {
    const char* name = nullptr;
    if (cudaFuncGetName(&name, launch.kernel) != cudaSuccess) name = "?";
    char what[160];
    std::snprintf(what, sizeof what, "launch of %zu x %zu blocks of %u, %.96s",
                  launch.grid.x, launch.grid.z, launch.threads, name);
    failure_.Check(what, error);
  }

  // Fills in `node`. Stores a pointer to the kernel's only argument in
  // `*values`; `node` refers to `values`, which must live as long as `node` is
  // used.
  static void Describe(const KernelLaunch& launch, void** values,
                       cudaKernelNodeParams* node) {
    *values = const_cast<unsigned char*>(launch.values);
    *node = {};
    node->func = const_cast<void*>(launch.kernel);
    node->gridDim = dim3(static_cast<unsigned>(launch.grid.x), 1,
                         static_cast<unsigned>(launch.grid.z));
    node->blockDim = dim3(launch.threads);
    node->sharedMemBytes = static_cast<unsigned>(launch.shared_bytes);
    node->kernelParams = values;
  }

  static bool AddNodes(Graph* graph, const KernelLaunch* launches,
                       size_t count) {
    if (cudaGraphCreate(&graph->graph, 0) != cudaSuccess) return false;
    for (size_t i = 0; i < count; ++i) {
      cudaKernelNodeParams node;
      void* values = nullptr;
      Describe(launches[i], &values, &node);
      const cudaGraphNode_t* const before =
          i == 0 ? nullptr : &graph->nodes[i - 1];
      if (cudaGraphAddKernelNode(&graph->nodes[i], graph->graph, before,
                                 i == 0 ? 0 : 1, &node) != cudaSuccess) {
        return false;
      }
    }
    return true;
  }

  CudaFailure& failure_;
  cudaStream_t stream_ = nullptr;
};

}  // namespace gauntlet::gpu

#endif  // GAUNTLET_ENGINE_GPU_CUDA_LAUNCHER_H_
