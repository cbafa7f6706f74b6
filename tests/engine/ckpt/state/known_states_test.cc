#include "engine/ckpt/state/known_states.h"

#include <gtest/gtest.h>

namespace gauntlet {
namespace {

constexpr Digest Fingerprint(uint64_t n) { return {.high = n, .low = n}; }

TEST(KnownStatesTest, KnowsWhatWasPutThere) {
  KnownStates known(10);
  EXPECT_EQ(known.Find(Fingerprint(1)), std::nullopt);
  known.Put(Fingerprint(1), {.low = 5});
  EXPECT_EQ(known.Find(Fingerprint(1)), Digest{.low = 5});
  EXPECT_EQ(known.found(), 1u);
}

TEST(KnownStatesTest, BothHalvesOfAFingerprintCount) {
  KnownStates known(10);
  known.Put(Fingerprint(1), {.low = 5});
  EXPECT_EQ(known.Find({.high = 2, .low = 1}), std::nullopt);
  EXPECT_EQ(known.Find({.high = 1, .low = 2}), std::nullopt);
}

TEST(KnownStatesTest, ForgetsWhenItIsFull) {
  KnownStates known(2);
  for (uint64_t n = 1; n <= 9; ++n) {
    known.Put(Fingerprint(n), {.low = n});
    EXPECT_LE(known.size(), 2u);
    EXPECT_EQ(known.Find(Fingerprint(n)), Digest{.low = n});
  }
  EXPECT_EQ(known.Find(Fingerprint(1)), std::nullopt);
}

TEST(KnownStatesTest, WhatIsPutAgainTakesNoRoom) {
  KnownStates known(2);
  known.Put(Fingerprint(1), {.low = 1});
  known.Put(Fingerprint(2), {.low = 2});
  known.Put(Fingerprint(2), {.low = 2});
  EXPECT_EQ(known.Find(Fingerprint(1)), Digest{.low = 1});
}

TEST(KnownStatesTest, WithoutRoomItKnowsNothing) {
  KnownStates known(0);
  known.Put(Fingerprint(1), {.low = 1});
  EXPECT_EQ(known.Find(Fingerprint(1)), std::nullopt);
}

}  // namespace
}  // namespace gauntlet
