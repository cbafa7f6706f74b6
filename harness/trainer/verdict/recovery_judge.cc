#include "harness/trainer/verdict/recovery_judge.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/text/counted.h"
#include "harness/trainer/text/name_pattern.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

// Returns the progress at which the run resumed: a step if the program prints
// it, else a number of operations.
std::optional<int64_t> ProgressOf(const CrashTrial& trial) {
  if (trial.resumed_step) return trial.resumed_step;
  if (!trial.resumed_from) return std::nullopt;
  return static_cast<int64_t>(trial.resumed_from->operation);
}

// Returns the numbers in the name, in their order: {8, 2} for "ckpt-08/rank2".
// A number of too many digits counts as the largest one.
std::vector<uint64_t> NumbersIn(std::string_view name) {
  constexpr std::string_view kDigits = "0123456789";
  std::vector<uint64_t> numbers;
  size_t begin = name.find_first_of(kDigits);
  while (begin != std::string_view::npos) {
    const size_t end =
        std::min(name.find_first_not_of(kDigits, begin), name.size());
    uint64_t number = UINT64_MAX;
    std::from_chars(name.data() + begin, name.data() + end, number);
    numbers.push_back(number);
    begin = name.find_first_of(kDigits, end);
  }
  return numbers;
}

std::string ResumePointName(const CrashTrial& trial) {
  if (trial.resumed_step == 0) return "the beginning";
  if (trial.resumed_step) return fmt::format("step {}", *trial.resumed_step);
  if (!trial.resumed_from || trial.resumed_from->files.empty())
    return "the beginning";
  return trial.resumed_from->files.front();
}

// Returns the number of operations before the first kill that leaves the same
// directories as the trial; nullopt if there is no such kill.
std::optional<uint64_t> KillOf(const CrashTrial& trial) {
  std::optional<uint64_t> first;
  if (trial.fault == CrashFault::kKill) first = trial.operation;
  for (const EqualCrash& crash : trial.equal_crashes) {
    if (crash.fault == CrashFault::kKill)
      first = std::min(first.value_or(crash.operation), crash.operation);
  }
  return first;
}

// Returns the first checkpoint file that the resumed run wrote again although
// it was finished before the crash; "" if there is none.
std::string MadeAgainBy(const CrashTrial& trial, uint64_t operation) {
  for (const RemadeFile& file : trial.made_again) {
    if (file.finished <= operation) return file.path;
  }
  return "";
}

bool Makes(const CrashTrial& trial, const std::string& file) {
  return !file.empty() &&
         std::ranges::any_of(trial.end.made, [&](const FileRead& made) {
           return made.directory == 0 && made.path == file;
         });
}

// Returns the names of the version that the run read and of the newest version.
// If both are contents of the same file, the first name includes the operations
// that wrote these contents.
std::pair<std::string, std::string> NamesOf(const CrashTrial& trial,
                                            const std::string& newest) {
  const std::string name = ResumePointName(trial);
  if (name != newest || !trial.resumed_from) return {name, newest};
  const CheckpointVersion& version = *trial.resumed_from;
  return {version.begin < version.operation
              ? fmt::format("{} as written by operations {} to {}", name,
                            version.begin, version.operation)
              : fmt::format("{} as written by operation {}", name,
                            version.operation),
          "its newer content"};
}

// A version from which a killed run has resumed with equal results.
struct CompleteVersion {
  int64_t progress = 0;
  uint64_t complete = 0;          // from this operation on
  uint64_t durable = 0;           // from this operation on, at the latest
  std::optional<uint64_t> begin;  // its first operation; nullopt: not known
  std::string name;
  std::string file;  // has contents of this version only; empty: none
};

class CompleteVersions {
 public:
  CompleteVersions(const std::vector<CrashTrial>& trials, uint64_t end) {
    std::map<int64_t, CompleteVersion> versions;
    for (const CrashTrial& trial : trials) {
      const std::optional<uint64_t> kill = KillOf(trial);
      if (!kill || !trial.has_equal_results) continue;
      const std::optional<int64_t> progress = ProgressOf(trial);
      if (!progress || *progress == 0) continue;
      const auto [known, is_new] = versions.try_emplace(
          *progress,
          CompleteVersion{
              .progress = *progress,
              .complete = *kill,
              .durable = end,
              .name = ResumePointName(trial),
              .file = trial.resumed_from ? trial.resumed_from->own_file : ""});
      if (!is_new)
        known->second.complete = std::min(known->second.complete, *kill);
      if (trial.resumed_from) known->second.begin = trial.resumed_from->begin;
    }
    for (auto& [progress, version] : versions) versions_.push_back(version);
    AddSavesWithOtherResults(trials);
    // Each version must be durable when the next one is begun.
    for (size_t i = 0; i + 1 < versions_.size(); ++i) {
      const CompleteVersion& next = versions_[i + 1];
      versions_[i].durable =
          std::max(versions_[i].complete, next.begin.value_or(next.complete));
    }
  }

