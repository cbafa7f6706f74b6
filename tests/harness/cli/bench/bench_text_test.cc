// Texts about the result of a benchmark of checkpoints.
#include "harness/cli/bench/bench_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gauntlet {
namespace {

using testing::HasSubstr;
using testing::Not;

CheckpointResult SavesInFlight(SaveMode mode, double share) {
  CheckpointFigures figures;
  figures.config = {.mode = mode, .state_bytes = 1'000'000, .every = 10};
  figures.of(Metric::kStep) = {0.002};
  figures.of(Metric::kBusy) = {share};
  CheckpointResult result;
  result.figures = {figures};
  result.between_failures = 3600;
  return result;
}

TEST(BenchTextTest, NoteSaysThatSavesWaitForEachOther) {
  EXPECT_THAT(CheckpointResultToText(SavesInFlight(SaveMode::kZeroCopy, 1.0)),
              HasSubstr("\nnote: zero-copy: a save was in flight 100 % of the "
                        "time, so a save waits for the one before it; use a "
                        "larger --every, such as 50\n"));
  for (const CheckpointResult& result :
       {SavesInFlight(SaveMode::kZeroCopy, 0.6),
        SavesInFlight(SaveMode::kSync, 1.0)}) {
    EXPECT_THAT(CheckpointResultToText(result), Not(HasSubstr("note: ")));
  }
}

TEST(BenchTextTest, MissingGoodputHasItsReason) {
  CheckpointResult result = SavesInFlight(SaveMode::kSync, 0.5);
  EXPECT_THAT(CheckpointResultToText(result), Not(HasSubstr("under kills")));
  result.figures[0].goodput_missing = "nobody was killed";
  EXPECT_THAT(
      CheckpointResultToText(result),
      HasSubstr("goodput under kills\n  sync       not measured: nobody "
                "was killed\n"));
}

}  // namespace
}  // namespace gauntlet
