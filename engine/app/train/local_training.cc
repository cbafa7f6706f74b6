#include "engine/app/train/local_training.h"

#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include "engine/api/weights/start_weights.h"
#include "engine/app/cluster/device_choice.h"
#include "engine/app/train/job_flags.h"
#include "engine/app/train/output_places.h"
#include "engine/app/train/start_error.h"
#include "engine/app/train/train_command.h"
#include "engine/cli/exit_code.h"
#include "engine/cli/flags/flags.h"
#include "engine/data/dataset.h"
#include "engine/real/network/tls_credentials.h"
#include "engine/real/posix/descriptor.h"
#include "engine/real/posix/high_descriptor.h"
#include "engine/real/posix/posix_status.h"
#include "engine/real/process/child_process.h"
#include "engine/real/process/local_worker_processes.h"
#include "engine/real/real_world.h"
#include "engine/real/storage/event_file.h"
#include "engine/real/storage/event_log_end.h"
#include "engine/world/directories.h"
#include <fmt/format.h>
#include <fmt/ostream.h>
#include <sys/mman.h>
#include <unistd.h>

namespace gauntlet {
namespace {

constexpr int kFirstKeptDescriptor = 10;  // ChildProgram::kept_descriptors

// A text in memory that workers inherit as an open file. However this process
// ends, no file stays on disk.
class Handout {
 public:
  static Result<std::unique_ptr<Handout>> Make(std::string_view text) {
    constexpr const char* kWhat = "options for the workers";
    const Descriptor low(memfd_create("gauntlet-options", MFD_CLOEXEC));
    if (!low.valid()) return PosixError(errno, kWhat, "memfd_create");
    ASSIGN_OR_RETURN(Descriptor fd,
                     DuplicateFrom(low, kFirstKeptDescriptor, kWhat));
    const ssize_t written = pwrite(fd.get(), text.data(), text.size(), 0);
    if (written < 0) return PosixError(errno, kWhat, "pwrite");
    if (written != static_cast<ssize_t>(text.size())) {
      return PosixError(EFBIG, kWhat, "pwrite");
    }
    return std::unique_ptr<Handout>(new Handout(std::move(fd)));
  }

  // Returns a path that is valid in each process that inherits the file. The
  // path has "self" instead of this process's id: a worker may be in another
  // PID namespace, where this id belongs to another process.
  std::string path() const {
    return fmt::format("/proc/self/fd/{}", fd_.get());
  }
  int descriptor() const { return fd_.get(); }

 private:
  explicit Handout(Descriptor fd) : fd_(std::move(fd)) {}

