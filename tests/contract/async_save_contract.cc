// Asynchronous saves, with the tasks of either world.
#include <algorithm>
#include <set>

#include "engine/train/loop/job_model.h"
#include "engine/train/save/async_save.h"
#include "tests/contract/world_fixture.h"

namespace gauntlet {
namespace {

constexpr Duration kLong = std::chrono::seconds(10);

JobSpec SmallJob() {
  JobSpec job = PresetJob("tiny").value();
  job.data = {.samples = 16, .validation_samples = 16, .side = 7};
  return job;
}

// The only worker of a training run, with a state and a store.
struct OnlyWorker {
  OnlyWorker(World& world, const std::string& directory)
      : job(SmallJob()),
        job_json(JobToJson(job, DigestOf("data"))),
        built(BuildJobModel(job, {.height = 7, .width = 7, .channels = 1}, 10,
                            {.isa = Isa::kScalar})
                  .value()),
        state(*built.model, *built.optimizer, job),
        resident(state, *built.kernels, world.faults),
        store(CheckpointStore::Open(world, {.directory = directory}).value()),
        generation(store.ClaimGeneration(job_json)->generation),
        ring(world, *built.kernels, {.generation = generation}, nullptr,
             nullptr),
        save(world, store, ring, job_json, generation, kLong),
        async(world, save, kLong, copy) {}

  void GoOnTraining() {
    const UpdatedArray next = state.NextOf(0);
    std::ranges::transform(next.from, next.to.begin(),
                           [](float parameter) { return parameter + 1.0f; });
    ++state.position.step;
  }

