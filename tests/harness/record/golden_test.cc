#include "harness/record/golden.h"

#include <gtest/gtest.h>

namespace gauntlet {
namespace {

TEST(GoldenTest, KeepsStatesMetricsAndTheFinalDigestInOrder) {
  const IncarnationEvents reference{
      .events = {{.kind = RecordKind::kWorkerStarted},
                 {.kind = RecordKind::kInitialized, .digest = "a"},
                 {.kind = RecordKind::kStep,
                  .step = 1,
                  .digest = "b",
                  .samples = {3, 1, 2}},
                 {.kind = RecordKind::kSaveBegin, .step = 1},
                 {.kind = RecordKind::kEpochEnd,
                  .step = 1,
                  .count = 5,
                  .loss_bits = 9,
                  .digest = "c"},
                 {.kind = RecordKind::kFinished, .digest = "d"}}};
  const GoldenTrajectory golden = GoldenOf(reference);
  ASSERT_EQ(golden.entries.size(), 3u);
  EXPECT_EQ(golden.entries[0].digest, "a");
  EXPECT_EQ(golden.entries[1].samples, (std::vector<uint32_t>{1, 2, 3}));
  EXPECT_EQ(golden.entries[2].kind, RecordKind::kEpochEnd);
  EXPECT_EQ(golden.epochs,
            (std::vector<GoldenEpoch>{{.loss_bits = 9, .correct = 5}}));
  EXPECT_EQ(golden.final_digest, "d");
}

TEST(GoldenTest, ReferenceThatDidNotFinishHasNoFinalDigest) {
  EXPECT_EQ(GoldenOf({.events = {{.kind = RecordKind::kStep}}}).final_digest,
            "");
}

}  // namespace
}  // namespace gauntlet
