#include "harness/explore/owed_outcome.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "engine/ckpt/retrying.h"
#include "engine/worker_exit_code.h"
#include "harness/oracle/fault_traits.h"

namespace gauntlet {
namespace {

// A sync that is to fail does so in the next save, which may come after the
// step; only the first one that fails in a life is recorded.
bool SyncsAgain(const LifeEvents& life, uint64_t until_step) {
  bool reached = false;
  bool failed = false;
  for (const RecordEvent& event : life.events) {
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

// From until_step on such a fault stands in nobody's way, unless it fired after
// that.
bool IsOver(const LifeEvents& life, const RecordFault& fault) {
  if (!fault.until_step) return false;
  if (fault.kind == "fsync_fails") return SyncsAgain(life, *fault.until_step);
  bool fired = false;
  for (const RecordEvent& event : life.events) {
    fired = fired ||
            (event.kind == RecordKind::kFaultFired && event.detail == fault.id);
    if (fired && event.kind == RecordKind::kStep &&
        event.step >= *fault.until_step) {
      return true;
    }
  }
  return false;
}

bool FiredInALastLife(const Record& record, const RecordFault& fault) {
  for (size_t i = 0; i < record.lives.size(); ++i) {
    const LifeEvents& life = record.lives[i];
    const bool last = i + 1 == record.lives.size() ||
                      record.lives[i + 1].worker != life.worker;
    if (last && !IsOver(life, fault) &&
        std::ranges::any_of(life.events, [&](const RecordEvent& event) {
          return event.kind == RecordKind::kFaultFired &&
                 event.detail == fault.id;
        })) {
      return true;
    }
  }
  return false;
}

// Workers that died of a fault of every hit so often that they are given up.
int WorkersThatKeepDying(const Record& record) {
  constexpr int kOften = 3;
  std::map<int, int> deaths;  // by worker
  for (const LifeEvents& life : record.lives) {
    if (life.events.empty() ||
        life.events.back().kind == RecordKind::kLifeEnd) {
      continue;
    }
    const bool died = std::ranges::any_of(life.events, [&](const auto& event) {
      return event.kind == RecordKind::kFaultFired &&
             std::ranges::any_of(record.faults, [&](const RecordFault& fault) {
               return fault.always && TraitsOf(fault).ends_life &&
                      fault.id == event.detail;
             });
    });
    if (died) ++deaths[life.worker];
  }
  return static_cast<int>(std::ranges::count_if(
      deaths, [](const auto& one) { return one.second >= kOften; }));
}

// Whether so many are gone for good that too few are left.
bool TooFewAreLeft(const Record& record) {
  const RunSetup& setup = record.setup;
  const int least = setup.min_workers == 0 ? setup.workers : setup.min_workers;
  return setup.workers - WorkersThatKeepDying(record) < least;
}

// Whether a life ended with an error behind a deletion that an earlier one
// began while it was there: a late survivor had finished the run.
bool HadItsStoreDeleted(const Record& record) {
  const auto ends_badly = [](const LifeEvents& life) {
    const RecordEvent& last = life.events.back();
    return last.kind == RecordKind::kLifeEnd && !IsOrderlyExit(last.count) &&
           !IsExit(last.count, {WorkerExit::kNoCheckpoint});
  };
  return std::ranges::any_of(record.lives, [&](const LifeEvents& life) {
    if (life.events.empty() || !ends_badly(life)) return false;
    return std::ranges::any_of(record.lives, [&](const LifeEvents& earlier) {
      const auto deletes = std::ranges::find(
          earlier.events, RecordKind::kDeleteBegin, &RecordEvent::kind);
      return deletes != earlier.events.end() && earlier.life < life.life &&
             life.events.front().t_ns < deletes->t_ns &&
             deletes->t_ns < life.events.back().t_ns;
    });
  });
}

bool IsADisksError(std::string_view kind) {
  return kind == "errno" || kind == "short_write" || kind == "fsync_fails";
}

// Whether a life that had finished met as many errors of the disk as it takes
// for one operation to be given up: nobody starts again what is done.
bool CouldNotDelete(const Record& record) {
  return std::ranges::any_of(record.lives, [&](const LifeEvents& life) {
    const auto finished = std::ranges::find(life.events, RecordKind::kFinished,
                                            &RecordEvent::kind);
    uint64_t errors = 0;
    for (auto event = finished; event != life.events.end(); ++event) {
      if (event->kind != RecordKind::kFaultFired) continue;
      for (const RecordFault& fault : record.faults) {
        if (fault.id == event->detail && IsADisksError(fault.kind)) {
          errors += fault.hits;
        }
      }
    }
    return errors >= kDiskAttempts;
  });
}

// Returns true iff the launcher said so, and may restart so few times that the
// faults of one plan use them up. The judge counts them.
bool HasUsedUpItsFewRestarts(const Record& record) {
  return record.setup.max_restarts <= kFewRestarts &&
         std::ranges::any_of(
             record.launchers.back().events, [](const RecordEvent& event) {
               return event.kind == RecordKind::kGaveUp &&
                      event.reason == RecordReason::kRestartsUsedUp;
             });
}

// Returns true iff several launches were planned and no other start was made.
bool IsStartedOnceForEachLaunch(const Record& record) {
  return record.setup.launches.size() > 1 &&
         record.launchers.size() == record.setup.launches.size();
}

}  // namespace

Outcome OutcomeOwed(const Record& record) {
  if (record.faults.empty() && !IsStartedOnceForEachLaunch(record)) {
    return Outcome::kCompletes;
  }
  // Whether it may, the judge says: nothing that is owed is left then.
  if (IsExit(record.launchers.back().exit_code, {WorkerExit::kNoCheckpoint})) {
    return Outcome::kRefuses;
  }
  uint64_t restarts = record.launchers.size() - 1;
  for (const LauncherRun& run : record.launchers) restarts += run.restarts;
  const bool done = record.ending == RunEnding::kExited &&
                    record.launchers.back().exit_code == 0;
  // What did not get to its end was to be started again.
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
  // Who keeps its process keeps its link: it loses the others again and again.
  if (record.setup.rejoins &&
      std::ranges::any_of(record.faults, &RecordFault::for_ever)) {
    return true;
  }
  return std::ranges::any_of(record.faults, [&](const RecordFault& fault) {
    return (fault.always || fault.hits >= kDiskAttempts) &&
           (IsADisksError(fault.kind) || fault.kind == "gpu_error" ||
            fault.kind == "out_of_memory") &&
           FiredInALastLife(record, fault);
  });
}

}  // namespace gauntlet
