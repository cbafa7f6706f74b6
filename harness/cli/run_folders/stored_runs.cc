#include "harness/cli/run_folders/stored_runs.h"

#include <system_error>
#include <utility>
#include <vector>

#include "engine/cli/flags/flags.h"
#include "engine/real/storage/posix_storage.h"
#include "engine/world/directories.h"
#include "harness/cli/run_folders/old_runs.h"
#include "harness/cli/run_folders/run_directory.h"
#include "harness/cli/run_folders/stored_records.h"
#include "harness/record/base_name.h"
#include "harness/record/record_file.h"
#include "harness/record/result/result_file.h"
#include "harness/run/files/shell_word.h"
#include "harness/run/files/text_file.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxResultBytes = size_t{1} << 30;

// Returns the last of the folders in `path` that have the file; "" if none has.
std::string FolderWith(const fs::path& path, std::string_view file) {
  std::vector<std::string> folders = FoldersIn(path);
  std::erase_if(folders, [&](const std::string& folder) {
    return !IsFile(path / folder / file);
  });
  return folders.empty() ? "" : folders.back();
}

// Returns what to do about a folder that has no result.
std::string AdviceWithoutResult(const fs::path& folder) {
  if (IsFile(folder / kRecordFileName)) {
    return "it is the folder of a case: gauntlet show " +
           ShellWord(folder.string());
  }
  const std::string run = FolderWith(folder, kResultFileName);
  if (!run.empty()) {
    return fmt::format("it is a folder of runs: name one of them, such as {}",
                       (folder / run).string());
  }
  if (!IsUnfinishedRun(folder))
    return "name the folder of a run; gauntlet report --list lists the runs";
  return WhyUnfinished(folder);
}

// Returns the error for a path that is not a run.
Status NoRunAt(const fs::path& path) {
  if (!IsFolder(path)) {
    std::error_code error;
    return fs::exists(path, error)
               ? InvalidArgument(fmt::format(
                     "{}: expected a {} or the folder of a run, found what is "
                     "no regular file",
                     Quoted(path.string()), kResultFileName))
               : NotFound(fmt::format("{}: there is no such file or folder",
                                      Quoted(path.string())));
  }
  if (IsFolder(path / kFindingsFolder)) {
    return InvalidArgument(fmt::format(
        "{}: expected the folder of a run, found that of an exploration, which "
        "has no {}",
        Quoted(path.string()), kResultFileName));
  }
  return NotFound(fmt::format("{}: expected a {} in it, found none; {}",
                              Quoted(path.string()), kResultFileName,
                              AdviceWithoutResult(path)));
}

Result<fs::path> FindResultFile(const std::string& text, const fs::path& runs) {
  const std::string target = WithoutLastSlashes(text);
  const fs::path path = target;
  const std::optional<RunTarget> named = FindNamedRun(target, runs);
  if (named && named->case_name.empty()) return named->folder / kResultFileName;
  if (IsFile(path)) return path;
  if (IsFile(path / kResultFileName)) return path / kResultFileName;
  const bool is_path = LooksLikeAPath(target) || IsFolder(path) ||
                       target.find('/') != std::string::npos;
  if (is_path) return NoRunAt(path);
  ASSIGN_OR_RETURN(const std::string run, PickRun(target, runs));
  if (IsFile(runs / run / kResultFileName)) return runs / run / kResultFileName;
  return NoRunAt(runs / run);
}

// Returns the case's folder in `run`, found by the last part of `directory`; ""
// if there is no such folder.
fs::path FolderOfCase(const fs::path& run, const std::string& directory) {
  std::string_view name = directory;
  while (name.ends_with('/')) name.remove_suffix(1);
  name = BaseName(name);
  if (name.empty() || name == "." || name == "..") return "";
  fs::path folder = run / name;
  return IsFolder(folder) ? folder : "";
}

