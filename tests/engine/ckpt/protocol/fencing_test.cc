// Generations that run at the same time: only the newest one counts.
#include <climits>
#include <functional>
#include <optional>
#include <semaphore>
#include <string>
#include <thread>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/ckpt/io/checkpoint_reader.h"
#include "engine/ckpt/protocol/ownership.h"
#include "tests/engine/ckpt/test_world.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class FencingTest : public testing::Test {
 protected:
  CheckpointStore Claimed(World& world) {
    CheckpointStore store = OpenStore(world);
    const auto claim = store.ClaimGeneration(std::string(kJob));
    CHECK(claim.ok(), claim.status().ToString());
    return store;
  }
  static CheckpointStore LaunchedAs(World& world,
                                    const LaunchHold& launch_hold) {
    auto store = CheckpointStore::Open(
        world, {.directory = std::string(kStore), .launch_hold = launch_hold});
    CHECK(store.ok(), store.status().ToString());
    return *std::move(store);
  }
  // A worker of generation 1 keeps one checkpoint and has saved step 1. It
  // saves step 2 and retires step 1; at `point` it calls `at`, whose status is
  // the result of the point.
  void Retire(Point point, const std::function<Status()>& at) {
    CheckpointStore stale = OpenStore(old_.world, 1);
    ASSERT_TRUE(stale.ClaimGeneration(std::string(kJob)).ok());
    ASSERT_TRUE(Save(stale, 1, 1).ok());
    old_.faults.script = [&](Point now, size_t) {
      return now == point ? at() : OkStatus();
    };
    (void)Save(stale, 1, 2);
    old_.faults.script = nullptr;
  }
  Recovered RecoverWithoutTheNewest() {
    storage_.Bytes(kSecond + "/MANIFEST.json")[5] ^= 1;
    return Recover(new_.world);
  }

  const std::string kFirst = "/store/step-000000001-g1";
  const std::string kSecond = "/store/step-000000002-g1";
  MemoryStorage storage_;
  TestWorld old_{storage_};
  TestWorld new_{storage_};
};

TEST_F(FencingTest, StaleWorkersSaveIsRefusedAndNeverRead) {
  CheckpointStore stale = Claimed(old_.world);
  ASSERT_TRUE(Save(stale, 1, 1).ok());
  CheckpointStore successor = Claimed(new_.world);
  EXPECT_EQ(Save(stale, 1, 2).status().code(), Code::kFenced);
  EXPECT_EQ(old_.events.Of(EventKind::kFencedOut).size(), 1u);
  EXPECT_EQ(old_.events.Of(EventKind::kSaveAcknowledged).size(), 1u);
  EXPECT_TRUE(storage_.Exists("/store/step-000000002-g1"));
  TestWorld third(storage_);
  EXPECT_EQ(Recover(third.world).step, 1u);
  EXPECT_EQ(third.events.Of(EventKind::kFencedFound).front().path,
            "/store/step-000000002-g1");
}

TEST_F(FencingTest, StoreWithFencedCheckpointsOnlyIsAColdStart) {
  CheckpointStore stale = Claimed(old_.world);
  CheckpointStore successor = Claimed(new_.world);
  EXPECT_EQ(Save(stale, 1, 1).status().code(), Code::kFenced);
  TestWorld third(storage_);
  const Recovered recovered = Recover(third.world);
  ASSERT_TRUE(recovered.status.ok()) << recovered.status.ToString();
  EXPECT_FALSE(recovered.claim->parent);
}

// A disk that lies about syncs may lose a claim and keep what came after it.
TEST_F(FencingTest, LostClaimNeverCausesAColdStart) {
  CheckpointStore first = Claimed(old_.world);
  ASSERT_TRUE(Save(first, 1, 1).ok());
  Claimed(new_.world);
  for (const char* const lost :
       {"gen-000002", "checkpoint", "step-000000001-g1/MANIFEST.json"}) {
    storage_.Bytes(fmt::format("/store/{}", lost)).clear();
  }
  TestWorld third(storage_);
  const Recovered recovered = Recover(third.world);
  EXPECT_EQ(recovered.status.code(), Code::kFailedPrecondition);
  EXPECT_THAT(recovered.status.message(),
              HasSubstr("step-000000001-g1: MANIFEST.json"));
}

