// Storage in a map, which knows what has been made durable.
#ifndef GAUNTLET_TESTS_CHAOS_INJECT_MEMORY_STORAGE_H_
#define GAUNTLET_TESTS_CHAOS_INJECT_MEMORY_STORAGE_H_

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/world/storage.h"

namespace gauntlet {

struct MemoryFile {
  std::string bytes;
  std::string durable;  // as of the last sync
};

class MemoryStorage final : public Storage {
 public:
  Result<std::unique_ptr<File>> Open(const std::string& path,
                                     OpenMode mode) override {
    const bool exists = files.contains(path);
    if (mode == OpenMode::kCreateExclusive && exists) {
      return AlreadyExists(path);
    }
    const bool creates =
        mode == OpenMode::kCreateExclusive || mode == OpenMode::kCreateTruncate;
    if (!creates && !exists) return NotFound(path);
    std::shared_ptr<MemoryFile>& file = files[path];
    if (!file) file = std::make_shared<MemoryFile>();
    if (creates) file->bytes.clear();
    return std::unique_ptr<File>(std::make_unique<OpenFile>(file));
  }
  Result<std::vector<DirectoryEntry>> List(const std::string&) override {
    return std::vector<DirectoryEntry>();
  }
  Status MakeDirectory(const std::string&) override { return OkStatus(); }
  Status Rename(const std::string& from, const std::string& to) override {
    std::map<std::string, std::shared_ptr<MemoryFile>> moved;
    for (const auto& [path, file] : files) {
      const bool inside = path == from || path.starts_with(from + "/");
      if (!inside) moved.emplace(path, file);
    }
    if (moved.size() == files.size()) return NotFound(from);
    for (const auto& [path, file] : files) {
      if (!moved.contains(path)) moved[to + path.substr(from.size())] = file;
    }
    files = std::move(moved);
    return OkStatus();
  }
  Status Remove(const std::string& path, FileKind) override {
    return files.erase(path) == 1 ? OkStatus() : NotFound(path);
  }
  Status SyncDirectory(const std::string& path) override {
    synced_directories.push_back(path);
    return OkStatus();
  }
  Result<std::unique_ptr<FileLock>> Lock(const std::string&) override {
    return std::make_unique<FileLock>();
  }

  std::map<std::string, std::shared_ptr<MemoryFile>> files;
  std::vector<std::string> synced_directories;

 private:
  class OpenFile final : public File {
   public:
    explicit OpenFile(std::shared_ptr<MemoryFile> file)
        : file_(std::move(file)) {}
    Status WriteAt(uint64_t offset, std::span<const std::byte> in) override {
      std::string& bytes = file_->bytes;
      bytes.resize(std::max<size_t>(bytes.size(), offset + in.size()), '.');
      for (size_t i = 0; i < in.size(); ++i) {
        bytes[offset + i] = static_cast<char>(in[i]);
      }
      return OkStatus();
    }
    Result<size_t> ReadAt(uint64_t offset, std::span<std::byte> out) override {
      size_t read = 0;
      while (read < out.size() && offset + read < file_->bytes.size()) {
        out[read] = static_cast<std::byte>(file_->bytes[offset + read]);
        ++read;
      }
      return read;
    }
    Result<uint64_t> Size() override { return file_->bytes.size(); }
    Status Sync() override {
      file_->durable = file_->bytes;
      return OkStatus();
    }

   private:
    std::shared_ptr<MemoryFile> file_;
  };
};

}  // namespace gauntlet

#endif  // GAUNTLET_TESTS_CHAOS_INJECT_MEMORY_STORAGE_H_
