// no-spontaneous-exit, beside what processes.h says of ends and losses.
//
// A worker gives up its last save only after all tries, and is not restarted
// for a full disk. A launcher that ended by a signal needs a power cut.
#include <algorithm>
#include <csignal>

#include "harness/oracle/fault_traits.h"
#include "harness/oracle/invariants.h"
#include "harness/oracle/last_words.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

bool PowerWasLost(const Evidence& evidence) {
  return std::ranges::any_of(evidence.firings, [](const Firing& firing) {
    return firing.traits.cuts_power;
  });
}

// A last save is tried six times before it is given up, by every rank that
// gives it up.
void CheckGivenUpSaves(const Evidence& evidence, Check& check) {
  constexpr int64_t kTries = 6;
  for (const auto& [id, generation] : evidence.generations) {
    const auto unsaved = std::ranges::find_if(
        generation.lives,
        [](const LifeEvents* life) { return LeftUnsaved(*life); });
    if (unsaved == generation.lives.end()) continue;
    check.Instance();
    const uint64_t step = (*unsaved)->events.back().step;
    const int64_t tries = std::ranges::count(generation.failed_saves, step);
    if (tries >= kTries) continue;
    check.Breach("given-up-early",
                 fmt::format("generation {} left step {} unsaved after {} "
                             "tries, expected at least {}",
                             id.number, step, tries, kTries));
  }
}

// Where all workers start together, a launcher starts so many lives: the first,
// and one with each restart. Behind one that is to start later there is none.
void CheckNoRestartForADisk(const Evidence& evidence, Check& check) {
  if (evidence.record.setup.rejoins) return;
  uint64_t last = 0;
  for (const LauncherRun& launcher : evidence.record.launchers) {
    last += 1 + launcher.restarts;
    for (const LifeEvents& life : evidence.record.lives) {
      const auto number = static_cast<uint64_t>(life.life);
      if (!LeftToStartLater(life) || number >= last ||
          number + 1 + launcher.restarts <= last) {
        continue;
      }
      check.Breach("restarted",
                   fmt::format("{} left as a restart does not help ({}), and "
                               "its launcher made another attempt",
                               NameOf(life), life.events.back().detail));
    }
  }
}

void CheckLaunchers(const Evidence& evidence, Check& check) {
  for (const LauncherRun& launcher : evidence.record.launchers) {
    check.Instance();
    const bool by_signal =
        launcher.exit_code < 0 ||
        (launcher.exit_code > 128 && launcher.exit_code != 128 + SIGTERM &&
         launcher.exit_code != 128 + SIGINT);
    if (!by_signal || PowerWasLost(evidence)) continue;
    check.Breach("launcher",
                 fmt::format("the launcher ended with {}, and no fault of the "
                             "plan is to blame{}",
                             launcher.exit_code, ByTheKernel(evidence.record)));
  }
}

}  // namespace

void CheckDeathsExplained(const Evidence& evidence, Check& check) {
  // What was cut off by the harness ended by the harness's hand.
  if (evidence.record.ending != RunEnding::kExited) return;
  CheckGivenUpSaves(evidence, check);
  CheckNoRestartForADisk(evidence, check);
  CheckLaunchers(evidence, check);
}

}  // namespace gauntlet