// At each operation of one generation's claim, another generation makes a
// complete claim.
TEST_F(FencingTest, TwoClaimsRacingAgreeOnOneOwnerAndOneParent) {
  CheckpointStore first = Claimed(old_.world);
  ASSERT_TRUE(Save(first, 1, 1).ok());
  const auto start = storage_.Contents();
  for (int n = 0; n < 200; ++n) {
    storage_.SetContents(start);
    int count = 0;
    Recovered inner;
    storage_.gate = [&](StorageCall, const std::string&) {
      if (count++ == n) inner = Recover(new_.world);
      return OkStatus();
    };
    const Recovered outer = Recover(old_.world);
    storage_.gate = nullptr;
    if (count <= n) {
      EXPECT_GT(n, 40);
      return;
    }
    // The claim with the higher number owns the store. The other one may not
    // have detected this yet, but then its save is refused.
    ASSERT_TRUE(inner.status.ok() || outer.status.ok()) << n;
    TestWorld last(storage_);
    ASSERT_EQ(Recover(last.world).step, 1u) << n;
    ASSERT_THAT(last.events.Of(EventKind::kRejected), IsEmpty()) << n;
  }
  FAIL() << "the claim never ended";
}

// A new generation claims at each operation of a save: either it resumes from
// the save, or the save is not acknowledged.
TEST_F(FencingTest, ClaimInTheMiddleOfASaveSeesItOrFencesIt) {
  CheckpointStore first = Claimed(old_.world);
  ASSERT_TRUE(Save(first, 1, 1).ok());
  const auto start = storage_.Contents();
  for (int n = 0; n < 200; ++n) {
    storage_.SetContents(start);
    CheckpointStore writer = Claimed(old_.world);
    old_.events.all.clear();
    int count = 0;
    Recovered taken;
    storage_.gate = [&](StorageCall, const std::string&) {
      if (count++ == n) taken = Recover(new_.world);
      return OkStatus();
    };
    const auto saved = Save(writer, 2, 2);
    storage_.gate = nullptr;
    if (count <= n) return;
    ASSERT_TRUE(taken.status.ok()) << n << taken.status.ToString();
    const bool acknowledged =
        !old_.events.Of(EventKind::kSaveAcknowledged).empty();
    if (acknowledged) {
      ASSERT_EQ(taken.step, 2u) << n;
    } else {
      ASSERT_EQ(saved.status().code(), Code::kFenced) << n;
    }
    TestWorld last(storage_);
    ASSERT_EQ(Recover(last.world).step, taken.step) << n;
  }
  FAIL() << "the save never ended";
}

TEST_F(FencingTest, StaleWorkerOfADeletedStoreDoesNotPassForItsNewOwner) {
  CheckpointStore stale = Claimed(old_.world);
  ASSERT_TRUE(Save(stale, 1, 1).ok());
  storage_.SetContents({});
  CheckpointStore owner = Claimed(new_.world);
  ASSERT_TRUE(Save(owner, 1, 1).ok());
  TestWorld third(storage_);
  CheckpointStore next = Claimed(third.world);
  EXPECT_EQ(Save(stale, 1, 2).status().code(), Code::kFenced);
}

