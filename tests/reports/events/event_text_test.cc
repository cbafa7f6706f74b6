// Texts of single events.
#include "reports/events/event_text.h"

#include <gtest/gtest.h>

namespace gauntlet {
namespace {

TEST(EventTextTest, LauncherThatGivesUpNamesTheKeyThatAllowsNoRestart) {
  struct GaveUpCase {
    RunSetup setup;
    RecordReason reason;
    const char* text;
  };
  const GaveUpCase kCases[] = {
      {{.max_restarts = 2},
       RecordReason::kRestartsUsedUp,
       "gives up: restarts used up (cluster.restart.max is 2)"},
      {{.never_restarts = true},
       RecordReason::kRestartsUsedUp,
       "gives up: cluster.restart.policy is none, so no restart is allowed"},
      {{.max_restarts = 2},
       RecordReason::kNoProgress,
       "gives up: no progress (the limit is 10 restarts in a row that reach no "
       "new step; cluster.restart.max does not raise it)"},
  };
  for (const auto& [setup, reason, text] : kCases) {
    const RecordEvent event = {.kind = RecordKind::kGaveUp, .reason = reason};
    Record record;
    record.setup = setup;
    EXPECT_EQ(EventText(record, {.worker = kLauncherWorker}, event), text);
  }
}

TEST(EventTextTest, ErrorOfAFullDisk_IsShort_WithTheRoom) {
  const RecordEvent event = {
      .kind = RecordKind::kSaveFailed,
      .step = 8,
      .detail =
          "write /ckpt/step-000000008-g2.tmp/model: disk full (needs 12.5 "
          "KiB, the file system of /ckpt has 2.4 KiB free). Make room"};
  EXPECT_EQ(EventText(Record(), {.worker = 0}, event),
            "save of step 8 failed: write model: disk full (needs 12.5 KiB, "
            "the file system of /ckpt has 2.4 KiB free)");
}

TEST(EventTextTest, LossNamesTheLimitOfItsWait) {
  RecordEvent loss = {.kind = RecordKind::kWorkerLost,
                      .about = 1,
                      .reason = RecordReason::kSilent,
                      .limit_ns = 5'000'000'000};
  EXPECT_EQ(EventText(Record(), {.worker = 0}, loss),
            "loses rank 1 (silent, limit 5.000 s)");
  loss.reason = RecordReason::kClosed;
  EXPECT_EQ(EventText(Record(), {.worker = 0}, loss), "loses rank 1 (closed)");
}

TEST(EventTextTest, OnlyARequeuedLauncherIsSaidToBeRequeued) {
  Record record;
  record.launchers = {{.planned = 0}, {.planned = 0}, {.planned = 1}};
  const char* const kTexts[] = {
      "starts", "is started again, as a scheduler requeues a job",
      "is started again, as planned (entry 2 of launches)"};
  int number = 0;
  for (const char* const text : kTexts) {
    EXPECT_EQ(EventText(record, {.worker = kLauncherWorker, .number = ++number},
                        {.kind = RecordKind::kLauncherBegin}),
              text);
  }
}

}  // namespace
}  // namespace gauntlet
