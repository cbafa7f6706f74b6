// Arrays for tests of kernels: random values of several kinds, in memory whose
// end is guarded.
#ifndef GAUNTLET_TESTS_ENGINE_MATH_TEST_ARRAYS_H_
#define GAUNTLET_TESTS_ENGINE_MATH_TEST_ARRAYS_H_

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "engine/check.h"
#include "engine/gpu/device_kernels.h"
#include "engine/gpu/emulated_device.h"
#include "engine/math/kernels.h"
#include "engine/numerics.h"
#include <sys/mman.h>
#include <unistd.h>

namespace gauntlet {

// `size` floats that end where an unreadable page begins: access beyond the
// last float stops the program, with or without sanitizers. All values are 7.
class GuardedFloats {
 public:
  explicit GuardedFloats(size_t size) : size_(size) {
    const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    const size_t bytes = size * sizeof(float);
    const size_t readable = (bytes + page - 1) / page * page;
    mapped_bytes_ = readable + page;
    mapped_ = mmap(nullptr, mapped_bytes_, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(mapped_ != MAP_FAILED, "mmap");
    char* const guard = static_cast<char*>(mapped_) + readable;
    CHECK(mprotect(guard, page, PROT_NONE) == 0, "mprotect");
    data_ = reinterpret_cast<float*>(guard - bytes);
    for (float& value : span()) value = 7.0f;
  }
  ~GuardedFloats() { munmap(mapped_, mapped_bytes_); }
  GuardedFloats(const GuardedFloats&) = delete;
  GuardedFloats& operator=(const GuardedFloats&) = delete;

  float* data() { return data_; }
  size_t size() const { return size_; }
  std::span<float> span() { return {data_, size_}; }

 private:
  size_t size_;
  size_t mapped_bytes_ = 0;
  void* mapped_ = nullptr;
  float* data_ = nullptr;
};

enum class Values { kNormal, kWide, kTiny, kSpecial };
inline constexpr Values kAllValues[] = {Values::kNormal, Values::kWide,
                                        Values::kTiny, Values::kSpecial};

// Fills with random values. kWide: exponents spread over 60 powers of two.
// kTiny: mostly denormal products, a tenth -0, sometimes an overflow. kSpecial:
// sometimes an infinity, a NaN, a denormal or a zero of either sign.
inline void Fill(std::span<float> out, Values values, std::mt19937& random) {
  std::normal_distribution<float> normal;
  for (float& value : out) {
    value = normal(random);
    if (values == Values::kWide) {
      value = std::ldexp(value, static_cast<int>(random() % 60) - 30);
    }
    if (values == Values::kTiny) {
      value = std::ldexp(value, static_cast<int>(random() % 160) - 140);
      if (random() % 10 == 0) value = -0.0f;
    }
    if (values == Values::kSpecial && random() % 50 == 0) {
      constexpr float kSpecial[] = {INFINITY,  -INFINITY, NAN,
                                    0x1p-149f, -0.0f,     0.0f};
      value = kSpecial[random() % std::size(kSpecial)];
    }
  }
}

// Returns the first index at which the bits differ, where any two NaNs are
// equal; the size if there is none.
inline size_t FirstDifference(std::span<const float> a,
                              std::span<const float> b) {
  CHECK(a.size() == b.size(), "arrays of one size");
  for (size_t i = 0; i < a.size(); ++i) {
    const bool both_nan = std::isnan(a[i]) && std::isnan(b[i]);
    if (!both_nan && numerics::BitsOf(a[i]) != numerics::BitsOf(b[i])) {
      return i;
    }
  }
  return a.size();
}

struct Path {
  std::unique_ptr<Kernels> kernels;
  std::string name;  // "avx2, 3 threads"
};

// Returns kernels for every instruction set of this machine, each with 1, 2 and
// 3 threads, and for an emulated device of several sizes. A device's size
// decides how products are split. Both orders of running its blocks are
// covered. The device runs on the host, where arrays may lie anywhere. Its work
// is complete once its status is known.
inline std::vector<Path> AllPaths() {
  std::vector<Path> paths;
  for (const Isa isa : {Isa::kScalar, Isa::kAvx2, Isa::kAvx512}) {
    for (const int threads : {1, 2, 3}) {
      auto kernels = Kernels::Create({.isa = isa, .threads = threads});
      if (!kernels.ok()) continue;
      paths.push_back({std::move(kernels).value(),
                       std::string(IsaName(isa)) + ", " +
                           std::to_string(threads) + " threads"});
    }
  }
  for (const unsigned multiprocessors : {1u, 5u, 132u}) {
    gpu::Device* const device = gpu::OpenEmulated(
        {.multiprocessors = multiprocessors,
         .order = multiprocessors == 132 ? gpu::RunOrder::kForward
                                         : gpu::RunOrder::kBackward});
    paths.push_back({gpu::KernelsOn(gpu::EmulatedDevice(), device),
                     "emulated device of " + std::to_string(multiprocessors)});
  }
  return paths;
}

}  // namespace gauntlet

#endif  // GAUNTLET_TESTS_ENGINE_MATH_TEST_ARRAYS_H_
