// Every single damage to the newest checkpoint is found and named, and the
// previous checkpoint is used.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/engine/ckpt/test_world.h"

namespace gauntlet {
namespace {

using Contents = std::map<std::string, std::string>;

const std::string kNewest = "/store/step-000000002-g1/";

class DamageTest : public testing::Test {
 protected:
  DamageTest() {
    CheckpointStore store = OpenStore(test_.world);
    CHECK(store.ClaimGeneration(std::string(kJob)).ok(), "claim");
    CHECK(Save(store, 1, 1).ok() && Save(store, 1, 2).ok(), "save");
    contents_ = storage_.Contents();
  }

  void ExpectFallBack(const Contents& damaged, const std::string& file) {
    storage_.SetContents(damaged);
    test_.events.all.clear();
    const Recovered recovered = Recover(test_.world);
    ASSERT_TRUE(recovered.status.ok()) << recovered.status.ToString();
    ASSERT_EQ(recovered.step, 1u);
    const auto rejected = test_.events.Of(EventKind::kRejected);
    ASSERT_EQ(rejected.size(), 1u);
    ASSERT_THAT(rejected.front().detail, testing::HasSubstr(file));
    ASSERT_TRUE(storage_.Exists("/store/rejected-step-000000002-g1"));
  }

  std::vector<std::string> NewestFiles() const {
    std::vector<std::string> files;
    for (const auto& [path, bytes] : contents_) {
      if (path.starts_with(kNewest) && path != kNewest) {
        files.push_back(path.substr(kNewest.size()));
      }
    }
    CHECK(files.size() == 4, "two shards, index and manifest");
    return files;
  }

  MemoryStorage storage_;
  TestWorld test_{storage_};
  Contents contents_;
};

TEST_F(DamageTest, EveryFlippedByteIsFound) {
  for (const std::string& file : NewestFiles()) {
    for (size_t i = 0; i < contents_[kNewest + file].size(); ++i) {
      Contents damaged = contents_;
      char& byte = damaged[kNewest + file][i];
      byte = static_cast<char>(byte ^ (1 << (i % 8)));
      ExpectFallBack(damaged, file);
      if (HasFatalFailure()) FAIL() << file << " byte " << i;
    }
  }
}

TEST_F(DamageTest, EveryTruncationIsFound) {
  for (const std::string& file : NewestFiles()) {
    for (size_t i = 0; i < contents_[kNewest + file].size(); ++i) {
      Contents damaged = contents_;
      damaged[kNewest + file].resize(i);
      ExpectFallBack(damaged, file);
      if (HasFatalFailure()) FAIL() << file << " cut to " << i;
    }
  }
}

TEST_F(DamageTest, EveryMissingOrLongerFileIsFound) {
  for (const std::string& file : NewestFiles()) {
    Contents damaged = contents_;
    damaged.erase(kNewest + file);
    ExpectFallBack(damaged, file + ": missing");
    damaged[kNewest + file + "/"] = "";
    ExpectFallBack(damaged, file + ": expected a file");
    damaged = contents_;
    damaged[kNewest + file] += '\0';
    ExpectFallBack(damaged, file);
  }
}

TEST_F(DamageTest, ManifestOfAnotherStepIsFound) {
  Contents damaged = contents_;
  for (const std::string& file : NewestFiles()) {
    damaged[kNewest + file] = contents_["/store/step-000000001-g1/" + file];
  }
  ExpectFallBack(damaged, "of step 1, in the place of step 2");
}

// Returns stores without a valid checkpoint: no manifest verifies, or all
// directories are gone.
std::vector<Contents> WithoutAnyCopy(const Contents& whole) {
  Contents flipped = whole;
  Contents gone = whole;
  for (auto& [path, bytes] : flipped) {
    if (path.ends_with("/MANIFEST.json")) bytes[bytes.size() / 2] ^= 1;
    if (path.starts_with("/store/step-")) gone.erase(path);
  }
  return {flipped, gone};
}

TEST_F(DamageTest, WorkerWithTheStateInMemoryNeedsNoCopy) {
  for (const Contents& damaged : WithoutAnyCopy(contents_)) {
    storage_.SetContents(damaged);
    CheckpointStore store = OpenStore(test_.world);
    const auto claim =
        store.ClaimGeneration(std::string(kJob), StateInMemory::kHeld);
    ASSERT_TRUE(claim.ok()) << claim.status().ToString();
    EXPECT_TRUE(claim->all_are_invalid);
    EXPECT_FALSE(claim->parent);
    EXPECT_THAT(store.TakeWarnings(),
                testing::Contains(testing::HasSubstr("none is valid")));
    ASSERT_TRUE(Save(store, claim->generation, 3).ok());
    EXPECT_EQ(Recover(test_.world).step, 3u);
  }
}

TEST_F(DamageTest, AnybodyElseIsStillRefused) {
  for (const Contents& damaged : WithoutAnyCopy(contents_)) {
    storage_.SetContents(damaged);
    CheckpointStore store = OpenStore(test_.world);
    ASSERT_TRUE(
        store.ClaimGeneration(std::string(kJob), StateInMemory::kHeld).ok());
    // The process dies before its first save, and a user removes what shows the
    // damage.
    Contents left = storage_.Contents();
    std::erase_if(left, [](const auto& entry) {
      return entry.first.starts_with("/store/rejected-") ||
             entry.first == "/store/checkpoint";
    });
    storage_.SetContents(left);
    EXPECT_EQ(Recover(test_.world).status.code(), Code::kFailedPrecondition);
  }
}

TEST_F(DamageTest, DamagedOrMissingClaimLosesNoAcknowledgedSave) {
  const std::string claim = "/store/gen-000001";
  for (size_t i = 0; i <= contents_[claim].size(); ++i) {
    Contents damaged = contents_;
    damaged[claim].resize(i);
    storage_.SetContents(damaged);
    ASSERT_EQ(Recover(test_.world).step, 2u) << "cut to " << i;
  }
  Contents damaged = contents_;
  damaged.erase(claim);
  storage_.SetContents(damaged);
  const Recovered recovered = Recover(test_.world);
  EXPECT_EQ(recovered.step, 2u);
  EXPECT_EQ(recovered.claim->generation, 2u);
}

TEST_F(DamageTest, LoadsADamagedShard_IfTheBugSkipsVerification) {
  test_.faults.planted = {PlantedBug::kTrustManifestBlindly};
  Contents damaged = contents_;
  std::string& shard = damaged[kNewest + "model-00001-of-00002.safetensors"];
  shard.back() = static_cast<char>(shard.back() ^ 1);
  storage_.SetContents(damaged);
  EXPECT_EQ(Recover(test_.world).step, 2u);
}

}  // namespace
}  // namespace gauntlet
