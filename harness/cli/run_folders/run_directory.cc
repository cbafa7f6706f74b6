#include "harness/cli/run_folders/run_directory.h"

#include <cerrno>
#include <ctime>
#include <system_error>

#include "engine/cli/flags/flags.h"
#include "engine/real/posix/folder_entries.h"
#include "engine/real/posix/posix_status.h"
#include "engine/utf8.h"
#include "harness/run/files/shell_word.h"
#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

namespace gauntlet {
namespace {

namespace fs = std::filesystem;

constexpr int kMaxRunsOfASecond = 1000;

Status Failed(const fs::path& path, const std::error_code& error) {
  return IoError(fmt::format("{}: {}", path.string(), error.message()));
}

// Returns true iff an exploration writes files with such a name.
bool IsNameOfExploration(const std::string& name) {
  return name.starts_with("finding-") ||
         (name.starts_with("report") && name.ends_with(".html"));
}

// Creates and locks the folder. Returns an error if the folder is not writable,
// another command holds it, or it is not empty. With kKeep, it may contain
// files of an exploration.
Result<OutputFolder> TakeFolder(const fs::path& path, EarlierFindings earlier) {
  ASSIGN_OR_RETURN(const fs::path absolute, AbsoluteFolder(path));
  const fs::path missing = TopmostMissing(absolute);
  std::error_code error;
  fs::create_directories(path, error);
  if (error) {
    return IoError(fmt::format(
        "{}: expected a folder, or a place where one can be created: {}",
        path.string(), error.message()));
  }
  OutputFolder folder = {
      .path = path, .created = missing, .lock = OpenFolder(path)};
  if (folder.lock.valid() && !LockUnlessHeld(folder.lock)) {
    return InvalidArgument(path.string() +
                           ": another command is writing to it");
  }
  fs::directory_iterator entries(path, error);
  for (; !error && entries != fs::directory_iterator();
       entries.increment(error)) {
    const std::string name = entries->path().filename().string();
    if (earlier == EarlierFindings::kKeep && IsNameOfExploration(name)) {
      continue;
    }
    return InvalidArgument(
        fmt::format("{}: expected an empty folder, or none, found {} in it",
                    path.string(), Quoted(name)));
  }
  if (error) return Failed(path, error);
  if (access(path.c_str(), W_OK | X_OK) == 0) return folder;
  return Failed(path, std::error_code(errno, std::generic_category()));
}

}  // namespace

Result<fs::path> AbsoluteFolder(const fs::path& path) {
  std::error_code error;
  fs::path absolute = fs::absolute(path, error);
  if (error) return Failed(path, error);
  if (IsUtf8(absolute.string())) return absolute;
  return InvalidArgument(
      fmt::format("{}: expected a path in UTF-8, as records name what is below "
                  "it",
                  ShellWord(absolute.string())));
}

fs::path TopmostMissing(const fs::path& absolute) {
  std::error_code ignored;
  fs::path missing;
  for (fs::path path = absolute;
       !fs::exists(path, ignored) && path.has_relative_path();
       path = path.parent_path()) {
    missing = path;
  }
  return missing;
}

void RemoveEmptyFolders(const fs::path& absolute, const fs::path& created) {
  if (created.empty()) return;
  std::error_code error;
  fs::remove(absolute, error);
  for (fs::path path = absolute; !error && path != created;) {
    path = path.parent_path();
    fs::remove(path, error);
  }
}

Status ChooseAnotherFolder(const Status& why, std::string_view flag) {
  return InvalidArgument(fmt::format("{}; choose another folder with {} DIR",
                                     why.message(), flag));
}

Result<fs::path> MakeRunDirectory(const fs::path& runs) {
  RETURN_IF_ERROR(AbsoluteFolder(runs).status());
  std::error_code error;
  fs::create_directories(runs, error);
  if (error) return Failed(runs, error);
  const std::time_t now = std::time(nullptr);
  const std::string id =
      fmt::format("{:%Y%m%dT%H%M%S}-{}", fmt::gmtime(now), getpid());
  for (int i = 1; i <= kMaxRunsOfASecond; ++i) {
    fs::path path = runs / (i == 1 ? id : fmt::format("{}.{}", id, i));
    if (fs::create_directory(path, error)) return path;
    if (error) return Failed(path, error);
  }
  return AlreadyExists((runs / id).string() + ": there is one already");
}

Result<OutputFolder> MakeRunOutput(const fs::path& runs) {
  ASSIGN_OR_RETURN(const fs::path absolute, AbsoluteFolder(runs));
  const fs::path missing = TopmostMissing(absolute);
  ASSIGN_OR_RETURN(const fs::path made, MakeRunDirectory(runs));
  ASSIGN_OR_RETURN(fs::path path, AbsoluteFolder(made));
  fs::path created = missing.empty() ? path : missing;
  return OutputFolder{
      .path = std::move(path), .created = std::move(created), .lock = {}};
}

Descriptor OpenFolder(const fs::path& path) {
  return Descriptor(RetryOnInterrupt(
      [&] { return open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
}

bool LockUnlessHeld(const Descriptor& folder) {
  return RetryOnInterrupt(
             [&] { return flock(folder.get(), LOCK_EX | LOCK_NB); }) == 0 ||
         errno != EWOULDBLOCK;
}

RunsFolderLock::RunsFolderLock(const fs::path& runs)
    : folder_(OpenFolder(runs)) {
  if (!folder_.valid()) return;
  static_cast<void>(
      RetryOnInterrupt([this] { return flock(folder_.get(), LOCK_EX); }));
}

Status LinkLatest(const fs::path& runs, const std::string& id) {
  const RunsFolderLock lock(runs);
  std::error_code error;
  const fs::path latest = runs / "latest";
  const fs::path link = runs / (id + ".link");
  fs::create_directory_symlink(id, link, error);
  if (!error) fs::rename(link, latest, error);
  if (!error) return OkStatus();
  std::error_code ignored;
  fs::remove(link, ignored);
  const std::string why =
      error == std::errc::is_a_directory
          ? "expected a link, found a directory: remove or rename it"
          : error.message();
  return IoError(fmt::format("{}: {}; the results of this run are in {}",
                             latest.string(), why, (runs / id).string()));
}

Result<OutputFolder> MakeFindingsDirectory(const std::string& out,
                                           const fs::path& runs,
                                           EarlierFindings earlier) {
  fs::path path = out;
  if (out.empty()) {
    const Result<fs::path> run = MakeRunDirectory(runs);
    if (!run.ok()) return ChooseAnotherFolder(run.status(), "--out");
    path = *run / kFindingsFolderName;
  }
  Result<OutputFolder> taken = TakeFolder(path, earlier);
  if (taken.ok()) return taken;
  return ChooseAnotherFolder(taken.status(), "--out");
}

void RemoveWithParents(const OutputFolder& folder) {
  std::error_code error;
  if (folder.created.empty()) {
    for (const auto& entry : EntriesOf(folder.path)) {
      fs::remove_all(entry.path(), error);
    }
    return;
  }
  fs::remove_all(folder.path, error);
  if (error) return;
  const Result<fs::path> absolute = AbsoluteFolder(folder.path);
  if (absolute.ok()) RemoveEmptyFolders(*absolute, folder.created);
}

void RemoveIfUnused(const fs::path& findings, const fs::path& runs) {
  if (findings.parent_path().parent_path() != runs) return;
  // Removes only empty folders.
  std::error_code error;
  fs::remove(findings, error);
  fs::remove(findings.parent_path(), error);
}

}  // namespace gauntlet
