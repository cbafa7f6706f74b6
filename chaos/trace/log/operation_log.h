// The operations of a traced program, in order, with the bytes that they wrote.
//
// A log is a folder of two files. `bytes` holds what was written, one extent
// after the other; only extents are kept in memory, so a log may be larger than
// memory. `operations` is written by Save: a version, the operations, and a
// digest of all of it. A log without `operations` was cut off and is refused.
#ifndef GAUNTLET_CHAOS_TRACE_LOG_OPERATION_LOG_H_
#define GAUNTLET_CHAOS_TRACE_LOG_OPERATION_LOG_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "chaos/trace/log/file_operation.h"
#include "engine/real/posix/descriptor.h"
#include "engine/status.h"

namespace gauntlet {

struct LogLimits {
  uint64_t bytes = uint64_t{16} << 30U;
  uint64_t operations = 1'000'000;
};

// All of a log but the bytes.
struct OperationList {
  std::vector<std::string> directories;  // absolute paths of those watched
  int64_t start_time = 0;                // nanoseconds since 1970
  uint64_t byte_count = 0;               // in the file of bytes
  std::vector<FileIdentity> files;       // that of file i is at i - 1
  std::vector<FileOperation> operations;
};

// Fills the buffer with bytes from `at` on and returns how many; 0: no more.
using ByteReader =
    std::function<Result<size_t>(uint64_t at, std::span<std::byte> buffer)>;
// Reads a file that is open for reading.
ByteReader BytesOfDescriptor(int descriptor);
using ByteSink = std::function<Status(std::span<const std::byte> piece)>;

class OperationLog {
 public:
  // An empty log in a folder that exists and has none. `directories`: absolute
  // paths. Errors: those of open(2); kAlreadyExists.
  static Result<OperationLog> Create(const std::string& folder,
                                     std::vector<std::string> directories,
                                     const LogLimits& limits);
  // A log that was saved. kNotFound; kDataLoss, in one line, for files that are
  // cut, changed, of another version, or hostile: a path that leaves its
  // directory, an extent or number that does not exist.
  static Result<OperationLog> Load(const std::string& folder);

  const OperationList& list() const { return list_; }
  const std::vector<FileOperation>& operations() const {
    return list_.operations;
  }

  // Number of a file that is new to the log.
  uint64_t AddFile(const FileIdentity& identity);
  void SetStartTime(int64_t unix_nanoseconds);

  // Copies at most `length` bytes from `at` of the source to the end of the
  // bytes. kResourceExhausted: over the limit, or the disk is full.
  Result<ByteExtent> AppendBytes(const ByteReader& source, uint64_t at,
                                 uint64_t length);
  // kResourceExhausted: so many more bytes would be over the limit.
  Status CheckRoom(uint64_t more) const;
  // Bytes of an operation that was appended before them.
  void SetBytes(size_t index, const ByteExtent& bytes);
  // kResourceExhausted: over the limit.
  Status Append(FileOperation operation);
  Status Save() const;

  // Gives the sink the extent in pieces of at most 1 MiB. kDataLoss: the bytes
  // are cut, or not those that were appended.
  Status ReadBytes(const ByteExtent& extent, const ByteSink& sink) const;
  // Fills the buffer with the bytes from `offset` on, and copies them into a
  // file, without a look at digests. kDataLoss: the bytes are cut.
  Status ReadPart(uint64_t offset, std::span<std::byte> into) const;
  Status CopyPart(uint64_t offset, uint64_t length, int file,
                  uint64_t at) const;

 private:
  OperationLog(std::string folder, Descriptor bytes, const LogLimits& limits);

  std::string folder_;
  Descriptor bytes_;
  LogLimits limits_;
  OperationList list_;
  std::vector<std::byte> buffer_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_CHAOS_TRACE_LOG_OPERATION_LOG_H_
