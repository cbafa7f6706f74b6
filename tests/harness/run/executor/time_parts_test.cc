// The parts of time that workers report, compared with the times of their
// events.
#include <algorithm>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/run/case_runner.h"
#include "harness/run/executor/sim_run.h"
#include "tests/harness/run/small_cases.h"

namespace gauntlet {
namespace {

using testing::Gt;
using testing::SizeIs;

int64_t TotalNs(const std::vector<RecordTime>& times) {
  int64_t total = 0;
  for (const RecordTime& time : times) total += time.took_ns;
  return total;
}

int64_t NsOf(const std::vector<RecordTime>& times, std::string_view part) {
  const auto found = std::ranges::find(times, part, &RecordTime::part);
  return found == times.end() ? 0 : found->took_ns;
}

class TimePartsTest : public testing::Test {
 protected:
  RunLog Run(const RunPlan& plan) {
    return RunSimulated(pool_, plan,
                        *references_.DataOf(plan.train.job.data).value());
  }

  FiberPool pool_;
  References references_{"", "test"};
};

// Expects that the parts of each step fill the time since the step before.
// Returns the number of steps compared.
int ExpectStepsWithoutGaps(const IncarnationEvents& incarnation) {
  int steps = 0;
  std::optional<int64_t> last_ns;  // end of the last step, or start
  for (const RecordEvent& event : incarnation.events) {
    if (event.kind == RecordKind::kStartTimes) last_ns = event.t_ns;
    if (event.kind != RecordKind::kStep) continue;
    EXPECT_TRUE(last_ns.has_value()) << "a step comes before its start";
    if (last_ns) {
      EXPECT_EQ(TotalNs(event.parts), event.t_ns - *last_ns)
          << "worker " << incarnation.worker << ", step " << event.step;
    }
    last_ns = event.t_ns;
    ++steps;
  }
  return steps;
}

TEST_F(TimePartsTest, PartsOfStepsLeaveNoGap) {
  const RunLog log = Run(PlanOf(CrashCase()));
  int steps = 0;
  for (const IncarnationEvents& incarnation : log.incarnations)
    steps += ExpectStepsWithoutGaps(incarnation);
  EXPECT_THAT(steps, Gt(20));
}

TEST_F(TimePartsTest, PartsOfStartLeaveNoGap) {
  const RunLog log = Run(PlanOf(CrashCase()));
  int starts = 0;
  for (const IncarnationEvents& incarnation : log.incarnations) {
    const auto start = std::ranges::find(
        incarnation.events, RecordKind::kStartTimes, &RecordEvent::kind);
    if (start == incarnation.events.end()) continue;
    EXPECT_EQ(TotalNs(start->parts),
              start->t_ns - incarnation.events.front().t_ns);
    EXPECT_GT(NsOf(start->parts, "join") + NsOf(start->parts, "claim"), 0);
    ++starts;
  }
  EXPECT_EQ(starts, 4) << "two workers, each started twice";
}

// A save, and how long the next step reports having waited for it.
struct TimedSave {
  RecordEvent save;
  int64_t waited_ns = 0;
};

std::vector<TimedSave> SavesOf(const IncarnationEvents& incarnation) {
  std::map<uint64_t, int64_t> waited_ns;  // by step
  std::vector<TimedSave> saves;
  for (const RecordEvent& event : incarnation.events) {
    if (event.kind == RecordKind::kStep) {
      waited_ns[event.step] = NsOf(event.parts, "save");
    }
    if (event.kind == RecordKind::kSaveTimes) saves.push_back({.save = event});
  }
  for (TimedSave& timed : saves) {
    timed.waited_ns = waited_ns[timed.save.step + 1];
  }
  return saves;
}

// The last save also waits for the state file.
TEST_F(TimePartsTest, TrainingWaitsForSyncSaveUntilItIsCommitted) {
  const RunLog log = Run(PlanOf(CleanCase()));
  const std::vector<TimedSave> saves = SavesOf(log.incarnations.at(0));
  ASSERT_THAT(saves, SizeIs(4)) << "at steps 4, 8, 12, and the end";
  for (const TimedSave& timed : saves) {
    EXPECT_GT(timed.save.count, 0) << "bytes";
    for (const char* part : {"write", "sync", "commit"}) {
      EXPECT_GT(NsOf(timed.save.parts, part), 0)
          << part << " of step " << timed.save.step;
    }
    const bool last = &timed == &saves.back();
    EXPECT_EQ(NsOf(timed.save.parts, "state_file") > 0, last);
    EXPECT_EQ(NsOf(timed.save.background, "state_file") > 0, !last);
  }
  EXPECT_EQ(saves[0].waited_ns, TotalNs(saves[0].save.parts));
}

TEST_F(TimePartsTest, AsyncSaveIsWrittenDuringTraining) {
  RunPlan plan = PlanOf(CleanCase());
  plan.train.checkpoint.mode = SaveMode::kAsync;
  const RunLog log = Run(plan);
  const std::vector<TimedSave> saves = SavesOf(log.incarnations.at(0));
  ASSERT_FALSE(saves.empty());
  const RecordEvent& first = saves[0].save;
  EXPECT_EQ(first.step, 4u);
  EXPECT_GT(NsOf(first.background, "write") + NsOf(first.background, "sync"),
            0);
  EXPECT_EQ(NsOf(first.parts, "write"), 0);
}

TEST_F(TimePartsTest, WorkersReportFailedSave) {
  const RunLog log = Run(PlanOf(SmallCase(R"(faults:
  - id: full
    at: {worker: chief, step: 4, point: ckpt.shard.write}
    do: io_error
expect: {outcome: completes}
)")));
  const std::vector<TimedSave> saves = SavesOf(log.incarnations.at(0));
  ASSERT_FALSE(saves.empty());
  EXPECT_EQ(saves[0].save.reason, RecordReason::kDiskError);
}

}  // namespace
}  // namespace gauntlet
