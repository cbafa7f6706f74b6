#include "harness/cli/record/judge_command.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/cli/exit_code.h"
#include "engine/real/posix/folder_entries.h"
#include "engine/utf8.h"
#include "engine/world/directories.h"
#include "harness/cli/record/replay_target.h"
#include "harness/cli/run_folders/old_runs.h"
#include "harness/cli/run_folders/run_directory.h"
#include "harness/cli/run_folders/stored_records.h"
#include "harness/explore/diagnosis/divergence.h"
#include "harness/explore/diagnosis/replay.h"
#include "harness/oracle/judge.h"
#include "harness/record/record_file.h"
#include "harness/record/result/result_file.h"
#include "harness/run/case_runner.h"
#include "harness/run/failure/idle_fault.h"
#include "harness/run/reference.h"
#include "harness/run/suite.h"
#include "reports/terminal.h"
#include <fmt/format.h>
#include <fmt/ostream.h>

namespace gauntlet {
namespace {

namespace fs = std::filesystem;

// Returns the folder and all folders below it. Also returns links to folders,
// but does not follow them. Skips a folder that was removed meanwhile, and a
// link to nothing or to itself.
Result<std::vector<std::string>> FoldersBelow(const fs::path& top) {
  std::vector<std::string> folders;
  std::vector<fs::path> to_list = {top};
  while (!to_list.empty()) {
    const fs::path folder = std::move(to_list.back());
    to_list.pop_back();
    folders.push_back(folder.string());
    std::error_code error;
    for (const auto& entry : EntriesOf(folder, error)) {
      std::error_code unreadable;
      if (!entry.is_directory(unreadable)) continue;
      if (entry.is_symlink(unreadable)) {
        folders.push_back(entry.path().string());
      } else {
        to_list.push_back(entry.path());
      }
    }
    // For the folder of a process that has ended, Linux reports no_such_process
    // or invalid_argument.
    const bool is_removed = error == std::errc::no_such_file_or_directory ||
                            error == std::errc::no_such_process ||
                            error == std::errc::invalid_argument;
    if (error && !is_removed) {
      return IoError(fmt::format("{}: {}", folder.string(), error.message()));
    }
  }
  return folders;
}

// Finds the records in and below the given paths.
class RecordFinder {
 public:
  explicit RecordFinder(fs::path runs) : runs_(std::move(runs)) {}

  // `target` is a file, a folder, RUN or RUN/CASE. kInvalidArgument: the path
  // does not exist; kNotFound: there is no such run or case, or the folder has
  // no record.
  Status Add(const std::string& target) {
    const std::string what = WithoutLastSlashes(target);
    std::error_code error;
    if (!FindNamedRun(what, runs_) && fs::exists(what, error)) {
      return AddPath(what);
    }
    const bool is_path =
        LooksLikeAPath(what) && !IsFolderOfRun(fs::path(what).parent_path());
    if (is_path) {
      return InvalidArgument(what + ": no such file or folder");
    }
    ASSIGN_OR_RETURN(const RunTarget run, PickRunTarget(what, runs_));
    if (run.case_name.empty()) return AddPath(run.folder);
    ASSIGN_OR_RETURN(const std::vector<std::string> folders,
                     PickCaseFolders(run.folder, run.case_name));
    for (const std::string& folder : folders) {
      RETURN_IF_ERROR(AddPath(run.folder / folder));
    }
    return OkStatus();
  }

  // Record files without duplicates, in the order of the given paths. Those of
  // one path are in the order of SortCases.
  const std::vector<std::string>& files() const { return files_; }
  // Folders of cases without a record, and folders of crash tests of other
  // programs, which never have a record. Neither list has duplicates.
  const std::vector<std::string>& cases_without() const {
    return cases_without_;
  }
  const std::vector<std::string>& crash_tests() const { return crash_tests_; }