// A new claim would not help: training would begin at step 0.
TEST_F(FencingTest, WorkerStopsForGood_WhenItsStoreIsDeleted) {
  enum class After { kNothing, kAnEmptyDirectory, kAnotherOwner };
  for (const After after :
       {After::kNothing, After::kAnEmptyDirectory, After::kAnotherOwner}) {
    storage_.SetContents({});
    CheckpointStore stale = Claimed(old_.world);
    ASSERT_TRUE(Save(stale, 1, 1).ok());
    storage_.SetContents({});
    if (after == After::kAnEmptyDirectory) OpenStore(new_.world);
    if (after == After::kAnotherOwner) {
      CheckpointStore owner = LaunchedAs(new_.world, {.launch = "2"});
      ASSERT_TRUE(owner.ClaimGeneration(std::string(kJob)).ok());
    }
    const Status saved = Save(stale, 1, 2).status();
    EXPECT_EQ(saved.code(), Code::kFailedPrecondition) << saved.ToString();
    EXPECT_THAT(saved.message(), HasSubstr("deleted under this run"));
  }
}

// If two launchers share no lock, the later launch keeps the store.
TEST_F(FencingTest, LaterLaunchIsNotFencedByAnEarlierOne) {
  CheckpointStore earlier = LaunchedAs(old_.world, {.launch = "1"});
  ASSERT_TRUE(earlier.ClaimGeneration(std::string(kJob)).ok());
  CheckpointStore later = LaunchedAs(new_.world, {.launch = "2"});
  ASSERT_TRUE(later.ClaimGeneration(std::string(kJob)).ok());
  EXPECT_EQ(Save(earlier, 1, 1).status().code(), Code::kFenced);
  CheckpointStore again = LaunchedAs(old_.world, {.launch = "1", .claimed = 1});
  const Status claimed = again.ClaimGeneration(std::string(kJob)).status();
  EXPECT_EQ(claimed.code(), Code::kFailedPrecondition);
  EXPECT_THAT(claimed.message(), HasSubstr("taken over by a later run"));
  EXPECT_TRUE(Save(later, 2, 1).ok());
}

// A stale worker that claims late is of the same launch, or of an earlier one.
TEST_F(FencingTest, EqualOrLaterLaunchClaimsOverAStaleWorker) {
  for (const std::string stale_launch : {"1", "2"}) {
    storage_.SetContents({});
    CheckpointStore owner = LaunchedAs(new_.world, {.launch = "2"});
    TestWorld late(storage_);
    CheckpointStore stale = LaunchedAs(late.world, {.launch = stale_launch});
    late.faults.script = [&](Point point, size_t n) {
      if (point == Point::kClaimRecord) return Cancelled("gone");
      return n > 0 ? OkStatus()
                   : owner.ClaimGeneration(std::string(kJob)).status();
    };
    EXPECT_FALSE(stale.ClaimGeneration(std::string(kJob)).ok());
    EXPECT_EQ(Save(owner, 1, 1).status().code(), Code::kFenced);
    CheckpointStore again =
        LaunchedAs(new_.world, {.launch = "2", .claimed = 1});
    EXPECT_TRUE(again.ClaimGeneration(std::string(kJob)).ok());
  }
}

TEST_F(FencingTest, ColdStartIsRefused_IfAnEarlierIncarnationClaimed) {
  for (const bool there : {false, true}) {
    storage_.SetContents({});
    if (there) OpenStore(new_.world);
    const auto before = storage_.Contents();
    CheckpointStore store =
        LaunchedAs(new_.world, {.launch = "1", .claimed = 3});
    const Status claimed = store.ClaimGeneration(std::string(kJob)).status();
    EXPECT_EQ(claimed.code(), Code::kFailedPrecondition);
    EXPECT_THAT(claimed.message(), HasSubstr("expected its claim gen-000003"));
    EXPECT_EQ(storage_.Contents(), before);
  }
}

TEST_F(FencingTest, LaunchNamesRiseWithTheClaims) {
  CheckpointStore store = Claimed(old_.world);
  const auto first = MakeLaunchName(old_.world, std::string(kStore));
  for (int incarnation = 0; incarnation < 10; ++incarnation)
    Claimed(old_.world);
  EXPECT_LT(*first, *MakeLaunchName(old_.world, std::string(kStore)));
}

