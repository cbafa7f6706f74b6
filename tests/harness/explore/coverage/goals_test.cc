#include "harness/explore/coverage/goals.h"

#include <set>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "harness/explore/coverage/coverage.h"

namespace gauntlet {
namespace {

using K = RecordKind;

// Returns a run of one worker. A fault at `point`, after `events`, ends its
// first incarnation.
Record Died(std::string_view kind, Point point,
            std::vector<RecordEvent> events) {
  Record record;
  record.faults = {{.id = "fault", .kind = std::string(kind)}};
  events.push_back({.kind = K::kFaultFired,
                    .t_ns = 9,
                    .path = std::string(PointName(point)),
                    .detail = "fault"});
  record.incarnations = {
      {.worker = 0, .number = 1, .events = std::move(events)}};
  record.launchers = {{.exit_code = 0}};
  return record;
}

FaultPhase PhaseIn(const Record& record) {
  const Outline outline(record);
  return PhaseOf(outline, outline.occurrences.at(0));
}

TEST(GoalsTest, NamesAreUniqueAndThereAreEnough) {
  std::set<std::string_view> names;
  for (const GoalInfo& info : AllGoals()) names.insert(info.name);
  EXPECT_EQ(names.size(), AllGoals().size());
  EXPECT_GE(names.size(), 15u);
}

TEST(GoalsTest, UndisturbedRunMeetsNone) {
  Record record;
  record.incarnations = {{.events = {{.kind = K::kInitialized},
                                     {.kind = K::kStep, .step = 1},
                                     {.kind = K::kFinished, .step = 1}}}};
  record.launchers = {{.exit_code = 0}};
  EXPECT_TRUE(GoalsMetBy(Outline(record)).none());
}

TEST(PhaseOfTest, IsThePhaseOfTheWorker) {
  const RecordEvent state = {.kind = K::kInitialized};
  const RecordEvent evaluation = {
      .kind = K::kStep, .step = 6, .phase = RecordPhase::kEvaluationDue};
  EXPECT_EQ(PhaseIn(Died("slow", Point::kRendezvous, {})),
            FaultPhase::kJoining);
  EXPECT_EQ(PhaseIn(Died("slow", Point::kStepBegin, {state})),
            FaultPhase::kInEpoch);
  EXPECT_EQ(PhaseIn(Died("slow", Point::kEvalBegin, {state, evaluation})),
            FaultPhase::kEvaluation);
  EXPECT_EQ(PhaseIn(Died("slow", Point::kRename, {state})),
            FaultPhase::kSaving);
  EXPECT_EQ(PhaseIn(Died("slow", Point::kRetireRename,
                         {state, {.kind = K::kFinished}})),
            FaultPhase::kFinishing);
}

TEST(CoverageTest, ReportsTheLastCaseWithNewCoverage) {
  Coverage coverage;
  const FiredFault crash = {.kind = FaultKind::kCrash, .point = Point::kRename};
  const FiredFault hang = {.kind = FaultKind::kHang, .point = Point::kRenamed};
  coverage.Add(1, {crash}, {});
  coverage.Add(2, {crash}, {});
  EXPECT_EQ(coverage.last_new(), 1u);
  coverage.Add(3, {crash, hang}, {});
  EXPECT_EQ(coverage.last_new(), 3u);
  EXPECT_EQ(coverage.pairs().size(), 1u);
  EXPECT_EQ(coverage.PointsHit().size(), 2u);
}

}  // namespace
}  // namespace gauntlet
