#include "chaos/crash/content_store.h"

#include <cstdio>
#include <utility>

#include "chaos/trace/log/copied_range.h"
#include "engine/real/posix/descriptor.h"
#include "engine/real/posix/posix_status.h"
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

namespace gauntlet {
namespace {

// Up to this number of pieces, copying a content from the log is as fast as
// copying it from a stored file.
constexpr size_t kFewPieces = 16;

timespec TimeOf(int64_t nanoseconds) {
  return {.tv_sec = nanoseconds / 1'000'000'000,
          .tv_nsec = nanoseconds % 1'000'000'000};
}

}  // namespace

bool SetModeAndTimes(int file, const TreeNode& node) {
  const timespec times[2] = {TimeOf(node.access_time),
                             TimeOf(node.modification_time)};
  return fchmod(file, node.mode) == 0 && futimens(file, times) == 0;
}

ContentStore::ContentStore(const OperationLog& log, std::string folder,
                           uint64_t limit)
    : log_(log), folder_(std::move(folder)), limit_(limit), digests_(log) {}

std::string ContentStore::PathOf(const std::string& name) const {
  return folder_ + "/" + name;
}

Status ContentStore::Assemble(const FileContent& content, int file) {
  RETURN_IF_ERROR(digests_.Verify(content));
  uint64_t at = 0;
  for (const ContentPiece& piece : content.pieces()) {
    if (!piece.is_zeros()) {
      RETURN_IF_ERROR(log_.CopyPart(piece.source, piece.length, file, at));
    }
    at += piece.length;
  }
  // Zeros remain holes.
  if (ftruncate(file, static_cast<off_t>(content.size())) != 0)
    return PosixError(errno, "file of a crash state", "truncate");
  return OkStatus();
}

Result<bool> ContentStore::Keep(const FileContent& content,
                                const std::string& name, const TreeNode* like) {
  if (kept_.contains(name)) return true;
  if (++wanted_[name] < 2 || content.size() > limit_ - kept_bytes_)
    return false;
  // Several stores may store the same content: each writes a file of its own
  // and renames it.
  const std::string path = PathOf(name);
  const std::string part =
      fmt::format("{}.{}.{}", path, getpid(), static_cast<const void*>(this));
  Descriptor file(RetryOnInterrupt([&] {
    return open(part.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  }));
  if (!file.valid()) return PosixError(errno, part, "create");
  Status status = Assemble(content, file.get());
  if (status.ok() && like != nullptr && !SetModeAndTimes(file.get(), *like))
    status = PosixError(errno, part, "set mode and times");
  if (status.ok() && std::rename(part.c_str(), path.c_str()) != 0)
    status = PosixError(errno, path, "rename");
  if (!status.ok()) {
    unlink(part.c_str());
    return status;
  }
  kept_bytes_ += content.size();
  kept_.insert(name);
  return true;
}

Status ContentStore::WriteTo(const FileContent& content, int file) {
  if (content.size() == 0) return OkStatus();
  if (!can_clone_ && content.pieces().size() <= kFewPieces)
    return Assemble(content, file);
  ASSIGN_OR_RETURN(const Digest digest, digests_.Of(content));
  const std::string name = digest.ToString();
  ASSIGN_OR_RETURN(const bool is_kept, Keep(content, name, nullptr));
  if (!is_kept) return Assemble(content, file);
  const Descriptor kept(open(PathOf(name).c_str(), O_RDONLY | O_CLOEXEC));
  if (!kept.valid()) return PosixError(errno, PathOf(name), "open");
  if (can_clone_ && ioctl(file, FICLONE, kept.get()) == 0) return OkStatus();
  can_clone_ = false;
  return CopyRange({.file = kept.get()}, {.file = file}, content.size(),
                   PathOf(name));
}

Result<bool> ContentStore::LinkTo(const FileContent& content,
                                  const TreeNode& node, int directory,
                                  const std::string& name) {
  if (content.size() == 0) return false;
  ASSIGN_OR_RETURN(const Digest digest, digests_.Of(content));
  const std::string kept = fmt::format("{}-{:o}-{}", digest.ToString(),
                                       node.mode, node.modification_time);
  ASSIGN_OR_RETURN(const bool is_kept, Keep(content, kept, &node));
  // If linking fails (too many links, another file system), the caller writes
  // the file.
  return is_kept && linkat(AT_FDCWD, PathOf(kept).c_str(), directory,
                           name.c_str(), 0) == 0;
}

}  // namespace gauntlet
