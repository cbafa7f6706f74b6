#include <algorithm>
#include <iterator>
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

struct Case {
  size_t m = 0;
  size_t n = 0;
  size_t k = 0;
  Transpose a = Transpose::kNo;
  Transpose b = Transpose::kNo;
  size_t padding = 0;  // in floats, between rows of a, b and c
  bool with_bias = false;
  Values values = Values::kNormal;
};

std::string Describe(const Case& c) {
  return fmt::format("m {} n {} k {} a {} b {} padding {} bias {} values {}",
                     c.m, c.n, c.k, c.a == Transpose::kYes ? "T" : "N",
                     c.b == Transpose::kYes ? "T" : "N", c.padding, c.with_bias,
                     static_cast<int>(c.values));
}

// Returns the number of floats from the first to the last of rows x columns.
size_t Extent(size_t rows, size_t columns, size_t stride) {
  return rows == 0 || columns == 0 ? 0 : (rows - 1) * stride + columns;
}

// The operands of one case, each in memory of exactly its extent.
class Operands {
 public:
  Operands(const Case& c, std::mt19937& random)
      : case_(c),
        a_rows_(c.a == Transpose::kYes ? c.k : c.m),
        a_columns_(c.a == Transpose::kYes ? c.m : c.k),
        b_rows_(c.b == Transpose::kYes ? c.n : c.k),
        b_columns_(c.b == Transpose::kYes ? c.k : c.n),
        a_(Extent(a_rows_, a_columns_, a_columns_ + c.padding)),
        b_(Extent(b_rows_, b_columns_, b_columns_ + c.padding)),
        bias_(c.n) {
    Fill(a_.span(), c.values, random);
    Fill(b_.span(), c.values, random);
    Fill(bias_.span(), c.values, random);
  }
  size_t c_size() const {
    return Extent(case_.m, case_.n, case_.n + case_.padding);
  }
  MatMulArgs Args(float* c) {
    return {.m = case_.m,
            .n = case_.n,
            .k = case_.k,
            .a = a_.data(),
            .lda = a_columns_ + case_.padding,
            .transpose_a = case_.a,
            .b = b_.data(),
            .ldb = b_columns_ + case_.padding,
            .transpose_b = case_.b,
            .c = c,
            .ldc = case_.n + case_.padding,
            .bias = case_.with_bias ? bias_.data() : nullptr};
  }

 private:
  Case case_;
  size_t a_rows_, a_columns_, b_rows_, b_columns_;
  GuardedFloats a_, b_, bias_;
};

void Reference(const MatMulArgs& args) {
  const bool a_transposed = args.transpose_a == Transpose::kYes;
  const bool b_transposed = args.transpose_b == Transpose::kYes;
  numerics::MatMul(
      {args.m, args.n, args.k},
      {args.a, a_transposed ? 1 : args.lda, a_transposed ? args.lda : 1},
      {args.b, b_transposed ? 1 : args.ldb, b_transposed ? args.ldb : 1},
      args.bias, args.c, args.ldc);
}

void ExpectReferenceBits(const std::vector<Path>& paths, const Case& c,
                         std::mt19937& random) {
  Operands operands(c, random);
  GuardedFloats expected(operands.c_size());
  Reference(operands.Args(expected.data()));
  for (const Path& path : paths) {
    GuardedFloats found(operands.c_size());
    path.kernels->MatMul(operands.Args(found.data()));
    ASSERT_TRUE(path.kernels->status().ok());
    const size_t at = FirstDifference(found.span(), expected.span());
    ASSERT_EQ(at, expected.size()) << path.name << ": " << Describe(c);
  }
}

size_t OneOf(std::mt19937& random, std::initializer_list<size_t> choices) {
  return *std::next(choices.begin(),
                    static_cast<ptrdiff_t>(random() % choices.size()));
}

// Returns small, medium and larger sizes about equally often.
size_t RandomSize(std::mt19937& random, size_t largest) {
  const size_t limit = OneOf(random, {8, 70, largest});
  return 1 + random() % limit;
}

Case RandomCase(std::mt19937& random) {
  Case c;
  c.m = RandomSize(random, 300);
  c.n = RandomSize(random, 200);
  c.k = random() % 2 == 0
            ? RandomSize(random, 600)
            : OneOf(random, {0, 1, 2, 255, 256, 257, 511, 512, 513, 784});
  c.a = random() % 2 == 0 ? Transpose::kNo : Transpose::kYes;
  c.b = random() % 2 == 0 ? Transpose::kNo : Transpose::kYes;
  c.padding = OneOf(random, {0, 0, 1, 3, 16});
  c.with_bias = random() % 2 == 0;
  c.values = kAllValues[random() % std::size(kAllValues)];
  return c;
}

