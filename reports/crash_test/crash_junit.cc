#include "reports/crash_test/crash_junit.h"

#include <cstdint>

#include "harness/trainer/verdict/equal_crashes.h"
#include "reports/junit.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr std::string_view kClass = "crash-test";

std::string TestOf(const CrashTrial& trial, const CrashVerdict& verdict) {
  std::string outcome;
  if (IsFinding(verdict.verdict)) {
    std::string details = trial.point + "\n";
    const std::string equal = EqualCrashesText(trial, verdict);
    if (!equal.empty()) details += equal + "\n";
    for (const std::string& line : trial.lost) details += line + "\n";
    for (const std::string& line : trial.tail) details += line + "\n";
    outcome =
        fmt::format("      <failure message=\"{}\" type=\"{}\">{}</failure>\n",
                    EscapeXml(verdict.reason),
                    RecoveryVerdictName(verdict.verdict), EscapeXml(details));
  } else if (verdict.verdict == RecoveryVerdict::kResumePointUnknown) {
    outcome = fmt::format("      <skipped message=\"{}\"/>\n",
                          EscapeXml(verdict.reason));
  }
  const std::string head =
      fmt::format("    <testcase classname=\"{}\" name=\"{}\" time=\"{:.3f}\"",
                  kClass, EscapeXml(trial.id), trial.end.seconds);
  return outcome.empty() ? head + "/>\n"
                         : head + ">\n" + outcome + "    </testcase>\n";
}

}  // namespace

std::string RenderCrashJunit(const CrashTestResult& result) {
  std::string tests;
  uint64_t count = result.trials.size();
  uint64_t failures = 0;
  uint64_t skipped = 0;
  uint64_t errors = 0;
  for (size_t i = 0; i < result.trials.size(); ++i) {
    const RecoveryVerdict verdict = result.verdicts[i].verdict;
    failures += IsFinding(verdict) ? 1 : 0;
    skipped += verdict == RecoveryVerdict::kResumePointUnknown ? 1 : 0;
    tests += TestOf(result.trials[i], result.verdicts[i]);
  }
  if (!result.no_verdict.empty()) {
    ++count;
    ++errors;
    tests += fmt::format(
        "    <testcase classname=\"{0}\" name=\"controls\" time=\"0\">\n"
        "      <error message=\"{1}\" type=\"no-verdict\">{1}</error>\n"
        "    </testcase>\n",
        kClass, EscapeXml(result.no_verdict));
  }
  const std::string numbers = fmt::format(
      "tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" "
      "time=\"{:.3f}\"",
      count, failures, errors, skipped, result.trial_seconds);
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<testsuites name=\"gauntlet\" {0}>\n"
      "  <testsuite name=\"{1}\" {0}>\n{2}  </testsuite>\n</testsuites>\n",
      numbers, EscapeXml(result.command), tests);
}

}  // namespace gauntlet
