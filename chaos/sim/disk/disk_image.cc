#include "chaos/sim/disk/disk_image.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "chaos/sim/disk/path_parts.h"
#include "engine/check.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

// Operation named in errors of the path lookup; no caller needs the actual one.
constexpr std::string_view kOperation = "image";

auto LowerBound(ImageDirectory& directory, std::string_view name) {
  return std::lower_bound(directory.entries.begin(), directory.entries.end(),
                          name,
                          [](const ImageEntry& entry, std::string_view wanted) {
                            return entry.name < wanted;
                          });
}

ImageEntry* Lookup(ImageDirectory& directory, std::string_view name) {
  const auto entry = LowerBound(directory, name);
  if (entry == directory.entries.end() || entry->name != name) return nullptr;
  return &*entry;
}

ImageEntry& Insert(ImageDirectory& directory, std::string_view name) {
  return *directory.entries.insert(
      LowerBound(directory, name),
      ImageEntry{.name = std::string(name), .file = {}, .directory = {}});
}

void Erase(ImageDirectory& directory, std::string_view name) {
  directory.entries.erase(LowerBound(directory, name));
}

class OpenImageFile final : public File {
 public:
  OpenImageFile(std::shared_ptr<ImageFile> file, OpenMode mode)
      : file_(std::move(file)), mode_(mode) {}

  Status WriteAt(uint64_t offset, std::span<const std::byte> bytes) override {
    if (mode_ == OpenMode::kRead) return IoError("opened for reading only");
    if (bytes.empty()) return OkStatus();
    std::string& data = file_->data;
    if (offset + bytes.size() > data.size()) data.resize(offset + bytes.size());
    std::memcpy(data.data() + offset, bytes.data(), bytes.size());
    return OkStatus();
  }
  Result<size_t> ReadAt(uint64_t offset, std::span<std::byte> bytes) override {
    const std::string& data = file_->data;
    if (offset >= data.size() || bytes.empty()) return size_t{0};
    const size_t count = std::min(bytes.size(), data.size() - offset);
    std::memcpy(bytes.data(), data.data() + offset, count);
    return count;
  }
  Result<uint64_t> Size() override { return uint64_t{file_->data.size()}; }
  Status Sync() override { return OkStatus(); }

 private:
  std::shared_ptr<ImageFile> file_;
  OpenMode mode_;
};

class ImageLock final : public FileLock {
 public:
  ImageLock(std::set<std::string>& locked, std::string path)
      : locked_(locked), path_(std::move(path)) {}
  ~ImageLock() override { locked_.erase(path_); }

 private:
  std::set<std::string>& locked_;
  std::string path_;
};

}  // namespace

Result<ImageStorage::Place> ImageStorage::Find(std::string_view path) const {
  Place place;
  ImageDirectory* here = &root_;
  std::string_view rest = path;
  for (std::string_view part = NextPart(rest); !part.empty();
       part = NextPart(rest)) {
    CHECK(part != "..", "paths on images go down only");
    if (here == nullptr) {
      const bool is_file = place.entry != nullptr;
      return is_file ? Refuse(Code::kIoError, kOperation, path,
                              "a file where a directory is expected")
                     : Refuse(Code::kNotFound, kOperation, path,
                              "no such directory");
    }
    place = {here, part, Lookup(*here, part)};
    here = place.entry == nullptr ? nullptr : place.entry->directory.get();
  }
  return place;
}

Result<ImageDirectory*> ImageStorage::FindDirectory(
    std::string_view path) const {
  ASSIGN_OR_RETURN(const Place place, Find(path));
  if (place.directory == nullptr) return &root_;
  if (place.entry == nullptr) {
    return Refuse(Code::kNotFound, kOperation, path, "no such directory");
  }
  if (place.entry->directory == nullptr) {
    return Refuse(Code::kIoError, kOperation, path, "not a directory");
  }
  return place.entry->directory.get();
}

Result<std::unique_ptr<File>> ImageStorage::Open(const std::string& path,
                                                 OpenMode mode) {
  ASSIGN_OR_RETURN(const Place place, Find(path));
  const bool creates =
      mode == OpenMode::kCreateExclusive || mode == OpenMode::kCreateTruncate;
  ImageEntry* entry = place.entry;
  if (place.directory == nullptr ||
      (entry != nullptr && entry->directory != nullptr)) {
    return mode == OpenMode::kCreateExclusive
               ? Refuse(Code::kAlreadyExists, kOperation, path, "exists")
               : Refuse(Code::kIoError, kOperation, path, "is a directory");
  }
  if (entry == nullptr) {
    if (!creates)
      return Refuse(Code::kNotFound, kOperation, path, "no such file");
    entry = &Insert(*place.directory, place.name);
    entry->file = std::make_shared<ImageFile>();
  } else if (mode == OpenMode::kCreateExclusive) {
    return Refuse(Code::kAlreadyExists, kOperation, path, "exists");
  } else if (mode != OpenMode::kRead && entry->file->frozen) {
    entry->file = std::make_shared<ImageFile>(
        ImageFile{.data = creates ? std::string() : entry->file->data});
  } else if (mode == OpenMode::kCreateTruncate) {
    entry->file->data.clear();
  }
  return std::unique_ptr<File>(
      std::make_unique<OpenImageFile>(entry->file, mode));
}