  JobSpec job;
  std::string job_json;
  JobModel built;
  TrainState state;
  ResidentState resident;
  CheckpointStore store;
  uint64_t generation;
  Ring ring;
  CollectiveSave save;
  StateCopy copy;
  AsyncSave async;
};

SaveOutcome Finish(AsyncSave& save) {
  std::optional<SaveOutcome> outcome;
  while (!outcome) outcome = save.Advance();
  return *outcome;
}

TEST_P(SaveContract, WritesTheCopiedState_WhileTrainingContinues) {
  InWorld([&](World& world) {
    OnlyWorker worker(world, Path("ckpt"));
    worker.state.position.step = 5;
    const Digest digest = worker.state.ComputeDigest();
    ASSERT_TRUE(worker.async.Begin(worker.resident, "").ok());
    for (int i = 0; i < 1000; ++i) worker.GoOnTraining();
    const SaveOutcome outcome = Finish(worker.async);
    EXPECT_TRUE(outcome.status.ok()) << outcome.status.message();
    EXPECT_EQ(outcome.step, 5u);
    const CommittedCheckpoint& saved = worker.store.lineage().back();
    EXPECT_EQ(worker.store.Load(saved.ref)->head.state_digest, digest);
  });
}

TEST_P(SaveContract, WritesTheStateItself_WhileUpdatesGoToSpareArrays) {
  InWorld([&](World& world) {
    OnlyWorker worker(world, Path("ckpt"));
    SpareArrays spare(worker.state);
    AsyncSave async(world, worker.save, kLong, worker.copy, &spare);
    for (int i = 0; i < 3; ++i) {
      worker.GoOnTraining();
      const Digest digest = worker.state.ComputeDigest();
      const float* const saved_parameters = worker.state.parameters.data();
      ASSERT_TRUE(async.Begin(worker.resident, "").ok());
      EXPECT_EQ(worker.state.parameters.data(), saved_parameters);
      for (int step = 0; step < 1000; ++step) worker.GoOnTraining();
      EXPECT_NE(worker.state.parameters.data(), saved_parameters);
      const SaveOutcome outcome = Finish(async);
      EXPECT_TRUE(outcome.status.ok()) << outcome.status.message();
      const CommittedCheckpoint& saved = worker.store.lineage().back();
      EXPECT_EQ(worker.store.Load(saved.ref)->head.state_digest, digest);
      EXPECT_LT(async.copy_capacity(), spare.bytes() / 10);
    }
  });
}

// Changes the state as a hook of the training loop does.
TEST_P(SaveContract, WritesTheStateOfItsStep_WhileOwnedArraysAreChanged) {
  InWorld([&](World& world) {
    OnlyWorker worker(world, Path("ckpt"));
    SpareArrays spare(worker.state);
    AsyncSave async(world, worker.save, kLong, worker.copy, &spare);
    worker.GoOnTraining();
    const Digest digest = worker.state.ComputeDigest();
    ASSERT_TRUE(async.Begin(worker.resident, "").ok());
    worker.state.OwnLargeArrays();
    EXPECT_EQ(worker.state.ComputeDigest(), digest);
    std::ranges::fill(worker.state.parameters, 7.0f);
    EXPECT_TRUE(Finish(async).status.ok());
    const CommittedCheckpoint& saved = worker.store.lineage().back();
    EXPECT_EQ(worker.store.Load(saved.ref)->head.state_digest, digest);
  });
}

TEST_P(SaveContract, ContinuesOnlyOnceItsTaskIsThrough) {
  InWorld([&](World& world) {
    OnlyWorker worker(world, Path("ckpt"));
    ASSERT_TRUE(worker.async.Begin(worker.resident, "").ok());
    std::optional<SaveOutcome> outcome;
    int times = 0;
    while (!outcome) {
      ASSERT_TRUE(worker.async.is_in_flight());
      if (worker.async.MayAdvance(worker.async.Bits())) {
        outcome = worker.async.Advance();
        ++times;
      }
      world.clock.SleepUntil(world.clock.Now() + std::chrono::milliseconds(1));
    }
    EXPECT_TRUE(outcome->status.ok());
    EXPECT_EQ(times, 2) << "written, then committed";
    EXPECT_EQ(worker.async.Bits(), 0u);
  });
}

TEST_P(SaveContract, HoldsOneCopyHoweverManySavesThereAre) {
  InWorld([&](World& world) {
    OnlyWorker worker(world, Path("ckpt"));
    uint64_t whole = 0;
    for (const TensorView& tensor : worker.state.Tensors()) {
      whole += tensor.bytes.size();
    }
    for (int i = 0; i < 5; ++i) {
      worker.GoOnTraining();
      ASSERT_TRUE(worker.async.Begin(worker.resident, "").ok());
      ASSERT_TRUE(Finish(worker.async).status.ok());
      EXPECT_EQ(worker.async.copy_capacity(), whole);
    }
  });
}

TEST_P(SaveContract, WritesFromTheSameMemory_InTheNextGeneration) {
  InWorld([&](World& world) {
    OnlyWorker worker(world, Path("ckpt"));
    std::set<const std::byte*> memory;
    for (int generation = 0; generation < 3; ++generation) {
      AsyncSave async(world, worker.save, kLong, worker.copy);
      worker.GoOnTraining();
      ASSERT_TRUE(async.Begin(worker.resident, "").ok());
      ASSERT_TRUE(Finish(async).status.ok());
      memory.insert(worker.copy.tensors()[0].bytes.data());
    }
    EXPECT_EQ(memory.size(), 1u);
  });
}

TEST_P(SaveContract, BackgroundTask_CanBeAwaitedAgainAfterTimeout) {
  InWorld([&](World& world) {
    const auto go_on = world.tasks.NewEvent();
    BackgroundTask task(world, "hanging");
    task.Start([&] { go_on->WaitUntil(kNever); });
    EXPECT_FALSE(task.WaitUntil(world.clock.Now() + kShort));
    EXPECT_TRUE(task.is_joinable());
    EXPECT_FALSE(task.is_done());
    go_on->Set();
    EXPECT_TRUE(task.WaitUntil(kNever));
    EXPECT_FALSE(task.is_joinable());
    EXPECT_TRUE(task.is_done());
  });
}

}  // namespace
}  // namespace gauntlet
