#include "harness/run/executor/real_run.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <sstream>
#include <string_view>
#include <utility>

#include "engine/real/host/cuda_plugin.h"
#include "engine/real/posix/folder_entries.h"
#include "engine/real/process/child_process.h"
#include "engine/real/process/worker_environment.h"
#include "engine/real/real_world.h"
#include "engine/real/storage/event_log_end.h"
#include "engine/text/units.h"
#include "harness/record/base_name.h"
#include "harness/record/event_file.h"
#include "harness/run/executor/event_folder.h"
#include "harness/run/executor/launch_sequence.h"
#include "harness/run/executor/launcher_output.h"
#include "harness/run/executor/metadata_server.h"
#include "harness/run/executor/output_files.h"
#include "harness/run/files/disk_room.h"
#include "harness/run/files/oom_kills.h"
#include "harness/run/files/text_file.h"
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

namespace gauntlet {
namespace {

namespace fs = std::filesystem;
using SteadyClock = std::chrono::steady_clock;

// Interval at which the harness looks for new events.
constexpr int kPollMs = 20;

// Returns the total size of the files in the directory.
uint64_t BytesBelow(const fs::path& directory) {
  uint64_t bytes = 0;
  std::error_code error;
  for (const auto& entry : EntriesOf(directory)) {
    const uint64_t size = entry.file_size(error);
    if (!error) bytes += size;
  }
  return bytes;
}

// Returns true iff /proc belongs to the PID namespace of this process.
bool ProcIsOfThisNamespace() {
  std::error_code error;
  return fs::read_symlink("/proc/self", error) == std::to_string(getpid());
}

// Variable in the environment of each process of a run; its value is the
// directory of the run.
constexpr std::string_view kDirectoryVariable = "GAUNTLET_RUN_DIRECTORY";

std::string MarkOf(std::string_view directory) {
  return fmt::format("{}={}", kDirectoryVariable, directory);
}

// Returns the environment of this process, with the mark of the run. Processes
// inherit it from the launcher.
std::vector<std::string> MarkedEnvironment(std::string_view directory) {
  std::vector<std::string> environment = ProcessEnvironment();
  std::erase_if(environment, [](const std::string& entry) {
    return VariableName(entry) == kDirectoryVariable;
  });
  environment.push_back(MarkOf(directory));
  return environment;
}

// A process that the run started and that has the run's directory in its
// command line.
struct ProcessOfRun {
  pid_t pid = 0;
  std::string name;  // "worker 1, incarnation 2 (process 4711)"
  bool is_worker_or_launcher = false;
};

// Returns the argument after `option`; "" if there is none.
std::string ValueOf(std::string_view option,
                    const std::vector<std::string>& arguments) {
  const auto at = std::ranges::find(arguments, option);
  return at == arguments.end() || at + 1 == arguments.end() ? "" : *(at + 1);
}

// REQUIRES: there is an argument.
ProcessOfRun DescribeProcess(const std::string& number,
                             const std::vector<std::string>& arguments) {
  const std::string& role = arguments.size() > 1 ? arguments[1] : "";
  std::string name(BaseName(arguments.front()));
  if (role == "worker") {
    name =
        fmt::format("worker {}, incarnation {}", ValueOf("--worker", arguments),
                    ValueOf("--incarnation", arguments));
  } else if (role == "launch") {
    name = "the launcher";
  }
  return {.pid = std::stoi(number),
          .name = fmt::format("{} (process {})", name, number),
          .is_worker_or_launcher = role == "worker" || role == "launch"};
}

// Returns the strings of a file in which each one ends with a NUL.
std::vector<std::string> ReadStrings(const fs::path& path) {
  std::vector<std::string> strings;
  std::istringstream text(ReadTextFile(path));
  for (std::string one; std::getline(text, one, '\0');) strings.push_back(one);
  return strings;
}

// Returns the processes of the run. A user's program that reads the run's files
// also has the directory in its command line, but it lacks the mark.
std::vector<ProcessOfRun> ProcessesOf(const std::string& directory) {
  std::vector<ProcessOfRun> found;
  for (const auto& entry : EntriesOf("/proc")) {
    const std::string number = entry.path().filename();
    if (number.find_first_not_of("0123456789") != number.npos) continue;
    const std::vector<std::string> arguments =
        ReadStrings(entry.path() / "cmdline");
    const bool has_directory =
        std::ranges::any_of(arguments, [&](const std::string& argument) {
          return argument.find(directory) != argument.npos;
        });
    if (!has_directory) continue;
    const std::vector<std::string> environment =
        ReadStrings(entry.path() / "environ");
    if (std::ranges::find(environment, MarkOf(directory)) ==
        environment.end()) {
      continue;
    }
    found.push_back(DescribeProcess(number, arguments));
  }
  return found;
}

class RealRun {
 public:
  RealRun(const RealRunPlace& place, const RunPlan& plan)
      : directory_(place.directory), program_(place.program), plan_(plan) {}

