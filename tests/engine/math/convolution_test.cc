#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engine/math/kernels.h"
#include "engine/numerics.h"
#include "tests/engine/math/test_arrays.h"
#include <fmt/core.h>

namespace gauntlet {
namespace {

using numerics::ConvolutionShape;

std::string Describe(const ConvolutionShape& s) {
  return fmt::format("{} samples of {} x {} x {}, {} filters of size {}",
                     s.samples, s.height, s.width, s.channels, s.filters,
                     s.size);
}

// Arrays, each in memory of exactly its size.
class Arrays {
 public:
  Arrays(const ConvolutionShape& s, Values values, std::mt19937& random)
      : x(s.samples * s.height * s.width * s.channels),
        kernel(s.Taps() * s.filters),
        bias(s.filters),
        dy(s.Places() * s.filters) {
    for (GuardedFloats* array : {&x, &kernel, &bias, &dy}) {
      Fill(array->span(), values, random);
    }
  }
  GuardedFloats x, kernel, bias, dy;
};

struct Results {
  explicit Results(Arrays& a)
      : y(a.dy.size()), dw(a.kernel.size()), dx(a.x.size()) {}
  GuardedFloats y, dw, dx;
};

void ExpectReferenceBits(const std::vector<Path>& paths,
                         const ConvolutionShape& s, Values values,
                         std::mt19937& random) {
  Arrays a(s, values, random);
  Results expected(a);
  numerics::Convolution(s, a.x.data(), a.kernel.data(), a.bias.data(),
                        expected.y.data());
  numerics::ConvolutionKernelGradient(s, a.x.data(), a.dy.data(),
                                      expected.dw.data());
  numerics::ConvolutionInputGradient(s, a.dy.data(), a.kernel.data(),
                                     expected.dx.data());
  for (const Path& path : paths) {
    const Kernels& kernels = *path.kernels;
    Results found(a);
    kernels.Convolution(s, a.x.span(), a.kernel.span(), a.bias.span(),
                        found.y.span());
    kernels.ConvolutionKernelGradient(s, a.x.span(), a.dy.span(),
                                      found.dw.span());
    kernels.ConvolutionInputGradient(s, a.dy.span(), a.kernel.span(),
                                     found.dx.span());
    ASSERT_TRUE(path.kernels->status().ok());
    const std::string where = path.name + ": " + Describe(s);
    ASSERT_EQ(FirstDifference(found.y.span(), expected.y.span()),
              expected.y.size())
        << "outputs, " << where;
    ASSERT_EQ(FirstDifference(found.dw.span(), expected.dw.span()),
              expected.dw.size())
        << "kernel gradient, " << where;
    ASSERT_EQ(FirstDifference(found.dx.span(), expected.dx.span()),
              expected.dx.size())
        << "input gradient, " << where;
  }
}

ConvolutionShape RandomShape(std::mt19937& random) {
  const auto below = [&](size_t end) { return random() % end; };
  ConvolutionShape s;
  s.size = 1 + below(4);
  s.samples = below(4);
  s.height = s.size + below(9);
  s.width = s.size + below(12);
  s.channels = 1 + below(below(2) == 0 ? 3 : 40);
  s.filters = 1 + below(below(2) == 0 ? 5 : 40);
  return s;
}

TEST(ConvolutionTest, EveryPathHasTheReferencesBitsForRandomShapes) {
  std::mt19937 random(20240518);
  const std::vector<Path> paths = AllPaths();
  for (int i = 0; i < 120; ++i) {
    const Values values = kAllValues[random() % std::size(kAllValues)];
    ASSERT_NO_FATAL_FAILURE(
        ExpectReferenceBits(paths, RandomShape(random), values, random));
  }
}

// Covers sums of one chunk, of one chunk and a term, and of several; work that
// is worth dividing among threads; and chunks that end within a tap and at its
// end.
TEST(ConvolutionTest, EveryPathHasTheReferencesBitsAtTheChunksEdges) {
  std::mt19937 random(8);
  const std::vector<Path> paths = AllPaths();
  const ConvolutionShape kShapes[] = {
      {1, 16, 16, 1, 1, 32},    // 256 places
      {1, 257, 1, 1, 1, 9},     // 257 places
      {2, 20, 20, 2, 3, 33},    // 648 places
      {1, 6, 6, 64, 2, 64},     // 256 taps, 256 terms of the input gradient
      {1, 5, 9, 86, 3, 57},     // 774 taps, 513 terms
      {1, 4, 4, 300, 2, 300},   // several chunks per tap
      {24, 12, 12, 24, 3, 24},  // large enough for three threads
  };
  for (const ConvolutionShape& shape : kShapes) {
    ASSERT_NO_FATAL_FAILURE(
        ExpectReferenceBits(paths, shape, Values::kNormal, random));
  }
}

// A kernel so large that the sums of all chunks are not in memory at once.
TEST(ConvolutionTest, KernelGradientsInSeveralRoundsHaveTheReferencesBits) {
  std::mt19937 random(9);
  ASSERT_NO_FATAL_FAILURE(ExpectReferenceBits(
      AllPaths(), {7, 16, 16, 64, 1, 160}, Values::kNormal, random));
}

TEST(ConvolutionTest, WithoutSamplesTheKernelGradientIsPositiveZero) {
  const ConvolutionShape s = {0, 3, 3, 1, 2, 2};
  for (const Path& path : AllPaths()) {
    std::vector<float> gradient(s.Taps() * s.filters, 5.0f);
    path.kernels->ConvolutionKernelGradient(s, {}, {}, gradient);
    ASSERT_TRUE(path.kernels->status().ok());
    for (const float value : gradient) {
      EXPECT_EQ(numerics::BitsOf(value), 0u) << path.name;
    }
  }
}

TEST(ConvolutionDeathTest, ArraysThatDoNotFitStopTheProgram) {
  const auto kernels = std::move(Kernels::Create({})).value();
  std::vector<float> one(1);
  EXPECT_DEATH(
      kernels->ConvolutionInputGradient({1, 2, 2, 1, 3, 1}, one, one, one),
      "a kernel fits into its input");
  EXPECT_DEATH(
      kernels->ConvolutionInputGradient({1, 2, 2, 1, 2, 1}, one, one, one),
      "arrays of the convolution's sizes");
}

}  // namespace
}  // namespace gauntlet
