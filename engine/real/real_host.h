// This machine and this process.
#ifndef GAUNTLET_ENGINE_REAL_REAL_HOST_H_
#define GAUNTLET_ENGINE_REAL_REAL_HOST_H_

#include <optional>
#include <string>
#include <string_view>

#include "engine/real/name_lookup.h"
#include "engine/world/host.h"
#include <signal.h>

namespace gauntlet {

// What may turn out to be a termination notice: SIGINT and NoticeSignals().
sigset_t SignalsThatMayBeNotices();

// For main() of a program that trains, first of all: those signals wait until
// it is known what they mean, and none of them ends the process before that.
void HoldSignals();

// Once and before a thread starts: from then on SIGTERM, SIGINT and (unless it
// is ignored) SIGHUP are termination notices, also those that were held, and a
// write to a broken pipe or past the file size limit is an error of that write
// instead of the end of the process.
void InstallSignalHandlers();

// Makes one more signal a notice: one of NoticeSignals(). REQUIRES: it is.
void InstallNoticeSignal(std::string_view name);

// The second SIGINT ends the process at once with this exit code. Call this in
// a command that shuts down in order at the first SIGINT.
void ExitOnSecondInterrupt(int code);

// What is held still means what it always does.
void ReleaseSignals();

class RealHost final : public Host {
 public:
  std::string Name() const override;
  // Of all that came since the handlers were installed; nothing without them.
  int TerminationNotices() const override;
  std::optional<Time> FirstNotice() const override;
  int Interrupts() const override;
  Result<HttpAnswer> Ask(const HttpQuestion& question, Time deadline) override;
  [[noreturn]] void Exit(int code) override;

 private:
  NameLookup names_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_REAL_REAL_HOST_H_
