// The side-car evaluator during training runs. It reports the same as the run
// for each epoch, whatever happens to the checkpoints that it reads, and
// changes nothing.
#include "engine/train/loop/evaluator.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <optional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/engine/ckpt/test_world.h"
#include "tests/engine/train/training_fixture.h"
#include "tests/engine/world/gated_storage.h"

namespace gauntlet {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TrainOptions SavingEachEpoch(int keep = 5) {
  TrainOptions options = SmallRun();
  // Trains the same steps as SmallRun, with twice as many replicas of half the
  // batch size.
  options.job.replicas = 8;
  options.job.batch = 2;
  options.checkpoint.trigger = {.unit = SaveUnit::kEpochs, .every = 1};
  options.checkpoint.keep = keep;
  return options;
}

Evaluator::Source SourceOf(
    const TrainOptions& options,
    const std::function<void(EvaluatedJob&)>& change = [](EvaluatedJob&) {}) {
  const auto job_of = [=](const std::string&) -> Result<EvaluatedJob> {
    MemoryStorage none;
    EvaluatedJob job = {.job = options.job};
    ASSIGN_OR_RETURN(job.data, LoadData(none, options.job.data));
    job.json = JobToJson(options.job, job.data->content);
    change(job);
    return job;
  };
  return {.directory = "/ckpt", .job_of = job_of, .kernels = options.kernels};
}

class EvaluationCollector final : public EvaluationReporter {
 public:
  void Evaluated(const Evaluation& evaluation) override {
    evaluations.push_back(evaluation);
  }
  void Warn(const std::string& line) override { warnings.push_back(line); }

  std::vector<uint64_t> steps() const {
    std::vector<uint64_t> steps;
    for (const Evaluation& one : evaluations) steps.push_back(one.step);
    return steps;
  }

  std::vector<Evaluation> evaluations;
  std::vector<std::string> warnings;
};

// An evaluator on the disk of a run that has ended. Operations that change the
// disk fail the test.
class AfterTheRun {
 public:
  AfterTheRun(
      TrainingFixture& fixture, const TrainOptions& options,
      const std::function<void(EvaluatedJob&)>& change = [](EvaluatedJob&) {})
      : storage_(fixture.disk()),
        evaluator_(world_.world, SourceOf(options, change)) {
    storage_.gate = [this](StorageCall call, const std::string& path) {
      if (call == StorageCall::kOpen && before_open) before_open(path);
      if (call == StorageCall::kList && refused) return *refused;
      const Status allowed = AllowReading(call, path);
      EXPECT_TRUE(allowed.ok()) << path << ": the evaluator changes it";
      return allowed;
    };
  }

  Result<EvaluatorEnd> Look() {
    return RunEvaluator(world_.world, evaluator_,
                        {.scans = EvaluatorLoop::Scans::kOnce}, collected);
  }

  std::function<void(const std::string& path)> before_open;
  std::optional<Status> refused;  // error of every List
  EvaluationCollector collected;

