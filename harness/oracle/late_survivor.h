// Lives that were taken for dead, and went on.
#ifndef GAUNTLET_HARNESS_ORACLE_LATE_SURVIVOR_H_
#define GAUNTLET_HARNESS_ORACLE_LATE_SURVIVOR_H_

#include <cstdint>

#include "harness/record/record.h"

namespace gauntlet {

// Whether the life's worker had begun a later one by then.
bool HadSuccessorBefore(const Record& record, const LifeEvents& life,
                        int64_t t_ns);

// Whether a life still did something after that time when its worker had begun
// a later one: what it leaves then, nobody has to clear up behind it.
bool HadLateSurvivorAfter(const Record& record, int64_t t_ns);

// When the last claim was made that clears away what was left before it: one of
// a late survivor that comes to no state may leave as much behind. INT64_MIN:
// there was none.
int64_t LastClaim(const Record& record);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_ORACLE_LATE_SURVIVOR_H_