TEST(ProductTest, EveryPathHasTheReferencesBitsForRandomShapes) {
  std::mt19937 random(20240517);
  const std::vector<Path> paths = AllPaths();
  for (int i = 0; i < 250; ++i) {
    ASSERT_NO_FATAL_FAILURE(
        ExpectReferenceBits(paths, RandomCase(random), random));
  }
}

// Covers both ways of packing, each on its own and at the limit to the other:
// many columns, many rows, b too wide to read in place, more than one block.
TEST(ProductTest, EveryPathHasTheReferencesBitsAtTheBlockingsEdges) {
  std::mt19937 random(5);
  const std::vector<Path> paths = AllPaths();
  const Case cases[] = {
      {.m = 169, .n = 33, .k = 257},
      {.m = 72, .n = 513, .k = 300},
      {.m = 73, .n = 545, .k = 257},
      {.m = 3, .n = 1025, .k = 258},
      {.m = 3, .n = 1024, .k = 258},
      {.m = 200, .n = 530, .k = 20, .a = Transpose::kYes},
      {.m = 200, .n = 530, .k = 513, .b = Transpose::kYes},
      {.m = 1, .n = 1, .k = 2049},
      {.m = 9, .n = 32, .k = 5000, .a = Transpose::kYes},
  };
  for (Case c : cases) {
    c.with_bias = true;
    ASSERT_NO_FATAL_FAILURE(ExpectReferenceBits(paths, c, random));
  }
}

TEST(ProductTest, EveryTransposeHasTheReferencesBitsForAllSmallSizes) {
  std::mt19937 random(6);
  const std::vector<Path> paths = AllPaths();
  for (const size_t m : {1, 2, 5, 6, 7, 14, 15}) {
    for (const size_t n : {1, 7, 8, 9, 15, 16, 17, 31, 32, 33}) {
      for (const Transpose a : {Transpose::kNo, Transpose::kYes}) {
        for (const Transpose b : {Transpose::kNo, Transpose::kYes}) {
          const Case c = {.m = m, .n = n, .k = 19, .a = a, .b = b};
          ASSERT_NO_FATAL_FAILURE(ExpectReferenceBits(paths, c, random));
        }
      }
    }
  }
}

TEST(ProductTest, ProductWithoutElementsTouchesNothing) {
  for (const Path& path : AllPaths()) {
    path.kernels->MatMul({.m = 0, .n = 5, .k = 3, .lda = 3, .ldb = 5});
    path.kernels->MatMul({.m = 5, .n = 0, .k = 3, .lda = 3});
    ASSERT_TRUE(path.kernels->status().ok());
  }
}

void ExpectNearButNotEqual(const Kernels& fast, const Case& c) {
  std::mt19937 random(7);
  Operands operands(c, random);
  GuardedFloats expected(operands.c_size());
  GuardedFloats found(operands.c_size());
  Reference(operands.Args(expected.data()));
  fast.MatMul(operands.Args(found.data()));
  EXPECT_LT(FirstDifference(found.span(), expected.span()), found.size());
  for (size_t i = 0; i < found.size(); ++i) {
    ASSERT_NEAR(found.data()[i], expected.data()[i], 1e-3f) << Describe(c);
  }
}

TEST(ProductTest, FastProductsAreNearTheReferenceButNotEqual) {
  for (const Isa isa : {Isa::kScalar, Isa::kAvx2, Isa::kAvx512}) {
    for (const int threads : {1, 3}) {
      const auto fast = Kernels::Create(
          {.isa = isa, .threads = threads, .math = Math::kFast});
      if (!fast.ok()) continue;
      Case c = {.m = 150, .n = 90, .k = 1000, .padding = 3, .with_bias = true};
      for (const Transpose a : {Transpose::kNo, Transpose::kYes}) {
        for (const Transpose b : {Transpose::kNo, Transpose::kYes}) {
          c.a = a;
          c.b = b;
          ExpectNearButNotEqual(**fast, c);
        }
      }
    }
  }
}

}  // namespace
}  // namespace gauntlet
