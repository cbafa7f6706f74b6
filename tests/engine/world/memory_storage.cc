#include "tests/engine/world/memory_storage.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace gauntlet {
namespace {

struct FileBytes {
  std::string now;
  std::string durable;
};

using Reads = std::map<std::string, std::vector<std::span<const std::byte>>>;

class MemoryFile final : public File {
 public:
  MemoryFile(std::string path, OpenMode mode, std::shared_ptr<FileBytes> bytes,
             Reads& reads)
      : path_(std::move(path)),
        mode_(mode),
        bytes_(std::move(bytes)),
        reads_(reads) {}

  Status WriteAt(uint64_t offset, std::span<const std::byte> bytes) override {
    if (mode_ == OpenMode::kRead) {
      return IoError(path_ + ": write: opened for reading only");
    }
    if (bytes.empty()) return OkStatus();
    std::string& now = bytes_->now;
    now.resize(std::max<size_t>(now.size(), offset + bytes.size()));
    std::memcpy(now.data() + offset, bytes.data(), bytes.size());
    return OkStatus();
  }
  Result<size_t> ReadAt(uint64_t offset, std::span<std::byte> bytes) override {
    const std::string& now = bytes_->now;
    if (offset >= now.size()) return size_t{0};
    const size_t size = std::min<size_t>(bytes.size(), now.size() - offset);
    if (size > 0) std::memcpy(bytes.data(), now.data() + offset, size);
    reads_[path_].push_back(bytes.first(size));
    return size;
  }
  Result<uint64_t> Size() override { return uint64_t{bytes_->now.size()}; }
  Status Sync() override {
    bytes_->durable = bytes_->now;
    return OkStatus();
  }

