// The Host of real runs: this machine and this process. Its preemption notices
// are signals.
#ifndef GAUNTLET_ENGINE_REAL_HOST_REAL_HOST_H_
#define GAUNTLET_ENGINE_REAL_HOST_REAL_HOST_H_

#include <optional>
#include <string>
#include <string_view>

#include "engine/real/network/http_client.h"
#include "engine/world/host.h"
#include <signal.h>

namespace gauntlet {

// Returns the signals that may become preemption notices: SIGINT and
// NoticeSignals().
sigset_t SignalsThatMayBeNotices();

// Called first in main() of a program that trains. Holds
// SignalsThatMayBeNotices() until InstallSignalHandlers or ReleaseSignals, so
// that none of them ends the process before.
void HoldSignals();

// From then on, a write past the limit on file sizes (ulimit -f) returns an
// error; by default it ends the process (SIGXFSZ).
void IgnoreFileSizeSignal();

// Called once, before a thread starts. From then on SIGTERM, SIGINT and (unless
// it is ignored) SIGHUP are preemption notices, and no longer held. If one of
// them arrived while it was held, it becomes a notice too. A write to a broken
// pipe returns an error, and so does a write past the limit on file sizes
// (IgnoreFileSizeSignal).
void InstallSignalHandlers();

// Makes the signal a preemption notice too. REQUIRES: `name` is one of
// NoticeSignals().
void InstallNoticeSignal(std::string_view name);

// From now on the second interrupt ends the process immediately with this exit
// code, after a line on standard error. For a command that shuts down in order
// at the first interrupt. Several SIGINTs may be one interrupt
// (interrupt_count.h).
void ExitOnSecondInterrupt(int code);

// Releases the held signals, which then have their usual effect.
void ReleaseSignals();

class RealHost final : public Host {
 public:
  std::string Name() const override;
  // Notices since the handlers were installed; none without handlers.
  int TerminationNotices() const override;
  std::optional<Time> FirstNotice() const override;
  int Interrupts() const override;
  Result<HttpResponse> SendRequest(const HttpRequest& request,
                                   Time deadline) override;
  [[noreturn]] void Exit(int code) override;

 private:
  HttpClient http_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_REAL_HOST_REAL_HOST_H_
