#include "chaos/sim/sim_effects.h"

#include <csignal>

namespace gauntlet {
namespace {

// A kill from outside lands within so many of the process's next resumptions.
constexpr uint64_t kKillWithin = 16;

}  // namespace

void SimEffects::CrashNow(int exit_code) {
  world_.host.Exit(exit_code);
  __builtin_unreachable();
}

void SimEffects::AbortNow(std::string_view) {
  world_.host.Exit(128 + SIGABRT);
  __builtin_unreachable();
}

void SimEffects::KillSoon(Duration latency) {
  if (latency > Duration(0)) {
    KillAt(simulation_.now() + latency);
    return;
  }
  const ProcessId self = simulation_.self();
  RandomStream stream =
      simulation_.Stream("kill soon " + simulation_.process_name(self));
  simulation_.KillAfter(self, 1 + stream.Below(kKillWithin));
}

void SimEffects::KillAt(Time time) {
  const ProcessId self = simulation_.self();
  // By then the process, and this object with it, may be gone.
  simulation_.At(time,
                 [&simulation = simulation_, self] { simulation.Kill(self); });
}

void SimEffects::HangForever() { simulation_.Hang(); }

void SimEffects::Sleep(Duration duration) {
  world_.clock.SleepUntil(world_.clock.Now() + duration);
}

void SimEffects::StopSelf(Duration duration) {
  const ProcessId self = simulation_.self();
  if (duration > Duration(0)) {
    simulation_.At(
        simulation_.now() + duration,
        [&simulation = simulation_, self] { simulation.Continue(self); });
  }
  simulation_.Stop(self);
}

void SimEffects::DeliverNotice(Duration grace) {
  simulation_.Notify(simulation_.self());
  KillAt(simulation_.now() + grace);
}

void SimEffects::PowerLossNow() {
  simulation_.PowerLoss(simulation_.process_host(simulation_.self()));
  simulation_.Hang();
}

}  // namespace gauntlet
