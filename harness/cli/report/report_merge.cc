#include "harness/cli/report/report_merge.h"

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "engine/real/posix/folder_entries.h"
#include "harness/cli/report/run_report.h"
#include "harness/cli/run_folders/run_directory.h"
#include "harness/record/base_name.h"
#include "harness/record/result/merged_result.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

namespace fs = std::filesystem;

// Returns the merged result. It has no folder yet.
Result<MergedRun> LoadAndMerge(const ReportCommand& command,
                               const std::string& run) {
  std::vector<ResultPart> parts;
  for (const std::string& target : command.runs) {
    ASSIGN_OR_RETURN(StoredRun stored,
                     LoadStoredRun(target, command.runs_directory));
    parts.push_back({.result = std::move(stored.result), .name = target});
  }
  Parsed<RunResult> merged = MergeResults(parts, run);
  if (!merged.ok()) return InvalidArgument(merged.error);
  return MergedRun{.run = {.folder = {}, .result = *std::move(merged.value)},
                   .copies = CopiesAmong(parts)};
}

// Returns the path of a new folder in `out` for a case's folder, with the same
// name if that is free.
fs::path PlaceIn(const fs::path& out, const std::string& directory) {
  const fs::path name(BaseName(directory));
  fs::path place = out / name;
  std::error_code unreadable;
  for (int i = 2; fs::exists(place, unreadable); ++i) {
    place = out / fmt::format("{}.{}{}", name.stem().string(), i,
                              name.extension().string());
  }
  return place;
}

// Copies a folder, but no links, as these may lead out of the folder.
Status CopyFolder(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::copy(from, to,
           fs::copy_options::recursive | fs::copy_options::skip_symlinks,
           error);
  if (!error) return OkStatus();
  return IoError(fmt::format("{}: cannot be copied to {}: {}", from.string(),
                             to.string(), error.message()));
}

// Copies the folders of the case and its tries into `out`, and changes the
// paths in the case. If a case has several tries, the case's folder is the
// folder of one of them.
Status CopyFilesOf(CaseResult& one, const fs::path& out) {
  std::set<std::string> directories = {one.directory};
  for (const CaseTry& each : one.tries) directories.insert(each.directory);
  directories.erase("");
  std::map<std::string, fs::path> places;
  for (const std::string& directory : directories) {
    const fs::path place = PlaceIn(out, directory);
    RETURN_IF_ERROR(CopyFolder(directory, place));
    places[directory] = place;
  }
  for (CaseTry& each : one.tries) {
    each.directory = places[each.directory].string();
  }
  if (!one.directory.empty()) MoveCase(places[one.directory], one);
  return OkStatus();
}

Status WriteRun(RunResult& result, const fs::path& out) {
  for (CaseResult& one : result.cases) {
    RETURN_IF_ERROR(CopyFilesOf(one, out));
  }
  return WriteRunFiles(result, out);
}

void Empty(const fs::path& folder) {
  std::error_code error;
  for (const auto& entry : EntriesOf(folder)) {
    fs::remove_all(entry.path(), error);
  }
}

}  // namespace

Result<MergedRun> MergeRuns(const ReportCommand& command) {
  ASSIGN_OR_RETURN(const fs::path wanted,
                   AbsoluteFolder(command.out_directory));
  const fs::path out = (wanted / "").lexically_normal().parent_path();
  ASSIGN_OR_RETURN(MergedRun merged,
                   LoadAndMerge(command, out.filename().string()));
  ASSIGN_OR_RETURN(const OutputFolder folder,
                   MakeFindingsDirectory(out.string(), command.runs_directory));
  if (const Status written = WriteRun(merged.run.result, out); !written.ok()) {
    Empty(out);
    return written;
  }
  merged.run.folder = out;
  return merged;
}

}  // namespace gauntlet
