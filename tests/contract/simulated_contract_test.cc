#include "chaos/sim/disk/disk_image.h"
#include "chaos/sim/simulation.h"
#include "tests/contract/faulty_world.h"
#include "tests/contract/world_fixture.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

class SimulatedWorld final : public WorldUnderTest {
 public:
  explicit SimulatedWorld(const DiskOptions& disk)
      : simulation_(pool_, {.seed = 11, .disk = disk}) {
    EXPECT_TRUE(simulation_.storage("host").MakeDirectory("/test").ok());
  }

  void Run(const std::function<void(World&)>& body) override {
    const ProcessId process =
        simulation_.Start({.name = "test", .body = [&](World& world) {
                             body(world);
                             return 0;
                           }});
    const RunOutcome outcome = simulation_.Run();
    EXPECT_EQ(outcome.end, RunEnd::kAllExited) << outcome.report;
    EXPECT_EQ(simulation_.exit_status(process)->code, 0);
  }

  std::string Directory() override { return "/test"; }
  std::string FreeAddress() override {
    return fmt::format("host:{}", 9000 + simulation_.AllocatePort());
  }

 private:
  FiberPool pool_;
  Simulation simulation_;
};

WorldKind Kind(const char* name, DurabilityProfile profile) {
  return {.name = name, .make = [profile] {
            return std::make_unique<SimulatedWorld>(
                DiskOptions{.profile = profile});
          }};
}

INSTANTIATE_WORLD_CONTRACTS(Simulated, Kind("ext4", DurabilityProfile::kExt4),
                            Kind("weak", DurabilityProfile::kWeak),
                            Kind("lying_fsync", DurabilityProfile::kLyingFsync),
                            Kind("shared", DurabilityProfile::kShared));

// The simulated world, with a crash state as its disk.
class WorldOnAnImage final : public WorldUnderTest {
 public:
  WorldOnAnImage() : world_({}) {
    EXPECT_TRUE(storage_.MakeDirectory("/test").ok());
  }

  void Run(const std::function<void(World&)>& body) override {
    world_.Run([&](World& world) {
      World on_image = {.clock = world.clock,
                        .storage = storage_,
                        .network = world.network,
                        .tasks = world.tasks,
                        .host = world.host,
                        .faults = world.faults,
                        .events = world.events,
                        .entropy = world.entropy};
      body(on_image);
    });
  }

  std::string Directory() override { return "/test"; }
  std::string FreeAddress() override { return world_.FreeAddress(); }

 private:
  SimulatedWorld world_;
  ImageDirectory root_;
  ImageStorage storage_{root_};
};

INSTANTIATE_TEST_SUITE_P(Image, StorageContract,
                         testing::Values(WorldKind{
                             .name = "image", .make = [] {
                               return std::make_unique<WorldOnAnImage>();
                             }}));

}  // namespace
}  // namespace gauntlet
