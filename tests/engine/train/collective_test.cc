// Gradients that are summed from device to device: emulated devices over the
// simulated network.
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "engine/cluster/ring/emulated_collective.h"
#include "tests/engine/cluster/ring/in_chunks_of.h"
#include "tests/engine/train/guarded_device.h"
#include "tests/engine/train/launched_run.h"
#include "tests/engine/train/training_fixture.h"

namespace gauntlet {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

TrainOptions ByDevices(TrainOptions options) {
  options.kernels.device = DeviceKind::kEmulated;
  options.cluster.collective = CollectiveChoice::kNccl;
  return options;
}

AttemptResult RunByDevices(int workers, const TrainOptions& options,
                           const gpu::CollectiveApi& api) {
  TrainingFixture fixture;
  fixture.ComputeOn(GuardedDevice());
  fixture.ExchangeBy(api);
  return fixture.Run(workers, ByDevices(options));
}

std::vector<std::string> DigestsOf(const AttemptResult& outcome,
                                   size_t rank = 0) {
  std::vector<std::string> digests;
  for (const LogEvent& event : outcome.Of(EventKind::kStep, rank)) {
    digests.push_back(
        fmt::format("step {}: {}", event.step, event.digest->ToString()));
  }
  return digests;
}

TEST(CollectiveTest, EveryStateIsTheRings) {
  const AttemptResult ring = TrainingFixture().Run(1, SmallRun());
  ASSERT_EQ(DigestsOf(ring).size(), kSteps);
  for (const int workers : {1, 2, 3, 4}) {
    const AttemptResult devices =
        RunByDevices(workers, SmallRun(), InChunksOf(100));
    ASSERT_TRUE(devices.AllExitedWith(WorkerExit::kDone)) << devices.reasons[0];
    EXPECT_EQ(DigestsOf(devices), DigestsOf(ring)) << workers;
    EXPECT_EQ(devices.result->digest, ring.result->digest) << workers;
  }
}

RC_GTEST_PROP(CollectiveProperty, EndsAsTheRingForAnySplitAndChunks, ()) {
  TrainOptions options = SmallRun();
  options.job.replicas = *rc::gen::inRange(1, 7);
  options.horizon.epochs = 1;
  options.digest_every = 0;
  const int workers = *rc::gen::inRange(1, options.job.replicas + 1);
  const auto floats = static_cast<size_t>(*rc::gen::inRange(1, 600));
  const AttemptResult devices =
      RunByDevices(workers, options, InChunksOf(floats));
  RC_ASSERT(devices.AllExitedWith(WorkerExit::kDone));
  RC_ASSERT(devices.result->digest == UndisturbedDigest(options));
}

// Returns how often arrays as large as the gradients are copied to or from the
// device.
int LargeCopiesOf(uint64_t epochs, CollectiveChoice collective) {
  static int copies = 0;
  static const gpu::DeviceApi api = [] {
    constexpr size_t kLarge = 1900;  // bytes: gradients are 1960, samples fewer
    gpu::DeviceApi table = gpu::EmulatedDevice();
    table.upload = [](gpu::Device* device, void* to, const void* from,
                      size_t bytes) {
      if (bytes > kLarge) ++copies;
      gpu::EmulatedDevice().upload(device, to, from, bytes);
    };
    table.download = [](gpu::Device* device, void* to, const void* from,
                        size_t bytes) {
      if (bytes > kLarge) ++copies;
      gpu::EmulatedDevice().download(device, to, from, bytes);
    };
    return table;
  }();
  copies = 0;
  TrainingFixture fixture;
  fixture.ComputeOn(api);
  fixture.ExchangeBy(EmulatedCollective());
  TrainOptions options = ByDevices(SmallRun());
  options.cluster.collective = collective;
  options.checkpoint = {};
  options.digest_every = 0;
  options.horizon.epochs = epochs;
  EXPECT_TRUE(fixture.Run(2, options).AllExitedWith(WorkerExit::kDone));
  return copies;
}

TEST(CollectiveTest, GradientsStayOnTheDevice) {
  EXPECT_EQ(LargeCopiesOf(1, CollectiveChoice::kNccl),
            LargeCopiesOf(3, CollectiveChoice::kNccl));
  EXPECT_LT(LargeCopiesOf(1, CollectiveChoice::kRing),
            LargeCopiesOf(3, CollectiveChoice::kRing));
}

// A function table that, like NCCL's, `auto` may choose. Each device identifies
// itself as `kName`.
template <const char* kName>
const gpu::CollectiveApi& LikeNccl() {
  static const gpu::CollectiveApi api = [] {
    gpu::CollectiveApi table = EmulatedCollective();
    table.use = gpu::CollectiveUse::kAlways;
    table.identify = [](int, gpu::DeviceText* identity, gpu::DeviceText*) {
      fmt::format_to_n(identity->text, 100, "{}", kName);
      return true;
    };
    return table;
  }();
  return api;
}
constexpr char kOwn[] = "";
constexpr char kOne[] = "GPU 0";

AttemptResult RunWith(const gpu::CollectiveApi& api, CollectiveChoice choice) {
  TrainingFixture fixture;
  fixture.ComputeOn(GuardedDevice());
  fixture.ExchangeBy(api);
  TrainOptions options = ByDevices(SmallRun());
  options.cluster.collective = choice;
  return fixture.Run(2, options);
}

TEST(CollectiveTest, AutoReportsItsChoiceOnOneLine) {
  const AttemptResult own = RunWith(LikeNccl<kOwn>(), CollectiveChoice::kAuto);
  EXPECT_THAT(own.lines, Contains("collective: emulated (each worker has a "
                                  "device of its own)"));
  const AttemptResult shared =
      RunWith(LikeNccl<kOne>(), CollectiveChoice::kAuto);
  EXPECT_THAT(shared.lines,
              Contains("collective: ring (ranks 0 and 1 share the device GPU "
                       "0)"));
  const AttemptResult by_default =
      RunWith(LikeNccl<kOwn>(), CollectiveChoice::kRing);
  EXPECT_THAT(by_default.lines, Not(Contains(HasSubstr("collective"))));
  for (const AttemptResult* outcome : {&own, &shared, &by_default}) {
    EXPECT_EQ(outcome->result->digest, UndisturbedDigest(SmallRun()));
  }
}

TEST(CollectiveTest, AllRanksFailForGood_WhenNcclCannotWork) {
  const AttemptResult shared =
      RunWith(LikeNccl<kOne>(), CollectiveChoice::kNccl);
  EXPECT_TRUE(shared.AllExitedWith(WorkerExit::kBadInput));
  EXPECT_THAT(shared.reasons, Each(HasSubstr("collective nccl: expected a "
                                             "device of its own for each")));
  TrainingFixture fixture;
  fixture.ComputeOn(GuardedDevice());
  fixture.ExchangeBy(EmulatedCollective());
  const AttemptResult mixed = fixture.RunEach(2, [](int rank) {
    TrainOptions options = ByDevices(SmallRun());
    if (rank == 1) options.kernels.device = DeviceKind::kCpu;
    return options;
  });
  EXPECT_TRUE(mixed.AllExitedWith(WorkerExit::kBadInput));
  EXPECT_THAT(mixed.reasons, Each(HasSubstr("rank 1 computes on the CPU")));
}

TEST(CollectiveTest, NamesTheRankWithAnotherCollective) {
  const AttemptResult outcome = TrainingFixture().RunEach(2, [](int rank) {
    TrainOptions options = SmallRun();
    if (rank == 1) options.cluster.collective = CollectiveChoice::kRing;
    return options;
  });
  EXPECT_TRUE(outcome.AllExitedWith(WorkerExit::kBadInput));
  EXPECT_THAT(outcome.reasons, Each(HasSubstr("collective: auto at the chief, "
                                              "ring at rank 1")));
}

// Part of a failed device's sum has reached the other workers, as zeros.
TEST(CollectiveTest, NoRankContinuesWithSumsOfAFailedDevice) {
  static int opened = 0;
  static gpu::Device* failing = nullptr;
  static int additions_left = 0;
  static const gpu::DeviceApi api = [] {
    gpu::DeviceApi table = gpu::EmulatedDevice();
    table.open = [](int index, gpu::DeviceText* why) {
      gpu::Device* const device = gpu::EmulatedDevice().open(index, why);
      if (++opened == 1) failing = device;
      return device;
    };
    table.accumulate = [](gpu::Device* device, const float* x, float* acc,
                          size_t count) {
      if (device == failing && --additions_left < 0) {
        return gpu::EmulatedDevice().clear(device, acc, count * sizeof(float));
      }
      gpu::EmulatedDevice().accumulate(device, x, acc, count);
    };
    table.failure = [](gpu::Device* device) {
      return device == failing && additions_left < 0 ? "launch failed" : "";
    };
    return table;
  }();
  const TrainOptions options = ByDevices(SmallRun());
  const std::vector<std::string> right =
      DigestsOf(TrainingFixture().Run(1, SmallRun()));
  for (const int additions : {0, 1, 10, 23}) {
    opened = 0;
    additions_left = additions;
    TrainingFixture fixture;
    fixture.ComputeOn(api);
    fixture.ExchangeBy(EmulatedCollective());
    const AttemptResult first = fixture.Run(2, options);
    EXPECT_TRUE(first.AllExitedWith(WorkerExit::kLostWorker)) << additions;
    for (const size_t rank : {size_t{0}, size_t{1}}) {
      EXPECT_THAT(right, ::testing::IsSupersetOf(DigestsOf(first, rank)));
    }
    failing = nullptr;
    const AttemptResult second = fixture.Run(2, options);
    EXPECT_EQ(second.result->digest, UndisturbedDigest(SmallRun()))
        << additions;
  }
}

// Value of each byte of new memory on FailingAtTheFirstCopy.
int new_memory_holds = 0;

// A device that fails at its first copy, which copies the first gradients into
// their sum.
const gpu::DeviceApi& FailingAtTheFirstCopy() {
  static gpu::Device* failed = nullptr;
  static const gpu::DeviceApi api = [] {
    gpu::DeviceApi table = gpu::EmulatedDevice();
    table.open = [](int, gpu::DeviceText*) {
      gpu::EmulatedMemory memory = gpu::HostMemoryOfDevice();
      memory.allocate = [](void* context, size_t bytes) {
        void* const made = gpu::HostMemoryOfDevice().allocate(context, bytes);
        return std::memset(made, new_memory_holds, bytes);
      };
      failed = nullptr;
      return gpu::OpenEmulated({.memory = memory});
    };
    table.copy = [](gpu::Device* device, void*, const void*, size_t) {
      failed = device;
    };
    table.failure = [](gpu::Device* device) {
      return device == failed ? "copy failed" : "";
    };
    return table;
  }();
  return api;
}

// A run depends only on its plan, not on the content of new memory.
TEST(CollectiveTest, FailedDeviceSendsNoMemoryOfTheMachine) {
  std::vector<uint64_t> digests;
  for (const int byte : {0x11, 0x22}) {
    new_memory_holds = byte;
    TrainingFixture fixture;
    fixture.ComputeOn(FailingAtTheFirstCopy());
    fixture.ExchangeBy(EmulatedCollective());
    const AttemptResult incarnation = fixture.Run(2, ByDevices(SmallRun()));
    EXPECT_TRUE(incarnation.AllExitedWith(WorkerExit::kLostWorker));
    digests.push_back(fixture.simulation().digest());
  }
  EXPECT_EQ(digests[0], digests[1]);
}

TrainOptions ShortRun() {
  TrainOptions options = SmallRun();
  options.horizon.epochs = 2;
  options.digest_every = 0;
  return options;
}

struct Disturbed {
  LaunchedEnd end;
  bool fired = false;
};

// Returns a collective that takes two chunks per step.
gpu::CollectiveApi SmallChunks() { return InChunksOf(250); }

Disturbed Disturb(const Fault& fault, RestartPolicy policy,
                  const gpu::CollectiveApi& api = SmallChunks()) {
  gpu::DevicePlace place = EmulatedPlace();
  place.collective = &api;
  LaunchedRun run(ByDevices(ShortRun()), place);
  Disturbed disturbed = {
      .end = run.Run({.workers = 3, .restart = policy}, {.faults = {fault}})};
  disturbed.fired = !disturbed.end.Of(EventKind::kFaultFired).empty();
  return disturbed;
}

void ExpectToHold(const Disturbed& disturbed, const std::string& where) {
  static const std::string golden = UndisturbedDigest(ShortRun());
  EXPECT_EQ(disturbed.end.run, RunEnd::kAllExited) << where;
  ASSERT_TRUE(disturbed.end.launch.result)
      << where << ": " << disturbed.end.launch.reason;
  EXPECT_EQ(disturbed.end.launch.result->digest, golden) << where;
}

// Disturbs one step's exchange at every occurrence of each of its points.
// Returns the number of occurrences.
int DisturbEverywhere(FaultKind kind, RestartPolicy policy) {
  int fired = 0;
  for (const Point point : {Point::kAllReduceBegin, Point::kAllReduceSend,
                            Point::kAllReduceReceive, Point::kAllReduceEnd}) {
    for (const int worker : {0, 1, 2}) {
      for (uint64_t hit = 1;; ++hit) {
        const Disturbed disturbed = Disturb({.id = "fault",
                                             .site = {.worker = worker,
                                                      .step = 8,
                                                      .point = point,
                                                      .occurrence = hit},
                                             .kind = kind},
                                            policy);
        if (!disturbed.fired) break;
        ++fired;
        ExpectToHold(disturbed, fmt::format("{} hit {} worker {}",
                                            PointName(point), hit, worker));
      }
    }
  }
  return fired;
}

// Number of occurrences with 3 ranks: 6 begins and ends, 6 sends and 8 receives
// of gradients, 4 sends and 4 receives of the other data.
constexpr int kPlacesOfTheExchange = 28;

TEST(CollectiveTest, DeathAnywhereInTheExchangeIsALoss) {
  EXPECT_EQ(DisturbEverywhere(FaultKind::kCrash, RestartPolicy::kWholeJob),
            kPlacesOfTheExchange);
}

TEST(CollectiveTest, DeathAnywhereInTheExchangeLetsTheOthersRejoin) {
  EXPECT_EQ(DisturbEverywhere(FaultKind::kCrash, RestartPolicy::kRejoin),
            kPlacesOfTheExchange);
}

TEST(CollectiveTest, HangAnywhereInTheExchangeIsALoss) {
  EXPECT_EQ(DisturbEverywhere(FaultKind::kHang, RestartPolicy::kRejoin),
            kPlacesOfTheExchange);
}

TEST(CollectiveTest, RejoiningGenerationHasACommunicatorOfItsOwn) {
  const Disturbed disturbed =
      Disturb({.id = "crash",
               .site = {.worker = 1, .step = 8, .point = Point::kAllReduceSend},
               .kind = FaultKind::kCrash},
              RestartPolicy::kRejoin);
  ExpectToHold(disturbed, "rejoin");
  EXPECT_EQ(disturbed.end.launch.restarts, 1);
  EXPECT_THAT(disturbed.end.Of(EventKind::kResumedFromMemory), SizeIs(3));
}

// Makes ids of communicators as long as `ids_left` is positive.
int ids_left = 0;
gpu::CollectiveApi WithFewIds() {
  gpu::CollectiveApi api = LikeNccl<kOwn>();
  api.make_id = [](gpu::CommunicatorId* id, gpu::DeviceText* why) {
    return --ids_left >= 0 && EmulatedCollective().make_id(id, why);
  };
  return api;
}

TEST(CollectiveTest, SurvivorsContinueByTheRing_WithoutAnotherCommunicator) {
  ids_left = 1;
  const gpu::CollectiveApi api = WithFewIds();
  gpu::DevicePlace place = EmulatedPlace();
  place.collective = &api;
  TrainOptions options = ByDevices(ShortRun());
  options.cluster.collective = CollectiveChoice::kAuto;
  const LaunchedEnd end =
      LaunchedRun(options, place)
          .Run({.workers = 3, .restart = RestartPolicy::kRejoin},
               {.faults = {{.id = "crash",
                            .site = {.worker = 1,
                                     .step = 8,
                                     .point = Point::kStepBegin},
                            .kind = FaultKind::kCrash}}});
  EXPECT_THAT(end.lines, Contains(HasSubstr("collective: emulated")));
  EXPECT_THAT(end.lines, Contains(HasSubstr("collective: ring (no "
                                            "communicator")));
  EXPECT_THAT(end.Of(EventKind::kResumedFromMemory), SizeIs(3));
  ASSERT_TRUE(end.launch.result) << end.launch.reason;
  EXPECT_EQ(end.launch.result->digest, UndisturbedDigest(ShortRun()));
}

// Also covers a loss that is detected only after the sum.
TEST(CollectiveTest, NoDeviceIsInTwoCommunicators) {
  static std::map<gpu::Communicator*, gpu::Device*> members;
  static int twice = 0;
  gpu::CollectiveApi api = EmulatedCollective();
  api.begin = [](gpu::Device* device, const gpu::CommunicatorPlace& place,
                 gpu::DeviceText* why) {
    for (const auto& [other, its_device] : members) {
      if (its_device == device) ++twice;
    }
    gpu::Communicator* const made =
        EmulatedCollective().begin(device, place, why);
    members.emplace(made, device);
    return made;
  };
  api.abort = [](gpu::Communicator* communicator) {
    members.erase(communicator);
    EmulatedCollective().abort(communicator);
  };
  for (const uint64_t hit : {1, 2}) {  // 1: a chunk, 2: other data
    ExpectToHold(Disturb({.id = "crash",
                          .site = {.worker = 1,
                                   .step = 8,
                                   .point = Point::kAllReduceSend,
                                   .occurrence = hit},
                          .kind = FaultKind::kCrash},
                         RestartPolicy::kRejoin, api),
                 fmt::format("hit {}", hit));
  }
  EXPECT_EQ(twice, 0);
  // The workers of two runs ended with their processes, without leaving.
  EXPECT_THAT(members, SizeIs(testing::Le(6)));
}

TEST(CollectiveTest, NetworkOfTheDevicesMayBreakAnywhere) {
  for (const RestartPolicy policy :
       {RestartPolicy::kWholeJob, RestartPolicy::kRejoin}) {
    for (const FaultKind kind :
         {FaultKind::kConnectionReset, FaultKind::kPartition,
          FaultKind::kAsymmetricPartition, FaultKind::kDelay,
          FaultKind::kDuplicate}) {
      FaultParameters with = {.duration = std::chrono::seconds(2)};
      if (kind == FaultKind::kDelay) with.latency = std::chrono::seconds(1);
      if (kind == FaultKind::kPartition) with.groups = {{0, 1}, {2}};
      if (kind == FaultKind::kConnectionReset) with.duration = {};
      const Disturbed disturbed = Disturb(
          {.id = "fault",
           .site = {.worker = 1, .step = 8, .point = Point::kAllReduceSend},
           .kind = kind,
           .with = with},
          policy);
      EXPECT_TRUE(disturbed.fired);
      ExpectToHold(disturbed, std::string(FaultKindName(kind)));
    }
  }
}

// The kill comes at any time: while workers are at the rendezvous, create the
// communicator, or train.
TEST(CollectiveTest, WorkerMayBeKilledWhileTheyJoin) {
  for (int ms = 0; ms < 30; ++ms) {
    const Disturbed disturbed =
        Disturb({.id = "kill",
                 .site = {.worker = 1, .point = Point::kRendezvous},
                 .kind = FaultKind::kKill,
                 .with = {.latency = std::chrono::milliseconds(ms)}},
                RestartPolicy::kRejoin);
    EXPECT_TRUE(disturbed.fired);
    ExpectToHold(disturbed, fmt::format("{} ms", ms));
  }
}

// Expects the run to recover although the first communicators cannot be
// created.
void ExpectAnotherAttempt(const gpu::CollectiveApi& api, RestartPolicy policy) {
  gpu::DevicePlace place = EmulatedPlace();
  place.collective = &api;
  const LaunchedEnd end = LaunchedRun(ByDevices(ShortRun()), place)
                              .Run({.workers = 2, .restart = policy});
  ASSERT_TRUE(end.launch.result) << end.launch.reason;
  EXPECT_EQ(end.launch.result->digest, UndisturbedDigest(ShortRun()));
  // A worker that rejoins keeps its process.
  if (policy == RestartPolicy::kRejoin) {
    EXPECT_THAT(end.Of(EventKind::kWorkerStarted), SizeIs(2));
  } else {
    EXPECT_THAT(end.Of(EventKind::kWorkerStarted), SizeIs(testing::Gt(2)));
  }
}

TEST(CollectiveTest, CommunicatorThatCannotBeMadeIsTriedAgain) {
  static int left = 0;
  gpu::CollectiveApi api = EmulatedCollective();
  api.begin = [](gpu::Device* device, const gpu::CommunicatorPlace& place,
                 gpu::DeviceText* why) -> gpu::Communicator* {
    if (--left >= 0) return nullptr;
    return EmulatedCollective().begin(device, place, why);
  };
  for (const RestartPolicy policy :
       {RestartPolicy::kWholeJob, RestartPolicy::kRejoin}) {
    left = 3;
    ExpectAnotherAttempt(api, policy);
    EXPECT_LT(left, 0);
  }
}

TEST(CollectiveTest, CommunicatorThatIsNeverMadeIsTriedAgain) {
  static int left = 0;
  static gpu::Communicator* never = nullptr;
  gpu::CollectiveApi api = EmulatedCollective();
  api.begin = [](gpu::Device* device, const gpu::CommunicatorPlace& place,
                 gpu::DeviceText* why) {
    gpu::Communicator* const made =
        EmulatedCollective().begin(device, place, why);
    if (--left >= 0) never = made;
    return made;
  };
  api.poll = [](gpu::Communicator* communicator, gpu::DeviceText* why) {
    if (communicator == never) return gpu::CollectiveProgress::kInProgress;
    return EmulatedCollective().poll(communicator, why);
  };
  api.abort = [](gpu::Communicator* communicator) {
    if (communicator == never) never = nullptr;
    EmulatedCollective().abort(communicator);
  };
  for (const RestartPolicy policy :
       {RestartPolicy::kWholeJob, RestartPolicy::kRejoin}) {
    left = 1;
    ExpectAnotherAttempt(api, policy);
    EXPECT_LT(left, 0);
  }
}

}  // namespace
}  // namespace gauntlet
