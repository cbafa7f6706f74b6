// A process may die at any point, or at any operation of its storage. The next
// one finds the last acknowledged save, or a later one that verifies.
#include <memory>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/engine/ckpt/test_world.h"

namespace gauntlet {
namespace {

constexpr uint64_t kSteps = 4;

// End of an incarnation that claims the store, and saves up to step kSteps.
// kDelete: it then deletes all checkpoints. It continues after a save that
// fails, and ends at any other error.
enum class End { kKeep, kDelete };

struct IncarnationProgress {
  uint64_t begun = 0;         // newest step whose save began
  uint64_t acknowledged = 0;  // newest step acknowledged, or 0
  bool deleting = false;
};

IncarnationProgress RunIncarnation(TestWorld& test, int keep, End end) {
  IncarnationProgress incarnation;
  const auto run = [&]() -> Status {
    ASSIGN_OR_RETURN(
        CheckpointStore store,
        CheckpointStore::Open(
            test.world, {.directory = std::string(kStore), .keep = keep}));
    ASSIGN_OR_RETURN(const Claim claim,
                     store.ClaimGeneration(std::string(kJob)));
    uint64_t step = claim.parent ? claim.parent->step : 0;
    while (step < kSteps) {
      const Status saved = Save(store, claim.generation, ++step).status();
      if (saved.code() == Code::kCancelled) return saved;
    }
    if (end == End::kDelete) {
      incarnation.deleting = true;
      RETURN_IF_ERROR(store.DeleteAll());
    }
    return OkStatus();
  };
  // Ignores the status: the events show how far the incarnation got.
  run().ok();
  for (const LogEvent& event : test.events.all) {
    if (event.kind == EventKind::kSaveBegin) incarnation.begun = event.step;
    if (event.kind == EventKind::kSaveAcknowledged) {
      incarnation.acknowledged = event.step;
    }
  }
  return incarnation;
}

void ExpectRecovery(const IncarnationProgress& incarnation,
                    MemoryStorage& storage) {
  TestWorld next(storage);
  const Recovered recovered = Recover(next.world);
  ASSERT_TRUE(recovered.status.ok()) << recovered.status.ToString();
  const uint64_t step = recovered.step.value_or(0);
  if (incarnation.deleting && step == 0) return;
  ASSERT_GE(step, incarnation.acknowledged);
  ASSERT_LE(step, std::max(incarnation.begun, incarnation.acknowledged));
  // The claim has removed all temporary files.
  for (const auto& [path, bytes] : storage.Contents()) {
    ASSERT_EQ(path.find(".tmp"), std::string::npos) << path;
    ASSERT_EQ(path.find(".deleting-"), std::string::npos) << path;
  }
}

using Start = std::map<std::string, std::string>;

Start EmptyStart() { return {}; }

// Returns a store with two saves of an older generation.
Start UsedStart() {
  MemoryStorage storage;
  TestWorld test(storage);
  CheckpointStore store = OpenStore(test.world);
  CHECK(store.ClaimGeneration(std::string(kJob)).ok(), "claim");
  CHECK(Save(store, 1, 1).ok() && Save(store, 1, 2).ok(), "save");
  return storage.Contents();
}

// As UsedStart, but the newest checkpoint is damaged.
Start DamagedStart() {
  Start start = UsedStart();
  start["/store/step-000000002-g1/MANIFEST.json"].pop_back();
  return start;
}

struct CrashCase {
  Start start;
  uint64_t acknowledged;  // newest valid step in it
  int keep;
};

std::vector<CrashCase> Cases() {
  return {{EmptyStart(), 0, 2},
          {UsedStart(), 2, 1},
          {UsedStart(), 2, 3},
          {DamagedStart(), 1, 2}};
}

// Runs incarnations, each with a fault that begins at chance n = 0, 1, …, until
// an incarnation has no chance n. A chance is a fault point that is reached, or
// an operation of the storage. `arm` sets the fault, and returns a pointer to
// the number of chances so far.
template <typename Arm>
void SweepCrashes(const Arm& arm) {
  for (const CrashCase& crash : Cases()) {
    for (const End end : {End::kKeep, End::kDelete}) {
      for (size_t n = 0;; ++n) {
        MemoryStorage storage;
        storage.SetContents(crash.start);
        TestWorld test(storage);
        const auto chances = arm(n, storage, test);
        IncarnationProgress incarnation = RunIncarnation(test, crash.keep, end);
        incarnation.acknowledged =
            std::max(incarnation.acknowledged, crash.acknowledged);
        storage.gate = nullptr;
        ExpectRecovery(incarnation, storage);
        if (testing::Test::HasFatalFailure()) FAIL() << "crash at " << n;
        if (*chances <= n) {
          EXPECT_GT(n, 50u);
          break;
        }
      }
    }
  }
}

enum class Lasts { kOnce, kForEver };

bool Fires(size_t chance, size_t n, Lasts lasts) {
  return chance == n || (chance > n && lasts == Lasts::kForEver);
}

auto AtPoints(Status error, Lasts lasts) {
  return [=](size_t n, MemoryStorage&, TestWorld& test) {
    auto chances = std::make_shared<size_t>(0);
    test.faults.script = [=](Point, size_t) {
      return Fires((*chances)++, n, lasts) ? error : OkStatus();
    };
    return chances;
  };
}

auto AtOperations(Status error, Lasts lasts) {
  return [=](size_t n, MemoryStorage& storage, TestWorld&) {
    auto chances = std::make_shared<size_t>(0);
    storage.gate = [=](StorageCall, const std::string&) {
      return Fires((*chances)++, n, lasts) ? error : OkStatus();
    };
    return chances;
  };
}

TEST(CrashTest, AtEveryHitOfEveryFaultPoint) {
  SweepCrashes(AtPoints(Cancelled("gone"), Lasts::kForEver));
}

TEST(CrashTest, AtEveryOperationOfTheStorage) {
  SweepCrashes(AtOperations(Cancelled("gone"), Lasts::kForEver));
}

// The process continues after the error. Each save that was acknowledged,
// before or after the error, can still be loaded.
TEST(CrashTest, ErrorAtAnyOperationLosesNothingAcknowledged) {
  SweepCrashes(AtOperations(IoError("disk"), Lasts::kOnce));
}

TEST(CrashTest, ErrorAtAnyFaultPointLosesNothingAcknowledged) {
  SweepCrashes(AtPoints(ResourceExhausted("full"), Lasts::kOnce));
}

TEST(CrashTest, PermanentDiskFailure_LosesNoAcknowledgedCheckpoint) {
  SweepCrashes(AtOperations(IoError("disk"), Lasts::kForEver));
}

}  // namespace
}  // namespace gauntlet