 private:
  Status AddPath(const fs::path& path) {
    std::error_code error;
    if (!fs::is_directory(path, error)) {
      AddOnce(path, files_);
      return OkStatus();
    }
    ASSIGN_OR_RETURN(std::vector<std::string> folders, FoldersBelow(path));
    SortCases(folders);
    bool any = false;
    for (const std::string& folder : folders) any = LookInto(folder) || any;
    if (any) return OkStatus();
    return NotFound(fmt::format(
        "{}: expected a {} in or below it, found none (the folder of a run "
        "or of a case has one)",
        path.string(), kRecordFileName));
  }

  // Adds the path to the list, unless a list has it already.
  void AddOnce(const fs::path& path, std::vector<std::string>& list) {
    std::error_code error;
    const fs::path real = fs::canonical(path, error);
    const bool is_new =
        real_paths_.insert(error ? path.string() : real.string()).second;
    if (is_new) list.push_back(path.string());
  }
  // Adds the record of the folder. If there is none, but the folder is that of
  // a case, adds the case to the crash tests or to those without a record.
  // Returns false if it added nothing.
  bool LookInto(const fs::path& folder) {
    const fs::path file = folder / kRecordFileName;
    std::error_code error;
    if (fs::exists(file, error)) {
      AddOnce(file, files_);
      return true;
    }
    if (!IsFolderOfCase(folder)) return false;
    AddOnce(folder,
            CrashTestFolderOf(folder).empty() ? cases_without_ : crash_tests_);
    return true;
  }

  const fs::path runs_;
  std::set<std::string> real_paths_;  // canonical paths in all lists
  std::vector<std::string> files_;
  std::vector<std::string> cases_without_;
  std::vector<std::string> crash_tests_;
};

// Searches for the causes of failed cases as `gauntlet run` does, by running
// each case again in the simulation.
class CauseSearch {
 public:
  explicit CauseSearch(Console& console) : console_(console) {}

  // Returns an empty explanation if the record has no state that differs from
  // the reference run's, or if the case cannot be run.
  Explanation Explain(const fs::path& folder, const Record& record) {
    if (!FirstDeparture(record)) return {};
    if (searched_++ >= kMostExplained) return {};
    Result<Explanation> found = Search(folder, record);
    if (found.ok()) return *std::move(found);
    fmt::print(console_.err,
               "gauntlet judge: note: {} ({}): the values that differ are not "
               "known, as the case cannot be run again: {}\n",
               EscapeBytes(record.case_name), EscapeBytes(record.world),
               EscapeBytes(found.status().message()));
    return {};
  }

  // Prints a note if the limit kMostExplained kept a case from being run again.
  void PrintLimit() const {
    if (searched_ <= kMostExplained) return;
    fmt::print(console_.err,
               "gauntlet judge: note: {} of {} failed cases were run again to "
               "find the values that differ; gauntlet replay RUN/CASE finds "
               "those of another\n",
               kMostExplained, searched_);
  }

 private:
  Result<Explanation> Search(const fs::path& folder, const Record& record) {
    std::string errors;
    ASSIGN_OR_RETURN(const Case one, CaseOfRecord(record, folder, errors));
    return ExplainTrajectory(one, record, references_);
  }

