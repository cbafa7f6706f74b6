// TensorBoard events: one file per incarnation, and training that does not
// depend on them.
#include <algorithm>

#include <gtest/gtest.h>

#include "engine/train/loop/run_summary.h"
#include "tests/engine/ckpt/test_world.h"
#include "tests/engine/train/training_fixture.h"

namespace gauntlet {
namespace {

TrainOptions Drawn(const std::string& directory) {
  TrainOptions options = SmallRun();
  options.summary = {.directory = directory, .every = 2};
  return options;
}

std::vector<std::string> FilesIn(Storage& storage,
                                 const std::string& directory) {
  std::vector<std::string> files;
  const auto entries = storage.List(directory).value();
  for (const DirectoryEntry& entry : entries) {
    files.push_back(
        ReadFile(storage, directory + "/" + entry.name, 1 << 20).value());
  }
  return files;
}

int Count(const std::string& text, const std::string& what) {
  int count = 0;
  for (size_t at = text.find(what); at != text.npos;
       at = text.find(what, at + 1)) {
    ++count;
  }
  return count;
}

TEST(SummaryTest, ChiefDrawsEachEpochAndEachSecondStep) {
  TrainingFixture fixture;
  const AttemptResult incarnation = fixture.Run(2, Drawn("/curves/run"));
  ASSERT_TRUE(incarnation.result) << incarnation.reasons[0];
  EXPECT_EQ(incarnation.result->digest, UndisturbedDigest(SmallRun()));
  const auto files = FilesIn(fixture.disk(), "/curves/run");
  ASSERT_EQ(files.size(), 1u);
  for (const char* tag : {"epoch_loss", "epoch_accuracy", "epoch_val_loss",
                          "epoch_val_accuracy"}) {
    EXPECT_EQ(Count(files[0], tag), static_cast<int>(kEpochs)) << tag;
  }
  EXPECT_EQ(Count(files[0], "batch_loss"), static_cast<int>(kSteps / 2));
  // Computing takes no time in the simulated world.
  EXPECT_EQ(Count(files[0], "time/exchange"), static_cast<int>(kSteps / 2));
}

TEST(SummaryTest, EachIncarnationContinuesInAFileOfItsOwn) {
  TrainingFixture fixture;
  TrainOptions options = Drawn("/curves");
  options.horizon.stop_at_step = 8;
  fixture.Run(2, options);
  options.horizon.stop_at_step.reset();
  fixture.Run(2, options);
  const auto files = FilesIn(fixture.disk(), "/curves");
  ASSERT_EQ(files.size(), 2u);
  EXPECT_EQ(Count(files[0], "batch_loss"), 4);
  EXPECT_EQ(Count(files[1], "batch_loss"), 8);
  EXPECT_EQ(Count(files[0] + files[1], "epoch_loss"),
            static_cast<int>(kEpochs));
}

size_t Warnings(const AttemptResult& incarnation) {
  return static_cast<size_t>(
      std::ranges::count_if(incarnation.lines, [](const std::string& line) {
        return line.starts_with("TensorBoard events are not written: ");
      }));
}

TEST(SummaryTest, FolderThatCannotBeMadeIsReportedOnceAndDisturbsNothing) {
  TrainingFixture fixture;
  ASSERT_TRUE(fixture.disk().Open("/curves", OpenMode::kCreateExclusive).ok());
  const AttemptResult incarnation = fixture.Run(2, Drawn("/curves/run"));
  ASSERT_TRUE(incarnation.result) << incarnation.reasons[0];
  EXPECT_EQ(incarnation.result->digest, UndisturbedDigest(SmallRun()));
  EXPECT_EQ(Warnings(incarnation), 1u);
}

// Writes scalars while the disk is full for some time.
TEST(RunSummaryTest, SeveralFailuresAreReportedOnceAndTheCurveContinues) {
  MemoryStorage storage;
  TestWorld world(storage);
  const SummaryOptions options = {.directory = "/curves", .every = 1};
  RunSummary summary(world.world, options, {});
  const auto say = [&](uint64_t first) {
    for (uint64_t step = first; step < first + 3; ++step) {
      summary.StepDone(step, 0.5f);
    }
    return summary.TakeWarnings().size();
  };
  EXPECT_EQ(say(1), 0u);
  for (const uint64_t first : {4, 10}) {
    storage.gate = [](StorageCall operation, const std::string& path) {
      return operation == StorageCall::kWrite ? ResourceExhausted(path)
                                              : OkStatus();
    };
    EXPECT_EQ(say(first), 1u);
    storage.gate = nullptr;
    EXPECT_EQ(say(first + 3), 0u);
    world.clock.SleepUntil(world.clock.Now() + std::chrono::minutes(1));
  }
  const auto files = FilesIn(storage, "/curves");
  ASSERT_EQ(files.size(), 1u);
  EXPECT_EQ(Count(files[0], "batch_loss"), 9);
}

// After the save, a power loss removes no record of an earlier step.
TEST(RunSummaryTest, IsSyncedBeforeASave) {
  MemoryStorage storage;
  TestWorld world(storage);
  RunSummary summary(world.world, {.directory = "/curves", .every = 1}, {});
  summary.StepDone(1, 0.5f);
  int syncs = 0;
  storage.gate = [&](StorageCall operation, const std::string&) {
    if (operation == StorageCall::kSync) ++syncs;
    return OkStatus();
  };
  summary.BeforeSave();
  EXPECT_EQ(syncs, 1);
}

// Small records may fit where larger ones do not.
TEST(RunSummaryTest, DiskThatIsNearlyFull_IsReportedOnceAMinute) {
  MemoryStorage storage;
  TestWorld world(storage);
  const SummaryOptions options = {.directory = "/curves", .every = 1};
  RunSummary summary(world.world, options, {});
  bool full = false;
  storage.gate = [&](StorageCall operation, const std::string& path) {
    if (operation == StorageCall::kWrite) full = !full;
    return full ? ResourceExhausted(path) : OkStatus();
  };
  for (uint64_t step = 1; step <= 20; ++step) summary.StepDone(step, 0.5f);
  EXPECT_EQ(summary.TakeWarnings().size(), 1u);
}

}  // namespace
}  // namespace gauntlet
