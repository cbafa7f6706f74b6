#include "harness/cli/report/run_report.h"

#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "chaos/inject/plan/plan.h"
#include "engine/world/fault_point.h"
#include "harness/cli/report/case_logs.h"
#include "harness/cli/run_folders/run_directory.h"
#include "harness/cli/run_folders/stored_records.h"
#include "harness/cli/run_folders/stored_runs.h"
#include "harness/record/result/result_file.h"
#include "harness/run/files/shell_word.h"
#include "harness/run/files/text_file.h"
#include "reports/ci/markdown_summary.h"
#include "reports/html/report.h"
#include "reports/junit.h"
#include "reports/trace/chrome_trace.h"
#include "reports/trace/gzip.h"
#include <fmt/format.h>

namespace gauntlet {

namespace {

FaultCatalogue WholeCatalogue() {
  FaultCatalogue catalogue;
  for (const FaultKindInfo& info : AllFaultKinds()) {
    catalogue.kinds.emplace_back(info.name);
  }
  for (const PointInfo& info : AllPoints()) {
    catalogue.points.emplace_back(info.name);
  }
  return catalogue;
}

// Returns the report of the case's crash test; "" if there is none.
std::string CrashTestPageOf(const CaseResult& one) {
  if (one.directory.empty()) return "";
  const std::filesystem::path page =
      std::filesystem::path(one.directory) / kCrashTestOfCase / kReportFileName;
  return IsFile(page) ? page.string() : "";
}

}  // namespace

std::string CommandOf(const RunCommand& command) {
  std::string text = "gauntlet run";
  if (command.demo) text += " --demo";
  for (const std::string& path : command.paths) text += " " + ShellWord(path);
  for (const std::string& name : command.names) {
    text += " -k " + ShellWord(name);
  }
  for (const std::string& label : command.labels) {
    text += " -L " + ShellWord(label);
  }
  if (command.shard.count > 1) {
    text +=
        fmt::format(" --shard {}/{}", command.shard.index, command.shard.count);
  }
  if (command.world == WorldChoice::kReal) text += " --world real";
  if (command.world == WorldChoice::kSimulated) text += " --world sim";
  if (command.device) {
    text += fmt::format(" --device {}", DeviceKindName(*command.device));
  }
  if (command.seed) text += fmt::format(" --seed {}", *command.seed);
  if (command.repeat > 1) text += fmt::format(" --repeat {}", command.repeat);
  if (command.retries > 0) {
    text += fmt::format(" --retries {}", command.retries);
  }
  if (command.flaky == FlakyVerdict::kPasses) text += " --flaky pass";
  if (command.jobs > 1) text += fmt::format(" -j {}", command.jobs);
  if (command.runs_directory != RunCommand().runs_directory) {
    text += " --runs " + ShellWord(command.runs_directory);
  }
  return text;
}

void AddTrace(CaseResult& one) {
  if (one.verdict.kind != VerdictKind::kFail) return;
  const std::optional<Record> record = StoredRecordOf(one);
  if (!record) return;
  const std::string file =
      std::filesystem::path(one.directory) / kChromeTraceFileName;
  if (WriteTextFile(file, Gzip(RenderChromeTrace(*record))).ok()) {
    one.timeline = file;
  }
}

std::string RenderReport(const RunResult& result) {
  return RenderHtml({.result = result,
                     .load = StoredRecordOf,
                     .unreadable = WhyUnreadable,
                     .crash_test = CrashTestPageOf,
                     .logs = LogsOf,
                     .scenario = StoredScenarioOf,
                     .command = result.command,
                     .catalogue = WholeCatalogue()});
}

Status WriteRunFiles(const RunResult& result,
                     const std::filesystem::path& directory) {
  RETURN_IF_ERROR(
      WriteTextFile(directory / kResultFileName, ResultToJson(result)));
  RETURN_IF_ERROR(
      WriteTextFile(directory / kJunitFileName, RenderJunit(result)));
  RETURN_IF_ERROR(
      WriteTextFile(directory / kReportFileName, RenderReport(result)));
  return WriteTextFile(
      directory / kSummaryFileName,
      RenderMarkdownSummary({.result = result, .load = StoredRecordOf}));
}

}  // namespace gauntlet
