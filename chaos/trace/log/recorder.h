// Takes the operations of a traced program, and keeps them if there is a log.
#ifndef GAUNTLET_CHAOS_TRACE_LOG_RECORDER_H_
#define GAUNTLET_CHAOS_TRACE_LOG_RECORDER_H_

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "chaos/trace/log/file_operation.h"
#include "chaos/trace/log/operation_log.h"
#include "chaos/trace/log/pending_bytes.h"
#include "engine/status.h"
#include "engine/world/clock.h"

namespace gauntlet {

class Recorder {
 public:
  // `log` may be null: then operations are counted and forgotten.
  explicit Recorder(OperationLog* log);

  bool keeps_operations() const { return log_ != nullptr; }
  // The first error of the log; once there is one, no operation is added.
  const Status& status() const { return status_; }

  uint64_t AddFile(const FileIdentity& identity);
  uint64_t NextCall() { return ++calls_; }
  // Number of operations added so far, also without a log, that are crash
  // points and not implied.
  uint64_t own_operations() const { return own_operations_; }
  // The next number in the order of all starts and ends of calls.
  uint64_t NextMoment() { return ++moments_; }

  // Adds the operation as one that ends now.
  void Add(FileOperation operation);
  // Adds it with at most `operation.length` bytes of the source from
  // `operation.offset` on.
  void AddWithBytes(FileOperation operation, const ByteReader& source);
  // Adds the write of `operation.length` bytes of a file that `reader` has
  // open. They may be copied later (pending_bytes.h).
  void AddWrite(FileOperation operation, int reader);
  // Called before a call that may change these bytes of a file.
  void BeforeChange(uint64_t file, const ByteRange& range);
  bool HasPending(uint64_t file) const { return pending_.Has(file); }
  // The file changes by a mapping, or by calls that overlap with others: the
  // bytes of each write are copied at once.
  void CopyAtOnce(uint64_t file);
  // Copies all bytes that were to be copied later.
  void CopyPending();

  // One line for people, once.
  void Note(const std::string& line);
  // A file that is none of the watched ones was made or emptied.
  void NoteOutside(const std::string& path);
  std::vector<std::string> TakeNotes();

 private:
  Duration SinceStart() const;

  OperationLog* log_;
  PendingBytes pending_;
  Status status_;
  int64_t start_ = 0;  // CLOCK_MONOTONIC, nanoseconds
  uint64_t files_ = 0;
  uint64_t calls_ = 0;
  uint64_t own_operations_ = 0;
  uint64_t moments_ = 0;
  std::vector<std::string> notes_;  // in the order in which they came
  std::set<std::string> noted_;
  std::set<std::string> outside_;  // at most kMostOutside
};

}  // namespace gauntlet

#endif  // GAUNTLET_CHAOS_TRACE_LOG_RECORDER_H_
