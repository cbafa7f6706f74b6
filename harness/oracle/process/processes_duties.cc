// Duties: each worker must detect the loss of another one within a deadline.
#include <algorithm>
#include <utility>

#include "harness/oracle/process/processes.h"
#include <fmt/format.h>

namespace gauntlet {

void Processes::Owe(const Process& lost, int64_t t_ns, int64_t until_ns) {
  if (lost.generation == 0) return;
  bool saving = false;
  for (const auto& [id, other] : processes_) {
    if (other.generation != lost.generation || other.ended_ns) continue;
    saving = saving || other.in_save || other.finished;
  }
  saving = saving || lost.in_save || lost.finished;
  for (const auto& [id, other] : processes_) {
    if (id == lost.id || other.generation != lost.generation ||
        other.ended_ns || other.leaving_ns || other.left != nullptr) {
      continue;
    }
    duties_.push_back({.of = id,
                       .lost = lost.id,
                       .since_ns = t_ns,
                       .until_ns = until_ns,
                       .joining = !other.has_state || !lost.has_state,
                       .saving = saving});
  }
}

// Gives the longer bound of a save to all duties of the workers in the
// generation of `process`.
void Processes::NoteSaving(const Process& process) {
  for (Duty& duty : duties_) {
    const Process& of = processes_.at(duty.of);
    if (of.generation == process.generation) duty.saving = true;
  }
}

void Processes::Discharge(const Process& process, int64_t t_ns,
                          Discharges which) {
  std::erase_if(duties_, [&](const Duty& duty) {
    const bool is_meant = which == Discharges::kAll || duty.silence;
    if (!is_meant || duty.of != process.id) return false;
    CheckDuty(duty, t_ns);
    return true;
  });
}

// Returns the time within which a worker must react to missing heartbeats; 0:
// there is no bound. A real machine has none: it may keep a worker from running
// for any time, and the record does not show this.
int64_t Processes::SoonNs() const {
  const RunSetup& setup = record_.setup;
  if (record_.world != "sim" || setup.silence_limit_ns <= 0) return 0;
  return setup.silence_limit_ns + 2 * setup.heartbeat_every_ns;
}

// Adds duties to detect that `silent` sends no heartbeats. The chief exchanges
// heartbeats with every other rank, also during a save.
void Processes::OweSilence(const Process& silent, int64_t t_ns,
                           int64_t until_ns) {
  if (SoonNs() <= 0) return;
  for (const auto& [id, other] : processes_) {
    const bool talk = (silent.rank == 0) != (other.rank == 0);
    const auto trains = [](const Process& one) {
      return one.has_state && !one.finished && !one.stops && !one.ended_ns &&
             !one.leaving_ns;
    };
    if (!talk || other.generation != silent.generation || !trains(silent) ||
        !trains(other)) {
      continue;
    }
    duties_.push_back({.of = id,
                       .lost = silent.id,
                       .since_ns = t_ns,
                       .until_ns = until_ns,
                       .silence = true});
  }
}

int64_t Processes::BoundOf(const Duty& duty, int64_t t_ns) const {
  const RunSetup& setup = record_.setup;
  if (duty.silence) return SoonNs();
  // If the disturbance ended before it was detected, the bound of the scenario
  // (detected_in) does not apply.
  if (record_.expect.detected_in_max_ns && duty.until_ns > t_ns) {
    return *record_.expect.detected_in_max_ns;
  }
  if (duty.joining) return setup.detection_bound_joining_ns;
  return duty.saving ? setup.detection_bound_saving_ns
                     : setup.detection_bound_ns;
}

void Processes::CheckDuty(const Duty& duty, int64_t t_ns) {
  if (record_.ending != RunEnding::kExited) return;
  const int64_t bound = BoundOf(duty, t_ns);
  if (bound <= 0) return;
  const int64_t until = std::min(t_ns, duty.until_ns);
  // A duty to detect missing heartbeats is excused only by late frames and by a
  // pause of the process that has the duty.
  const auto disturbs = [&](const Hindrance& one) {
    if (!MatchesLateness(one, bound)) return false;
    if (duty.silence) {
      return one.kind == Hindrance::Kind::kLateFrames ||
             (one.of == duty.of && one.kind == Hindrance::Kind::kProcess);
    }
    return one.of != duty.lost && one.kind != Hindrance::Kind::kAbsent;
  };
  const int64_t took = hindrances_.Undisturbed(duty.since_ns, until, disturbs);
  checks_.detection.Count();
  if (took <= bound) return;
  const auto [late, limit] = SecondsTexts(took, bound);
  checks_.detection.Fail(
      "late", fmt::format("{} did not act on the loss of {} for {} s, expected "
                          "at most {} s",
                          NameOf(duty.of), NameOf(duty.lost), late, limit));
}

}  // namespace gauntlet
