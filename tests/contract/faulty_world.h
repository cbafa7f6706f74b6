// A world wrapped in the decorators that inject faults, with an empty fault
// plan. It must keep the promises that the plain world keeps.
#ifndef GAUNTLET_TESTS_CONTRACT_FAULTY_WORLD_H_
#define GAUNTLET_TESTS_CONTRACT_FAULTY_WORLD_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "chaos/inject/faulty_clock.h"
#include "chaos/inject/faulty_network.h"
#include "chaos/inject/faulty_storage.h"
#include "chaos/inject/injector.h"
#include "tests/chaos/inject/recording_world.h"
#include "tests/contract/world_fixture.h"

namespace gauntlet {

class FaultyWorldUnderTest final : public WorldUnderTest {
 public:
  explicit FaultyWorldUnderTest(std::unique_ptr<WorldUnderTest> base)
      : base_(std::move(base)) {}

  void Run(const std::function<void(World&)>& body) override {
    base_->Run([&](World& plain) {
      const FaultPlan plan;
      Diary diary;
      RecordingEffects effects(diary);
      FiredInMemory fired;
      Injector injector(plan, {}, effects, fired, plain.events);
      FaultyStorage storage(plain.storage, injector);
      FaultyNetwork network(plain.network, plain.clock, plain.tasks, plan.seed);
      FaultyClock clock(plain.clock);
      World world = {.clock = clock,
                     .storage = storage,
                     .network = network,
                     .tasks = plain.tasks,
                     .host = plain.host,
                     .faults = injector,
                     .events = plain.events,
                     .entropy = plain.entropy};
      body(world);
      EXPECT_TRUE(diary.empty()) << diary.front();
    });
  }

  std::string Directory() override { return base_->Directory(); }
  std::string FreeAddress() override { return base_->FreeAddress(); }

 private:
  const std::unique_ptr<WorldUnderTest> base_;
};

// Returns a kind whose worlds are those of `kind`, wrapped with an empty fault
// plan.
inline WorldKind Faulty(const WorldKind& kind) {
  return {.name = kind.name + "_with_an_empty_plan",
          .make =
              [kind] {
                return std::make_unique<FaultyWorldUnderTest>(kind.make());
              },
          .first_frame = kind.first_frame,
          .await_connection = kind.await_connection};
}

}  // namespace gauntlet

#endif  // GAUNTLET_TESTS_CONTRACT_FAULTY_WORLD_H_
