#include "engine/api/supervisor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/ckpt/io/checkpoint_reader.h"
#include "engine/ckpt/state/shard_plan.h"
#include "tests/engine/api/custom_fixture.h"
#include "tests/engine/api/fit_fixture.h"

namespace gauntlet {
namespace {

using std::chrono::seconds;
using testing::AnyOf;
using testing::ElementsAre;
using testing::HasSubstr;

std::unique_ptr<CustomTraining> NewTraining(World& world,
                                            const WorkerSpec& place) {
  return CustomTraining::Create(world, SmallTraining(place)).value();
}

// Trains steps that take a second each.
void TakeSteps(World& world, ManagedSession& session, uint64_t until) {
  while (!session.ShouldStop() && session.step() < until) {
    ASSERT_TRUE(session.Step().ok());
    world.clock.SleepUntil(world.clock.Now() + seconds(1));
  }
}

TEST(SupervisorTest, SavesByTheClockAndOnceMoreAtTheEnd) {
  FitFixture fixture;
  fixture.Run(1, [](World& world, const WorkerSpec& place) {
    const auto training = NewTraining(world, place);
    Supervisor supervisor(*training,
                          {.logdir = "/logs", .save_model_every = seconds(10)});
    const auto session = supervisor.PrepareSession().value();
    TakeSteps(world, *session, 25);
    EXPECT_TRUE(session->Stop().ok());
  });
  std::vector<std::string> kept;
  for (const DirectoryEntry& entry :
       std::vector(fixture.disk().List("/logs/model.ckpt").value())) {
    if (entry.name.starts_with("step-")) kept.push_back(entry.name);
  }
  EXPECT_THAT(kept, ElementsAre(AnyOf("step-000000001-g1", "step-000000002-g1"),
                                "step-000000011-g1", "step-000000021-g1",
                                "step-000000025-g1"));
}

TEST(SupervisorTest, Initialises_OnlyIfNothingIsRecovered) {
  FitFixture fixture;
  std::vector<std::string> calls;
  for (const uint64_t until : {3, 6}) {
    fixture.Run(1, [&](World& world, const WorkerSpec& place) {
      const auto training = NewTraining(world, place);
      Supervisor supervisor(
          *training, {.logdir = "/logs",
                      .local_init =
                          [&](CustomTraining&) {
                            calls.emplace_back("local_init");
                            return OkStatus();
                          },
                      .init_fn =
                          [&](CustomTraining&) {
                            calls.emplace_back("init_fn");
                            return OkStatus();
                          },
                      .ready =
                          [&](const CustomTraining&, ReadyWhen when) {
                            calls.emplace_back(when == ReadyWhen::kBeforeLoad
                                                   ? "ready before"
                                                   : "ready after");
                            return OkStatus();
                          }});
      const auto session = supervisor.PrepareSession().value();
      EXPECT_EQ(session->recovered(), until == 6);
      EXPECT_EQ(session->step(), until - 3);
      TakeSteps(world, *session, until);
      EXPECT_TRUE(session->Stop().ok());
    });
  }
  EXPECT_THAT(
      calls, ElementsAre("local_init", "ready before", "init_fn", "ready after",
                         "local_init", "ready before", "ready after"));
}

TEST(SupervisorTest, ReportsWhyTheModelIsNotReady) {
  FitFixture fixture;
  fixture.Run(1, [](World& world, const WorkerSpec& place) {
    const auto training = NewTraining(world, place);
    training->state().parameters[7] = std::numeric_limits<float>::infinity();
    Supervisor supervisor(*training, {});
    EXPECT_THAT(supervisor.PrepareSession().status().message(),
                HasSubstr("expected finite numbers, found inf at 7"));
    Supervisor careless(*training, {.ready = nullptr});
    const auto session = careless.PrepareSession().value();
    EXPECT_TRUE(session->Stop().ok());
  });
}

TEST(SupervisorTest, WithoutALogDirectoryNothingIsWritten) {
  FitFixture fixture;
  fixture.Run(1, [](World& world, const WorkerSpec& place) {
    const auto training = NewTraining(world, place);
    Supervisor supervisor(*training, {});
    const auto session = supervisor.PrepareSession().value();
    TakeSteps(world, *session, 3);
    EXPECT_TRUE(session->Stop().ok());
  });
  EXPECT_TRUE(fixture.disk().List("/")->empty());
}

TEST(SupervisorTest, CountsTheStepsOfASecond) {
  FitFixture fixture;
  fixture.Run(1, [](World& world, const WorkerSpec& place) {
    const auto training = NewTraining(world, place);
    Supervisor supervisor(*training, {.count_steps_every = seconds(10)});
    const auto session = supervisor.PrepareSession().value();
    EXPECT_EQ(session->steps_per_second(), 0.0);
    TakeSteps(world, *session, 25);
    EXPECT_NEAR(session->steps_per_second(), 1.0, 0.2);
    EXPECT_TRUE(session->Stop().ok());
  });
}

// Returns how often the name occurs in the event files of the log directory.
size_t Mentions(Storage& disk, const std::string& name) {
  size_t count = 0;
  const std::vector<DirectoryEntry> entries = disk.List("/logs").value();
  for (const DirectoryEntry& entry : entries) {
    if (!entry.name.starts_with("events.")) continue;
    const std::string text =
        ReadFile(disk, "/logs/" + entry.name, 1 << 20).value();
    for (size_t at = text.find(name); at != text.npos;
         at = text.find(name, at + 1)) {
      ++count;
    }
  }
  return count;
}

TEST(SupervisorTest, DrawsItsOwnAndTheUsersSummariesByTheClock) {
  FitFixture fixture;
  fixture.Run(1, [](World& world, const WorkerSpec& place) {
    const auto training = NewTraining(world, place);
    Supervisor supervisor(*training, {.logdir = "/logs",
                                      .save_summaries_every = seconds(10),
                                      .count_steps_every = seconds(5)});
    const auto session = supervisor.PrepareSession().value();
    TakeSteps(world, *session, 25);
    session->SummaryComputed({{.tag = "my/own", .value = 7.0f}});
    EXPECT_TRUE(session->Stop().ok());
  });
  // Summaries are written after 10, 20 and 25 s. They are also written at the
  // start if the first step ends before the summary service first runs.
  EXPECT_THAT(Mentions(fixture.disk(), "loss"), AnyOf(3u, 4u));
  EXPECT_EQ(Mentions(fixture.disk(), "global_step/sec"), 3u);
  EXPECT_EQ(Mentions(fixture.disk(), "my/own"), 1u);
}

// A service of the second of two workers fails: both workers stop, and both
// report the reason.
TEST(SupervisorTest, ServiceThatFailsStopsAllWorkersAndNothingIsSaved) {
  FitFixture fixture;
  std::vector<std::string> ends(2);
  fixture.Run(2, [&](World& world, const WorkerSpec& place) {
    const auto training = NewTraining(world, place);
    Supervisor supervisor(*training,
                          {.logdir = "/logs", .save_model_every = seconds(0)});
    const auto session = supervisor.PrepareSession().value();
    if (place.rank == 1) {
      session->Loop("reader", seconds(4), [&] {
        return session->step() < 3 ? OkStatus() : IoError("nothing to read");
      });
    }
    TakeSteps(world, *session, 100);
    EXPECT_LT(session->step(), 20u);
    EXPECT_FALSE(session->preempted());
    ends[static_cast<size_t>(place.rank)] = session->Stop().message();
  });
  EXPECT_THAT(ends, ElementsAre("rank 1: reader: nothing to read",
                                "reader: nothing to read"));
  for (const DirectoryEntry& entry :
       std::vector(fixture.disk().List("/logs/model.ckpt").value())) {
    EXPECT_FALSE(entry.name.starts_with("step-")) << entry.name;
  }
}

TEST(SupervisorTest, NoticeToOneWorkerIsAnOrderlyStopOfAll) {
  FitFixture fixture;
  const int second = fixture.simulation().process_count() + 1;
  std::vector<uint64_t> steps;
  for (const bool is_notified : {true, false}) {
    fixture.Run(2, [&](World& world, const WorkerSpec& place) {
      const auto training = NewTraining(world, place);
      Supervisor supervisor(*training, {.logdir = "/logs"});
      const auto session = supervisor.PrepareSession().value();
      if (!is_notified) steps.push_back(session->step());
      TakeSteps(world, *session, 4);
      if (is_notified && place.rank == 1) fixture.simulation().Notify(second);
      TakeSteps(world, *session, 12);
      EXPECT_EQ(session->preempted(), is_notified);
      EXPECT_TRUE(session->Stop().ok());
      if (is_notified) steps.push_back(training->step());
    });
  }
  EXPECT_THAT(steps, testing::Each(steps[0]));
  EXPECT_LT(steps[0], 8u);
}

TEST(SupervisorTest, StopsOnANoticeFile) {
  FitFixture fixture;
  fixture.Run(1, [&](World& world, const WorkerSpec& place) {
    const auto training = NewTraining(world, place);
    Supervisor supervisor(*training,
                          {.logdir = "/logs", .preemption = {.file = "/go"}});
    const auto session = supervisor.PrepareSession().value();
    TakeSteps(world, *session, 4);
    ASSERT_TRUE(world.storage.Open("/go", OpenMode::kCreateTruncate).ok());
    TakeSteps(world, *session, 30);
    EXPECT_TRUE(session->preempted());
    EXPECT_TRUE(session->Stop().ok());
  });
}

// A service is busy for longer than the remaining grace period.
TEST(SupervisorTest, StopIsSavedBeforeTheServicesAreWaitedFor) {
  FitFixture fixture;
  const int process = fixture.simulation().process_count();
  fixture.Run(1, [&](World& world, const WorkerSpec& place) {
    const auto training = NewTraining(world, place);
    Supervisor supervisor(*training,
                          {.logdir = "/logs", .stop_grace = seconds(120)});
    const auto session = supervisor.PrepareSession().value();
    session->Loop("busy", seconds(300), [&world] {
      world.clock.SleepUntil(world.clock.Now() + seconds(60));
      return OkStatus();
    });
    TakeSteps(world, *session, 4);
    fixture.simulation().Notify(process);
    TakeSteps(world, *session, 30);
    ASSERT_TRUE(session->preempted());
    const auto saved = world.storage.List("/logs/model.ckpt");
    ASSERT_TRUE(saved.ok());
    EXPECT_THAT(*saved,
                testing::Contains(testing::Field(&DirectoryEntry::name,
                                                 HasSubstr("step-000000005"))));
    EXPECT_TRUE(session->Stop().ok());
  });
}

// One incarnation with its own initial value of all weights, and the weights
// that it recovers.
struct PartialProcess {
  std::vector<std::string> variables;
  float init = 0.0f;
  uint64_t until = 3;
  bool recovered = false;
  std::vector<float> begins_with;
  std::vector<float> ends_with;
  size_t kernel_at = 0;  // offset of dense1/kernel

