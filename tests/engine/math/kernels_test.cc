#include "engine/math/kernels.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <xmmintrin.h>

namespace gauntlet {
namespace {

using ::testing::HasSubstr;

// Sets bits of the floating-point control register during its lifetime.
class ScopedControlBits {
 public:
  explicit ScopedControlBits(unsigned bits) : saved_(_mm_getcsr()) {
    _mm_setcsr(saved_ | bits);
  }
  ~ScopedControlBits() { _mm_setcsr(saved_); }

 private:
  unsigned saved_;
};

Status CreateWithControlBits(unsigned bits) {
  const ScopedControlBits scoped(bits);
  return Kernels::Create({}).status();
}

TEST(KernelsTest, RefusesFlushToZeroDenormalsAreZeroAndDirectedRounding) {
  constexpr unsigned kDenormalsAreZero = 0x0040;
  struct {
    unsigned bits;
    const char* message;
  } const cases[] = {{_MM_FLUSH_ZERO_ON, "flush-to-zero"},
                     {kDenormalsAreZero, "denormals-are-zero"},
                     {_MM_ROUND_TOWARD_ZERO, "rounding to nearest"},
                     {_MM_ROUND_UP, "rounding to nearest"}};
  for (const auto& c : cases) {
    const Status status = CreateWithControlBits(c.bits);
    EXPECT_EQ(status.code(), Code::kInvalidArgument);
    EXPECT_THAT(status.message(), HasSubstr(c.message));
  }
  EXPECT_TRUE(CreateWithControlBits(0).ok());
}

TEST(KernelsTest, RefusesAbsurdNumbersOfThreads) {
  for (const int threads : {-1, 0, 257, 1 << 30}) {
    const auto kernels = Kernels::Create({.threads = threads});
    EXPECT_EQ(kernels.status().code(), Code::kInvalidArgument);
    EXPECT_THAT(kernels.status().message(),
                HasSubstr("found " + std::to_string(threads)));
  }
}

TEST(KernelsTest, AutoChoosesASelectableInstructionSet) {
  const auto kernels = Kernels::Create({.isa = Isa::kAuto});
  ASSERT_TRUE(kernels.ok()) << kernels.status().ToString();
  const Isa isa = (*kernels)->isa();
  EXPECT_NE(isa, Isa::kAuto);
  EXPECT_EQ((*Kernels::Create({.isa = isa}))->isa(), isa);
}

TEST(KernelsTest, InstructionSetsAreFoundByTheirNames) {
  for (const Isa isa : {Isa::kAuto, Isa::kScalar, Isa::kAvx2, Isa::kAvx512}) {
    EXPECT_EQ(FindIsa(IsaName(isa)), isa);
  }
  EXPECT_EQ(FindIsa("AVX2"), std::nullopt);
  EXPECT_EQ(FindIsa(""), std::nullopt);
}

TEST(KernelsTest, EachAttemptUsesItsEntryOfDevicesAndLaterOnesTheLast) {
  using enum DeviceKind;
  KernelOptions options = {.device = kCuda};
  EXPECT_EQ(DeviceOfAttempt(options, 3), kCuda);
  EXPECT_TRUE(ComputesOn(options, kCuda));
  options.device_per_attempt = {kCpu, kEmulated};
  EXPECT_EQ(DeviceOfAttempt(options, 1), kCpu);
  EXPECT_EQ(DeviceOfAttempt(options, 2), kEmulated);
  EXPECT_EQ(DeviceOfAttempt(options, 9), kEmulated);
  EXPECT_TRUE(ComputesOn(options, kCpu));
  EXPECT_FALSE(ComputesOn(options, kCuda));
}

}  // namespace
}  // namespace gauntlet
