// Changes of a scenario after which its run saves at other steps, keeps other
// checkpoints, or ends at another step.
#ifndef GAUNTLET_HARNESS_RUN_FAILURE_REMEDY_END_REMEDY_H_
#define GAUNTLET_HARNESS_RUN_FAILURE_REMEDY_END_REMEDY_H_

#include <string>

#include "harness/oracle/history/outline.h"

namespace gauntlet {

// Returns the change of the settings that say when a save is due: "change
// checkpoint.every (4 steps) or job.epochs (2), which set when saves are due".
std::string SaveScheduleRemedy(const Outline& outline);

// Returns the change after which the run makes `expected` saves: "set
// checkpoint.on_success to leave, so that step 24 is not saved", or "set
// checkpoint.every (5 steps) to {steps: 8}". Otherwise returns
// SaveScheduleRemedy.
std::string SavesRemedy(const Outline& outline, uint64_t expected);

// Returns the change after which the run leaves the expected checkpoints, if
// other values of checkpoint.on_success and checkpoint.keep suffice for that:
// "set checkpoint.on_success to leave, so that step 24 is saved only once, and
// checkpoint.keep (5) to 4". Otherwise returns SaveScheduleRemedy.
std::string CheckpointsRemedy(const Outline& outline);

// Returns the change after which the training of a completed run ends at the
// expected step or epoch: "remove job.max_steps (30)". REQUIRES: the run is
// done, and its scenario plans no launches.
std::string LastStepRemedy(const Outline& outline);

// Returns the only fault of the last interruption if its notice stopped the
// run; else null.
const RecordFault* NoticeOfStop(const Outline& outline);

// Returns the change after which a run that stopped on a notice stops at the
// expected step, or in the expected epoch: "set the step of fault p (9) to 12";
// "set preemption.grace (5s) to 0s, …" if it trained on for a part of this
// grace; "" if no such change is known.
std::string StopStepRemedy(const Outline& outline);

// Returns the change after which `expected` epochs end after the first restart,
// which `fault` caused: "set the step of fault c (14) to 12 or earlier, so that
// epoch 1 ends after the restart"; "" if none is known.
std::string EpochsAfterRestartRemedy(const Outline& outline,
                                     const RecordFault& fault,
                                     uint64_t expected);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_FAILURE_REMEDY_END_REMEDY_H_