  const Descriptor fd_;
};

// Fails before the start of workers if the data cannot be listed; otherwise
// every worker would fail.
Status CheckData(Storage& storage, const DataSpec& data) {
  if (data.kind == DataKind::kDigits) return OkStatus();
  const Status listed = storage.List(data.path).status();
  if (listed.code() == Code::kNotFound) {
    return NotFound(fmt::format(
        "the job's data: {}: expected a folder, found none (--data DIR){}",
        data.path, DataPrefixHint(data)));
  }
  return Annotate(listed, "the job's data");
}

// Returns the workers' options, with the digest of the start weights. A worker
// that then finds other weights fails: the file was changed meanwhile.
Result<TrainOptions> OptionsForWorkers(World& world, TrainOptions options) {
  if (options.start.weights.empty()) return options;
  ASSIGN_OR_RETURN(const auto data, LoadData(world.storage, options.job.data));
  RETURN_IF_ERROR(
      DescribeStartError(LoadStartWeights(world, data->train, options).status(),
                         options.start.weights));
  return options;
}

// Opens the file for the launcher's own events, in the directory of the
// workers' event files. After a failed write, no more events are written.
Result<std::unique_ptr<EventLog>> OpenLauncherEvents(
    const TrainCommand& command, const Clock& clock, Console& console) {
  if (command.events_directory.empty()) {
    return std::unique_ptr<EventLog>(std::make_unique<NullEventLog>());
  }
  const int first = command.launcher.first_incarnation;
  ASSIGN_OR_RETURN(
      std::unique_ptr<EventFile> file,
      EventFile::Open(
          fmt::format("{}/launcher-{}.jsonl", command.events_directory, first),
          {.worker = kLauncherEventWorker, .incarnation = first}, clock,
          [&console](const Status& status) {
            fmt::print(console.err, "gauntlet train: {}\n",
                       EventLogEndLine(status));
          }));
  return std::unique_ptr<EventLog>(std::move(file));
}

Result<int> TrainLocally(const TrainCommand& requested, const TrainHooks& hooks,
                         Console& console) {
  TrainCommand command = requested;
  RealWorld real;
  World world = real.world();
  RETURN_IF_ERROR(CheckPlaces(real.storage, command));
  std::unique_ptr<LauncherFaults> faults;
  if (!command.plan_file.empty()) {
    ASSIGN_OR_RETURN(faults,
                     hooks.launcher_faults(real.storage, command, console));
  }
  RETURN_IF_ERROR(ResolveDevice(command.options.kernels, console));
  RETURN_IF_ERROR(CheckCollective(command.options, command.launcher.workers));
  RETURN_IF_ERROR(CheckTlsFiles(real.storage, command.options.cluster.tls));
  RETURN_IF_ERROR(CheckData(real.storage, command.options.job.data));
  ASSIGN_OR_RETURN(const TrainOptions options,
                   OptionsForWorkers(world, command.options));
  RETURN_IF_ERROR(MakeOutputPlaces(real.storage, command));
  std::unique_ptr<LauncherTraceWriter> trace;
  if (!command.trace_file.empty()) {
    ASSIGN_OR_RETURN(trace, hooks.launcher_trace(command));
    command.events_directory = trace->events_directory();
  }
  ASSIGN_OR_RETURN(const auto handout,
                   Handout::Make(TrainOptionsToJson(options)));
  LocalWorkerOptions workers{
      .program = kThisProgram,
      .arguments = {"worker", "--options", handout->path()},
      .events_directory = command.events_directory,
      .logs_directory = command.logs_directory,
      .environment = {},
      .kept_descriptors = {handout->descriptor()}};
  if (faults) {
    workers.arguments.insert(workers.arguments.end(),
                             {"--plan", command.plan_file, "--plan-state",
                              faults->state_directory()});
  }
  LocalWorkerProcesses processes(std::move(workers), real.storage);
  ASSIGN_OR_RETURN(const auto events,
                   OpenLauncherEvents(command, real.clock, console));
  World logged = {real.clock, real.storage, real.network, real.tasks,
                  real.host,  real.faults,  *events,      real.entropy};
  const int exit_code = RunTrain(command, logged, processes, console);
  const bool complete = exit_code == static_cast<int>(ExitCode::kOk);
  if (faults && complete) faults->PrintUnfired(console);
  const Status traced = trace ? trace->Write(command) : OkStatus();
  if (traced.ok()) return exit_code;
  fmt::print(console.err, "gauntlet train: {}{}\n", traced.message(),
             complete ? "; training itself is complete" : "");
  return complete ? static_cast<int>(ExitCode::kNoVerdict) : exit_code;
}

}  // namespace

int TrainOnThisMachine(const TrainCommand& command, const TrainHooks& hooks,
                       Console& console) {
  InstallSignalHandlers();
  if (const std::string& signal = command.options.preemption.signal;
      !signal.empty()) {
    InstallNoticeSignal(signal);
  }
  ReleaseSignals();
  const Result<int> exit_code = TrainLocally(command, hooks, console);
  if (exit_code.ok()) return *exit_code;
  const Status& status = exit_code.status();
  fmt::print(console.err, "gauntlet train: {}\n", status.message());
  // A later start may find enough resources.
  return static_cast<int>(status.code() == Code::kResourceExhausted
                              ? ExitCode::kLostWorker
                              : ExitCode::kUsage);
}

namespace {

Result<LaunchOptions> ReadLaunchOptions(const std::string& file) {
  constexpr uint64_t kMaxOptionsBytes = uint64_t{1} << 20;
  PosixStorage storage;
  const Result<std::string> text = ReadFile(storage, file, kMaxOptionsBytes);
  if (text.status().code() == Code::kNotFound) {
    return NotFound(
        fmt::format("--options: {}: expected a JSON file of options, found "
                    "nothing{}",
                    file, DidYouMeanFile(file)));
  }
  RETURN_IF_ERROR(Annotate(text.status(), "--options"));
  Result<LaunchOptions> options = LaunchOptionsFromJson(*text);
  RETURN_IF_ERROR(Annotate(options.status(), "--options: " + file));
  return options;
}

}  // namespace

int RunLaunch(const LaunchCommand& command, const TrainHooks& hooks,
              Console& console) {
  Result<LaunchOptions> options = ReadLaunchOptions(command.options_file);
  if (!options.ok()) {
    fmt::print(console.err, "gauntlet launch: {}\n",
               options.status().message());
    return static_cast<int>(ExitCode::kUsage);
  }
  TrainCommand train = command.train;
  train.options = std::move(options->train);
  train.launcher = std::move(options->launcher);
  return TrainOnThisMachine(train, hooks, console);
}

}  // namespace gauntlet
