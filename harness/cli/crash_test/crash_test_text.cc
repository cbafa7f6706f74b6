#include "harness/cli/crash_test/crash_test_text.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>
#include <vector>

#include "engine/cli/terminal/text_table.h"
#include "engine/text/counted.h"
#include "harness/bench/figures/byte_text.h"
#include "harness/cli/run_folders/run_directory.h"
#include "harness/trainer/verdict/equal_crashes.h"
#include "harness/trainer/verdict/finding_advice.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr size_t kMostFindings = 20;
constexpr size_t kMostNotes = 20;

std::string RecordingText(const CrashTestResult& result) {
  std::string text = fmt::format(
      "{}\n"
      "recorded: {:.1f} s, {} ({} crash points), {} written\n",
      result.command, result.seconds, Counted(result.operations, "operation"),
      result.crash_points, ByteText(result.bytes));
  for (const CrashControl& control : result.controls) {
    text += fmt::format("{}: {}{}\n", control.name,
                        control.holds ? "" : "DIFFERS: ", control.text);
  }
  if (!result.compared.empty())
    text += fmt::format("compared: {}\n", result.compared);
  for (const std::string& file : result.left_out)
    text += fmt::format("not compared: {}\n", file);
  return text;
}

// Returns a table with a row for each fault and a column for each verdict that
// occurs. If several faults can leave the same crash state, the state counts in
// the row of each of them.
std::string VerdictTable(const CrashTestResult& result) {
  constexpr size_t kVerdicts = kRecoveryVerdictNames.size();
  std::map<CrashFault, std::array<uint64_t, kVerdicts>> counts;
  std::array<uint64_t, kVerdicts> all = {};
  uint64_t tried_by_all = 0;
  for (size_t i = 0; i < result.trials.size(); ++i) {
    for (const JudgedCrash& crash :
         CrashesByFault(result.trials[i], result.verdicts[i])) {
      const auto verdict = static_cast<size_t>(crash.verdict);
      ++counts[crash.fault][verdict];
      ++all[verdict];
      ++tried_by_all;
    }
  }
  TextTable table;
  std::vector<std::string> head = {"crash", "tried"};
  for (size_t i = 0; i < kVerdicts; ++i) {
    if (all[i] > 0) head.emplace_back(kRecoveryVerdictNames[i]);
  }
  table.AddRow(std::move(head));
  for (const auto& [fault, row] : counts) {
    uint64_t tried = 0;
    for (const uint64_t count : row) tried += count;
    std::vector<std::string> cells = {std::string(CrashFaultName(fault)),
                                      std::to_string(tried)};
    for (size_t i = 0; i < kVerdicts; ++i) {
      if (all[i] > 0) cells.push_back(std::to_string(row[i]));
    }
    table.AddRow(std::move(cells));
  }
  std::string text = table.Render();
  if (tried_by_all > result.trials.size())
    text += "A state that several faults can leave counts in each row.\n";
  return text;
}

std::string FindingText(const CrashTestResult& result, size_t index,
                        const std::filesystem::path& folder) {
  const TrainerFinding& finding = result.findings[index];
  const CrashTrial& trial = result.trials[finding.trials.front()];
  std::string text = fmt::format("\n{}. {}\n   {}: {}\n", index + 1,
                                 finding.title, trial.id, trial.point);
  for (const std::string& line : trial.lost)
    text += fmt::format("      {}\n", line);
  text += fmt::format("   {}\n", finding.reason);
  const std::string advice =
      AdviceOnFinding(finding, result.trials, result.logs);
  if (!advice.empty()) text += fmt::format("   advice: {}\n", advice);
  text += fmt::format(
      "   repeat: sh {}\n",
      (folder / "findings" / std::to_string(index + 1) / "repro.sh").string());
  return text;
}

std::string Conclusion(const CrashTestResult& result) {
  if (!result.no_verdict.empty())
    return fmt::format("no verdict: {}\n", result.no_verdict);
  const auto recovered = static_cast<uint64_t>(
      std::ranges::count_if(result.verdicts, [](const CrashVerdict& verdict) {
        return verdict.verdict == RecoveryVerdict::kRecovered;
      }));
  return fmt::format("{} of {} recovered, {} in {:.0f} s\n", recovered,
                     Counted(result.trials.size(), "crash state"),
                     result.findings.empty()
                         ? "no findings"
                         : Counted(result.findings.size(), "finding"),
                     result.trial_seconds);
}

}  // namespace

std::string CrashTestResultToText(const CrashTestResult& result,
                                  const std::filesystem::path& folder) {
  std::string text = RecordingText(result);
  if (!result.trials.empty()) text += "\n" + VerdictTable(result);
  for (size_t i = 0; i < std::min(result.findings.size(), kMostFindings); ++i)
    text += FindingText(result, i, folder);
  if (result.findings.size() > kMostFindings) {
    text +=
        fmt::format("\n{} more: {}\n", result.findings.size() - kMostFindings,
                    (folder / "findings").string());
  }
  text += "\n" + Conclusion(result);
  const std::string untried = UntriedCrashesText(result);
  if (!untried.empty()) text += untried + "\n";
  for (size_t i = 0; i < std::min(result.notes.size(), kMostNotes); ++i)
    text += fmt::format("note: {}\n", result.notes[i]);
  text += fmt::format("report  {}\n", (folder / kReportFileName).string());
  return text;
}

std::string InterruptBeforeTrialsText(std::string_view stage) {
  return fmt::format(
      "interrupted during the stage \"{}\": no crash was tried, so no files "
      "are kept",
      stage);
}

}  // namespace gauntlet
