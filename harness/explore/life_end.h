// How a life ended, as far as its own words and the others' tell: marks are met
// by what happened, not by what a fault was to bring about.
#ifndef GAUNTLET_HARNESS_EXPLORE_LIFE_END_H_
#define GAUNTLET_HARNESS_EXPLORE_LIFE_END_H_

#include "engine/world/fault_point.h"
#include "harness/oracle/outline.h"

namespace gauntlet {

bool Has(const LifeEvents& life, RecordKind kind);
// An event of the second kind, some time after one of the first.
bool HasThen(const LifeEvents& life, RecordKind first, RecordKind second);
// An event of the kind, after the fault.
bool HasAfter(const Firing& firing, RecordKind kind);

// Whether the fault ended its life there and then: nothing was said after it.
// A kill that left its worker time for more words counts for nothing.
bool DiedThere(const Firing& firing);
// The same, at that point: what waits for its operation (a tear) may come to it
// elsewhere.
bool DiedAt(const Firing& firing, Point point);

// Whether the kill that ends the grace of a notice ended the life: it did not
// leave, and nothing else can have ended it before.
bool GraceRanOut(const Outline& outline, const Firing& notice);
// Whether the others gave up on the life, and it was killed for that: it did
// not leave, they lost somebody after the fault, and nothing else happened.
bool WasGivenUp(const Outline& outline, const Firing& firing);
// Whether the life said itself that it could not go on, after the fault.
bool LeftInFailure(const Firing& firing);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_EXPLORE_LIFE_END_H_
