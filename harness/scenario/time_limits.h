// How long a case may take, and how long nothing may be heard of it.
//
// A worker that hangs is found by the engine once the limit of what is under
// way is over, and until then nobody says a word: a harness that waits for less
// than the engine does calls each such run a hang of its own.
#ifndef GAUNTLET_HARNESS_SCENARIO_TIME_LIMITS_H_
#define GAUNTLET_HARNESS_SCENARIO_TIME_LIMITS_H_

#include "engine/world/clock.h"
#include "harness/scenario/format/diagnostic.h"
#include "harness/scenario/scenario.h"

namespace gauntlet {

// No event from any worker for so long is a hang: timeout.hang, else 15 s or
// what the engine may take to find that a step, or what the plan brings to a
// stand, does not end, and a little.
Duration HangLimitOf(const Case& one);
// timeout.total, else 120 s, or a minute above the hang limit.
Duration TotalLimitOf(const Case& one);

// Reports limits, as they were told, that a hang of the plan is sure to
// outlast. `place` is the hang limit's, or where else to point at.
void CheckTimeLimits(const Case& one, Place place, Diagnostics& diagnostics);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_SCENARIO_TIME_LIMITS_H_
