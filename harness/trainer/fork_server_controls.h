// Starts a fork server for the resumed runs of a crash test, unless the program
// behaves differently with it.
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
  std::unique_ptr<ForkServer> server;  // null: off
  // "fork server: 41 modules imported once". Empty if runs have no namespaces:
  // then the note on missing namespaces states that the server is off.
  std::string note;
};

// Runs the program once to list its library modules, and starts a server that
// has imported them. With the server, an undisturbed run must end with equal
// results, and a resumed run must end as `stop_and_resume` did in a fresh
// process; else the server is off, and the note states the reason. Call this
// function from a thread that lives as long as the server. Without
// namespaces, the server is off. Removes the folder of `stop_and_resume`.
//
// Errors: those of TrainerRuns::Run and of the disk.
Result<ForkServerChoice> ChooseForkServer(
    const CrashTestPlan& plan, const TrainerRuns& runs,
    const Recording& recording, const ResultCheck& check,
    const std::optional<ResumedRun>& stop_and_resume);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_TRAINER_FORK_SERVER_CONTROLS_H_
