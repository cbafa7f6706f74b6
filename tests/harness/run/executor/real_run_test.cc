// The process contract, from the harness's side. The programs are scripts of a
// few lines instead of trainers.
#include "harness/run/executor/real_run.h"

#include <csignal>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/real/process/child_process.h"
#include "harness/run/case_runner.h"
#include "tests/engine/real/scratch_directory.h"
#include "tests/harness/run/small_cases.h"
#include <poll.h>
#include <sys/resource.h>

namespace gauntlet {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// Start of each script. It sets `incarnation` to the N of options-N.json, and
// defines the function `event INCARNATION KIND`, which logs an event of worker
// 0.
constexpr char kPrelude[] = R"(#!/bin/sh
events=$7
incarnation=${3##*-}
incarnation=${incarnation%.json}
dir=$(dirname "$events")
event() {
  file=$events/worker-0-incarnation-$1.jsonl
  if [ ! -e "$file" ]; then
    echo '{"kind":"header","schema":"gauntlet.events/v2","worker":0,"incarnation":'$1'}' > "$file"
  fi
  echo '{"kind":"'$2'","t_ns":1}' >> "$file"
}
)";

constexpr char kDone[] =
    R"(echo '{"status":"done","epochs":2,"steps":12,"digest":"abc","loss":0.5,"restarts":1}')";

class RealRunTest : public testing::Test {
 protected:
  RealRunTest() {
    std::filesystem::create_directory(directory_);
    plan_.hang_limit = seconds(5);
    plan_.total_limit = seconds(10);
  }

  RunLog Run(const std::string& script) {
    const std::string program = scratch_ / "program";
    std::ofstream(program) << kPrelude << script << "\n";
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    return RunInProcesses({.program = program, .directory = directory_}, plan_);
  }

