// Faults that a program meets while it runs: a call that fails, a signal.
#ifndef GAUNTLET_HARNESS_TRAINER_FAULT_RUNS_H_
#define GAUNTLET_HARNESS_TRAINER_FAULT_RUNS_H_

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "chaos/trace/injection.h"
#include "chaos/trace/log/operation_log.h"
#include "harness/trainer/run/crash_test_plan.h"
#include "harness/trainer/run/crash_trial.h"
#include "harness/trainer/run/recording.h"

namespace gauntlet {

// Faults that are tried: those of the plan and of its one crash, and kills,
// which show which checkpoints are complete.
std::set<CrashFault> FaultsToTry(const CrashTestPlan& plan);

struct FaultRun {
  CrashFault fault = CrashFault::kDiskFull;
  uint64_t operation = 0;  // of the recording, from 1: where it happens
  std::vector<Injection> injections;
};

// Describes operation `number` (from 1) of the log as the n-th of its kind on
// files of one name pattern. So it is found again in a run whose temporary
// files have other names.
OperationPattern PatternOf(const OperationLog& log, uint64_t number);

// nullopt: a fault that needs no run of its own, or that the operation cannot
// have.
std::optional<FaultRun> FaultRunAt(const CrashTestPlan& plan,
                                   const OperationLog& log, CrashFault fault,
                                   uint64_t number);

// The faults of the plan that need a run of their own. Of the operations of one
// kind on files of one name pattern the first, the last and the middle one are
// taken; the first of each come first. A rank dies after each of its
// operations, if the recording has several ranks.
std::vector<FaultRun> ListFaultRuns(const CrashTestPlan& plan,
                                    const Recording& recording);

// "enospc-31".
std::string FaultRunId(const FaultRun& run);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_TRAINER_FAULT_RUNS_H_
