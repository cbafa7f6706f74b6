// Records of runs that went well, for tests to spoil.
#ifndef GAUNTLET_TESTS_HARNESS_ORACLE_RECORD_BUILDER_H_
#define GAUNTLET_TESTS_HARNESS_ORACLE_RECORD_BUILDER_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "harness/record/record.h"
#include "harness/record/verdict.h"

namespace gauntlet {

// The state after so many steps, at a phase.
std::string DigestAt(uint64_t step, RecordPhase phase);

// Two workers, two epochs of four steps of four rows, a save every two steps.
// Worker 1 crashes in step 6; all start again from step 4, and finish.
Record RecoveredRun();
// The same without a fault.
Record UndisturbedRun();
// Worker 1 crashes in step 6, and rejoins: it takes the state of worker 0,
// which has done step 6; they finish.
Record RejoinedRun();
// Worker 0 gets a notice in step 5; all save step 5 and stop; started again,
// they finish.
Record PreemptedRun();
// Stopped twice at step 4: with its evaluation due, and with the epoch's
// callbacks due, each saved; started again, they finish.
Record TwoPhasesRun();
// Worker 0 is cut off in step 6 from its launcher, which takes it for dead; all
// finish unseen, and worker 0 deletes the store. Started again, all claim the
// same number, start anew, finish and delete it again.
Record RunThatFinishedUnseen();
// The same as RecoveredRun, but bits of all checkpoints flip: exit 7.
Record RefusedRun();

// A file of the first generation's save of that step is damaged by the fault
// "rot", which is added where there is none.
void DamageSaveOf(Record& record, uint64_t step);
// A generation between the first and the second is claimed, and its workers
// end without a word before they have a state.
void AddAnEmptyGeneration(Record& record);

// An event of a life; nth counts from 0. REQUIRES: it is there.
RecordEvent& EventOf(Record& record, int worker, int life, RecordKind kind,
                     size_t nth);
LifeEvents& LifeOf(Record& record, int worker, int life);

// What the invariant of that name says of it.
InvariantReport ReportOf(const Record& record, std::string_view invariant);

}  // namespace gauntlet

#endif  // GAUNTLET_TESTS_HARNESS_ORACLE_RECORD_BUILDER_H_
