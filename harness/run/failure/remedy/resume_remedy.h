// Changes of a scenario after which its run resumes from another checkpoint.
#ifndef GAUNTLET_HARNESS_RUN_FAILURE_REMEDY_RESUME_REMEDY_H_
#define GAUNTLET_HARNESS_RUN_FAILURE_REMEDY_RESUME_REMEDY_H_

#include <cstdint>
#include <string>

#include "harness/oracle/history/outline.h"
#include "harness/record/verdict.h"

namespace gauntlet {

// Returns the change after which the first resume is from the expected step,
// `expect.resumed_from`:
//   - "remove fault e, which made the save of step 8 fail", or the same for a
//     fault that damaged this checkpoint or delayed its save;
//   - "set disk.profile (lying-fsync) to ext4, …", if a power loss lost it;
//   - "set the step of fault c (6) to a value from 9 to 12, so that the save of
//     step 8 comes before it", or to an earlier one;
//   - "let fault c fire after the save of step 8 is acknowledged, …" if it is
//     not known which step that is;
//   - "set the step of fault n (9) to 8, …" for a notice, whose step is saved;
//   - "set checkpoint.every (5 steps) to {steps: 7}" if no save of the step is
//     due.
// Returns "" if the record shows none of these. REQUIRES: the run restarted.
std::string ResumeRemedy(const Outline& outline, const Verdict& verdict);

// Returns the change after which no generation recomputes more steps than
// expected: it removes the faults that kept the workers from resuming from a
// newer step. If there are none, it lowers the interval of the saves, or moves
// the fault that ended the workers. Returns "" if no change is known.
std::string RecomputedStepsRemedy(const Outline& outline,
                                  const Verdict& verdict);

// Returns "set disk.profile (lying-fsync) to ext4, …" if a power loss hit a
// disk that lies about fsyncs; else "".
std::string HonestDiskRemedy(const Outline& outline);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_FAILURE_REMEDY_RESUME_REMEDY_H_
