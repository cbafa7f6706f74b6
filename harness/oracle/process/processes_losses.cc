// Checks that a worker declares a rank lost only if it was gone, leaving, or
// kept from answering.
#include <algorithm>
#include <utility>

#include "harness/oracle/process/processes.h"
#include "harness/record/fault_traits.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

// A worker needs at most 1 / kShareOfWork of a time limit for its work if
// nothing disturbs it.
constexpr int64_t kShareOfWork = 4;

// Returns ", after 30.000 s" for a wait that reached its limit; "" for a wait
// that ended earlier.
std::string WaitedText(const RecordEvent& wait) {
  return wait.reason == RecordReason::kSilent ||
                 wait.reason == RecordReason::kDeadline
             ? fmt::format(", after {:.3f} s", Seconds(wait.limit_ns))
             : "";
}

}  // namespace

std::vector<const Processes::Process*> Processes::OfRank(
    std::optional<int> rank, const Process& but) const {
  std::vector<const Process*> found;
  for (const auto& [id, process] : processes_) {
    const bool was_there =
        !process.ended_ns || *process.ended_ns >= but.rendezvous_since_ns;
    const bool is_meant = !rank || process.rank == *rank;
    if (is_meant && id != but.id && was_there) {
      found.push_back(&process);
    }
  }
  return found;
}

bool Processes::IsGoneOrLeaving(const Process& process, int64_t t_ns) const {
  const auto by_then = [&](const std::optional<int64_t>& when) {
    return when && *when <= t_ns + kStampSlackNs;
  };
  return by_then(process.ended_ns) || by_then(process.leaving_ns) ||
         IsKilled(process, t_ns);
}

// Returns true iff the record has a reason for which the chief may have refused
// the process: an error of the chief, a newer generation, a disturbed link, a
// rendezvous that had already ended, or a chief that had not yet left its
// generation.
bool Processes::MayHaveRefused(const Process& process,
                               const RecordEvent& event) const {
  const std::vector<const Process*> chiefs = OfRank(event.about, process);
  const auto disturbs = [&](const Hindrance& one) {
    using Kind = Hindrance::Kind;
    if (one.kind == Kind::kLinks || one.kind == Kind::kLateFrames) return true;
    return one.kind != Kind::kAbsent &&
           (one.of == process.id ||
            std::ranges::any_of(chiefs, [&](const Process* chief) {
              return chief->id == one.of;
            }));
  };
  if (hindrances_.Any(process.rendezvous_since_ns, event.t_ns, disturbs)) {
    return true;
  }
  return std::ranges::any_of(chiefs, [&](const Process* chief) {
    // Until a chief has left its old generation, it accepts no connections for
    // the next rendezvous.
    const bool forms_still = chief->generation != 0 &&
                             chief->generation == process.leaves_generation;
    return forms_still || HasMetAnError(*chief) || chief->superseded ||
           chief->left != nullptr ||
           chief->refused_ns >= process.rendezvous_since_ns;
  });
}

// Returns true iff hindrances kept all heartbeats of the process from arriving
// during the wait.
bool Processes::WasSilent(const Process& process,
                          const RecordEvent& wait) const {
  if (process.cut_off || process.unreachable) return true;
  const int64_t limit = wait.limit_ns;
  const int64_t undisturbed_ns = hindrances_.Undisturbed(
      wait.t_ns - limit, wait.t_ns, [&](const Hindrance& one) {
        return one.kind != Hindrance::Kind::kTask &&
               MatchesLateness(one, limit);
      });
  return undisturbed_ns <= 2 * record_.setup.heartbeat_every_ns;
}

// Returns true iff hindrances left the processes at most a quarter of the wait
// (plus one heartbeat interval) for their work.
bool Processes::WasHeldUp(const RecordEvent& wait) const {
  const int64_t limit = wait.limit_ns;
  const int64_t worked = hindrances_.Undisturbed(
      wait.t_ns - limit, wait.t_ns,
      [&](const Hindrance& one) { return MatchesLateness(one, limit); });
  return worked <= limit / kShareOfWork + record_.setup.heartbeat_every_ns;
}

