#include "harness/cli/report/report_command.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "engine/cli/exit_code.h"
#include "engine/cli/output_file.h"
#include "engine/text/counted.h"
#include "engine/utf8.h"
#include "harness/cli/report/github_outputs.h"
#include "harness/cli/report/report_merge.h"
#include "harness/cli/report/run_report.h"
#include "harness/cli/run_folders/run_directory.h"
#include "harness/cli/run_folders/stored_records.h"
#include "harness/cli/run_folders/stored_runs.h"
#include "harness/record/record_file.h"
#include "harness/record/result/result_file.h"
#include "harness/run/files/text_file.h"
#include "reports/ci/markdown_summary.h"
#include "reports/ci/run_comparison.h"
#include "reports/failures.h"
#include "reports/junit.h"
#include "reports/terminal.h"
#include <fmt/format.h>
#include <fmt/ostream.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace gauntlet {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

Colour ColourOf(const Console& console) {
  return console.out_style.colored() ? Colour::kOn : Colour::kOff;
}

// A file that the command may write.
struct Output {
  std::string_view option;
  std::string file;
  std::function<std::string(const RunResult&)> render;
};

std::vector<Output> OutputsOf(const ReportCommand& command) {
  std::vector<Output> outputs = {
      {"--html", command.html_file, RenderReport},
      {"--junit", command.junit_file, RenderJunit},
      {"--summary", command.summary_file, [](const RunResult& result) {
         return RenderMarkdownSummary(
             {.result = result, .load = StoredRecordOf});
       }}};
  std::erase_if(outputs,
                [](const Output& output) { return output.file.empty(); });
  return outputs;
}

// Returns an error if an output cannot be written. Must be called before the
// first output is written, so that an error leaves no output behind.
Status CheckOutputs(const ReportCommand& command) {
  const fs::path merged = fs::path(command.out_directory) / "";
  for (const Output& output : OutputsOf(command)) {
    const fs::path folder = fs::path(output.file).parent_path() / "";
    // The merge makes this folder.
    const bool is_made = !command.out_directory.empty() &&
                         folder.lexically_normal() == merged.lexically_normal();
    if (is_made) continue;
    RETURN_IF_ERROR(Annotate(CheckOutputFile(output.file), output.option));
  }
  return OkStatus();
}

// Prints a note for each case whose record is truncated or was changed, and for
// each failed case whose record is missing.
void NoteUnreadableRecords(const RunResult& result, Console& console) {
  constexpr size_t kMostRead = 100;
  size_t read = 0;
  for (const CaseResult& one : result.cases) {
    const fs::path file = fs::path(one.directory) / kRecordFileName;
    const bool has_failed = one.verdict.kind == VerdictKind::kFail;
    if (one.directory.empty() || (!has_failed && !IsFile(file))) continue;
    if (read++ == kMostRead) return;
    const Status loaded = LoadRecord(file).status();
    if (loaded.ok()) continue;
    fmt::print(console.err,
               "gauntlet report: note: {} ({}): {}: the page lacks its "
               "picture and timeline\n",
               EscapeBytes(one.name), EscapeBytes(one.world),
               EscapeBytes(loaded.message()));
  }
}

Status WriteOutputs(const ReportCommand& command, const RunResult& result,
                    Console& console) {
  const bool text = command.output == OutputFormat::kText;
  if (!command.html_file.empty()) NoteUnreadableRecords(result, console);
  for (const Output& output : OutputsOf(command)) {
    const std::string rendered = output.render(result);
    RETURN_IF_ERROR(
        Annotate(WriteTextFile(output.file, rendered), output.option));
    if (text) console.out << WrittenFileLine(output.file, rendered);
  }
  if (!command.github) return OkStatus();
  return PostToGithub(result, GithubStepOfEnvironment(), console);
}

