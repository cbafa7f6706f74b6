#include "engine/real/process/local_worker_processes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/real/network/grpc_network.h"
#include "tests/engine/real/scratch_directory.h"
#include "tests/engine/real/test_process.h"
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>

namespace gauntlet {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

LocalWorkerOptions Shell(const std::string& script) {
  return {.program = "/bin/sh",
          .arguments = {"-c", script, "sh"},
          .events_directory = {},
          .logs_directory = {},
          .environment = {}};
}

WorkerSpec Spec(int worker) {
  return {.worker = worker,
          .incarnation = 2,
          .rank = worker,
          .addresses = {"127.0.0.1:5000", "127.0.0.1:5001"},
          .launch_hold = {.launch = "3 then here", .claimed = 4}};
}

// Returns a worker's notices as texts, in order: lines of progress, "result …",
// "exit code/signal".
std::vector<std::string> NoticesOf(LocalWorkerProcesses& workers) {
  std::vector<std::string> notices;
  while (const auto event = workers.Next(Soon())) {
    if (const auto* progress = std::get_if<WorkerProgress>(&event->content)) {
      notices.push_back(progress->line.empty()
                            ? "step " + std::to_string(progress->step)
                            : progress->line);
    } else if (const auto* result = std::get_if<TrainResult>(&event->content)) {
      notices.push_back("result " + result->status);
    } else {
      const auto& exited = std::get<WorkerExited>(event->content);
      notices.push_back("exit " + std::to_string(exited.code) + "/" +
                        std::to_string(exited.signal));
      break;
    }
  }
  return notices;
}

// Returns all notices of one worker that runs with `options`.
std::vector<std::string> NoticesOf(const LocalWorkerOptions& options) {
  const PosixStorage storage;
  LocalWorkerProcesses workers(options, storage);
  const Status status = workers.Start(Spec(1));
  if (!status.ok()) return {status.ToString()};
  return NoticesOf(workers);
}

TEST(LocalWorkerProcessesTest, ReportsHowAWorkerEnded) {
  EXPECT_THAT(NoticesOf(Shell("exit 75")), ElementsAre("exit 75/0"));
  EXPECT_THAT(NoticesOf(Shell("kill -9 $$")), ElementsAre("exit 137/9"));
}

// The signal is held until the worker can take it. A program that never takes
// signals never receives it.
TEST(LocalWorkerProcessesTest, NoticeWaitsUntilTheWorkerCanTakeIt) {
  const PosixStorage storage;
  LocalWorkerProcesses workers(Shell("exit 3"), storage);
  ASSERT_TRUE(workers.Start(Spec(1)).ok());
  workers.Signal(1, WorkerSignal::kTerminate);
  EXPECT_THAT(NoticesOf(workers), ElementsAre("exit 3/0"));
  LocalWorkerOptions options = Shell("");
  options.program = REAL_TEST_CHILD;
  options.arguments = {"starting"};
  LocalWorkerProcesses slow(options, storage);
  ASSERT_TRUE(slow.Start(Spec(1)).ok());
  slow.Signal(1, WorkerSignal::kTerminate);
  EXPECT_THAT(NoticesOf(slow),
              ElementsAre(HasSubstr("starting"), HasSubstr("ready, notices 1"),
                          "exit 0/0"));
}

TEST(LocalWorkerProcessesTest, HandsOutAllReportsBeforeTheExit) {
  LocalWorkerOptions options = Shell("");
  options.program = REAL_TEST_CHILD;
  options.arguments = {"report"};
  EXPECT_THAT(NoticesOf(options),
              ElementsAre("step 7", "result done", "exit 75/0"));
}

TEST(LocalWorkerProcessesTest, ExitIsLastThoughAPipeFullOfLinesIsUnread) {
  const auto notices = NoticesOf(Shell(
      "i=0; while [ $i -lt 900 ]; do echo \"line $i\" >&3; i=$((i+1)); done; "
      "exit 4"));
  ASSERT_EQ(notices.size(), 901u);
  EXPECT_THAT(notices[899], HasSubstr("line 899"));
  EXPECT_EQ(notices[900], "exit 4/0");
}

// Waits for the end of a child, without reaping it.
void AwaitEndOfAChild() {
  siginfo_t info = {};
  ASSERT_EQ(waitid(P_ALL, 0, &info, WEXITED | WNOWAIT), 0);
}

// A launcher that was paused finds a worker that has ended, with more reports
// than it reads at once from a running one. The result is the last of these.
TEST(LocalWorkerProcessesTest, TakesTheResult_BehindManyUnreadReports) {
  const PosixStorage storage;
  LocalWorkerOptions options = Shell("");
  options.program = REAL_TEST_CHILD;
  options.arguments = {"report-much"};
  LocalWorkerProcesses workers(options, storage);
  ASSERT_TRUE(workers.Start(Spec(1)).ok());
  AwaitEndOfAChild();
  const auto notices = NoticesOf(workers);
  if (notices.back() == "exit 77/0") GTEST_SKIP() << "see net.core.wmem_max";
  ASSERT_GT(notices.size(), 400u);
  EXPECT_EQ(notices[notices.size() - 2], "result done");
  EXPECT_EQ(notices.back(), "exit 0/0");
}

TEST(LocalWorkerProcessesTest, OutputOfAWorkerBecomesLinesForPeople) {
  EXPECT_THAT(NoticesOf(Shell("echo out; echo error >&2; printf half")),
              ElementsAre("out", "error", "half", "exit 0/0"));
}

// The output is not read while the worker runs, but the worker must not block.
TEST(LocalWorkerProcessesTest, WorkerNeverWaitsForTheReaderOfItsOutput) {
  const PosixStorage storage;
  const ScratchDirectory scratch;
  const std::string through = scratch / "through";
  ASSERT_EQ(mkfifo(through.c_str(), 0600), 0);
  LocalWorkerProcesses workers(
      Shell("head -c 1000000 /dev/zero; : >" + through + "; exit 7"), storage);
  ASSERT_TRUE(workers.Start(Spec(1)).ok());
  // Blocks until the worker opens the pipe.
  EXPECT_TRUE(Descriptor(open(through.c_str(), O_RDONLY)).valid());
  EXPECT_EQ(NoticesOf(workers).back(), "exit 7/0");
}

TEST(LocalWorkerProcessesTest, AcknowledgementReachesTheWorker) {
  const PosixStorage storage;
  LocalWorkerProcesses workers(Shell("read line <&3; echo \"$line\""), storage);
  ASSERT_TRUE(workers.Start(Spec(1)).ok());
  workers.Acknowledge(1);
  EXPECT_THAT(NoticesOf(workers),
              ElementsAre("{\"acknowledged\":true}", "exit 0/0"));
  workers.Acknowledge(1);
}

TEST(LocalWorkerProcessesTest, QuotesMalformedMessages) {
  const auto notices = NoticesOf(Shell("printf 'half a line' >&3"));
  ASSERT_EQ(notices.size(), 2u);
  EXPECT_THAT(notices[0], HasSubstr("worker 1: worker message: "));
  EXPECT_THAT(notices[0], HasSubstr("half a line"));
}

TEST(LocalWorkerProcessesTest, GrandchildThatKeepsThePipeDelaysNothing) {
  const PosixStorage storage;
  LocalWorkerProcesses workers(Shell("sleep 1000 & echo $! >&3; exit 0"),
                               storage);
  ASSERT_TRUE(workers.Start(Spec(1)).ok());
  const auto notices = NoticesOf(workers);
  ASSERT_EQ(notices.size(), 2u);
  EXPECT_EQ(notices[1], "exit 0/0");
  kill(std::stoi(notices[0].substr(notices[0].rfind(' '))), SIGKILL);
}

TEST(LocalWorkerProcessesTest, PassesPlaceAndFilesToTheWorker) {
  const ScratchDirectory scratch;
  setenv("SLURM_PROCID", "5", 1);
  LocalWorkerOptions options = Shell("echo \"$@\"; env");
  options.events_directory = "/events";
  options.logs_directory = scratch.path();
  options.environment = {"ADDED=yes"};
  EXPECT_THAT(NoticesOf(options), ElementsAre("exit 0/0"));
  unsetenv("SLURM_PROCID");
  const std::string log = TextOf(scratch / "worker-1-incarnation-2.log");
  EXPECT_THAT(log,
              HasSubstr("--worker 1 --incarnation 2 --launch 3 then here "
                        "--claimed 4 --launcher-fd 3 "
                        "--events /events/worker-1-incarnation-2.jsonl\n"));
  EXPECT_THAT(log, HasSubstr("ADDED=yes\n"));
  EXPECT_THAT(log, HasSubstr("TF_CONFIG={\"cluster\":{\"worker\":["
                             "\"127.0.0.1:5000\",\"127.0.0.1:5001\"]},"
                             "\"task\":{\"type\":\"worker\",\"index\":1}}\n"));
  EXPECT_THAT(log, testing::Not(HasSubstr("SLURM_PROCID")));
}

// Every user of this machine can read the arguments.
TEST(LocalWorkerProcessesTest, TokenIsInTheEnvironmentAndInNoArgument) {
  const std::string text(2 * JobToken::kBytes, 'a');
  const ScratchDirectory scratch;
  setenv("GAUNTLET_JOB_TOKEN", "another", 1);
  const PosixStorage storage;
  LocalWorkerOptions options = Shell("echo \"$0 $@\"; echo; env");
  options.logs_directory = scratch.path();
  LocalWorkerProcesses workers(options, storage);
  WorkerSpec spec = Spec(1);
  spec.token = *JobToken::Parse(text);
  ASSERT_TRUE(workers.Start(spec).ok());
  unsetenv("GAUNTLET_JOB_TOKEN");
  EXPECT_THAT(NoticesOf(workers), ElementsAre("exit 0/0"));
  const std::string log = TextOf(scratch / "worker-1-incarnation-2.log");
  const size_t environment = log.find("\n\n");
  EXPECT_EQ(log.substr(0, environment).find(text), std::string::npos);
  EXPECT_THAT(log.substr(environment),
              HasSubstr("GAUNTLET_JOB_TOKEN=" + text + "\n"));
  EXPECT_THAT(log, testing::Not(HasSubstr("another")));
}

TEST(LocalWorkerProcessesTest, GivesTheReason_WhenAWorkerCannotBeStarted) {
  LocalWorkerOptions options = Shell("");
  options.program = "/no/such/program";
  EXPECT_THAT(NoticesOf(options),
              ElementsAre(HasSubstr("NOT_FOUND: /no/such")));
  options = Shell("");
  options.logs_directory = "/no/such/folder";
  EXPECT_THAT(NoticesOf(options),
              ElementsAre(HasSubstr("NOT_FOUND: /no/such")));
}

TEST(LocalWorkerProcessesTest, SignalsReachOneWorkerOnly) {
  const PosixStorage storage;
  LocalWorkerProcesses workers(Shell("exec sleep 1000"), storage);
  ASSERT_TRUE(workers.Start(Spec(0)).ok());
  ASSERT_TRUE(workers.Start(Spec(1)).ok());
  workers.Signal(1, WorkerSignal::kKill);
  const auto first = workers.Next(Soon());
  EXPECT_EQ(first->worker, 1);
  EXPECT_EQ(std::get<WorkerExited>(first->content).signal, SIGKILL);
  workers.Signal(1, WorkerSignal::kTerminate);
  EXPECT_FALSE(workers.Next(In(std::chrono::milliseconds(1))).has_value());
  workers.Signal(0, WorkerSignal::kKill);
  EXPECT_EQ(std::get<WorkerExited>(workers.Next(Soon())->content).code, 137);
}

TEST(LocalWorkerProcessesTest, WorkerThatEndedCanBeStartedAgain) {
  const PosixStorage storage;
  LocalWorkerProcesses workers(Shell("exit 3"), storage);
  for (int incarnation = 0; incarnation < 3; ++incarnation) {
    ASSERT_TRUE(workers.Start(Spec(0)).ok());
    EXPECT_THAT(NoticesOf(workers), ElementsAre("exit 3/0"));
  }
}

TEST(LocalWorkerProcessesTest, DestructorLeavesNoWorkers) {
  const PosixStorage storage;
  std::string pid;
  {
    LocalWorkerProcesses workers(
        Shell("trap '' TERM; echo $$ >&3; exec sleep 1000"), storage);
    ASSERT_TRUE(workers.Start(Spec(0)).ok());
    pid = std::get<WorkerProgress>(workers.Next(Soon())->content).line;
  }
  EXPECT_EQ(kill(std::stoi(pid.substr(pid.rfind(' '))), 0), -1);
}

TEST(LocalWorkerProcessesTest, WorkersDieWithTheLauncherHoweverItDies) {
  TestProcess launcher({"launcher"});
  const int first = std::stoi(launcher.ReadLine());
  const int second = std::stoi(launcher.ReadLine());
  ASSERT_EQ(kill(first, 0), 0);
  launcher.Kill();
  EXPECT_TRUE(EndsSoon(first));
  EXPECT_TRUE(EndsSoon(second));
}

TEST(LocalWorkerProcessesTest, WorkersHoldTheLocksOfTheStorage) {
  const ScratchDirectory scratch;
  PosixStorage storage;
  auto lock = storage.Lock(scratch / "lock");
  LocalWorkerProcesses workers(Shell("exec sleep 1000"), storage);
  ASSERT_TRUE(workers.Start(Spec(0)).ok());
  lock->reset();
  EXPECT_FALSE(storage.Lock(scratch / "lock").ok());
  workers.Signal(0, WorkerSignal::kKill);
  EXPECT_THAT(NoticesOf(workers), ElementsAre("exit 137/9"));
  EXPECT_TRUE(storage.Lock(scratch / "lock").ok());
}

TEST(LocalWorkerProcessesTest, ReservedAddressesAreForWorkersAgainAndAgain) {
  const PosixStorage storage;
  LocalWorkerProcesses workers(Shell("exit 0"), storage);
  const auto addresses = *workers.ReserveAddresses(3);
  ASSERT_EQ(addresses.size(), 3u);
  GrpcNetwork network;
  for (const std::string& address : addresses) {
    for (int incarnation = 0; incarnation < 2; ++incarnation) {
      EXPECT_TRUE(network.Listen(address).ok()) << address;
    }
  }
  EXPECT_THAT(*workers.ReserveAddresses(3),
              testing::Each(testing::Not(
                  testing::AnyOf(addresses[0], addresses[1], addresses[2]))));
}

}  // namespace
}  // namespace gauntlet
