#include "harness/cli/run_folders/stored_records.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include "chaos/inject/plan/plan.h"
#include "engine/check.h"
#include "engine/cli/flags/flags.h"
#include "engine/job/job.h"
#include "engine/real/storage/posix_storage.h"
#include "engine/world/directories.h"
#include "harness/cli/run_folders/run_directory.h"
#include "harness/record/base_name.h"
#include "harness/record/record_file.h"
#include "harness/record/result/result_file.h"
#include "harness/run/files/shell_word.h"
#include "harness/run/files/text_file.h"
#include "reports/failures.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxRecordBytes = size_t{1} << 30;
constexpr size_t kShownFolders = 5;
// Link to the last run of `gauntlet run`.
constexpr std::string_view kLatest = "latest";

// Returns the visible names in this folder for which `wanted` is true,
// ascending.
std::vector<std::string> NamesIn(const fs::path& path,
                                 bool (*wanted)(const fs::path&)) {
  std::vector<std::string> names;
  std::error_code error;
  for (auto entry = fs::directory_iterator(path, error);
       !error && entry != fs::directory_iterator(); entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (!name.starts_with('.') && wanted(entry->path())) names.push_back(name);
  }
  std::ranges::sort(names);
  return names;
}

// Endings of the folders of cases, which are named CASE.WORLD. The simulated
// world comes first.
constexpr std::array<const char*, 2> kWorldEndings = {".sim", ".real"};

std::string NameOfFolder(const std::string& folder) {
  return folder.substr(0, folder.rfind('.'));
}

bool HasRecord(const fs::path& run, const std::string& folder) {
  return IsFile(run / folder / kRecordFileName);
}

// Returns true iff the folder of a case counts for this choice of world: its
// record is of that world, or the case has no record of that world.
bool Fits(const fs::path& run, const std::string& folder, WorldChoice world) {
  if (world == WorldChoice::kBoth) return true;
  const std::string there =
      NameOfFolder(folder) + (world == WorldChoice::kReal ? ".real" : ".sim");
  return folder == there || !HasRecord(run, there);
}

// Returns one of the folders as an example: the folder of a case that needs
// explanation, else of a case that ran, else the first one. REQUIRES: there is
// a folder.
std::string ExampleFolder(const fs::path& run,
                          const std::vector<std::string>& folders) {
  const fs::path file = run / kResultFileName;
  const Parsed<RunResult> result =
      ReadResult(ReadTextFile(file), file.string());
  if (!result.ok()) return folders.front();
  std::vector<const CaseResult*> cases = CasesToExplain(*result.value);
  for (const CaseResult& one : result.value->cases) {
    if (RanHere(one)) cases.push_back(&one);
  }
  for (const CaseResult* const one : cases) {
    const auto found = std::ranges::find(folders, BaseName(one->directory));
    if (found != folders.end()) return *found;
  }
  return folders.front();
}

// Returns the folders in `path` that have a record, ascending.
std::vector<std::string> RecordedFoldersIn(const fs::path& path) {
  std::vector<std::string> folders = FoldersIn(path);
  std::erase_if(folders, [&path](const std::string& folder) {
    return !HasRecord(path, folder);
  });
  return folders;
}

// Returns the error for a file that is not a record.
Status FileIsNoRecord(const fs::path& file) {
  const fs::path folder = file.has_parent_path() ? file.parent_path() : ".";
  const std::vector<std::string> cases = RecordedFoldersIn(folder);
  std::string example = "latest/CASE";
  if (IsFile(folder / kRecordFileName)) {
    example = (folder / kRecordFileName).string();
  } else if (!cases.empty()) {
    example = (folder / ExampleFolder(folder, cases)).string();
  }
  return InvalidArgument(
      fmt::format("{}: expected a {} or a case's folder, found another file; "
                  "name a case, such as {}",
                  file.string(), kRecordFileName, example));
}

