#include "harness/results/formats/temporary_file.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <vector>

#include "engine/real/posix/posix_status.h"
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

namespace gauntlet {
namespace {

Status WriteAll(int file, std::span<const std::byte> bytes,
                const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t count = RetryOnInterrupt(
        [&] { return write(file, bytes.data(), bytes.size()); });
    if (count < 0) return PosixError(errno, path, "write");
    bytes = bytes.subspan(static_cast<size_t>(count));
  }
  return OkStatus();
}

Status Copy(ByteSource& bytes, int file, const std::string& path) {
  constexpr uint64_t kCopiedPiece = uint64_t{1} << 20;
  std::vector<std::byte> piece(std::min(kCopiedPiece, bytes.size()));
  for (uint64_t at = 0; at < bytes.size();) {
    const auto part = std::span(piece).first(
        std::min<uint64_t>(piece.size(), bytes.size() - at));
    RETURN_IF_ERROR(bytes.Read(at, part));
    RETURN_IF_ERROR(WriteAll(file, part, path));
    at += part.size();
  }
  return OkStatus();
}

Result<Descriptor> OpenNewFile(std::string& path) {
  std::error_code ignored;
  path =
      std::filesystem::temp_directory_path(ignored) / "gauntlet-values-XXXXXX";
  Descriptor file(mkostemp(path.data(), O_CLOEXEC));
  if (!file.valid()) return PosixError(errno, path, "open");
  return file;
}

}  // namespace

Result<Descriptor> OpenUnnamedFile() {
  std::string path;
  ASSIGN_OR_RETURN(Descriptor file, OpenNewFile(path));
  unlink(path.c_str());
  return file;
}

Result<std::shared_ptr<FileBytes>> CopyToFile(ByteSource& bytes) {
  std::string path;
  ASSIGN_OR_RETURN(Descriptor file, OpenNewFile(path));
  const Status status = Copy(bytes, file.get(), path);
  if (status.ok()) return FileBytes::Of(path, std::move(file));
  unlink(path.c_str());
  return status;
}

}  // namespace gauntlet
