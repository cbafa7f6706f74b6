// Faults that a simulated process inflicts on itself.
#ifndef GAUNTLET_CHAOS_SIM_SIM_EFFECTS_H_
#define GAUNTLET_CHAOS_SIM_SIM_EFFECTS_H_

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "chaos/inject/injector.h"
#include "chaos/sim/simulation.h"

namespace gauntlet {

// Extent of a power loss. kMachine: the machine, with all its hosts and its
// disk. kHost: one host only, for hosts that fail separately and use a file
// server's disk.
enum class PowerLine : uint8_t { kMachine, kHost };

// All methods are called by the process that has the fault.
class SimEffects final : public InjectorEffects {
 public:
  using HostOf = std::function<std::string(int worker)>;

  // `host_of` returns the host of a worker in this attempt; null if no fault
  // names groups of workers. `notice_file` is created for a notice delivered by
  // file. `launcher` is the process that started this one; nullopt if no fault
  // kills it.
  SimEffects(Simulation& simulation, World& world, HostOf host_of = nullptr,
             PowerLine power = PowerLine::kMachine,
             std::string notice_file = "",
             std::optional<ProcessId> launcher = std::nullopt)
      : simulation_(simulation),
        world_(world),
        host_of_(std::move(host_of)),
        power_(power),
        notice_file_(std::move(notice_file)),
        launcher_(launcher) {}

  [[noreturn]] void CrashNow(int exit_code) override;
  [[noreturn]] void AbortNow(std::string_view why) override;
  [[noreturn]] void KillNow() override;
  void KillSoon(Duration latency) override;
  void KillLauncher() override;
  void TerminateLauncher() override;
  void HangForever() override;
  void Sleep(Duration duration) override;
  void StopSelf(Duration duration) override;
  void DeliverNotice(Duration grace, NoticeBy by) override;
  [[noreturn]] void PowerLossNow() override;
  // Affects all connections of the host.
  void ApplyNetworkFault(const Fault& fault) override;
  void JumpCalendar(Duration by) override;

 private:
  void KillAt(Time time);
  void Cut(const HostLink& link, Duration duration);
  void CutGroups(const Fault& fault);
  void BeginFrameFault(const Fault& fault, LinkDirection direction);

  Simulation& simulation_;
  World& world_;
  HostOf host_of_;
  PowerLine power_;
  std::string notice_file_;
  std::optional<ProcessId> launcher_;
};

// Faults of one run that have fired, kept by the simulation's owner.
class FiredFaultSet final : public FiredFaults {
 public:
  bool MarkFired(const std::string& key) override {
    return keys_.insert(key).second;
  }
  bool HasFired(const std::string& key) override { return keys_.contains(key); }

 private:
  std::set<std::string> keys_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_CHAOS_SIM_SIM_EFFECTS_H_