// Returns the failures and the summary; for kRender also a line for each case.
// If the command also writes files or annotations, returns only the summary.
std::string ReportText(const ReportCommand& command, const StoredRun& run,
                       const Console& console) {
  const Colour colour = ColourOf(console);
  const RunResult& result = run.result;
  const bool has_outputs = !OutputsOf(command).empty() || command.github;
  const bool has_lines = !has_outputs && command.task == ReportTask::kRender;
  std::string out = RenderOpening(result);
  size_t width = 0;
  for (const CaseResult& one : result.cases) {
    width = std::max(width, std::min<size_t>(one.name.size(), 48));
  }
  for (const CaseResult& one : result.cases) {
    if (!has_lines || one.verdict.kind == VerdictKind::kNotRun) continue;
    out += RenderCaseLine(one, width, colour);
  }
  for (const CaseResult& one : result.cases) {
    if (has_outputs || !NeedsExplanation(one)) continue;
    out += "\n" + RenderFailure(one, colour, console.out_style.wrap_columns());
  }
  const fs::path page = run.folder / kReportFileName;
  if (!has_outputs && !CasesToExplain(result).empty() && IsFile(page)) {
    out += "\n" + RenderReportLine(page.string());
  }
  return out + (has_outputs ? "" : "\n") + RenderSummary(result, colour);
}

Result<int> Render(const ReportCommand& command, const StoredRun& run,
                   Console& console) {
  console.out << (command.output == OutputFormat::kJson
                      ? ResultToJson(run.result)
                      : ReportText(command, run, console));
  RETURN_IF_ERROR(WriteOutputs(command, run.result, console));
  return ExitCodeOf(run.result);
}

Result<int> Merge(const ReportCommand& command, Console& console) {
  ASSIGN_OR_RETURN(const MergedRun merged, MergeRuns(command));
  for (const std::string& copy : merged.copies) {
    fmt::print(console.err,
               "gauntlet report: note: {}: a copy of a run that was given "
               "before; it counts once\n",
               EscapeBytes(copy));
  }
  if (command.output == OutputFormat::kText) {
    fmt::print(console.out, "{} merged in {}\n",
               Counted(command.runs.size() - merged.copies.size(), "run"),
               EscapeBytes(merged.run.folder.string()));
  }
  return Render(command, merged.run, console);
}

Result<int> Compare(const ReportCommand& command, Console& console) {
  const fs::path runs = command.runs_directory;
  ASSIGN_OR_RETURN(const StoredRun before,
                   LoadStoredRun(command.runs[0], runs));
  ASSIGN_OR_RETURN(const StoredRun after, LoadStoredRun(command.runs[1], runs));
  const RunComparison comparison = CompareRuns(before.result, after.result);
  console.out << (command.output == OutputFormat::kJson
                      ? ComparisonToJson(comparison)
                      : RenderComparison(comparison, ColourOf(console)));
  return static_cast<int>(IsWorse(comparison) ? ExitCode::kViolated
                                              : ExitCode::kOk);
}

// Returns "2026-11-21T10:43:00Z" for "20261121T104300-77"; "-" if the name has
// no time.
std::string TimeOf(const std::string& id) {
  constexpr size_t kLength = 15;
  const std::string digits = id.substr(0, kLength);
  for (size_t i = 0; i < kLength; ++i) {
    const bool fits =
        i < digits.size() &&
        (i == 8 ? digits[i] == 'T'
                : std::isdigit(static_cast<unsigned char>(digits[i])) != 0);
    if (!fits) return "-";
  }
  return fmt::format("{}-{}-{}T{}:{}:{}Z", digits.substr(0, 4),
                     digits.substr(4, 2), digits.substr(6, 2),
                     digits.substr(9, 2), digits.substr(11, 2),
                     digits.substr(13, 2));
}

// A run in the list: its result, or the reason why it cannot be read.
struct ListedRun {
  std::string id;
  std::optional<RunResult> result;
  std::string error;
};

