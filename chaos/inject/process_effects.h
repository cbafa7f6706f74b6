// Faults of a real worker process, done to itself.
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

// What the launcher sees of each: crash: the exit code; abort: SIGABRT; kill
// and the end of a grace: SIGKILL; stop: SIGSTOP; a notice: SIGTERM, which is
// the Host's to catch. Clocks and threads are the system's own: faults are no
// part of the engine. Network and calendar are those that the engine is given.
// Files that stand for notices. The first is what the worker looks for; once
// the second is there, whoever plays the metadata service says TRUE.
struct NoticeFiles {
  std::string file;
  std::string http;
};

class ProcessEffects final : public InjectorEffects {
 public:
  // Where no plan has a fault of network or calendar.
  ProcessEffects() = default;
  // Network and clock must outlive this.
  ProcessEffects(FaultyNetwork& network, FaultyClock& clock,
                 NoticeFiles notices)
      : network_(&network), clock_(&clock), notices_(std::move(notices)) {}

  [[noreturn]] void CrashNow(int exit_code) override;
  [[noreturn]] void AbortNow(std::string_view why) override;
  [[noreturn]] void KillNow() override;
  void KillSoon(Duration latency) override;
  // REQUIRES: the launcher was the parent as this was made.
  void KillLauncher() override;
  void TerminateLauncher() override;
  void HangForever() override;
  void Sleep(Duration duration) override;
  void StopSelf(Duration duration) override;
  void DeliverNotice(Duration grace, NoticeBy by) override;
  // Never to be reached: plans with it are not run in processes (WhyNotReal).
  [[noreturn]] void PowerLossNow() override;
  void TroubleNetwork(const Fault& fault) override;
  void JumpCalendar(Duration by) override;

 private:
  const pid_t launcher_ = getppid();
  FaultyNetwork* network_ = nullptr;
  FaultyClock* clock_ = nullptr;
  NoticeFiles notices_;
};

// Fired faults as empty files in a directory that no fault is put into, so that
// they outlive every process of the run.
class FiredFaultFiles final : public FiredFaults {
 public:
  // REQUIRES: the directory exists; one for each run.
  explicit FiredFaultFiles(std::string directory);
  bool MarkFired(const std::string& key) override;
  bool HasFired(const std::string& key) override;

 private:
  const std::string directory_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_CHAOS_INJECT_PROCESS_EFFECTS_H_
