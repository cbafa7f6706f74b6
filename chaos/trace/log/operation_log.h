// The operations of a traced program, in order, with the bytes written.
//
// A log is a folder of two files. `bytes` holds the written bytes, one extent
// after another. Only descriptions of extents are kept in memory, so a log may
// be larger than memory. `operations` is written by Save: a version, the
// operations, and a digest of everything before it. A log without `operations`
// is incomplete and is rejected.
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

// Everything in a log except the bytes.
struct OperationList {
  std::vector<std::string> directories;  // absolute paths of those watched
  int64_t start_time = 0;                // nanoseconds since 1970
  uint64_t byte_count = 0;               // in the file of bytes
  std::vector<FileIdentity> files;       // file i is at index i - 1
  std::vector<FileOperation> operations;
};

// Fills the buffer with bytes from `at` on and returns their number; 0: the
// end.
using ByteReader =
    std::function<Result<size_t>(uint64_t at, std::span<std::byte> buffer)>;
// Returns a reader of a file that is open for reading.
ByteReader BytesOfDescriptor(int descriptor);
using ByteSink = std::function<Status(std::span<const std::byte> piece)>;

class OperationLog {
 public:
  // Creates an empty log in an existing folder without a log. `directories`:
  // absolute paths. Errors: those of open(2); kAlreadyExists.
  static Result<OperationLog> Create(const std::string& folder,
                                     std::vector<std::string> directories,
                                     const LogLimits& limits);
  // Loads a saved log. kNotFound; kDataLoss, one line, for files that are
  // truncated, changed, of another version, or hostile: a path that leaves its
  // directory, an extent or number that does not exist.
  static Result<OperationLog> Load(const std::string& folder);

  const OperationList& list() const { return list_; }
  const std::vector<FileOperation>& operations() const {
    return list_.operations;
  }

  // Returns the number of a file that is new to the log.
  uint64_t AddFile(const FileIdentity& identity);
  void SetStartTime(int64_t unix_nanoseconds);

  // Copies at most `length` bytes, from offset `at` of the source on, to the
  // end of the log's bytes. kResourceExhausted: over the limit, or the disk is
  // full.
  Result<ByteExtent> AppendBytes(const ByteReader& source, uint64_t at,
                                 uint64_t length);
  // Returns kResourceExhausted if `more` bytes would exceed the limit.
  Status CheckRoom(uint64_t more) const;
  // Sets the bytes of an operation that was appended without them.
  void SetBytes(size_t index, const ByteExtent& bytes);
  // Returns kResourceExhausted if the log would exceed its limit.
  Status Append(FileOperation operation);
  Status Save() const;

  // Passes the extent to the sink in pieces of at most 1 MiB. kDataLoss: the
  // bytes are truncated or changed.
  Status ReadBytes(const ByteExtent& extent, const ByteSink& sink) const;
  // ReadPart fills `into` with the bytes from `offset` on. CopyPart copies them
  // to offset `at` of a file. Neither checks digests. kDataLoss: the bytes are
  // truncated.
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
