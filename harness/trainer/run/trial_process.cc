#include "harness/trainer/run/trial_process.h"

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

constexpr int kTrialPollMs = 100;

// Returns true iff the process has ended.
bool HasEnded(const ChildProcess& child) {
  pollfd ready = {.fd = child.pidfd.get(), .events = POLLIN, .revents = 0};
  return poll(&ready, 1, kTrialPollMs) == 1;
}

}  // namespace

Result<TrialEnd> RunTrial(const TrialHost& host, const TrainerTrial& trial,
                          const std::filesystem::path& folder) {
  ASSIGN_OR_RETURN(const std::string text, TrialToJson(trial));
  RETURN_IF_ERROR(WriteTextFile(folder / kTrialFile, text));
  ASSIGN_OR_RETURN(const ChildProcess child,
                   StartChild({.path = host.program,
                               .arguments = {"trial", folder.string()},
                               .environment = trial.environment,
                               .log_file = (folder / "trial.log").string()}));
  bool is_cancelled = false;
  while (!HasEnded(child)) {
    if (is_cancelled || !host.interrupted || !host.interrupted()) continue;
    SendSignal(child, SIGKILL);
    is_cancelled = true;
  }
  const ChildEnd end = AwaitEnd(child);
  if (is_cancelled) return Cancelled("interrupted");
  if (end.code == 0)
    return TrialEndFromJson(ReadTextFile(folder / kTrialEndFile));
  const std::string said = ReadTextFile(folder / "trial.log");
  return IoError(fmt::format(
      "the process of a trial ended with {} and no result: {}", end.code,
      said.empty() ? "it said nothing" : said.substr(0, said.find('\n'))));
}

Status ProbeNamespaces(const TrialHost& host, NetworkAccess network,
                       const std::filesystem::path& folder) {
  const std::filesystem::path at = folder / "at";
  const std::filesystem::path from = folder / "from";
  std::error_code error;
  std::filesystem::create_directories(at, error);
  std::filesystem::create_directories(from, error);
  TrainerTrial trial{.arguments = {"true"},
                     .environment = {"PATH=/usr/bin:/bin"},
                     .output_file = (folder / "output.txt").string(),
                     .network = network,
                     .mounts = {{.from = from.string(), .at = at.string()}},
                     .directories = {at.string()}};
  return RunTrial(host, trial, folder).status();
}

}  // namespace gauntlet
