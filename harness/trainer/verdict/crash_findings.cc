#include "harness/trainer/verdict/crash_findings.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include "engine/text/columns.h"
#include "engine/text/counted.h"
#include "harness/trainer/text/name_pattern.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

constexpr size_t kNamedFiles = 3;
constexpr size_t kShownColumns = 60;  // of a message
constexpr std::string_view kNoCrashNeeded =
    "a stop between two saves and a resume already gives a different result: "
    "no crash is needed; ";

// Returns the class of the exception in a last line, or else the beginning of
// the message, in quotes; "" if there is no line.
std::string CauseOf(const std::string& last_line) {
  std::string cause = ExceptionClass(last_line);
  if (!cause.empty() || last_line.empty()) return cause;
  cause = MessagePattern(last_line);
  const size_t shown = BytesOf(cause, kShownColumns);
  if (shown < cause.size()) cause = cause.substr(0, shown) + "…";
  return fmt::format("\"{}\"", cause);
}

std::string EffectOf(RecoveryVerdict verdict, const std::string& cause) {
  switch (verdict) {
    case RecoveryVerdict::kLostWork:
      return "work is lost";
    case RecoveryVerdict::kDiverged:
      return "the run ends with other results, without an error";
    case RecoveryVerdict::kHangs:
      return cause.empty() ? "the run does not end"
                           : "the run does not end; its last line is " + cause;
    default:
      return "the run ends with " + (cause.empty() ? "an error" : cause);
  }
}

int SeverityOf(RecoveryVerdict verdict) {
  return verdict == RecoveryVerdict::kLostWork   ? 2
         : verdict == RecoveryVerdict::kDiverged ? 1
                                                 : 0;
}

// Sort key: the simplest crash has the simplest fault, then the fewest losses,
// then the earliest operation.
auto SimplicityOf(const CrashTrial& trial) {
  return std::tuple(FaultOrder(trial.fault, trial.id), trial.lost.size(),
                    trial.operation);
}

// Returns the files that the crashes left unfinished, most frequent first: "a,
// b-*, 2 more (* stands for numbers)". These are the files of the operations
// that a power loss undid, else that of the operation at the crash.
std::string FilesText(const std::vector<CrashTrial>& trials,
                      const std::vector<size_t>& of) {
  std::map<std::string, size_t> counts;
  for (const size_t i : of) {
    for (const std::string& file : trials[i].lost_files) ++counts[file];
    if (!trials[i].lost_files.empty() || trials[i].file_pattern.empty())
      continue;
    ++counts[trials[i].file_pattern];
  }
  std::vector<std::pair<size_t, std::string>> files;
  for (const auto& [file, count] : counts) files.emplace_back(count, file);
  std::ranges::stable_sort(files, std::greater<>(),
                           [](const auto& file) { return file.first; });
  std::vector<std::string> names;
  for (size_t i = 0; i < std::min(files.size(), kNamedFiles); ++i)
    names.push_back(files[i].second);
  if (files.size() > kNamedFiles)
    names.push_back(fmt::format("{} more", files.size() - kNamedFiles));
  if (names.empty()) return "any file";
  const std::string text = fmt::format("{}", fmt::join(names, ", "));
  return text.find('*') == text.npos ? text : text + " (* stands for numbers)";
}

// Returns the title without the number of crash states.
std::string TitleOf(const TrainerFinding& finding,
                    const std::vector<CrashTrial>& trials,
                    bool needs_no_crash) {
  const std::string effect = EffectOf(
      finding.verdict, CauseOf(trials[finding.trials.front()].last_line));
  if (needs_no_crash) {
    return fmt::format("{}: any stop and resume, even without a crash: {}",
                       RecoveryVerdictName(finding.verdict), effect);
  }
  std::set<CrashFault> faults;
  for (const size_t i : finding.trials) faults.insert(trials[i].fault);
  std::vector<std::string_view> names;
  for (const CrashFault fault : faults) names.push_back(CrashFaultName(fault));
  return fmt::format("{}: {} at {}: {}", RecoveryVerdictName(finding.verdict),
                     fmt::join(names, ", "), FilesText(trials, finding.trials),
                     effect);
}

// Adds the simplest crash to titles that are equal, and to each title the
// number of crash states.
void CompleteTitles(const std::vector<CrashTrial>& trials,
                    std::vector<TrainerFinding>& findings) {
  std::map<std::string, int> counts;
  for (const TrainerFinding& finding : findings) ++counts[finding.title];
  for (TrainerFinding& finding : findings) {
    const CrashTrial& first = trials[finding.trials.front()];
    if (counts[finding.title] > 1)
      finding.title += fmt::format(", first {}: {}", first.id, first.point);
    finding.title +=
        fmt::format(" ({})", Counted(finding.trials.size(), "crash state"));
  }
}

}  // namespace

std::vector<TrainerFinding> GroupFindings(
    const std::vector<CrashTrial>& trials,
    const std::vector<CrashVerdict>& verdicts, ResumeControl control) {
  // Verdict, message, file.
  using Key = std::tuple<RecoveryVerdict, std::string, std::string>;
  std::map<Key, TrainerFinding> groups;
  for (size_t i = 0; i < trials.size(); ++i) {
    const RecoveryVerdict verdict = verdicts[i].verdict;
    if (!IsFinding(verdict) || trials[i].is_for_judging) continue;
    // A message identifies the cause better than the place of the crash. If
    // even the control diverges, all diverging runs have one cause.
    std::string message = ExceptionClass(trials[i].last_line);
    if (message.empty()) message = MessagePattern(trials[i].last_line);
    const bool is_one_cause = !message.empty() ||
                              verdict == RecoveryVerdict::kHangs ||
                              (verdict == RecoveryVerdict::kDiverged &&
                               control == ResumeControl::kDiffers);
    TrainerFinding& finding =
        groups[{verdict, message, is_one_cause ? "" : trials[i].file_pattern}];
    finding.verdict = verdict;
    finding.trials.push_back(i);
  }
  std::vector<TrainerFinding> findings;
  for (auto& [key, finding] : groups) {
    std::ranges::stable_sort(finding.trials, {},
                             [&](size_t i) { return SimplicityOf(trials[i]); });
    finding.reason = verdicts[finding.trials.front()].reason;
    const bool needs_no_crash = finding.verdict == RecoveryVerdict::kDiverged &&
                                control == ResumeControl::kDiffers;
    if (needs_no_crash) {
      finding.reason = std::string(kNoCrashNeeded) + finding.reason;
    }
    finding.title = TitleOf(finding, trials, needs_no_crash);
    findings.push_back(std::move(finding));
  }
  CompleteTitles(trials, findings);
  std::ranges::stable_sort(findings, [](const auto& a, const auto& b) {
    const int left = SeverityOf(a.verdict);
    const int right = SeverityOf(b.verdict);
    return left != right ? left < right : a.trials.size() > b.trials.size();
  });
  return findings;
}

}  // namespace gauntlet
