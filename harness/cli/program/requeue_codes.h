// Training's exit codes, as the scheduler that starts it again is to see them.
#ifndef GAUNTLET_HARNESS_CLI_PROGRAM_REQUEUE_CODES_H_
#define GAUNTLET_HARNESS_CLI_PROGRAM_REQUEUE_CODES_H_

#include <optional>
#include <string>

#include "engine/status.h"
#include "engine/world/host.h"
#include "harness/cli/program/exit_code.h"

namespace gauntlet {

struct RequeueCodes {
  // Told to stop, and saved: start it again.
  int preempted = static_cast<int>(ExitCode::kStopped);
  // Failed in a way that no other start mends (1, 2, 7, 8, 9); nullopt: as it
  // is.
  std::optional<int> no_requeue;
};

// kInvalidArgument where one code would say both.
Status CheckRequeueCodes(const RequeueCodes& codes);

// Returns the code to end with if training's own exit code is `exit_code`.
int RequeueCode(const RequeueCodes& codes, int exit_code);

// A process that ends with these codes; everything else is `host`'s.
class RequeueHost final : public Host {
 public:
  // Both outlive it.
  RequeueHost(Host& host, const RequeueCodes& codes)
      : host_(host), codes_(codes) {}

  std::string Name() const override { return host_.Name(); }
  int TerminationNotices() const override { return host_.TerminationNotices(); }
  std::optional<Time> FirstNotice() const override {
    return host_.FirstNotice();
  }
  int Interrupts() const override { return host_.Interrupts(); }
  Result<HttpAnswer> Ask(const HttpQuestion& question, Time deadline) override {
    return host_.Ask(question, deadline);
  }
  [[noreturn]] void Exit(int code) override;

 private:
  Host& host_;
  const RequeueCodes& codes_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_PROGRAM_REQUEUE_CODES_H_
