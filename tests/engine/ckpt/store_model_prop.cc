// A model of the store under random incarnations. The next incarnation finds
// the newest acknowledged checkpoint that was not damaged, and the newest
// finite one is kept.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "engine/ckpt/inspect.h"
#include "tests/engine/ckpt/test_world.h"

namespace gauntlet {
namespace {

// One incarnation: the number of its saves, the number of checkpoints that it
// keeps, and the index of the storage operation at which it dies.
struct PlannedProcess {
  uint64_t saves = 0;
  int keep = 1;
  size_t crash_at = 0;
};

rc::Gen<PlannedProcess> AnyIncarnation() {
  return rc::gen::apply(
      [](uint64_t saves, int keep, size_t crash_at) {
        return PlannedProcess{saves, keep, crash_at};
      },
      rc::gen::inRange<uint64_t>(0, 4), rc::gen::inRange(1, 4),
      rc::gen::inRange<size_t>(0, 400));
}

// State of the store according to the model.
struct Model {
  // Bit i is set iff step i is not finite.
  uint64_t not_finite = 0;
  // Newest step of those that were acknowledged or that a claim resumed from,
  // newest finite step of those, and step of the newest save that began.
  uint64_t newest = 0;
  uint64_t newest_finite = 0;
  uint64_t begun = 0;

  std::optional<uint64_t> NotFiniteSince(uint64_t step) const {
    if ((not_finite >> step % 64 & 1) == 0) return std::nullopt;
    return step;
  }
  void Found(uint64_t step) {
    newest = std::max(newest, step);
    if (!NotFiniteSince(step)) newest_finite = std::max(newest_finite, step);
  }
};

// Returns the step of the newest checkpoint of the current lineage that is
// valid and finite; 0 if there is none.
uint64_t NewestFinite(World& world) {
  const auto store =
      InspectStore(world, std::string(kStore), InspectDepth::kEveryByte);
  uint64_t newest = 0;
  if (!store.ok()) return newest;
  for (const CheckpointReport& report : store->checkpoints) {
    if (report.lineage == LineageState::kCurrent && report.verdict.ok() &&
        !report.not_finite_since) {
      newest = std::max(newest, report.step);
    }
  }
  return newest;
}

void LiveOnce(const PlannedProcess& incarnation, MemoryStorage& storage,
              Model& model) {
  TestWorld test(storage);
  storage.gate = [crash_at = incarnation.crash_at, count = size_t{0}](
                     StorageCall, const std::string&) mutable {
    return count++ >= crash_at ? Cancelled("gone") : OkStatus();
  };
  auto store = CheckpointStore::Open(
      test.world, {.directory = std::string(kStore), .keep = incarnation.keep});
  if (!store.ok()) return;
  const auto claim = store->ClaimGeneration(std::string(kJob));
  if (!claim.ok()) return;
  uint64_t step = claim->parent ? claim->parent->step : 0;
  RC_ASSERT(step >= model.newest);
  RC_ASSERT(step <= std::max(model.begun, model.newest));
  for (uint64_t i = 0; i < incarnation.saves; ++i) {
    const auto since = model.NotFiniteSince(++step);
    if (!Save(*store, claim->generation, step, since).ok()) break;
  }
  if (claim->parent) model.Found(claim->parent->step);
  for (const LogEvent& event : test.events.all) {
    if (event.kind == EventKind::kSaveBegin) model.begun = event.step;
    if (event.kind == EventKind::kSaveAcknowledged) model.Found(event.step);
  }
}

TEST(StoreModelTest, FindsTheNewestAcknowledgedSaveAfterAnyIncarnations) {
  EXPECT_TRUE(rc::check("incarnations", [] {
    const auto incarnations =
        *rc::gen::container<std::vector<PlannedProcess>>(AnyIncarnation());
    MemoryStorage storage;
    Model model = {.not_finite = *rc::gen::arbitrary<uint64_t>()};
    for (const PlannedProcess& incarnation : incarnations)
      LiveOnce(incarnation, storage, model);
    storage.gate = nullptr;
    TestWorld last(storage);
    RC_ASSERT(NewestFinite(last.world) >= model.newest_finite);
    const Recovered recovered = Recover(last.world);
    RC_ASSERT(recovered.status.ok());
    RC_ASSERT(recovered.step.value_or(0) >= model.newest);
    RC_ASSERT(NewestFinite(last.world) >= model.newest_finite);
  }));
}

}  // namespace
}  // namespace gauntlet
