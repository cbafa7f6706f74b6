// Marks durations in simulated time. Readers would take them for wall time
// otherwise, because reports give the duration of a case in wall time.
#ifndef GAUNTLET_HARNESS_RECORD_TEXT_SIMULATED_TIME_H_
#define GAUNTLET_HARNESS_RECORD_TEXT_SIMULATED_TIME_H_

#include <string>
#include <string_view>

namespace gauntlet {

// Returns the cause of a failure. Adds "(in simulated time)" if `world` is the
// simulated one and the cause names a duration, unless the cause says so
// already.
std::string WithClockOfWorld(std::string cause, std::string_view world);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RECORD_TEXT_SIMULATED_TIME_H_