  RunLog Run();

 private:
  Status Prepare();
  Status RunEarlier();
  void RemoveNotices();
  // One start of the launcher. `number` counts all starts from 1; `planned` is
  // the index of the planned launch.
  struct Start {
    int number = 1;
    size_t planned = 0;
    const TrainOptions& train;
    int first_incarnation = 1;
  };

  void SetPlaces(TrainOptions& options) const;
  // Returns the options of the start, with directories and files of this run.
  LaunchOptions OptionsOf(const Start& start) const;
  // Starts the launcher and waits for its end. Returns nullopt if the harness
  // ended it, or if events are missing, so that no other start follows.
  Result<std::optional<LauncherEnd>> LaunchOnce(const Start& start);
  ChildProgram ProgramOf(const Start& start) const;
  ChildEnd Watch(const ChildProcess& launcher, const fs::path& events);
  // Returns an error that names a file at the limit on file sizes; "" if there
  // is none.
  std::string FileAtLimit() const;
  void NoteMissingEvents(std::string_view printed);
  Status CollectLauncher(int first_incarnation, LauncherRun& run);
  int IncarnationsSoFar() const;
  Status CollectIncarnations();
  void LookAround();

  fs::path PlanState() const { return directory_ / "plan.json.fired"; }
  fs::path OptionsFile(const Start& start) const {
    return directory_ / fmt::format("options-{}.json", start.number);
  }