// Returns the runs, newest first. Skips links, such as `latest`, and other
// folders.
Result<std::vector<ListedRun>> ListRuns(const fs::path& runs) {
  RETURN_IF_ERROR(CheckFolderOfRuns(runs));
  RETURN_IF_ERROR(Annotate(CheckListing(runs), "--runs"));
  std::vector<std::string> ids = FoldersIn(runs);
  std::ranges::sort(ids, std::greater());
  std::vector<ListedRun> listed;
  for (const std::string& id : ids) {
    std::error_code unreadable;
    const bool is_unfinished = IsUnfinishedRun(runs / id);
    if (fs::is_symlink(runs / id, unreadable) ||
        (!is_unfinished && !IsFile(runs / id / kResultFileName))) {
      continue;
    }
    ListedRun& one = listed.emplace_back(ListedRun{.id = id});
    if (is_unfinished) {
      one.error = WhyUnfinished(runs / id);
      continue;
    }
    Result<StoredRun> run =
        LoadStoredRun((runs / id / kResultFileName).string(), runs);
    if (run.ok()) {
      one.result = std::move(run->result);
    } else {
      one.error = run.status().message();
    }
  }
  return listed;
}

std::string ListToText(const std::vector<ListedRun>& runs) {
  size_t width = 3;
  for (const ListedRun& run : runs) width = std::max(width, run.id.size());
  std::string out = fmt::format(
      "{:<{}}  {:<20} {:>7} {:>7} {:>7} {:>7} {:>12} {:>7} {:>7}  {}\n", "run",
      width, "time", "cases", "passed", "flaky", "failed", "inconclusive",
      "not run", "skipped", "seconds");
  for (const ListedRun& run : runs) {
    out += fmt::format("{:<{}}  ", EscapeBytes(run.id), width);
    if (!run.result) {
      out += EscapeBytes(run.error) + "\n";
      continue;
    }
    const CaseCounts counts = CountCases(*run.result);
    out += fmt::format(
        "{:<20} {:>7} {:>7} {:>7} {:>7} {:>12} {:>7} {:>7}  {:.1f}\n",
        TimeOf(run.id), run.result->cases.size(), counts.passed, counts.flaky,
        counts.failed, counts.inconclusive, counts.not_run, counts.skipped,
        run.result->seconds);
  }
  return out;
}

std::string ListToJson(const std::vector<ListedRun>& runs) {
  Json list = Json::array();
  for (const ListedRun& run : runs) {
    if (!run.result) {
      list.push_back({{"run", run.id}, {"error", run.error}});
      continue;
    }
    const CaseCounts counts = CountCases(*run.result);
    const std::string time = TimeOf(run.id);
    list.push_back({{"run", run.id},
                    {"time", time == "-" ? Json() : Json(time)},
                    {"cases", run.result->cases.size()},
                    {"passed", counts.passed},
                    {"flaky", counts.flaky},
                    {"failed", counts.failed},
                    {"inconclusive", counts.inconclusive},
                    {"not_run", counts.not_run},
                    {"skipped", counts.skipped},
                    {"seconds", run.result->seconds}});
  }
  const Json object = {{"schema", "gauntlet.runs/v1"}, {"runs", list}};
  return object.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<int> ListStoredRuns(const ReportCommand& command, Console& console) {
  ASSIGN_OR_RETURN(const std::vector<ListedRun> runs,
                   ListRuns(command.runs_directory));
  console.out << (command.output == OutputFormat::kJson ? ListToJson(runs)
                                                        : ListToText(runs));
  return static_cast<int>(ExitCode::kOk);
}

Result<int> Report(const ReportCommand& command, Console& console) {
  RETURN_IF_ERROR(CheckOutputs(command));
  switch (command.task) {
    case ReportTask::kList:
      return ListStoredRuns(command, console);
    case ReportTask::kMerge:
      return Merge(command, console);
    case ReportTask::kCompare:
      return Compare(command, console);
    case ReportTask::kRender:
      break;
  }
  ASSIGN_OR_RETURN(const StoredRun run,
                   LoadStoredRun(command.runs[0], command.runs_directory));
  return Render(command, run, console);
}

}  // namespace

int RunReport(const ReportCommand& command, Console& console) {
  const Result<int> code = Report(command, console);
  if (code.ok()) return *code;
  fmt::print(console.err, "gauntlet report: {}\n",
             EscapeBytes(code.status().message()));
  return static_cast<int>(ExitCode::kUsage);
}

}  // namespace gauntlet