  Console& console_;
  References references_{"", ""};  // kept in memory only
  int searched_ = 0;
};

// Returns the case of a folder that has no record.
CaseResult CaseWithoutRecord(const fs::path& folder, VerdictKind kind,
                             std::string reason) {
  auto [name, world] = CaseOfFolder(folder);
  return {.name = std::move(name),
          .world = std::move(world),
          .directory = folder,
          .verdict = {.kind = kind, .reason = std::move(reason)}};
}

// Prints a note on each crash test, and returns them as skipped cases.
std::vector<CaseResult> SkipCrashTests(const RecordFinder& found,
                                       Console& console) {
  std::vector<CaseResult> skipped;
  for (const std::string& folder : found.crash_tests()) {
    skipped.push_back(CaseWithoutRecord(folder, VerdictKind::kSkip,
                                        WhyCrashTestHasNoRecord(folder)));
    fmt::print(console.err, "gauntlet judge: note: {}: skipped, as {}\n",
               EscapeBytes(folder), EscapeBytes(skipped.back().verdict.reason));
  }
  return skipped;
}

// Returns the folder that contains the case's folder.
fs::path RunFolderOf(const fs::path& case_folder) {
  return case_folder.has_parent_path() ? case_folder.parent_path() : ".";
}

// Returns true iff the run of this case is in progress, or was ended before it
// could write its result.
bool HasUnfinishedRun(const fs::path& case_folder) {
  const fs::path run = RunFolderOf(case_folder);
  return IsFile(run / kUnfinishedFileName) && !IsFolderOfRun(run);
}

Result<CaseResult> JudgeFile(const std::string& file, CauseSearch& causes) {
  ASSIGN_OR_RETURN(const Record record, LoadRecord(file));
  CaseResult result = {.name = record.case_name,
                       .scenario = record.scenario,
                       .file = record.file,
                       .line = record.line,
                       .world = record.world,
                       .seconds = record.wall_seconds,
                       .directory = fs::path(file).parent_path().string(),
                       .planted_bugs = record.setup.planted_bugs,
                       .verdict = Judge(record)};
  if (result.verdict.kind == VerdictKind::kFail) {
    ExplainCase(record, causes.Explain(result.directory, record), result);
  }
  ExplainIdleFault(record, result);
  return result;
}

void PrintCases(const RunResult& result, OutputFormat output,
                Console& console) {
  if (output == OutputFormat::kJson) {
    console.out << ResultToJson(result);
  } else {
    console.out << RenderVerdicts(
        result, console.out_style.colored() ? Colour::kOn : Colour::kOff,
        console.out_style.wrap_columns());
  }
  console.Flush();
}

}  // namespace

int RunJudge(const JudgeCommand& command, Console& console) {
  std::vector<Status> errors;
  RecordFinder found(command.runs_directory);
  for (const std::string& path : command.paths) {
    if (Status added = found.Add(path); !added.ok()) {
      errors.push_back(std::move(added));
    }
  }
  RunResult result;
  const auto begin = std::chrono::steady_clock::now();
  std::vector<CaseResult> unfinished;
  for (const fs::path folder : found.cases_without()) {
    if (HasUnfinishedRun(folder)) {
      unfinished.push_back(
          CaseWithoutRecord(folder, VerdictKind::kNotRun,
                            IsBeingWritten(RunFolderOf(folder))
                                ? "the case is still running"
                                : "the run ended during this case"));
      continue;
    }
    errors.push_back(InvalidArgument(
        fmt::format("{}: expected the {} of the case, found none; run the case "
                    "again",
                    folder.string(), kRecordFileName)));
  }
  std::vector<CaseResult> skipped = SkipCrashTests(found, console);
  CauseSearch causes(console);
  for (const std::string& file : found.files()) {
    Result<CaseResult> judged = JudgeFile(file, causes);
    if (judged.ok()) {
      result.cases.push_back(*std::move(judged));
    } else {
      errors.push_back(judged.status());
    }
  }
  causes.PrintLimit();
  std::ranges::move(unfinished, std::back_inserter(result.cases));
  const bool has_verdicts = !result.cases.empty();
  if (command.output == OutputFormat::kJson)
    std::ranges::move(skipped, std::back_inserter(result.cases));
  result.scenarios = result.cases.size();
  result.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
          .count();
  if (!result.cases.empty()) PrintCases(result, command.output, console);
  for (const Status& error : errors) {
    fmt::print(console.err, "gauntlet judge: {}\n",
               EscapeBytes(error.message()));
  }
  if (!errors.empty()) return static_cast<int>(ExitCode::kUsage);
  return has_verdicts ? ExitCodeOf(result)
                      : static_cast<int>(ExitCode::kNothingSelected);
}

}  // namespace gauntlet
