#include "engine/api/custom_training.h"

#include <span>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/api/checkpoint_manager.h"
#include "engine/api/preemption_handler.h"
#include "tests/engine/api/custom_fixture.h"
#include "tests/engine/api/fit_fixture.h"

namespace gauntlet {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// One process of a program with a custom training loop.
class Process {
 public:
  Process(World& world, const WorkerSpec& place, int keep = 5)
      : training_(CustomTraining::Create(world, SmallTraining(place)).value()),
        manager_(CheckpointManager::Create(
                     *training_, {.directory = "/ckpt", .max_to_keep = keep})
                     .value()) {}

  CustomTraining& training() { return *training_; }
  CheckpointManager& manager() { return *manager_; }

  // Trains a step, and ends the epoch if it was the last one.
  Status Step() {
    RETURN_IF_ERROR(training_->Step().status());
    return training_->EpochDone() ? training_->EndEpoch().status() : OkStatus();
  }
  // Trains `count` steps, and saves each.
  Status Steps(int count) {
    for (int i = 0; i < count; ++i) {
      RETURN_IF_ERROR(Step());
      RETURN_IF_ERROR(manager_->Save().status());
    }
    return OkStatus();
  }

 private:
  std::unique_ptr<CustomTraining> training_;
  std::unique_ptr<CheckpointManager> manager_;
};

// Run R3 of tests/PROMISES.md.
TEST(CheckpointManagerTest, KeepsTheNewestTwoOfTwentyFiveSaves) {
  FitFixture fixture;
  fixture.Run(1, [](World& world, const WorkerSpec& place) {
    Process process(world, place, 2);
    EXPECT_FALSE(process.manager().RestoreOrInitialize().value());
    ASSERT_TRUE(process.Steps(25).ok());
    EXPECT_EQ(process.training().epoch(), 5u);
    EXPECT_THAT(
        process.manager().checkpoints(),
        ElementsAre("/ckpt/step-000000024-g1", "/ckpt/step-000000025-g1"));
    process.training().Leave();
  });
}

TEST(CheckpointManagerTest, RestoresTheValuesAndReportsIt) {
  FitFixture fixture;
  std::optional<Digest> saved;
  fixture.Run(1, [&](World& world, const WorkerSpec& place) {
    Process process(world, place);
    EXPECT_FALSE(process.manager().RestoreOrInitialize().value());
    ASSERT_TRUE(process.Steps(7).ok());
    saved = process.training().StateDigest();
    ASSERT_TRUE(process.Step().ok());
  });
  fixture.Run(1, [&](World& world, const WorkerSpec& place) {
    Process process(world, place);
    EXPECT_TRUE(process.manager().RestoreOrInitialize().value());
    EXPECT_EQ(process.training().step(), 7u);
    EXPECT_EQ(process.training().StateDigest(), *saved);
    process.training().Leave();
  });
}

// The first process ends after step 8, without leaving.
TEST(CheckpointManagerTest, InterruptedLoop_EndsInTheSameState) {
  std::vector<Digest> digests;
  for (const bool interrupted : {false, true}) {
    FitFixture fixture;
    if (interrupted) {
      fixture.Run(2, [](World& world, const WorkerSpec& place) {
        Process process(world, place);
        ASSERT_TRUE(process.manager().RestoreOrInitialize().ok());
        ASSERT_TRUE(process.Steps(6).ok());
        ASSERT_TRUE(process.Step().ok());
        world.host.Exit(1);
      });
    }
    fixture.Run(2, [&](World& world, const WorkerSpec& place) {
      Process process(world, place);
      ASSERT_TRUE(process.manager().RestoreOrInitialize().ok());
      while (process.training().step() < 15) ASSERT_TRUE(process.Steps(1).ok());
      digests.push_back(process.training().StateDigest());
      process.training().Leave();
    });
  }
  ASSERT_EQ(digests.size(), 4u);
  EXPECT_THAT(digests, testing::Each(digests[0]));
}

TEST(CheckpointManagerTest, VariablesAreParametersOfTheModel) {
  FitFixture fixture;
  fixture.Run(1, [](World& world, const WorkerSpec& place) {
    auto training = CustomTraining::Create(world, SmallTraining(place)).value();
    const auto refusal = [&](std::vector<std::string> variables) {
      return CheckpointManager::Create(
                 *training, {.directory = "/ckpt", .variables = variables})
          .status()
          .message();
    };
    EXPECT_THAT(refusal({"dense0/kernel", "dense9/kernel"}),
                HasSubstr("dense1/bias), found 'dense9/kernel'"));
    EXPECT_THAT(refusal({"dense0/bias", "dense0/bias"}),
                HasSubstr("found dense0/bias twice"));
    training->Leave();
  });
}

// If no variables are named, all of them are saved.
TEST(CheckpointManagerTest, AllVariablesAreNoSubset) {
  FitFixture fixture;
  for (const bool named : {true, false}) {
    fixture.Run(1, [&](World& world, const WorkerSpec& place) {
      auto training =
          CustomTraining::Create(world, SmallTraining(place)).value();
      std::vector<std::string> all;
      for (const ParameterInfo& info : training->parameters()) {
        all.push_back(info.name);
      }
      auto manager =
          CheckpointManager::Create(
              *training, {.directory = "/ckpt",
                          .variables = named ? all : decltype(all)()})
              .value();
      EXPECT_EQ(manager->RestoreOrInitialize().value(), !named);
      EXPECT_TRUE(manager->Save().ok());
      training->Leave();
    });
  }
}

// Variables that are not saved are compared too: a worker with corrupt memory
// must not continue.
TEST(CheckpointManagerTest, NamesWorkersThatDisagreeOnUnsavedState) {
  FitFixture fixture;
  std::vector<std::string> messages(2);
  fixture.Run(2, [&](World& world, const WorkerSpec& place) {
    auto training = CustomTraining::Create(world, SmallTraining(place)).value();
    auto manager =
        CheckpointManager::Create(
            *training, {.directory = "/ckpt", .variables = {"dense0/kernel"}})
            .value();
    ASSERT_TRUE(manager->RestoreOrInitialize().ok());
    if (place.rank == 1) training->state().parameters.back() += 1.0f;
    messages[static_cast<size_t>(place.rank)] =
        manager->Save().status().message();
    training->Leave();
  });
  // The first worker to detect the difference leaves. The other one may detect
  // only that loss.
  EXPECT_THAT(messages, testing::Contains(HasSubstr("state digests differ")));
  EXPECT_THAT(messages, testing::Each(testing::Not("")));
}

// A save on a full disk removes the oldest checkpoint to make room. Here
// another process takes this room, so the save fails.
TEST(CheckpointManagerTest, CheckpointRemovedFromAFullDisk_IsNotListed) {
  FitFixture fixture({.capacity_bytes = 1 << 20});
  enum { kTraining, kFilling, kFull, kDone } stage = kTraining;
  const auto pause = [](World& world) {
    world.clock.SleepUntil(world.clock.Now() + std::chrono::microseconds(1));
  };
  const auto fill = [&](World& world) {
    const auto file =
        world.storage.Open("/filler", OpenMode::kCreateTruncate).value();
    const std::string block(256, 'x');
    uint64_t end = 0;
    for (; stage != kDone; pause(world)) {
      if (stage == kTraining) continue;
      while (file->WriteAt(end, std::as_bytes(std::span(block))).ok()) {
        end += block.size();
      }
      if (stage == kFilling) stage = kFull;
    }
    return 0;
  };
  fixture.simulation().Start({.name = "filler",
                              .host = "w0",
                              .body = fill,
                              .on_exit = [](const ExitStatus&) {}});
  fixture.Run(2, [&](World& world, const WorkerSpec& place) {
    Process process(world, place);
    ASSERT_TRUE(process.manager().RestoreOrInitialize().ok());
    ASSERT_TRUE(process.Steps(2).ok());
    ASSERT_TRUE(process.Step().ok());
    if (stage == kTraining) stage = kFilling;
    while (stage == kFilling) pause(world);
    EXPECT_EQ(process.manager().Save().status().code(),
              Code::kResourceExhausted);
    EXPECT_THAT(process.manager().checkpoints(),
                ElementsAre("/ckpt/step-000000002-g1"));
    process.training().Leave();
    stage = kDone;
  });
}

TEST(CheckpointManagerTest, SavesOnlyAtMultiplesOfItsInterval) {
  FitFixture fixture;
  fixture.Run(1, [](World& world, const WorkerSpec& place) {
    auto training = CustomTraining::Create(world, SmallTraining(place)).value();
    auto manager =
        CheckpointManager::Create(
            *training, {.directory = "/ckpt", .checkpoint_interval = 2})
            .value();
    ASSERT_TRUE(manager->RestoreOrInitialize().ok());
    std::vector<std::string> paths;
    for (int i = 0; i < 4; ++i) {
      ASSERT_TRUE(training->Step().ok());
      paths.push_back(manager->SaveIfDue().value());
    }
    EXPECT_THAT(paths, ElementsAre("", "/ckpt/step-000000002-g1", "",
                                   "/ckpt/step-000000004-g1"));
    EXPECT_EQ(manager->latest_checkpoint(), paths.back());
    training->Leave();
  });
}

class Listener final : public SaveListener {
 public:
  Listener(std::string name, std::vector<std::string>& calls)
      : name_(std::move(name)), calls_(calls) {}
  Status BeforeSave(uint64_t step) override {
    calls_.push_back(fmt::format("{} before {}", name_, step));
    return refuses ? Cancelled("not now") : OkStatus();
  }
  void AfterSave(uint64_t, const std::string& path) override {
    calls_.push_back(fmt::format("{} after {}", name_, path));
  }
  bool refuses = false;