  const fs::path directory_;
  const std::string program_;
  const RunPlan& plan_;
  const SteadyClock::time_point begin_ = SteadyClock::now();
  std::unique_ptr<MetadataServer> metadata_;  // null: not used
  RunLog log_;
};

Status RealRun::Prepare() {
  std::error_code error;
  for (const char* name : {"events", "logs"}) {
    fs::create_directory(directory_ / name, error);
    if (error) {
      return IoError(
          fmt::format("{}: {}", (directory_ / name).string(), error.message()));
    }
  }
  if (!plan_.train.preemption.url.empty()) {
    ASSIGN_OR_RETURN(metadata_,
                     MetadataServer::Start(MetadataFile(PlanState())));
  }
  if (plan_.before) RETURN_IF_ERROR(RunEarlier());
  return WriteTextFile(directory_ / "plan.json", PlanToJson(plan_.faults));
}

// Replaces the names of directories by those of this run. Empty names stay
// empty.
void RealRun::SetPlaces(TrainOptions& options) const {
  const auto set = [this](std::string& directory, const char* name) {
    if (!directory.empty()) directory = directory_ / name;
  };
  set(options.checkpoint.directory, "ckpt");
  set(options.summary.directory, "curves");
  set(options.export_directory, "trained");
}

LaunchOptions RealRun::OptionsOf(const Start& start) const {
  TrainOptions options = start.train;
  DeviceKind& device = options.kernels.device;
  if (device == DeviceKind::kAuto) {
    device = OpenCuda().ok() ? DeviceKind::kCuda : DeviceKind::kCpu;
  }
  PreemptionOptions& preemption = options.preemption;
  if (!preemption.file.empty()) preemption.file = directory_ / "notice";
  if (!preemption.url.empty()) preemption.url = metadata_->url();
  SetPlaces(options);
  if (plan_.before) options.start.weights = directory_ / "model";
  LauncherOptions launcher = plan_.launch;
  launcher.first_incarnation = start.first_incarnation;
  return {.train = std::move(options), .launcher = std::move(launcher)};
}

// Runs the earlier run of a warm start to its end.
Status RealRun::RunEarlier() {
  const fs::path options = directory_ / "options-before.json";
  const fs::path events = directory_ / "events-before";
  LaunchOptions launch = {.train = plan_.before->train,
                          .launcher = {.workers = plan_.before->workers,
                                       .restart = RestartPolicy::kNone}};
  launch.train.export_directory = directory_ / "model";
  RETURN_IF_ERROR(WriteTextFile(options, LaunchOptionsToJson(launch)));
  ASSIGN_OR_RETURN(
      const ChildProcess launcher,
      StartChild({.path = program_,
                  .arguments = {"launch", "--options", options, "--events",
                                events, "--logs", directory_ / "logs-before"},
                  .environment = MarkedEnvironment(directory_.string()),
                  .log_file = directory_ / "launch-before.json"}));
  const ChildEnd end = Watch(launcher, events);
  if (end.signal == 0 && end.code == 0) return OkStatus();
  return FailedPrecondition(
      fmt::format("the run before did not finish (exit code {}, signal {}) {}",
                  end.code, end.signal, log_.ending_detail));
}

int RealRun::IncarnationsSoFar() const {
  int incarnations = 0;
  for (const auto& [folder, ending] :
       {std::pair("events", ".jsonl"), std::pair("logs", ".log")}) {
    for (const auto& [key, path] :
         FilesOfWorkers(directory_ / folder, ending)) {
      incarnations = std::max(incarnations, key.second);
    }
  }
  return incarnations;
}

ChildProgram RealRun::ProgramOf(const Start& start) const {
  return {
      .path = program_,
      .arguments = {"launch", "--options", OptionsFile(start), "--plan",
                    directory_ / "plan.json", "--events", directory_ / "events",
                    "--logs", directory_ / "logs", "--plan-state", PlanState()},
      .environment = MarkedEnvironment(directory_.string()),
      .log_file = directory_ / fmt::format("launch-{}.json", start.number)};
}

// Waits until the launcher ends. Kills it if no event is written for too long,
// the time is up, the disk is full, a file has reached the limit on file sizes,
// or the run is interrupted.
ChildEnd RealRun::Watch(const ChildProcess& launcher, const fs::path& events) {
  uint64_t bytes = 0;
  SteadyClock::time_point sign_of_life = SteadyClock::now();
  FullDiskWatch full_disk({events, directory_ / "logs"});
  pollfd ended = {.fd = launcher.pidfd.get(), .events = POLLIN, .revents = 0};
  while (poll(&ended, 1, kPollMs) != 1) {  // timeout or EINTR: not ended
    const SteadyClock::time_point now = SteadyClock::now();
    const uint64_t bytes_now = BytesBelow(events);
    if (bytes_now != bytes) sign_of_life = now;
    bytes = bytes_now;
    if (plan_.interrupted && plan_.interrupted()) {
      log_.ending = RunEnding::kTimedOut;
      log_.harness_error = kWasInterrupted;
    } else if (now - sign_of_life > plan_.hang_limit) {
      log_.ending = RunEnding::kHung;
      log_.ending_detail = fmt::format(
          "no event from any worker for {:.1f}s",
          std::chrono::duration<double>(now - sign_of_life).count());
    } else if (now - begin_ > plan_.total_limit) {
      log_.ending = RunEnding::kTimedOut;
      log_.ending_detail =
          fmt::format("not over after {}", DurationToText(plan_.total_limit));
    } else if (full_disk.Found() || IsFull(directory_)) {
      log_.ending = RunEnding::kTimedOut;
      log_.disk_full = true;
    } else if (std::string at_limit = FileAtLimit(); !at_limit.empty()) {
      log_.ending = RunEnding::kTimedOut;
      log_.harness_error = std::move(at_limit);
    }
    if (log_.ending != RunEnding::kExited) {
      SendSignal(launcher, SIGKILL);
      break;
    }
  }
  return AwaitEnd(launcher);
}

// Removes the notices, because a job queue starts a job again on a machine
// without a notice.
void RealRun::RemoveNotices() {
  std::error_code error;
  fs::remove(directory_ / "notice", error);
  fs::remove(MetadataFile(PlanState()), error);
}

Result<std::optional<LauncherEnd>> RealRun::LaunchOnce(const Start& start) {
  RemoveNotices();
  RETURN_IF_ERROR(
      WriteTextFile(OptionsFile(start), LaunchOptionsToJson(OptionsOf(start))));
  const ChildProgram program = ProgramOf(start);
  ASSIGN_OR_RETURN(const ChildProcess launcher, StartChild(program));
  const ChildEnd end = Watch(launcher, directory_ / "events");
  const std::string printed = ReadTextFile(program.log_file);
  NoteMissingEvents(printed);
  log_.launchers.push_back(ReadLauncherOutput(printed, end));
  LauncherRun& run = log_.launchers.back();
  run.planned = start.planned;
  run.first_incarnation = start.first_incarnation;
  RETURN_IF_ERROR(CollectLauncher(start.first_incarnation, run));
  const bool is_over =
      log_.ending != RunEnding::kExited || !log_.harness_error.empty();
  if (is_over) return std::optional<LauncherEnd>();
  return std::optional(end.signal != 0 ? LauncherEnd::kKilled
                                       : LauncherEnd::kExited);
}

std::string RealRun::FileAtLimit() const {
  return FindFileAtLimit({directory_ / "events", directory_ / "events-before",
                          directory_ / "logs", directory_ / "logs-before",
                          directory_});
}

// If a process could not write all of its events, sets harness_error to the
// reason: without all events, the run cannot be judged. `printed`: the output
// of the launcher.
void RealRun::NoteMissingEvents(std::string_view printed) {
  const std::string_view end = FindEventLogEnd(printed);
  if (ReportsFullDisk(end)) log_.disk_full = true;
  if (log_.harness_error.empty()) log_.harness_error = end;
  if (log_.harness_error.empty()) log_.harness_error = FileAtLimit();
}

// Adds the events of the launcher. If the launcher was killed at once, it has
// none.
Status RealRun::CollectLauncher(int first_incarnation, LauncherRun& run) {
  const fs::path path = directory_ / "events" /
                        fmt::format("launcher-{}.jsonl", first_incarnation);
  const std::string text = ReadTextFile(path);
  if (text.find('\n') == text.npos) return OkStatus();
  Parsed<IncarnationEvents> parsed = ReadEventFile(text, path.string());
  if (!parsed.ok()) return InvalidArgument(parsed.error);
  run.events = std::move(parsed.value->events);
  return OkStatus();
}

// Collects the incarnations of workers. A process that ended before it emitted
// an event counts too: it has a log.
Status RealRun::CollectIncarnations() {
  std::map<IncarnationKey, IncarnationEvents> incarnations;
  for (const auto& [key, path] : FilesOfWorkers(directory_ / "logs", ".log")) {
    incarnations[key] = {
        .worker = key.first, .number = key.second, .events = {}};
    const std::string log = ReadTextFile(path);
    if (const std::string_view line = RanOutIn(log); !line.empty()) {
      log_.harness_error = fmt::format("{}: {}", path.string(), line);
    }
    log_.disk_full = log_.disk_full || ReportsFullDisk(log);
  }
  for (const auto& [key, path] :
       FilesOfWorkers(directory_ / "events", ".jsonl")) {
    incarnations[key] = {
        .worker = key.first, .number = key.second, .events = {}};
    const std::string text = ReadTextFile(path);
    log_.disk_full = log_.disk_full || ReportsFullDisk(text);
    if (text.find('\n') == text.npos) continue;
    Parsed<IncarnationEvents> incarnation = ReadEventFile(text, path.string());
    if (!incarnation.ok()) return InvalidArgument(incarnation.error);
    incarnations[key] = std::move(*incarnation.value);
  }
  for (auto& [key, incarnation] : incarnations)
    log_.incarnations.push_back(std::move(incarnation));
  return OkStatus();
}

void RealRun::LookAround() {
  // Waits up to a second, because processes that end together with the launcher
  // may still be visible for a moment.
  const SteadyClock::time_point until =
      SteadyClock::now() + std::chrono::seconds(1);
  std::vector<ProcessOfRun> left = ProcessesOf(directory_.string());
  while (!left.empty() && SteadyClock::now() < until) {
    usleep(kPollMs * 1000);
    left = ProcessesOf(directory_.string());
  }
  // Kills no process if /proc is of another PID namespace: its numbers then
  // stand for other processes here.
  const bool can_kill = ProcIsOfThisNamespace();
  for (const ProcessOfRun& process : left) {
    log_.left.processes.push_back(process.name);
    if (can_kill && process.is_worker_or_launcher) kill(process.pid, SIGKILL);
  }
  log_.left.processes_listed = can_kill;
  RealWorld real;
  World world = real.world();
  TrainOptions options = plan_.train;
  SetPlaces(options);
  const Status looked = LookAtLeftovers(world, options, log_.left);
  if (!looked.ok()) log_.harness_error = looked.message();
}

RunLog RealRun::Run() {
  const uint64_t oom_kills = CountOomKills();
  Status status = Prepare();
  LaunchSequence launches(plan_);
  int first_incarnation = 0;
  for (int start = 1; status.ok(); ++start) {
    // The number increases even if the last launcher started no worker, because
    // the name of a launcher's event file has this number in it.
    first_incarnation = std::max(first_incarnation, IncarnationsSoFar()) + 1;
    const Result<std::optional<LauncherEnd>> end =
        LaunchOnce({.number = start,
                    .planned = launches.planned(),
                    .train = launches.options(),
                    .first_incarnation = first_incarnation});
    status = end.status();
    if (!end.ok() || !*end) break;
    if (!launches.StartNextLaunch(log_.launchers.back(), **end)) break;
  }
  if (status.ok()) status = CollectIncarnations();
  log_.oom_kills = std::max(CountOomKills(), oom_kills) - oom_kills;
  LookAround();
  if (!status.ok()) {
    // Keeps an earlier error, which is closer to the cause.
    if (log_.harness_error.empty()) log_.harness_error = status.message();
    log_.disk_full = log_.disk_full || IsFull(directory_);
  }
  log_.wall_seconds =
      std::chrono::duration<double>(SteadyClock::now() - begin_).count();
  return std::move(log_);
}

}  // namespace

RunLog RunInProcesses(const RealRunPlace& place, const RunPlan& plan) {
  return RealRun(place, plan).Run();
}

}  // namespace gauntlet
