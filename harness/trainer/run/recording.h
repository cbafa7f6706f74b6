// The recorded run of a crash test, without faults.
#ifndef GAUNTLET_HARNESS_TRAINER_RUN_RECORDING_H_
#define GAUNTLET_HARNESS_TRAINER_RUN_RECORDING_H_

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <set>
#include <vector>

#include "chaos/trace/log/operation_log.h"
#include "engine/status.h"
#include "engine/world/clock.h"
#include "harness/trainer/run/crash_test_plan.h"
#include "harness/trainer/run/trainer_run.h"
#include "harness/trainer/run/trainer_runs.h"

namespace gauntlet {

struct Recording {
  RunFolder run;  // includes the results
  TrainerRunEnd end;
  OperationLog log;
  // Operations that are no crash points (temporary_files.h).
  std::set<uint64_t> on_temporary_files = {};

  // Returns the numbers, from 1, of the operations in the log that change or
  // sync something. Operations on temporary files, and those that the program
  // did not make itself, are no crash points.
  std::vector<uint64_t> CrashPoints() const;
  // Returns at most `most` crash points that may lie between two saves, from
  // the middle half of all crash points. Takes only points whose next operation
  // begins a file, as every save does; if there are none, takes others. The
  // first point has the longest time until the next operation. The next
  // operations after the further points are on different files (by name
  // pattern) as far as possible, because a save may write several files in a
  // row.
  std::vector<uint64_t> QuietPoints(size_t most) const;
  uint64_t BytesWritten() const;
  // Folder that caches the contents of files of crash states.
  std::filesystem::path ContentsFolder() const {
    return run.folder / "contents";
  }
};

// Errors: as RunCrashTest (crash_test.h).
Result<Recording> Record(const TrainerRuns& runs, const CrashTestPlan& plan);

// Returns the time limit of a run that is compared with the recorded one.
Duration RunTimeLimit(const CrashTestPlan& plan, const TrainerRunEnd& recorded);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_TRAINER_RUN_RECORDING_H_