bool Processes::IsExplained(const Process& process,
                            const RecordEvent& wait) const {
  const std::vector<const Process*> others = OfRank(wait.about, process);
  const auto any = [&others](const auto& is_so) {
    return std::ranges::any_of(
        others, [&is_so](const Process* other) { return is_so(*other); });
  };
  const bool in_rendezvous =
      !process.has_state ||
      any([](const Process& other) { return !other.has_state; });
  const auto is_gone = [&](const Process& other) {
    return IsGoneOrLeaving(other, wait.t_ns);
  };
  switch (wait.reason) {
    case RecordReason::kRefused:
      return MayHaveRefused(process, wait);
    case RecordReason::kSilent:
      return any([&](const Process& other) { return WasSilent(other, wait); });
    case RecordReason::kDeadline:
      // During a rendezvous, a lost worker explains the deadline too: its new
      // process answers only in the next rendezvous.
      return WasHeldUp(wait) || any(FailsAgainAndAgain) ||
             (in_rendezvous &&
              (any(is_gone) || HurtsLinks(process, wait.t_ns, in_rendezvous)));
    default:
      return any(is_gone) || HurtsLinks(process, wait.t_ns, in_rendezvous);
  }
}

// Returns true iff the process has no state, and a fault that repeats at every
// occurrence keeps it from getting a state.
bool Processes::FailsAgainAndAgain(const Process& process) {
  return !process.has_state &&
         std::ranges::any_of(process.fired, [](const Fired& fired) {
           return fired.fault->always && TraitsOf(*fired.fault).reports_error;
         });
}

// Returns true iff links were cut or reset since the rendezvous of the process
// began. During a rendezvous, a late frame counts as well: a worker that gets
// no answer in time connects anew, and its peer waits for the old connection
// until a time limit.
bool Processes::HurtsLinks(const Process& process, int64_t t_ns,
                           bool in_rendezvous) const {
  return hindrances_.Any(
      process.rendezvous_since_ns, t_ns, [&](const Hindrance& one) {
        using Kind = Hindrance::Kind;
        return one.kind == Kind::kLinks ||
               (one.kind == Kind::kLateFrames && in_rendezvous);
      });
}

void Processes::CheckWait(const Process& process, const RecordEvent& event) {
  if (record_.ending != RunEnding::kExited) return;
  checks_.no_spontaneous_exit.Count();
  if (IsExplained(process, event)) return CheckPromptness(process, event);
  checks_.no_spontaneous_exit.Fail(
      "unexplained-loss",
      fmt::format("{} declared rank {} lost ({}{}), and no recorded cause kept "
                  "that rank from answering",
                  NameOf(process.id), event.about ? *event.about : process.rank,
                  RecordReasonName(event.reason), WaitedText(event)));
}

// Returns when the loss that the process reports began: at the start of the
// current disturbance or, if there is none, at the last fault that ended a
// process or reset connections.
std::optional<int64_t> Processes::LostSince(const Process& process,
                                            const RecordEvent& loss) const {
  const auto since = hindrances_.Since(loss.t_ns, [](const Hindrance& one) {
    return one.kind != Hindrance::Kind::kAbsent;
  });
  if (since) return since;
  std::optional<int64_t> last;
  for (const auto& [id, other] : processes_) {
    for (const Fired& fired : other.fired) {
      const bool ends = KillsAfter(*fired.fault) == 0 ||
                        fired.fault->kind == "connection_reset";
      if (ends && fired.t_ns >= process.rendezvous_since_ns &&
          fired.t_ns <= loss.t_ns) {
        last = std::max(last.value_or(fired.t_ns), fired.t_ns);
      }
    }
  }
  return last;
}

// Returns true iff, at the time of the loss, a fault held up the process that
// reports it, and nothing else was disturbed. The reported rank may have been
// lost after that fault.
bool Processes::IsOnlyReporterHeldUp(const Process& process,
                                     const RecordEvent& loss) const {
  using Kind = Hindrance::Kind;
  const auto is_own = [&process](const Hindrance& one) {
    return one.of == process.id &&
           (one.kind == Kind::kTask || one.kind == Kind::kProcess);
  };
  const auto is_other = [&is_own](const Hindrance& one) {
    return one.kind != Kind::kAbsent && !is_own(one);
  };
  return hindrances_.Since(loss.t_ns, is_own) &&
         !hindrances_.Since(loss.t_ns, is_other);
}

