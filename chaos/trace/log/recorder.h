// Receives the operations of a traced program, and stores them if there is a
// log.
#ifndef GAUNTLET_CHAOS_TRACE_LOG_RECORDER_H_
#define GAUNTLET_CHAOS_TRACE_LOG_RECORDER_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "chaos/trace/log/file_operation.h"
#include "chaos/trace/log/operation_log.h"
#include "chaos/trace/log/pending_bytes.h"
#include "engine/status.h"
#include "engine/world/clock.h"

namespace gauntlet {

class Recorder {
 public:
  // `log` may be null: then operations are only counted.
  explicit Recorder(OperationLog* log);

  bool keeps_operations() const { return log_ != nullptr; }
  // The log's first error; after it no operation is added.
  const Status& status() const { return status_; }

  uint64_t AddFile(const FileIdentity& identity);
  uint64_t NextCall() { return ++calls_; }
  // Returns the number of operations so far that are crash points and not
  // implied. Counts them even without a log.
  uint64_t own_operations() const { return own_operations_; }
  // Returns the next position in the order of all begins and ends of calls.
  uint64_t NextTimestamp() { return ++timestamps_; }

  // Adds an operation that ends now.
  void Add(FileOperation operation);
  // Adds an operation with at most `operation.length` bytes of the source from
  // `operation.offset` on.
  void AddWithBytes(FileOperation operation, const ByteReader& source);
  // Adds the write of `operation.length` bytes of a file that is open as
  // `reader`. The bytes may be copied later (pending_bytes.h).
  void AddWrite(FileOperation operation, int reader);
  // Called before a call that may change these bytes of the file: copies the
  // deferred writes that overlap them.
  void BeforeChange(uint64_t file, const ByteRange& range);
  bool HasPending(uint64_t file) const { return pending_.Has(file); }
  // Called if the file may change through a mapping, or by overlapping calls:
  // copies the bytes of each write immediately from now on.
  void CopyImmediately(uint64_t file);
  // Copies all deferred bytes.
  void CopyPending();

  // Adds one line for people, unless it was added before.
  void Note(const std::string& line);
  // Notes that a file outside of the watched directories was created or
  // truncated.
  void NoteOutside(const std::string& path);
  // Notes that the program made a call that is not recorded, on a file of a
  // watched directory. `meaning`: the consequence, for people.
  void NoteNotRecorded(std::string_view call, std::string_view meaning,
                       const std::string& path);
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
  uint64_t timestamps_ = 0;
  std::vector<std::string> notes_;  // in order of arrival
  std::set<std::string> noted_;
  std::set<std::string> outside_;  // at most kMostPaths
  // Paths by call and meaning, at most kMostPaths of each.
  std::map<std::pair<std::string, std::string>, std::set<std::string>>
      not_recorded_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_CHAOS_TRACE_LOG_RECORDER_H_
