// Shard policies, order of samples and length of epochs: the bits depend on
// these, but not on how the job is run.
#include <map>

#include <gtest/gtest.h>

#include "tests/engine/data/data_files.h"
#include "tests/engine/train/training_fixture.h"

namespace gauntlet {
namespace {

// Number of times each sample is used in each epoch, over all workers.
using Ledger = std::map<uint64_t, std::map<uint32_t, int>>;

Ledger LedgerOf(const AttemptResult& incarnation) {
  Ledger ledger;
  for (size_t rank = 0; rank < incarnation.events.size(); ++rank) {
    for (const LogEvent& event : incarnation.Of(EventKind::kStep, rank)) {
      for (const uint32_t use : event.samples) ++ledger[event.epoch][use];
    }
  }
  return ledger;
}

void ExpectEachOnce(const Ledger& ledger, size_t uses_of_an_epoch) {
  EXPECT_EQ(ledger.size(), kEpochs);
  for (const auto& [epoch, uses] : ledger) {
    EXPECT_EQ(uses.size(), uses_of_an_epoch) << epoch;
    for (const auto& [use, times] : uses) EXPECT_EQ(times, 1) << use;
  }
}

// Expects the same final bits with any number of workers, and after a stop in
// the middle of an epoch.
void ExpectSameBitsHoweverItRuns(
    const TrainOptions& options,
    const std::function<void(TrainingFixture&)>& prepare) {
  TrainingFixture alone;
  prepare(alone);
  const AttemptResult golden = alone.Run(1, options);
  ASSERT_TRUE(golden.result) << golden.reasons[0];
  for (const int workers : {2, 4}) {
    TrainingFixture fixture;
    prepare(fixture);
    TrainOptions cut = options;
    cut.horizon.stop_at_step = 5;
    fixture.Run(workers, cut);
    const AttemptResult end = fixture.Run(workers, options);
    ASSERT_TRUE(end.result) << end.reasons[0];
    EXPECT_EQ(end.result->resumed_from, 5u);
    EXPECT_EQ(end.result->digest, golden.result->digest) << workers;
  }
}

TEST(SamplingTest, OffUsesEverySampleOnceForEachReplica) {
  TrainOptions options = SmallRun();
  options.log_samples = true;
  options.job.data.samples = 26;  // 6 steps of 4 samples for each replica
  options.job.data.shard = ShardPolicy::kOff;
  ExpectEachOnce(LedgerOf(TrainingFixture().Run(2, options)), 4 * 24);
  ExpectSameBitsHoweverItRuns(options, [](TrainingFixture&) {});
}

// Writes five files of 9 samples each, and one of 8 for validation.
void PutCifar(TrainingFixture& fixture) {
  const auto write = [&](const std::string& name, int samples, int first) {
    std::string bytes;
    for (int i = 0; i < samples; ++i) {
      bytes += CifarSample((first + i) % 10, static_cast<char>(first + 3 * i));
    }
    const auto file = fixture.disk()
                          .Open("/cifar/" + name, OpenMode::kCreateExclusive)
                          .value();
    ASSERT_TRUE(file->WriteAt(0, std::as_bytes(std::span(bytes))).ok());
    ASSERT_TRUE(file->Sync().ok());
  };
  ASSERT_TRUE(fixture.disk().MakeDirectory("/cifar").ok());
  for (int i = 1; i <= 5; ++i) {
    write(fmt::format("data_batch_{}.bin", i), 9, 20 * i);
  }
  write("test_batch.bin", 8, 0);
}

TrainOptions CifarRun(ShardPolicy policy) {
  TrainOptions options = SmallRun();
  options.log_samples = true;
  options.job.data = {.kind = DataKind::kCifar10, .path = "/cifar"};
  options.job.data.shard = policy;
  return options;
}

TEST(SamplingTest, FileGivesEachReplicaItsOwnFiles) {
  TrainOptions options = CifarRun(ShardPolicy::kFile);
  TrainingFixture fixture;
  PutCifar(fixture);
  const AttemptResult incarnation = fixture.Run(4, options);
  ASSERT_TRUE(incarnation.result) << incarnation.reasons[0];
  EXPECT_EQ(incarnation.result->steps, 2 * kEpochs);
  ExpectEachOnce(LedgerOf(incarnation), 32);
  for (const LogEvent& event : incarnation.Of(EventKind::kStep, 2)) {
    for (const uint32_t sample : event.samples) EXPECT_EQ(sample / 9, 2u);
  }
  options.job.remainder = Remainder::kKeep;
  ExpectSameBitsHoweverItRuns(options, PutCifar);
}

TEST(SamplingTest, FileWithFewerFilesThanReplicasDoesNotStart) {
  TrainOptions options = CifarRun(ShardPolicy::kFile);
  options.job.replicas = 6;
  TrainingFixture fixture;
  PutCifar(fixture);
  const AttemptResult incarnation = fixture.Run(2, options);
  EXPECT_TRUE(incarnation.AllExitedWith(WorkerExit::kBadInput));
  EXPECT_EQ(incarnation.reasons[0],
            "data.shard: expected a file for each of the 6 replicas, found 5");
}

TEST(SamplingTest, Auto_IsFileIfPossible_ElseDataWithAWarning) {
  const auto digest_and_warnings = [](const TrainOptions& options) {
    TrainingFixture fixture;
    PutCifar(fixture);
    const AttemptResult incarnation = fixture.Run(2, options);
    EXPECT_TRUE(incarnation.result) << incarnation.reasons[0];
    size_t warnings = 0;
    for (const std::string& line : incarnation.lines) {
      if (line.starts_with("shard policy auto takes data")) ++warnings;
    }
    return std::pair(incarnation.result
                         ? incarnation.Of(EventKind::kStep)[0].samples
                         : std::vector<uint32_t>(),
                     warnings);
  };
  const auto taken = digest_and_warnings(CifarRun(ShardPolicy::kAuto));
  EXPECT_EQ(taken, digest_and_warnings(CifarRun(ShardPolicy::kFile)));
  TrainOptions many = CifarRun(ShardPolicy::kAuto);
  many.job.replicas = 8;
  const auto [digest, warnings] = digest_and_warnings(many);
  EXPECT_EQ(warnings, 1u);
  many.job.data.shard = ShardPolicy::kData;
  EXPECT_EQ(digest, digest_and_warnings(many).first);
}

TEST(SamplingTest, WithoutShufflingSamplesComeAsTheyStand) {
  TrainOptions options = SmallRun();
  options.log_samples = true;
  options.job.data.shuffle = Shuffle::kOff;
  const AttemptResult incarnation = TrainingFixture().Run(1, options);
  uint32_t sample = 0;
  for (const LogEvent& event : incarnation.Of(EventKind::kStep)) {
    for (const uint32_t use : event.samples) EXPECT_EQ(use, sample++ % 96);
  }
  EXPECT_EQ(sample, 96 * kEpochs);
  ExpectSameBitsHoweverItRuns(options, [](TrainingFixture&) {});
}

TEST(SamplingTest, StepsPerEpochAndValidationStepsCutThemShort) {
  TrainOptions options = SmallRun();
  options.job.data.validation_samples = 40;
  options.job.data.steps_per_epoch = 3;
  options.job.data.validation_steps = 2;
  const AttemptResult incarnation = TrainingFixture().Run(2, options);
  ASSERT_TRUE(incarnation.result) << incarnation.reasons[0];
  EXPECT_EQ(incarnation.result->steps, 3 * kEpochs);
  options.job.data.validation_steps = 1;
  const AttemptResult less = TrainingFixture().Run(2, options);
  ASSERT_TRUE(less.result) << less.reasons[0];
  EXPECT_NE(less.result->digest, incarnation.result->digest);
  ExpectSameBitsHoweverItRuns(options, [](TrainingFixture&) {});
}

}  // namespace
}  // namespace gauntlet
