// The undisturbed run that a crash test is about.
#ifndef GAUNTLET_HARNESS_TRAINER_RUN_RECORDING_H_
#define GAUNTLET_HARNESS_TRAINER_RUN_RECORDING_H_

#include <cstdint>
#include <filesystem>
#include <vector>

#include "chaos/trace/log/operation_log.h"
#include "engine/status.h"
#include "engine/world/clock.h"
#include "harness/trainer/run/crash_test_plan.h"
#include "harness/trainer/run/trainer_runs.h"
#include "harness/trainer/run/trial.h"

namespace gauntlet {

struct Recording {
  RunFolder run;  // with its results
  TrialEnd end;
  OperationLog log;

  // Operations of the log, from 1, that change or sync something and that the
  // program made itself.
  std::vector<uint64_t> CrashPoints() const;
  // The crash point in the middle half of them that is most likely between two
  // saves: a file is begun after it, and the program was longest busy with
  // something else; 0: there is none.
  uint64_t QuietPoint() const;
  uint64_t BytesWritten() const;
  // Folder for the contents of files of crash states.
  std::filesystem::path ContentsFolder() const {
    return run.folder / "contents";
  }
};

// Errors: as RunCrashTest (crash_test.h).
Result<Recording> Record(const TrainerRuns& runs, const CrashTestPlan& plan);

// Time limit of a run that is compared with the recorded one.
Duration TrialLimit(const CrashTestPlan& plan, const TrialEnd& recorded);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_TRAINER_RUN_RECORDING_H_
