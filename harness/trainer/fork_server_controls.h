// A fork server for the resumed runs of a crash test, if it makes no
// difference to the program.
#ifndef GAUNTLET_HARNESS_TRAINER_FORK_SERVER_CONTROLS_H_
#define GAUNTLET_HARNESS_TRAINER_FORK_SERVER_CONTROLS_H_

#include <memory>
#include <optional>
#include <string>

#include "engine/status.h"
#include "harness/trainer/crash_controls.h"
#include "harness/trainer/python/fork_server.h"
#include "harness/trainer/run/crash_test_plan.h"
#include "harness/trainer/run/recording.h"
#include "harness/trainer/run/trainer_runs.h"
#include "harness/trainer/verdict/result_check.h"

namespace gauntlet {

struct ForkServerChoice {
  std::unique_ptr<ForkServer> server;  // nullptr: it is off
  std::string note;  // "fork server: 41 modules imported once"
};

// Runs the program once to list its library modules and starts a server that
// has imported them. An undisturbed run by the server must end with equal
// results, and a resume as the fresh process of the stop and resume did: else
// the server is off, and the note says why. Call it from a thread that lives as
// long as the server. Removes the folder of the stop and resume.
//
// Errors: those of TrainerRuns::Run and of the disk.
Result<ForkServerChoice> ChooseForkServer(
    const CrashTestPlan& plan, const TrainerRuns& runs,
    const Recording& recording, const ResultCheck& check,
    const std::optional<ResumedRun>& stop_and_resume);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_TRAINER_FORK_SERVER_CONTROLS_H_
