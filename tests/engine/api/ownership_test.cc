// Two programs try to own one directory, in each of the three ways in which a
// program can own one. The second program is refused, and the first one ends as
// if it were alone.
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/api/backup_and_restore.h"
#include "engine/api/checkpoint_manager.h"
#include "engine/api/supervisor.h"
#include "engine/real/real_world.h"
#include "tests/chaos/inject/child_process.h"
#include "tests/engine/api/custom_fixture.h"
#include "tests/engine/api/fit_fixture.h"
#include "tests/engine/real/scratch_directory.h"
#include <sys/wait.h>
#include <unistd.h>

namespace gauntlet {
namespace {

using testing::HasSubstr;

constexpr int kTries = 20;

using Interlude = std::function<void()>;

// Calls a function once, in the middle of a Fit.
class AtStep final : public Callback {
 public:
  explicit AtStep(Interlude interlude) : interlude_(std::move(interlude)) {}

  std::string name() const override { return "at_step"; }
  Status OnStepSettled(const Progress& at) override {
    if (at.step == 8) interlude_();
    return OkStatus();
  }

 private:
  Interlude interlude_;
};

// Runs to the end as the owner of the directory. Returns the final digest.
using Owner = Result<Digest> (*)(World& world, const std::string& directory,
                                 const Interlude& interlude);

Result<Digest> Fit(World& world, const std::string& directory,
                   const Interlude& interlude) {
  Sequential model = SmallModel();
  BackupAndRestore backup(
      {.backup_dir = directory, .save_freq = SaveFrequency::Steps(5)});
  AtStep at_step(interlude);
  const auto fit =
      model.Fit(world, SmallDigits(), SmallFit(2, {&backup, &at_step}));
  RETURN_IF_ERROR(fit.status());
  return fit->digest;
}

Result<Digest> Manage(World& world, const std::string& directory,
                      const Interlude& interlude) {
  ASSIGN_OR_RETURN(const auto training,
                   CustomTraining::Create(world, SmallTraining({})));
  const auto run = [&]() -> Status {
    ASSIGN_OR_RETURN(
        const auto manager,
        CheckpointManager::Create(*training, {.directory = directory}));
    RETURN_IF_ERROR(manager->RestoreOrInitialize().status());
    while (training->step() < 8) {
      RETURN_IF_ERROR(training->Step().status());
      RETURN_IF_ERROR(manager->Save().status());
      if (training->step() == 3) interlude();
    }
    return OkStatus();
  };
  const Status status = run();
  training->Leave();
  RETURN_IF_ERROR(status);
  return training->StateDigest();
}

Result<Digest> Supervise(World& world, const std::string& directory,
                         const Interlude& interlude) {
  ASSIGN_OR_RETURN(const auto training,
                   CustomTraining::Create(world, SmallTraining({})));
  Supervisor supervisor(*training, {.logdir = directory});
  auto session = supervisor.PrepareSession();
  if (!session.ok()) {
    training->Leave();
    return session.status();
  }
  Status status;
  while (status.ok() && training->step() < 8) {
    status = (*session)->Step().status();
    if (training->step() == 3) interlude();
  }
  const Status stopped = (*session)->Stop();
  RETURN_IF_ERROR(status);
  RETURN_IF_ERROR(stopped);
  return training->StateDigest();
}

struct Api {
  const char* name;
  Owner run;
};

class OwnershipTest : public testing::TestWithParam<Api> {
 protected:
  std::string directory() const { return scratch_ / "store"; }
  // Runs in its own world, as a program does.
  Result<Digest> Run(const Interlude& interlude = [] {}) {
    RealWorld machine;
    World world = machine.world();
    return GetParam().run(world, directory(), interlude);
  }
  void Clear() { std::filesystem::remove_all(directory()); }

 private:
  ScratchDirectory scratch_;
};

TEST_P(OwnershipTest, SecondOwnerInThisProcess_IsRefusedAndTheFirstUnharmed) {
  const Digest undisturbed = Run().value();
  for (int attempt = 0; attempt < kTries; ++attempt) {
    Clear();
    std::vector<Status> second;
    const auto first = Run([&] { second.push_back(Run().status()); });
    ASSERT_TRUE(first.ok()) << first.status().ToString();
    EXPECT_EQ(*first, undisturbed);
    ASSERT_EQ(second.size(), 1u);
    EXPECT_EQ(second[0].code(), Code::kFailedPrecondition);
    EXPECT_THAT(second[0].message(), HasSubstr("in use by"));
  }
}

TEST_P(OwnershipTest,
       SecondOwnerInAnotherProcess_IsRefusedAndTheFirstUnharmed) {
  const Digest undisturbed = Run().value();
  for (int attempt = 0; attempt < kTries; ++attempt) {
    Clear();
    int go[2] = {};
    ASSERT_EQ(pipe(go), 0);
    // Forks before this process has threads.
    const pid_t second = StartChild([&] {
      close(go[1]);
      char byte = 0;
      if (read(go[0], &byte, 1) != 1) _exit(1);
      _exit(Run().status().code() == Code::kFailedPrecondition ? 0 : 1);
    });
    close(go[0]);
    std::string ended;
    const auto first = Run([&] {
      EXPECT_EQ(write(go[1], "g", 1), 1);
      ended = WaitFor(second);
    });
    close(go[1]);
    EXPECT_EQ(ended, "exit 0");
    ASSERT_TRUE(first.ok()) << first.status().ToString();
    EXPECT_EQ(*first, undisturbed);
  }
}

TEST_P(OwnershipTest, OwnerThatWasKilled_OwnsNothing) {
  const Digest undisturbed = Run().value();
  Clear();
  const pid_t killed = StartChild(
      [&] { static_cast<void>(Run([] { kill(getpid(), SIGKILL); })); });
  EXPECT_EQ(WaitFor(killed), "signal 9");
  const auto next = Run();
  ASSERT_TRUE(next.ok()) << next.status().ToString();
  EXPECT_EQ(*next, undisturbed);
}

INSTANTIATE_TEST_SUITE_P(ThreeApis, OwnershipTest,
                         testing::Values(Api{"Fit", Fit},
                                         Api{"CheckpointManager", Manage},
                                         Api{"Supervisor", Supervise}),
                         [](const auto& api) { return api.param.name; });

// The other workers do not wait for a chief that was refused.
TEST(CheckpointManagerOwnershipTest, RefusedChief_MeansAllWorkersAreRefused) {
  FitFixture fixture;
  ASSERT_TRUE(fixture.disk().MakeDirectory("/ckpt").ok());
  const auto lock = fixture.disk().Lock("/ckpt/lock");
  ASSERT_TRUE(lock.ok());
  std::vector<Code> codes;
  fixture.Run(2, [&](World& world, const WorkerSpec& place) {
    const auto training =
        CustomTraining::Create(world, SmallTraining(place)).value();
    codes.push_back(CheckpointManager::Create(*training, {.directory = "/ckpt"})
                        .status()
                        .code());
    training->Leave();
  });
  EXPECT_THAT(codes, testing::ElementsAre(Code::kFailedPrecondition,
                                          Code::kFailedPrecondition));
}

}  // namespace
}  // namespace gauntlet