TEST_F(FencingTest, UnrecordedClaimCountsForNothingButItsNumber) {
  CheckpointStore first = Claimed(old_.world);
  ASSERT_TRUE(Save(first, 1, 1).ok());
  old_.faults.script = [](Point point, size_t) {
    return point == Point::kClaimRecord ? Cancelled("gone") : OkStatus();
  };
  EXPECT_EQ(Recover(old_.world).status.code(), Code::kCancelled);
  const Recovered recovered = Recover(new_.world);
  EXPECT_EQ(recovered.step, 1u);
  EXPECT_EQ(recovered.claim->generation, 3u);
}

TEST_F(FencingTest, RetentionOfAnOldGenerationCannotTakeTheParent) {
  CheckpointStore stale = OpenStore(old_.world, 1);
  ASSERT_TRUE(stale.ClaimGeneration(std::string(kJob)).ok());
  ASSERT_TRUE(Save(stale, 1, 1).ok());
  CheckpointStore successor = Claimed(new_.world);
  EXPECT_EQ(Save(stale, 1, 2).status().code(), Code::kFenced);
  EXPECT_THAT(Checkpoints(storage_, std::string(kStore)),
              ElementsAre("step-000000001-g1", "step-000000002-g1"));
}

// At each operation of a retention, a new generation claims and finds the
// newest checkpoint damaged. Either it resumes from the checkpoint that is
// being retired, and keeps it, or it refuses; then that checkpoint is gone, or
// has its name again.
TEST_F(FencingTest, ClaimInTheMiddleOfARetentionKeepsTheParentOrRefuses) {
  const auto start = storage_.Contents();
  int resumed = 0;
  for (int n = 0; n < 200; ++n) {
    storage_.SetContents(start);
    CheckpointStore writer = OpenStore(old_.world, 1);
    ASSERT_TRUE(writer.ClaimGeneration(std::string(kJob)).ok());
    ASSERT_TRUE(Save(writer, 1, 1).ok());
    int count = 0;
    std::optional<Recovered> taken;
    storage_.gate = [&](StorageCall, const std::string&) {
      const bool retires = old_.faults.hits.back() == Point::kRetireRename ||
                           old_.faults.hits.back() == Point::kRetireRenamed;
      if (retires && count++ == n) taken = RecoverWithoutTheNewest();
      return OkStatus();
    };
    (void)Save(writer, 1, 2);
    storage_.gate = nullptr;
    if (!taken) {
      EXPECT_GT(resumed, 0);
      return;
    }
    TestWorld last(storage_);
    const Recovered after = Recover(last.world);
    ASSERT_EQ(after.status.ok(), storage_.Exists(kFirst)) << n;
    if (!taken->status.ok()) continue;
    ++resumed;
    ASSERT_EQ(taken->step, 1u) << n;
    ASSERT_EQ(after.step, 1u) << n;
  }
  FAIL() << "the retention never ended";
}

// A retention waits at the point while a new generation claims and finds the
// newest checkpoint damaged. At each operation of the claim, the retention
// continues to its end.
TEST_F(FencingTest, RetentionInTheMiddleOfAClaimNeverTakesTheParent) {
  const auto start = storage_.Contents();
  for (const Point point : {Point::kRetireRename, Point::kRetireRenamed}) {
    int resumed = 0;
    int count = INT_MAX;
    for (int n = 0; n < count; ++n) {
      storage_.SetContents(start);
      CheckpointStore writer = OpenStore(old_.world, 1);
      ASSERT_TRUE(writer.ClaimGeneration(std::string(kJob)).ok());
      ASSERT_TRUE(Save(writer, 1, 1).ok());
      std::binary_semaphore waits(0);
      std::binary_semaphore may_go_on(0);
      old_.faults.script = [&](Point now, size_t) {
        if (now == point) {
          waits.release();
          may_go_on.acquire();
        }
        return OkStatus();
      };
      std::thread stale([&] { (void)Save(writer, 1, 2); });
      const auto go_on = [&] {
        may_go_on.release();
        stale.join();
      };
      waits.acquire();
      count = 0;
      storage_.gate = [&](StorageCall, const std::string&) {
        if (count++ == n) go_on();
        return OkStatus();
      };
      const Recovered taken = RecoverWithoutTheNewest();
      storage_.gate = nullptr;
      if (stale.joinable()) go_on();
      old_.faults.script = nullptr;
      TestWorld last(storage_);
      const Recovered after = Recover(last.world);
      ASSERT_EQ(after.status.ok(), storage_.Exists(kFirst)) << n;
      if (!taken.status.ok()) continue;
      ++resumed;
      ASSERT_EQ(taken.step, 1u) << n;
      ASSERT_EQ(after.step, 1u) << n;
    }
    EXPECT_GT(count, 40);
    EXPECT_GT(resumed, 0) << PointName(point);
  }
}

