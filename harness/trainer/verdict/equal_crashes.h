// The crashes that leave equal directories. Equal directories are tried once.
// The trial counts for each fault that can leave them.
#ifndef GAUNTLET_HARNESS_TRAINER_VERDICT_EQUAL_CRASHES_H_
#define GAUNTLET_HARNESS_TRAINER_VERDICT_EQUAL_CRASHES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "harness/trainer/run/crash_trial.h"

namespace gauntlet {

// A crash that leaves the directories of a trial.
struct JudgedCrash {
  std::string id;
  CrashFault fault = CrashFault::kKill;
  uint64_t operation = 0;  // number of operations before the crash
  RecoveryVerdict verdict = RecoveryVerdict::kRecovered;
};

// Returns the crash of the trial and its equal crashes. Findings come first;
// among these, simple faults come first (FaultOrder). The first one names the
// trial.
std::vector<JudgedCrash> CrashesOf(const CrashTrial& trial,
                                   const CrashVerdict& verdict);

// Returns the first of CrashesOf for each fault.
std::vector<JudgedCrash> CrashesByFault(const CrashTrial& trial,
                                        const CrashVerdict& verdict);

// Returns "the same directories: ext4-3-data0 (fails), weak-3 (recovered)"; ""
// if no other crash leaves them.
std::string EqualCrashesText(const CrashTrial& trial,
                             const CrashVerdict& verdict);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_TRAINER_VERDICT_EQUAL_CRASHES_H_
