// Checks that the end of each process has a recorded cause: its exit event, a
// fault, its launcher, or a power loss.
#include <algorithm>
#include <utility>

#include "engine/worker_exit_code.h"
#include "harness/oracle/history/last_words.h"
#include "harness/oracle/process/processes.h"
#include "harness/record/fault_traits.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

bool IsLostWorker(const RecordEvent& event) {
  return event.kind == RecordKind::kWorkerExited &&
         IsExit(event.count, {WorkerExit::kLostWorker});
}

bool IsOfReason(RecordReason reason,
                std::initializer_list<RecordReason> reasons) {
  return std::ranges::find(reasons, reason) != reasons.end();
}

}  // namespace

// Returns true iff the process is running and its launcher was killed.
bool Processes::IsOrphan(const Process& process) const {
  return !process.ended_ns && !process.unreachable &&
         launcher_killed_ns_.contains(process.launcher);
}

// Checks that an orphan ends within the bound.
void Processes::CheckOrphan(const Process& process, int64_t t_ns) {
  const int64_t bound = record_.setup.orphans_end_ns;
  if (!IsOrphan(process) || bound <= 0) return;
  checks_.no_orphans.Count();
  const int64_t took = t_ns - launcher_killed_ns_.at(process.launcher);
  if (took <= bound) return;
  checks_.no_orphans.Fail(
      "outlives-launcher",
      fmt::format("{} ran for {:.3f} s after its launcher was killed, expected "
                  "at most {:.3f} s",
                  NameOf(process.id), Seconds(took), Seconds(bound)));
}

void Processes::End() {
  if (record_.ending != RunEnding::kExited || record_.machine.empty()) return;
  for (const auto& [id, process] : processes_) CheckOrphan(process, last_ns_);
}

void Processes::End(Process& process, const RecordEvent& event) {
  CheckOrphan(process, event.t_ns);
  process.ended_ns = event.t_ns;
  CheckEnd(process, event);
  Discharge(process, event.t_ns);
  const bool unheard =
      hindrances_.Any(event.t_ns, event.t_ns, [&](const Hindrance& one) {
        return one.kind == Hindrance::Kind::kLinks && one.of == process.id;
      });
  hindrances_.Ended(process.id, event.t_ns);
  // If the process is cut off by a partition, its peers do not see its
  // connections close. They wait until their own time limits.
  if (unheard) {
    hindrances_.Add(
        {.kind = Hindrance::Kind::kLinks,
         .of = process.id,
         .from_ns = event.t_ns,
         .until_ns = event.t_ns + record_.setup.detection_bound_joining_ns});
  }
  const bool silent = power_cut_ns_ && *power_cut_ns_ >= process.started_ns;
  hindrances_.Add({.kind = Hindrance::Kind::kAbsent,
                   .of = process.id,
                   .from_ns = event.t_ns,
                   .until_ns = Hindrances::kForEver});
  if (process.cut_off) {
    hindrances_.Add({.kind = Hindrance::Kind::kProcess,
                     .of = process.id,
                     .from_ns = event.t_ns,
                     .until_ns = Hindrances::kForEver});
  }
  const bool done =
      process.left != nullptr && IsOrderlyExit(process.left->count);
  if (!done && !silent) Owe(process, event.t_ns, Hindrances::kForEver);
}

// Returns true iff a recorded event or fault has killed the process by that
// time.
bool Processes::IsKilled(const Process& process, int64_t t_ns) const {
  if (process.kill_sent || process.unreachable || process.cut_off) return true;
  const auto in_its_time = [&](const std::optional<int64_t>& when) {
    return when && *when >= process.started_ns && *when <= t_ns;
  };
  if (in_its_time(power_cut_ns_) ||
      ended_launchers_.contains(process.launcher)) {
    return true;
  }
  return std::ranges::any_of(process.fired, [&](const Fired& fired) {
    const auto after = KillsAfter(*fired.fault);
    return after && t_ns + kStampSlackNs >= fired.t_ns + *after;
  });
}

void Processes::CheckEnd(const Process& process, const RecordEvent& event) {
  // The harness kills the processes of a run that does not end on its own.
  if (record_.ending != RunEnding::kExited) return;
  const bool by_signal = event.reason == RecordReason::kSignal;
  if (process.left != nullptr && !by_signal) {
    if (process.left->count == event.count) return;
    return checks_.no_spontaneous_exit.Fail(
        "exit-code",
        fmt::format("the exit event of {} has exit code {}, but the process "
                    "ended with {}",
                    NameOf(process.id), process.left->count, event.count));
  }
  if (IsKilled(process, event.t_ns)) return;
  checks_.no_spontaneous_exit.Fail(
      "unexplained-death",
      fmt::format("{} ended ({} {}) without an exit event, and no recorded "
                  "cause explains it{}",
                  NameOf(process.id), by_signal ? "signal" : "exit code",
                  by_signal ? event.count - 128 : event.count,
                  ByTheKernel(record_)));
}

