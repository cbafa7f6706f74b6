#include "chaos/trace/log/pending_bytes.h"

#include <algorithm>
#include <utility>

#include <fcntl.h>

namespace gauntlet {
namespace {

// Half of the usual limit on descriptors of a process.
constexpr size_t kMostFiles = 512;

}  // namespace

bool PendingBytes::Add(size_t index, const FileOperation& operation,
                       int reader) {
  if (never_waits_.contains(operation.file)) return false;
  auto found = files_.find(operation.file);
  if (found == files_.end()) {
    if (files_.size() >= kMostFiles) return false;
    Descriptor own(fcntl(reader, F_DUPFD_CLOEXEC, 0));
    if (!own.valid()) return false;
    found =
        files_.emplace(operation.file, File{.reader = std::move(own)}).first;
  }
  File& file = found->second;
  file.writes.push_back(
      {.index = index, .offset = operation.offset, .length = operation.length});
  file.end = std::max(file.end, operation.offset + operation.length);
  size_ += operation.length;
  return true;
}

Status PendingBytes::CopyTouched(uint64_t file, const ByteRange& range,
                                 OperationLog& log) {
  const auto found = files_.find(file);
  // Fast path: files are mostly written from front to back, in many small
  // writes.
  if (found == files_.end() || range.begin >= found->second.end)
    return OkStatus();
  std::vector<Write>& writes = found->second.writes;
  for (const Write& write : writes) {
    if (write.Touches(range)) RETURN_IF_ERROR(Copy(found->second, write, log));
  }
  std::erase_if(writes,
                [&](const Write& write) { return write.Touches(range); });
  if (writes.empty()) files_.erase(found);
  return OkStatus();
}

Status PendingBytes::CopyAll(OperationLog& log) {
  for (const auto& [number, file] : files_) {
    for (const Write& write : file.writes)
      RETURN_IF_ERROR(Copy(file, write, log));
  }
  files_.clear();
  return OkStatus();
}

Status PendingBytes::Copy(const File& file, const Write& write,
                          OperationLog& log) {
  ASSIGN_OR_RETURN(const ByteExtent bytes,
                   log.AppendBytes(BytesOfDescriptor(file.reader.get()),
                                   write.offset, write.length));
  log.SetBytes(write.index, bytes);
  size_ -= write.length;
  return OkStatus();
}

}  // namespace gauntlet
