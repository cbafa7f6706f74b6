#include "tests/engine/ckpt/memory_storage.h"

#include <algorithm>
#include <cstring>

namespace gauntlet {

class MemoryFile final : public File {
 public:
  MemoryFile(MemoryStorage& storage, std::string path,
             std::shared_ptr<std::string> bytes)
      : storage_(storage), path_(std::move(path)), bytes_(std::move(bytes)) {}

  Status WriteAt(uint64_t offset, std::span<const std::byte> bytes) override {
    RETURN_IF_ERROR(storage_.Ask(StorageCall::kWrite, path_));
    if (bytes.empty()) return OkStatus();
    bytes_->resize(std::max<size_t>(bytes_->size(), offset + bytes.size()));
    std::memcpy(bytes_->data() + offset, bytes.data(), bytes.size());
    return OkStatus();
  }
  Result<size_t> ReadAt(uint64_t offset, std::span<std::byte> bytes) override {
    RETURN_IF_ERROR(storage_.Ask(StorageCall::kRead, path_));
    if (offset >= bytes_->size()) return size_t{0};
    const size_t size = std::min(bytes.size(), bytes_->size() - offset);
    if (size > 0) std::memcpy(bytes.data(), bytes_->data() + offset, size);
    storage_.reads[path_].push_back(bytes.first(size));
    return size;
  }
  Result<uint64_t> Size() override { return uint64_t{bytes_->size()}; }
  Status Sync() override { return storage_.Ask(StorageCall::kSync, path_); }

 private:
  MemoryStorage& storage_;
  const std::string path_;
  const std::shared_ptr<std::string> bytes_;
};

namespace {

std::string ParentOf(const std::string& path) {
  const size_t slash = path.find_last_of('/');
  return slash == std::string::npos || slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace

Status MemoryStorage::Ask(StorageCall operation, const std::string& path) {
  return gate ? gate(operation, path) : OkStatus();
}

bool MemoryStorage::Exists(const std::string& path) const {
  return files_.contains(path) || directories_.contains(path);
}

std::string& MemoryStorage::Bytes(const std::string& path) {
  CHECK(files_.contains(path), path + ": no such file");
  return *files_.at(path);
}

Result<std::unique_ptr<File>> MemoryStorage::Open(const std::string& path,
                                                  OpenMode mode) {
  const bool creates =
      mode == OpenMode::kCreateExclusive || mode == OpenMode::kCreateTruncate;
  RETURN_IF_ERROR(
      Ask(creates ? StorageCall::kCreate : StorageCall::kOpen, path));
  if (directories_.contains(path)) return IoError(path + ": is a directory");
  const bool there = files_.contains(path);
  if (!there && (!creates || !directories_.contains(ParentOf(path)))) {
    return NotFound(path + ": open");
  }
  if (there && mode == OpenMode::kCreateExclusive) {
    return AlreadyExists(path + ": open");
  }
  if (!there) files_[path] = std::make_shared<std::string>();
  if (mode == OpenMode::kCreateTruncate) files_[path]->clear();
  return std::unique_ptr<File>(
      std::make_unique<MemoryFile>(*this, path, files_[path]));
}

Result<std::vector<DirectoryEntry>> MemoryStorage::List(
    const std::string& path) {
  RETURN_IF_ERROR(Ask(StorageCall::kList, path));
  if (!directories_.contains(path)) return NotFound(path + ": opendir");
  std::vector<DirectoryEntry> entries;
  const auto add = [&](const std::string& child, FileKind kind) {
    if (child.size() > path.size() + 1 && ParentOf(child) == path) {
      entries.push_back({.name = child.substr(path.size() + 1), .kind = kind});
    }
  };
  for (const auto& [file, bytes] : files_) add(file, FileKind::kFile);
  for (const auto& directory : directories_) {
    add(directory, FileKind::kDirectory);
  }
  std::ranges::sort(entries, {}, &DirectoryEntry::name);
  return entries;
}

Status MemoryStorage::MakeDirectory(const std::string& path) {
  RETURN_IF_ERROR(Ask(StorageCall::kCreate, path));
  if (Exists(path)) return AlreadyExists(path + ": mkdir");
  if (!directories_.contains(ParentOf(path))) return NotFound(path + ": mkdir");
  directories_.insert(path);
  return OkStatus();
}

Status MemoryStorage::Rename(const std::string& from, const std::string& to) {
  RETURN_IF_ERROR(Ask(StorageCall::kChange, from));
  if (const auto file = files_.find(from); file != files_.end()) {
    files_[to] = file->second;
    files_.erase(from);
    return OkStatus();
  }
  if (!directories_.contains(from)) return NotFound(from + ": rename");
  const auto inside = files_.lower_bound(to + "/");
  if (inside != files_.end() && inside->first.starts_with(to + "/")) {
    return AlreadyExists(to + ": rename");
  }
  directories_.erase(from);
  directories_.insert(to);
  for (auto at = files_.lower_bound(from + "/");
       at != files_.end() && at->first.starts_with(from + "/");
       at = files_.erase(at)) {
    files_[to + at->first.substr(from.size())] = at->second;
  }
  return OkStatus();
}

Status MemoryStorage::Remove(const std::string& path, FileKind kind) {
  RETURN_IF_ERROR(Ask(StorageCall::kChange, path));
  if (kind == FileKind::kFile) {
    return files_.erase(path) > 0 ? OkStatus() : NotFound(path + ": unlink");
  }
  if (!directories_.contains(path)) return NotFound(path + ": rmdir");
  const auto inside = files_.lower_bound(path + "/");
  if (inside != files_.end() && inside->first.starts_with(path + "/")) {
    return AlreadyExists(path + ": rmdir");
  }
  directories_.erase(path);
  return OkStatus();
}

Status MemoryStorage::SyncDirectory(const std::string& path) {
  RETURN_IF_ERROR(Ask(StorageCall::kSync, path));
  return directories_.contains(path) ? OkStatus() : NotFound(path + ": fsync");
}

Result<std::unique_ptr<FileLock>> MemoryStorage::Lock(const std::string& path) {
  return FailedPrecondition(path + ": no locks here");
}

std::map<std::string, std::string> MemoryStorage::Contents() const {
  std::map<std::string, std::string> contents;
  for (const auto& [path, bytes] : files_) contents[path] = *bytes;
  for (const std::string& path : directories_) {
    if (path != "/") contents[path + "/"] = "";
  }
  return contents;
}

void MemoryStorage::SetContents(
    const std::map<std::string, std::string>& contents) {
  files_.clear();
  directories_ = {"/"};
  for (const auto& [path, bytes] : contents) {
    if (path.ends_with('/')) {
      directories_.insert(path.substr(0, path.size() - 1));
    } else {
      files_[path] = std::make_shared<std::string>(bytes);
    }
  }
}

}  // namespace gauntlet
