#include "harness/trainer/run/recording.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "engine/text/units.h"
#include "harness/run/files/text_file.h"
#include "harness/trainer/run/temporary_files.h"
#include "harness/trainer/run/trainer_command.h"
#include "harness/trainer/text/name_pattern.h"
#include "harness/trainer/text/program_output.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

// If the recorded program runs longer than this, the test reports that it does
// not end.
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
  // The first letter of a word is left out if it may be a capital.
  constexpr std::array<std::string_view, 6> kWords = {
      "onnection", "etwork", "resolve", "getaddrinfo", "urlopen", "http"};
  return std::ranges::any_of(kWords, [&](std::string_view word) {
    return output.find(word) != output.npos;
  });
}

Duration RecordingLimit(const CrashTestPlan& plan) {
  return plan.trial_limit > Duration::zero() ? plan.trial_limit
                                             : kRecordingLimit;
}

Status CheckEnd(const TrainerRunEnd& end, const RunFolder& run,
                const CrashTestPlan& plan) {
  const std::string command = ShellCommand(plan.command);
  if (end.is_timed_out) {
    return InvalidArgument(fmt::format(
        "{}: expected a run that ends within {}, found one that had not ended: "
        "raise --trial-limit, or test fewer steps",
        command, DurationToText(RecordingLimit(plan))));
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

std::vector<uint64_t> Recording::QuietPoints(size_t most) const {
  struct Candidate {
    uint64_t point = 0;
    bool begins_file = false;
    Duration pause{};      // until the next operation
    std::string next;      // pattern of the next operation's file
    size_t among_its = 0;  // position among those with the same `next`
  };
  const std::vector<uint64_t> points = CrashPoints();
  const size_t quarter = points.size() / 4;
  std::vector<Candidate> candidates;
  for (size_t i = quarter; i + 1 < points.size(); ++i) {
    if (i >= points.size() - quarter) break;
    const FileOperation& here = log.operations()[points[i] - 1];
    const FileOperation& next = log.operations()[points[i + 1] - 1];
    // If steps are short, so is the pause before a save. So the pause is not
    // enough to recognize a save. But every save begins by creating or
    // truncating a file.
    candidates.push_back({.point = points[i],
                          .begins_file = BeginsFile(next) && !BeginsFile(here),
                          .pause = next.time - here.time,
                          .next = NamePattern(next.name.path)});
  }
  std::ranges::stable_sort(candidates, std::greater<>(), [](const auto& one) {
    return std::pair(one.begins_file, one.pause);
  });
  if (!candidates.empty() && candidates.front().begins_file)
    std::erase_if(candidates, [](const auto& one) { return !one.begins_file; });
  std::map<std::string, size_t> counts;
  for (Candidate& one : candidates) one.among_its = counts[one.next]++;
  std::ranges::stable_sort(candidates, {}, &Candidate::among_its);
  std::vector<uint64_t> quiet;
  for (size_t i = 0; i < std::min(most, candidates.size()); ++i)
    quiet.push_back(candidates[i].point);
  return quiet;
}

uint64_t Recording::BytesWritten() const { return log.list().byte_count; }

Result<Recording> Record(const TrainerRuns& runs, const CrashTestPlan& plan) {
  ASSIGN_OR_RETURN(const RunFolder folder, runs.NewFolder("recording"));
  Result<TrainerRunEnd> end =
      runs.Run(folder, {.arguments = plan.command,
                        .records = true,
                        .time_limit = RecordingLimit(plan)});
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
