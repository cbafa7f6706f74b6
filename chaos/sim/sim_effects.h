// Faults of a simulated process, done to itself.
#ifndef GAUNTLET_CHAOS_SIM_SIM_EFFECTS_H_
#define GAUNTLET_CHAOS_SIM_SIM_EFFECTS_H_

#include <set>
#include <string>
#include <string_view>

#include "chaos/inject/injector.h"
#include "chaos/sim/simulation.h"

namespace gauntlet {

// All calls come from the process that the fault happens to.
class SimEffects final : public InjectorEffects {
 public:
  explicit SimEffects(Simulation& simulation, World& world)
      : simulation_(simulation), world_(world) {}

  [[noreturn]] void CrashNow(int exit_code) override;
  [[noreturn]] void AbortNow(std::string_view why) override;
  void KillSoon(Duration latency) override;
  void HangForever() override;
  void Sleep(Duration duration) override;
  void StopSelf(Duration duration) override;
  void DeliverNotice(Duration grace) override;
  [[noreturn]] void PowerLossNow() override;

 private:
  void KillAt(Time time);

  Simulation& simulation_;
  World& world_;
};

// Fired faults of one run, kept by the simulation's owner.
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
