// A model of the store under random lives: what was acknowledged and not
// damaged since is what the next life finds.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "tests/engine/ckpt/test_world.h"

namespace gauntlet {
namespace {

// One life: how many saves it wants to make, how many it keeps, and the storage
// operation at which it goes away.
struct PlannedLife {
  uint64_t saves = 0;
  int keep = 1;
  size_t crash_at = 0;
};

rc::Gen<PlannedLife> AnyLife() {
  return rc::gen::apply(
      [](uint64_t saves, int keep, size_t crash_at) {
        return PlannedLife{saves, keep, crash_at};
      },
      rc::gen::inRange<uint64_t>(0, 4), rc::gen::inRange(1, 4),
      rc::gen::inRange<size_t>(0, 400));
}

void LiveOnce(const PlannedLife& life, MemoryStorage& storage, uint64_t& newest,
              uint64_t& begun) {
  TestWorld test(storage);
  storage.gate = [crash_at = life.crash_at, count = size_t{0}](
                     Operation, const std::string&) mutable {
    return count++ >= crash_at ? Cancelled("gone") : OkStatus();
  };
  auto store = CheckpointStore::Open(
      test.world, {.directory = std::string(kStore), .keep = life.keep});
  if (!store.ok()) return;
  const auto claim = store->ClaimGeneration(std::string(kJob));
  if (!claim.ok()) return;
  uint64_t step = claim->parent ? claim->parent->step : 0;
  RC_ASSERT(step >= newest);
  RC_ASSERT(step <= std::max(begun, newest));
  for (uint64_t i = 0; i < life.saves; ++i) {
    if (!Save(*store, claim->generation, ++step).ok()) break;
  }
  newest = std::max(newest, claim->parent ? claim->parent->step : 0);
  for (const LogEvent& event : test.events.all) {
    if (event.kind == EventKind::kSaveBegin) begun = event.step;
    if (event.kind == EventKind::kSaveAcknowledged) newest = event.step;
  }
}

TEST(StoreModelTest, FindsTheNewestAcknowledgedSaveAfterAnyLives) {
  EXPECT_TRUE(rc::check("lives", [] {
    const auto lives = *rc::gen::container<std::vector<PlannedLife>>(AnyLife());
    MemoryStorage storage;
    uint64_t newest = 0;
    uint64_t begun = 0;
    for (const PlannedLife& life : lives)
      LiveOnce(life, storage, newest, begun);
    storage.gate = nullptr;
    TestWorld last(storage);
    const Recovered recovered = Recover(last.world);
    RC_ASSERT(recovered.status.ok());
    RC_ASSERT(recovered.step.value_or(0) >= newest);
  }));
}

}  // namespace
}  // namespace gauntlet
