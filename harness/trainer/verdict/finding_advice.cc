#include "harness/trainer/verdict/finding_advice.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>

#include "harness/trainer/text/name_pattern.h"
#include "harness/trainer/verdict/recovery_judge.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

bool LeavesUnfinishedFiles(CrashFault fault) {
  switch (fault) {
    case CrashFault::kKill:
    case CrashFault::kTornWrite:
    case CrashFault::kPowerLoss:
    case CrashFault::kDiskFull:
    case CrashFault::kIoError:
      return true;
    case CrashFault::kSigterm:
    case CrashFault::kPause:
    case CrashFault::kRankDeath:
      break;
  }
  return false;
}

// Returns the result files that differ after crashes of the finding. Returns
// none if a crash has no such file.
std::set<std::string> DifferentFiles(const TrainerFinding& finding,
                                     const std::vector<CrashTrial>& trials) {
  std::set<std::string> files;
  for (const size_t i : finding.trials) {
    if (trials[i].different_files.empty()) return {};
    files.insert(trials[i].different_files.begin(),
                 trials[i].different_files.end());
  }
  return files;
}

// Returns true iff a crash of the finding lost data of one of these files.
bool WereCut(const std::set<std::string>& files, const TrainerFinding& finding,
             const std::vector<CrashTrial>& trials) {
  return std::ranges::any_of(finding.trials, [&](size_t i) {
    return std::ranges::any_of(files, [&](const std::string& file) {
      return trials[i].lost_files.contains(NamePattern(file));
    });
  });
}

// Returns the files that are in the set `files` of any trial of the finding.
std::set<std::string> UnionOf(std::set<std::string> CrashTrial::*files,
                              const TrainerFinding& finding,
                              const std::vector<CrashTrial>& trials) {
  std::set<std::string> all;
  for (const size_t i : finding.trials)
    all.insert((trials[i].*files).begin(), (trials[i].*files).end());
  return all;
}

// Returns advice on files that a power loss left unfinished: sync a file before
// its rename, or the directory after it. Returns "" if the program omits
// neither.
std::string MissingSyncs(const TrainerFinding& finding,
                         const std::vector<CrashTrial>& trials) {
  if (trials[finding.trials.front()].fault != CrashFault::kPowerLoss) return "";
  const std::set<std::string> files =
      UnionOf(&CrashTrial::unsynced_files, finding, trials);
  const std::set<std::string> renames =
      UnionOf(&CrashTrial::unsynced_renames, finding, trials);
  const auto are_renamed = [](const std::set<std::string>& some) {
    return some.size() == 1 ? "is renamed" : "are renamed";
  };
  if (files.empty() && renames.empty()) return "";
  if (files.empty()) {
    return fmt::format("fsync the directory after {} {}",
                       fmt::join(renames, ", "), are_renamed(renames));
  }
  const std::string before =
      fmt::format("fsync {} before {} renamed", fmt::join(files, ", "),
                  files.size() == 1 ? "it is" : "they are");
  if (renames.empty()) return before;
  return files == renames
             ? before + ", and fsync the directory after that"
             : fmt::format("{}, and fsync the directory after {} {}", before,
                           fmt::join(renames, ", "), are_renamed(renames));
}

// Returns true iff the crashes lost work because of missing syncs, not because
// of files written in place.
bool LosesWorkWithoutSyncs(const TrainerFinding& finding,
                           const std::vector<CrashTrial>& trials) {
  return finding.verdict == RecoveryVerdict::kLostWork &&
         !MissingSyncs(finding, trials).empty();
}

}  // namespace

std::string WrittenInPlaceText(const TrainerFinding& finding,
                               const std::vector<CrashTrial>& trials) {
  if (finding.differs_in_control ||
      !LeavesUnfinishedFiles(trials[finding.trials.front()].fault) ||
      LosesWorkWithoutSyncs(finding, trials)) {
    return "";
  }
  const std::set<std::string> files =
      UnionOf(&CrashTrial::in_place_files, finding, trials);
  if (files.empty()) return "";
  return fmt::format("{} {} written in place", fmt::join(files, ", "),
                     files.size() == 1 ? "is" : "are");
}

std::string AdviceOnFinding(const TrainerFinding& finding,
                            const std::vector<CrashTrial>& trials,
                            const std::set<std::string>& logs) {
  const std::set<std::string> different = DifferentFiles(finding, trials);
  if (!different.empty() && std::ranges::includes(logs, different) &&
      !WereCut(different, finding, trials)) {
    return fmt::format(
        "leave {} out of the results (--result, or `trainer.result`): the "
        "program appends to {}, so a resumed run adds to what the crashed run "
        "wrote; no other file differs",
        fmt::join(different, ", "), different.size() == 1 ? "it" : "them");
  }
  if (finding.differs_in_control) {
    return "save the program's whole state in the checkpoint, and restore it: "
           "some of it is missing, such as that of a random-number generator, "
           "of the data sampler or of the optimizer";
  }
  const CrashTrial& first = trials[finding.trials.front()];
  if (!LeavesUnfinishedFiles(first.fault)) return "";
  if (LosesWorkWithoutSyncs(finding, trials))
    return MissingSyncs(finding, trials);
  const std::set<std::string> in_place =
      UnionOf(&CrashTrial::in_place_files, finding, trials);
  if (!in_place.empty()) {
    return fmt::format(
        "{}: write a temporary file, fsync it, rename it to {}, and fsync the "
        "directory",
        WrittenInPlaceText(finding, trials),
        in_place.size() == 1 ? *in_place.begin() : "the file's name");
  }
  if (first.fault == CrashFault::kPowerLoss)
    return MissingSyncs(finding, trials);
  if (first.fault != CrashFault::kKill && first.fault != CrashFault::kTornWrite)
    return "";
  switch (finding.verdict) {
    case RecoveryVerdict::kLostWork:
      return std::string(
                 "when the program resumes, read the newest checkpoint that is "
                 "complete") +
             (ReadLastNameAsText(first)
                  ? ": compare the numbers in the names, as the order of the "
                    "names as text is another one"
                  : "");
    case RecoveryVerdict::kFails:
    case RecoveryVerdict::kHangs:
      return first.file_pattern.empty()
                 ? ""
                 : fmt::format(
                       "when the program resumes, skip files that a "
                       "crash left unfinished ({})",
                       first.file_pattern);
    default:
      return "";
  }
}

}  // namespace gauntlet
