// Lives that were taken for dead, and went on.
#ifndef GAUNTLET_HARNESS_ORACLE_LATE_SURVIVOR_H_
#define GAUNTLET_HARNESS_ORACLE_LATE_SURVIVOR_H_

#include <cstdint>

#include "harness/record/record.h"

namespace gauntlet {

// Whether a life still did something after that time when its worker had begun
// a later one: what it leaves then, nobody has to clear up behind it.
bool HadLateSurvivorAfter(const Record& record, int64_t t_ns);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_ORACLE_LATE_SURVIVOR_H_