void Processes::CheckLeaving(Process& process, const RecordEvent& event) {
  if (record_.ending != RunEnding::kExited) return;
  bool explained = true;
  if (IsOfReason(event.reason, {Reason::kLostWorker, Reason::kDeadline})) {
    explained = process.has_cause_to_leave || HasMetAnError(process);
  } else if (event.reason == Reason::kDevice) {
    explained = std::ranges::any_of(process.fired, [](const Fired& fired) {
      return TraitsOf(*fired.fault).fails_device ||
             fired.fault->point == "device.open";
    });
  } else if (event.reason == Reason::kSuperseded) {
    explained = std::ranges::any_of(processes_, [&](const auto& entry) {
      const Process& other = entry.second;
      // A chief that was superseded by a newer generation refuses workers that
      // are not in a generation yet.
      const bool refuses = process.generation == 0 && other.rank == 0;
      return other.superseded &&
             (other.id == process.id ||
              other.generation == process.generation || refuses);
    });
  } else if (event.reason == Reason::kMissingFile && OlderIsThere(process)) {
    explained = true;  // the older process may still hold the address
  } else if (IsStorageError(event.reason) || event.reason == Reason::kBadData) {
    const bool is_full =
        event.reason == Reason::kDiskFull && record_.setup.limited_disk;
    explained = HasMetAnError(process) || store_deleted_ || is_full;
    const bool starts_later = IsExit(event.count, {WorkerExit::kStartLater});
    explained = explained && (starts_later || !WasInASave(process));
  }
  // On a full disk a worker must exit with kStartLater: an immediate restart
  // would recompute steps and find the disk still full.
  if (event.reason == Reason::kDiskFull && IsLostWorker(event)) {
    explained = false;
  }
  if (explained) return;
  checks_.no_spontaneous_exit.Fail(
      "unexplained-exit",
      fmt::format("{} left ({}: {}), and no recorded cause explains it{}",
                  NameOf(process.id), RecordReasonName(event.reason),
                  event.detail, ByTheKernel(record_)));
}

// Checks that a worker leaves soon after it detected a loss in training.
void Processes::CheckLeavesSoon(Process& process, const RecordEvent& event) {
  const auto lost_ns = std::exchange(process.lost_ns, std::nullopt);
  const int64_t bound = SoonNs();
  // After a save, there is no bound: the worker finishes a save before it
  // leaves, and repeats a failed save after a pause.
  const bool saves = save_ended_ns_ >= process.last_step_ns;
  if (!lost_ns || bound <= 0 || saves || process.in_save || process.finished ||
      record_.setup.async_saves || record_.ending != RunEnding::kExited) {
    return;
  }
  const int64_t took =
      hindrances_.Undisturbed(*lost_ns, event.t_ns, [&](const Hindrance& one) {
        return one.of == process.id && one.kind != Hindrance::Kind::kAbsent;
      });
  checks_.detection.Count();
  if (took <= bound) return;
  const auto [late, limit] = SecondsTexts(took, bound);
  checks_.detection.Fail(
      "not-acted-on",
      fmt::format("{} left its generation {} s after it had detected a "
                  "loss, expected at most {} s",
                  NameOf(process.id), late, limit));
}

// Returns true iff another process of the same worker has not ended.
bool Processes::OlderIsThere(const Process& process) const {
  return std::ranges::any_of(processes_, [&](const auto& entry) {
    const Process& other = entry.second;
    return other.id.worker == process.id.worker && other.id != process.id &&
           !other.ended_ns;
  });
}

// Returns the time of the last progress of the process. The effect of a fault
// that fired before this time is over. Progress is the last step of the process
// or, for a fault in an asynchronous save, the last acknowledged save of its
// generation.
int64_t Processes::OverAt(const Fired& fired, const Process& process) const {
  const bool in_async_save =
      record_.setup.async_saves && fired.fault->point.starts_with("ckpt.");
  if (!in_async_save) return process.last_step_ns;
  const auto saved = acknowledged_ns_.find(process.generation);
  return saved == acknowledged_ns_.end() ? 0 : saved->second;
}

// Returns true iff a fault has caused an error that may end the process. The
// error may be in the process itself, or in another process with which it has
// to agree. Errors from before the last progress do not count, unless a fault
// damaged the store or fires at every occurrence.
bool Processes::HasMetAnError(const Process& process) const {
  return std::ranges::any_of(processes_, [&](const auto& entry) {
    const Process& other = entry.second;
    // Processes that have no state yet take part in one rendezvous, even if
    // they have claimed different generations.
    const uint64_t theirs = other.has_state ? other.generation : 0;
    const uint64_t its = process.has_state ? process.generation : 0;
    const bool was_there = its != 0 || !other.ended_ns ||
                           *other.ended_ns >= process.rendezvous_since_ns;
    const bool has_left =
        other.generation == 0 && its != 0 && other.leaves_generation == its;
    const bool together =
        other.id == process.id || has_left || (theirs == its && was_there);
    return together &&
           std::ranges::any_of(other.fired, [&](const Fired& fired) {
             const FaultTraits traits = TraitsOf(*fired.fault);
             if (traits.damages_store) return true;
             return traits.reports_error &&
                    (fired.fault->always || fired.t_ns >= OverAt(fired, other));
           });
  });
}

// Returns true iff the process trains, and all errors so far (at least one)
// were in saves. Such errors make a save fail, but must not end a worker.
bool Processes::WasInASave(const Process& process) const {
  if (!process.has_state || process.finished || store_deleted_) return false;
  bool any = false;
  for (const auto& [id, other] : processes_) {
    for (const Fired& fired : other.fired) {
      const FaultTraits traits = TraitsOf(*fired.fault);
      if (!traits.reports_error && !traits.damages_store) continue;
      if (!fired.fault->in_save) return false;
      any = true;
    }
  }
  return any;
}

}  // namespace gauntlet
