// Runs one source of a kernel in two places: as blocks of threads on a device,
// and as loops over blocks and threads on the host.
//
// A kernel is a struct of plain values with
//   static constexpr unsigned kThreads;   // of a block
//   void operator()(const Block& block) const;
// The body of the operator is a sequence of phases, block.Phase([&](unsigned
// thread) {...}). All threads end a phase before any begins the next: on the
// device a barrier follows each phase, and the host runs one phase after the
// other. To keep a value between phases, a thread uses a PerThread; to share
// values, threads use block.shared. Code outside of phases computes the same
// for all threads.
//
// This file and kernels use no inline function of the standard library. On the
// host they are compiled for instructions that some machines lack, and the
// linker may keep their copy of an inline function for the whole program
// (isa_kernels.h).
#ifndef GAUNTLET_ENGINE_GPU_LAUNCH_H_
#define GAUNTLET_ENGINE_GPU_LAUNCH_H_

#include <cstddef>
#include <cstdint>

#ifdef __CUDACC__
#define GAUNTLET_KERNEL __device__ __forceinline__
#define GAUNTLET_UNROLL _Pragma("unroll")
#else
#define GAUNTLET_KERNEL inline __attribute__((always_inline))
#define GAUNTLET_UNROLL
#endif

namespace gauntlet::gpu {

struct Grid {
  size_t x = 1;  // below 2^31
  size_t z = 1;  // below 2^16
};

// Order in which the host runs blocks, and the threads of a phase. Results must
// not depend on it.
enum class RunOrder : uint8_t { kForward, kBackward };

struct Block {
  size_t x = 0;
  size_t z = 0;
  unsigned threads = 0;
  void* shared = nullptr;  // aligned to 16 bytes, not initialised
  RunOrder order = RunOrder::kForward;

  template <typename Body>
  GAUNTLET_KERNEL void Phase(const Body& body) const {
#ifdef __CUDACC__
    body(threadIdx.x);
    __syncthreads();
#else
    for (unsigned i = 0; i < threads; ++i) {
      body(order == RunOrder::kForward ? i : threads - 1 - i);
    }
#endif
  }
};

// One value for each thread of a block. On the device it is in the thread's
// registers.
template <typename T, unsigned kThreads>
class PerThread {
 public:
#ifdef __CUDACC__
  GAUNTLET_KERNEL T& operator[](unsigned /*thread*/) { return value_; }

 private:
  T value_ = {};
#else
  T& operator[](unsigned thread) { return values_[thread]; }

 private:
  T values_[kThreads] = {};
#endif
};

// Four floats that are moved as one.
struct alignas(16) Vector {
  float lane[4];
};

// Asynchronous copies into shared memory. A thread starts them with Bring, and
// waits for them with Wait. After Wait, the thread itself may read the copied
// values; the other threads may read them in the next phase. On the host, Wait
// makes the copies, so that tests detect a missing Wait.
class LateCopies {
 public:
  // Copies one float if `floats` is 1; stores +0 if `floats` is 0.
  GAUNTLET_KERNEL void Bring(float* to, const float* from, unsigned floats) {
#ifdef __CUDACC__
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(
                     static_cast<unsigned>(__cvta_generic_to_shared(to))),
                 "l"(from), "r"(floats * 4));
#else
    Later(to, from, floats, 1);
#endif
  }
  // Copies `floats` floats, at most 4, and fills the rest of the vector with
  // +0. `from` is aligned to 16 bytes.
  GAUNTLET_KERNEL void Bring(Vector* to, const float* from, unsigned floats) {
#ifdef __CUDACC__
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(
                     static_cast<unsigned>(__cvta_generic_to_shared(to))),
                 "l"(from), "r"(floats * 4));
#else
    Later(to->lane, from, floats, 4);
#endif
  }
  GAUNTLET_KERNEL void Wait() {
#ifdef __CUDACC__
    asm volatile("cp.async.wait_all;" ::: "memory");
#else
    for (unsigned i = 0; i < count_; ++i) {
      const Copy& copy = copies_[i];
      for (unsigned j = 0; j < copy.room; ++j) {
        copy.to[j] = j < copy.floats ? copy.from[j] : 0.0f;
      }
    }
    count_ = 0;
#endif
  }

#ifndef __CUDACC__
 private:
  struct Copy {
    float* to;
    const float* from;
    unsigned floats;
    unsigned room;
  };
  void Later(float* to, const float* from, unsigned floats, unsigned room) {
    if (count_ == kMost) __builtin_trap();
    copies_[count_++] = {to, from, floats, room};
  }

  static constexpr unsigned kMost = 32;
  Copy copies_[kMost];
  unsigned count_ = 0;
#endif
};

#ifdef __CUDACC__

template <typename Kernel>
__global__ void __launch_bounds__(Kernel::kThreads, Kernel::kBlocksAtOnce)
    RunKernel(const Kernel kernel) {
  extern __shared__ Vector shared[];
  kernel({blockIdx.x, blockIdx.z, Kernel::kThreads, shared});
}

#else

template <typename Kernel>
void RunKernel(const Kernel& kernel, const Grid& grid, void* shared,
               RunOrder order) {
  const bool forward = order == RunOrder::kForward;
  for (size_t i = 0; i < grid.x * grid.z; ++i) {
    const size_t block = forward ? i : grid.x * grid.z - 1 - i;
    kernel({block % grid.x, block / grid.x, Kernel::kThreads, shared, order});
  }
}

#endif

}  // namespace gauntlet::gpu

#endif  // GAUNTLET_ENGINE_GPU_LAUNCH_H_
