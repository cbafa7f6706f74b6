#include "harness/trainer/run/recording.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <utility>

#include "harness/run/files/text_file.h"
#include "harness/trainer/run/temporary_files.h"
#include "harness/trainer/run/trainer_command.h"
#include "harness/trainer/text/program_output.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

// Time after which the recorded program counts as not ending.
constexpr Duration kRecordingLimit = std::chrono::hours(2);
constexpr Duration kLeastLimit = std::chrono::seconds(20);
constexpr int kLimitFactor = 10;

// Returns "exit code 2: train.py: error: unrecognized arguments".
std::string HowItEnded(const TrainerRunEnd& end, const RunFolder& run) {
  const std::string how = ExitText(end);
  const std::string last_line = LastLine(ReadTextFile(run.output()));
  return last_line.empty() ? how : how + ": " + last_line;
}

// Returns true iff words in the output suggest a network error.
bool SpeaksOfNetwork(std::string_view output) {
  // The first letters, whose case varies, are left out.
  constexpr std::array<std::string_view, 6> kWords = {
      "onnection", "etwork", "resolve", "getaddrinfo", "urlopen", "http"};
  return std::ranges::any_of(kWords, [&](std::string_view word) {
    return output.find(word) != output.npos;
  });
}

Status CheckEnd(const TrainerRunEnd& end, const RunFolder& run,
                const CrashTestPlan& plan) {
  const std::string command = ShellCommand(plan.command);
  if (end.is_timed_out) {
    return InvalidArgument(fmt::format(
        "{}: expected a run that ends, found one that had not after {:.0f} s "
        "(--trial-limit): test fewer steps",
        command, end.seconds));
  }
  if (end.background_processes > 0) {
    return InvalidArgument(fmt::format(
        "{}: expected a command that ends when the training has ended, found "
        "one that left processes in the background: run it in the foreground",
        command));
  }
  if (EndedWell(end)) return OkStatus();
  return InvalidArgument(fmt::format(
      "{}: expected a run that ends with 0, found {}{}", command,
      HowItEnded(end, run),
      plan.network == NetworkAccess::kPrivate &&
              SpeaksOfNetwork(ReadTextFile(run.output()))
          ? " (it had no network: --network shared gives it this machine's)"
          : ""));
}

bool BeginsFile(const FileOperation& operation) {
  return operation.kind == OperationKind::kCreate ||
         operation.kind == OperationKind::kMakeDirectory ||
         (operation.kind == OperationKind::kTruncate && operation.length == 0);
}

Status CheckOperations(const OperationLog& log, const RunFolder& run,
                       const CrashTestPlan& plan) {
  const bool writes =
      std::ranges::any_of(log.operations(), [](const FileOperation& operation) {
        const bool is_there = operation.name.directory == TrainerRuns::kOut ||
                              (!operation.to.path.empty() &&
                               operation.to.directory == TrainerRuns::kOut);
        return IsOwnCrashPoint(operation) && is_there;
      });
  if (writes) return OkStatus();
  const std::string last_line = LastLine(ReadTextFile(run.output()));
  return InvalidArgument(fmt::format(
      "{}: expected a program that writes its checkpoints below {{out}}, found "
      "no file there after {}",
      ShellCommand(plan.command),
      last_line.empty() ? "its run"
                        : "its run, whose last line is: " + last_line));
}

}  // namespace

std::vector<uint64_t> Recording::CrashPoints() const {
  std::vector<uint64_t> points;
  for (size_t i = 0; i < log.operations().size(); ++i) {
    const FileOperation& operation = log.operations()[i];
    if (IsOwnCrashPoint(operation) && !on_temporary_files.contains(i + 1))
      points.push_back(i + 1);
  }
  return points;
}

uint64_t Recording::QuietPoint() const {
  const std::vector<uint64_t> points = CrashPoints();
  const auto operation = [&](size_t i) -> const FileOperation& {
    return log.operations()[points[i] - 1];
  };
  uint64_t quietest = 0;
  auto best = std::pair(false, Duration(-1));
  for (size_t i = points.size() / 4; i + 1 < points.size(); ++i) {
    if (i >= points.size() - points.size() / 4) break;
    // However short the steps are, a save begins with creating or truncating a
    // file.
    const bool is_between =
        BeginsFile(operation(i + 1)) && !BeginsFile(operation(i));
    const auto found =
        std::pair(is_between, operation(i + 1).time - operation(i).time);
    if (found <= best) continue;
    best = found;
    quietest = points[i];
  }
  return quietest;
}

uint64_t Recording::BytesWritten() const { return log.list().byte_count; }

Result<Recording> Record(const TrainerRuns& runs, const CrashTestPlan& plan) {
  ASSIGN_OR_RETURN(const RunFolder folder, runs.NewFolder("recording"));
  Result<TrainerRunEnd> end =
      runs.Run(folder, {.arguments = plan.command,
                        .records = true,
                        .time_limit = plan.trial_limit > Duration::zero()
                                          ? plan.trial_limit
                                          : kRecordingLimit});
  if (end.status().code() == Code::kNotFound ||
      end.status().code() == Code::kFailedPrecondition) {
    return InvalidArgument(end.status().message());
  }
  RETURN_IF_ERROR(end.status());
  RETURN_IF_ERROR(CheckEnd(*end, folder, plan));
  ASSIGN_OR_RETURN(OperationLog log, OperationLog::Load(folder.log().string()));
  RETURN_IF_ERROR(CheckOperations(log, folder, plan));
  ASSIGN_OR_RETURN(std::set<uint64_t> temporary,
                   OperationsOnTemporaryFiles(log));
  return Recording{.run = folder,
                   .end = std::move(*end),
                   .log = std::move(log),
                   .on_temporary_files = std::move(temporary)};
}

Duration RunTimeLimit(const CrashTestPlan& plan,
                      const TrainerRunEnd& recorded) {
  if (plan.trial_limit > Duration::zero()) return plan.trial_limit;
  const auto recorded_time = std::chrono::duration_cast<Duration>(
      std::chrono::duration<double>(recorded.seconds));
  return std::max(kLeastLimit, kLimitFactor * recorded_time);
}

}  // namespace gauntlet
