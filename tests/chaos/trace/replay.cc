#include "tests/chaos/trace/replay.h"

#include <array>
#include <cerrno>
#include <utility>

#include "engine/real/posix/posix_status.h"
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace gauntlet {

namespace fs = std::filesystem;

namespace {

bool LinkTo(int file, const std::string& name) {
  return linkat(AT_FDCWD, fmt::format("/proc/self/fd/{}", file).c_str(),
                AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0;
}

}  // namespace

Replay::Replay(const OperationLog& log, std::string root)
    : log_(log), root_(std::move(root)) {
  for (size_t i = 0; i < log.list().directories.size(); ++i)
    fs::create_directories(Directory(i));
}

std::string Replay::Directory(size_t index) const {
  return fmt::format("{}/{}", root_, index);
}

std::string Replay::Path(const FileName& name) const {
  return Directory(name.directory) + "/" + name.path;
}

Status Replay::Do(size_t count) {
  for (; count > 0; --count, ++done_) {
    const FileOperation& operation = log_.operations()[done_];
    RETURN_IF_ERROR(Annotate(
        DoOne(operation),
        fmt::format("{}: {}", done_ + 1, DescribeFileOperation(operation))));
  }
  return OkStatus();
}

Status Replay::Write(int file, const FileOperation& operation) const {
  uint64_t at = operation.offset;
  return log_.ReadBytes(
      operation.bytes, [&](std::span<const std::byte> piece) -> Status {
        if (pwrite(file, piece.data(), piece.size(), static_cast<off_t>(at)) !=
            static_cast<ssize_t>(piece.size())) {
          return PosixError(errno, "replay", "write");
        }
        at += piece.size();
        return OkStatus();
      });
}

bool Replay::Enter(const FileOperation& op) {
  const std::string aside = root_ + "/entering";
  const auto known = files_.find(op.file);
  struct stat status = {};
  if (known != files_.end() && fstat(known->second.get(), &status) == 0 &&
      status.st_nlink > 0) {
    // Links the file to a temporary name, and renames it, so that it replaces
    // an existing file of the new name atomically.
    const bool is_done = LinkTo(known->second.get(), aside) &&
                         rename(aside.c_str(), Path(op.name).c_str()) == 0;
    unlink(aside.c_str());
    return is_done;
  }
  Descriptor file(open(aside.c_str(), O_CREAT | O_EXCL | O_RDWR, 0600));
  const bool is_done = Write(file.get(), op).ok() &&
                       fchmod(file.get(), op.mode) == 0 &&
                       rename(aside.c_str(), Path(op.name).c_str()) == 0;
  files_[op.file] = std::move(file);
  return is_done;
}

Status Replay::DoOne(const FileOperation& op) {
  const std::string path = Path(op.name);
  const std::string to = Path(op.to);
  const auto found = files_.find(op.file);
  const int file = found == files_.end() ? -1 : found->second.get();
  bool is_done = true;
  switch (op.kind) {
    case OperationKind::kCreate: {
      Descriptor created(
          op.name.path.empty()
              ? open(Directory(0).c_str(), O_TMPFILE | O_RDWR, 0600)
              : open(path.c_str(), O_CREAT | O_EXCL | O_RDWR, 0600));
      is_done = created.valid() && fchmod(created.get(), op.mode) == 0;
      files_[op.file] = std::move(created);
      break;
    }
    case OperationKind::kWrite:
      return Write(file, op);
    case OperationKind::kTruncate:
      is_done = ftruncate(file, static_cast<off_t>(op.length)) == 0;
      break;
    case OperationKind::kAllocate:
    case OperationKind::kPunchHole:
    case OperationKind::kZeroRange:
    case OperationKind::kCollapseRange:
    case OperationKind::kInsertRange:
      is_done = fallocate(file, static_cast<int>(op.flags),
                          static_cast<off_t>(op.offset),
                          static_cast<off_t>(op.length)) == 0;
      break;
    case OperationKind::kRename:
      is_done = rename(path.c_str(), to.c_str()) == 0;
      break;
    case OperationKind::kExchange:
      is_done = renameat2(AT_FDCWD, path.c_str(), AT_FDCWD, to.c_str(),
                          RENAME_EXCHANGE) == 0;
      break;
    case OperationKind::kLink:
      is_done =
          file >= 0 ? LinkTo(file, to) : link(path.c_str(), to.c_str()) == 0;
      break;
    case OperationKind::kSymlink:
      is_done = symlink(op.target.c_str(), path.c_str()) == 0;
      break;
    case OperationKind::kUnlink:
      is_done = unlink(path.c_str()) == 0;
      break;
    case OperationKind::kMakeDirectory:
      is_done =
          mkdir(path.c_str(), 0700) == 0 && chmod(path.c_str(), op.mode) == 0;
      break;
    case OperationKind::kRemoveDirectory:
      is_done = rmdir(path.c_str()) == 0;
      break;
    case OperationKind::kEnter:
      is_done = Enter(op);
      break;
    case OperationKind::kLeave:
      is_done = fs::remove_all(path) > 0;
      break;
    case OperationKind::kSetMode:
      is_done = (file >= 0 ? fchmod(file, op.mode)
                           : chmod(path.c_str(), op.mode)) == 0;
      break;
    case OperationKind::kSetTimes: {
      const auto time = [](int64_t nanoseconds) {
        return timespec{.tv_sec = nanoseconds / 1'000'000'000,
                        .tv_nsec = nanoseconds % 1'000'000'000};
      };
      const std::array<timespec, 2> times = {time(op.access_time),
                                             time(op.modification_time)};
      is_done = utimensat(AT_FDCWD, path.c_str(), times.data(), 0) == 0;
      break;
    }
    default:
      break;
  }
  if (is_done) return OkStatus();
  return PosixError(errno == 0 ? EIO : errno, "replay", "operation");
}

}  // namespace gauntlet
