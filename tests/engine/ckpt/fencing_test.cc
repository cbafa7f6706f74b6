// Generations that live at the same time: the newest one alone counts.
#include <map>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/ckpt/ownership.h"
#include "tests/engine/ckpt/test_world.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class FencingTest : public testing::Test {
 protected:
  CheckpointStore Claimed(World& world) {
    CheckpointStore store = OpenStore(world);
    const auto claim = store.ClaimGeneration(std::string(kJob));
    CHECK(claim.ok(), claim.status().ToString());
    return store;
  }
  static CheckpointStore LaunchedAs(World& world, const Tenure& tenure) {
    auto store = CheckpointStore::Open(
        world, {.directory = std::string(kStore), .tenure = tenure});
    CHECK(store.ok(), store.status().ToString());
    return *std::move(store);
  }
  // As somebody is about to rename the checkpoint, it goes; what of `come` is
  // not there comes first.
  void Vanish(const std::string& checkpoint,
              const std::map<std::string, std::string>& come) {
    storage_.gate = [=, this](Operation operation, const std::string& path) {
      if (operation != Operation::kChange || path != checkpoint) {
        return OkStatus();
      }
      auto contents = storage_.Contents();
      contents.insert(come.begin(), come.end());
      std::erase_if(contents, [&](const auto& file) {
        return file.first.starts_with(checkpoint);
      });
      storage_.SetContents(contents);
      return OkStatus();
    };
  }

  MemoryStorage storage_;
  TestWorld old_{storage_};
  TestWorld new_{storage_};
};

TEST_F(FencingTest, ALateSurvivorsSaveIsRefusedAndNeverRead) {
  CheckpointStore survivor = Claimed(old_.world);
  ASSERT_TRUE(Save(survivor, 1, 1).ok());
  CheckpointStore successor = Claimed(new_.world);
  EXPECT_EQ(Save(survivor, 1, 2).status().code(), Code::kFenced);
  EXPECT_EQ(old_.events.Of(EventKind::kFencedOut).size(), 1u);
  EXPECT_EQ(old_.events.Of(EventKind::kSaveAcknowledged).size(), 1u);
  EXPECT_TRUE(storage_.Exists("/store/step-000000002-g1"));
  TestWorld third(storage_);
  EXPECT_EQ(Recover(third.world).step, 1u);
  EXPECT_EQ(third.events.Of(EventKind::kFencedFound).front().path,
            "/store/step-000000002-g1");
}

TEST_F(FencingTest, AStoreWithVoidCheckpointsOnlyIsAColdStart) {
  CheckpointStore survivor = Claimed(old_.world);
  CheckpointStore successor = Claimed(new_.world);
  EXPECT_EQ(Save(survivor, 1, 1).status().code(), Code::kFenced);
  TestWorld third(storage_);
  const Recovered recovered = Recover(third.world);
  ASSERT_TRUE(recovered.status.ok()) << recovered.status.ToString();
  EXPECT_FALSE(recovered.claim->parent);
}

// A disk that lies about syncs may take away a claim and keep what came after
// it.
TEST_F(FencingTest, WhereAClaimIsLostNoStartIsCold) {
  CheckpointStore first = Claimed(old_.world);
  ASSERT_TRUE(Save(first, 1, 1).ok());
  Claimed(new_.world);
  for (const char* const lost :
       {"gen-000002", "checkpoint", "step-000000001-g2/MANIFEST.json"}) {
    storage_.Bytes(fmt::format("/store/{}", lost)).clear();
  }
  TestWorld third(storage_);
  const Recovered recovered = Recover(third.world);
  EXPECT_EQ(recovered.status.code(), Code::kFailedPrecondition);
  EXPECT_THAT(recovered.status.message(),
              HasSubstr("step-000000001-g2: the claim of generation 2 is "
                        "lost"));
}

