#include "chaos/inject/fiu_points.h"

#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include <fiu-control.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "chaos/inject/process_effects.h"
#include "tests/chaos/inject/child_process.h"
#include "tests/chaos/inject/recording_world.h"
#include "tests/engine/real/scratch_directory.h"
#include <fcntl.h>
#include <unistd.h>

namespace gauntlet {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// An injector whose fault points go through libfiu.
struct FiuSetUp {
  explicit FiuSetUp(FaultPlan the_plan,
                    ExternalControl external = ExternalControl::kOff)
      : plan(std::move(the_plan)),
        incarnation(plan, {}, fired),
        points(incarnation.injector, plan, external) {}
  FiuSetUp(const FiuSetUp&) = delete;
  FiuSetUp& operator=(const FiuSetUp&) = delete;

  const FaultPlan plan;
  FiredInMemory fired;
  RecordedIncarnation incarnation;
  FiuPoints points;
};

FaultPlan ErrorsAt(const FaultSite& site) {
  return {.faults = {{.id = "f",
                      .site = site,
                      .kind = FaultKind::kErrno,
                      .with = {.error = ENOSPC}}}};
}

TEST(FiuPointsTest, PlansFaultComesThroughLibfiuAtItsHit) {
  FiuSetUp fiu(
      ErrorsAt({.step = 3, .point = Point::kHeartbeat, .occurrence = 2}));
  std::vector<Code> codes;
  for (uint64_t i = 0; i < 4; ++i) {
    // The steps are 2, 3, 3, 3. The plan has no fault at kStepBegin, but the
    // injector must keep the position from there anyway.
    const uint64_t step = i == 0 ? 2 : 3;
    EXPECT_TRUE(fiu.points.Hit(Point::kStepBegin, {.step = step}).ok());
    codes.push_back(fiu.points.Hit(Point::kHeartbeat, {}).code());
  }
  EXPECT_THAT(codes, ElementsAre(Code::kOk, Code::kOk, Code::kResourceExhausted,
                                 Code::kOk));
  EXPECT_EQ(fiu.incarnation.diary.size(), 1u);
}

TEST(FiuPointsTest, TwoThreadsAskAtOnceAndEachHitCountsOnce) {
  FaultPlan plan = ErrorsAt({.point = Point::kHeartbeat, .occurrence = 1001});
  plan.faults[0].with.times = FaultTimes::kAlways;
  FiuSetUp fiu(plan);
  std::atomic<int> failed = 0;
  const auto hit = [&fiu, &failed] {
    for (int i = 0; i < 1000; ++i) {
      failed += fiu.points.Hit(Point::kHeartbeat, {}).ok() ? 0 : 1;
    }
  };
  std::thread other(hit);
  hit();
  other.join();
  EXPECT_EQ(failed.load(), 1000);
}

TEST(FiuPointsTest, StepBeginPoint_CanHaveFault) {
  FiuSetUp fiu(ErrorsAt({.step = 3, .point = Point::kStepBegin}));
  EXPECT_TRUE(fiu.points.Hit(Point::kStepBegin, {.step = 2}).ok());
  EXPECT_FALSE(fiu.points.Hit(Point::kStepBegin, {.step = 3}).ok());
}

TEST(FiuPointsTest, ItsPointsGoOutOfLibfiuWithIt) {
  const std::string name = "gauntlet/ctl.heartbeat";
  {
    FiuSetUp fiu(ErrorsAt({.point = Point::kHeartbeat}));
    EXPECT_EQ(fiu_disable(name.c_str()), 0) << "it is there";
  }
  { FiuSetUp fiu(ErrorsAt({.point = Point::kHeartbeat})); }
  EXPECT_LT(fiu_disable(name.c_str()), 0) << "and then it is not";
}

TEST(FiuPointsTest, PlantedBugsAreThePlans) {
  FiuSetUp fiu(FaultPlan{.bugs = {PlantedBug::kLoseMetrics}});
  EXPECT_TRUE(fiu.points.Planted(PlantedBug::kLoseMetrics));
  EXPECT_FALSE(fiu.points.Planted(PlantedBug::kLosePosition));
}

// Returns the errno as libfiu carries it: as the bits of a pointer.
void* FailInfo(intptr_t number) { return reinterpret_cast<void*>(number); }

TEST(FiuPointsTest, PointEnabledFromOutside_ReportsItsErrno) {
  FiuSetUp fiu(FaultPlan{}, ExternalControl::kOn);
  ASSERT_EQ(fiu_enable("gauntlet/ckpt.rename", 1, FailInfo(ENOSPC), 0), 0);
  ASSERT_EQ(fiu_enable("gauntlet/ckpt.shard.*", 1, nullptr, 0), 0);
  EXPECT_EQ(fiu.points.Hit(Point::kRename, {}).ToString(),
            "RESOURCE_EXHAUSTED: ckpt.rename: injected ENOSPC");
  EXPECT_EQ(fiu.points.Hit(Point::kShardWrite, {}).code(), Code::kIoError);
  EXPECT_TRUE(fiu.points.Hit(Point::kManifestWrite, {}).ok());
  fiu_disable("gauntlet/ckpt.shard.*");
  fiu_disable("gauntlet/ckpt.rename");
  EXPECT_TRUE(fiu.points.Hit(Point::kRename, {}).ok());
  EXPECT_THAT(fiu.incarnation.diary, IsEmpty());
}

TEST(FiuPointsTest, WithoutExternalControlTheGateStaysShut) {
  FiuSetUp fiu(FaultPlan{});
  ASSERT_EQ(fiu_enable("gauntlet/ckpt.rename", 1, FailInfo(EIO), 0), 0);
  EXPECT_TRUE(fiu.points.Hit(Point::kRename, {}).ok());
  fiu_disable("gauntlet/ckpt.rename");
}

// Passes a point until it fails, then exits with 100 + the code. Runs in a
// child.
void HitUntilItFails(const std::string& prefix) {
  FiuSetUp fiu(FaultPlan{}, ExternalControl::kOn);
  // Called after fiu_init: a command that is read earlier would end the
  // process.
  if (fiu_rc_fifo(prefix.c_str()) != 0) _exit(99);
  while (true) {
    const Status status = fiu.points.Hit(Point::kRename, {});
    if (!status.ok()) _exit(100 + static_cast<int>(status.code()));
    usleep(1000);
  }
}

const std::string kFullDisk =
    "exit " + std::to_string(100 + static_cast<int>(Code::kResourceExhausted));

TEST(FiuPointsTest, RemoteControlOfLibfiuReachesARunningProcess) {
  const ScratchDirectory directory;
  const std::string prefix = directory.path() + "/control";
  const pid_t child = StartChild([&prefix] { HitUntilItFails(prefix); });
  const std::string control = fmt::format("{}-{}", prefix, child);
  while (access((control + ".out").c_str(), F_OK) != 0) usleep(1000);
  // libfiu waits until both pipes are open, in this order.
  const int in = open((control + ".in").c_str(), O_WRONLY);
  const int out = open((control + ".out").c_str(), O_RDONLY);
  const std::string line = "enable name=gauntlet/ckpt.rename,failinfo=28\n";
  EXPECT_EQ(write(in, line.data(), line.size()),
            static_cast<ssize_t>(line.size()));
  EXPECT_EQ(WaitFor(child), kFullDisk);
  close(in);
  close(out);
}

TEST(FiuPointsTest, FiuCtrlReachesARunningProcess) {
  if (std::system("command -v fiu-ctrl >/dev/null") != 0) {
    GTEST_SKIP() << "fiu-ctrl is not installed (Debian: fiu-utils)";
  }
  const ScratchDirectory directory;
  const std::string prefix = directory.path() + "/control";
  const pid_t child = StartChild([&prefix] { HitUntilItFails(prefix); });
  while (access(fmt::format("{}-{}.out", prefix, child).c_str(), F_OK) != 0) {
    usleep(1000);
  }
  const std::string command = fmt::format(
      "fiu-ctrl -f {} -c 'enable name=gauntlet/ckpt.rename,failinfo=28' {}",
      prefix, child);
  EXPECT_EQ(std::system(command.c_str()), 0);
  EXPECT_EQ(WaitFor(child), kFullDisk);
}

TEST(FiuPointsTest, CrashOfThePlanEndsTheProcessAfterItsMark) {
  const ScratchDirectory directory;
  const pid_t child = StartChild([&directory] {
    const FaultPlan plan{.faults = {{.id = "f",
                                     .site = {.point = Point::kRename},
                                     .kind = FaultKind::kCrash}}};
    ProcessEffects effects;
    FiredFaultFiles fired(directory.path());
    Diary diary;
    RecordingEvents events(diary);
    Injector injector(plan, {}, effects, fired, events);
    FiuPoints points(injector, plan, ExternalControl::kOff);
    if (!points.Hit(Point::kRename, {}).ok()) _exit(99);
  });
  EXPECT_EQ(WaitFor(child), "exit 70");
  EXPECT_TRUE(FiredFaultFiles(directory.path()).HasFired("f"));
}

}  // namespace
}  // namespace gauntlet
