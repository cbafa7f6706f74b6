#include "harness/bench/trial_events.h"

#include <gtest/gtest.h>

namespace gauntlet {
namespace {

constexpr int64_t kMs = 1'000'000;

RecordEvent Step(uint64_t step, int64_t ms, int64_t save_ms = 0) {
  RecordEvent event = {
      .kind = RecordKind::kStep, .t_ns = ms * kMs, .step = step};
  if (save_ms > 0) event.parts = {{.part = "save", .took_ns = save_ms * kMs}};
  return event;
}

RecordEvent Acknowledged(uint64_t step, int64_t ms) {
  return {
      .kind = RecordKind::kSaveAcknowledged, .t_ns = ms * kMs, .step = step};
}

RecordEvent SaveTimes(uint64_t step, int64_t ms, int64_t bytes) {
  return {.kind = RecordKind::kSaveTimes,
          .t_ns = ms * kMs,
          .step = step,
          .count = bytes};
}

// Returns a run that saves after every second step. The first two saves take 10
// and 12 ms; training waits for 4 ms of each.
std::vector<IncarnationEvents> TwoSaves() {
  IncarnationEvents chief = {.worker = 0, .number = 1, .events = {}};
  chief.events = {
      Step(1, 100),           Step(2, 120),           Acknowledged(2, 130),
      SaveTimes(2, 131, 600), Step(3, 144, 4),        Step(4, 164),
      Acknowledged(4, 176),   SaveTimes(4, 177, 600), Step(5, 188, 4),
      Step(6, 208),           Acknowledged(6, 999)};
  IncarnationEvents other = {.worker = 1, .number = 1, .events = {}};
  other.events = {SaveTimes(2, 131, 400), SaveTimes(4, 177, 400),
                  SaveTimes(6, 990, 77)};
  return {chief, other};
}

TEST(TrialEvents, WindowSumsItsSteps) {
  const Result<WindowFigures> window =
      ReadWindow(TwoSaves(), {.begin = 2, .end = 6});
  ASSERT_TRUE(window.ok()) << window.status().message();
  EXPECT_DOUBLE_EQ(window->seconds, 0.088);
  EXPECT_DOUBLE_EQ(window->fastest_step, 0.020);
  EXPECT_DOUBLE_EQ(window->stall_seconds, 0.008);
  ASSERT_EQ(window->durable_seconds.size(), 2u);
  EXPECT_DOUBLE_EQ(window->durable_seconds[0], 0.010);
  EXPECT_DOUBLE_EQ(window->durable_seconds[1], 0.012);
  EXPECT_DOUBLE_EQ(window->bytes, 1000);
}

TEST(TrialEvents, WindowBeyondRunIsNotFound) {
  const Result<WindowFigures> window =
      ReadWindow(TwoSaves(), {.begin = 2, .end = 8});
  EXPECT_EQ(window.status().code(), Code::kNotFound);
  EXPECT_EQ(window.status().message(), "no events of steps 2 to 8");
}

// Returns a run whose worker 1 is killed at 250 ms, when step 6 is the newest.
std::vector<IncarnationEvents> Recovery() {
  std::vector<IncarnationEvents> incarnations = TwoSaves();
  IncarnationEvents launcher = {
      .worker = kLauncherWorker, .number = 1, .events = {}};
  launcher.events = {
      {.kind = RecordKind::kExited, .t_ns = 255 * kMs, .about = 1}};
  IncarnationEvents chief = {.worker = 0, .number = 2, .events = {}};
  chief.events = {{.kind = RecordKind::kStartTimes,
                   .t_ns = 400 * kMs,
                   .parts = {{.part = "build", .took_ns = 10 * kMs},
                             {.part = "join", .took_ns = 20 * kMs},
                             {.part = "claim", .took_ns = 5 * kMs},
                             {.part = "load", .took_ns = 15 * kMs}}},
                  Step(5, 420),
                  Step(6, 440),
                  Step(7, 460)};
  incarnations.push_back(launcher);
  incarnations.push_back(chief);
  return incarnations;
}

TEST(TrialEvents, RecoveryPartsMeet) {
  const Result<RecoveryFigures> recovery =
      ReadRecovery(Recovery(), {.worker = 1, .t_ns = 250 * kMs});
  ASSERT_TRUE(recovery.ok()) << recovery.status().message();
  EXPECT_DOUBLE_EQ(recovery->detect, 0.005);
  EXPECT_DOUBLE_EQ(recovery->respawn, 0.095);
  EXPECT_DOUBLE_EQ(recovery->join, 0.030);
  EXPECT_DOUBLE_EQ(recovery->restore, 0.020);
  EXPECT_DOUBLE_EQ(recovery->recompute, 0.060);
  EXPECT_EQ(recovery->recomputed, 3u);
  EXPECT_DOUBLE_EQ(recovery->total(), 0.210);
}

// A step that was in progress when a worker died is not a new step.
TEST(TrialEvents, StepOfSurvivorAfterKillIsNotNew) {
  std::vector<IncarnationEvents> incarnations = Recovery();
  incarnations.front().events.push_back(Step(7, 252));
  incarnations.back().events.push_back(Step(8, 480));
  const Result<RecoveryFigures> recovery =
      ReadRecovery(incarnations, {.worker = 1, .t_ns = 250 * kMs});
  ASSERT_TRUE(recovery.ok()) << recovery.status().message();
  EXPECT_DOUBLE_EQ(recovery->recompute, 0.080);
  EXPECT_EQ(recovery->recomputed, 4u);
}

// A chief that rejoins leaves its generation before the launcher notices.
TEST(TrialEvents, RecoveryOfSurvivorCountsNothingTwice) {
  std::vector<IncarnationEvents> incarnations = Recovery();
  incarnations.back().number = 1;
  incarnations.back().events.front().parts[1].took_ns = 120 * kMs;
  const Result<RecoveryFigures> recovery =
      ReadRecovery(incarnations, {.worker = 1, .t_ns = 250 * kMs});
  ASSERT_TRUE(recovery.ok()) << recovery.status().message();
  EXPECT_DOUBLE_EQ(recovery->respawn, 0);
  EXPECT_DOUBLE_EQ(recovery->join, 0.125);
  EXPECT_DOUBLE_EQ(recovery->total(), 0.210);
}

TEST(TrialEvents, RecoveryWithoutNewStepIsNotFound) {
  std::vector<IncarnationEvents> incarnations = Recovery();
  incarnations.back().events.pop_back();
  const Result<RecoveryFigures> recovery =
      ReadRecovery(incarnations, {.worker = 1, .t_ns = 250 * kMs});
  EXPECT_EQ(recovery.status().message(),
            "no step behind step 6, at which worker 1 was killed");
}

TEST(TrialEvents, LastFinishOfStepCounts) {
  EXPECT_EQ(StepFinished(Recovery(), 6), 440 * kMs);
  EXPECT_EQ(StepFinished(Recovery(), 9), std::nullopt);
  EXPECT_EQ(TrainingBegan(Recovery()), 400 * kMs);
}

}  // namespace
}  // namespace gauntlet