  // Returns the newest version from which a run must resume after a crash that
  // comes after `operation`; nullptr if there is none.
  const CompleteVersion* NewestFor(CrashFault fault, uint64_t operation) const {
    const CompleteVersion* newest = nullptr;
    for (const CompleteVersion& version : versions_) {
      const uint64_t from =
          fault == CrashFault::kPowerLoss ? version.durable : version.complete;
      if (from <= operation) newest = &version;
    }
    return newest;
  }

  // Returns the number of saves after `from`, up to `to`.
  int64_t CountSaves(int64_t from, int64_t to) const {
    return std::ranges::count_if(saves_, [&](int64_t progress) {
      return from < progress && progress <= to;
    });
  }

 private:
  // Sets saves_: all versions, and older saves in the same files from which
  // killed runs resumed with other results.
  void AddSavesWithOtherResults(const std::vector<CrashTrial>& trials) {
    std::set<std::string> patterns;
    for (const CompleteVersion& version : versions_) {
      saves_.insert(version.progress);
      patterns.insert(NamePattern(version.name));
    }
    for (const CrashTrial& trial : trials) {
      const bool is_save =
          KillOf(trial) && EndedWell(trial.end) && trial.resumed_from &&
          !trial.resumed_from->files.empty() &&
          patterns.contains(NamePattern(trial.resumed_from->files.front()));
      if (is_save) saves_.insert(*ProgressOf(trial));
    }
  }

  std::vector<CompleteVersion> versions_;  // by progress
  std::set<int64_t> saves_;                // progress of each save
};

// Returns how much work the trial lost: "; 10 steps are recomputed", "; the
// work of 2 checkpoints is lost" or "; all work is lost: 2 checkpoints".
// Returns "" if it lost none, or if the place from which it resumed is not
// known.
std::string AmountText(const CrashTrial& trial, const CompleteVersion& newest,
                       const CompleteVersions& versions) {
  const std::optional<int64_t> progress = ProgressOf(trial);
  if (!progress || *progress >= newest.progress) return "";
  if (trial.resumed_step) {
    const int64_t steps = newest.progress - *progress;
    return fmt::format("; {} {} recomputed", Counted(steps, "step"),
                       steps == 1 ? "is" : "are");
  }
  const std::string saves =
      Counted(versions.CountSaves(*progress, newest.progress), "checkpoint");
  return *progress == 0 ? fmt::format("; all work is lost: {}", saves)
                        : fmt::format("; the work of {} is lost", saves);
}

// Returns "resumed from " or, for a run that lost all steps, "started from ".
std::string_view VerbOfResume(const CrashTrial& trial) {
  return trial.resumed_step == 0 ? "started from " : "resumed from ";
}

// Returns "made ckpt-10 again". If the program prints the step from which it
// resumed, returns "resumed from step 8, and made ckpt-10 again".
std::string MadeAgainText(const CrashTrial& trial, const std::string& file) {
  const std::string again = fmt::format("made {} again", file);
  if (!trial.resumed_step) return again;
  return fmt::format("{}{}, and {}", VerbOfResume(trial),
                     ResumePointName(trial), again);
}

// Returns the reason for lost work if the run made a file of a series again,
// although the file was there and complete.
std::string SeriesMadeAgainText(const CrashTrial& trial,
                                const std::string& file) {
  const std::string read =
      !trial.resumed_from || trial.resumed_from->files.empty()
          ? ""
          : trial.resumed_from->files.front();
  if (!ProgressOf(trial) || trial.newest_file.empty() ||
      read == trial.newest_file) {
    return MadeAgainText(trial, file) + ", which was there and whole";
  }
  std::string from = ResumePointName(trial);
  if (!read.empty() && read != from) from += fmt::format(" ({})", read);
  return fmt::format(
      "{}{}, though the newest complete checkpoint was {}; made {} again",
      VerbOfResume(trial), from, trial.newest_file, file);
}

// Returns "; as text, the name ckpt-8 comes after ckpt-12"; "" if the order of
// names does not explain which file the run read.
std::string NameOrderText(const CrashTrial& trial) {
  return ReadLastNameAsText(trial)
             ? fmt::format("; as text, the name {} comes after {}",
                           trial.resumed_from->files.front(), trial.newest_file)
             : "";
}

