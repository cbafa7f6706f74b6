#include "harness/cli/judge_command.h"

#include <chrono>
#include <filesystem>
#include <set>
#include <string>

#include "harness/cli/exit_code.h"
#include "harness/cli/stored_records.h"
#include "harness/oracle/judge.h"
#include "harness/record/record_file.h"
#include "harness/record/result_file.h"
#include "reports/terminal.h"
#include <fmt/format.h>
#include <fmt/ostream.h>

namespace gauntlet {
namespace {

namespace fs = std::filesystem;

// The record files that the paths name: files, and all below folders, each
// path once and in order. kNotFound names a path without any.
Result<std::set<std::string>> FindRecords(
    const std::vector<std::string>& paths) {
  std::set<std::string> files;
  for (const std::string& path : paths) {
    std::error_code error;
    if (!fs::is_directory(path, error)) {
      if (!fs::exists(path, error)) {
        return NotFound(path + ": no such file or folder");
      }
      files.insert(path);
      continue;
    }
    const size_t before = files.size();
    fs::recursive_directory_iterator entries(path, error);
    for (; !error && entries != fs::end(entries); entries.increment(error)) {
      if (entries->path().filename() == kRecordFileName) {
        files.insert(entries->path().string());
      }
    }
    if (error) return IoError(fmt::format("{}: {}", path, error.message()));
    if (files.size() == before) {
      return NotFound(fmt::format(
          "{}: expected a {} in or below it, found none (the folder of a run "
          "or of a case has one)",
          path, kRecordFileName));
    }
  }
  return files;
}

Result<CaseResult> JudgeFile(const std::string& file) {
  ASSIGN_OR_RETURN(const Record record, LoadRecord(file));
  return CaseResult{.name = record.case_name,
                    .scenario = record.scenario,
                    .file = record.file,
                    .line = record.line,
                    .world = record.world,
                    .seconds = record.wall_seconds,
                    .directory = fs::path(file).parent_path().string(),
                    .verdict = Judge(record)};
}

}  // namespace

int RunJudge(const JudgeCommand& command, Console& console) {
  const auto fail = [&console](const Status& status) {
    fmt::print(console.err, "gauntlet judge: {}\n", status.message());
    return static_cast<int>(status.code() == Code::kNotFound
                                ? ExitCode::kNothingSelected
                                : ExitCode::kUsage);
  };
  const Result<std::set<std::string>> files = FindRecords(command.paths);
  if (!files.ok()) return fail(files.status());
  RunResult result;
  const auto begin = std::chrono::steady_clock::now();
  bool any_bad = false;
  for (const std::string& file : *files) {
    Result<CaseResult> judged = JudgeFile(file);
    if (judged.ok()) {
      result.cases.push_back(*std::move(judged));
      continue;
    }
    fail(judged.status());
    any_bad = true;
  }
  result.scenarios = result.cases.size();
  result.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
          .count();
  if (command.output == OutputFormat::kJson) {
    console.out << ResultToJson(result);
  } else {
    console.out << RenderVerdicts(
        result, console.out_style.colored() ? Colour::kOn : Colour::kOff);
  }
  return any_bad ? static_cast<int>(ExitCode::kUsage) : ExitCodeOf(result);
}

}  // namespace gauntlet
