// A rank that waits for the chief's claim in their shared directory.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/ckpt/protocol/ownership.h"
#include "tests/engine/ckpt/test_world.h"

namespace gauntlet {
namespace {

using testing::HasSubstr;

class WaitUntilClaimVisibleTest : public testing::Test {
 protected:
  // Lets the chief claim the directory, as generation 1.
  void Claim() {
    CheckpointStore store = OpenStore(chief_.world);
    const auto claim = store.ClaimGeneration(std::string(kJob));
    CHECK(claim.ok(), claim.status().ToString());
  }
  Status See(uint64_t generation) {
    return WaitUntilClaimVisible(rank_.world, std::string(kStore), generation,
                                 rank_.clock.now + std::chrono::seconds(1));
  }

  MemoryStorage storage_;
  TestWorld chief_{storage_};
  TestWorld rank_{storage_};
};

TEST_F(WaitUntilClaimVisibleTest, FindsAPresentClaimWithoutAChange) {
  Claim();
  const auto before = storage_.Contents();
  int changes = 0;
  storage_.gate = [&](StorageCall operation, const std::string&) {
    if (operation == StorageCall::kCreate) ++changes;
    return OkStatus();
  };
  EXPECT_TRUE(See(1).ok());
  EXPECT_EQ(changes, 0);
  EXPECT_EQ(storage_.Contents(), before);
}

TEST_F(WaitUntilClaimVisibleTest, FailedWaitChangesNothing) {
  Claim();
  const auto before = storage_.Contents();
  const Status seen = See(2);
  EXPECT_EQ(seen.code(), Code::kInvalidArgument);
  EXPECT_THAT(seen.message(), HasSubstr("found no gen-000002 in it"));
  EXPECT_EQ(storage_.Contents(), before);
}

TEST_F(WaitUntilClaimVisibleTest, NewerClaimFences) {
  Claim();
  Claim();
  EXPECT_EQ(See(1).code(), Code::kFenced);
}

// The rank must not report a missing claim, as the claim may exist.
TEST_F(WaitUntilClaimVisibleTest, UnwritableDirectoryIsAnErrorOfTheDisk) {
  Claim();
  storage_.gate = [](StorageCall operation, const std::string& path) {
    return operation == StorageCall::kCreate && path.ends_with(".look")
               ? IoError("the disk says no")
               : OkStatus();
  };
  const Status seen = See(2);
  EXPECT_EQ(seen.code(), Code::kIoError);
  EXPECT_THAT(seen.message(), HasSubstr("the disk says no"));
}

// The file was left by a rank that died while it looked for the claim.
TEST_F(WaitUntilClaimVisibleTest, NewClaimRemovesRemainsOfAWait) {
  Claim();
  const std::string left = "/store/gen-000002.look";
  ASSERT_TRUE(storage_.Open(left, OpenMode::kCreateTruncate).ok());
  Claim();
  EXPECT_FALSE(storage_.Exists(left));
}

}  // namespace
}  // namespace gauntlet
