// The machine and the process in which the engine runs.
#ifndef GAUNTLET_ENGINE_WORLD_HOST_H_
#define GAUNTLET_ENGINE_WORLD_HOST_H_

#include <optional>
#include <string>

#include "engine/status.h"
#include "engine/world/clock.h"
#include "engine/world/http.h"

namespace gauntlet {

class Host {
 public:
  virtual ~Host() = default;
  // Returns the name of this process's host, for people; claims and logs have
  // it.
  virtual std::string Name() const = 0;
  // Returns the number of preemption notices of this process (SIGTERM, SIGINT,
  // SIGHUP and the like). Never blocks; callers poll it at step boundaries.
  virtual int TerminationNotices() const = 0;
  // Returns the time of the first notice, which may be long before this call.
  virtual std::optional<Time> FirstNotice() const = 0;
  // Returns how many of the notices a person gave at the terminal (SIGINT). A
  // person who repeats SIGINT demands an immediate end. A repeated notice of
  // another kind (SIGTERM) has no such meaning, as programs may send it.
  virtual int Interrupts() const = 0;
  // Sends a request to a service of this machine. Blocks the calling task until
  // the deadline at most. kDeadlineExceeded: no answer came by then;
  // kUnavailable: the service cannot be reached; kDataLoss: the answer is
  // malformed or too long.
  virtual Result<HttpResponse> SendRequest(const HttpRequest& request,
                                           Time deadline) = 0;
  // Ends the process immediately, with all its tasks. Unwinds nothing. All that
  // was passed to Storage and EventLog before survives the process.
  [[noreturn]] virtual void Exit(int code) = 0;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_WORLD_HOST_H_
