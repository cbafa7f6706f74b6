#include "harness/explore/laboratory.h"

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "harness/run/text_file.h"

namespace gauntlet {
namespace {

Laboratory MakeLaboratory() {
  static References references("", "test");
  const std::string file =
      std::filesystem::path(GAUNTLET_SCENARIOS) / "explore/base.yaml";
  return Laboratory::Make(LoadScenarios(ReadTextFile(file), file).cases.at(0),
                          references)
      .value();
}

FaultPlan PlanOf(Fault fault) {
  fault.id = "fault";
  return {.faults = {std::move(fault)}};
}

std::string Wrong(const Trial& trial) {
  std::string text = trial.record.plan_json;
  for (const Finding& finding : trial.wrong) text += "\n" + finding.message;
  return text;
}

bool Has(const Record& record, RecordKind kind) {
  for (const LifeEvents& life : record.lives) {
    for (const RecordEvent& event : life.events) {
      if (event.kind == kind) return true;
    }
  }
  return false;
}

TEST(LaboratoryTest, AnErrorOfAnyKindIsRecoveredFrom) {
  Laboratory laboratory = MakeLaboratory();
  for (const FaultErrorInfo& error : AllFaultErrors()) {
    for (const Point point : {Point::kClaimRecord, Point::kShardOpen,
                              Point::kRename, Point::kStateRename}) {
      const Trial trial =
          laboratory.Try(PlanOf({.site = {.worker = kChief, .point = point},
                                 .kind = FaultKind::kErrno,
                                 .with = {.error = error.number}}));
      EXPECT_TRUE(trial.wrong.empty()) << Wrong(trial);
    }
  }
}

TEST(LaboratoryTest, AFileThatIsGoneFromUnderTheClaimIsRecoveredFrom) {
  Laboratory laboratory = MakeLaboratory();
  const Trial trial = laboratory.Try(
      PlanOf({.site = {.worker = kChief, .point = Point::kClaimRecord},
              .kind = FaultKind::kDelete}));
  EXPECT_TRUE(trial.wrong.empty()) << Wrong(trial);
}

TEST(LaboratoryTest, ASaveThatFailsAtItsBeginningSaysSo) {
  Laboratory laboratory = MakeLaboratory();
  const Trial trial = laboratory.Try(
      PlanOf({.site = {.worker = kChief, .point = Point::kSaveBegin},
              .kind = FaultKind::kErrno}));
  EXPECT_TRUE(trial.wrong.empty()) << Wrong(trial);
  EXPECT_TRUE(Has(trial.record, RecordKind::kSaveFailed));
}

TEST(LaboratoryTest, AnErrorAtEveryHitMayEndTheRun) {
  Laboratory laboratory = MakeLaboratory();
  const Trial trial = laboratory.Try(PlanOf(
      {.site = {.worker = 1, .life = kAnyLife, .point = Point::kDataNext},
       .kind = FaultKind::kErrno,
       .with = {.times = FaultTimes::kAlways}}));
  EXPECT_NE(trial.record.launchers.back().exit_code, 0);
  EXPECT_TRUE(trial.wrong.empty()) << Wrong(trial);
}

TEST(LaboratoryTest, AGraceThatNobodyCouldKeepIsThePlansOwn) {
  Laboratory laboratory = MakeLaboratory();
  const Trial trial =
      laboratory.Try(PlanOf({.site = {.worker = 0, .point = Point::kEpochEnd},
                             .kind = FaultKind::kPreempt,
                             .with = {.grace = std::chrono::milliseconds(1)}}));
  EXPECT_TRUE(Has(trial.record, RecordKind::kFaultFired));
  EXPECT_TRUE(trial.wrong.empty()) << Wrong(trial);
}

TEST(LaboratoryTest, AKillThatComesTooLateIsThePlansOwn) {
  Laboratory laboratory = MakeLaboratory();
  const Trial trial =
      laboratory.Try(PlanOf({.site = {.worker = 0, .point = Point::kEpochEnd},
                             .kind = FaultKind::kKill,
                             .with = {.latency = std::chrono::hours(1)}}));
  EXPECT_TRUE(Has(trial.record, RecordKind::kFaultFired));
  EXPECT_TRUE(trial.wrong.empty()) << Wrong(trial);
}

}  // namespace
}  // namespace gauntlet