// Returns a path of the case's folder in `run` (FolderOfCase): `directory` if
// it still leads to this folder, else a path below `run`. Returns "" if there
// is no such folder.
fs::path StoredCaseFolder(const fs::path& run, const std::string& directory) {
  const fs::path folder = FolderOfCase(run, directory);
  std::error_code error;
  const bool is_there =
      !folder.empty() && fs::equivalent(folder, directory, error);
  return is_there ? fs::path(directory) : folder;
}

void TakePlaces(const fs::path& run, CaseResult& one) {
  for (CaseTry& each : one.tries) {
    each.directory = StoredCaseFolder(run, each.directory).string();
  }
  const std::string place = StoredCaseFolder(run, one.directory).string();
  if (place != one.directory) return MoveCase(place, one);
  if (place.empty() || fs::path(one.timeline).parent_path() != place) {
    one.timeline.clear();
  }
}

}  // namespace

bool IsUnfinishedRun(const fs::path& folder) {
  return !IsFile(folder / kResultFileName) &&
         (IsFile(folder / kUnfinishedFileName) ||
          !FolderWith(folder, kRecordFileName).empty());
}

std::string WhyUnfinished(const fs::path& folder) {
  if (IsBeingWritten(folder)) return "the run is not over: wait for its end";
  if (FolderWith(folder, kRecordFileName).empty())
    return "the run was killed or had no space left before a case ended";
  return fmt::format(
      "{}; gauntlet judge {} computes its verdicts from the records",
      IsFile(folder / kUnfinishedFileName)
          ? "the run was killed or had no space left"
          : fmt::format("its {} {}", kResultFileName,
                        IsFolder(folder / kResultFileName) ? "is a folder"
                                                           : "was deleted"),
      ShellWord(folder.string()));
}

void MoveCase(const fs::path& directory, CaseResult& one) {
  const std::string trace(BaseName(one.timeline));
  one.timeline.clear();
  one.directory = directory.string();
  if (directory.empty()) return;
  if (!trace.empty() && IsFile(directory / trace)) {
    one.timeline = (directory / trace).string();
  }
  if (!one.replay.empty() && IsFile(directory / kRecordFileName)) {
    one.replay = "gauntlet replay " + ShellWord(one.directory);
  }
}

Result<StoredRun> LoadStoredRun(const std::string& target,
                                const fs::path& runs) {
  ASSIGN_OR_RETURN(const fs::path file, FindResultFile(target, runs));
  RETURN_IF_ERROR(CheckIsNoScenario(file, "a result.json or its folder",
                                    "its run, such as latest"));
  PosixStorage storage;
  ASSIGN_OR_RETURN(const std::string text,
                   ReadFile(storage, file.string(), kMaxResultBytes));
  Parsed<RunResult> result = ReadResult(text, file.string());
  if (!result.ok()) return InvalidArgument(result.error);
  std::error_code error;
  const fs::path real = fs::canonical(
      file.parent_path().empty() ? fs::path(".") : file.parent_path(), error);
  if (error) {
    return IoError(fmt::format("{}: {}", file.string(), error.message()));
  }
  ASSIGN_OR_RETURN(fs::path folder, AbsoluteFolder(real));
  StoredRun run = {.folder = std::move(folder),
                   .result = *std::move(result.value)};
  for (CaseResult& one : run.result.cases) TakePlaces(run.folder, one);
  return run;
}

std::string StoredScenarioOf(const CaseResult& one) {
  const fs::path file = fs::path(one.directory) / kScenarioFileName;
  return one.directory.empty() ? "" : ReadTextFile(file.string());
}

std::optional<Record> StoredRecordOf(const CaseResult& one) {
  if (one.directory.empty()) return std::nullopt;
  Result<Record> record = LoadRecord(fs::path(one.directory) / kRecordFileName);
  if (!record.ok()) return std::nullopt;
  return *std::move(record);
}

std::string WhyUnreadable(const CaseResult& one) {
  const fs::path file = fs::path(one.directory) / kRecordFileName;
  if (one.directory.empty() || !IsFile(file)) return "";
  return LoadRecord(file).status().message();
}

}  // namespace gauntlet
