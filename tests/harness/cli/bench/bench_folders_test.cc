#include <climits>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "harness/cli/bench/bench_output.h"
#include "harness/cli/bench/trials_folder.h"
#include "tests/engine/real/scratch_directory.h"

namespace gauntlet {
namespace {

namespace fs = std::filesystem;

class BenchFoldersTest : public testing::Test {
 protected:
  const ScratchDirectory scratch_;
  const fs::path root_ = scratch_.path();
};

TEST_F(BenchFoldersTest, TrialsAreRemovedWithTheParentsThatTheyNeeded) {
  Result<std::unique_ptr<TrialsFolder>> trials =
      TrialsFolder::Make(root_ / "disk" / "trials");
  ASSERT_TRUE(trials.ok());
  EXPECT_TRUE(fs::is_directory((*trials)->path()));
  trials->reset();
  EXPECT_FALSE(fs::exists(root_ / "disk"));
  EXPECT_TRUE(fs::exists(root_));
}

TEST_F(BenchFoldersTest, ParentOfTrialsThatExistedIsKept) {
  fs::create_directory(root_ / "disk");
  Result<std::unique_ptr<TrialsFolder>> trials =
      TrialsFolder::Make(root_ / "disk");
  ASSERT_TRUE(trials.ok());
  trials->reset();
  EXPECT_TRUE(fs::is_empty(root_ / "disk"));
}

TEST_F(BenchFoldersTest, ParentOfTrialsThatIsInUseIsKept) {
  Result<std::unique_ptr<TrialsFolder>> trials =
      TrialsFolder::Make(root_ / "disk");
  ASSERT_TRUE(trials.ok());
  fs::create_directory(root_ / "disk" / "other");
  trials->reset();
  EXPECT_TRUE(fs::exists(root_ / "disk" / "other"));
}

// The path of the parent is not too long, but that of a folder in it is.
TEST_F(BenchFoldersTest, ParentsOfTrialsThatCannotBeCreatedAreRemoved) {
  constexpr size_t kBytes = PATH_MAX - 16;
  fs::path parent = root_;
  while (parent.native().size() < kBytes - 200) parent /= std::string(100, 'd');
  parent /= std::string(kBytes - parent.native().size() - 1, 'd');
  EXPECT_FALSE(TrialsFolder::Make(parent).ok());
  EXPECT_TRUE(fs::is_empty(root_));
}

TEST_F(BenchFoldersTest, UnusedOutputIsRemovedWithTheParentsThatItNeeded) {
  for (const char* out : {"", "out/put"}) {
    const Result<BenchOutput> output = BenchOutput::Make(
        *out == '\0' ? "" : (root_ / out).string(), root_ / "a" / "runs");
    ASSERT_TRUE(output.ok());
    EXPECT_TRUE(fs::is_directory(output->path()));
    output->RemoveIfEmpty();
    EXPECT_TRUE(fs::is_empty(root_)) << out;
  }
}

TEST_F(BenchFoldersTest, UnusedOutputThatExistedIsKept) {
  fs::create_directory(root_ / "out");
  const Result<BenchOutput> output =
      BenchOutput::Make((root_ / "out").string(), "");
  ASSERT_TRUE(output.ok());
  output->RemoveIfEmpty();
  EXPECT_TRUE(fs::exists(root_ / "out"));
}

TEST_F(BenchFoldersTest, WrittenOutputIsKept) {
  const Result<BenchOutput> output = BenchOutput::Make("", root_ / "runs");
  ASSERT_TRUE(output.ok());
  ASSERT_TRUE(output->Write("{}", "page").ok());
  output->RemoveIfEmpty();
  EXPECT_TRUE(fs::exists(output->report()));
  EXPECT_TRUE(fs::exists(root_ / "runs" / "latest" / "report.html"));
}

}  // namespace
}  // namespace gauntlet
