#include "harness/bench/bench_training.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <limits>
#include <thread>
#include <utility>

#include "engine/real/process/worker_environment.h"
#include "engine/train/launcher_options.h"
#include "engine/utf8.h"
#include "harness/run/executor/event_folder.h"
#include "harness/run/executor/launcher_output.h"
#include "harness/run/files/disk_room.h"
#include "harness/run/files/text_file.h"
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <time.h>

namespace gauntlet {
namespace {

constexpr std::chrono::milliseconds kLookEvery{1};
// Bytes of the launcher's output that a message quotes.
constexpr size_t kMaxOutput = 300;

int64_t MonotonicNs() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

std::filesystem::path OutputFile(const std::filesystem::path& directory) {
  return directory / "launch.json";
}

}  // namespace

BenchTraining::BenchTraining(const BenchTrainingPlan& plan,
                             ChildProcess launcher)
    : directory_(plan.directory),
      launcher_(std::move(launcher)),
      steps_(directory_ / "events") {}

Result<std::unique_ptr<BenchTraining>> BenchTraining::Start(
    const BenchTrainingPlan& plan) {
  const std::filesystem::path options = plan.directory / "options.json";
  const LaunchOptions launch = {.train = plan.train,
                                .launcher = {.workers = plan.workers,
                                             .restart = plan.restart,
                                             .max_restarts = 1'000'000}};
  RETURN_IF_ERROR(WriteTextFile(options, LaunchOptionsToJson(launch)));
  ASSIGN_OR_RETURN(
      ChildProcess launcher,
      StartChild({.path = plan.program,
                  .arguments = {"launch", "--options", options, "--events",
                                plan.directory / "events", "--logs",
                                plan.directory / "logs"},
                  .environment = ProcessEnvironment(),
                  .log_file = OutputFile(plan.directory)}));
  return std::unique_ptr<BenchTraining>(
      new BenchTraining(plan, std::move(launcher)));
}

BenchTraining::~BenchTraining() {
  if (reaped_) return;
  // The workers end with their launcher.
  SendSignal(launcher_, SIGKILL);
  AwaitEnd(launcher_);
}

uint64_t BenchTraining::Step() { return steps_.Look(); }

bool BenchTraining::AwaitEndFor(std::chrono::milliseconds time) {
  if (reaped_) return true;
  pollfd ended = {.fd = launcher_.pidfd.get(), .events = POLLIN, .revents = 0};
  if (poll(&ended, 1, static_cast<int>(time.count())) != 1) return false;
  end_ = AwaitEnd(launcher_);
  reaped_ = true;
  return true;
}

Status BenchTraining::EndedEarly() {
  std::string output = ReadTextFile(OutputFile(directory_));
  const bool is_over_quota = output.find(std::strerror(EDQUOT)) != output.npos;
  FullDiskWatch full_disk(
      {directory_, directory_ / "events", directory_ / "logs"});
  if (is_over_quota || full_disk.Found() || IsFull(directory_)) {
    // Names the folder of the benchmark: it contains the folder of the trial,
    // which contains directory_.
    return FailedPrecondition(
        fmt::format("{}: the disk became full; use another one with --ckpt DIR",
                    directory_.parent_path().parent_path().string()));
  }
  // Keeps only the last line.
  while (!output.empty() && output.back() == '\n') output.pop_back();
  if (const size_t end = output.rfind('\n'); end != output.npos) {
    output.erase(0, end + 1);
  }
  if (output.size() > kMaxOutput) output.resize(kMaxOutput);
  return FailedPrecondition(
      fmt::format("the training run ended with exit code {}{}{}", end_.code,
                  output.empty() ? "" : ": ", EscapeBytes(output)));
}

Status BenchTraining::AwaitStep(uint64_t step,
                                const std::function<bool()>& interrupted) {
  while (steps_.Look() < step) {
    if (interrupted()) return Cancelled("interrupted");
    if (AwaitEndFor(kLookEvery)) {
      // The run ended. The step may have been one of its last.
      return steps_.Look() >= step ? OkStatus() : EndedEarly();
    }
  }
  return OkStatus();
}

bool BenchTraining::KillWorker(int worker, Kill& kill) const {
  const std::vector<WorkerPid> workers = Workers();
  const auto found = std::ranges::find(workers, worker, &WorkerPid::worker);
  if (found == workers.end()) return false;
  const Kill now = {.worker = worker, .t_ns = MonotonicNs()};
  if (::kill(found->pid, SIGKILL) != 0) return false;
  kill = now;
  return true;
}

Result<BenchTrainingEnd> BenchTraining::Finish(
    const std::function<bool()>& interrupted) {
  while (!AwaitEndFor(std::chrono::milliseconds(20))) {
    if (interrupted()) return Cancelled("interrupted");
  }
  const LauncherRun run =
      ReadLauncherOutput(ReadTextFile(OutputFile(directory_)), end_);
  if (end_.code != 0 || !run.result) return EndedEarly();
  ASSIGN_OR_RETURN(FolderEvents events,
                   ReadEventFolder(directory_ / "events", {},
                                   std::numeric_limits<uint64_t>::max()));
  return BenchTrainingEnd{.digest = run.result->digest,
                          .incarnations = std::move(events.incarnations)};
}

}  // namespace gauntlet
