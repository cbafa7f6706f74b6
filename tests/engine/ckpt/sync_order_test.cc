// Syncs that other operations must wait for, and errors that must stop the next
// operation. A later sync of the same directory often makes up for a missing
// one, so that no crash state shows the bug; here the order itself is checked.
#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/engine/ckpt/test_world.h"

namespace gauntlet {
namespace {

using testing::Contains;

const std::string kDirectory(kStore);

class SyncOrderTest : public testing::Test {
 protected:
  struct Done {
    StorageCall operation;
    std::string path;
    bool operator==(const Done&) const = default;
  };

  SyncOrderTest() {
    // Generation 1 saves steps 1 and 2.
    CheckpointStore store = OpenStore(old_.world);
    CHECK(store.ClaimGeneration(std::string(kJob)).ok(), "claim");
    CHECK(Save(store, 1, 1).ok() && Save(store, 1, 2).ok(), "save");
    storage_.gate = [this](StorageCall operation, const std::string& path) {
      log_.push_back({operation, path});
      return OkStatus();
    };
  }
  // Returns true iff the directory is synced after `first` and before the next
  // operation for which `then` is true.
  template <typename Then>
  bool IsSyncedBetween(const Done& first, const Then& then) const {
    const auto begin = std::ranges::find(log_, first);
    CHECK(begin != log_.end(), first.path);
    const auto end = std::find_if(begin + 1, log_.end(), then);
    CHECK(end != log_.end(), first.path);
    return std::find(begin, end, Done{StorageCall::kSync, kDirectory}) != end;
  }