 private:
  GatedStorage storage_;
  TestWorld world_{storage_};
  Evaluator evaluator_;
};

// Expects that each evaluation at an epoch's end equals the run's own, bit for
// bit.
void ExpectResultsOfTheRun(const AttemptResult& run,
                           const EvaluationCollector& collected) {
  const std::vector<LogEvent> evaluated = run.Of(EventKind::kEvaluated);
  for (const Evaluation& one : collected.evaluations) {
    if (one.step % kStepsPerEpoch != 0) continue;
    const auto own = std::ranges::find(evaluated, one.step, &LogEvent::step);
    ASSERT_NE(own, evaluated.end()) << one.step;
    EXPECT_EQ(std::bit_cast<uint32_t>(one.loss), own->loss_bits) << one.step;
    EXPECT_EQ(one.correct, own->count) << one.step;
    EXPECT_EQ(one.epoch, own->epoch + 1);
    EXPECT_EQ(one.samples, 32);
  }
}

// A run and an evaluator on the same machine.
struct Together {
  AttemptResult run;
  EvaluationCollector collected;
  std::optional<EvaluatorEnd> end;
};

Together RunTogether(uint64_t seed, const TrainOptions& options,
                     Duration every) {
  TrainingFixture fixture(seed);
  Together together;
  fixture.simulation().Start(
      {.name = "evaluator", .host = "w0", .body = [&](World& world) {
         Evaluator evaluator(world, SourceOf(options));
         const auto end = RunEvaluator(world, evaluator,
                                       {.every = every, .until_epoch = kEpochs},
                                       together.collected);
         together.end = end.value();
         return 0;
       }});
  together.run = fixture.Run(2, options);
  return together;
}

TEST(EvaluatorTest, ReportsTheRunsResultsOfEachEpoch) {
  const TrainOptions options = SavingEachEpoch();
  for (const uint64_t seed : {1, 2, 3}) {
    const Together both =
        RunTogether(seed, options, std::chrono::milliseconds(1));
    ASSERT_EQ(both.end, EvaluatorEnd::kReachedLast);
    EXPECT_THAT(both.collected.steps(), ElementsAre(6, 12, 18, 24));
    ExpectResultsOfTheRun(both.run, both.collected);
    EXPECT_THAT(both.collected.warnings,
                ElementsAre("waiting for /ckpt: no checkpoint there yet"));
  }
}

TEST(EvaluatorTest, EvaluatesTheRemainingCheckpoints_IfOnlyOneIsKept) {
  TrainOptions options = SavingEachEpoch(1);
  options.checkpoint.trigger = {.unit = SaveUnit::kSteps, .every = 1};
  size_t passed_over = 0;
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    const Together both =
        RunTogether(seed, options, seed * std::chrono::milliseconds(10));
    ASSERT_EQ(both.end, EvaluatorEnd::kReachedLast) << seed;
    EXPECT_EQ(both.collected.evaluations.back().step, kSteps);
    ExpectResultsOfTheRun(both.run, both.collected);
    EXPECT_THAT(both.collected.warnings,
                ElementsAre("waiting for /ckpt: no checkpoint there yet"))
        << seed;
    passed_over += kSteps - both.collected.evaluations.size();
  }
  EXPECT_GT(passed_over, 0u);
}

// Returns every event without its time, in alphabetical order: concurrent
// events, such as a step and the end of a save's task, may come in any order.
std::vector<std::string> SortedEvents(const AttemptResult& run) {
  std::vector<std::string> entries;
  for (const auto& events : run.events) {
    for (const LogEvent& event : events) {
      entries.push_back(fmt::format(
          "{} {} {} {} {} {} {} {:08x} {} {} {}", EventKindName(event.kind),
          event.generation, event.step, event.epoch, event.position,
          PhaseName(event.phase), event.count, event.loss_bits,
          event.digest.value_or(Digest()).ToString(), event.path,
          event.detail));
    }
  }
  std::ranges::sort(entries);
  return entries;
}

TEST(EvaluatorTest, RunsEventsAreTheSameWithAndWithoutIt) {
  for (const int keep : {1, 5}) {
    const TrainOptions options = SavingEachEpoch(keep);
    const Together both = RunTogether(1, options, std::chrono::milliseconds(1));
    EXPECT_FALSE(both.collected.evaluations.empty());
    EXPECT_EQ(SortedEvents(both.run),
              SortedEvents(TrainingFixture(1).Run(2, options)));
  }
}

TEST(EvaluatorTest, ItEndsWhenTheFinishedRunDeletesItsStore) {
  TrainOptions options = SavingEachEpoch();
  options.checkpoint.at_success = AtSuccess::kDeleteCheckpoints;
  options.horizon.max_steps = 9;  // never reaches the awaited epoch
  const Together both = RunTogether(1, options, std::chrono::milliseconds(1));
  EXPECT_EQ(both.end, EvaluatorEnd::kStoreDeleted);
  EXPECT_THAT(both.collected.steps(), ElementsAre(6));
}

