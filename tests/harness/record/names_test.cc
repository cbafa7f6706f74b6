#include <set>

#include <gtest/gtest.h>

#include "engine/world/event_log.h"
#include "harness/record/event.h"
#include "harness/record/invariants.h"

namespace gauntlet {
namespace {

TEST(RecordNamesTest, EventsAreCalledAsTheEngineCallsThem) {
  for (int i = 0; i <= static_cast<int>(EventKind::kStartTimes); ++i) {
    const auto kind = static_cast<EventKind>(i);
    EXPECT_EQ(FindRecordKind(EventKindName(kind)), static_cast<RecordKind>(i));
  }
  EXPECT_EQ(static_cast<int>(RecordKind::kStartTimes),
            static_cast<int>(EventKind::kStartTimes));
}

TEST(RecordNamesTest, PhasesAreCalledAsTheEngineCallsThem) {
  for (const Phase phase :
       {Phase::kInEpoch, Phase::kEvaluationDue, Phase::kCallbacksDue}) {
    EXPECT_EQ(FindRecordPhase(PhaseName(phase)),
              static_cast<RecordPhase>(phase));
  }
}

TEST(RecordNamesTest, EachInvariantHasAName) {
  std::set<std::string_view> names;
  for (const InvariantInfo& info : AllInvariants()) {
    EXPECT_TRUE(names.insert(info.name).second) << info.name;
    EXPECT_TRUE(IsInvariant(info.name));
  }
  EXPECT_FALSE(IsInvariant("all"));
}

}  // namespace
}  // namespace gauntlet
