// Exit codes of training as reported to a scheduler that may restart it.
#ifndef GAUNTLET_ENGINE_APP_REQUEUE_CODES_H_
#define GAUNTLET_ENGINE_APP_REQUEUE_CODES_H_

#include <optional>
#include <string>

#include "engine/cli/exit_code.h"
#include "engine/status.h"
#include "engine/world/host.h"

namespace gauntlet {

struct RequeueCodes {
  // Code of a run that was stopped early and has saved its state; it tells the
  // scheduler to restart the run.
  int preempted = static_cast<int>(ExitCode::kStopped);
  // Replaces codes of failures that a restart cannot fix (1, 2, 7, 8, 9);
  // nullopt: these codes are not replaced.
  std::optional<int> no_requeue;
};

// kInvalidArgument: the same code would mean both "restart" and "do not
// restart".
Status CheckRequeueCodes(const RequeueCodes& codes);

// Returns the code to exit with if training's own exit code is `exit_code`.
int RequeueCode(const RequeueCodes& codes, int exit_code);

// A Host that translates the exit code of its process by `codes`, and forwards
// everything else to `host`.
class RequeueHost final : public Host {
 public:
  // REQUIRES: both arguments outlive the RequeueHost.
  RequeueHost(Host& host, const RequeueCodes& codes)
      : host_(host), codes_(codes) {}

  std::string Name() const override { return host_.Name(); }
  int TerminationNotices() const override { return host_.TerminationNotices(); }
  std::optional<Time> FirstNotice() const override {
    return host_.FirstNotice();
  }
  int Interrupts() const override { return host_.Interrupts(); }
  Result<HttpResponse> SendRequest(const HttpRequest& request,
                                   Time deadline) override {
    return host_.SendRequest(request, deadline);
  }
  [[noreturn]] void Exit(int code) override;

 private:
  Host& host_;
  const RequeueCodes& codes_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_APP_REQUEUE_CODES_H_
