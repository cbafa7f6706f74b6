#include "chaos/sim/sim_effects.h"

#include <csignal>

#include "engine/check.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

// A kill from outside takes effect within this many of the process's next
// resumptions, or within kKillBy if the process waits.
constexpr uint64_t kKillWithin = 16;
constexpr Duration kKillBy = std::chrono::milliseconds(10);

}  // namespace

void SimEffects::CrashNow(int exit_code) {
  world_.host.Exit(exit_code);
  __builtin_unreachable();
}

void SimEffects::AbortNow(std::string_view) {
  world_.host.Exit(128 + SIGABRT);
  __builtin_unreachable();
}

void SimEffects::KillNow() {
  simulation_.Kill(simulation_.self());
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
  KillAt(simulation_.now() + kKillBy);
}

void SimEffects::KillAt(Time time) {
  const ProcessId self = simulation_.self();
  // The process, and this object with it, may be gone by then.
  simulation_.At(time,
                 [&simulation = simulation_, self] { simulation.Kill(self); });
}

void SimEffects::KillLauncher() {
  CHECK(launcher_.has_value(), "a launcher to kill, and nobody knows which");
  simulation_.Kill(*launcher_);
}

void SimEffects::TerminateLauncher() {
  CHECK(launcher_.has_value(), "a launcher to end, and nobody knows which");
  simulation_.Notify(*launcher_);
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

void SimEffects::DeliverNotice(Duration grace, NoticeBy by) {
  const ProcessId self = simulation_.self();
  KillAt(simulation_.now() + grace);
  switch (by) {
    case NoticeBy::kSignal:
      return simulation_.Notify(self);
    case NoticeBy::kHttp:
      return simulation_.SetMetadataOfMachine(simulation_.process_host(self),
                                              MetadataAnswering("TRUE"));
    case NoticeBy::kFile: {
      CHECK(!notice_file_.empty(), "a notice by file, and no place for it");
      const Status made =
          world_.storage.Open(notice_file_, OpenMode::kCreateTruncate).status();
      CHECK(made.ok(), made.message());
      return;
    }
  }
}

void SimEffects::PowerLossNow() {
  const std::string& host = simulation_.process_host(simulation_.self());
  if (power_ == PowerLine::kHost) simulation_.CrashHost(host);
  simulation_.PowerLoss(host);
  simulation_.Hang();
}

void SimEffects::ApplyNetworkFault(const Fault& fault) {
  const std::string& host = simulation_.process_host(simulation_.self());
  const Duration duration = fault.with.duration;
  switch (fault.kind) {
    case FaultKind::kPartition:
      if (!fault.with.groups.empty()) return CutGroups(fault);
      Cut({host, kEveryHost}, duration);
      Cut({kEveryHost, host}, duration);
      return;
    case FaultKind::kAsymmetricPartition:
      return Cut(fault.with.link_direction == LinkDirection::kOut
                     ? HostLink{host, kEveryHost}
                     : HostLink{kEveryHost, host},
                 duration);
    case FaultKind::kConnectionReset:
      return simulation_.network().Reset({host, kEveryHost});
    default:
      BeginFrameFault(fault, LinkDirection::kOut);
      BeginFrameFault(fault, LinkDirection::kIn);
  }
}

void SimEffects::Cut(const HostLink& link, Duration duration) {
  NetworkFabric& network = simulation_.network();
  network.Cut(link);
  if (duration == Duration::zero()) return;
  simulation_.At(simulation_.now() + duration,
                 [&network, link] { network.Heal(link); });
}

void SimEffects::CutGroups(const Fault& fault) {
  CHECK(host_of_ != nullptr, fault.id + ": nobody knows the workers' hosts");
  for (const std::vector<int>& from : fault.with.groups) {
    for (const std::vector<int>& to : fault.with.groups) {
      if (&from == &to) continue;
      for (const int one : from) {
        for (const int other : to) {
          Cut({host_of_(one), host_of_(other)}, fault.with.duration);
        }
      }
    }
  }
}

void SimEffects::BeginFrameFault(const Fault& fault, LinkDirection direction) {
  const std::string& host = simulation_.process_host(simulation_.self());
  NetworkFabric& network = simulation_.network();
  const uint64_t number = network.BeginFrameFault(
      direction == LinkDirection::kOut ? HostLink{host, kEveryHost}
                                       : HostLink{kEveryHost, host},
      FrameFault(
          fault, simulation_.Stream(FrameFaultStream(fault, direction, host)),
          [&simulation = simulation_, self = simulation_.self(),
           id = fault.id](Duration late) {
            simulation.EmitMachineEvent(self, {.kind = EventKind::kFrameLate,
                                               .detail = id,
                                               .limit_ns = late.count()});
          }));
  if (fault.with.duration == Duration::zero()) return;
  simulation_.At(simulation_.now() + fault.with.duration,
                 [&network, number] { network.EndFrameFault(number); });
}

void SimEffects::JumpCalendar(Duration by) {
  simulation_.JumpCalendar(
      simulation_.self(),
      std::chrono::duration_cast<std::chrono::seconds>(by).count());
}

}  // namespace gauntlet
