// Outline of a run: the faults that fired, and the generations.
#include "harness/oracle/history/outline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/oracle/judge.h"
#include "tests/harness/oracle/spoiled_run.h"

namespace gauntlet {
namespace {

using K = RecordKind;
using testing::ElementsAre;

TEST(OutlineTest, FindsOccurrencesInOrderOfTime) {
  ScriptedRun run = TwiceCrashedRun();
  FireBefore(run, kNextChief, K::kClaimBegin, 0, DiskError());
  const Record record = run.record();
  std::vector<std::string> ids;
  for (const FaultOccurrence& occurrence : Outline(record).occurrences) {
    ids.push_back(occurrence.fault->id);
  }
  EXPECT_THAT(ids, ElementsAre("crash-w1", "no", "again"));
}

TEST(OutlineTest, PowerLossWithoutACut_EndsOneProcess) {
  ScriptedRun run = RejoinedRun();
  run.facts.faults[0].kind = "torn_write";
  run.facts.faults[0].then = "power_loss";
  run.facts.faults[0].disk = "lying-fsync";
  const Record one = run.record();
  EXPECT_FALSE(Outline(one).occurrences.at(0).traits.cuts_power);
  EXPECT_TRUE(Outline(one).occurrences.at(0).traits.ends_incarnation);
  run.events.Append(kMachine, {.kind = K::kPowerCut, .detail = "lying-fsync"});
  const Record all = run.record();
  EXPECT_TRUE(Outline(all).occurrences.at(0).traits.cuts_power);
}

TEST(OutlineTest, DescribesEachGeneration) {
  const Record record = RecoveredRun().record();
  const Outline outline(record);
  ASSERT_EQ(outline.generations.size(), 2u);
  const Generation& first = outline.generations[0];
  EXPECT_TRUE(first.cold_start);
  EXPECT_EQ(first.last_step, 6u);
  EXPECT_EQ(first.saves.size(), 2u);
  EXPECT_THAT(first.epochs, ElementsAre(0u));
  EXPECT_FALSE(first.HaveAllFinished());
  const Generation& second = outline.generations[1];
  EXPECT_EQ(second.started_at()->step, 4u);
  EXPECT_EQ(second.recomputed->steps(), 2u);
  EXPECT_EQ(second.saves.size(), 3u);
  EXPECT_THAT(second.epochs, ElementsAre(0u, 1u));
  EXPECT_TRUE(second.HaveAllFinished());
}

TEST(OutlineTest, RejoiningWorkerBelongsToBothGenerations) {
  const Record record = RejoinedRun().record();
  const Outline outline(record);
  ASSERT_EQ(outline.generations.size(), 2u);
  EXPECT_TRUE(outline.generations[0].some_left);
  EXPECT_TRUE(outline.generations[1].workers.contains(kChief));
  EXPECT_EQ(outline.generations[1].resumed_from_memory->step, 6u);
  EXPECT_EQ(outline.generations[1].recomputed->steps(), 0u);
}

TEST(OutlineTest, ReusedNumberIsAnotherGeneration) {
  const Record record = DeletedTwiceRun().record();
  const Outline outline(record);
  ASSERT_EQ(outline.generations.size(), 2u);
  EXPECT_EQ(outline.generations[1].number, 1u);
  EXPECT_TRUE(outline.generations[1].workers.contains(kNextOther));
}

TEST(OutlineTest, GenerationWithoutAStateRecomputesNothing) {
  const Record record = TwiceCrashedRun().record();
  const Outline outline(record);
  ASSERT_EQ(outline.generations.size(), 3u);
  EXPECT_FALSE(outline.generations[1].recomputed);
  EXPECT_EQ(outline.generations[2].recomputed->steps(), 2u);
  EXPECT_EQ(Judge(record).facts.max_recomputed_steps, 2u);
}

// Generation 2 resumes from step 4. The steps lost by the first crash count for
// this generation, and not again for generation 3.
TEST(OutlineTest, LostStepsCountOnce) {
  ScriptedRun run = TwiceCrashedRun();
  run.events.InsertAfter(kNextChief, K::kGeneration, 0, kNextChief,
                         {.kind = K::kResumed, .generation = 2, .step = 4});
  const Record record = run.record();
  const Outline outline(record);
  EXPECT_EQ(outline.generations[1].recomputed->steps(), 2u);
  EXPECT_EQ(outline.generations[2].recomputed->steps(), 0u);
}

TEST(OutlineTest, CountsFailedSaves) {
  ScriptedRun run = UndisturbedRun();
  run.events.At(kChief, K::kSaveAcknowledged, 2).kind = K::kSaveFailed;
  EXPECT_EQ(Judge(run.record()).facts.failed_saves, 1u);
}

}  // namespace
}  // namespace gauntlet
