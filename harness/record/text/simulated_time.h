// Marks durations of simulated runs, as the duration of a case is wall time.
#ifndef GAUNTLET_HARNESS_RECORD_TEXT_SIMULATED_TIME_H_
#define GAUNTLET_HARNESS_RECORD_TEXT_SIMULATED_TIME_H_

#include <string>
#include <string_view>

namespace gauntlet {

// Returns the cause of a failure in this world. Adds "(in simulated time)" if
// it is the simulated one and the cause has a duration.
std::string WithClockOfWorld(std::string cause, std::string_view world);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RECORD_TEXT_SIMULATED_TIME_H_
