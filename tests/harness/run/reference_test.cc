#include "harness/run/reference.h"

#include <chrono>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/record/record_file.h"
#include "harness/run/case_runner.h"
#include "tests/engine/real/scratch_directory.h"
#include "tests/harness/run/small_cases.h"

namespace gauntlet {
namespace {

namespace fs = std::filesystem;
using testing::SizeIs;

std::vector<std::string> FilesIn(const std::string& directory) {
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(directory)) {
    files.push_back(entry.path());
  }
  return files;
}

Record CachedIn(const std::string& file) {
  return *ReadRecord(TextOf(file), file).value;
}

// Changes the only cached trajectory, so that its use can be detected.
void PlantIn(const std::string& file) {
  Record record = CachedIn(file);
  record.golden.final_digest = std::string(32, 'f');
  std::ofstream(file) << RecordToJsonLines(record);
}

std::string FinalOf(References& references, const RunPlan& plan) {
  return references.GoldenFor(plan).value()->final_digest;
}

TEST(ReferencesTest, HoldTheWholeTrajectory) {
  References references("", "b1");
  const auto golden = references.GoldenFor(PlanOf(CleanCase())).value();
  EXPECT_THAT(golden->epochs, SizeIs(2));
  // The start, 12 steps, 2 evaluations, and the ends of 2 epochs.
  EXPECT_THAT(golden->entries, SizeIs(1 + 12 + 2 + 2));
  EXPECT_EQ(golden->final_digest, golden->entries.back().digest);
}

TEST(ReferencesTest, AreMadeOnce) {
  References references("", "b1");
  const RunPlan plan = PlanOf(CleanCase());
  EXPECT_EQ(references.GoldenFor(plan).value(),
            references.GoldenFor(PlanOf(CrashCase())).value());
  EXPECT_EQ(references.DataOf(plan.train.job.data).value(),
            references.DataOf(plan.train.job.data).value());
}

TEST(ReferencesTest, DoNotDependOnFaultsOrStops) {
  References references("", "b1");
  RunPlan plan = PlanOf(CrashCase());
  plan.train.horizon.stop_at_step = 3;
  plan.launch.workers = 4;
  plan.train.cluster.collective = CollectiveChoice::kNccl;
  plan.faults.bugs = {PlantedBug::kLosePosition};
  const std::string cut = FinalOf(references, plan);
  References others("", "b1");
  EXPECT_EQ(cut, FinalOf(others, PlanOf(CleanCase())));
}

// Runs of several steps per execution are compared with this reference.
TEST(ReferencesTest, RecordTheWorkDueAfterEachStep) {
  RunPlan plan = PlanOf(CleanCase());
  plan.train.steps_per_execution = 5;
  References references("", "b1");
  const auto data = references.DataOf(plan.train.job.data).value();
  EXPECT_EQ(ReferencePlanOf(plan, *data).train.steps_per_execution, 1u);
}

TEST(ReferencesTest, AnotherJobOrHorizonIsAnotherTrajectory) {
  References references("", "b1");
  RunPlan plan = PlanOf(CleanCase());
  const std::string digest = FinalOf(references, plan);
  plan.train.horizon.max_steps = 7;
  EXPECT_NE(FinalOf(references, plan), digest);
  plan = PlanOf(CleanCase());
  plan.train.job.seed = 99;
  EXPECT_NE(FinalOf(references, plan), digest);
}

// Returns the plan of a case that starts from a model which `workers` workers
// trained for `epochs` epochs.
RunPlan PlanBehind(int workers, uint64_t epochs) {
  Case one = CleanCase();
  one.before = {.workers = workers, .epochs = epochs};
  return PlanOf(one);
}

TEST(ReferencesTest, AnotherModelToBeginWithIsAnotherTrajectory) {
  References references("", "b1");
  const std::string digest = FinalOf(references, PlanBehind(2, 1));
  EXPECT_NE(FinalOf(references, PlanOf(CleanCase())), digest);
  EXPECT_NE(FinalOf(references, PlanBehind(3, 1)), digest)
      << "as many replicas, another global batch";
  EXPECT_NE(FinalOf(references, PlanBehind(2, 2)), digest);
  References others("", "b1");
  EXPECT_EQ(FinalOf(others, PlanBehind(2, 1)), digest);
}

class CacheTest : public testing::Test {
 protected:
  CacheTest() {
    References first(cache_, "b1");
    digest_ = FinalOf(first, plan_);
    file_ = FilesIn(cache_).at(0);
  }
  std::string AskAgain(const std::string& build) {
    References again(cache_, build);
    return FinalOf(again, plan_);
  }