  void Live(World& world, const WorkerSpec& place) {
    const auto training = NewTraining(world, place);
    Supervisor supervisor(*training, {.logdir = "/logs",
                                      .save_variables = variables,
                                      .init_fn = [this](CustomTraining& of) {
                                        std::ranges::fill(of.state().parameters,
                                                          init);
                                        return OkStatus();
                                      }});
    const auto session = supervisor.PrepareSession().value();
    recovered = session->recovered();
    const auto weights = training->weights();
    begins_with.assign(weights.begin(), weights.end());
    for (const ParameterInfo& info : training->parameters()) {
      if (info.name == "dense1/kernel") kernel_at = info.offset;
    }
    TakeSteps(world, *session, until);
    ends_with.assign(weights.begin(), weights.end());
    EXPECT_TRUE(session->Stop().ok());
  }
};

TEST(SupervisorTest, InitialisesUnsavedVariablesInEachIncarnation) {
  for (const int workers : {1, 2}) {
    FitFixture fixture;
    const std::vector<std::string> saved = {"dense0/kernel", "dense0/bias"};
    std::vector<PartialProcess> first(2, {.variables = saved, .init = 0.5f});
    std::vector<PartialProcess> second(
        2, {.variables = saved, .init = 0.25f, .until = 5});
    for (auto* incarnations : {&first, &second}) {
      fixture.Run(workers, [&](World& world, const WorkerSpec& place) {
        incarnations->at(static_cast<size_t>(place.rank)).Live(world, place);
      });
    }
    const PartialProcess& before = first.at(static_cast<size_t>(workers) - 1);
    const PartialProcess& after = second.at(static_cast<size_t>(workers) - 1);
    EXPECT_TRUE(after.recovered);
    const auto kernel = static_cast<std::ptrdiff_t>(after.kernel_at);
    EXPECT_TRUE(std::equal(before.ends_with.begin(),
                           before.ends_with.begin() + kernel,
                           after.begins_with.begin()));
    EXPECT_TRUE(std::all_of(after.begins_with.begin() + kernel,
                            after.begins_with.end(),
                            [](float weight) { return weight == 0.25f; }));
    EXPECT_NE(before.ends_with.back(), 0.5f) << "it was trained";
  }
}

TEST(SupervisorTest, CheckpointHoldsTheVariablesAskedForAndNoOthers) {
  FitFixture fixture;
  PartialProcess incarnation = {.variables = {"dense0/kernel"}};
  fixture.Run(1, [&](World& world, const WorkerSpec& place) {
    incarnation.Live(world, place);
    const auto found =
        ReadCheckpoint(world, "/logs/model.ckpt/step-000000003-g1");
    ASSERT_TRUE(found.ok()) << found.status().ToString();
    size_t of_it = 0;
    for (const TensorView& tensor : found->tensors) {
      const std::string& name = tensor.name;
      EXPECT_FALSE(name.ends_with("bias") || name.ends_with("dense1/kernel"))
          << name;
      of_it += name.ends_with("dense0/kernel") ? 1 : 0;
    }
    EXPECT_EQ(of_it, 3u) << "with Adam's two slots";
    EXPECT_NE(FindTensor(found->tensors, "position/step"), nullptr);
  });
}

TEST(SupervisorTest, AnotherChoiceOfVariablesIsRefusedByName) {
  FitFixture fixture;
  PartialProcess incarnation = {.variables = {"dense0/kernel"}};
  fixture.Run(1, [&](World& world, const WorkerSpec& place) {
    incarnation.Live(world, place);
  });
  for (const std::vector<std::string>& variables :
       {std::vector<std::string>{}, {"dense0/bias"}}) {
    fixture.Run(1, [&](World& world, const WorkerSpec& place) {
      const auto training = NewTraining(world, place);
      Supervisor supervisor(*training,
                            {.logdir = "/logs", .save_variables = variables});
      const Status refused = supervisor.PrepareSession().status();
      EXPECT_EQ(refused.code(), Code::kOtherJob);
      EXPECT_THAT(refused.message(),
                  HasSubstr("saved[0]: dense0/kernel in the checkpoint"));
      training->Leave();
    });
  }
}

// Returns the status of PrepareSession with `workers` workers and these
// options.
Status Prepared(FitFixture& fixture, int workers,
                const SupervisorOptions& options) {
  Status outcome;
  fixture.Run(workers, [&](World& world, const WorkerSpec& place) {
    const auto training = NewTraining(world, place);
    Supervisor supervisor(*training, options);
    const auto session = supervisor.PrepareSession();
    if (place.rank == workers - 1) outcome = session.status();
    if (session.ok()) {
      EXPECT_FALSE((*session)->recovered());
      EXPECT_TRUE((*session)->Step().ok());
      EXPECT_TRUE((*session)->Stop().ok());
    } else {
      training->Leave();
    }
  });
  return outcome;
}

TEST(SupervisorTest, ChangedBaseName_IsRefused) {
  FitFixture fixture;
  ASSERT_TRUE(
      Prepared(fixture, 2, {.logdir = "/logs", .checkpoint_basename = "ours"})
          .ok());
  EXPECT_TRUE(fixture.disk().List("/logs/ours").ok());
  SupervisorOptions other = {.logdir = "/logs"};
  const Status refused = Prepared(fixture, 2, other);
  EXPECT_EQ(refused.code(), Code::kFailedPrecondition);
  EXPECT_EQ(refused.message(),
            "checkpoint_basename: expected the checkpoints of /logs in "
            "model.ckpt, found some in ours");
  EXPECT_EQ(fixture.disk().List("/logs/model.ckpt").status().code(),
            Code::kNotFound)
      << "nothing was begun";
  other.cold_start = ColdStart::kAllow;
  EXPECT_TRUE(Prepared(fixture, 2, other).ok());
}

TEST(SupervisorTest, BaseNameIsTheNameOfAFolder) {
  FitFixture fixture;
  for (const std::string name : {"", ".", "..", "a/b", "/a"}) {
    const Status refused =
        Prepared(fixture, 1, {.logdir = "/logs", .checkpoint_basename = name});
    EXPECT_EQ(refused.code(), Code::kInvalidArgument) << name;
    EXPECT_THAT(refused.message(), HasSubstr("found '" + name + "'"));
  }
}

TEST(SupervisorTest, LostWorkerEndsTheStepsAndTheServices) {
  FitFixture fixture;
  std::optional<Status> status;
  const RunEnd end = fixture.Run(2, [&](World& world, const WorkerSpec& place) {
    const auto training = NewTraining(world, place);
    Supervisor supervisor(*training, {.logdir = "/logs"});
    const auto session = supervisor.PrepareSession().value();
    TakeSteps(world, *session, 3);
    if (place.rank == 1) world.host.Exit(1);
    while (!status || status->ok()) status = session->Step().status();
    EXPECT_TRUE(session->Stop().ok());
  });
  EXPECT_EQ(status->code(), Code::kUnavailable) << status->ToString();
  EXPECT_EQ(end, RunEnd::kAllExited);
}

CustomTrainingOptions OverflowingTraining(const WorkerSpec& place) {
  CustomTrainingOptions options = SmallTraining(place);
  options.job.model.layers = {layers::Flatten(), layers::Dense(16),
                              layers::Dense(16), layers::Dense(16),
                              layers::Dense(16), layers::Dense(10)};
  options.job.optimizer = {.kind = OptimizerKind::kSgd,
                           .learning_rate = 1000.0f};
  return options;
}

TEST(SupervisorTest, NonFiniteLoss_StopsWithoutASave) {
  FitFixture fixture;
  for (int incarnation = 0; incarnation < 2; ++incarnation) {
    fixture.Run(2, [&](World& world, const WorkerSpec& place) {
      const auto training =
          CustomTraining::Create(world, OverflowingTraining(place)).value();
      Supervisor supervisor(*training, {.logdir = "/logs",
                                        .save_model_every = seconds(1),
                                        .on_not_finite = OnNotFinite::kStop});
      const auto session = supervisor.PrepareSession().value();
      EXPECT_EQ(session->recovered(), incarnation > 0);
      TakeSteps(world, *session, 20);
      EXPECT_TRUE(session->not_finite());
      EXPECT_LT(session->step(), 20u);
      EXPECT_TRUE(session->Stop().ok());
    });
  }
}

}  // namespace
}  // namespace gauntlet
