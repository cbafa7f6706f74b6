#include "engine/app/cluster/worker_command.h"

#include <cstdlib>
#include <memory>

#include "engine/app/cluster/worker_process.h"
#include "engine/cluster/resolver/tf_config.h"
#include "engine/real/process/launcher_socket.h"
#include "engine/real/real_world.h"
#include <fmt/format.h>
#include <fmt/ostream.h>

namespace gauntlet {
namespace {

constexpr uint64_t kMaxFile = uint64_t{1} << 20;

// Returns the launcher's token; nullopt if the worker was started by hand.
Result<std::optional<JobToken>> TokenOfEnvironment() {
  const char* const text = std::getenv(std::string(kTokenVariable).c_str());
  if (text == nullptr) return std::optional<JobToken>();
  Result<JobToken> token = JobToken::Parse(text);
  if (!token.ok()) return Annotate(token.status(), kTokenVariable);
  return std::optional(*token);
}

Result<WorkerSpec> WorkerSpecOf(const WorkerCommand& command) {
  const char* tf_config = std::getenv("TF_CONFIG");
  ASSIGN_OR_RETURN(ClusterPlace place,
                   ParseTfConfig(tf_config == nullptr ? "" : tf_config));
  RETURN_IF_ERROR(CheckIsWorker(place));
  // Without addresses this is the only worker: nothing connects to it, so any
  // port will do.
  if (place.addresses.empty()) place.addresses = {"127.0.0.1:0"};
  ASSIGN_OR_RETURN(std::optional<JobToken> token, TokenOfEnvironment());
  return WorkerSpec{
      .worker = command.worker.value_or(place.rank),
      .incarnation = command.incarnation,
      .rank = place.rank,
      .addresses = std::move(place.addresses),
      .token = std::move(token),
      .launch_hold = {.launch = command.launch, .claimed = command.claimed}};
}

Result<TrainOptions> ReadOptions(Storage& storage, const std::string& file) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(storage, file, kMaxFile));
  Result<TrainOptions> options = TrainOptionsFromJson(text);
  if (!options.ok()) return Annotate(options.status(), file);
  return options;
}

Result<std::unique_ptr<ProgressReporter>> OpenReporter(int fd) {
  if (fd < 0) {
    return std::unique_ptr<ProgressReporter>(
        std::make_unique<NoProgressReporter>());
  }
  ASSIGN_OR_RETURN(std::unique_ptr<LauncherSocket> socket,
                   LauncherSocket::Open(fd));
  return std::unique_ptr<ProgressReporter>(std::move(socket));
}

// Runs the worker, and ends the process. Returns only if the worker could not
// start, with the error.
Status Work(const WorkerCommand& command, const TrainHooks& hooks,
            RealWorld& real, ProgressReporter& reporter, Console& console) {
  ASSIGN_OR_RETURN(const TrainOptions options,
                   ReadOptions(real.storage, command.options_file));
  if (!options.preemption.signal.empty()) {
    InstallNoticeSignal(options.preemption.signal);
  }
  ReleaseSignals();
  ASSIGN_OR_RETURN(const WorkerSpec place, WorkerSpecOf(command));
  const auto on_end = [&](const WorkerEnd& end) {
    if (end.reason.empty()) return;
    reporter.Progress({.failure = end.reason});
    // A launcher prints the reason itself.
    if (command.launcher_fd >= 0) return;
    fmt::print(console.err, "worker {}: {}\n", place.worker, end.reason);
    console.Flush();
  };
  return RunRealWorker(real, {.host = real.host,
                              .options = options,
                              .place = place,
                              .reporter = reporter,
                              .hooks = hooks,
                              .events_file = command.events_file,
                              .plan = {.file = command.plan_file,
                                       .state = command.plan_state_directory},
                              .on_formed = {},
                              .on_end = on_end});
}

}  // namespace

int RunWorkerProcess(const WorkerCommand& command, const TrainHooks& hooks,
                     Console& console) {
  InstallSignalHandlers();
  RealWorld real;
  const auto reporter = OpenReporter(command.launcher_fd);
  const Status status = reporter.ok()
                            ? Work(command, hooks, real, **reporter, console)
                            : reporter.status();
  if (reporter.ok()) (*reporter)->Progress({.failure = status.message()});
  if (!reporter.ok() || command.launcher_fd < 0) {
    fmt::print(console.err, "gauntlet worker: {}\n", status.message());
  }
  return static_cast<int>(ExitForStart(status.code()));
}

}  // namespace gauntlet
