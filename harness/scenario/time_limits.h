// Time limits of a case: on its duration, and on the time without any event.
//
// The engine detects a hanging worker only when the time limit of the current
// operation is over, and emits no event until then. So the harness must wait
// longer than the engine. Otherwise it would report each such run as a hang.
#ifndef GAUNTLET_HARNESS_SCENARIO_TIME_LIMITS_H_
#define GAUNTLET_HARNESS_SCENARIO_TIME_LIMITS_H_

#include "engine/world/clock.h"
#include "harness/scenario/format/diagnostic.h"
#include "harness/scenario/scenario.h"

namespace gauntlet {

// Returns the time without an event from any worker after which the run counts
// as hanging. That is timeout.hang of the case. By default, it is the time that
// the engine may take to detect that a step or a planned fault hangs, or to
// give up a rejoin that a planned fault hinders, plus a margin, but at least 15
// s.
Duration HangLimitOf(const Case& one);
// Returns the maximum duration of the run: timeout.total of the case. By
// default, it is a minute above the hang limit, but at least 120 s.
Duration TotalLimitOf(const Case& one);

// Reports an error if a planned hang is certain to exceed a limit that the case
// sets. `place`: place of the key `timeout`, or of the document if it has none.
void CheckTimeLimits(const Case& one, Place place, Diagnostics& diagnostics);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_SCENARIO_TIME_LIMITS_H_
