#include "engine/world/storage.h"

#include <filesystem>

#include "engine/world/directories.h"
#include <fmt/format.h>

namespace gauntlet {

std::string_view FileKindName(FileKind kind) {
  switch (kind) {
    case FileKind::kFile:
      return "a file";
    case FileKind::kDirectory:
      return "a directory";
    case FileKind::kDirectoryLink:
      return "a symbolic link to a directory";
    case FileKind::kDanglingLink:
      return "a link to something that does not exist";
    case FileKind::kOther:
      break;
  }
  return "neither a file nor a directory";
}

Result<std::string> Storage::RealPath(const std::string& path) {
  const auto whole = (std::filesystem::path("/") / path).lexically_normal();
  return WithoutLastSlashes(whole.string());
}

Result<uint64_t> Storage::FreeBytes(const std::string& path) {
  return IoError(path + ": free space is not known");
}

Result<std::unique_ptr<File>> Storage::CreatePrivate(const std::string& path) {
  return Open(path, OpenMode::kCreateExclusive);
}

Result<std::unique_ptr<File>> Storage::OpenPrivate(const std::string& path) {
  return Open(path, OpenMode::kRead);
}

Status Storage::RenameToNew(const std::string& from, const std::string& to) {
  const Status there = Open(to, OpenMode::kRead).status();
  if (there.ok()) return AlreadyExists(to + ": rename: exists");
  if (there.code() != Code::kNotFound) return there;
  return Rename(from, to);
}

Result<std::string> ReadFile(Storage& storage, const std::string& path,
                             uint64_t limit) {
  ASSIGN_OR_RETURN(const auto file, storage.Open(path, OpenMode::kRead));
  return ReadFile(*file, path, limit);
}

Result<std::string> ReadFile(File& file, const std::string& path,
                             uint64_t limit) {
  ASSIGN_OR_RETURN(const uint64_t size, file.Size());
  if (size > limit) {
    return DataLoss(fmt::format("{}: expected at most {} bytes, found {}", path,
                                limit, size));
  }
  std::string bytes(size, '\0');
  ASSIGN_OR_RETURN(const size_t read,
                   file.ReadAt(0, std::as_writable_bytes(std::span(bytes))));
  bytes.resize(read);
  return bytes;
}

}  // namespace gauntlet
