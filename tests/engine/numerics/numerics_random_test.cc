#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "engine/numerics.h"

namespace gauntlet::numerics {
namespace {

struct KnownAnswer {
  PhiloxBlock counter;
  PhiloxKey key;
  PhiloxBlock output;
};
// From kat_vectors of the Random123 distribution: philox4x32 with 10 rounds.
constexpr KnownAnswer kKnownAnswers[] = {
    {{{0, 0, 0, 0}},
     {{0, 0}},
     {{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}}},
    {{{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}},
     {{0xffffffff, 0xffffffff}},
     {{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}}},
    {{{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}},
     {{0xa4093822, 0x299f31d0}},
     {{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}}},
};

TEST(NumericsRandomTest, PhiloxGivesTheAuthorsKnownAnswers) {
  for (const KnownAnswer& answer : kKnownAnswers) {
    const PhiloxBlock output = Philox(answer.counter, answer.key);
    for (int i = 0; i < 4; ++i) {
      EXPECT_EQ(output.word[i], answer.output.word[i]) << i;
    }
  }
}

TEST(NumericsRandomTest, WordIsTheTwoPhiloxCallsOfTheDocumentedKeying) {
  const uint64_t rng_key = 0x0123456789abcdefu;
  const uint64_t step = 0x1122334455667788u;
  const uint64_t row = 0x99aabbccddeeff00u;
  const PhiloxBlock x =
      Philox({{2, 7, 0x55667788u, 0x11223344u}}, {{0x89abcdefu, 0x01234567u}});
  const PhiloxBlock y = Philox({{10, 0xddeeff00u, 0x99aabbccu, x.word[2]}},
                               {{x.word[0], x.word[1]}});
  const RandomStream stream = MakeStream(rng_key, Purpose::kDropout, 7, step);
  for (uint32_t i = 0; i < 4; ++i) {
    EXPECT_EQ(StreamWord(stream, row, 40 + i), y.word[i]);
  }
}

TEST(NumericsRandomTest, EachPartOfThePlaceChangesTheWord) {
  std::set<uint32_t> words;
  const auto add = [&](uint64_t key, Purpose purpose, uint32_t layer,
                       uint64_t step, uint64_t row) {
    words.insert(StreamWord(MakeStream(key, purpose, layer, step), row, 0));
  };
  add(1, Purpose::kDropout, 1, 1, 1);
  add(2, Purpose::kDropout, 1, 1, 1);
  add(1 + (uint64_t{1} << 32), Purpose::kDropout, 1, 1, 1);
  add(1, Purpose::kInit, 1, 1, 1);
  add(1, Purpose::kDropout, 2, 1, 1);
  add(1, Purpose::kDropout, 1, 2, 1);
  add(1, Purpose::kDropout, 1, 1 + (uint64_t{1} << 32), 1);
  add(1, Purpose::kDropout, 1, 1, 2);
  add(1, Purpose::kDropout, 1, 1, 1 + (uint64_t{1} << 32));
  EXPECT_EQ(words.size(), 9u);
}

TEST(NumericsRandomTest, UniformFloatCoversZeroToJustBelowOne) {
  EXPECT_EQ(UniformFloat(0), 0.0f);
  EXPECT_EQ(UniformFloat(0xff), 0.0f);
  EXPECT_EQ(UniformFloat(0x80000000u), 0.5f);
  EXPECT_EQ(UniformFloat(0xffffffffu), 1.0f - 0x1p-24f);
  EXPECT_EQ(UniformSymmetric(0, 0.25f), -0.25f);
  EXPECT_EQ(UniformSymmetric(0x80000000u, 0.25f), 0.0f);
}

TEST(NumericsRandomTest, Dropout_ZeroesTheGivenShare) {
  constexpr uint32_t kColumns = 100'000;
  for (const float rate : {0.0f, 0.1f, 0.2f, 0.5f, 0.9f}) {
    uint32_t kept = 0;
    for (uint32_t j = 0; j < kColumns; ++j) {
      kept +=
          DropoutKeeps(7, {.step = 3, .layer = 1, .row = 5, .column = j}, rate);
    }
    const double share = 1.0 - static_cast<double>(kept) / kColumns;
    EXPECT_NEAR(share, rate, 0.006);
  }
}

TEST(NumericsRandomTest, GlorotLimitIsItsFormula) {
  EXPECT_EQ(GlorotLimit(3, 3), 1.0f);
  EXPECT_NEAR(GlorotLimit(784, 512), std::sqrt(6.0 / 1296.0), 1e-8);
}

std::vector<uint32_t> PermutationOf(uint64_t key, uint64_t epoch,
                                    uint32_t rows) {
  std::vector<uint32_t> order;
  for (uint32_t i = 0; i < rows; ++i) {
    order.push_back(PermuteIndex(key, epoch, rows, i));
  }
  return order;
}

TEST(NumericsRandomTest, PermuteIndexIsABijectionForEverySize) {
  std::vector<uint32_t> sizes = {255, 256, 257, 1000, 4096, 4097, 60'000};
  for (uint32_t rows = 1; rows <= 130; ++rows) sizes.push_back(rows);
  for (const uint32_t rows : sizes) {
    std::vector<bool> seen(rows, false);
    for (const uint32_t row : PermutationOf(11, 2, rows)) {
      ASSERT_LT(row, rows);
      ASSERT_FALSE(seen[row]) << row << " twice among " << rows;
      seen[row] = true;
    }
  }
}

TEST(NumericsRandomTest, PermuteIndexHoldsForTheLargestSizes) {
  for (const uint32_t rows : {0x80000001u, 0xffffffffu}) {
    std::set<uint32_t> images;
    for (uint32_t i = 0; i < 1000; ++i) {
      const uint32_t row = PermuteIndex(1, 1, rows, rows - 1 - i);
      ASSERT_LT(row, rows);
      images.insert(row);
    }
    EXPECT_EQ(images.size(), 1000u);
  }
}

TEST(NumericsRandomTest, KeysAndEpochsGiveOtherPermutations) {
  EXPECT_NE(PermutationOf(1, 0, 1000), PermutationOf(1, 1, 1000));
  EXPECT_NE(PermutationOf(1, 0, 1000), PermutationOf(2, 0, 1000));
  EXPECT_EQ(PermutationOf(1, 0, 1000), PermutationOf(1, 0, 1000));
}

// 6 orders of 3 rows over 6000 epochs: each about 1000 times, with a standard
// deviation of 29.
TEST(NumericsRandomTest, EveryOrderOfThreeRowsIsAboutAsLikely) {
  std::map<std::vector<uint32_t>, int> counts;
  for (uint64_t epoch = 0; epoch < 6000; ++epoch) {
    ++counts[PermutationOf(5, epoch, 3)];
  }
  EXPECT_EQ(counts.size(), 6u);
  for (const auto& [order, count] : counts) EXPECT_NEAR(count, 1000, 150);
}

TEST(NumericsRandomTest, EveryRowComesFirstAboutAsOften) {
  std::vector<int> counts(10, 0);
  for (uint64_t epoch = 0; epoch < 10'000; ++epoch) {
    ++counts[PermuteIndex(3, epoch, 10, 0)];
  }
  for (const int count : counts) EXPECT_NEAR(count, 1000, 150);
}

}  // namespace
}  // namespace gauntlet::numerics
