#include "harness/trainer/run/trainer_runs.h"

#include <system_error>
#include <utility>

#include "engine/real/network/tcp_socket.h"
#include "engine/real/posix/posix_status.h"
#include "harness/trainer/python/fork_server.h"
#include "harness/trainer/run/trainer_command.h"

namespace gauntlet {
namespace {

namespace fs = std::filesystem;

Status Move(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::rename(from, to, error);
  return error ? PosixError(error.value(), from.string(), "rename")
               : OkStatus();
}

// Returns a port that is free now; another program may take it before its use.
std::string FreePort() {
  const Result<ReservedPort> port = ReservePort("127.0.0.1");
  return port.ok() ? std::to_string(port->port) : std::string(kDefaultPort);
}

}  // namespace

Status MakeDirectories(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  return error ? PosixError(error.value(), path.string(), "mkdir") : OkStatus();
}

TrainerRuns::TrainerRuns(const CrashTestPlan& plan, RunHost host,
                         fs::path folder)
    : host_(std::move(host)),
      network_(plan.network),
      log_limits_(plan.log_limits),
      runs_(folder / "runs"),
      place_(folder / "place") {}

Result<TrainerRuns> TrainerRuns::Make(const CrashTestPlan& plan,
                                      const RunHost& host,
                                      const fs::path& folder) {
  TrainerRuns runs(plan, host, folder);
  RETURN_IF_ERROR(MakeDirectories(runs.out_place()));
  RETURN_IF_ERROR(MakeDirectories(runs.temporary_place()));
  RETURN_IF_ERROR(MakeDirectories(runs.runs_ / "probe"));
  const Status probe =
      ProbeNamespaces(host, plan.network, runs.runs_ / "probe");
  if (probe.code() == Code::kCancelled) return probe;
  if (!probe.ok()) {
    runs.isolation_ = Isolation::kNone;
    runs.why_not_isolated_ = probe.message();
  }
  Remove({.folder = runs.runs_ / "probe"});
  return runs;
}

Result<RunFolder> TrainerRuns::NewFolder(const std::string& name) const {
  const RunFolder folder{.folder = runs_ / name};
  RETURN_IF_ERROR(MakeDirectories(folder.out()));
  RETURN_IF_ERROR(MakeDirectories(folder.temporary()));
  return folder;
}

std::vector<std::string> TrainerRuns::OwnVariables() const {
  // Without PYTHONHASHSEED, Python randomizes the hashes of strings, so the
  // results of two runs may differ.
  return {"TMPDIR=" + temporary_place().string(), "PYTHONHASHSEED=0"};
}

std::vector<std::string> TrainerRuns::Environment() const {
  return EnvironmentWith(OwnVariables());
}

void TrainerRuns::Remove(const RunFolder& folder) {
  std::error_code ignored;
  fs::remove_all(folder.folder, ignored);
}

Result<TrainerRunEnd> TrainerRuns::Run(const RunFolder& folder,
                                       const RunChoice& choice) const {
  const CommandPlaces places{.out = out_place().string(), .port = FreePort()};
  TrainerRun run{
      .arguments = FillPlaces(choice.arguments, places),
      .environment = Environment(),
      .output_file = folder.output().string(),
      .isolation = isolation_,
      .network = network_,
      .mounts = {{.from = folder.place().string(), .at = place_.string()}},
      .directories = {places.out, temporary_place().string()},
      .log_limits = log_limits_,
      .injections = choice.injections,
      .ranks_take_turns = choice.records || !choice.injections.empty(),
      .time_limit = choice.time_limit};
  if (choice.records) {
    RETURN_IF_ERROR(MakeDirectories(folder.log()));
    run.log_folder = folder.log().string();
  }
  return isolation_ == Isolation::kNone
             ? RunInPlace(folder, std::move(run))
             : RunInNamespaces(folder, std::move(run), choice.fork_server);
}

Result<TrainerRunEnd> TrainerRuns::RunInNamespaces(
    const RunFolder& folder, TrainerRun run,
    const ForkServer* fork_server) const {
  if (fork_server != nullptr) {
    run.fork_server = fork_server->folder().string();
    Result<TrainerRunEnd> end = RunInOwnProcess(host_, run, folder.folder);
    if (end.status().code() != Code::kUnavailable) return end;
    run.fork_server.clear();  // the program was not started
  }
  return RunInOwnProcess(host_, run, folder.folder);
}

// Moves the directories to the paths that the program sees, runs it, and moves
// them back.
Result<TrainerRunEnd> TrainerRuns::RunInPlace(const RunFolder& folder,
                                              TrainerRun run) const {
  run.mounts.clear();
  RETURN_IF_ERROR(Move(folder.out(), out_place()));
  RETURN_IF_ERROR(Move(folder.temporary(), temporary_place()));
  Result<TrainerRunEnd> end = RunInOwnProcess(host_, run, folder.folder);
  RETURN_IF_ERROR(Move(out_place(), folder.out()));
  RETURN_IF_ERROR(Move(temporary_place(), folder.temporary()));
  return end;
}

}  // namespace gauntlet