TEST_F(FencingTest, StaleWorkersRemovalIsPutBackIfTheWorkerDiesInIt) {
  Recovered taken;
  Retire(Point::kRetireRename, [&] {
    taken = RecoverWithoutTheNewest();
    old_.faults.script = [](Point now, size_t) {
      return now == Point::kRetireRenamed ? Cancelled("dead") : OkStatus();
    };
    return OkStatus();
  });
  ASSERT_EQ(taken.step, 1u);
  ASSERT_FALSE(storage_.Exists(kFirst));
  TestWorld third(storage_);
  EXPECT_EQ(Recover(third.world).step, 1u);
  EXPECT_TRUE(storage_.Exists(kFirst));
}

// Shows that the test above can fail, with a planted bug.
TEST_F(FencingTest, WithoutTheLookForNewerClaimsAStaleWorkerTakesTheParent) {
  old_.faults.planted = {PlantedBug::kRemoveWhileFenced};
  Recovered taken;
  Retire(Point::kRetireRename, [&] {
    taken = RecoverWithoutTheNewest();
    return OkStatus();
  });
  ASSERT_EQ(taken.step, 1u);
  TestWorld third(storage_);
  EXPECT_EQ(Recover(third.world).status.code(), Code::kFailedPrecondition);
}

// The checkpoint is renamed after a claim has listed it and before the claim is
// recorded.
TEST_F(FencingTest, ClaimRestoresAListedCheckpointThatWasBeingDeleted) {
  CheckpointStore first = Claimed(old_.world);
  ASSERT_TRUE(Save(first, 1, 1).ok());
  const std::string away = "/store/" + DeletingName(1, "step-000000001-g1");
  bool taken = false;
  storage_.gate = [&](StorageCall operation, const std::string& path) {
    const bool verifies = operation == StorageCall::kOpen &&
                          path == kFirst + "/model-00001-of-00002.safetensors";
    if (!verifies || std::exchange(taken, true)) return OkStatus();
    return storage_.Rename(kFirst, away);
  };
  const Recovered recovered = Recover(new_.world);
  ASSERT_TRUE(recovered.status.ok()) << recovered.status.ToString();
  EXPECT_TRUE(taken);
  EXPECT_EQ(recovered.step, 1u);
  EXPECT_TRUE(storage_.Exists(kFirst));
  EXPECT_FALSE(storage_.Exists(away));
}

// A stale worker renames the checkpoint when a file is opened, and renames it
// back before the directory is listed again.
TEST_F(FencingTest, CheckpointThatComesBackWhileItIsRead_IsNotDamaged) {
  CheckpointStore first = Claimed(old_.world);
  ASSERT_TRUE(Save(first, 1, 1).ok());
  const std::string away = "/store/" + DeletingName(1, "step-000000001-g1");
  int times = 0;
  storage_.gate = [&](StorageCall operation, const std::string& path) {
    const bool opens = operation == StorageCall::kOpen &&
                       path == kFirst + "/model-00001-of-00002.safetensors";
    if (opens && times++ == 0) return storage_.Rename(kFirst, away);
    const bool lists = operation == StorageCall::kList && path == kFirst;
    if (lists && times == 1) return storage_.Rename(away, kFirst);
    return OkStatus();
  };
  EXPECT_TRUE(VerifyCheckpoint(new_.world, kFirst).ok());
  EXPECT_EQ(times, 2);
}

