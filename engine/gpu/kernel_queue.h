// Queue of kernel launches. If a sequence of launches repeats, as in each
// training step, the queue launches it as one graph.
//
// A sequence (Row) ends before a copy, a wait, or an operation of another
// library, as these depend on its results. When a sequence occurs for the
// second time, with the same kernels and grids, the backend builds a graph of
// it. From then on the queue launches this graph; if arguments of kernels have
// changed since the last launch, it first replaces them in the graph. Order and
// results are the same as those of single launches.
//
// This file uses no inline function of the standard library (see launch.h).
#ifndef GAUNTLET_ENGINE_GPU_KERNEL_QUEUE_H_
#define GAUNTLET_ENGINE_GPU_KERNEL_QUEUE_H_

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "engine/gpu/launch.h"

namespace gauntlet::gpu {

// Launch of a kernel over a grid of blocks. `values` has the bytes of the
// kernel's struct.
struct KernelLaunch {
  static constexpr size_t kMostValueBytes = 512;
  static constexpr size_t kValueAlignment = 16;

  const void* kernel = nullptr;  // the function, as its backend calls it
  Grid grid;
  unsigned threads = 0;
  size_t shared_bytes = 0;
  size_t value_bytes = 0;
  alignas(kValueAlignment) unsigned char values[kMostValueBytes];

  template <typename Kernel>
  static KernelLaunch Of(const void* function, const Kernel& kernel,
                         const Grid& grid, size_t shared_bytes) {
    static_assert(__is_trivially_copyable(Kernel));
    static_assert(sizeof(Kernel) <= kMostValueBytes);
    static_assert(alignof(Kernel) <= kValueAlignment);
    KernelLaunch launch;
    launch.kernel = function;
    launch.grid = grid;
    launch.threads = Kernel::kThreads;
    launch.shared_bytes = shared_bytes;
    launch.value_bytes = sizeof(Kernel);
    std::memcpy(launch.values, &kernel, sizeof(Kernel));
    return launch;
  }

  // Returns true iff all but the values are equal.
  bool IsLike(const KernelLaunch& other) const {
    return kernel == other.kernel && grid.x == other.grid.x &&
           grid.z == other.grid.z && threads == other.threads &&
           shared_bytes == other.shared_bytes &&
           value_bytes == other.value_bytes;
  }
  bool HasValuesOf(const KernelLaunch& other) const {
    return std::memcmp(values, other.values, value_bytes) == 0;
  }
};

// clang-format off
// Backend has
//   using Graph = …;
//   void Launch(const KernelLaunch&);
//   Graph* Build(const KernelLaunch*, size_t count);           // null: impossible
//   bool Change(Graph*, size_t index, const KernelLaunch&);    // new values
//   void LaunchGraph(Graph*);
//   void Destroy(Graph*);
// clang-format on
// The backend records its own failures. It must outlive the queue.
template <typename Backend>
class KernelQueue {
 public:
  explicit KernelQueue(Backend& backend) : backend_(backend) {}
  ~KernelQueue() {
    for (Row& row : rows_) Forget(row);
  }
  KernelQueue(const KernelQueue&) = delete;
  KernelQueue& operator=(const KernelQueue&) = delete;

  void Add(const KernelLaunch& launch) {
    if (count_ == kMost) Flush();
    waiting_[count_++] = launch;
  }

  // Launches all queued kernels.
  void Flush() {
    if (count_ == 0) return;
    const size_t count = count_;
    count_ = 0;
    if (count >= kLeast && LaunchAsGraph(count)) return;
    for (size_t i = 0; i < count; ++i) backend_.Launch(waiting_[i]);
  }

  // As Flush, but never uses a graph. Called while earlier work on the device
  // may be waiting for another worker: the values in a graph cannot be changed
  // safely then.
  void FlushOneByOne() {
    for (size_t i = 0; i < count_; ++i) backend_.Launch(waiting_[i]);
    count_ = 0;
  }

  // Discards all queued kernels.
  void Drop() { count_ = 0; }

 private:
  static constexpr size_t kMost = 64;  // queued launches
  static constexpr size_t kLeast = 4;  // fewest launches for which a graph is
                                       // built
  static constexpr size_t kRows = 64;  // number of sequences to remember

  struct Row {
    KernelLaunch* launches = nullptr;  // with the values that the graph has
    size_t count = 0;
    typename Backend::Graph* graph = nullptr;
    bool without_graph = false;  // the backend cannot build or change its
                                 // graph
    uint64_t used = 0;
  };

  // Launches the queued kernels as a graph. Returns false, and launches
  // nothing, if there is no graph of them.
  bool LaunchAsGraph(size_t count) {
    Row* const known = Find(count);
    if (known == nullptr) {
      StoreRow(count);
      return false;
    }
    known->used = ++uses_;
    if (known->without_graph) return false;
    if (known->graph == nullptr) {
      known->graph = backend_.Build(waiting_, count);
      std::memcpy(known->launches, waiting_, count * sizeof(KernelLaunch));
    } else if (!TakeValues(*known)) {
      backend_.Destroy(known->graph);
      known->graph = nullptr;
    }
    known->without_graph = known->graph == nullptr;
    if (known->without_graph) return false;
    backend_.LaunchGraph(known->graph);
    return true;
  }

  bool TakeValues(Row& row) {
    for (size_t i = 0; i < row.count; ++i) {
      if (waiting_[i].HasValuesOf(row.launches[i])) continue;
      if (!backend_.Change(row.graph, i, waiting_[i])) return false;
      row.launches[i] = waiting_[i];
    }
    return true;
  }

  Row* Find(size_t count) {
    for (Row& row : rows_) {
      if (row.launches == nullptr || row.count != count) continue;
      size_t same = 0;
      while (same < count && waiting_[same].IsLike(row.launches[same])) ++same;
      if (same == count) return &row;
    }
    return nullptr;
  }

  // Replaces the least recently used row.
  void StoreRow(size_t count) {
    Row* oldest = rows_;
    for (Row& row : rows_) {
      if (row.used < oldest->used) oldest = &row;
    }
    Forget(*oldest);
    const size_t bytes = count * sizeof(KernelLaunch);
    void* const place = std::malloc(bytes);
    if (place == nullptr) return;
    std::memcpy(place, waiting_, bytes);
    oldest->launches = static_cast<KernelLaunch*>(place);
    oldest->count = count;
    oldest->used = ++uses_;
  }

  void Forget(Row& row) {
    if (row.graph != nullptr) backend_.Destroy(row.graph);
    std::free(row.launches);
    row = {};
  }

  Backend& backend_;
  KernelLaunch waiting_[kMost];
  size_t count_ = 0;
  Row rows_[kRows];
  uint64_t uses_ = 0;
};

}  // namespace gauntlet::gpu

#endif  // GAUNTLET_ENGINE_GPU_KERNEL_QUEUE_H_
