// This machine and this process.
#ifndef GAUNTLET_ENGINE_REAL_HOST_REAL_HOST_H_
#define GAUNTLET_ENGINE_REAL_HOST_REAL_HOST_H_

#include <optional>
#include <string>
#include <string_view>

#include "engine/real/network/name_lookup.h"
#include "engine/world/host.h"
#include <signal.h>

namespace gauntlet {

// Signals that may turn out to be termination notices: SIGINT and
// NoticeSignals().
sigset_t SignalsThatMayBeNotices();

// Called first in main() of a program that trains: those signals wait until
// their meaning is decided, and none of them ends the process before that.
void HoldSignals();

// Called once, before a thread starts. From then on SIGTERM, SIGINT and (unless
// it is ignored) SIGHUP are termination notices, including held ones. A write
// to a broken pipe or past the file size limit becomes an error of that write
// instead of the end of the process.
void InstallSignalHandlers();

// Makes one more signal a notice: one of NoticeSignals(). REQUIRES: it is.
void InstallNoticeSignal(std::string_view name);

// The second SIGINT ends the process at once with this exit code. Call this in
// a command that shuts down in order at the first SIGINT.
void ExitOnSecondInterrupt(int code);

// Lets the held signals have their usual effect.
void ReleaseSignals();

class RealHost final : public Host {
 public:
  std::string Name() const override;
  // Notices since the handlers were installed; none without handlers.
  int TerminationNotices() const override;
  std::optional<Time> FirstNotice() const override;
  int Interrupts() const override;
  Result<HttpAnswer> Ask(const HttpQuestion& question, Time deadline) override;
  [[noreturn]] void Exit(int code) override;

 private:
  NameLookup names_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_REAL_HOST_REAL_HOST_H_
