// Files that enter watched directories from elsewhere.
#include <algorithm>

#include "chaos/trace/calls/file_calls.h"
#include "chaos/trace/process/process_files.h"
#include "engine/real/posix/folder_entries.h"
#include <fcntl.h>
#include <sys/stat.h>

namespace gauntlet {
namespace {

std::optional<struct stat> StatusOfName(const std::string& path) {
  struct stat status = {};
  if (lstat(path.c_str(), &status) != 0) return std::nullopt;
  return status;
}

// Returns the names in a directory, in ascending order; empty if the path is
// not a directory.
std::vector<std::string> NamesIn(const std::string& directory) {
  std::vector<std::string> names;
  for (const auto& entry : EntriesOf(directory))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

void FileCalls::EnterExisting(const std::vector<std::string>& directories) {
  FileOperation like;
  like.implied = true;
  for (size_t i = 0; i < directories.size(); ++i) {
    const FileName root = {static_cast<uint32_t>(i), "."};
    for (const std::string& name : NamesIn(directories[i]))
      EnterTree(like, directories[i] + "/" + name, NameBelow(root, name));
  }
  like.kind = OperationKind::kSyncFileSystem;
  recorder_.Add(like);
}

std::optional<WatchedFile> FileCalls::FileAt(Caller caller,
                                             const WatchedPlace& place) {
  if (!place.status) return std::nullopt;
  if (!place.name) {
    // A watched file may also have a name outside of the watched directories.
    if (!files_.Knows(IdentityOf(*place.status))) return std::nullopt;
    return files_.Find(*place.status, "");
  }
  auto file = files_.FindAt(place);
  if (file && file->is_new) {
    EnterTree(Entering(caller, *file),
              "/proc/self/fd/" + std::to_string(place.directory.get()) + "/" +
                  place.leaf,
              *place.name);
  }
  return file;
}

FileOperation FileCalls::Entering(Caller caller, const WatchedFile& file) {
  FileOperation operation = OwnOperation(caller, OperationKind::kEnter);
  operation.file = file.number;
  operation.implied = true;
  operation.call = recorder_.NextCall();
  return operation;
}

void FileCalls::EnterTree(const FileOperation& like, const std::string& path,
                          const FileName& name) {
  const auto status = StatusOfName(path);
  if (!status) return;
  FileOperation entered = like;
  entered.name = name;
  entered.to = {};
  SetMetadata(entered, *status);
  if (S_ISREG(status->st_mode)) return EnterFile(entered, path, name, *status);
  if (!S_ISLNK(status->st_mode) && !S_ISDIR(status->st_mode)) return;
  if (entered.file == 0) entered.file = files_.Add(IdentityOf(*status), name);
  if (S_ISLNK(status->st_mode)) {
    entered.kind = OperationKind::kSymlink;
    entered.target = ReadLinkText(path);
    recorder_.Add(entered);
    return;
  }
  entered.kind = OperationKind::kMakeDirectory;
  recorder_.Add(entered);
  entered.file = 0;
  entered.implied = true;
  for (const std::string& child : NamesIn(path))
    EnterTree(entered, path + "/" + child, NameBelow(name, child));
}

void FileCalls::EnterFile(const FileOperation& like, const std::string& path,
                          const FileName& name, const struct stat& status) {
  FileOperation entered = like;
  entered.kind = OperationKind::kEnter;
  entered.name = name;
  SetMetadata(entered, status);
  entered.length = static_cast<uint64_t>(status.st_size);
  const FileIdentity identity = IdentityOf(status);
  if (entered.file == 0) {
    const auto known = files_.Knows(identity) ? files_.Find(status, "")
                                              : std::optional<WatchedFile>();
    entered.file = known ? known->number : files_.Add(identity, name);
  }
  if (!recorder_.keeps_operations()) return recorder_.Add(entered);
  const Descriptor reader(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!reader.valid()) {
    recorder_.Note(name.path + ": came from elsewhere and cannot be read");
    return;
  }
  recorder_.AddWithBytes(entered, BytesOfDescriptor(reader.get()));
}

void FileCalls::ForgetNameless(const struct stat& status) {
  const FileIdentity identity = IdentityOf(status);
  const auto number = files_.Forget(identity);
  if (number && recorder_.HasPending(*number)) nameless_[identity] = *number;
}

void FileCalls::CopyNameless(const std::optional<struct stat>& status) {
  if (!status || nameless_.empty()) return;
  const auto found = nameless_.find(IdentityOf(*status));
  if (found == nameless_.end()) return;
  recorder_.BeforeChange(found->second, kWholeFile);
  nameless_.erase(found);
}

void FileCalls::ForgetTree(const std::string& path) {
  const auto status = StatusOfName(path);
  if (!status) return;
  if (S_ISDIR(status->st_mode)) {
    for (const std::string& child : NamesIn(path))
      ForgetTree(path + "/" + child);
  }
  if (!S_ISDIR(status->st_mode) && status->st_nlink > 1) return;
  const auto number = files_.Forget(IdentityOf(*status));
  if (number) recorder_.BeforeChange(*number, kWholeFile);
}

}  // namespace gauntlet