 private:
  std::string name_;
  std::vector<std::string>& calls_;
};

TEST(CheckpointManagerTest, ListenersHearOfEachSaveInTheirOrder) {
  FitFixture fixture;
  fixture.Run(1, [](World& world, const WorkerSpec& place) {
    std::vector<std::string> calls;
    Listener first("first", calls);
    Listener second("second", calls);
    Process process(world, place);
    process.manager().AddListener(first);
    process.manager().AddListener(second);
    ASSERT_TRUE(process.manager().RestoreOrInitialize().ok());
    ASSERT_TRUE(process.Steps(1).ok());
    EXPECT_THAT(calls, ElementsAre("first before 1", "second before 1",
                                   "first after /ckpt/step-000000001-g1",
                                   "second after /ckpt/step-000000001-g1"));
    process.training().Leave();
  });
}

TEST(CheckpointManagerTest, ListenersNoOnOneWorkerIsANoOnAll) {
  FitFixture fixture;
  std::vector<std::string> ends;
  fixture.Run(2, [&](World& world, const WorkerSpec& place) {
    std::vector<std::string> calls;
    Listener listener("it", calls);
    listener.refuses = place.rank == 1;
    Process process(world, place);
    process.manager().AddListener(listener);
    ASSERT_TRUE(process.manager().RestoreOrInitialize().ok());
    ends.push_back(process.Steps(1).message());
    EXPECT_TRUE(process.manager().checkpoints().empty());
    process.training().Leave();
  });
  EXPECT_THAT(ends,
              testing::Each(HasSubstr("rank 1's save listener: not now")));
  EXPECT_EQ(ends.size(), 2u);
}

TEST(CheckpointManagerTest, RefusesInvalidOptionsByName) {
  FitFixture fixture;
  fixture.Run(1, [](World& world, const WorkerSpec& place) {
    auto training = CustomTraining::Create(world, SmallTraining(place)).value();
    const auto refusal = [&](const CheckpointManagerOptions& options) {
      return CheckpointManager::Create(*training, options).status().message();
    };
    EXPECT_THAT(refusal({}), HasSubstr("checkpoint directory"));
    EXPECT_THAT(refusal({.directory = "/c", .max_to_keep = 0}),
                HasSubstr("expected at least 1, found 0"));
    EXPECT_THAT(refusal({.directory = "/c", .checkpoint_interval = 0}),
                HasSubstr("checkpoint_interval"));
    EXPECT_EQ(refusal({.directory = "/c", .mode = SaveMode::kAsync}),
              "mode: expected sync, as a loop of one's own waits for its "
              "saves, found async");
    training->Leave();
  });
}

TEST(CheckpointManagerTest, AnotherJobsCheckpointsAreRefusedOnAllWorkers) {
  FitFixture fixture;
  fixture.Run(1, [](World& world, const WorkerSpec& place) {
    Process process(world, place);
    ASSERT_TRUE(process.manager().RestoreOrInitialize().ok());
    ASSERT_TRUE(process.Steps(1).ok());
    process.training().Leave();
  });
  std::vector<std::string> refusals;
  fixture.Run(2, [&](World& world, const WorkerSpec& place) {
    Process process(world, place);
    refusals.push_back(
        process.manager().RestoreOrInitialize().status().message());
    process.training().Leave();
  });
  EXPECT_EQ(refusals.size(), 2u);
  EXPECT_THAT(refusals, testing::Each(HasSubstr("replicas: 1 in the")));
}

// Sends a notice to the second of two workers, before its third step.
TEST(PreemptionCheckpointHandlerTest, Notice_MakesAllWorkersSaveTheSameStep) {
  FitFixture fixture;
  const int second = fixture.simulation().process_count() + 1;
  std::vector<uint64_t> stopped;
  fixture.Run(2, [&](World& world, const WorkerSpec& place) {
    Process process(world, place);
    ASSERT_TRUE(process.manager().RestoreOrInitialize().ok());
    PreemptionCheckpointHandler handler(process.training(), process.manager(),
                                        {});
    HandledStep step;
    while (!step.stopped) {
      if (place.rank == 1 && process.training().step() == 2) {
        fixture.simulation().Notify(second);
      }
      step = handler.Run().value();
    }
    EXPECT_EQ(handler.total_run_calls(), 3u);
    stopped.push_back(process.training().step());
    process.training().Leave();
  });
  EXPECT_THAT(stopped, ElementsAre(3u, 3u));
  fixture.Run(2, [](World& world, const WorkerSpec& place) {
    Process process(world, place);
    EXPECT_TRUE(process.manager().RestoreOrInitialize().value());
    EXPECT_EQ(process.training().step(), 3u);
    process.training().Leave();
  });
}

// Makes three runs: one without a notice, one with a notice before the epoch's
// fifth and last step, and one that resumes from there. The loop does not check
// its position between steps.
TEST(PreemptionCheckpointHandlerTest, StopAtAnEpochsLastStepCanBeResumed) {
  FitFixture fixture;
  const int first = fixture.simulation().process_count();
  std::vector<Digest> digests;
  for (const uint64_t noticed_at : {99u, 4u, 99u}) {
    fixture.Run(1, [&](World& world, const WorkerSpec& place) {
      Process process(world, place);
      ASSERT_TRUE(process.manager().RestoreOrInitialize().ok());
      PreemptionCheckpointHandler handler(process.training(), process.manager(),
                                          {});
      HandledStep step;
      while (!step.stopped && process.training().step() < 8) {
        if (process.training().step() == noticed_at) {
          fixture.simulation().Notify(first + 1);
        }
        step = handler.Run().value();
      }
      EXPECT_EQ(step.stopped, noticed_at == 4);
      EXPECT_EQ(process.training().history().val_loss.size(),
                step.stopped ? 0 : 1);
      digests.push_back(process.training().StateDigest());
      process.training().Leave();
    });
  }
  EXPECT_EQ(digests[2], digests[0]);
}

TEST(CustomTrainingTest, WorkerThatIsLostIsAnErrorToTheOthers) {
  FitFixture fixture;
  std::optional<Status> status;
  fixture.Run(2, [&](World& world, const WorkerSpec& place) {
    auto training = CustomTraining::Create(world, SmallTraining(place)).value();
    if (place.rank == 1) world.host.Exit(1);
    status = training->Step().status();
    training->Leave();
  });
  EXPECT_EQ(status->code(), Code::kUnavailable) << status->ToString();
}

}  // namespace
}  // namespace gauntlet
