#include "harness/run/failure/history/causing_faults.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "engine/worker_exit_code.h"
#include "harness/run/failure/history/first_sign.h"
#include "harness/run/failure/history/process_ends.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

constexpr int64_t kForEver = std::numeric_limits<int64_t>::max();

// How well an occurrence of a fault explains a sign.
enum class Evidence : uint8_t {
  kExcluded,  // the fault cannot have caused it
  kPossible,  // the fault may have caused it
  kCovering,  // the fault blocked a worker or a link for half the wait or more
  kComplete,  // the fault ended the lost process, or reset its connection
};

// Returns true iff the fault makes the workers stop: it sends a notice to one
// of them, or SIGTERM to their launcher, which forwards it.
bool StopsWorkers(const FaultOccurrence& occurrence) {
  return occurrence.traits.gives_notice ||
         occurrence.fault->kind == "terminate_launcher";
}

// Returns true iff the reason of the exit is the error that the fault injected:
// "…: export.write: injected EACCES".
bool StatesInjectedError(const RecordFault& fault, const RecordEvent& exit) {
  return !fault.point.empty() &&
         exit.detail.find(fault.point + ": injected ") != std::string::npos;
}

// Returns true iff the process exited with an error that the fault may have
// injected: an error of storage, or an error that the exit itself attributes to
// the fault's point. If the process exited because of a lost worker, but
// reported no such loss after the fault, the fault injected a network error.
// This error counts too.
bool EndedByError(const FaultOccurrence& occurrence) {
  const std::vector<RecordEvent>& events = occurrence.incarnation->events;
  const RecordEvent& last = events.back();
  if (!occurrence.traits.reports_error ||
      last.kind != RecordKind::kWorkerExited) {
    return false;
  }
  if (IsStorageError(last.reason) ||
      StatesInjectedError(*occurrence.fault, last)) {
    return true;
  }
  const bool is_loss = last.reason == RecordReason::kLostWorker ||
                       last.reason == RecordReason::kDeadline;
  return is_loss && std::none_of(events.begin() + static_cast<std::ptrdiff_t>(
                                                      occurrence.index),
                                 events.end(), [](const RecordEvent& event) {
                                   return event.kind == RecordKind::kWorkerLost;
                                 });
}

bool EndsItsProcess(const FaultOccurrence& occurrence) {
  return occurrence.traits.EndsProcesses() || StopsWorkers(occurrence) ||
         EndedByError(occurrence);
}

bool MayInterrupt(const FaultOccurrence& occurrence) {
  return EndsItsProcess(occurrence) || occurrence.traits.may_end_incarnation;
}

bool FiredIn(const FaultOccurrence& occurrence, int64_t from_ns,
             int64_t until_ns) {
  const int64_t fired_ns = occurrence.event().t_ns;
  return fired_ns > from_ns && fired_ns <= until_ns;
}

// Returns true iff the fault may have caused `end`: a power loss, the end of
// the process in which the fault fired, or the exit of a worker that lost
// another one.
bool MayEnd(const FaultOccurrence& occurrence, const RecordEvent& end) {
  const FaultTraits& traits = occurrence.traits;
  if (end.kind == RecordKind::kPowerCut) return traits.cuts_power;
  if (end.about.value_or(kLauncherWorker) == kLauncherWorker) {
    return traits.kills_launcher;
  }
  const bool by_loss = IsExit(end.count, {WorkerExit::kLostWorker});
  // Excludes a fault that only delays, unless the worker lost another one, was
  // killed, or was declared out of reach. A delay alone makes no worker exit.
  if (!traits.EndsProcesses() && !by_loss &&
      end.reason != RecordReason::kSignal &&
      end.reason != RecordReason::kUnreachable) {
    return false;
  }
  return MayInterrupt(occurrence) &&
         (by_loss || occurrence.incarnation->worker == end.about);
}

// Explains one sign by the occurrences of faults.
class SignExplainer {
 public:
  SignExplainer(const Record& record, const FirstSign& sign)
      : record_(record), sign_(sign), event_(*sign.event) {}

