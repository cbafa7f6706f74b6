// Disk errors that the store's functions must report: none may be mistaken for
// a valid answer.
#include <algorithm>
#include <optional>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/ckpt/format/claim.h"
#include "engine/ckpt/format/store_names.h"
#include "engine/ckpt/protocol/ownership.h"
#include "engine/ckpt/protocol/removal.h"
#include "engine/ckpt/protocol/store_deletion.h"
#include "engine/ckpt/protocol/store_scan.h"
#include "tests/engine/ckpt/test_world.h"

namespace gauntlet {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

const std::string kDirectory(kStore);
const std::string kNewest = "step-000000002-g1";

// A store in which generation 1 has saved steps 1 and 2.
class StoreErrorsTest : public testing::Test {
 protected:
  StoreErrorsTest() {
    CheckpointStore store = OpenStore(test_.world);
    CHECK(store.ClaimGeneration(std::string(kJob)).ok(), "claim");
    CHECK(Save(store, 1, 1).ok() && Save(store, 1, 2).ok(), "save");
    owner_ = ClaimOf(1);
  }

  ClaimRecord ClaimOf(uint64_t generation) {
    const auto claim =
        ParseClaim(storage_.Bytes(kDirectory + "/" + ClaimName(generation)));
    CHECK(claim.ok(), claim.status().ToString());
    return *claim;
  }

  // Makes each `operation` on the path fail from now on.
  void Break(StorageCall operation, const std::string& path) {
    storage_.gate = [=](StorageCall now, const std::string& at) {
      return now == operation && at == path ? IoError("the disk refuses")
                                            : OkStatus();
    };
  }

  MemoryStorage storage_;
  TestWorld test_{storage_};
  ClaimRecord owner_;
};

TEST_F(StoreErrorsTest, OwnershipCheckFails_IfTheStoreCannotBeListed) {
  EXPECT_TRUE(CheckOwner(test_.world, kDirectory, owner_).ok());
  TestWorld other(storage_);
  ASSERT_TRUE(Recover(other.world).status.ok());
  Break(StorageCall::kList, kDirectory);
  EXPECT_EQ(CheckOwner(test_.world, kDirectory, owner_).code(), Code::kIoError)
      << "the claim of generation 2 is there, and was not seen";
}

// Another host removed the claim, but this host sees an old listing for another
// 30 s, as a file server may show it.
TEST_F(StoreErrorsTest, ScanOutwaitsStaleListing) {
  const Time begin = test_.clock.Now();
  storage_.gate = [&](StorageCall now, const std::string& at) {
    const bool stale = test_.clock.Now() - begin <= std::chrono::seconds(30) &&
                       now == StorageCall::kOpen &&
                       at == kDirectory + "/" + ClaimName(1);
    return stale ? NotFound(at) : OkStatus();
  };
  const Result<StoreScan> scan = ScanStore(test_.world, kDirectory);
  EXPECT_TRUE(scan.ok()) << scan.status().message();
}

TEST_F(StoreErrorsTest, ScanGivesUp_OnListedFilesThatCannotBeOpened) {
  storage_.gate = [&](StorageCall now, const std::string& at) {
    const bool gone =
        now == StorageCall::kOpen && at == kDirectory + "/" + ClaimName(1);
    return gone ? NotFound(at) : OkStatus();
  };
  EXPECT_EQ(ScanStore(test_.world, kDirectory).status().code(),
            Code::kUnavailable);
}

TEST_F(StoreErrorsTest, FormerOwnerSetsNothingAside) {
  TestWorld other(storage_);
  ASSERT_TRUE(Recover(other.world).status.ok());
  test_.events.all.clear();
  EXPECT_EQ(SetAside(test_.world, kDirectory, kNewest, owner_).code(),
            Code::kFenced);
  EXPECT_THAT(test_.events.Of(EventKind::kRejectBegin), IsEmpty());
}

TEST_F(StoreErrorsTest, UnfinishedRemovalIsReported) {
  ASSERT_TRUE(Recover(test_.world).status.ok());
  const std::string deleting = DeletingName(1, kNewest);
  ASSERT_TRUE(
      storage_.Rename(kDirectory + "/" + kNewest, kDirectory + "/" + deleting)
          .ok());
  const auto scan = ScanStore(test_.world, kDirectory);
  ASSERT_TRUE(scan.ok());
  const auto entry =
      std::ranges::find(scan->entries, deleting, &ScannedEntry::name);
  ASSERT_NE(entry, scan->entries.end());
  Break(StorageCall::kChange, kDirectory + "/" + deleting);
  EXPECT_EQ(
      FinishRemoval(test_.world, kDirectory, *scan, *entry, ClaimOf(2)).code(),
      Code::kIoError);
}

TEST_F(StoreErrorsTest, DeletionNeedsToListTheStore) {
  Break(StorageCall::kList, kDirectory);
  EXPECT_EQ(DeleteStore(test_.world, kDirectory, std::nullopt).code(),
            Code::kIoError);
  EXPECT_THAT(test_.events.Of(EventKind::kDeleteBegin), IsEmpty());
}

TEST_F(StoreErrorsTest, DeletionThatLeavesTheDirectoryIsReported) {
  Break(StorageCall::kChange, kDirectory);
  EXPECT_EQ(DeleteStore(test_.world, kDirectory, std::nullopt).code(),
            Code::kIoError);
  EXPECT_THAT(test_.events.Of(EventKind::kBackupDeleted), SizeIs(1));
}

TEST_F(StoreErrorsTest, DeletionOfTheDirectoryIsDurable) {
  Break(StorageCall::kSync, "/");
  EXPECT_EQ(DeleteStore(test_.world, kDirectory, std::nullopt).code(),
            Code::kIoError)
      << "its parent was not synced";
}

}  // namespace
}  // namespace gauntlet
