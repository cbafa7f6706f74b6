// Changes of a scenario whose checkpoints were damaged or could not be saved.
#ifndef GAUNTLET_HARNESS_RUN_FAILURE_REMEDY_STORE_REMEDY_H_
#define GAUNTLET_HARNESS_RUN_FAILURE_REMEDY_STORE_REMEDY_H_

#include <string>

#include "harness/oracle/history/outline.h"
#include "harness/record/verdict.h"

namespace gauntlet {

// Returns the change after which a checkpoint can be loaded: "remove fault rot,
// or raise checkpoint.keep (1) to 2, so that the checkpoint of step 5, which is
// not damaged, is not deleted", or "remove fault rot, or let it damage fewer
// checkpoints, …". Returns "" if no fault damaged stored data.
std::string LoadableCheckpointRemedy(const Outline& outline);

// Returns the change after which the expected number of saves fails: "let a
// fault fail one more save (…)", "set until of fault e (step 20) to {step: 18},
// …"; "" if too many saves failed, and no fault is the reason.
std::string FailedSavesRemedy(const Outline& outline, const Verdict& verdict);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_FAILURE_REMEDY_STORE_REMEDY_H_