// Checks that a worker reports a loss within the time detected_in that the
// scenario expects.
void Processes::CheckPromptness(const Process& process,
                                const RecordEvent& event) {
  if (event.reason == RecordReason::kRefused) return;
  const auto since = LostSince(process, event);
  if (!since) return;
  const int64_t took = event.t_ns - *since;
  const int64_t bound = record_.expect.detected_in_max_ns.value_or(0);
  checks_.detection.Count();
  if (bound <= 0 || took <= bound) return;
  const auto [late, limit] = SecondsTexts(took, bound);
  checks_.detection.Fail(
      "late",
      fmt::format(
          "rank {} was declared lost after {} s, expected at most {} s{}",
          event.about.value_or(-1), late, limit,
          IsOnlyReporterHeldUp(process, event)
              ? fmt::format("; the time counts from the fault that held up {}, "
                            "which declared the loss",
                            NameOf(process.id))
              : ""));
}

void Processes::CheckChiefSilent(const RecordEvent& event) {
  if (record_.ending != RunEnding::kExited) return;
  const Process* const chief = FindAbout(event);
  const auto stands = [chief](const Hindrance& one) {
    using Kind = Hindrance::Kind;
    return chief != nullptr && one.of == chief->id &&
           (one.kind == Kind::kTask || one.kind == Kind::kProcess);
  };
  if (const auto since = hindrances_.Since(event.t_ns, stands)) {
    const int64_t took = event.t_ns - *since;
    const int64_t bound = record_.expect.detected_in_max_ns.value_or(
        record_.setup.detection_bound_joining_ns);
    checks_.detection.Count();
    if (bound > 0 && took > bound) {
      const auto [late, limit] = SecondsTexts(took, bound);
      checks_.detection.Fail(
          "late", fmt::format("the launcher detected after {} s that the chief "
                              "hangs, expected at most {} s",
                              late, limit));
    }
  }
  if (WasHeldUp(event)) return CheckNoticedFirst(chief, event);
  if (chief != nullptr && FailsAgainAndAgain(*chief)) return;
  checks_.no_spontaneous_exit.Fail(
      "unexplained-loss",
      fmt::format("the launcher got no message of worker {} for {:.3f} s, and "
                  "no recorded cause kept the worker from sending one",
                  event.about.value_or(-1), Seconds(event.limit_ns)));
}

// Called when the launcher declares the chief hung. Reports an error if one
// task of another worker was blocked for longer than the hang limit, and
// nothing else was hindered. In that case, a worker should have detected the
// hang before the launcher acted.
void Processes::CheckNoticedFirst(const Process* chief,
                                  const RecordEvent& event) {
  if (chief == nullptr || !chief->has_state || chief->in_save ||
      chief->finished || chief->stops) {
    return;
  }
  const int64_t from_ns = event.t_ns - event.limit_ns;
  const Hindrance* alone = nullptr;
  for (const Hindrance& one : hindrances_.all()) {
    if (one.from_ns > event.t_ns || one.until_ns < from_ns) continue;
    if (alone != nullptr || one.of == chief->id) return;
    alone = &one;
  }
  if (alone == nullptr || alone->kind != Hindrance::Kind::kTask ||
      alone->until_ns < event.t_ns) {
    return;
  }
  const int64_t hung_ns = event.t_ns - alone->from_ns;
  const RunSetup& setup = record_.setup;
  if (hung_ns <= setup.hang_limit_ns + setup.heartbeat_every_ns) return;
  checks_.detection.Count();
  checks_.detection.Fail(
      "not-by-a-worker",
      fmt::format("{} hung for {:.3f} s, and no worker detected that before "
                  "the launcher declared the chief hung",
                  NameOf(alone->of), Seconds(hung_ns)));
}

}  // namespace gauntlet
