// Faults that a real worker process performs on itself.
#ifndef GAUNTLET_CHAOS_INJECT_PROCESS_EFFECTS_H_
#define GAUNTLET_CHAOS_INJECT_PROCESS_EFFECTS_H_

#include <string>
#include <string_view>
#include <utility>

#include "chaos/inject/faulty_clock.h"
#include "chaos/inject/faulty_network.h"
#include "chaos/inject/injector.h"
#include <sys/types.h>
#include <unistd.h>

namespace gauntlet {

// Files that stand for notices. The worker polls for `file`; once `http`
// exists, the process that plays the metadata service answers TRUE.
struct NoticeFiles {
  std::string file;
  std::string http;
};

// The launcher detects each effect as follows. Crash: the exit code. Abort:
// SIGABRT. Kill and the end of a grace period: SIGKILL. Stop: SIGSTOP. A
// notice: SIGTERM, which the Host catches. Uses the system's own clocks and
// threads, as faults are no part of the engine. Faults of the network and the
// wall clock act on the engine's network and clock.
class ProcessEffects final : public InjectorEffects {
 public:
  // For plans without a fault of the network or the wall clock.
  ProcessEffects() = default;
  // Network and clock must outlive this.
  ProcessEffects(FaultyNetwork& network, FaultyClock& clock,
                 NoticeFiles notices)
      : network_(&network), clock_(&clock), notices_(std::move(notices)) {}

  [[noreturn]] void CrashNow(int exit_code) override;
  [[noreturn]] void AbortNow(std::string_view why) override;
  [[noreturn]] void KillNow() override;
  void KillSoon(Duration latency) override;
  // REQUIRES: the launcher was the parent when this was constructed.
  void KillLauncher() override;
  void TerminateLauncher() override;
  void HangForever() override;
  void Sleep(Duration duration) override;
  void StopSelf(Duration duration) override;
  void DeliverNotice(Duration grace, NoticeBy by) override;
  // Never called: plans with a power loss are not run in real processes
  // (SimOnlyReason).
  [[noreturn]] void PowerLossNow() override;
  void ApplyNetworkFault(const Fault& fault) override;
  void JumpCalendar(Duration by) override;

 private:
  const pid_t launcher_ = getppid();
  FaultyNetwork* network_ = nullptr;
  FaultyClock* clock_ = nullptr;
  NoticeFiles notices_;
};

// Fired faults as empty files in a directory that no fault touches, so that
// they outlive every process of the run.
class FiredFaultFiles final : public FiredFaults {
 public:
  // REQUIRES: the directory exists and serves only this run.
  explicit FiredFaultFiles(std::string directory);
  bool MarkFired(const std::string& key) override;
  bool HasFired(const std::string& key) override;

 private:
  const std::string directory_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_CHAOS_INJECT_PROCESS_EFFECTS_H_