  Evidence Of(const FaultOccurrence& occurrence) const {
    if (occurrence.event().t_ns > event_.t_ns) return Evidence::kExcluded;
    if (EndsItsProcess(occurrence)) return OfEnding(occurrence);
    if (IsReset(occurrence)) return OfReset(occurrence);
    return event_.kind == RecordKind::kWorkerLost ? OfDelay(occurrence)
                                                  : Evidence::kPossible;
  }

 private:
  bool IsOfSignsWorker(const FaultOccurrence& occurrence) const {
    return sign_.worker == occurrence.incarnation->worker;
  }

  Evidence OfEnding(const FaultOccurrence& occurrence) const {
    const FaultTraits& traits = occurrence.traits;
    const bool is_complete =
        DiesImmediately(*occurrence.fault) || traits.kills_launcher ||
        IsOfSignsWorker(occurrence) ||
        (StopsWorkers(occurrence) && event_.kind == RecordKind::kStopAgreed);
    return is_complete ? Evidence::kComplete : Evidence::kPossible;
  }

  static bool IsReset(const FaultOccurrence& occurrence) {
    return occurrence.traits.hinders == HinderedPart::kLinks &&
           !occurrence.traits.lasts;
  }

  // Returns the evidence of a fault that reset a connection. The other end of
  // the connection detects the reset without a wait.
  Evidence OfReset(const FaultOccurrence& occurrence) const {
    const int64_t limit_ns = record_.setup.silence_limit_ns;
    const bool is_complete =
        event_.kind == RecordKind::kWorkerLost &&
        event_.reason == RecordReason::kClosed &&
        (IsOfSignsWorker(occurrence) ||
         sign_.emitter == occurrence.incarnation->worker) &&
        (limit_ns == 0 || event_.t_ns - occurrence.event().t_ns <= limit_ns);
    return is_complete ? Evidence::kComplete : Evidence::kPossible;
  }

  // Returns the time until which the fault blocks its task, process, device or
  // link; kForEver if that is not known.
  static int64_t BlocksUntil(const FaultOccurrence& occurrence) {
    const RecordFault& fault = *occurrence.fault;
    const int64_t lasts_ns =
        occurrence.traits.lasts ? fault.duration_ns : fault.latency_ns;
    const bool is_once = fault.fires_once();
    return is_once && lasts_ns > 0 ? occurrence.event().t_ns + lasts_ns
                                   : kForEver;
  }

  // Returns true iff the emitter may have waited for the part that the fault
  // hinders. All ranks wait for each other, so a blocked task of any rank makes
  // each of them wait.
  bool IsWaitedFor(const FaultOccurrence& occurrence) const {
    const bool is_silence = event_.reason == RecordReason::kSilent &&
                            sign_.emitter != kLauncherWorker;
    const bool is_of_either = IsOfSignsWorker(occurrence) ||
                              sign_.emitter == occurrence.incarnation->worker;
    switch (occurrence.traits.hinders) {
      case HinderedPart::kTask:
      case HinderedPart::kDevice:
        return !is_silence;
      case HinderedPart::kProcess:
        return !is_silence || IsOfSignsWorker(occurrence);
      case HinderedPart::kLinks:
        return is_of_either || occurrence.fault->parts_others;
      case HinderedPart::kNone:
      case HinderedPart::kFrames:
        return false;
    }
    return false;
  }

  // REQUIRES: the sign is the loss of a worker.
  Evidence OfDelay(const FaultOccurrence& occurrence) const {
    const bool is_wait = (event_.reason == RecordReason::kSilent ||
                          event_.reason == RecordReason::kDeadline) &&
                         event_.limit_ns > 0;
    if (!is_wait || !IsWaitedFor(occurrence)) return Evidence::kPossible;
    const int64_t until_ns = BlocksUntil(occurrence);
    const int64_t blocked_ns = event_.t_ns - occurrence.event().t_ns;
    const bool is_of_link = occurrence.traits.hinders == HinderedPart::kLinks;
    // Excludes a fault that ended before the wait, unless it blocked a link:
    // the frames that a link held back arrive some time after its repair.
    if (!is_of_link && until_ns < event_.t_ns - event_.limit_ns) {
      return Evidence::kExcluded;
    }
    return until_ns >= event_.t_ns && blocked_ns >= event_.limit_ns / 2 &&
                   !occurrence.fault->always
               ? Evidence::kCovering
               : Evidence::kPossible;
  }

