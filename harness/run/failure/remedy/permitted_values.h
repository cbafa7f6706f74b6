// Bounds of the values that advice may name.
#ifndef GAUNTLET_HARNESS_RUN_FAILURE_REMEDY_PERMITTED_VALUES_H_
#define GAUNTLET_HARNESS_RUN_FAILURE_REMEDY_PERMITTED_VALUES_H_

#include <cstdint>
#include <string_view>

namespace gauntlet {

// Returns true iff a scenario may set `key` to `value`. REQUIRES: the key is
// that of a count, such as "job.epochs".
bool IsPermitted(std::string_view key, uint64_t value);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_FAILURE_REMEDY_PERMITTED_VALUES_H_
