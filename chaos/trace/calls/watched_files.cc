#include "chaos/trace/calls/watched_files.h"

#include <algorithm>

#include "chaos/trace/process/process_files.h"
#include "engine/real/posix/posix_status.h"
#include <fcntl.h>
#include <fmt/format.h>

namespace gauntlet {
namespace {

// Limits of caches; entries beyond them are computed again.
constexpr size_t kKeptNames = 4096;
constexpr size_t kKeptReaders = 64;

constexpr int kMostLinks = 40;  // the kernel's limit

std::string OwnDescriptorPath(int descriptor) {
  return fmt::format("/proc/self/fd/{}", descriptor);
}

std::optional<struct stat> StatusAt(int directory, const std::string& leaf) {
  struct stat status = {};
  if (fstatat(directory, leaf.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0)
    return std::nullopt;
  return status;
}

// Returns the last `count` components of a path; nullopt if it has fewer.
std::optional<std::string> LastParts(const std::string& path, size_t count) {
  if (count == 0) return ".";
  size_t at = path.size();
  while (count-- > 0) {
    if (at == 0 || at == std::string::npos) return std::nullopt;
    at = path.rfind('/', at - 1);
  }
  if (at == std::string::npos) return std::nullopt;
  return path.substr(at + 1);
}

struct SplitPath {
  std::string directory;
  std::string leaf;
};

SplitPath Split(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return {".", path};
  return {path.substr(0, slash + 1), path.substr(slash + 1)};
}

}  // namespace

FileName NameBelow(const FileName& directory, const std::string& leaf) {
  return {directory.directory,
          directory.path == "." ? leaf : directory.path + "/" + leaf};
}

Result<WatchedFiles> WatchedFiles::Watch(
    const std::vector<std::string>& directories, AddFile add_file) {
  WatchedFiles files(std::move(add_file));
  for (const std::string& directory : directories) {
    const auto status = StatusOf(directory);
    if (!status) return PosixError(errno, directory, "watch");
    if (!S_ISDIR(status->st_mode))
      return PosixError(ENOTDIR, directory, "watch");
    files.roots_.push_back(
        {.identity = IdentityOf(*status), .path = directory});
  }
  return files;
}

bool WatchedFiles::IsWatchedDevice(uint64_t device) const {
  return std::any_of(roots_.begin(), roots_.end(), [&](const Root& root) {
    return root.identity.device == device;
  });
}

std::optional<FileName> WatchedFiles::ClimbToRoot(
    int directory, const std::string& text) const {
  Descriptor current;
  size_t depth = 0;
  auto status = StatusOf(directory);
  while (status && IsWatchedDevice(status->st_dev)) {
    const FileIdentity identity = IdentityOf(*status);
    for (size_t i = 0; i < roots_.size(); ++i) {
      if (roots_[i].identity != identity) continue;
      const auto path = LastParts(text, depth);
      if (!path) return std::nullopt;
      return FileName{static_cast<uint32_t>(i), *path};
    }
    Descriptor parent(openat(current.valid() ? current.get() : directory, "..",
                             O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!parent.valid()) return std::nullopt;
    current = std::move(parent);
    status = StatusOf(current.get());
    if (status && IdentityOf(*status) == identity) return std::nullopt;
    ++depth;
  }
  return std::nullopt;
}

std::optional<FileName> WatchedFiles::NameOfDirectory(int directory) {
  const auto status = StatusOf(directory);
  if (!status || !S_ISDIR(status->st_mode) || status->st_nlink == 0 ||
      !IsWatchedDevice(status->st_dev)) {
    return std::nullopt;
  }
  const NameKey key{IdentityOf(*status),
                    ReadLinkText(OwnDescriptorPath(directory))};
  const auto kept = directories_.find(key);
  if (kept != directories_.end()) return kept->second;
  if (directories_.size() >= kKeptNames) directories_.clear();
  return directories_[key] = ClimbToRoot(directory, key.second);
}

WatchedPlace WatchedFiles::Locate(const std::string& path) {
  SplitPath split = Split(path);
  if (split.leaf == "." || split.leaf == "..") {
    // The path leads to an existing directory. Uses the kernel's path of it,
    // which ends in the directory's name.
    const Descriptor directory = OpenName(path, O_DIRECTORY);
    split = Split(ReadLinkText(OwnDescriptorPath(directory.get())));
  }
  WatchedPlace place{.directory = OpenName(split.directory, O_DIRECTORY),
                     .leaf = split.leaf};
  if (!place.directory.valid() || place.leaf.empty()) return place;
  const auto directory = NameOfDirectory(place.directory.get());
  if (directory) place.name = NameBelow(*directory, place.leaf);
  place.status = StatusAt(place.directory.get(), place.leaf);
  return place;
}

WatchedPlace WatchedFiles::LocateFollowing(std::string path,
                                           const std::string& root) {
  WatchedPlace place = Locate(path);
  for (int links = 0; links < kMostLinks; ++links) {
    if (!place.status || !S_ISLNK(place.status->st_mode)) break;
    const std::string target = ReadLinkText(place.directory.get(), place.leaf);
    path = target.starts_with('/')
               ? root + target
               : OwnDescriptorPath(place.directory.get()) + "/" + target;
    place = Locate(path);
  }
  return place;
}

std::optional<FileName> WatchedFiles::NameOfText(const FileIdentity& identity,
                                                 const std::string& text) {
  const SplitPath split = Split(text);
  const Descriptor directory = OpenName(split.directory, O_DIRECTORY);
  if (!directory.valid()) return std::nullopt;
  const auto name = NameOfDirectory(directory.get());
  if (!name) return std::nullopt;
  // The kernel's text for a removed file ends in " (deleted)", but a real name
  // may end in the same way. So the inode decides.
  const auto status = StatusAt(directory.get(), split.leaf);
  if (!status || IdentityOf(*status) != identity) return std::nullopt;
  return NameBelow(*name, split.leaf);
}

std::optional<WatchedFile> WatchedFiles::Find(const struct stat& status,
                                              const std::string& text) {
  if (!IsWatchedDevice(status.st_dev) || !IsRecordedType(status))
    return std::nullopt;
  const FileIdentity identity = IdentityOf(status);
  const auto known = known_.find(identity);
  if (known != known_.end()) {
    Known& file = known->second;
    if (file.text != text) {
      const auto name = NameOfText(identity, text);
      // If there is no name, the file was opened by a name outside of the
      // watched directories, or has lost the name in `text`. `file.name` then
      // keeps the last name.
      if (name) {
        file.name = *name;
        file.text = text;
      }
    }
    return WatchedFile{
        .number = file.number,
        .name = file.name,
        .is_named_here = file.text == text || file.name.path.empty()};
  }
  const NameKey key{identity, text};
  if (outside_.contains(key)) return std::nullopt;
  const auto name = NameOfText(identity, text);
  if (!name) {
    if (outside_.size() >= kKeptNames) outside_.clear();
    outside_.insert(key);
    return std::nullopt;
  }
  return WatchedFile{
      .number = Add(identity, *name), .name = *name, .is_new = true};
}

std::optional<WatchedFile> WatchedFiles::FindOpen(int descriptor) {
  const auto status = StatusOf(descriptor);
  if (!status) return std::nullopt;
  if (!S_ISDIR(status->st_mode))
    return Find(*status, ReadLinkText(OwnDescriptorPath(descriptor)));
  const auto name = NameOfDirectory(descriptor);
  if (!name) return std::nullopt;
  const FileIdentity identity = IdentityOf(*status);
  const auto known = known_.find(identity);
  if (known != known_.end())
    return WatchedFile{.number = known->second.number, .name = *name};
  return WatchedFile{.number = Add(identity, *name), .name = *name};
}

std::optional<FileName> WatchedFiles::NameOfOpen(int descriptor) {
  const auto status = StatusOf(descriptor);
  if (!status || !IsWatchedDevice(status->st_dev)) return std::nullopt;
  if (S_ISDIR(status->st_mode)) return NameOfDirectory(descriptor);
  return NameOfText(IdentityOf(*status),
                    ReadLinkText(OwnDescriptorPath(descriptor)));
}

std::optional<WatchedFile> WatchedFiles::FindAt(const WatchedPlace& place) {
  if (!place.name || !place.status || !IsRecordedType(*place.status))
    return std::nullopt;
  const FileIdentity identity = IdentityOf(*place.status);
  const auto known = known_.find(identity);
  if (known != known_.end())
    return WatchedFile{.number = known->second.number, .name = *place.name};
  return WatchedFile{.number = Add(identity, *place.name),
                     .name = *place.name,
                     .is_new = true};
}

uint64_t WatchedFiles::Add(const FileIdentity& identity, const FileName& name) {
  const uint64_t number = add_file_(identity);
  known_[identity] = {.number = number, .name = name};
  return number;
}

bool WatchedFiles::Knows(const FileIdentity& identity) const {
  return known_.contains(identity);
}

void WatchedFiles::SetName(const FileIdentity& identity, const FileName& name) {
  const auto known = known_.find(identity);
  if (known != known_.end()) known->second.name = name;
}

std::optional<uint64_t> WatchedFiles::Forget(const FileIdentity& identity) {
  const auto known = known_.find(identity);
  if (known == known_.end()) return std::nullopt;
  const uint64_t number = known->second.number;
  readers_.erase(number);
  known_.erase(known);
  return number;
}

int WatchedFiles::Reader(uint64_t number, const std::string& path) {
  const auto kept = readers_.find(number);
  if (kept != readers_.end()) return kept->second.get();
  if (readers_.size() >= kKeptReaders) readers_.clear();
  // Avoids changing the time of the last access, if permitted.
  Descriptor reader(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOATIME));
  if (!reader.valid()) {
    reader = Descriptor(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  }
  if (!reader.valid()) return -1;
  return (readers_[number] = std::move(reader)).get();
}

}  // namespace gauntlet