  const Record& record_;
  const FirstSign& sign_;
  const RecordEvent& event_;
};

}  // namespace

std::set<const RecordFault*> InterruptingFaults(const Outline& outline,
                                                int64_t from_ns,
                                                int64_t until_ns) {
  std::set<const RecordFault*> faults;
  for (const FaultOccurrence& occurrence : outline.occurrences) {
    if (FiredIn(occurrence, from_ns, until_ns) && MayInterrupt(occurrence)) {
      faults.insert(occurrence.fault);
    }
  }
  return faults;
}

Causes CausesOf(const Outline& outline, int64_t from_ns, int64_t until_ns) {
  const FirstSign sign = FindFirstSign(outline.record, from_ns, until_ns);
  Evidence best = Evidence::kPossible;
  bool all_end = true;  // each cause ends its process
  Causes causes;
  for (const FaultOccurrence& occurrence : outline.occurrences) {
    if (!FiredIn(occurrence, from_ns, until_ns) || !MayInterrupt(occurrence)) {
      continue;
    }
    const Evidence evidence =
        sign.event == nullptr
            ? Evidence::kPossible
            : SignExplainer(outline.record, sign).Of(occurrence);
    if (evidence < best) continue;
    if (evidence > best) {
      best = evidence;
      causes.faults.clear();
      all_end = true;
    }
    causes.faults.insert(occurrence.fault);
    all_end = all_end && EndsItsProcess(occurrence);
  }
  causes.are_certain =
      best == Evidence::kComplete || all_end || causes.faults.size() <= 1;
  return causes;
}

namespace {

// The faults that may have caused the end of a process.
struct CauseOfEnd {
  // The newest of these faults; null: there is none. A fault that ends
  // processes takes precedence over one that only delays, even if the delay
  // came later.
  const FaultOccurrence* newest = nullptr;
  std::vector<std::string> possible = {};  // a text for each of the faults
  bool is_certain = true;
};

CauseOfEnd FindCauseOfEnd(const Outline& outline, const RecordEvent& end,
                          int64_t since_ns) {
  const Causes causes = CausesOf(outline, since_ns, end.t_ns);
  CauseOfEnd found;
  for (const FaultOccurrence& occurrence : outline.occurrences) {
    if (!FiredIn(occurrence, since_ns, end.t_ns) ||
        !causes.faults.contains(occurrence.fault) || !MayEnd(occurrence, end)) {
      continue;
    }
    const std::string text = fmt::format("fault {} ({})", occurrence.fault->id,
                                         occurrence.fault->summary);
    if (std::ranges::find(found.possible, text) == found.possible.end()) {
      found.possible.push_back(text);
    }
    if (found.newest == nullptr || occurrence.traits.EndsProcesses() ||
        !found.newest->traits.EndsProcesses()) {
      found.newest = &occurrence;
    }
  }
  found.is_certain = causes.are_certain || found.possible.size() == 1;
  return found;
}

}  // namespace

std::string EndWithFaultText(const Outline& outline, const RecordEvent& end,
                             int64_t since_ns) {
  const CauseOfEnd cause = FindCauseOfEnd(outline, end, since_ns);
  if (cause.newest == nullptr) return EndText(end);
  if (!cause.is_certain) {
    return fmt::format("{}, possibly because of {}", EndText(end),
                       fmt::join(cause.possible, " or "));
  }
  return fmt::format("{} because of fault {} ({})", EndText(end),
                     cause.newest->fault->id, cause.newest->fault->summary);
}

const FaultOccurrence* ImmediateFaultOf(const Outline& outline,
                                        const RecordEvent& end,
                                        int64_t since_ns) {
  const CauseOfEnd cause = FindCauseOfEnd(outline, end, since_ns);
  return cause.newest != nullptr && cause.is_certain &&
                 DiesImmediately(*cause.newest->fault)
             ? cause.newest
             : nullptr;
}

}  // namespace gauntlet
