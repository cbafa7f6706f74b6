#include "harness/cli/run_folders/old_runs.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <system_error>
#include <vector>

#include "engine/real/posix/posix_status.h"
#include "harness/cli/run_folders/run_directory.h"
#include <fmt/format.h>
#include <sys/file.h>

namespace gauntlet {
namespace {

namespace fs = std::filesystem;

// Removes the leading digits of the text and returns how many there were.
size_t TakeDigits(std::string_view& text) {
  const size_t count =
      std::min(text.find_first_not_of("0123456789"), text.size());
  text.remove_prefix(count);
  return count;
}

bool TakeCharacter(std::string_view& text, char c) {
  if (!text.starts_with(c)) return false;
  text.remove_prefix(1);
  return true;
}

bool IsRegularFile(const fs::path& path) {
  std::error_code unreadable;
  return fs::is_regular_file(fs::symlink_status(path, unreadable));
}

bool IsEmptyFolder(const fs::path& path) {
  std::error_code unreadable;
  return fs::is_directory(fs::symlink_status(path, unreadable)) &&
         fs::is_empty(path, unreadable);
}

bool IsFinishedRun(const fs::path& folder) {
  return IsRegularFile(folder / kResultFileName);
}

// Returns true iff the folder holds the report of an exploration and no
// finding.
bool IsEmptyExploration(const fs::path& folder) {
  if (!IsRegularFile(folder / kReportFileName)) return false;
  std::error_code error;
  for (auto entry = fs::directory_iterator(folder, error);
       !error && entry != fs::directory_iterator(); entry.increment(error)) {
    const fs::path name = entry->path().filename();
    const bool is_nothing =
        name == kFindingsFolderName && IsEmptyFolder(entry->path());
    if (name != kReportFileName && !is_nothing) return false;
  }
  return !error;
}

// Removes the folder of a run, and result.json in it last. If the removal is
// cut short, the next call still finds the run by this file.
std::error_code RemoveRun(const fs::path& run) {
  std::error_code error;
  std::vector<fs::path> entries;
  for (auto entry = fs::directory_iterator(run, error);
       !error && entry != fs::directory_iterator(); entry.increment(error)) {
    if (entry->path().filename() != kResultFileName) {
      entries.push_back(entry->path());
    }
  }
  for (const fs::path& entry : entries) {
    if (!error) fs::remove_all(entry, error);
  }
  if (!error) fs::remove_all(run, error);
  return error;
}

// Removes only the entries that IsEmptyExploration allows, so that no finding
// is lost.
std::error_code RemoveExploration(const fs::path& folder) {
  std::error_code error;
  fs::remove(folder / kFindingsFolderName, error);
  if (!error) fs::remove(folder / kReportFileName, error);
  if (!error) fs::remove(folder, error);
  return error;
}

// A kind of folder of which only the newest are kept.
struct FolderKind {
  bool (*is_one)(const fs::path&);
  std::error_code (*remove)(const fs::path&);
};
constexpr FolderKind kRuns = {IsFinishedRun, RemoveRun};
constexpr FolderKind kExplorations = {IsEmptyExploration, RemoveExploration};

// Returns the names of run folders of this kind, oldest first. The target of
// `latest` counts as the newest, whatever its name: if folder ID was removed, a
// new run in the same second is named ID again. That name sorts before the name
// ID.2 of an older run.
std::vector<std::string> FoldersOf(const fs::path& runs,
                                   const FolderKind& kind) {
  std::vector<std::string> names;
  std::error_code error;
  for (auto entry = fs::directory_iterator(runs, error);
       !error && entry != fs::directory_iterator(); entry.increment(error)) {
    std::error_code unreadable;
    const fs::path& path = entry->path();
    const std::string name = path.filename().string();
    const bool is_of_a_run =
        IsRunId(name) && fs::is_directory(entry->symlink_status(unreadable));
    if (is_of_a_run && kind.is_one(path)) names.push_back(name);
  }
  std::error_code none;
  const std::string latest =
      fs::read_symlink(runs / "latest", none).lexically_normal().filename();
  std::sort(names.begin(), names.end(),
            [&latest](const std::string& a, const std::string& b) {
              if (a == latest || b == latest) return b == latest && a != b;
              return IsOlderRun(a, b);
            });
  return names;
}

enum class RunEnd : uint8_t { kRemoved, kInUse, kFailed };

RunEnd TryToRemove(const fs::path& run, const FolderKind& kind,
                   std::string& problem) {
  const auto note = [&](const std::string& message) {
    if (problem.empty()) {
      problem = fmt::format("{}: {}", run.string(), message);
    }
    return RunEnd::kFailed;
  };
  const Descriptor folder = OpenFolder(run);
  if (!folder.valid()) return note(std::strerror(errno));
  if (RetryOnInterrupt(
          [&] { return flock(folder.get(), LOCK_EX | LOCK_NB); }) != 0) {
    return errno == EWOULDBLOCK ? RunEnd::kInUse : note(std::strerror(errno));
  }
  const std::error_code error = kind.remove(run);
  return error ? note(error.message()) : RunEnd::kRemoved;
}

void RemoveOldFolders(const fs::path& runs, size_t keep, const FolderKind& kind,
                      RunsRemoved& result) {
  const std::vector<std::string> names = FoldersOf(runs, kind);
  result.kept += names.size();
  const size_t old = names.size() - std::min(names.size(), keep);
  for (size_t i = 0; i < old; ++i) {
    if (TryToRemove(runs / names[i], kind, result.problem) ==
        RunEnd::kRemoved) {
      ++result.removed;
      --result.kept;
    }
  }
}

}  // namespace

bool IsRunId(std::string_view name) {
  if (TakeDigits(name) != 8 || !TakeCharacter(name, 'T')) return false;
  if (TakeDigits(name) != 6 || !TakeCharacter(name, '-')) return false;
  if (TakeDigits(name) == 0) return false;
  if (name.empty()) return true;
  return TakeCharacter(name, '.') && TakeDigits(name) > 0 && name.empty();
}

RunLock::RunLock(const fs::path& run) : folder_(OpenFolder(run)) {
  if (!folder_.valid()) return;
  static_cast<void>(RetryOnInterrupt(
      [this] { return flock(folder_.get(), LOCK_SH | LOCK_NB); }));
}

bool IsBeingWritten(const fs::path& run) {
  const Descriptor folder = OpenFolder(run);
  return folder.valid() && !LockUnlessHeld(folder);
}

bool IsOlderRun(const std::string& a, const std::string& b) {
  const size_t a_dot = std::min(a.find('.'), a.size());
  const size_t b_dot = std::min(b.find('.'), b.size());
  const int order = a.compare(0, a_dot, b, 0, b_dot);
  if (order != 0) return order < 0;
  return a.size() != b.size() ? a.size() < b.size() : a < b;
}

RunsRemoved RemoveOldRuns(const fs::path& runs, size_t keep) {
  const RunsFolderLock lock(runs);
  RunsRemoved result;
  for (const FolderKind& kind : {kRuns, kExplorations}) {
    RemoveOldFolders(runs, keep, kind, result);
  }
  return result;
}

}  // namespace gauntlet
