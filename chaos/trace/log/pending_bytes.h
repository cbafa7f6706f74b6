// Writes whose bytes are still only in their files, not yet in the log.
//
// A traced program is stopped while its bytes are copied. So a write is only
// noted, with a descriptor that keeps the file accessible under any name or
// none. Its bytes are copied when a call is about to change them, or when the
// program has ended. Most checkpoints are written once, and copied at the end.
#ifndef GAUNTLET_CHAOS_TRACE_LOG_PENDING_BYTES_H_
#define GAUNTLET_CHAOS_TRACE_LOG_PENDING_BYTES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "chaos/trace/log/operation_log.h"
#include "engine/real/posix/descriptor.h"
#include "engine/status.h"

namespace gauntlet {

// Bytes [begin, end) of a file.
struct ByteRange {
  uint64_t begin = 0;
  uint64_t end = 0;
};
inline constexpr ByteRange kWholeFile = {0, UINT64_MAX};

class PendingBytes {
 public:
  // Notes a write, to copy its bytes later. `index` is its index in the log.
  // `reader` is a descriptor of the file, open for reading; it is duplicated.
  // Returns false if the bytes must be copied now: no descriptor is left, or
  // the file may also change without ordered calls (NeverWaits).
  bool Add(size_t index, const FileOperation& operation, int reader);
  // From now on writes to the file are not deferred.
  void NeverWaits(uint64_t file) { never_waits_.insert(file); }

  bool Has(uint64_t file) const { return files_.contains(file); }
  // Copies the bytes of the file's noted writes that overlap the range.
  Status CopyTouched(uint64_t file, const ByteRange& range, OperationLog& log);
  Status CopyAll(OperationLog& log);

  // Returns the number of noted bytes.
  uint64_t size() const { return size_; }

 private:
  struct Write {
    size_t index = 0;  // of the operation
    uint64_t offset = 0;
    uint64_t length = 0;
    bool Touches(const ByteRange& range) const {
      return offset < range.end && range.begin < offset + length;
    }
  };
  struct File {
    Descriptor reader;
    std::vector<Write> writes;  // in order, without overlap
    uint64_t end = 0;           // end of the last byte that any of them wrote
  };

  Status Copy(const File& file, const Write& write, OperationLog& log);

  std::map<uint64_t, File> files_;  // by number
  std::set<uint64_t> never_waits_;
  uint64_t size_ = 0;
};

}  // namespace gauntlet

#endif  // GAUNTLET_CHAOS_TRACE_LOG_PENDING_BYTES_H_
