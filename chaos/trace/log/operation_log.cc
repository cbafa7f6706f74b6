#include "chaos/trace/log/operation_log.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "chaos/trace/log/copied_range.h"
#include "chaos/trace/log/operation_list_format.h"
#include "engine/digest.h"
#include "engine/real/posix/posix_status.h"
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace gauntlet {
namespace {

std::string BytesPath(const std::string& folder) { return folder + "/bytes"; }
std::string ListPath(const std::string& folder) {
  return folder + "/operations";
}

// The digest of an extent: the chained digests of its pieces.
class PieceDigest {
 public:
  void Add(std::span<const std::byte> piece) {
    const std::array<uint64_t, 2> both = {value_, ShortDigestOf(piece)};
    value_ = ShortDigestOf(std::as_bytes(std::span(both)));
  }
  uint64_t value() const { return value_; }

 private:
  uint64_t value_ = 0;
};

Result<Descriptor> Open(const std::string& path, int flags) {
  Descriptor fd(RetryOnInterrupt(
      [&] { return open(path.c_str(), flags | O_CLOEXEC, 0644); }));
  if (!fd.valid()) return PosixError(errno, path, "open");
  return fd;
}

Status WriteAt(int fd, uint64_t at, std::span<const std::byte> bytes,
               const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t count = RetryOnInterrupt([&] {
      return pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(at));
    });
    if (count < 0) return PosixError(errno, path, "write");
    at += static_cast<uint64_t>(count);
    bytes = bytes.subspan(static_cast<size_t>(count));
  }
  return OkStatus();
}

// Returns the number of bytes read; fewer than requested at the end of the
// file.
Result<size_t> ReadAt(int fd, uint64_t at, std::span<std::byte> into,
                      const std::string& path) {
  size_t done = 0;
  while (done < into.size()) {
    const ssize_t count = RetryOnInterrupt([&] {
      return pread(fd, into.data() + done, into.size() - done,
                   static_cast<off_t>(at + done));
    });
    if (count < 0) return PosixError(errno, path, "read");
    if (count == 0) break;
    done += static_cast<size_t>(count);
  }
  return done;
}

Result<std::string> ReadWhole(const std::string& path) {
  ASSIGN_OR_RETURN(const Descriptor fd, Open(path, O_RDONLY));
  std::string text;
  std::vector<std::byte> piece(kPieceBytes);
  while (true) {
    ASSIGN_OR_RETURN(const size_t count,
                     ReadAt(fd.get(), text.size(), piece, path));
    const size_t old_size = text.size();
    text.resize(old_size + count);
    std::memcpy(text.data() + old_size, piece.data(), count);
    if (count < piece.size()) return text;
  }
}

}  // namespace

ByteReader BytesOfDescriptor(int descriptor) {
  return
      [descriptor](uint64_t at, std::span<std::byte> buffer) -> Result<size_t> {
        const ssize_t count = RetryOnInterrupt([&] {
          return pread(descriptor, buffer.data(), buffer.size(),
                       static_cast<off_t>(at));
        });
        if (count < 0) return PosixError(errno, "a watched file", "read");
        return static_cast<size_t>(count);
      };
}

OperationLog::OperationLog(std::string folder, Descriptor bytes,
                           const LogLimits& limits)
    : folder_(std::move(folder)), bytes_(std::move(bytes)), limits_(limits) {}

Result<OperationLog> OperationLog::Create(const std::string& folder,
                                          std::vector<std::string> directories,
                                          const LogLimits& limits) {
  ASSIGN_OR_RETURN(Descriptor bytes,
                   Open(BytesPath(folder), O_RDWR | O_CREAT | O_EXCL));
  OperationLog log(folder, std::move(bytes), limits);
  log.list_.directories = std::move(directories);
  return log;
}

Result<OperationLog> OperationLog::Load(const std::string& folder) {
  ASSIGN_OR_RETURN(const std::string text, ReadWhole(ListPath(folder)));
  ASSIGN_OR_RETURN(OperationList list,
                   DecodeOperationList(text, ListPath(folder)));
  const std::string path = BytesPath(folder);
  ASSIGN_OR_RETURN(Descriptor bytes, Open(path, O_RDONLY));
  struct stat status = {};
  if (fstat(bytes.get(), &status) != 0) return PosixError(errno, path, "stat");
  if (static_cast<uint64_t>(status.st_size) != list.byte_count) {
    return DataLoss(fmt::format("{}: expected {} bytes, found {}: record again",
                                path, list.byte_count, status.st_size));
  }
  OperationLog log(folder, std::move(bytes), {});
  log.list_ = std::move(list);
  return log;
}