TEST(EvaluatorTest, EmptyOrMissingStore_CountsAsDeleted_IfSeenBefore) {
  TrainingFixture fixture;
  AfterTheRun after(fixture, SavingEachEpoch());
  EXPECT_EQ(after.Look().value(), EvaluatorEnd::kScannedOnce);
  fixture.Run(1, SavingEachEpoch());
  EXPECT_EQ(after.Look().value(), EvaluatorEnd::kScannedOnce);
  ASSERT_TRUE(fixture.disk().Rename("/ckpt", "/elsewhere").ok());
  EXPECT_EQ(after.Look().value(), EvaluatorEnd::kStoreDeleted);
  ASSERT_TRUE(fixture.disk().MakeDirectory("/ckpt").ok());
  EXPECT_EQ(after.Look().value(), EvaluatorEnd::kStoreDeleted);
}

TEST(EvaluatorTest, NoticeEndsItsWait) {
  FiberPool pool;
  Simulation simulation(pool, {.seed = 1});
  std::optional<EvaluatorEnd> end;
  const ProcessId process = simulation.Start(
      {.name = "evaluator", .body = [&](World& world) {
         Evaluator evaluator(world, SourceOf(SmallRun()));
         EvaluationCollector collected;
         end = RunEvaluator(world, evaluator, {.every = std::chrono::hours(9)},
                            collected)
                   .value();
         return 0;
       }});
  const Time notice = simulation.now() + std::chrono::seconds(3);
  simulation.At(notice, [&] { simulation.Notify(process); });
  simulation.Run();
  EXPECT_EQ(end, EvaluatorEnd::kPreempted);
  EXPECT_LT(simulation.now() - notice, std::chrono::seconds(1));
}

TEST(EvaluatorTest, EvaluatesACheckpointOnce_EvenIfAnIncarnationResumesFromIt) {
  TrainingFixture fixture;
  TrainOptions options = SavingEachEpoch();
  options.horizon.stop_at_step = 13;
  fixture.Run(2, options);
  AfterTheRun after(fixture, options);
  ASSERT_TRUE(after.Look().ok());
  options.horizon.stop_at_step.reset();
  const AttemptResult rest = fixture.Run(1, options);
  EXPECT_EQ(rest.result->resumed_from, 13u);
  ASSERT_TRUE(after.Look().ok());
  EXPECT_TRUE(fixture.disk().List("/ckpt/step-000000013-g1").ok());
  EXPECT_THAT(after.collected.steps(), ElementsAre(6, 12, 13, 18, 24));
}

TEST(EvaluatorTest, SkipsACheckpointRetiredWhileItIsRead) {
  TrainingFixture fixture;
  const AttemptResult run = fixture.Run(2, SavingEachEpoch());
  AfterTheRun after(fixture, SavingEachEpoch());
  bool retired = false;
  after.before_open = [&](const std::string& path) {
    const std::string name = "step-000000012-g1";
    if (retired || !path.starts_with("/ckpt/" + name + "/model-")) return;
    retired = true;
    ASSERT_TRUE(
        fixture.disk().Rename("/ckpt/" + name, "/ckpt/.deleting-" + name).ok());
  };
  EXPECT_EQ(after.Look().value(), EvaluatorEnd::kScannedOnce);
  EXPECT_TRUE(retired);
  EXPECT_THAT(after.collected.steps(), ElementsAre(6, 18, 24));
  EXPECT_THAT(after.collected.warnings, IsEmpty());
  ExpectResultsOfTheRun(run, after.collected);
}

void FlipAByte(Storage& disk, const std::string& path) {
  const auto file = disk.Open(path, OpenMode::kReadWrite).value();
  std::byte byte[1];
  const uint64_t last = file->Size().value() - 1;
  ASSERT_EQ(file->ReadAt(last, byte).value(), 1u);
  byte[0] ^= std::byte{1};
  ASSERT_TRUE(file->WriteAt(last, byte).ok());
}

