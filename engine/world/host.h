// The machine and the process that the engine finds itself in.
#ifndef GAUNTLET_ENGINE_WORLD_HOST_H_
#define GAUNTLET_ENGINE_WORLD_HOST_H_

#include <optional>
#include <string>

#include "engine/status.h"
#include "engine/world/clock.h"
#include "engine/world/http_format.h"

namespace gauntlet {

class Host {
 public:
  virtual ~Host() = default;
  // For claims and logs: where this process runs, for people.
  virtual std::string Name() const = 0;
  // How many times this process was told that it must go (SIGTERM, SIGINT,
  // SIGHUP and the like). Never blocks; callers ask at step boundaries.
  virtual int TerminationNotices() const = 0;
  // When the first of them came, which may be long before it is asked for.
  virtual std::optional<Time> FirstNotice() const = 0;
  // How many of them a person at the terminal gave (SIGINT): who repeats it
  // means at once, while others (SIGTERM) are repeated by programs.
  virtual int Interrupts() const = 0;
  // Asks a service of this machine. Blocks the calling task, not beyond the
  // deadline: kDeadlineExceeded; kUnavailable where nobody answers, kDataLoss
  // where what comes is no answer or too long.
  virtual Result<HttpAnswer> Ask(const HttpQuestion& question,
                                 Time deadline) = 0;
  // Ends the process at once, all tasks with it; nothing is unwound or flushed
  // beyond what was handed to Storage and EventLog.
  [[noreturn]] virtual void Exit(int code) = 0;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_WORLD_HOST_H_
