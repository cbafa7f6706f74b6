// Calls on the contents of files.
#include <algorithm>
#include <climits>

#include "chaos/trace/calls/file_calls.h"
#include "chaos/trace/process/process_files.h"
#include "chaos/trace/process/syscall_numbers.h"
#include "engine/digest.h"
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/close_range.h>
#include <linux/fs.h>
#include <sys/mman.h>

namespace gauntlet {
namespace {

constexpr uint32_t kNoAppend = 0x20;  // RWF_NOAPPEND, of Linux 6.9
// FALLOC_FL_WRITE_ZEROES, of Linux 6.17.
constexpr int kWriteZeros = 0x80;

// Returns the flags of a write call: those of pwritev2, or 0, as no other write
// call has flags.
uint32_t WriteFlags(const SystemCall& call) {
  return call.number == SYS_pwritev2 ? static_cast<uint32_t>(call.arguments[5])
                                     : 0;
}

bool Appends(uint32_t write_flags, int open_flags) {
  if ((write_flags & kNoAppend) != 0) return false;
  return (write_flags & RWF_APPEND) != 0 || (open_flags & O_APPEND) != 0;
}

// Returns the kind of sync that the write implies.
std::optional<OperationKind> ImpliedSync(uint32_t write_flags, int open_flags) {
  if ((write_flags & RWF_SYNC) != 0 || (open_flags & O_SYNC) == O_SYNC)
    return OperationKind::kSyncFile;
  if ((write_flags & RWF_DSYNC) != 0 || (open_flags & O_DSYNC) != 0)
    return OperationKind::kSyncData;
  return std::nullopt;
}

OperationKind AllocationKind(int mode) {
  if ((mode & FALLOC_FL_PUNCH_HOLE) != 0) return OperationKind::kPunchHole;
  if ((mode & (FALLOC_FL_ZERO_RANGE | kWriteZeros)) != 0)
    return OperationKind::kZeroRange;
  if ((mode & FALLOC_FL_COLLAPSE_RANGE) != 0)
    return OperationKind::kCollapseRange;
  if ((mode & FALLOC_FL_INSERT_RANGE) != 0) return OperationKind::kInsertRange;
  return OperationKind::kAllocate;
}

uint64_t DigestOfFile(int descriptor, uint64_t size) {
  std::vector<std::byte> buffer(size_t{1} << 20U);
  std::string digests;
  const ByteReader source = BytesOfDescriptor(descriptor);
  for (uint64_t at = 0; at < size;) {
    const auto count = source(at, buffer);
    if (!count.ok() || *count == 0) break;
    digests += fmt::format("{} {:x} ", *count,
                           ShortDigestOf(std::span(buffer).first(*count)));
    at += *count;
  }
  return ShortDigestOf(digests);
}

}  // namespace

std::optional<WatchedFile> FileCalls::FileOfDescriptor(Caller caller,
                                                       int descriptor) {
  return OpenFile(caller, DescriptorPath(caller.thread, descriptor));
}

std::optional<WatchedFile> FileCalls::OpenFile(Caller caller,
                                               const std::string& path) {
  const auto status = StatusOf(path);
  if (!status || !S_ISREG(status->st_mode) ||
      !files_.IsWatchedDevice(status->st_dev)) {
    return std::nullopt;
  }
  auto file = files_.Find(*status, ReadLinkText(path));
  if (!file) CopyNameless(status);
  if (file && file->is_new) {
    EnterFile(Entering(caller, *file), path, file->name, *status);
  }
  return file;
}

std::optional<FileCall> FileCalls::BeginData(Caller caller,
                                             const SystemCall& call) {
  switch (call.number) {
    case SYS_write:
    case SYS_pwrite64:
    case SYS_writev:
    case SYS_pwritev:
    case SYS_pwritev2:
      return BeginMemoryWrite(caller, call);
    case SYS_sendfile:
    case SYS_copy_file_range:
    case SYS_splice:
      return BeginCopy(caller, call);
    case SYS_ioctl:
      return BeginClone(caller, call);
    case SYS_ftruncate:
    case SYS_fallocate:
      return BeginAllocate(caller, call);
    case SYS_fsync:
    case SYS_fdatasync:
    case SYS_sync_file_range:
    case SYS_sync:
    case SYS_syncfs:
      return BeginSync(caller, call);
    case SYS_mmap:
      return BeginMap(caller, call);
    case SYS_close:
    case SYS_dup2:
    case SYS_dup3:
      return BeginClose(caller, call);
    case SYS_close_range:
      CloseRange(caller, call);
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

std::optional<FileCall> FileCalls::BeginMemoryWrite(Caller caller,
                                                    const SystemCall& call) {
  const auto file = FileOfDescriptor(caller, call.Int(0));
  if (!file) return std::nullopt;
  FileCall write = OnFile(caller, call, OperationKind::kWrite, *file);
  write.descriptor = call.Int(0);
  if (call.number == SYS_write || call.number == SYS_pwrite64) {
    write.buffers = {
        {.address = call.arguments[1], .length = call.arguments[2]}};
  } else {
    write.buffers =
        ReadVectors(caller.thread, call.arguments[1], call.arguments[2]);
  }
  for (const MemoryRange& buffer : write.buffers)
    write.operation.length += buffer.length;
  const bool is_at_position =
      call.number == SYS_write || call.number == SYS_writev ||
      (call.number == SYS_pwritev2 && call.arguments[3] == UINT64_MAX);
  if (!is_at_position) write.offset = call.arguments[3];
  return write;
}

std::optional<FileCall> FileCalls::BeginCopy(Caller caller,
                                             const SystemCall& call) {
  const bool is_sendfile = call.number == SYS_sendfile;
  const int into = call.Int(is_sendfile ? 0 : 2);
  const int out_of = call.Int(is_sendfile ? 1 : 0);
  const auto file = FileOfDescriptor(caller, into);
  if (!file) return std::nullopt;
  FileCall copy = OnFile(caller, call, OperationKind::kWrite, *file);
  copy.descriptor = into;
  copy.operation.length = call.arguments[is_sendfile ? 3 : 4];
  if (!is_sendfile && call.arguments[3] != 0)
    copy.offset = ReadObject<uint64_t>(caller.thread, call.arguments[3]);
  const auto source = StatusOf(DescriptorPath(caller.thread, out_of));
  copy.is_ordered = source && S_ISREG(source->st_mode);
  return copy;
}

std::optional<FileCall> FileCalls::BeginClone(Caller caller,
                                              const SystemCall& call) {
  const auto file = FileOfDescriptor(caller, call.Int(0));
  if (!file) return std::nullopt;
  FileCall clone = OnFile(caller, call, OperationKind::kWrite, *file);
  clone.descriptor = call.Int(0);
  file_clone_range range = {.src_fd = call.Int(2)};
  if (call.arguments[1] == FICLONERANGE) {
    const auto given =
        ReadObject<file_clone_range>(caller.thread, call.arguments[2]);
    if (!given) return std::nullopt;
    range = *given;
  }
  clone.offset = range.dest_offset;
  clone.operation.length = range.src_length;
  if (range.src_length == 0) {
    const auto source =
        StatusOf(DescriptorPath(caller.thread, static_cast<int>(range.src_fd)));
    if (!source) return std::nullopt;
    clone.operation.length =
        static_cast<uint64_t>(source->st_size) - range.src_offset;
  }
  return clone;
}

std::optional<FileCall> FileCalls::BeginAllocate(Caller caller,
                                                 const SystemCall& call) {
  const auto file = FileOfDescriptor(caller, call.Int(0));
  if (!file) return std::nullopt;
  if (call.number == SYS_ftruncate) {
    FileCall truncate = OnFile(caller, call, OperationKind::kTruncate, *file);
    truncate.operation.length = call.arguments[1];
    return truncate;
  }
  FileCall allocate = OnFile(caller, call, AllocationKind(call.Int(1)), *file);
  allocate.operation.flags = static_cast<uint32_t>(call.arguments[1]);
  allocate.operation.offset = call.arguments[2];
  allocate.operation.length = call.arguments[3];
  return allocate;
}

std::optional<FileCall> FileCalls::BeginSync(Caller caller,
                                             const SystemCall& call) {
  if (call.number == SYS_sync)
    return Started(caller, call, OperationKind::kSyncFileSystem);
  const std::string path = DescriptorPath(caller.thread, call.Int(0));
  const auto status = StatusOf(path);
  if (!status || !files_.IsWatchedDevice(status->st_dev)) return std::nullopt;
  if (call.number == SYS_syncfs)
    return Started(caller, call, OperationKind::kSyncFileSystem);
  if (S_ISDIR(status->st_mode)) {
    const auto directory = files_.FindOpen(OpenName(path).get());
    if (!directory) return std::nullopt;
    return OnFile(caller, call, OperationKind::kSyncDirectory, *directory);
  }
  const auto file = FileOfDescriptor(caller, call.Int(0));
  if (!file) return std::nullopt;
  AddMappedBytes(caller, file->number);
  if (call.number == SYS_fsync)
    return OnFile(caller, call, OperationKind::kSyncFile, *file);
  if (call.number == SYS_fdatasync)
    return OnFile(caller, call, OperationKind::kSyncData, *file);
  FileCall range = OnFile(caller, call, OperationKind::kSyncRange, *file);
  range.operation.offset = call.arguments[1];
  range.operation.length = call.arguments[2];
  return range;
}

// Returns the file if the descriptor is open for writing.
std::optional<WatchedFile> FileCalls::FileToWrite(Caller caller,
                                                  int descriptor) {
  auto file = FileOfDescriptor(caller, descriptor);
  if (!file) return std::nullopt;
  const auto info = ReadDescriptorInfo(caller.thread, descriptor);
  if (!info || (info->flags & O_ACCMODE) == O_RDONLY) return std::nullopt;
  return file;
}

std::optional<FileCall> FileCalls::BeginClose(Caller caller,
                                              const SystemCall& call) {
  // dup2 and dup3 close the second descriptor.
  const bool replaces = call.number != SYS_close;
  if (replaces && call.Int(0) == call.Int(1)) return std::nullopt;
  const auto file = FileToWrite(caller, call.Int(replaces ? 1 : 0));
  if (!file) return std::nullopt;
  return OnFile(caller, call, OperationKind::kClose, *file);
}

void FileCalls::CloseRange(Caller caller, const SystemCall& call) {
  if ((call.arguments[2] & CLOSE_RANGE_CLOEXEC) != 0) return;
  AddCloses(caller, static_cast<unsigned>(call.arguments[0]),
            static_cast<unsigned>(call.arguments[1]));
}

void FileCalls::AddCloses(Caller caller, unsigned first, unsigned last) {
  for (const int descriptor : DescriptorsOf(caller.thread)) {
    const auto number = static_cast<unsigned>(descriptor);
    if (number < first || number > last) continue;
    const auto file = FileToWrite(caller, descriptor);
    if (!file) continue;
    FileOperation close = OwnOperation(caller, OperationKind::kClose);
    close.implied = true;
    close.call = recorder_.NextCall();
    close.file = file->number;
    close.name = file->name;
    recorder_.Add(close);
  }
}

void FileCalls::EndWrite(Caller caller, const FileCall& call, int64_t result) {
  FileOperation write = call.operation;
  // A clone (ioctl) returns 0 and is atomic: it wrote the whole length.
  if (call.call.number != SYS_ioctl)
    write.length = static_cast<uint64_t>(result);
  if (write.length == 0) return;
  const std::string path = DescriptorPath(caller.thread, call.descriptor);
  const auto info = ReadDescriptorInfo(caller.thread, call.descriptor);
  const uint32_t write_flags = WriteFlags(call.call);
  const int open_flags = info ? info->flags : 0;
  const auto status = StatusOf(path);
  if (!info || !status) {
    recorder_.Note(fmt::format(
        "{}: a thread closed the descriptor of another's write, so that its "
        "offset is not known: not recorded",
        write.name.path));
    return;
  }
  if (!call.offset) {
    write.offset = info->position - write.length;
  } else if (Appends(write_flags, open_flags)) {
    write.offset = static_cast<uint64_t>(status->st_size) - write.length;
  } else {
    write.offset = *call.offset;
  }
  const int reader =
      recorder_.keeps_operations() ? files_.Reader(write.file, path) : -1;
  if (reader >= 0) {
    recorder_.AddWrite(write, reader);
  } else {
    const uint64_t begin = write.offset;
    recorder_.AddWithBytes(
        write, [&](uint64_t at, std::span<std::byte> into) -> Result<size_t> {
          return ReadRanges(caller.thread, call.buffers, at - begin, into);
        });
  }
  if (const auto sync = ImpliedSync(write_flags, open_flags)) {
    FileOperation implied = call.operation;
    implied.kind = *sync;
    implied.implied = true;
    implied.length = 0;
    recorder_.Add(implied);
  }
}

void FileCalls::BeforeChange(Caller caller, const FileCall& call) {
  const FileOperation& operation = call.operation;
  switch (operation.kind) {
    case OperationKind::kWrite:
      if (!call.is_ordered) return recorder_.CopyImmediately(operation.file);
      if (recorder_.HasPending(operation.file))
        recorder_.BeforeChange(operation.file, RangeOfWrite(caller, call));
      return;
    case OperationKind::kMapShared:
      return recorder_.CopyImmediately(operation.file);
    case OperationKind::kTruncate:
    case OperationKind::kPunchHole:
    case OperationKind::kZeroRange:
    case OperationKind::kCollapseRange:
    case OperationKind::kInsertRange:
      return recorder_.BeforeChange(operation.file, kWholeFile);
    default:
      return;
  }
}

// Returns the range of existing bytes that the write may change: none for an
// append.
ByteRange FileCalls::RangeOfWrite(Caller caller, const FileCall& call) const {
  const auto info = ReadDescriptorInfo(caller.thread, call.descriptor);
  if (!info) return kWholeFile;
  if (Appends(WriteFlags(call.call), info->flags)) return {};
  const uint64_t begin = call.offset.value_or(info->position);
  return {.begin = begin, .end = begin + call.operation.length};
}

std::optional<FileCall> FileCalls::BeginMap(Caller caller,
                                            const SystemCall& call) {
  const auto file = FileOfDescriptor(caller, call.Int(4));
  if (!file) return std::nullopt;
  const auto info = ReadDescriptorInfo(caller.thread, call.Int(4));
  // mprotect can make the mapping writable later if the descriptor allows it.
  if (!info || (info->flags & O_ACCMODE) != O_RDWR) return std::nullopt;
  FileCall map = OnFile(caller, call, OperationKind::kMapShared, *file);
  map.descriptor = call.Int(4);
  map.operation.offset = call.arguments[5];
  map.operation.length = call.arguments[1];
  return map;
}

void FileCalls::EndMap(Caller caller, const FileCall& call) {
  recorder_.Add(call.operation);
  recorder_.Note(fmt::format(
      "{}: written through shared memory (mmap): states between two syncs of "
      "the mapping are not covered",
      call.operation.name.path));
  caller.process.mapped.insert(call.operation.file);
  if (!recorder_.keeps_operations()) return;
  if (mappings_.contains(call.operation.file)) return;
  const std::string path = DescriptorPath(caller.thread, call.descriptor);
  Descriptor reader(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  const auto status = StatusOf(reader.get());
  if (!status) return;
  const uint64_t digest =
      DigestOfFile(reader.get(), static_cast<uint64_t>(status->st_size));
  mappings_[call.operation.file] = {.reader = std::move(reader),
                                    .name = call.operation.name,
                                    .digest = digest};
}

void FileCalls::AddMappedBytes(Caller caller, uint64_t file) {
  const auto found = mappings_.find(file);
  if (found == mappings_.end()) return;
  Mapping& mapping = found->second;
  const int reader = mapping.reader.get();
  const auto status = StatusOf(reader);
  if (!status) return;
  const auto size = static_cast<uint64_t>(status->st_size);
  const uint64_t digest = DigestOfFile(reader, size);
  if (digest == mapping.digest) return;
  mapping.digest = digest;
  if (const auto now = files_.Find(
          *status, ReadLinkText(fmt::format("/proc/self/fd/{}", reader)))) {
    mapping.name = now->name;
  }
  FileOperation bytes = OwnOperation(caller, OperationKind::kWrite);
  bytes.by_mapping = true;
  bytes.implied = true;
  bytes.call = recorder_.NextCall();
  bytes.file = file;
  bytes.name = mapping.name;
  bytes.length = size;
  recorder_.AddWithBytes(bytes, BytesOfDescriptor(reader));
}

std::optional<FileCall> FileCalls::BeginUnmap(Caller caller,
                                              const SystemCall& call) {
  if (caller.process.mapped.empty()) return std::nullopt;
  const uint64_t from = call.arguments[0];
  const auto in_range =
      FilesMappedIn(caller.process.id, from, from + call.arguments[1]);
  if (in_range.empty()) return std::nullopt;
  std::optional<FileCall> sync;
  for (const uint64_t file : caller.process.mapped) {
    const auto mapping = mappings_.find(file);
    if (mapping == mappings_.end()) continue;
    const auto status = StatusOf(mapping->second.reader.get());
    if (!status || !std::ranges::count(in_range, IdentityOf(*status))) continue;
    AddMappedBytes(caller, file);
    if (call.number != SYS_msync || (call.arguments[2] & MS_SYNC) == 0)
      continue;
    sync = OnFile(caller, call, OperationKind::kSyncData,
                  {.number = file, .name = mapping->second.name});
  }
  return sync;
}

void FileCalls::EndMappings(Caller caller) {
  for (const uint64_t file : caller.process.mapped)
    AddMappedBytes(caller, file);
  caller.process.mapped.clear();
}

void FileCalls::EndProcess(Caller caller) {
  EndMappings(caller);
  if (recorder_.keeps_operations()) AddCloses(caller, 0, UINT_MAX);
}

}  // namespace gauntlet
