#include "harness/cli/bench/trials_folder.h"

#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "harness/cli/run_folders/run_directory.h"
#include <sys/file.h>

namespace gauntlet {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPurpose = "trials";
// TemporaryDirectory::MakeIn gives names with this prefix.
constexpr std::string_view kNamePrefix = "gauntlet-trials-";

bool Lock(const Descriptor& folder) {
  return folder.valid() && flock(folder.get(), LOCK_EX | LOCK_NB) == 0;
}

void RemoveUnlocked(const fs::path& parent) {
  std::error_code error;
  fs::directory_iterator entry(parent, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    const fs::path& path = entry->path();
    if (!path.filename().string().starts_with(kNamePrefix)) continue;
    const Descriptor folder = OpenFolder(path);
    // Ignores errors: the next benchmark tries to remove the folder again.
    std::error_code ignored;
    if (Lock(folder)) fs::remove_all(path, ignored);
  }
}

}  // namespace

void TrialsFolder::RemoveLeftBehind(const fs::path& parent) {
  const RunsFolderLock one_at_a_time(parent);
  RemoveUnlocked(parent);
}

Result<std::unique_ptr<TrialsFolder>> TrialsFolder::Make(
    const fs::path& parent) {
  fs::path created = TopmostMissing(parent);
  std::error_code error;
  fs::create_directories(parent, error);
  if (error) {
    RemoveEmptyFolders(parent, created);
    return InvalidArgument(parent.string() + ": " + error.message());
  }
  // The lock on `parent` keeps other benchmarks from deleting the new folder
  // before it is locked.
  const RunsFolderLock one_at_a_time(parent);
  RemoveUnlocked(parent);
  Result<std::unique_ptr<TemporaryDirectory>> folder =
      TemporaryDirectory::MakeIn(parent, kPurpose);
  if (!folder.ok()) {
    RemoveEmptyFolders(parent, created);
    return folder.status();
  }
  Descriptor lock = OpenFolder((*folder)->path());
  // If the file system has no locks, the folder stays unlocked. Later
  // benchmarks cannot lock it either, so they never delete it.
  if (!Lock(lock)) lock.Reset();
  return std::unique_ptr<TrialsFolder>(new TrialsFolder(
      *std::move(folder), std::move(lock), std::move(created)));
}

TrialsFolder::~TrialsFolder() {
  const fs::path parent = path().parent_path();
  folder_.reset();
  RemoveEmptyFolders(parent, created_);
}

}  // namespace gauntlet
