#include "harness/explore/trial/expected_outcome.h"

#include <algorithm>
#include <array>
#include <map>

#include "engine/ckpt/io/retrying.h"
#include "engine/worker_exit_code.h"
#include "harness/record/fault_traits.h"

namespace gauntlet {
namespace {

// Returns true iff the events show that syncs succeed again from step
// `until_step` on: a save is acknowledged, or training continues after a failed
// save. One save may still fail after that step, because of a sync that was due
// to fail before.
bool SyncsAgain(const IncarnationEvents& incarnation, uint64_t until_step) {
  bool reached = false;
  bool failed = false;
  for (const RecordEvent& event : incarnation.events) {
    if (event.kind == RecordKind::kStep) {
      if (failed) return true;
      reached = reached || event.step >= until_step;
    } else if (reached && event.kind == RecordKind::kSaveAcknowledged) {
      return true;
    } else if (reached && event.kind == RecordKind::kSaveFailed) {
      failed = true;
    }
  }
  return false;
}

// Returns true iff the fault fired and this process has since reached its
// until_step.
bool IsOver(const IncarnationEvents& incarnation, const RecordFault& fault) {
  if (!fault.until_step) return false;
  if (fault.kind == "fsync_fails")
    return SyncsAgain(incarnation, *fault.until_step);
  bool fired = false;
  for (const RecordEvent& event : incarnation.events) {
    fired = fired ||
            (event.kind == RecordKind::kFaultFired && event.detail == fault.id);
    if (fired && event.kind == RecordKind::kStep &&
        event.step >= *fault.until_step) {
      return true;
    }
  }
  return false;
}

// Returns true iff the fault fired in the last process of any worker and is not
// over (IsOver).
bool FiredInALastIncarnation(const Record& record, const RecordFault& fault) {
  for (size_t i = 0; i < record.incarnations.size(); ++i) {
    const IncarnationEvents& incarnation = record.incarnations[i];
    const bool last = i + 1 == record.incarnations.size() ||
                      record.incarnations[i + 1].worker != incarnation.worker;
    if (last && !IsOver(incarnation, fault) &&
        std::ranges::any_of(incarnation.events, [&](const RecordEvent& event) {
          return event.kind == RecordKind::kFaultFired &&
                 event.detail == fault.id;
        })) {
      return true;
    }
  }
  return false;
}

// Returns the number of workers that died at least kOften times by faults at
// every occurrence, so that the job gives up on them.
int WorkersThatKeepDying(const Record& record) {
  constexpr int kOften = 3;
  std::map<int, int> deaths;  // by worker
  for (const IncarnationEvents& incarnation : record.incarnations) {
    if (incarnation.events.empty() ||
        incarnation.events.back().kind == RecordKind::kWorkerExited) {
      continue;
    }
    const bool died =
        std::ranges::any_of(incarnation.events, [&](const auto& event) {
          return event.kind == RecordKind::kFaultFired &&
                 std::ranges::any_of(
                     record.faults, [&](const RecordFault& fault) {
                       return fault.always &&
                              TraitsOf(fault).ends_incarnation &&
                              fault.id == event.detail;
                     });
        });
    if (died) ++deaths[incarnation.worker];
  }
  return static_cast<int>(std::ranges::count_if(
      deaths, [](const auto& one) { return one.second >= kOften; }));
}

// Returns true iff fewer workers are left than the job needs.
bool TooFewAreLeft(const Record& record) {
  const RunSetup& setup = record.setup;
  const int least = setup.min_workers == 0 ? setup.workers : setup.min_workers;
  return setup.workers - WorkersThatKeepDying(record) < least;
}

// Returns true iff a process exited with an error, other than kNoCheckpoint,
// and while it ran, a stale process of an earlier incarnation finished the run
// and began to delete the checkpoints.
bool HadItsStoreDeleted(const Record& record) {
  const auto ends_badly = [](const IncarnationEvents& incarnation) {
    const RecordEvent& last = incarnation.events.back();
    return last.kind == RecordKind::kWorkerExited &&
           !IsOrderlyExit(last.count) &&
           !IsExit(last.count, {WorkerExit::kNoCheckpoint});
  };
  return std::ranges::any_of(
      record.incarnations, [&](const IncarnationEvents& incarnation) {
        if (incarnation.events.empty() || !ends_badly(incarnation))
          return false;
        return std::ranges::any_of(
            record.incarnations, [&](const IncarnationEvents& earlier) {
              const auto deletes = std::ranges::find(
                  earlier.events, RecordKind::kDeleteBegin, &RecordEvent::kind);
              return deletes != earlier.events.end() &&
                     earlier.number < incarnation.number &&
                     incarnation.events.front().t_ns < deletes->t_ns &&
                     deletes->t_ns < incarnation.events.back().t_ns;
            });
      });
}

// Returns true iff, after a process finished training, it had as many disk
// errors as an operation has attempts. A finished process is not restarted.
bool CouldNotDelete(const Record& record) {
  return std::ranges::any_of(
      record.incarnations, [&](const IncarnationEvents& incarnation) {
        const auto finished = std::ranges::find(
            incarnation.events, RecordKind::kFinished, &RecordEvent::kind);
        uint64_t errors = 0;
        for (auto event = finished; event != incarnation.events.end();
             ++event) {
          if (event->kind != RecordKind::kFaultFired) continue;
          for (const RecordFault& fault : record.faults) {
            if (fault.id == event->detail && TraitsOf(fault).reports_error) {
              errors += fault.hits;
            }
          }
        }
        return errors >= kDiskAttempts;
      });
}

// Returns true iff the restart budget was at most kFewRestarts, and the
// launcher gave up because the budget was used up. The judge checks the number
// of restarts.
bool HasUsedUpItsFewRestarts(const Record& record) {
  return record.setup.max_restarts <= kFewRestarts &&
         std::ranges::any_of(
             record.launchers.back().events, [](const RecordEvent& event) {
               return event.kind == RecordKind::kGaveUp &&
                      event.reason == RecordReason::kRestartsUsedUp;
             });
}

// Returns true iff several launches were planned and each was started once.
bool IsStartedOnceForEachLaunch(const Record& record) {
  return record.setup.launches.size() > 1 &&
         record.launchers.size() == record.setup.launches.size();
}

}  // namespace

Outcome ExpectedOutcome(const Record& record) {
  if (record.faults.empty() && !IsStartedOnceForEachLaunch(record)) {
    return Outcome::kCompletes;
  }
  // The judge checks that the refusal is allowed (clean-refusal).
  if (IsExit(record.launchers.back().exit_code, {WorkerExit::kNoCheckpoint})) {
    return Outcome::kRefuses;
  }
  uint64_t restarts = record.launchers.size() - 1;
  for (const LauncherRun& run : record.launchers) restarts += run.restarts;
  const bool done = record.ending == RunEnding::kExited &&
                    record.launchers.back().exit_code == 0;
  // A run that did not finish had to be restarted.
  return restarts > 0 || !done ? Outcome::kRecovers : Outcome::kCompletes;
}

bool MayGiveUp(const Record& record) {
  if (record.ending != RunEnding::kExited ||
      record.launchers.back().exit_code == 0) {
    return false;
  }
  if (TooFewAreLeft(record) || HadItsStoreDeleted(record) ||
      CouldNotDelete(record) || HasUsedUpItsFewRestarts(record)) {
    return true;
  }
  // With rejoin, a process that survives keeps its packet loss or delay, so it
  // loses the other workers again after each rejoin.
  if (record.setup.rejoins &&
      std::ranges::any_of(record.faults, &RecordFault::for_ever)) {
    return true;
  }
  return std::ranges::any_of(record.faults, [&](const RecordFault& fault) {
    const FaultTraits traits = TraitsOf(fault);
    return (fault.always || fault.hits >= kDiskAttempts) &&
           (traits.reports_error || traits.fails_device) &&
           FiredInALastIncarnation(record, fault);
  });
}

}  // namespace gauntlet
