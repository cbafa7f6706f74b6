#include <memory>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engine/math/kernels.h"
#include "engine/numerics.h"
#include "tests/engine/math/test_arrays.h"

namespace gauntlet {
namespace {

using numerics::Activation;

// Sizes around every vector width and block, and one large enough for several
// threads.
constexpr size_t kSizes[] = {0,  1,  2,  3,   7,   8,   9,   15,    16,
                             17, 31, 63, 127, 128, 129, 500, 70'001};

// Arrays of one size, filled from a seed: equal seeds give equal values.
struct Arrays {
  Arrays(size_t size, Values values, unsigned seed)
      : x(size), y(size), z(size), w(size) {
    std::mt19937 random(seed);
    for (GuardedFloats* array : {&x, &y, &z, &w}) {
      Fill(array->span(), values, random);
    }
  }
  GuardedFloats x, y, z, w;
};

void ExpectEqualArrays(Arrays& found, Arrays& expected) {
  const size_t size = expected.x.size();
  EXPECT_EQ(FirstDifference(found.x.span(), expected.x.span()), size) << "x";
  EXPECT_EQ(FirstDifference(found.y.span(), expected.y.span()), size) << "y";
  EXPECT_EQ(FirstDifference(found.z.span(), expected.z.span()), size) << "z";
  EXPECT_EQ(FirstDifference(found.w.span(), expected.w.span()), size) << "w";
}

// Runs `fast` on every path and `reference` element by element, on equal
// arrays, and compares all arrays.
template <typename Fast, typename Reference>
void ExpectReferenceBits(const Fast& fast, const Reference& reference) {
  for (const Path& path : AllPaths()) {
    for (const size_t size : kSizes) {
      for (const Values values : kAllValues) {
        SCOPED_TRACE(path.name + ", size " + std::to_string(size));
        Arrays found(size, values, 3);
        Arrays expected(size, values, 3);
        fast(*path.kernels, found);
        ASSERT_TRUE(path.kernels->status().ok());
        for (size_t i = 0; i < size; ++i) reference(expected, i);
        ExpectEqualArrays(found, expected);
        if (::testing::Test::HasFailure()) return;
      }
    }
  }
}

struct ActivationCase {
  Activation activation;
  float (*value)(float);
  float (*gradient)(float, float);
};
const ActivationCase kActivations[] = {
    {Activation::kRelu, [](float x) { return numerics::Relu(x); },
     [](float x, float dy) { return numerics::ReluGradient(x, dy); }},
    {Activation::kGelu, [](float x) { return numerics::Gelu(x); },
     [](float x, float dy) { return numerics::GeluGradient(x, dy); }},
};

TEST(ElementwiseTest, ActivationsHaveTheReferencesBits) {
  for (const ActivationCase& of : kActivations) {
    ExpectReferenceBits(
        [&](const Kernels& kernels, Arrays& a) {
          kernels.Activate(of.activation, a.x.span(), a.y.span());
          kernels.Activate(of.activation, a.z.span(), a.z.span());
        },
        [&](Arrays& a, size_t i) {
          a.y.data()[i] = of.value(a.x.data()[i]);
          a.z.data()[i] = of.value(a.z.data()[i]);
        });
  }
}

TEST(ElementwiseTest, GradientsOfActivationsHaveTheReferencesBits) {
  for (const ActivationCase& of : kActivations) {
    ExpectReferenceBits(
        [&](const Kernels& kernels, Arrays& a) {
          kernels.ActivationGradient(of.activation, a.x.span(), a.y.span(),
                                     a.z.span());
          kernels.ActivationGradient(of.activation, a.w.span(), a.y.span(),
                                     a.y.span());
        },
        [&](Arrays& a, size_t i) {
          const float dy = a.y.data()[i];
          a.z.data()[i] = of.gradient(a.x.data()[i], dy);
          a.y.data()[i] = of.gradient(a.w.data()[i], dy);
        });
  }
}

TEST(ElementwiseTest, AccumulateHasTheReferencesBits) {
  ExpectReferenceBits(
      [](const Kernels& kernels, Arrays& a) {
        kernels.Accumulate(a.x.span(), a.y.span());
      },
      [](Arrays& a, size_t i) {
        a.y.data()[i] = a.y.data()[i] + a.x.data()[i];
      });
}

TEST(ElementwiseTest, AdamHasTheReferencesBits) {
  const AdamArgs args = {
      .step_size = 0.0003f, .beta1 = 0.9f, .beta2 = 0.999f, .epsilon = 1e-7f};
  ExpectReferenceBits(
      [&](const Kernels& kernels, Arrays& a) {
        kernels.Adam(args, a.x.span(), a.y.span(), a.z.span(), a.w.span());
      },
      [&](Arrays& a, size_t i) {
        const numerics::AdamElement next = numerics::AdamUpdate(
            {args.step_size, args.beta1, args.beta2, args.epsilon},
            a.x.data()[i], {a.y.data()[i], a.z.data()[i], a.w.data()[i]});
        a.y.data()[i] = next.parameter;
        a.z.data()[i] = next.m;
        a.w.data()[i] = next.v;
      });
}

// Calls update(kernels, x, y, z, w): x holds gradients, and the others are
// updated.
template <typename Update>
void ExpectBitsOfUpdatesInPlace(const Update& update) {
  for (const Path& path : AllPaths()) {
    for (const size_t size : kSizes) {
      SCOPED_TRACE(path.name + ", size " + std::to_string(size));
      Arrays in_place(size, Values::kWide, 3);
      Arrays now(size, Values::kWide, 3);
      Arrays unchanged(size, Values::kWide, 3);
      Arrays next(size, Values::kWide, 3);
      update(*path.kernels, in_place.x.span(), in_place.y.span(),
             in_place.z.span(), in_place.w.span());
      update(*path.kernels, now.x.span(),
             UpdatedArray(now.y.span(), next.y.span()),
             UpdatedArray(now.z.span(), next.z.span()),
             UpdatedArray(now.w.span(), next.w.span()));
      ASSERT_TRUE(path.kernels->status().ok());
      ExpectEqualArrays(next, in_place);
      ExpectEqualArrays(now, unchanged);
      if (::testing::Test::HasFailure()) return;
    }
  }
}

TEST(ElementwiseTest, UpdateElsewhereHasTheBitsOfOneInPlace) {
  ExpectBitsOfUpdatesInPlace([](const Kernels& kernels,
                                std::span<const float> gradients,
                                UpdatedArray parameters, UpdatedArray m,
                                UpdatedArray v) {
    kernels.Adam(
        {.step_size = 0.01f, .beta1 = 0.9f, .beta2 = 0.999f, .epsilon = 1e-7f},
        gradients, parameters, m, v);
  });
  ExpectBitsOfUpdatesInPlace(
      [](const Kernels& kernels, std::span<const float> gradients,
         UpdatedArray parameters, UpdatedArray of_momentum,
         UpdatedArray velocity) {
        kernels.Sgd(0.1f, gradients, parameters);
        kernels.SgdMomentum(0.1f, 0.9f, gradients, of_momentum, velocity);
      });
}

TEST(ElementwiseTest, SgdHasTheReferencesBits) {
  ExpectReferenceBits(
      [](const Kernels& kernels, Arrays& a) {
        kernels.Sgd(0.1f, a.x.span(), a.y.span());
        kernels.SgdMomentum(0.1f, 0.9f, a.x.span(), a.z.span(), a.w.span());
      },
      [](Arrays& a, size_t i) {
        const float gradient = a.x.data()[i];
        float& velocity = a.w.data()[i];
        a.y.data()[i] = numerics::SgdUpdate(0.1f, gradient, a.y.data()[i]);
        velocity = numerics::MomentumVelocity(0.1f, 0.9f, gradient, velocity);
        a.z.data()[i] = a.z.data()[i] + velocity;
      });
}

TEST(ElementwiseTest, ScalingAndClippingHaveTheReferencesBits) {
  ExpectReferenceBits(
      [](const Kernels& kernels, Arrays& a) {
        kernels.Scale(0.3f, a.y.span());
        kernels.ClipValues(0.7f, a.z.span());
      },
      [](Arrays& a, size_t i) {
        a.y.data()[i] = a.y.data()[i] * 0.3f;
        a.z.data()[i] = numerics::ClipValue(a.z.data()[i], 0.7f);
      });
}

TEST(ElementwiseTest, SumsOfSquaresHaveTheReferencesBits) {
  std::mt19937 random(4);
  for (const size_t size : {0, 1, 255, 256, 257, 4095, 4096, 4097, 13000}) {
    for (const Values values : kAllValues) {
      GuardedFloats x(size);
      Fill(x.span(), values, random);
      const float expected = numerics::Dot({x.data(), 1}, {x.data(), 1}, size);
      for (const Path& path : AllPaths()) {
        const float found = path.kernels->SumOfSquares(x.span());
        EXPECT_EQ(FirstDifference({&found, 1}, {&expected, 1}), 1u)
            << path.name << ", " << size << " floats";
      }
    }
  }
}

TEST(ElementwiseTest, SumsHaveTheReferencesBits) {
  std::mt19937 random(14);
  for (const size_t size : {0, 1, 255, 256, 257, 4096, 8193, 70000}) {
    for (const Values values : kAllValues) {
      GuardedFloats x(size);
      Fill(x.span(), values, random);
      const float expected = numerics::ChunkedSum(x.data(), 1, size);
      for (const Path& path : AllPaths()) {
        const float found = path.kernels->Sum(x.span());
        EXPECT_EQ(FirstDifference({&found, 1}, {&expected, 1}), 1u)
            << path.name << ", " << size << " floats";
      }
    }
  }
}

TEST(ElementwiseTest, MeansOfChannelsHaveTheReferencesBits) {
  for (const size_t channels : {1, 3, 64}) {
    ExpectReferenceBits(
        [&](const Kernels& kernels, Arrays& a) {
          const size_t size = a.x.size() / channels * channels;
          const auto means = a.w.span().first(std::min(channels, size));
          kernels.SubtractMeans(a.x.span().first(size), means,
                                a.y.span().first(size));
          kernels.MovingMeans(0.9f, 77, means, a.z.span().first(means.size()));
        },
        [&](Arrays& a, size_t i) {
          if (i >= a.x.size() / channels * channels) return;
          a.y.data()[i] = a.x.data()[i] - a.w.data()[i % channels];
          if (i >= channels) return;
          a.z.data()[i] =
              numerics::MovingMean(0.9f, a.w.data()[i], a.z.data()[i], 77);
        });
  }
}

TEST(ElementwiseTest, DropoutHasTheReferencesMaskAndScale) {
  for (const size_t columns : {1, 5, 127, 128, 513}) {
    const Kernels::DropoutArgs args = {.rng_key = 0xfedcba9876543210u,
                                       .step = uint64_t{1} << 33,
                                       .layer = 2,
                                       .first_row = (uint64_t{1} << 32) - 1,
                                       .columns = columns,
                                       .rate = 0.2f};
    ExpectReferenceBits(
        [&](const Kernels& kernels, Arrays& a) {
          kernels.Dropout(args, a.x.span(), a.y.span());
          kernels.Dropout(args, a.z.span(), a.z.span());
        },
        [&](Arrays& a, size_t i) {
          const bool keeps = numerics::DropoutKeeps(
              args.rng_key,
              {.step = args.step,
               .layer = args.layer,
               .row = args.first_row + i / columns,
               .column = static_cast<uint32_t>(i % columns)},
              args.rate);
          const float scale = numerics::DropoutScale(args.rate);
          a.y.data()[i] = keeps ? a.x.data()[i] * scale : 0.0f;
          a.z.data()[i] = keeps ? a.z.data()[i] * scale : 0.0f;
        });
  }
}

struct Rectangle {
  size_t rows;
  size_t columns;
};
constexpr Rectangle kRectangles[] = {{0, 5},    {1, 1},    {3, 63},
                                     {255, 64}, {256, 65}, {257, 1},
                                     {513, 10}, {784, 31}, {300, 4000}};

TEST(ElementwiseTest, ColumnSumsHaveTheReferencesBits) {
  std::mt19937 random(1);
  for (const Path& path : AllPaths()) {
    for (const Rectangle& r : kRectangles) {
      for (const Values values : kAllValues) {
        GuardedFloats x(r.rows * r.columns), found(r.columns),
            expected(r.columns);
        Fill(x.span(), values, random);
        path.kernels->ColumnSums(x.span(), r.rows, r.columns, found.span());
        ASSERT_TRUE(path.kernels->status().ok());
        numerics::ColumnSums(x.data(), r.rows, r.columns, expected.data());
        ASSERT_EQ(FirstDifference(found.span(), expected.span()), r.columns)
            << path.name << ", " << r.rows << " x " << r.columns;
      }
    }
  }
}

// Logits of `r.rows` rows, and a label for each.
struct LossRows {
  LossRows(const Rectangle& r, Values values, std::mt19937& random)
      : classes(std::min<size_t>(r.columns, 255)),
        outputs(r.rows * classes),
        labels(r.rows) {
    Fill(outputs.span(), values, random);
    for (uint8_t& label : labels) {
      label = static_cast<uint8_t>(random() % classes);
    }
  }
  size_t classes;
  GuardedFloats outputs;
  std::vector<uint8_t> labels;
};
struct LossResults {
  explicit LossResults(LossRows& rows)
      : losses(rows.labels.size()), gradients(rows.outputs.size()) {}
  GuardedFloats losses, gradients;
};

using LossOperation = void (Kernels::*)(const LossArgs&) const;
using LossReference = float (*)(const float*, size_t, size_t, float, float*);

void ExpectLossBits(LossOperation operation, LossReference reference) {
  std::mt19937 random(2);
  for (const Path& path : AllPaths()) {
    for (const Rectangle& r : kRectangles) {
      for (const Values values : kAllValues) {
        LossRows rows(r, values, random);
        LossResults found(rows), expected(rows);
        ((*path.kernels).*operation)({.outputs = rows.outputs.span(),
                                      .labels = rows.labels,
                                      .classes = rows.classes,
                                      .scale = 0.03f,
                                      .losses = found.losses.span(),
                                      .gradients = found.gradients.span()});
        ASSERT_TRUE(path.kernels->status().ok());
        for (size_t i = 0; i < r.rows; ++i) {
          const size_t at = i * rows.classes;
          expected.losses.data()[i] =
              reference(rows.outputs.data() + at, rows.classes, rows.labels[i],
                        0.03f, expected.gradients.data() + at);
        }
        ASSERT_EQ(FirstDifference(found.losses.span(), expected.losses.span()),
                  r.rows)
            << path.name;
        ASSERT_EQ(
            FirstDifference(found.gradients.span(), expected.gradients.span()),
            found.gradients.size())
            << path.name;
      }
    }
  }
}

TEST(ElementwiseTest, SoftmaxCrossEntropyHasTheReferencesBits) {
  ExpectLossBits(&Kernels::SoftmaxCrossEntropy,
                 [](const float* outputs, size_t classes, size_t label,
                    float scale, float* gradients) {
                   return numerics::SoftmaxCrossEntropy(outputs, classes, label,
                                                        scale, gradients);
                 });
}

TEST(ElementwiseTest, MeanSquaredErrorHasTheReferencesBits) {
  ExpectLossBits(&Kernels::MeanSquaredError,
                 [](const float* outputs, size_t classes, size_t label,
                    float scale, float* gradients) {
                   return numerics::MeanSquaredError(outputs, classes, label,
                                                     scale, gradients);
                 });
}

TEST(ElementwiseTest, CountsRowsWithTheLabelAsArgMax) {
  std::mt19937 random(12);
  for (const Path& path : AllPaths()) {
    for (const Rectangle& r : kRectangles) {
      LossRows rows(r, Values::kSpecial, random);
      int64_t expected = 0;
      for (size_t i = 0; i < r.rows; ++i) {
        const size_t best = numerics::ArgMax(
            rows.outputs.data() + i * rows.classes, rows.classes);
        if (i % 2 == 0) rows.labels[i] = static_cast<uint8_t>(best);
        if (best == rows.labels[i]) ++expected;
      }
      EXPECT_EQ(path.kernels->CountRight(rows.outputs.span(), rows.labels,
                                         rows.classes),
                expected)
          << path.name;
    }
  }
}

}  // namespace
}  // namespace gauntlet