Result<std::vector<DirectoryEntry>> ImageStorage::List(
    const std::string& path) {
  ASSIGN_OR_RETURN(const ImageDirectory* directory, FindDirectory(path));
  std::vector<DirectoryEntry> listed;
  listed.reserve(directory->entries.size());
  for (const ImageEntry& entry : directory->entries) {
    listed.push_back({.name = entry.name,
                      .kind = entry.directory == nullptr
                                  ? FileKind::kFile
                                  : FileKind::kDirectory});
  }
  return listed;
}

Status ImageStorage::MakeDirectory(const std::string& path) {
  ASSIGN_OR_RETURN(const Place place, Find(path));
  if (place.directory == nullptr || place.entry != nullptr) {
    return Refuse(Code::kAlreadyExists, kOperation, path, "exists");
  }
  Insert(*place.directory, place.name).directory =
      std::make_unique<ImageDirectory>();
  return OkStatus();
}

Status ImageStorage::Rename(const std::string& from, const std::string& to) {
  ASSIGN_OR_RETURN(const Place source, Find(from));
  if (source.entry == nullptr) {
    return Refuse(Code::kNotFound, kOperation, from, "no such file");
  }
  if (to.starts_with(from + "/")) {
    return Refuse(Code::kIoError, kOperation, from,
                  "the new name lies within it");
  }
  ASSIGN_OR_RETURN(const Place target, Find(to));
  if (target.directory == nullptr) {
    return Refuse(Code::kAlreadyExists, kOperation, to, "exists");
  }
  if (source.entry == target.entry) return OkStatus();
  if (target.entry != nullptr) {
    if (target.entry->directory != nullptr &&
        !target.entry->directory->entries.empty()) {
      return Refuse(Code::kAlreadyExists, kOperation, to, "is not empty");
    }
    if ((target.entry->directory == nullptr) !=
        (source.entry->directory == nullptr)) {
      return Refuse(Code::kIoError, kOperation, to,
                    "a file and a directory cannot replace each other");
    }
  }
  std::shared_ptr<ImageFile> file = std::move(source.entry->file);
  std::unique_ptr<ImageDirectory> directory =
      std::move(source.entry->directory);
  Erase(*source.directory, source.name);
  ImageEntry* const there = Lookup(*target.directory, target.name);
  ImageEntry& entry =
      there != nullptr ? *there : Insert(*target.directory, target.name);
  entry.file = std::move(file);
  entry.directory = std::move(directory);
  return OkStatus();
}

Status ImageStorage::Remove(const std::string& path, FileKind kind) {
  ASSIGN_OR_RETURN(const Place place, Find(path));
  if (place.directory == nullptr) {
    return Refuse(Code::kIoError, kOperation, path, "is the root");
  }
  if (place.entry == nullptr) {
    return Refuse(Code::kNotFound, kOperation, path, "no such file");
  }
  const bool is_directory = place.entry->directory != nullptr;
  if (is_directory != (kind == FileKind::kDirectory)) {
    return Refuse(Code::kIoError, kOperation, path,
                  is_directory ? "is a directory" : "is not a directory");
  }
  if (is_directory && !place.entry->directory->entries.empty()) {
    return Refuse(Code::kAlreadyExists, kOperation, path, "is not empty");
  }
  Erase(*place.directory, place.name);
  return OkStatus();
}

Status ImageStorage::SyncDirectory(const std::string& path) {
  return FindDirectory(path).status();
}

Result<std::unique_ptr<FileLock>> ImageStorage::Lock(const std::string& path) {
  auto opened = Open(path, OpenMode::kReadWrite);
  if (opened.status().code() == Code::kNotFound) {
    opened = Open(path, OpenMode::kCreateExclusive);
  }
  RETURN_IF_ERROR(opened.status());
  if (!locked_.insert(path).second) {
    return Refuse(Code::kAlreadyExists, kOperation, path, "is locked");
  }
  return std::unique_ptr<FileLock>(std::make_unique<ImageLock>(locked_, path));
}

}  // namespace gauntlet
