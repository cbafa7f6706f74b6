// Predicates on how an incarnation ended, by the events of all workers.
// Coverage goals count the observed effect of a fault, not the intended one.
#ifndef GAUNTLET_HARNESS_EXPLORE_COVERAGE_INCARNATION_END_H_
#define GAUNTLET_HARNESS_EXPLORE_COVERAGE_INCARNATION_END_H_

#include "engine/world/fault_point.h"
#include "harness/oracle/history/outline.h"

namespace gauntlet {

bool Has(const IncarnationEvents& incarnation, RecordKind kind);
// Returns true iff an event of the second kind follows one of the first.
bool HasThen(const IncarnationEvents& incarnation, RecordKind first,
             RecordKind second);
// Returns true iff an event of the kind follows the fault.
bool HasAfter(const FaultOccurrence& occurrence, RecordKind kind);

// Returns true iff the fault is of a kind that ends an incarnation, and the
// incarnation emitted no event after it. If events follow a kill, the kill did
// not end the incarnation immediately.
bool DiedThere(const FaultOccurrence& occurrence);
// Returns true iff the fault fired at `point`, and DiedThere is true. Returns
// false for a torn write at a point that no write follows: it acts only at the
// next write.
bool DiedAt(const FaultOccurrence& occurrence, Point point);

// Returns true iff the kill at the end of a notice's grace period ended the
// incarnation: the worker did not exit itself, and nothing else can have ended
// it earlier.
bool GraceRanOut(const Outline& outline, const FaultOccurrence& notice);
// Returns true iff the worker was killed because the other workers gave up on
// it: it did not exit itself, the others reported a lost worker after the
// fault, and no other fault acted.
bool WasGivenUp(const Outline& outline, const FaultOccurrence& occurrence);
// Returns true iff the worker itself exited with a failure after the fault.
bool LeftInFailure(const FaultOccurrence& occurrence);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_EXPLORE_COVERAGE_INCARNATION_END_H_
