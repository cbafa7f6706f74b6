#include "harness/trainer/crash_findings.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "harness/trainer/name_pattern.h"
#include "reports/counted.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

std::string_view EffectOf(RecoveryVerdict verdict) {
  switch (verdict) {
    case RecoveryVerdict::kLostWork:
      return "work is lost";
    case RecoveryVerdict::kDiverged:
      return "the resumed run ends with other results, without an error";
    case RecoveryVerdict::kHangs:
      return "the resumed run does not end";
    default:
      return "the resumed run ends with an error";
  }
}

// "kill, torn".
std::string FaultNames(const std::vector<CrashTrial>& trials,
                       const std::vector<size_t>& of) {
  std::set<CrashFault> faults;
  for (const size_t i : of) faults.insert(trials[i].fault);
  std::vector<std::string_view> names;
  for (const CrashFault fault : faults) names.push_back(CrashFaultName(fault));
  return fmt::format("{}", fmt::join(names, ", "));
}

int SeverityOf(RecoveryVerdict verdict) {
  return verdict == RecoveryVerdict::kLostWork   ? 2
         : verdict == RecoveryVerdict::kDiverged ? 1
                                                 : 0;
}

}  // namespace

std::vector<CrashFinding> GroupFindings(
    const std::vector<CrashTrial>& trials,
    const std::vector<CrashVerdict>& verdicts) {
  using Key = std::tuple<RecoveryVerdict, std::string, std::string>;
  std::map<Key, CrashFinding> groups;
  for (size_t i = 0; i < trials.size(); ++i) {
    const CrashVerdict& verdict = verdicts[i];
    if (!IsFinding(verdict.verdict)) continue;
    CrashFinding& finding = groups[{verdict.verdict, trials[i].file_pattern,
                                    MessagePattern(trials[i].last_line)}];
    if (finding.trials.empty()) {
      finding.verdict = verdict.verdict;
      finding.reason = verdict.reason;
    }
    finding.trials.push_back(i);
  }
  std::vector<CrashFinding> findings;
  for (auto& [key, finding] : groups) {
    finding.title = fmt::format(
        "{}: a crash at {} ({}): {} ({})", RecoveryVerdictName(finding.verdict),
        std::get<1>(key).empty() ? "any file" : std::get<1>(key),
        FaultNames(trials, finding.trials), EffectOf(finding.verdict),
        Counted(finding.trials.size(), "crash point"));
    findings.push_back(std::move(finding));
  }
  std::ranges::stable_sort(findings, [](const auto& a, const auto& b) {
    const int left = SeverityOf(a.verdict);
    const int right = SeverityOf(b.verdict);
    return left != right ? left < right : a.trials.size() > b.trials.size();
  });
  return findings;
}

}  // namespace gauntlet