uint64_t OperationLog::AddFile(const FileIdentity& identity) {
  list_.files.push_back(identity);
  return list_.files.size();
}

void OperationLog::SetStartTime(int64_t unix_nanoseconds) {
  list_.start_time = unix_nanoseconds;
}

Result<ByteExtent> OperationLog::AppendBytes(const ByteReader& source,
                                             uint64_t at, uint64_t length) {
  buffer_.resize(kPieceBytes);
  ByteExtent extent{.offset = list_.byte_count};
  PieceDigest digest;
  while (extent.length < length) {
    const size_t wanted =
        std::min<uint64_t>(kPieceBytes, length - extent.length);
    size_t filled = 0;
    while (filled < wanted) {
      ASSIGN_OR_RETURN(
          const size_t count,
          source(at + extent.length + filled,
                 std::span(buffer_).subspan(filled, wanted - filled)));
      if (count == 0) break;
      filled += count;
    }
    if (filled == 0) break;
    RETURN_IF_ERROR(CheckRoom(filled));
    const auto piece = std::span(buffer_).first(filled);
    RETURN_IF_ERROR(
        WriteAt(bytes_.get(), list_.byte_count, piece, BytesPath(folder_)));
    digest.Add(piece);
    list_.byte_count += filled;
    extent.length += filled;
    if (filled < wanted) break;
  }
  extent.digest = digest.value();
  return extent;
}

Status OperationLog::CheckRoom(uint64_t more) const {
  if (list_.byte_count + more <= limits_.bytes) return OkStatus();
  return ResourceExhausted(fmt::format(
      "{}: the program wrote more than {} bytes, the limit of a recording: "
      "record fewer steps or a smaller model, or raise the limit",
      folder_, limits_.bytes));
}

void OperationLog::SetBytes(size_t index, const ByteExtent& bytes) {
  list_.operations[index].bytes = bytes;
}

Status OperationLog::Append(FileOperation operation) {
  if (list_.operations.size() >= limits_.operations) {
    return ResourceExhausted(fmt::format(
        "{}: the program did more than {} operations, the limit of a "
        "recording: record fewer steps, or raise the limit",
        folder_, limits_.operations));
  }
  list_.operations.push_back(std::move(operation));
  return OkStatus();
}

Status OperationLog::Save() const {
  const std::string path = ListPath(folder_);
  ASSIGN_OR_RETURN(const Descriptor fd,
                   Open(path, O_WRONLY | O_CREAT | O_EXCL));
  const std::string text = EncodeOperationList(list_);
  return WriteAt(fd.get(), 0, std::as_bytes(std::span(text)), path);
}

Status OperationLog::ReadBytes(const ByteExtent& extent,
                               const ByteSink& sink) const {
  const std::string path = BytesPath(folder_);
  std::vector<std::byte> buffer(std::min<uint64_t>(kPieceBytes, extent.length));
  PieceDigest digest;
  for (uint64_t done = 0; done < extent.length;) {
    const auto piece = std::span(buffer).first(
        std::min<uint64_t>(buffer.size(), extent.length - done));
    RETURN_IF_ERROR(ReadPart(extent.offset + done, piece));
    digest.Add(piece);
    RETURN_IF_ERROR(sink(piece));
    done += piece.size();
  }
  if (digest.value() != extent.digest) {
    return DataLoss(fmt::format(
        "{}: bytes [{}, {}) are not those that were recorded: record again",
        path, extent.offset, extent.offset + extent.length));
  }
  return OkStatus();
}

Status OperationLog::ReadPart(uint64_t offset,
                              std::span<std::byte> into) const {
  const std::string path = BytesPath(folder_);
  ASSIGN_OR_RETURN(const size_t count,
                   ReadAt(bytes_.get(), offset, into, path));
  if (count == into.size()) return OkStatus();
  return DataLoss(
      fmt::format("{}: cut at byte {}: record again", path, offset + count));
}

Status OperationLog::CopyPart(uint64_t offset, uint64_t length, int file,
                              uint64_t at) const {
  return CopyRange({.file = bytes_.get(), .at = offset},
                   {.file = file, .at = at}, length, BytesPath(folder_));
}

}  // namespace gauntlet
