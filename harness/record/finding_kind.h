// Kinds of findings that other code than their own check uses, in one table.
// The names of all other kinds appear only in the checks that report them.
#ifndef GAUNTLET_HARNESS_RECORD_FINDING_KIND_H_
#define GAUNTLET_HARNESS_RECORD_FINDING_KIND_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "harness/record/invariants.h"
#include "harness/record/verdict.h"

namespace gauntlet {

enum class FindingKind : uint8_t {
  kFinalState,      // the run does not end as the reference run does
  kStaleResume,     // a resume passes over an acknowledged checkpoint
  kDoesNotVerify,   // a checkpoint that must be valid is not
  kLostCheckpoint,  // a checkpoint that must be there is not
  // After a preemption notice:
  kLateExit,     // a worker exits after its grace period
  kNoAgreement,  // a worker exits without an agreed step
  kNotSaved,     // the agreed step is not saved
  kKilled,       // a worker does not exit within its grace period
  // Others:
  kNoLauncher,  // no launcher of the run ended
  kUnseen,      // a fault sends a notice that its worker does not receive
};

struct FindingKindInfo {
  FindingKind kind;
  Invariant invariant;
  std::string_view name;  // Finding::name: "final-state"
  // True if the finding is about how a process exited after a preemption
  // notice. The cause may then be another fault, or a grace period that is too
  // short.
  bool is_of_leaving = false;
};

const FindingKindInfo& InfoOf(FindingKind kind);
bool IsOf(FindingKind kind, const Finding& finding);
// Returns true iff the finding is of a kind with is_of_leaving.
bool IsOfLeaving(const Finding& finding);
Finding MakeFinding(FindingKind kind, std::string message);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RECORD_FINDING_KIND_H_
