// One order of all events that processes emit.
#include "harness/oracle/history/history.h"

#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/oracle/history/training_position.h"

namespace gauntlet {
namespace {

using testing::ElementsAre;

RecordEvent At(int64_t t_ns, uint64_t order, std::string detail) {
  return {.t_ns = t_ns, .detail = std::move(detail), .order = order};
}

std::vector<std::string> Details(const Record& record) {
  std::vector<std::string> details;
  for (const HistoryEvent& emitted : HistoryOf(record)) {
    details.push_back(emitted.event->detail);
  }
  return details;
}

TEST(HistoryTest, UsesTheOrderOfASimulation) {
  Record record;
  record.incarnations = {{.worker = 0, .number = 1, .events = {At(5, 2, "b")}},
                         {.worker = 1, .number = 1, .events = {At(5, 4, "d")}}};
  record.launchers.emplace_back().events = {At(5, 1, "a")};
  record.machine = {At(5, 3, "c")};
  EXPECT_THAT(Details(record), ElementsAre("a", "b", "c", "d"));
}

TEST(HistoryTest, UsesTimes_IfThereIsNoOrder) {
  Record record;
  record.incarnations = {
      {.worker = 0, .number = 1, .events = {At(10, 0, "b"), At(30, 0, "d")}},
      {.worker = 1, .number = 1, .events = {At(20, 0, "c")}}};
  record.launchers.emplace_back().events = {At(5, 0, "a")};
  EXPECT_THAT(Details(record), ElementsAre("a", "b", "c", "d"));
}

TEST(HistoryTest, KeepsTheOrderWithinAProcess) {
  Record record;
  record.incarnations = {
      {.worker = 0, .number = 1, .events = {At(30, 0, "b"), At(10, 0, "c")}},
      {.worker = 1, .number = 1, .events = {At(20, 0, "a")}}};
  EXPECT_THAT(Details(record), ElementsAre("a", "b", "c"));
}

TEST(HistoryTest, DescribesAPositionAtTheEndOfAnEpoch) {
  EXPECT_EQ(ToText(TrainingPosition{.step = 6}), "6");
  EXPECT_EQ(
      ToText(TrainingPosition{.step = 6, .phase = RecordPhase::kEvaluationDue}),
      "6 (before the evaluation)");
  EXPECT_EQ(
      ToText(TrainingPosition{.step = 6, .phase = RecordPhase::kCallbacksDue}),
      "6 (before the callbacks)");
}

TEST(HistoryTest, DescribesAnEvent) {
  const Emitter worker = {
      .kind = Emitter::Kind::kWorker, .worker = 1, .incarnation = 2};
  EXPECT_EQ(Where(worker, {.kind = RecordKind::kEpochEnd, .step = 6}),
            "epoch end at step 6 (worker 1, incarnation 2)");
  EXPECT_EQ(Where(worker, {.kind = RecordKind::kStep, .step = 6}),
            "after step 6 (worker 1, incarnation 2)");
}

TEST(HistoryTest, TimesThatDifferHaveDifferentTexts) {
  using Texts = std::pair<std::string, std::string>;
  EXPECT_EQ(SecondsTexts(4'980'000'000, 2'000'000'000),
            Texts("4.980", "2.000"));
  EXPECT_EQ(SecondsTexts(1'000'020'000, 1'000'000'000),
            Texts("1.00002", "1.00000"));
  EXPECT_EQ(SecondsTexts(1'000'000'001, 1'000'000'000),
            Texts("1.000000001", "1.000000000"));
}

TEST(HistoryTest, LimitOfLessThanAMillisecond_IsExact) {
  using Texts = std::pair<std::string, std::string>;
  EXPECT_EQ(SecondsTexts(245'100, 1'000), Texts("0.000245", "0.000001"));
  EXPECT_EQ(SecondsTexts(7'000'000'000, 1'500),
            Texts("7.0000000", "0.0000015"));
  EXPECT_EQ(SecondsTexts(245'100, 0), Texts("0.0002", "0.0000"));
}

TEST(HistoryTest, NamesTheEmitter) {
  Record record;
  record.incarnations = {{.worker = 3, .number = 2, .events = {At(1, 0, "")}}};
  record.launchers.resize(2);
  record.launchers[1].events = {At(2, 0, "")};
  const std::vector<HistoryEvent> history = HistoryOf(record);
  ASSERT_EQ(history.size(), 2u);
  EXPECT_EQ(
      history[0].by,
      (Emitter{.kind = Emitter::Kind::kWorker, .worker = 3, .incarnation = 2}));
  EXPECT_EQ(history[1].by.kind, Emitter::Kind::kLauncher);
  EXPECT_EQ(history[1].by.incarnation, 2);
}

}  // namespace
}  // namespace gauntlet