// Returns the error for a path that is not a record.
Status NoRecordAt(const fs::path& path) {
  std::error_code error;
  const fs::file_status found = fs::status(path, error);
  if (!fs::exists(found)) {
    return NotFound(
        fmt::format("{}: there is no such record or case's folder; gauntlet "
                    "run leaves one for each case, and RUN/CASE names it too",
                    Quoted(path.string())));
  }
  if (!fs::is_directory(found)) {
    return InvalidArgument(
        fmt::format("{}: expected a {} or a case's folder, found what is no "
                    "regular file",
                    Quoted(path.string()), kRecordFileName));
  }
  const std::vector<std::string> folders = RecordedFoldersIn(path);
  if (!folders.empty()) {
    return InvalidArgument(fmt::format(
        "{}: expected the folder of one case, found that of a run; "
        "name a case, such as {}",
        Quoted(path.string()), (path / ExampleFolder(path, folders)).string()));
  }
  return NotFound(fmt::format(
      "{}: expected a {} in it, found none; the folder of a case has one",
      Quoted(path.string()), kRecordFileName));
}

// Returns the error for the folder of a crash test of another program.
Status NoRecordOfCrashTest(const fs::path& folder) {
  return NotFound(fmt::format("case {}: {}, and gauntlet run {} runs it again",
                              Quoted(CaseOfFolder(folder).name),
                              WhyCrashTestHasNoRecord(folder),
                              ShellWord((folder / "scenario.yaml").string())));
}

Status NoRecordIn(const fs::path& run) {
  return NotFound(fmt::format("run {}: no case of it left a record",
                              Quoted(run.filename().string())));
}

// Returns an error if the run cannot be listed, or if the record of a case
// cannot be looked up. Covers the cases that `text` names in full; "" names
// all.
Status CheckRecordsIn(const fs::path& run, const std::string& text) {
  RETURN_IF_ERROR(CheckListing(run));
  for (const std::string& folder : FoldersIn(run)) {
    const bool is_selected =
        text.empty() || text == folder || text == NameOfFolder(folder);
    const fs::path file = run / folder / kRecordFileName;
    std::error_code error;
    if (is_selected && !fs::status_known(fs::status(file, error))) {
      return IoError(fmt::format("{}: {}", file.string(), error.message()));
    }
  }
  return OkStatus();
}

// Returns the error for a case's folder without a record. `other`: folder of
// the case's record of the other world; "" if there is none.
Status NoRecordInFolder(const std::string& folder, const std::string& other) {
  const std::string advice =
      other.empty()
          ? ""
          : fmt::format("; for the record of the other world, name {}", other);
  return NotFound(fmt::format("case {}: {} has no {}{}",
                              Quoted(NameOfFolder(folder)), folder,
                              kRecordFileName, advice));
}

// Returns kNotFound if `text` names a case without its world, and the case's
// folder for `world` exists, but has no record. For kBoth, this is the folder
// for the simulation. `picked`: folder of the case that has a record.
Status CheckMeantWorld(const fs::path& run, const std::string& text,
                       WorldChoice world, const std::string& picked) {
  const std::string meant =
      NameOfFolder(picked) + (world == WorldChoice::kReal ? ".real" : ".sim");
  if (text == picked || picked == meant || !IsFolder(run / meant)) {
    return OkStatus();
  }
  return NoRecordInFolder(meant, picked);
}

// Returns the folders of the run's cases that have a record or a crash test,
// sorted by SortCases.
std::vector<std::string> CasesIn(const fs::path& run) {
  std::vector<std::string> folders = FoldersIn(run);
  std::erase_if(folders, [&run](const std::string& folder) {
    return !HasRecord(run, folder) && CrashTestFolderOf(run / folder).empty();
  });
  SortCases(folders);
  return folders;
}

// Returns the names of the cases with these folders, without duplicates.
// REQUIRES: the folders are sorted by SortCases.
std::vector<std::string> NamesOf(const std::vector<std::string>& folders) {
  std::vector<std::string> names;
  for (const std::string& folder : folders) {
    const std::string name = NameOfFolder(folder);
    if (names.empty() || names.back() != name) names.push_back(name);
  }
  return names;
}

