#include "harness/trainer/verdict/equal_crashes.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace gauntlet {

std::vector<JudgedCrash> CrashesOf(const CrashTrial& trial,
                                   const CrashVerdict& verdict) {
  std::vector<JudgedCrash> crashes = {{.id = trial.id,
                                       .fault = trial.fault,
                                       .operation = trial.operation,
                                       .verdict = verdict.verdict}};
  for (size_t i = 0; i < trial.equal_crashes.size(); ++i) {
    const EqualCrash& crash = trial.equal_crashes[i];
    crashes.push_back({.id = crash.id,
                       .fault = crash.fault,
                       .operation = crash.operation,
                       .verdict = verdict.equal_crashes[i]});
  }
  std::ranges::stable_sort(crashes, {}, [](const JudgedCrash& crash) {
    return std::pair(!IsFinding(crash.verdict),
                     FaultOrder(crash.fault, crash.id));
  });
  return crashes;
}

std::vector<JudgedCrash> CrashesByFault(const CrashTrial& trial,
                                        const CrashVerdict& verdict) {
  std::vector<JudgedCrash> crashes = CrashesOf(trial, verdict);
  std::set<CrashFault> seen;
  std::erase_if(crashes, [&](const JudgedCrash& crash) {
    return !seen.insert(crash.fault).second;
  });
  return crashes;
}

std::string EqualCrashesText(const CrashTrial& trial,
                             const CrashVerdict& verdict) {
  std::string text;
  for (size_t i = 0; i < trial.equal_crashes.size(); ++i) {
    text += fmt::format("{}{} ({})", i == 0 ? "the same directories: " : ", ",
                        trial.equal_crashes[i].id,
                        RecoveryVerdictName(verdict.equal_crashes[i]));
  }
  return text;
}

}  // namespace gauntlet