// At each operation of one generation's claim another one claims the store from
// beginning to end.
TEST_F(FencingTest, TwoClaimsRacingAgreeOnOneOwnerAndOneParent) {
  CheckpointStore first = Claimed(old_.world);
  ASSERT_TRUE(Save(first, 1, 1).ok());
  const auto start = storage_.Contents();
  for (int n = 0; n < 200; ++n) {
    storage_.SetContents(start);
    int count = 0;
    Recovered inner;
    storage_.gate = [&](Operation, const std::string&) {
      if (count++ == n) inner = Recover(new_.world);
      return OkStatus();
    };
    const Recovered outer = Recover(old_.world);
    storage_.gate = nullptr;
    if (count <= n) {
      EXPECT_GT(n, 40);
      return;
    }
    // Whoever has the higher number owns the store; the other one may not know
    // it yet, but then its save is refused.
    ASSERT_TRUE(inner.status.ok() || outer.status.ok()) << n;
    TestWorld last(storage_);
    ASSERT_EQ(Recover(last.world).step, 1u) << n;
    ASSERT_THAT(last.events.Of(EventKind::kRejected), IsEmpty()) << n;
  }
  FAIL() << "the claim never ended";
}

// At each operation of a save a new generation claims: either it goes on from
// the save, or the save is not acknowledged.
TEST_F(FencingTest, AClaimInTheMiddleOfASaveSeesItOrFencesIt) {
  CheckpointStore first = Claimed(old_.world);
  ASSERT_TRUE(Save(first, 1, 1).ok());
  const auto start = storage_.Contents();
  for (int n = 0; n < 200; ++n) {
    storage_.SetContents(start);
    CheckpointStore writer = Claimed(old_.world);
    old_.events.all.clear();
    int count = 0;
    Recovered taken;
    storage_.gate = [&](Operation, const std::string&) {
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

TEST_F(FencingTest, ASurvivorOfADeletedStoreDoesNotPassForItsNewOwner) {
  CheckpointStore survivor = Claimed(old_.world);
  ASSERT_TRUE(Save(survivor, 1, 1).ok());
  storage_.SetContents({});
  CheckpointStore owner = Claimed(new_.world);
  ASSERT_TRUE(Save(owner, 1, 1).ok());
  TestWorld third(storage_);
  CheckpointStore next = Claimed(third.world);
  EXPECT_EQ(Save(survivor, 1, 2).status().code(), Code::kFenced);
}

// Nothing is to be won by a claim of one's own there: it would begin at step 0.
TEST_F(FencingTest, WhoseStoreWasDeletedUnderItStopsForGood) {
  enum class After { kNothing, kAnEmptyDirectory, kAnotherOwner };
  for (const After after :
       {After::kNothing, After::kAnEmptyDirectory, After::kAnotherOwner}) {
    storage_.SetContents({});
    CheckpointStore survivor = Claimed(old_.world);
    ASSERT_TRUE(Save(survivor, 1, 1).ok());
    storage_.SetContents({});
    if (after == After::kAnEmptyDirectory) OpenStore(new_.world);
    if (after == After::kAnotherOwner) {
      CheckpointStore owner = LaunchedAs(new_.world, {.launch = "2"});
      ASSERT_TRUE(owner.ClaimGeneration(std::string(kJob)).ok());
    }
    const Status saved = Save(survivor, 1, 2).status();
    EXPECT_EQ(saved.code(), Code::kFailedPrecondition) << saved.ToString();
    EXPECT_THAT(saved.message(), HasSubstr("deleted under this run"));
  }
}

// Of two launchers without a common lock the later one keeps the store.
TEST_F(FencingTest, ALaterLaunchIsNotFencedByAnEarlierOne) {
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

// A survivor that claims late belongs to an earlier life, or an earlier launch.
TEST_F(FencingTest, AnEqualOrLaterLaunchClaimsOverALateSurvivor) {
  for (const std::string survivors_launch : {"1", "2"}) {
    storage_.SetContents({});
    CheckpointStore owner = LaunchedAs(new_.world, {.launch = "2"});
    TestWorld late(storage_);
    CheckpointStore survivor =
        LaunchedAs(late.world, {.launch = survivors_launch});
    late.faults.script = [&](Point point, size_t n) {
      if (point == Point::kClaimRecord) return Cancelled("gone");
      return n > 0 ? OkStatus()
                   : owner.ClaimGeneration(std::string(kJob)).status();
    };
    EXPECT_FALSE(survivor.ClaimGeneration(std::string(kJob)).ok());
    EXPECT_EQ(Save(owner, 1, 1).status().code(), Code::kFenced);
    CheckpointStore again =
        LaunchedAs(new_.world, {.launch = "2", .claimed = 1});
    EXPECT_TRUE(again.ClaimGeneration(std::string(kJob)).ok());
  }
}

TEST_F(FencingTest, NoLifeStartsColdWhereAnEarlierOneClaimed) {
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
  for (int life = 0; life < 10; ++life) Claimed(old_.world);
  EXPECT_LT(*first, *MakeLaunchName(old_.world, std::string(kStore)));
}

TEST_F(FencingTest, AnUnrecordedClaimCountsForNothingButItsNumber) {
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
  CheckpointStore survivor = OpenStore(old_.world, 1);
  ASSERT_TRUE(survivor.ClaimGeneration(std::string(kJob)).ok());
  ASSERT_TRUE(Save(survivor, 1, 1).ok());
  CheckpointStore successor = Claimed(new_.world);
  EXPECT_EQ(Save(survivor, 1, 2).status().code(), Code::kFenced);
  EXPECT_THAT(Checkpoints(storage_, std::string(kStore)),
              ElementsAre("step-000000001-g2", "step-000000002-g1"));
}

// A late survivor's retention may remove what was just recorded as parent.
TEST_F(FencingTest, WhereTheParentGoesBeforeItIsTakenAnOlderOneIsChosen) {
  CheckpointStore first = Claimed(old_.world);
  ASSERT_TRUE(Save(first, 1, 1).ok());
  ASSERT_TRUE(Save(first, 1, 2).ok());
  Vanish("/store/step-000000002-g1", {});
  const Recovered recovered = Recover(new_.world);
  ASSERT_TRUE(recovered.status.ok()) << recovered.status.ToString();
  EXPECT_EQ(recovered.step, 1u);
  storage_.gate = nullptr;
  TestWorld third(storage_);
  EXPECT_EQ(Recover(third.world).step, 1u);
}

// It was never acknowledged, and its removal was owed.
TEST_F(FencingTest, WhereAFailedSaveGoesBeforeItIsTakenTheStartIsCold) {
  CheckpointStore first = Claimed(old_.world);
  old_.faults.script = [](Point point, size_t) {
    if (point == Point::kRetireRename) return Cancelled("late");
    return point == Point::kRenamed ? IoError("it failed") : OkStatus();
  };
  ASSERT_FALSE(Save(first, 1, 1).ok());
  Vanish("/store/step-000000001-g1", {});
  const Recovered recovered = Recover(new_.world);
  ASSERT_TRUE(recovered.status.ok()) << recovered.status.ToString();
  EXPECT_EQ(recovered.step, std::nullopt);
}

TEST_F(FencingTest, WhereANewerSaveTakesTheParentsPlaceItIsChosen) {
  CheckpointStore first = Claimed(old_.world);
  ASSERT_TRUE(Save(first, 1, 1).ok());
  const auto before = storage_.Contents();
  ASSERT_TRUE(Save(first, 1, 2).ok());
  const auto after = storage_.Contents();
  storage_.SetContents(before);
  Vanish("/store/step-000000001-g1", after);
  const Recovered recovered = Recover(new_.world);
  ASSERT_TRUE(recovered.status.ok()) << recovered.status.ToString();
  EXPECT_EQ(recovered.step, 2u);
}

}  // namespace
}  // namespace gauntlet