Result<fs::path> FindInRun(const std::string& target, const fs::path& runs,
                           WorldChoice world) {
  ASSIGN_OR_RETURN(const RunTarget picked, PickRunTarget(target, runs));
  const std::string run = picked.folder.filename().string();
  if (IsFolder(picked.folder / kFindingsFolder)) {
    return InvalidArgument(fmt::format(
        "run {}: an exploration leaves scenarios and no records; gauntlet "
        "explore --case N --trace shows a case of it",
        Quoted(run)));
  }
  ASSIGN_OR_RETURN(std::vector<std::string> folders,
                   PickCases(picked.folder, picked.case_name, world));
  if (NameOfFolder(folders.front()) != NameOfFolder(folders.back())) {
    return InvalidArgument(
        fmt::format("run {}: expected RUN/CASE, as it has {} records; name "
                    "one, such as {}/{}",
                    Quoted(run), folders.size(), run,
                    ExampleFolder(picked.folder, folders)));
  }
  if (picked.case_name.empty()) {
    ASSIGN_OR_RETURN(folders, PickCases(picked.folder,
                                        NameOfFolder(folders.front()), world));
  }
  return picked.folder / folders.front() / kRecordFileName;
}

}  // namespace

bool LooksLikeAPath(const std::string& text) {
  return text.starts_with('/') || text.starts_with('.') ||
         text.ends_with(".yaml") || text.ends_with(".jsonl");
}

