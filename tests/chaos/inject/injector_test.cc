#include "chaos/inject/injector.h"

#include <chrono>
#include <functional>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/chaos/inject/recording_world.h"

namespace gauntlet {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A point without a storage operation: its errors appear in the Status of Hit.
constexpr Point kHere = Point::kHeartbeat;

Fault ErrorAt(const FaultSite& site) {
  return {.id = "f", .site = site, .kind = FaultKind::kErrno};
}

// Runs three epochs of four steps, passing kHere once in each step. Returns the
// steps in which it failed.
std::vector<uint64_t> FailedSteps(Injector& injector) {
  std::vector<uint64_t> failed;
  for (uint64_t step = 0; step < 12; ++step) {
    const PointContext position{.step = step, .epoch = step / 4};
    EXPECT_TRUE(injector.Hit(Point::kStepBegin, position).ok());
    if (!injector.Hit(kHere, {}).ok()) failed.push_back(step);
  }
  return failed;
}

struct SiteCase {
  std::string name;
  FaultSite site;
  ProcessIdentity self;
  std::vector<uint64_t> failed_steps;
};

TEST(InjectorTest, FiresAtItsSiteAndNowhereElse) {
  const std::vector<SiteCase> cases = {
      {"first occurrence", {.point = kHere}, {}, {0}},
      {"third occurrence", {.point = kHere, .occurrence = 3}, {}, {2}},
      {"more occurrences than there are",
       {.point = kHere, .occurrence = 13},
       {},
       {}},
      {"another point", {.point = Point::kFinish}, {}, {}},
      {"a step", {.step = 5, .point = kHere}, {}, {5}},
      {"an epoch", {.epoch = 1, .point = kHere}, {}, {4}},
      {"second occurrence of an epoch",
       {.epoch = 1, .point = kHere, .occurrence = 2},
       {},
       {5}},
      {"step of another epoch",
       {.step = 5, .epoch = 2, .point = kHere},
       {},
       {}},
      {"this worker", {.worker = 2, .point = kHere}, {.worker = 2}, {0}},
      {"another worker", {.worker = 2, .point = kHere}, {.worker = 1}, {}},
      {"all workers",
       {.worker = kAllWorkers, .point = kHere},
       {.worker = 7},
       {0}},
      {"the chief",
       {.worker = kChief, .point = kHere},
       {.worker = 4, .rank = 0},
       {0}},
      {"not the chief", {.worker = kChief, .point = kHere}, {.rank = 1}, {}},
      {"a later incarnation",
       {.incarnation = 2, .point = kHere},
       {.incarnation = 2},
       {0}},
      {"first incarnation only", {.point = kHere}, {.incarnation = 2}, {}},
      {"any incarnation",
       {.incarnation = kAnyIncarnation, .point = kHere},
       {.incarnation = 9},
       {0}},
  };
  for (const SiteCase& c : cases) {
    const FaultPlan plan{.faults = {ErrorAt(c.site)}};
    FiredInMemory fired;
    RecordedIncarnation incarnation(plan, c.self, fired);
    EXPECT_EQ(FailedSteps(incarnation.injector), c.failed_steps) << c.name;
  }
}

// Returns the saves, from 1, in which the point failed. After the third save a
// new generation forms and reaches the point outside of any save.
std::vector<uint64_t> FailedSaves(Injector& injector, Point point) {
  std::vector<uint64_t> failed;
  for (uint64_t save = 1; save <= 5; ++save) {
    if (save == 4) {
      EXPECT_TRUE(injector.Hit(Point::kRendezvous, {}).ok());
      EXPECT_TRUE(injector.Hit(point, {}).ok()) << "in no save";
    }
    EXPECT_TRUE(injector.Hit(Point::kSaveBegin, {}).ok());
    if (!injector.Hit(point, {}).ok()) failed.push_back(save);
    EXPECT_TRUE(injector.Hit(Point::kSaveEnd, {}).ok());
  }
  EXPECT_TRUE(injector.Hit(Point::kFinish, {}).ok());
  EXPECT_TRUE(injector.Hit(point, {}).ok()) << "in no save";
  return failed;
}

TEST(InjectorTest, Save_CountsTheSavesOfTheIncarnation) {
  for (const uint64_t save : {1, 2, 3, 4, 5, 6}) {
    Fault fault = ErrorAt({.save = save, .point = Point::kSaveAgree});
    fault.with.times = FaultTimes::kAlways;
    const FaultPlan plan{.faults = {fault}};
    FiredInMemory fired;
    RecordedIncarnation incarnation(plan, {}, fired);
    const std::vector<uint64_t> expected =
        save == 6 ? std::vector<uint64_t>{} : std::vector{save};
    EXPECT_EQ(FailedSaves(incarnation.injector, Point::kSaveAgree), expected);
  }
}

TEST(InjectorTest, RepeatAlways_FiresFromOccurrenceUntilStep) {
  Fault fault = ErrorAt({.point = kHere, .occurrence = 3});
  fault.with = {.times = FaultTimes::kAlways, .until_step = 6};
  const FaultPlan plan{.faults = {fault}};
  FiredInMemory fired;
  RecordedIncarnation incarnation(plan, {}, fired);
  EXPECT_THAT(FailedSteps(incarnation.injector), ElementsAre(2, 3, 4, 5));
  EXPECT_THAT(
      incarnation.diary,
      ElementsAre("fault_fired f at ctl.heartbeat, step 2, epoch 0",
                  "fault_fired_again f at ctl.heartbeat, step 3, epoch 0",
                  "fault_fired_again f at ctl.heartbeat, step 4, epoch 1",
                  "fault_fired_again f at ctl.heartbeat, step 5, epoch 1"));
}

TEST(InjectorTest, OnceMayBeNHitsInARow) {
  Fault fault = ErrorAt(
      {.incarnation = kAnyIncarnation, .point = kHere, .occurrence = 3});
  fault.with = {.hits = 2};
  const FaultPlan plan{.faults = {fault}};
  FiredInMemory fired;
  RecordedIncarnation incarnation(plan, {.incarnation = 1}, fired);
  RecordedIncarnation next(plan, {.incarnation = 2}, fired);
  EXPECT_THAT(FailedSteps(incarnation.injector), ElementsAre(2, 3));
  EXPECT_THAT(FailedSteps(next.injector), IsEmpty());
  EXPECT_THAT(
      incarnation.diary,
      ElementsAre("fault_fired f at ctl.heartbeat, step 2, epoch 0",
                  "fault_fired_again f at ctl.heartbeat, step 3, epoch 0"));
}

TEST(InjectorTest, HitsInARowCountOnlyInTheStepOfTheSite) {
  Fault fault = ErrorAt({.step = 2, .point = kHere});
  fault.with = {.hits = 3};
  const FaultPlan plan{.faults = {fault}};
  FiredInMemory fired;
  RecordedIncarnation incarnation(plan, {.incarnation = 1}, fired);
  EXPECT_THAT(FailedSteps(incarnation.injector), ElementsAre(2));
}

TEST(InjectorTest, OnceIsOnceInTheRunWhateverRestarts) {
  const FaultPlan plan{
      .faults = {ErrorAt({.incarnation = kAnyIncarnation, .point = kHere})}};
  FiredInMemory fired;
  RecordedIncarnation first(plan, {.worker = 0, .incarnation = 1}, fired);
  RecordedIncarnation other(plan, {.worker = 1, .incarnation = 1}, fired);
  RecordedIncarnation second(plan, {.worker = 0, .incarnation = 2}, fired);
  EXPECT_THAT(FailedSteps(first.injector), ElementsAre(0));
  EXPECT_THAT(FailedSteps(other.injector), IsEmpty());
  EXPECT_THAT(FailedSteps(second.injector), IsEmpty());
}

TEST(InjectorTest, AllWorkersIsOnceInEach) {
  const FaultPlan plan{.faults = {ErrorAt({.worker = kAllWorkers,
                                           .incarnation = kAnyIncarnation,
                                           .point = kHere})}};
  FiredInMemory fired;
  RecordedIncarnation zero(plan, {.worker = 0}, fired);
  RecordedIncarnation one(plan, {.worker = 1}, fired);
  RecordedIncarnation one_again(plan, {.worker = 1, .incarnation = 2}, fired);
  EXPECT_THAT(FailedSteps(zero.injector), ElementsAre(0));
  EXPECT_THAT(FailedSteps(one.injector), ElementsAre(0));
  EXPECT_THAT(FailedSteps(one_again.injector), IsEmpty());
}

TEST(InjectorTest, AfterWaitsForTheOtherFaultAlsoOfAnotherProcess) {
  Fault cause = ErrorAt({.worker = 1, .point = kHere});
  Fault effect = ErrorAt({.worker = 0, .point = kHere, .occurrence = 2});
  cause.id = "cause";
  effect.after = "cause";
  const FaultPlan plan{.faults = {effect, cause}};
  FiredInMemory fired;
  RecordedIncarnation zero(plan, {.worker = 0}, fired);
  RecordedIncarnation one(plan, {.worker = 1}, fired);
  EXPECT_THAT(FailedSteps(zero.injector), IsEmpty());
  EXPECT_THAT(FailedSteps(one.injector), ElementsAre(0));
  // Only occurrences after the fault "cause" has fired count.
  EXPECT_THAT(FailedSteps(zero.injector), ElementsAre(1));
}

TEST(InjectorTest, LogsTheFaultBeforeItsEffect) {
  struct KindCase {
    FaultKind kind;
    FaultParameters with;
    std::string effect;
  };
  const std::vector<KindCase> cases = {
      {FaultKind::kCrash, {.exit_code = 9}, "crash 9"},
      {FaultKind::kException,
       {},
       "abort f: injected internal failure at ckpt.rename"},
      {FaultKind::kKill, {}, "kill now"},
      {FaultKind::kKill, {.kill_latency = Duration(7)}, "kill 7"},
      {FaultKind::kKill, {.kill_latency = Duration(0)}, "kill 0"},
      {FaultKind::kKillLauncher, {}, "kill launcher"},
      {FaultKind::kTerminateLauncher, {}, "terminate launcher"},
      {FaultKind::kHang, {}, "hang"},
      {FaultKind::kHang, {.duration = Duration(7)}, "sleep 7"},
      {FaultKind::kPause, {.duration = Duration(7)}, "stop 7"},
      {FaultKind::kSlow, {.latency = Duration(7)}, "sleep 7"},
      {FaultKind::kPreempt, {.grace = Duration(7)}, "notice by signal 7"},
      {FaultKind::kPreempt,
       {.grace = Duration(7), .notice = NoticeBy::kHttp},
       "notice by http 7"},
      {FaultKind::kPowerLoss, {}, "power loss"},
      {FaultKind::kPartition, {.duration = Duration(8)}, "partition 8"},
      {FaultKind::kAsymmetricPartition,
       {.duration = Duration(9)},
       "asymmetric_partition 9"},
      {FaultKind::kPacketLoss, {}, "packet_loss 0"},
      {FaultKind::kDelay, {.duration = Duration(2)}, "delay 2"},
      {FaultKind::kDuplicate, {.duration = Duration(3)}, "duplicate 3"},
      {FaultKind::kConnectionReset, {}, "connection_reset 0"},
      {FaultKind::kWallClockJump,
       {.by = Duration(3'000'000'000)},
       "calendar 3000000000"},
      {FaultKind::kWallClockJump,
       {.by = Duration(3'000'000'000), .direction = JumpDirection::kBack},
       "calendar -3000000000"},
  };
  for (const KindCase& c : cases) {
    const FaultPlan plan{.faults = {{.id = "f",
                                     .site = {.point = Point::kRename},
                                     .kind = c.kind,
                                     .with = c.with}}};
    FiredInMemory fired;
    RecordedIncarnation incarnation(plan, {}, fired);
    EXPECT_TRUE(
        incarnation.injector.Hit(Point::kStepEnd, {.step = 8, .epoch = 2})
            .ok());
    try {
      EXPECT_TRUE(incarnation.injector.Hit(Point::kRename, {}).ok());
    } catch (const ProcessGone&) {
    }
    EXPECT_THAT(
        incarnation.diary,
        ElementsAre("fault_fired f at ckpt.rename, step 8, epoch 2", c.effect));
    EXPECT_TRUE(fired.HasFired("f"));
  }
}

TEST(InjectorTest, TwoFaultsOfOneHitHappenInTheirOrderAndTheFirstErrorCounts) {
  const FaultSite site{.point = kHere};
  const FaultPlan plan{
      .faults = {{.id = "slow",
                  .site = site,
                  .kind = FaultKind::kSlow,
                  .with = {.latency = Duration(3)}},
                 {.id = "full",
                  .site = site,
                  .kind = FaultKind::kErrno,
                  .with = {.error = ENOSPC}},
                 {.id = "io", .site = site, .kind = FaultKind::kErrno}}};
  FiredInMemory fired;
  RecordedIncarnation incarnation(plan, {}, fired);
  EXPECT_EQ(incarnation.injector.Hit(kHere, {}).code(),
            Code::kResourceExhausted);
  EXPECT_THAT(incarnation.diary,
              ElementsAre("fault_fired slow at ctl.heartbeat, step 0, epoch 0",
                          "sleep 3",
                          "fault_fired full at ctl.heartbeat, step 0, epoch 0",
                          "fault_fired io at ctl.heartbeat, step 0, epoch 0"));
}

TEST(InjectorTest, StorageFault_FiresOnlyAtAnOperation) {
  const FaultPlan plan{.faults = {ErrorAt({.point = Point::kRename})}};
  FiredInMemory fired;
  RecordedIncarnation incarnation(plan, {}, fired);
  EXPECT_TRUE(incarnation.injector.Hit(Point::kRename, {}).ok());
  EXPECT_TRUE(incarnation.injector.AnyArmed());
  EXPECT_FALSE(fired.HasFired("f"));
  EXPECT_THAT(incarnation.diary, IsEmpty());
}

TEST(InjectorTest, PlantsTheBugsOfThePlanOnly) {
  const FaultPlan plan{.bugs = {PlantedBug::kLosePosition}};
  FiredInMemory fired;
  RecordedIncarnation incarnation(plan, {}, fired);
  EXPECT_TRUE(incarnation.injector.Planted(PlantedBug::kLosePosition));
  EXPECT_FALSE(incarnation.injector.Planted(PlantedBug::kLoseRngKey));
}

// Faults that another process has fired. MarkFired reports this only after a
// delay, in which this process reaches the point a second time.
class SlowFiredFaults final : public FiredFaults {
 public:
  bool MarkFired(const std::string&) override {
    asked_.set_value();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    return false;
  }
  bool HasFired(const std::string&) override { return true; }
  void AwaitQuestion() { asked_.get_future().wait(); }

 private:
  std::promise<void> asked_;
};

TEST(InjectorTest, SecondHit_WaitsForTheDecisionOnTheFirst) {
  const FaultPlan plan{
      .faults = {{.id = "f",
                  .site = {.point = kHere},
                  .kind = FaultKind::kErrno,
                  .with = {.times = FaultTimes::kOnce, .hits = 2}}}};
  SlowFiredFaults fired;
  RecordedIncarnation incarnation(plan, {}, fired);
  Status first;
  std::thread task([&] { first = incarnation.injector.Hit(kHere, {}); });
  fired.AwaitQuestion();
  EXPECT_TRUE(incarnation.injector.Hit(kHere, {}).ok());
  task.join();
  EXPECT_TRUE(first.ok());
}

}  // namespace
}  // namespace gauntlet
