// Runs that went well, for tests to spoil.
#ifndef GAUNTLET_TESTS_HARNESS_ORACLE_RECORD_BUILDER_H_
#define GAUNTLET_TESTS_HARNESS_ORACLE_RECORD_BUILDER_H_

#include <string>

#include "tests/harness/oracle/scripted_run.h"

namespace gauntlet {

ScriptedRun UndisturbedRun();
// Worker 1 crashes in step 6; all start again from step 4, and finish.
ScriptedRun RecoveredRun();
// Worker 1 crashes twice: in step 6, and before it has a state again.
ScriptedRun TwiceCrashedRun();
// Worker 1 crashes in step 6, and rejoins: it takes the state of worker 0,
// which has done step 6; they finish.
ScriptedRun RejoinedRun();
// Worker 0 receives a preemption notice in step 5; all save step 5 and stop.
// Restarted, they finish.
ScriptedRun PreemptedRun();
// Two preemption notices stop the run at step 4, each with a save: before the
// evaluation, and before the epoch's callbacks. Restarted, they finish.
ScriptedRun TwoPhasesRun();
// They finish, and delete their checkpoints.
ScriptedRun DeletedRun();
// The power goes when all is finished and deleted. Started again, all claim the
// same number, start from nothing, finish and delete again.
ScriptedRun DeletedTwiceRun();
// The power goes in step 6, on such a disk; all go on from step 4.
ScriptedRun CutRun(const char* disk);
// As RecoveredRun, but the save of step 4 is damaged: all start again from step
// 2, and set the bad one aside.
ScriptedRun FellBackRun();
// As RecoveredRun, but all checkpoints are damaged: exit 7.
ScriptedRun RefusedRun();
// Saves are written while training goes on.
ScriptedRun AsynchronousRun();

RecordFault CrashFault();

// Damages the file of a save that is being written, by the fault "rot", which
// fires where it has not.
void DamageSaveOf(ScriptedRun& run, const std::string& name);

}  // namespace gauntlet

#endif  // GAUNTLET_TESTS_HARNESS_ORACLE_RECORD_BUILDER_H_