  MemoryStorage storage_;
  TestWorld old_{storage_};
  TestWorld new_{storage_};
  std::vector<Done> log_;
};

TEST_F(SyncOrderTest, ClaimIsDurableBeforeItsGenerationListsTheDirectory) {
  ASSERT_TRUE(Recover(new_.world).status.ok());
  EXPECT_TRUE(IsSyncedBetween(
      {StorageCall::kCreate, "/store/gen-000002"}, [](const Done& done) {
        return done.operation == StorageCall::kList && done.path == kDirectory;
      }));
}

// A stale worker renames its save after the claim was synced and before the new
// generation lists the directory, and dies before its own sync.
TEST_F(SyncOrderTest, ParentIsDurableBeforeTheClaimRecordsIt) {
  CheckpointStore late = OpenStore(old_.world);
  storage_.gate = nullptr;
  ASSERT_EQ(late.ClaimGeneration(std::string(kJob))->generation, 2u);
  old_.faults.script = [](Point point, size_t) {
    return point == Point::kParentSync ? Cancelled("gone") : OkStatus();
  };
  bool is_saved = false;
  storage_.gate = [&](StorageCall operation, const std::string& path) {
    const bool lists = operation == StorageCall::kList && path == kDirectory;
    if (lists && storage_.Exists("/store/gen-000003") && !is_saved) {
      is_saved = true;
      EXPECT_FALSE(Save(late, 2, 3).ok());
      log_.clear();
    }
    log_.push_back({operation, path});
    return OkStatus();
  };
  EXPECT_EQ(Recover(new_.world).step, 3u);
  EXPECT_TRUE(
      IsSyncedBetween({StorageCall::kList, kDirectory}, [](const Done& done) {
        return done == Done{StorageCall::kCreate, "/store/gen-000003.tmp"};
      }));
}

TEST_F(SyncOrderTest, RecordIsDurableBeforeTheClaimChangesAnythingElse) {
  ASSERT_TRUE(storage_.MakeDirectory("/store/step-000000009-g1.tmp").ok());
  ASSERT_TRUE(Recover(new_.world).status.ok());
  EXPECT_TRUE(IsSyncedBetween({StorageCall::kChange, "/store/gen-000002.tmp"},
                              [](const Done& done) {
                                return done.operation == StorageCall::kChange ||
                                       done.operation == StorageCall::kCreate;
                              }));
}

// The syncs are: the claim's file, its directory, the directory again before
// the record, the record's file, and its directory.
TEST_F(SyncOrderTest, ClaimFailsIfAnySyncUpToItsRecordFails) {
  constexpr int kSyncs = 5;
  for (int failing = 0; failing < kSyncs; ++failing) {
    int syncs = 0;
    storage_.gate = [&](StorageCall operation, const std::string&) {
      const bool fails = operation == StorageCall::kSync && syncs++ == failing;
      return fails ? IoError("no") : OkStatus();
    };
    // The directory exists: this process has claimed in it before.
    auto store = CheckpointStore::Open(
        new_.world, {.directory = kDirectory, .launch_hold = {.claimed = 1}});
    ASSERT_TRUE(store.ok());
    EXPECT_EQ(store->ClaimGeneration(std::string(kJob)).status().code(),
              Code::kIoError)
        << failing;
  }
}

TEST_F(SyncOrderTest, ClaimFailsIfItsRecordIsNotRenamed) {
  storage_.gate = [](StorageCall operation, const std::string& path) {
    const bool fails =
        operation == StorageCall::kChange && path == "/store/gen-000002.tmp";
    return fails ? IoError("no") : OkStatus();
  };
  EXPECT_EQ(Recover(new_.world).status.code(), Code::kIoError);
}

TEST_F(SyncOrderTest, SaveFailsIfItsDirectoryIsNotSynced) {
  storage_.gate = nullptr;
  CheckpointStore store = OpenStore(new_.world);
  ASSERT_TRUE(store.ClaimGeneration(std::string(kJob)).ok());
  storage_.gate = [](StorageCall operation, const std::string& path) {
    const bool fails = operation == StorageCall::kSync &&
                       path == "/store/step-000000003-g2.tmp";
    return fails ? IoError("no") : OkStatus();
  };
  EXPECT_EQ(Save(store, 2, 3).status().code(), Code::kIoError);
  EXPECT_EQ(Checkpoints(storage_, kDirectory).size(), 2u);
}

// The directory is synced twice: once for the save, and once for the new list
// and the removal together.
TEST_F(SyncOrderTest, ListIsDurableBeforeRetentionRemovesAFile) {
  CheckpointStore store = OpenStore(new_.world, 2);
  ASSERT_TRUE(store.ClaimGeneration(std::string(kJob)).ok());
  ASSERT_TRUE(Save(store, 2, 3).ok());
  log_.clear();
  ASSERT_TRUE(Save(store, 2, 4).ok());
  EXPECT_TRUE(IsSyncedBetween(
      {StorageCall::kChange, "/store/checkpoint.tmp"}, [](const Done& done) {
        return done.operation == StorageCall::kChange &&
               done.path.starts_with("/store/.deleting-") &&
               done.path.ends_with(".safetensors");
      }));
  EXPECT_EQ(std::ranges::count(log_, Done{StorageCall::kSync, kDirectory}), 2);
}

// If any step of the deletion fails, the newest checkpoint is still there: it
// is removed last, once the removal of all else is durable.
TEST_F(SyncOrderTest, DeletionThatFailsKeepsTheNewestCheckpoint) {
  storage_.gate = nullptr;
  CheckpointStore store = OpenStore(new_.world);
  ASSERT_TRUE(store.ClaimGeneration(std::string(kJob)).ok());
  ASSERT_TRUE(storage_.MakeDirectory("/store/step-000000009-g1.tmp").ok());
  const auto before = storage_.Contents();
  const std::vector<Done> failures = {
      {StorageCall::kSync, kDirectory},
      {StorageCall::kChange, "/store/checkpoint"},
      {StorageCall::kChange, "/store/step-000000001-g1"},
      {StorageCall::kChange, "/store/step-000000009-g1.tmp"},
      {StorageCall::kChange, "/store/gen-000002"}};
  for (const Done& failure : failures) {
    storage_.SetContents(before);
    storage_.gate = [&](StorageCall operation, const std::string& path) {
      return Done{operation, path} == failure ? IoError("no") : OkStatus();
    };
    EXPECT_EQ(store.DeleteAll().code(), Code::kIoError) << failure.path;
    storage_.gate = nullptr;
    EXPECT_THAT(Checkpoints(storage_, kDirectory),
                Contains("step-000000002-g1"))
        << failure.path;
  }
}

}  // namespace
}  // namespace gauntlet