 private:
  const std::string path_;
  const OpenMode mode_;
  const std::shared_ptr<FileBytes> bytes_;
  Reads& reads_;
};

// Returns the directory of the path; "." for a bare name.
std::string ParentOf(const std::string& path) {
  const size_t slash = path.find_last_of('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace

class MemoryStorage::Files final : public Storage {
 public:
  using Entries = std::map<std::string, std::shared_ptr<FileBytes>>;

  Result<std::unique_ptr<File>> Open(const std::string& path,
                                     OpenMode mode) override;
  Result<std::vector<DirectoryEntry>> List(const std::string& path) override;
  Status MakeDirectory(const std::string& path) override;
  Status Rename(const std::string& from, const std::string& to) override;
  Status Remove(const std::string& path, FileKind kind) override;
  Status SyncDirectory(const std::string& path) override;
  Result<std::unique_ptr<FileLock>> Lock(const std::string& path) override {
    return FailedPrecondition(path + ": no locks here");
  }

  FileBytes& At(const std::string& path) const {
    const auto at = entries.find(path);
    CHECK(at != entries.end() && at->second, path + ": no such file");
    return *at->second;
  }

  // Directories have no bytes.
  Entries entries = {{"/", nullptr}, {".", nullptr}};
  Reads reads;
  std::vector<std::string> synced_directories;

 private:
  bool IsDirectory(const std::string& path) const {
    const auto at = entries.find(path);
    return at != entries.end() && !at->second;
  }
  bool IsEmpty(const std::string& directory) const {
    const auto inside = entries.lower_bound(directory + "/");
    return inside == entries.end() ||
           !inside->first.starts_with(directory + "/");
  }
};

Result<std::unique_ptr<File>> MemoryStorage::Files::Open(
    const std::string& path, OpenMode mode) {
  if (IsDirectory(path)) return IoError(path + ": is a directory");
  const bool exists = entries.contains(path);
  if (exists && mode == OpenMode::kCreateExclusive) {
    return AlreadyExists(path + ": open");
  }
  const bool creates =
      mode == OpenMode::kCreateExclusive || mode == OpenMode::kCreateTruncate;
  if (!exists && !(creates && IsDirectory(ParentOf(path)))) {
    return NotFound(path + ": open");
  }
  std::shared_ptr<FileBytes>& bytes = entries[path];
  if (!exists) bytes = std::make_shared<FileBytes>();
  if (creates) bytes->now.clear();
  return std::unique_ptr<File>(
      std::make_unique<MemoryFile>(path, mode, bytes, reads));
}

Result<std::vector<DirectoryEntry>> MemoryStorage::Files::List(
    const std::string& path) {
  if (!IsDirectory(path)) return NotFound(path + ": opendir");
  std::vector<DirectoryEntry> listed;
  for (const auto& [child, bytes] : entries) {
    if (child == "/" || child == "." || ParentOf(child) != path) continue;
    listed.push_back({.name = child.substr(child.find_last_of('/') + 1),
                      .kind = bytes ? FileKind::kFile : FileKind::kDirectory});
  }
  return listed;
}

Status MemoryStorage::Files::MakeDirectory(const std::string& path) {
  if (entries.contains(path)) return AlreadyExists(path + ": mkdir");
  if (!IsDirectory(ParentOf(path))) return NotFound(path + ": mkdir");
  entries[path] = nullptr;
  return OkStatus();
}

Status MemoryStorage::Files::Rename(const std::string& from,
                                    const std::string& to) {
  if (!entries.contains(from)) return NotFound(from + ": rename");
  if (!IsDirectory(ParentOf(to))) return NotFound(to + ": rename");
  if (from == to) return OkStatus();
  if (to.starts_with(from + "/")) return IoError(to + ": rename into itself");
  if (IsDirectory(to) && !IsEmpty(to)) return AlreadyExists(to + ": rename");
  if (entries.contains(to) && IsDirectory(from) != IsDirectory(to)) {
    return IoError(to + ": rename: a file and a directory");
  }
  Entries moved;
  std::erase_if(entries, [&](const auto& entry) {
    const auto& [path, bytes] = entry;
    const bool moves = path == from || path.starts_with(from + "/");
    if (moves) moved[to + path.substr(from.size())] = bytes;
    return moves;
  });
  for (const auto& [path, bytes] : moved) entries[path] = bytes;
  return OkStatus();
}

Status MemoryStorage::Files::Remove(const std::string& path, FileKind kind) {
  const bool directory = kind == FileKind::kDirectory;
  const std::string operation = directory ? ": rmdir" : ": unlink";
  if (!entries.contains(path)) return NotFound(path + operation);
  if (IsDirectory(path) != directory) return IoError(path + operation);
  if (directory && !IsEmpty(path)) return AlreadyExists(path + operation);
  entries.erase(path);
  return OkStatus();
}

Status MemoryStorage::Files::SyncDirectory(const std::string& path) {
  if (!IsDirectory(path)) return NotFound(path + ": fsync");
  synced_directories.push_back(path);
  return OkStatus();
}

MemoryStorage::MemoryStorage() : MemoryStorage(std::make_unique<Files>()) {}
MemoryStorage::MemoryStorage(std::unique_ptr<Files> files)
    : GatedStorage(*files), files_(std::move(files)) {}
MemoryStorage::MemoryStorage(MemoryStorage&&) noexcept = default;
MemoryStorage::~MemoryStorage() = default;

std::map<std::string, std::string> MemoryStorage::Contents() const {
  std::map<std::string, std::string> contents;
  for (const auto& [path, bytes] : files_->entries) {
    if (path == "/" || path == ".") continue;
    contents[bytes ? path : path + "/"] = bytes ? bytes->now : "";
  }
  return contents;
}

void MemoryStorage::SetContents(
    const std::map<std::string, std::string>& contents) {
  files_->entries = Files().entries;
  for (const auto& [path, bytes] : contents) {
    if (path.ends_with('/')) {
      files_->entries[path.substr(0, path.size() - 1)] = nullptr;
    } else {
      SetBytes(path, bytes);
    }
  }
}

bool MemoryStorage::Exists(const std::string& path) const {
  return files_->entries.contains(path);
}

std::string& MemoryStorage::Bytes(const std::string& path) {
  return files_->At(path).now;
}

void MemoryStorage::SetBytes(const std::string& path, std::string bytes) {
  files_->entries[path] =
      std::make_shared<FileBytes>(FileBytes{.now = std::move(bytes)});
}

void MemoryStorage::Erase(const std::string& path) {
  CHECK(files_->entries.erase(path) == 1, path + ": no such file");
}

const std::string& MemoryStorage::DurableBytes(const std::string& path) const {
  return files_->At(path).durable;
}

const std::vector<std::string>& MemoryStorage::synced_directories() const {
  return files_->synced_directories;
}

std::map<std::string, std::vector<std::span<const std::byte>>>&
MemoryStorage::reads() {
  return files_->reads;
}

MemoryStorage ReadOnlyFiles(
    const std::map<std::string, std::string>& contents) {
  MemoryStorage storage;
  storage.SetContents(contents);
  storage.gate = AllowReading;
  return storage;
}

}  // namespace gauntlet
