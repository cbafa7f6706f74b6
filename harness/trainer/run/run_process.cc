#include "harness/trainer/run/run_process.h"

#include <chrono>
#include <csignal>
#include <string>
#include <utility>

#include "engine/real/process/child_process.h"
#include "harness/run/files/text_file.h"
#include <fmt/format.h>
#include <poll.h>

namespace gauntlet {
namespace {

constexpr int kRunPollMs = 100;

// Returns true iff the process has ended.
bool HasEnded(const ChildProcess& child) {
  pollfd ready = {.fd = child.pidfd.get(), .events = POLLIN, .revents = 0};
  return poll(&ready, 1, kRunPollMs) == 1;
}

bool IsInterrupted(const RunHost& host) {
  return host.interrupted && host.interrupted();
}

}  // namespace

Result<TrainerRunEnd> RunInOwnProcess(const RunHost& host,
                                      const TrainerRun& run,
                                      const std::filesystem::path& folder) {
  // Checks for an interrupt before each run too, as a test consists of many
  // short runs.
  if (IsInterrupted(host)) return Cancelled("interrupted");
  ASSIGN_OR_RETURN(const std::string text, TrainerRunToJson(run));
  RETURN_IF_ERROR(WriteTextFile(folder / kRunFile, text));
  ASSIGN_OR_RETURN(
      const ChildProcess child,
      StartChild({.path = host.program,
                  .arguments = {std::string(kRunVerb), folder.string()},
                  .environment = run.environment,
                  .log_file = (folder / "run.log").string()}));
  bool is_cancelled = false;
  while (!HasEnded(child)) {
    if (is_cancelled || !IsInterrupted(host)) continue;
    SendSignal(child, SIGKILL);
    is_cancelled = true;
  }
  const ChildEnd end = AwaitEnd(child);
  if (is_cancelled) return Cancelled("interrupted");
  if (end.code == 0)
    return TrainerRunEndFromJson(ReadTextFile(folder / kRunEndFile));
  if (end.code == kDiskFullExit) {
    return ResourceExhausted(fmt::format(
        "no space left in {}: free space, or use --out DIR", folder.string()));
  }
  const std::string log = ReadTextFile(folder / "run.log");
  return IoError(fmt::format(
      "the process of a run ended with {} and no result: {}", end.code,
      log.empty() ? "its log is empty" : log.substr(0, log.find('\n'))));
}

Status ProbeNamespaces(const RunHost& host, NetworkAccess network,
                       const std::filesystem::path& folder) {
  const std::filesystem::path at = folder / "at";
  const std::filesystem::path from = folder / "from";
  std::error_code error;
  std::filesystem::create_directories(at, error);
  std::filesystem::create_directories(from, error);
  TrainerRun run{.arguments = {"true"},
                 .environment = {"PATH=/usr/bin:/bin"},
                 .output_file = (folder / "output.txt").string(),
                 .network = network,
                 .mounts = {{.from = from.string(), .at = at.string()}},
                 .directories = {at.string()}};
  return RunInOwnProcess(host, run, folder).status();
}

}  // namespace gauntlet
