// Faults injected into a running program: failed calls and signals.
#ifndef GAUNTLET_HARNESS_TRAINER_FAULT_RUNS_H_
#define GAUNTLET_HARNESS_TRAINER_FAULT_RUNS_H_

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "chaos/trace/injection.h"
#include "harness/trainer/file_patterns.h"
#include "harness/trainer/run/crash_test_plan.h"
#include "harness/trainer/run/crash_trial.h"
#include "harness/trainer/run/recording.h"

namespace gauntlet {

// Returns the faults to try: the faults of the plan, the fault of its single
// crash (plan.only), and kills, which show which checkpoints are complete.
std::set<CrashFault> FaultsToTry(const CrashTestPlan& plan);

struct FaultRun {
  CrashFault fault = CrashFault::kDiskFull;
  uint64_t operation = 0;  // in the recording, from 1
  std::vector<Injection> injections;
};

// Returns the run that injects the fault at operation `number`. Returns nullopt
// if the fault needs no injection, or cannot happen at the operation.
std::optional<FaultRun> FaultRunAt(const CrashTestPlan& plan,
                                   const FilePatterns& files, CrashFault fault,
                                   uint64_t number);

// Returns the faults of the plan that need a run of their own. Operations of
// the same kind and rank on files of the same pattern form a class. Each fault
// happens at the first, the last and the middle operation of each class; the
// faults at first operations come first. If the recording has several ranks, a
// death of the rank is also tried after each of its operations.
std::vector<FaultRun> ListFaultRuns(const CrashTestPlan& plan,
                                    const Recording& recording);

// Returns a note if --faults names `rank`, but fewer than two ranks of the
// recording change files, so that no rank's death is tried. Returns ""
// otherwise.
std::string NoteOnRankDeath(const CrashTestPlan& plan,
                            const Recording& recording);

// Returns an id such as "enospc-31".
std::string FaultRunId(const FaultRun& run);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_TRAINER_FAULT_RUNS_H_