bool IsFile(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

bool IsFolder(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

bool IsFolderOfCase(const fs::path& path) {
  return std::ranges::find(kWorldEndings, path.extension()) !=
         kWorldEndings.end();
}

void SortCases(std::vector<std::string>& folders) {
  std::ranges::sort(folders, {}, [](const std::string& folder) {
    const auto world =
        std::ranges::find(kWorldEndings, fs::path(folder).extension());
    return std::pair(
        world == kWorldEndings.end() ? folder : NameOfFolder(folder), world);
  });
}

CaseFolder CaseOfFolder(const fs::path& folder) {
  CHECK(IsFolderOfCase(folder), folder.string());
  return {.name = NameOfFolder(folder.filename()),
          .world = folder.extension().string().substr(1)};
}

std::string CrashTestFolderOf(const fs::path& case_folder) {
  const fs::path folder = case_folder / kCrashTestOfCase;
  return IsFolderOfCase(case_folder) && IsFolder(folder) ? folder.string() : "";
}

std::string WhyCrashTestHasNoRecord(const fs::path& case_folder) {
  return fmt::format(
      "a crash test of a program has no record and no events; its results are "
      "in {}",
      CrashTestFolderOf(case_folder));
}

std::vector<std::string> FoldersIn(const fs::path& path) {
  return NamesIn(path, IsFolder);
}

std::vector<std::string> FilesIn(const fs::path& path) {
  return NamesIn(path, IsFile);
}

Status CheckListing(const fs::path& path) {
  std::error_code error;
  const fs::directory_iterator listing(path, error);
  if (!error) static_cast<void>(fs::status(path / ".", error));
  if (!error) return OkStatus();
  return IoError(fmt::format("{}: {}", path.string(), error.message()));
}

Result<std::string> PickName(std::string_view what, const std::string& text,
                             const std::vector<std::string>& names) {
  if (std::ranges::find(names, text) != names.end()) return text;
  std::vector<std::string> fitting;
  std::ranges::copy_if(
      names, std::back_inserter(fitting),
      [&](const std::string& name) { return name.starts_with(text); });
  if (fitting.size() == 1) return fitting[0];
  if (fitting.size() > 1) {
    const size_t shown = std::min(fitting.size(), kShownFolders);
    const size_t more = fitting.size() - shown;
    fitting.resize(shown);
    return InvalidArgument(
        fmt::format("{} {}: more than one begins so: {}{}", what, Quoted(text),
                    fmt::join(fitting, ", "),
                    more > 0 ? fmt::format(" and {} more", more) : ""));
  }
  std::string near = DidYouMean(text, names);
  if (near.empty() && !names.empty()) {
    const size_t first = names.size() - std::min(names.size(), kShownFolders);
    near = fmt::format(
        "; there {} {}{}", names.size() == 1 ? "is" : "are",
        fmt::join(names.begin() + static_cast<std::ptrdiff_t>(first),
                  names.end(), ", "),
        first > 0 ? fmt::format(" and {} more", first) : "");
  }
  return NotFound(
      fmt::format("{} {}: there is none{}", what, Quoted(text), near));
}

Status CheckFolderOfRuns(const fs::path& runs) {
  if (IsFolder(runs)) return OkStatus();
  return NotFound(fmt::format(
      "{}; for runs kept elsewhere, give --runs DIR",
      IsFile(runs)
          ? fmt::format("expected a folder of runs at {}, found a file",
                        runs.string())
          : fmt::format("there is no folder {}, which gauntlet run creates",
                        runs.string())));
}

Result<std::string> PickRun(const std::string& id, const fs::path& runs) {
  RETURN_IF_ERROR(
      Annotate(CheckFolderOfRuns(runs), fmt::format("run {}", Quoted(id))));
  RETURN_IF_ERROR(CheckListing(runs));
  Result<std::string> picked = PickName("run", id, FoldersIn(runs));
  if (picked.ok() || id != kLatest) return picked;
  return NotFound(fmt::format(
      "{}; {} is the last of gauntlet run, and what an exploration found has a "
      "name such as finding-001",
      picked.status().message(), kLatest));
}

bool IsFolderOfRun(const fs::path& path) {
  return !path.empty() && IsFile(path / kResultFileName);
}

namespace {

// Splits RUN or RUN/CASE into RUN and CASE; CASE may be "".
std::pair<std::string, std::string> SplitTarget(const std::string& target) {
  const size_t slash = target.find('/');
  return {target.substr(0, slash),
          slash == target.npos ? "" : target.substr(slash + 1)};
}

}  // namespace

std::optional<RunTarget> FindNamedRun(const std::string& target,
                                      const fs::path& runs) {
  if (LooksLikeAPath(target)) return std::nullopt;
  const auto [run, case_name] = SplitTarget(target);
  const bool is_named = !run.empty() && case_name.find('/') == case_name.npos &&
                        IsFolderOfRun(runs / run);
  if (!is_named) return std::nullopt;
  return RunTarget{.folder = runs / run, .case_name = case_name};
}

Result<RunTarget> PickRunTarget(const std::string& text, const fs::path& runs) {
  const std::string target = WithoutLastSlashes(text);
  const fs::path path = target;
  if (const std::optional<RunTarget> named = FindNamedRun(target, runs)) {
    return *named;
  }
  if (IsFolderOfRun(path)) return RunTarget{.folder = path};
  if (IsFolderOfRun(path.parent_path())) {
    return RunTarget{.folder = path.parent_path(),
                     .case_name = path.filename().string()};
  }
  const auto [prefix, case_name] = SplitTarget(target);
  ASSIGN_OR_RETURN(const std::string run, PickRun(prefix, runs));
  return RunTarget{.folder = runs / run, .case_name = case_name};
}

Result<std::vector<std::string>> PickCaseFolders(const fs::path& run,
                                                 const std::string& text) {
  RETURN_IF_ERROR(CheckRecordsIn(run, text));
  std::vector<std::string> folders = CasesIn(run);
  if (folders.empty()) return NoRecordIn(run);
  if (std::ranges::find(folders, text) != folders.end()) {
    return std::vector<std::string>{text};
  }
  if (IsFolderOfCase(text)) {
    const auto other =
        std::ranges::find_if(folders, [&](const std::string& folder) {
          return NameOfFolder(folder) == NameOfFolder(text) &&
                 HasRecord(run, folder);
        });
    const bool has_other = other != folders.end();
    if (std::ranges::count(FoldersIn(run), text) > 0) {
      return NoRecordInFolder(text, has_other ? *other : "");
    }
    if (has_other) {
      return NotFound(
          fmt::format("case {}: the run has this case only as {}, so name that",
                      Quoted(text), *other));
    }
  }
  ASSIGN_OR_RETURN(const std::string name,
                   PickName("case", text, NamesOf(folders)));
  std::erase_if(folders, [&name](const std::string& folder) {
    return NameOfFolder(folder) != name;
  });
  return folders;
}

Result<std::vector<std::string>> PickCases(const fs::path& run,
                                           const std::string& text,
                                           WorldChoice world) {
  if (text.empty()) {
    RETURN_IF_ERROR(CheckRecordsIn(run, text));
  }
  std::vector<std::string> folders = CasesIn(run);
  if (!text.empty()) {
    ASSIGN_OR_RETURN(folders, PickCaseFolders(run, text));
  }
  const std::vector<std::string> all = folders;
  std::erase_if(folders, [&run](const std::string& folder) {
    return !HasRecord(run, folder);
  });
  if (folders.empty()) {
    return all.size() == 1 ? NoRecordOfCrashTest(run / all.front())
                           : NoRecordIn(run);
  }
  // A single folder stays selected even if it is of another world.
  if (folders.size() > 1) {
    std::erase_if(folders, [&run, world](const std::string& folder) {
      return !Fits(run, folder, world);
    });
  }
  if (!text.empty()) {
    folders.resize(1);
    RETURN_IF_ERROR(CheckMeantWorld(run, text, world, folders.front()));
  }
  return folders;
}

namespace {

static_assert(kMaxWorkers == kMaxReplicas);

// kInvalidArgument: no case of a scenario can have this world or this plan.
Status CheckHead(const Record& record) {
  if (record.world != "real" && record.world != "sim") {
    return Annotate(ExpectedValue("real or sim", record.world.substr(0, 40)),
                    "world");
  }
  return PlanFromJson(record.plan_json).status();
}

}  // namespace

Status CheckIsNoScenario(const fs::path& file, std::string_view expected,
                         std::string_view name_then) {
  if (file.extension() != ".yaml" && file.extension() != ".yml") {
    return OkStatus();
  }
  return InvalidArgument(fmt::format(
      "{}: expected {}, found a scenario: run it first (gauntlet run {}), then "
      "name {}",
      file.string(), expected, ShellWord(file.string()), name_then));
}

Result<Record> LoadRecord(const fs::path& file) {
  RETURN_IF_ERROR(
      CheckIsNoScenario(file, "a record", "its case, such as latest/CASE"));
  PosixStorage storage;
  ASSIGN_OR_RETURN(const std::string text,
                   ReadFile(storage, file.string(), kMaxRecordBytes));
  // A damaged file counts as a record if it has the name or the beginning of
  // one.
  if (file.filename() != kRecordFileName && !StartsAsRecord(text)) {
    return FileIsNoRecord(file);
  }
  Parsed<Record> record = ReadRecord(text, file.string());
  if (!record.ok()) return InvalidArgument(record.error);
  // The head is the first line.
  RETURN_IF_ERROR(Annotate(CheckHead(*record.value), file.string() + ":1"));
  return std::move(*record.value);
}

Result<fs::path> FindRecordFile(const std::string& text, const fs::path& runs,
                                WorldChoice world) {
  const std::string target = WithoutLastSlashes(text);
  const fs::path path = target;
  if (FindNamedRun(target, runs)) return FindInRun(target, runs, world);
  if (IsFile(path / kRecordFileName)) return path / kRecordFileName;
  if (IsFile(path)) return path;
  const bool is_path = LooksLikeAPath(target) || IsFolder(path);
  if (is_path && !IsFolderOfRun(path.parent_path())) return NoRecordAt(path);
  return FindInRun(target, runs, world);
}

}  // namespace gauntlet