  // As Run, with a limit of 16 KiB on file sizes. The script ignores SIGXFSZ,
  // as workers do.
  RunLog RunWithFileLimit(const std::string& script) {
    rlimit former = {};
    getrlimit(RLIMIT_FSIZE, &former);
    const rlimit small = {.rlim_cur = 16384, .rlim_max = former.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
    RunLog log = Run("trap '' XFSZ\nexec 2> /dev/null\n" + script);
    setrlimit(RLIMIT_FSIZE, &former);
    return log;
  }

  ScratchDirectory scratch_;
  const std::string directory_ = scratch_ / "run";
  RunPlan plan_ = PlanOf(CleanCase());
};

// The process leaves only a log file, without any event.
TEST_F(RealRunTest, IncarnationWithoutAMessageCounts) {
  const RunLog log =
      Run("touch $9/worker-0-incarnation-1.log $9/worker-1-incarnation-1.log\n"
          "event 1 worker_started\nevent 1 worker_exited");
  ASSERT_THAT(log.incarnations, SizeIs(2)) << log.harness_error;
  EXPECT_THAT(log.incarnations[0].events, SizeIs(2));
  EXPECT_EQ(log.incarnations[1].worker, 1);
  EXPECT_THAT(log.incarnations[1].events, IsEmpty());
}

TEST_F(RealRunTest, ReadsResultAndEvents) {
  const RunLog log = Run(
      std::string("event 1 worker_started; event 1 worker_exited\n") + kDone);
  EXPECT_EQ(log.harness_error, "");
  ASSERT_THAT(log.launchers, SizeIs(1));
  const FinalResult expected = {.status = "done",
                                .epochs = 2,
                                .steps = 12,
                                .digest = "abc",
                                .loss_bits = 0x3f000000};
  EXPECT_EQ(log.launchers[0].result, expected);
  EXPECT_EQ(log.launchers[0].restarts, 1u);
  ASSERT_THAT(log.incarnations, SizeIs(1));
  EXPECT_THAT(log.incarnations[0].events, SizeIs(2));
  EXPECT_THAT(log.left.processes, IsEmpty());
  EXPECT_EQ(log.ending, RunEnding::kExited);
}

TEST_F(RealRunTest, OnlyTheLastLineIsTheResult) {
  const RunLog log = Run(std::string("echo '{\"status\":\"done\"}'\n"
                                     "echo warning\n") +
                         kDone);
  EXPECT_EQ(log.launchers[0].result->digest, "abc");
}

TEST_F(RealRunTest, JobThatStoppedOnANoticeIsStartedAgainAsTheNextAttempt) {
  const RunLog log = Run(R"(event $incarnation worker_started
[ $incarnation = 3 ] || { echo '{"status":"stopped","digest":"x","loss":null}'; exit 143; }
)" + std::string(kDone));
  ASSERT_THAT(log.launchers, SizeIs(3));
  EXPECT_EQ(log.launchers[0].exit_code, 143);
  EXPECT_EQ(log.launchers[0].result->status, "stopped");
  EXPECT_EQ(log.launchers[2].exit_code, 0);
  EXPECT_THAT(log.incarnations, SizeIs(3));
}

TEST_F(RealRunTest, LauncherThatWasKilledIsStartedAgain) {
  const RunLog log = Run(R"(event $incarnation worker_started
[ $incarnation = 2 ] || kill -9 $$
)" + std::string(kDone));
  ASSERT_THAT(log.launchers, SizeIs(2));
  EXPECT_EQ(log.launchers[0].exit_code, 137);
  EXPECT_FALSE(log.launchers[0].result);
}

TEST_F(RealRunTest, AnyOtherExitIsTheEnd) {
  const RunLog log = Run("event 1 worker_started; exit 7");
  ASSERT_THAT(log.launchers, SizeIs(1));
  EXPECT_EQ(log.launchers[0].exit_code, 7);
  EXPECT_FALSE(log.launchers[0].result);
}

TEST_F(RealRunTest, RunWithoutEventsIsAHang) {
  plan_.hang_limit = milliseconds(200);
  const RunLog log = Run("event 1 worker_started; exec sleep 30");
  EXPECT_EQ(log.ending, RunEnding::kHung);
  EXPECT_THAT(log.ending_detail, HasSubstr("no event from any worker"));
  EXPECT_LT(log.wall_seconds, 5.0);
  EXPECT_THAT(log.launchers, SizeIs(1)) << "not started again";
  EXPECT_THAT(log.incarnations, SizeIs(1)) << "what was said is kept";
}

TEST_F(RealRunTest, EndlessRunIsEndedAtTheTotalLimit) {
  plan_.hang_limit = milliseconds(500);
  plan_.total_limit = milliseconds(900);
  const RunLog log = Run("while :; do event 1 step; sleep 0.05; done");
  EXPECT_EQ(log.ending, RunEnding::kTimedOut);
  EXPECT_EQ(log.ending_detail, "not over after 900ms");
  EXPECT_LT(log.wall_seconds, 5.0);
}

// The orphan has the run's directory in its command line.
TEST_F(RealRunTest, OrphanIsFound) {
  const RunLog log =
      Run(R"(sh -c ': > "$2"; sleep 4; :' orphan "$events" "$dir/runs" &
echo $! > "$dir/orphan"
until [ -e "$dir/runs" ]; do sleep 0.01; done
)" + std::string(kDone));
  EXPECT_TRUE(log.left.processes_listed);
  const std::string orphan = TextOf(directory_ + "/orphan");
  EXPECT_THAT(log.left.processes,
              Contains(fmt::format("sh (process {})", std::stoi(orphan))));
  EXPECT_EQ(kill(std::stoi(orphan), SIGKILL), 0);
}

TEST_F(RealRunTest, WorkerThatIsLeft_IsNamedAndKilled) {
  const RunLog log = Run(R"(cd "$dir"
echo 'echo $$ > orphan; while :; do sleep 1; done' > worker
sh worker --events "$events" --worker 1 --incarnation 2 &
until [ -s orphan ]; do sleep 0.01; done
)" + std::string(kDone));
  const int orphan = std::stoi(TextOf(directory_ + "/orphan"));
  EXPECT_THAT(
      log.left.processes,
      ElementsAre(fmt::format("worker 1, incarnation 2 (process {})", orphan)));
  // The process ends, but may stay a zombie that nobody waits for.
  const std::string arguments = fmt::format("/proc/{}/cmdline", orphan);
  for (int i = 0; i < 500 && !TextOf(arguments).empty(); ++i) usleep(10'000);
  EXPECT_EQ(TextOf(arguments), "");
}

// The process has the arguments of `less launch DIRECTORY/plan.json`.
TEST_F(RealRunTest, ProcessThatTheRunDidNotStart_IsNotKilled) {
  std::ofstream(scratch_ / "launch") << "while :; do sleep 1; done\n";
  const Result<ChildProcess> viewer =
      StartChild({.path = "/bin/sh",
                  .arguments = {"-c", R"(cd "$0" && exec sh launch "$1")",
                                scratch_.path(), directory_ + "/plan.json"},
                  .environment = {"PATH=/usr/bin:/bin"}});
  ASSERT_TRUE(viewer.ok()) << viewer.status().message();
  const RunLog log = Run(kDone);
  EXPECT_TRUE(log.left.processes_listed);
  EXPECT_THAT(log.left.processes, IsEmpty());
  pollfd end = {.fd = viewer->pidfd.get(), .events = POLLIN, .revents = 0};
  EXPECT_EQ(poll(&end, 1, 0), 0) << "the process has ended";
  SendSignal(*viewer, SIGKILL);
  AwaitEnd(*viewer);
}

TEST_F(RealRunTest, WorkersMayPrintAnything) {
  for (const char* printed :
       {"", "nothing", "[1]", "{", "{}", R"({"status":3})",
        R"({"status":"done"})", R"({"status":"done","epochs":"four"})",
        R"({"status":"done","epochs":-1,"steps":null,"digest":7,"loss":"x"})",
        R"({"status":"done","loss":{},"restarts":"many"})",
        R"({"status":"failed","restarts":null,"loss":null})"}) {
    const RunLog log = Run(std::string("echo '") + printed + "'");
    ASSERT_THAT(log.launchers, SizeIs(1)) << printed;
    EXPECT_EQ(log.launchers[0].exit_code, 0);
    std::filesystem::remove_all(directory_);
    std::filesystem::create_directory(directory_);
  }
}

TEST_F(RealRunTest, InvalidEventFile_IsAnErrorOfTheHarness) {
  const RunLog log =
      Run("echo '{\"kind\":\"nonsense\"}' > "
          "$events/worker-0-incarnation-1.jsonl; exit 0");
  EXPECT_THAT(log.harness_error, HasSubstr("worker-0-incarnation-1.jsonl:1: "));
}

TEST_F(RealRunTest, IncarnationKilledBeforeItsFirstLineCounts) {
  const RunLog log =
      Run("printf '{\"ki' > $events/worker-0-incarnation-1.jsonl");
  EXPECT_EQ(log.harness_error, "");
  ASSERT_THAT(log.incarnations, SizeIs(1));
  EXPECT_THAT(log.incarnations[0].events, IsEmpty());
}

TEST_F(RealRunTest, EventFileAtTheLimitOnFileSizes_EndsTheRun) {
  EXPECT_EQ(RunWithFileLimit("event 1 step").harness_error, "");
  const RunLog log = RunWithFileLimit("while :; do event 1 step; done");
  EXPECT_EQ(log.harness_error,
            directory_ +
                "/events/worker-0-incarnation-1.jsonl: reached the limit on "
                "file sizes (ulimit -f), 16384 bytes, so its later contents "
                "are missing");
  EXPECT_THAT(log.launchers, SizeIs(1)) << "not started again";
  EXPECT_LT(log.wall_seconds, 5.0);
}

// The logs of the earlier run of a warm start are at $7.
TEST_F(RealRunTest, LogOfTheEarlierRunAtTheLimitOnFileSizes_EndsTheRun) {
  plan_.before.emplace();
  const RunLog log = RunWithFileLimit(R"(
mkdir -p "$7"
head -c 16384 /dev/zero > "$7/worker-0-incarnation-1.log"
exec sleep 5
)");
  EXPECT_EQ(log.harness_error,
            directory_ +
                "/logs-before/worker-0-incarnation-1.log: reached the limit on "
                "file sizes (ulimit -f), 16384 bytes, so its later contents "
                "are missing");
  EXPECT_THAT(log.launchers, IsEmpty());
}

// The exit code is that of a job that is to be started again.
TEST_F(RealRunTest, EventLogThatEndedEarly_IsTheErrorOfTheRun) {
  const auto run = [this](const std::string& error) {
    std::filesystem::remove_all(directory_);
    std::filesystem::create_directory(directory_);
    return Run(
        "event $incarnation worker_started\necho 'event log: e: write: " +
        error + "; it ends here'\nexit 143");
  };
  const RunLog log = run("Disk quota exceeded");
  EXPECT_EQ(log.harness_error,
            "event log: e: write: Disk quota exceeded; it ends here");
  EXPECT_THAT(log.launchers, SizeIs(1)) << "not started again";
  EXPECT_FALSE(log.disk_full);
  EXPECT_TRUE(run("No space left on device").disk_full);
}

TEST_F(RealRunTest, MissingProgram_IsAnErrorOfTheHarness) {
  const RunLog log = RunInProcesses(
      {.program = scratch_ / "nowhere", .directory = directory_}, plan_);
  EXPECT_THAT(log.harness_error, HasSubstr("nowhere"));
  EXPECT_THAT(log.launchers, IsEmpty());
}

}  // namespace
}  // namespace gauntlet
