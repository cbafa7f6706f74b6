#include "harness/scenario/time_limits.h"

#include <algorithm>

#include "chaos/inject/plan/fault_parameters.h"
#include "engine/text/units.h"
#include "engine/train/launcher_options.h"
#include "harness/record/record.h"
#include "harness/scenario/run_setup.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr Duration kLeastHang = std::chrono::seconds(15);
constexpr Duration kLeastTotal = std::chrono::seconds(120);
// Margin for a busy machine.
constexpr Duration kMargin = std::chrono::seconds(5);
constexpr Duration kMarginOverHang = std::chrono::seconds(60);

bool CanHang(FaultKind kind) {
  return InfoOf(kind).effects.halts || TakesLatency(kind) ||
         IsNetworkFault(kind);
}

// Returns true iff workers reach the point while they train and wait for each
// other's step. Returns false for a point of a rendezvous, a claim, a save or a
// load.
bool IsOfAStep(Point point) {
  const RunPart part = InfoOf(point).part;
  return part == RunPart::kTraining || part == RunPart::kExchange ||
         part == RunPart::kHeartbeat;
}

// Returns true iff a fault of the kind disturbs the network for some time.
bool DisturbsNetworkForATime(FaultKind kind) {
  const auto parameters = ParametersOf(kind);
  return IsNetworkFault(kind) &&
         std::ranges::find(parameters, "duration", &FaultParameterInfo::name) !=
             parameters.end();
}

// Returns the time that the engine needs to detect a fault during steps. In a
// job that rejoins, a network fault may last until the rejoin and hinder it.
int64_t SilenceOfStepFault(const Case& one, const RunSetup& setup,
                           const Fault& fault) {
  const bool reaches_rejoin = one.cluster.policy == RestartPolicy::kRejoin &&
                              DisturbsNetworkForATime(fault.kind);
  if (!reaches_rejoin) return setup.detection_bound_ns;
  const int64_t joining_ns = setup.detection_bound_joining_ns;
  return fault.with.duration == Duration::zero()
             ? joining_ns
             : std::min(joining_ns,
                        setup.detection_bound_ns + fault.with.duration.count());
}

// Returns the longest time for which the engine may emit no event: the time
// that it needs to detect a hanging step (on a busy machine, a step may take
// that long) or, if longer, to detect a hang that a planned fault causes, or to
// give up a rejoin that it hinders.
Duration LongestSilence(const Case& one) {
  RunSetup setup;
  SetDeadlines(one, setup);
  int64_t longest = setup.detection_bound_ns;
  for (const Fault& fault : one.plan.faults) {
    if (!CanHang(fault.kind)) continue;
    int64_t silence = IsOfAStep(fault.site.point)
                          ? SilenceOfStepFault(one, setup, fault)
                          : setup.detection_bound_joining_ns;
    if (TakesLatency(fault.kind)) {
      silence =
          std::min(silence, (fault.with.latency + fault.with.jitter).count());
    }
    longest = std::max(longest, silence);
  }
  return Duration(longest);
}

// Returns how long the run is certain to have no event: the shortest hang limit
// of the engine, if the plan has a hang that lasts longer or forever; else 0.
Duration SureSilence(const Case& one) {
  RunSetup setup;
  SetDeadlines(one, setup);
  const Duration least(setup.hang_limit_ns);
  const bool hangs =
      std::ranges::any_of(one.plan.faults, [&](const Fault& fault) {
        return InfoOf(fault.kind).effects.keeps_heartbeats &&
               InfoOf(fault.site.point).part != RunPart::kHeartbeat &&
               (fault.with.duration == Duration::zero() ||
                fault.with.duration > least);
      });
  return hangs ? least : Duration::zero();
}

// Returns a time limit for a step that is short enough to detect a hang within
// `limit`: a third of it, rounded down to whole seconds or milliseconds, to be
// easy to read.
Duration StepTimeoutWithin(Duration limit) {
  constexpr Duration kSecond = std::chrono::seconds(1);
  const Duration third = limit / 3;
  const Duration unit =
      third >= kSecond ? kSecond : std::chrono::milliseconds(1);
  return std::max(third - third % unit, unit);
}

}  // namespace

Duration HangLimitOf(const Case& one) {
  if (one.timeouts.hang) return *one.timeouts.hang;
  const Duration silence = LongestSilence(one);
  const Duration pause =
      std::min(one.cluster.backoff, LauncherOptions().max_backoff);
  return std::max(kLeastHang, silence + pause + kMargin);
}

Duration TotalLimitOf(const Case& one) {
  return one.timeouts.total.value_or(
      std::max(kLeastTotal, HangLimitOf(one) + kMarginOverHang));
}

void CheckTimeLimits(const Case& one, Place place, Diagnostics& diagnostics) {
  const Duration sure = SureSilence(one);
  const auto check = [&](std::string_view key, const auto& given) {
    if (!given || *given > sure) return;
    diagnostics.Error(
        place,
        fmt::format("timeout.{}: expected more than {}, found {}: the engine "
                    "takes that long to find a hang (the shortest of "
                    "cluster.step_timeout, cluster.save_timeout and 30s)",
                    key, DurationToText(sure), DurationToText(*given)),
        fmt::format("cluster: {{step_timeout: {}}}",
                    DurationToText(StepTimeoutWithin(*given))));
  };
  if (sure == Duration::zero()) return;
  check("hang", one.timeouts.hang);
  check("total", one.timeouts.total);
}

}  // namespace gauntlet