TEST(EvaluatorTest, DamagedOneIsReportedOnceAndLeftAlone) {
  TrainingFixture fixture;
  const TrainOptions options = SavingEachEpoch();
  const AttemptResult run = fixture.Run(1, options);
  for (const char* torn :
       {"12-g1/model-00001-of-00001.safetensors", "18-g1/MANIFEST.json"}) {
    FlipAByte(fixture.disk(), fmt::format("/ckpt/step-0000000{}", torn));
  }
  AfterTheRun after(fixture, options);
  int shards_read = 0;
  after.before_open = [&](const std::string& path) {
    shards_read += path.ends_with(".safetensors") ? 1 : 0;
  };
  ASSERT_TRUE(after.Look().ok());
  ASSERT_TRUE(after.Look().ok());
  EXPECT_EQ(shards_read, 3);
  EXPECT_THAT(after.collected.steps(), ElementsAre(6, 24));
  EXPECT_THAT(
      after.collected.warnings,
      ElementsAre(HasSubstr("step-000000012-g1: skipped: model-00001-of"),
                  HasSubstr("step-000000018-g1: skipped: MANIFEST.json")));
  EXPECT_TRUE(fixture.disk().List("/ckpt/step-000000012-g1").ok());
}

TEST(EvaluatorTest, UncommittedSaveIsNoCheckpoint) {
  TrainingFixture fixture;
  fixture.Run(1, SavingEachEpoch());
  ASSERT_TRUE(
      fixture.disk()
          .Rename("/ckpt/step-000000018-g1", "/ckpt/step-000000018-g1.tmp")
          .ok());
  AfterTheRun after(fixture, SavingEachEpoch());
  ASSERT_TRUE(after.Look().ok());
  EXPECT_THAT(after.collected.steps(), ElementsAre(6, 12, 24));
  EXPECT_THAT(after.collected.warnings, IsEmpty());
}

// Generation 2 resumes from step 12: later checkpoints of generation 1 are
// fenced.
TEST(EvaluatorTest, FencedOneIsNeverEvaluated) {
  TrainingFixture fixture;
  TrainOptions options = SavingEachEpoch();
  fixture.Run(1, options);
  const auto move = [&](const std::string& from, const std::string& to) {
    ASSERT_TRUE(fixture.disk().Rename(from, to).ok());
  };
  move("/ckpt/step-000000018-g1", "/aside-18");
  move("/ckpt/step-000000024-g1", "/aside-24");
  options.horizon.stop_at_step = 13;
  fixture.Run(1, options);
  move("/aside-18", "/ckpt/step-000000018-g1");
  move("/aside-24", "/ckpt/step-000000024-g1");
  AfterTheRun after(fixture, options);
  ASSERT_TRUE(after.Look().ok());
  EXPECT_THAT(after.collected.steps(), ElementsAre(6, 12, 13));
}

TEST(EvaluatorTest, ReadError_IsRetried) {
  TrainingFixture fixture;
  fixture.Run(1, SavingEachEpoch());
  AfterTheRun after(fixture, SavingEachEpoch());
  after.refused = IoError("/ckpt: list: EIO");
  EXPECT_EQ(after.Look().value(), EvaluatorEnd::kScannedOnce);
  EXPECT_THAT(after.collected.warnings, ElementsAre(HasSubstr("EIO")));
  after.refused.reset();
  ASSERT_TRUE(after.Look().ok());
  EXPECT_THAT(after.collected.steps(), ElementsAre(6, 12, 18, 24));
}

TEST(EvaluatorTest, CheckpointOfAnotherJobEndsItWithTheDifference) {
  TrainingFixture fixture;
  fixture.Run(1, SavingEachEpoch());
  TrainOptions other = SavingEachEpoch();
  other.job.seed = 9;
  AfterTheRun after(fixture, other);
  const Status status = after.Look().status();
  EXPECT_EQ(status.code(), Code::kOtherJob);
  EXPECT_THAT(status.message(), HasSubstr("was written by another job"));
  EXPECT_THAT(status.message(), HasSubstr("seed: "));
}

TEST(EvaluatorTest, JobWithoutValidationSamplesCannotBeEvaluated) {
  TrainingFixture fixture;
  fixture.Run(1, SavingEachEpoch());
  AfterTheRun after(fixture, SavingEachEpoch(), [](EvaluatedJob& job) {
    DataSplit without = *job.data;
    without.validation.samples = 0;
    job.data = std::make_shared<const DataSplit>(std::move(without));
  });
  const Status status = after.Look().status();
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_THAT(status.message(),
              HasSubstr("expected validation samples, found 0"));
}

}  // namespace
}  // namespace gauntlet