// No claim depends on the checkpoint, and the worker that was removing it
// cannot restore the removed part.
TEST_F(FencingTest, ClaimCompletesAnIrreversibleRemoval) {
  Recovered taken;
  Retire(Point::kRetireRenamed, [&] {
    taken = Recover(new_.world);
    return OkStatus();
  });
  EXPECT_EQ(taken.step, 2u);
  EXPECT_THAT(Checkpoints(storage_, std::string(kStore)),
              ElementsAre("step-000000002-g1"));
  for (const auto& [path, bytes] : storage_.Contents()) {
    EXPECT_THAT(path, Not(HasSubstr(".deleting-")));
  }
}

// The remover brings the checkpoint back after the claim has listed the
// directory: no retention would remove it.
TEST_F(FencingTest, ClaimRemovesCheckpointsThatReappearAfterItsListing) {
  Retire(Point::kRetireRenamed, [&] {
    new_.faults.script = [&](Point point, size_t) {
      if (point != Point::kClaimRecord) return OkStatus();
      return storage_.Rename("/store/" + DeletingName(1, "step-000000001-g1"),
                             kFirst);
    };
    EXPECT_EQ(Recover(new_.world).step, 2u);
    return OkStatus();
  });
  EXPECT_THAT(Checkpoints(storage_, std::string(kStore)),
              ElementsAre("step-000000002-g1"));
}

TEST_F(FencingTest, StaleWorkersFailedSave_IsKept_IfAClaimResumedFromIt) {
  CheckpointStore first = Claimed(old_.world);
  Recovered taken;
  old_.faults.script = [&](Point point, size_t) {
    if (point == Point::kRetireRename) taken = Recover(new_.world);
    return point == Point::kRenamed ? IoError("it failed") : OkStatus();
  };
  ASSERT_FALSE(Save(first, 1, 1).ok());
  EXPECT_EQ(taken.step, 1u);
  TestWorld third(storage_);
  EXPECT_EQ(Recover(third.world).step, 1u);
}

// A worker that rejoins claims with the store that it already has open.
TEST_F(FencingTest, OwnFailedSave_IsKept_IfAClaimResumesFromIt) {
  CheckpointStore store = Claimed(old_.world);
  old_.faults.script = [](Point point, size_t) {
    const bool fails =
        point == Point::kRenamed || point == Point::kRetireRename;
    return fails ? IoError("it failed") : OkStatus();
  };
  ASSERT_FALSE(Save(store, 1, 1).ok());
  old_.faults.script = nullptr;
  const auto claim = store.ClaimGeneration(std::string(kJob));
  ASSERT_TRUE(claim.ok()) << claim.status().ToString();
  EXPECT_EQ(claim->parent->name, "step-000000001-g1");
  ASSERT_TRUE(Save(store, 2, 2).ok());
  EXPECT_TRUE(storage_.Exists(kFirst));
}

TEST_F(FencingTest, RefusedRunChangesNoName) {
  CheckpointStore first = Claimed(old_.world);
  ASSERT_TRUE(Save(first, 1, 1).ok());
  ASSERT_TRUE(Save(first, 1, 2).ok());
  for (const std::string& checkpoint : {kFirst, kSecond}) {
    storage_.Bytes(checkpoint + "/MANIFEST.json").pop_back();
  }
  const auto before = storage_.Contents();
  EXPECT_EQ(Recover(new_.world).status.code(), Code::kFailedPrecondition);
  auto after = storage_.Contents();
  EXPECT_EQ(after.erase("/store/gen-000002"), 1u);
  EXPECT_EQ(after, before);
}

}  // namespace
}  // namespace gauntlet
