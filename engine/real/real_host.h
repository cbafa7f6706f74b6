// This machine and this process.
#ifndef GAUNTLET_ENGINE_REAL_REAL_HOST_H_
#define GAUNTLET_ENGINE_REAL_REAL_HOST_H_

#include <optional>
#include <string>
#include <string_view>

#include "engine/world/host.h"

namespace gauntlet {

// For main() of a program that trains, once and before it starts a thread:
// from then on SIGTERM and SIGINT are termination notices, and a write to a
// broken pipe or past the file size limit is an error of that write instead of
// the end of the process.
void InstallSignalHandlers();

// Makes one more signal a notice: one of NoticeSignals(). REQUIRES: it is.
void InstallNoticeSignal(std::string_view name);

class RealHost final : public Host {
 public:
  std::string Name() const override;
  // Of all that came since the handlers were installed; nothing without them.
  int TerminationNotices() const override;
  std::optional<Time> FirstNotice() const override;
  int Interrupts() const override;
  Result<HttpAnswer> Get(const HttpUrl& url, Time deadline) override;
  [[noreturn]] void Exit(int code) override;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_REAL_REAL_HOST_H_
