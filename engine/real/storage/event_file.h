// The event log as a file: one JSON object a line, for the harness to read.
//
//   {"kind":"header","schema":"gauntlet.events/v2","worker":0,"incarnation":1,
//    "pid":4711,"clock":"monotonic"}
//   {"kind":"step","t_ns":81225000123,"generation":3,"step":150,"epoch":1,
//    "position":2048,"loss":"3f2a0c11","digest":"<32 hex digits>"}
//
// (each in one line). `kind` and `t_ns` (Clock::Now, in nanoseconds) come first
// and always. The others have the names of LogEvent's fields (`loss` for
// loss_bits, 8 hex digits; `samples` an array of numbers; `phase` by its name)
// and are left out where they are zero, empty or "in_epoch". Text that is not
// UTF-8 has U+FFFD in the place of what is not. A file may end in the middle of
// a line if the machine lost power, never because the process was killed.
#ifndef GAUNTLET_ENGINE_REAL_STORAGE_EVENT_FILE_H_
#define GAUNTLET_ENGINE_REAL_STORAGE_EVENT_FILE_H_

#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "engine/real/posix/descriptor.h"
#include "engine/status.h"
#include "engine/world/clock.h"
#include "engine/world/event_log.h"

namespace gauntlet {

struct EventFileHeader {
  int worker = 0;
  int life = 1;
};

// Each line is one write(2) to a file opened for appending, so what Emit has
// returned from survives the death of the process by any signal.
class EventFile final : public EventLog {
 public:
  // Creates the file, or opens it to append, and writes the header. Errors are
  // those of OpenToAppend. `on_failure` is called once, from any thread.
  using OnFailure = std::function<void(const Status&)>;
  static Result<std::unique_ptr<EventFile>> Open(const std::string& path,
                                                 const EventFileHeader& header,
                                                 const Clock& clock,
                                                 OnFailure on_failure);

  // A log that cannot be written ends there: what it is of goes on. A frame
  // that an injected delay makes late after the process has said its end is not
  // kept: tasks of connections outlive that event by a moment.
  void Emit(LogEvent event) override;

 private:
  EventFile(std::string path, Descriptor fd, const Clock& clock,
            OnFailure on_failure);
  Status WriteLine();

  const std::string path_;
  const Descriptor fd_;
  const Clock& clock_;
  const OnFailure on_failure_;
  std::mutex mutex_;
  bool failed_ = false;
  bool has_ended_ = false;  // kLifeEnd is written
  std::string line_;        // kept for its memory
};

// For runs that nobody records.
class NullEventLog final : public EventLog {
 public:
  void Emit(LogEvent) override {}
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_REAL_STORAGE_EVENT_FILE_H_