std::string_view SubjectOf(const CrashTrial& trial) {
  return trial.survived_fault ? "the run" : "the resumed run";
}

CrashVerdict JudgeEnd(const CrashTrial& trial, const CompleteVersion* newest) {
  if (trial.end.is_timed_out) {
    return {RecoveryVerdict::kHangs,
            fmt::format("{} had not ended after {:.0f} s", SubjectOf(trial),
                        trial.end.seconds)};
  }
  const std::string how = ExitText(trial.end);
  const std::string suffix =
      trial.last_line.empty() ? "" : ": " + trial.last_line;
  if (newest == nullptr && trial.has_reason && trial.end.signal == 0) {
    return {RecoveryVerdict::kRefused,
            fmt::format("no checkpoint was complete, and the resumed run says "
                        "so ({}{})",
                        how, suffix)};
  }
  return {RecoveryVerdict::kFails,
          fmt::format("{} ends with {}{}", SubjectOf(trial), how, suffix)};
}

// `operation`: number of operations before the crash.
CrashVerdict Judge(const CrashTrial& trial, CrashFault fault,
                   uint64_t operation, const CompleteVersions& versions) {
  const CompleteVersion* const newest = versions.NewestFor(fault, operation);
  if (!trial.has_happened) {
    return {RecoveryVerdict::kResumePointUnknown,
            "the fault did not happen: this run did other operations than the "
            "recorded one"};
  }
  if (!EndedWell(trial.end)) return JudgeEnd(trial, newest);
  if (!trial.has_equal_results) {
    return {
        RecoveryVerdict::kDiverged,
        fmt::format(
            "{} ends without an error and with other results{}",
            SubjectOf(trial),
            trial.differences.empty() ? "" : ": " + trial.differences.front())};
  }
  if (trial.survived_fault) {
    return {RecoveryVerdict::kRecovered, "equal results, without a restart"};
  }
  const std::optional<int64_t> progress = ProgressOf(trial);
  if (newest != nullptr && Makes(trial, newest->file)) {
    return {RecoveryVerdict::kLostWork,
            fmt::format("{}, which was complete after operation {}{}",
                        MadeAgainText(trial, newest->file), newest->complete,
                        AmountText(trial, *newest, versions))};
  }
  const std::string made_again = MadeAgainBy(trial, operation);
  if (newest != nullptr && !newest->file.empty() &&
      NamePattern(newest->file) == NamePattern(made_again)) {
    return {RecoveryVerdict::kLostWork,
            SeriesMadeAgainText(trial, made_again) +
                AmountText(trial, *newest, versions) + NameOrderText(trial)};
  }
  if (!progress) {
    return {RecoveryVerdict::kResumePointUnknown,
            "equal results; it is not known which checkpoint was read"};
  }
  if (newest == nullptr || *progress >= newest->progress) {
    return {
        RecoveryVerdict::kRecovered,
        fmt::format("equal results, resumed from {}", ResumePointName(trial))};
  }
  const auto [older, newer] = NamesOf(trial, newest->name);
  return {RecoveryVerdict::kLostWork,
          fmt::format("resumed from {}, though {} was complete after operation "
                      "{}{}",
                      older, newer, newest->complete,
                      AmountText(trial, *newest, versions))};
}

}  // namespace

bool ReadLastNameAsText(const CrashTrial& trial) {
  if (!trial.resumed_from || trial.resumed_from->files.empty()) return false;
  const std::string& read = trial.resumed_from->files.front();
  return NamePattern(read) == NamePattern(trial.newest_file) &&
         read > trial.newest_file &&
         NumbersIn(read) < NumbersIn(trial.newest_file);
}

std::vector<CrashVerdict> JudgeTrials(const std::vector<CrashTrial>& trials,
                                      uint64_t end) {
  const CompleteVersions versions(trials, end);
  std::vector<CrashVerdict> verdicts;
  verdicts.reserve(trials.size());
  for (const CrashTrial& trial : trials) {
    const auto judge = [&](CrashFault fault, uint64_t operation) {
      return Judge(trial, fault, operation, versions);
    };
    verdicts.push_back(judge(trial.fault, trial.operation));
    for (const EqualCrash& crash : trial.equal_crashes) {
      verdicts.back().equal_crashes.push_back(
          judge(crash.fault, crash.operation).verdict);
    }
  }
  return verdicts;
}

}  // namespace gauntlet
