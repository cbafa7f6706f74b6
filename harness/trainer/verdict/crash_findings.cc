#include "harness/trainer/verdict/crash_findings.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include "engine/text/columns.h"
#include "engine/text/counted.h"
#include "harness/trainer/text/name_pattern.h"
#include "harness/trainer/verdict/equal_crashes.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

constexpr size_t kNamedFiles = 3;
constexpr size_t kShownColumns = 60;  // of a message

// Returns the class of the exception that the last line of an output states. If
// it states none, returns the beginning of the line in quotes; "" if there is
// no line.
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
// that a power loss undid or, for other faults, the file of the operation at
// the crash.
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

// Returns the title without the number of crash states. `stops`: operations
// after which a stop in the control run gave different results; may be empty.
std::string TitleOf(const TrainerFinding& finding,
                    const std::vector<CrashTrial>& trials,
                    const std::vector<uint64_t>& stops) {
  if (!stops.empty()) {
    return fmt::format(
        "{}: a resume gives other results, without an error, even without a "
        "crash: stops after {}",
        RecoveryVerdictName(finding.verdict), OperationsText(stops));
  }
  const std::string effect = EffectOf(
      finding.verdict, CauseOf(trials[finding.trials.front()].last_line));
  std::set<CrashFault> faults;
  for (const size_t i : finding.trials) faults.insert(trials[i].fault);
  std::vector<std::string_view> names;
  for (const CrashFault fault : faults) names.push_back(CrashFaultName(fault));
  return fmt::format("{}: {} at {}: {}", RecoveryVerdictName(finding.verdict),
                     fmt::join(names, ", "), FilesText(trials, finding.trials),
                     effect);
}

// A kill that was tried. If another fault leaves the same state and has a worse
// verdict, the trial is named after that fault.
struct Kill {
  uint64_t operation = 0;  // number of operations before the kill
  RecoveryVerdict verdict = RecoveryVerdict::kRecovered;
  bool recovered_from_checkpoint = false;
};

std::vector<Kill> KillsOf(const std::vector<CrashTrial>& trials,
                          const std::vector<CrashVerdict>& verdicts) {
  std::vector<Kill> kills;
  for (size_t i = 0; i < trials.size(); ++i) {
    for (const JudgedCrash& crash : CrashesOf(trials[i], verdicts[i])) {
      if (crash.fault != CrashFault::kKill) continue;
      kills.push_back(
          {.operation = crash.operation,
           .verdict = crash.verdict,
           .recovered_from_checkpoint = RecoveredFromCheckpoint(trials[i])});
    }
  }
  return kills;
}

// Returns true iff a kill after `first_stop` recovered from a checkpoint and a
// later kill diverged. Later recoveries prove nothing: kills after the last
// save recover even if no resume within the training gives equal results.
bool RecoversBetween(const std::vector<Kill>& kills, uint64_t first_stop) {
  uint64_t last_diverged = 0;
  for (const Kill& kill : kills) {
    if (kill.verdict == RecoveryVerdict::kDiverged)
      last_diverged = std::max(last_diverged, kill.operation);
  }
  return std::ranges::any_of(kills, [&](const Kill& kill) {
    return kill.recovered_from_checkpoint && kill.operation > first_stop &&
           kill.operation < last_diverged;
  });
}

// Returns the beginning of the reason of a finding if stops in the control run
// gave different results too. The text states how many kills recovered, with
// the same counts as in the table of verdicts. The counts include kills for
// judging.
std::string StopsReason(const std::vector<uint64_t>& stops,
                        const std::vector<CrashTrial>& trials,
                        const std::vector<CrashVerdict>& verdicts) {
  size_t tried = 0;
  size_t recovered = 0;
  size_t for_judging = 0;
  for (size_t i = 0; i < trials.size(); ++i) {
    for (const JudgedCrash& crash : CrashesByFault(trials[i], verdicts[i])) {
      if (crash.fault != CrashFault::kKill) continue;
      ++tried;
      if (trials[i].is_for_judging) ++for_judging;
      if (crash.verdict == RecoveryVerdict::kRecovered) ++recovered;
    }
  }
  std::string kills;
  if (recovered > 0) {
    kills =
        fmt::format("{} of {} recovered; ", recovered, Counted(tried, "kill"));
  }
  if (recovered > 0 && for_judging > 0) {
    kills = fmt::format(
        "of {} ({} requested, {} for comparison only), {} recovered; ",
        Counted(tried, "kill"), tried - for_judging, for_judging, recovered);
  }
  return fmt::format(
      "the crash is not the cause: the control stops the program between two "
      "saves and resumes it, and its results differ too (stops after {}); {}",
      OperationsText(stops), kills);
}

// If titles are equal, adds the simplest crash of the finding to each of them.
// Then adds the number of crash states to every title.
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

std::string OperationsText(const std::vector<uint64_t>& operations) {
  return fmt::format("operation{} {}", operations.size() == 1 ? "" : "s",
                     fmt::join(operations, ", "));
}

std::vector<TrainerFinding> GroupFindings(
    const std::vector<CrashTrial>& trials,
    const std::vector<CrashVerdict>& verdicts,
    const std::vector<uint64_t>& differing_stops) {
  const std::vector<Kill> kills = KillsOf(trials, verdicts);
  const bool never_equal = !differing_stops.empty() &&
                           !RecoversBetween(kills, differing_stops.front());
  // Verdict, message, file.
  using Key = std::tuple<RecoveryVerdict, std::string, std::string>;
  std::map<Key, TrainerFinding> groups;
  for (size_t i = 0; i < trials.size(); ++i) {
    const RecoveryVerdict verdict = verdicts[i].verdict;
    if (!IsFinding(verdict) || trials[i].is_for_judging) continue;
    // A message identifies the cause better than the place of the crash. If no
    // resume gives equal results, all diverging runs have one cause.
    std::string message = ExceptionClass(trials[i].last_line);
    if (message.empty()) message = MessagePattern(trials[i].last_line);
    const bool is_one_cause =
        !message.empty() || verdict == RecoveryVerdict::kHangs ||
        (verdict == RecoveryVerdict::kDiverged && never_equal);
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
    std::vector<uint64_t> stops;
    if (never_equal && finding.verdict == RecoveryVerdict::kDiverged) {
      stops = differing_stops;
      finding.differs_in_control = true;
      finding.reason = StopsReason(stops, trials, verdicts) + finding.reason;
    }
    finding.title = TitleOf(finding, trials, stops);
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
