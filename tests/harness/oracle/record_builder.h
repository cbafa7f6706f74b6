// Runs without findings, for tests to spoil.
#ifndef GAUNTLET_TESTS_HARNESS_ORACLE_RECORD_BUILDER_H_
#define GAUNTLET_TESTS_HARNESS_ORACLE_RECORD_BUILDER_H_

#include <string>

#include "tests/harness/oracle/scripted_run.h"

namespace gauntlet {

ScriptedRun UndisturbedRun();
// Worker 1 crashes in step 6; all workers resume from step 4, and finish.
ScriptedRun RecoveredRun();
// Worker 1 crashes in step 6, and again after the restart, before it has a
// state.
ScriptedRun TwiceCrashedRun();
// Worker 1 crashes three times: in step 6; after generation 2 has saved step 6;
// and after the next restart, before it has a state. All workers then resume
// from step 6, and finish.
ScriptedRun CrashedAfterStepSixRun();
// Worker 1 crashes in step 6 and rejoins: it takes the state of worker 0, which
// has trained step 6. Both finish.
ScriptedRun RejoinedRun();
// Worker 0 receives a preemption notice in step 5; all workers save step 5 and
// stop. Restarted, they finish.
ScriptedRun PreemptedRun();
// Two preemption notices stop the run at step 4, each with a save: before the
// evaluation, and before the epoch's callbacks. Restarted, they finish.
ScriptedRun TwoPhasesRun();
// The workers finish, and delete their checkpoints.
ScriptedRun DeletedRun();
// Power is lost after all workers have finished and deleted their checkpoints.
// Restarted, they claim generation 1 again, start from scratch, finish, and
// delete again.
ScriptedRun DeletedTwiceRun();
// Power is lost in step 6, on a disk with the profile `disk`; all workers
// resume from step 4.
ScriptedRun CutRun(const char* disk);
// As RecoveredRun, but the save of step 4 is damaged. The chief sets it aside,
// and all workers resume from step 2.
ScriptedRun FellBackRun();
// As RecoveredRun, but all checkpoints are damaged. The workers refuse to
// start, with exit code 7.
ScriptedRun RefusedRun();
// A run with asynchronous saves.
ScriptedRun AsynchronousRun();

RecordFault CrashFault();

// Damages a file of the save while it is being written. Fires the fault "rot"
// unless it has fired before.
void DamageSaveOf(ScriptedRun& run, const std::string& name);

}  // namespace gauntlet

#endif  // GAUNTLET_TESTS_HARNESS_ORACLE_RECORD_BUILDER_H_
