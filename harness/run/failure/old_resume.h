// Explains why a run resumed from an older step than its scenario expects.
#ifndef GAUNTLET_HARNESS_RUN_FAILURE_OLD_RESUME_H_
#define GAUNTLET_HARNESS_RUN_FAILURE_OLD_RESUME_H_

#include <string>

#include "harness/oracle/history/outline.h"
#include "harness/record/verdict.h"

namespace gauntlet {

// Returns the reasons why the run resumed from an older step than expected,
// joined by "; ":
//   - "the save of step 8 failed: fault full (ENOSPC in MANIFEST.json)";
//   - "… of step-000000010-g1 was damaged by fault rot": a newer checkpoint
//     could not be loaded;
//   - "the save of step 12 was still being written when worker 2 was killed
//     because of fault k (…), 575 ms after the save began; …";
//   - last, unless such a save is among them: "when worker 2 was killed because
//     of fault k (…), the run resumed from step 4".
// The reason about the expected step comes first. If there is none of these,
// returns "no save of step 8 had begun when …". Returns "" if the expectations
// `resumed_from` and `recomputed_steps` are met, or if the record shows no
// reason.
std::string ExplainOldResume(const Outline& outline, const Verdict& verdict);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_FAILURE_OLD_RESUME_H_
