// Temporary memory of an operation, reused between calls.
#ifndef GAUNTLET_ENGINE_MATH_SCRATCH_H_
#define GAUNTLET_ENGINE_MATH_SCRATCH_H_

#include <cstddef>
#include <cstdlib>
#include <memory>

#include "engine/out_of_memory.h"

namespace gauntlet {

// Scratch memory of one thread. It only grows; growing discards its contents.
class Scratch {
 public:
  // Aligned to 64 bytes; valid until the next call.
  float* Get(size_t floats) {
    if (floats > capacity_) {
      constexpr size_t kAlignment = 64;
      const size_t bytes =
          (floats * sizeof(float) + kAlignment - 1) / kAlignment * kAlignment;
      memory_.reset(static_cast<float*>(std::aligned_alloc(kAlignment, bytes)));
      if (memory_ == nullptr) OutOfMemory();
      capacity_ = floats;
    }
    return memory_.get();
  }

 private:
  struct Free {
    void operator()(float* memory) const { std::free(memory); }
  };
  std::unique_ptr<float, Free> memory_;
  size_t capacity_ = 0;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_MATH_SCRATCH_H_
