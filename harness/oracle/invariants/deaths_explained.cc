// deaths-explained: no process ends without a word unless a fault of the plan
// is to blame.
//
// A worker that leaves says so in its last event. One that does not was killed:
// by a fault that fired in that life of the job, or by the launcher after
// another worker of that life had failed. Where workers restart singly, lives
// of one time have many numbers: then it is a fault, or a failure, since the
// worker's beginning, or a trouble that may last from before; and a launcher
// that gives up ends workers that wait for others. A launcher that a
// signal ended needs a power cut. Anything else is a crash of the engine's own.
#include <algorithm>
#include <csignal>
#include <map>

#include "harness/oracle/fault_traits.h"
#include "harness/oracle/invariants.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

bool SaidGoodbye(const LifeEvents& life) {
  return !life.events.empty() &&
         life.events.back().kind == RecordKind::kLifeEnd;
}

// Whether something happened in that life of the job that may leave workers
// dead: by the number of the life.
std::map<int, bool> ExplainedLives(const Evidence& evidence) {
  std::map<int, bool> explained;
  for (const Firing& firing : evidence.firings) {
    if (ExplainsDeath(*firing.fault, evidence.record)) {
      explained[firing.life->life] = true;
    }
  }
  for (const LifeEvents& life : evidence.record.lives) {
    const bool failed = SaidGoodbye(life) && life.events.back().count != 0;
    if (failed) explained[life.life] = true;
  }
  return explained;
}

bool IsExplainedByTime(const Evidence& evidence, const LifeEvents& life) {
  constexpr int kGaveUp = 1;
  if (std::ranges::any_of(evidence.record.launchers, [](const auto& launcher) {
        return launcher.exit_code == kGaveUp;
      })) {
    return true;
  }
  const int64_t begin = life.events.empty() ? 0 : life.events.front().t_ns;
  const bool by_a_fault =
      std::ranges::any_of(evidence.firings, [&](const Firing& firing) {
        const FaultTraits traits = TraitsOf(*firing.fault);
        if (!traits.may_end_life && !traits.gives_notice) return false;
        // A kill from outside may take a while to come.
        const bool at_once = traits.ends_life && firing.fault->kind != "kill";
        return firing.event().t_ns >= begin || !at_once;
      });
  return by_a_fault ||
         std::ranges::any_of(evidence.record.lives, [&](const auto& other) {
           return SaidGoodbye(other) && other.events.back().count != 0 &&
                  other.events.back().t_ns >= begin;
         });
}

bool PowerWasLost(const Evidence& evidence) {
  return std::ranges::any_of(evidence.firings, [](const Firing& firing) {
    return TraitsOf(*firing.fault).cuts_power;
  });
}

}  // namespace

void CheckDeathsExplained(const Evidence& evidence, Check& check) {
  const Record& record = evidence.record;
  // What was cut off by the harness ended by the harness's hand.
  if (record.ending != RunEnding::kExited) return;
  std::map<int, bool> explained = ExplainedLives(evidence);
  for (const LifeEvents& life : record.lives) {
    check.Instance();
    if (SaidGoodbye(life) || explained[life.life]) continue;
    if (record.setup.rejoins && IsExplainedByTime(evidence, life)) continue;
    check.Breach("worker", fmt::format("{} ended without a word, and no fault "
                                       "of the plan fired in that life",
                                       NameOf(life)));
  }
  for (const LauncherRun& launcher : record.launchers) {
    check.Instance();
    const bool by_signal =
        launcher.exit_code < 0 ||
        (launcher.exit_code > 128 && launcher.exit_code != 128 + SIGTERM &&
         launcher.exit_code != 128 + SIGINT);
    if (!by_signal || PowerWasLost(evidence)) continue;
    check.Breach("launcher",
                 fmt::format("the launcher ended with {}, and no fault of the "
                             "plan is to blame",
                             launcher.exit_code));
  }
}

}  // namespace gauntlet
