// The event log as a file: one JSON object per line, read by the harness.
//
//   {"kind":"header","schema":"gauntlet.events/v2","worker":0,"incarnation":1,
//    "pid":4711,"clock":"monotonic"}
//   {"kind":"step","t_ns":81225000123,"generation":3,"step":150,"epoch":1,
//    "position":2048,"loss":"3f2a0c11","digest":"<32 hex digits>"}
//
// (each on one line). Every line begins with `kind` and `t_ns` (Clock::Now, in
// nanoseconds). The other keys are named as LogEvent's fields (`loss` is
// loss_bits, 8 hex digits; `samples` is an array of numbers; `phase` is the
// phase's name) and are left out if zero, empty or "in_epoch". Bytes that are
// not UTF-8 become U+FFFD. The last line may be incomplete if the machine lost
// power, never because the process was killed.
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

// Worker number of a launcher.
inline constexpr int kLauncherEventWorker = -1;

struct EventFileHeader {
  int worker = 0;
  int incarnation = 1;
};

// Each line is one write(2) to a file opened for appending. So once Emit has
// returned, the event survives the death of the process by any signal.
class EventFile final : public EventLog {
 public:
  // Creates the file, or opens it to append, and writes the header. Errors are
  // those of OpenToAppend. `on_failure` is called at most once, from any
  // thread.
  using OnFailure = std::function<void(const Status&)>;
  static Result<std::unique_ptr<EventFile>> Open(const std::string& path,
                                                 const EventFileHeader& header,
                                                 const Clock& clock,
                                                 OnFailure on_failure);

  // After a failed write the log ends, and the process continues. A kFrameLate
  // after the process's kWorkerExited is dropped: tasks of connections outlive
  // that event by a moment.
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
  bool has_ended_ = false;  // kWorkerExited has been written
  std::string line_;        // reused, so that its memory is allocated only once
};

// The event log of runs that are not recorded.
class NullEventLog final : public EventLog {
 public:
  void Emit(LogEvent) override {}
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_REAL_STORAGE_EVENT_FILE_H_