  ScratchDirectory scratch_;
  const std::string cache_ = scratch_ / "made/if/need/be";
  const RunPlan plan_ = PlanOf(CleanCase());
  std::string digest_;
  std::string file_;
};

TEST_F(CacheTest, FileIsUsedByTheNextProcess) {
  PlantIn(file_);
  EXPECT_EQ(AskAgain("b1"), std::string(32, 'f'));
}

TEST_F(CacheTest, FileOfAnotherBuildDoesNotCount) {
  PlantIn(file_);
  EXPECT_EQ(AskAgain("b2"), digest_);
  EXPECT_THAT(FilesIn(cache_), SizeIs(2));
}

TEST_F(CacheTest, TornFileDoesNotCountAndIsReplaced) {
  const std::string text = TextOf(file_);
  for (const size_t size :
       {size_t{0}, size_t{1}, text.size() / 2, text.size() - 1}) {
    std::ofstream(file_) << text.substr(0, size);
    EXPECT_EQ(AskAgain("b1"), digest_) << size;
    EXPECT_TRUE(TextOf(file_) == text) << size;
  }
}

TEST_F(CacheTest, FileThatWasChangedDoesNotCountAndIsReplaced) {
  const std::string text = TextOf(file_);
  std::string changed = text;
  const size_t digest = changed.rfind(digest_);
  ASSERT_NE(digest, std::string::npos);
  changed[digest] = changed[digest] == '0' ? '1' : '0';
  for (const std::string& bytes :
       {changed, text.substr(0, text.rfind("{\"kind\":\"end\""))}) {
    std::ofstream(file_) << bytes;
    EXPECT_EQ(AskAgain("b1"), digest_);
    EXPECT_TRUE(TextOf(file_) == text);
  }
}

TEST_F(CacheTest, FileUnderAForeignNameDoesNotCount) {
  Record record = CachedIn(file_);
  record.plan_json += " ";
  record.golden.final_digest = std::string(32, 'f');
  std::ofstream(file_) << RecordToJsonLines(record);
  EXPECT_EQ(AskAgain("b1"), digest_);
}

TEST_F(CacheTest, DirectoryThatCannotBeMadeIsNoCache) {
  References references(file_ + "/below-a-file", "b1");
  EXPECT_EQ(FinalOf(references, plan_), digest_);
}

TEST(ReferencesTest, UnfinishedReferenceHasTheMessageOfTheEngine) {
  References references("", "b1");
  RunPlan plan = PlanOf(CleanCase());
  plan.train.job.model.layers.back().units = 11;
  const auto golden = references.GoldenFor(plan);
  ASSERT_FALSE(golden.ok());
  EXPECT_THAT(golden.status().message(),
              testing::HasSubstr("model.layers: expected 10 outputs"));
}

TEST(ReferencesTest, EndsATooLongReferenceRun) {
  constexpr auto kLimit = std::chrono::milliseconds(20);
  int steps = 0;
  const auto count = [&steps] {
    ++steps;
    return false;
  };
  References references("", "b1", count, kLimit);
  RunPlan plan = PlanOf(CleanCase());
  plan.total_limit = std::chrono::milliseconds(1);
  plan.train.horizon.epochs = 1'000'000;
  int of_the_first = 0;
  for (int attempt = 0; attempt < 2; ++attempt) {
    if (attempt == 1) of_the_first = steps;
    const auto golden = references.GoldenFor(plan);
    ASSERT_EQ(golden.status().code(), Code::kDeadlineExceeded);
    EXPECT_EQ(golden.status().message(),
              "the reference run took longer than 20ms of real time: give the "
              "job fewer steps, or the case a longer timeout.total");
  }
  EXPECT_GT(of_the_first, 0);
  EXPECT_EQ(steps, of_the_first) << "the second one is not made";
}

TEST(ReferencesTest, MayTakeTheLongerOfBothLimits) {
  RunPlan plan = PlanOf(CleanCase());
  References of_the_case("", "b1", {}, Duration::zero());
  EXPECT_TRUE(of_the_case.GoldenFor(plan).ok());
  plan.total_limit = Duration::zero();
  References least("", "b1");
  EXPECT_TRUE(least.GoldenFor(plan).ok());
}

TEST(ReferencesTest, DataThatCannotBeReadIsAnError) {
  References references("", "b1");
  RunPlan plan = PlanOf(CleanCase());
  plan.train.job.data = {.kind = DataKind::kIdx, .path = "/nowhere"};
  for (int attempt = 0; attempt < 2; ++attempt) {
    const auto golden = references.GoldenFor(plan);
    ASSERT_FALSE(golden.ok());
    EXPECT_THAT(golden.status().message(), testing::HasSubstr("/nowhere"));
  }
}

}  // namespace
}  // namespace gauntlet
